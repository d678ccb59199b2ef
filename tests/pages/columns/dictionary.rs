//! A program of `docs/how-to/columns.md`: rows are selected by the codes of a dictionary. `code` compares them.

use bloomline::{Error, Filter, Select};

#[test]
fn main() -> Result<(), Error> {
    let countries = Filter::from_keys(["Chile", "Ghana"], 0.0001)?;
    let (dictionary, codes) = (["Peru", "Chile", "Ghana"], [1u32, 0, 2, 2, 0, 1]);

    let mut maybe = [0u8; 3]; // a byte for each string of the dictionary
    countries.mask_column(&dictionary, &mut maybe);

    let (mut rows, mut count) = ([0u32; 6], 0);
    for (row, &code) in codes.iter().enumerate() {
        rows[count] = row as u32;
        count += usize::from(maybe[code as usize]);
    }
    assert_eq!(rows[..count], [0, 2, 3, 5]);
    Ok(())
}

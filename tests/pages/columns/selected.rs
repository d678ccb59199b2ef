//! A program of `docs/how-to/columns.md`: rows are selected by two filters. `code` compares them.

use bloomline::{Error, Filter, Nullable, Nulls, Select, Strings};

#[test]
fn main() -> Result<(), Error> {
    let customers = Filter::from_keys([7i32, 9], 0.0001)?;
    let names = Filter::from_keys(["pear", "plum"], 0.0001)?;

    let (id, validity) = ([7i32, 8, 9, 7], [0b0111]); // the last is null
    let (offsets, data) = ([0i32, 4, 8, 13, 17], b"pearplumapplepear");
    let name = Strings::new(&offsets, data).expect("offsets within the data");

    let mut rows = [0u32; 4];
    let count = customers.select_column(&Nullable::new(&id, &validity, Nulls::Absent), &mut rows);
    assert_eq!(rows[..count], [0, 2]);
    let count = names.refine_column(&name, &mut rows[..count]);
    assert_eq!(rows[..count], [0]);
    Ok(())
}

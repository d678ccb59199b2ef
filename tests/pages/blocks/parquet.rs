//! The blocks of `docs/PARQUET.md`: a filter is built, then read.

use bloomline::engines::parquet;
use bloomline::{Error, View};

#[test]
fn main() -> Result<(), Error> {
    let hashes = [41_i64, 42].map(|id| parquet::hash(&id));

    let bits_per_key = parquet::bits_per_key(0.01)?; // of a false-positive rate
    let mut block = vec![0; parquet::block_len(hashes.len() as u64, bits_per_key)?];
    parquet::block_build(&hashes, bits_per_key, &mut block)?; // header and bits

    let bytes = block;
    let view = View::open_parquet(&bytes)?;
    let maybe = view.contains(&42_i64);
    assert!(maybe && !view.contains(&42_i32));
    Ok(())
}

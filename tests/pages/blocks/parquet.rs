//! The first program of `docs/PARQUET.md`: a filter is built, then read.

use bloomline::engines::parquet;
use bloomline::{Error, View};

#[test]
fn main() -> Result<(), Error> {
    let hashes = [41_i64, 42].map(|id| parquet::hash(&id));
    let bits_per_key = parquet::bits_per_key(0.01)?; // of a false-positive rate
    let mut block = vec![0; parquet::block_len(hashes.len() as u64, bits_per_key)?];
    parquet::block_build(&hashes, bits_per_key, &mut block)?; // header and bits

    let view = View::open_parquet(&block)?; // the same for bytes that you read from a file
    assert!(view.contains(&42_i64)); // true: it may be present
    assert!(!view.contains(&42_i32)); // a value of another type
    Ok(())
}

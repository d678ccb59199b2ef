//! Filter blocks of other engines, built byte for byte as they build them. To read them,
//! [`View::open_rocksdb`](crate::View::open_rocksdb),
//! [`View::open_leveldb`](crate::View::open_leveldb) and
//! [`View::open_parquet`](crate::View::open_parquet).
//!
//! Each engine has its own hash, and a function here that computes it. The number of hashes
//! decides the size. So to get an engine's bytes, count keys as it does: RocksDB and Pebble leave
//! out a key whose hash equals its predecessor's, LevelDB and goleveldb count all, Parquet different values.
//!
//! ```
//! use bloomline::engines::rocksdb;
//!
//! let hashes = [rocksdb::hash(b"apple"), rocksdb::hash(b"pear")];
//! let mut block = vec![0; rocksdb::block_len(2, 10.0)?]; // 10 bits per key
//! rocksdb::block_build(&hashes, 10.0, &mut block)?;
//! assert!(bloomline::View::open_rocksdb(&block)?.contains("apple"));
//! # Ok::<(), bloomline::Error>(())
//! ```

pub mod leveldb;
pub mod parquet;
pub mod rocksdb;

use crate::error::Error;

/// RocksDB before format version 5, with lines of 64 bytes; Pebble.
///
/// ```
/// use bloomline::engines::rocksdb_legacy;
///
/// let hashes = [b"apple".as_slice(), b"pear"].map(|key| u64::from(rocksdb_legacy::hash(key)));
/// let mut block = vec![0; rocksdb_legacy::block_len(2, 10.0)?];
/// rocksdb_legacy::block_build(&hashes, 10.0, &mut block)?;
/// assert!(bloomline::View::open_rocksdb(&block)?.contains("apple"));
/// # Ok::<(), bloomline::Error>(())
/// ```
pub mod rocksdb_legacy {
    use super::*;
    pub use crate::hash::bloom32::rocksdb_legacy as hash;

    /// Returns the length of the filter of `keys` keys.
    ///
    /// # Errors
    /// [`Error::BitsPerKey`] if they are negative or not finite; [`Error::LineCount`] if memory
    /// cannot address the size.
    pub fn block_len(keys: u64, bits_per_key: f64) -> Result<usize, Error> {
        rocksdb::legacy_len(keys, bits_per_key)
    }

    /// Builds the filter of the keys with these hashes, in the low half of each, in `out`,
    /// and returns its length.
    ///
    /// # Errors
    /// As `block_len`; [`Error::BufferTooSmall`]; [`Error::Backend`]. Nothing is written then.
    pub fn block_build(hashes: &[u64], bits_per_key: f64, out: &mut [u8]) -> Result<usize, Error> {
        rocksdb::legacy_build(hashes, bits_per_key, out.into())
    }

    #[cfg(feature = "capi")]
    pub(crate) use super::rocksdb::legacy_build as build_in;
}

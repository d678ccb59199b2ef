//! LevelDB ("BuiltinBloomFilter2") and goleveldb: an array of bits, then a byte that holds k.
//! Their filters are small, some tens of keys each; a table's filter block holds many.
//!
//! ```
//! use bloomline::engines::leveldb;
//!
//! let hashes = [b"apple".as_slice(), b"pear"].map(|key| u64::from(leveldb::hash(key)));
//! let mut block = vec![0; leveldb::block_len(2, 10.0)?];
//! leveldb::block_build(&hashes, 10.0, &mut block)?;
//! assert!(bloomline::View::open_leveldb(&block)?.contains("apple"));
//! # Ok::<(), bloomline::Error>(())
//! ```

use super::rocksdb::{check_legacy_bits, legacy_k};
use crate::error::Error;
use crate::hash::KeyHash;
#[cfg(feature = "capi")]
use crate::kernel::leveldb_contains;
use crate::kernel::{Found, Hashes, Kernel, Kernels, Layout};
use crate::line::LINE_BITS;
use crate::os::room::Room;

pub use crate::hash::bloom32::leveldb as hash;

/// The bits of a filter and k, or the one answer of a filter without bits.
#[inline(always)]
fn take_apart(filter: &[u8]) -> Result<(&[u8], u32), bool> {
    match filter.split_last() {
        // LevelDB's answer for a filter without bits, that of a stretch without keys.
        None | Some((_, [])) => Err(false),
        // LevelDB reserves these for future encodings; no bit to test, so all keys may be present.
        Some((31.. | 0, _)) => Err(true),
        Some((&k, bits)) => Ok((bits, k.into())),
    }
}

/// Opens the bytes of one filter.
pub(crate) fn parse<'a>(bytes: &'a [u8], kernels: Kernels) -> Found<'a> {
    let hash = KeyHash::LevelDb;
    match take_apart(bytes) {
        Ok((lines, k)) => Found { lines, k, kernel: kernels.of(Layout::LevelDb), hash },
        Err(true) => Found::anything(hash, kernels),
        Err(false) => Found::nothing(hash, kernels),
    }
}

/// Returns whether the key of a LevelDB hash may be present in a filter.
#[cfg(feature = "capi")]
#[inline(always)]
pub(crate) fn contains(filter: &[u8], hash: impl FnOnce() -> u32) -> bool {
    match take_apart(filter) {
        Ok((bits, k)) => leveldb_contains(bits, k, hash().into()),
        Err(answer) => answer,
    }
}

/// Returns the length of the filter of `keys` keys.
///
/// # Errors
/// [`Error::BitsPerKey`] if they are negative or not finite; [`Error::LineCount`] if it cannot
/// be addressed.
pub fn block_len(keys: u64, bits_per_key: f64) -> Result<usize, Error> {
    check_legacy_bits(bits_per_key)?;
    let bits = ((keys as f64 * bits_per_key) as u64).max(64);
    let len = usize::try_from(bits.div_ceil(8)).ok().and_then(|bytes| bytes.checked_add(1));
    len.ok_or(Error::LineCount(bits.div_ceil(LINE_BITS)))
}

/// Builds the filter of the keys with these hashes, in the low half of each, in `out`,
/// and returns its length.
///
/// # Errors
/// As `block_len`; [`Error::BufferTooSmall`]; [`Error::Backend`]. Nothing is written then.
pub fn block_build(hashes: &[u64], bits_per_key: f64, out: &mut [u8]) -> Result<usize, Error> {
    build_in(hashes, bits_per_key, out.into())
}

/// The same in memory that may be uninitialised.
pub(crate) fn build_in(hashes: &[u64], bits_per_key: f64, out: Room<'_>) -> Result<usize, Error> {
    let kernel = Kernel::active(Layout::LevelDb)?;
    let len = block_len(hashes.len() as u64, bits_per_key)?;
    let mut out = out.first(len)?;
    let k = legacy_k(bits_per_key);
    kernel.insert_batch(out.put_zeros(len - 1), k, Hashes::Given(hashes));
    out.put(&[k as u8]);
    Ok(len)
}

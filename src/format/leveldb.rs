//! LevelDB's and goleveldb's filters: an array of bits, then a byte that holds k. They are
//! small, some tens of keys each; a table's filter block holds many. Uses `kernel`,
//! `hash`.

use super::Found;
use super::rocksdb::legacy_k;
use crate::error::Error;
use crate::hash::KeyHash;
#[cfg(feature = "capi")]
use crate::kernel::leveldb_contains;
use crate::kernel::{Hashes, Kernel, Kernels, Layout};

/// What the bytes of one filter are.
pub(crate) fn parse<'a>(bytes: &'a [u8], kernels: &Kernels) -> Found<'a> {
    let hash = KeyHash::LevelDb;
    match bytes.split_last() {
        // LevelDB's answer for a filter without bits, that of a stretch without keys.
        None | Some((_, [])) => Found::nothing(hash, kernels),
        // Kept by LevelDB for encodings to come.
        Some((31.., _)) => Found::anything(hash, kernels),
        // No bit to test: nothing can be denied.
        Some((0, _)) => Found::anything(hash, kernels),
        Some((&k, bits)) => {
            Found { lines: bits, k: u32::from(k), kernel: kernels.of(Layout::LevelDb), hash }
        }
    }
}

/// Whether the key of a LevelDB hash may be in a filter.
#[cfg(feature = "capi")]
#[inline(always)]
pub(crate) fn contains(filter: &[u8], hash: impl FnOnce() -> u32) -> bool {
    match filter.split_last() {
        None | Some((_, [])) => false,
        Some((0 | 31.., _)) => true,
        Some((&k, bits)) => leveldb_contains(bits, k.into(), hash().into()),
    }
}

/// The length of a filter of so many keys.
///
/// # Errors
/// [`Error::LineCount`] if it cannot be addressed.
pub(crate) fn len(keys: u64, bits_per_key: f64) -> Result<usize, Error> {
    let bits = ((keys as f64 * bits_per_key) as u64).max(64);
    usize::try_from(bits.div_ceil(8))
        .ok()
        .and_then(|bytes| bytes.checked_add(1))
        .ok_or(Error::LineCount)
}

/// Builds a filter of the LevelDB hashes of the keys (the low half of each). Returns its
/// length.
///
/// # Errors
/// [`Error::BufferTooSmall`], with nothing written; [`Error::Backend`].
pub(crate) fn build(hashes: &[u64], bits_per_key: f64, out: &mut [u8]) -> Result<usize, Error> {
    let kernel = Kernel::active(Layout::LevelDb)?;
    let len = len(hashes.len() as u64, bits_per_key)?;
    let out = out.get_mut(..len).ok_or(Error::BufferTooSmall)?;
    let (bits, k) = out.split_at_mut(len - 1);
    bits.fill(0);
    k[0] = legacy_k(bits_per_key) as u8;
    kernel.insert_batch(bits, u32::from(k[0]), Hashes::Given(hashes));
    Ok(len)
}

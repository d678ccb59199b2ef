//! RocksDB since format version 5 ("FastLocalBloom"), as it is with
//! `optimize_filters_for_memory` off.
//!
//! RocksDB writes into its tables the lines, then five bytes that say which filter it is:
//!
//! ```text
//! FastLocalBloom (format version 5 and later), since RocksDB 6.6
//!     lines of 64 bytes | FF | 00 | k in the low 5 bits, line size in the high 3 | 00 00
//! legacy Bloom (before; and Pebble's)
//!     lines of 64, 128 or 256 bytes | k, 1 to 127 | line count, u32
//! Ribbon
//!     ... | FE | ...
//! ```
//!
//! Numbers are little-endian. An unknown filter answers "maybe", as in RocksDB: it must not cause
//! a false negative.
//!
//! ```
//! use bloomline::engines::rocksdb;
//!
//! assert_eq!(rocksdb::block_len(1000, 10.0)?, 64 * 20 + 5); // lines, and five bytes that say what they are
//! # Ok::<(), bloomline::Error>(())
//! ```

use crate::error::Error;
use crate::hash::KeyHash;
use crate::kernel::{Found, Hashes, Kernel, Kernels, Layout};
use crate::layouts::fast_local::MAX_K;
use crate::line::LINE_BYTES;
use crate::os::room::Room;

pub use crate::hash::xxph3::xxph3 as hash;

/// Bytes behind the lines.
const TRAILER: usize = 5;
/// The most bytes of lines that RocksDB writes.
const MAX_BYTES: u64 = 0xFFFF_FFC0;
/// The most lines of 64 bytes whose bits have numbers of 32 bits. RocksDB writes no more. Pebble
/// would, but its numbers then wrap, and the bits are in wrong places.
const MAX_LEGACY_LINES: u32 = 1 << 23;

/// Opens the bytes of a filter block.
///
/// # Errors
/// [`Error::Layout`] for a RocksDB filter that this library does not read: Ribbon, or a newer kind.
pub(crate) fn parse<'a>(bytes: &'a [u8], kernels: Kernels) -> Result<Found<'a>, Error> {
    let hash = KeyHash::Xxph3;
    // RocksDB takes a block without lines for that of a table without keys.
    let Some((lines, trailer)) = bytes.split_last_chunk::<TRAILER>() else {
        return Ok(Found::nothing(hash, kernels));
    };
    if lines.is_empty() {
        return Ok(Found::nothing(hash, kernels));
    }
    match trailer[0] {
        0xFF => {
            let (size, k) = (trailer[2] >> 5, u32::from(trailer[2] & 31));
            let known = trailer[1] == 0 && trailer[3..] == [0, 0] && size == 0;
            if !known || !(1..=MAX_K).contains(&k) {
                return Err(Error::Layout(trailer[0].into()));
            }
            // RocksDB reads past the end of a partial line; here the answer is "maybe".
            let lines = &lines[..lines.len() / LINE_BYTES * LINE_BYTES];
            if lines.is_empty() || lines.len() as u64 > MAX_BYTES {
                return Ok(Found::anything(hash, kernels));
            }
            Ok(Found { lines, k, kernel: kernels.of(Layout::FastLocal), hash })
        }
        k @ 1..=127 => {
            let count = u32::from_le_bytes([trailer[1], trailer[2], trailer[3], trailer[4]]);
            let line = lines.len().checked_div(count as usize).unwrap_or(0);
            let whole = line * count as usize == lines.len();
            let hash = KeyHash::RocksDbLegacy;
            let found =
                |layout| Ok(Found { lines, k: u32::from(k), kernel: kernels.of(layout), hash });
            match line {
                64 if whole && count <= MAX_LEGACY_LINES => found(Layout::Legacy64),
                128 if whole => found(Layout::Legacy128),
                256 if whole => found(Layout::Legacy256),
                // A line size that is no power of two, or that no engine writes.
                _ => Ok(Found::anything(hash, kernels)),
            }
        }
        // 0 is how RocksDB writes "always true".
        0 => Ok(Found::anything(hash, kernels)),
        other => Err(Error::Layout(other.into())),
    }
}

/// RocksDB's measure: thousandths of a bit per key, rounded.
///
/// # Errors
/// [`Error::BitsPerKey`] if they are not positive and finite; [`Error::TooFewBits`] below half a
/// bit, for which RocksDB makes no filter: a block without bytes would answer "no" to every key.
fn millibits(bits_per_key: f64) -> Result<u64, Error> {
    match bits_per_key {
        0.5..1.0 => Ok(1000),
        1.0..100.0 => Ok((bits_per_key * 1000.0 + 0.500001) as u64),
        100.0..f64::INFINITY => Ok(100_000),
        _ => Err(Error::bits_per_key(bits_per_key)),
    }
}

/// The k that RocksDB takes for so many bits per key.
fn fast_local_k(millibits: u64) -> u32 {
    const UP_TO: [u64; 12] =
        [2080, 3580, 5100, 6640, 8300, 10070, 11720, 14001, 16050, 18300, 22001, 25501];
    match UP_TO.iter().position(|&most| millibits <= most) {
        Some(i) => i as u32 + 1,
        None if millibits > 50_000 => 24,
        None => ((millibits - 1) / 2000 - 1) as u32,
    }
}

/// The bytes of the lines of a FastLocalBloom, before the trailer; 0 for no keys.
fn fast_local_bytes(keys: u64, millibits: u64) -> Result<usize, Error> {
    let bytes = (u128::from(keys) * u128::from(millibits)).div_ceil(8000);
    let bytes = bytes.min(MAX_BYTES.into()).next_multiple_of(LINE_BYTES as u128) as u64;
    usize::try_from(bytes).map_err(|_| Error::LineCount(bytes / LINE_BYTES as u64))
}

/// The length of the filter of `keys` keys; 0 for no keys. Bits per key are rounded to
/// thousandths, and at most 100.
///
/// # Errors
/// [`Error::BitsPerKey`] if they are not positive and finite; [`Error::TooFewBits`] below half a
/// bit, for which RocksDB makes no filter; [`Error::LineCount`] if memory cannot address the size.
pub fn block_len(keys: u64, bits_per_key: f64) -> Result<usize, Error> {
    let bytes = fast_local_bytes(keys, millibits(bits_per_key)?)?;
    Ok(if bytes == 0 { 0 } else { bytes + TRAILER })
}

/// Builds the filter of the keys with these hashes in `out`, and returns its length.
///
/// # Errors
/// As `block_len`; [`Error::BufferTooSmall`]; [`Error::Backend`]. Nothing is written then.
pub fn block_build(hashes: &[u64], bits_per_key: f64, out: &mut [u8]) -> Result<usize, Error> {
    build_in(hashes, bits_per_key, out.into())
}

/// The same in memory that may be uninitialised.
pub(crate) fn build_in(hashes: &[u64], bits_per_key: f64, out: Room<'_>) -> Result<usize, Error> {
    let kernel = Kernel::active(Layout::FastLocal)?;
    let millibits = millibits(bits_per_key)?;
    let bytes = fast_local_bytes(hashes.len() as u64, millibits)?;
    if bytes == 0 {
        return Ok(0);
    }
    let mut out = out.first(bytes + TRAILER)?;
    let k = fast_local_k(millibits);
    kernel.insert_batch(out.put_zeros(bytes), k, Hashes::Given(hashes));
    out.put(&[0xFF, 0, k as u8, 0, 0]);
    Ok(bytes + TRAILER)
}

/// Lines of 64 bytes of a legacy filter: an odd number, so that the remainder of the hash
/// depends on all of it.
fn legacy_lines(keys: u64, bits_per_key: f64) -> u32 {
    let bits = (keys as f64 * bits_per_key) as u64;
    let bits = bits.min(0xFFFF_0000);
    (bits.div_ceil(8 * LINE_BYTES as u64) | 1) as u32
}

/// The k of legacy filters, LevelDB's rule: bits per key * 0.69, 1 to 30.
pub(super) fn legacy_k(bits_per_key: f64) -> u32 {
    (bits_per_key * 0.69).clamp(1.0, 30.0) as u32
}

/// Rejects bits per key that are negative or not a number. (0 is valid: the smallest size.)
///
/// # Errors
/// [`Error::BitsPerKey`].
pub(super) fn check_legacy_bits(bits_per_key: f64) -> Result<(), Error> {
    let valid = (0.0..f64::INFINITY).contains(&bits_per_key);
    if valid { Ok(()) } else { Err(Error::BitsPerKey(bits_per_key)) }
}

/// Returns the length of a legacy block of so many keys, with lines of 64 bytes.
///
/// # Errors
/// [`Error::BitsPerKey`]; [`Error::LineCount`] if it cannot be addressed.
pub(super) fn legacy_len(keys: u64, bits_per_key: f64) -> Result<usize, Error> {
    check_legacy_bits(bits_per_key)?;
    if keys == 0 {
        return Ok(TRAILER);
    }
    Ok(legacy_lines(keys, bits_per_key) as usize * LINE_BYTES + TRAILER)
}

/// Builds a legacy block with lines of 64 bytes, which Pebble reads, from the legacy hashes of the
/// keys (the low half of each). Returns its length.
///
/// # Errors
/// [`Error::BitsPerKey`], [`Error::Backend`]; [`Error::BufferTooSmall`]. Nothing is written then.
pub(crate) fn legacy_build(
    hashes: &[u64],
    bits_per_key: f64,
    out: Room<'_>,
) -> Result<usize, Error> {
    let kernel = Kernel::active(Layout::Legacy64)?;
    let len = legacy_len(hashes.len() as u64, bits_per_key)?;
    let mut out = out.first(len)?;
    let k = legacy_k(bits_per_key);
    let lines = out.put_zeros(len - TRAILER);
    if !hashes.is_empty() {
        kernel.insert_batch(lines, k, Hashes::Given(hashes));
    }
    let line_count = (lines.len() / LINE_BYTES) as u32;
    out.put(&[k as u8]);
    out.put(&line_count.to_le_bytes());
    Ok(len)
}

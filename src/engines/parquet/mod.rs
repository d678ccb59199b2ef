//! Parquet's split-block Bloom filters: a header, then blocks of 32 bytes.
//!
//! A column chunk of a file has one. Its values are hashed by XXH64 without a seed, in Parquet's plain
//! encoding, little-endian:
//!
//! | type | the key |
//! |---|---|
//! | `BYTE_ARRAY`, `FIXED_LEN_BYTE_ARRAY` | the bytes, without a length: `"apple"`, `[u8; 16]` |
//! | `INT32`, `INT64` | `i32`, `i64`; those that stand for unsigned integers also `u32`, `u64` |
//! | `FLOAT`, `DOUBLE` | `x.to_bits()`: 0 and -0 are two values, and so are NaNs of other bits |
//! | `INT96` | `[u8; 12]` |
//! | `BOOLEAN` | `u8::from(x)` |
//!
//! Nulls are not inserted. To read a filter, [`View::open_parquet`](crate::View::open_parquet), or
//! [`View::open_parquet_bits`](crate::View::open_parquet_bits) without the header.
//!
//! ```
//! use bloomline::View;
//! use bloomline::engines::parquet;
//!
//! let hashes = [1_i64, 2, 3].map(|id| parquet::hash(&id));
//! let bits_per_key = parquet::bits_per_key(0.01)?; // of a rate
//! let mut block = vec![0; parquet::block_len(3, bits_per_key)?];
//! parquet::block_build(&hashes, bits_per_key, &mut block)?;
//! let view = View::open_parquet(&block)?;
//! assert!(view.contains(&2_i64) && !view.contains(&2_i32)); // an INT32 is another value
//! # Ok::<(), bloomline::Error>(())
//! ```
//!
//! A writer that does not know how many values come takes a large filter, and folds it at the end:
//!
//! ```
//! use bloomline::engines::parquet;
//!
//! let mut bits = vec![0; parquet::bits_len(1_000_000, parquet::bits_per_key(0.01)?)?];
//! parquet::insert_hashes(&mut bits, &[parquet::hash("apple")])?;
//! let len = parquet::fold(&mut bits, 0.01)?;
//! bits.truncate(len);
//! assert_eq!(bits.len(), 32);
//! # Ok::<(), bloomline::Error>(())
//! ```

mod header;
mod others;

#[cfg(feature = "capi")]
pub(crate) use header::write_header_in;
pub use header::{Header, MAX_HEADER_LEN, read_header, write_header};

pub(crate) use others::{check_velox, from_velox, kudu_hash, kudu_log2};

use crate::error::Error;
use crate::hash::KeyHash;
use crate::kernel::{Found, Hashes, Kernel, Kernels, Layout};
use crate::key::Key;
use crate::layouts::sbbf::{BLOCK_BYTES, WORDS};
use crate::os::room::Room;

/// The most bytes of bits that are written by default, as other writers do. A reader takes up to 2 GiB.
pub const MAX_BITS_LEN: usize = 128 << 20;

/// The bits that a key sets.
const K: u32 = WORDS as u32;

/// Returns the hash of a value: XXH64 of its bytes, which the table above has.
#[inline]
pub fn hash<K: Key + ?Sized>(value: &K) -> u64 {
    KeyHash::Xxh64.of(value)
}

/// Hashes many values; `out` gets one hash per value, in order.
///
/// # Panics
/// If `out` is not as long as `values`.
pub fn hash_batch<K: Key>(values: &[K], out: &mut [u64]) {
    assert_eq!(values.len(), out.len(), "one output per value");
    KeyHash::Xxh64.hash_all(values, out);
}

/// Opens bits without a header.
pub(crate) fn parse_bits(lines: &[u8], kernels: Kernels) -> Result<Found<'_>, Error> {
    header::check_bits(lines.len())?;
    Ok(Found { lines, k: K, kernel: kernels.of(Layout::Sbbf), hash: KeyHash::Xxh64 })
}

/// Opens a header, and the bits behind it.
pub(crate) fn parse(bytes: &[u8], kernels: Kernels) -> Result<Found<'_>, Error> {
    let Header { header_len, bits_len } = read_header(bytes)?;
    let (end, given) = (header_len + bits_len, bytes.len());
    let truncated = Error::Truncated { needed: end as u64, given: given as u64 };
    parse_bits(bytes.get(header_len..end).ok_or(truncated)?, kernels)
}

/// Returns the bits per key that give this false-positive rate, by Parquet's own advice.
///
/// # Errors
/// [`Error::Rate`] unless it is between 0 and 1.
pub fn bits_per_key(rate: f64) -> Result<f64, Error> {
    if !(rate > 0.0 && rate < 1.0) {
        return Err(Error::Rate(rate));
    }
    Ok(-f64::from(K) / (-rate.powf(1.0 / f64::from(K))).ln_1p())
}

/// Returns the length of the bits for so many different keys: a power of two, from 32 bytes to
/// [`MAX_BITS_LEN`]. The format allows other lengths, but readers older than its present text reject them.
///
/// # Errors
/// [`Error::BitsPerKey`] unless they are positive and finite.
pub fn bits_len(keys: u64, bits_per_key: f64) -> Result<usize, Error> {
    if !(bits_per_key > 0.0 && bits_per_key < f64::INFINITY) {
        return Err(Error::BitsPerKey(bits_per_key));
    }
    let bytes = (keys as f64 * bits_per_key / 8.0) as usize;
    Ok(bytes.clamp(BLOCK_BYTES, MAX_BITS_LEN).next_power_of_two())
}

/// Returns the length of the same with the header.
///
/// # Errors
/// As [`bits_len`].
pub fn block_len(keys: u64, bits_per_key: f64) -> Result<usize, Error> {
    let bits_len = bits_len(keys, bits_per_key)?;
    Ok(header::of(bits_len).as_ref().len() + bits_len)
}

/// Builds the filter of the keys with these hashes, header and bits, in `out`, and returns its length.
/// Keys that repeat count in its size.
///
/// # Errors
/// As [`bits_len`]; [`Error::BufferTooSmall`]; [`Error::Backend`]. Nothing is written then.
pub fn block_build(hashes: &[u64], bits_per_key: f64, out: &mut [u8]) -> Result<usize, Error> {
    build_in(hashes, bits_per_key, out.into())
}

/// The same in memory that may be uninitialised.
pub(crate) fn build_in(hashes: &[u64], bits_per_key: f64, out: Room<'_>) -> Result<usize, Error> {
    let kernel = Kernel::active(Layout::Sbbf)?;
    let bits_len = bits_len(hashes.len() as u64, bits_per_key)?;
    let header = header::of(bits_len);
    let len = header.as_ref().len() + bits_len;
    let mut out = out.first(len)?;
    out.put(header.as_ref());
    kernel.insert_batch(out.put_zeros(bits_len), K, Hashes::Given(hashes));
    Ok(len)
}

/// Inserts keys with these hashes into bits: zeroed, or those of another filter, in any number of blocks.
///
/// # Errors
/// [`Error::LineCount`] for no bits, and for more than a header can state; [`Error::Truncated`] unless
/// they are whole blocks of 32 bytes; [`Error::Backend`]. Nothing is written then.
pub fn insert_hashes(bits: &mut [u8], hashes: &[u64]) -> Result<(), Error> {
    header::check_bits(bits.len())?;
    Kernel::active(Layout::Sbbf)?.insert_batch(bits, K, Hashes::Given(hashes));
    Ok(())
}

/// Folds bits to a half, a quarter and so on, to the least length with which their false-positive rate is at
/// most `rate`. Returns that length; the folded bits are the first of `bits`. All keys stay. If the rate is
/// higher already, nothing changes; an odd number of blocks cannot be folded.
///
/// # Errors
/// [`Error::Rate`] unless it is between 0 and 1; as [`insert_hashes`]. Nothing is changed then.
pub fn fold(bits: &mut [u8], rate: f64) -> Result<usize, Error> {
    bits_per_key(rate)?;
    header::check_bits(bits.len())?;
    let (blocks, _) = bits.as_chunks_mut::<BLOCK_BYTES>();
    let most = 1 << blocks.len().trailing_zeros();
    let mut group = 1;
    // A block's index is that in a filter of half as many, and one more bit.
    while group < most && rate_of(blocks, 2 * group) <= rate {
        group *= 2;
    }
    let count = blocks.len() / group;
    for i in 0..count {
        blocks[i] = folded(&blocks[i * group..][..group]);
    }
    Ok(count * BLOCK_BYTES)
}

/// All bits of some blocks in one.
fn folded(group: &[[u8; BLOCK_BYTES]]) -> [u8; BLOCK_BYTES] {
    group.iter().fold([0; BLOCK_BYTES], |mut all, block| {
        all.iter_mut().zip(block).for_each(|(all, byte)| *all |= byte);
        all
    })
}

/// The false-positive rate, with so many blocks folded into one.
fn rate_of(blocks: &[[u8; BLOCK_BYTES]], group: usize) -> f64 {
    let rates = blocks.chunks_exact(group).map(|group| {
        let block = folded(group);
        let words = block.as_chunks::<4>().0.iter();
        words.map(|&word| f64::from(u32::from_ne_bytes(word).count_ones()) / 32.0).product::<f64>()
    });
    rates.sum::<f64>() * group as f64 / blocks.len() as f64
}

//! Split blocks of other programs, as Parquet's: hashes by which the same bits are found, words in Parquet's
//! order.

use super::header::check_bits;
use crate::error::Error;
use crate::layouts::sbbf::{self, BLOCK_BYTES, WORDS};
use crate::layouts::{kudu, velox};

/// The hash by which Parquet's layout finds the bits of Kudu's hash, in `1 << log2` blocks.
#[inline(always)]
pub(crate) fn kudu_hash(hash: u32, log2: u32) -> u64 {
    // The low bits, which are the block's number there, are so many high bits here. In two steps, as they may be none.
    u64::from(kudu::rehash(hash)) << (63 - log2) << 1 | u64::from(hash)
}

/// How many blocks of Kudu bits of so many bytes are, as a power of two.
///
/// # Errors
/// [`Error::LineCount`] unless it is one; as [`insert_hashes`](super::insert_hashes).
pub(crate) fn kudu_log2(len: usize) -> Result<u32, Error> {
    check_bits(len)?;
    let count = len / BLOCK_BYTES;
    if !count.is_power_of_two() {
        return Err(Error::LineCount(count as u64));
    }
    Ok(count.ilog2())
}

/// Where each word of Velox is in Parquet's block: where the salt is.
const PLACES: [usize; WORDS] = {
    let (mut places, mut i) = ([WORDS; WORDS], 0);
    while i < WORDS * WORDS {
        if velox::SALTS[i / WORDS] == sbbf::SALTS[i % WORDS] {
            places[i / WORDS] = i % WORDS;
        }
        i += 1;
    }
    places
};

/// Checks the length of all blocks of Velox, and that of each.
///
/// # Errors
/// [`Error::Layout`] with `block_bytes` unless these are 32; as [`insert_hashes`](super::insert_hashes).
pub(crate) fn check_velox(len: usize, block_bytes: usize) -> Result<(), Error> {
    if block_bytes != BLOCK_BYTES {
        return Err(Error::Layout(u16::try_from(block_bytes).unwrap_or(u16::MAX)));
    }
    check_bits(len)
}

/// Writes blocks of Velox to `out`, which is as long, in Parquet's order.
pub(crate) fn from_velox(blocks: &[u8], out: &mut [u8]) {
    assert_eq!(blocks.len(), out.len(), "room for all blocks");
    let (words, _) = blocks.as_chunks::<4>();
    let (out, _) = out.as_chunks_mut::<4>();
    for (block, out) in words.chunks_exact(WORDS).zip(out.chunks_exact_mut(WORDS)) {
        for (&word, place) in block.iter().zip(PLACES) {
            out[place] = word;
        }
    }
}

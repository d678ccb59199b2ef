//! The split-block Bloom filter of Parquet, in its plainest form.
//!
//! A filter is an array of 32-byte blocks; a block is 8 words of 32 bits, stored little-endian. A key
//! is a 64-bit hash, XXH64 in Parquet. It belongs to one block and sets a bit in each word:
//!
//! ```text
//! index    = high 32 bits of (high 32 bits of hash * block_count)
//! word i   : bit (low 32 bits of hash * SALTS[i] (mod 2^32)) >> 27
//! insert   : set the bits
//! contains : are they all set
//! ```
//!
//! The salts make the layout, and no byte of a filter says which they are. These are Parquet's. Other programs
//! have the same blocks with other bits in them: [`kudu`](super::kudu), [`velox`](super::velox). Read as Parquet's,
//! their filters would lose keys.
//!
//! This file is the definition; the tests compare the backends in `kernel/` with it.
//!
//! ```
//! use bloomline::definition::sbbf;
//!
//! let mut blocks = [0; 32 * 3]; // any number of blocks
//! let hash = bloomline::engines::parquet::hash("apple");
//! sbbf::insert(&mut blocks, hash);
//! assert!(sbbf::contains(&blocks, hash));
//! ```

use std::ops::Range;

/// Bytes in a block.
pub const BLOCK_BYTES: usize = 32;
/// Words in a block, and bits that a key sets.
pub const WORDS: usize = 8;

/// The factor of each word.
pub const SALTS: [u32; WORDS] = [
    0x47B6_137B,
    0x4497_4D91,
    0x8824_AD5B,
    0xA2B7_289D,
    0x7054_95C7,
    0x2DF1_424B,
    0x9EFC_4947,
    0x5C6B_FB31,
];

/// Which of `block_count` blocks the hash belongs to.
#[inline(always)]
pub const fn block_index(hash: u64, block_count: u32) -> u32 {
    (((hash >> 32) * block_count as u64) >> 32) as u32
}

/// Returns the bits that a key sets in its block.
pub const fn mask(hash: u64) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    let mut i = 0;
    while i < WORDS {
        words[i] = 1 << ((hash as u32).wrapping_mul(SALTS[i]) >> 27);
        i += 1;
    }
    words
}

/// How many blocks there are.
pub(super) fn block_count(blocks: &[u8]) -> u32 {
    let count = u32::try_from(blocks.len() / BLOCK_BYTES).expect("fewer than 2^32 blocks");
    assert!(count > 0 && blocks.len().is_multiple_of(BLOCK_BYTES), "whole blocks");
    count
}

/// The bytes of a block.
pub(super) fn block_of(index: u32) -> Range<usize> {
    let at = index as usize * BLOCK_BYTES;
    at..at + BLOCK_BYTES
}

/// Sets bits in a block.
pub(super) fn set(block: &mut [u8], bits: [u32; WORDS]) {
    let (words, _) = block.as_chunks_mut();
    for (word, bit) in words.iter_mut().zip(bits) {
        *word = (u32::from_le_bytes(*word) | bit).to_le_bytes();
    }
}

/// Whether all these bits are set in a block.
pub(super) fn are_set(block: &[u8], bits: [u32; WORDS]) -> bool {
    let (words, _) = block.as_chunks();
    words.iter().zip(bits).all(|(&word, bit)| u32::from_le_bytes(word) & bit == bit)
}

/// Sets the bits of the key. `blocks` is the whole array.
///
/// # Panics
/// Unless `blocks` is a non-zero multiple of 32 bytes, of fewer than 2^32 blocks.
pub fn insert(blocks: &mut [u8], hash: u64) {
    let at = block_of(block_index(hash, block_count(blocks)));
    set(&mut blocks[at], mask(hash));
}

/// Returns whether all bits of the key are set. False: definitely absent; true: maybe.
///
/// # Panics
/// As [`insert`].
pub fn contains(blocks: &[u8], hash: u64) -> bool {
    let at = block_of(block_index(hash, block_count(blocks)));
    are_set(&blocks[at], mask(hash))
}

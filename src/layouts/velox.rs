//! The split-block filter of Velox (`SplitBlockBloomFilter`) where a register has 8 words of 32 bits, in its
//! plainest form: that of [`sbbf`](super::sbbf) with the salts in another order.
//!
//! Where a register has 4 words, a block has 16 bytes and a key sets 4 bits. That is another filter.
//!
//! ```
//! use bloomline::definition::velox;
//!
//! let mut blocks = [0; 32 * 3]; // any number of blocks
//! velox::insert(&mut blocks, 0x9E37_79B9_7F4A_7C15);
//! assert!(velox::contains(&blocks, 0x9E37_79B9_7F4A_7C15));
//! ```

use super::sbbf::{WORDS, are_set, block_count, block_index, block_of, set};

/// The factor of each word: those of Parquet, sorted.
pub const SALTS: [u32; WORDS] = [
    0x2DF1_424B,
    0x4497_4D91,
    0x47B6_137B,
    0x5C6B_FB31,
    0x7054_95C7,
    0x8824_AD5B,
    0x9EFC_4947,
    0xA2B7_289D,
];

/// Returns the bits that a key sets in its block.
pub fn mask(hash: u64) -> [u32; WORDS] {
    SALTS.map(|salt| 1 << ((hash as u32).wrapping_mul(salt) >> 27))
}

/// Sets the bits of the key. `blocks` is the whole array.
///
/// # Panics
/// As [`sbbf::insert`](super::sbbf::insert).
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

//! The split-block filter of Kudu, Impala and Doris, in its plainest form.
//!
//! Blocks, words and salts are those of [`sbbf`](super::sbbf). But a key is a hash of 32 bits, and another
//! 32 are made of it for the block. The number of blocks is a power of two:
//!
//! ```text
//! index    = ((hash * 0x7850F11EC6D14889 + 0x6773610597CA4C63) mod 2^64 >> 32) mod block_count
//! word i   : bit (hash * SALTS[i] (mod 2^32)) >> 27
//! insert   : set the bits
//! contains : are they all set
//! ```
//!
//! ```
//! use bloomline::definition::kudu;
//!
//! let mut blocks = [0; 32 * 4];
//! kudu::insert(&mut blocks, 7);
//! assert!(kudu::contains(&blocks, 7));
//! ```

use super::sbbf::{are_set, block_count, block_of, mask, set};

/// What the hash is multiplied by for the block.
pub const FACTOR: u64 = 0x7850_F11E_C6D1_4889;
/// What is added.
pub const SUMMAND: u64 = 0x6773_6105_97CA_4C63;

/// The 32 bits that are made of a hash. Their lowest ones are the block's number.
#[inline(always)]
pub const fn rehash(hash: u32) -> u32 {
    ((hash as u64).wrapping_mul(FACTOR).wrapping_add(SUMMAND) >> 32) as u32
}

/// Which of `block_count` blocks the hash belongs to.
///
/// # Panics
/// Unless `block_count` is a power of two.
pub const fn block_index(hash: u32, block_count: u32) -> u32 {
    assert!(block_count.is_power_of_two(), "a power of two");
    rehash(hash) & (block_count - 1)
}

/// Sets the bits of the key. `blocks` is the whole array.
///
/// # Panics
/// Unless `blocks` is whole blocks of 32 bytes, and their number a power of two.
pub fn insert(blocks: &mut [u8], hash: u32) {
    let at = block_of(block_index(hash, block_count(blocks)));
    set(&mut blocks[at], mask(hash.into()));
}

/// Returns whether all bits of the key are set. False: definitely absent; true: maybe.
///
/// # Panics
/// As [`insert`].
pub fn contains(blocks: &[u8], hash: u32) -> bool {
    let at = block_of(block_index(hash, block_count(blocks)));
    are_set(&blocks[at], mask(hash.into()))
}

//! Parquet's split blocks through `wide`: all words of a block at once, NEON on aarch64.

use super::super::batch::Ops;
use super::super::lines::Lines;
use super::{LOG2, block, prefetch_block};
use crate::layouts::sbbf::{SALTS, WORDS};
use wide::u32x8;

/// Eight words at a time.
pub(in crate::kernel) struct Portable;

/// The bits of a key in its block.
#[inline(always)]
fn mask(hash: u64) -> u32x8 {
    let positions = (u32x8::splat(hash as u32) * u32x8::new(SALTS)) >> 27_u32;
    u32x8::splat(1) << positions
}

/// The words of a block: stored little-endian on every CPU.
///
/// # Safety
/// 32 bytes can be read at `block`.
#[inline(always)]
unsafe fn load(block: *const u8) -> u32x8 {
    // SAFETY: the caller's promise.
    let words = unsafe { block.cast::<[u32; WORDS]>().read_unaligned() };
    u32x8::new(words.map(u32::from_le))
}

impl Ops for Portable {
    const LINE_LOG2: u32 = LOG2;

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        let (block, mask) = (block(lines, hash), mask(hash));
        // SAFETY: the caller says that the block can be written.
        unsafe {
            let old = load(block);
            let words = (old | mask).to_array().map(u32::to_le);
            block.cast::<[u32; WORDS]>().write_unaligned(words);
            unset(old, mask) != 0
        }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller vouches for the block.
        unset(unsafe { load(block(lines, hash)) }, mask(hash)) == 0
    }

    #[inline(always)]
    fn prefetch<const HINT: u8>(lines: Lines, hash: u64) {
        prefetch_block::<HINT>(lines, hash);
    }
}

/// The bits of the mask that the words lack, of all words together.
#[inline(always)]
fn unset(words: u32x8, mask: u32x8) -> u32 {
    (!words & mask).to_array().into_iter().fold(0, |all, word| all | word)
}

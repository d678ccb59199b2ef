//! Parquet's split blocks on the backends: `scalar` here, the others in a file each.

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(not(target_arch = "x86_64"))]
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;
#[cfg(not(target_arch = "x86_64"))]
pub(super) use portable::Portable;
#[cfg(target_arch = "x86_64")]
pub(super) use x86::X86;
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
pub(super) use x86::{contains_inlined, two_inlined};

use super::batch::Ops;
use super::lines::Lines;
use super::prefetch::prefetch;
use crate::layouts::sbbf::{BLOCK_BYTES, WORDS, block_index, mask};

const LOG2: u32 = BLOCK_BYTES.ilog2();

/// Where the block of a hash is.
#[inline(always)]
fn block(lines: Lines, hash: u64) -> *mut u8 {
    // There are fewer than 2^32; see `engines::parquet`.
    let index = block_index(hash, lines.count() as u32);
    lines.first().wrapping_add(index as usize * BLOCK_BYTES)
}

/// Prefetches the block of a hash: two cache lines if it may lie across them.
#[inline(always)]
fn prefetch_block<const HINT: u8>(lines: Lines, hash: u64) {
    let block = block(lines, hash);
    prefetch::<HINT>(block);
    // Blocks at multiples of their own size lie in one cache line each.
    if lines.straddle() && !lines.first().addr().is_multiple_of(BLOCK_BYTES) {
        prefetch::<HINT>(block.wrapping_add(BLOCK_BYTES - 1));
    }
}

/// One word after the other.
pub(super) struct Scalar;

impl Ops for Scalar {
    const LINE_LOG2: u32 = LOG2;

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        let block = block(lines, hash).cast::<u32>();
        let (bits, mut unset) = (mask(hash), 0);
        for (i, bits) in bits.into_iter().enumerate().take(WORDS) {
            // SAFETY: the caller says that the block, which has so many words, can be written.
            unsafe {
                let word = block.add(i);
                let old = u32::from_le(word.read_unaligned());
                unset |= bits & !old;
                word.write_unaligned((old | bits).to_le());
            }
        }
        unset != 0
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        let block = block(lines, hash).cast::<u32>();
        let (bits, mut unset) = (mask(hash), 0);
        // No branch between them: it would be mispredicted for half of the keys.
        for (i, bits) in bits.into_iter().enumerate().take(WORDS) {
            // SAFETY: the caller vouches for the block, which has so many words.
            unset |= bits & !u32::from_le(unsafe { block.add(i).read_unaligned() });
        }
        unset == 0
    }

    #[inline(always)]
    fn prefetch<const HINT: u8>(lines: Lines, hash: u64) {
        prefetch_block::<HINT>(lines, hash);
    }
}

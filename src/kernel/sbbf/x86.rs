//! Parquet's split blocks with AVX2 and, one key at a time, AVX-512: a block is one register of 256 bits. Reached
//! only through the detection in `kernel`.

use super::super::batch::Ops;
use super::super::lines::Lines;
#[cfg(target_feature = "avx2")]
use super::super::single::Single;
use super::super::single::tag;
use super::{LOG2, block, prefetch_block};
use crate::layouts::sbbf::SALTS;
use std::arch::x86_64::*;

/// A block at a time.
pub(in crate::kernel) struct X86;

impl Ops for X86 {
    const LINE_LOG2: u32 = LOG2;
    const ROWS: Option<usize> = Some(tag::BLOCKS);

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller vouches for the CPU and for the blocks.
        unsafe { insert(block(lines, hash), hash) }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller vouches for the CPU and for the blocks.
        unsafe { contains(block(lines, hash), hash) }
    }

    #[inline(always)]
    fn prefetch<const HINT: u8>(lines: Lines, hash: u64) {
        prefetch_block::<HINT>(lines, hash);
    }
}

/// How the caller's own code probes one key without a call, if the function is one of this file: see
/// `native::halves::inlined`.
///
/// # Safety
/// The blocks can be read.
#[cfg(target_feature = "avx2")]
#[inline(always)]
pub(in crate::kernel) unsafe fn contains_inlined(single: &Single<'_>, hash: u64) -> Option<bool> {
    // SAFETY: the program is compiled for such CPUs; the caller's promise.
    let contains = || unsafe { contains(block(single.lines(), hash), hash) };
    (single.k().addr() % 4 == tag::BLOCKS).then(contains)
}

/// The answers for two keys, a bit each.
///
/// # Safety
/// The blocks can be read.
#[cfg(target_feature = "avx2")]
#[inline(always)]
pub(in crate::kernel) unsafe fn two_inlined(
    single: &Single<'_>,
    first: u64,
    second: u64,
) -> Option<u64> {
    if single.k().addr() % 4 != tag::BLOCKS {
        return None;
    }
    // SAFETY: as above.
    let has = |hash| u64::from(unsafe { contains(block(single.lines(), hash), hash) });
    Some(has(first) | has(second) << 1)
}

/// The bits of a key in its block.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn mask(hash: u64) -> __m256i {
    // SAFETY: the table is 32 bytes.
    let salts = unsafe { _mm256_loadu_si256(SALTS.as_ptr().cast()) };
    let products = _mm256_mullo_epi32(_mm256_set1_epi32(hash as i32), salts);
    _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(products))
}

/// Sets the bits of a key. Returns whether any of them was not set.
///
/// # Safety
/// 32 bytes can be read and written at `block`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn insert(block: *mut u8, hash: u64) -> bool {
    let (block, mask) = (block.cast(), mask(hash));
    // SAFETY: the caller's promise.
    let old = unsafe { _mm256_loadu_si256(block) };
    // SAFETY: the caller's promise.
    unsafe { _mm256_storeu_si256(block, _mm256_or_si256(old, mask)) };
    _mm256_testc_si256(old, mask) == 0
}

/// Whether the block has the bits of a key.
///
/// # Safety
/// 32 bytes can be read at `block`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn contains(block: *const u8, hash: u64) -> bool {
    // SAFETY: the caller's promise.
    let words = unsafe { _mm256_loadu_si256(block.cast()) };
    _mm256_testc_si256(words, mask(hash)) != 0
}

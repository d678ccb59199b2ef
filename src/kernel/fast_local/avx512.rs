//! RocksDB's line with AVX-512: all of it in one register, sixteen positions at a time.
//! Uses `batch`; reached only through the detection in `kernel`.

use super::super::batch::{Lines, Ops};
use super::{POWERS, step_by};
use std::arch::x86_64::*;

/// Sixteen positions at a time.
pub(in crate::kernel) struct Avx512;

impl Ops for Avx512 {
    #[inline(always)]
    fn line(lines: Lines, hash: u64) -> *const u8 {
        super::line(lines, hash)
    }

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) {
        // SAFETY: the caller's promise.
        unsafe { super::insert(lines, hash) }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller vouches for the CPU and for the lines.
        unsafe { contains(super::line(lines, hash), (hash >> 32) as u32, lines.k()) }
    }
}

/// Whether the line has the `k` bits that start with `x`.
///
/// # Safety
/// 64 bytes can be read at `line`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn contains(line: *const u8, x: u32, k: u32) -> bool {
    // SAFETY: the caller's promise.
    let line = unsafe { _mm512_loadu_si512(line.cast()) };
    let x = _mm512_mullo_epi32(_mm512_set1_epi32(x as i32), powers());
    let unset = unset(line, x);
    if k <= 16 {
        return unset & (0xFFFF >> (16 - k)) == 0;
    }
    let next = _mm512_mullo_epi32(x, _mm512_set1_epi32(step_by(16) as i32));
    let unset = u32::from(unset) | u32::from(self::unset(line, next)) << 16;
    unset & (u32::MAX >> (32 - k)) == 0
}

/// Which of sixteen positions are not set: bit `i` stands for position `x[i] >> 23`.
#[inline]
#[target_feature(enable = "avx512f")]
fn unset(line: __m512i, x: __m512i) -> u16 {
    // Of the 9 bits of a position the top 4 are the word, the low 5 the bit in it; a
    // rotate takes its count modulo 32.
    let words = _mm512_permutexvar_epi32(_mm512_srli_epi32::<28>(x), line);
    let bits = _mm512_rolv_epi32(_mm512_set1_epi32(1), _mm512_srli_epi32::<23>(x));
    _mm512_testn_epi32_mask(words, bits)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn powers() -> __m512i {
    // SAFETY: the table is 64 bytes.
    unsafe { _mm512_loadu_si512(POWERS.as_ptr().cast()) }
}

//! XXH3-64 of 8 integers at once.

use super::plain::{FACTOR, flip};
use std::arch::x86_64::*;

/// Values in a register.
const LANES: usize = 8;

/// The hashes of 8 keys of `len` bytes: their bytes as XXH3 puts them together for 4 to 8.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(in crate::kernel) fn hashes(words: __m512i, flip: __m512i, len: __m512i) -> __m512i {
    const ALL_THREE: i32 = 0x96; // a ^ b ^ c
    let factor = _mm512_set1_epi64(FACTOR as i64);
    let k = _mm512_xor_si512(words, flip);
    let (a, b) = (_mm512_rol_epi64::<49>(k), _mm512_rol_epi64::<24>(k));
    let h = _mm512_mullo_epi64(_mm512_ternarylogic_epi64::<ALL_THREE>(k, a, b), factor);
    let h = _mm512_xor_si512(h, _mm512_add_epi64(_mm512_srli_epi64::<35>(h), len));
    let h = _mm512_mullo_epi64(h, factor);
    _mm512_xor_si512(h, _mm512_srli_epi64::<28>(h))
}

/// What [`hashes`] takes besides, for keys of so many bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernel) fn start(seed: u64, len: i64) -> (__m512i, __m512i) {
    (_mm512_set1_epi64(flip(seed) as i64), _mm512_set1_epi64(len))
}

/// What [`hashes`] takes for numbers of 4 bytes: both halves are the number.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernel) fn twice(values: __m256i) -> __m512i {
    let twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    _mm512_permutexvar_epi32(twice, _mm512_castsi256_si512(values))
}

/// The lanes below `count`.
#[inline(always)]
fn below(count: usize) -> __mmask8 {
    ((1_u32 << count) - 1) as __mmask8
}

/// # Safety
/// The CPU has the instructions; there are as many values as hashes.
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
pub(super) unsafe fn of_u64(values: &[u64], seed: u64, out: &mut [u64]) {
    let (flip, len) = start(seed, 8);
    let (whole, rest) = (out.len() / LANES, out.len() % LANES);
    let (from, to) = (values.as_ptr().cast::<i64>(), out.as_mut_ptr().cast::<i64>());
    // SAFETY: whole registers of values and hashes, and of the last ones only the lanes that are there.
    unsafe {
        for i in 0..whole {
            let words = _mm512_rol_epi64::<32>(_mm512_loadu_epi64(from.add(LANES * i)));
            _mm512_storeu_epi64(to.add(LANES * i), hashes(words, flip, len));
        }
        let last = below(rest);
        let words = _mm512_maskz_loadu_epi64(last, from.wrapping_add(LANES * whole));
        let hashes = hashes(_mm512_rol_epi64::<32>(words), flip, len);
        _mm512_mask_storeu_epi64(to.wrapping_add(LANES * whole), last, hashes);
    }
}

/// # Safety
/// As for [`of_u64`].
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
pub(super) unsafe fn of_u32(values: &[u32], seed: u64, out: &mut [u64]) {
    let (flip, len) = start(seed, 4);
    let (whole, rest) = (out.len() / LANES, out.len() % LANES);
    let (from, to) = (values.as_ptr().cast::<i32>(), out.as_mut_ptr().cast::<i64>());
    // SAFETY: as above.
    unsafe {
        for i in 0..whole {
            let words = twice(_mm256_loadu_epi32(from.add(LANES * i)));
            _mm512_storeu_epi64(to.add(LANES * i), hashes(words, flip, len));
        }
        let last = below(rest);
        let words = twice(_mm256_maskz_loadu_epi32(last, from.wrapping_add(LANES * whole)));
        let hashes = hashes(words, flip, len);
        _mm512_mask_storeu_epi64(to.wrapping_add(LANES * whole), last, hashes);
    }
}

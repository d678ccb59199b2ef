//! XXH3-64 of 4 integers at once.

use super::plain::{self, FACTOR, flip};
use std::arch::x86_64::*;

/// Values in a register.
const LANES: usize = 4;

/// Each lane times the factor, of three products of 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn times_factor(a: __m256i) -> __m256i {
    let low = _mm256_set1_epi64x((FACTOR & 0xFFFF_FFFF) as i64);
    let high = _mm256_set1_epi64x((FACTOR >> 32) as i64);
    let cross = _mm256_add_epi64(
        _mm256_mul_epu32(a, high),
        _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), low),
    );
    _mm256_add_epi64(_mm256_mul_epu32(a, low), _mm256_slli_epi64::<32>(cross))
}

/// The hashes of 4 keys of `len` bytes: their bytes as XXH3 puts them together for 4 to 8.
#[inline]
#[target_feature(enable = "avx2")]
fn hashes(words: __m256i, flip: __m256i, len: __m256i) -> __m256i {
    let k = _mm256_xor_si256(words, flip);
    let a = _mm256_or_si256(_mm256_slli_epi64::<49>(k), _mm256_srli_epi64::<15>(k));
    // Left by 24 bits: by bytes.
    let by_bytes = _mm256_setr_epi8(
        5, 6, 7, 0, 1, 2, 3, 4, 13, 14, 15, 8, 9, 10, 11, 12, 5, 6, 7, 0, 1, 2, 3, 4, 13, 14, 15,
        8, 9, 10, 11, 12,
    );
    let b = _mm256_shuffle_epi8(k, by_bytes);
    let h = times_factor(_mm256_xor_si256(k, _mm256_xor_si256(a, b)));
    let h = _mm256_xor_si256(h, _mm256_add_epi64(_mm256_srli_epi64::<35>(h), len));
    let h = times_factor(h);
    _mm256_xor_si256(h, _mm256_srli_epi64::<28>(h))
}

/// # Safety
/// The CPU has the instructions; there are as many values as hashes.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn of_u64(values: &[u64], seed: u64, out: &mut [u64]) {
    let (flip, len) = (_mm256_set1_epi64x(flip(seed) as i64), _mm256_set1_epi64x(8));
    let (some, rest) = values.as_chunks::<LANES>();
    let (hashed, last) = out.as_chunks_mut::<LANES>();
    for (values, out) in some.iter().zip(hashed) {
        // SAFETY: a register of values, and one of hashes.
        unsafe {
            // Halves change places: left by 32 bits.
            let words = _mm256_shuffle_epi32::<0xB1>(_mm256_loadu_si256(values.as_ptr().cast()));
            _mm256_storeu_si256(out.as_mut_ptr().cast(), hashes(words, flip, len));
        }
    }
    plain::of_u64(rest, seed, last);
}

/// # Safety
/// As for [`of_u64`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn of_u32(values: &[u32], seed: u64, out: &mut [u64]) {
    let (flip, len) = (_mm256_set1_epi64x(flip(seed) as i64), _mm256_set1_epi64x(4));
    let (some, rest) = values.as_chunks::<LANES>();
    let (hashed, last) = out.as_chunks_mut::<LANES>();
    for (values, out) in some.iter().zip(hashed) {
        // SAFETY: half a register of values, and one of hashes.
        unsafe {
            let values = _mm256_cvtepu32_epi64(_mm_loadu_si128(values.as_ptr().cast()));
            // Both halves of the number are the key.
            let words = _mm256_shuffle_epi32::<0xA0>(values);
            _mm256_storeu_si256(out.as_mut_ptr().cast(), hashes(words, flip, len));
        }
    }
    plain::of_u32(rest, seed, last);
}

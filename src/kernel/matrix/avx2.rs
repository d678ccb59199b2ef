//! Four words of a row at a time.

use super::super::native::SHIFTS_64;
use super::words::{FIRST_ROWS, Words};
use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_loadu_si256, _mm256_mul_epu32, _mm256_or_si256,
    _mm256_set1_epi64x, _mm256_srlv_epi64, _mm256_storeu_si256, _mm256_testz_si256,
};

#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256i);

impl Words for Avx2 {
    const COUNT: usize = 4;
    type Sum = usize;
    const ZERO: usize = 0;

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Avx2 {
        // SAFETY: the caller's promise; only functions with these instructions are made of this.
        Avx2(unsafe { _mm256_loadu_si256(at.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u64) {
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(at.cast(), self.0) };
    }

    #[inline(always)]
    fn and(self, other: Avx2) -> Avx2 {
        // SAFETY: a value of this type comes from `load`, which says why.
        Avx2(unsafe { _mm256_and_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        // SAFETY: as above.
        unsafe { _mm256_testz_si256(self.0, self.0) == 1 }
    }

    #[inline(always)]
    fn add_to(self, sum: usize) -> usize {
        let mut words = [0_u64; 4];
        // SAFETY: as above; there is room for four.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), self.0) };
        words.iter().fold(sum, |sum, word| sum + word.count_ones() as usize)
    }

    #[inline(always)]
    fn lanes(g: u64, row_bytes: usize) -> [u64; 8] {
        let mut places = [0; 8];
        // SAFETY: only functions with these instructions are made of this; there is room for all.
        unsafe {
            for half in [0, 4] {
                let shifts = _mm256_loadu_si256(SHIFTS_64.as_ptr().add(half).cast());
                let bits = _mm256_srlv_epi64(_mm256_set1_epi64x(g as i64), shifts);
                let bits = _mm256_and_si256(bits, _mm256_set1_epi64x(63));
                let first = _mm256_loadu_si256(FIRST_ROWS.as_ptr().add(half).cast());
                let rows = _mm256_or_si256(bits, first);
                // Of their lower halves: a row has less than 2^32 bytes.
                let all = _mm256_mul_epu32(rows, _mm256_set1_epi64x(row_bytes as i64));
                _mm256_storeu_si256(places.as_mut_ptr().add(half).cast(), all);
            }
        }
        places
    }

    #[inline(always)]
    fn total(sum: usize) -> usize {
        sum
    }
}

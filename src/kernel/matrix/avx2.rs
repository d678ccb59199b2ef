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
    type Lanes = [__m256i; 2];

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
    fn lanes(g: u64, row_bytes: usize) -> [__m256i; 2] {
        // SAFETY: only functions with these instructions are made of this.
        unsafe {
            let (g, row_bytes) =
                (_mm256_set1_epi64x(g as i64), _mm256_set1_epi64x(row_bytes as i64));
            [half(g, row_bytes, 0), half(g, row_bytes, 4)]
        }
    }

    #[inline(always)]
    fn total(sum: usize) -> usize {
        sum
    }
}

/// Where the rows of four lanes begin.
///
/// # Safety
/// The CPU has AVX2; `first` is 0 or 4.
#[inline(always)]
unsafe fn half(g: __m256i, row_bytes: __m256i, first: usize) -> __m256i {
    // SAFETY: the caller's promise: both tables have eight numbers.
    unsafe {
        let shifts = _mm256_loadu_si256(SHIFTS_64.as_ptr().add(first).cast());
        let bits = _mm256_and_si256(_mm256_srlv_epi64(g, shifts), _mm256_set1_epi64x(63));
        let rows = _mm256_or_si256(bits, _mm256_loadu_si256(FIRST_ROWS.as_ptr().add(first).cast()));
        // Of their lower halves: a row has less than 2^32 bytes.
        _mm256_mul_epu32(rows, row_bytes)
    }
}

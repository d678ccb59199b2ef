//! Eight words of a row at a time: a cache line.

use super::words::Words;
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_loadu_si512, _mm512_popcnt_epi64,
    _mm512_reduce_add_epi64, _mm512_storeu_si512, _mm512_test_epi64_mask,
};
use std::mem;

#[derive(Clone, Copy)]
pub(super) struct Avx512(__m512i);

impl Words for Avx512 {
    const COUNT: usize = 8;
    /// Of each of the eight words.
    type Sum = __m512i;
    // SAFETY: a vector of integers, for which zeros are a value.
    const ZERO: __m512i = unsafe { mem::zeroed() };

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Avx512 {
        // SAFETY: the caller's promise; only functions with these instructions are made of this.
        Avx512(unsafe { _mm512_loadu_si512(at.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u64) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(at.cast(), self.0) };
    }

    #[inline(always)]
    fn and(self, other: Avx512) -> Avx512 {
        // SAFETY: a value of this type comes from `load`, which says why.
        Avx512(unsafe { _mm512_and_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        // SAFETY: as above.
        unsafe { _mm512_test_epi64_mask(self.0, self.0) == 0 }
    }

    #[inline(always)]
    fn add_to(self, sum: __m512i) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_add_epi64(sum, _mm512_popcnt_epi64(self.0)) }
    }

    #[inline(always)]
    fn total(sum: __m512i) -> usize {
        // SAFETY: as above: `total` is called where `load` is.
        unsafe { _mm512_reduce_add_epi64(sum) as usize }
    }
}

//! Eight words of a row at a time: a cache line.

use super::super::native::SHIFTS_64;
use super::words::{FIRST_ROWS, Words};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_loadu_si512, _mm512_mask_storeu_epi64,
    _mm512_maskz_loadu_epi64, _mm512_mul_epu32, _mm512_or_si512, _mm512_popcnt_epi64,
    _mm512_reduce_add_epi64, _mm512_set1_epi64, _mm512_srlv_epi64, _mm512_storeu_si512,
    _mm512_test_epi64_mask,
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
    type Lanes = __m512i;

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
    fn lanes(g: u64, row_bytes: usize) -> __m512i {
        // SAFETY: only functions with these instructions are made of this.
        unsafe {
            let shifts = _mm512_loadu_si512(SHIFTS_64.as_ptr().cast());
            let bits = _mm512_srlv_epi64(_mm512_set1_epi64(g as i64), shifts);
            let bits = _mm512_and_si512(bits, _mm512_set1_epi64(63));
            let rows = _mm512_or_si512(bits, _mm512_loadu_si512(FIRST_ROWS.as_ptr().cast()));
            // Of their lower halves: a row has less than 2^32 bytes.
            _mm512_mul_epu32(rows, _mm512_set1_epi64(row_bytes as i64))
        }
    }

    #[inline(always)]
    unsafe fn part(
        group: *const u8,
        places: &[u64],
        count: usize,
        live: *const u64,
        out: *mut u64,
        sum: &mut __m512i,
    ) -> bool {
        let some = 0xFF >> (8 - count);
        // SAFETY: as above; only the words of `some` are read and written.
        unsafe {
            let first = group.add(places[0] as usize);
            let mut tile = _mm512_maskz_loadu_epi64(some, first.cast());
            for &place in &places[1..] {
                let row = _mm512_maskz_loadu_epi64(some, group.add(place as usize).cast());
                tile = _mm512_and_si512(tile, row);
            }
            if !live.is_null() {
                tile = _mm512_and_si512(tile, _mm512_maskz_loadu_epi64(some, live.cast()));
            }
            if !out.is_null() {
                _mm512_mask_storeu_epi64(out.cast(), some, tile);
            }
            *sum = Avx512(tile).add_to(*sum);
        }
        true
    }

    #[inline(always)]
    fn total(sum: __m512i) -> usize {
        // SAFETY: as above: `total` is called where `load` is.
        unsafe { _mm512_reduce_add_epi64(sum) as usize }
    }
}

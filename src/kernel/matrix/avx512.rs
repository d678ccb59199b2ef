//! Eight words of a row at a time: a cache line.

use super::super::native::SHIFTS_64;
use super::transpose::{Block, Rows, TOGETHER, Transpose};
use super::turn::{self, Sixteens};
use super::words::{FIRST_ROWS, Wide};
use crate::layouts::matrix::ROWS;
use crate::line::LINE_BYTES;
use std::arch::x86_64::{
    __m512i, _mm_sfence, _mm_storeu_si128, _mm512_add_epi64, _mm512_and_si512,
    _mm512_castsi512_si128, _mm512_extracti32x4_epi32, _mm512_gf2p8affine_epi64_epi8,
    _mm512_loadu_si512, _mm512_mask_storeu_epi64, _mm512_maskz_loadu_epi64, _mm512_mul_epu32,
    _mm512_or_si512, _mm512_popcnt_epi64, _mm512_reduce_add_epi64, _mm512_set1_epi64,
    _mm512_shuffle_i64x2, _mm512_srlv_epi64, _mm512_storeu_si512, _mm512_stream_si512,
    _mm512_test_epi64_mask, _mm512_unpackhi_epi8, _mm512_unpackhi_epi16, _mm512_unpackhi_epi32,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi8, _mm512_unpacklo_epi16, _mm512_unpacklo_epi32,
    _mm512_unpacklo_epi64,
};
use std::mem;

#[derive(Clone, Copy)]
pub(super) struct Avx512(__m512i);

impl Wide for Avx512 {
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

impl Transpose for Avx512 {
    #[inline(always)]
    unsafe fn transpose(block: &mut Block, words: *mut u64) {
        // SAFETY: the caller's promise; only functions with these instructions are made of this.
        unsafe { turn::transpose::<Avx512>(block, words) }
    }

    /// The words of eight blocks for eight rows are a square of words.
    #[inline(always)]
    unsafe fn write(rows: &Rows, at: *mut u8, row_bytes: usize, past: bool) {
        let past = past && (at.addr() | row_bytes).is_multiple_of(LINE_BYTES);
        // SAFETY: the caller's promise, for a cache line of one of 512 rows, and its words of each block. A
        // fence follows stores past the caches, before others are told of them.
        unsafe {
            for first in (0..ROWS).step_by(TOGETHER) {
                let mut of = [_mm512_loadu_si512(rows.of(0).add(first).cast()); TOGETHER];
                for (block, of) in of.iter_mut().enumerate().skip(1) {
                    *of = _mm512_loadu_si512(rows.of(block).add(first).cast());
                }
                let mut to = at.add(first * row_bytes);
                for line in square(of) {
                    if past {
                        _mm512_stream_si512(to.cast(), line);
                    } else {
                        _mm512_storeu_si512(to.cast(), line);
                    }
                    to = to.wrapping_add(row_bytes);
                }
            }
            if past {
                _mm_sfence();
            }
        }
    }
}

/// Transposes a square of words.
///
/// # Safety
/// The CPU has AVX-512.
#[inline(always)]
unsafe fn square(of: [__m512i; 8]) -> [__m512i; 8] {
    let [a, b, c, d, e, f, g, h] = of;
    // SAFETY: the caller's promise.
    unsafe {
        let [r0, r2, r4, r6] = quarters([
            _mm512_unpacklo_epi64(a, b),
            _mm512_unpacklo_epi64(c, d),
            _mm512_unpacklo_epi64(e, f),
            _mm512_unpacklo_epi64(g, h),
        ]);
        let [r1, r3, r5, r7] = quarters([
            _mm512_unpackhi_epi64(a, b),
            _mm512_unpackhi_epi64(c, d),
            _mm512_unpackhi_epi64(e, f),
            _mm512_unpackhi_epi64(g, h),
        ]);
        [r0, r1, r2, r3, r4, r5, r6, r7]
    }
}

/// Transposes a square of quarters of registers.
///
/// # Safety
/// The CPU has AVX-512.
#[inline(always)]
unsafe fn quarters([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        let (low, high) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0x44>(c, d));
        let (low_2, high_2) =
            (_mm512_shuffle_i64x2::<0xEE>(a, b), _mm512_shuffle_i64x2::<0xEE>(c, d));
        [
            _mm512_shuffle_i64x2::<0x88>(low, high),
            _mm512_shuffle_i64x2::<0xDD>(low, high),
            _mm512_shuffle_i64x2::<0x88>(low_2, high_2),
            _mm512_shuffle_i64x2::<0xDD>(low_2, high_2),
        ]
    }
}

impl Sixteens for Avx512 {
    const COUNT: usize = 4;
    const BACKWARDS: bool = true;

    #[inline(always)]
    unsafe fn bytes(at: *const u8) -> Avx512 {
        // SAFETY: the caller's promise.
        unsafe { <Avx512 as Wide>::load(at) }
    }

    #[inline(always)]
    unsafe fn store_apart(self, at: *mut u64) {
        // SAFETY: the caller's promise; only functions with these instructions are made of this.
        unsafe {
            _mm_storeu_si128(at.cast(), _mm512_castsi512_si128(self.0));
            _mm_storeu_si128(at.add(128).cast(), _mm512_extracti32x4_epi32::<1>(self.0));
            _mm_storeu_si128(at.add(256).cast(), _mm512_extracti32x4_epi32::<2>(self.0));
            _mm_storeu_si128(at.add(384).cast(), _mm512_extracti32x4_epi32::<3>(self.0));
        }
    }

    #[inline(always)]
    fn by_bytes(self, other: Avx512) -> [Avx512; 2] {
        // SAFETY: a value of this type comes from `load`, which says why.
        unsafe {
            [
                Avx512(_mm512_unpacklo_epi8(self.0, other.0)),
                Avx512(_mm512_unpackhi_epi8(self.0, other.0)),
            ]
        }
    }

    #[inline(always)]
    fn by_twos(self, other: Avx512) -> [Avx512; 2] {
        // SAFETY: as above.
        unsafe {
            [
                Avx512(_mm512_unpacklo_epi16(self.0, other.0)),
                Avx512(_mm512_unpackhi_epi16(self.0, other.0)),
            ]
        }
    }

    #[inline(always)]
    fn by_fours(self, other: Avx512) -> [Avx512; 2] {
        // SAFETY: as above.
        unsafe {
            [
                Avx512(_mm512_unpacklo_epi32(self.0, other.0)),
                Avx512(_mm512_unpackhi_epi32(self.0, other.0)),
            ]
        }
    }

    /// As a matrix of bits, each square is multiplied by the unit.
    #[inline(always)]
    fn squares(self) -> Avx512 {
        // SAFETY: as above.
        unsafe {
            let unit = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
            Avx512(_mm512_gf2p8affine_epi64_epi8::<0>(unit, self.0))
        }
    }
}

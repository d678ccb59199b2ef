//! Four words of a row at a time.

use super::super::native::SHIFTS_64;
use super::transpose::{Block, Rows, Transpose};
use super::turn::{self, Sixteens};
use super::words::{FIRST_ROWS, Wide};
use crate::layouts::matrix::ROWS;
use crate::line::LINE_BYTES;
use std::arch::x86_64::{
    __m256i, _mm_sfence, _mm_storeu_si128, _mm256_and_si256, _mm256_castsi256_si128,
    _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_mul_epu32, _mm256_or_si256,
    _mm256_permute2x128_si256, _mm256_set1_epi64x, _mm256_slli_epi64, _mm256_srli_epi64,
    _mm256_srlv_epi64, _mm256_storeu_si256, _mm256_stream_si256, _mm256_testz_si256,
    _mm256_unpackhi_epi8, _mm256_unpackhi_epi16, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64,
    _mm256_unpacklo_epi8, _mm256_unpacklo_epi16, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
    _mm256_xor_si256,
};

#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256i);

impl Wide for Avx2 {
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

impl Transpose for Avx2 {
    #[inline(always)]
    unsafe fn transpose(block: &mut Block, words: *mut u64) {
        // SAFETY: the caller's promise; only functions with these instructions are made of this.
        unsafe { turn::transpose::<Avx2>(block, words) }
    }

    /// The words of four blocks for four rows are a square of words.
    #[inline(always)]
    unsafe fn write(rows: &Rows, at: *mut u8, row_bytes: usize, past: bool) {
        let past = past && (at.addr() | row_bytes).is_multiple_of(LINE_BYTES);
        // SAFETY: the caller's promise, for a cache line of one of 512 rows, and its words of each block. A
        // fence follows stores past the caches, before others are told of them.
        unsafe {
            for first in (0..ROWS).step_by(4) {
                let (low, high) = (square(rows, 0, first), square(rows, 4, first));
                for i in 0..4 {
                    let to = at.add((first + i) * row_bytes);
                    if past {
                        _mm256_stream_si256(to.cast(), low[i]);
                        _mm256_stream_si256(to.add(32).cast(), high[i]);
                    } else {
                        _mm256_storeu_si256(to.cast(), low[i]);
                        _mm256_storeu_si256(to.add(32).cast(), high[i]);
                    }
                }
            }
            if past {
                _mm_sfence();
            }
        }
    }
}

/// The words of four blocks for four rows, from these on: a register for each row.
///
/// # Safety
/// The CPU has AVX2. Those blocks are there.
#[inline(always)]
unsafe fn square(rows: &Rows, block: usize, row: usize) -> [__m256i; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        let a = _mm256_loadu_si256(rows.of(block).add(row).cast());
        let b = _mm256_loadu_si256(rows.of(block + 1).add(row).cast());
        let c = _mm256_loadu_si256(rows.of(block + 2).add(row).cast());
        let d = _mm256_loadu_si256(rows.of(block + 3).add(row).cast());
        let (ab, cd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d));
        let (ab_1, cd_1) = (_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d));
        [
            _mm256_permute2x128_si256::<0x20>(ab, cd),
            _mm256_permute2x128_si256::<0x20>(ab_1, cd_1),
            _mm256_permute2x128_si256::<0x31>(ab, cd),
            _mm256_permute2x128_si256::<0x31>(ab_1, cd_1),
        ]
    }
}

impl Sixteens for Avx2 {
    const COUNT: usize = 2;
    const BACKWARDS: bool = false;

    #[inline(always)]
    unsafe fn bytes(at: *const u8) -> Avx2 {
        // SAFETY: the caller's promise.
        unsafe { <Avx2 as Wide>::load(at) }
    }

    #[inline(always)]
    unsafe fn store_apart(self, at: *mut u64) {
        // SAFETY: the caller's promise; only functions with these instructions are made of this.
        unsafe {
            _mm_storeu_si128(at.cast(), _mm256_castsi256_si128(self.0));
            _mm_storeu_si128(at.add(128).cast(), _mm256_extracti128_si256::<1>(self.0));
        }
    }

    #[inline(always)]
    fn by_bytes(self, other: Avx2) -> [Avx2; 2] {
        // SAFETY: a value of this type comes from `load`, which says why.
        unsafe {
            [
                Avx2(_mm256_unpacklo_epi8(self.0, other.0)),
                Avx2(_mm256_unpackhi_epi8(self.0, other.0)),
            ]
        }
    }

    #[inline(always)]
    fn by_twos(self, other: Avx2) -> [Avx2; 2] {
        // SAFETY: as above.
        unsafe {
            [
                Avx2(_mm256_unpacklo_epi16(self.0, other.0)),
                Avx2(_mm256_unpackhi_epi16(self.0, other.0)),
            ]
        }
    }

    #[inline(always)]
    fn by_fours(self, other: Avx2) -> [Avx2; 2] {
        // SAFETY: as above.
        unsafe {
            [
                Avx2(_mm256_unpacklo_epi32(self.0, other.0)),
                Avx2(_mm256_unpackhi_epi32(self.0, other.0)),
            ]
        }
    }

    /// Swaps the two quarters beside the diagonal, in all quarters, in all of theirs.
    #[inline(always)]
    fn squares(self) -> Avx2 {
        // SAFETY: as above.
        unsafe {
            let all = swap::<7>(self.0, 0x00AA_00AA_00AA_00AA);
            let all = swap::<14>(all, 0x0000_CCCC_0000_CCCC);
            Avx2(swap::<28>(all, 0x0000_0000_F0F0_F0F0))
        }
    }
}

/// Swaps the bits of a mask with those so many above.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
unsafe fn swap<const UP: i32>(all: __m256i, mask: i64) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let differ = _mm256_xor_si256(all, _mm256_srli_epi64::<UP>(all));
        let differ = _mm256_and_si256(differ, _mm256_set1_epi64x(mask));
        _mm256_xor_si256(_mm256_xor_si256(all, differ), _mm256_slli_epi64::<UP>(differ))
    }
}

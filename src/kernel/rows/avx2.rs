//! Rows of answers by `table`, in registers of AVX2.

use super::plain;
use super::table::{LEFT, last, rows_by_table};
use std::arch::x86_64::*;

/// What the table has for a byte of answers.
#[inline]
#[target_feature(enable = "avx2")]
fn left(rows: [u8; 8]) -> __m128i {
    _mm_cvtsi64_si128(i64::from_le_bytes(rows))
}

#[inline]
#[target_feature(enable = "avx2")]
fn numbers_32(left: __m128i, first: usize) -> __m256i {
    _mm256_add_epi32(_mm256_cvtepu8_epi32(left), _mm256_set1_epi32(first as i32))
}

#[inline]
#[target_feature(enable = "avx2")]
fn picked_32(rows: __m256i, left: __m128i) -> __m256i {
    _mm256_permutevar8x32_epi32(rows, _mm256_cvtepu8_epi32(left))
}

#[inline]
#[target_feature(enable = "avx2")]
fn numbers_16(left: __m128i, first: usize) -> __m128i {
    _mm_add_epi16(_mm_cvtepu8_epi16(left), _mm_set1_epi16(first as i16))
}

#[inline]
#[target_feature(enable = "avx2")]
fn picked_16(rows: __m128i, left: __m128i) -> __m128i {
    // Bytes 2n and 2n + 1 for row n.
    let twice = _mm_mullo_epi16(_mm_cvtepu8_epi16(left), _mm_set1_epi16(0x0202));
    _mm_shuffle_epi8(rows, _mm_add_epi16(twice, _mm_set1_epi16(0x0100)))
}

rows_by_table!("avx2,popcnt", left: select_32, refine_32, u32, numbers_32, picked_32, _mm256_loadu_si256, _mm256_storeu_si256);
rows_by_table!("avx2,popcnt", left: select_16, refine_16, u16, numbers_16, picked_16, _mm_loadu_si128, _mm_storeu_si128);

macro_rules! last {
    ($name:ident, $row:ident) => {
        /// The plain loop, with the instruction for a maximum, which older CPUs lack.
        ///
        /// # Safety
        /// As for `Calls::last`.
        #[target_feature(enable = "avx2")]
        pub(super) unsafe fn $name(rows: &[$row]) -> $row {
            // SAFETY: none is needed.
            unsafe { plain::last(rows) }
        }
    };
}

last!(last_16, u16);
last!(last_32, u32);

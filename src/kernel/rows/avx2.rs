//! Rows of answers, 8 at a time: a table says for each byte of answers which of its rows are left.

use super::plain;
use std::arch::x86_64::*;

/// For each byte the numbers of its bits that are set, then zeros.
static LEFT: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut at) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][at] = bit;
                at += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// The bytes of a word of answers, and of each the rows that are left.
#[inline]
#[target_feature(enable = "avx2")]
fn left(byte: u8) -> __m128i {
    _mm_cvtsi64_si128(i64::from_le_bytes(LEFT[usize::from(byte)]))
}

macro_rules! rows {
    ($select:ident, $refine:ident, $row:ident, $numbers:ident, $picked:ident, $load:ident, $store:ident) => {
        /// # Safety
        /// As for `Calls::select`.
        #[target_feature(enable = "avx2,popcnt")]
        pub(super) unsafe fn $select(
            words: &[u64],
            len: usize,
            first: usize,
            to: *mut $row,
        ) -> usize {
            let (mut at, whole) = (0, len / 8);
            for i in 0..whole {
                let byte = (words[i / 8] >> (8 * (i % 8))) as u8;
                // SAFETY: at most as many rows are left as are done, so 8 more have room.
                unsafe { $store(to.add(at).cast(), $numbers(left(byte), first + 8 * i)) };
                at += byte.count_ones() as usize;
            }
            // SAFETY: the rows behind the whole bytes, with what room is left.
            unsafe {
                at + plain::select(&[last(words, len)], len % 8, first + 8 * whole, to.add(at))
            }
        }

        /// # Safety
        /// As for `Calls::refine`.
        #[target_feature(enable = "avx2,popcnt")]
        pub(super) unsafe fn $refine(
            words: &[u64],
            len: usize,
            from: *const $row,
            to: *mut $row,
        ) -> usize {
            let (mut at, whole) = (0, len / 8);
            for i in 0..whole {
                let byte = (words[i / 8] >> (8 * (i % 8))) as u8;
                // SAFETY: 8 rows that are there. What is stored ends before the next: no more rows are
                // left than are done.
                unsafe {
                    let rows = $load(from.add(8 * i).cast());
                    $store(to.add(at).cast(), $picked(rows, left(byte)));
                }
                at += byte.count_ones() as usize;
            }
            // SAFETY: the rows behind the whole bytes.
            unsafe {
                at + plain::refine(&[last(words, len)], len % 8, from.add(8 * whole), to.add(at))
            }
        }
    };
}

/// The answers of the rows behind the last whole byte, if there are any.
#[inline(always)]
fn last(words: &[u64], len: usize) -> u64 {
    words.get(len / 64).map_or(0, |word| word >> (len % 64 / 8 * 8))
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

rows!(select_32, refine_32, u32, numbers_32, picked_32, _mm256_loadu_si256, _mm256_storeu_si256);
rows!(select_16, refine_16, u16, numbers_16, picked_16, _mm_loadu_si128, _mm_storeu_si128);

//! The remainders of a line in two vectors of 256 bits, with AVX2. Reached only through the
//! detection in `kernel`.

use super::edit::{Gap, Move};
use super::select::Pdep;
use crate::line::Line;
use std::arch::x86_64::*;

/// A half of a line: its words, and the bits of the line at which they begin.
#[derive(Clone, Copy)]
struct Half {
    words: __m256i,
    begins: __m256i,
}

#[inline]
#[target_feature(enable = "avx2")]
fn all(number: u64) -> __m256i {
    _mm256_set1_epi64x(number as i64)
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(line: &Line) -> [Half; 2] {
    let (low, high) = line.split_at(4);
    // SAFETY: four words each.
    let words = unsafe {
        [_mm256_loadu_si256(low.as_ptr().cast()), _mm256_loadu_si256(high.as_ptr().cast())]
    };
    [
        Half { words: words[0], begins: _mm256_setr_epi64x(0, 64, 128, 192) },
        Half { words: words[1], begins: _mm256_setr_epi64x(256, 320, 384, 448) },
    ]
}

/// Writes a line, with the bits of its first words.
#[inline]
#[target_feature(enable = "avx2")]
fn store(line: &mut Line, low: __m256i, high: __m256i, words: [u64; 2]) {
    let first = _mm_set_epi64x(words[1] as i64, words[0] as i64);
    let low = _mm256_or_si256(low, _mm256_zextsi128_si256(first));
    let (low_words, high_words) = line.split_at_mut(4);
    // SAFETY: four words each.
    unsafe {
        _mm256_storeu_si256(low_words.as_mut_ptr().cast(), low);
        _mm256_storeu_si256(high_words.as_mut_ptr().cast(), high);
    }
}

impl Half {
    /// The bits that are from this bit of the line on.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn from(self, bit: __m256i) -> __m256i {
        // A shift by 64 or more leaves nothing.
        let within = _mm256_sllv_epi64(all(u64::MAX), _mm256_sub_epi64(bit, self.begins));
        _mm256_or_si256(within, _mm256_cmpgt_epi64(self.begins, bit))
    }

    /// Its words between two bits, and those from the higher one on.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn parts(self, end: __m256i, bit: __m256i, above: __m256i) -> [__m256i; 2] {
        let moved = _mm256_andnot_si256(self.from(bit), self.from(end));
        [_mm256_and_si256(self.words, moved), _mm256_and_si256(self.words, self.from(above))]
    }

    /// A number from this bit of the line on.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn number(self, at: __m256i, number: __m256i) -> __m256i {
        let begun = _mm256_sllv_epi64(number, _mm256_sub_epi64(at, self.begins));
        _mm256_or_si256(begun, _mm256_srlv_epi64(number, _mm256_sub_epi64(self.begins, at)))
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn spread(line: &mut Line, gap: Gap, r: u32, words: [u64; 2]) {
    let Gap { end, bit, low } = gap;
    let [first, second] = halves(line);
    let at = all(bit.wrapping_sub(u64::from(r)));
    let (end, bit, low) = (all(end), all(bit), all(low));
    let ([moved, kept], [more, more_kept]) =
        (first.parts(end, bit, bit), second.parts(end, bit, bit));
    // The word above each.
    let above = _mm256_permute4x64_epi64::<0b00_11_10_01>(_mm256_blend_epi32::<3>(moved, more));
    let more_above = _mm256_blend_epi32::<0b1100_0000>(
        _mm256_permute4x64_epi64::<0b00_11_10_01>(more),
        _mm256_setzero_si256(),
    );
    let (down, up) = (_mm_cvtsi32_si128(r as i32), _mm_cvtsi32_si128(64 - r as i32));
    let moved = _mm256_or_si256(_mm256_srl_epi64(moved, down), _mm256_sll_epi64(above, up));
    let more = _mm256_or_si256(_mm256_srl_epi64(more, down), _mm256_sll_epi64(more_above, up));
    store(
        line,
        _mm256_or_si256(_mm256_or_si256(kept, moved), first.number(at, low)),
        _mm256_or_si256(_mm256_or_si256(more_kept, more), second.number(at, low)),
        words,
    );
}

#[inline]
#[target_feature(enable = "avx2")]
fn join(line: &mut Line, end: u64, bit: u64, r: u32, words: [u64; 2]) {
    let [first, second] = halves(line);
    let (end, bit, behind) = (all(end), all(bit), all(bit.wrapping_sub(u64::from(r))));
    let ([moved, kept], [more, more_kept]) =
        (first.parts(end, behind, bit), second.parts(end, behind, bit));
    // The word below each.
    let below = _mm256_blend_epi32::<3>(
        _mm256_permute4x64_epi64::<0b10_01_00_11>(moved),
        _mm256_setzero_si256(),
    );
    let more_below =
        _mm256_permute4x64_epi64::<0b10_01_00_11>(_mm256_blend_epi32::<0b1100_0000>(more, moved));
    let (up, down) = (_mm_cvtsi32_si128(r as i32), _mm_cvtsi32_si128(64 - r as i32));
    let moved = _mm256_or_si256(_mm256_sll_epi64(moved, up), _mm256_srl_epi64(below, down));
    let more = _mm256_or_si256(_mm256_sll_epi64(more, up), _mm256_srl_epi64(more_below, down));
    store(line, _mm256_or_si256(kept, moved), _mm256_or_si256(more_kept, more), words);
}

impl Move for Pdep {
    #[inline(always)]
    unsafe fn spread(line: &mut Line, gap: Gap, r: u32, words: [u64; 2]) {
        // SAFETY: the caller vouches for the CPU.
        unsafe { spread(line, gap, r, words) };
    }

    #[inline(always)]
    unsafe fn join(line: &mut Line, end: u64, bit: u64, r: u32, words: [u64; 2]) {
        // SAFETY: the caller vouches for the CPU.
        unsafe { join(line, end, bit, r, words) };
    }
}

//! Eight lines at once with AVX-512. Reached only through the detection in `kernel`.

use super::width::{MOST_BEFORE, Width};
use crate::layouts::growing::HEADER;
use crate::line::Line;
use std::arch::x86_64::*;

/// Lines at once.
pub(super) const GROUP: usize = 8;

/// A vector of the same number eight times.
#[inline]
#[target_feature(enable = "avx512f")]
fn all(number: u64) -> __m512i {
    _mm512_set1_epi64(number as i64)
}

/// The first words of two lines, whose numbers are 2 apart, for each of four.
macro_rules! quarters {
    ($lines:ident, $first:literal) => {{
        let low = _mm256_inserti128_si256::<1>(
            _mm256_castsi128_si256(_mm_loadu_si128($lines[$first].as_ptr().cast())),
            _mm_loadu_si128($lines[$first + 2].as_ptr().cast()),
        );
        let high = _mm256_inserti128_si256::<1>(
            _mm256_castsi128_si256(_mm_loadu_si128($lines[$first + 4].as_ptr().cast())),
            _mm_loadu_si128($lines[$first + 6].as_ptr().cast()),
        );
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }};
}

/// The bit of the 1 that has `before` ones below it, in each word. There is one.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn one(word: __m512i, before: __m512i) -> __m512i {
    let (mut word, mut before, mut at) = (word, before, _mm512_setzero_si512());
    // If the lower half has too few, it is in the upper one.
    macro_rules! halve {
        ($($bits:literal)*) => {$({
            let low = all((1 << $bits) - 1);
            let ones = _mm512_popcnt_epi64(_mm512_and_si512(word, low));
            let upper = _mm512_cmpge_epu64_mask(before, ones);
            before = _mm512_mask_sub_epi64(before, upper, before, ones);
            word = _mm512_mask_srli_epi64::<$bits>(word, upper, word);
            at = _mm512_mask_or_epi64(at, upper, at, all($bits));
        })*};
    }
    halve!(32 16 8 4 2);
    let upper = _mm512_cmpge_epu64_mask(before, _mm512_and_si512(word, all(1)));
    _mm512_mask_or_epi64(at, upper, at, all(1))
}

/// What eight lines say of a value each, a bit for each line.
pub(super) struct Eight {
    pub(super) present: u8,
    /// Not present, and no value of a higher bucket is in the line.
    pub(super) last: u8,
    /// Buckets with more values than are compared at once: their bits are not known.
    pub(super) many: u8,
}

/// As `find`, for lines with remainders of one width.
///
/// # Safety
/// This CPU has the instructions.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2")]
pub(super) unsafe fn find<const MIXED: bool>(
    lines: &[&Line; GROUP],
    values: &[i64; GROUP],
    r: u32,
    width: &Width,
) -> Eight {
    // SAFETY: 16 bytes of each line.
    let (even, odd) = unsafe { (quarters!(lines, 0), quarters!(lines, 1)) };
    let (first, second) = (_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd));
    // SAFETY: eight values, and eight addresses.
    let (values, lines) = unsafe {
        (_mm512_loadu_si512(values.as_ptr().cast()), _mm512_loadu_si512(lines.as_ptr().cast()))
    };
    let shift = _mm_cvtsi32_si128(r as i32);

    // As `Run::of`.
    const HEAD: u64 = (1 << HEADER) - 1;
    let zeros = [
        _mm512_xor_si512(_mm512_or_si512(first, all(HEAD)), all(!(1 << (HEADER - 1)))),
        _mm512_xor_si512(second, all(u64::MAX)),
    ];
    let counts = [_mm512_popcnt_epi64(zeros[0]), _mm512_popcnt_epi64(zeros[1])];
    let count = _mm512_add_epi64(counts[0], counts[1]);
    let stated = _mm512_min_epu64(_mm512_and_si512(first, all(63)), all(width.room));
    let there = _mm512_min_epu64(stated, _mm512_sub_epi64(all(113), count));
    let base = _mm512_srai_epi64::<55>(_mm512_slli_epi64::<48>(first));
    let zero = _mm512_sub_epi64(_mm512_sra_epi64(values, shift), base);
    let before = _mm512_movepi64_mask(zero);
    let inside = _mm512_cmplt_epu64_mask(zero, count);
    let upper = _mm512_cmpge_epu64_mask(zero, counts[0]);
    let word = _mm512_mask_mov_epi64(zeros[0], upper, zeros[1]);
    let at = one(word, _mm512_mask_sub_epi64(zero, upper, zero, counts[0]));
    let behind = _mm512_add_epi64(at, all(1));
    let start = _mm512_mask_add_epi64(behind, upper, behind, all(64));
    let rank = _mm512_sub_epi64(_mm512_sub_epi64(start, all(HEADER.into())), zero);
    let held = _mm512_mask_cmplt_epu64_mask(inside, rank, there);
    let rest = _mm512_or_si512(
        _mm512_srlv_epi64(_mm512_mask_mov_epi64(first, upper, second), behind),
        _mm512_maskz_sllv_epi64(!upper, second, _mm512_sub_epi64(all(64), behind)),
    );
    // The ones up to the first zero.
    let ones = _mm512_andnot_si512(_mm512_add_epi64(rest, all(1)), rest);
    let ones = _mm512_popcnt_epi64(ones);
    let end = _mm512_mask_cmpge_epu64_mask(inside, _mm512_add_epi64(rank, ones), there);
    let none = _mm512_testn_epi64_mask(there, there);
    let last = end | (!inside & !before) | none;
    let number = _mm512_maskz_mov_epi64(held, rank);
    let len = _mm512_maskz_min_epu64(held, ones, _mm512_sub_epi64(there, rank));

    // As `window`, and what `find` does with it.
    let r = all(r.into());
    let bits = _mm512_mul_epu32(number, r);
    let byte = _mm512_srli_epi64::<3>(_mm512_sub_epi64(all(MOST_BEFORE), bits));
    // SAFETY: the number is that of a value of the line, or 0. So these are 8 of its 64 bytes: see
    // `window`.
    let window = unsafe {
        _mm512_i64gather_epi64::<1>(_mm512_add_epi64(lines, byte), std::ptr::null::<i64>())
    };
    let window = _mm512_sllv_epi64(window, _mm512_and_si512(bits, all(7)));
    let low = _mm512_and_si512(values, all(width.mask));
    let lows = all(width.lows);
    let mut differ = _mm512_xor_si512(window, _mm512_mullo_epi64(low, lows));
    if MIXED {
        let highs = all(width.highs);
        let less = _mm512_sub_epi64(_mm512_or_si512(window, highs), lows);
        let less = _mm512_xor_si512(less, _mm512_andnot_si512(window, highs));
        differ = _mm512_andnot_si512(_mm512_xor_si512(window, less), differ);
    }
    let others = _mm512_srlv_epi64(all(u64::MAX), _mm512_mul_epu32(len, r));
    let differ = _mm512_or_si512(differ, others);
    let borrowed = _mm512_andnot_si512(differ, _mm512_sub_epi64(differ, lows));
    let present = _mm512_test_epi64_mask(borrowed, all(width.highs));
    Eight {
        present,
        last: last & !present & _mm512_test_epi64_mask(first, all(super::edit::GOES_ON)),
        many: _mm512_cmpgt_epu64_mask(len, all(width.fields)),
    }
}

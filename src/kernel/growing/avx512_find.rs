//! One line with AVX-512, all its values at once. Reached only through the detection in `kernel`.
//!
//! Nothing here depends on where in the header a bucket is: each value gets its bucket and its remainder in a
//! field, and both are compared in all fields.

use super::avx512_pack::{BYTE, WIDEST, unpacked};
use super::edit::{GOES_ON, Said};
use super::find::{Same, find as find_by_words};
use super::select::Pdep;
use super::width::{Width, width};
use crate::layouts::growing::{Found, HEADER};
use crate::line::Line;
use std::arch::x86_64::*;

/// The bits in which a stored remainder differs from one; not those that its prefix does not have.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn differ<const MIXED: bool>(stored: __m512i, less: __m512i, low: __m512i) -> __m512i {
    if MIXED {
        // The bits up to the lowest 1 are other ones in what is less by 1.
        _mm512_ternarylogic_epi64::<0b0100_0010>(stored, less, low)
    } else {
        _mm512_xor_si512(stored, low)
    }
}

/// A bit for each value whose remainder is this one, or a prefix of it, and other bits behind the values.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn same<const MIXED: bool, const WIDE: bool>(
    line: __m512i,
    value: i64,
    r: u32,
    width: &Width,
) -> u64 {
    if !WIDE {
        let [stored, _] = unpacked::<false>(line, r);
        let less = _mm512_add_epi8(stored, _mm512_set1_epi8(-1));
        let differ = differ::<MIXED>(stored, less, _mm512_set1_epi8(value as i8));
        return _mm512_testn_epi8_mask(differ, _mm512_set1_epi8(width.mask as i8));
    }
    let (low, mask) = (_mm512_set1_epi16(value as i16), _mm512_set1_epi16(width.mask as i16));
    let stored = unpacked::<true>(line, r);
    let less = _mm512_set1_epi16(-1);
    let less = [_mm512_add_epi16(stored[0], less), _mm512_add_epi16(stored[1], less)];
    let first = _mm512_testn_epi16_mask(differ::<MIXED>(stored[0], less[0], low), mask);
    let second = _mm512_testn_epi16_mask(differ::<MIXED>(stored[1], less[1], low), mask);
    u64::from(first) | u64::from(second) << 32
}

/// The numbers 0 to 63, each with this one added.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn numbers_from(first: i8) -> __m512i {
    let numbers = _mm512_set_epi64(
        0x3F3E_3D3C_3B3A_3938,
        0x3736_3534_3332_3130,
        0x2F2E_2D2C_2B2A_2928,
        0x2726_2524_2322_2120,
        0x1F1E_1D1C_1B1A_1918,
        0x1716_1514_1312_1110,
        0x0F0E_0D0C_0B0A_0908,
        0x0706_0504_0302_0100,
    );
    _mm512_add_epi8(numbers, _mm512_set1_epi8(first))
}

/// What the bucket of each value is above the base. Behind the last 1 of the header are negative numbers below -1.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
pub(super) fn buckets(line: &Line) -> __m512i {
    const FIRST: i8 = HEADER as i8;
    let first_ones = line[0] >> HEADER << HEADER;
    // The places of the ones in each word, then in both.
    let first = _mm512_maskz_compress_epi8(first_ones, numbers_from(-FIRST));
    let none = _mm512_set1_epi8(-17);
    let second = _mm512_mask_compress_epi8(none, line[1], numbers_from(64 - FIRST));
    let places = _mm512_mask_expand_epi8(first, u64::MAX << first_ones.count_ones(), second);
    // Before each are the ones of the values before it, and a zero for each bucket.
    _mm512_sub_epi8(places, numbers_from(0))
}

/// The bucket of a value above the base of a line, in all fields: -1 if it is below that, 127 if it is higher.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn sought(line: &Line, bucket: i64) -> __m512i {
    let base = _mm_srai_epi16::<7>(_mm_cvtsi64_si128(line[0] as i64));
    let bucket = _mm_cvtsepi64_epi16(_mm_cvtsi64_si128(bucket));
    let above = _mm_subs_epi16(bucket, base);
    let above = _mm_max_epi8(_mm_packs_epi16(above, above), _mm_set1_epi8(-1));
    _mm512_broadcastb_epi8(above)
}

#[inline]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
fn find_in<const MIXED: bool, const WIDE: bool>(line: &Line, value: i64, r: u32) -> Found {
    let [present, higher] = present_and_higher::<MIXED, WIDE>(line, value, r);
    let onward = (higher == 0) & (line[0] & GOES_ON != 0);
    let other = if onward { Found::Onward } else { Found::Absent };
    std::hint::select_unpredictable(present != 0, Found::Present, other)
}

/// A bit for each value that is this one, or a prefix of it, and for each in a higher bucket.
#[inline]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
fn present_and_higher<const MIXED: bool, const WIDE: bool>(
    line: &Line,
    value: i64,
    r: u32,
) -> [u64; 2] {
    let width = width(r);
    // SAFETY: 64 bytes.
    let words = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
    let stated = _bzhi_u64(width.values, (line[0] & 63) as u32);
    let same = stated & same::<MIXED, WIDE>(words, value, r, width);
    let (buckets, sought) = (buckets(line), sought(line, value >> r));
    let present = _mm512_mask_cmpeq_epi8_mask(same, buckets, sought);
    [present, _mm512_mask_cmpgt_epi8_mask(stated, buckets, sought)]
}

/// A bit for each value whose remainder is lower than this one or equal, and for each that is equal.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn compared<const WIDE: bool>(line: __m512i, value: i64, r: u32, width: &Width) -> [u64; 2] {
    let [first, second] = unpacked::<WIDE>(line, r);
    let low = value as u64 & width.mask;
    if !WIDE {
        let (low, mask) = (_mm512_set1_epi8(low as i8), _mm512_set1_epi8(width.mask as i8));
        let stored = _mm512_and_si512(first, mask);
        return [_mm512_cmple_epu8_mask(stored, low), _mm512_cmpeq_epi8_mask(stored, low)];
    }
    let (low, mask) = (_mm512_set1_epi16(low as i16), _mm512_set1_epi16(width.mask as i16));
    let (first, second) = (_mm512_and_si512(first, mask), _mm512_and_si512(second, mask));
    let up_to = [_mm512_cmple_epu16_mask(first, low), _mm512_cmple_epu16_mask(second, low)];
    let equal = [_mm512_cmpeq_epi16_mask(first, low), _mm512_cmpeq_epi16_mask(second, low)];
    [
        u64::from(up_to[0]) | u64::from(up_to[1]) << 32,
        u64::from(equal[0]) | u64::from(equal[1]) << 32,
    ]
}

#[inline]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
fn said_in<const MIXED: bool, const WIDE: bool>(
    line: &Line,
    value: i64,
    r: u32,
    width: &Width,
) -> Said {
    // SAFETY: 64 bytes.
    let words = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
    let (buckets, sought) = (buckets(line), sought(line, value >> r));
    let there = _bzhi_u64(width.values, (line[0] & 63) as u32) & !_mm512_movepi8_mask(buckets);
    let own = _mm512_mask_cmpeq_epi8_mask(there, buckets, sought);
    let below = _mm512_mask_cmplt_epi8_mask(there, buckets, sought).count_ones().into();
    let is_last = _mm512_mask_cmpgt_epi8_mask(there, buckets, sought) == 0;
    let [up_to, equal] = compared::<WIDE>(words, value, r, width);
    let any = if MIXED { same::<true, WIDE>(words, value, r, width) } else { equal };
    let same = Same {
        any: any & own != 0,
        equal: (equal & own).count_ones().into(),
        up_to: (up_to & own).count_ones().into(),
    };
    Said { same, below, is_last }
}

/// As `edit::said`, of remainders for which there are fields.
///
/// # Safety
/// This CPU has the instructions.
#[inline]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
pub(super) unsafe fn said<const MIXED: bool>(
    line: &Line,
    value: i64,
    r: u32,
    width: &Width,
) -> Option<Said> {
    if r <= BYTE {
        Some(said_in::<MIXED, false>(line, value, r, width))
    } else if r <= WIDEST {
        Some(said_in::<MIXED, true>(line, value, r, width))
    } else {
        None
    }
}

/// As `find::find`.
///
/// # Panics
/// If `r` is above 54.
///
/// # Safety
/// This CPU has the instructions.
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
pub(super) unsafe fn find<const MIXED: bool>(line: &Line, value: i64, r: u32) -> Found {
    if r <= BYTE {
        find_in::<MIXED, false>(line, value, r)
    } else if r <= WIDEST {
        find_in::<MIXED, true>(line, value, r)
    } else {
        // SAFETY: the caller's promise.
        unsafe { find_wide::<MIXED>(line, value, r) }
    }
}

/// Whether a line has a value, and whether to look for it in the next line, in a function that calls it. No branch
/// depends on whether it has it, as one would on a [`Found`]. Of remainders of more than eight bits.
///
/// # Safety
/// This CPU has the instructions.
#[inline]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
pub(super) unsafe fn find_wider<const MIXED: bool>(
    line: &Line,
    value: i64,
    r: u32,
) -> (bool, bool) {
    if r <= WIDEST {
        let [present, higher] = present_and_higher::<MIXED, true>(line, value, r);
        return (present != 0, present | higher | !line[0] & GOES_ON == 0);
    }
    // SAFETY: the caller's promise.
    let found = unsafe { find_wide::<MIXED>(line, value, r) };
    (found == Found::Present, found == Found::Onward)
}

/// The same where fields are too narrow. Apart: it takes more registers.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn find_wide<const MIXED: bool>(line: &Line, value: i64, r: u32) -> Found {
    // SAFETY: the caller's promise.
    unsafe { find_by_words::<Pdep, MIXED>(line, value, r) }
}

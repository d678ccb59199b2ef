//! Lines taken apart and put together with AVX-512, many values at once. Reached only through the detection in
//! `kernel`.

use super::avx512_find::{buckets, numbers_from};
use super::avx512_pack::{BYTE, WIDEST, packed, packed_wide, unpacked};
use super::edit::{Header, put_bits};
use super::whole::OPENED;
use super::width::width;
use crate::layouts::growing::{BASES, HEADER, HEADER_BITS};
use crate::line::{LINE_BITS, Line};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Values at once.
const GROUP: usize = 8;

#[inline]
#[target_feature(enable = "avx512f")]
fn all(number: i64) -> __m512i {
    _mm512_set1_epi64(number)
}

/// The numbers 0 to 7.
#[inline]
#[target_feature(enable = "avx512f")]
fn numbers() -> __m512i {
    _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7)
}

/// As `whole::open`.
///
/// # Panics
/// If `r` is above 54.
#[inline]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
pub(super) fn open(line: &Line, r: u32, start: u64, out: &mut [MaybeUninit<u64>; OPENED]) -> usize {
    if r <= BYTE {
        open_narrow::<false>(line, r, start, out)
    } else if r <= WIDEST {
        open_narrow::<true>(line, r, start, out)
    } else {
        open_wide(line, r, start, out)
    }
}

/// All remainders of a line at once, of up to 16 bits.
#[inline]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
fn open_narrow<const WIDE: bool>(
    line: &Line,
    r: u32,
    start: u64,
    out: &mut [MaybeUninit<u64>; OPENED],
) -> usize {
    let (header, width) = (Header::of(line, r), width(r));
    let (mut all_buckets, mut all_low) = ([0_i8; OPENED], [0_u8; 2 * OPENED]);
    // SAFETY: 64 bytes, each time.
    unsafe {
        let words = _mm512_loadu_si512(line.as_ptr().cast());
        _mm512_storeu_si512(all_buckets.as_mut_ptr().cast(), buckets(line));
        let [first, second] = unpacked::<WIDE>(words, r);
        let mask = match WIDE {
            false => _mm512_set1_epi8(width.mask as i8),
            true => _mm512_set1_epi16(width.mask as i16),
        };
        let at: *mut u8 = all_low.as_mut_ptr();
        _mm512_storeu_si512(at.cast(), _mm512_and_si512(first, mask));
        if WIDE {
            _mm512_storeu_si512(at.add(64).cast(), _mm512_and_si512(second, mask));
        }
    }
    let shift = _mm_cvtsi32_si128(r as i32);
    let start = all(start.wrapping_add_signed(header.base << r) as i64);
    let groups = (header.values as usize).div_ceil(GROUP);
    let mut group = 0;
    // No iterators: they would be compiled without these instructions.
    while group < groups {
        // SAFETY: eight fields of 64 each, and room for as many values.
        unsafe {
            let bucket = _mm_loadl_epi64(all_buckets.as_ptr().add(group * GROUP).cast());
            let bucket = _mm512_sll_epi64(_mm512_cvtepi8_epi64(bucket), shift);
            let low = if WIDE {
                let at = all_low.as_ptr().add(2 * group * GROUP);
                _mm512_cvtepu16_epi64(_mm_loadu_si128(at.cast()))
            } else {
                _mm512_cvtepu8_epi64(_mm_loadl_epi64(all_low.as_ptr().add(group * GROUP).cast()))
            };
            let values = _mm512_add_epi64(_mm512_add_epi64(bucket, low), start);
            _mm512_storeu_si512(out.as_mut_ptr().add(group * GROUP).cast(), values);
        }
        group += 1;
    }
    header.values as usize
}

/// Eight values at once.
///
/// # Panics
/// If `r` is above 54.
#[inline]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
fn open_wide(line: &Line, r: u32, start: u64, out: &mut [MaybeUninit<u64>; OPENED]) -> usize {
    let (header, width) = (Header::of(line, r), width(r));
    // The positions of the ones in the header, a byte each.
    let mut places = [0; 128];
    let steps = numbers_from(0);
    let (low, high) = (header.bits as u64, (header.bits >> 64) as u64);
    let more = numbers_from(64);
    // SAFETY: there are 128 bytes, and at most 64 ones in the first word.
    let line = unsafe {
        let at: *mut u8 = places.as_mut_ptr();
        _mm512_storeu_si512(at.cast(), _mm512_maskz_compress_epi8(low, steps));
        let behind = at.add(low.count_ones() as usize);
        _mm512_storeu_si512(behind.cast(), _mm512_maskz_compress_epi8(high, more));
        _mm512_loadu_si512(line.as_ptr().cast())
    };
    let (r_bits, shift) = (i64::from(r), _mm_cvtsi32_si128(r as i32));
    // Where the remainders begin, and each byte of a value from the first of it on.
    let mut at = _mm512_sub_epi64(
        all(LINE_BITS as i64 - r_bits),
        _mm512_mullo_epi64(numbers(), all(r_bits)),
    );
    let first_bytes = _mm512_set_epi64(
        0x0808_0808_0808_0808,
        0,
        0x0808_0808_0808_0808,
        0,
        0x0808_0808_0808_0808,
        0,
        0x0808_0808_0808_0808,
        0,
    );
    let mut base = _mm512_sub_epi64(all(header.base), numbers());
    let groups = (header.values as usize).div_ceil(GROUP);
    let mut group = 0;
    // No iterators: they would be compiled without these instructions.
    while group < groups {
        // SAFETY: eight bytes: there are at most 63 values.
        let places = unsafe { _mm_loadl_epi64(places.as_ptr().add(group * GROUP).cast()) };
        let bucket = _mm512_add_epi64(_mm512_cvtepu8_epi64(places), base);
        // Bytes that would be behind the line are other ones of it, of which no bit is taken.
        let bytes = _mm512_shuffle_epi8(_mm512_srli_epi64::<3>(at), first_bytes);
        let bytes = _mm512_add_epi8(bytes, all(0x0706_0504_0302_0100));
        let words = _mm512_permutexvar_epi8(bytes, line);
        let low = _mm512_srlv_epi64(words, _mm512_and_si512(at, all(7)));
        let low = _mm512_and_si512(low, all(width.mask as i64));
        let values = _mm512_or_si512(_mm512_sll_epi64(bucket, shift), low);
        let values = _mm512_add_epi64(values, all(start as i64));
        // SAFETY: eight values: there is room for 64.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().add(group * GROUP).cast(), values) };
        group += 1;
        base = _mm512_sub_epi64(base, all(GROUP as i64));
        at = _mm512_sub_epi64(at, all(GROUP as i64 * r_bits));
    }
    header.values as usize
}

/// As `whole::close`.
///
/// # Panics
/// If `r` is above 54.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
pub(super) fn close(
    values: &[u64],
    start: u64,
    limit: i64,
    goes_on: bool,
    r: u32,
) -> (Line, usize) {
    if r <= BYTE {
        close_narrow::<false>(values, start, limit, goes_on, r)
    } else if r <= WIDEST {
        close_narrow::<true>(values, start, limit, goes_on, r)
    } else {
        close_wide(values, start, limit, goes_on, r)
    }
}

/// Sixteen values at once, and all remainders, of up to 16 bits.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
fn close_narrow<const WIDE: bool>(
    values: &[u64],
    start: u64,
    limit: i64,
    goes_on: bool,
    r: u32,
) -> (Line, usize) {
    const GROUP: usize = 16;
    let width = width(r);
    let base = match values.first() {
        Some(first) => (first.wrapping_sub(start) as i64 >> r).min(BASES[1]),
        None => 0,
    };
    let mut header = Header { values: 0, base, bits: 0 };
    let values = &values[..values.len().min(width.room as usize)];
    let count = if base < BASES[0] { 0 } else { values.len() };
    // What is out of 32 bits has no place in the header, wherever exactly it is.
    let limit = _mm512_set1_epi32(limit.min(i32::MAX.into()) as i32);
    let numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let (r_bits, shift) = (_mm512_set1_epi32(r as i32), _mm_cvtsi32_si128(r as i32));
    // What a value's place in the header, and all that is in the line with it, have besides the bucket.
    let mut number = _mm512_sub_epi32(numbers, _mm512_set1_epi32(base as i32));
    let mut filled = _mm512_add_epi32(
        _mm512_set1_epi32((HEADER + r + 1) as i32),
        _mm512_mullo_epi32(numbers, r_bits),
    );
    let mut bits = [_mm512_setzero_si512(); 2];
    // Sixteen remainders each, in registers: what is stored in parts waits until it can be loaded as a whole.
    let mut remainders = [_mm512_setzero_si512(); 4];
    let mut group = 0;
    while group * GROUP < count {
        let left = (count - group * GROUP).min(GROUP);
        let there = (u16::MAX as u32 >> (GROUP - left)) as u16;
        // SAFETY: so many values are left, and no other is read.
        let [low, high] = unsafe {
            let at = values.as_ptr().add(group * GROUP);
            let high = _mm512_maskz_loadu_epi64((there >> 8) as u8, at.wrapping_add(8).cast());
            [_mm512_maskz_loadu_epi64(there as u8, at.cast()), high]
        };
        let low = _mm512_cvtsepi64_epi32(_mm512_sub_epi64(low, all(start as i64)));
        let high = _mm512_cvtsepi64_epi32(_mm512_sub_epi64(high, all(start as i64)));
        let values = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
        let there = _mm512_mask_cmplt_epi32_mask(there, values, limit);
        let place = _mm512_add_epi32(_mm512_sra_epi32(values, shift), number);
        let most = _mm512_set1_epi32(HEADER_BITS as i32);
        let fits = _mm512_mask_cmplt_epu32_mask(there, place, most);
        let end = _mm512_set1_epi32(LINE_BITS as i32);
        let fits = _mm512_mask_cmple_epu32_mask(fits, _mm512_add_epi32(place, filled), end);
        // As a rule the places of a group are in one word.
        let in_first = _mm512_mask_cmplt_epu32_mask(fits, place, _mm512_set1_epi32(64));
        if in_first != 0 {
            bits[0] = _mm512_or_si512(bits[0], ones(place, in_first));
        }
        if in_first != fits {
            let place = _mm512_sub_epi32(place, _mm512_set1_epi32(64));
            bits[1] = _mm512_or_si512(bits[1], ones(place, fits & !in_first));
        }
        let low = _mm512_maskz_and_epi32(fits, values, _mm512_set1_epi32(width.mask as i32));
        remainders[group] = low;
        header.values += u64::from(fits.count_ones());
        group += 1;
        if fits != u16::MAX {
            break;
        }
        number = _mm512_add_epi32(number, _mm512_set1_epi32(GROUP as i32));
        filled = _mm512_add_epi32(filled, _mm512_slli_epi32::<4>(r_bits));
    }
    let reduce = [_mm512_reduce_or_epi64(bits[0]), _mm512_reduce_or_epi64(bits[1])];
    header.bits = u128::from(reduce[0] as u64) | u128::from(reduce[1] as u64) << 64;
    let words = header.words(goes_on);
    let first = _mm512_zextsi128_si512(_mm_set_epi64x(words[1] as i64, words[0] as i64));
    let packed = if WIDE { packed_wide(remainders, r) } else { packed(remainders, r) };
    let all = _mm512_or_si512(packed, first);
    let mut line = [0; 8];
    // SAFETY: eight words.
    unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), all) };
    (line, header.values as usize)
}

/// The words that have a 1 at one of these places, together.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn ones(places: __m512i, there: u16) -> __m512i {
    let low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(places));
    let high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(places));
    let low = _mm512_maskz_sllv_epi64(there as u8, all(1), low);
    let high = _mm512_maskz_sllv_epi64((there >> 8) as u8, all(1), high);
    _mm512_or_si512(low, high)
}

/// Eight values at once.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
fn close_wide(values: &[u64], start: u64, limit: i64, goes_on: bool, r: u32) -> (Line, usize) {
    let width = width(r);
    let mut line = [0; 8];
    let base = match values.first() {
        Some(first) => (first.wrapping_sub(start) as i64 >> r).min(BASES[1]),
        None => 0,
    };
    let mut header = Header { values: 0, base, bits: 0 };
    let values = &values[..values.len().min(width.room as usize)];
    let (mut low_bits, mut high_bits) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let (r_bits, shift) = (i64::from(r), _mm_cvtsi32_si128(r as i32));
    // What a value's place in the header, and all that is in the line with it, have besides the
    // bucket.
    let mut number = _mm512_sub_epi64(numbers(), all(base));
    let mut filled = _mm512_add_epi64(
        all(i64::from(HEADER) + r_bits + 1),
        _mm512_mullo_epi64(numbers(), all(r_bits)),
    );
    let count = if base < BASES[0] { 0 } else { values.len() };
    let mut group = 0;
    while group * GROUP < count {
        let left = (count - group * GROUP).min(GROUP);
        let there = (u8::MAX as u32 >> (GROUP - left)) as u8;
        // SAFETY: so many values are left, and no other is read.
        let values =
            unsafe { _mm512_maskz_loadu_epi64(there, values.as_ptr().add(group * GROUP).cast()) };
        let values = _mm512_sub_epi64(values, all(start as i64));
        let there = _mm512_mask_cmplt_epi64_mask(there, values, all(limit));
        // A value far behind gives a place that is no place, too.
        let place = _mm512_add_epi64(_mm512_sra_epi64(values, shift), number);
        let fits = _mm512_mask_cmplt_epu64_mask(there, place, all(HEADER_BITS.into()));
        let fits = _mm512_mask_cmple_epu64_mask(
            fits,
            _mm512_add_epi64(place, filled),
            all(LINE_BITS as i64),
        );
        let one = _mm512_maskz_set1_epi64(fits, 1);
        low_bits = _mm512_or_si512(low_bits, _mm512_sllv_epi64(one, place));
        let high = _mm512_sllv_epi64(one, _mm512_sub_epi64(place, all(64)));
        high_bits = _mm512_or_si512(high_bits, high);
        let low = _mm512_maskz_and_epi64(fits, values, all(width.mask as i64));
        put_group(&mut line, low, group as i64, r);
        header.values += u64::from(fits.count_ones());
        group += 1;
        if fits != u8::MAX {
            break;
        }
        number = _mm512_add_epi64(number, all(GROUP as i64));
        filled = _mm512_add_epi64(filled, all(GROUP as i64 * r_bits));
    }
    let reduce = [_mm512_reduce_or_epi64(low_bits), _mm512_reduce_or_epi64(high_bits)];
    header.bits = u128::from(reduce[0] as u64) | u128::from(reduce[1] as u64) << 64;
    let words = header.words(goes_on);
    line[0] |= words[0];
    line[1] |= words[1];
    (line, header.values as usize)
}

/// Sets the remainders of eight values of a line, by the number of the group. Those that are not
/// there are 0.
#[inline]
#[target_feature(enable = "avx512f")]
fn put_group(line: &mut Line, low: __m512i, group: i64, r: u32) {
    let r_bits = i64::from(r);
    let end = LINE_BITS as i64 - group * GROUP as i64 * r_bits;
    // Those that lie side by side in 64 bits become one.
    let (mut all, mut each, mut bits) = (low, 1, r_bits);
    if bits <= 32 {
        let other = _mm512_shuffle_epi32::<0b01_00_11_10>(all);
        all = _mm512_or_si512(_mm512_sll_epi64(all, _mm_cvtsi64_si128(bits)), other);
        (each, bits) = (2, 2 * bits);
    }
    if each == 2 && bits <= 32 {
        let other = _mm512_permutex_epi64::<0b01_00_11_10>(all);
        all = _mm512_or_si512(_mm512_sll_epi64(all, _mm_cvtsi64_si128(bits)), other);
        (each, bits) = (4, 2 * bits);
    }
    // SAFETY: a vector is eight words.
    let words: [u64; GROUP] = unsafe { std::mem::transmute(all) };
    let (mut i, mut at) = (0, end - bits);
    while i < GROUP {
        put_bits(line, at, words[i]);
        (i, at) = (i + each, at - bits);
    }
}

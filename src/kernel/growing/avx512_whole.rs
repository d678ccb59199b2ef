//! Lines taken apart and put together, eight values at once, with AVX-512. Reached only through the
//! detection in `kernel`.

use super::edit::{Header, put_bits};
use super::whole::OPENED;
use super::width::width;
use crate::layouts::growing::{BASES, HEADER, HEADER_BITS};
use crate::line::{LINE_BITS, Line};
use std::arch::x86_64::*;

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

/// As `whole::open`, eight values at once.
///
/// # Panics
/// If `r` is above 54.
#[inline]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
pub(super) fn open(line: &Line, r: u32, start: u64, out: &mut [u64; OPENED]) -> usize {
    let (header, width) = (Header::of(line, r), width(r));
    // The positions of the ones in the header, a byte each.
    let mut places = [0; 128];
    let steps = _mm512_set_epi64(
        0x3F3E_3D3C_3B3A_3938,
        0x3736_3534_3332_3130,
        0x2F2E_2D2C_2B2A_2928,
        0x2726_2524_2322_2120,
        0x1F1E_1D1C_1B1A_1918,
        0x1716_1514_1312_1110,
        0x0F0E_0D0C_0B0A_0908,
        0x0706_0504_0302_0100,
    );
    let (low, high) = (header.bits as u64, (header.bits >> 64) as u64);
    let more = _mm512_add_epi8(steps, _mm512_set1_epi8(64));
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

/// As `whole::close`, eight values at once.
///
/// # Panics
/// If `r` is above 54.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
pub(super) fn close(
    values: &[u64],
    start: u64,
    limit: i64,
    goes_on: bool,
    r: u32,
) -> (Line, usize) {
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

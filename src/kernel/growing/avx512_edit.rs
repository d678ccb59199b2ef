//! The remainders of a line in one vector, with AVX-512. Reached only through the detection in `kernel`.

use super::avx512_find;
use super::avx512_regions::all;
use super::edit::{Gap, Header, Move, Said, said};
use super::select::{Pdep, Select};
use super::width::Width;
use crate::line::Line;
use std::arch::x86_64::*;

/// As [`Pdep`] for headers.
pub(super) struct Wide;

impl Select for Wide {
    #[inline(always)]
    unsafe fn one(word: u64, before: u64) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { Pdep::one(word, before) }
    }
}

/// How far behind the start of each word a bit of the line is.
#[inline]
#[target_feature(enable = "avx512f")]
fn behind(bit: u64) -> __m512i {
    _mm512_sub_epi64(all(bit), _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448))
}

/// The bits of a line from one on.
#[inline]
#[target_feature(enable = "avx512f")]
fn from(bit: u64) -> __m512i {
    // A shift by 64 or more leaves nothing.
    let below = _mm512_max_epi64(behind(bit), _mm512_setzero_si512());
    _mm512_sllv_epi64(all(u64::MAX), below)
}

/// The words of a line: those between two bits, and those from a third on.
#[inline]
#[target_feature(enable = "avx512f")]
fn parts(line: &Line, end: u64, bit: u64, kept: u64) -> [__m512i; 2] {
    // SAFETY: 64 bytes.
    let words = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
    let between = _mm512_andnot_si512(from(bit), from(end));
    [_mm512_and_si512(words, between), _mm512_and_si512(words, from(kept))]
}

/// Writes a line, with the bits of its first words.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(line: &mut Line, rest: __m512i, words: [u64; 2]) {
    let first = _mm512_zextsi128_si512(_mm_set_epi64x(words[1] as i64, words[0] as i64));
    // SAFETY: 64 bytes.
    unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), _mm512_or_si512(rest, first)) };
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2")]
fn spread(line: &mut Line, gap: Gap, r: u32, words: [u64; 2]) {
    let Gap { end, bit, low } = gap;
    let [moved, kept] = parts(line, end, bit, bit);
    let above = _mm512_alignr_epi64::<1>(_mm512_setzero_si512(), moved);
    let moved = _mm512_shrdv_epi64(moved, above, all(r.into()));
    // A shift by 64 or more, so a negative one, leaves nothing.
    let at = behind(bit.wrapping_sub(r.into()));
    let begun = _mm512_sllv_epi64(all(low), at);
    let rest = _mm512_srlv_epi64(all(low), _mm512_sub_epi64(_mm512_setzero_si512(), at));
    let new = _mm512_or_si512(begun, rest);
    store(line, _mm512_or_si512(_mm512_or_si512(kept, moved), new), words);
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2")]
fn spread_first(line: &mut Line, end: u64, low: u64, r: u32, words: [u64; 2]) {
    // SAFETY: 64 bytes.
    let all_words = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
    let moved = _mm512_and_si512(all_words, from(end));
    // The new one comes from above the line.
    let above = _mm512_alignr_epi64::<1>(all(low), moved);
    store(line, _mm512_shrdv_epi64(moved, above, all(r.into())), words);
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2")]
fn join(line: &mut Line, end: u64, bit: u64, r: u32, words: [u64; 2]) {
    let [moved, kept] = parts(line, end, bit.wrapping_sub(r.into()), bit);
    let below = _mm512_alignr_epi64::<7>(moved, _mm512_setzero_si512());
    let moved = _mm512_shldv_epi64(moved, below, all(r.into()));
    store(line, _mm512_or_si512(kept, moved), words);
}

impl Move for Wide {
    #[inline(always)]
    unsafe fn said<const MIXED: bool>(
        line: &Line,
        header: &Header,
        value: i64,
        r: u32,
        width: &Width,
    ) -> Said {
        // No closure: it would be compiled without the instructions of the backend.
        // SAFETY: the caller vouches for the CPU.
        match unsafe { avx512_find::said::<MIXED>(line, value, r, width) } {
            Some(found) => found,
            // SAFETY: as above.
            None => unsafe { said::<Pdep, MIXED>(line, header, value, r, width) },
        }
    }

    #[inline(always)]
    unsafe fn spread(line: &mut Line, gap: Gap, r: u32, words: [u64; 2]) {
        // SAFETY: the caller vouches for the CPU.
        unsafe { spread(line, gap, r, words) };
    }

    #[inline(always)]
    unsafe fn spread_first(line: &mut Line, end: u64, low: u64, r: u32, words: [u64; 2]) {
        // SAFETY: the caller vouches for the CPU.
        unsafe { spread_first(line, end, low, r, words) };
    }

    #[inline(always)]
    unsafe fn join(line: &mut Line, end: u64, bit: u64, r: u32, words: [u64; 2]) {
        // SAFETY: the caller vouches for the CPU.
        unsafe { join(line, end, bit, r, words) };
    }
}

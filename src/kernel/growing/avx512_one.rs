//! A line asked about one key with AVX-512, its remainders of up to eight bits all at once. Reached only through the
//! detection in `kernel`.
//!
//! How many keys a CPU has under way at once is bounded by its registers for integers: there is one for each result
//! that it has not yet retired. So what can be in vectors, in masks, or in an operand in memory is there, and the
//! compiler is kept from turning masks into integers.

use super::avx512_find::{differ, numbers_from, sought};
use super::avx512_pack::{BYTE, Fields};
#[cfg(test)]
use super::goes_on;
#[cfg(test)]
use crate::kernel::{Backend, growing::Found};
use crate::layouts::growing::{HEADER, HEADER_BITS, room};
use crate::line::Line;
use std::arch::asm;
use std::arch::x86_64::*;

/// What a probe reads that knows the width of remainders. The vectors come first, each in a cache line.
#[repr(C, align(64))]
pub(super) struct Asked {
    fields: Fields,
    /// A remainder of ones, in each field.
    mask: [u8; 64],
    /// A 1 for each value, by the number of values that a line states.
    values: [u64; 64],
    /// A 1 for each but so many.
    behind: [u64; 65],
    /// How many bits a remainder has.
    r: u32,
}

impl Asked {
    const fn of(r: u32) -> Asked {
        let mut asked = Asked {
            fields: Fields::of(r, false),
            mask: [((1_u32 << r) - 1) as u8; 64],
            values: [0; 64],
            behind: [0; 65],
            r,
        };
        let mut i = 0;
        while i < 64 {
            // Damaged lines may state more than there is room for.
            let most = room(r);
            asked.values[i] = (1 << if i < most { i } else { most }) - 1;
            asked.behind[i] = u64::MAX << i;
            i += 1;
        }
        asked
    }
}

/// By the width.
static ASKED: [Asked; BYTE as usize + 1] = {
    let mut all = [const { Asked::of(0) }; BYTE as usize + 1];
    let mut r = 0;
    while r <= BYTE {
        all[r as usize] = Asked::of(r);
        r += 1;
    }
    all
};

/// That of a width; of those that it does not know, any.
pub(super) fn asked(r: u32) -> &'static Asked {
    ASKED.get(r as usize).unwrap_or(&ASKED[0])
}

/// By how much places are higher than they are, so that 0 is behind all values.
const ABOVE: u8 = 17;

/// Of each bit of a word that begins at this place of the header, the place; 0 behind the header.
#[repr(C, align(64))]
struct PlacesOf([u8; 64]);

impl PlacesOf {
    const fn from(first: u8) -> PlacesOf {
        let (mut places, mut i) = ([0; 64], 0);
        while i < 64 {
            let place = first + i as u8;
            places[i] = if place < HEADER_BITS as u8 { place + ABOVE } else { 0 };
            i += 1;
        }
        PlacesOf(places)
    }
}

/// The two words that the header is in.
static FIRST: PlacesOf = PlacesOf::from(0);
static SECOND: PlacesOf = PlacesOf::from(64);

/// The same address, of which the compiler does not know what it has loaded from there.
#[inline(always)]
pub(super) fn apart<T>(mut at: *const T) -> *const T {
    // SAFETY: it is no instruction.
    unsafe { asm!("/* {0} */", inout(reg) at, options(pure, readonly, nostack, preserves_flags)) };
    at
}

/// The same mask, in a register for masks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn held(mut mask: __mmask64) -> __mmask64 {
    // SAFETY: it is no instruction.
    unsafe { asm!("/* {0} */", inout(kreg) mask, options(pure, nomem, nostack, preserves_flags)) };
    mask
}

/// What a line says of a value: whether it is there, and whether there is it, or any higher one. If not, whether the
/// line goes on has to be asked.
#[inline]
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
)]
pub(super) fn ask<const MIXED: bool>(line: &Line, value: i64, asked: &Asked) -> (bool, bool) {
    const HEADER_AT: usize = HEADER as usize / 8;
    let at = line.as_ptr().cast::<u8>();
    // SAFETY: within the 64 bytes of the line, and of each vector.
    let (words, bytes, bits, mask, first_places, second_places) = unsafe {
        (
            _mm512_loadu_si512(at.cast()),
            _mm512_load_si512(asked.fields.bytes.as_ptr().cast()),
            _mm512_load_si512(asked.fields.bits.as_ptr().cast()),
            _mm512_load_si512(asked.mask.as_ptr().cast()),
            _mm512_load_si512(FIRST.0.as_ptr().cast()),
            _mm512_load_si512(SECOND.0.as_ptr().cast()),
        )
    };
    // Each as an operand of what uses it: so the compiler may not know that it loads some bytes twice.
    // SAFETY: as above.
    let (first, again, second, stated) = unsafe {
        (
            apart(at).add(HEADER_AT).cast::<u64>().read_unaligned(),
            apart(at).add(HEADER_AT).cast::<u64>().read_unaligned(),
            apart(at).add(HEADER_AT + 8).cast::<u64>().read_unaligned(),
            *apart(at) & 63,
        )
    };
    let stated = held(asked.values[usize::from(stated)]);
    // The remainders, a byte each, as in `avx512_pack`.
    let stored = _mm512_multishift_epi64_epi8(bits, _mm512_permutexvar_epi8(bytes, words));
    let less = _mm512_add_epi8(stored, _mm512_set1_epi8(-1));
    let differ = differ::<MIXED>(stored, less, _mm512_set1_epi8(value as i8));
    let same = held(_mm512_mask_testn_epi8_mask(stated, differ, mask));
    // The buckets: the places of the ones of both words, less the values before each.
    let behind = held(asked.behind[again.count_ones() as usize]);
    let first = _mm512_maskz_compress_epi8(first, first_places);
    let second = _mm512_maskz_compress_epi8(second, second_places);
    let places = _mm512_mask_expand_epi8(first, behind, second);
    let buckets = _mm512_sub_epi8(places, numbers_from(ABOVE as i8));
    let sought = sought(line, value >> asked.r);
    let present = held(_mm512_mask_cmpeq_epi8_mask(same, buckets, sought));
    let higher = held(_mm512_mask_cmpgt_epi8_mask(stated, buckets, sought));
    (_kortestz_mask64_u8(present, present) == 0, _kortestz_mask64_u8(present, higher) == 0)
}

/// What one probe makes of that, for tests, if this CPU has the instructions and the width is one of these.
#[cfg(test)]
pub(super) fn found<const MIXED: bool>(line: &Line, value: i64, r: u32) -> Option<Found> {
    if r > BYTE || Backend::Avx512.kernels().is_none() {
        return None;
    }
    // SAFETY: the CPU has the backend.
    let (present, is_final) = unsafe { ask::<MIXED>(line, value, asked(r)) };
    Some(match (present, is_final) {
        (true, _) => Found::Present,
        (false, false) if goes_on(line) => Found::Onward,
        _ => Found::Absent,
    })
}

//! The homes of eight keys at once with AVX-512. Reached only through the detection in `kernel`.

use super::regions::{Number, Regions};
use crate::line::{LINE_BYTES, Line};
use std::arch::x86_64::*;
use std::ptr::from_ref;

/// Keys at once.
pub(super) const GROUP: usize = 8;

/// A vector of the same number eight times.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn all(number: u64) -> __m512i {
    _mm512_set1_epi64(number as i64)
}

/// The high 64 bits of eight products. LLVM finds the idiom if the high halves are shifted, and then multiplies
/// one by one.
#[inline]
#[target_feature(enable = "avx512f")]
fn high(a: __m512i, b: __m512i) -> __m512i {
    let low = all(u32::MAX.into());
    let (a_high, b_high) = (_mm512_shuffle_epi32::<0xF5>(a), _mm512_shuffle_epi32::<0xF5>(b));
    let least = _mm512_srli_epi64::<32>(_mm512_mul_epu32(a, b));
    // No sum is above 64 bits.
    let middle = _mm512_add_epi64(_mm512_mul_epu32(a_high, b), least);
    let other = _mm512_mul_epu32(a, b_high);
    let other = _mm512_add_epi64(other, _mm512_and_si512(middle, low));
    let carried = _mm512_add_epi64(_mm512_srli_epi64::<32>(middle), _mm512_srli_epi64::<32>(other));
    _mm512_add_epi64(_mm512_mul_epu32(a_high, b_high), carried)
}

/// What is read where there is no line.
static EMPTY: Line = [0; 8];
/// The start of a chunk of it.
static START: Start = Start(from_ref(&EMPTY));

/// Where a line is that nobody changes.
struct Start(#[allow(dead_code)] *const Line);

// SAFETY: it is the address of a constant.
unsafe impl Sync for Start {}

/// Which region eight hashes belong to.
#[derive(Clone, Copy)]
struct Of {
    region: __m512i,
    is_fresh: __mmask8,
}

impl Of {
    /// The number of each of these regions.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn get(self, number: &Number) -> __m512i {
        let each = number.each.0.as_ptr();
        // SAFETY: twice eight words.
        let (low, high) =
            unsafe { (_mm512_loadu_si512(each.cast()), _mm512_loadu_si512(each.add(8).cast())) };
        let old = _mm512_permutex2var_epi64(low, self.region, high);
        _mm512_mask_mov_epi64(old, self.is_fresh, all(number.fresh))
    }
}

/// Where eight keys are.
struct Spot {
    /// The line, and the value there.
    line: __m512i,
    value: __m512i,
    /// As `Regions::small`.
    small: __m512i,
    is_there: __mmask8,
    starts: __m512i,
}

impl Spot {
    /// The homes of eight hashes, or the lines behind them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn of(regions: &Regions<'_>, hash: __m512i, behind: bool) -> Spot {
        let region = _mm512_and_si512(_mm512_srli_epi64::<60>(hash), all(regions.mask));
        let moved = _mm512_sub_epi64(hash, all(regions.from));
        let of = Of { region, is_fresh: _mm512_cmplt_epu64_mask(moved, all(regions.moved)) };
        let own = _mm512_sll_epi64(hash, _mm_cvtsi32_si128(regions.bits as i32));
        let byte = all(0xFF);
        let (mut line, offset, u, small, first, count);
        if regions.is_narrow {
            // The products of 32 bits have their factors in the low halves.
            let w_and_u = of.get(&regions.w);
            let low = _mm512_srli_epi64::<32>(_mm512_mul_epu32(own, w_and_u));
            let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(own), w_and_u);
            let prefix = _mm512_srli_epi64::<32>(_mm512_add_epi64(high, low));
            let reciprocal = of.get(&regions.reciprocal);
            small = _mm512_srli_epi64::<32>(reciprocal);
            let product = _mm512_mul_epu32(prefix, reciprocal);
            line = _mm512_srlv_epi64(product, _mm512_and_si512(small, byte));
            u = _mm512_srli_epi64::<32>(w_and_u);
            offset = _mm512_sub_epi64(prefix, _mm512_mul_epu32(line, u));
            let lines = of.get(&regions.first);
            first = _mm512_and_si512(lines, all(u32::MAX.into()));
            count = _mm512_srli_epi64::<32>(lines);
        } else {
            let prefix = high(own, of.get(&regions.w));
            small = of.get(&regions.small);
            let product = high(prefix, of.get(&regions.reciprocal));
            line = _mm512_srlv_epi64(product, _mm512_and_si512(small, byte));
            u = of.get(&regions.u);
            offset = _mm512_sub_epi64(prefix, _mm512_mullo_epi64(line, u));
            first = of.get(&regions.first);
            count = of.get(&regions.count);
        }
        let mixed = _mm_cvtsi32_si128(regions.mixed as i32);
        let mut value = _mm512_sll_epi64(offset, mixed);
        value = _mm512_or_si512(value, all(regions.mixed.into()));
        if behind {
            line = _mm512_add_epi64(line, all(1));
            value = _mm512_sub_epi64(value, _mm512_sll_epi64(u, mixed));
        }
        let is_there = _mm512_cmplt_epu64_mask(_mm512_sub_epi64(line, first), count);
        Spot { line, value, small, is_there, starts: of.get(&regions.starts) }
    }
}

/// Writes the homes of hashes, eight at once, or if `behind` the lines that follow those: the line, the value there,
/// and the width of remainders. Returns which of them have a line. Those of the others are empty.
///
/// # Panics
/// Unless there are as many of each, at most 64.
///
/// # Safety
/// This CPU has the instructions.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512dq,avx512vl")]
pub(super) unsafe fn locate<'a>(
    regions: &Regions<'a>,
    hashes: &[[u64; GROUP]],
    lines: &mut [[&'a Line; GROUP]],
    values: &mut [[i64; GROUP]],
    widths: &mut [[u32; GROUP]],
    behind: bool,
) -> u64 {
    let count = hashes.len();
    let all_there = lines.len() >= count && values.len() >= count && widths.len() >= count;
    assert!(all_there && count * GROUP <= 64, "a tile");
    let (mut group, mut there) = (0, 0);
    while group < count {
        // SAFETY: eight words.
        let hash = unsafe { _mm512_loadu_si512(hashes[group].as_ptr().cast()) };
        let spot = Spot::of(regions, hash, behind);
        there |= u64::from(spot.is_there) << (GROUP * group);
        let width = _mm512_and_si512(_mm512_srli_epi64::<8>(spot.small), all(0xFF));
        // SAFETY: eight each.
        unsafe {
            _mm512_storeu_si512(values[group].as_mut_ptr().cast(), spot.value);
            _mm256_storeu_si256(widths[group].as_mut_ptr().cast(), _mm512_cvtepi64_epi32(width));
        }
        // SAFETY: it is.
        unsafe { fetch(regions, &spot, &mut lines[group]) };
        group += 1;
    }
    there
}

/// Writes the lines of eight keys.
///
/// # Safety
/// The spot is of these regions.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn fetch<'a>(regions: &Regions<'a>, spot: &Spot, lines: &mut [&'a Line; GROUP]) {
    const LOG2: u32 = LINE_BYTES.ilog2();
    let &Spot { line, is_there, starts, .. } = spot;
    if !regions.in_chunks {
        let at = _mm512_add_epi64(starts, _mm512_slli_epi64::<LOG2>(line));
        let at = _mm512_mask_mov_epi64(all(from_ref(&EMPTY) as u64), is_there, at);
        // SAFETY: eight addresses, each of a line that is there, which nobody changes as long as the regions
        // are borrowed, or of the empty one.
        unsafe { _mm512_storeu_si512(lines.as_mut_ptr().cast(), at) };
        return;
    }
    let log2 = _mm512_srli_epi64::<16>(spot.small);
    let chunk = _mm512_srlv_epi64(line, log2);
    let start = _mm512_add_epi64(starts, _mm512_slli_epi64::<3>(chunk));
    let start = _mm512_mask_mov_epi64(all(from_ref(&START) as u64), is_there, start);
    let in_chunk = _mm512_sub_epi64(line, _mm512_sllv_epi64(chunk, log2));
    let bytes = _mm512_maskz_slli_epi64::<LOG2>(is_there, in_chunk);
    let (mut all_starts, mut all_bytes) =
        ([std::ptr::null::<*const u8>(); GROUP], [0_usize; GROUP]);
    // SAFETY: eight each.
    unsafe {
        _mm512_storeu_si512(all_starts.as_mut_ptr().cast(), start);
        _mm512_storeu_si512(all_bytes.as_mut_ptr().cast(), bytes);
    }
    let mut i = 0;
    while i < GROUP {
        // SAFETY: a line that is there has a chunk, which has a start, and the line is so many bytes behind it.
        // Nobody changes either as long as the regions are borrowed. Else it is the empty line.
        lines[i] = unsafe { &*(*all_starts[i]).add(all_bytes[i]).cast() };
        i += 1;
    }
}

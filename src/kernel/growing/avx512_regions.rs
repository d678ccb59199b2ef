//! The homes of eight keys at once with AVX-512. Reached only through the detection in `kernel`.

use super::regions::{Number, Regions};
use crate::line::{LINE_BYTES, Line};
use std::arch::x86_64::*;
use std::ptr::from_ref;

/// Keys at once.
pub(super) const GROUP: usize = 8;

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

/// Writes the homes of eight hashes: the line, the value there, and the width of remainders. Returns which of
/// them have a line. Those of the others are empty.
///
/// # Safety
/// This CPU has the instructions.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512dq,avx512vl")]
pub(super) unsafe fn locate<'a>(
    regions: &Regions<'a>,
    hashes: &[u64; GROUP],
    lines: &mut [&'a Line; GROUP],
    values: &mut [i64; GROUP],
    widths: &mut [u32; GROUP],
) -> u8 {
    // SAFETY: eight words.
    let hash = unsafe { _mm512_loadu_si512(hashes.as_ptr().cast()) };
    let region = _mm512_and_si512(_mm512_srli_epi64::<60>(hash), all(regions.mask));
    let behind = _mm512_sub_epi64(hash, all(regions.from));
    let of = Of { region, is_fresh: _mm512_cmplt_epu64_mask(behind, all(regions.moved)) };
    let (u, small) = (of.get(&regions.u), of.get(&regions.small));
    let own = _mm512_sll_epi64(hash, _mm_cvtsi32_si128(regions.bits as i32));
    let prefix = high(own, of.get(&regions.w));
    let shift = _mm512_and_si512(small, all(0xFF));
    let line = _mm512_srlv_epi64(high(prefix, of.get(&regions.reciprocal)), shift);
    let offset = _mm512_sub_epi64(prefix, _mm512_mullo_epi64(line, u));
    let mixed = _mm512_sll_epi64(offset, _mm_cvtsi32_si128(regions.mixed as i32));
    let value = _mm512_or_si512(mixed, all(regions.mixed.into()));
    let from_first = _mm512_sub_epi64(line, of.get(&regions.first));
    let is_there = _mm512_cmplt_epu64_mask(from_first, of.get(&regions.count));
    const LOG2: u32 = LINE_BYTES.ilog2();
    let starts = of.get(&regions.starts);
    let width = _mm512_and_si512(_mm512_srli_epi64::<8>(small), all(0xFF));
    // SAFETY: eight each.
    unsafe {
        _mm512_storeu_si512(values.as_mut_ptr().cast(), value);
        _mm256_storeu_si256(widths.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(width));
    }
    if !regions.in_chunks {
        let at = _mm512_add_epi64(starts, _mm512_slli_epi64::<LOG2>(line));
        let at = _mm512_mask_mov_epi64(all(from_ref(&EMPTY) as u64), is_there, at);
        // SAFETY: eight addresses, each of a line that is there, which nobody changes as long as the regions
        // are borrowed, or of the empty one.
        unsafe { _mm512_storeu_si512(lines.as_mut_ptr().cast(), at) };
        return is_there;
    }
    let log2 = _mm512_srli_epi64::<16>(small);
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
    is_there
}

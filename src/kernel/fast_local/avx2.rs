//! RocksDB's line with AVX2: eight positions at a time, their words looked up in the two halves of
//! the line. Reached only through the detection in `kernel`.

use super::super::batch::Ops;
use super::super::lines::Lines;
use super::{POWERS, first_of, step_by};
use std::arch::x86_64::*;

/// Eight positions at a time.
pub(in crate::kernel) struct Avx2;

impl Ops for Avx2 {
    #[inline(always)]
    fn line(lines: Lines, hash: u64) -> *const u8 {
        super::line(lines, hash)
    }

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { super::insert(lines, hash) }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller vouches for the CPU and for the lines.
        unsafe { contains(super::line(lines, hash), (hash >> 32) as u32, lines.k()) }
    }
}

/// Whether the line has the `k` bits that start with `x`.
///
/// # Safety
/// 64 bytes can be read at `line`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn contains(line: *const u8, x: u32, k: u32) -> bool {
    // SAFETY: the caller's promise.
    let (low, high) = unsafe {
        (_mm256_loadu_si256(line.cast()), _mm256_loadu_si256(line.wrapping_add(32).cast()))
    };
    let mut x = _mm256_mullo_epi32(_mm256_set1_epi32(x as i32), powers());
    let mut left = k as usize;
    let mut all = 1;
    loop {
        // Of the 9 bits of a position the top 4 are the word, the low 5 the bit in it.
        let word = _mm256_srli_epi32::<28>(x);
        let from_low = _mm256_permutevar8x32_epi32(low, word);
        let from_high = _mm256_permutevar8x32_epi32(high, word);
        // The top bit of x says which half: the blend looks at just that.
        let words = _mm256_castps_si256(_mm256_blendv_ps(
            _mm256_castsi256_ps(from_low),
            _mm256_castsi256_ps(from_high),
            _mm256_castsi256_ps(x),
        ));
        let bit = _mm256_and_si256(_mm256_srli_epi32::<23>(x), _mm256_set1_epi32(31));
        // SAFETY: a row is 32 bytes.
        let ones = unsafe { _mm256_loadu_si256(ONES[left.min(8)].as_ptr().cast()) };
        // No branch here: it would be mispredicted for half of the keys.
        all &= _mm256_testc_si256(words, _mm256_sllv_epi32(ones, bit));
        if left <= 8 {
            return all != 0;
        }
        left -= 8;
        x = _mm256_mullo_epi32(x, _mm256_set1_epi32(step_by(8) as i32));
    }
}

/// A one for each position that counts, by how many do: those past k are no bits at all.
static ONES: [[u32; 8]; 9] = first_of([1; 8]);

#[inline]
#[target_feature(enable = "avx2")]
fn powers() -> __m256i {
    const fn power(i: usize) -> i32 {
        POWERS[i] as i32
    }
    let [a, b, c, d] = const { [power(0), power(1), power(2), power(3)] };
    let [e, f, g, h] = const { [power(4), power(5), power(6), power(7)] };
    _mm256_setr_epi32(a, b, c, d, e, f, g, h)
}

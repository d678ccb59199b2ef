//! The `avx2` backend: a line is two registers of four lanes. Uses `line` and
//! `batch`; reached only through the detection in `mod.rs`.

use super::batch::{Lines, Ops, class};
use super::prefetch::{NEAR, prefetch};
use super::scalar::ROWS;
use crate::line::{C1, C2, SHIFTS};
use std::arch::x86_64::*;

/// Half a line in a register.
pub(super) struct Avx2;

type Halves = [__m256i; 2];

/// The bits of one round in each half of the line.
#[inline]
#[target_feature(enable = "avx2")]
fn round(g: u64, count: u32) -> Halves {
    let g4 = _mm256_set1_epi64x(g as i64);
    let row = &ROWS[count as usize][(g >> 61) as usize..][..8];
    let half = |half: usize| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| i64::from(SHIFTS[4 * half + i]));
        let position = _mm256_srlv_epi64(g4, _mm256_setr_epi64x(a, b, c, d));
        let position = _mm256_and_si256(position, _mm256_set1_epi64x(63));
        // SAFETY: the row has 8 lanes.
        let row = unsafe { _mm256_loadu_si256(row.as_ptr().add(4 * half).cast()) };
        _mm256_sllv_epi64(row, position)
    };
    [half(0), half(1)]
}

/// The bits of a key in each half of its line.
#[inline]
#[target_feature(enable = "avx2")]
fn mask<const CLASS: u8>(hash: u64, k: u32) -> Halves {
    let first = round(hash.wrapping_mul(C1), if CLASS == class::BELOW_8 { k } else { 8 });
    if CLASS != class::ABOVE_8 {
        return first;
    }
    let second = round(hash.wrapping_mul(C2), k - 8);
    [_mm256_or_si256(first[0], second[0]), _mm256_or_si256(first[1], second[1])]
}

/// The key's bits that the line has not got, both halves in one.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn unset<const CLASS: u8>(line: *const u8, hash: u64, k: u32) -> __m256i {
    let [low, high] = mask::<CLASS>(hash, k);
    // SAFETY: the caller vouches for 64 readable bytes.
    let lines =
        unsafe { [_mm256_loadu_si256(line.cast()), _mm256_loadu_si256(line.add(32).cast())] };
    _mm256_or_si256(_mm256_andnot_si256(lines[0], low), _mm256_andnot_si256(lines[1], high))
}

impl Ops for Avx2 {
    #[inline(always)]
    unsafe fn insert<const CLASS: u8>(line: *mut u8, hash: u64, k: u32) {
        // SAFETY: the caller vouches for the CPU and for 64 writable bytes.
        unsafe {
            let mask = mask::<CLASS>(hash, k);
            for (half, mask) in mask.into_iter().enumerate() {
                let at = line.add(32 * half).cast();
                _mm256_storeu_si256(at, _mm256_or_si256(_mm256_loadu_si256(at), mask));
            }
        }
    }

    #[inline(always)]
    unsafe fn contains<const CLASS: u8>(line: *const u8, hash: u64, k: u32) -> bool {
        // SAFETY: the caller vouches for the CPU and for 64 readable bytes.
        unsafe {
            let unset = unset::<CLASS>(line, hash, k);
            _mm256_testz_si256(unset, unset) != 0
        }
    }

    #[inline(always)]
    unsafe fn probe_block<const CLASS: u8, const NEXT: bool>(lines: Lines, hashes: &[u64]) -> u64 {
        let mut hits = 0u64;
        // SAFETY: the caller vouches for the CPU and for the lines.
        unsafe {
            let fours = hashes.chunks_exact(4);
            let rest = fours.remainder();
            for (group, four) in fours.enumerate() {
                if NEXT {
                    if let Some(next) = hashes.get(4 * group + 8..4 * group + 12) {
                        for &hash in next {
                            prefetch::<NEAR>(lines.line(hash));
                        }
                    }
                }
                let mut unset_bits = [_mm256_setzero_si256(); 4];
                for (unset_bits, &hash) in unset_bits.iter_mut().zip(four) {
                    *unset_bits = unset::<CLASS>(lines.line(hash), hash, lines.k());
                }
                hits |= none_of_four(unset_bits) << (4 * group);
            }
            let done = hashes.len() - rest.len();
            for (j, &hash) in rest.iter().enumerate() {
                let hit = Self::contains::<CLASS>(lines.line(hash), hash, lines.k());
                hits |= u64::from(hit) << (done + j);
            }
        }
        hits
    }
}

/// Bit `j` of the result says that register `j` is all zero.
#[inline]
#[target_feature(enable = "avx2")]
fn none_of_four([a, b, c, d]: [__m256i; 4]) -> u64 {
    // Lane by lane: fold each register into one lane of a common one.
    let ab = _mm256_or_si256(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    let cd = _mm256_or_si256(_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
    let abcd = _mm256_or_si256(
        _mm256_permute2x128_si256::<0x20>(ab, cd),
        _mm256_permute2x128_si256::<0x31>(ab, cd),
    );
    let zero = _mm256_cmpeq_epi64(abcd, _mm256_setzero_si256());
    _mm256_movemask_pd(_mm256_castsi256_pd(zero)) as u64
}

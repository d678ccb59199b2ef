//! The `avx2` backend: a line is two registers of four lanes. Uses `line` and
//! `batch`; reached only through the detection in `mod.rs`.

use super::batch::{BLOCK, Lines, Ops, Plan};
use super::scalar::{Row, class, rows};
use crate::line::{C1, C2, SHIFTS};
use std::arch::x86_64::*;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// Half a line in a register.
pub(super) struct Avx2<const CLASS: u8>;

type Halves = [__m256i; 2];

/// Ones moved to the bit positions of one round, in each half of the line.
#[inline]
#[target_feature(enable = "avx2")]
fn round(g: u64, ones: Halves) -> Halves {
    let g = _mm256_set1_epi64x(g as i64);
    let [a, b, c, d, e, f, h, i] = SHIFTS.map(i64::from);
    let shifts = [_mm256_setr_epi64x(a, b, c, d), _mm256_setr_epi64x(e, f, h, i)];
    let low = _mm256_set1_epi64x(63);
    [
        _mm256_sllv_epi64(ones[0], _mm256_and_si256(_mm256_srlv_epi64(g, shifts[0]), low)),
        _mm256_sllv_epi64(ones[1], _mm256_and_si256(_mm256_srlv_epi64(g, shifts[1]), low)),
    ]
}

/// The bits of a key in each half of its line, from the g of each round. `rows` say
/// which lanes count in the last round.
#[inline]
#[target_feature(enable = "avx2")]
fn mask<const CLASS: u8>(g: u64, g2: u64, rows: &[Row; 8]) -> Halves {
    let all = [_mm256_set1_epi64x(1); 2];
    match CLASS {
        class::BELOW_8 => round(g, lanes_that_count(g, rows)),
        class::EXACTLY_8 => round(g, all),
        _ => {
            let (first, second) = (round(g, all), round(g2, lanes_that_count(g2, rows)));
            [_mm256_or_si256(first[0], second[0]), _mm256_or_si256(first[1], second[1])]
        }
    }
}

/// A one in each lane that counts.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes_that_count(g: u64, rows: &[Row; 8]) -> Halves {
    let row = rows[(g >> 61) as usize].0.as_ptr().cast::<__m256i>();
    // SAFETY: a row is 64 bytes at a multiple of 64.
    unsafe { [_mm256_load_si256(row), _mm256_load_si256(row.add(1))] }
}

/// The bits of a mask that the line has not got, both halves in one.
///
/// # Safety
/// 64 bytes can be read at `line`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn unset(line: *const u8, [low, high]: Halves) -> __m256i {
    // SAFETY: the caller's promise.
    let line = unsafe {
        [_mm256_loadu_si256(line.cast()), _mm256_loadu_si256(line.wrapping_add(32).cast())]
    };
    _mm256_or_si256(_mm256_andnot_si256(line[0], low), _mm256_andnot_si256(line[1], high))
}

impl<const CLASS: u8> Ops for Avx2<CLASS> {
    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) {
        let (line, k) = (lines.line(hash), lines.k());
        // SAFETY: the caller vouches for the CPU and for 64 writable bytes.
        unsafe {
            let (g, g2) = (hash.wrapping_mul(C1), hash.wrapping_mul(C2));
            let mask = mask::<CLASS>(g, g2, rows(k));
            for (half, mask) in mask.into_iter().enumerate() {
                let at = line.add(32 * half).cast();
                _mm256_storeu_si256(at, _mm256_or_si256(_mm256_loadu_si256(at), mask));
            }
        }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        let (line, k) = (lines.line(hash), lines.k());
        // SAFETY: the caller vouches for the CPU and for 64 readable bytes.
        unsafe {
            let (g, g2) = (hash.wrapping_mul(C1), hash.wrapping_mul(C2));
            let mask = mask::<CLASS>(g, g2, rows(k));
            let unset = unset(line, mask);
            _mm256_testz_si256(unset, unset) != 0
        }
    }

    #[inline(always)]
    unsafe fn probe_block<P: Plan>(lines: Lines, hashes: &[u64], ahead: &[u64; BLOCK]) -> u64 {
        let rows = rows(lines.k());
        let mut hits = 0;
        let mut g = [Four::uninit(); BLOCK / 4];
        let mut g2 = [Four::uninit(); BLOCK / 4];
        let (fours, rest) = hashes.as_chunks::<4>();
        // SAFETY: the caller vouches for the CPU and for the lines. What is read of
        // g, and of g2 if k > 8, is written first.
        unsafe {
            for (i, four) in fours.iter().enumerate() {
                multiply(four, C1, &mut g[i]);
                if CLASS == class::ABOVE_8 {
                    multiply(four, C2, &mut g2[i]);
                }
            }
            // Through memory on purpose: a broadcast from memory costs no more than
            // the load, one from a register two shuffles.
            let (g, g2) = (black_box(&g), black_box(&g2));
            for (i, four) in fours.iter().enumerate() {
                P::ask::<Self>(lines, hashes, ahead, 4 * i..4 * i + 4);
                let g = g[i].assume_init_ref();
                let g2 = if CLASS == class::ABOVE_8 { g2[i].assume_init_ref() } else { g };
                let mut missing = [_mm256_setzero_si256(); 4];
                for j in 0..4 {
                    missing[j] = unset(lines.line(four[j]), mask::<CLASS>(g[j], g2[j], rows));
                }
                hits |= none_of_four(missing) << (4 * i);
            }
            let done = 4 * fours.len();
            for (i, &hash) in rest.iter().enumerate() {
                P::ask::<Self>(lines, hashes, ahead, done + i..done + i + 1);
                let hit = Self::contains(lines, hash);
                hits |= u64::from(hit) << (done + i);
            }
        }
        hits
    }
}

/// A value for each of four keys, written as one register.
type Four = MaybeUninit<[u64; 4]>;

/// `hash * constant` for four hashes, out of products of 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn multiply(hashes: &[u64; 4], constant: u64, products: &mut Four) {
    // SAFETY: both places are 32 bytes.
    unsafe {
        let h = _mm256_loadu_si256(hashes.as_ptr().cast());
        let low = _mm256_set1_epi64x((constant & 0xFFFF_FFFF) as i64);
        let high = _mm256_set1_epi64x((constant >> 32) as i64);
        let cross = _mm256_add_epi64(
            _mm256_mul_epu32(_mm256_srli_epi64::<32>(h), low),
            _mm256_mul_epu32(h, high),
        );
        let product = _mm256_add_epi64(_mm256_mul_epu32(h, low), _mm256_slli_epi64::<32>(cross));
        _mm256_storeu_si256(products.as_mut_ptr().cast(), product);
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

//! The `avx512` backend: a line is one register, and the answers of 64 keys come out of one
//! compare. Reached only through the detection in `kernel`.
//!
//! A group of 8 keys goes through two stages. First, all 8 at once, where their
//! lines are and `g = hash * C`. Then, key by key: the bit positions are one shift
//! of `g`, the mask is one rotate of 1, and `vptestnmq line, mask` leaves a byte:
//! the lanes whose bit is *not* set. Which of the 8 lanes count is left open until
//! all 64 bytes are there: one byte shuffle turns the 64 rotations `g >> 61` into
//! 64 lane selectors, and one `vptestnmb` makes the 64 answers.

use super::super::batch::{Lookahead, Ops, Plan, TILE};
use super::super::fast_local::apart;
use super::super::lines::Lines;
use super::super::shared::read_shared_vector;
use super::scalar::{class, select};
use super::{SHIFTS_64, halves};
use crate::line::{C1, C2, LANES};
use std::arch::x86_64::*;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// Bit `i` of `SELECT[count][start]` says that lane `i` counts in a run of `count`
/// lanes turned by `start`.
static SELECT: [[u8; 8]; 9] = select([0, 1, 2, 3, 4, 5, 6, 7]);

/// A whole line in a register.
pub(in crate::kernel) struct Avx512<const CLASS: u8>;

/// The bit of each lane for one round, all 8 lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn all_lanes(g: u64) -> __m512i {
    static SHIFTS: [u64; LANES] = SHIFTS_64;
    let shifts = load(&SHIFTS);
    let positions = _mm512_srlv_epi64(_mm512_set1_epi64(g as i64), shifts);
    // A rotate takes its count modulo 64, so the positions need no masking.
    _mm512_rolv_epi64(_mm512_set1_epi64(1), positions)
}

/// The bits of those `count` lanes that `g` chooses.
#[inline]
#[target_feature(enable = "avx512f")]
fn some_lanes(g: u64, count: u32) -> __m512i {
    let select = SELECT[count as usize][(g >> 61) as usize];
    _mm512_maskz_mov_epi64(select, all_lanes(g))
}

/// The bits of a key in its line.
#[inline]
#[target_feature(enable = "avx512f")]
fn mask<const CLASS: u8>(hash: u64, k: u32) -> __m512i {
    let g = hash.wrapping_mul(C1);
    match CLASS {
        class::BELOW_8 => some_lanes(g, k),
        class::EXACTLY_8 => all_lanes(g),
        _ => _mm512_or_si512(all_lanes(g), some_lanes(hash.wrapping_mul(C2), k - 8)),
    }
}

impl<const CLASS: u8> Ops for Avx512<CLASS> {
    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        let (line, k) = (lines.line(hash), lines.k());
        // SAFETY: the caller vouches for the CPU and for 64 writable bytes.
        unsafe {
            let (old, mask) = (_mm512_loadu_si512(line.cast()), mask::<CLASS>(hash, k));
            _mm512_storeu_si512(line.cast(), _mm512_or_si512(old, mask));
            _mm512_test_epi64_mask(_mm512_andnot_si512(old, mask), mask) != 0
        }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        let (line, k) = (lines.line(hash), lines.k());
        // SAFETY: the caller vouches for the CPU and for 64 readable bytes.
        unsafe {
            let line = read_shared_vector(line);
            let unset = _mm512_andnot_si512(line, mask::<CLASS>(hash, k));
            _mm512_test_epi64_mask(unset, unset) == 0
        }
    }

    #[inline(always)]
    unsafe fn probe_tile<P: Plan>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) -> u64 {
        // SAFETY: the caller vouches for the CPU and for the lines.
        unsafe {
            if P::PREFETCHES {
                return probe_and_prefetch::<CLASS, P>(lines, lookahead);
            }
            let (eights, rest) = hashes.as_chunks::<8>();
            if let Ok(whole) = <&[[u64; 8]; 8]>::try_from(eights) {
                return probe_groups::<CLASS>(lines, whole);
            }
            // The places past the end are probed with hash 0, whose line every
            // filter has, and their answers are dropped.
            let mut padded = [[0; 8]; 8];
            padded.as_flattened_mut()[..hashes.len()].copy_from_slice(hashes);
            let groups = eights.len() + usize::from(!rest.is_empty());
            let hits = probe_groups::<CLASS>(lines, &padded[..groups]);
            hits & ((1 << hashes.len()) - 1)
        }
    }
}

/// The answers for the first 64 hashes of `lookahead`, with prefetches in between. Key by key:
/// memory limits this loop, and serves evenly spaced requests best. In very large filters the line
/// is taken as two registers, which is faster there and slower below: see `docs/DESIGN.md`.
///
/// # Safety
/// As for `Ops`.
#[inline(always)]
unsafe fn probe_and_prefetch<const CLASS: u8, P: Plan>(lines: Lines, lookahead: &Lookahead) -> u64 {
    // SAFETY: the caller vouches for the CPU and for the lines.
    unsafe {
        let mut unset = [[0; TILE]; 2];
        // If the compiler knew the count, it would add instructions.
        if black_box(lines.count()) < BY_HALVES_FROM {
            for i in 0..TILE {
                P::prefetch::<Avx512<CLASS>>(lines, lookahead, i);
                let hash = lookahead[i];
                let line = read_shared_vector(lines.line(hash));
                unset[0][i] = _mm512_testn_epi64_mask(line, all_lanes(hash.wrapping_mul(C1)));
                if CLASS == class::ABOVE_8 {
                    unset[1][i] = _mm512_testn_epi64_mask(line, all_lanes(hash.wrapping_mul(C2)));
                }
            }
        } else {
            for i in 0..TILE {
                P::prefetch::<Avx512<CLASS>>(lines, lookahead, i);
                let hash = lookahead[i];
                let line = halves(lines.line(hash));
                unset[0][i] = unset_in_halves(line, hash.wrapping_mul(C1));
                if CLASS == class::ABOVE_8 {
                    unset[1][i] = unset_in_halves(line, hash.wrapping_mul(C2));
                }
            }
        }
        let last = if CLASS == class::ABOVE_8 { C2 } else { C1 };
        let mut start = [[0; 8]; TILE / 8];
        for (start, hashes) in start.iter_mut().zip(lookahead.as_chunks::<8>().0) {
            *start = starts(_mm512_mullo_epi64(load(hashes), _mm512_set1_epi64(last as i64)));
        }
        answers::<CLASS>(lines.k(), &unset[0], &unset[1], &start)
    }
}

/// Lines from which on [`probe_and_prefetch`] takes each as two registers: 128 MiB.
const BY_HALVES_FROM: u64 = 1 << 21;

/// A line as two registers of 256 bits.
///
/// # Safety
/// 64 bytes can be read at `line`.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
unsafe fn halves(line: *const u8) -> [__m256i; 2] {
    // SAFETY: the caller's promise.
    unsafe { [read_shared_vector(line), apart(read_shared_vector(line.wrapping_add(32)))] }
}

/// The lanes whose bit is not set.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn unset_in_halves([low, high]: [__m256i; 2], g: u64) -> u8 {
    let one = _mm256_set1_epi64x(1);
    // SAFETY: the CPU has AVX2.
    let [low_positions, high_positions] = unsafe { halves::shifted(g) };
    _mm256_testn_epi64_mask(low, _mm256_rolv_epi64(one, low_positions))
        | _mm256_testn_epi64_mask(high, _mm256_rolv_epi64(one, high_positions)) << 4
}

/// What the first stage leaves for the second, for each key of a tile.
#[repr(align(64))]
struct Staged {
    /// Bytes from the first line to the key's.
    offset: [Eight; TILE / 8],
    /// `hash * C1`, and for k > 8 `hash * C2`.
    g: [Eight; TILE / 8],
    g2: [Eight; TILE / 8],
}

/// A value for each of 8 keys, written as one register.
type Eight = MaybeUninit<[u64; 8]>;

/// The answers for up to 8 groups of 8 hashes; ones beyond.
///
/// # Safety
/// As for `Ops`.
#[inline(always)]
unsafe fn probe_groups<const CLASS: u8>(lines: Lines, hashes: &[[u64; 8]]) -> u64 {
    // SAFETY: the caller vouches for the CPU and for the lines. Of what is staged,
    // the groups that are there are read, the second round's if k > 8; and the
    // offsets are those of lines.
    unsafe {
        let mut staged = Staged { offset: [UNSET; 8], g: [UNSET; 8], g2: [UNSET; 8] };
        // The top 3 bits of the last round's g.
        let mut start = [[0u8; 8]; 8];
        for i in 0..hashes.len().min(AHEAD) {
            start[i] = stage::<CLASS>(&mut staged, i, &hashes[i], lines);
        }
        // Per key, the lanes whose bit is not set, in each round.
        let mut unset = [[0u8; 8]; 8];
        let mut unset2 = [[0u8; 8]; 8];
        for i in 0..hashes.len() {
            if i + AHEAD < hashes.len() {
                start[i + AHEAD] =
                    stage::<CLASS>(&mut staged, i + AHEAD, &hashes[i + AHEAD], lines);
            }
            // Through memory on purpose: a broadcast from memory costs only the load, one
            // from a lane of a register two shuffles.
            let staged = black_box(&staged);
            let offset = staged.offset[i].assume_init_ref();
            let g = staged.g[i].assume_init_ref();
            for j in 0..8 {
                let line = read_shared_vector(lines.first().add(offset[j] as usize));
                unset[i][j] = _mm512_testn_epi64_mask(line, all_lanes(g[j]));
                if CLASS == class::ABOVE_8 {
                    let g2 = staged.g2[i].assume_init_ref();
                    unset2[i][j] = _mm512_testn_epi64_mask(line, all_lanes(g2[j]));
                }
            }
        }
        answers::<CLASS>(lines.k(), unset.as_flattened(), unset2.as_flattened(), &start)
    }
}

/// The answers of 64 keys, from the lanes that are not set in each round.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn answers<const CLASS: u8>(k: u32, unset: &[u8], unset2: &[u8], start: &[[u8; 8]; 8]) -> u64 {
    let unset = load(unset);
    match CLASS {
        class::BELOW_8 => _mm512_testn_epi8_mask(unset, selectors(k, start)),
        class::EXACTLY_8 => _mm512_testn_epi8_mask(unset, unset),
        _ => {
            _mm512_testn_epi8_mask(unset, unset)
                & _mm512_testn_epi8_mask(load(unset2), selectors(k - 8, start))
        }
    }
}

/// Groups from the one being probed to the one being staged: far enough that the staged values
/// have reached memory, near enough that the work is spread.
const AHEAD: usize = 3;

const UNSET: Eight = Eight::uninit();

/// The first stage for keys `8 i` to `8 i + 7` of a tile; the starts of their runs.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn stage<const CLASS: u8>(
    staged: &mut Staged,
    i: usize,
    hashes: &[u64; 8],
    lines: Lines,
) -> [u8; 8] {
    let h = load(hashes);
    if let Ok(count) = u32::try_from(lines.count()) {
        // high64(h * count) for a count of 32 bits, in two products of 32 by 32.
        let count = _mm512_set1_epi64(i64::from(count));
        let low = _mm512_mul_epu32(h, count);
        let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(h), count);
        let sum = _mm512_add_epi64(high, _mm512_srli_epi64::<32>(low));
        let index = _mm512_srli_epi64::<32>(sum);
        store(&mut staged.offset[i], _mm512_slli_epi64::<6>(index));
    } else {
        let first = lines.first() as usize;
        staged.offset[i].write(hashes.map(|hash| (lines.line(hash) as usize - first) as u64));
    }
    let g = _mm512_mullo_epi64(h, _mm512_set1_epi64(C1 as i64));
    store(&mut staged.g[i], g);
    let mut last = g;
    if CLASS == class::ABOVE_8 {
        last = _mm512_mullo_epi64(h, _mm512_set1_epi64(C2 as i64));
        store(&mut staged.g2[i], last);
    }
    starts(last)
}

/// The top 3 bits of each g: where the runs of lanes that count start.
#[inline]
#[target_feature(enable = "avx512f")]
fn starts(g: __m512i) -> [u8; 8] {
    _mm_cvtsi128_si64(_mm512_cvtepi64_epi8(_mm512_srli_epi64::<61>(g))).to_le_bytes()
}

/// For 64 keys, the lanes that count, from where their run of `count` lanes starts.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn selectors(count: u32, start: &[[u8; 8]; 8]) -> __m512i {
    let row = i64::from_le_bytes(SELECT[count as usize]);
    _mm512_shuffle_epi8(_mm512_set1_epi64(row), load(start.as_flattened()))
}

/// 64 bytes, whatever they hold.
#[inline]
#[target_feature(enable = "avx512f")]
fn load<T: Copy>(values: &[T]) -> __m512i {
    assert!(size_of_val(values) == 64);
    // SAFETY: the values are 64 bytes.
    unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(to: &mut Eight, values: __m512i) {
    // SAFETY: the place is 64 bytes.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), values) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::line_index;

    /// Line counts on both sides of 2^32, for which no test has the memory.
    #[test]
    fn lines_are_found_for_any_count() {
        if !std::is_x86_feature_detected!("avx512dq") {
            println!("skipped: this CPU lacks AVX-512");
            return;
        }
        let hash = |i: u64| i.wrapping_mul(0xA076_1D64_78BD_642F) ^ (i << 61);
        let counts = [1, 2, 3, 1 << 20, (1 << 31) + 1, u64::from(u32::MAX), 1 << 32, 1 << 57];
        for count in counts {
            for i in 0..1000 {
                let hashes =
                    [0, u64::MAX, 1 << 63, u64::from(u32::MAX), 1 << 32, 1, hash(i), !hash(i)];
                let mut staged = Staged { offset: [UNSET; 8], g: [UNSET; 8], g2: [UNSET; 8] };
                // SAFETY: the CPU was asked; `stage` does not touch the lines, and it
                // writes the group that is read.
                let offsets = unsafe {
                    stage::<{ class::BELOW_8 }>(&mut staged, 2, &hashes, Lines::imaginary(count));
                    staged.offset[2].assume_init()
                };
                assert_eq!(offsets, hashes.map(|hash| line_index(hash, count) * 64), "{count}");
            }
        }
    }
}

//! The `avx2` backend: a line is two registers of four lanes.
//! Reached only through the detection in `kernel`.
//!
//! An insert shifts ones to their positions and ORs them into the line. A probe shifts each lane
//! of the line so that the probed bit becomes its sign, because signs are quick to collect: four
//! keys leave four bytes, a bit for each lane. Which lanes count is then looked up for 32 keys at
//! once.

use super::super::alike::{Alike, OfLanes};
use super::super::batch::{Lookahead, Ops, Plan, TILE};
use super::super::lines::Lines;
use super::super::shared::read_shared_vector;
use super::super::single::Single;
use super::halves;
use super::scalar::{PAIRED, Row, all_rows, class, rows, select};
use crate::line::{C1, C2, LANES, LINE_BYTES};
use std::arch::asm;
use std::arch::x86_64::*;

/// Half a line in a register.
pub(in crate::kernel) struct Avx2<const CLASS: u8>;

type Halves = [__m256i; 2];

/// The bit positions of one round, in the low 6 bits of each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn positions(g: u64) -> Halves {
    // SAFETY: the CPU has AVX2.
    unsafe { halves::shifted(g) }
}

/// Ones moved to the bit positions of one round, in each half of the line.
#[inline]
#[target_feature(enable = "avx2")]
fn round(g: u64, ones: Halves) -> Halves {
    let [low, high] = positions(g);
    let six_bits = _mm256_set1_epi64x(63);
    [
        _mm256_sllv_epi64(ones[0], _mm256_and_si256(low, six_bits)),
        _mm256_sllv_epi64(ones[1], _mm256_and_si256(high, six_bits)),
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

impl<const CLASS: u8> Ops for Avx2<CLASS> {
    const ROWS: Option<usize> = Some(halves::tag::<CLASS>());

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { halves::insert::<CLASS, false>(lines.line(hash), all_rows(lines.k()), hash) }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { halves::contains::<CLASS, false>(lines.line(hash), all_rows(lines.k()), hash) }
    }

    #[inline(always)]
    unsafe fn contains_one(single: &Single<'_>, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { halves::contains_one::<CLASS, false>(single, hash) }
    }

    #[inline(always)]
    unsafe fn insert_one(single: &Single<'_>, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { halves::insert_one::<CLASS, false>(single, hash) }
    }

    #[inline(always)]
    unsafe fn probe_tile<P: Plan>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) -> u64 {
        // SAFETY: the caller vouches for the CPU and for the lines.
        unsafe {
            let (fours, rest) = hashes.as_chunks::<4>();
            if let Ok(whole) = <&[[u64; 4]; 16]>::try_from(fours) {
                return probe_fours::<CLASS, P>(lines, whole, lookahead);
            }
            // The places past the end are probed with hash 0, whose line every
            // filter has, and their answers are dropped.
            let mut padded = [[0; 4]; 16];
            padded.as_flattened_mut()[..hashes.len()].copy_from_slice(hashes);
            let fours = fours.len() + usize::from(!rest.is_empty());
            let hits = probe_fours::<CLASS, P>(lines, &padded[..fours], lookahead);
            hits & ((1 << hashes.len()) - 1)
        }
    }
}

/// Several filters: what a key leaves open, in each half.
pub(in crate::kernel) struct Avx2Alike;

impl Alike for Avx2Alike {
    type Mask = Halves;

    #[inline(always)]
    unsafe fn mask(hash: u64, k: u32) -> Halves {
        let (g, g2, rows) = (hash.wrapping_mul(C1), hash.wrapping_mul(C2), rows(k));
        // SAFETY: the caller vouches for the CPU.
        unsafe {
            others(match k {
                ..=8 => mask::<{ class::BELOW_8 }>(g, g2, rows),
                _ => mask::<{ class::ABOVE_8 }>(g, g2, rows),
            })
        }
    }

    #[inline(always)]
    unsafe fn has(line: *const u8, open: Halves) -> bool {
        // SAFETY: the caller vouches for the CPU and for 64 readable bytes.
        unsafe { halves::all_set(filled(line, open)) }
    }

    #[inline(always)]
    unsafe fn push(hits: u64, line: *const u8, open: Halves) -> u64 {
        // SAFETY: as above.
        unsafe { halves::push_all_set(hits, filled(line, open)) }
    }

    #[inline(always)]
    unsafe fn contains(base: *const u8, count: usize, hash: u64, k: u32) -> bool {
        let line = base.wrapping_add(Self::index(hash, count) * LINE_BYTES);
        // SAFETY: the caller's promise; the rows are those of k.
        unsafe {
            match k {
                ..=8 => halves::contains::<{ class::BELOW_8 }, false>(line, all_rows(k), hash),
                _ => halves::contains::<{ class::ABOVE_8 }, false>(line, all_rows(k), hash),
            }
        }
    }
}

impl OfLanes for Avx2Alike {
    #[inline(always)]
    unsafe fn of_lanes(lanes: [u64; LANES]) -> Halves {
        // SAFETY: the caller vouches for the CPU; there are 64 bytes.
        unsafe { others(load_line(lanes.as_ptr().cast())) }
    }
}

/// Both halves of a line, with all bits set where the other half has them and the key leaves none open.
///
/// # Safety
/// The CPU has AVX2; 64 bytes can be read at `line`.
#[inline(always)]
unsafe fn filled(line: *const u8, [low, high]: Halves) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let line = load_line(line);
        _mm256_and_si256(_mm256_or_si256(line[0], low), _mm256_or_si256(line[1], high))
    }
}

/// The bits that are not set.
#[inline]
#[target_feature(enable = "avx2")]
fn others([low, high]: Halves) -> Halves {
    let ones = _mm256_set1_epi8(-1);
    [_mm256_andnot_si256(low, ones), _mm256_andnot_si256(high, ones)]
}

/// The answers for up to 16 groups of 4 hashes; any beyond.
///
/// # Safety
/// As for `Ops`.
#[inline(always)]
unsafe fn probe_fours<const CLASS: u8, P: Plan>(
    lines: Lines,
    hashes: &[[u64; 4]],
    lookahead: &Lookahead,
) -> u64 {
    // Per key, the lanes whose bit is set, in each round, and the top byte of the last
    // round's g.
    let mut set = [[0; 4]; TILE / 4];
    let mut set2 = [[0; 4]; TILE / 4];
    let mut top = [[0; 4]; TILE / 4];
    // SAFETY: the caller vouches for the CPU and for the lines.
    unsafe {
        for (i, hashes) in hashes.iter().enumerate() {
            // Not a loop: the compiler would have the lanes go through memory.
            let found = [
                look_up::<CLASS, P>(lines, lookahead, 4 * i, hashes[0]),
                look_up::<CLASS, P>(lines, lookahead, 4 * i + 1, hashes[1]),
                look_up::<CLASS, P>(lines, lookahead, 4 * i + 2, hashes[2]),
                look_up::<CLASS, P>(lines, lookahead, 4 * i + 3, hashes[3]),
            ];
            set[i] = a_byte_each([found[0].set, found[1].set, found[2].set, found[3].set]);
            if CLASS == class::ABOVE_8 {
                set2[i] = a_byte_each([found[0].set2, found[1].set2, found[2].set2, found[3].set2]);
            }
            if CLASS != class::EXACTLY_8 {
                let last = |i: usize| found[i].last.to_le_bytes()[7];
                top[i] = [last(0), last(1), last(2), last(3)];
            }
        }
        let (set, top) = (set.as_flattened(), top.as_flattened());
        match CLASS {
            class::BELOW_8 => answers(set, top, lines.k()),
            class::EXACTLY_8 => answers(set, top, 8),
            _ => answers(set, top, 8) & answers(set2.as_flattened(), top, lines.k() - 8),
        }
    }
}

/// What a key finds in its line.
#[derive(Clone, Copy)]
struct Found {
    /// Lanes whose bit is set, as [`set_lanes`] has it, in each round.
    set: __m256i,
    set2: __m256i,
    /// The last round's g.
    last: u64,
}

/// Looks up key `i` of a tile, and prefetches the lines of later ones.
///
/// # Safety
/// As for `Ops`.
#[inline(always)]
unsafe fn look_up<const CLASS: u8, P: Plan>(
    lines: Lines,
    lookahead: &Lookahead,
    i: usize,
    hash: u64,
) -> Found {
    P::prefetch::<Avx2<CLASS>>(lines, lookahead, i);
    // SAFETY: the caller vouches for the CPU and for the lines.
    unsafe {
        let line = load_line(lines.line(hash));
        let g = one_by_one(hash.wrapping_mul(C1));
        let set = set_lanes(line, g);
        if CLASS != class::ABOVE_8 {
            return Found { set, set2: set, last: g };
        }
        let last = one_by_one(hash.wrapping_mul(C2));
        Found { set, set2: set_lanes(line, last), last }
    }
}

/// The value. The compiler does not see that, and so does not put the products of four keys
/// into one register, which takes it 9 instructions, and as many to get them out again.
#[inline(always)]
fn one_by_one(mut product: u64) -> u64 {
    // SAFETY: it is no instruction.
    unsafe {
        asm!("/* {0} */", inout(reg) product, options(pure, nomem, nostack, preserves_flags));
    }
    product
}

/// A line, as two registers of four lanes.
///
/// # Safety
/// 64 bytes can be read at `line`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_line(line: *const u8) -> Halves {
    // SAFETY: the caller's promise.
    unsafe { [read_shared_vector(line), read_shared_vector(line.wrapping_add(32))] }
}

/// The lanes of a line whose bit of a round is set: the sign bits of the result, in the
/// order of [`PAIRED`].
#[inline]
#[target_feature(enable = "avx2")]
fn set_lanes(line: Halves, g: u64) -> __m256i {
    let [low, high] = positions(g);
    // The bit goes to the top of its lane: 63 - position places up.
    let six_bits = _mm256_set1_epi64x(63);
    let low = _mm256_sllv_epi64(line[0], _mm256_andnot_si256(low, six_bits));
    let high = _mm256_sllv_epi64(line[1], _mm256_andnot_si256(high, six_bits));
    let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    // The upper halves of all lanes.
    _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high))
}

/// Bit `i` of `SELECT[count][start]` says that lane `PAIRED[i]` counts in a run of `count`
/// lanes turned by `start`.
static SELECT: [[u8; 8]; 9] = select(PAIRED);

/// The signs of 8 lanes of four keys, a byte for each key.
#[inline]
#[target_feature(enable = "avx2")]
fn a_byte_each([a, b, c, d]: [__m256i; 4]) -> [u8; 4] {
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    // The packing keeps to the halves of the registers: each key has four bytes in each.
    let together = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_movemask_epi8(_mm256_permutevar8x32_epi32(bytes, together)).to_le_bytes()
}

/// The answers of 64 keys from their lanes that are set: whether these are all that count.
#[inline]
#[target_feature(enable = "avx2")]
fn answers(set: &[u8], top: &[u8], count: u32) -> u64 {
    let mut hits = 0;
    for half in [0, 32] {
        let (set, top) = (load(&set[half..half + 32]), load(&top[half..half + 32]));
        let select = if count == 8 {
            _mm256_set1_epi8(-1)
        } else {
            let row = _mm256_set1_epi64x(i64::from_le_bytes(SELECT[count as usize]));
            // Bytes have no shift of their own; bits that come from the neighbour go.
            let start = _mm256_and_si256(_mm256_srli_epi16::<5>(top), _mm256_set1_epi8(7));
            _mm256_shuffle_epi8(row, start)
        };
        let missing = _mm256_andnot_si256(set, select);
        let hit = _mm256_cmpeq_epi8(missing, _mm256_setzero_si256());
        hits |= u64::from(_mm256_movemask_epi8(hit) as u32) << half;
    }
    hits
}

/// 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8]) -> __m256i {
    assert!(bytes.len() == 32);
    // SAFETY: there are 32 bytes.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

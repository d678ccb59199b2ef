//! Static lines with AVX2: a line is two registers of four lanes, or four.
//! Reached only through the detection in `kernel`.
//!
//! Parity survives folding one half of a lane onto the other. So the lanes of a key are folded to
//! 32 bits, and then those of four keys together to 8: a register has a byte for each of 8 rows of
//! each of 4 keys. Their parities are looked up, and compared with the fingerprints. The result
//! bits of 32 keys then come together.

use super::super::batch::{Lookahead, NO_LOOKAHEAD, Nothing, Ops, Plan, TILE};
use super::super::lines::Lines;
use super::super::single::Single;
use super::calls::calls;
use super::levels::{ANY, FOUR, Found, Line, Tile, UP_TO_7, by_rows};
use super::rows::{FIELDS, Rows};
use crate::layouts::static_line::{extra_coefficients, next_hash, place};
use std::arch::x86_64::*;
use std::ops::Range;

/// Four lanes to a register.
pub(in crate::kernel) struct Avx2;

/// Keys whose result bits come together.
const HALF: usize = TILE / 2;

impl Tile for Avx2 {
    const EACH: bool = true;

    #[inline(always)]
    unsafe fn line<const ROWS: u32>(line: *const u8, rows: &Rows, hash: u64) -> Line {
        // SAFETY: the caller vouches for the CPU and for the line.
        unsafe {
            match if ROWS == ANY { rows.count } else { ROWS } {
                8 => one::<0, false>(line, rows, hash),
                4 | 6 | 7 => one::<1, false>(line, rows, hash),
                5 | UP_TO_7 => one::<2, false>(line, rows, hash),
                16 => one::<0, true>(line, rows, hash),
                12 | 14 | 15 if ROWS != ANY => one::<1, true>(line, rows, hash),
                11 | 13 if ROWS != ANY => one::<2, true>(line, rows, hash),
                10 => one::<2, true>(line, rows, hash),
                // Code for any number of rows is long enough.
                _ => one::<3, true>(line, rows, hash),
            }
        }
    }

    /// Lines of other rows take more registers for four keys than there are.
    #[inline(always)]
    fn together(rows: u32) -> bool {
        rows == 8
    }

    #[inline(always)]
    unsafe fn four<const ROWS: u32>(
        lines: [*const u8; FOUR],
        hashes: [u64; FOUR],
    ) -> ([u8; FOUR], u64) {
        // SAFETY: the caller vouches for the CPU and for the lines.
        unsafe { by_rows!(ROWS, four => (lines, hashes, Rows::of(ROWS))) }
    }

    #[inline(always)]
    unsafe fn tile<P: Plan, O: Ops>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) -> Found {
        // SAFETY: the caller vouches for the CPU and for the lines.
        unsafe { by_rows!(Rows::in_lines(lines).count, tile[P, O] => (lines, hashes, lookahead)) }
    }

    #[target_feature(enable = "avx2,bmi2,popcnt")]
    unsafe fn tile_alone<O: Ops>(lines: Lines, hashes: &[u64]) -> Found {
        // SAFETY: the caller's promise.
        unsafe { Self::tile::<Nothing, O>(lines, hashes, NO_LOOKAHEAD) }
    }

    calls! { #[target_feature(enable = "avx2,bmi2,popcnt")] }
}

/// The coefficients of a key, each part in all lanes.
struct Coefficients {
    own: __m256i,
    more: [__m256i; FIELDS],
}

#[inline]
#[target_feature(enable = "avx2")]
fn coefficients<const TERMS: usize>(hash: u64, rows: &Rows) -> Coefficients {
    let next = next_hash(hash);
    let mut more = [_mm256_setzero_si256(); FIELDS];
    let mut rest = if TERMS > 0 { extra_coefficients(next, rows.extra) } else { 0 };
    for (more, field) in more.iter_mut().zip(&rows.fields).take(TERMS) {
        *more = _mm256_set1_epi64x((rest & ((1 << field.width) - 1)) as i64);
        rest >>= field.width;
    }
    Coefficients { own: _mm256_set1_epi64x((next >> 1) as i64), more }
}

/// Eight rows of a line, ANDed with the coefficients and folded to 32 bits, in the order of [`order`].
///
/// # Safety
/// The line can be read.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn eight_rows<const TERMS: usize>(
    line: *const u8,
    eight: usize,
    coefficients: &Coefficients,
    rows: &Rows,
) -> __m256i {
    // SAFETY: the caller vouches for all lanes; fields lie in four of the line's.
    unsafe {
        let mut four = [_mm256_setzero_si256(); 2];
        for (i, four) in four.iter_mut().enumerate() {
            let group = 2 * eight + i;
            let own = _mm256_loadu_si256(line.add(32 * group).cast());
            *four = _mm256_and_si256(own, coefficients.own);
            for (field, more) in rows.fields.iter().zip(coefficients.more).take(TERMS) {
                let window = _mm256_loadu_si256(line.add(8 * field.start[group]).cast());
                let halves = _mm256_loadu_si256(field.halves[group].as_ptr().cast());
                let bits = _mm256_load_si256(field.bits.as_ptr().add(4 * group).cast());
                let lanes = _mm256_permutevar8x32_epi32(window, halves);
                let bits = _mm256_srlv_epi64(lanes, bits);
                let bits = _mm256_and_si256(bits, more);
                *four = _mm256_xor_si256(*four, bits);
            }
        }
        let (low, high) = (_mm256_castsi256_ps(four[0]), _mm256_castsi256_ps(four[1]));
        let even = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
        let odd = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high));
        _mm256_xor_si256(even, odd)
    }
}

/// The threshold of a line.
///
/// # Safety
/// The line can be read.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn threshold(line: *const u8) -> u8 {
    // SAFETY: the caller's promise.
    unsafe {
        let low = _mm256_movemask_pd(_mm256_loadu_pd(line.cast()));
        let high = _mm256_movemask_pd(_mm256_loadu_pd(line.add(32).cast()));
        (low | high << 4) as u8
    }
}

/// What a line says of a key.
///
/// # Safety
/// The line can be read.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn one<const TERMS: usize, const WIDE: bool>(
    line: *const u8,
    rows: &Rows,
    hash: u64,
) -> Line {
    let coefficients = coefficients::<TERMS>(hash, rows);
    // SAFETY: the caller's promise.
    unsafe {
        let low = parities(eight_rows::<TERMS>(line, 0, &coefficients, rows));
        let high = match WIDE {
            true => parities(eight_rows::<TERMS>(line, 1, &coefficients, rows)),
            false => 0,
        };
        Line { threshold: threshold(line), parities: u64::from(low) | u64::from(high) << 8 }
    }
}

/// The thresholds of four lines, and which of them have the parities of a key each.
///
/// # Safety
/// The lines can be read.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn four<const TERMS: usize, const WIDE: bool>(
    lines: [*const u8; FOUR],
    hashes: [u64; FOUR],
    rows: &Rows,
) -> ([u8; FOUR], u64) {
    let mut folded = [[_mm256_setzero_si256(); FOUR]; 2];
    let (mut fingerprints, mut thresholds) = ([[0; FOUR]; 2], [0; FOUR]);
    // SAFETY: the caller's promise.
    unsafe {
        for i in 0..FOUR {
            let coefficients = coefficients::<TERMS>(hashes[i], rows);
            folded[0][i] = eight_rows::<TERMS>(lines[i], 0, &coefficients, rows);
            fingerprints[0][i] = hashes[i] as u8 | 1;
            if WIDE {
                folded[1][i] = eight_rows::<TERMS>(lines[i], 1, &coefficients, rows);
                fingerprints[1][i] = (hashes[i] >> 8) as u8;
            }
            thresholds[i] = threshold(lines[i]);
        }
    }
    let mut missed = compare(folded[0], fingerprints[0], rows.count);
    if WIDE {
        let high = compare(folded[1], fingerprints[1], rows.count - 8);
        missed = _mm256_or_si256(missed, high);
    }
    let four = _mm_or_si128(_mm256_castsi256_si128(missed), _mm256_extracti128_si256::<1>(missed));
    let two = _mm_or_si128(four, _mm_unpackhi_epi64(four, four));
    let missed = _mm_movemask_epi8(_mm_or_si128(two, _mm_srli_epi64::<32>(two)));
    (thresholds, u64::from(!missed as u32 & 0xF))
}

/// The parities of eight rows, row 0 in the lowest bit.
#[inline]
#[target_feature(enable = "avx2")]
fn parities(rows: __m256i) -> u8 {
    let rows = _mm256_xor_si256(rows, _mm256_slli_epi32::<16>(rows));
    let rows = _mm256_xor_si256(rows, _mm256_slli_epi32::<8>(rows));
    let rows = _mm256_xor_si256(rows, _mm256_slli_epi32::<4>(rows));
    let rows = _mm256_xor_si256(rows, _mm256_slli_epi32::<2>(rows));
    let rows = _mm256_xor_si256(rows, _mm256_slli_epi32::<1>(rows));
    // The order is its own inverse.
    let rows = _mm256_permutevar8x32_epi32(rows, order());
    _mm256_movemask_ps(_mm256_castsi256_ps(rows)) as u8
}

/// The order of rows when two registers of four lanes are shuffled into one of 32-bit parts.
#[inline]
#[target_feature(enable = "avx2")]
fn order() -> __m256i {
    _mm256_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7)
}

/// The answers for 1 to 64 hashes.
///
/// # Safety
/// As for `Ops`.
#[inline(always)]
unsafe fn tile<const TERMS: usize, const WIDE: bool, P: Plan, O: Ops>(
    lines: Lines,
    hashes: &[u64],
    lookahead: &Lookahead,
) -> Found {
    let count = hashes.len();
    let mut found = Found { hits: 0, bumped: 0 };
    // Keys are probed four at a time. The places past the end are probed with hash 0, whose line
    // every filter has, and their answers are dropped.
    let mut padded = [0; TILE];
    let hashes = match <&[u64; TILE]>::try_from(hashes) {
        Ok(whole) => whole,
        Err(_) => {
            padded[..count].copy_from_slice(hashes);
            &padded
        }
    };
    for first in (0..count).step_by(HALF) {
        // SAFETY: the caller's promise.
        let half = unsafe { half::<TERMS, WIDE, P, O>(lines, hashes, first..count, lookahead) };
        found.hits |= u64::from(half[0]) << first;
        found.bumped |= u64::from(half[1]) << first;
    }
    let there = u64::MAX >> (TILE - count);
    Found { hits: found.hits & there, bumped: found.bumped & there }
}

/// The hits and the bumped keys of the first 32 hashes of a range.
///
/// # Safety
/// As for `Ops`.
#[inline(always)]
unsafe fn half<const TERMS: usize, const WIDE: bool, P: Plan, O: Ops>(
    lines: Lines,
    hashes: &[u64; TILE],
    range: Range<usize>,
    lookahead: &Lookahead,
) -> [u32; 2] {
    let rows = Rows::in_lines(lines);
    let fours = range.len().div_ceil(4);
    let (mut positions, mut thresholds) = ([0; HALF], [0; HALF]);
    // SAFETY: the caller vouches for the CPU and for the lines.
    unsafe {
        let mut missed = [_mm256_setzero_si256(); HALF / 4];
        for (four, missed) in missed.iter_mut().enumerate().take(fours) {
            let mut folded = [[_mm256_setzero_si256(); 4]; 2];
            let mut fingerprints = [[0; 4]; 2];
            for i in 0..4 {
                let number = range.start + 4 * four + i;
                P::prefetch::<O>(lines, lookahead, number);
                let hash = hashes[number];
                let line = O::line(lines, hash);
                let coefficients = coefficients::<TERMS>(hash, rows);
                folded[0][i] = eight_rows::<TERMS>(line, 0, &coefficients, rows);
                fingerprints[0][i] = hash as u8 | 1;
                if WIDE {
                    folded[1][i] = eight_rows::<TERMS>(line, 1, &coefficients, rows);
                    fingerprints[1][i] = (hash >> 8) as u8;
                }
                positions[4 * four + i] = place(hash, lines.count()).1;
                thresholds[4 * four + i] = threshold(line);
            }
            *missed = compare(folded[0], fingerprints[0], rows.count);
            if WIDE {
                let high = compare(folded[1], fingerprints[1], rows.count - 8);
                *missed = _mm256_or_si256(*missed, high);
            }
        }
        let positions = _mm256_loadu_si256(positions.as_ptr().cast());
        let thresholds = _mm256_loadu_si256(thresholds.as_ptr().cast());
        let bumped = _mm256_cmpeq_epi8(_mm256_max_epu8(positions, thresholds), positions);
        let bumped = _mm256_movemask_epi8(bumped) as u32;
        let missed = _mm256_movemask_epi8(together(missed)) as u32;
        [!missed & !bumped, bumped]
    }
}

/// Which of the first `rows` of eight rows differ from the fingerprints of four keys: in the top bit
/// of byte `i` of each 32-bit part that of key `i`.
#[inline]
#[target_feature(enable = "avx2")]
fn compare(folded: [__m256i; 4], fingerprints: [u8; 4], rows: u32) -> __m256i {
    const TOPS: i32 = 0x8080_8080_u32 as i32;
    // To 16 bits each, keys 0 and 2 together, 1 and 3; then to 8 bits, all in order.
    let even = fold_16(folded[0], folded[2]);
    let odd = fold_16(folded[1], folded[3]);
    let low = _mm256_xor_si256(even, _mm256_srli_epi16::<8>(even));
    let high = _mm256_xor_si256(odd, _mm256_slli_epi16::<8>(odd));
    let bytes = _mm256_blendv_epi8(low, high, _mm256_set1_epi16(0xFF00_u16 as i16));
    let nibbles = _mm256_xor_si256(bytes, _mm256_srli_epi16::<4>(bytes));
    let nibbles = _mm256_and_si256(nibbles, _mm256_set1_epi8(0x0F));
    // The parity of each number of 4 bits, in the top bit.
    const ODD: i8 = -128;
    let table = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        0, ODD, ODD, 0, ODD, 0, 0, ODD, ODD, 0, 0, ODD, 0, ODD, ODD, 0,
    ));
    let parities = _mm256_shuffle_epi8(table, nibbles);
    // Bit `row` of each fingerprint to the top of its byte.
    let order = order();
    let up = _mm256_sub_epi32(_mm256_set1_epi32(7), order);
    let fingerprints = _mm256_sllv_epi32(_mm256_set1_epi32(i32::from_le_bytes(fingerprints)), up);
    let there = _mm256_cmpgt_epi32(_mm256_set1_epi32(rows as i32), order);
    let there = _mm256_and_si256(there, _mm256_set1_epi32(TOPS));
    _mm256_and_si256(_mm256_xor_si256(parities, fingerprints), there)
}

/// Folds the 32-bit parts of two keys to 16 bits each: `a` in the low ones.
#[inline]
#[target_feature(enable = "avx2")]
fn fold_16(a: __m256i, b: __m256i) -> __m256i {
    let low = _mm256_xor_si256(a, _mm256_srli_epi32::<16>(a));
    let high = _mm256_xor_si256(b, _mm256_slli_epi32::<16>(b));
    _mm256_blend_epi16::<0b1010_1010>(low, high)
}

/// The 32-bit parts of each register ORed: one part for each.
#[inline]
#[target_feature(enable = "avx2")]
fn together(all: [__m256i; 8]) -> __m256i {
    let mut pairs = [_mm256_setzero_si256(); 4];
    for i in 0..4 {
        let (a, b) = (all[2 * i], all[2 * i + 1]);
        pairs[i] = _mm256_or_si256(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    }
    let mut fours = [_mm256_setzero_si256(); 2];
    for i in 0..2 {
        let (a, b) = (pairs[2 * i], pairs[2 * i + 1]);
        fours[i] = _mm256_or_si256(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    }
    let [a, b] = fours;
    let low = _mm256_permute2x128_si256::<0x20>(a, b);
    _mm256_or_si256(low, _mm256_permute2x128_si256::<0x31>(a, b))
}

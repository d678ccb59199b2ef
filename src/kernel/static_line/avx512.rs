//! Static lines with AVX-512: a line is one register, or two, and the parities of its rows are the
//! lowest bits of their populations. Reached only through the detection in `kernel`.

use super::super::batch::{Lookahead, NO_LOOKAHEAD, Nothing, Ops, Plan, TILE};
use super::super::lines::Lines;
use super::super::single::Single;
use super::calls::calls;
use super::levels::{ANY, Found, Line, Tile, by_rows};
use super::rows::Rows;
use crate::layouts::static_line::{C3, OWN, extra_coefficients, next_hash, place};
use crate::line::LINE_BYTES;
use std::arch::asm;
use std::arch::x86_64::*;

/// Eight lanes to a register.
pub(in crate::kernel) struct Avx512;

impl Tile for Avx512 {
    const EACH: bool = true;

    #[inline(always)]
    unsafe fn line<const ROWS: u32>(line: *const u8, rows: &Rows, hash: u64) -> Line {
        // SAFETY: the caller vouches for the CPU and for the line.
        unsafe {
            by_rows!(if ROWS == ANY { rows.count } else { ROWS }, one[ALONE] => (line, rows, hash))
        }
    }

    #[inline(always)]
    unsafe fn line_of_few<const ROWS: u32>(line: *const u8, hash: u64) -> Line {
        // SAFETY: the caller vouches for the CPU and for the line.
        unsafe { by_rows!(ROWS, one[FEW] => (line, Rows::of(ROWS), hash)) }
    }

    #[inline(always)]
    unsafe fn tile<P: Plan, O: Ops>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) -> Found {
        // SAFETY: the caller vouches for the CPU and for the lines.
        unsafe { by_rows!(Rows::in_lines(lines).count, tile[P, O] => (lines, hashes, lookahead)) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")]
    unsafe fn tile_alone<O: Ops>(lines: Lines, hashes: &[u64]) -> Found {
        // SAFETY: the caller's promise.
        unsafe { Self::tile::<Nothing, O>(lines, hashes, NO_LOOKAHEAD) }
    }

    calls! { #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")] }
}

/// A key alone. Integers compute the coefficients: vectors would take longer, and another key may wait for it.
/// Vectors are in the registers from 16 on: a function that has written to others clears them before it jumps to
/// the next, ten cycles for each bumped key, behind a mispredicted branch.
const ALONE: u32 = 1;
/// One of a few keys, in the same registers. Vectors compute the further coefficients: integer registers are what
/// keys that do not wait are short of.
const FEW: u32 = 2;
/// One of a tile: vectors, in any register. A tile clears them once.
const MANY: u32 = 64;

/// What a line says of a key, whose rows have so many further fields.
///
/// # Safety
/// The line can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vpopcntdq")]
unsafe fn one<const TERMS: usize, const WIDE: bool, const KEYS: u32>(
    line: *const u8,
    rows: &Rows,
    hash: u64,
) -> Line {
    let next = next_hash(hash);
    // The compiler would move values of more fields back and forth.
    let all = KEYS != MANY && (TERMS == 0 || (TERMS == 1 && !WIDE));
    let by_vectors = TERMS > 0 && KEYS != ALONE;
    let (own, mut rest, mut rests);
    if by_vectors {
        let next = held::<16>(all, _mm512_set1_epi64(next as i64));
        let highest = held::<21>(all, _mm512_mullo_epi64(next, _mm512_set1_epi64(C3 as i64)));
        own = held::<19>(all, _mm512_srli_epi64::<1>(next));
        rests = held::<21>(all, shifted_down(highest, 1 + OWN - rows.extra));
        rest = 0;
    } else {
        own = held::<16>(all, _mm512_set1_epi64((next >> 1) as i64));
        rests = own;
        rest = if TERMS > 0 { extra_coefficients(next, rows.extra) } else { 0 };
    }
    // SAFETY: the caller vouches for all lanes.
    unsafe {
        let first = held::<17>(KEYS != MANY, _mm512_loadu_si512(line.cast()));
        let last = if WIDE {
            held::<18>(all, _mm512_loadu_si512(line.add(LINE_BYTES).cast()))
        } else {
            first
        };
        let mut eights = [
            held::<19>(all, _mm512_and_si512(first, own)),
            held::<20>(all, _mm512_and_si512(last, own)),
        ];
        for (number, field) in rows.fields[..TERMS].iter().enumerate() {
            let mut more = rests;
            if !by_vectors {
                more = held::<21>(all, _mm512_set1_epi64((rest & ((1 << field.width) - 1)) as i64));
                rest >>= field.width;
            } else if number + 1 < TERMS {
                // The last has all that are left.
                more = _mm512_and_si512(rests, _mm512_set1_epi64((1 << field.width) - 1));
                rests = shifted_down(rests, field.width);
            }
            for (i, eight) in eights[..1 + usize::from(WIDE)].iter_mut().enumerate() {
                // Lanes left over are in the last register; numbers count modulo 8. The coefficients are
                // shifted, which need not wait for the line.
                let lanes = _mm512_loadu_si512(field.lanes.as_ptr().add(8 * i).cast());
                let bits = _mm512_loadu_si512(field.bits.as_ptr().add(8 * i).cast());
                let lanes = held::<22>(all, lanes);
                let lanes = held::<22>(all, _mm512_permutexvar_epi64(lanes, last));
                let bits = held::<23>(all, _mm512_sllv_epi64(more, bits));
                let sum = _mm512_xor_si512(*eight, _mm512_and_si512(lanes, bits));
                *eight = held::<19>(all, sum);
            }
        }
        let high = if WIDE { parities::<20>(all, eights[1]) } else { 0 };
        let threshold = _mm512_movepi64_mask(first);
        Line { threshold, parities: parities::<19>(all, eights[0]) | high << 8 }
    }
}

/// The lanes shifted right.
#[inline]
#[target_feature(enable = "avx512f")]
fn shifted_down(lanes: __m512i, by: u32) -> __m512i {
    _mm512_srl_epi64(lanes, _mm_cvtsi32_si128(by as i32))
}

/// The parities of eight lanes, the first in the lowest bit.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vpopcntdq")]
fn parities<const REGISTER: u32>(held_there: bool, lanes: __m512i) -> u64 {
    let counts = held::<REGISTER>(held_there, _mm512_popcnt_epi64(lanes));
    let last_bits = held::<REGISTER>(held_there, _mm512_slli_epi64::<63>(counts));
    _mm512_movepi64_mask(last_bits).into()
}

/// The value, in that register if `there`: one from 16 to 23.
#[inline]
#[target_feature(enable = "avx512f")]
fn held<const REGISTER: u32>(there: bool, mut value: __m512i) -> __m512i {
    macro_rules! hold {
        ($register:tt) => {
            // SAFETY: it is no instruction.
            unsafe {
                asm!("", inout($register) value, options(pure, nomem, nostack, preserves_flags));
            }
        };
    }
    match REGISTER {
        _ if !there => {}
        16 => hold!("zmm16"),
        17 => hold!("zmm17"),
        18 => hold!("zmm18"),
        19 => hold!("zmm19"),
        20 => hold!("zmm20"),
        21 => hold!("zmm21"),
        22 => hold!("zmm22"),
        _ => hold!("zmm23"),
    }
    value
}

/// 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; TILE]) -> __m512i {
    // SAFETY: there are 64 bytes.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
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
    let rows = Rows::in_lines(lines);
    // A byte for each key.
    let (mut positions, mut thresholds) = ([0; TILE], [0; TILE]);
    let (mut missed, mut missed_high) = ([0; TILE], [0; TILE]);
    for (i, &hash) in hashes.iter().enumerate() {
        P::prefetch::<O>(lines, lookahead, i);
        // SAFETY: the caller vouches for the CPU and for the lines.
        let line = unsafe { one::<TERMS, WIDE, MANY>(O::line(lines, hash), rows, hash) };
        positions[i] = place(hash, lines.count()).1;
        thresholds[i] = line.threshold;
        missed[i] = line.parities as u8 ^ (hash as u8 | 1);
        if WIDE {
            missed_high[i] = (line.parities ^ hash).to_le_bytes()[1];
        }
    }
    let there = u64::MAX >> (TILE - hashes.len());
    // SAFETY: the caller vouches for the CPU.
    unsafe { answers(positions, thresholds, [missed, missed_high], rows.count, there) }
}

/// Hits and bumped keys from a byte for each: the position, the threshold, and in which of its rows
/// each parity differs from the fingerprint.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn answers(
    positions: [u8; TILE],
    thresholds: [u8; TILE],
    missed: [[u8; TILE]; 2],
    rows: u32,
    there: u64,
) -> Found {
    let rows = ((1u32 << rows) - 1).to_le_bytes();
    let bumped = _mm512_cmpge_epu8_mask(load(&positions), load(&thresholds)) & there;
    let low = _mm512_testn_epi8_mask(load(&missed[0]), _mm512_set1_epi8(rows[0] as i8));
    let high = _mm512_testn_epi8_mask(load(&missed[1]), _mm512_set1_epi8(rows[1] as i8));
    Found { hits: low & high & there & !bumped, bumped }
}

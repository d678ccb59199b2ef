//! Several filters of the `avx512` backend on a CPU whose vectors of 512 bits are as fast as shorter ones: a
//! line is one register. `runs` says which CPUs these are.
//!
//! For a few filters, and for a filter for each key, the test leaves its answer in the carry, as with shorter
//! vectors. For more, each line is turned so that the bits of a key are at one place of all lanes. There
//! four lines are put together bit by bit, and moved into a register that has the answers by lanes.

use super::super::alike::{Alike, Column};
use super::super::shared::read_shared_vector;
use super::SHIFTS_64;
use super::scalar::select;
use crate::line::{C1, C2, LANES};
use std::arch::asm;
use std::arch::x86_64::*;

/// Bit `i` of `SELECT[count][start]` says that lane `i` counts in a run of `count` lanes turned by `start`.
static SELECT: [[u8; 8]; 9] = select([0, 1, 2, 3, 4, 5, 6, 7]);

/// Which lanes count in a round of so many.
#[inline(always)]
fn counting(g: u64, count: u32) -> u8 {
    SELECT[count as usize][(g >> 61) as usize]
}

/// Where the bits of a round are, in the low 6 bits of each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn positions(g: u64) -> __m512i {
    static SHIFTS: [u64; LANES] = SHIFTS_64;
    // SAFETY: there are 64 bytes.
    let shifts = unsafe { _mm512_loadu_si512(SHIFTS.as_ptr().cast()) };
    _mm512_srlv_epi64(_mm512_set1_epi64(g as i64), shifts)
}

/// The bits of a round, one in each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn all_lanes(g: u64) -> __m512i {
    _mm512_rolv_epi64(_mm512_set1_epi64(1), positions(g))
}

/// A few filters, or one: `TWO` says that k is above 8.
pub(in crate::kernel) struct Wide<const TWO: bool>;

/// The bits of a key; and which lanes do not count, if k is up to 8.
pub(in crate::kernel) type Bits = (__m512i, u8);

impl<const TWO: bool> Alike for Wide<TWO> {
    type Mask = Bits;

    #[inline(always)]
    unsafe fn mask(hash: u64, k: u32) -> Bits {
        // SAFETY: the caller vouches for the CPU.
        unsafe { bits::<TWO>(hash, k) }
    }

    #[inline(always)]
    unsafe fn has(line: *const u8, mask: Bits) -> bool {
        // SAFETY: the caller's promise.
        unsafe { push::<TWO>(0, line, mask) != 0 }
    }

    #[inline(always)]
    unsafe fn push(hits: u64, line: *const u8, mask: Bits) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { push::<TWO>(hits, line, mask) }
    }

    #[inline(always)]
    unsafe fn push_one(hits: u64, column: Column, hash: u64, k: u32) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { push::<TWO>(hits, column.line::<Self>(hash), bits::<TWO>(hash, k)) }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn bits<const TWO: bool>(hash: u64, k: u32) -> Bits {
    let g = hash.wrapping_mul(C1);
    if !TWO {
        return (all_lanes(g), !counting(g, k));
    }
    let g2 = hash.wrapping_mul(C2);
    let second = _mm512_maskz_mov_epi64(counting(g2, k - 8), all_lanes(g2));
    (_mm512_or_si512(all_lanes(g), second), 0)
}

/// The answers before, moved up, and the one about a line in the lowest bit. The test leaves that in the carry,
/// from where one addition takes it.
///
/// # Safety
/// The CPU has the instructions; 64 bytes can be read at `line`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn push<const TWO: bool>(mut hits: u64, line: *const u8, (bits, others): Bits) -> u64 {
    // SAFETY: the caller's promise.
    let line: __m512i = unsafe { read_shared_vector(line) };
    let set = match TWO {
        true => _mm512_cmpeq_epi64_mask(_mm512_and_si512(line, bits), bits),
        false => _mm512_test_epi64_mask(line, bits),
    };
    // SAFETY: these instructions read and write registers only.
    unsafe {
        asm!(
            "kortestb {set}, {others}",
            "adc {hits}, {hits}",
            set = in(kreg) set,
            others = in(kreg) others,
            hits = inout(reg) hits,
            options(pure, nomem, nostack)
        );
    }
    hits
}

/// How a key's lines are turned, for each of four filters.
struct Turns([__m512i; 4]);

impl Turns {
    /// So that the bits of filter `i` are at place `60 + i` of all lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn of(g: u64) -> Turns {
        let positions = positions(g);
        // A turn is taken modulo 64.
        Turns([
            _mm512_add_epi64(positions, _mm512_set1_epi64(4)),
            _mm512_add_epi64(positions, _mm512_set1_epi64(3)),
            _mm512_add_epi64(positions, _mm512_set1_epi64(2)),
            _mm512_add_epi64(positions, _mm512_set1_epi64(1)),
        ])
    }
}

/// What turns lines for a key: in the second round, the lanes that do not count have all bits.
struct Key {
    first: Turns,
    second: Turns,
    /// All ones in the lanes that do not count in the last round.
    others: __m512i,
}

/// One key in 1 to 64 filters: the answers, first in the lowest bit.
///
/// # Safety
/// The CPU has the instructions; so many columns are there, and their lines can be read; k is up to 8, or
/// above it if `TWO`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vbmi2,bmi2")]
pub(in crate::kernel) unsafe fn answers<const TWO: bool>(
    columns: *const Column,
    count: usize,
    hash: u64,
    k: u32,
) -> u64 {
    let (g, g2) = (hash.wrapping_mul(C1), hash.wrapping_mul(C2));
    let last = if TWO { counting(g2, k - 8) } else { counting(g, k) };
    let others = _mm512_maskz_set1_epi64(!last, -1);
    let key = Key { first: Turns::of(g), second: Turns::of(if TWO { g2 } else { g }), others };
    let (mut set, mut left) = (_mm512_setzero_si512(), count);
    // SAFETY: the caller's promise; all columns are before the end.
    unsafe {
        // From the last on: so no register counts.
        while !left.is_multiple_of(4) {
            left -= 1;
            set = _mm512_shldi_epi64::<1>(set, turned::<TWO>(columns.add(left), hash, &key, 3));
        }
        while left > 0 {
            left -= 4;
            let four = columns.add(left);
            let low = one_of(
                0b0001,
                turned::<TWO>(four, hash, &key, 0),
                turned::<TWO>(four.add(1), hash, &key, 1),
            );
            let high = one_of(
                0b0100,
                turned::<TWO>(four.add(2), hash, &key, 2),
                turned::<TWO>(four.add(3), hash, &key, 3),
            );
            set = _mm512_shldi_epi64::<4>(set, one_of(0b0011, low, high));
        }
    }
    if !TWO {
        set = _mm512_or_si512(set, others);
    }
    _mm512_reduce_and_epi64(set) as u64
}

/// The line of a filter, turned as the `i`th of four.
///
/// # Safety
/// As for [`answers`].
#[inline]
#[target_feature(enable = "avx512f,bmi2")]
unsafe fn turned<const TWO: bool>(
    column: *const Column,
    hash: u64,
    key: &Key,
    i: usize,
) -> __m512i {
    // SAFETY: the caller's promise.
    let line: __m512i = unsafe { read_shared_vector((*column).line::<Wide<TWO>>(hash)) };
    let first = _mm512_rorv_epi64(line, key.first.0[i]);
    if !TWO {
        return first;
    }
    let second = _mm512_rorv_epi64(line, key.second.0[i]);
    // first AND (second OR others)
    _mm512_ternarylogic_epi64::<0xE0>(first, second, key.others)
}

/// Of the top four bits of each lane those of `a` that `choice` has, and those of `b` that it does not have.
#[inline]
#[target_feature(enable = "avx512f")]
fn one_of(choice: i64, a: __m512i, b: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0xCA>(_mm512_set1_epi64(choice << 60), a, b)
}

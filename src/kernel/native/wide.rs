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
use std::hint::black_box;
use std::mem::MaybeUninit;

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
    // A constant, so the compiler knows that all are below 64.
    const SHIFTS: &[u64; LANES] = &SHIFTS_64;
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

/// A filter for each of 1 to 64 keys, k up to 8: the answers, first in the lowest bit. A number above `last` stands
/// for `last`.
///
/// What the keys of eight pairs have in common is made for all at once, and goes through memory, from where one
/// instruction brings it to all lanes.
///
/// # Safety
/// The CPU has the instructions; so many members and hashes are there, and columns up to `last`, whose lines can be
/// read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi2,gfni")]
pub(in crate::kernel) unsafe fn pair_answers(
    (columns, last): (*const Column, usize),
    members: *const u32,
    hashes: *const u64,
    count: usize,
    k: u32,
) -> u64 {
    let shifts = _mm512_set_epi64(55, 49, 43, 37, 31, 25, 19, 13);
    let table = _mm_set1_epi64x(i64::from_le_bytes(SELECT[k as usize]));
    let mut staged = [const { MaybeUninit::<[u64; 8]>::uninit() }; 8];
    // The lanes that count, a bit for each pair.
    let mut counting = _mm512_setzero_si512();
    // SAFETY: the caller's promise; what is staged is read where it was written.
    unsafe {
        for i in (0..count.div_ceil(8)).rev() {
            let there = _bzhi_u32(0xFF, (count - 8 * i).min(8) as u32) as u8;
            let hash = _mm512_maskz_loadu_epi64(there, hashes.add(8 * i).cast());
            let g = _mm512_mullo_epi64(hash, _mm512_set1_epi64(C1 as i64));
            // Inverted: 63 less a position turns its bit to the top.
            let inverted = _mm512_xor_si512(g, _mm512_set1_epi64(-1));
            _mm512_storeu_si512(staged[i].as_mut_ptr().cast(), inverted);
            counting = _mm512_or_si512(_mm512_slli_epi64::<8>(counting), by_lane(g, table));
        }
        let staged = black_box(&staged).as_ptr().cast::<u64>();
        let (from, pairs) = ((columns, last), (members, hashes, staged));
        let (mut set, mut i) = (_mm512_setzero_si512(), 0);
        while i + 4 <= count {
            // Put together apart, so that one pair does not wait for all before it.
            let mut four = turned_pair(from, pairs, i + 3, shifts);
            four = _mm512_shldi_epi64::<1>(four, four);
            four = _mm512_shldi_epi64::<1>(four, turned_pair(from, pairs, i + 2, shifts));
            four = _mm512_shldi_epi64::<1>(four, turned_pair(from, pairs, i + 1, shifts));
            four = _mm512_shldi_epi64::<1>(four, turned_pair(from, pairs, i, shifts));
            set = _mm512_shrdi_epi64::<4>(set, four);
            i += 4;
        }
        while i < count {
            set = _mm512_shrdi_epi64::<1>(
                set,
                _mm512_srli_epi64::<63>(turned_pair(from, pairs, i, shifts)),
            );
            i += 1;
        }
        set = _mm512_srl_epi64(set, _mm_cvtsi64_si128(64 - count as i64));
        let missing = _mm512_andnot_si512(set, counting);
        !_mm512_reduce_or_epi64(missing) as u64 & (u64::MAX >> (64 - count))
    }
}

/// Which lanes count for eight keys: a bit for each key in the lowest byte of each lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn by_lane(g: __m512i, table: __m128i) -> __m512i {
    // The top byte of each, the last one first: so the product below has the first key in the lowest bit.
    let top = _mm512_castsi128_si512(_mm_setr_epi8(
        63, 55, 47, 39, 31, 23, 15, 7, 0, 0, 0, 0, 0, 0, 0, 0,
    ));
    let top = _mm512_castsi512_si128(_mm512_permutexvar_epi8(top, g));
    let starts = _mm_and_si128(_mm_srli_epi16::<5>(top), _mm_set1_epi8(7));
    let by_key = _mm_shuffle_epi8(table, starts);
    // Byte i has bit i only: the product with it has in byte i those bits i of all keys.
    let turn = _mm_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    _mm512_cvtepu8_epi64(_mm_gf2p8affine_epi64_epi8::<0>(turn, by_key))
}

/// The line of pair `i`, turned so that the bits of its key are at the top of all lanes.
///
/// # Safety
/// As for [`pair_answers`]; `staged` has the inverted g of the pair.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi,bmi2")]
unsafe fn turned_pair(
    (columns, last): (*const Column, usize),
    (members, hashes, staged): (*const u32, *const u64, *const u64),
    i: usize,
    shifts: __m512i,
) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        let column = *columns.add((*members.add(i) as usize).min(last));
        let line: __m512i = read_shared_vector(column.line::<Wide<false>>(*hashes.add(i)));
        let g = _mm512_set1_epi64(*staged.add(i) as i64);
        _mm512_rolv_epi64(line, _mm512_multishift_epi64_epi8(shifts, g))
    }
}

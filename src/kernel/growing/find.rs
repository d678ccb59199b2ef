//! Probes of one line.
//!
//! The header is two words. The zeros before a bucket are counted in one of them, the remainders of
//! the bucket compared in one word of the line: no loop, and no branch but for buckets with more
//! remainders than a word holds.

use super::select::Select;
use super::width::{Width, remainder, width, window};
use crate::layouts::growing::{Found, HEADER};
use crate::line::Line;
use std::hint::select_unpredictable;

/// Where the values of a bucket are in a line.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// The number of the first of them. If there is none, any number of a value, or 0.
    pub(super) first: u64,
    /// How many there are.
    pub(super) len: u64,
    /// The bit of the line at which their ones begin; behind the header if all values are of lower
    /// buckets.
    pub(super) start: u64,
    /// Whether no value is in a higher bucket.
    pub(super) is_last: bool,
}

/// The number of values of a line, and its base.
#[inline(always)]
pub(super) fn stated(line: &Line, width: &Width) -> (u64, i64) {
    ((line[0] & 63).min(width.room), (line[0] as i64) << 48 >> 55)
}

impl Run {
    /// The values of a bucket.
    ///
    /// # Safety
    /// As for [`Select::one`].
    #[inline(always)]
    pub(super) unsafe fn of<S: Select>(line: &Line, bucket: i64, width: &Width) -> Run {
        // The zeros of the header, and one before it: behind zero i begin the ones of bucket i.
        const HEAD: u64 = (1 << HEADER) - 1;
        let zeros = [(line[0] | HEAD) ^ !(1 << (HEADER - 1)), !line[1]];
        let low_zeros = u64::from(zeros[0].count_ones());
        let count = low_zeros + u64::from(zeros[1].count_ones());
        let (stated, base) = stated(line, width);
        // Damaged bytes may state more than there are ones.
        let values = stated.min(113 - count);
        let from_base = bucket.wrapping_sub(base);
        // Higher buckets are all behind the last bit.
        let zero = (from_base as u64).min(count);
        // In which word it is cannot be foreseen.
        let in_low = zero < low_zeros;
        let word = select_unpredictable(in_low, zeros[0], zeros[1]);
        let before = select_unpredictable(in_low, zero, zero.wrapping_sub(low_zeros));
        let skipped = select_unpredictable(in_low, 1, 65);
        // SAFETY: the caller vouches for the CPU. There are at most 64 zeros in a word.
        let at = unsafe { S::one(word, before) };
        let start = at + skipped;
        let rank = start.wrapping_sub(u64::from(HEADER) + zero);
        // Behind the values come the zeros of the line, then remainders, whose ones do not count.
        let held = rank < values;
        let first = select_unpredictable(held, rank, 0);
        let left = select_unpredictable(held, values.wrapping_sub(rank), 0);
        let more = select_unpredictable(in_low, line[0], line[1]);
        let next = select_unpredictable(in_low, line[1], 0);
        let ones = more >> (at & 63) >> 1 | next << (!at & 63);
        let ones = u64::from((!ones).trailing_zeros());
        let is_before = from_base < 0;
        let is_last = rank.wrapping_add(ones) >= values;
        Run { first, len: ones.min(left), start, is_last: is_last & (!is_before | (values == 0)) }
    }
}

/// What a line says of a value; if `MIXED`, of the prefixes of the value of a full length.
///
/// # Panics
/// If `r` is above 54.
///
/// # Safety
/// As for [`Select::one`].
#[inline(always)]
pub(super) unsafe fn find<S: Select, const MIXED: bool>(line: &Line, value: i64, r: u32) -> Found {
    let width = width(r);
    // SAFETY: the caller vouches for the CPU.
    let run = unsafe { Run::of::<S>(line, value >> r, width) };
    let low = value as u64 & width.mask;
    let is_there = if run.len <= width.fields {
        // What is behind the run is made to differ.
        let behind = u64::MAX >> (run.len * u64::from(r));
        let window = window(line, run.first, r);
        let mut differ = window ^ low.wrapping_mul(width.lows);
        if MIXED {
            differ &= !ends(window, width);
        }
        differ |= behind;
        differ.wrapping_sub(width.lows) & !differ & width.highs != 0
    } else {
        any::<MIXED>(line, low, run.first, run.len, r)
    };
    if is_there {
        Found::Present
    } else if run.is_last & (line[0] >> 6 & 1 == 1) {
        Found::Onward
    } else {
        Found::Absent
    }
}

/// The bits that do not count in each field: those up to the lowest 1, or all if there is none.
#[inline(always)]
fn ends(window: u64, width: &Width) -> u64 {
    // One less, field by field.
    let less = (window | width.highs).wrapping_sub(width.lows) ^ (!window & width.highs);
    window ^ less
}

/// What the values of a bucket say of a remainder.
#[derive(Clone, Copy)]
pub(super) struct Same {
    /// Whether it, or a prefix of it, is there.
    pub(super) any: bool,
    /// How many are equal.
    pub(super) equal: u64,
    /// How many are equal or lower.
    pub(super) up_to: u64,
}

/// Compares a remainder with those of a bucket.
#[inline(always)]
pub(super) fn same<const MIXED: bool>(
    line: &Line,
    low: u64,
    run: Run,
    r: u32,
    width: &Width,
) -> Same {
    if run.len > width.fields {
        return each::<MIXED>(line, low, run, r);
    }
    let (window, all) = (window(line, run.first, r), low.wrapping_mul(width.lows));
    let highs = width.highs;
    // The bits of each field but the highest.
    let rests = highs.wrapping_sub(width.lows);
    let own = highs & !(u64::MAX >> (run.len * u64::from(r)));
    let differ = window ^ all;
    let equal = zeros(differ, rests) & own;
    let shorter = if MIXED { ends(window, width) } else { 0 };
    let any = zeros(differ & !shorter, rests) & own;
    // Where a field of `all` is lower than that of the window, field by field without a borrow, not even from the
    // bits below all fields.
    let least = (all | highs).wrapping_sub(window & rests) ^ (differ ^ highs) & highs;
    let lower = !all & window | !differ & least;
    Same {
        any: any != 0,
        equal: equal.count_ones().into(),
        up_to: (!lower & own).count_ones().into(),
    }
}

/// The highest bit of each field that is zero, and other bits. `rests` are the other bits of each field.
#[inline(always)]
fn zeros(fields: u64, rests: u64) -> u64 {
    !((fields & rests).wrapping_add(rests) | fields)
}

/// The same, one by one.
#[cold]
#[inline(never)]
fn each<const MIXED: bool>(line: &Line, low: u64, run: Run, r: u32) -> Same {
    let mut same = Same { any: false, equal: 0, up_to: 0 };
    for number in run.first..run.first + run.len {
        let remainder = remainder(line, number, r);
        let differ = remainder ^ low;
        let shorter = if MIXED { remainder ^ remainder.wrapping_sub(1) } else { 0 };
        same.any |= differ & !shorter == 0;
        same.equal += u64::from(differ == 0);
        same.up_to += u64::from(remainder <= low);
    }
    same
}

/// Whether any of some values has a remainder, or a prefix of it.
#[cold]
#[inline(never)]
fn any<const MIXED: bool>(line: &Line, low: u64, first: u64, len: u64, r: u32) -> bool {
    (first..first + len).any(|number| {
        let remainder = remainder(line, number, r);
        let differ = remainder ^ low;
        if MIXED { differ & !(remainder ^ remainder.wrapping_sub(1)) == 0 } else { differ == 0 }
    })
}

/// How often a line has a value.
///
/// # Panics
/// If `r` is above 54.
///
/// # Safety
/// As for [`Select::one`].
#[inline(always)]
pub(super) unsafe fn count<S: Select>(line: &Line, value: i64, r: u32) -> u32 {
    let width = width(r);
    // SAFETY: the caller vouches for the CPU.
    let run = unsafe { Run::of::<S>(line, value >> r, width) };
    let low = value as u64 & width.mask;
    let mut count = 0;
    for number in run.first..run.first + run.len {
        count += u32::from(remainder(line, number, r) == low);
    }
    count
}

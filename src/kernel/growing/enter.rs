//! Inserts into a chain of lines: what a line has no room for goes on in the next one. No line is taken apart
//! unless many values go on. What this does not do, the caller does the long way.

use super::crowded::{self, undo};
use super::edit::{GOES_ON, Gap, Header, Move, Said, end_of};
use super::store::Lines;
use super::width::{MOST_OUT, Width, remainder, width};
use crate::kernel::prefetch::{INTO_L1, prefetch};
use crate::layouts::growing::{BASES, HEADER, HEADER_BITS};
use crate::line::{LINE_BITS, Line};
use std::mem::MaybeUninit;

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// It is inserted. `was_there`: before, too, or a prefix of it.
    Done { was_there: bool },
    /// Nothing is changed: a line has many copies of it.
    Often,
    /// Nothing is changed: it takes more than this.
    Not,
}

/// A line with more copies of a value gets no further one.
pub(crate) const MOST_COPIES: u32 = 8;
/// So many lines change at most, less one, unless it goes far.
pub(super) const NEAR: usize = 64;
/// And so many more then. Where chance crowds keys, it takes a hundred lines and more to find room.
pub(super) const FAR: usize = crowded::MOST;
/// From so many on, lines are prefetched so many more ahead.
const LONG: usize = 6;

/// Values that a line has no room for, the highest first.
#[derive(Clone, Copy)]
pub(super) struct Out {
    values: [i64; MOST_OUT],
    count: usize,
}

impl Out {
    /// None. Not by `Default`, which is a call where the library is not compiled as one.
    #[inline(always)]
    const fn none() -> Out {
        Out { values: [0; MOST_OUT], count: 0 }
    }

    /// False if there is no room.
    #[inline(always)]
    fn push(&mut self, value: i64) -> bool {
        let Some(place) = self.values.get_mut(self.count) else { return false };
        *place = value;
        self.count += 1;
        true
    }
}

/// Where a value comes in a line.
#[derive(Clone, Copy)]
struct Spot {
    value: i64,
    /// Its bucket.
    bucket: i64,
    /// The bit of the header for its 1.
    at: u64,
    /// By how many bits those from there on move.
    by: u64,
    /// The values before it.
    number: u64,
}

impl Spot {
    /// Before all values.
    #[inline(always)]
    fn first(header: &Header, value: i64, r: u32) -> Spot {
        let bucket = value >> r;
        // Values have fewer than 63 bits.
        let above = bucket.wrapping_sub(header.base);
        let (at, by) = (above.max(0) as u64, above.wrapping_neg().max(0) as u64 + 1);
        Spot { value, bucket, at, by, number: 0 }
    }

    /// Behind all values that are not higher, by what the line says.
    #[inline(always)]
    fn behind(header: &Header, value: i64, r: u32, said: Said) -> Spot {
        let mut spot = Spot::first(header, value, r);
        spot.at += said.below;
        spot.number = said.below + said.same.up_to;
        spot
    }
}

/// Inserts a value into a line. The last values go out until there is room. False if too many had to: the
/// line is then any.
///
/// # Safety
/// As for [`super::select::Select::one`].
#[inline(always)]
unsafe fn put<S: Move>(
    line: &mut Line,
    mut header: Header,
    mut spot: Spot,
    out: &mut Out,
    r: u32,
    width: &Width,
) -> bool {
    let goes_on = line[0] & GOES_ON != 0;
    let had = out.count;
    if spot.bucket < BASES[0] {
        return false;
    }
    loop {
        if header.values == 0 {
            (header.base, header.bits) = (spot.bucket.min(BASES[1]), 0);
            spot = Spot::first(&header, spot.value, r);
        }
        let len = header.len();
        let new_len = if len > spot.at { len + spot.by } else { spot.at + 1 };
        let bits = u64::from(HEADER) + new_len + (header.values + 1) * u64::from(r);
        let fits = new_len <= HEADER_BITS.into() && bits <= LINE_BITS;
        if fits && header.values < width.room {
            break;
        }
        if spot.number == header.values {
            // It is the last itself. Had another gone out, it would fit: it takes no more room.
            line[0] |= GOES_ON;
            return out.count == had && header.values > 0 && out.push(spot.value);
        }
        let last = header.values - 1;
        let value = header.last() << r | remainder(line, last, r) as i64;
        if !out.push(value) {
            return false;
        }
        header.bits &= !(1 << (len - 1));
        header.values = last;
    }
    let below = header.bits & ((1 << spot.at) - 1);
    header.bits = below | (header.bits - below) << spot.by | 1 << spot.at;
    header.base = header.base.min(spot.bucket);
    let end = end_of(header.values, r);
    let gap = Gap { end, bit: end_of(spot.number, r), low: spot.value as u64 & width.mask };
    header.values += 1;
    // SAFETY: the caller's promise.
    unsafe { S::spread(line, gap, r, header.words(goes_on || out.count > had)) };
    true
}

/// As [`put`], of values from the line before that come before all of the line, the highest first. They come at once:
/// where keys crowd, several go on through hundreds of lines.
///
/// # Safety
/// As for [`super::select::Select::one`].
#[inline(always)]
unsafe fn put_first<S: Move>(
    line: &mut Line,
    values: &[i64],
    out: &mut Out,
    (r, step): (u32, i64),
    width: &Width,
) -> bool {
    let (Some(highest), Some(lowest)) = (values.first(), values.last()) else { return true };
    let (highest, lowest) = ((highest - step) >> r, (lowest - step) >> r);
    let mut header = Header::of(line, r);
    let (had, count) = (out.count, values.len() as u64);
    let mut len = header.len();
    // How far the first bucket is above the lowest.
    let above = header.base.wrapping_sub(lowest) as u64;
    // Only they would be left, or are too far behind their home, or the base is the highest there is.
    let mut is_rare = header.values == 0 || lowest < BASES[0] || highest > header.base;
    while !is_rare {
        let new_len = len + above + count;
        let new_values = header.values + count;
        let bits = u64::from(HEADER) + new_len + new_values * u64::from(r);
        if new_len <= HEADER_BITS.into() && bits <= LINE_BITS && new_values <= width.room {
            break;
        }
        let last = header.values - 1;
        if !out.push(header.last() << r | remainder(line, last, r) as i64) {
            return false;
        }
        header.bits &= !(1 << (len - 1));
        header.values = last;
        len = header.len();
        is_rare = last == 0;
    }
    if is_rare {
        out.count = had;
        // SAFETY: the caller's promise.
        return unsafe { put_rarely::<S>(line, values, out, r, step) };
    }
    let goes_on = (line[0] & GOES_ON != 0) | (out.count > had);
    let (mut ones, mut low) = (0_u128, 0);
    for (number, value) in (0..).zip(values.iter().rev()) {
        let value = value - step;
        ones |= 1 << ((value >> r) - lowest + number);
        low = low << r | value as u64 & width.mask;
    }
    header.bits = header.bits << above << count | ones;
    header.base = lowest;
    let end = end_of(header.values, r);
    header.values += count;
    // SAFETY: the caller's promise.
    unsafe { S::spread_first(line, end, low, count as u32 * r, header.words(goes_on)) };
    true
}

/// The same one by one.
///
/// # Safety
/// As for [`super::select::Select::one`].
#[cold]
#[inline(never)]
unsafe fn put_rarely<S: Move>(
    line: &mut Line,
    values: &[i64],
    out: &mut Out,
    r: u32,
    step: i64,
) -> bool {
    let mut is_in = true;
    for value in values {
        let header = Header::of(line, r);
        let spot = Spot::first(&header, value - step, r);
        // SAFETY: the caller's promise.
        is_in = is_in && unsafe { put::<S>(line, header, spot, out, r, width(r)) };
    }
    is_in
}

/// Inserts a value into the chain of lines that begins with its home, in which a value is lower by
/// `step` from one line to the next.
///
/// # Panics
/// If `r` is above 54.
///
/// # Safety
/// As for [`super::select::Select::one`].
#[inline(always)]
pub(super) unsafe fn enter<S: Move, const MIXED: bool>(
    lines: &mut Lines,
    home: usize,
    mut value: i64,
    r: u32,
    step: i64,
    (carry, crowded): (Carry, Crowded),
) -> Entered {
    let width = width(r);
    let (mut at, mut was_there) = (home, false);
    let (line, header, spot) = loop {
        let Some(line) = lines.get_mut(at) else {
            match lines.reach(at) {
                true => continue,
                false => return Entered::Not,
            }
        };
        // Two of five inserts go on there.
        prefetch_behind(line, 1);
        prefetch_behind(line, 2);
        prefetch_behind(line, 3);
        let header = Header::of(line, r);
        // SAFETY: the caller's promise.
        let said = unsafe { S::said::<MIXED>(line, &header, value, r, width) };
        let spot = Spot::behind(&header, value, r, said);
        was_there |= said.same.any;
        if said.same.equal >= u64::from(MOST_COPIES) {
            return Entered::Often;
        }
        let goes_on = line[0] & GOES_ON != 0;
        if spot.number < header.values || !goes_on {
            // A shorter prefix may be higher than the value, and so in the next line.
            if MIXED && goes_on && said.is_last && !was_there {
                return Entered::Not;
            }
            break (line, header, spot);
        }
        // Its place is in the next line, unless that one's values come back to where they belong.
        let taken = u64::from(HEADER) + header.len() + header.values * u64::from(r);
        let free = LINE_BITS.saturating_sub(taken) > 3 * u64::from(r + 2);
        // A header that is full has room for none of them.
        if free && header.len() + 6 <= HEADER_BITS.into() && header.values + 2 < width.room {
            return Entered::Not;
        }
        (at, value) = (at + 1, value - step);
    };
    let (before, mut out) = (*line, Out::none());
    // SAFETY: the caller's promise.
    let is_in = unsafe { put::<S>(line, header, spot, &mut out, r, width) };
    // SAFETY: as above.
    if is_in && (out.count == 0 || unsafe { carry(lines, at, out, r, step) }) {
        return Entered::Done { was_there };
    }
    if let Some(line) = lines.get_mut(at) {
        *line = before;
    }
    if !is_in {
        let mut out = Out::none();
        out.push(value + step);
        // SAFETY: as above.
        if unsafe { crowded(lines, at, out, r, step, FAR) } {
            return Entered::Done { was_there };
        }
    }
    Entered::Not
}

/// Prefetches a line behind another one, which is as far behind in memory as a rule.
#[inline(always)]
fn prefetch_behind(line: &Line, count: usize) {
    prefetch::<INTO_L1>(std::ptr::from_ref(line).wrapping_add(count).cast());
}

/// Of a line, values that it has no room for, the width, and by how much values are lower in the next: puts them
/// into the lines behind it. False if that is too much: these are as before.
pub(super) type Carry = unsafe fn(&mut Lines, usize, Out, u32, i64) -> bool;

/// As [`Carry`], over `MOST - 1` lines. `further` goes on behind the last of them, `crowded` from a line on where more
/// values go on than there is room for.
///
/// # Safety
/// As for [`super::select::Select::one`].
#[inline(always)]
pub(super) unsafe fn carry<S: Move, const MOST: usize>(
    lines: &mut Lines,
    at: usize,
    mut out: Out,
    (r, step): (u32, i64),
    further: Carry,
    crowded: Crowded,
) -> bool {
    let width = width(r);
    let mut before = [const { MaybeUninit::<Line>::uninit() }; MOST];
    let mut changed = 1;
    // They change places: a copy would wait until all values are in memory.
    let mut next = Out::none();
    let (mut into, mut out) = (&mut out, &mut next);
    let is_in = loop {
        if into.count == 0 {
            break true;
        }
        let Some(before) = before.get_mut(changed) else {
            // SAFETY: the caller's promise.
            break unsafe { further(lines, at + changed - 1, *into, r, step) };
        };
        let Some(line) = lines.get_mut(at + changed) else {
            match lines.reach(at + changed) {
                true => continue,
                false => break false,
            }
        };
        prefetch_behind(line, 2);
        if changed >= LONG {
            prefetch_behind(line, 2 + LONG);
        }
        let was = before.write(*line);
        out.count = 0;
        let mut is_in = true;
        let values = &into.values[..into.count.min(MOST_OUT)];
        for values in values.chunks(width.together) {
            // SAFETY: the caller's promise.
            is_in = is_in && unsafe { put_first::<S>(line, values, out, (r, step), width) };
        }
        if !is_in {
            *line = *was;
            let left = if MOST == FAR { FAR - changed } else { FAR };
            // SAFETY: the caller's promise.
            break unsafe { crowded(lines, at + changed, *into, r, step, left) };
        }
        changed += 1;
        std::mem::swap(&mut into, &mut out);
    };
    if !is_in {
        // SAFETY: those of all changed lines are written.
        unsafe { undo(lines, at + 1, &before[1..changed]) };
    }
    is_in
}

/// Of a line and values from the line before it, the width, by how much values are lower in the line, and how many
/// lines may change. False if that does not do: the lines are as before.
pub(super) type Crowded = unsafe fn(&mut Lines, usize, Out, u32, i64, usize) -> bool;

/// As [`Crowded`].
///
/// # Safety
/// As for [`crowded::insert`].
#[inline(always)]
pub(super) unsafe fn crowded(
    lines: &mut Lines,
    at: usize,
    out: Out,
    (r, step): (u32, i64),
    most: usize,
    calls: (crowded::Open, crowded::Close),
) -> bool {
    let Out { mut values, count } = out;
    let values = &mut values[..count.min(MOST_OUT)];
    values.reverse();
    values.iter_mut().for_each(|value| *value -= step);
    // SAFETY: the caller's promise.
    unsafe { crowded::insert(lines, at, values, (r, step), most, calls) }
}

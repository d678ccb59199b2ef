//! Inserts into one line, and removals: the header moves by a bit, the remainders by one.

use super::find::{Run, Same, same, stated};
use super::select::Select;
use super::width::{Width, remainder, width};
use crate::layouts::growing::{BASES, HEADER, HEADER_BITS};
use crate::line::{LINE_BITS, Line};

/// The flag of a line that goes on.
pub(super) const GOES_ON: u64 = 1 << 6;

/// The header of a line, taken out of it.
pub(super) struct Header {
    /// The number of values.
    pub(super) values: u64,
    /// The bucket of the first bit.
    pub(super) base: i64,
    /// The bits. The last is the 1 of the last value.
    pub(super) bits: u128,
}

impl Header {
    #[inline(always)]
    pub(super) fn of(line: &Line, r: u32) -> Header {
        let (stated, base) = stated(line, width(r));
        // Remainders may begin within the bits of the header.
        let free = LINE_BITS - u64::from(HEADER) - stated * u64::from(r);
        let all = (u128::from(line[0]) | u128::from(line[1]) << 64) >> HEADER;
        let bits = all & ((1 << free.min(HEADER_BITS.into())) - 1);
        Header { values: stated.min(bits.count_ones().into()), base, bits }
    }

    /// How many bits it has.
    #[inline(always)]
    pub(super) fn len(&self) -> u64 {
        u64::from(u128::BITS - self.bits.leading_zeros())
    }

    /// The bucket of the last value.
    #[inline(always)]
    pub(super) fn last(&self) -> i64 {
        self.base + (self.len() - self.values) as i64
    }

    /// What it is in the first words of a line, of which the rest is the bits of remainders alone.
    #[inline(always)]
    pub(super) fn words(&self, goes_on: bool) -> [u64; 2] {
        let flag = if goes_on { GOES_ON } else { 0 };
        if self.values == 0 {
            return [flag, 0];
        }
        let stated = self.values | flag | (self.base as u64 & 511) << 7;
        [stated | (self.bits << HEADER) as u64, (self.bits >> (64 - HEADER)) as u64]
    }
}

/// The bits of a word of a line that are from this bit of the line on.
#[inline(always)]
pub(super) fn from(bit: u64, word: usize) -> u64 {
    let below = bit.saturating_sub(64 * word as u64);
    if below < 64 { u64::MAX << below } else { 0 }
}

/// The bits of a line from one on and below another. No closure: it would be compiled without the
/// instructions of the backend.
#[inline(always)]
fn between(line: &Line, first: u64, end: u64) -> Line {
    let mut bits = *line;
    let mut i = 0;
    while i < 8 {
        bits[i] &= from(first, i) & !from(end, i);
        i += 1;
    }
    bits
}

/// What a line says of a value that comes into it.
#[derive(Clone, Copy)]
pub(super) struct Said {
    /// Of the values in its bucket.
    pub(super) same: Same,
    /// The values in lower buckets.
    pub(super) below: u64,
    /// No value is in a higher one.
    pub(super) is_last: bool,
}

/// What a line says of a value, by the words of its header.
///
/// # Safety
/// As for [`Select::one`].
#[inline(always)]
pub(super) unsafe fn said<S: Select, const MIXED: bool>(
    line: &Line,
    header: &Header,
    value: i64,
    r: u32,
    width: &Width,
) -> Said {
    let bucket = value >> r;
    // SAFETY: the caller's promise.
    let run = unsafe { Run::of::<S>(line, bucket, width) };
    let same = same::<MIXED>(line, value as u64 & width.mask, run, r, width);
    let below = if bucket > header.last() { header.values } else { run.first };
    let below = if bucket < header.base { 0 } else { below };
    Said { same, below, is_last: run.is_last }
}

/// The bits of an inserted remainder: those from `bit` down to `end` move lower by `r`, and `low` takes
/// their place.
#[derive(Clone, Copy)]
pub(super) struct Gap {
    pub(super) end: u64,
    pub(super) bit: u64,
    pub(super) low: u64,
}

/// How a backend moves the remainders of a line. Both write the first words of it, too, which have no
/// bits where remainders are.
pub(super) trait Move: Select + Sized {
    /// What a line says of a value that comes into it.
    ///
    /// # Safety
    /// As for [`Select::one`].
    #[inline(always)]
    unsafe fn said<const MIXED: bool>(
        line: &Line,
        header: &Header,
        value: i64,
        r: u32,
        width: &Width,
    ) -> Said {
        // SAFETY: the caller's promise.
        unsafe { said::<Self, MIXED>(line, header, value, r, width) }
    }

    /// Inserts a remainder.
    ///
    /// # Safety
    /// As for [`Select::one`].
    #[inline(always)]
    unsafe fn spread(line: &mut Line, gap: Gap, r: u32, words: [u64; 2]) {
        let Gap { end, bit, low } = gap;
        let moved = between(line, end, bit);
        for i in 0..8 {
            let above = if i < 7 { moved[i + 1] } else { 0 };
            line[i] = line[i] & from(bit, i) | moved[i] >> r | above << 1 << (63 - r);
        }
        put_bits(line, bit as i64 - i64::from(r), low);
        line[0] |= words[0];
        line[1] |= words[1];
    }

    /// Inserts remainders of `r` bits together, less than 64, before all others: these, down to `end`, move lower.
    ///
    /// # Safety
    /// As for [`Select::one`].
    #[inline(always)]
    unsafe fn spread_first(line: &mut Line, end: u64, low: u64, r: u32, words: [u64; 2]) {
        // SAFETY: the caller's promise.
        unsafe { Self::spread(line, Gap { end, bit: LINE_BITS, low }, r, words) };
    }

    /// Takes out the remainder that ends at `bit`: those below it, down to `end`, move higher.
    ///
    /// # Safety
    /// As for [`Select::one`].
    #[inline(always)]
    unsafe fn join(line: &mut Line, end: u64, bit: u64, r: u32, words: [u64; 2]) {
        let moved = between(line, end, bit.wrapping_sub(u64::from(r)));
        for i in 0..8 {
            let below = if i > 0 { moved[i - 1] } else { 0 };
            line[i] = line[i] & from(bit, i) | moved[i] << r | below >> 1 >> (63 - r);
        }
        line[0] |= words[0];
        line[1] |= words[1];
    }
}

impl Move for super::select::Bytes {}

/// Where the remainder of value `number` ends.
#[inline(always)]
pub(super) fn end_of(number: u64, r: u32) -> u64 {
    LINE_BITS - number * u64::from(r)
}

/// Sets bits from bit `at` of a line on. Bits that would be before the line are zero.
#[inline(always)]
pub(super) fn put_bits(line: &mut Line, at: i64, bits: u64) {
    let (at, bits) = if at < 0 { (0, bits >> (-at).min(63)) } else { (at as u64, bits) };
    if let Some(word) = line.get_mut((at / 64) as usize) {
        *word |= bits << (at % 64);
    }
    // What is in the next word, if anything.
    if let Some(word) = line.get_mut((at / 64) as usize + 1) {
        *word |= bits >> 1 >> (63 - at % 64);
    }
}

/// Inserts a value. False if there is no room: the line is unchanged.
///
/// # Panics
/// If `r` is above 54.
///
/// # Safety
/// As for [`Select::one`].
#[inline(always)]
pub(super) unsafe fn insert<S: Move>(line: &mut Line, value: i64, r: u32) -> bool {
    let width = width(r);
    let (bucket, low) = (value >> r, value as u64 & width.mask);
    let mut header = Header::of(line, r);
    if header.values == 0 {
        header = Header { values: 0, base: bucket.min(BASES[1]), bits: 0 };
    }
    let (values, len) = (header.values, header.len());
    // Zeros that come before the first bit or behind the last, with the new 1.
    let before = header.base.saturating_sub(bucket).max(0) as u64;
    let behind = bucket.saturating_sub(header.last()).max(0) as u64;
    let new_len = len.saturating_add(before).saturating_add(behind).saturating_add(1);
    if values >= width.room
        || new_len > HEADER_BITS.into()
        || u64::from(HEADER) + new_len + (values + 1) * u64::from(r) > LINE_BITS
        || bucket < BASES[0]
    {
        return false;
    }
    let number;
    if before > 0 {
        header.base = bucket;
        header.bits = header.bits << before << 1 | 1;
        number = 0;
    } else if behind > 0 || values == 0 {
        header.bits |= 1 << (new_len - 1);
        number = values;
    } else {
        // SAFETY: the caller vouches for the CPU.
        let run = unsafe { Run::of::<S>(line, bucket, width) };
        let (mut at, end) = (run.first, run.first + run.len);
        while at < end && remainder(line, at, r) <= low {
            at += 1;
        }
        number = at;
        let below = header.bits & ((1 << (run.start - u64::from(HEADER))) - 1);
        header.bits = ((header.bits << 1) - below) | 1 << (run.start - u64::from(HEADER));
    }
    header.values += 1;
    let goes_on = line[0] & GOES_ON != 0;
    let gap = Gap { end: end_of(values, r), bit: end_of(number, r), low };
    // SAFETY: the caller vouches for the CPU.
    unsafe { S::spread(line, gap, r, header.words(goes_on)) };
    true
}

/// Removes a value, once. False if the line does not have it.
///
/// # Panics
/// If `r` is above 54.
///
/// # Safety
/// As for [`Select::one`].
#[inline(always)]
pub(super) unsafe fn remove<S: Move>(line: &mut Line, value: i64, r: u32) -> bool {
    let (mut header, bucket) = (Header::of(line, r), value >> r);
    // SAFETY: the caller vouches for the CPU.
    let Said { same, below, .. } = unsafe { S::said::<false>(line, &header, value, r, width(r)) };
    if same.equal == 0 {
        return false;
    }
    let number = below + same.up_to - same.equal;
    // Before the ones of its bucket are those of the values below, and a zero for each bucket below.
    let below = (1 << (below + (bucket - header.base) as u64)) - 1;
    header.bits = header.bits >> 1 & !below | header.bits & below;
    let goes_on = line[0] & GOES_ON != 0;
    // Zeros that come first, and those that base can stand for.
    let zeros = i64::from(header.bits.trailing_zeros()).min(BASES[1] - header.base);
    if zeros > 0 {
        header.bits = header.bits.checked_shr(zeros as u32).unwrap_or(0);
        header.base += zeros;
    }
    let end = end_of(header.values, r);
    // A damaged line may state none.
    header.values = header.values.wrapping_sub(1);
    // SAFETY: the caller vouches for the CPU.
    unsafe { S::join(line, end, end_of(number, r), r, header.words(goes_on)) };
    true
}

/// Takes out the last value. Nothing moves.
///
/// # Panics
/// If `r` is above 54.
#[inline(always)]
pub(super) fn take_last(line: &mut Line, r: u32) -> Option<i64> {
    let header = Header::of(line, r);
    let number = header.values.checked_sub(1)?;
    let low = remainder(line, number, r);
    let value = header.last() << r | low as i64;
    if number == 0 {
        *line = [line[0] & GOES_ON, 0, 0, 0, 0, 0, 0, 0];
        return Some(value);
    }
    let one = u64::from(HEADER) + header.len() - 1;
    line[(one / 64) as usize & 1] &= !(1 << (one % 64));
    line[0] = line[0] & !63 | number;
    clear_bits(line, end_of(number + 1, r), low);
    Some(value)
}

/// Clears bits that are set, from bit `at` of a line on.
#[inline(always)]
fn clear_bits(line: &mut Line, at: u64, bits: u64) {
    if let Some(word) = line.get_mut((at / 64) as usize) {
        *word &= !(bits << (at % 64));
    }
    if let Some(word) = line.get_mut((at / 64) as usize + 1) {
        *word &= !(bits >> 1 >> (63 - at % 64));
    }
}

/// The lowest value of a line, and the highest.
///
/// # Panics
/// If `r` is above 54.
#[inline(always)]
pub(super) fn ends(line: &Line, r: u32) -> Option<[i64; 2]> {
    let header = Header::of(line, r);
    let last = header.values.checked_sub(1)?;
    let first = header.base + i64::from(header.bits.trailing_zeros());
    Some([
        first << r | remainder(line, 0, r) as i64,
        header.last() << r | remainder(line, last, r) as i64,
    ])
}

/// The first value of a line.
#[cfg(test)]
pub(super) fn first(line: &Line, r: u32) -> Option<i64> {
    ends(line, r).map(|[first, _]| first)
}

/// The last value of a line.
pub(crate) fn last(line: &Line, r: u32) -> Option<i64> {
    ends(line, r).map(|[_, last]| last)
}

/// How many values a line has.
#[cfg(test)]
pub(super) fn len(line: &Line, r: u32) -> usize {
    Header::of(line, r).values as usize
}

/// Whether a line goes on.
#[inline(always)]
pub(crate) fn goes_on(line: &Line) -> bool {
    line[0] & GOES_ON != 0
}

/// Says whether a line goes on.
#[inline(always)]
pub(crate) fn set_goes_on(line: &mut Line, goes_on: bool) {
    line[0] = (line[0] & !GOES_ON) | if goes_on { GOES_ON } else { 0 };
}

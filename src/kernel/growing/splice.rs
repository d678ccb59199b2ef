//! Moves lines to another width without taking out a value. Where a bucket is as wide as before and no bucket lies in
//! two lines, a value's remainder stays as it is. So the headers of lines are strung together, and their remainders,
//! and both are cut anew.

use super::edit::{GOES_ON, Header, end_of, from};
use super::select::Select;
use super::store::Lines;
use super::width::width;
use crate::layouts::growing::{BASES, HEADER, HEADER_BITS, MOST_BITS};
use crate::line::{LINE_BITS, Line};
use crate::os::spare::Spare;

/// What is moved, and where to.
pub(crate) struct Task {
    /// The bits of a remainder.
    pub(crate) r: u32,
    /// The buckets of an old line, and of a new one.
    pub(crate) buckets: [i64; 2],
    /// The values of these old lines: the first, and the one behind the last.
    pub(crate) homes: [usize; 2],
    /// The new line that they begin in. Its values are lower.
    pub(crate) line: usize,
    /// There are so many new lines at most.
    pub(crate) most: usize,
}

/// What was moved.
pub(crate) struct Moved {
    pub(crate) values: u64,
    /// Those that are odd: where prefixes have several lengths, those of full length.
    pub(crate) odd: u64,
}

/// Words of headers, and of remainders: those of 16 lines and more. With longer chains values are moved one by one.
const HEADER_WORDS: usize = 48;
const LOW_WORDS: usize = 128;
/// Behind what is read of a header may be as many words.
const PAD: usize = 2;
/// The words that the remainders of a line touch, wherever they come.
const TOUCHED: usize = 9;

/// The headers and the remainders of ascending values.
struct Strand {
    r: u32,
    /// A 1 for each value, a 0 for each end of a bucket, from the bucket of the first value to the 1 of the last.
    header: [u64; HEADER_WORDS + PAD],
    len: usize,
    /// The bucket of the first value, and of the last.
    first: i64,
    last: i64,
    values: u64,
    /// The remainders, from the highest bit down. What is below them is any bits.
    low: [u64; LOW_WORDS],
}

/// The highest bit of [`Strand::low`], and one more.
const END: usize = 64 * LOW_WORDS;

impl Strand {
    #[inline(always)]
    fn new(r: u32) -> Strand {
        let (header, low) = ([0; HEADER_WORDS + PAD], [0; LOW_WORDS]);
        Strand { r, header, len: 0, first: 0, last: 0, values: 0, low }
    }

    /// Appends the values of a line whose bucket is in `range`. `start` is the first bucket of the line. Returns how
    /// many of them are odd, and whether none was behind the range. `None` if there is no room.
    #[inline(always)]
    fn append(
        &mut self,
        line: &Line,
        start: i64,
        range: [i64; 2],
        odd: bool,
    ) -> Option<(u64, bool)> {
        let header = Header::of(line, self.r);
        let (mut bits, mut values) = (header.bits, header.values);
        if values == 0 {
            return Some((0, true));
        }
        if u64::from(bits.count_ones()) != values {
            return None;
        }
        let mut zeros = bits.trailing_zeros();
        bits >>= zeros;
        let mut bucket = start + header.base + i64::from(zeros);
        let mut passed = 0;
        while bucket < range[0] {
            (bits, passed) = (bits >> 1, passed + 1);
            if bits == 0 {
                return Some((0, true));
            }
            zeros = bits.trailing_zeros();
            bits >>= zeros;
            bucket += i64::from(zeros);
        }
        values -= passed;
        let mut len = u128::BITS - bits.leading_zeros();
        let mut last = bucket + i64::from(len) - values as i64;
        let all = last < range[1];
        if !all {
            if bucket >= range[1] {
                return Some((0, false));
            }
            // The end of the ones of a bucket, and where the next one has some.
            let (mut end, mut next, mut of) = (0, 0, bucket);
            (values, last) = (0, bucket);
            while of < range[1] {
                let ones = (!(bits >> next)).trailing_zeros();
                (end, last) = (next + ones, of);
                values += u64::from(ones);
                zeros = (bits >> end).trailing_zeros();
                (next, of) = (end + zeros, of + i64::from(zeros));
            }
            len = end;
            bits &= (1 << len) - 1;
        }
        if self.values == 0 {
            (self.first, self.last) = (bucket, bucket);
        }
        let at = self.len + usize::try_from(bucket - self.last).ok()?;
        let (word, by) = (at / 64, at % 64);
        let place = self.header.get_mut(word..word + 3)?;
        place[0] |= (bits as u64) << by;
        place[1] |= (bits >> 1 >> (63 - by)) as u64;
        place[2] |= (bits >> 64) as u64 >> 1 >> (63 - by);
        (self.len, self.last) = (at + len as usize, last);
        let odd = if odd { self.odd(line, passed, values) } else { 0 };
        self.append_low(line, passed)?;
        self.values += values;
        Some((odd, all))
    }

    /// Appends the remainders of a line but the first ones.
    #[inline(always)]
    fn append_low(&mut self, line: &Line, passed: u64) -> Option<()> {
        let mut line = *line;
        if passed > 0 {
            line = higher(&line, passed * u64::from(self.r));
        }
        // The highest bit of the next remainder.
        let end = END.checked_sub((self.values * u64::from(self.r)) as usize + 1)?;
        let (top, bit) = (end / 64, end % 64);
        // Whatever line begins here later, its words are there.
        let lowest = (top + 1).checked_sub(TOUCHED).filter(|&lowest| lowest >= TOUCHED)?;
        let place = self.low.get_mut(lowest..=top)?;
        let above = place[TOUCHED - 1] & (u64::MAX << bit << 1);
        let by = 63 - bit;
        let mut i = 0;
        place[0] = line[0] << 1 << (63 - by);
        while i < 7 {
            place[i + 1] = line[i] >> by | line[i + 1] << 1 << (63 - by);
            i += 1;
        }
        place[TOUCHED - 1] = line[7] >> by | above;
        Some(())
    }

    /// How many values of a line are odd, behind the first ones.
    #[inline(always)]
    fn odd(&self, line: &Line, passed: u64, values: u64) -> u64 {
        let [low, high] = [end_of(passed + values, self.r), end_of(passed, self.r)];
        let (mut odd, mut i) = (0, 0);
        while i < 8 {
            let of = LOWEST[self.r as usize][i] & from(low, i) & !from(high, i);
            odd += u64::from((line[i] & of).count_ones());
            i += 1;
        }
        odd
    }

    /// The bits of the header from one on.
    #[inline(always)]
    fn window(&self, at: usize) -> u128 {
        let (word, by) = (at / 64, at % 64);
        let Some(&[a, b, c]) = self.header.get(word..).and_then(|words| words.first_chunk()) else {
            return 0;
        };
        let low = a >> by | b << 1 << (63 - by);
        let high = b >> by | c << 1 << (63 - by);
        u128::from(low) | u128::from(high) << 64
    }

    /// The remainders of values from a number on, in the place of a line's.
    #[inline(always)]
    fn line(&self, number: u64, values: u64) -> Line {
        let end = END - (number * u64::from(self.r)) as usize;
        let at = end.saturating_sub(LINE_BITS as usize);
        let (word, by) = (at / 64, at % 64);
        let mut line = [0; 8];
        let low = end_of(values, self.r);
        let whole = self.low.get(word..word + 8).unwrap_or(&[0; 8]);
        let above = self.low.get(word + 8).copied().unwrap_or(0);
        let mut i = 0;
        while i < 8 {
            let next = if i < 7 { whole[i + 1] } else { above };
            line[i] = (whole[i] >> by | next << 1 << (63 - by)) & from(low, i);
            i += 1;
        }
        line
    }
}

/// The bits of a line, so many higher. Those that would be above it are gone.
#[cold]
#[inline(never)]
fn higher(line: &Line, by: u64) -> Line {
    let (words, by) = ((by / 64) as usize, by % 64);
    let mut all = [0; 8];
    for i in words..8 {
        let below = if i > words { line[i - words - 1] } else { 0 };
        all[i] = line[i - words] << by | below >> 1 >> (63 - by);
    }
    all
}

/// The lowest bits of all remainders of a line, by their width.
static LOWEST: [Line; MOST_BITS as usize + 1] = {
    let (mut all, mut r) = ([[0; 8]; MOST_BITS as usize + 1], 1);
    while r < all.len() {
        let mut at = LINE_BITS as usize;
        while at >= r {
            at -= r;
            all[r][at / 64] |= 1 << (at % 64);
        }
        r += 1;
    }
    all
};

/// Moves the values of some lines. `None` if that takes more than this: then no line is changed.
///
/// # Panics
/// If `r` is above 54.
///
/// # Safety
/// As for [`Select::one`].
#[inline(always)]
pub(super) unsafe fn splice<S: Select>(
    old: &Lines,
    fresh: &mut Lines,
    task: &Task,
    odd: bool,
    spare: &mut Spare,
) -> Option<Moved> {
    let &Task { r, buckets: [width_before, width_now], homes: [first, end], mut line, most } = task;
    let mut strand = Strand::new(r);
    let all = [i64::MIN, i64::MAX];
    if let Some(there) = fresh.get(line) {
        strand.append(there, line as i64 * width_now, all, false)?;
    }
    let (there, mut odd_ones) = (strand.values, 0);
    let range = [first as i64 * width_before, end as i64 * width_before];
    let mut at = first;
    while let Some(before) = old.get(at) {
        let (odd, none_behind) = strand.append(before, at as i64 * width_before, range, odd)?;
        odd_ones += odd;
        at += 1;
        if !none_behind || at >= end && before[0] & GOES_ON == 0 {
            break;
        }
    }
    let moved = Moved { values: strand.values - there, odd: odd_ones };
    let (room, begun, was) = (width(r).room, line, fresh.get(line).copied());
    let (mut number, mut at, mut bucket) = (0, 0, strand.first);
    let is_done = loop {
        if number == strand.values {
            break true;
        }
        let mut start = line as i64 * width_now;
        if bucket >= start + width_now {
            line = (bucket as u64 / width_now as u64) as usize;
            start = line as i64 * width_now;
        }
        let base = bucket - start;
        if base < BASES[0] || base > BASES[1] || line >= most {
            break false;
        }
        if fresh.grow_to(line + 1, spare).is_err() {
            break false;
        }
        let window = strand.window(at);
        // As many bits as there are before the first bucket of the next line.
        // SAFETY: the caller's promise.
        let own = unsafe { zero::<S>(window, (width_now - base - 1) as u64) };
        let mut bits = window & ((1 << own.min(HEADER_BITS.into())) - 1);
        let mut values = u64::from(bits.count_ones());
        let mut len = u64::from(u128::BITS - bits.leading_zeros());
        while values > room || u64::from(HEADER) + len + values * u64::from(r) > LINE_BITS {
            bits &= !(1 << (len - 1));
            (values, len) = (values - 1, u64::from(u128::BITS - bits.leading_zeros()));
        }
        let mut new = strand.line(number, values);
        number += values;
        let last = bucket + (len - values) as i64;
        at += len as usize;
        let zeros = strand.window(at).trailing_zeros();
        if values == 0 || zeros == u128::BITS && number < strand.values {
            break false;
        }
        (at, bucket) = (at + zeros as usize, last + i64::from(zeros));
        let goes_on = number < strand.values && bucket < start + width_now;
        let words = Header { values, base, bits }.words(goes_on);
        (new[0], new[1]) = (new[0] | words[0], new[1] | words[1]);
        let Some(place) = fresh.get_mut(line) else { break false };
        *place = new;
        line += 1;
    };
    if !is_done {
        // Behind the first, all were empty.
        for i in begun..=line {
            if let Some(place) = fresh.get_mut(i) {
                *place = if i == begun { was.unwrap_or_default() } else { [0; 8] };
            }
        }
        return None;
    }
    Some(moved)
}

/// The bit of the zero that has so many zeros below it; 128 if there are not as many.
///
/// # Safety
/// As for [`Select::one`].
#[inline(always)]
unsafe fn zero<S: Select>(bits: u128, before: u64) -> u64 {
    let words = [!bits as u64, !(bits >> 64) as u64];
    let in_first = u64::from(words[0].count_ones());
    if before < in_first {
        // SAFETY: fewer than 64.
        return unsafe { S::one(words[0], before) };
    }
    let before = before - in_first;
    // SAFETY: as above.
    if before < 64 { 64 + unsafe { S::one(words[1], before) } } else { 128 }
}

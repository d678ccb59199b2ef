//! One region's lines as a chain: what does not fit in its home line goes on in the next.

use super::ordered::Ordered;
use crate::error::Error;
use crate::kernel::growing::place::Layout;
use crate::kernel::growing::{Calls, Entered, Line, OPENED, SPARE, goes_on, last, set_goes_on};
use crate::layouts::growing::{BASES, HEADER, MOST_KEYS};
use crate::line::LINE_BITS;
use crate::os::spare::Spare;

/// An insert changes so many lines at most. Nine tenths full on average, one of 100,000 changes 128, a
/// hundredth of these 256.
const LONGEST: usize = 512;
/// Lines as they were before an insert, so that it can fail.
const UNDONE: usize = 12;
/// After a removal, a line that has room for so many values takes those back that went on.
const COME_BACK: i64 = 6;
/// What an insert puts beside the lines at most.
const MOST_BESIDE: usize = 6 * MOST_KEYS;

/// Values on their way to the next line, ascending.
pub(super) struct Values {
    values: [i64; 2 * MOST_KEYS + 2],
    pub(super) len: usize,
}

impl Values {
    pub(super) fn new() -> Values {
        Values { values: [0; 2 * MOST_KEYS + 2], len: 0 }
    }

    pub(super) fn all(&self) -> &[i64] {
        &self.values[..self.len]
    }

    pub(super) fn push(&mut self, value: i64) {
        self.values[self.len] = value;
        self.len += 1;
    }

    /// Puts the values of a line behind these.
    pub(super) fn open(&mut self, calls: &Calls, line: &Line, r: u32) {
        let mut opened = [0; OPENED];
        let count = calls.open(line, r, 0, &mut opened);
        for (value, opened) in self.values[self.len..].iter_mut().zip(&opened[..count]) {
            *value = *opened as i64;
        }
        self.len += count;
    }

    /// Makes a line of the first of these, as many as fit. Returns the line, and how many it has.
    fn close(&self, calls: &Calls, goes_on: bool, r: u32) -> (Line, usize) {
        let mut all = [0; 2 * MOST_KEYS + 2];
        for (all, value) in all.iter_mut().zip(self.all()) {
            *all = *value as u64;
        }
        calls.close(&all[..self.len], 0, i64::MAX, goes_on, r)
    }

    pub(super) fn drop_first(&mut self, count: usize) {
        self.values.copy_within(count..self.len, 0);
        self.len -= count;
    }

    /// As they are counted in the next line.
    pub(super) fn in_next_line(&mut self, values: i64) {
        self.values[..self.len].iter_mut().for_each(|value| *value -= values);
    }

    /// How many are too far behind their home for the base of a line.
    pub(super) fn too_low(&self, r: u32) -> usize {
        self.all().iter().take_while(|&&value| value >> r < BASES[0]).count()
    }
}

/// The bits of a line that are free.
fn free(line: &Line, r: u32) -> i64 {
    let all = LINE_BITS as i64 - i64::from(HEADER);
    let keys = line[0] as i64 & 63;
    let base = (line[0] as i64) << 48 >> 55;
    last(line, r).map_or(all, |last| all - keys * i64::from(r + 1) - ((last >> r) - base))
}

/// Inserts a value into the chain that begins with its home line. What no line has room for goes
/// into `stash`.
///
/// # Errors
/// [`Error::OutOfMemory`]; all is as before.
pub(super) fn insert(
    layout: &mut Layout,
    home: usize,
    value: i64,
    stash: &mut Ordered,
) -> Result<(), Error> {
    let (r, calls) = (layout.r, layout.calls);
    if home >= layout.lines.len() {
        layout.lines.grow_to(home + 1, &mut Spare::default())?;
    }
    let (mut at, mut value) = (home, value);
    // Behind a line that goes on, and its last value.
    while let Some(line) = layout.lines.get(at)
        && goes_on(line)
        && last(line, r).is_none_or(|last| last <= value)
    {
        if free(line, r) > 3 * i64::from(r + 2) && refill(layout, at) {
            continue;
        }
        (at, value) = (at + 1, value - layout.values());
    }
    if value >> r >= BASES[0]
        && let Some(line) = layout.lines.get_mut(at)
        && calls.insert(line, value, r)
    {
        return Ok(());
    }
    // What was in the way of the short way is gone, or could not come back.
    if let Entered::Done { .. } = layout.enter_exactly(at, value) {
        return Ok(());
    }
    carry(layout, at, value, stash)
}

/// The same where lines are full: the last values of each go on in the next.
fn carry(layout: &mut Layout, at: usize, value: i64, stash: &mut Ordered) -> Result<(), Error> {
    let (r, values, calls) = (layout.r, layout.values(), layout.calls);
    let mut before = [(0, [0; 8]); UNDONE];
    let mut carried = Values::new();
    carried.push(value);
    let mut reserved = false;
    let mut beside = 0;
    for step in 0.. {
        let at = at + step;
        let beyond = step == LONGEST
            || at >= layout.homes + SPARE
            || beside > MOST_KEYS
            || carried.len > MOST_KEYS;
        let there = !beyond && layout.lines.grow_to(at + 1, &mut Spare::default()).is_ok();
        let out = if there { carried.too_low(r) } else { carried.len };
        if (out > 0 || step == UNDONE) && !reserved {
            if let Err(error) = stash.reserve(MOST_BESIDE) {
                for &(at, line) in &before[..step] {
                    *layout.line(at) = line;
                }
                return Err(error);
            }
            reserved = true;
        }
        for &value in &carried.all()[..out] {
            stash.add(layout.normal(layout.start(at).wrapping_add_signed(value)), 1);
        }
        beside += out;
        carried.drop_first(out);
        if carried.len == 0 {
            break;
        }
        let line = layout.line(at);
        if let Some(before) = before.get_mut(step) {
            *before = (at, *line);
        }
        if put(calls, line, &mut carried, r) {
            break;
        }
        set_goes_on(line, true);
        carried.in_next_line(values);
    }
    if reserved {
        stash.trim();
    }
    Ok(())
}

/// Puts values into a line. Returns whether all found room. Else those that go on are left: the last
/// ones, of these and of the line.
fn put(calls: &Calls, line: &mut Line, carried: &mut Values, r: u32) -> bool {
    if let [value] = *carried.all() {
        if calls.insert(line, value, r) {
            return true;
        }
        let before = *line;
        match calls.take_last(line, r) {
            Some(last) if value < last => {
                if calls.insert(line, value, r) {
                    carried.values[0] = last;
                    return false;
                }
            }
            _ => {
                *line = before;
                return false;
            }
        }
        *line = before;
    }
    let goes = goes_on(line);
    carried.open(calls, line, r);
    carried.values[..carried.len].sort_unstable();
    let (closed, took) = carried.close(calls, goes, r);
    *line = closed;
    carried.drop_first(took);
    carried.len == 0
}

/// Moves values of this home or an earlier one back from the line behind it. Returns whether this
/// changed anything.
#[cold]
#[inline(never)]
fn refill(layout: &mut Layout, at: usize) -> bool {
    let (r, values, calls) = (layout.r, layout.values(), layout.calls);
    let (Some(&line), Some(&next)) = (layout.lines.get(at), layout.lines.get(at + 1)) else {
        return false;
    };
    if next[0] & 63 > 0 && (next[0] as i64) << 48 >> 55 >= 0 {
        // None of this home or an earlier one is there.
        set_goes_on(layout.line(at), false);
        return true;
    }
    let mut all = Values::new();
    all.open(calls, &line, r);
    let had = all.len;
    let mut rest = Values::new();
    rest.open(calls, &next, r);
    for &value in rest.all().iter().take_while(|&&value| value < 0) {
        all.push(value + values);
    }
    let (mut closed, took) = all.close(calls, true, r);
    let moved = took.saturating_sub(had);
    if took < had {
        return false;
    }
    // What is left there of this home, or behind it.
    let more = if rest.len == moved { goes_on(&next) } else { rest.values[moved] < 0 };
    if moved == 0 && more {
        return false;
    }
    set_goes_on(&mut closed, more);
    rest.drop_first(moved);
    let (shorter, kept) = rest.close(calls, goes_on(&next), r);
    if kept < rest.len {
        return false;
    }
    *layout.line(at) = closed;
    *layout.line(at + 1) = shorter;
    true
}

/// Whether a stored value is of a prefix of this one, where prefixes have different lengths.
pub(super) fn is_prefix(stored: i64, value: i64) -> bool {
    let end = stored.trailing_zeros() + 1;
    stored >> end.min(63) == value >> end.min(63)
}

/// Removes a value from a chain. Returns whether it was there.
pub(super) fn remove(layout: &mut Layout, home: usize, value: i64) -> bool {
    // As a rule the home line has it: then no line is asked before.
    if layout.lines.get(home).is_some() && take(layout, home, value) {
        return true;
    }
    let Some((at, value)) = layout.search(home, value) else { return false };
    take(layout, at, value)
}

/// Removes a value from a line. Returns whether it was there. If that leaves room for several, those that went on come
/// back: else ever more probes would go on where keys come and go.
#[inline(always)]
pub(super) fn take(layout: &mut Layout, at: usize, value: i64) -> bool {
    let (r, values, calls) = (layout.r, layout.values(), layout.calls);
    let line = layout.line(at);
    // Before the line is changed, for which the CPU would have to wait.
    let (keys, goes) = (line[0] as i64 & 63, goes_on(line));
    let removed = calls.remove(line, value, r);
    // About: the header may be longer, or shorter.
    let free = LINE_BITS as i64 - i64::from(HEADER) - (keys - 1) * i64::from(r + 1) - (values >> r);
    // One branch that is rarely taken: which lines go on cannot be foreseen.
    if removed & goes & (free > COME_BACK * i64::from(r + 2)) {
        refill(layout, at);
    }
    removed
}

/// How often a value is in a chain.
pub(super) fn count_all(layout: &Layout, home: usize, value: i64) -> u64 {
    let mut all = 0;
    each_line(layout, home, value, |line, value| {
        all += u64::from(layout.calls.count(line, value, layout.r))
    });
    all
}

/// Calls `each` with the lines of a chain that may have a value, or a prefix of it, and the value as
/// it is counted there.
pub(super) fn each_line(
    layout: &Layout,
    home: usize,
    value: i64,
    mut each: impl FnMut(&Line, i64),
) {
    let (mut at, mut value) = (home, value);
    while let Some(line) = layout.lines.get(at) {
        each(line, value);
        let r = layout.r;
        if !goes_on(line) || last(line, r).is_some_and(|last| last >> r > value >> r) {
            return;
        }
        (at, value) = (at + 1, value - layout.values());
    }
}

/// The stored prefix of a value that is the longest, by its line and its value there.
pub(super) fn longest(layout: &Layout, home: usize, value: i64) -> Option<(usize, i64)> {
    // None is longer than one of full length, for which no line is taken apart.
    if let Some(found) = layout.search_exactly(home, value) {
        return Some(found);
    }
    let (mut best, mut at) = (None, home);
    each_line(layout, home, value, |line, value| {
        let mut all = Values::new();
        all.open(layout.calls, line, layout.r);
        for &stored in all.all().iter().filter(|&&stored| is_prefix(stored, value)) {
            let short = stored.trailing_zeros();
            if best.is_none_or(|(_, _, shortest)| short < shortest) {
                best = Some((at, stored, short));
            }
        }
        at += 1;
    });
    best.map(|(at, stored, _)| (at, stored))
}

/// How many stored values are prefixes of this one.
pub(super) fn count_prefixes(layout: &Layout, home: usize, value: i64) -> u64 {
    let mut count = 0;
    each_line(layout, home, value, |line, value| {
        let mut all = Values::new();
        all.open(layout.calls, line, layout.r);
        count += all.all().iter().filter(|&&stored| is_prefix(stored, value)).count() as u64;
    });
    count
}

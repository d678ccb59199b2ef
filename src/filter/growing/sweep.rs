//! Growing and shrinking: the lines of one region at a time are moved to another width, a line or a few
//! with each insert or removal.

use super::GrowingFilter;
use super::append::{self, Buffer};
use super::ordered::Ordered;
use super::state::Sweep;
use crate::error::Error;
use crate::kernel::growing::goes_on;
use crate::kernel::growing::place::Layout;
use crate::os::spare::Spare;
use crate::shape::growing::{SMALL, Width, at_least, next};
use std::ops::Range;

/// Keys that are moved for each one inserted or removed, at least: a round of all regions moves each
/// key once, while the keys grow by a seventeenth.
const PACE: u64 = 20;
/// Entries beside the lines that come back with a line, at most.
const COME_BACK: usize = 64;
/// Lines that are moved together: the line that they go on in is taken apart once for all.
const MOVED_TOGETHER: usize = 8;
/// Keys that are due when so many are moved.
const DUE: u64 = 40 * MOVED_TOGETHER as u64;

/// A region of so many lines is moved by so many inserts that the next one may wait for an insert of its own: to end
/// a move and to begin one takes twice as long.
const MANY_LINES: usize = 512;

impl GrowingFilter {
    /// After each insert into a region, and removal from it.
    #[inline]
    pub(super) fn tend(&mut self, region: usize) {
        if self.sweep.is_some() {
            self.go_on();
        } else if self.is_due(region) {
            self.begin(region);
        }
    }

    #[inline]
    pub(super) fn is_due(&self, region: usize) -> bool {
        let (layout, state) = (&self.places.layouts[region], &self.regions[region]);
        let full = state.keys > layout.most || state.newest >= layout.quota;
        full || state.keys < layout.least
    }

    /// Moves as many lines as are due. What there is no memory for waits.
    fn go_on(&mut self) {
        let Some(sweep) = &mut self.sweep else { return };
        sweep.due += sweep.pace;
        if sweep.due >= DUE {
            self.catch_up();
        }
    }

    #[inline(never)]
    pub(super) fn catch_up(&mut self) {
        while self.sweep.as_ref().is_some_and(|sweep| sweep.due >= DUE) {
            // In a filter of one region keys would get prefixes that are too short meanwhile.
            if self.places.mask > 0 && self.makes_room() {
                return;
            }
            let moved = self.step();
            let Some(sweep) = &mut self.sweep else { return };
            sweep.due = moved.map_or(0, |moved| sweep.due.saturating_sub(moved));
        }
    }

    /// Makes some of the lines be there that the next step writes. Returns whether they were not: to take new
    /// memory takes as long as a step, so that is the work of another insert.
    fn makes_room(&mut self) -> bool {
        let Some(sweep) = &self.sweep else { return false };
        let (olds, fresh) = self.places.layouts.split_at_mut(self.regions.len());
        let (old, fresh) = (&olds[sweep.region], &mut fresh[0]);
        let end = old.start(sweep.line + MOVED_TOGETHER).min(old.end());
        let last = fresh.home((end - 1) << (fresh.length - old.length));
        let needed = (last + 2).min(fresh.homes);
        fresh.lines.len() < needed && fresh.lines.grow_some(needed, &mut self.spare).is_ok()
    }

    /// Begins to move a region. What there is no memory for waits.
    #[cold]
    #[inline(never)]
    pub(super) fn begin(&mut self, region: usize) {
        if let Some(alone) = self.alone
            && !alone.begins
        {
            return;
        }
        if self.try_begin(region).is_ok() {
            self.catch_up();
        }
    }

    fn try_begin(&mut self, region: usize) -> Result<(), Error> {
        let parts = self.parts();
        let number = self.alone.map_or(region, |alone| alone.region);
        let (old, state) = (&self.places.layouts[region], &self.regions[region]);
        let length = self.next_length(region);
        let w = (self.common.prefixes << length) / parts;
        let keys = state.keys + state.keys / 24;
        let few = state.keys < old.least;
        let mut lines = at_least(number, if few { old.homes as u64 / 8 } else { old.homes as u64 });
        // Of few lines, the next number in turn may be as many as there are, in whole buckets.
        let more = !few && length == old.length;
        let (mut width, mut own);
        loop {
            width = Width::new(w, lines, self.common.mixed());
            own = width.of_whole_buckets(w, state.keys + state.keys / 64, self.common.mixed());
            let is_enough = width.most >= keys && !(more && own.homes <= old.homes as u64);
            if is_enough || lines >= w / 64 {
                break;
            }
            lines = next(number, lines);
        }
        if parts == 1 && own.homes > SMALL {
            return self.rebuild();
        }
        if own.homes == old.homes as u64 && length == old.length {
            // As wide as it can be, or as narrow.
            let old = &mut self.places.layouts[region];
            if few {
                old.least /= 2;
            }
            if state.keys > old.most {
                old.most = u64::MAX;
            }
            return Ok(());
        }
        let [mut back, short] = [Vec::new(), Vec::new()];
        if !self.stash.is_empty() {
            reserve(&mut back, COME_BACK)?;
        }
        let mut fresh =
            Layout::empty(self.common, self.calls, (number as u64, parts), length, own)?;
        // It is full when the ladder of sizes says so, or its lines: then regions go on growing one after the other.
        fresh.most = width.most.max(own.most - own.most / 256);
        if self.alone.is_some() {
            // It has to come to its end.
            fresh.lines.grow_to(fresh.homes, &mut self.spare)?;
        }
        let due = (0..self.regions.len()).filter(|&region| self.is_due(region)).count() as u64;
        let all: u64 = self.regions.iter().map(|region| region.keys).sum();
        let share = 16 * state.keys / all.max(1);
        self.places.layouts.try_reserve_exact(1).map_err(|_| Error::OutOfMemory)?;
        let old = &self.places.layouts[region];
        (0..=MOVED_TOGETHER).for_each(|line| old.lines.prefetch(line));
        self.places.layouts.push(fresh);
        (self.places.from, self.places.moved) = ((number as u64) << 60, 0);
        let pace = PACE * due.max(share).clamp(1, 16);
        // Of one region, eight lines are moved at once: while they wait, keys get prefixes that are too short.
        let due = if parts == 1 { DUE } else { 0 };
        self.sweep = Some(Sweep { region, line: 0, pace, due, back, short });
        self.fresh_newest = 0;
        Ok(())
    }

    /// Moves all lines that are left.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; some are moved.
    pub(super) fn complete(&mut self) -> Result<(), Error> {
        while self.sweep.is_some() {
            self.step()?;
        }
        Ok(())
    }

    /// Moves some lines. Returns how many keys they had, or 8 for each line if they had fewer.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; nothing is moved.
    fn step(&mut self) -> Result<u64, Error> {
        let Some(sweep) = &mut self.sweep else { return Ok(0) };
        let (olds, fresh) = self.places.layouts.split_at_mut(self.regions.len());
        let (old, fresh) = (&mut olds[sweep.region], &mut fresh[0]);
        let from = sweep.line;
        let at_once = if self.stash.is_empty() { MOVED_TOGETHER } else { 1 };
        let until = (from + at_once).min(old.homes);
        let longer = fresh.length - old.length;
        // What the new lines go on with.
        let line = append::end(fresh, old.start(from) << longer);
        if self.stash.is_empty()
            && old.is_like(fresh)
            && let Some(moved) = old.splice_into(fresh, from..until, line, &mut self.spare)
        {
            self.fresh_newest += moved.odd;
            return Ok(self.stepped(until, moved.values));
        }
        let mut values = Buffer::new();
        let there = values.open(fresh, line)?;
        gather(old, from..until, &mut values)?;
        let moved = values.all().len() - there;
        if !self.stash.is_empty() {
            come_back(&self.stash, old, from, &mut sweep.back)?;
            values.extend(sweep.back.iter().map(|&normal| old.of_normal(normal)))?;
            values.all_mut()[there..].sort_unstable();
        }
        let before = values.all().len();
        if fresh.is_mixed() {
            lengthen(longer, fresh.most_short(), there, &mut values, &mut sweep.short)?;
            // Their copies become as many.
            let copies = |&short: &u64| self.copies.get(old.normal(short)) > 0;
            if !self.copies.is_empty() && sweep.short.iter().any(copies) {
                self.copies.reserve(values.all().len())?;
            }
        }
        append(fresh, values.all(), line, &mut self.stash, &mut self.spare)?;
        // Nothing fails from here on.
        for normal in sweep.back.drain(..) {
            self.stash.remove(normal);
        }
        self.stash.trim();
        for short in sweep.short.drain(..) {
            let normal = old.normal(short);
            let count = self.copies.take(normal);
            let limit = fresh.norm_of_most_short();
            children(normal, limit).for_each(|child| self.copies.add(child, count));
        }
        self.copies.trim();
        let values = values.all();
        if fresh.is_mixed() {
            let full = values[there..].iter().filter(|&y| y & 1 == 1).count();
            self.fresh_newest += full as u64;
        }
        self.regions[sweep.region].keys += (values.len() - before) as u64;
        Ok(self.stepped(until, moved as u64))
    }

    /// After old lines are moved up to this one. Returns how much of what is due that was.
    fn stepped(&mut self, until: usize, moved: u64) -> u64 {
        let Some(sweep) = &mut self.sweep else { return 0 };
        let old = &mut self.places.layouts[sweep.region];
        let from = std::mem::replace(&mut sweep.line, until);
        old.lines.free_before(until, &mut self.spare);
        // Those that come next.
        (until..=until + MOVED_TOGETHER).for_each(|line| old.lines.prefetch(line));
        let next = if until < old.homes { old.first_hash(until) } else { None };
        match next {
            Some(hash) => self.places.moved = hash - self.places.from,
            None => self.finish(),
        }
        moved.max(8 * (until - from) as u64)
    }

    /// The new lines are those of the region.
    fn finish(&mut self) {
        let (Some(sweep), Some(fresh)) = (self.sweep.take(), self.places.layouts.pop()) else {
            return;
        };
        self.places.moved = 0;
        self.places.layouts[sweep.region] = fresh;
        self.regions[sweep.region].newest = self.fresh_newest;
        self.fresh_newest = 0;
        let all: u64 = self.regions.iter().map(|region| region.keys).sum();
        if self.places.mask > 0 && all < self.few_keys() {
            let _ = self.rebuild();
        } else if self.places.layouts[sweep.region].homes >= MANY_LINES {
            // The next region begins with an insert into it.
        } else if let Some(region) = (0..self.regions.len()).find(|&region| self.is_due(region)) {
            self.begin(region);
        } else if self.places.mask == 0 {
            // In a filter of a few keys the place of another layout counts.
            let mut exact = Vec::new();
            if exact.try_reserve_exact(1).is_ok() {
                exact.append(&mut self.places.layouts);
                self.places.layouts = exact;
            }
        }
    }
}

fn reserve<T>(values: &mut Vec<T>, more: usize) -> Result<(), Error> {
    values.try_reserve(more).map_err(|_| Error::OutOfMemory)
}

/// The values of which some lines are the home, from them and those that follow.
fn gather(layout: &Layout, homes: Range<usize>, out: &mut Buffer) -> Result<(), Error> {
    let range = layout.start(homes.start)..layout.start(homes.end);
    let mut at = homes.start;
    while let Some(line) = layout.lines.get(at) {
        let from = out.all().len();
        out.open(layout, at)?;
        let values = &out.all()[from..];
        // Those of earlier homes are moved.
        if values.first().is_some_and(|&y| y < range.start) {
            let moved = values.iter().take_while(|&&y| y < range.start).count();
            out.drop(from, from + moved);
        }
        let is_last = !goes_on(line);
        at += 1;
        if at > homes.end {
            let own = out.all()[from..].iter().take_while(|&&y| y < range.end).count();
            let others = from + own < out.all().len();
            out.truncate(from + own);
            if others {
                return Ok(());
            }
        }
        if is_last && at >= homes.end {
            return Ok(());
        }
    }
    Ok(())
}

/// What comes back from beside the lines, of a line. Prefixes that have become too short for one
/// bucket stay.
fn come_back(stash: &Ordered, old: &Layout, line: usize, out: &mut Vec<u64>) -> Result<(), Error> {
    out.clear();
    reserve(out, COME_BACK)?;
    let range = old.normals(line);
    let short = |normal: u64| old.is_mixed() && normal.trailing_zeros() > old.norm_of_most_short();
    let all = stash.from(range.start).take_while(|&(normal, _)| normal < range.end);
    for (normal, count) in all.filter(|&(normal, _)| !short(normal)) {
        let room = COME_BACK - out.len();
        out.extend((0..count.min(room as u64)).map(|_| normal));
        if out.len() == COME_BACK {
            break;
        }
    }
    Ok(())
}

/// Values of the old layout, those from `from` on, become those of the new one, whose prefixes are longer
/// and at most so short. Those that are too short for a bucket become several; they are in `short`, too,
/// each once.
fn lengthen(
    longer: u32,
    most: u32,
    from: usize,
    values: &mut Buffer,
    short: &mut Vec<u64>,
) -> Result<(), Error> {
    short.clear();
    let count = values.all().len();
    let mut more = 0;
    for y in &mut values.all_mut()[from..] {
        let is_short = y.trailing_zeros() + longer > most;
        if is_short && short.last() != Some(y) {
            reserve(short, 1)?;
            short.push(*y);
        }
        *y <<= longer;
        let all = if is_short { 1 << (y.trailing_zeros() - most) } else { 1 };
        more += all - 1;
    }
    if short.is_empty() {
        return Ok(());
    }
    values.reserve(more)?;
    for i in from..count {
        let y = values.all()[i];
        if y.trailing_zeros() > most {
            let mut all = children(y, most);
            values.all_mut()[i] = all.next().unwrap_or(y);
            all.for_each(|child| values.push(child));
        }
    }
    values.all_mut()[from..].sort_unstable();
    Ok(())
}

/// The prefixes that are short by `most` bits and together are this one.
pub(super) fn children(y: u64, most: u32) -> impl Iterator<Item = u64> {
    let short = y.trailing_zeros().max(most);
    let first = y - (1 << short) + (1 << most);
    (0..1_u64 << (short - most)).map(move |i| first + (i << (most + 1)))
}

/// Writes values to a layout from a line on, of which they have the values, too.
///
/// # Errors
/// [`Error::OutOfMemory`]; nothing is changed.
fn append(
    layout: &mut Layout,
    values: &[u64],
    line: usize,
    stash: &mut Ordered,
    spare: &mut Spare,
) -> Result<(), Error> {
    let before = layout.lines.get(line).copied();
    let result = append::write(layout, values, line, true, stash, spare);
    if result.is_err() {
        for i in line..layout.lines.len() {
            *layout.line(i) = [0; 8];
        }
        if let (Some(before), Some(_)) = (before, layout.lines.get(line)) {
            *layout.line(line) = before;
        }
    }
    result.map(|_| ())
}

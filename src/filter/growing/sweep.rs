//! Growing and shrinking: the lines of one region at a time are moved to another width, a line or a few
//! with each insert or removal.

use super::GrowingFilter;
use super::append::Appender;
use super::chain::Values;
use super::ordered::Ordered;
use super::state::Sweep;
use crate::error::Error;
use crate::kernel::growing::goes_on;
use crate::kernel::growing::place::Layout;
use crate::os::memory::Zeroed;
use crate::shape::growing::{Width, at_least, next};

/// Keys that are moved for each one inserted or removed, at least: a round of all regions moves each
/// key once, while the keys grow by a seventeenth.
const PACE: u64 = 20;
/// Entries beside the lines that come back with a line, at most.
const COME_BACK: usize = 64;

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
    fn is_due(&self, region: usize) -> bool {
        let (layout, state) = (&self.places.layouts[region], &self.regions[region]);
        let full = state.keys > layout.most || state.newest > layout.quota;
        full || state.keys < layout.least
    }

    /// Moves as many lines as are due. What there is no memory for waits.
    fn go_on(&mut self) {
        if let Some(sweep) = &mut self.sweep {
            sweep.due += sweep.pace;
        }
        while self.sweep.as_ref().is_some_and(|sweep| sweep.due > 0) {
            let moved = self.step();
            let Some(sweep) = &mut self.sweep else { return };
            sweep.due = moved.map_or(0, |moved| sweep.due.saturating_sub(moved.max(8)));
        }
    }

    /// Begins to move a region. What there is no memory for waits.
    #[cold]
    #[inline(never)]
    fn begin(&mut self, region: usize) {
        if self.places.mask == 0 {
            let _ = self.rebuild();
        } else {
            let _ = self.try_begin(region);
        }
    }

    fn try_begin(&mut self, region: usize) -> Result<(), Error> {
        let parts = self.parts();
        let (old, state) = (&self.places.layouts[region], &self.regions[region]);
        let length = self.next_length(region);
        let w = (self.common.prefixes << length) / parts;
        let keys = state.keys + state.keys / 24;
        let few = state.keys < old.least;
        let mut lines = at_least(region, if few { old.homes as u64 / 8 } else { old.homes as u64 });
        let mut width = Width::new(w, lines, self.common.mixed());
        while width.most < keys && lines < w / 64 {
            lines = next(region, lines);
            width = Width::new(w, lines, self.common.mixed());
        }
        if width.homes == old.homes as u64 && length == old.length {
            // As wide as it can be, or as narrow.
            let old = &mut self.places.layouts[region];
            match few {
                true => old.least /= 2,
                false => (old.most, old.quota) = (u64::MAX, u64::MAX),
            }
            return Ok(());
        }
        let [mut values, mut back, short] = [Vec::new(), Vec::new(), Vec::new()];
        reserve(&mut values, 64)?;
        if !self.stash.is_empty() {
            reserve(&mut back, COME_BACK)?;
        }
        let fresh = Layout::new(self.common, self.calls, (region as u64, parts), length, lines)?;
        let due = (0..self.regions.len()).filter(|&region| self.is_due(region)).count() as u64;
        let all: u64 = self.regions.iter().map(|region| region.keys).sum();
        let share = 16 * state.keys / all.max(1);
        reserve(&mut self.places.layouts, 1)?;
        self.places.layouts.push(fresh);
        (self.places.from, self.places.moved) = ((region as u64) << 60, 0);
        let pace = PACE * due.max(share).clamp(1, 16);
        self.sweep = Some(Sweep { region, line: 0, pace, due: 0, values, back, short });
        self.fresh_newest = 0;
        Ok(())
    }

    /// Moves a line. Returns how many keys it had.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; nothing is moved.
    fn step(&mut self) -> Result<u64, Error> {
        let Some(sweep) = &mut self.sweep else { return Ok(0) };
        let (olds, fresh) = self.places.layouts.split_at_mut(self.regions.len());
        let (old, fresh) = (&mut olds[sweep.region], &mut fresh[0]);
        gather(old, sweep.line, &mut sweep.values)?;
        let moved = sweep.values.len();
        if !self.stash.is_empty() {
            come_back(&self.stash, old, sweep.line, &mut sweep.back)?;
            reserve(&mut sweep.values, sweep.back.len())?;
            sweep.values.extend(sweep.back.iter().map(|&normal| old.of_normal(normal)));
            sweep.values.sort_unstable();
        }
        let before = sweep.values.len();
        if fresh.is_mixed() {
            lengthen(old, fresh, &mut sweep.values, &mut sweep.short)?;
            // Their copies become as many.
            let copies = |&short: &u64| self.copies.get(old.normal(short)) > 0;
            if !self.copies.is_empty() && sweep.short.iter().any(copies) {
                self.copies.reserve(sweep.values.len())?;
            }
        }
        append(fresh, &sweep.values, &mut self.stash, &mut self.spare)?;
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
        let full = sweep.values.iter().filter(|&y| y & 1 == 1).count();
        self.fresh_newest += full as u64;
        self.regions[sweep.region].keys += (sweep.values.len() - before) as u64;
        sweep.line += 1;
        old.lines.free_before(sweep.line, &mut self.spare);
        let next = if sweep.line < old.homes { old.first_hash(sweep.line) } else { None };
        match next {
            Some(hash) => self.places.moved = hash - self.places.from,
            None => self.finish(),
        }
        Ok(moved as u64)
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
        if all < self.few_keys() {
            let _ = self.rebuild();
        } else if let Some(region) = (0..self.regions.len()).find(|&region| self.is_due(region)) {
            self.begin(region);
        }
    }
}

fn reserve<T>(values: &mut Vec<T>, more: usize) -> Result<(), Error> {
    values.try_reserve(more).map_err(|_| Error::OutOfMemory)
}

/// The values of which a line is the home, from it and those that follow.
fn gather(layout: &Layout, home: usize, out: &mut Vec<u64>) -> Result<(), Error> {
    out.clear();
    let range = layout.start(home)..layout.start(home + 1);
    let mut at = home;
    while let Some(line) = layout.lines.get(at) {
        let mut values = Values::new();
        values.open(layout.calls, line, layout.r);
        reserve(out, values.all().len())?;
        let start = layout.start(at);
        for &value in values.all() {
            let y = start.wrapping_add_signed(value);
            if y >= range.end {
                return Ok(());
            }
            // Those of earlier homes are moved.
            if y >= range.start {
                out.push(y);
            }
        }
        if !goes_on(line) {
            return Ok(());
        }
        at += 1;
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

/// Values of the old layout become those of the new one, whose prefixes may be longer. Those that are
/// too short for a bucket there become several; they are in `short`, too, each once.
fn lengthen(
    old: &Layout,
    fresh: &Layout,
    values: &mut Vec<u64>,
    short: &mut Vec<u64>,
) -> Result<(), Error> {
    short.clear();
    let longer = fresh.length - old.length;
    let most = fresh.most_short();
    let count = values.len();
    for i in 0..count {
        let y = values[i] << longer;
        if y.trailing_zeros() <= most {
            values[i] = y;
            continue;
        }
        if short.last() != Some(&values[i]) {
            reserve(short, 1)?;
            short.push(values[i]);
        }
        reserve(values, 1 << (y.trailing_zeros() - most))?;
        let mut all = children(y, most);
        values[i] = all.next().unwrap_or(y);
        values.extend(all);
    }
    if !short.is_empty() {
        values.sort_unstable();
    }
    Ok(())
}

/// The prefixes that are short by `most` bits and together are this one.
pub(super) fn children(y: u64, most: u32) -> impl Iterator<Item = u64> {
    let short = y.trailing_zeros().max(most);
    let first = y - (1 << short) + (1 << most);
    (0..1_u64 << (short - most)).map(move |i| first + (i << (most + 1)))
}

/// Appends values to a layout of which all are lower.
///
/// # Errors
/// [`Error::OutOfMemory`]; nothing is appended.
fn append(
    layout: &mut Layout,
    values: &[u64],
    stash: &mut Ordered,
    spare: &mut Option<Zeroed>,
) -> Result<(), Error> {
    let Some(&first) = values.first() else { return Ok(()) };
    let mut appender = Appender::behind(layout, first, values.len());
    let line = appender.line();
    let before = layout.lines.get(line).copied();
    let all = values.iter().try_for_each(|&y| appender.push(layout, y, stash, spare));
    let result = all.and_then(|()| appender.finish(layout, stash, spare));
    if result.is_err() {
        for i in line..layout.lines.len() {
            *layout.line(i) = [0; 8];
        }
        if let (Some(before), Some(_)) = (before, layout.lines.get(line)) {
            *layout.line(line) = before;
        }
    }
    result
}

//! Lines are written in order: by what moves a region, builds a filter, or merges two.

use super::ordered::Ordered;
use crate::error::Error;
use crate::kernel::growing::few::Few;
use crate::kernel::growing::place::Layout;
use crate::kernel::growing::{OPENED, SPARE, goes_on, set_goes_on};
use crate::layouts::growing::{BASES, MOST_KEYS};
use crate::os::spare::Spare;

/// Values that are counted from the start of a region, ascending.
pub(super) struct Buffer {
    /// As a rule there are no more.
    few: Few<{ Buffer::IN_PLACE }>,
    /// All of them, if there are.
    many: Vec<u64>,
}

impl Buffer {
    const IN_PLACE: usize = 12 * OPENED;

    pub(super) fn new() -> Buffer {
        Buffer { few: Few::new(), many: Vec::new() }
    }

    pub(super) fn all(&self) -> &[u64] {
        if self.many.is_empty() { self.few.all() } else { &self.many }
    }

    pub(super) fn all_mut(&mut self) -> &mut [u64] {
        if self.many.is_empty() { self.few.all_mut() } else { &mut self.many }
    }

    /// Room for so many more.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub(super) fn reserve(&mut self, more: usize) -> Result<(), Error> {
        if self.many.is_empty() && self.few.len() + more <= Buffer::IN_PLACE {
            return Ok(());
        }
        self.grow(more)
    }

    #[cold]
    fn grow(&mut self, more: usize) -> Result<(), Error> {
        if self.many.is_empty() {
            reserve(&mut self.many, self.few.len() + more)?;
            self.many.extend_from_slice(self.few.all());
            return Ok(());
        }
        reserve(&mut self.many, more)
    }

    /// Puts the values of a line behind these. Returns how many there are.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[inline]
    pub(super) fn open(&mut self, layout: &Layout, line: usize) -> Result<usize, Error> {
        if self.many.is_empty()
            && let Some(count) = self.few.open(layout, line)
        {
            return Ok(count);
        }
        self.open_more(layout, line)
    }

    #[cold]
    fn open_more(&mut self, layout: &Layout, line: usize) -> Result<usize, Error> {
        self.reserve(OPENED)?;
        let mut values = [0; OPENED];
        let count = layout.open(line, &mut values);
        self.many.extend_from_slice(&values[..count]);
        Ok(count)
    }

    /// Puts values behind these.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn extend(&mut self, more: impl ExactSizeIterator<Item = u64>) -> Result<(), Error> {
        self.reserve(more.len())?;
        more.for_each(|value| self.push(value));
        Ok(())
    }

    /// Puts a value behind these, for which there is room.
    pub(super) fn push(&mut self, value: u64) {
        if self.many.is_empty() {
            if self.few.push(value) {
                return;
            }
            self.many.extend_from_slice(self.few.all());
        }
        self.many.push(value);
    }

    /// Drops those from so many on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.few.truncate(len);
        self.many.truncate(len);
    }

    /// Drops some.
    pub(super) fn drop(&mut self, from: usize, until: usize) {
        let all = self.all_mut();
        let len = all.len() - (until - from);
        all.copy_within(until.., from);
        self.truncate(len);
    }
}

fn reserve(values: &mut Vec<u64>, more: usize) -> Result<(), Error> {
    values.try_reserve(more).map_err(|_| Error::OutOfMemory)
}

/// Writes ascending values to a layout, of which none is lower than what is there, from a line on. The
/// values of that line are the first. Unless these are `all`, some are left, of which more may come into
/// the same line. Returns how many are written, and the line for the next.
///
/// # Errors
/// [`Error::OutOfMemory`]; some lines are written, and nothing is put beside them.
pub(super) fn write(
    layout: &mut Layout,
    values: &[u64],
    mut line: usize,
    all: bool,
    stash: &mut Ordered,
    spare: &mut Spare,
) -> Result<(usize, usize), Error> {
    let least = if all { 0 } else { MOST_KEYS };
    let (mut rest, limit, r) = (values, layout.values(), layout.r);
    let mut reserved = false;
    let lowest = BASES[0] << r;
    while rest.len() > least {
        let first = rest[0];
        let mut start = layout.start(line);
        if first.wrapping_sub(start) as i64 >= limit {
            line = layout.home(first);
            start = layout.start(line);
        }
        let too_low = (first.wrapping_sub(start) as i64) < lowest;
        let there = if too_low || line >= layout.homes + SPARE {
            false
        } else {
            match layout.lines.grow_to(line + 1, spare) {
                Ok(()) => true,
                // What is beside the lines stays there, and the rest goes there, too.
                Err(_) if reserved => false,
                Err(error) => return Err(error),
            }
        };
        if !there {
            if !reserved {
                stash.reserve(rest.len())?;
                reserved = true;
            }
            let is_out = |&&y: &&u64| {
                let value = y.wrapping_sub(start) as i64;
                value < if too_low { lowest } else { limit }
            };
            let out = rest.iter().take_while(is_out).count();
            rest[..out].iter().for_each(|&y| stash.add(layout.normal(y), 1));
            rest = &rest[out..];
            continue;
        }
        let (written, took) = layout.calls.close(rest, start, limit, false, r);
        rest = &rest[took..];
        // Behind the last line there is none.
        let is_last = line + 1 >= layout.homes + SPARE;
        let goes = rest.first().is_some_and(|next| (next.wrapping_sub(start) as i64) < limit);
        let place = layout.line(line);
        *place = written;
        // Behind the copy, which would wait for a word that is written before.
        set_goes_on(place, goes && !is_last);
        line += 1;
    }
    Ok((values.len() - rest.len(), line))
}

/// The line of a layout behind which nothing is, if all in it is below `y`.
pub(super) fn end(layout: &Layout, y: u64) -> usize {
    let mut line = layout.home(y);
    while layout.lines.get(line).is_some_and(goes_on) {
        line += 1;
    }
    line
}

/// Values that come one by one into an empty layout, ascending.
pub(super) struct Appender {
    line: usize,
    values: [u64; Appender::WRITTEN_TOGETHER],
    len: usize,
}

impl Appender {
    /// So many values are written together.
    const WRITTEN_TOGETHER: usize = 8 * OPENED;

    pub(super) fn new() -> Appender {
        Appender { line: 0, values: [0; Appender::WRITTEN_TOGETHER], len: 0 }
    }

    /// Appends a value that is counted from the start of the region.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; some lines are written.
    #[inline]
    pub(super) fn push(
        &mut self,
        layout: &mut Layout,
        y: u64,
        stash: &mut Ordered,
        spare: &mut Spare,
    ) -> Result<(), Error> {
        if self.len == Appender::WRITTEN_TOGETHER {
            self.write(layout, false, stash, spare)?;
        }
        self.values[self.len] = y;
        self.len += 1;
        Ok(())
    }

    /// Appends prefixes, as [`Layout::normal`] counts.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; some lines are written.
    pub(super) fn extend(
        &mut self,
        layout: &mut Layout,
        mut prefixes: &[u64],
        stash: &mut Ordered,
        spare: &mut Spare,
    ) -> Result<(), Error> {
        while !prefixes.is_empty() {
            if self.len == Appender::WRITTEN_TOGETHER {
                self.write(layout, false, stash, spare)?;
            }
            let room = &mut self.values[self.len..];
            let (now, later) = prefixes.split_at(prefixes.len().min(room.len()));
            room.iter_mut().zip(now).for_each(|(y, &prefix)| *y = layout.of_normal(prefix));
            self.len += now.len();
            prefixes = later;
        }
        Ok(())
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; some lines are written.
    pub(super) fn finish(
        &mut self,
        layout: &mut Layout,
        stash: &mut Ordered,
        spare: &mut Spare,
    ) -> Result<(), Error> {
        self.write(layout, true, stash, spare)
    }

    #[inline(never)]
    fn write(
        &mut self,
        layout: &mut Layout,
        all: bool,
        stash: &mut Ordered,
        spare: &mut Spare,
    ) -> Result<(), Error> {
        let values = &self.values[..self.len];
        let (count, line) = write(layout, values, self.line, all, stash, spare)?;
        self.values.copy_within(count..self.len, 0);
        (self.line, self.len) = (line, self.len - count);
        Ok(())
    }
}

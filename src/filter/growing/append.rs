//! Lines are written in order: by what moves a region, builds a filter, or merges two.

use super::chain::{SPARE, Values};
use super::ordered::Ordered;
use crate::error::Error;
use crate::kernel::growing::place::Layout;
use crate::kernel::growing::{goes_on, set_goes_on};
use crate::os::memory::Zeroed;

/// The values that are to come into a line and the next ones, ascending.
pub(super) struct Appender {
    line: usize,
    values: Values,
    /// How many values may go beside the lines, for whom room is made when the first does; none: for
    /// each by itself.
    most_beside: usize,
    reserved: bool,
}

impl Appender {
    /// Behind all values of `layout`, of which the next is `y`; at most `count` come.
    pub(super) fn behind(layout: &Layout, y: u64, count: usize) -> Appender {
        let mut line = layout.home(y);
        while layout.lines.get(line).is_some_and(goes_on) {
            line += 1;
        }
        let mut values = Values::new();
        if let Some(last) = layout.lines.get(line) {
            values.open(layout.calls, last, layout.r);
        }
        let most_beside = count + values.all().len();
        Appender { line, values, most_beside, reserved: false }
    }

    /// Of an empty layout.
    pub(super) fn new() -> Appender {
        Appender { line: 0, values: Values::new(), most_beside: 0, reserved: false }
    }

    /// The line that is written next.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Appends a value that is counted from the start of the region.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; some lines are written.
    pub(super) fn push(
        &mut self,
        layout: &mut Layout,
        y: u64,
        stash: &mut Ordered,
        spare: &mut Option<Zeroed>,
    ) -> Result<(), Error> {
        let home = layout.home(y);
        while home > self.line && !self.values.all().is_empty() || self.values.is_full() {
            self.write(layout, stash, spare)?;
        }
        if home > self.line {
            self.line = home;
        }
        self.values.push(y.wrapping_sub(layout.start(self.line)) as i64);
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
        spare: &mut Option<Zeroed>,
    ) -> Result<(), Error> {
        while !self.values.all().is_empty() {
            self.write(layout, stash, spare)?;
        }
        Ok(())
    }

    /// Writes a line, or puts beside what none has room for.
    fn write(
        &mut self,
        layout: &mut Layout,
        stash: &mut Ordered,
        spare: &mut Option<Zeroed>,
    ) -> Result<(), Error> {
        let beyond = self.line >= layout.homes + SPARE;
        let out = if beyond { self.values.all().len() } else { self.values.too_low(layout.r) };
        if out > 0 {
            // For all that may follow, too, so that nothing is there if this fails.
            if !self.reserved {
                stash.reserve(self.most_beside.max(out))?;
                self.reserved = self.most_beside > 0;
            }
            for &value in &self.values.all()[..out] {
                let y = layout.start(self.line).wrapping_add_signed(value);
                stash.add(layout.normal(y), 1);
            }
            self.values.drop_first(out);
            // Further values may be at home here.
            return Ok(());
        }
        layout.lines.grow_to(self.line + 1, spare)?;
        let (mut line, took) = layout.calls.close(self.values.all(), false, layout.r);
        self.values.drop_first(took);
        // Behind the last one there is none.
        let is_last = self.line + 1 >= layout.homes + SPARE;
        set_goes_on(&mut line, !self.values.all().is_empty() && !is_last);
        *layout.line(self.line) = line;
        self.values.in_next_line(layout.values());
        self.line += 1;
        Ok(())
    }
}

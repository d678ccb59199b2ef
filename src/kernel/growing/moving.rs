//! Layouts that are made to be filled, and lines of one that are moved to another without taking out their values,
//! where that can be done.

use super::Calls;
use super::place::{Common, Layout};
use super::splice::{Moved, Task};
use super::store::{Lines, SPARE};
use crate::error::Error;
use crate::os::spare::Spare;
use crate::shape::growing::Width;
use std::ops::Range;

impl Layout {
    /// Without a line yet: of part `j` of `parts`, with prefixes of this length.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(
        common: Common,
        calls: &'static Calls,
        (part, parts): (u64, u64),
        length: u32,
        lines: u64,
    ) -> Result<Layout, Error> {
        let width = Width::new((common.prefixes << length) / parts, lines, common.mixed());
        Layout::empty(common, calls, (part, parts), length, width)
    }

    /// The same, of this width.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn empty(
        common: Common,
        calls: &'static Calls,
        parts: (u64, u64),
        length: u32,
        width: Width,
    ) -> Result<Layout, Error> {
        let mut layout = Layout::of(common, calls, parts, length, width)?;
        layout.lines = Lines::planned(layout.homes)?;
        Ok(layout)
    }

    /// Whether the values of a layout and of another are the same but for where lines begin, which is between two
    /// buckets in both.
    pub(crate) fn is_like(&self, other: &Layout) -> bool {
        let whole = |layout: &Layout| layout.values() & ((1 << layout.r) - 1) == 0;
        (self.r, self.length) == (other.r, other.length) && whole(self) && whole(other)
    }

    /// Moves the values of which some lines are the home to a layout that is like this one, behind all that are there,
    /// from `line` on. `None` if they have to be taken out. Then no line is changed.
    #[inline]
    pub(crate) fn splice_into(
        &self,
        fresh: &mut Layout,
        homes: Range<usize>,
        line: usize,
        spare: &mut Spare,
    ) -> Option<Moved> {
        let buckets = [self.values() >> self.r, fresh.values() >> fresh.r];
        let most = fresh.homes + SPARE;
        let task = Task { r: self.r, buckets, homes: [homes.start, homes.end], line, most };
        // SAFETY: the calls are those of a backend of this CPU.
        unsafe {
            (fresh.calls.splice)(&self.lines, &mut fresh.lines, &task, self.is_mixed(), spare)
        }
    }
}

//! All prefixes in order, each with its count.

use super::GrowingFilter;
use crate::kernel::growing::OPENED;
use crate::kernel::growing::place::{Common, Layout};
use std::iter::Peekable;

impl GrowingFilter {
    /// The prefixes in order, each once with its count, as [`Common::normal`] counts them.
    ///
    /// [`Common::normal`]: crate::kernel::growing::place::Common::normal
    pub(super) fn runs(&self) -> impl Iterator<Item = (u64, u64)> {
        let lines = InLines::new(self);
        let beside = Sum { a: self.copies.iter().peekable(), b: self.stash.iter().peekable() };
        Sum { a: lines.peekable(), b: beside.peekable() }
    }

    /// Returns the false-positive rate at present, 0 to 1: the part of all hashes whose prefix is there.
    /// It is exact, and reads the whole filter.
    pub fn estimated_rate(&self) -> f64 {
        rate(self.common, self.runs())
    }

    /// Returns an iterator over the prefixes that are there, ascending, each with its count. Of a bounded
    /// filter they are numbers below [`prefix_count`](GrowingFilter::prefix_count). Of an unbounded one
    /// each is the prefix, a 1, and zeros up to the longest that there can be.
    pub fn prefixes(&self) -> impl Iterator<Item = (u64, u64)> {
        self.runs()
    }
}

/// Equal neighbours, counted.
pub(super) struct Runs<I: Iterator<Item = u64>> {
    pub(super) all: Peekable<I>,
}

impl<I: Iterator<Item = u64>> Iterator for Runs<I> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let prefix = self.all.next()?;
        let mut count = 1;
        while self.all.next_if_eq(&prefix).is_some() {
            count += 1;
        }
        Some((prefix, count))
    }
}

/// The part of all hashes whose prefix is among these, which ascend.
pub(super) fn rate(common: Common, runs: impl Iterator<Item = (u64, u64)>) -> f64 {
    // A prefix that another is a prefix of adds nothing to it.
    let (mut covered, mut rate) = (0, 0.0);
    for (prefix, _) in runs {
        let half = common.half(prefix);
        let (from, until) = (prefix - half, prefix + half.max(1));
        if from >= covered {
            rate += (until - from) as f64;
            covered = until;
        } else if until > covered {
            rate += (until - covered) as f64;
            covered = until;
        }
    }
    rate / common.prefixes as f64 / common.values_of_prefix()
}

/// Two ascending sequences as one. Counts of the same prefix are summed up.
pub(super) struct Sum<A: Iterator, B: Iterator> {
    pub(super) a: Peekable<A>,
    pub(super) b: Peekable<B>,
}

impl<A: Iterator<Item = (u64, u64)>, B: Iterator<Item = (u64, u64)>> Iterator for Sum<A, B> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        match (self.a.peek(), self.b.peek()) {
            (Some(&(a, in_a)), Some(&(b, in_b))) if a == b => {
                self.a.next();
                self.b.next();
                // What bytes state that are not verified may be any.
                Some((a, in_a.saturating_add(in_b)))
            }
            (Some(&(a, _)), Some(&(b, _))) if a > b => self.b.next(),
            (None, _) => self.b.next(),
            _ => self.a.next(),
        }
    }
}

/// What is in the lines.
struct InLines<'a> {
    filter: &'a GrowingFilter,
    /// The region at work, whether its new lines are done, and the next line.
    region: usize,
    fresh_done: bool,
    line: usize,
    /// The values of the line before, counted from the start of the region; how many they are, and the
    /// next.
    values: [u64; OPENED],
    len: usize,
    at: usize,
}

impl<'a> InLines<'a> {
    fn new(filter: &'a GrowingFilter) -> InLines<'a> {
        let values = [0; OPENED];
        let mut all =
            InLines { filter, region: 0, fresh_done: false, line: 0, values, len: 0, at: 0 };
        all.begin_region();
        all
    }

    fn begin_region(&mut self) {
        let moved = self.filter.sweep.as_ref().is_some_and(|sweep| sweep.region == self.region);
        (self.fresh_done, self.line) = (!moved, 0);
    }

    /// The layout at work, and the value from which on it counts.
    fn layout(&self) -> Option<(&'a Layout, u64)> {
        let layouts = &self.filter.places.layouts;
        match &self.filter.sweep {
            Some(sweep) if sweep.region == self.region && !self.fresh_done => {
                Some((layouts.last()?, 0))
            }
            Some(sweep) if sweep.region == self.region => {
                let old = &layouts[self.region];
                Some((old, old.start(sweep.line)))
            }
            _ if self.region < self.filter.regions.len() => Some((&layouts[self.region], 0)),
            _ => None,
        }
    }

    /// The next prefix, repeated ones each time.
    #[inline]
    fn each(&mut self) -> Option<u64> {
        loop {
            let (layout, from) = self.layout()?;
            while let Some(&y) = self.values[..self.len].get(self.at) {
                self.at += 1;
                // Those before are moved.
                if y >= from {
                    return Some(layout.normal(y));
                }
            }
            if self.line < layout.lines.len() {
                (self.len, self.at) = (layout.open(self.line, &mut self.values), 0);
                self.line += 1;
                continue;
            }
            (self.len, self.at) = (0, 0);
            if self.fresh_done {
                self.region += 1;
                self.begin_region();
            } else {
                self.fresh_done = true;
                self.line = self.filter.sweep.as_ref().map_or(0, |sweep| sweep.line);
            }
        }
    }

    fn peek(&mut self) -> Option<u64> {
        let next = self.each()?;
        self.at -= 1;
        Some(next)
    }
}

impl Iterator for InLines<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let prefix = self.each()?;
        let mut count = 1;
        while self.peek() == Some(prefix) {
            self.each();
            count += 1;
        }
        Some((prefix, count))
    }
}

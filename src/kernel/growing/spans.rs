//! Encoded lines of growing filters, probed where they are.

use super::super::prefetch::{INTO_L1, Prefetch, Reads, ahead, prefetch};
use super::super::shared::Probed;
use super::place::Layout;
use super::regions::{Regions, Where};
use super::tiles::{Homes, contains_all};
use super::{Calls, Found, Line};
use crate::layouts::growing::BASES;
use crate::line::LINE_BYTES;
use std::marker::PhantomData;

/// The lines of a region: how they are laid out, the number of the first, and how many there are.
pub(crate) struct Span {
    pub(crate) layout: Layout,
    pub(crate) first: usize,
    pub(crate) count: usize,
}

impl Clone for Span {
    fn clone(&self) -> Span {
        Span { layout: self.layout.bare(), ..*self }
    }
}

impl Span {
    /// What is known of a value in a line without that. No line has a value so far behind its home. From
    /// the last line only damaged ones lead on, and rule nothing out.
    #[inline(always)]
    fn known(&self, line: usize, value: i64) -> Option<bool> {
        let too_far = value >> self.layout.r < BASES[0];
        (too_far || line >= self.count).then_some(!too_far)
    }
}

/// The lines of all regions, in bytes that nobody writes.
#[derive(Clone, Copy)]
pub(crate) struct Spans<'a> {
    all: &'a [Span],
    mask: usize,
    bytes: Probed<'a>,
    /// The same, where the CPU reads lines as they are.
    lines: Option<&'a [Line]>,
}

impl<'a> Spans<'a> {
    /// Regions, a power of 2 of them, whose lines are in these bytes.
    ///
    /// # Panics
    /// If there are no regions, or too few bytes.
    #[inline]
    pub(crate) fn new(all: &'a [Span], bytes: &'a [u8]) -> Spans<'a> {
        let end = all[all.len() - 1].first + all[all.len() - 1].count;
        assert!(bytes.len() / LINE_BYTES >= end, "the lines of all regions");
        // SAFETY: lanes are any bytes.
        let (before, lines, _) = unsafe { bytes.align_to::<Line>() };
        let as_they_are = cfg!(target_endian = "little") && before.is_empty() && lines.len() >= end;
        let lines = as_they_are.then_some(lines);
        Spans { all, mask: all.len() - 1, bytes: Probed::from(bytes), lines }
    }

    /// The region of a hash.
    #[inline(always)]
    pub(crate) fn of(&self, hash: u64) -> &'a Span {
        &self.all[(hash >> 60) as usize & self.mask]
    }

    /// A line of a region, if it has so many.
    #[inline(always)]
    pub(crate) fn line(&self, span: &Span, number: usize) -> Option<Line> {
        (number < span.count).then(|| match self.lines {
            Some(lines) => lines[span.first + number],
            None => self.bytes.line(span.first + number),
        })
    }

    /// Whether the lines may have a key.
    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        let span = self.of(hash);
        let layout = &span.layout;
        let (mut line, mut value) = layout.place(hash);
        loop {
            if let Some(known) = span.known(line, value) {
                return known;
            }
            // No copy of a line that is as it is read: the kernels load words of it where they wrote none.
            let found = match self.lines {
                Some(lines) => layout.look(&lines[span.first + line], value),
                None => layout.look(&self.bytes.line(span.first + line), value),
            };
            match found {
                Found::Present => return true,
                Found::Absent => return false,
                Found::Onward => (line, value) = (line + 1, value - layout.values()),
            }
        }
    }

    /// Prefetches the home of a key.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        let span = self.of(hash);
        let line = span.first + span.layout.place(hash).0;
        prefetch::<INTO_L1>(self.bytes.start().wrapping_add(line * LINE_BYTES));
    }

    /// Probes the lines for many keys: bit `i` of the words says whether they may have key `i`. Returns
    /// how many bits are set.
    pub(crate) fn contains_all(&self, calls: &Calls, hashes: &[u64], words: &mut [u64]) -> usize {
        if self.lines.is_some() {
            return contains_all(self, calls, hashes, self.plan(), words);
        }
        let mut present = 0;
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(i + ahead::GROWING) {
                self.prefetch(later);
            }
            if i % 64 == 0 {
                words[i / 64] = 0;
            }
            let is_there = self.contains(hash);
            words[i / 64] |= u64::from(is_there) << (i % 64);
            present += usize::from(is_there);
        }
        present
    }

    /// How a batch prefetches its lines.
    pub(crate) fn plan(&self) -> Prefetch {
        Prefetch::to_probe(Reads::Several, self.bytes.len())
    }
}

/// What is read where there is no line.
static EMPTY: Line = [0; 8];

/// Of lines as they are in memory.
impl Homes for Spans<'_> {
    /// The number of the region, the line there, and the value there.
    type Place = (usize, usize, i64);

    #[inline(always)]
    fn home(&self, hash: u64) -> Self::Place {
        let of = (hash >> 60) as usize & self.mask;
        let (line, value) = self.all[of].layout.place(hash);
        (of, line, value)
    }

    #[inline(always)]
    fn line(&self, &(of, line, _): &Self::Place) -> &Line {
        let Span { first, count, .. } = self.all[of];
        let at = self.lines.filter(|_| line < count).and_then(|lines| lines.get(first + line));
        at.unwrap_or(&EMPTY)
    }

    #[inline(always)]
    fn value(&self, place: &Self::Place) -> i64 {
        place.2
    }

    #[inline(always)]
    fn width(&self, place: &Self::Place) -> u32 {
        self.all[place.0].layout.r
    }

    #[inline(always)]
    fn next(&self, &(of, line, value): &Self::Place) -> Self::Place {
        (of, line + 1, value - self.all[of].layout.values())
    }

    fn regions(&self) -> Option<Regions<'_>> {
        let lines = self.lines?;
        let most = self.all.iter().map(|span| span.layout.most_prefixes()).max()?;
        let mut regions = Regions::new(self.mask, most, (0, 0), self.is_mixed(), false);
        for (i, span) in self.all.iter().enumerate() {
            let own = lines.get(span.first..)?.get(..span.count)?;
            let starts = own.as_ptr().cast();
            let own = Where { starts, first: 0, count: own.len(), log2: 0, lines: PhantomData };
            regions.set(Some(i), span.layout.region(own));
        }
        Some(regions)
    }

    #[inline(always)]
    fn is_mixed(&self) -> bool {
        self.all[0].layout.is_mixed()
    }

    #[inline(always)]
    fn known(&self, &(of, line, value): &Self::Place) -> Option<bool> {
        self.all[of].known(line, value)
    }
}

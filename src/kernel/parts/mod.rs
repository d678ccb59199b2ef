//! The parts of a filter, for threads that insert at once: the number of a key's line grows with its hash, so a
//! range of lines is a range of hashes too. Hashes are sorted by the part that they belong to, and what the parts
//! say of them is brought back into the order that they had.

mod partition;

use super::Kernel;
use crate::line::{LINE_BYTES, line_index};
use partition::{Calls, Sides};
use std::mem;
use std::ops::{Range, RangeInclusive};

/// Hashes that are sorted at a time.
pub(super) const CHUNK: usize = 4096;
/// The words of a bit for each of them.
pub(super) const CHUNK_WORDS: usize = CHUNK / 64;

/// Some lines of a filter.
pub(super) struct Part<'a> {
    pub(super) number: usize,
    pub(super) lines: &'a mut [u8],
    /// The number of the first of them.
    pub(super) first: u64,
    /// The number of all lines of the filter, at least 1.
    pub(super) all: u64,
}

impl Part<'_> {
    /// The lowest and the highest hash whose lines are here.
    pub(super) fn bounds(&self) -> RangeInclusive<u64> {
        let end = self.first + (self.lines.len() / LINE_BYTES) as u64;
        let (low, high) = (lowest_hash(self.first, self.all), lowest_hash(end, self.all) - 1);
        let (low, high) = (low as u64, high as u64);
        assert!(line_index(low, self.all) >= self.first && line_index(high, self.all) < end);
        low..=high
    }
}

/// The lowest hash of a line of so many; of the line behind them 2^64.
fn lowest_hash(line: u64, lines: u64) -> u128 {
    // line_index(hash) >= line exactly if hash * lines >= line * 2^64.
    (u128::from(line) << 64).div_ceil(lines.into())
}

/// A filter of so many lines in parts, none empty: each line is in one.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) lines: u64,
    pub(super) count: usize,
}

impl Parts {
    /// Up to so many parts.
    pub(super) fn of(lines: u64, count: usize) -> Parts {
        Parts { lines, count: count.min(lines as usize) }
    }

    /// The first line of a part; of the part behind the last, the number of lines.
    pub(super) fn first_line(self, part: usize) -> u64 {
        (u128::from(self.lines) * part as u128 / self.count as u128) as u64
    }

    /// The lines of each part.
    pub(super) fn split(self, lines: &mut [u8]) -> impl Iterator<Item = Part<'_>> {
        let mut rest = lines;
        (0..self.count).map(move |number| {
            let (first, end) = (self.first_line(number), self.first_line(number + 1));
            let here = mem::take(&mut rest);
            let (lines, others) = here.split_at_mut((end - first) as usize * LINE_BYTES);
            rest = others;
            Part { number, lines, first, all: self.lines }
        })
    }

    /// The words that [`Sorter::sort`] writes for a chunk, at most.
    pub(super) fn side_words(self) -> usize {
        let levels = self.count.next_power_of_two().ilog2() as usize;
        levels * CHUNK_WORDS + self.count
    }
}

/// Up to `N` hashes, sorted by the part that they belong to. Within a part they keep their order.
pub(super) struct Sorter<const N: usize> {
    calls: &'static Calls,
    parts: Parts,
    /// Those of the later parts, for a while.
    later: [u64; N],
}

impl<const N: usize> Sorter<N> {
    pub(super) fn new(parts: Parts, kernel: &Kernel) -> Sorter<N> {
        Sorter { calls: Calls::of(kernel), parts, later: [0; N] }
    }

    /// Sorts hashes of these parts: those of the earlier half of the parts, then those of the later half, and
    /// each half in the same way. The ends of the last part and of the part before the first are known; it finds
    /// the others.
    ///
    /// If it is to be `UNDONE`, the first words of `sides` say which hashes were those of the later half, and
    /// the next ones the same of each half: [`Sorted`] reads them. Returns the words behind.
    pub(super) fn sort<'a, const UNDONE: bool>(
        &mut self,
        parts: Range<usize>,
        hashes: &mut [u64],
        sides: &'a mut [u64],
        ends: &mut [u16],
    ) -> &'a mut [u64] {
        let middle = parts.start.midpoint(parts.end);
        if middle == parts.start {
            return sides;
        }
        let bound = lowest_hash(self.parts.first_line(middle), self.parts.lines) as u64;
        let words = if UNDONE { hashes.len().div_ceil(64) } else { 0 };
        let (own_sides, sides) = sides.split_at_mut(words);
        // SAFETY: this CPU runs the kernel, since it exists.
        let low = unsafe { (self.calls.partition)(hashes, bound, &mut self.later, own_sides) };
        let (hashes, later) = hashes.split_at_mut(low);
        ends[middle - 1] = start_of(parts.start, ends) + low as u16;
        let sides = self.sort::<UNDONE>(parts.start..middle, hashes, sides, ends);
        self.sort::<UNDONE>(middle..parts.end, later, sides, ends)
    }
}

/// Where a part starts, by the ends of the parts.
pub(super) fn start_of(part: usize, ends: &[u16]) -> u16 {
    part.checked_sub(1).map_or(0, |before| ends[before])
}

/// What the parts say of a chunk of hashes that a [`Sorter`] has sorted.
pub(super) struct Sorted<'a, A: Fn(usize) -> &'a [u64]> {
    pub(super) kernel: &'a Kernel,
    /// Where the hashes of each part end.
    pub(super) ends: &'a [u16],
    /// What the sorter wrote.
    pub(super) sides: &'a [u64],
    /// The answers of a part, a bit for each of its hashes.
    pub(super) answers: A,
}

impl<'a, A: Fn(usize) -> &'a [u64]> Sorted<'a, A> {
    /// The answers in the order that the hashes had.
    pub(super) fn undo(&mut self, out: &mut [u64]) {
        let mut room = [0; CHUNK_WORDS];
        out.copy_from_slice(&self.of(0..self.ends.len(), &mut room)[..out.len()]);
    }

    /// The answers of these parts, in the order that their hashes had: at the end in `room`, or where they are.
    fn of<'b>(&mut self, parts: Range<usize>, room: &'b mut [u64; CHUNK_WORDS]) -> &'b [u64]
    where
        'a: 'b,
    {
        let middle = parts.start.midpoint(parts.end);
        if middle == parts.start {
            return (self.answers)(middle);
        }
        let len = usize::from(self.ends[parts.end - 1] - start_of(parts.start, self.ends));
        let words = self.sides.split_off(..len.div_ceil(64)).expect("the sorter's words");
        let mut rooms = [[0; CHUNK_WORDS]; 2];
        let [early, late] = &mut rooms;
        let early = self.of(parts.start..middle, early);
        let late = self.of(middle..parts.end, late);
        // SAFETY: this CPU runs the kernel, since it exists.
        unsafe { (Calls::of(self.kernel).merge)(Sides { len, words }, early, late, room) };
        room
    }
}

#[cfg(test)]
mod tests {
    use super::super::backend::Backend;
    use super::super::layout::Layout;
    use super::*;

    #[test]
    fn each_line_is_in_one_part_and_its_hashes_too() {
        for count in [1usize, 2, 5, 64, 1001] {
            for parts in [1, 2, 3, 7, 64, 300] {
                let parts = Parts::of(count as u64, parts);
                let mut lines = vec![0u8; count * LINE_BYTES];
                let (mut next_line, mut next_hash) = (0, Some(0));
                for part in parts.split(&mut lines) {
                    assert_eq!((part.first, part.all), (next_line, count as u64));
                    next_line += (part.lines.len() / LINE_BYTES) as u64;
                    let (low, high) = part.bounds().into_inner();
                    assert_eq!(Some(low), next_hash);
                    assert_eq!(line_index(low, part.all), part.first);
                    assert_eq!(line_index(high, part.all), next_line - 1);
                    next_hash = high.checked_add(1);
                }
                assert_eq!((next_line, next_hash), (count as u64, None));
            }
        }
    }

    #[test]
    fn hashes_are_sorted_by_their_part_and_answers_come_back_into_their_order() {
        let kernels = Backend::ALL.into_iter().filter_map(|backend| backend.kernels());
        let kernels: Vec<&Kernel> = kernels.map(|kernels| kernels.of(Layout::Native)).collect();
        for (lines, count) in [(2, 2), (7, 3), (1000, 1), (1000, 8), (1000, 13), (1 << 30, 256)] {
            let parts = Parts::of(lines, count);
            let hash = |i: u64| (i / 3).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let lens = [0, 1, 7, 8, 63, 64, 65, 1001, CHUNK - 1, CHUNK];
            for (&kernel, len) in kernels.iter().flat_map(|kernel| lens.map(|len| (kernel, len))) {
                sorted_and_undone(kernel, parts, &(0..len as u64).map(hash).collect::<Vec<_>>());
            }
        }
    }

    fn sorted_and_undone(kernel: &Kernel, parts: Parts, given: &[u64]) {
        let part = |hash: u64| {
            let line = line_index(hash, parts.lines);
            (1..=parts.count).find(|&part| line < parts.first_line(part)).unwrap() - 1
        };
        let parts_of: Vec<usize> = given.iter().map(|&hash| part(hash)).collect();
        let mut expected: Vec<usize> = (0..given.len()).collect();
        expected.sort_by_key(|&i| parts_of[i]);

        let (mut hashes, mut ends) = (given.to_vec(), vec![given.len() as u16; parts.count]);
        let mut sides = vec![u64::MAX; parts.side_words()];
        let mut sorter = Sorter::<CHUNK>::new(parts, kernel);
        sorter.sort::<true>(0..parts.count, &mut hashes, &mut sides, &mut ends);
        assert!(hashes.iter().eq(expected.iter().map(|&i| &given[i])));
        for (part, &end) in ends.iter().enumerate() {
            assert_eq!(usize::from(end), parts_of.iter().filter(|&&of| of <= part).count());
        }
        let mut alone = given.to_vec();
        sorter.sort::<false>(0..parts.count, &mut alone, &mut [], &mut ends);
        assert_eq!(alone, hashes);

        // What each part answers: any bits, and other ones behind them.
        let answer = |i: usize| i.wrapping_mul(0x9E37_79B9) >> 7 & 1;
        let words: Vec<[u64; CHUNK_WORDS]> = (0..parts.count)
            .map(|part| {
                let mut words = [u64::MAX; CHUNK_WORDS];
                let own = start_of(part, &ends).into()..ends[part].into();
                for (at, &i) in expected[own].iter().enumerate() {
                    words[at / 64] &= !(u64::from(answer(i) == 0) << (at % 64));
                }
                words
            })
            .collect();
        let mut out = vec![0; given.len().div_ceil(64)];
        let answers = |part: usize| &words[part][..];
        Sorted { kernel, ends: &ends, sides: &sides, answers }.undo(&mut out);
        for i in 0..given.len() {
            assert_eq!(
                out[i / 64] >> (i % 64) & 1,
                answer(i) as u64,
                "{}, {i}",
                kernel.backend.name()
            );
        }
        let behind =
            out.last().map_or(0, |last| last & !(u64::MAX >> (64 * out.len() - given.len())));
        assert!(behind == 0 || parts.count == 1, "no bits behind the last");
    }
}

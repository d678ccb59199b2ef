//! A batch of inserts by several threads, without atomics: the number of a key's line grows with
//! its hash, so each thread has a range of lines of its own.
//!
//! First all threads make the hashes, a chunk at a time, and sort each chunk by the part of the
//! filter that its hashes belong to, in which they keep their order. Then each takes a part of the
//! filter, and inserts what belongs there. Where hashes are given and no answers are wanted, each reads
//! all of them instead.

use super::absent::insert_absent;
use super::batch::{Hashes, TILE};
use super::lines::Lines;
use super::prefetch::{Prefetch, Reads};
use super::single::Single;
use super::{Kernel, Layout};
use crate::line::{LINE_BYTES, line_index};
use crate::os::threads;
use std::mem;
use std::ops::{Range, RangeInclusive};

/// Hashes for each thread, at least: fewer are inserted before another thread has started.
pub(crate) const LEAST_EACH: usize = 1 << 15;

/// Hashes that are sorted before they are inserted, at most.
const MOST_SORTED: usize = 1 << 20;
/// Hashes that are sorted at a time.
pub(super) const CHUNK: usize = 4096;
/// Hashes that are read at a time, to take some of them.
const READ: usize = 1024;
/// Hashes that are probed before they are inserted: their lines fit in the nearest cache.
const PROBED: usize = 512;

/// The threads that pay for so many keys, up to `threads`; 0: as many as there are CPUs.
pub(crate) fn threads_for(threads: usize, keys: usize) -> usize {
    threads::or_all(threads).min(keys / LEAST_EACH).max(1)
}

/// Hashes to be made: how many, and what writes those from the given one on.
pub(crate) struct Made<'a> {
    pub(crate) len: usize,
    pub(crate) make: &'a (dyn Fn(usize, &mut [u64]) + Sync),
}

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
    fn split(self, lines: &mut [u8]) -> impl Iterator<Item = Part<'_>> {
        let mut rest = lines;
        (0..self.count).map(move |number| {
            let (first, end) = (self.first_line(number), self.first_line(number + 1));
            let here = mem::take(&mut rest);
            let (lines, others) = here.split_at_mut((end - first) as usize * LINE_BYTES);
            rest = others;
            Part { number, lines, first, all: self.lines }
        })
    }
}

/// Memory for a number of hashes, chunk after chunk, each sorted by the part that a hash belongs to.
#[derive(Default)]
pub(crate) struct Room {
    hashes: Vec<u64>,
    /// Which of its chunk each was before.
    numbers: Vec<u16>,
    /// For each chunk, where the hashes of each part end.
    ends: Vec<u16>,
    /// For each part, a bit for each hash: whether it was new there.
    new: Vec<u64>,
}

impl Room {
    /// Takes the memory for so many hashes and, if wanted, what was new. None if there is not so much.
    fn for_hashes(&mut self, len: usize, parts: usize, answers: bool) -> Option<()> {
        fn zeros<T: Clone + From<u8>>(room: &mut Vec<T>, len: usize) -> Option<()> {
            room.try_reserve_exact(len.saturating_sub(room.len())).ok()?;
            room.resize(len, T::from(0));
            Some(())
        }
        let (chunks, words) = (len.div_ceil(CHUNK), len.div_ceil(TILE));
        zeros(&mut self.hashes, len)?;
        zeros(&mut self.numbers, len)?;
        zeros(&mut self.ends, chunks * parts)?;
        zeros(&mut self.new, if answers { words * parts } else { 0 })
    }

    /// The first `len` hashes with their numbers, chunk by chunk, and where those of each part end.
    fn chunks(&self, len: usize, parts: usize) -> impl Iterator<Item = (&[u64], &[u16], &[u16])> {
        let chunks = self.hashes[..len].chunks(CHUNK).zip(self.numbers.chunks(CHUNK));
        chunks.zip(self.ends.chunks(parts)).map(|((hashes, numbers), ends)| (hashes, numbers, ends))
    }
}

/// Up to `N` hashes, sorted by the part that they belong to. Within a part they keep their order.
pub(super) struct Sorter<const N: usize> {
    parts: Parts,
    /// Those of the later parts, for a while.
    later: [u64; N],
    later_numbers: [u16; N],
}

impl<const N: usize> Sorter<N> {
    pub(super) fn new(parts: Parts) -> Sorter<N> {
        Sorter { parts, later: [0; N], later_numbers: [0; N] }
    }

    /// Sorts hashes of these parts, and their numbers, if there are any. The ends of the last of them
    /// and of the part before them are known; it finds the others.
    pub(super) fn sort<const NUMBERED: bool>(
        &mut self,
        parts: Range<usize>,
        hashes: &mut [u64],
        numbers: &mut [u16],
        ends: &mut [u16],
    ) {
        let middle = parts.start.midpoint(parts.end);
        if middle == parts.start {
            return;
        }
        let bound = lowest_hash(self.parts.first_line(middle), self.parts.lines) as u64;
        let (mut low, mut high) = (0, 0);
        for i in 0..hashes.len() {
            // No branch for each: it would be a coin toss.
            let hash = hashes[i];
            (hashes[low], self.later[high]) = (hash, hash);
            if NUMBERED {
                (numbers[low], self.later_numbers[high]) = (numbers[i], numbers[i]);
            }
            low += usize::from(hash < bound);
            high += usize::from(hash >= bound);
        }
        let (hashes, later) = hashes.split_at_mut(low);
        later.copy_from_slice(&self.later[..high]);
        let (numbers, later_numbers) = numbers.split_at_mut(if NUMBERED { low } else { 0 });
        if NUMBERED {
            later_numbers.copy_from_slice(&self.later_numbers[..high]);
        }
        ends[middle - 1] = start_of(parts.start, ends) + low as u16;
        self.sort::<NUMBERED>(parts.start..middle, hashes, numbers, ends);
        self.sort::<NUMBERED>(middle..parts.end, later, later_numbers, ends);
    }
}

/// Where a part starts, by the ends of the parts.
pub(super) fn start_of(part: usize, ends: &[u16]) -> u16 {
    part.checked_sub(1).map_or(0, |before| ends[before])
}

impl Kernel {
    /// Sets the bits of many keys whose hashes are there, on up to so many threads; 0: as many as
    /// there are CPUs. Each reads all hashes and takes its own: an insert takes about as long as
    /// sorting would. False, with nothing inserted, if one thread is to do it.
    pub(crate) fn insert_given(
        &self,
        lines: &mut [u8],
        k: u32,
        hashes: &[u64],
        threads: usize,
    ) -> bool {
        let threads = threads_for(threads, hashes.len());
        let parts = Parts::of((lines.len() / LINE_BYTES) as u64, threads);
        if parts.count == 1 || self.layout != Layout::Native {
            return false;
        }
        let (plan, whole) = (Prefetch::to_insert(lines.len()), hashes.len());
        threads::share(threads, parts.split(lines), |part| {
            let (low, high) = part.bounds().into_inner();
            let lines = Lines::part_of(part.lines, part.first, part.all, k);
            let (mut own, mut len) = ([0; CHUNK + READ], 0);
            for (i, hashes) in hashes.chunks(READ).enumerate() {
                // No branch for each: it would be a coin toss.
                for &hash in hashes {
                    own[len] = hash;
                    len += usize::from(hash.wrapping_sub(low) <= high - low);
                }
                if len >= CHUNK || (i + 1) * READ >= whole {
                    // SAFETY: as in `insert_part`: these are between the bounds.
                    unsafe { (self.insert_batch)(lines, Hashes::Given(&own[..len]), plan) };
                    len = 0;
                }
            }
        });
        true
    }

    /// Sets the bits of many keys, as [`Kernel::insert_batch`] does and with the same bytes, on up
    /// to so many threads; 0: as many as there are CPUs. Says in `new`, if it is there, which were
    /// new, each as if they were inserted one by one, and returns how many; without it, 0.
    ///
    /// None, with nothing inserted: one thread is to do it. More do not pay, or there is no memory
    /// for hashes and answers, or the bits of a key lie anywhere.
    ///
    /// # Panics
    /// If `new` has not a word for each 64 keys.
    pub(crate) fn insert_parallel(
        &self,
        lines: &mut [u8],
        k: u32,
        made: &Made<'_>,
        mut new: Option<&mut [u64]>,
        threads: usize,
        room: &mut Room,
    ) -> Option<usize> {
        let threads = threads_for(threads, made.len);
        let parts = Parts::of((lines.len() / LINE_BYTES) as u64, threads);
        if parts.count == 1 || self.layout != Layout::Native {
            return None;
        }
        let answers = new.is_some();
        room.for_hashes(made.len.min(MOST_SORTED), parts.count, answers)?;
        let mut count = 0;
        for from in (0..made.len).step_by(MOST_SORTED) {
            let len = MOST_SORTED.min(made.len - from);
            let Room { hashes, numbers, ends, .. } = &mut *room;
            let chunks = hashes[..len].chunks_mut(CHUNK).zip(numbers.chunks_mut(CHUNK));
            let chunks = chunks.zip(ends.chunks_mut(parts.count)).enumerate();
            threads::share(threads, chunks, |(i, ((hashes, numbers), ends))| {
                (made.make)(from + CHUNK * i, hashes);
                ends[parts.count - 1] = hashes.len() as u16;
                let all = 0..parts.count;
                let mut sorter = Sorter::<CHUNK>::new(parts);
                if answers {
                    let numbers = &mut numbers[..hashes.len()];
                    (0..).zip(&mut *numbers).for_each(|(i, number)| *number = i);
                    sorter.sort::<true>(all, hashes, numbers, ends);
                } else {
                    sorter.sort::<false>(all, hashes, &mut [], ends);
                }
            });

            let words = len.div_ceil(64);
            let mut all_new = mem::take(&mut room.new);
            let mut rest = all_new.chunks_mut(words);
            let all = parts.split(lines).map(|part| (part, rest.next().unwrap_or_default()));
            threads::share(threads, all, |(part, new)| {
                let chunks = room.chunks(len, parts.count);
                self.insert_part(part, k, chunks, new);
            });
            if let Some(new) = &mut new {
                let new = &mut new[from / 64..][..words];
                new.fill(0);
                for part in all_new.chunks(words).take(parts.count) {
                    new.iter_mut().zip(part).for_each(|(new, part)| *new |= part);
                }
                count += new.iter().map(|word| word.count_ones() as usize).sum::<usize>();
            }
            room.new = all_new;
        }
        Some(count)
    }

    /// Inserts the hashes of a part. Says in `new`, if it is not empty, which were new.
    fn insert_part<'a>(
        &self,
        part: Part<'_>,
        k: u32,
        chunks: impl Iterator<Item = (&'a [u64], &'a [u16], &'a [u16])>,
        new: &mut [u64],
    ) {
        let (bytes, bounds) = (part.all as usize * LINE_BYTES, part.bounds());
        let lines = Lines::part_of(part.lines, part.first, part.all, k);
        let (single, insert) = (Single::of_part(lines, self), self.calls(k).insert);
        new.fill(0);
        for (i, (hashes, numbers, ends)) in chunks.enumerate() {
            let start = start_of(part.number, ends);
            let own = usize::from(start)..usize::from(ends[part.number]);
            let (hashes, numbers) = (&hashes[own.clone()], &numbers[own]);
            let inside = hashes.iter().fold(true, |all, hash| all & bounds.contains(hash));
            assert!(inside, "hashes of the part");
            if new.is_empty() {
                // SAFETY: this CPU runs the kernel, since it exists. An insert reads and writes the
                // line of its hash, no other. All hashes here are between the bounds of the part, a
                // mutable slice, and lines grow with hashes.
                unsafe {
                    (self.insert_batch)(lines, Hashes::Given(hashes), Prefetch::to_insert(bytes));
                }
                continue;
            }
            let new = &mut new[CHUNK / 64 * i..];
            for (hashes, numbers) in hashes.chunks(PROBED).zip(numbers.chunks(PROBED)) {
                let mut answers = [0; PROBED / TILE];
                let answers = &mut answers[..hashes.len().div_ceil(TILE)];
                let plan = Prefetch::to_probe(Reads::One, bytes);
                // SAFETY: as above.
                unsafe { (self.probe_batch)(lines, Hashes::Given(hashes), plan, answers) };
                // SAFETY: as above.
                insert_absent(hashes, answers, |hash| unsafe { insert(&single, hash) });
                for (numbers, &answers) in numbers.chunks(TILE).zip(&*answers) {
                    let mut left = answers;
                    while left != 0 {
                        let number = usize::from(numbers[left.trailing_zeros() as usize]);
                        new[number / 64] |= 1 << (number % 64);
                        left &= left - 1;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn hashes_are_sorted_by_their_part_and_keep_their_order() {
        for (lines, count) in [(2, 2), (7, 3), (1000, 1), (1000, 8), (1000, 13), (1 << 30, 256)] {
            let parts = Parts::of(lines, count);
            let hash = |i: u64| (i / 3).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            for len in [0, 1, 63, CHUNK] {
                let given: Vec<u64> = (0..len as u64).map(hash).collect();
                let part = |hash: u64| {
                    let line = line_index(hash, lines);
                    (1..=count).find(|&part| line < parts.first_line(part)).unwrap() - 1
                };
                let parts_of: Vec<usize> = given.iter().map(|&hash| part(hash)).collect();
                let mut expected: Vec<(u64, u16)> = given.iter().copied().zip(0..).collect();
                expected.sort_by_key(|&(_, number)| parts_of[usize::from(number)]);
                let (mut hashes, mut numbers) =
                    (given.clone(), (0..len as u16).collect::<Vec<_>>());
                let mut ends = vec![len as u16; count];
                let mut sorter = Sorter::<CHUNK>::new(parts);
                sorter.sort::<true>(0..count, &mut hashes, &mut numbers, &mut ends);
                assert!(hashes.iter().copied().zip(numbers).eq(expected.iter().copied()));
                for (part_number, &end) in ends.iter().enumerate() {
                    let at_most = parts_of.iter().filter(|&&part| part <= part_number).count();
                    assert_eq!(usize::from(end), at_most);
                }
                let mut alone = given.clone();
                sorter.sort::<false>(0..count, &mut alone, &mut [], &mut ends);
                assert_eq!(alone, hashes);
            }
        }
    }

    #[test]
    fn few_keys_take_fewer_threads() {
        let counts = [0, 1, LEAST_EACH - 1, LEAST_EACH, 3 * LEAST_EACH, 100 * LEAST_EACH];
        assert_eq!(counts.map(|keys| threads_for(7, keys)), [1, 1, 1, 1, 3, 7]);
        assert!(threads_for(0, usize::MAX) >= 1);
    }
}

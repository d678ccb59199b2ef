//! A batch of inserts by several threads, without atomics: the number of a key's line grows with
//! its hash, so each thread has a range of lines of its own.
//!
//! First all threads make the hashes, a chunk at a time, and sort each chunk by the part of the filter that its
//! hashes belong to. Then each takes a part of the filter, and inserts what belongs there. If it is asked which
//! were new, they bring the answers of each chunk back into its old order. Where hashes are given and no answers
//! are wanted, each reads all of them instead.

use super::absent::insert_absent;
use super::batch::{Hashes, TILE};
use super::lines::Lines;
use super::parts::{CHUNK, CHUNK_WORDS, Part, Parts, Sorted, Sorter, start_of};
use super::prefetch::{Prefetch, Reads};
use super::single::Single;
use super::{Kernel, Layout};
use crate::line::LINE_BYTES;
use crate::os::threads;

/// Hashes for each thread, at least: fewer are inserted before another thread has started.
pub(crate) const LEAST_EACH: usize = 1 << 15;

/// Hashes that are sorted before they are inserted, at most.
const MOST_SORTED: usize = 1 << 20;
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

/// Memory for a number of hashes, chunk after chunk, each sorted by the part that a hash belongs to.
#[derive(Default)]
pub(crate) struct Room {
    hashes: Vec<u64>,
    /// For each chunk, what brings it back into its old order.
    sides: Vec<u64>,
    /// For each chunk, where the hashes of each part end.
    ends: Vec<u16>,
    /// For each part, and each chunk there, a bit for each hash of the part: whether it was new.
    new: Vec<u64>,
}

impl Room {
    /// Takes the memory for so many hashes and, if wanted, what was new. None if there is not so much.
    fn for_hashes(&mut self, len: usize, parts: Parts, answers: bool) -> Option<()> {
        fn zeros<T: Clone + From<u8>>(room: &mut Vec<T>, len: usize) -> Option<()> {
            room.try_reserve_exact(len.saturating_sub(room.len())).ok()?;
            room.resize(len, T::from(0));
            Some(())
        }
        let chunks = len.div_ceil(CHUNK);
        let (sides, new) = (chunks * parts.side_words(), chunks * parts.count * CHUNK_WORDS);
        zeros(&mut self.hashes, len)?;
        zeros(&mut self.ends, chunks * parts.count)?;
        zeros(&mut self.sides, if answers { sides } else { 0 })?;
        zeros(&mut self.new, if answers { new } else { 0 })
    }
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
        room.for_hashes(made.len.min(MOST_SORTED), parts, answers)?;
        let (all, side_words) = (0..parts.count, parts.side_words());
        let mut count = 0;
        for from in (0..made.len).step_by(MOST_SORTED) {
            let len = MOST_SORTED.min(made.len - from);
            let Room { hashes, sides, ends, new: all_new } = &mut *room;
            let hashes = &mut hashes[..len];
            let mut rest = sides.chunks_mut(side_words);
            let chunks = hashes.chunks_mut(CHUNK).zip(ends.chunks_mut(parts.count)).enumerate();
            let chunks = chunks.map(|chunk| (chunk, rest.next().unwrap_or_default()));
            threads::share(threads, chunks, |((i, (hashes, ends)), sides)| {
                (made.make)(from + CHUNK * i, hashes);
                ends[parts.count - 1] = hashes.len() as u16;
                let (mut sorter, all) = (Sorter::<CHUNK>::new(parts, self), all.clone());
                match answers {
                    true => sorter.sort::<true>(all, hashes, sides, ends),
                    false => sorter.sort::<false>(all, hashes, sides, ends),
                };
            });

            // The words of a part, and those of a chunk of it, are apart from others: threads write there.
            let words = len.div_ceil(CHUNK) * CHUNK_WORDS;
            let mut rest = all_new.chunks_mut(words);
            let each = parts.split(lines).map(|part| (part, rest.next().unwrap_or_default()));
            threads::share(threads, each, |(part, new)| {
                let chunks = hashes.chunks(CHUNK).zip(ends.chunks(parts.count));
                self.insert_part(part, k, chunks, new);
            });
            let Some(new) = &mut new else { continue };
            let new = &mut new[from / TILE..][..len.div_ceil(TILE)];
            let chunks = new.chunks_mut(CHUNK_WORDS).zip(ends.chunks(parts.count));
            let chunks = chunks.zip(sides.chunks(side_words)).enumerate();
            threads::share(threads, chunks, |(i, ((new, ends), sides))| {
                let answers = |part| &all_new[part * words + CHUNK_WORDS * i..][..CHUNK_WORDS];
                Sorted { kernel: self, ends, sides, answers }.undo(new);
            });
            count += new.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        }
        Some(count)
    }

    /// Inserts the hashes of a part. Says in `new`, if it is not empty, which were new.
    fn insert_part<'a>(
        &self,
        part: Part<'_>,
        k: u32,
        chunks: impl Iterator<Item = (&'a [u64], &'a [u16])>,
        new: &mut [u64],
    ) {
        let (bytes, bounds) = (part.all as usize * LINE_BYTES, part.bounds());
        let lines = Lines::part_of(part.lines, part.first, part.all, k);
        let (single, insert) = (Single::of_part(lines, self), self.calls(k).insert);
        for (i, (hashes, ends)) in chunks.enumerate() {
            let start = start_of(part.number, ends);
            let hashes = &hashes[start.into()..ends[part.number].into()];
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
            let new = new[CHUNK_WORDS * i..].chunks_mut(PROBED / TILE);
            for (hashes, new) in hashes.chunks(PROBED).zip(new) {
                let plan = Prefetch::to_probe(Reads::One, bytes);
                // SAFETY: as above.
                unsafe { (self.probe_batch)(lines, Hashes::Given(hashes), plan, new) };
                // SAFETY: as above.
                insert_absent(hashes, new, |hash| unsafe { insert(&single, hash) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_keys_take_fewer_threads() {
        let counts = [0, 1, LEAST_EACH - 1, LEAST_EACH, 3 * LEAST_EACH, 100 * LEAST_EACH];
        assert_eq!(counts.map(|keys| threads_for(7, keys)), [1, 1, 1, 1, 3, 7]);
        assert!(threads_for(0, usize::MAX) >= 1);
    }
}

//! Inserts into a growing filter on several threads, each into one region at a time.

use super::GrowingFilter;
use super::regions::PARTS;
use crate::bitmap::Answers;
use crate::error::Error;
use crate::kernel::{LEAST_EACH, threads_for};
use crate::key::Key;
use crate::layouts::growing::region;
use crate::os::threads;
use std::alloc::{Layout, handle_alloc_error};
use std::mem;

/// Hashes that are sorted by region before they are inserted, at most.
const MOST_SORTED: usize = 1 << 20;
/// Keys that are hashed at a time.
const CHUNK: usize = 4096;
/// Fewer inserts go one by one.
const LEAST: usize = 2 * LEAST_EACH;
/// With fewer inserts than keys divided by this, at most one region moves, and goes on doing so in the
/// next call. The next one waits for the end of a call; four and more calls are as long as it takes to move
/// one. Otherwise regions move to the end, and a call that moves one takes five times as long as others.
const FEW_PART: u64 = 1024;
/// The bit of a hash's number that says that it was new.
const NEW: u32 = 1 << 31;

/// Memory for the hashes of a round.
#[derive(Default)]
struct Room {
    /// Those that are made of keys.
    made: Vec<u64>,
    /// By region, each in order.
    hashes: Vec<u64>,
    /// Which each was before.
    numbers: Vec<u32>,
}

impl Room {
    fn for_hashes(&mut self, len: usize, answers: bool, made: bool) -> Result<(), Error> {
        fn zeros<T: Clone + Default>(room: &mut Vec<T>, len: usize) -> Result<(), Error> {
            room.try_reserve_exact(len.saturating_sub(room.len()))
                .map_err(|_| Error::OutOfMemory)?;
            room.resize(len, T::default());
            Ok(())
        }
        zeros(&mut self.hashes, len)?;
        zeros(&mut self.numbers, if answers { len } else { 0 })?;
        zeros(&mut self.made, if made { len } else { 0 })
    }
}

/// What a thread does at a time.
struct Task<'a> {
    part: &'a mut GrowingFilter,
    hashes: &'a [u64],
    numbers: &'a mut [u32],
    done: &'a mut usize,
}

/// Inserting on several threads.
///
/// `threads` is how many at most, the caller's among them; 0: as many as there are CPUs. At most 16 take
/// part, as there are 16 regions, and each thread inserts into one at a time. It takes fewer if there are few
/// keys (another for each 32,768) or if the system starts no more. The number of threads changes neither
/// prefixes nor answers. In a bounded filter they are also those of inserts one by one. In an unbounded one
/// they may not be: here each region gets longer prefixes after some of its own inserts, so other keys may
/// have them, and other absent keys may be false positives.
///
/// Up to 1,048,576 keys are sorted by region at a time, in 8 bytes each; answers take 4 more and keys
/// another 8. Where there is no memory for that, they are inserted one by one.
impl GrowingFilter {
    /// As [`insert_keys_parallel`](GrowingFilter::insert_keys_parallel), for the hashes of keys.
    ///
    /// ```
    /// use bloomline::{GrowingFilter, hash};
    ///
    /// let hashes: Vec<u64> = (0..100_000).map(|id| hash::hash_u64(id, 0)).collect();
    /// let mut filter = GrowingFilter::new(100_000, 0.01, 0)?;
    /// filter.insert_hashes_parallel(&hashes, 0)?;
    /// assert!(filter.contains_hash(hashes[77_777]) && filter.key_count() == 100_000);
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`GrowingFilter::insert_keys_parallel`].
    pub fn insert_hashes_parallel(&mut self, hashes: &[u64], threads: usize) -> Result<(), Error> {
        self.in_rounds(Source::Given(hashes), None, threads).map(|_| ())
    }

    /// [`insert_keys`](GrowingFilter::insert_keys) on several threads.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]. In each region, the keys before the first for which there is no room are
    /// inserted, and [`key_count`](GrowingFilter::key_count) has grown by their number. If two regions are due to
    /// grow and there is not even a little memory to bring one to its end, keys would be lost: the process is
    /// aborted.
    pub fn insert_keys_parallel<K: Key + Sync>(
        &mut self,
        keys: &[K],
        threads: usize,
    ) -> Result<(), Error> {
        let hash = self.key_hash();
        let make = |first, out: &mut [u64]| hash.hash_all(&keys[first..][..out.len()], out);
        self.in_rounds(Source::Made(keys.len(), &make), None, threads).map(|_| ())
    }

    /// As [`insert_new_keys_parallel`](GrowingFilter::insert_new_keys_parallel), for the hashes of keys.
    ///
    /// # Errors
    /// As [`GrowingFilter::insert_keys_parallel`].
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is inserted.
    pub fn insert_new_hashes_parallel(
        &mut self,
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
        threads: usize,
    ) -> Result<usize, Error> {
        let words = answers.words(hashes.len());
        self.in_rounds(Source::Given(hashes), Some(words), threads)
    }

    /// [`insert_new_keys`](GrowingFilter::insert_new_keys) on several threads. Answer `i` is true if key
    /// `i` was new, in the order of the keys. Returns how many were new.
    ///
    /// # Errors
    /// As [`GrowingFilter::insert_keys_parallel`].
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is inserted.
    pub fn insert_new_keys_parallel<K: Key + Sync>(
        &mut self,
        keys: &[K],
        answers: &mut (impl Answers + ?Sized),
        threads: usize,
    ) -> Result<usize, Error> {
        let words = answers.words(keys.len());
        let hash = self.key_hash();
        let make = |first, out: &mut [u64]| hash.hash_all(&keys[first..][..out.len()], out);
        self.in_rounds(Source::Made(keys.len(), &make), Some(words), threads)
    }

    /// Returns how many were new, if that is asked.
    fn in_rounds(
        &mut self,
        source: Source<'_>,
        mut new: Option<&mut [u64]>,
        threads: usize,
    ) -> Result<usize, Error> {
        let (len, mut count) = (source.len(), 0);
        if let Some(new) = &mut new {
            new.fill(0);
        }
        let threads = threads_for(threads, len);
        let (mut room, answers) = (Room::default(), new.is_some());
        for from in (0..len).step_by(MOST_SORTED) {
            let end = len.min(from + MOST_SORTED);
            let mut words = new.as_deref_mut().map(|new| &mut new[from / 64..end.div_ceil(64)]);
            let is_made = matches!(source, Source::Made(..));
            if len < LEAST || room.for_hashes(end - from, answers, is_made).is_err() {
                room = Room::default();
                count += self.singly(&source, from..end, 0, words)?;
                continue;
            }
            let mut made = mem::take(&mut room.made);
            let hashes = match source {
                Source::Given(hashes) => &hashes[from..end],
                Source::Made(_, make) => {
                    let chunks = made.chunks_mut(CHUNK).enumerate();
                    threads::share(threads, chunks, |(i, out)| make(from + CHUNK * i, out));
                    &made
                }
            };
            // While it is small it is one region.
            let mut head = 0;
            while head < hashes.len() && self.regions.len() < PARTS {
                let is_new = self.insert_hash(hashes[head])?;
                count += note(&mut words, head, is_new);
                head += 1;
            }
            if head < hashes.len() {
                count += self.round(&hashes[head..], head, &mut words, threads, &mut room)?;
            }
            room.made = made;
        }
        Ok(count)
    }

    /// Without the memory for more. The first answer has a number.
    fn singly(
        &mut self,
        source: &Source<'_>,
        range: std::ops::Range<usize>,
        first: usize,
        mut words: Option<&mut [u64]>,
    ) -> Result<usize, Error> {
        let (mut count, mut made, start) = (0, [0; 512], range.start);
        for from in range.clone().step_by(made.len()) {
            let len = made.len().min(range.end - from);
            source.write(from, &mut made[..len]);
            for (i, &hash) in made[..len].iter().enumerate() {
                self.prefetch_ahead(&made[..len], i);
                let is_new = self.insert_hash(hash)?;
                count += note(&mut words, first + from - start + i, is_new);
            }
        }
        Ok(count)
    }

    /// Inserts hashes, whose first answer has a number, on several threads.
    fn round(
        &mut self,
        hashes: &[u64],
        first: usize,
        words: &mut Option<&mut [u64]>,
        threads: usize,
        room: &mut Room,
    ) -> Result<usize, Error> {
        let (mut inserts, mut at) = ([0; PARTS], [0; PARTS]);
        hashes.iter().for_each(|&hash| inserts[region(hash) as usize] += 1);
        for i in 1..PARTS {
            at[i] = at[i - 1] + inserts[i - 1];
        }
        let all: u64 = self.regions.iter().map(|region| region.keys).sum();
        let most = inserts.iter().max().copied().unwrap_or(0);
        // Also if one region gets more than its share.
        let ends = hashes.len().max(most * PARTS / 2) as u64 >= all / FEW_PART;
        let Ok(mut parts) = self.deal(ends, &inserts) else {
            let words = words.as_deref_mut();
            return self.singly(&Source::Given(hashes), 0..hashes.len(), first, words);
        };
        for (i, &hash) in hashes.iter().enumerate() {
            let at = &mut at[region(hash) as usize];
            room.hashes[*at] = hash;
            if words.is_some() {
                room.numbers[*at] = (first + i) as u32;
            }
            *at += 1;
        }
        let mut done = [0; PARTS];
        let (mut rest, mut numbers) = (&room.hashes[..], &mut room.numbers[..]);
        let tasks = parts.iter_mut().zip(&mut done).zip(inserts).map(|((part, done), len)| {
            let hashes;
            (hashes, rest) = rest.split_at(len);
            let own = numbers.len().min(len);
            let (own, others) = mem::take(&mut numbers).split_at_mut(own);
            numbers = others;
            Task { part, hashes, numbers: own, done }
        });
        threads::share(threads.min(PARTS), tasks, |task| {
            if !ends && let Some(sweep) = &mut task.part.sweep {
                // As many as if all inserts had come one by one.
                sweep.due += sweep.pace * hashes.len() as u64;
                task.part.catch_up();
            }
            *task.done = task.part.insert_own(task.hashes, task.numbers);
            if ends {
                // What there is no memory for waits.
                let _ = task.part.complete();
            }
        });
        self.take_back(parts);
        let mut count = 0;
        if let Some(words) = words {
            let numbers = &room.numbers[..hashes.len()];
            for number in numbers.iter().filter(|&number| number & NEW != 0) {
                let number = (number & !NEW) as usize;
                words[number / 64] |= 1 << (number % 64);
                count += 1;
            }
        }
        // Those that a region had no room for by itself.
        let mut start = 0;
        for (len, done) in inserts.into_iter().zip(done) {
            for at in start + done..start + len {
                let is_new = self.insert_hash(room.hashes[at])?;
                let number = room.numbers.get(at).map_or(0, |&number| number as usize);
                count += note(words, number, is_new);
            }
            start += len;
        }
        Ok(count)
    }

    /// Inserts hashes into the only region. Returns how many there was room for.
    fn insert_own(&mut self, hashes: &[u64], numbers: &mut [u32]) -> usize {
        for (i, &hash) in hashes.iter().enumerate() {
            self.prefetch_ahead(hashes, i);
            match self.insert_hash(hash) {
                Ok(is_new) => {
                    if let Some(number) = numbers.get_mut(i) {
                        *number |= if is_new { NEW } else { 0 };
                    }
                }
                Err(_) => return i,
            }
        }
        hashes.len()
    }

    /// Takes the regions back, of which one may be moving.
    fn take_back(&mut self, mut parts: Vec<GrowingFilter>) {
        let moving = parts.iter_mut().filter(|part| part.sweep.is_some());
        for part in moving.skip(1) {
            // Narrower lines may put any number of its keys beside them.
            part.copies.lift_limit();
            part.stash.lift_limit();
            // Its lines are there, and the threads have given back what they had. Without the little that
            // it takes, if anything, keys would be lost.
            if part.complete().is_err() {
                handle_alloc_error(Layout::new::<[u64; 512]>());
            }
        }
        self.unite(parts);
        self.begin_if_due();
    }
}

/// Says that a key was new. Returns how many that are.
fn note(words: &mut Option<&mut [u64]>, number: usize, is_new: bool) -> usize {
    let Some(words) = words else { return 0 };
    words[number / 64] |= u64::from(is_new) << (number % 64);
    is_new.into()
}

/// Hashes, or what makes those from the given one on.
#[derive(Clone, Copy)]
enum Source<'a> {
    Given(&'a [u64]),
    Made(usize, &'a (dyn Fn(usize, &mut [u64]) + Sync)),
}

impl Source<'_> {
    fn len(&self) -> usize {
        match self {
            Source::Given(hashes) => hashes.len(),
            Source::Made(len, _) => *len,
        }
    }

    fn write(&self, first: usize, out: &mut [u64]) {
        match self {
            Source::Given(hashes) => out.copy_from_slice(&hashes[first..][..out.len()]),
            Source::Made(_, make) => make(first, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_u64;

    /// One by one, each answer stands at its number.
    #[test]
    fn answers_of_those_inserted_singly() {
        let mut filter = GrowingFilter::new(10_000, 0.01, 0).unwrap();
        let hashes: Vec<u64> = (0..1000).map(|id| hash_u64(id % 700, 0)).collect();
        let mut words = [0; 20];
        let source = Source::Given(&hashes);
        let count = filter.singly(&source, 100..1000, 70, Some(&mut words)).unwrap();
        let is_new = |i: usize| words[i / 64] >> (i % 64) & 1 == 1;
        // 900 hashes, of which the last 200 were given before; a few are taken for present.
        assert!((690..=700).contains(&count), "{count}");
        assert_eq!((70..770).filter(|&i| is_new(i)).count(), count);
        assert!((0..70).chain(770..1280).all(|i| !is_new(i)));
        assert!(is_new(70) && filter.key_count() == 900);
    }

    /// Batches so small beside the filter that a region goes on moving in the next one.
    #[test]
    fn small_batches_leave_a_region_moving() {
        let hashes: Vec<u64> = (0..200_000).map(|id| hash_u64(id, 0)).collect();
        let (first, rest) = hashes.split_at(100_000);
        for unbounded in [false, true] {
            let mut filter = match unbounded {
                false => GrowingFilter::new(200_000, 0.01, 0).unwrap(),
                true => GrowingFilter::unbounded(100, 0.01, 0).unwrap(),
            };
            filter.insert_hashes_parallel(first, 1).unwrap();
            let (mut room, mut moving) = (Room::default(), 0);
            for hashes in rest.chunks(50) {
                room.for_hashes(hashes.len(), false, false).unwrap();
                filter.round(hashes, 0, &mut None, 1, &mut room).unwrap();
                moving += usize::from(filter.sweep.is_some());
                assert!(filter.beside().1 < 20, "lines are too full");
            }
            assert!(moving > 500 && filter.key_count() == 200_000, "{moving}");
            assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
            if !unbounded {
                let built = GrowingFilter::build(200_000, 0.01, 0, &hashes).unwrap();
                assert!(filter == built);
                let share = filter.memory_usage() as f64 / built.memory_usage() as f64;
                assert!(share < 1.12, "{share}");
            }
        }
    }
}

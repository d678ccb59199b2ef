//! Inserts into the plain filter on several threads.

use super::Filter;
use super::insert::{Dedup, InsertNew};
use crate::bitmap::Answers;
use crate::kernel::{Made, Room};
use crate::key::Key;

/// Inserting on several threads.
///
/// `threads` is how many at most, the caller's among them; 0: as many as there are CPUs. The filter
/// becomes the same for any number, bytes included, and the answers are the same.
///
/// Each thread has a range of lines, so they need no atomics. It takes fewer threads if there
/// are few keys (another for each 32,768) or if the system starts no more, and one for a classic
/// filter, or without the memory for hashes and answers: up to 10 MiB, and 128 KiB per thread.
impl Filter {
    /// As [`insert_keys_parallel`](Filter::insert_keys_parallel), for the hashes of keys.
    ///
    /// ```
    /// use bloomline::{Filter, Params, hash};
    ///
    /// let hashes: Vec<u64> = (0..100_000).map(|id| hash::hash_u64(id, 0)).collect();
    /// let params = Params::for_rate(100_000, 0.01)?;
    /// let (mut filter, mut same) = (Filter::new(params)?, Filter::new(params)?);
    /// filter.insert_hashes_parallel(&hashes, 0);
    /// same.insert_hashes(&hashes);
    /// assert!(filter == same);
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    pub fn insert_hashes_parallel(&mut self, hashes: &[u64], threads: usize) {
        let k = self.params.k();
        if self.kernel().insert_given(&mut self.lines, k, hashes, threads) {
            self.key_count = self.key_count.saturating_add(hashes.len() as u64);
        } else {
            self.insert_hashes(hashes);
        }
    }

    /// [`insert_keys`](Filter::insert_keys) on several threads.
    ///
    /// ```
    /// use bloomline::{Filter, Params};
    ///
    /// let keys: Vec<String> = (0..100_000).map(|i| format!("user {i}")).collect();
    /// let mut filter = Filter::new(Params::for_rate(100_000, 0.01)?)?;
    /// filter.insert_keys_parallel(&keys, 0);
    /// assert!(filter.contains("user 77777"));
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    pub fn insert_keys_parallel<K: Key + Sync>(&mut self, keys: &[K], threads: usize) {
        let hash = self.key_hash();
        let make = |first, out: &mut [u64]| hash.hash_all(&keys[first..][..out.len()], out);
        if self.insert_made(keys.len(), &make, None, threads, &mut Room::default()).is_none() {
            self.insert_keys(keys);
        }
    }

    /// As [`insert_new_keys_parallel`](Filter::insert_new_keys_parallel), for the hashes of keys.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is inserted.
    pub fn insert_new_hashes_parallel(
        &mut self,
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
        threads: usize,
    ) -> usize {
        let words = answers.words(hashes.len());
        let make = |first, out: &mut [u64]| out.copy_from_slice(&hashes[first..][..out.len()]);
        let count =
            self.insert_made(hashes.len(), &make, Some(words), threads, &mut Room::default());
        count.unwrap_or_else(|| self.insert_new_hashes(hashes, words))
    }

    /// [`insert_new_keys`](Filter::insert_new_keys) on several threads. Answer `i` is true if key
    /// `i` was new, in the order of the keys: the same as from one thread. Returns how many were new.
    ///
    /// ```
    /// use bloomline::{Bitmap, Filter, Params};
    ///
    /// // Each key twice, far apart.
    /// let keys: Vec<String> = (0..200_000).map(|i| format!("user {}", i % 100_000)).collect();
    /// let mut filter = Filter::new(Params::for_rate(100_000, 0.0001)?)?;
    /// let mut new = Bitmap::new();
    /// let count = filter.insert_new_keys_parallel(&keys, &mut new, 0);
    /// assert!((99_900..=100_000).contains(&count));
    /// assert!(new[0] && !new[100_000]);
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is inserted.
    pub fn insert_new_keys_parallel<K: Key + Sync>(
        &mut self,
        keys: &[K],
        answers: &mut (impl Answers + ?Sized),
        threads: usize,
    ) -> usize {
        let words = answers.words(keys.len());
        self.insert_new_in(keys, words, threads, &mut Room::default())
    }

    /// The same with memory that is kept.
    fn insert_new_in<K: Key + Sync>(
        &mut self,
        keys: &[K],
        new: &mut [u64],
        threads: usize,
        room: &mut Room,
    ) -> usize {
        let hash = self.key_hash();
        let make = |first, out: &mut [u64]| hash.hash_all(&keys[first..][..out.len()], out);
        let count = self.insert_made(keys.len(), &make, Some(new), threads, room);
        count.unwrap_or_else(|| self.insert_new_keys(keys, new))
    }

    /// [`dedup`](Filter::dedup) on several threads: returns the same items. It reads further ahead:
    /// up to 524,288 items are taken and inserted before the first of them is returned.
    ///
    /// ```
    /// use bloomline::{Filter, Params};
    ///
    /// let mut seen = Filter::new(Params::for_rate(100_000, 0.0001)?)?;
    /// let lines = (0..200_000).map(|i| format!("line {}", i / 2));
    /// let different = seen.dedup_parallel(lines, 0).count();
    /// assert!((99_900..=100_000).contains(&different));
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    pub fn dedup_parallel<I: IntoIterator<Item: Key + Sync>>(
        &mut self,
        items: I,
        threads: usize,
    ) -> Dedup<InParallel<'_>, I::IntoIter> {
        let filter = InParallel { filter: self, threads, room: Room::default() };
        Dedup::new(filter, items.into_iter())
    }

    /// Inserts hashes as [`Kernel::insert_parallel`](crate::kernel::Kernel::insert_parallel) does.
    fn insert_made(
        &mut self,
        len: usize,
        make: &(dyn Fn(usize, &mut [u64]) + Sync),
        new: Option<&mut [u64]>,
        threads: usize,
        room: &mut Room,
    ) -> Option<usize> {
        let (kernel, k, made) = (self.kernel(), self.params.k(), Made { len, make });
        let count = kernel.insert_parallel(&mut self.lines, k, &made, new, threads, room)?;
        self.key_count = self.key_count.saturating_add(len as u64);
        Some(count)
    }
}

/// A filter into which [`Filter::dedup_parallel`] inserts.
pub struct InParallel<'a> {
    filter: &'a mut Filter,
    threads: usize,
    room: Room,
}

impl<K: Key + Sync> InsertNew<K> for InParallel<'_> {
    const BLOCK: usize = 1 << 19;

    fn insert_new(&mut self, items: &[K], new: &mut [u64]) {
        self.filter.insert_new_in(items, new, self.threads, &mut self.room);
    }
}

//! Inserts into the plain filter on several threads.

use super::Filter;
use crate::kernel::threads_for;
use crate::key::Key;
use crate::os::threads;

/// Keys that are hashed before they are inserted.
const HASHED_AHEAD: usize = 1 << 20;
/// Keys that a thread hashes at a time.
const HASHED: usize = 1 << 13;

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
        self.key_count = self.key_count.saturating_add(hashes.len() as u64);
        self.kernel.insert_parallel(&mut self.lines, self.params.k(), hashes, threads);
    }

    /// Inserts many keys on up to `threads` threads, the caller's among them; 0: on as many as there
    /// are CPUs. The filter becomes the same as by [`insert_keys`](Filter::insert_keys), bytes
    /// included.
    ///
    /// Each thread has a range of lines, so they need no atomics. It takes fewer threads if there
    /// are few keys (another for each 32,768) or if the system starts no more, and one for a
    /// classic filter.
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
        let threads = threads_for(threads, keys.len());
        let mut room = Vec::new();
        if threads == 1 || room.try_reserve_exact(keys.len().min(HASHED_AHEAD)).is_err() {
            self.insert_keys(keys);
            return;
        }
        room.resize(keys.len().min(HASHED_AHEAD), 0);
        let key_hash = self.key_hash();
        for keys in keys.chunks(HASHED_AHEAD) {
            let hashes = &mut room[..keys.len()];
            let parts = keys.chunks(HASHED).zip(hashes.chunks_mut(HASHED));
            threads::share(threads, parts, |(keys, out)| key_hash.hash_all(keys, out));
            self.insert_hashes_parallel(hashes, threads);
        }
    }
}

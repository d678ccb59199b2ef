//! A filter that many threads insert into and probe at once, without a lock.

#[cfg(feature = "capi")]
use super::View;
use super::view::with_hashes;
use super::{Filter, keys_for_fill};
use crate::error::Error;
use crate::hash::{KeyHash, hash};
#[cfg(feature = "capi")]
use crate::kernel::Probed;
use crate::kernel::atomic_line;
use crate::kernel::{BLOCK, Backend, Hashes, Kernel, Layout, Prefetch, words};
use crate::layouts::classic;
use crate::line::{LANES, line_index, mask};
use crate::os::memory::{Shared, Zeroed};
use crate::params::Params;
use std::sync::atomic::{AtomicU64, Ordering};

/// Keys from one that is inserted to the one whose line is asked for.
const AHEAD: usize = 16;

/// A Bloom filter that any number of threads insert into and probe through a shared
/// reference, none of them ever waiting for another.
///
/// A thread sees its own inserts at once, and all those that happened before in the sense of
/// the language: those of a thread it has joined, or got a message or a lock from. An insert
/// that goes on meanwhile may be seen or not. No key that was inserted is ever lost.
///
/// It has the lines, and so the bytes, the size and the rate, of a [`Filter`] of the same
/// [`Params`]. It does not count keys: a number that all threads write to would cost more
/// than the insert. [`estimated_keys`](ConcurrentFilter::estimated_keys) tells how many there
/// are. One that is made of a [classic](Filter::classic) filter has the bits of that.
pub struct ConcurrentFilter {
    lines: Shared,
    params: Params,
    kernel: &'static Kernel,
}

impl ConcurrentFilter {
    /// An empty filter.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn new(params: Params) -> Result<ConcurrentFilter, Error> {
        Ok(Filter::new(params)?.into())
    }

    /// An empty filter that probes with a given backend.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn with_backend(params: Params, backend: Backend) -> Result<ConcurrentFilter, Error> {
        Ok(Filter::with_backend(params, backend)?.into())
    }

    fn lanes(&self) -> &[AtomicU64] {
        self.lines.lanes()
    }

    // ---- inserting ----

    /// Inserts a key. Returns whether it was new: false if all its bits were set before, as
    /// they are for a key that is in, and for false positives. If several threads insert the
    /// same new key at once, at least one of them is told so, and more may be.
    #[inline]
    pub fn insert(&self, key: &[u8]) -> bool {
        self.insert_hash(hash(key, self.params.seed()))
    }

    /// Inserts the key of a hash, well mixed over all 64 bits; whether it was new, as
    /// [`ConcurrentFilter::insert`] says.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        if self.kernel.layout() == Layout::Classic {
            return self.insert_spread(hash);
        }
        let (lines, _) = self.lanes().as_chunks::<LANES>();
        let line = &lines[line_index(hash, lines.len() as u64) as usize];
        atomic_line::insert(line, &mask(hash, self.params.k()))
    }

    /// As [`ConcurrentFilter::insert_hash`] where the bits of a key lie anywhere.
    fn insert_spread(&self, hash: u64) -> bool {
        let bits = 64 * self.lanes().len() as u64;
        let mut new = false;
        for bit in classic::positions(hash, self.params.k(), bits) {
            let lane = &self.lanes()[(bit / 64) as usize];
            new |= atomic_line::set(lane, (1u64 << (bit % 64)).to_le());
        }
        new
    }

    /// Inserts many hashes. Bit `i` of `bitmap` says whether hash `i` was new, as
    /// [`ConcurrentFilter::insert`] does; one that is there twice is new once. Bits past
    /// the last become zero. Returns how many were new.
    ///
    /// # Panics
    /// If `bitmap` has fewer than `hashes.len().div_ceil(64)` words.
    pub fn insert_hashes(&self, hashes: &[u64], bitmap: &mut [u64]) -> usize {
        let mut new = 0;
        for (i, word) in words(bitmap, hashes.len()).iter_mut().enumerate() {
            *word = self.insert_block(hashes, 64 * i);
            new += word.count_ones() as usize;
        }
        new
    }

    /// Inserts many keys; as [`ConcurrentFilter::insert_hashes`].
    ///
    /// # Panics
    /// If `bitmap` has fewer than `keys.len().div_ceil(64)` words.
    pub fn insert_keys<K: AsRef<[u8]>>(&self, keys: &[K], bitmap: &mut [u64]) -> usize {
        let bitmap = words(bitmap, keys.len());
        let mut new = 0;
        let mut hashes = [0; BLOCK];
        for (keys, word) in keys.chunks(BLOCK).zip(bitmap) {
            let hashes = &mut hashes[..keys.len()];
            KeyHash::Xxh3(self.params.seed()).hash_all(keys, hashes);
            *word = self.insert_block(hashes, 0);
            new += word.count_ones() as usize;
        }
        new
    }

    /// Inserts up to 64 hashes from the given one on; which were new.
    fn insert_block(&self, hashes: &[u64], from: usize) -> u64 {
        let asks = Prefetch::to_insert(self.params.bytes()) != Prefetch::None;
        let k = self.params.k();
        if asks && from == 0 {
            let soon = hashes.iter().take(AHEAD);
            soon.for_each(|&hash| self.kernel.ask_shared(self.lanes(), k, hash));
        }
        let mut new = 0;
        for (i, &hash) in hashes[from..].iter().take(64).enumerate() {
            if let (true, Some(&later)) = (asks, hashes.get(from + i + AHEAD)) {
                self.kernel.ask_shared(self.lanes(), k, later);
            }
            new |= u64::from(self.insert_hash(hash)) << i;
        }
        new
    }

    // ---- probing ----

    /// Whether a key may be in. False means that it was not when this was called.
    #[inline]
    pub fn contains(&self, key: &[u8]) -> bool {
        self.contains_hash(hash(key, self.params.seed()))
    }

    /// Whether the key of a hash may be in. False means that it was not when this was called.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.kernel.contains_shared(self.lanes(), self.params.k(), hash)
    }

    /// Answers many hashes at once, a bit each: see
    /// [`View::contains_hashes`](crate::View::contains_hashes).
    ///
    /// # Panics
    /// If `bitmap` has fewer than `hashes.len().div_ceil(64)` words.
    pub fn contains_hashes(&self, hashes: &[u64], bitmap: &mut [u64]) -> usize {
        let hashes = Hashes::Given(hashes);
        self.kernel.probe_batch_shared(self.lanes(), self.params.k(), hashes, bitmap)
    }

    /// Answers many keys at once, a bit each.
    ///
    /// # Panics
    /// If `bitmap` has fewer than `keys.len().div_ceil(64)` words.
    pub fn contains_keys<K: AsRef<[u8]>>(&self, keys: &[K], bitmap: &mut [u64]) -> usize {
        let mut present = 0;
        with_hashes(keys, KeyHash::Xxh3(self.params.seed()), &mut |hashes| {
            present = self.kernel.probe_batch_shared(self.lanes(), self.params.k(), hashes, bitmap);
        });
        present
    }

    /// A view to probe while others insert. Nobody asks it for its bytes meanwhile.
    #[cfg(feature = "capi")]
    pub(crate) fn shared_view(&self) -> View<'_> {
        View::new(Probed::lanes(self.lanes()), self.params, 0, self.kernel)
    }

    // ---- whole filters ----

    /// Line count, k and seed.
    pub fn params(&self) -> Params {
        self.params
    }

    /// What probes it.
    pub fn backend(&self) -> Backend {
        self.kernel.backend()
    }

    /// Adds the keys of a filter to this one's.
    ///
    /// # Errors
    /// [`Error::Mismatch`] unless both have the same line count, k and seed, and both or
    /// neither are classic.
    pub fn union(&self, other: &Filter) -> Result<(), Error> {
        let classic = self.kernel.layout() == Layout::Classic;
        if self.params != other.params() || classic != other.is_classic() {
            return Err(Error::Mismatch);
        }
        let (words, _) = other.as_bytes().as_chunks();
        for (lane, &word) in self.lanes().iter().zip(words) {
            atomic_line::set(lane, u64::from_ne_bytes(word));
        }
        Ok(())
    }

    /// A copy as it is now, to be saved, sent or measured while others go on inserting: all
    /// keys of inserts that happened before are in, and those of inserts that go on
    /// meanwhile may be. Its key count is 0, which means unknown.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn snapshot(&self) -> Result<Filter, Error> {
        let mut lines = Zeroed::new(self.params.bytes())?;
        let (words, _) = lines.as_chunks_mut();
        for (word, lane) in words.iter_mut().zip(self.lanes()) {
            *word = lane.load(Ordering::Relaxed).to_ne_bytes();
        }
        Ok(Filter::from_lines(lines, self.params, self.kernel))
    }

    /// How many different keys are in, estimated from the fill: see
    /// [`Filter::estimated_keys`].
    pub fn estimated_keys(&self) -> f64 {
        let set = self.lanes().iter().map(|lane| lane.load(Ordering::Relaxed).count_ones());
        let fill = set.map(u64::from).sum::<u64>() as f64 / (self.lanes().len() as f64 * 64.0);
        keys_for_fill(fill, self.params, self.kernel)
    }

    /// The filter, when no other thread has it any more. Without a copy; its key count is
    /// 0, which means unknown.
    pub fn into_filter(self) -> Filter {
        Filter::from_lines(self.lines.into_zeroed(), self.params, self.kernel)
    }
}

impl From<Filter> for ConcurrentFilter {
    /// The same lines, to be shared. Without a copy.
    fn from(filter: Filter) -> ConcurrentFilter {
        let (lines, params, kernel) = filter.into_lines();
        ConcurrentFilter { lines: lines.into(), params, kernel }
    }
}

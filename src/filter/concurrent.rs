//! A filter that many threads insert into and probe at once, without a lock.

mod builder;

pub use builder::ConcurrentBuilder;
#[cfg(feature = "capi")]
pub(crate) use builder::{check_rates, fold_worthwhile};

use super::Filter;
use super::insert::{INSERT_BLOCK, inserting};
use super::probe::probing;
use super::view::View;
use crate::bitmap::Answers;
use crate::error::Error;
use crate::format::encoded::{Body, Encoded, whole_values};
use crate::format::native::{self, Footer, FooterBytes};
use crate::hash::KeyHash;
use crate::kernel::atomic_line;
use crate::kernel::{
    Backend, Kernel, OwnLines, Prefetch, Probed, TILE, ahead, insert_absent, ors_are_slow,
};
use crate::layouts::classic;
use crate::os::memory::{Shared, Zeroed};
use crate::shape::Params;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// A Bloom filter into which any number of threads insert, and which they probe, through a shared
/// reference. No thread waits for another.
///
/// A thread sees its own inserts at once. It sees those of another thread once anything orders the two,
/// such as a join, a message or a lock. It may or may not see an insert still in progress. No inserted
/// key is ever lost.
///
/// It has the lines, and so the bytes, the size and the rate, of a [`Filter`] of the same
/// [`Params`]. It keeps no key count; see [`estimated_keys`](ConcurrentFilter::estimated_keys).
///
/// # Data races
/// All accesses are relaxed atomic ones, with one exception. The backends `avx2` and `avx512`, and
/// batches with NEON, read a line as vectors, which no language can load atomically. One function does
/// that, `read_shared_vector` in `src/kernel/shared.rs`. It rests on the machine:
///
/// * an aligned lane of 64 bits is never torn, not even as a part of a vector;
/// * bits are only ever set, each by itself, so any mixture of older and newer lanes has all bits of
///   the keys inserted before;
/// * the compiler sees a read by a raw pointer behind a call, or by `asm`, and never both sides of the
///   race.
///
/// ThreadSanitizer, if it instruments this crate, reports that function and nothing else.
/// `packaging/tsan.supp`, which `make install` puts into `share/bloomline`, suppresses it;
/// [`with_backend`](ConcurrentFilter::with_backend) with [`Backend::Scalar`], or
/// `BLOOMLINE_BACKEND=scalar`, needs no suppression. A race elsewhere is a bug.
///
/// The same holds for C's `bloomline_concurrent_view` and `bloomline_lines_view`, also of memory that
/// processes share. It does not for a [`MappedFilter`](crate::MappedFilter) or any other
/// [`View`](crate::View) of bytes: nobody may write these.
///
/// ```
/// let filter = bloomline::ConcurrentFilter::new(bloomline::Params::for_rate(1000, 0.01)?)?;
/// std::thread::scope(|scope| {
///     for name in ["apple", "pear"] {
///         let filter = &filter;
///         scope.spawn(move || filter.insert(name));
///     }
/// });
/// assert!(filter.contains("apple") && filter.contains("pear"));
/// # Ok::<(), bloomline::Error>(())
/// ```
pub struct ConcurrentFilter {
    lines: OwnLines<Shared>,
    params: Params,
    /// Of filters that are made of this one.
    kernel: &'static Kernel,
    /// Whether an atomic OR takes this CPU longer than a branch that it guesses wrong.
    ors_are_slow: bool,
}

impl ConcurrentFilter {
    /// Creates an empty filter.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn new(params: Params) -> Result<ConcurrentFilter, Error> {
        Ok(Filter::new(params)?.into())
    }

    /// Creates an empty filter that probes with a given backend.
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

    /// As [`insert`](ConcurrentFilter::insert), for the hash of a key. The hash must be uniform
    /// over all 64 bits.
    ///
    /// If several threads insert the same new key at once, at least one of them gets true, and
    /// more may.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        if self.params.is_classic() {
            return self.insert_spread(hash);
        }
        self.lines.insert_shared(self.params.k(), hash)
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

    /// As [`insert_keys`](ConcurrentFilter::insert_keys), for the hashes of keys.
    pub fn insert_hashes(&self, hashes: &[u64]) {
        if self.params.is_classic() {
            for from in (0..hashes.len()).step_by(TILE) {
                self.insert_tile(hashes, from);
            }
            return;
        }
        let new = &mut [0; INSERT_BLOCK / 64];
        hashes.chunks(INSERT_BLOCK).for_each(|hashes| {
            self.insert_block::<false>(hashes, new);
        });
    }

    /// As [`insert_new_keys`](ConcurrentFilter::insert_new_keys), for the hashes of keys.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is inserted.
    pub fn insert_new_hashes(
        &self,
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        let words = answers.words(hashes.len());
        if !self.params.is_classic() {
            let blocks = hashes.chunks(INSERT_BLOCK).zip(words.chunks_mut(INSERT_BLOCK / 64));
            return blocks.map(|(hashes, words)| self.insert_block::<true>(hashes, words)).sum();
        }
        let mut new = 0;
        for (i, word) in words.iter_mut().enumerate() {
            *word = self.insert_tile(hashes, TILE * i);
            new += word.count_ones() as usize;
        }
        new
    }

    /// Inserts up to [`INSERT_BLOCK`] hashes. If it is to report, says which were new, and returns how
    /// many; if not, a key that repeats in the block is written again, without a look at the line.
    fn insert_block<const REPORTS: bool>(&self, hashes: &[u64], new: &mut [u64]) -> usize {
        // It brings the lines into the cache.
        self.contains_hashes(hashes, new);
        let (lines, k) = (&self.lines, self.params.k());
        if self.ors_are_slow {
            return insert_absent(hashes, new, |hash| lines.insert_missing(k, hash));
        }
        insert_absent(hashes, new, |hash| match REPORTS {
            true => lines.insert_shared(k, hash),
            false => lines.set_shared(k, hash),
        })
    }

    /// Inserts up to 64 hashes from the given one on, key by key. Returns which were new.
    fn insert_tile(&self, hashes: &[u64], from: usize) -> u64 {
        let prefetches = Prefetch::to_insert(self.params.bytes()) != Prefetch::None;
        let k = self.params.k();
        if prefetches && from == 0 {
            let soon = hashes.iter().take(ahead::CONCURRENT);
            soon.for_each(|&hash| self.kernel.prefetch_shared(self.lanes(), k, hash));
        }
        let mut new = 0;
        for (i, &hash) in hashes[from..].iter().take(64).enumerate() {
            if let (true, Some(&later)) = (prefetches, hashes.get(from + i + ahead::CONCURRENT)) {
                self.kernel.prefetch_shared(self.lanes(), k, later);
            }
            new |= u64::from(self.insert_hash(hash)) << i;
        }
        new
    }

    // ---- probing ----

    fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.params.seed())
    }

    /// To probe only: never use its bytes as a slice, because other threads write them.
    #[inline]
    pub(crate) fn shared_view(&self) -> View<'_> {
        let lines = (Probed::lanes(self.lanes()), self.lines.single());
        View::of_own(lines, (self.params.k(), self.params.seed()), 0, self.kernel.shared())
    }

    // ---- whole filters ----

    /// Returns line count, k, layout and seed.
    pub fn params(&self) -> Params {
        self.params
    }

    /// Returns the backend that probes.
    pub fn backend(&self) -> Backend {
        self.kernel.backend()
    }

    /// Adds the keys of a filter.
    ///
    /// # Errors
    /// [`Error::Mismatch`] unless both have the same parameters.
    pub fn union(&self, other: &Filter) -> Result<(), Error> {
        if self.params != other.params() {
            return Err(Error::Mismatch);
        }
        let (words, _) = other.lines().as_chunks();
        for (lane, &word) in self.lanes().iter().zip(words) {
            atomic_line::set(lane, u64::from_ne_bytes(word));
        }
        Ok(())
    }

    /// Removes all keys. Threads that insert meanwhile could lose theirs: so it takes an exclusive
    /// reference.
    pub fn clear(&mut self) {
        self.lanes().iter().for_each(|lane| lane.store(0, Ordering::Relaxed));
    }

    /// Returns a copy, to save, send or measure while threads go on inserting. It has all keys
    /// inserted before the call, and may have keys inserted during it. Its key count is 0, which
    /// means unknown.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn snapshot(&self) -> Result<Filter, Error> {
        let mut lines = Zeroed::new(self.params.bytes())?;
        load(self.lanes(), lines.as_chunks_mut().0);
        Ok(Filter::of_lines(lines, self.params, self.kernel))
    }

    /// Estimates the number of different keys from the fill ratio: see [`Filter::estimated_keys`].
    pub fn estimated_keys(&self) -> f64 {
        self.shared_view().estimated_keys()
    }

    /// Returns the filter, without a copy, once one owner is left. Its key count is 0, which means
    /// unknown.
    pub fn into_filter(self) -> Filter {
        Filter::of_lines(self.lines.into_bytes().into_zeroed(), self.params, self.kernel)
    }
}

probing!(ConcurrentFilter, shared_view, lines);
inserting!(ConcurrentFilter, [][keys][Params]);

whole_values!(ConcurrentFilter, shared);

/// Each write reads every lane once, so its checksum is that of what it wrote.
impl Encoded for ConcurrentFilter {
    fn footer(&self) -> Footer {
        native::footer(native::layout_of(self.params), self.params, 0)
    }

    fn body_len(&self) -> usize {
        self.params.bytes()
    }

    fn write_body(&self, from: usize, out: &mut dyn Write) -> io::Result<()> {
        let mut bytes = [[0; 8]; 512];
        let mut skip = from % 8;
        for lanes in self.lanes()[from / 8..].chunks(bytes.len()) {
            let bytes = &mut bytes[..lanes.len()];
            load(lanes, bytes);
            out.write_all(&bytes.as_flattened()[skip..])?;
            skip = 0;
        }
        Ok(())
    }

    /// Of a counting filter, its plain filter.
    fn read(footer: &FooterBytes, body: &mut Body<'_>) -> Result<ConcurrentFilter, Error> {
        Filter::read(footer, body).map(ConcurrentFilter::from)
    }

    fn memory(&self) -> usize {
        self.lines.bytes().taken()
    }

    fn copy(&self) -> Result<ConcurrentFilter, Error> {
        self.snapshot().map(ConcurrentFilter::from)
    }
}

/// The lanes as they are, each by itself.
fn load(lanes: &[AtomicU64], bytes: &mut [[u8; 8]]) {
    for (bytes, lane) in bytes.iter_mut().zip(lanes) {
        *bytes = lane.load(Ordering::Relaxed).to_ne_bytes();
    }
}

/// Equal filters have the same bits. While threads insert, each lane is compared as it then is.
impl PartialEq for ConcurrentFilter {
    fn eq(&self, other: &ConcurrentFilter) -> bool {
        let lane = |lane: &AtomicU64| lane.load(Ordering::Relaxed);
        self.params == other.params
            && self.lanes().iter().map(lane).eq(other.lanes().iter().map(lane))
    }
}

impl Eq for ConcurrentFilter {}

impl fmt::Debug for ConcurrentFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcurrentFilter")
            .field("layout", &self.kernel.layout())
            .field("lines", &self.params.line_count())
            .field("k", &self.params.k())
            .finish_non_exhaustive()
    }
}

impl From<Filter> for ConcurrentFilter {
    /// Shares the lines of a filter, without a copy.
    fn from(filter: Filter) -> ConcurrentFilter {
        let (lines, params, kernel) = filter.into_lines();
        let lines = lines.share(params.k(), kernel);
        ConcurrentFilter { lines, params, kernel, ors_are_slow: ors_are_slow() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::Bitmap;
    use crate::hash::hash_u64;

    #[test]
    fn a_batch_is_the_same_whatever_it_writes() {
        // Keys that repeat in the next place, in the same block and in a later one.
        let key = |i: u64| if i % 3 == 1 { i - 1 } else { i % 1500 };
        let hashes: Vec<u64> = (0..4000).map(|i| hash_u64(key(i), 0)).collect();
        for k in [1, 6, 7, 8, 9, 16] {
            for len in [0, 1, 2, 63, 64, 511, 513, hashes.len()] {
                let (hashes, params) = (&hashes[..len], Params::new(100, k, 0).unwrap());
                let mut plain = Filter::new(params).unwrap();
                let new: Vec<bool> = hashes.iter().map(|&hash| plain.insert_hash(hash)).collect();
                let expected: Bitmap = new.into_iter().collect();
                for ors_are_slow in [false, true] {
                    let empty = || ConcurrentFilter::new(params).unwrap();
                    let (reports, inserts) = (
                        ConcurrentFilter { ors_are_slow, ..empty() },
                        ConcurrentFilter { ors_are_slow, ..empty() },
                    );
                    let mut answers = Bitmap::new();
                    let count = reports.insert_new_hashes(hashes, &mut answers);
                    inserts.insert_hashes(hashes);
                    assert!(
                        answers == expected && count == expected.count_ones(),
                        "k = {k}, {len}"
                    );
                    assert!(reports == inserts, "k = {k}, {len}");
                    assert!(reports.into_filter().lines() == plain.lines(), "k = {k}, {len}");
                }
            }
        }
    }
}

//! The plain filter, which owns its lines. Beside it, the other filter types, views and builders.

mod about;
pub(crate) mod builder;
#[cfg(feature = "static")]
pub(crate) mod cascade;
mod composite;
pub(crate) mod concurrent;
mod counting;
#[cfg(feature = "cuckoo")]
pub(crate) mod cuckoo;
pub(crate) mod group;
#[cfg(feature = "growing")]
pub(crate) mod growing;
mod in_turn;
mod insert;
mod keys;
pub(crate) mod map;
#[cfg(feature = "matrix")]
pub(crate) mod matrix;
#[cfg(feature = "capi")]
pub(crate) mod opened;
mod owned;
mod parallel;
mod probe;
mod scalable;
pub(crate) mod select;
pub(crate) mod shards;
#[cfg(feature = "engines")]
pub(crate) mod split_blocks;
mod stages;
#[cfg(feature = "static")]
pub(crate) mod static_filter;
mod swap;
mod view;
#[cfg(feature = "engines")]
mod view_engines;
mod view_static;
pub(crate) mod views;
mod window;

#[cfg(feature = "capi")]
pub(crate) use crate::kernel::{FewHashes, KEY_BY_KEY, hash_of};
pub use builder::{Builder, block_build, lines_insert, lines_intersect, lines_union};
pub use concurrent::{ConcurrentBuilder, ConcurrentFilter};
pub use counting::CountingFilter;
pub use insert::Dedup;
pub use map::MappedFilter;
#[cfg(feature = "capi")]
pub(crate) use matrix::AnyMatrix;
pub use owned::OwnedView;
pub use probe::{ContainsIter, Probe};
pub use scalable::ScalableFilter;
pub use shards::{shard_of, shards_contain_hashes};
pub use swap::{Loaded, Swap};
pub use view::View;
#[cfg(feature = "internals")]
pub use views::views_contain_hash_with;
pub use views::{views_contain, views_contain_hash};
pub use window::Window;

use crate::bitmap::Answers;
use crate::error::Error;
use crate::format::encoded::{Body, Encoded, whole_values};
use crate::format::native::{self, Footer, FooterBytes};
use crate::hash::KeyHash;
use crate::kernel::{Backend, Hashes, Kernel, Kernels, OwnLines, Plain, insert_absent};
use crate::key::Key;
use crate::line::LINE_BYTES;
use crate::os::memory::Zeroed;
use crate::shape::{Params, sizing::stats};
use insert::{INSERT_BLOCK, inserting};
use keys::with_hashes;
use probe::probing;
use std::fmt;
use std::ops::{BitAndAssign, BitOrAssign};
use view::brief;

/// A Bloom filter: a set of keys that answers "definitely absent" or "may be present".
///
/// Each key costs one cache line. Probing works through a shared reference, from
/// any number of threads; inserting takes an exclusive one.
///
/// ```
/// let mut filter = bloomline::Filter::new(bloomline::Params::for_rate(1000, 0.01)?)?;
/// assert!(filter.insert("apple")); // true: it was new
/// assert!(filter.contains("apple"));
/// assert_eq!(bloomline::Filter::decode(&filter.to_bytes()?)?, filter);
/// # Ok::<(), bloomline::Error>(())
/// ```
#[repr(C)]
pub struct Filter {
    /// First, so that C's probes find it without an addition.
    lines: OwnLines,
    params: Params,
    key_count: u64,
    kernel: Plain,
}

impl Filter {
    /// Creates an empty filter: a standard Bloom filter if the parameters are
    /// [classic](Params::classic).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn new(params: Params) -> Result<Filter, Error> {
        Filter::with_kernels(params, Kernels::active()?)
    }

    /// Creates an empty filter with a given backend.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn with_backend(params: Params, backend: Backend) -> Result<Filter, Error> {
        Filter::with_kernels(params, backend.kernels().ok_or(Error::Backend)?)
    }

    fn with_kernels(params: Params, kernels: Kernels) -> Result<Filter, Error> {
        Ok(Filter::of_plain(Zeroed::new(params.bytes())?, params, kernels.plain(params)))
    }

    fn of_plain(lines: Zeroed, params: Params, kernel: Plain) -> Filter {
        let lines = OwnLines::plain(lines, params.k(), kernel);
        Filter { lines, params, key_count: 0, kernel }
    }

    /// A filter of these lines, whose key count is unknown.
    pub(crate) fn of_lines(lines: Zeroed, params: Params, kernel: &'static Kernel) -> Filter {
        Filter::of_plain(lines, params, kernel.plain())
    }

    pub(crate) fn into_lines(self) -> (OwnLines, Params, &'static Kernel) {
        (self.lines, self.params, self.kernel.kernel())
    }

    /// For batches and views. Single keys do without, and programs that ask no others have no batches.
    #[inline(always)]
    fn kernel(&self) -> &'static Kernel {
        self.kernel.kernel()
    }

    /// Makes a filter of the lines of another, such as [`lines`](Filter::lines) returns and a database has
    /// kept. `key_count` is what [`key_count`](Filter::key_count) then returns; 0 if it is unknown. Nothing
    /// in the lines shows whether `params` are the right ones. So if you can, keep the
    /// [encoded](Filter::to_bytes) filter, whose parameters and checksum are checked.
    ///
    /// ```
    /// use bloomline::Filter;
    ///
    /// let filter = Filter::from_keys(["apple", "pear"], 0.01)?;
    /// let (params, lines) = (filter.params(), filter.lines().to_vec());
    /// assert_eq!(Filter::from_lines(params, &lines, filter.key_count())?, filter);
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Truncated`] if `lines` is not [`Params::bytes`] long; [`Error::OutOfMemory`];
    /// [`Error::Backend`].
    pub fn from_lines(params: Params, lines: &[u8], key_count: u64) -> Result<Filter, Error> {
        let copied = View::of_lines(lines, params, key_count)?;
        let filter = Filter::of_lines(Zeroed::copy_of(lines)?, params, copied.kernel);
        Ok(Filter { key_count, ..filter })
    }

    // ---- inserting ----

    /// As [`insert`](Filter::insert), for the hash of a key. The hash must be uniform over all 64
    /// bits.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        // As `saturating_add`, in fewer instructions.
        self.key_count = self.key_count.wrapping_add(1);
        if self.key_count == 0 {
            self.count_is_full();
        }
        self.put(hash)
    }

    #[cold]
    fn count_is_full(&mut self) {
        self.key_count = u64::MAX;
    }

    /// Inserts a key without counting it.
    #[inline]
    fn put(&mut self, hash: u64) -> bool {
        self.lines.insert(hash)
    }

    /// As [`insert_keys`](Filter::insert_keys), for the hashes of keys.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        if let &[hash] = hashes {
            self.insert_hash(hash);
            return;
        }
        self.key_count = self.key_count.saturating_add(hashes.len() as u64);
        self.kernel().insert_batch(&mut self.lines, self.params.k(), Hashes::Given(hashes));
    }

    /// As [`insert_new_keys`](Filter::insert_new_keys), for the hashes of keys.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is inserted.
    pub fn insert_new_hashes(
        &mut self,
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        let (words, mut count) = (answers.words(hashes.len()), 0);
        self.key_count = self.key_count.saturating_add(hashes.len() as u64);
        for (hashes, words) in hashes.chunks(INSERT_BLOCK).zip(words.chunks_mut(INSERT_BLOCK / 64))
        {
            self.contains_hashes(hashes, words);
            count += insert_absent(hashes, words, |hash| self.put(hash));
        }
        count
    }

    /// As [`Filter::insert_hashes`] with a given prefetch: for the benchmarks that
    /// choose it.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn insert_hashes_with(&mut self, hashes: &[u64], prefetch: crate::kernel::Prefetch) {
        let hashes = Hashes::Given(hashes);
        self.kernel().insert_batch_with(&mut self.lines, self.params.k(), hashes, prefetch);
    }

    /// Inserts many keys, faster than one by one.
    pub fn insert_keys<K: Key>(&mut self, keys: &[K]) {
        let kernel = self.kernel();
        with_hashes(keys, self.key_hash(), |hashes| {
            kernel.insert_batch(&mut self.lines, self.params.k(), hashes);
        });
        self.key_count = self.key_count.saturating_add(keys.len() as u64);
    }

    fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.params.seed())
    }

    // ---- probing ----

    /// Returns a view of the filter, cheap to copy and to pass on.
    #[inline]
    pub fn view(&self) -> View<'_> {
        let lines = ((*self.lines).into(), self.lines.single());
        View::of_own(lines, (self.params.k(), self.params.seed()), self.key_count, self.kernel())
    }

    /// Answers 1 to [`KEY_BY_KEY`](crate::kernel::KEY_BY_KEY) hashes into a word, without a view. Returns how many
    /// may be present.
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(crate) fn contains_few(&self, hashes: &[u64], word: &mut u64) -> usize {
        self.lines.contains_few(hashes, word)
    }

    // ---- what it is and how full it is ----

    /// Returns line count, k, layout and seed.
    pub fn params(&self) -> Params {
        self.params
    }

    /// Returns the backend that inserts and probes.
    pub fn backend(&self) -> Backend {
        self.kernel.backend()
    }

    /// Returns the number of keys inserted, repeated ones counted each time, those of filters
    /// combined with this one included. After decoding it continues from the writer's count, 0 if
    /// there is none.
    pub fn key_count(&self) -> u64 {
        self.key_count
    }

    /// Sets what `key_count` returns: for programs that know better, as after a union of filters with
    /// common keys.
    #[doc(hidden)]
    pub fn set_key_count(&mut self, key_count: u64) {
        self.key_count = key_count;
    }

    /// The lines.
    pub fn lines(&self) -> &[u8] {
        &self.lines
    }

    /// Returns the fill ratio, 0 to 1: the part of the bits that is set. Reads the whole filter.
    pub fn fill(&self) -> f64 {
        stats::fill(&self.lines)
    }

    /// Estimates the number of different keys from the fill ratio, within a few per cent until
    /// nearly all bits are set. Reads the whole filter.
    pub fn estimated_keys(&self) -> f64 {
        self.view().keys_at(self.fill())
    }

    /// Returns the false-positive rate at the present fill ratio, 0 to 1: the probability that an
    /// absent key finds its bits set in a line, averaged over the lines. (A classic filter counts
    /// as one line.) Reads the whole filter.
    pub fn estimated_rate(&self) -> f64 {
        self.view().estimated_rate()
    }

    /// Returns the false-positive rate of the fullest line, 0 to 1: see [`View::worst_line_rate`].
    pub fn worst_line_rate(&self) -> f64 {
        self.view().worst_line_rate()
    }

    // ---- whole filters ----

    /// Adds all keys of the other filter.
    ///
    /// # Errors
    /// [`Error::Mismatch`] unless both have the same parameters.
    pub fn union(&mut self, other: &Filter) -> Result<(), Error> {
        self.matches(other)?;
        for (byte, other) in self.lines.iter_mut().zip(other.lines.iter()) {
            *byte |= other;
        }
        self.key_count = self.key_count.saturating_add(other.key_count);
        Ok(())
    }

    /// Keeps what both filters have: each bit that is set in both. Every key that is in both stays
    /// present. A key of neither is a false positive at most as often as in either of them, and more
    /// often than in a filter made of the common keys. The key count becomes 0, which means unknown;
    /// see [`estimated_keys`](Filter::estimated_keys).
    ///
    /// # Errors
    /// [`Error::Mismatch`] unless both have the same parameters.
    pub fn intersect(&mut self, other: &Filter) -> Result<(), Error> {
        self.matches(other)?;
        for (byte, other) in self.lines.iter_mut().zip(other.lines.iter()) {
            *byte &= other;
        }
        self.key_count = 0;
        Ok(())
    }

    /// Whether lines of both can be combined.
    fn matches(&self, other: &Filter) -> Result<(), Error> {
        if self.params == other.params { Ok(()) } else { Err(Error::Mismatch) }
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.lines.fill(0);
        self.key_count = 0;
    }

    /// Halves the filter: line `i` becomes the OR of lines `2 i` and `2 i + 1`. The result is
    /// exactly the filter of the same keys with half the lines. If you do not know the number of
    /// keys, make the filter large with [`Params::foldable`], then fold it.
    ///
    /// # Errors
    /// [`Error::Classic`] if it is classic; [`Error::OddLineCount`]; [`Error::OutOfMemory`]. The
    /// filter is unchanged.
    pub fn fold(&mut self) -> Result<(), Error> {
        native::in_one_line(self.params)?;
        let count = self.params.line_count();
        if !count.is_multiple_of(2) {
            return Err(Error::OddLineCount(count));
        }
        let params = self.params.with_lines(count / 2)?;
        let mut half = Zeroed::new(params.bytes())?;
        for (line, pair) in half.chunks_mut(LINE_BYTES).zip(self.lines.chunks(2 * LINE_BYTES)) {
            for (i, byte) in line.iter_mut().enumerate() {
                *byte = pair[i] | pair[LINE_BYTES + i];
            }
        }
        self.lines = OwnLines::plain(half, params.k(), self.kernel);
        self.params = params;
        Ok(())
    }

    /// Folds while the false-positive rate stays at or below `rate` and the line count is even.
    /// Returns the number of folds. Use parameters from [`Params::foldable`]: other line counts may
    /// be odd at once.
    ///
    /// ```
    /// use bloomline::{Filter, Params};
    ///
    /// // At most 5,000,000 keys; nobody knows how many.
    /// let mut filter = Filter::new(Params::for_rate(5_000_000, 0.01)?.foldable(8)?)?;
    /// let keys: Vec<[u8; 8]> = (0..100_000u64).map(u64::to_le_bytes).collect();
    /// filter.insert_keys(&keys);
    /// assert_eq!(filter.fold_to_rate(0.01)?, 5); // 50 times too large: 2 to the power 5 fits
    /// assert!(filter.params().bytes() < 200_000 && filter.contains(&keys[0]));
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Rate`] if the rate is not between 0 and 1; [`Error::Classic`] if the filter is
    /// classic; [`Error::OutOfMemory`]; folds already done remain.
    pub fn fold_to_rate(&mut self, rate: f64) -> Result<u32, Error> {
        native::in_one_line(self.params)?;
        if !(rate > 0.0 && rate < 1.0) {
            return Err(Error::Rate(rate));
        }
        let mut folds = 0;
        while self.params.line_count().is_multiple_of(2) && self.folded_rate() <= rate {
            self.fold()?;
            folds += 1;
        }
        Ok(folds)
    }

    /// What `estimated_rate` would be after a fold.
    fn folded_rate(&self) -> f64 {
        let (pairs, _) = self.lines.as_chunks::<{ 2 * LINE_BYTES }>();
        let rate = |pair: &[u8; 2 * LINE_BYTES]| {
            let line: [u8; LINE_BYTES] = std::array::from_fn(|i| pair[i] | pair[LINE_BYTES + i]);
            stats::line_rate(&line, self.params.k())
        };
        pairs.iter().map(rate).sum::<f64>() / pairs.len() as f64
    }
}

whole_values!(Filter);

impl Encoded for Filter {
    fn footer(&self) -> Footer {
        native::footer(native::layout_of(self.params), self.params, self.key_count)
    }

    fn body(&self) -> Option<&[u8]> {
        Some(&self.lines)
    }

    /// Of a counting filter, its plain filter.
    fn read(footer: &FooterBytes, body: &mut Body<'_>) -> Result<Filter, Error> {
        let (footer, params) = native::check(footer, body.len(), native::PROBED)?;
        let mut filter = Filter::new(params)?;
        filter.key_count = footer.key_count;
        body.fill(&mut filter.lines)?;
        if footer.layout == native::COUNTING {
            // They are checked, and not to stay in memory.
            let mut counters = [0; 64 * native::COUNTER_BYTES];
            for lines in filter.lines.chunks(64 * LINE_BYTES) {
                let counters = &mut counters[..lines.len() / LINE_BYTES * native::COUNTER_BYTES];
                body.fill(counters)?;
                if !native::agree(lines, counters) {
                    return Err(Error::Checksum);
                }
            }
        }
        Ok(filter)
    }

    fn memory(&self) -> usize {
        self.lines.bytes().taken()
    }

    fn copy(&self) -> Result<Filter, Error> {
        let copy = Filter::of_plain(Zeroed::copy_of(&self.lines)?, self.params, self.kernel);
        Ok(Filter { key_count: self.key_count, ..copy })
    }
}

probing!(Filter, view, lines);
inserting!(Filter, [mut] [] [Params]);

macro_rules! combined {
    ($operator:ident $function:ident $does:literal $verb:ident) => {
        impl $operator<&Filter> for Filter {
            #[doc = $does]
            ///
            /// # Panics
            /// If they cannot be combined.
            fn $function(&mut self, other: &Filter) {
                let result = self.$verb(other);
                result.expect("filters to combine have the same line count, k, seed and type");
            }
        }
    };
}
combined!(BitOrAssign bitor_assign "Adds all its keys, as [`Filter::union`]." union);
combined!(BitAndAssign bitand_assign "Keeps what both have, as [`Filter::intersect`]." intersect);

/// Equal filters have the same encoded bytes.
impl PartialEq for Filter {
    fn eq(&self, other: &Filter) -> bool {
        (self.params, self.key_count) == (other.params, other.key_count)
            && *self.lines == *other.lines
    }
}

impl Eq for Filter {}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        brief(f, "Filter", &self.view())
    }
}

//! The scalable filter: plain filters, each for twice the keys of the one before.

use super::Filter;
use super::insert::{extending, in_blocks, try_inserting};
use super::keys::one_by_one;
use super::probe::{Probe, hashing, probing};
use super::stages::{self, STAGE_BATCH};
use crate::bitmap::Answers;
use crate::error::Error;
use crate::format::encoded::{Body, Encoded, whole_values, write_parts};
use crate::format::native::{FOOTER_BYTES, Footer, FooterBytes};
use crate::format::scalable::{self as format, MAX_STAGES};
use crate::hash::KeyHash;
use crate::kernel::{Backend, FAR_VIEWS, Prefetch, Reads, TILE, insert_absent, singly};
use crate::key::Key;
use crate::line::LINE_BITS;
use crate::shape::Params;
use crate::shape::sizing;
use std::fmt;
use std::io::{self, Write};
use std::slice::from_mut;

/// A Bloom filter for an unknown number of keys. It starts small and grows with its keys. Its
/// false-positive rate stays below the target rate, however many there are.
///
/// It is a series of plain filters, its **stages**. The first is sized for the given number of
/// keys. When the newest is full, a stage for twice as many keys is added. A key goes into the
/// newest stage, unless a stage already has it: repeated keys do not make the filter grow. A probe
/// reads a line of each stage, all prefetched together.
///
/// Each stage has a lower rate than the one before, so that the rates of any number of stages sum up to the
/// target rate at most. That costs memory, and the stages cost time: at a thousand times the first number of
/// keys it has 10 stages. It then takes 1.9 times the memory of a plain filter for so many keys at 1 %. If
/// you can estimate the number of keys, do; if you can read the keys again,
/// [convert](ScalableFilter::to_filter) it.
///
/// # Or a growing filter
///
/// [`GrowingFilter::unbounded`](crate::GrowingFilter::unbounded) keeps its rate in less memory once it has
/// grown, reads one or two lines per probe however many keys come, and can remove, count and merge
/// them. Take a `ScalableFilter` for keys that stay if inserts must be fast: those of a growing filter
/// take several times as long. In cache, probes of single keys are faster, too, as long as there are
/// few stages; batches are slower.
///
/// # When there is no memory to grow
///
/// If the newest stage is full and there is no memory for another, an insert still inserts the key,
/// and returns [`Error::OutOfMemory`]. No key is lost, but the rate may then exceed the target
/// rate. Each later insert tries to grow again.
///
/// ```
/// let mut filter = bloomline::ScalableFilter::new(100, 0.01, 0)?;
/// for key in 0..10_000u64 {
///     filter.insert(&key)?;
/// }
/// assert!(filter.contains(&9_999u64) && filter.stages().len() > 1);
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(PartialEq)]
pub struct ScalableFilter {
    /// At least one; all of one seed.
    stages: Vec<Stage>,
    shared: format::Shared,
}

#[derive(PartialEq)]
struct Stage {
    filter: Filter,
    /// The number of keys that it is sized for.
    capacity: u64,
}

/// The first stage is sized for so many keys at least: fewer do not fill a line.
const LEAST_KEYS: u64 = 32;

/// Stage `i` has the share `SHARE * TIGHTER^i` of the target rate; the shares sum up to 1.
const SHARE: f64 = 0.15;
const TIGHTER: f64 = 0.85;

/// A stage has at most so many times the lines of the one before, or [`SMALL`] lines if that is more.
/// Twice the keys at [`TIGHTER`] times the rate take less: the bits per key grow by a fifth at most.
const GROWTH: u64 = 4;
/// 64 KiB.
const SMALL: u64 = 1024;

impl ScalableFilter {
    /// Creates an empty filter. `first_keys` is the number of keys of its first stage, raised to
    /// 32; `rate` the target false-positive rate of all stages together, between 1e-15 and 1;
    /// `seed` that of the hash of byte keys.
    ///
    /// # Errors
    /// [`Error::Rate`]; [`Error::RateTooSmall`]; [`Error::LineCount`] if memory cannot address the
    /// first stage; [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn new(first_keys: u64, rate: f64, seed: u64) -> Result<ScalableFilter, Error> {
        ScalableFilter::with_backend(first_keys, rate, seed, Backend::active()?)
    }

    /// Creates an empty filter with a given backend.
    ///
    /// # Errors
    /// As [`ScalableFilter::new`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn with_backend(
        first_keys: u64,
        rate: f64,
        seed: u64,
        backend: Backend,
    ) -> Result<ScalableFilter, Error> {
        if !format::is_rate(rate) {
            return Err(Error::rate(rate));
        }
        let shared = format::Shared { rate, seed };
        let mut filter = ScalableFilter { stages: Vec::new(), shared };
        filter.add_stage(first_keys.max(LEAST_KEYS), backend)?;
        Ok(filter)
    }

    fn add_stage(&mut self, capacity: u64, backend: Backend) -> Result<(), Error> {
        if self.stages.len() == MAX_STAGES {
            return Err(Error::LineCount(u64::MAX));
        }
        let params = Params::for_rate(capacity, self.next_rate())?.with_seed(self.shared.seed);
        let filter = Filter::with_backend(params, backend)?;
        self.push(Stage { filter, capacity })
    }

    /// The rate of the next stage.
    fn next_rate(&self) -> f64 {
        (0..self.stages.len()).fold(self.shared.rate * SHARE, |rate, _| rate * TIGHTER)
    }

    fn push(&mut self, stage: Stage) -> Result<(), Error> {
        self.stages.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
        self.stages.push(stage);
        Ok(())
    }

    fn newest(&self) -> &Stage {
        &self.stages[self.stages.len() - 1]
    }

    // ---- inserting ----

    /// As [`insert`](ScalableFilter::insert), for the hash of a key. The hash must be uniform over
    /// all 64 bits.
    ///
    /// # Errors
    /// As [`ScalableFilter::insert`].
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
        if self.contains_hash(hash) {
            return Ok(false);
        }
        self.insert_new(hash).map(|()| true)
    }

    /// Inserts a hash that no stage has.
    fn insert_new(&mut self, hash: u64) -> Result<(), Error> {
        let grown = if self.is_full() { self.grow() } else { Ok(()) };
        let newest = self.stages.len() - 1;
        self.stages[newest].filter.insert_hash(hash);
        grown
    }

    fn is_full(&self) -> bool {
        let Stage { filter, capacity } = self.newest();
        filter.key_count() >= *capacity
    }

    /// Adds a stage for twice as many keys. Every failure is the same to the caller.
    fn grow(&mut self) -> Result<(), Error> {
        let Stage { filter, capacity } = self.newest();
        // The lines of a file limit how much memory is allocated, not its claims.
        let most_lines = filter.params().line_count().saturating_mul(GROWTH).max(SMALL);
        let (bits, _) = sizing::bits_for_rate(self.next_rate()).ok_or(Error::OutOfMemory)?;
        let most_keys = most_lines as f64 * LINE_BITS as f64 / bits;
        let capacity = capacity.saturating_mul(2).min((most_keys as u64).max(1));
        self.add_stage(capacity, filter.backend()).map_err(|_| Error::OutOfMemory)
    }

    /// As [`insert_keys`](ScalableFilter::insert_keys), for the hashes of keys.
    ///
    /// # Errors
    /// As [`ScalableFilter::insert_keys`].
    pub fn insert_hashes(&mut self, hashes: &[u64]) -> Result<(), Error> {
        let mut result = Ok(());
        for hashes in hashes.chunks(STAGE_BATCH) {
            if let Err(error) = self.insert_new_hashes(hashes, &mut [0; STAGE_BATCH / 64]) {
                result = Err(error);
            }
        }
        result
    }

    /// As [`insert_new_keys`](ScalableFilter::insert_new_keys), for the hashes of keys.
    ///
    /// # Errors
    /// As [`ScalableFilter::insert_new_keys`].
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is inserted.
    pub fn insert_new_hashes(
        &mut self,
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
    ) -> Result<usize, Error> {
        let (words, mut count) = (answers.words(hashes.len()), 0);
        let mut result = Ok(());
        for (hashes, words) in hashes.chunks(STAGE_BATCH).zip(words.chunks_mut(STAGE_BATCH / 64)) {
            self.contains_hashes(hashes, words);
            // Hashes of this part go into this stage, and into stages that it adds.
            let from = self.stages.len() - 1;
            count += insert_absent(hashes, words, |hash| {
                let mut later = self.stages[from..].iter();
                let new = !later.any(|stage| stage.filter.contains_hash(hash));
                if new && let Err(error) = self.insert_new(hash) {
                    result = Err(error);
                }
                new
            });
        }
        result.map(|()| count)
    }

    /// Removes all keys, and all stages but the first.
    pub fn clear(&mut self) {
        self.stages.truncate(1);
        self.stages[0].filter.clear();
    }

    /// Creates a filter of these keys with a target false-positive rate, with seed 0, whose first
    /// stage is sized for as many as the iterator promises. For another seed see
    /// [`with_keys`](ScalableFilter::with_keys).
    ///
    /// # Errors
    /// As [`ScalableFilter::new`] and [`ScalableFilter::insert_iter`].
    pub fn from_keys<K: Key>(
        keys: impl IntoIterator<Item = K>,
        rate: f64,
    ) -> Result<ScalableFilter, Error> {
        let keys = keys.into_iter();
        ScalableFilter::new(keys.size_hint().0 as u64, rate, 0)?.with_keys(keys)
    }

    pub(super) fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.shared.seed)
    }

    // ---- what it is ----

    /// Returns the stages, the oldest first: plain filters, each with its own size, key count and
    /// fill ratio.
    pub fn stages(&self) -> impl DoubleEndedIterator<Item = &Filter> + ExactSizeIterator {
        self.stages.iter().map(|stage| &stage.filter)
    }

    /// Returns the stages as filters of their own, without a copy.
    pub fn into_stages(self) -> impl DoubleEndedIterator<Item = Filter> + ExactSizeIterator {
        self.stages.into_iter().map(|stage| stage.filter)
    }

    /// Returns the number of keys that were new when inserted.
    pub fn key_count(&self) -> u64 {
        self.stages().map(Filter::key_count).fold(0, u64::saturating_add)
    }

    /// Returns the target false-positive rate.
    pub fn target_rate(&self) -> f64 {
        self.shared.rate
    }

    /// The seed of the hash of byte keys.
    pub fn seed(&self) -> u64 {
        self.shared.seed
    }

    /// Returns the false-positive rate to expect now, 0 to 1, of all stages together. It is at most
    /// the target rate, unless the filter could not grow.
    pub fn expected_rate(&self) -> f64 {
        together(self.stages().map(|filter| filter.params().rate(filter.key_count())))
    }

    /// Returns the false-positive rate at the present fill ratio, 0 to 1: see
    /// [`Filter::estimated_rate`]. Reads the whole filter.
    pub fn estimated_rate(&self) -> f64 {
        together(self.stages().map(Filter::estimated_rate))
    }

    /// Whether the stages are in cache. The newest has most of the lines.
    #[inline(always)]
    fn is_near(&self) -> bool {
        Prefetch::to_probe_few(Reads::One, self.newest().filter.lines().len()) == Prefetch::None
    }

    /// Apart, so that a probe of a few stages saves fewer registers.
    #[cold]
    #[inline(never)]
    fn prefetch_stages(&self, hash: u64) {
        self.prefetch_hash(hash);
    }

    // ---- folding ----

    /// Returns the parameters of a plain filter for the present keys at the target rate.
    ///
    /// # Errors
    /// [`Error::LineCount`] if memory cannot address its size.
    pub fn plain_params(&self) -> Result<Params, Error> {
        Ok(Params::for_rate(self.key_count(), self.shared.rate)?.with_seed(self.shared.seed))
    }

    /// Converts it to a plain filter, which is smaller and faster. Pass the hashes of all keys
    /// again: each at least once, in any order.
    ///
    /// # Errors
    /// [`Error::KeyCount`] if there are fewer hashes than keys, so that some would be false
    /// negatives; [`Error::LineCount`]; [`Error::OutOfMemory`].
    pub fn to_filter(&self, hashes: impl IntoIterator<Item = u64>) -> Result<Filter, Error> {
        let backend = self.newest().filter.backend();
        let mut plain = Filter::with_backend(self.plain_params()?, backend)?;
        in_blocks(hashes.into_iter(), |hashes| {
            plain.insert_hashes(hashes);
            true
        });
        let (needed, given) = (self.key_count(), plain.key_count());
        if given < needed { Err(Error::KeyCount { needed, given }) } else { Ok(plain) }
    }
}

whole_values!(ScalableFilter);

impl Encoded for ScalableFilter {
    fn footer(&self) -> Footer {
        let line_count = self.stages().map(|stage| stage.params().line_count()).sum();
        format::footer(self.shared, self.stages.len(), line_count, self.key_count())
    }

    fn body_len(&self) -> usize {
        self.stages().map(|stage| stage.lines().len() + FOOTER_BYTES).sum()
    }

    fn write_body(&self, from: usize, out: &mut dyn Write) -> io::Result<()> {
        let mut skip = write_parts(self.stages().map(Filter::lines), from, out)?;
        for Stage { filter, capacity } in &self.stages {
            let (params, key_count) = (filter.params(), filter.key_count());
            let record = format::Stage { params, key_count, capacity: *capacity }.record();
            skip = write_parts([record.as_slice()], skip, out)?;
        }
        Ok(())
    }

    fn read(footer: &FooterBytes, body: &mut Body<'_>) -> Result<ScalableFilter, Error> {
        let (shared, count, line_bytes) = format::check(footer, body.len())?;
        let mut records = [[0; FOOTER_BYTES]; MAX_STAGES];
        let records = &mut records[..count];
        body.peek_last(records.as_flattened_mut())?;
        // All records, before a stage takes memory; damaged bytes are an error before they are.
        let checked =
            format::stages(records, line_bytes, shared.seed).try_for_each(|s| s.map(drop));
        if let Err(error) = checked {
            body.verify()?;
            return Err(error);
        }
        let mut filter = ScalableFilter { stages: Vec::new(), shared };
        for stage in format::stages(records, line_bytes, shared.seed) {
            let format::Stage { params, key_count, capacity } = stage?;
            let mut filter_of_stage = Filter::new(params)?;
            filter_of_stage.key_count = key_count;
            body.fill(&mut filter_of_stage.lines)?;
            filter.push(Stage { filter: filter_of_stage, capacity })?;
        }
        Ok(filter)
    }

    fn memory(&self) -> usize {
        self.stages().map(Encoded::memory).sum()
    }

    fn copy(&self) -> Result<ScalableFilter, Error> {
        let mut copy = ScalableFilter { stages: Vec::new(), shared: self.shared };
        for Stage { filter, capacity } in &self.stages {
            copy.push(Stage { filter: filter.copy()?, capacity: *capacity })?;
        }
        Ok(copy)
    }
}

impl fmt::Debug for ScalableFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalableFilter")
            .field("keys", &self.key_count())
            .field("lines", &self.footer().line_count)
            .field("stages", &self.stages.len())
            .field("rate", &self.shared.rate)
            .finish_non_exhaustive()
    }
}

probing!(ScalableFilter);
try_inserting!(
    ScalableFilter,
    true,
    [],
    "Inserts a key. Returns true if the key was new: in each stage at least one of its bits was
    not set. Returns false if it may have been present; it is not inserted again then.

# Errors
[`Error::OutOfMemory`] if the filter has to grow and cannot. The key was new, and it is inserted;
see [`ScalableFilter`].",
    "[`Error::OutOfMemory`] if the filter has to grow and cannot. All keys are inserted; see
[`ScalableFilter`]."
);
extending!(
    ScalableFilter,
    [mut],
    "
# Panics
If the filter has to grow and there is no memory. No key is lost; see [`ScalableFilter`]."
);

impl Probe for ScalableFilter {
    #[inline(always)]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.key_hash().of(key)
    }

    hashing!();

    /// In cache every stage is asked: that takes less time than a wrong guess where a key is found. Else
    /// from the newest stage on, which has half of the keys; the misses of a few stages overlap by
    /// themselves.
    #[inline(always)]
    fn contains_hash(&self, hash: u64) -> bool {
        let contains = |stage: &Stage| stage.filter.contains_hash(hash);
        if self.is_near() {
            return self.stages.iter().fold(false, |found, stage| found | contains(stage));
        }
        if self.stages.len() >= FAR_VIEWS {
            self.prefetch_stages(hash);
        }
        self.stages.iter().rev().any(contains)
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.stages.iter().for_each(|stage| stage.filter.prefetch_hash(hash));
    }

    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let words = answers.words(hashes.len());
        // In cache a stage takes less time for a key than for its part of a batch; in memory a batch asks
        // stages that a single key need not ask.
        let most = if self.is_near() { TILE } else { singly::SCALABLE };
        if (1..=most).contains(&hashes.len()) {
            return one_by_one(hashes, words, |hash| self.contains_hash(hash));
        }
        let newest = &self.newest().filter;
        if self.stages.len() == 1 {
            return newest.contains_hashes(hashes, words);
        }
        let older = || self.stages().rev().skip(1);
        if let [word] = words {
            newest.contains_hashes(hashes, from_mut(word));
            for stage in older() {
                let mut found = 0;
                stage.contains_hashes(hashes, from_mut(&mut found));
                *word |= found;
            }
            return word.count_ones() as usize;
        }
        let mut count = 0;
        for (hashes, words) in hashes.chunks(STAGE_BATCH).zip(words.chunks_mut(STAGE_BATCH / 64)) {
            let found = newest.contains_hashes(hashes, words);
            count += stages::ask_older(hashes, words, found, older());
        }
        count
    }
}

/// The rate of several filters probed together: the probability of a false positive in one of them.
fn together(rates: impl Iterator<Item = f64>) -> f64 {
    -rates.map(|rate| (-rate).ln_1p()).sum::<f64>().exp_m1()
}

//! The filter that grows: plain filters, each for twice the keys of the one before.

use super::Filter;
use super::view::View;
use crate::error::Error;
use crate::format::concat;
use crate::format::native::FOOTER_BYTES;
use crate::format::scalable::{self as format, MAX_STAGES};
use crate::hash::{KeyHash, hash};
use crate::kernel::{Backend, words};
use crate::line::LINE_BITS;
use crate::os::file;
use crate::os::room::Room;
use crate::params::Params;
use crate::sizing;
use std::path::Path;

/// A Bloom filter for a number of keys that nobody knows beforehand. It starts small and grows
/// with its keys, and its false-positive rate stays below the one asked for, whatever the
/// number becomes.
///
/// It is a row of plain filters, its **stages**. The first is for the number of keys that is
/// given; when the newest has as many keys as it is for, one for twice as many is added. A key
/// goes into the newest stage, unless one of them has it already: so keys that are inserted
/// again do not make it grow. A probe asks all stages, their lines being asked for together.
///
/// Each stage has a lower rate than the one before it, so that the sum of all, however many
/// there are, is the rate that was asked for. That costs memory, and the number of stages
/// costs time: at a thousand times the first number it has 10 stages, and takes 1.8 times the
/// memory of a plain filter for so many keys at 1 %. Where the number of keys can be
/// guessed, guess; where the keys can be replayed, [fold](ScalableFilter::to_filter) it.
///
/// # When there is no memory to grow
///
/// An insert that finds the newest stage full, and no memory for another, inserts the key all
/// the same and returns [`Error::OutOfMemory`]: no key is ever lost, but from then on the rate
/// may exceed the one asked for. Each later insert tries to grow again.
pub struct ScalableFilter {
    /// At least one; all of one seed.
    stages: Vec<Stage>,
    shared: format::Shared,
}

struct Stage {
    filter: Filter,
    /// How many keys it is for.
    capacity: u64,
}

/// The first stage is for so many keys at least: fewer do not fill a line.
const LEAST_KEYS: u64 = 32;

/// Stage `i` has the rate `SHARE * TIGHTER^i` of the one asked for, which makes 1 in sum.
const SHARE: f64 = 0.15;
const TIGHTER: f64 = 0.85;

/// A stage has at most so many times the lines of the one before, or [`SMALL`] lines if that is more.
/// Twice the keys at [`TIGHTER`] times the rate take less: the bits per key grow by a fifth at most.
const GROWTH: u64 = 4;
/// 64 KiB.
const SMALL: u64 = 1024;

/// Hashes that are looked up at a time: in each stage one batch, whose answers are united.
const AT_ONCE: usize = 1024;

impl ScalableFilter {
    /// An empty filter. Its first stage is for `first_keys` keys, or for 32 if that is fewer,
    /// 0 included; `rate` is the false-positive rate, between 1e-15 and 1, that all stages
    /// together are to stay below; `seed` is that of the hash of byte keys.
    ///
    /// # Errors
    /// [`Error::Rate`]; [`Error::LineCount`] if the first stage cannot be addressed;
    /// [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn new(first_keys: u64, rate: f64, seed: u64) -> Result<ScalableFilter, Error> {
        ScalableFilter::with_backend(first_keys, rate, seed, Backend::active()?)
    }

    /// An empty filter that works with a given backend.
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
            return Err(Error::Rate);
        }
        let shared = format::Shared { rate, seed };
        let mut filter = ScalableFilter { stages: Vec::new(), shared };
        filter.add_stage(first_keys.max(LEAST_KEYS), backend)?;
        Ok(filter)
    }

    fn add_stage(&mut self, capacity: u64, backend: Backend) -> Result<(), Error> {
        if self.stages.len() == MAX_STAGES {
            return Err(Error::LineCount);
        }
        let params = Params::for_rate(capacity, self.next_rate())?.with_seed(self.shared.seed);
        let filter = Filter::with_backend(params, backend)?;
        self.push(Stage { filter, capacity })
    }

    /// The rate of the stage that is added next.
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

    /// A copy.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_clone(&self) -> Result<ScalableFilter, Error> {
        let mut copy = ScalableFilter { stages: Vec::new(), shared: self.shared };
        for Stage { filter, capacity } in &self.stages {
            copy.push(Stage { filter: filter.try_clone()?, capacity: *capacity })?;
        }
        Ok(copy)
    }

    // ---- inserting ----

    /// Inserts a key. Returns whether it was new: false if it seemed to be in already, which a
    /// key that is in always does, and others do at the rate of false positives. The key is in
    /// afterwards in any case.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the filter ought to grow and cannot. The key was new, and it is
    /// in; see [`ScalableFilter`].
    #[inline]
    pub fn insert(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.insert_hash(hash(key, self.shared.seed))
    }

    /// Inserts the key of a hash, well mixed over all 64 bits; as [`ScalableFilter::insert`].
    ///
    /// # Errors
    /// As [`ScalableFilter::insert`].
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
        if self.contains_hash(hash) {
            return Ok(false);
        }
        let grown = if self.is_full() { self.grow() } else { Ok(()) };
        self.insert_new(hash);
        grown.map(|()| true)
    }

    fn is_full(&self) -> bool {
        let Stage { filter, capacity } = self.newest();
        filter.key_count() >= *capacity
    }

    /// Adds a stage for twice as many keys. That it cannot be had is for the caller always the same.
    fn grow(&mut self) -> Result<(), Error> {
        let Stage { filter, capacity } = self.newest();
        // What a file claims to be for does not decide how much memory is taken: its lines do.
        let most_lines = filter.params().line_count().saturating_mul(GROWTH).max(SMALL);
        let (bits, _) = sizing::bits_for_rate(self.next_rate()).ok_or(Error::OutOfMemory)?;
        let most_keys = most_lines as f64 * LINE_BITS as f64 / bits;
        let capacity = capacity.saturating_mul(2).min((most_keys as u64).max(1));
        self.add_stage(capacity, filter.backend()).map_err(|_| Error::OutOfMemory)
    }

    fn insert_new(&mut self, hash: u64) {
        let newest = self.stages.len() - 1;
        self.stages[newest].filter.insert_hash(hash);
    }

    /// Inserts many hashes, and returns how many were new. Bit `i` of `bitmap`, counted from
    /// the lowest bit of the first word, says whether hash `i` was, as
    /// [`ScalableFilter::insert`] does; one that is there twice is new once. Bits past the last
    /// become zero.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the filter ought to grow and cannot. All keys are in, and
    /// `bitmap` is written; see [`ScalableFilter`].
    ///
    /// # Panics
    /// If `bitmap` has fewer than `hashes.len().div_ceil(64)` words.
    pub fn insert_hashes(&mut self, hashes: &[u64], bitmap: &mut [u64]) -> Result<usize, Error> {
        let bitmap = words(bitmap, hashes.len());
        bitmap.fill(0);
        let (mut at, mut count, mut result) = (0, 0, Ok(()));
        while at < hashes.len() {
            let part = &hashes[at..hashes.len().min(at + AT_ONCE)];
            let mut present = [0; AT_ONCE / 64];
            self.contains_hashes(part, &mut present);
            let mut done = 0;
            for &hash in part {
                // It may have come in since, with a hash before it: then it is in the newest.
                let is_in = present[done / 64] >> (done % 64) & 1 == 1;
                if !is_in && !self.newest().filter.contains_hash(hash) {
                    if self.is_full() {
                        match self.grow() {
                            // The stage before is none of the newest any more: look again.
                            Ok(()) => break,
                            failed => result = failed,
                        }
                    }
                    self.insert_new(hash);
                    bitmap[(at + done) / 64] |= 1 << ((at + done) % 64);
                    count += 1;
                }
                done += 1;
            }
            at += done;
        }
        result.map(|()| count)
    }

    /// Inserts many keys; as [`ScalableFilter::insert_hashes`].
    ///
    /// # Errors
    /// As [`ScalableFilter::insert_hashes`].
    ///
    /// # Panics
    /// If `bitmap` has fewer than `keys.len().div_ceil(64)` words.
    pub fn insert_keys<K: AsRef<[u8]>>(
        &mut self,
        keys: &[K],
        bitmap: &mut [u64],
    ) -> Result<usize, Error> {
        let bitmap = words(bitmap, keys.len());
        let (mut count, mut result) = (0, Ok(()));
        self.key_hash().in_parts(keys, |hashes, first| {
            match self.insert_hashes(hashes, &mut bitmap[first / 64..]) {
                Ok(new) => count += new,
                Err(error) => result = Err(error),
            }
        });
        result.map(|()| count)
    }

    fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.shared.seed)
    }

    // ---- probing ----

    /// Whether a key may be in. False means that it is not.
    #[inline]
    pub fn contains(&self, key: &[u8]) -> bool {
        self.contains_hash(hash(key, self.shared.seed))
    }

    /// Whether the key of a hash may be in. False means that it is not. The lines of all stages
    /// are asked for before the first is tested, so that their misses overlap.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.stages.iter().for_each(|stage| stage.filter.view().ask(hash));
        // From the newest on, which has half of the keys.
        self.stages.iter().rev().any(|stage| stage.filter.contains_hash(hash))
    }

    /// Answers many hashes at once, a bit each: see [`View::contains_hashes`].
    ///
    /// # Panics
    /// If `bitmap` has fewer than `hashes.len().div_ceil(64)` words.
    pub fn contains_hashes(&self, hashes: &[u64], bitmap: &mut [u64]) -> usize {
        let bitmap = words(bitmap, hashes.len());
        let mut count = 0;
        for (hashes, bitmap) in hashes.chunks(AT_ONCE).zip(bitmap.chunks_mut(AT_ONCE / 64)) {
            bitmap.fill(0);
            for stage in self.stages.iter().rev() {
                let mut answers = [0; AT_ONCE / 64];
                stage.filter.contains_hashes(hashes, &mut answers);
                bitmap.iter_mut().zip(answers).for_each(|(word, answers)| *word |= answers);
            }
            count += bitmap.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        }
        count
    }

    /// Answers many keys at once, a bit each: see [`View::contains_keys`].
    ///
    /// # Panics
    /// If `bitmap` has fewer than `keys.len().div_ceil(64)` words.
    pub fn contains_keys<K: AsRef<[u8]>>(&self, keys: &[K], bitmap: &mut [u64]) -> usize {
        let bitmap = words(bitmap, keys.len());
        let mut count = 0;
        self.key_hash().in_parts(keys, |hashes, first| {
            count += self.contains_hashes(hashes, &mut bitmap[first / 64..]);
        });
        count
    }

    // ---- what it is ----

    /// The stages, the oldest first: plain filters, each with its own size, key count and fill.
    pub fn stages(&self) -> impl DoubleEndedIterator<Item = &Filter> + ExactSizeIterator {
        self.stages.iter().map(|stage| &stage.filter)
    }

    /// How many keys are in: those that were new when they were inserted.
    pub fn key_count(&self) -> u64 {
        self.stages().map(Filter::key_count).fold(0, u64::saturating_add)
    }

    /// The false-positive rate that was asked for.
    pub fn rate(&self) -> f64 {
        self.shared.rate
    }

    /// The seed of the hash of byte keys.
    pub fn seed(&self) -> u64 {
        self.shared.seed
    }

    /// The false-positive rate to expect now, 0 to 1, of all stages together. It is at most the
    /// rate asked for, unless the filter could not grow.
    pub fn expected_rate(&self) -> f64 {
        together(self.stages().map(|filter| filter.params().rate(filter.key_count())))
    }

    /// The false-positive rate at the present fill, 0 to 1: see [`Filter::estimated_rate`].
    /// Reads the whole filter.
    pub fn estimated_rate(&self) -> f64 {
        together(self.stages().map(Filter::estimated_rate))
    }

    // ---- folding ----

    /// The shape of the plain filter for the keys that are in, at the rate that was asked for.
    ///
    /// # Errors
    /// [`Error::LineCount`] if its size cannot be addressed.
    pub fn plain_params(&self) -> Result<Params, Error> {
        Ok(Params::for_rate(self.key_count(), self.shared.rate)?.with_seed(self.shared.seed))
    }

    /// Folds the stages into one plain filter, of which all keys are to be given once more: each
    /// at least once, in any order, as their hashes. It takes less memory and is probed
    /// faster.
    ///
    /// # Errors
    /// [`Error::KeyCount`] if there are fewer hashes than keys that are in, so that some would be
    /// denied; [`Error::LineCount`]; [`Error::OutOfMemory`].
    pub fn to_filter(&self, hashes: impl IntoIterator<Item = u64>) -> Result<Filter, Error> {
        let backend = self.newest().filter.backend();
        let mut plain = Filter::with_backend(self.plain_params()?, backend)?;
        let mut hashes = hashes.into_iter();
        let mut part = [0; AT_ONCE];
        loop {
            let mut len = 0;
            for (place, hash) in part.iter_mut().zip(&mut hashes) {
                *place = hash;
                len += 1;
            }
            plain.insert_hashes(&part[..len]);
            if len < AT_ONCE {
                break;
            }
        }
        if plain.key_count() < self.key_count() { Err(Error::KeyCount) } else { Ok(plain) }
    }

    // ---- bytes and files ----

    /// The length of the encoded filter: 64 bytes for each line of the stages, for each stage,
    /// and for all.
    pub fn encoded_len(&self) -> usize {
        self.stages().map(|filter| filter.encoded_len()).sum::<usize>() + FOOTER_BYTES
    }

    /// Calls once with the parts of the encoded filter, which come one behind the other.
    fn encoded(&self, call: &mut dyn FnMut(&[&[u8]])) {
        let count = self.stages.len();
        let mut records = [[0; FOOTER_BYTES]; MAX_STAGES];
        for (record, Stage { filter, capacity }) in records.iter_mut().zip(&self.stages) {
            let (lines, params, key_count) =
                (filter.as_bytes(), filter.params(), filter.key_count());
            *record = format::Stage { lines, params, key_count, capacity: *capacity }.record();
        }
        let mut parts = [&[][..]; MAX_STAGES + 2];
        for (part, filter) in parts.iter_mut().zip(self.stages()) {
            *part = filter.as_bytes();
        }
        parts[count] = records[..count].as_flattened();
        let footer = format::footer(self.shared, count, self.key_count(), &parts[..=count]);
        parts[count + 1] = &footer;
        call(&parts[..count + 2]);
    }

    /// Writes the encoded filter to the start of `out` and returns its length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], with nothing written.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, Error> {
        self.encode_in(out.into())
    }

    /// The same in memory that may hold anything.
    pub(crate) fn encode_in(&self, out: Room<'_>) -> Result<usize, Error> {
        let mut out = out.first(self.encoded_len())?;
        self.encoded(&mut |parts| parts.iter().for_each(|part| out.put(part)));
        Ok(out.written().len())
    }

    /// The encoded filter.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Ok(Vec::new());
        self.encoded(&mut |parts| bytes = concat(parts));
        bytes
    }

    /// A filter from its encoded form, all of it checked. It grows on as the one that was
    /// encoded.
    ///
    /// # Errors
    /// As [`View::open`]: [`Error::Layout`] for any other filter; [`Error::Rate`] for a rate
    /// that cannot be asked for; [`Error::OutOfMemory`].
    pub fn decode(bytes: &[u8]) -> Result<ScalableFilter, Error> {
        let (shared, mut encoded) = format::parse(bytes)?;
        let mut filter = ScalableFilter { stages: Vec::new(), shared };
        while let Some(format::Stage { lines, params, key_count, capacity }) = encoded.next()? {
            let stage = Filter::copy_of(View::of_lines(lines, params, key_count)?)?;
            filter.push(Stage { filter: stage, capacity })?;
        }
        Ok(filter)
    }

    /// Saves the encoded filter as a file, as [`Filter::save`] does.
    ///
    /// # Errors
    /// As [`Filter::save`].
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut saved = Ok(());
        self.encoded(&mut |parts| saved = file::replace(path, parts));
        saved
    }

    /// Reads a file that [`ScalableFilter::save`] wrote, all of it checked. Meanwhile it takes
    /// its memory twice.
    ///
    /// # Errors
    /// As [`ScalableFilter::decode`]; [`Error::NotAFile`]; [`Error::Io`].
    pub fn load(path: &Path) -> Result<ScalableFilter, Error> {
        ScalableFilter::decode(&file::read(path, format::check)?)
    }
}

/// The rate of several filters of which each is asked: the probability that one of them is wrong.
fn together(rates: impl Iterator<Item = f64>) -> f64 {
    -rates.map(|rate| (-rate).ln_1p()).sum::<f64>().exp_m1()
}

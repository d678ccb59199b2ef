//! The counting filter: a plain filter that is probed, and beside it a counter for each bit, so
//! that keys can be removed.

use super::Filter;
use super::in_turn::removing;
use super::insert::inserting;
use super::probe::probing;
use super::view::{View, brief};
use crate::bitmap::Answers;
use crate::error::Error;
use crate::format::encoded::{Body, Encoded, whole_values, write_parts};
use crate::format::native::{self, COUNTER_BYTES, COUNTING, Footer, FooterBytes};
use crate::hash::KeyHash;
use crate::kernel::{Backend, ahead, prefetch_all};
use crate::key::Key;
use crate::line::{LANES, LINE_BYTES, Line, line_index, mask};
use crate::os::memory::Zeroed;
use crate::shape::Params;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;

/// A Bloom filter from which keys can be removed, and that estimates how often a key was inserted.
///
/// A plain [`Filter`] answers all probes, at its speed. Inserting, removing and counting also use a
/// counter of 4 bits for each of its bits. So it takes **five times the memory of a plain filter**:
/// 320 bytes for each line, about 50 bits per key at 1 % false positives.
///
/// # What it guarantees
///
/// A key inserted n times is present until it has been removed n times.
///
/// * **No false negatives**, as long as you remove only keys you inserted, in any order. A counter
///   that has reached 15 stays there, and its bit stays set until the filter is cleared.
/// * Removing a definitely absent key, one for which [`CountingFilter::contains`] is false, fails
///   with [`Error::Absent`]; the filter is unchanged.
/// * Keys inserted **after a wrong removal are never false negatives**, if from then on you remove only keys
///   that were also inserted after it.
/// * While no counter has reached 15, its lines are, byte for byte, those of a plain filter of the
///   present keys.
///
/// # What it cannot guarantee
///
/// **Remove only keys you inserted.** Removing a false positive takes bits from present keys, which
/// may then be false negatives. The filter cannot detect it: other keys, this one among them, could
/// have made the same counters. If a key comes from outside, look it up in the exact set first.
///
/// ```
/// let mut filter = bloomline::CountingFilter::new(bloomline::Params::for_rate(1000, 0.01)?)?;
/// filter.insert("apple");
/// filter.insert("apple");
/// assert_eq!(filter.count("apple"), 2);
/// filter.remove("apple")?;
/// filter.remove("apple")?;
/// assert!(!filter.contains("apple"));
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(PartialEq, Eq)]
pub struct CountingFilter {
    /// A bit of it is set exactly if its counter is not 0.
    filter: Filter,
    /// The counter of bit `b` of line `i` is in byte `256 i + b / 2`, in its high half if
    /// `b` is odd.
    counters: Zeroed,
}

/// The highest count: it means that or more.
const MOST: u8 = 15;

type LineCounters = [u8; COUNTER_BYTES];

impl CountingFilter {
    /// Creates an empty filter.
    ///
    /// # Errors
    /// [`Error::LineCount`] if lines and counters are more than memory can address;
    /// [`Error::Classic`] if the parameters are classic; [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn new(params: Params) -> Result<CountingFilter, Error> {
        CountingFilter::beside(params, Filter::new)
    }

    /// Creates an empty filter with a given backend.
    ///
    /// # Errors
    /// As [`CountingFilter::new`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn with_backend(params: Params, backend: Backend) -> Result<CountingFilter, Error> {
        CountingFilter::beside(params, |params| Filter::with_backend(params, backend))
    }

    /// Counters of 0 beside the filter that `make` makes.
    fn beside(
        params: Params,
        make: impl FnOnce(Params) -> Result<Filter, Error>,
    ) -> Result<CountingFilter, Error> {
        let counters = Zeroed::new(native::counter_bytes(params)?)?;
        Ok(CountingFilter { filter: make(params)?, counters })
    }

    // ---- inserting ----

    /// As [`insert`](CountingFilter::insert), for the hash of a key. The hash must be uniform over
    /// all 64 bits. A present key is counted once more.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let new = self.filter.insert_hash(hash);
        self.count_up(hash);
        new
    }

    /// As [`insert_keys`](CountingFilter::insert_keys), for the hashes of keys.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        self.filter.insert_hashes(hashes);
        self.count_up_all(hashes);
    }

    /// As [`insert_new_keys`](CountingFilter::insert_new_keys), for the hashes of keys.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is inserted.
    pub fn insert_new_hashes(
        &mut self,
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        let new = self.filter.insert_new_hashes(hashes, answers);
        self.count_up_all(hashes);
        new
    }

    fn count_up_all(&mut self, hashes: &[u64]) {
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(i + ahead::COUNTING) {
                prefetch_all(&self.counters[self.counters_of(later)]);
            }
            self.count_up(hash);
        }
    }

    fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.params().seed())
    }

    // ---- removing ----

    /// As [`CountingFilter::remove`] for the key of a hash.
    ///
    /// # Errors
    /// [`Error::Absent`] if the key is definitely absent; the filter is unchanged.
    pub fn remove_hash(&mut self, hash: u64) -> Result<(), Error> {
        if !self.contains_hash(hash) {
            return Err(Error::Absent);
        }
        let mask = self.mask(hash);
        let counters = self.line_counters(hash);
        let mut gone: Line = [0; LANES];
        for_each_bit(&mask, |lane, bit| {
            let count = get(counters, 64 * lane + bit);
            if count < MOST {
                set(counters, 64 * lane + bit, count - 1);
                gone[lane] |= u64::from(count == 1) << bit;
            }
        });
        let line = self.line_of(hash);
        let (lines, _) = self.filter.lines.as_chunks_mut::<LINE_BYTES>();
        let (lanes, _) = lines[line].as_chunks_mut::<8>();
        for (lane, gone) in lanes.iter_mut().zip(gone) {
            *lane = (u64::from_le_bytes(*lane) & !gone).to_le_bytes();
        }
        self.filter.key_count = self.filter.key_count.saturating_sub(1);
        Ok(())
    }

    /// Prefetches what a removal of a hash some way after number `i` reads.
    #[inline]
    fn prefetch_ahead(&self, hashes: &[u64], i: usize) {
        if let Some(&later) = hashes.get(i + ahead::COUNTING) {
            let at = self.line_of(later) * LINE_BYTES;
            prefetch_all(&self.filter.lines()[at..at + LINE_BYTES]);
            prefetch_all(&self.counters[self.counters_of(later)]);
        }
    }

    // ---- counting ----

    /// Returns an upper estimate of how often a key is present: 0 to 15, where 15 means 15 or more.
    /// Other keys can make it too high, at about the false-positive rate. Only wrong removals can
    /// make it too low.
    #[inline]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u32 {
        self.count_hash(self.hash(key))
    }

    /// As [`CountingFilter::count`] for the key of a hash.
    pub fn count_hash(&self, hash: u64) -> u32 {
        let (lines, _) = self.counters.as_chunks();
        let counters: &LineCounters = &lines[self.line_of(hash)];
        let mut least = MOST;
        for_each_bit(&self.mask(hash), |lane, bit| {
            least = least.min(get(counters, 64 * lane + bit))
        });
        least.into()
    }

    // ---- probing ----

    /// Returns the plain filter of the present keys, without a copy: to probe, to encode, to
    /// estimate its fill ratio and rate.
    #[inline]
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The counters: for programs that count memory.
    #[doc(hidden)]
    pub fn counters(&self) -> &[u8] {
        &self.counters
    }

    /// Returns a view of the filter, cheap to copy and to pass on.
    #[inline]
    pub fn view(&self) -> View<'_> {
        self.filter.view()
    }

    // ---- what it is ----

    /// Returns line count, k and seed.
    pub fn params(&self) -> Params {
        self.filter.params()
    }

    /// Returns the number of inserts less that of removals, at least 0. After decoding it continues
    /// from the writer's count, 0 if there is none.
    pub fn key_count(&self) -> u64 {
        self.filter.key_count()
    }

    // ---- whole filters ----

    /// Returns a plain filter of the present keys: a copy of its lines.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_filter(&self) -> Result<Filter, Error> {
        self.filter.try_clone()
    }

    /// Returns the plain filter of the present keys, without a copy; the counters are freed.
    pub fn into_filter(self) -> Filter {
        self.filter
    }

    /// Adds all keys of the other filter, each as often as it is present there.
    ///
    /// # Errors
    /// [`Error::Mismatch`] unless both have the same line count, k and seed.
    pub fn union(&mut self, other: &CountingFilter) -> Result<(), Error> {
        self.filter.union(&other.filter)?;
        for (both, other) in self.counters.iter_mut().zip(other.counters.iter()) {
            let low = (*both & MOST) + (other & MOST);
            let high = (*both >> 4) + (other >> 4);
            *both = low.min(MOST) | high.min(MOST) << 4;
        }
        Ok(())
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.filter.clear();
        self.counters.fill(0);
    }

    // ---- where the counters are ----

    fn mask(&self, hash: u64) -> Line {
        mask(hash, self.params().k())
    }

    fn line_of(&self, hash: u64) -> usize {
        line_index(hash, self.params().line_count()) as usize
    }

    /// The bytes of the counters of a hash's line.
    fn counters_of(&self, hash: u64) -> Range<usize> {
        let at = self.line_of(hash) * COUNTER_BYTES;
        at..at + COUNTER_BYTES
    }

    fn line_counters(&mut self, hash: u64) -> &mut LineCounters {
        let line = self.line_of(hash);
        &mut self.counters.as_chunks_mut().0[line]
    }

    fn count_up(&mut self, hash: u64) {
        let mask = self.mask(hash);
        let counters = self.line_counters(hash);
        for_each_bit(&mask, |lane, bit| {
            let count = get(counters, 64 * lane + bit);
            set(counters, 64 * lane + bit, (count + 1).min(MOST));
        });
    }
}

probing!(CountingFilter, view, filter.lines);
inserting!(CountingFilter, [mut] [keys] [Params]);
removing!(CountingFilter);

whole_values!(CountingFilter);

impl Encoded for CountingFilter {
    fn footer(&self) -> Footer {
        native::footer(COUNTING, self.params(), self.key_count())
    }

    fn body_len(&self) -> usize {
        self.filter.lines().len() + self.counters.len()
    }

    fn write_body(&self, from: usize, out: &mut dyn Write) -> io::Result<()> {
        write_parts([self.filter.lines(), &*self.counters], from, out).map(drop)
    }

    fn read(footer: &FooterBytes, body: &mut Body<'_>) -> Result<CountingFilter, Error> {
        let (footer, params) = native::check(footer, body.len(), &[COUNTING])?;
        let mut counting = CountingFilter::new(params)?;
        counting.filter.key_count = footer.key_count;
        body.fill(&mut counting.filter.lines)?;
        body.fill(&mut counting.counters)?;
        let agree = native::agree(&counting.filter.lines, &counting.counters);
        if agree { Ok(counting) } else { Err(Error::Checksum) }
    }

    fn memory(&self) -> usize {
        self.filter.memory() + self.counters.taken()
    }

    fn copy(&self) -> Result<CountingFilter, Error> {
        let counters = Zeroed::copy_of(&self.counters)?;
        Ok(CountingFilter { filter: self.filter.copy()?, counters })
    }
}

impl fmt::Debug for CountingFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        brief(f, "CountingFilter", &self.view())
    }
}

/// Calls with lane and position of each bit of a mask.
#[inline(always)]
fn for_each_bit(mask: &Line, mut call: impl FnMut(usize, usize)) {
    for (lane, &bits) in mask.iter().enumerate() {
        let mut bits = bits;
        while bits != 0 {
            call(lane, bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }
}

#[inline(always)]
fn get(counters: &LineCounters, bit: usize) -> u8 {
    counters[bit / 2] >> (4 * (bit % 2)) & MOST
}

#[inline(always)]
fn set(counters: &mut LineCounters, bit: usize, count: u8) {
    let shift = 4 * (bit % 2);
    counters[bit / 2] = counters[bit / 2] & !(MOST << shift) | count << shift;
}

//! The cuckoo filter: keys can be removed.

use super::in_turn::{inserting_in_turn, removing};
use super::insert::try_inserting;
use super::probe::probing;
use super::view::{View, brief};
use crate::error::Error;
use crate::format::cuckoo as format;
use crate::format::encoded::{Body, Encoded, whole_values};
use crate::format::native::{Footer, FooterBytes};
use crate::hash::KeyHash;
use crate::kernel::{Backend, Kernel, Layout, OwnLines, Prefetch, ahead};
use crate::key::Key;
use crate::layouts::cuckoo::{self, Budget, Inserted};
use crate::os::memory::Zeroed;
use crate::shape::CuckooParams;
use std::fmt;

/// A cuckoo filter: as a [`Filter`](crate::Filter), but keys can be removed, and it can become
/// full. Each key costs two cache lines, mostly of one page.
///
/// * **It can become full.** The insert then fails and changes nothing. Inserts succeed up to 95 %
///   of [`CuckooParams::slots`]; see [`CuckooParams::for_bits`].
/// * **A key inserted twice is stored twice**, in two slots, and must be removed twice. Keys of the
///   same fingerprint and buckets share 8 slots: the ninth insert of a key, or an earlier one,
///   fails as full, at once. So [`CuckooFilter::from_keys`] is for keys that hardly repeat.
/// * **A full filter fails fast.** An insert relocates up to 2,048 fingerprints to make room. After 16
///   searches that found no room, an insert relocates only 8. Each key that is inserted after that allows
///   later inserts 8 relocations more, each key that is removed 2,048. A clone has the same allowance, a
///   decoded filter a new one.
/// * **Remove only keys you inserted.** Any other removal can delete an inserted key's fingerprint;
///   that key is then a false negative. Removing a definitely absent key fails.
///
/// The lines depend on the order of inserts and removals.
///
/// ```
/// let mut filter = bloomline::CuckooFilter::new(bloomline::CuckooParams::for_rate(1000, 0.01)?)?;
/// filter.insert("apple")?; // an error if it is full
/// filter.remove("apple")?;
/// assert!(!filter.contains("apple"));
/// # Ok::<(), bloomline::Error>(())
/// ```
pub struct CuckooFilter {
    lines: OwnLines<Zeroed, false>,
    params: CuckooParams,
    key_count: u64,
    kernel: &'static Kernel,
    budget: Budget,
    /// By all inserts.
    kicks: u64,
}

/// Calls a function of the definition with the number of bits as a constant, so it is compiled for
/// each.
macro_rules! by_bits {
    ($function:ident, $filter:expr, $($of:expr),+) => {
        match $filter.params.fingerprint_bits() {
            8 => cuckoo::$function(&mut $filter.lines, 8, $($of),+),
            12 => cuckoo::$function(&mut $filter.lines, 12, $($of),+),
            _ => cuckoo::$function(&mut $filter.lines, 16, $($of),+),
        }
    };
}

impl CuckooFilter {
    /// Creates an empty filter.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn new(params: CuckooParams) -> Result<CuckooFilter, Error> {
        CuckooFilter::with_kernel(params, Kernel::active(Layout::Cuckoo)?)
    }

    /// Creates an empty filter that a given backend probes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn with_backend(params: CuckooParams, backend: Backend) -> Result<CuckooFilter, Error> {
        let kernels = backend.kernels().ok_or(Error::Backend)?;
        CuckooFilter::with_kernel(params, kernels.of(Layout::Cuckoo))
    }

    fn with_kernel(params: CuckooParams, kernel: &'static Kernel) -> Result<CuckooFilter, Error> {
        let lines = OwnLines::new(Zeroed::new(params.bytes())?, params.fingerprint_bits(), kernel);
        Ok(CuckooFilter {
            lines,
            params,
            key_count: 0,
            kernel,
            budget: Budget::default(),
            kicks: 0,
        })
    }

    // ---- inserting and removing ----

    /// Inserts a key unless it may be present, as a set does: a key inserted so is stored once.
    /// Returns whether it was inserted. A new key may pass for present, at the false-positive rate:
    /// do not remove a key for which it returned false.
    ///
    /// # Errors
    /// As [`CuckooFilter::insert`].
    pub fn insert_absent<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Error> {
        self.insert_absent_hash(self.hash(key))
    }

    /// As [`insert_absent`](CuckooFilter::insert_absent), for the hash of a key.
    ///
    /// # Errors
    /// As [`CuckooFilter::insert`].
    pub fn insert_absent_hash(&mut self, hash: u64) -> Result<bool, Error> {
        Ok(!self.contains_hash(hash) && self.insert_hash(hash)?)
    }

    /// As [`insert`](CuckooFilter::insert), for the hash of a key. The hash must be uniform over
    /// all 64 bits.
    ///
    /// # Errors
    /// As [`CuckooFilter::insert`].
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
        self.insert_hash_within(hash, self.most_kicks())
    }

    /// As [`insert_hash`](CuckooFilter::insert_hash), but relocates up to `kicks` fingerprints, whatever
    /// [`most_kicks`](CuckooFilter::most_kicks) is. With 0 it only takes a free slot. An insert that succeeds
    /// with some `kicks` gives the same lines with more of them. So a copy into which the same keys are
    /// inserted with 2,048, the most that an insert makes, takes every key that the filter took, into the
    /// same slots.
    ///
    /// # Errors
    /// As [`CuckooFilter::insert`].
    #[inline]
    pub fn insert_hash_within(&mut self, hash: u64, kicks: u32) -> Result<bool, Error> {
        self.try_insert(hash, kicks).ok_or(Error::Full)
    }

    #[inline(always)]
    fn try_insert(&mut self, hash: u64, kicks: u32) -> Option<bool> {
        let Inserted { new, kicks } = by_bits!(insert_within, self, hash, kicks);
        if kicks != 0 {
            self.kicked(kicks, new.is_some());
        }
        self.key_count += u64::from(new.is_some());
        new
    }

    /// How many fingerprints the next insert may relocate: see [`CuckooFilter`].
    #[inline]
    pub fn most_kicks(&self) -> u32 {
        self.budget.kicks(self.key_count)
    }

    #[cold]
    fn kicked(&mut self, kicks: u32, inserted: bool) {
        self.kicks += u64::from(kicks);
        if !inserted {
            self.budget.waste(kicks, self.key_count);
        }
    }

    /// As [`insert_keys`](CuckooFilter::insert_keys), for the hashes of keys.
    ///
    /// # Errors
    /// As [`CuckooFilter::insert_keys`].
    pub fn insert_hashes(&mut self, hashes: &[u64]) -> Result<(), Error> {
        for (i, &hash) in hashes.iter().enumerate() {
            self.prefetch_ahead(hashes, i);
            // Not `insert_hash`: nobody asks here whether the key was new.
            self.try_insert(hash, self.most_kicks()).ok_or(Error::Full)?;
        }
        Ok(())
    }

    /// Prefetches the lines of a hash some way after number `i`, where that pays.
    #[inline]
    fn prefetch_ahead(&self, hashes: &[u64], i: usize) {
        let prefetches = Prefetch::to_insert_cuckoo(self.lines.len());
        if let (true, Some(&later)) = (prefetches, hashes.get(i + ahead::CUCKOO)) {
            self.view().prefetch_hash(later);
        }
    }

    fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.params.seed())
    }

    /// As [`CuckooFilter::remove`], for the hash of a key.
    ///
    /// # Errors
    /// As [`CuckooFilter::remove`].
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> Result<(), Error> {
        if !by_bits!(remove, self, hash) {
            return Err(Error::Absent);
        }
        self.key_count -= 1;
        Ok(())
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.lines.fill(0);
        self.key_count = 0;
        self.budget = Budget::default();
    }

    // ---- probing ----

    /// Returns a view of the filter, cheap to copy and to pass on.
    #[inline]
    pub fn view(&self) -> View<'_> {
        let lines = ((*self.lines).into(), self.lines.single());
        let k = (self.params.fingerprint_bits(), self.params.seed());
        View::of_own(lines, k, self.key_count, self.kernel)
    }

    // ---- what it is and how full it is ----

    /// Returns line count, fingerprint bits and seed.
    pub fn params(&self) -> CuckooParams {
        self.params
    }

    /// Returns the backend that probes.
    pub fn backend(&self) -> Backend {
        self.kernel.backend()
    }

    /// Returns the number of keys, repeated ones counted each time: the slots in use.
    pub fn key_count(&self) -> u64 {
        self.key_count
    }

    /// Returns the load factor, 0 to 1: the part of the slots in use. Inserts succeed up to 0.95,
    /// and a little beyond.
    pub fn fill(&self) -> f64 {
        self.key_count as f64 / self.params.slots() as f64
    }

    /// The fingerprints that inserts have relocated, also in vain. For tests.
    #[doc(hidden)]
    pub fn kicks(&self) -> u64 {
        self.kicks
    }

    /// The lines.
    pub fn lines(&self) -> &[u8] {
        &self.lines
    }
}

whole_values!(CuckooFilter);

impl Encoded for CuckooFilter {
    fn footer(&self) -> Footer {
        format::footer(self.params, self.key_count)
    }

    fn body(&self) -> Option<&[u8]> {
        Some(&self.lines)
    }

    fn read(footer: &FooterBytes, body: &mut Body<'_>) -> Result<CuckooFilter, Error> {
        let (params, _) = format::check(footer, body.len())?;
        let mut filter = CuckooFilter::new(params)?;
        body.fill(&mut filter.lines)?;
        // What a footer says of their number is a hint only.
        filter.key_count = cuckoo::taken(&filter.lines, params.fingerprint_bits());
        Ok(filter)
    }

    fn memory(&self) -> usize {
        self.lines.bytes().taken()
    }

    fn copy(&self) -> Result<CuckooFilter, Error> {
        let lines = Zeroed::copy_of(&self.lines)?;
        let lines = OwnLines::new(lines, self.params.fingerprint_bits(), self.kernel);
        Ok(CuckooFilter { lines, ..*self })
    }
}

/// Equal filters have the same encoded bytes. These depend on the order of inserts and removals.
impl PartialEq for CuckooFilter {
    fn eq(&self, other: &CuckooFilter) -> bool {
        self.params == other.params && *self.lines == *other.lines
    }
}

impl Eq for CuckooFilter {}

impl fmt::Debug for CuckooFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        brief(f, "CuckooFilter", &self.view())
    }
}

probing!(CuckooFilter, view, lines);
inserting_in_turn!(CuckooFilter);
removing!(CuckooFilter);
try_inserting!(
    CuckooFilter,
    false,
    [CuckooParams],
    "Inserts a key. Returns true if the key was new: its fingerprint was in neither bucket. Returns
false if it may have been present; it is then present once more.

# Errors
[`Error::Full`]; the filter is unchanged.",
    "[`Error::Full`] at the first key for which there is no room. Those before it are inserted:
[`key_count`](CuckooFilter::key_count) has grown by their number."
);

//! The cuckoo filter: keys can be removed.

use super::view::{View, brief};
use crate::error::Error;
use crate::format::cuckoo as format;
use crate::format::encoded::{Body, Encoded, whole_values};
use crate::format::native::{Footer, FooterBytes};
use crate::hash::{KeyHash, hash};
use crate::kernel::{Backend, Kernel, Layout};
use crate::layouts::cuckoo;
use crate::os::memory::Zeroed;
use crate::params::CuckooParams;
use std::fmt;
use std::io::{self, Write};

/// A cuckoo filter: as a [`Filter`](crate::Filter), but keys can be removed, and it can become
/// full. Each key costs two cache lines, mostly of one page.
///
/// * **Full.** An insert that finds no room says so, and changes nothing: all keys that are in
///   stay in. Up to 95 % of [`CuckooParams::slots`] there is room; see
///   [`CuckooParams::for_bits`].
/// * **A key inserted twice is in twice**, in two slots, and is gone when it has been removed
///   twice. There are 8 places for a key and for those it cannot be told from: a ninth
///   insert of the same key finds the filter full, or an earlier one.
/// * **Remove only what is in.** A key that was never inserted may share its fingerprint and its
///   buckets with one that was; to remove the one then removes the other, which is denied from
///   then on. Where that can be told, `remove` refuses.
///
/// The lines depend on the order of inserts and removals.
pub struct CuckooFilter {
    lines: Zeroed,
    params: CuckooParams,
    key_count: u64,
    kernel: &'static Kernel,
}

/// Calls a function of the definition with the number of bits as a constant, so that it is
/// compiled for each.
macro_rules! by_bits {
    ($function:ident, $filter:expr, $hash:expr) => {
        match $filter.params.fingerprint_bits() {
            8 => cuckoo::$function(&mut $filter.lines, 8, $hash),
            12 => cuckoo::$function(&mut $filter.lines, 12, $hash),
            _ => cuckoo::$function(&mut $filter.lines, 16, $hash),
        }
    };
}

/// Keys from one that is inserted to the one whose lines are asked for.
const AHEAD: usize = 16;

impl CuckooFilter {
    /// An empty filter.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn new(params: CuckooParams) -> Result<CuckooFilter, Error> {
        CuckooFilter::with_kernel(params, Kernel::active(Layout::Cuckoo)?)
    }

    /// An empty filter that is probed with a given backend.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn with_backend(params: CuckooParams, backend: Backend) -> Result<CuckooFilter, Error> {
        let kernels = backend.kernels().ok_or(Error::Backend)?;
        CuckooFilter::with_kernel(params, kernels.of(Layout::Cuckoo))
    }

    fn with_kernel(params: CuckooParams, kernel: &'static Kernel) -> Result<CuckooFilter, Error> {
        Ok(CuckooFilter { lines: Zeroed::new(params.bytes())?, params, key_count: 0, kernel })
    }

    // ---- inserting and removing ----

    /// Inserts a key.
    ///
    /// # Errors
    /// [`Error::Full`]; the filter is as before.
    pub fn insert(&mut self, key: &[u8]) -> Result<(), Error> {
        self.insert_hash(hash(key, self.params.seed()))
    }

    /// Inserts the key of a hash. The hash must be well mixed over all 64 bits.
    ///
    /// # Errors
    /// As [`CuckooFilter::insert`].
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<(), Error> {
        if !by_bits!(insert, self, hash) {
            return Err(Error::Full);
        }
        self.key_count += 1;
        Ok(())
    }

    /// Inserts the keys of many hashes, in order, up to the first for which there is no room.
    /// Returns how many are in: all, if it is as many as there are hashes.
    #[must_use = "fewer than all may be in"]
    pub fn insert_hashes(&mut self, hashes: &[u64]) -> usize {
        let asks = self.lines.len() >= ASKS_FROM;
        for (i, &hash) in hashes.iter().enumerate() {
            if let (true, Some(&ahead)) = (asks, hashes.get(i + AHEAD)) {
                self.kernel.ask((*self.lines).into(), self.params.fingerprint_bits(), ahead);
            }
            if self.insert_hash(hash).is_err() {
                return i;
            }
        }
        hashes.len()
    }

    /// Inserts many keys, as [`CuckooFilter::insert_hashes`] does hashes.
    #[must_use = "fewer than all may be in"]
    pub fn insert_keys<K: AsRef<[u8]>>(&mut self, keys: &[K]) -> usize {
        let mut hashes = [0; 64];
        let mut inserted = 0;
        for keys in keys.chunks(hashes.len()) {
            let hashes = &mut hashes[..keys.len()];
            KeyHash::Xxh3(self.params.seed()).hash_all(keys, hashes);
            let now = self.insert_hashes(hashes);
            inserted += now;
            if now < hashes.len() {
                break;
            }
        }
        inserted
    }

    /// Removes a key that was inserted; see [`CuckooFilter`] for what must not be removed.
    ///
    /// # Errors
    /// [`Error::Absent`] if the key is surely not in; the filter is as before.
    pub fn remove(&mut self, key: &[u8]) -> Result<(), Error> {
        self.remove_hash(hash(key, self.params.seed()))
    }

    /// Removes the key of a hash that was inserted.
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

    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.lines.fill(0);
        self.key_count = 0;
    }

    // ---- probing ----

    /// The filter to probe, in a form that is cheap to copy and to pass on.
    #[inline]
    pub fn view(&self) -> View<'_> {
        View::of_cuckoo((*self.lines).into(), self.params, self.key_count, self.kernel)
    }

    /// Whether a key may be in. False means that it is not.
    #[inline]
    pub fn contains(&self, key: &[u8]) -> bool {
        self.view().contains(key)
    }

    /// Whether the key of a hash may be in. False means that it is not.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.view().contains_hash(hash)
    }

    /// Answers many hashes at once, a bit each: see [`View::contains_hashes`].
    ///
    /// # Panics
    /// If `bitmap` has fewer than `hashes.len().div_ceil(64)` words.
    pub fn contains_hashes(&self, hashes: &[u64], bitmap: &mut [u64]) -> usize {
        self.view().contains_hashes(hashes, bitmap)
    }

    /// Answers many keys at once, a bit each: see [`View::contains_keys`].
    ///
    /// # Panics
    /// If `bitmap` has fewer than `keys.len().div_ceil(64)` words.
    pub fn contains_keys<K: AsRef<[u8]>>(&self, keys: &[K], bitmap: &mut [u64]) -> usize {
        self.view().contains_keys(keys, bitmap)
    }

    // ---- what it is and how full it is ----

    /// Line count, fingerprint bits and seed.
    pub fn params(&self) -> CuckooParams {
        self.params
    }

    /// What probes.
    pub fn backend(&self) -> Backend {
        self.kernel.backend()
    }

    /// How many keys are in, repeated ones counted each time: the slots that are taken.
    pub fn key_count(&self) -> u64 {
        self.key_count
    }

    /// The fraction of its slots that are taken, 0 to 1: its load. Inserts succeed up to 0.95,
    /// and a little beyond.
    pub fn fill(&self) -> f64 {
        self.key_count as f64 / self.params.slots() as f64
    }

    /// The lines.
    pub fn as_bytes(&self) -> &[u8] {
        &self.lines
    }
}

whole_values!(CuckooFilter);

impl Encoded for CuckooFilter {
    fn footer(&self) -> Footer {
        format::footer(self.params, self.key_count)
    }

    fn body_len(&self) -> usize {
        self.lines.len()
    }

    fn write_body(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.lines)
    }

    fn read(footer: &FooterBytes, body: &mut Body<'_>) -> Result<CuckooFilter, Error> {
        let (params, _) = format::check(footer, body.len())?;
        let mut filter = CuckooFilter::new(params)?;
        body.fill(&mut filter.lines)?;
        // What a footer says of their number is a hint only.
        filter.key_count = cuckoo::taken(&filter.lines, params.fingerprint_bits());
        Ok(filter)
    }

    fn copy(&self) -> Result<CuckooFilter, Error> {
        Ok(CuckooFilter { lines: Zeroed::copy_of(&self.lines)?, ..*self })
    }
}

/// Equal filters have the same encoded bytes. These depend on the order of inserts and removals.
impl PartialEq for CuckooFilter {
    fn eq(&self, other: &CuckooFilter) -> bool {
        self.params == other.params && self.lines == other.lines
    }
}

impl Eq for CuckooFilter {}

impl fmt::Debug for CuckooFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        brief(f, "CuckooFilter", &self.view())
    }
}

/// The size of filter, in bytes, from which it pays to ask for lines ahead of an insert.
const ASKS_FROM: usize = 1 << 20;

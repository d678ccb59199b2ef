//! The cuckoo filter: keys can be removed.

use super::view::View;
use crate::error::Error;
use crate::format::{self, native};
use crate::hash::{KeyHash, hash};
use crate::kernel::{Backend, Kernel, Layout};
use crate::layouts::cuckoo;
use crate::os::file;
use crate::os::memory::Zeroed;
use crate::os::room::Room;
use crate::params::CuckooParams;
use std::path::Path;

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

    /// A copy.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn try_clone(&self) -> Result<CuckooFilter, Error> {
        let mut copy = CuckooFilter::with_kernel(self.params, self.kernel)?;
        copy.lines.copy_from_slice(&self.lines);
        copy.key_count = self.key_count;
        Ok(copy)
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

    // ---- bytes and files ----

    /// The length of the encoded filter: 64 bytes more than its lines.
    pub fn encoded_len(&self) -> usize {
        self.params.encoded_len()
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
        let out = out.first(self.encoded_len())?;
        format::write_parts(&[&self.lines, &self.footer()], out)
    }

    /// The encoded filter.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        format::concat(&[&self.lines, &self.footer()])
    }

    fn footer(&self) -> [u8; native::FOOTER_BYTES] {
        format::cuckoo::footer(&self.lines, self.params, self.key_count)
    }

    /// A filter from its encoded form, all of it checked.
    ///
    /// # Errors
    /// As [`View::open`]; [`Error::Layout`] for a filter of another kind;
    /// [`Error::OutOfMemory`].
    pub fn decode(bytes: &[u8]) -> Result<CuckooFilter, Error> {
        let (lines, params, _) = format::cuckoo::parse(bytes)?;
        native::verify(bytes)?;
        let mut copy = Zeroed::new(params.bytes())?;
        copy.copy_from_slice(lines);
        CuckooFilter::of_lines(copy, params)
    }

    /// Saves the encoded filter as a file, whole or not at all, as
    /// [`Filter::save`](crate::Filter::save) does.
    ///
    /// # Errors
    /// As [`Filter::save`](crate::Filter::save).
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        file::replace(path, &[&self.lines, &self.footer()])
    }

    /// Reads a file that [`CuckooFilter::save`] wrote, all of it checked.
    ///
    /// # Errors
    /// As [`CuckooFilter::decode`]; [`Error::NotAFile`]; [`Error::Io`].
    pub fn load(path: &Path) -> Result<CuckooFilter, Error> {
        // The lines stay where they are read, and the footer is cut off behind them.
        let mut lines = file::read(path, format::cuckoo::check)?;
        let (_, params, _) = format::cuckoo::parse(&lines)?;
        native::verify(&lines)?;
        lines.truncate(params.bytes());
        CuckooFilter::of_lines(lines, params)
    }

    /// The keys are counted: what a footer says of their number is a hint only.
    fn of_lines(lines: Zeroed, params: CuckooParams) -> Result<CuckooFilter, Error> {
        let key_count = cuckoo::taken(&lines, params.fingerprint_bits());
        Ok(CuckooFilter { lines, params, key_count, kernel: Kernel::active(Layout::Cuckoo)? })
    }
}

/// The size of filter, in bytes, from which it pays to ask for lines ahead of an insert.
const ASKS_FROM: usize = 1 << 20;

//! The cuckoo filter: keys can be removed.

use super::probe::probing;
use super::view::View;
use crate::bitmap::Answers;
use crate::error::Error;
use crate::format::{self, native};
use crate::hash::KeyHash;
use crate::kernel::{Backend, Kernel, Layout};
use crate::key::Key;
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

    /// Inserts a key. Returns true if the key was new: its fingerprint was in neither bucket.
    /// Returns false if it may have been present; it is then present once more.
    ///
    /// # Errors
    /// [`Error::Full`]; the filter is unchanged.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Error> {
        self.insert_hash(self.hash(key))
    }

    /// As [`insert`](CuckooFilter::insert), for the hash of a key. The hash must be uniform over
    /// all 64 bits.
    ///
    /// # Errors
    /// As [`CuckooFilter::insert`].
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
        let new = !by_bits!(contains, self, hash);
        self.put(hash)?;
        Ok(new)
    }

    /// As [`insert_keys`](CuckooFilter::insert_keys), for the hashes of keys.
    ///
    /// # Errors
    /// As [`CuckooFilter::insert_keys`].
    pub fn insert_hashes(&mut self, hashes: &[u64]) -> Result<(), Error> {
        for (i, &hash) in hashes.iter().enumerate() {
            self.ask_ahead(hashes, i);
            self.put(hash)?;
        }
        Ok(())
    }

    /// Inserts many keys, in order, faster than one by one.
    ///
    /// # Errors
    /// [`Error::Full`] at the first key for which there is no room. Those before it are inserted:
    /// [`key_count`](CuckooFilter::key_count) has grown by their number.
    pub fn insert_keys<K: Key>(&mut self, keys: &[K]) -> Result<(), Error> {
        let mut hashes = [0; 64];
        for keys in keys.chunks(hashes.len()) {
            let hashes = &mut hashes[..keys.len()];
            self.key_hash().hash_all(keys, hashes);
            self.insert_hashes(hashes)?;
        }
        Ok(())
    }

    #[inline]
    fn put(&mut self, hash: u64) -> Result<(), Error> {
        if !by_bits!(insert, self, hash) {
            return Err(Error::Full);
        }
        self.key_count += 1;
        Ok(())
    }

    /// Asks for the lines of a hash some way after number `i`, where that pays.
    #[inline]
    fn ask_ahead(&self, hashes: &[u64], i: usize) {
        if let (true, Some(&ahead)) = (self.lines.len() >= ASKS_FROM, hashes.get(i + AHEAD)) {
            self.view().ask(ahead);
        }
    }

    fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.params.seed())
    }

    /// Removes a key that was inserted; see [`CuckooFilter`] for what must not be removed.
    ///
    /// # Errors
    /// [`Error::Absent`] if the key is surely not in; the filter is as before.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.remove_hash(self.hash(key))
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

    /// As [`remove_keys`](CuckooFilter::remove_keys), for the hashes of keys.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is removed.
    pub fn remove_hashes(
        &mut self,
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        let (removed, mut count) = (answers.words(hashes.len()), 0);
        removed.fill(0);
        for (i, &hash) in hashes.iter().enumerate() {
            self.ask_ahead(hashes, i);
            let done = self.remove_hash(hash).is_ok();
            removed[i / 64] |= u64::from(done) << (i % 64);
            count += usize::from(done);
        }
        count
    }

    /// Removes many keys, in order, faster than one by one. Answer `i` is true if key `i` was
    /// removed, false if it was definitely absent. Returns how many were removed.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is removed.
    pub fn remove_keys<K: Key>(
        &mut self,
        keys: &[K],
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        let (words, mut count) = (answers.words(keys.len()), 0);
        self.key_hash().in_parts(keys, |hashes, first| {
            count += self.remove_hashes(hashes, &mut words[first / 64..]);
        });
        count
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

probing!(CuckooFilter, view);

/// The size of filter, in bytes, from which it pays to ask for lines ahead of an insert.
const ASKS_FROM: usize = 1 << 20;

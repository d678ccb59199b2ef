//! The contenders in C++, as far as `build.rs` found them: see `peers.cc` and `rocksdb_source.cc`.

use crate::contender::{By, Contender, Kind, Size, Sizes};
use crate::model;
use std::ffi::{CStr, c_char, c_int};

pub(crate) const FAST64: &str = "Boost, `fast_multiblock64<8>`";
pub(crate) const FAST32: &str = "Boost, `fast_multiblock32<8>`";
pub(crate) const BEST64: &str = "Boost, `fast_multiblock64`, best k";
pub(crate) const BEST32: &str = "Boost, `fast_multiblock32`, best k";
pub(crate) const STANDARD: &str = "Boost, standard";
pub(crate) const ROCKSDB: &str = "RocksDB's reader, Debian's build";
pub(crate) const ROCKSDB_SOURCE: &str = "RocksDB, `FastLocalBloomImpl`";

/// The numbers are those of `lab_peer_new`.
const ALL: [(c_int, &str, Sizes); 7] = [
    (0, FAST64, Sizes::All),
    (1, FAST32, Sizes::All),
    (2, BEST64, Sizes::Two),
    (3, BEST32, Sizes::Two),
    (4, STANDARD, Sizes::Two),
    (ROCKS, ROCKSDB, Sizes::Most),
    (ROCKS + 1, ROCKSDB_SOURCE, Sizes::All),
];
const ROCKS: c_int = 5;

/// What `peers.cc` has of an object.
#[repr(C)]
struct Object([u8; 0]);

unsafe extern "C" {
    fn lab_peer_new(which: c_int, keys: u64, bits: f64, rate: f64) -> *mut Object;
    fn lab_peer_version(which: c_int) -> *const c_char;
    fn lab_peer_free(peer: *mut Object);
    fn lab_peer_bytes(peer: *const Object) -> usize;
    fn lab_peer_insert_batch(peer: *mut Object, hashes: *const u64, n: usize) -> bool;
    fn lab_peer_insert_each(peer: *mut Object, hashes: *const u64, n: usize);
    fn lab_peer_filled(peer: *mut Object);
    fn lab_peer_contains(peer: *const Object, hash: u64) -> bool;
    fn lab_peer_singles(peer: *const Object, hashes: *const u64, n: usize) -> usize;
    fn lab_peer_batches(peer: *const Object, hashes: *const u64, n: usize, each: usize) -> usize;
    fn lab_peer_select(peer: *const Object, hashes: *const u64, n: usize, rows: *mut u32) -> usize;
    fn lab_peer_chain(peer: *const Object, pairs: *const [u64; 2], n: usize) -> usize;
}

pub(crate) fn kinds() -> Vec<Kind> {
    let there = |&(which, ..): &(c_int, &str, Sizes)| {
        !version((which - ROCKS + 1).max(0) as usize).is_empty()
    };
    let kind = |(which, name, sizes)| {
        Kind::new(name, By::Others, sizes, move |keys, size| {
            let (bits, rate) = match size {
                Size::Bits(bits) => (bits, 0.0),
                // RocksDB asks for bits, and its lines are of 512 of them.
                Size::Rate(rate) if which >= ROCKS => (model::bits_for(rate, model::line), 0.0),
                Size::Rate(rate) => (0.0, rate),
            };
            // SAFETY: any numbers will do.
            let object = unsafe { lab_peer_new(which, keys, bits, rate) };
            (!object.is_null()).then(|| Box::new(Peer(object)) as Box<dyn Contender>)
        })
    };
    ALL.into_iter().filter(there).map(kind).collect()
}

/// The versions of Boost, of RocksDB as it is installed and of its source; of what there is not, nothing.
pub(crate) fn version(which: usize) -> String {
    // SAFETY: it returns a static text.
    let text = unsafe { CStr::from_ptr(lab_peer_version(which as c_int)) };
    text.to_string_lossy().replace('_', ".")
}

struct Peer(*mut Object);

impl Drop for Peer {
    fn drop(&mut self) {
        // SAFETY: made by `lab_peer_new`, and not used any more.
        unsafe { lab_peer_free(self.0) }
    }
}

// SAFETY of all calls: the object lives, and what writes borrows it exclusively.
impl Contender for Peer {
    fn bytes(&self) -> usize {
        // SAFETY: see above.
        unsafe { lab_peer_bytes(self.0) }
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        // SAFETY: see above.
        unsafe { lab_peer_insert_batch(self.0, hashes.as_ptr(), hashes.len()) }
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        // SAFETY: see above.
        unsafe { lab_peer_insert_each(self.0, hashes.as_ptr(), hashes.len()) }
        true
    }

    fn filled(&mut self) {
        // SAFETY: see above.
        unsafe { lab_peer_filled(self.0) }
    }

    fn contains(&self, hash: u64) -> bool {
        // SAFETY: see above.
        unsafe { lab_peer_contains(self.0, hash) }
    }

    fn singles(&self, hashes: &[u64]) -> usize {
        // SAFETY: see above.
        unsafe { lab_peer_singles(self.0, hashes.as_ptr(), hashes.len()) }
    }

    fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
        // SAFETY: see above.
        Some(unsafe { lab_peer_batches(self.0, hashes.as_ptr(), hashes.len(), each) })
    }

    fn select(&self, hashes: &[u64], rows: &mut [u32]) -> usize {
        assert!(rows.len() >= hashes.len(), "room for all");
        // SAFETY: see above; there is room for the numbers of all.
        unsafe { lab_peer_select(self.0, hashes.as_ptr(), hashes.len(), rows.as_mut_ptr()) }
    }

    fn one_by_one(&self, pairs: &[[u64; 2]]) -> usize {
        // SAFETY: see above.
        unsafe { lab_peer_chain(self.0, pairs.as_ptr(), pairs.len()) }
    }
}

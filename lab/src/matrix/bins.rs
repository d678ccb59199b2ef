//! SeqAn's interleaved Bloom filter: see `bins.cc`. Only where `build.rs` found it.

use super::Set;
use crate::common::memory::huge_part;
use std::ffi::{CStr, c_char, c_void};

/// Bits for a key, of the 1 to 5 it can have. In the memory of a matrix of 6 they give its rate.
const FUNCTIONS: usize = 5;

/// What `bins.cc` has of an object.
#[repr(C)]
struct Object([u8; 0]);

unsafe extern "C" {
    fn lab_bins_new(bins: usize, bits: usize, functions: usize) -> *mut Object;
    fn lab_bins_free(bins: *mut Object);
    fn lab_bins_bytes(bins: *const Object) -> usize;
    fn lab_bins_data(bins: *const Object) -> *const c_void;
    fn lab_bins_insert(bins: *mut Object, bin: usize, hashes: *const u64, n: usize);
    fn lab_bins_answer(bins: *mut Object, hash: u64, words: *mut u64) -> usize;
    fn lab_bins_singles(bins: *mut Object, hashes: *const u64, n: usize) -> usize;
    fn lab_bins_chain(bins: *mut Object, pairs: *const [u64; 2], n: usize) -> usize;
    fn lab_bins_version() -> *const c_char;
}

pub(crate) fn version() -> String {
    // SAFETY: it ends with a zero, and stays.
    unsafe { CStr::from_ptr(lab_bins_version()) }.to_string_lossy().into_owned()
}

/// A filter for each of so many bins. It is of one thread: a probe writes its answers into it.
pub(super) struct Bins {
    object: *mut Object,
    bins: usize,
}

impl Bins {
    /// With all keys of the set, in the memory of its filters.
    pub(super) fn of(set: Set) -> Bins {
        assert!(set.count > 0 && set.bytes > 0);
        // SAFETY: the numbers are those it takes.
        let object = unsafe { lab_bins_new(set.count, 8 * set.bytes, FUNCTIONS) };
        let bins = Bins { object, bins: set.count };
        for bin in 0..set.count {
            set.each_key(bin, |hashes| {
                // SAFETY: there is such a bin, and so many hashes.
                unsafe { lab_bins_insert(object, bin, hashes.as_ptr(), hashes.len()) };
            });
        }
        for bin in 0..set.count {
            set.each_key(bin, |hashes| {
                let words = bins.answer(hashes[0]).1;
                assert!(words[bin / 64] >> (bin % 64) & 1 == 1, "SeqAn's filter denies a key");
            });
        }
        // SAFETY: so many bytes are there.
        let bytes = unsafe {
            std::slice::from_raw_parts(lab_bins_data(object).cast(), lab_bins_bytes(object))
        };
        let expected = set.bytes * set.count.next_multiple_of(64);
        assert_eq!(bytes.len(), expected, "it takes the memory of the matrix");
        // Of its middle: what lies before the first huge page is a mapping of its own.
        if let Some(part) = huge_part(&bytes[bytes.len() / 2..]) {
            eprintln!("matrix: {:.0} % of SeqAn's memory is in huge pages", 100.0 * part);
        }
        bins
    }

    /// How many bins may have the key, and which.
    fn answer(&self, hash: u64) -> (usize, Vec<u64>) {
        let mut words = vec![0; self.bins.div_ceil(64)];
        // SAFETY: this one owns the object; there are as many words.
        (unsafe { lab_bins_answer(self.object, hash, words.as_mut_ptr()) }, words)
    }

    pub(super) fn count(&self, hash: u64) -> usize {
        self.answer(hash).0
    }

    pub(super) fn singles(&self, hashes: &[u64]) -> usize {
        // SAFETY: as above.
        unsafe { lab_bins_singles(self.object, hashes.as_ptr(), hashes.len()) }
    }

    pub(super) fn one_by_one(&self, pairs: &[[u64; 2]]) -> usize {
        // SAFETY: as above.
        unsafe { lab_bins_chain(self.object, pairs.as_ptr(), pairs.len()) }
    }
}

impl Drop for Bins {
    fn drop(&mut self) {
        // SAFETY: as above; nothing else has it.
        unsafe { lab_bins_free(self.object) }
    }
}

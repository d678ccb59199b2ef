//! Arrow Acero's filter and that of Parquet C++: see `arrow.cc`. Only where `PYARROW` names their libraries.

use super::{CALL, Room};
use crate::common::rounds::BATCH;
use std::ffi::{CStr, c_char};

/// What `arrow.cc` has of an object.
#[repr(C)]
struct Object([u8; 0]);

unsafe extern "C" {
    fn lab_arrow_version() -> *const c_char;
    fn lab_acero_new(keys: u64, batches: u64) -> *mut Object;
    fn lab_acero_free(acero: *mut Object);
    fn lab_acero_bytes(acero: *const Object) -> usize;
    fn lab_acero_insert(acero: *mut Object, hashes: *const u64, n: usize);
    fn lab_acero_find(acero: *const Object, hashes: *const u64, n: usize, bits: *mut u8);
    fn lab_parquet_new(bytes: usize) -> *mut Object;
    fn lab_parquet_free(parquet: *mut Object);
    fn lab_parquet_bytes(parquet: *const Object) -> usize;
    fn lab_parquet_insert(parquet: *mut Object, values: *const i64, n: usize, hashes: *mut u64);
    fn lab_parquet_select(
        parquet: *const Object,
        values: *const i64,
        n: usize,
        hashes: *mut u64,
        rows: *mut u32,
    ) -> usize;
}

pub(crate) fn version() -> String {
    // SAFETY: it ends with a zero, and stays.
    unsafe { CStr::from_ptr(lab_arrow_version()) }.to_string_lossy().into_owned()
}

/// The filter of Acero's hash join, of 64-bit hashes: with those of 32 bits it addresses 512 KiB at most.
pub(super) struct Acero(*mut Object);

impl Drop for Acero {
    fn drop(&mut self) {
        // SAFETY: made by `lab_acero_new`, and not used any more.
        unsafe { lab_acero_free(self.0) }
    }
}

impl Acero {
    pub(super) fn new(keys: u64) -> Acero {
        // SAFETY: any numbers will do.
        Acero(unsafe { lab_acero_new(keys, keys.div_ceil(CALL as u64)) })
    }

    pub(super) fn bytes(&self) -> usize {
        // SAFETY: the object lives.
        unsafe { lab_acero_bytes(self.0) }
    }

    pub(super) fn insert(&mut self, hashes: &[u64]) {
        for some in hashes.chunks(CALL) {
            // SAFETY: the object lives, and is borrowed exclusively.
            unsafe { lab_acero_insert(self.0, some.as_ptr(), some.len()) }
        }
    }

    /// Writes a bit for each of as many hashes as a call has.
    pub(super) fn find(&self, hashes: &[u64], words: &mut [u64; CALL / 64]) {
        // It reads before fewer than 16 hashes.
        assert_eq!(hashes.len(), CALL);
        // SAFETY: the object lives; there are so many hashes, and room for their bits.
        unsafe { lab_acero_find(self.0, hashes.as_ptr(), CALL, words.as_mut_ptr().cast()) }
        if cfg!(target_endian = "big") {
            words.iter_mut().for_each(|word| *word = word.swap_bytes());
        }
    }
}

/// The filter of Parquet C++, which hashes by itself.
pub(super) struct Parquet(*mut Object);

impl Drop for Parquet {
    fn drop(&mut self) {
        // SAFETY: made by `lab_parquet_new`, and not used any more.
        unsafe { lab_parquet_free(self.0) }
    }
}

impl Parquet {
    /// None if it can be of at most fewer bytes, 128 MiB.
    pub(super) fn new(bytes: usize) -> Option<Parquet> {
        // SAFETY: any number will do.
        let object = unsafe { lab_parquet_new(bytes) };
        (!object.is_null()).then_some(Parquet(object))
    }

    pub(super) fn bytes(&self) -> usize {
        // SAFETY: the object lives.
        unsafe { lab_parquet_bytes(self.0) }
    }

    pub(super) fn insert(&mut self, values: &[u64]) {
        let mut hashes = vec![0; BATCH];
        for some in values.chunks(BATCH) {
            let (values, hashes) = (some.as_ptr().cast(), hashes.as_mut_ptr());
            // SAFETY: the object lives, and is borrowed exclusively; there is room for the hashes.
            unsafe { lab_parquet_insert(self.0, values, some.len(), hashes) }
        }
    }

    /// Writes the numbers of those that may be present, at most as many as a call has.
    pub(super) fn select(&self, values: &[u64], Room { hashes, rows, .. }: &mut Room) -> usize {
        assert!(values.len() <= CALL);
        let (from, hashes) = (values.as_ptr().cast(), hashes.as_mut_ptr());
        // SAFETY: the object lives; there is room for the hashes and the numbers of a call.
        unsafe { lab_parquet_select(self.0, from, values.len(), hashes, rows.as_mut_ptr()) }
    }
}

//! `bloomline_cuckoo`: a filter from which keys can be removed.

/// cbindgen:ignore
mod encode;

pub use encode::*;

use super::batch::{Key, answer_hashes, answer_keys, keys_at};
use super::boundary::{
    Failure, NULL, bytes, exclusive, free, guard, guard_or, new_handle, output, shared, slice,
    write_optional,
};
use super::hash::{bloomline_bytes, key_or_empty};
use super::status::{BLOOMLINE_ERR_RESERVED, bloomline_status};
use super::view::{bloomline_view, pack};
use crate::{CuckooFilter, CuckooParams, Error};
use std::ffi::c_void;

/// The size and shape of a cuckoo filter. Made by bloomline_cuckoo_params_for_rate(), or
/// filled in by hand; every function that is given one checks it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct bloomline_cuckoo_params {
    /// How many lines of 64 bytes, 1 to 2^32 - 1.
    pub line_count: u64,
    /// How many bits are kept of each key: 8, of which a line has 64 and which give 2.95 %
    /// false positives; 12 (40, 0.186 %); or 16 (32, 0.0116 %).
    pub fingerprint_bits: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The seed of the hash of keys. Where others choose the keys, take it from
    /// bloomline_random_seed() and keep it secret: with a known seed some eighty keys can
    /// fill a filter of any size.
    pub seed: u64,
}

impl bloomline_cuckoo_params {
    fn check(&self) -> Result<CuckooParams, Failure> {
        if self.reserved != 0 {
            return Err(Failure(BLOOMLINE_ERR_RESERVED));
        }
        // As in bloomline_params: all zeros are those of a call that failed.
        if self.line_count == 0 {
            return Err(Error::LineCount(0).into());
        }
        Ok(CuckooParams::new(self.line_count, self.fingerprint_bits, self.seed)?)
    }
}

impl From<CuckooParams> for bloomline_cuckoo_params {
    fn from(params: CuckooParams) -> bloomline_cuckoo_params {
        bloomline_cuckoo_params {
            line_count: params.line_count(),
            fingerprint_bits: params.fingerprint_bits(),
            reserved: 0,
            seed: params.seed(),
        }
    }
}

/// bloomline_cuckoo_params_for_rate() finds the smallest cuckoo filter that has room for
/// 'keys' keys at a false-positive rate of at most 'rate' (0.01 is 1 %) when they are all
/// in. 'rate' is between 0 and 1, both excluded, and at least 0.000116. The seed is 0.
///
/// Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_LINE_COUNT if it would be too large.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_params_for_rate(
    keys: u64,
    rate: f64,
    out: *mut bloomline_cuckoo_params,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        let params = CuckooParams::for_rate(keys, rate)?;
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(params.into()) };
        Ok(())
    })
}

/// bloomline_cuckoo_params_rate() returns the false-positive rate to be expected, from 0 to
/// 1, once 'keys' keys are in a cuckoo filter of these parameters. If 'params' is NULL or is
/// refused by the other functions, the result is 1.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_params_rate(
    params: *const bloomline_cuckoo_params,
    keys: u64,
) -> f64 {
    guard_or(1.0, || {
        // SAFETY: rules of the header: `params` is NULL or there.
        let params = unsafe { shared(params) }.map(bloomline_cuckoo_params::check);
        params.and_then(Result::ok).map_or(1.0, |params| params.rate(keys))
    })
}

/// A cuckoo filter: keys can be added and removed, and it can become full. It is made by
/// bloomline_cuckoo_new(), bloomline_cuckoo_decode() or bloomline_cuckoo_load(), and freed by
/// bloomline_cuckoo_free().
///
/// Of each key it keeps a fingerprint, in one of 8 places. When all that could make room is
/// taken, to add the key is refused with BLOOMLINE_ERR_FULL, and nothing that is in is lost.
/// Up to 95 % of bloomline_cuckoo_capacity() keys go in.
///
/// A key that is added twice is in twice, and has to be removed twice. The same key can be
/// in at most 8 times.
///
/// Remove only keys that are in. A key that is not may have the fingerprint and the places of
/// one that is; to remove the one takes out the other, for which the filter then says no.
/// BLOOMLINE_ERR_ABSENT tells some such mistakes, and not all.
///
/// Any number of threads may call functions that take a const bloomline_cuckoo at once.
/// A function that takes a non-const one needs it for itself alone.
pub struct bloomline_cuckoo(pub(super) CuckooFilter);

// What the thread rule promises to C.
const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<bloomline_cuckoo>();
};

/// bloomline_cuckoo_new() makes an empty cuckoo filter. It takes 64 bytes of memory for each
/// line, and never grows.
///
/// Errors: BLOOMLINE_ERR_K, BLOOMLINE_ERR_LINE_COUNT and BLOOMLINE_ERR_RESERVED for
/// parameters out of range, BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_new(
    params: *const bloomline_cuckoo_params,
    out: *mut *mut bloomline_cuckoo,
) -> bloomline_status {
    // SAFETY: rules of the header: `params` is NULL or there; `out` is NULL or has room.
    unsafe {
        new_handle(out, || {
            Ok(bloomline_cuckoo(CuckooFilter::new(shared(params).ok_or(NULL)?.check()?)?))
        })
    }
}

/// bloomline_cuckoo_free() frees a cuckoo filter. Views of it must not be used any more.
/// NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`]; the filter is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_free(filter: *mut bloomline_cuckoo) {
    // SAFETY: the handle came from `try_box`, and the caller gives it up.
    unsafe { free(filter) }
}

/// bloomline_cuckoo_get_params() tells the size and shape of a cuckoo filter.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_get_params(
    filter: *const bloomline_cuckoo,
    out: *mut bloomline_cuckoo_params,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile.
        let filter = unsafe { shared(filter) }.ok_or(NULL)?;
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(filter.0.params().into()) };
        Ok(())
    })
}

/// bloomline_cuckoo_key_count() returns how many keys are in, repeated ones counted each
/// time. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_key_count(filter: *const bloomline_cuckoo) -> u64 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.map_or(0, |filter| filter.0.key_count())
}

/// bloomline_cuckoo_capacity() returns how many keys there are places for, of which about
/// 95 % can be used. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_capacity(filter: *const bloomline_cuckoo) -> u64 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.map_or(0, |filter| filter.0.params().slots())
}

/// bloomline_cuckoo_fill() returns the load: the fraction of its places that are taken, 0 to
/// 1. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_fill(filter: *const bloomline_cuckoo) -> f64 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.map_or(0.0, |filter| filter.0.fill())
}

/// bloomline_cuckoo_insert() adds the key of 'len' bytes at 'key'.
///
/// Errors: BLOOMLINE_ERR_FULL if there is no room; the filter is then as before.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_insert(
    filter: *mut bloomline_cuckoo,
    key: *const c_void,
    len: usize,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; `len`
        // bytes are there unless NULL.
        let (filter, key) = unsafe { (exclusive(filter).ok_or(NULL)?, key_or_empty(key, len)) };
        Ok(filter.0.insert(key).map(drop)?)
    })
}

/// bloomline_cuckoo_insert_hash() adds a key by its hash: that of bloomline_hash() or
/// bloomline_hash_u64() with the seed of the filter, if the key is also to be asked for
/// by its bytes; else any hash that is well mixed over all 64 bits.
///
/// Errors: BLOOMLINE_ERR_FULL if there is no room; the filter is then as before.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_insert_hash(
    filter: *mut bloomline_cuckoo,
    hash: u64,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
        let filter = unsafe { exclusive(filter) }.ok_or(NULL)?;
        Ok(filter.0.insert_hash(hash).map(drop)?)
    })
}

/// bloomline_cuckoo_insert_hashes() adds 'n' keys by their hashes, in order, up to the first
/// for which there is no room. How many were added is written to 'inserted', also with
/// BLOOMLINE_ERR_FULL, unless that is NULL. It is faster than adding them one by one.
///
/// Errors: BLOOMLINE_ERR_FULL if not all were added.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_insert_hashes(
    filter: *mut bloomline_cuckoo,
    hashes: *const u64,
    n: usize,
    inserted: *mut usize,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; each
        // array has its count unless NULL.
        let (filter, hashes) =
            unsafe { (exclusive(filter).ok_or(NULL)?, slice(hashes, n).ok_or(NULL)?) };
        let before = filter.0.key_count();
        let result = filter.0.insert_hashes(hashes);
        // SAFETY: the caller vouches for the room.
        unsafe { write_optional(inserted, (filter.0.key_count() - before) as usize) };
        Ok(result?)
    })
}

/// bloomline_cuckoo_insert_keys() is bloomline_cuckoo_insert_hashes() for keys given by their
/// bytes.
///
/// Errors: BLOOMLINE_ERR_FULL if not all were added.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_insert_keys(
    filter: *mut bloomline_cuckoo,
    keys: *const bloomline_bytes,
    n: usize,
    inserted: *mut usize,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; each
        // array has its count unless NULL.
        let (filter, keys) =
            unsafe { (exclusive(filter).ok_or(NULL)?, keys_at(keys, n).ok_or(NULL)?) };
        let before = filter.0.key_count();
        let result = filter.0.insert_keys(keys);
        // SAFETY: the caller vouches for the room.
        unsafe { write_optional(inserted, (filter.0.key_count() - before) as usize) };
        Ok(result?)
    })
}

/// bloomline_cuckoo_remove() removes the key of 'len' bytes at 'key', which must be in: see
/// bloomline_cuckoo. Of a key that is in several times it removes one.
///
/// Errors: BLOOMLINE_ERR_ABSENT if the key is surely not in; the filter is then as before.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_remove(
    filter: *mut bloomline_cuckoo,
    key: *const c_void,
    len: usize,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; `len`
        // bytes are there unless NULL.
        let (filter, key) = unsafe { (exclusive(filter).ok_or(NULL)?, key_or_empty(key, len)) };
        Ok(filter.0.remove(key)?)
    })
}

/// bloomline_cuckoo_remove_hash() removes a key by the hash that it was added by.
///
/// Errors: BLOOMLINE_ERR_ABSENT if the key is surely not in; the filter is then as before.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_remove_hash(
    filter: *mut bloomline_cuckoo,
    hash: u64,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
        let filter = unsafe { exclusive(filter) }.ok_or(NULL)?;
        Ok(filter.0.remove_hash(hash)?)
    })
}

/// bloomline_cuckoo_clear() takes out all keys. Size, shape and seed stay. NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_clear(filter: *mut bloomline_cuckoo) {
    guard_or((), || {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
        if let Some(filter) = unsafe { exclusive(filter) } {
            filter.0.clear();
        }
    });
}

/// bloomline_cuckoo_contains() returns false if the key of 'len' bytes at 'key' is certainly
/// not in, and true if it may be.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_contains(
    filter: *const bloomline_cuckoo,
    key: *const c_void,
    len: usize,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile; `len`
    // bytes are there unless NULL.
    match unsafe { (shared(filter), bytes(key, len)) } {
        (Some(filter), Some(key)) => filter.0.contains(key),
        _ => true,
    }
}

/// bloomline_cuckoo_contains_hash() is bloomline_cuckoo_contains() for a key given by its
/// hash, the one that it was added by.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_contains_hash(
    filter: *const bloomline_cuckoo,
    hash: u64,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.is_none_or(|filter| filter.0.contains_hash(hash))
}

/// bloomline_cuckoo_contains_hashes() asks for 'n' keys by their hashes, as
/// bloomline_filter_contains_hashes() does: bit i % 64 of bitmap[i / 64] is set if key i may
/// be in, and the result is how many may be.
///
/// If 'filter' or 'hashes' is NULL, all keys may be in. If 'bitmap' is NULL, nothing is
/// written and the result is 'n'.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_contains_hashes(
    filter: *const bloomline_cuckoo,
    hashes: *const u64,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile; each
    // array has its count unless NULL.
    unsafe {
        let probe = shared(filter).map(|filter| {
            |hashes: &[u64], bitmap: &mut [u64]| filter.0.contains_hashes(hashes, bitmap)
        });
        answer_hashes(hashes, n, bitmap, probe)
    }
}

/// bloomline_cuckoo_contains_keys() is bloomline_cuckoo_contains_hashes() for keys given by
/// their bytes.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_contains_keys(
    filter: *const bloomline_cuckoo,
    keys: *const bloomline_bytes,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile; each
    // array has its count unless NULL.
    unsafe {
        let probe = shared(filter)
            .map(|filter| |keys: &[Key], bitmap: &mut [u64]| filter.0.contains_keys(keys, bitmap));
        answer_keys(keys, n, bitmap, probe)
    }
}

/// bloomline_cuckoo_view() makes a view of a cuckoo filter, for the functions of
/// bloomline_view. It may be used until the filter is next changed, or freed.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_view(
    filter: *const bloomline_cuckoo,
    out: *mut bloomline_view,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile.
        let filter = unsafe { shared(filter) }.ok_or(NULL)?;
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(pack(&filter.0.view())) };
        Ok(())
    })
}

//! `bloomline_concurrent`: a filter that threads insert into and probe at once.

use super::batch::{Key, answer_hashes, answer_keys, keys_at};
use super::boundary::{
    NULL, bitmap_at, bytes, convert_handle, free, guard, guard_or, new_handle, output, shared,
    slice,
};
use super::filter::bloomline_filter;
use super::hash::{bloomline_bytes, key_or_empty};
use super::params::{bloomline_params, checked};
use super::status::bloomline_status;
use crate::ConcurrentFilter;
use std::ffi::c_void;

/// A filter that any number of threads insert into and probe at once: all functions that take
/// one, but for bloomline_concurrent_free(), may be called in any number of threads at the
/// same time, and none waits for another. It is made by bloomline_concurrent_new() and freed
/// by bloomline_concurrent_free().
///
/// A thread sees its own inserts at once, and all those that happened before, as by a mutex or
/// a join. An insert that goes on meanwhile may be seen or not. No key that was inserted is
/// ever lost.
///
/// It does not count keys: a number that all threads write to would cost more than the insert.
pub struct bloomline_concurrent(ConcurrentFilter);

// What the thread rule promises to C.
const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<bloomline_concurrent>();
};

/// bloomline_concurrent_new() makes an empty filter, of the same size and the same bytes as
/// that of bloomline_filter_new().
///
/// Errors: as bloomline_filter_new().
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_new(
    params: *const bloomline_params,
    out: *mut *mut bloomline_concurrent,
) -> bloomline_status {
    // SAFETY: rules of the header: `params` is NULL or there; `out` is NULL or has room.
    unsafe {
        new_handle(out, || Ok(bloomline_concurrent(ConcurrentFilter::new(checked(params)?)?)))
    }
}

/// bloomline_concurrent_free() frees a filter that no thread uses any more. NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`]; the filter is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_free(filter: *mut bloomline_concurrent) {
    // SAFETY: the handle came from `try_box`, and the caller gives it up.
    unsafe { free(filter) }
}

/// bloomline_concurrent_params() tells the size and shape of a filter.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_params(
    filter: *const bloomline_concurrent,
    out: *mut bloomline_params,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        // SAFETY: rules of the header: the handle is NULL or alive.
        let filter = unsafe { shared(filter) }.ok_or(NULL)?;
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(filter.0.params().into()) };
        Ok(())
    })
}

/// bloomline_concurrent_insert() adds the key of 'len' bytes at 'key'. It returns whether the
/// key was new: false if all its bits were set before, as they are for a key that is in, and
/// for false positives. Of several threads that add the same new key at once, at least one is
/// told that it is new, and more may be. For a NULL filter the result is true.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_insert(
    filter: *const bloomline_concurrent,
    key: *const c_void,
    len: usize,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive; `len` bytes are there unless
    // NULL.
    unsafe { shared(filter).is_none_or(|filter| filter.0.insert(key_or_empty(key, len))) }
}

/// bloomline_concurrent_insert_hash() is bloomline_concurrent_insert() for a key given by its
/// hash, as bloomline_filter_insert_hash() takes it.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_insert_hash(
    filter: *const bloomline_concurrent,
    hash: u64,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive.
    unsafe { shared(filter) }.is_none_or(|filter| filter.0.insert_hash(hash))
}

/// bloomline_concurrent_insert_hashes() adds 'n' keys by their hashes, and returns how many
/// were new. Bit i % 64 of bitmap[i / 64] is set if key i was, as bloomline_concurrent_insert()
/// says; unused bits of the last word are zero. 'bitmap' has room for (n + 63) / 64 words, and
/// need not be initialized; if it is NULL, nothing is written there, and the keys are added
/// all the same. A NULL 'filter' or 'hashes' adds nothing, and all keys are told to be new.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_insert_hashes(
    filter: *const bloomline_concurrent,
    hashes: *const u64,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive; each array has its count
    // unless NULL.
    unsafe {
        let filter = shared(filter);
        if let (true, Some(filter), Some(hashes)) = (bitmap.is_null(), filter, slice(hashes, n)) {
            return hashes.iter().filter(|&&hash| filter.0.insert_hash(hash)).count();
        }
        let insert = filter.map(|filter| {
            |hashes: &[u64], bitmap: &mut [u64]| filter.0.insert_new_hashes(hashes, bitmap)
        });
        answer_hashes(hashes, n, bitmap, insert)
    }
}

/// bloomline_concurrent_insert_keys() is bloomline_concurrent_insert_hashes() for keys given
/// by their bytes.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_insert_keys(
    filter: *const bloomline_concurrent,
    keys: *const bloomline_bytes,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive; each array has its count
    // unless NULL.
    unsafe {
        let (Some(filter), Some(keys)) = (shared(filter), keys_at(keys, n)) else {
            return answer_keys(keys, n, bitmap, None::<fn(&[Key], &mut [u64]) -> usize>);
        };
        match bitmap_at(bitmap, n) {
            Some(bitmap) => filter.0.insert_new_keys(keys, bitmap),
            None => keys.iter().filter(|&key| filter.0.insert(key)).count(),
        }
    }
}

/// bloomline_concurrent_contains() returns false if the key of 'len' bytes at 'key' was
/// certainly not in when this was called, and true if it may have been.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_contains(
    filter: *const bloomline_concurrent,
    key: *const c_void,
    len: usize,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive; `len` bytes are there unless
    // NULL.
    match unsafe { (shared(filter), bytes(key, len)) } {
        (Some(filter), Some(key)) => filter.0.contains(key),
        _ => true,
    }
}

/// bloomline_concurrent_contains_hash() is bloomline_concurrent_contains() for a key given by
/// its hash.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_contains_hash(
    filter: *const bloomline_concurrent,
    hash: u64,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive.
    unsafe { shared(filter) }.is_none_or(|filter| filter.0.contains_hash(hash))
}

/// bloomline_concurrent_contains_hashes() is bloomline_filter_contains_hashes() for a filter
/// that threads insert into.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_contains_hashes(
    filter: *const bloomline_concurrent,
    hashes: *const u64,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive; each array has its count
    // unless NULL.
    unsafe {
        let probe = shared(filter).map(|filter| {
            |hashes: &[u64], bitmap: &mut [u64]| filter.0.contains_hashes(hashes, bitmap)
        });
        answer_hashes(hashes, n, bitmap, probe)
    }
}

/// bloomline_concurrent_contains_keys() is bloomline_filter_contains_keys() for a filter that
/// threads insert into.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_contains_keys(
    filter: *const bloomline_concurrent,
    keys: *const bloomline_bytes,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive; each array has its count
    // unless NULL.
    unsafe {
        let probe = shared(filter)
            .map(|filter| |keys: &[Key], bitmap: &mut [u64]| filter.0.contains_keys(keys, bitmap));
        answer_keys(keys, n, bitmap, probe)
    }
}

/// bloomline_concurrent_union() adds all keys of 'from' to 'into'. The two must have the same
/// line count, k and seed, and both or neither be classic; 'from' must not change meanwhile.
///
/// Errors: BLOOMLINE_ERR_MISMATCH; nothing is added then.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_union(
    into: *const bloomline_concurrent,
    from: *const bloomline_filter,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handles are NULL or alive.
        let (into, from) = unsafe { (shared(into).ok_or(NULL)?, shared(from).ok_or(NULL)?) };
        Ok(into.0.union(&from.0)?)
    })
}

/// bloomline_concurrent_snapshot() makes a filter of its own with all keys that were in when
/// this was called, and perhaps some that were inserted meanwhile: to be saved, encoded or
/// measured while threads go on inserting. Its key count is 0, which means unknown.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_snapshot(
    filter: *const bloomline_concurrent,
    out: *mut *mut bloomline_filter,
) -> bloomline_status {
    // SAFETY: rules of the header: the handle is NULL or alive; `out` is NULL or has room.
    unsafe { new_handle(out, || Ok(bloomline_filter(shared(filter).ok_or(NULL)?.0.snapshot()?))) }
}

/// bloomline_concurrent_from_filter() makes a filter to be shared of one that is not, which is
/// used up: no copy is made, and 'filter' is set to NULL. So a filter that was loaded or built
/// in one thread goes on growing in many. One of bloomline_classic_new() stays what it is.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; 'filter' is then as before.
///
/// # Safety
/// See [`crate::ffi`]; the filter is not used again.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_from_filter(
    filter: *mut *mut bloomline_filter,
    out: *mut *mut bloomline_concurrent,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        // SAFETY: rules of the header: the pointer to the handle is NULL or this call's alone;
        // `out` has room.
        unsafe {
            out.write(convert_handle(filter, |filter| bloomline_concurrent(filter.0.into()))?)
        };
        Ok(())
    })
}

/// bloomline_concurrent_estimated_keys() estimates how many different keys are in, as
/// bloomline_filter_estimated_keys() does. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_concurrent_estimated_keys(
    filter: *const bloomline_concurrent,
) -> f64 {
    guard_or(0.0, || {
        // SAFETY: rules of the header: the handle is NULL or alive.
        unsafe { shared(filter) }.map_or(0.0, |filter| filter.0.estimated_keys())
    })
}

//! `bloomline_scalable`: a filter that grows with its keys.

/// cbindgen:ignore
mod encode;

pub use encode::*;

use super::batch::{Key, answer_hashes, answer_keys, keys_at};
use super::boundary::{
    NULL, bitmap_at, bytes, exclusive, free, guard, guard_or, new_handle, output, shared, slice,
};
use super::filter::bloomline_filter;
use super::hash::{bloomline_bytes, key_or_empty};
use super::params::bloomline_params;
use super::status::bloomline_status;
use crate::{Error, ScalableFilter};
use std::ffi::c_void;
use std::ptr;

/// A filter for a number of keys that nobody knows beforehand: it starts small, grows with its
/// keys, and stays below its false-positive rate whatever the number becomes. It is a row of
/// plain filters, its stages, each for twice the keys of the one before and at a lower rate. At
/// a thousand times the first number of keys it has 10 of them, and takes 1.8 times the memory
/// of a plain filter for so many keys at 1 %.
///
/// A key that is in already is not inserted again, and does not make it grow.
///
/// Where it ought to grow and there is no memory, an insert answers
/// BLOOMLINE_ERR_OUT_OF_MEMORY, **and the key is in all the same**: nothing is lost, but the
/// rate may from then on exceed the one asked for. Each later insert tries to grow again.
///
/// It is made by bloomline_scalable_new(), bloomline_scalable_decode() or
/// bloomline_scalable_load(), and freed by bloomline_scalable_free().
pub struct bloomline_scalable(pub(super) ScalableFilter);

// What the thread rule promises to C.
const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<bloomline_scalable>();
};

/// bloomline_scalable_new() makes an empty filter. Its first stage is for 'first_keys' keys, or
/// for 32 if that is fewer, 0 included. 'rate' is the false-positive rate that all stages
/// together stay below, from 1e-15 to less than 1; 'seed' is that of the hash of keys.
///
/// Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_LINE_COUNT if the first stage cannot be
/// addressed, BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_new(
    first_keys: u64,
    rate: f64,
    seed: u64,
    out: *mut *mut bloomline_scalable,
) -> bloomline_status {
    // SAFETY: rules of the header: `out` is NULL or has room.
    unsafe {
        new_handle(out, || Ok(bloomline_scalable(ScalableFilter::new(first_keys, rate, seed)?)))
    }
}

/// bloomline_scalable_free() frees a filter, and with it what bloomline_scalable_stage()
/// returned. NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`]; the filter is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_free(filter: *mut bloomline_scalable) {
    // SAFETY: the handle came from `try_box`, and the caller gives it up.
    unsafe { free(filter) }
}

/// Inserts one key by `insert`, and tells whether it was new. A failure to grow is for keys
/// that are new only.
///
/// # Safety
/// `filter` is NULL or alive and the call's alone; `is_new` is NULL or has room.
unsafe fn insert_one(
    filter: *mut bloomline_scalable,
    is_new: *mut bool,
    insert: impl FnOnce(&mut ScalableFilter) -> Result<bool, Error>,
) -> bloomline_status {
    guard(|| {
        // SAFETY: the same contract.
        let inserted = insert(&mut unsafe { exclusive(filter) }.ok_or(NULL)?.0);
        if !is_new.is_null() {
            // SAFETY: not NULL; the caller vouches for the room.
            unsafe { is_new.write(*inserted.as_ref().unwrap_or(&true)) };
        }
        inserted?;
        Ok(())
    })
}

/// bloomline_scalable_insert() adds the key of 'len' bytes at 'key'. Whether it was new is
/// written to 'is_new', unless that is NULL: false if it seemed to be in already, which a key
/// that is in always does, and others do at the rate of false positives.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY if the filter ought to grow and cannot. The key was new,
/// it is in, and 'is_new' is written.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_insert(
    filter: *mut bloomline_scalable,
    key: *const c_void,
    len: usize,
    is_new: *mut bool,
) -> bloomline_status {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; `len`
    // bytes are there unless NULL; `is_new` is NULL or has room.
    unsafe { insert_one(filter, is_new, |filter| filter.insert(key_or_empty(key, len))) }
}

/// bloomline_scalable_insert_hash() is bloomline_scalable_insert() for a key given by its hash,
/// as bloomline_filter_insert_hash() takes it.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_insert_hash(
    filter: *mut bloomline_scalable,
    hash: u64,
    is_new: *mut bool,
) -> bloomline_status {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; `is_new`
    // is NULL or has room.
    unsafe { insert_one(filter, is_new, |filter| filter.insert_hash(hash)) }
}

/// Inserts a batch by `insert`, which takes some items and a bitmap of those that were new.
///
/// # Safety
/// `filter` is NULL or alive and the call's alone; `bitmap` as for `boundary::bitmap_at`.
unsafe fn insert_batch<T>(
    filter: *mut bloomline_scalable,
    items: Option<&[T]>,
    bitmap: *mut u64,
    insert: impl Fn(&mut ScalableFilter, &[T], &mut [u64]) -> Result<usize, Error>,
) -> bloomline_status {
    const AT_ONCE: usize = 4096;
    guard(|| {
        // SAFETY: the same contract.
        let filter = &mut unsafe { exclusive(filter) }.ok_or(NULL)?.0;
        let items = items.ok_or(NULL)?;
        if !bitmap.is_null() {
            // SAFETY: the same contract.
            let bitmap = unsafe { bitmap_at(bitmap, items.len()) }.ok_or(NULL)?;
            insert(filter, items, bitmap)?;
            return Ok(());
        }
        // All of them, whatever becomes of some.
        let mut result = Ok(0);
        for items in items.chunks(AT_ONCE) {
            result = result.and(insert(filter, items, &mut [0; AT_ONCE / 64]));
        }
        result?;
        Ok(())
    })
}

/// bloomline_scalable_insert_hashes() adds 'n' keys by their hashes, faster than one by one. Bit
/// i % 64 of bitmap[i / 64] is set if key i was new, as bloomline_scalable_insert() says; a key
/// that is there twice is new once, and unused bits of the last word are zero. 'bitmap' has room
/// for (n + 63) / 64 words, and need not be initialized; it may be NULL.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY if the filter ought to grow and cannot. All keys are in,
/// and 'bitmap' is written.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_insert_hashes(
    filter: *mut bloomline_scalable,
    hashes: *const u64,
    n: usize,
    bitmap: *mut u64,
) -> bloomline_status {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; each
    // array has its count unless NULL.
    unsafe {
        insert_batch(filter, slice(hashes, n), bitmap, |filter, hashes, bitmap| {
            filter.insert_new_hashes(hashes, bitmap)
        })
    }
}

/// bloomline_scalable_insert_keys() is bloomline_scalable_insert_hashes() for keys given by
/// their bytes.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_insert_keys(
    filter: *mut bloomline_scalable,
    keys: *const bloomline_bytes,
    n: usize,
    bitmap: *mut u64,
) -> bloomline_status {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; each
    // array has its count unless NULL.
    unsafe {
        insert_batch(filter, keys_at(keys, n), bitmap, |filter, keys, bitmap| {
            filter.insert_new_keys(keys, bitmap)
        })
    }
}

/// bloomline_scalable_contains() returns false if the key of 'len' bytes at 'key' is certainly
/// not in, and true if it may be. The lines of all stages are asked for before the first is
/// looked at.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_contains(
    filter: *const bloomline_scalable,
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

/// bloomline_scalable_contains_hash() is bloomline_scalable_contains() for a key given by its
/// hash.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_contains_hash(
    filter: *const bloomline_scalable,
    hash: u64,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.is_none_or(|filter| filter.0.contains_hash(hash))
}

/// bloomline_scalable_contains_hashes() is bloomline_filter_contains_hashes() for a filter that
/// grows.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_contains_hashes(
    filter: *const bloomline_scalable,
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

/// bloomline_scalable_contains_keys() is bloomline_filter_contains_keys() for a filter that
/// grows.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_contains_keys(
    filter: *const bloomline_scalable,
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

/// bloomline_scalable_stage_count() returns how many stages the filter has: 1 or more. NULL has
/// 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_stage_count(
    filter: *const bloomline_scalable,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.map_or(0, |filter| filter.0.stages().len())
}

/// bloomline_scalable_stage() returns stage number 'stage', 0 being the oldest, to be asked for
/// its size, its keys, its fill and rate by any function that takes a const bloomline_filter. It
/// is not copied: it is part of 'filter', and must not be changed or freed. It may be used until
/// 'filter' is next changed or freed. A stage that there is not is NULL.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_stage(
    filter: *const bloomline_scalable,
    stage: usize,
) -> *const bloomline_filter {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    let stage = unsafe { shared(filter) }.and_then(|filter| filter.0.stages().nth(stage));
    stage.map_or(ptr::null(), bloomline_filter::borrowed)
}

/// bloomline_scalable_key_count() returns how many keys are in: those that were new when they
/// were added. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_key_count(filter: *const bloomline_scalable) -> u64 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.map_or(0, |filter| filter.0.key_count())
}

/// bloomline_scalable_rate() returns the false-positive rate to expect of all stages together,
/// 0 to 1, with the keys that are in now. It is at most the one asked for, unless the filter
/// could not grow. NULL has 1.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_rate(filter: *const bloomline_scalable) -> f64 {
    guard_or(1.0, || {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
        unsafe { shared(filter) }.map_or(1.0, |filter| filter.0.expected_rate())
    })
}

/// bloomline_scalable_plain_params() tells the size and shape of the plain filter for the keys
/// that are in, at the rate that was asked for. Where all keys can be added once more, such a
/// filter takes less memory and is probed faster: make it by bloomline_filter_new(), add all
/// keys, and see to it that bloomline_filter_key_count() is then no less than
/// bloomline_scalable_key_count(): if it is, keys are missing.
///
/// Errors: BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_plain_params(
    filter: *const bloomline_scalable,
    out: *mut bloomline_params,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
        let params = unsafe { shared(filter) }.ok_or(NULL)?.0.plain_params()?;
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(params.into()) };
        Ok(())
    })
}

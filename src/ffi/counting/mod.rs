//! `bloomline_counting`: a filter that keys can be removed from.

/// cbindgen:ignore
mod encode;

pub use encode::*;

use super::batch::{Key, change_batch, keys_at};
use super::boundary::{
    NULL, bytes, exclusive, free, guard, guard_or, new_handle, output, shared, slice,
};
use super::filter::bloomline_filter;
use super::hash::{bloomline_bytes, key_or_empty};
use super::params::{bloomline_params, checked};
use super::status::bloomline_status;
use super::view::{bloomline_view, pack};
use crate::CountingFilter;
use std::ffi::c_void;
use std::ptr;

/// The highest count: so often, or more often.
pub const BLOOMLINE_COUNTING_MOST: u32 = 15;

/// A filter that keys can be removed from, and that tells about how often a key is in. It
/// is a plain filter, which is what is probed, and a counter of 4 bits for each bit of it:
/// five times the memory of a plain filter, 320 bytes for each line, about 50 bits per key at
/// 1 %.
///
/// A key that is in is never denied, as long as only keys that are in are removed. A counter
/// that reaches 15 stays there, and so do the keys that need it.
///
/// Remove only what was inserted. A key that was not, and is surely absent, is refused and
/// nothing changes. But one that passes for a key that is in, a false positive, is removed
/// like one, and other keys may be denied from then on: no filter that forgets its keys can
/// tell the two apart. Keys inserted after that are safe again, as long as the keys removed
/// after it were inserted after it too.
///
/// It is made by bloomline_counting_new(), bloomline_counting_decode() or
/// bloomline_counting_load(), and freed by bloomline_counting_free().
pub struct bloomline_counting(pub(super) CountingFilter);

// What the thread rule promises to C.
const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<bloomline_counting>();
};

/// bloomline_counting_new() makes an empty filter, of 320 bytes of memory for each line.
///
/// Errors: BLOOMLINE_ERR_K, BLOOMLINE_ERR_LINE_COUNT and BLOOMLINE_ERR_RESERVED for
/// parameters out of range, BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_new(
    params: *const bloomline_params,
    out: *mut *mut bloomline_counting,
) -> bloomline_status {
    // SAFETY: rules of the header: `params` is NULL or there; `out` is NULL or has room.
    unsafe { new_handle(out, || Ok(bloomline_counting(CountingFilter::new(checked(params)?)?))) }
}

/// bloomline_counting_free() frees a filter. Views of it, and what
/// bloomline_counting_filter() returned, must not be used any more. NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`]; the filter is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_free(filter: *mut bloomline_counting) {
    // SAFETY: the handle came from `try_box`, and the caller gives it up.
    unsafe { free(filter) }
}

/// bloomline_counting_insert() adds the key of 'len' bytes at 'key': once more, if it is in.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_insert(
    filter: *mut bloomline_counting,
    key: *const c_void,
    len: usize,
) {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
    if let Some(filter) = unsafe { exclusive(filter) } {
        // SAFETY: rules of the header: `len` bytes are there unless NULL.
        filter.0.insert(unsafe { key_or_empty(key, len) });
    }
}

/// bloomline_counting_insert_hash() adds a key by its hash, as
/// bloomline_filter_insert_hash() does.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_insert_hash(
    filter: *mut bloomline_counting,
    hash: u64,
) {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
    if let Some(filter) = unsafe { exclusive(filter) } {
        filter.0.insert_hash(hash);
    }
}

/// bloomline_counting_insert_hashes() adds 'n' keys by their hashes, faster than one by one.
/// A NULL 'hashes' adds nothing.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_insert_hashes(
    filter: *mut bloomline_counting,
    hashes: *const u64,
    n: usize,
) {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; each
    // array has its count unless NULL.
    if let (Some(filter), Some(hashes)) = unsafe { (exclusive(filter), slice(hashes, n)) } {
        filter.0.insert_hashes(hashes);
    }
}

/// bloomline_counting_insert_keys() adds 'n' keys, faster than one by one. A NULL 'keys'
/// adds nothing.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_insert_keys(
    filter: *mut bloomline_counting,
    keys: *const bloomline_bytes,
    n: usize,
) {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; each
    // array has its count unless NULL.
    if let (Some(filter), Some(keys)) = unsafe { (exclusive(filter), keys_at(keys, n)) } {
        filter.0.insert_keys(keys);
    }
}

/// bloomline_counting_remove() removes the key of 'len' bytes at 'key': once, if it was
/// added more often. It must have been added: see bloomline_counting.
///
/// Errors: BLOOMLINE_ERR_ABSENT if the key is surely not in. Nothing has changed then.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_remove(
    filter: *mut bloomline_counting,
    key: *const c_void,
    len: usize,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone;
        // `len` bytes are there unless NULL.
        let (filter, key) = unsafe { (exclusive(filter), bytes(key, len)) };
        Ok(filter.ok_or(NULL)?.0.remove(key.ok_or(NULL)?)?)
    })
}

/// bloomline_counting_remove_hash() is bloomline_counting_remove() for a key given by its
/// hash, the one that it was added by.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_remove_hash(
    filter: *mut bloomline_counting,
    hash: u64,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
        let filter = unsafe { exclusive(filter) }.ok_or(NULL)?;
        Ok(filter.0.remove_hash(hash)?)
    })
}

/// bloomline_counting_remove_hashes() removes 'n' keys by their hashes, one after the other,
/// and returns how many were refused since they are surely not in. Bit i % 64 of
/// refused[i / 64] is set if key i was one of those; unused bits of the last word are zero.
/// 'refused' has room for (n + 63) / 64 words, and need not be initialized; it may be NULL,
/// if the number is enough.
///
/// If 'filter' or 'hashes' is NULL, all are refused.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_remove_hashes(
    filter: *mut bloomline_counting,
    hashes: *const u64,
    n: usize,
    refused: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; each
    // array has its count unless NULL.
    unsafe {
        let remove = exclusive(filter).map(|filter| {
            |hashes: &[u64], refused: &mut [u64]| {
                let removed = filter.0.remove_hashes(hashes, refused);
                all_but(removed, hashes.len(), refused)
            }
        });
        change_batch(slice(hashes, n), n, refused, remove)
    }
}

/// bloomline_counting_remove_keys() is bloomline_counting_remove_hashes() for keys given by
/// their bytes. A key that is NULL with a length above 0 is refused.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_remove_keys(
    filter: *mut bloomline_counting,
    keys: *const bloomline_bytes,
    n: usize,
    refused: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; each
    // array has its count unless NULL.
    unsafe {
        let remove = exclusive(filter).map(|filter| {
            |keys: &[Key], refused: &mut [u64]| remove_keys(&mut filter.0, keys, refused)
        });
        change_batch(keys_at(keys, n), n, refused, remove)
    }
}

/// Those of `count` answers that are not set, of which `set` are. Returns how many.
fn all_but(set: usize, count: usize, answers: &mut [u64]) -> usize {
    for (i, word) in answers.iter_mut().take(count.div_ceil(64)).enumerate() {
        *word = !*word & u64::MAX >> (64 - (count - 64 * i).min(64));
    }
    count - set
}

fn remove_keys(filter: &mut CountingFilter, keys: &[Key], refused: &mut [u64]) -> usize {
    if !keys.iter().any(Key::is_broken) {
        let removed = filter.remove_keys(keys, refused);
        return all_but(removed, keys.len(), refused);
    }
    let mut count = 0;
    refused.fill(0);
    for (i, key) in keys.iter().enumerate() {
        if key.is_broken() || filter.remove(key).is_err() {
            refused[i / 64] |= 1 << (i % 64);
            count += 1;
        }
    }
    count
}

/// bloomline_counting_count() returns how often the key of 'len' bytes at 'key' is in, at
/// most: 0 if it is surely not, and BLOOMLINE_COUNTING_MOST if it may be as often or more
/// often. Other keys can make it too high, at about the rate of false positives; only
/// removals of keys that were not in can make it too low. If 'filter' or 'key' is NULL it is
/// BLOOMLINE_COUNTING_MOST.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_count(
    filter: *const bloomline_counting,
    key: *const c_void,
    len: usize,
) -> u32 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile; `len`
    // bytes are there unless NULL.
    match unsafe { (shared(filter), bytes(key, len)) } {
        (Some(filter), Some(key)) => filter.0.count(key),
        _ => BLOOMLINE_COUNTING_MOST,
    }
}

/// bloomline_counting_count_hash() is bloomline_counting_count() for a key given by its
/// hash.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_count_hash(
    filter: *const bloomline_counting,
    hash: u64,
) -> u32 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.map_or(BLOOMLINE_COUNTING_MOST, |filter| filter.0.count_hash(hash))
}

/// bloomline_counting_filter() returns the plain filter of the keys that are in, to be
/// probed, encoded, saved, or asked for its fill and rate by any function that takes a const
/// bloomline_filter. It is not copied: it is part of 'filter', shows what is inserted and
/// removed later, and must not be changed or freed. It may be used for as long as 'filter' is
/// there, and while 'filter' is not changed. NULL has NULL.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_filter(
    filter: *const bloomline_counting,
) -> *const bloomline_filter {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    let filter = unsafe { shared(filter) };
    filter.map_or(ptr::null(), |filter| bloomline_filter::borrowed(filter.0.filter()))
}

/// bloomline_counting_to_filter() makes a plain filter of the keys that are in, a copy that is
/// the caller's and freed by bloomline_filter_free().
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_to_filter(
    filter: *const bloomline_counting,
    out: *mut *mut bloomline_filter,
) -> bloomline_status {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile; `out`
    // is NULL or has room.
    unsafe { new_handle(out, || Ok(bloomline_filter(shared(filter).ok_or(NULL)?.0.to_filter()?))) }
}

/// bloomline_counting_view() makes a view of the filter, to probe it, in batches too. It may
/// be used until the filter is next changed or freed.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_view(
    filter: *const bloomline_counting,
    out: *mut bloomline_view,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
        let filter = unsafe { shared(filter) }.ok_or(NULL)?;
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(pack(&filter.0.view())) };
        Ok(())
    })
}

/// bloomline_counting_contains() returns false if the key of 'len' bytes at 'key' is surely
/// not in, and true if it may be.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_contains(
    filter: *const bloomline_counting,
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

/// bloomline_counting_contains_hash() is bloomline_counting_contains() for a key given by its
/// hash.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_contains_hash(
    filter: *const bloomline_counting,
    hash: u64,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.is_none_or(|filter| filter.0.contains_hash(hash))
}

/// bloomline_counting_params() tells the size and shape of a filter.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_params(
    filter: *const bloomline_counting,
    out: *mut bloomline_params,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
        let filter = unsafe { shared(filter) }.ok_or(NULL)?;
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(filter.0.params().into()) };
        Ok(())
    })
}

/// bloomline_counting_key_count() returns how many keys are in: those added less those
/// removed. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_key_count(filter: *const bloomline_counting) -> u64 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.map_or(0, |filter| filter.0.key_count())
}

/// bloomline_counting_union() adds all keys of 'from' to 'into', each as often as it is in
/// 'from'. The two must have the same line count, k and seed. They may be one filter, whose
/// keys are then in twice as often.
///
/// Errors: BLOOMLINE_ERR_MISMATCH; BLOOMLINE_ERR_OUT_OF_MEMORY if they are one filter. 'into'
/// is then as before.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_union(
    into: *mut bloomline_counting,
    from: *const bloomline_counting,
) -> bloomline_status {
    guard(|| {
        if into.is_null() || from.is_null() {
            return Err(NULL);
        }
        if ptr::eq(into, from) {
            // SAFETY: not NULL; rules of the header: alive, and this call's alone.
            let into = unsafe { &mut *into };
            let copy = into.0.try_clone()?;
            return Ok(into.0.union(&copy)?);
        }
        // SAFETY: not NULL and not one filter; rules of the header: both are alive, `into` is this
        // call's alone and `from` unchanged meanwhile.
        let (into, from) = unsafe { (&mut *into, &*from) };
        Ok(into.0.union(&from.0)?)
    })
}

/// bloomline_counting_clear() takes out all keys. Size, k and seed stay. NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_clear(filter: *mut bloomline_counting) {
    guard_or((), || {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
        if let Some(filter) = unsafe { exclusive(filter) } {
            filter.0.clear();
        }
    });
}

//! `bloomline_filter`: a filter that owns its lines.

/// cbindgen:ignore
mod classic;
/// cbindgen:ignore
mod encode;

pub use classic::*;
pub use encode::*;

use super::batch::{Key, answer_hashes, answer_keys, keys_at};
use super::boundary::{
    NULL, bytes, exclusive, free, guard, guard_or, new_handle, output, shared, slice,
};
use super::hash::{bloomline_bytes, key_or_empty};
use super::params::{bloomline_params, checked};
use super::status::bloomline_status;
use crate::Filter;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr;

/// A filter that can be added to. It is made by bloomline_filter_new(),
/// bloomline_classic_new(), bloomline_filter_decode() or bloomline_filter_load(), and freed by
/// bloomline_filter_free().
///
/// Any number of threads may call functions that take a const bloomline_filter at once.
/// A function that takes a non-const one needs it for itself alone.
pub struct bloomline_filter(pub(super) Filter);

impl bloomline_filter {
    /// The handle of a filter that is part of something else: for functions that take a const
    /// one.
    pub(super) fn borrowed(filter: &Filter) -> *const bloomline_filter {
        // A handle is a filter and nothing else.
        const {
            assert!(offset_of!(bloomline_filter, 0) == 0);
            assert!(size_of::<bloomline_filter>() == size_of::<Filter>());
        }
        ptr::from_ref(filter).cast()
    }
}

// What the thread rule promises to C.
const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<bloomline_filter>();
};

/// bloomline_filter_new() makes an empty filter. It takes 64 bytes of memory for each
/// line, aligned to the line.
///
/// On Unix, filters of 2 MiB and more, of every kind, get their memory from the system (mmap),
/// not from malloc, and in huge pages where it has them: these waste at most a tenth, and a
/// filter for which they would waste more has small pages at its end. If the environment
/// has BLOOMLINE_HUGE_PAGES=0, all memory is the allocator's.
///
/// Errors: BLOOMLINE_ERR_K, BLOOMLINE_ERR_LINE_COUNT and BLOOMLINE_ERR_RESERVED for
/// parameters out of range, BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_new(
    params: *const bloomline_params,
    out: *mut *mut bloomline_filter,
) -> bloomline_status {
    // SAFETY: rules of the header: `params` is NULL or there; `out` is NULL or has room.
    unsafe { new_handle(out, || Ok(bloomline_filter(Filter::new(checked(params)?)?))) }
}

/// bloomline_filter_free() frees a filter. Views of it must not be used any more.
/// NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`]; the filter is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_free(filter: *mut bloomline_filter) {
    // SAFETY: the handle came from `try_box`, and the caller gives it up.
    unsafe { free(filter) }
}

/// bloomline_filter_params() tells the size and shape of a filter.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_params(
    filter: *const bloomline_filter,
    out: *mut bloomline_params,
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

/// bloomline_filter_key_count() returns how many keys were inserted, repeated ones
/// counted each time; for a filter that was read, what its writer said. It is a hint,
/// and 0 means unknown or none. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_key_count(filter: *const bloomline_filter) -> u64 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.map_or(0, |filter| filter.0.key_count())
}

/// bloomline_filter_insert() adds the key of 'len' bytes at 'key'.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_insert(
    filter: *mut bloomline_filter,
    key: *const c_void,
    len: usize,
) {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
    if let Some(filter) = unsafe { exclusive(filter) } {
        // SAFETY: rules of the header: `len` bytes are there unless NULL.
        filter.0.insert(unsafe { key_or_empty(key, len) });
    }
}

/// bloomline_filter_insert_hash() adds a key by its hash: that of bloomline_hash() or
/// bloomline_hash_u64() with the seed of the filter, if the key is also to be asked for
/// by its bytes; else any hash that is well mixed over all 64 bits.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_insert_hash(filter: *mut bloomline_filter, hash: u64) {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
    if let Some(filter) = unsafe { exclusive(filter) } {
        filter.0.insert_hash(hash);
    }
}

/// bloomline_filter_insert_hashes() adds 'n' keys by their hashes. It is faster than
/// adding them one by one: in a large filter their lines are fetched ahead. A NULL
/// 'hashes' adds nothing.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_insert_hashes(
    filter: *mut bloomline_filter,
    hashes: *const u64,
    n: usize,
) {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; each
    // array has its count unless NULL.
    if let (Some(filter), Some(hashes)) = unsafe { (exclusive(filter), slice(hashes, n)) } {
        filter.0.insert_hashes(hashes);
    }
}

/// bloomline_filter_insert_keys() adds 'n' keys, faster than one by one. A NULL 'keys'
/// adds nothing.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_insert_keys(
    filter: *mut bloomline_filter,
    keys: *const bloomline_bytes,
    n: usize,
) {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; each
    // array has its count unless NULL.
    if let (Some(filter), Some(keys)) = unsafe { (exclusive(filter), keys_at(keys, n)) } {
        filter.0.insert_keys(keys);
    }
}

/// bloomline_filter_contains() returns false if the key of 'len' bytes at 'key' was
/// certainly never added, and true if it may have been.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_contains(
    filter: *const bloomline_filter,
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

/// bloomline_filter_contains_hash() is bloomline_filter_contains() for a key given by
/// its hash, the one that it was added by.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_contains_hash(
    filter: *const bloomline_filter,
    hash: u64,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.is_none_or(|filter| filter.0.contains_hash(hash))
}

/// bloomline_filter_contains_hashes() asks for 'n' keys by their hashes, and returns
/// how many of them may have been added. Bit i % 64 of bitmap[i / 64] is set if key i
/// may have been; unused bits of the last word are zero. 'bitmap' has room for
/// (n + 63) / 64 words, and need not be initialized.
///
/// If 'filter' or 'hashes' is NULL, all keys may have been added. If 'bitmap' is NULL,
/// nothing is written and the result is 'n'.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_contains_hashes(
    filter: *const bloomline_filter,
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

/// bloomline_filter_contains_keys() is bloomline_filter_contains_hashes() for keys given
/// by their bytes.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_contains_keys(
    filter: *const bloomline_filter,
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

/// bloomline_filter_union() adds all keys of 'from' to 'into'. The two must have the
/// same line count, k and seed, and both or neither be made by bloomline_classic_new().
///
/// Errors: BLOOMLINE_ERR_MISMATCH; 'into' is then as before.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_union(
    into: *mut bloomline_filter,
    from: *const bloomline_filter,
) -> bloomline_status {
    guard(|| {
        if into.is_null() || from.is_null() {
            return Err(NULL);
        }
        if ptr::eq(into, from) {
            // All its keys are in it.
            return Ok(());
        }
        // SAFETY: not NULL and not one filter; rules of the header: both are alive, `into` is this
        // call's alone and `from` unchanged meanwhile.
        let (into, from) = unsafe { (&mut *into, &*from) };
        Ok(into.0.union(&from.0)?)
    })
}

/// bloomline_filter_clear() takes out all keys. Size, k and seed stay. NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_clear(filter: *mut bloomline_filter) {
    guard_or((), || {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
        if let Some(filter) = unsafe { exclusive(filter) } {
            filter.0.clear();
        }
    });
}

/// bloomline_filter_fold() halves the number of lines and keeps all keys: every two
/// neighbours become one. A filter made too large for its keys is thus made smaller,
/// without the keys, at the price of a higher false-positive rate. Views of the filter
/// must not be used any more.
///
/// Errors: BLOOMLINE_ERR_ODD_LINE_COUNT, BLOOMLINE_ERR_OUT_OF_MEMORY, and
/// BLOOMLINE_ERR_LAYOUT for one of bloomline_classic_new(); the filter is then as before.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_fold(filter: *mut bloomline_filter) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
        let filter = unsafe { exclusive(filter) }.ok_or(NULL)?;
        Ok(filter.0.fold()?)
    })
}

/// bloomline_filter_fold_to_rate() folds for as long as the false-positive rate stays at
/// 'rate' or below and the number of lines is even, which may be not at all, and writes
/// how many times it did to 'folds', unless that is NULL. Size the filter with
/// bloomline_params_foldable(): other line counts may be odd at once.
///
/// Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_OUT_OF_MEMORY, and BLOOMLINE_ERR_LAYOUT for one
/// of bloomline_classic_new(). The filter holds all its keys in any case.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_fold_to_rate(
    filter: *mut bloomline_filter,
    rate: f64,
    folds: *mut u32,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
        let filter = unsafe { exclusive(filter) }.ok_or(NULL)?;
        let done = filter.0.fold_to_rate(rate)?;
        if !folds.is_null() {
            // SAFETY: not NULL; the caller vouches for the room.
            unsafe { folds.write(done) };
        }
        Ok(())
    })
}

/// bloomline_filter_fill() returns which part of the bits is set, from 0 to 1. It reads
/// the whole filter. NULL has 1.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_fill(filter: *const bloomline_filter) -> f64 {
    guard_or(1.0, || {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile.
        unsafe { shared(filter) }.map_or(1.0, |filter| filter.0.fill())
    })
}

/// bloomline_filter_estimated_keys() estimates from the fill of the lines how many
/// different keys are in the filter. It reads the whole filter. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_estimated_keys(filter: *const bloomline_filter) -> f64 {
    guard_or(0.0, || {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile.
        unsafe { shared(filter) }.map_or(0.0, |filter| filter.0.estimated_keys())
    })
}

/// bloomline_filter_estimated_rate() estimates the false-positive rate at the present
/// fill of the lines, from 0 to 1: the sign that a filter is due to be built anew, larger. It
/// reads the whole filter. NULL has 1.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_estimated_rate(filter: *const bloomline_filter) -> f64 {
    guard_or(1.0, || {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile.
        unsafe { shared(filter) }.map_or(1.0, |filter| filter.0.estimated_rate())
    })
}

//! Counting filters as bytes and as files.

use super::super::boundary::{NULL, bytes, guard, new_handle, room_at, shared, write_optional};
use super::super::map::path;
use super::super::status::bloomline_status;
use super::bloomline_counting;
use crate::CountingFilter;
use std::ffi::{c_char, c_void};

/// bloomline_counting_encoded_len() returns how many bytes bloomline_counting_encode()
/// writes: 320 for each line and 64 more. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_encoded_len(
    filter: *const bloomline_counting,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.map_or(0, |filter| filter.0.encoded_len())
}

/// bloomline_counting_encode() writes the filter, counters included, to the 'cap' bytes at
/// 'out'. bloomline_counting_decode() reads it; bloomline_view_open() and bloomline_map_open()
/// probe it where it is, and bloomline_filter_decode() makes a plain filter of it. (Without
/// the counters: bloomline_filter_encode() of bloomline_counting_filter().) How many bytes is
/// written to 'written', unless that is NULL.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
/// bloomline_counting_encoded_len().
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_encode(
    filter: *const bloomline_counting,
    out: *mut c_void,
    cap: usize,
    written: *mut usize,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
        let filter = unsafe { shared(filter) }.ok_or(NULL)?;
        // SAFETY: the caller vouches for `cap` bytes.
        let len = filter.0.encode_in(unsafe { room_at(out, cap) }?)?;
        // SAFETY: the caller vouches for the room.
        unsafe { write_optional(written, len) };
        Ok(())
    })
}

/// bloomline_counting_decode() makes a filter from the 'len' bytes at 'data', as
/// bloomline_counting_encode() has written them. All is checked and copied.
///
/// Errors: those of bloomline_filter_decode(); BLOOMLINE_ERR_LAYOUT also for a filter
/// without counters.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_decode(
    data: *const c_void,
    len: usize,
    out: *mut *mut bloomline_counting,
) -> bloomline_status {
    // SAFETY: rules of the header: `len` bytes are there unless NULL; `out` is NULL or has
    // room.
    unsafe {
        new_handle(out, || {
            Ok(bloomline_counting(CountingFilter::decode(bytes(data, len).ok_or(NULL)?)?))
        })
    }
}

/// bloomline_counting_save() writes the filter, counters included, to a file, as
/// bloomline_filter_save() does.
///
/// Errors: those of bloomline_filter_save().
///
/// # Safety
/// See [`crate::ffi`]; `path` is NULL or NUL-terminated.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_save(
    filter: *const bloomline_counting,
    path: *const c_char,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile; `path` is NULL or ends with NUL.
        let (filter, path) = unsafe { (shared(filter).ok_or(NULL)?, self::path(path)?) };
        Ok(filter.0.save(path)?)
    })
}

/// bloomline_counting_load() reads a filter from a file, checking all as
/// bloomline_counting_decode() does. While it reads it takes the memory twice.
///
/// Errors: those of bloomline_counting_decode(); BLOOMLINE_ERR_NOT_FOUND,
/// BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_IO.
///
/// # Safety
/// See [`crate::ffi`]; `path` is NULL or NUL-terminated.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_counting_load(
    path: *const c_char,
    out: *mut *mut bloomline_counting,
) -> bloomline_status {
    // SAFETY: rules of the header: `path` is NULL or ends with NUL; `out` is NULL or has
    // room.
    unsafe { new_handle(out, || Ok(bloomline_counting(CountingFilter::load(self::path(path)?)?))) }
}

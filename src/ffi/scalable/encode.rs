//! Scalable filters as bytes and as files.

use super::super::boundary::{NULL, bytes, guard, new_handle, room_at, shared, write_optional};
use super::super::map::path;
use super::super::status::bloomline_status;
use super::bloomline_scalable;
use crate::ScalableFilter;
use std::ffi::{c_char, c_void};

/// bloomline_scalable_encoded_len() returns how many bytes bloomline_scalable_encode()
/// writes: 64 for each line of the stages, for each stage, and for all. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_encoded_len(
    filter: *const bloomline_scalable,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(filter) }.map_or(0, |filter| filter.0.encoded_len())
}

/// bloomline_scalable_encode() writes the filter to the 'cap' bytes at 'out'.
/// bloomline_scalable_decode() reads it, and nothing else does: it is no filter for a
/// bloomline_view. How many bytes is written to 'written', unless that is NULL.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
/// bloomline_scalable_encoded_len().
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_encode(
    filter: *const bloomline_scalable,
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

/// bloomline_scalable_decode() makes a filter from the 'len' bytes at 'data', as
/// bloomline_scalable_encode() has written them. All is checked and copied. It grows on as the
/// one that was encoded.
///
/// Errors: those of bloomline_filter_decode(), of which BLOOMLINE_ERR_LAYOUT is also the one for
/// a filter of another kind; BLOOMLINE_ERR_RATE.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_decode(
    data: *const c_void,
    len: usize,
    out: *mut *mut bloomline_scalable,
) -> bloomline_status {
    // SAFETY: rules of the header: `len` bytes are there unless NULL; `out` is NULL or has
    // room.
    unsafe {
        new_handle(out, || {
            Ok(bloomline_scalable(ScalableFilter::decode(bytes(data, len).ok_or(NULL)?)?))
        })
    }
}

/// bloomline_scalable_save() writes the filter to a file, as
/// bloomline_filter_save() does.
///
/// Errors: those of bloomline_filter_save().
///
/// # Safety
/// See [`crate::ffi`]; `path` is NULL or NUL-terminated.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_save(
    filter: *const bloomline_scalable,
    path: *const c_char,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile; `path` is NULL or ends with NUL.
        let (filter, path) = unsafe { (shared(filter).ok_or(NULL)?, self::path(path)?) };
        Ok(filter.0.save(path)?)
    })
}

/// bloomline_scalable_load() reads a filter from a file, checking all as
/// bloomline_scalable_decode() does. While it reads it takes the memory twice.
///
/// Errors: those of bloomline_scalable_decode(); BLOOMLINE_ERR_NOT_FOUND,
/// BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_IO.
///
/// # Safety
/// See [`crate::ffi`]; `path` is NULL or NUL-terminated.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_scalable_load(
    path: *const c_char,
    out: *mut *mut bloomline_scalable,
) -> bloomline_status {
    // SAFETY: rules of the header: `path` is NULL or ends with NUL; `out` is NULL or has
    // room.
    unsafe { new_handle(out, || Ok(bloomline_scalable(ScalableFilter::load(self::path(path)?)?))) }
}

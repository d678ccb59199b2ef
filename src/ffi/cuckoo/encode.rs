//! Cuckoo filters as bytes and as files.

use super::super::boundary::{
    NULL, bytes, guard, guard_or, new_handle, room_at, shared, write_optional,
};
use super::super::map::path;
use super::super::status::bloomline_status;
use super::bloomline_cuckoo;
use crate::CuckooFilter;
use std::ffi::{c_char, c_void};

/// bloomline_cuckoo_encoded_len() returns how many bytes bloomline_cuckoo_encode() writes: 64
/// for each line and 64 more. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_encoded_len(filter: *const bloomline_cuckoo) -> usize {
    guard_or(0, || {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile.
        unsafe { shared(filter) }.map_or(0, |filter| filter.0.encoded_len())
    })
}

/// bloomline_cuckoo_encode() writes the cuckoo filter to the 'cap' bytes at 'out', in the
/// format that bloomline_view_open() and bloomline_cuckoo_decode() read. How many is written
/// to 'written', unless that is NULL; what is left of 'out' stays as it is.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
/// bloomline_cuckoo_encoded_len().
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_encode(
    filter: *const bloomline_cuckoo,
    out: *mut c_void,
    cap: usize,
    written: *mut usize,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile.
        let filter = unsafe { shared(filter) }.ok_or(NULL)?;
        // SAFETY: the caller vouches for `cap` bytes.
        let len = filter.0.encode_in(unsafe { room_at(out, cap) }?)?;
        // SAFETY: the caller vouches for the room.
        unsafe { write_optional(written, len) };
        Ok(())
    })
}

/// bloomline_cuckoo_decode() makes a cuckoo filter from the 'len' bytes at 'data', as
/// bloomline_cuckoo_encode() has written them. All is checked, checksums included, and
/// copied: 'data' is not needed afterwards. Keys can be added to it and removed.
///
/// Errors: those of bloomline_view_open(), of which BLOOMLINE_ERR_LAYOUT is also the one for
/// a filter of another kind; BLOOMLINE_ERR_OUT_OF_MEMORY.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_decode(
    data: *const c_void,
    len: usize,
    out: *mut *mut bloomline_cuckoo,
) -> bloomline_status {
    // SAFETY: rules of the header: `len` bytes are there unless NULL; `out` is NULL or has
    // room.
    unsafe {
        new_handle(out, || {
            Ok(bloomline_cuckoo(CuckooFilter::decode(bytes(data, len).ok_or(NULL)?)?))
        })
    }
}

/// bloomline_cuckoo_save() writes the cuckoo filter to a file, whole or not at all, as
/// bloomline_filter_save() does. The file can be mapped by bloomline_map_open().
///
/// Errors: those of bloomline_filter_save().
///
/// # Safety
/// See [`crate::ffi`]; `path` is NULL or NUL-terminated.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_save(
    filter: *const bloomline_cuckoo,
    path: *const c_char,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile; `path` is NULL or ends with NUL.
        let (filter, path) = unsafe { (shared(filter).ok_or(NULL)?, self::path(path)?) };
        Ok(filter.0.save(path)?)
    })
}

/// bloomline_cuckoo_load() reads a cuckoo filter from a file into memory, checking all as
/// bloomline_cuckoo_decode() does.
///
/// Errors: those of bloomline_cuckoo_decode(); BLOOMLINE_ERR_NOT_FOUND,
/// BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_IO.
///
/// # Safety
/// See [`crate::ffi`]; `path` is NULL or NUL-terminated.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_cuckoo_load(
    path: *const c_char,
    out: *mut *mut bloomline_cuckoo,
) -> bloomline_status {
    // SAFETY: rules of the header: `path` is NULL or ends with NUL; `out` is NULL or has
    // room.
    unsafe { new_handle(out, || Ok(bloomline_cuckoo(CuckooFilter::load(self::path(path)?)?))) }
}

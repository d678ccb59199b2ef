//! Filters as bytes and as files.

use super::super::boundary::{
    NULL, bytes, guard, guard_or, new_handle, room_at, shared, write_optional,
};
use super::super::map::path;
use super::super::status::bloomline_status;
use super::bloomline_filter;
use crate::Filter;
use std::ffi::{c_char, c_void};

/// bloomline_filter_encoded_len() returns how many bytes bloomline_filter_encode()
/// writes: 64 for each line and 64 more. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_encoded_len(filter: *const bloomline_filter) -> usize {
    guard_or(0, || {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile.
        unsafe { shared(filter) }.map_or(0, |filter| filter.0.encoded_len())
    })
}

/// bloomline_filter_encode() writes the filter to the 'cap' bytes at 'out', in the format
/// that bloomline_view_open() and bloomline_filter_decode() read: the same bytes on every
/// CPU. How many is written to 'written', unless that is NULL; what is left of 'out'
/// stays as it is.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
/// bloomline_filter_encoded_len().
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_encode(
    filter: *const bloomline_filter,
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

/// bloomline_filter_decode() makes a filter from the 'len' bytes at 'data', as
/// bloomline_filter_encode(), bloomline_block_build() and the like have written them. All
/// is checked, checksums included, and copied: 'data' is not needed afterwards.
///
/// Errors: BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_NOT_A_FILTER, BLOOMLINE_ERR_VERSION,
/// BLOOMLINE_ERR_LAYOUT, BLOOMLINE_ERR_CHECKSUM, BLOOMLINE_ERR_RESERVED, BLOOMLINE_ERR_K
/// and BLOOMLINE_ERR_LINE_COUNT for data that is no sound filter;
/// BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_decode(
    data: *const c_void,
    len: usize,
    out: *mut *mut bloomline_filter,
) -> bloomline_status {
    // SAFETY: rules of the header: `len` bytes are there unless NULL; `out` is NULL or has
    // room.
    unsafe {
        new_handle(out, || Ok(bloomline_filter(Filter::decode(bytes(data, len).ok_or(NULL)?)?)))
    }
}

/// bloomline_filter_save() writes the filter to a file, replacing one of that name. The
/// bytes go to a file beside it first, and to the disk, and then take its name: whoever
/// opens the name finds the old filter or the new one, whole. 'path' is NUL-terminated;
/// on Windows it is UTF-8.
///
/// On Unix the new file keeps the permissions of the one it replaces and, where the process
/// may set them, its owner and group. If the group cannot be kept, the new group may do what
/// everybody may. Access control lists and extended attributes are not kept. A file that
/// replaces none has the permissions of any new file. A symbolic link is replaced by the file,
/// not followed; the file keeps the permissions of what the link led to. Other hard links
/// keep the old file.
///
/// Errors: BLOOMLINE_ERR_NOT_A_FILE if 'path' leads to a directory, a pipe, a socket or a
/// device, also through a link: nothing is replaced; BLOOMLINE_ERR_NOT_FOUND if the directory
/// is missing, BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_IO, BLOOMLINE_ERR_OUT_OF_MEMORY; a file
/// of that name is then as before.
/// Only if flushing the directory fails, last of all, is the new file in its place, and
/// may not survive a power failure.
///
/// A path of 384 bytes or more is copied by the Rust runtime, here and in
/// bloomline_filter_load() and bloomline_map_open(): it alone, if there is no memory for
/// those bytes, ends the process.
///
/// # Safety
/// See [`crate::ffi`]; `path` is NULL or NUL-terminated.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_save(
    filter: *const bloomline_filter,
    path: *const c_char,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile; `path` is NULL or ends with NUL.
        let (filter, path) = unsafe { (shared(filter).ok_or(NULL)?, self::path(path)?) };
        Ok(filter.0.save(path)?)
    })
}

/// bloomline_filter_load() reads a filter from a file into memory, checking all as
/// bloomline_filter_decode() does. The end of the file is read first: one that is no filter is
/// rejected before memory is taken for it, however long it is. To probe a file without reading
/// all of it, see bloomline_map_open().
///
/// Errors: those of bloomline_filter_decode(); BLOOMLINE_ERR_NOT_FOUND,
/// BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_IO; BLOOMLINE_ERR_NOT_A_FILE if 'path' leads to a
/// directory, a pipe, a socket or a device.
///
/// # Safety
/// See [`crate::ffi`]; `path` is NULL or NUL-terminated.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_filter_load(
    path: *const c_char,
    out: *mut *mut bloomline_filter,
) -> bloomline_status {
    // SAFETY: rules of the header: `path` is NULL or ends with NUL; `out` is NULL or has
    // room.
    unsafe { new_handle(out, || Ok(bloomline_filter(Filter::load(self::path(path)?)?))) }
}

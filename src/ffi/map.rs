//! `bloomline_map`: an encoded filter that was opened, with its bytes: a mapped file, a copy, the
//! caller's.

use super::boundary::*;
use super::matrix::bloomline_matrix;
use super::status::BLOOMLINE_ERR_RESERVED;
use super::view::{bloomline_view, pack};
use crate::filter::map::map_file;
use crate::filter::opened::{Bytes, Opened, check};

/// An encoded filter that was opened, in a file or in the caller's bytes: of any kind that
/// bloomline_view_open() opens, a cascade, a growing filter or a matrix. Made by
/// bloomline_map_open() or bloomline_map_bytes(); probed through bloomline_map_view() or
/// bloomline_map_matrix(); freed by bloomline_map_close().
pub struct bloomline_map(Opened);

const _: () = shared_between_threads::<bloomline_map>();

/// bloomline_map_open(), bloomline_map_bytes(): checks all but the lines, as
/// BLOOMLINE_VIEW_UNVERIFIED, and so does not read them.
pub const BLOOMLINE_MAP_UNVERIFIED: u32 = 1;
/// bloomline_map_open(): reads the file into memory of its own, and does not map it.
/// bloomline_map_bytes(): copies the bytes. The memory is that of bloomline_set_allocator().
pub const BLOOMLINE_MAP_COPY: u32 = 2;

/// What the flags ask for: lines verified, bytes copied.
fn asked(flags: u32) -> Result<(bool, bool), Failure> {
    if flags & !(BLOOMLINE_MAP_UNVERIFIED | BLOOMLINE_MAP_COPY) != 0 {
        return Err(Failure(BLOOMLINE_ERR_RESERVED));
    }
    Ok((flags & BLOOMLINE_MAP_UNVERIFIED == 0, flags & BLOOMLINE_MAP_COPY != 0))
}

exports! {
/// bloomline_map_open() maps a file that holds an encoded filter: of any kind that
/// bloomline_view_open() opens, a block of bloomline_block_save() among them, or a cascade, a
/// growing filter or a matrix. 'flags' is 0 or a sum of BLOOMLINE_MAP_ numbers. With 0 it checks
/// all of the file, and so reads it once from end to end. 'path' is NUL-terminated, on Windows in
/// UTF-8.
///
/// While a file is mapped, nobody may change it in place, in this process or another: the library
/// cannot prevent or notice it. If the file is written to, answers are wrong in either direction: a
/// present key can be a false negative. If it is cut short, a probe of a missing part kills the
/// process with SIGBUS. To change the filter, write a new file and rename it over the old one, as
/// bloomline_filter_save() does: the map keeps the old file. Removing the file does no harm. If you
/// cannot rule out changes, or the file system maps no files, take BLOOMLINE_MAP_COPY.
///
/// Errors: those of bloomline_filter_load(); BLOOMLINE_ERR_RESERVED for other flags.
fn bloomline_map_open(
    path: *const c_char, flags: u32, out: *mut *mut bloomline_map,
) -> bloomline_status {
    new_handle(out, || {
        let ((verified, copied), path) = (asked(flags)?, path_at(path)?);
        let opened = if copied {
            Opened::read(path, verified)
        } else {
            Opened::of(Bytes::Mapped(map_file(path, check)?), verified)
        };
        Ok(bloomline_map(opened?))
    })
}

/// bloomline_map_bytes() is bloomline_map_open() for the 'len' bytes at 'data', which must stay in
/// place, unchanged, until bloomline_map_close(), unless copied. It is how a cascade, a
/// growing filter or a matrix is probed where its bytes are; bloomline_view_open() opens other kinds
/// without a handle.
///
/// Errors: those of bloomline_filter_decode(); BLOOMLINE_ERR_RESERVED for other flags.
fn bloomline_map_bytes(
    data: *const c_void, len: usize, flags: u32, out: *mut *mut bloomline_map,
) -> bloomline_status {
    new_handle(out, || {
        let ((verified, copied), data) = (asked(flags)?, bytes(data, len).ok_or(NULL)?);
        let opened = if copied {
            Opened::copy(data, verified)
        } else {
            Opened::of(Bytes::Lent(data), verified)
        };
        Ok(bloomline_map(opened?))
    })
}

/// bloomline_map_view() writes a view of the filter to 'out'. Valid until bloomline_map_close().
///
/// Errors: BLOOMLINE_ERR_LAYOUT for a matrix.
fn bloomline_map_view(map: *const bloomline_map, out: *mut bloomline_view) -> bloomline_status {
    write_result(map, out, |map| Ok(pack(&map.0.view()?)))
}

/// bloomline_map_matrix() returns the matrix, for any function that takes a const bloomline_matrix.
/// It is part of 'map': do not free it. Valid until bloomline_map_close(). Returns NULL if 'map' is
/// NULL or has a filter of another kind.
fn bloomline_map_matrix(map: *const bloomline_map) -> *const bloomline_matrix {
    match shared(map) {
        Some(bloomline_map(Opened::Matrix(matrix))) => bloomline_matrix::borrowed(matrix),
        _ => std::ptr::null(),
    }
}

/// bloomline_map_close() unmaps the file, or frees the copy. Do not use its views afterwards.
fn bloomline_map_close(map: *mut bloomline_map) {
    free(map)
}
}

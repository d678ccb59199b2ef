//! `bloomline_map`: a filter in a file, mapped into memory.

use super::boundary::{Failure, NULL, free, new_handle, shared_between_threads, write_result};
use super::status::bloomline_status;
use super::view::{bloomline_view, pack};
use crate::filter::map::{Open, map_file};
use crate::os::memory::FileBytes;
use crate::{OwnedView, View};
use std::ffi::{CStr, c_char};
use std::path::Path;

/// A file mapped into memory. Made by bloomline_map_open() or bloomline_map_open_unverified();
/// probed through bloomline_map_view(); freed by bloomline_map_close().
pub struct bloomline_map(OwnedView<FileBytes>);

const _: () = shared_between_threads::<bloomline_map>();

/// The path that C names: bytes as they are on Unix, UTF-8 elsewhere.
///
/// # Safety
/// `path` is NULL or NUL-terminated, and nobody writes it during `'a`.
pub(super) unsafe fn path<'a>(path: *const c_char) -> Result<&'a Path, Failure> {
    if path.is_null() {
        return Err(NULL);
    }
    // SAFETY: not NULL; the caller vouches for the NUL at the end.
    let path = unsafe { CStr::from_ptr(path) };
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())))
    }
    #[cfg(not(unix))]
    path.to_str().map(Path::new).map_err(|_| Failure(super::status::BLOOMLINE_ERR_IO))
}

/// Gives C the map that `open` opens.
///
/// # Safety
/// `name` as for [`path`]; `out` is NULL or points at room for a pointer. The file is not changed
/// in place while it is mapped.
unsafe fn open_map(
    name: *const c_char,
    out: *mut *mut bloomline_map,
    open: Open,
) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe { new_handle(out, || Ok(bloomline_map(map_file(path(name)?, |bytes| bytes, open)?))) }
}

/// bloomline_map_open() maps a file that holds an encoded filter, and checks all of it as
/// bloomline_view_open(): it reads it once from end to end. 'path' is NUL-terminated, on Windows in
/// UTF-8.
///
/// While a file is mapped, nobody may change it in place, in this process or another: the library
/// cannot prevent or notice it. If the file is written to, answers are wrong in either direction: a
/// present key can be a false negative. If it is cut short, a probe of a missing part kills the
/// process with SIGBUS. To change the filter, write a new file and rename it over the old one, as
/// bloomline_filter_save() does: the map keeps the old file. Removing the file does no harm. If you
/// cannot rule out changes, read the file into memory of your own, and open that by
/// bloomline_view_open(), as filters of all kinds can be.
///
/// Errors: those of bloomline_view_open(); BLOOMLINE_ERR_NOT_FOUND, BLOOMLINE_ERR_PERMISSION,
/// BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_IO, BLOOMLINE_ERR_OUT_OF_MEMORY.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_map_open(
    path: *const c_char,
    out: *mut *mut bloomline_map,
) -> bloomline_status {
    // SAFETY: rules of the header: `path` is NULL or ends with NUL; `out` is NULL or has
    // room; nobody changes the file while it is mapped.
    unsafe { open_map(path, out, |bytes| View::open(bytes)) }
}

/// bloomline_map_open_unverified() is bloomline_map_open() without the checksum of the lines, and
/// so without reading them: see bloomline_view_open_unverified(). The same rule for changes holds.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_map_open_unverified(
    path: *const c_char,
    out: *mut *mut bloomline_map,
) -> bloomline_status {
    // SAFETY: rules of the header: `path` is NULL or ends with NUL; `out` is NULL or has
    // room; nobody changes the file while it is mapped.
    unsafe { open_map(path, out, |bytes| View::open_unverified(bytes)) }
}

/// bloomline_map_view() writes a view of the mapped filter to 'out'. Valid until the map is closed.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_map_view(
    map: *const bloomline_map,
    out: *mut bloomline_view,
) -> bloomline_status {
    // SAFETY: rules of the header: the handle is NULL or alive, and `out` is NULL or has room.
    unsafe { write_result(map, out, |map| Ok(pack(&map.0.view()))) }
}

/// bloomline_map_close() unmaps a file. Do not use its views afterwards. Does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_map_close(map: *mut bloomline_map) {
    // SAFETY: the handle came from `try_box`, and the caller gives it up.
    unsafe { free(map) }
}

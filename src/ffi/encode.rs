//! Filters as bytes: the kind of an encoded filter, and the callback that writes bytes.
#![allow(dead_code, reason = "C compares with the numbers of kinds")]

use super::boundary::{self, guard_or};
use crate::Kind;
use std::ffi::c_void;
use std::io;

/// bloomline_encoded_kind(): bloomline_filter_decode() reads it.
pub const BLOOMLINE_KIND_FILTER: i32 = 1;
/// bloomline_encoded_kind(): bloomline_counting_decode() reads it.
pub const BLOOMLINE_KIND_COUNTING: i32 = 2;
/// bloomline_encoded_kind(): bloomline_scalable_decode() reads it.
pub const BLOOMLINE_KIND_SCALABLE: i32 = 3;
/// bloomline_encoded_kind(): bloomline_window_decode() reads it.
pub const BLOOMLINE_KIND_WINDOW: i32 = 4;
/// bloomline_encoded_kind(): bloomline_filter_decode() reads it, as a classic filter.
pub const BLOOMLINE_KIND_CLASSIC: i32 = 6;
/// bloomline_encoded_kind(): bloomline_cuckoo_decode() reads it.
pub const BLOOMLINE_KIND_CUCKOO: i32 = 7;
/// bloomline_encoded_kind(): a static filter, which bloomline_view_open() and bloomline_map_open()
/// read.
pub const BLOOMLINE_KIND_STATIC: i32 = 8;
/// bloomline_encoded_kind(): bloomline_cascade_decode() and bloomline_map_open() read it.
pub const BLOOMLINE_KIND_CASCADE: i32 = 9;
/// bloomline_encoded_kind(): bloomline_matrix_decode() and bloomline_map_open() read it.
pub const BLOOMLINE_KIND_MATRIX: i32 = 10;

exports! {
/// bloomline_encoded_kind() returns the kind of the encoded filter in the 'len' bytes at 'bytes': a
/// BLOOMLINE_KIND_ number, or 0 if they are none. Later versions may return other numbers. Reads
/// and checks the last 64 bytes only: decoding can still fail.
///
/// Returns 0 if 'bytes' is NULL.
fn bloomline_encoded_kind(bytes: *const c_void, len: usize) -> i32 {
    // The numbers are those of `Kind`.
    guard_or(0, || match boundary::bytes(bytes, len).map(Kind::of) {
        Some(Ok(kind)) => kind as i32,
        Some(Err(_)) | None => 0,
    })
}
}

/// Writes the next 'len' bytes at 'data' somewhere and returns true, or false on failure: the
/// callback of bloomline_filter_write() and the like, which pass 'context' on. It must return
/// normally: no exception, no longjmp().
pub type bloomline_write_fn =
    Option<unsafe extern "C" fn(context: *mut c_void, data: *const c_void, len: usize) -> bool>;

/// A callback of C as a writer. One that fails is not called again.
pub(super) struct Callback {
    write: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> bool,
    context: *mut c_void,
    failed: bool,
}

impl Callback {
    /// A writer that passes bytes to `write`, with this context; `None` if it is NULL.
    pub(super) fn new(write: bloomline_write_fn, context: *mut c_void) -> Option<Callback> {
        Some(Callback { write: write?, context, failed: false })
    }
}

impl io::Write for Callback {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        // SAFETY: rules of the header: the function takes any bytes with this context.
        self.failed =
            self.failed || !unsafe { (self.write)(self.context, part.as_ptr().cast(), part.len()) };
        if self.failed { Err(io::ErrorKind::Other.into()) } else { Ok(part.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

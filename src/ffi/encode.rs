//! Filters as bytes: the kind of an encoded filter, and the callback that writes bytes.

use super::boundary::{self, guard_or};
use crate::Kind;
use std::ffi::c_void;
use std::io;

exports! {
/// bloomline_encoded_kind() returns the kind of the encoded filter in the 'len' bytes at 'bytes':
/// one of the BLOOMLINE_KIND_ numbers, each of which is defined beside the functions of its kind; 0
/// if the bytes are no encoded filter. Later versions may return other numbers. It reads and checks
/// the last 64 bytes only: decoding can still fail.
///
/// Returns 0 if 'bytes' is NULL.
fn bloomline_encoded_kind(bytes: *const c_void, len: usize) -> i32 {
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

//! Filters as bytes: the kind of an encoded filter, the callback that bytes are written through,
//! and what the `_clone`, `_encode`, `_write`, `_decode`, `_save` and `_load` of all handles share.

use super::boundary::{
    NULL, bytes, guard, guard_or, new_handle, required, room_at, write_optional,
};
use super::cascade::bloomline_cascade;
use super::counting::bloomline_counting;
use super::cuckoo::bloomline_cuckoo;
use super::filter::bloomline_filter;
use super::map::path;
use super::scalable::bloomline_scalable;
use super::status::bloomline_status;
use super::window::bloomline_window;
use crate::os::room::Room;
use crate::{Cascade, CountingFilter, CuckooFilter, Error, Filter, Kind, ScalableFilter, Window};
use std::ffi::{c_char, c_void};
use std::io;
use std::path::Path;

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
/// bloomline_encoded_kind(): bloomline_cascade_decode() reads it.
pub const BLOOMLINE_KIND_CASCADE: i32 = 9;

/// bloomline_encoded_kind() returns the kind of the encoded filter in the 'len' bytes at 'bytes': a
/// BLOOMLINE_KIND_ number, or 0 if they are none. Later versions may return other numbers. Reads
/// and checks the last 64 bytes only: decoding can still fail.
///
/// Returns 0 if 'bytes' is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_encoded_kind(bytes: *const c_void, len: usize) -> i32 {
    guard_or(0, || {
        // SAFETY: rules of the header: `len` bytes are there unless NULL.
        match unsafe { super::boundary::bytes(bytes, len) }.map(Kind::of) {
            Some(Ok(Kind::Filter)) => BLOOMLINE_KIND_FILTER,
            Some(Ok(Kind::Classic)) => BLOOMLINE_KIND_CLASSIC,
            Some(Ok(Kind::Counting)) => BLOOMLINE_KIND_COUNTING,
            Some(Ok(Kind::Cuckoo)) => BLOOMLINE_KIND_CUCKOO,
            Some(Ok(Kind::Scalable)) => BLOOMLINE_KIND_SCALABLE,
            Some(Ok(Kind::Window)) => BLOOMLINE_KIND_WINDOW,
            Some(Ok(Kind::Static)) => BLOOMLINE_KIND_STATIC,
            Some(Ok(Kind::Cascade)) => BLOOMLINE_KIND_CASCADE,
            Some(Err(_)) | None => 0,
        }
    })
}

/// Writes the next 'len' bytes at 'data' somewhere and returns true, or false on failure: the
/// callback of bloomline_filter_write() and the like, which pass 'context' on. It must return
/// normally: no exception, no longjmp().
pub type bloomline_write_fn =
    Option<unsafe extern "C" fn(context: *mut c_void, data: *const c_void, len: usize) -> bool>;

/// A callback of C as a writer. One that fails is not called again.
struct Callback {
    write: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> bool,
    context: *mut c_void,
    failed: bool,
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

/// A handle that is copied, written and read whole.
pub(super) trait Whole: Sized {
    fn try_clone(&self) -> Result<Self, Error>;
    fn encoded_len(&self) -> usize;
    fn encode_in(&self, out: Room<'_>) -> Result<usize, Error>;
    fn write_to(&self, out: &mut dyn io::Write) -> Result<(), Error>;
    fn decode(bytes: &[u8]) -> Result<Self, Error>;
    fn save(&self, path: &Path) -> Result<(), Error>;
    fn load(path: &Path) -> Result<Self, Error>;
}

/// By the functions of the same names.
macro_rules! whole {
    ($($handle:ident: $filter:ty),*) => {$(
        impl Whole for $handle {
            fn try_clone(&self) -> Result<Self, Error> {
                self.0.try_clone().map($handle)
            }
            fn encoded_len(&self) -> usize {
                self.0.encoded_len()
            }
            fn encode_in(&self, out: Room<'_>) -> Result<usize, Error> {
                self.0.encode_in(out)
            }
            fn write_to(&self, out: &mut dyn io::Write) -> Result<(), Error> {
                self.0.write_to(out)
            }
            fn decode(bytes: &[u8]) -> Result<Self, Error> {
                <$filter>::decode(bytes).map($handle)
            }
            fn save(&self, path: &Path) -> Result<(), Error> {
                self.0.save(path)
            }
            fn load(path: &Path) -> Result<Self, Error> {
                <$filter>::load(path).map($handle)
            }
        }
    )*};
}
whole!(
    bloomline_filter: Filter,
    bloomline_counting: CountingFilter,
    bloomline_cuckoo: CuckooFilter,
    bloomline_scalable: ScalableFilter,
    bloomline_window: Window,
    bloomline_cascade: Cascade
);

/// `bloomline_<handle>_clone`.
///
/// # Safety
/// `handle` is NULL or alive and unchanged meanwhile; `out` is NULL or has room for a pointer.
pub(super) unsafe fn clone<T: Whole>(handle: *const T, out: *mut *mut T) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe { new_handle(out, || Ok(required(handle)?.try_clone()?)) }
}

/// `bloomline_<handle>_encoded_len`.
///
/// # Safety
/// `handle` is NULL or alive and unchanged meanwhile.
pub(super) unsafe fn encoded_len<T: Whole>(handle: *const T) -> usize {
    // SAFETY: the same contract.
    unsafe { super::boundary::read_or(handle, 0, T::encoded_len) }
}

/// `bloomline_<handle>_encode`.
///
/// # Safety
/// `handle` is NULL or alive and unchanged meanwhile; `out` as for `boundary::room_at`, `written`
/// as for `boundary::write_optional`.
pub(super) unsafe fn encode<T: Whole>(
    handle: *const T,
    out: *mut c_void,
    cap: usize,
    written: *mut usize,
) -> bloomline_status {
    // SAFETY: the same contract.
    guard(|| unsafe {
        let len = required(handle)?.encode_in(room_at(out, cap)?)?;
        write_optional(written, len);
        Ok(())
    })
}

/// `bloomline_<handle>_write`.
///
/// # Safety
/// `handle` is NULL or alive and unchanged meanwhile; `write` takes any bytes with this context.
pub(super) unsafe fn write<T: Whole>(
    handle: *const T,
    write: bloomline_write_fn,
    context: *mut c_void,
) -> bloomline_status {
    guard(|| {
        // SAFETY: the same contract.
        let handle = unsafe { required(handle) }?;
        let mut out = Callback { write: write.ok_or(NULL)?, context, failed: false };
        Ok(handle.write_to(&mut out)?)
    })
}

/// `bloomline_<handle>_decode`.
///
/// # Safety
/// `data` as for `boundary::bytes`; `out` is NULL or has room for a pointer.
pub(super) unsafe fn decode<T: Whole>(
    data: *const c_void,
    len: usize,
    out: *mut *mut T,
) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe { new_handle(out, || Ok(T::decode(bytes(data, len).ok_or(NULL)?)?)) }
}

/// `bloomline_<handle>_save`.
///
/// # Safety
/// `handle` is NULL or alive and unchanged meanwhile; `name` as for `map::path`.
pub(super) unsafe fn save<T: Whole>(handle: *const T, name: *const c_char) -> bloomline_status {
    // SAFETY: the same contract.
    guard(|| unsafe { Ok(required(handle)?.save(path(name)?)?) })
}

/// `bloomline_<handle>_load`.
///
/// # Safety
/// `name` as for `map::path`; `out` is NULL or has room for a pointer.
pub(super) unsafe fn load<T: Whole>(name: *const c_char, out: *mut *mut T) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe { new_handle(out, || Ok(T::load(path(name)?)?)) }
}

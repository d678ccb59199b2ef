//! What every handle has that is copied, written and read whole: `_clone`, `_free`, `_memory`,
//! `_encoded_len`, `_encode`, `_write`, `_decode`, `_save` and `_load`.
//!
//! [`handle!`] writes these functions. A kind's file has its rows: each function's comment, its
//! verb and its name, so that a search for the name finds it. cbindgen sees no macros, so
//! `tests/header.rs` expands the rows as text, by the arms below.

use super::boundary::{NULL, bytes, guard, new_handle, read_or, required, room_at, write_optional};
use super::encode::{Callback, bloomline_write_fn};
use super::map::path;
use super::status::bloomline_status;
use crate::Error;
use crate::os::room::Room;
use std::ffi::{c_char, c_void};
use std::io;
use std::path::Path;

/// Functions of a handle, by rows: `handle! { bloomline_NAME ARGUMENT; /// comment` and
/// `verb bloomline_NAME_verb; ... }`. Each arm is one function and goes on with the rows behind it.
macro_rules! handle {
    ($handle:ident $this:ident;) => {};
    ($handle:ident $this:ident; $(#[$doc:meta])* clone $function:ident; $($rest:tt)*) => {
        $(#[$doc])*
        #[must_use]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            $this: *const $handle,
            out: *mut *mut $handle,
        ) -> $crate::ffi::bloomline_status {
            // SAFETY: rules of the header: the handle is NULL or alive, and `out` is NULL or has
            // room.
            unsafe { $crate::ffi::handle::clone($this, out) }
        }
        $crate::ffi::handle::handle! { $handle $this; $($rest)* }
    };
    ($handle:ident $this:ident; $(#[$doc:meta])* free $function:ident; $($rest:tt)*) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function($this: *mut $handle) {
            // SAFETY: the handle came from `try_box`, and the caller gives it up.
            unsafe { $crate::ffi::boundary::free($this) }
        }
        $crate::ffi::handle::handle! { $handle $this; $($rest)* }
    };
    ($handle:ident $this:ident; $(#[$doc:meta])* memory $function:ident; $($rest:tt)*) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function($this: *const $handle) -> usize {
            // SAFETY: rules of the header: the handle is NULL or alive.
            unsafe { $crate::ffi::boundary::read_or($this, 0, |filter| filter.0.memory_usage()) }
        }
        $crate::ffi::handle::handle! { $handle $this; $($rest)* }
    };
    ($handle:ident $this:ident; $(#[$doc:meta])* encoded_len $function:ident; $($rest:tt)*) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function($this: *const $handle) -> usize {
            // SAFETY: rules of the header: the handle is NULL or alive.
            unsafe { $crate::ffi::handle::encoded_len($this) }
        }
        $crate::ffi::handle::handle! { $handle $this; $($rest)* }
    };
    ($handle:ident $this:ident; $(#[$doc:meta])* encode $function:ident; $($rest:tt)*) => {
        $(#[$doc])*
        #[must_use]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            $this: *const $handle,
            out: *mut std::ffi::c_void,
            cap: usize,
            written: *mut usize,
        ) -> $crate::ffi::bloomline_status {
            // SAFETY: rules of the header: the handle is NULL or alive; `cap` bytes are there, and
            // room at `written`, unless NULL.
            unsafe { $crate::ffi::handle::encode($this, out, cap, written) }
        }
        $crate::ffi::handle::handle! { $handle $this; $($rest)* }
    };
    ($handle:ident $this:ident; $(#[$doc:meta])* write $function:ident; $($rest:tt)*) => {
        $(#[$doc])*
        #[must_use]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            $this: *const $handle,
            write: $crate::ffi::bloomline_write_fn,
            context: *mut std::ffi::c_void,
        ) -> $crate::ffi::bloomline_status {
            // SAFETY: rules of the header: the handle is NULL or alive; `write` takes bytes with
            // `context`.
            unsafe { $crate::ffi::handle::write($this, write, context) }
        }
        $crate::ffi::handle::handle! { $handle $this; $($rest)* }
    };
    ($handle:ident $this:ident; $(#[$doc:meta])* decode $function:ident; $($rest:tt)*) => {
        $(#[$doc])*
        #[must_use]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            data: *const std::ffi::c_void,
            len: usize,
            out: *mut *mut $handle,
        ) -> $crate::ffi::bloomline_status {
            // SAFETY: rules of the header: `len` bytes are there unless NULL; `out` is NULL or has
            // room.
            unsafe { $crate::ffi::handle::decode(data, len, out) }
        }
        $crate::ffi::handle::handle! { $handle $this; $($rest)* }
    };
    ($handle:ident $this:ident; $(#[$doc:meta])* save $function:ident; $($rest:tt)*) => {
        $(#[$doc])*
        #[must_use]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            $this: *const $handle,
            path: *const std::ffi::c_char,
        ) -> $crate::ffi::bloomline_status {
            // SAFETY: rules of the header: the handle is NULL or alive; `path` is NULL or ends with
            // NUL.
            unsafe { $crate::ffi::handle::save($this, path) }
        }
        $crate::ffi::handle::handle! { $handle $this; $($rest)* }
    };
    ($handle:ident $this:ident; $(#[$doc:meta])* load $function:ident; $($rest:tt)*) => {
        $(#[$doc])*
        #[must_use]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            path: *const std::ffi::c_char,
            out: *mut *mut $handle,
        ) -> $crate::ffi::bloomline_status {
            // SAFETY: rules of the header: `path` is NULL or ends with NUL; `out` is NULL or has
            // room.
            unsafe { $crate::ffi::handle::load(path, out) }
        }
        $crate::ffi::handle::handle! { $handle $this; $($rest)* }
    };
}
pub(super) use handle;

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

/// Makes a handle [`Whole`] by its filter's functions of the same names.
macro_rules! whole {
    ($handle:ident: $filter:ty) => {
        impl $crate::ffi::handle::Whole for $handle {
            fn try_clone(&self) -> Result<Self, $crate::Error> {
                self.0.try_clone().map($handle)
            }
            fn encoded_len(&self) -> usize {
                self.0.encoded_len()
            }
            fn encode_in(&self, out: $crate::os::room::Room<'_>) -> Result<usize, $crate::Error> {
                self.0.encode_in(out)
            }
            fn write_to(&self, out: &mut dyn std::io::Write) -> Result<(), $crate::Error> {
                self.0.write_to(out)
            }
            fn decode(bytes: &[u8]) -> Result<Self, $crate::Error> {
                <$filter>::decode(bytes).map($handle)
            }
            fn save(&self, path: &std::path::Path) -> Result<(), $crate::Error> {
                self.0.save(path)
            }
            fn load(path: &std::path::Path) -> Result<Self, $crate::Error> {
                <$filter>::load(path).map($handle)
            }
        }
    };
}
pub(super) use whole;

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
    unsafe { read_or(handle, 0, T::encoded_len) }
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
        let mut out = Callback::new(write.ok_or(NULL)?, context);
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

//! What every handle has that is copied, written and read whole: `_clone`, `_free`, `_memory`,
//! `_encoded_len`, `_encode`, `_write`, `_decode`, `_save` and `_load`.
//!
//! [`handle!`] writes these functions. A kind's file has its rows: each function's verb and its
//! name, so that a search for the name finds it. `tests/header.rs` expands the rows as text, by the
//! arms of `row!`.

/// Functions of a handle, by rows: `handle! { bloomline_NAME(FILTER) ARGUMENT;` and
/// `verb bloomline_NAME_verb; ... }`. A comment is of all rows under it.
macro_rules! handle {
    ($handle:ident($kind:ident) $this:ident; $(
        $(#[$doc:meta])*
        $verb:ident $name:ident;
    )*) => {$(
        $crate::ffi::handle::row! { $verb [$(#[$doc])*] $name($handle, $kind, $this) }
    )*};
}
pub(super) use handle;

/// One of them.
macro_rules! row {
    (clone [$($doc:tt)*] $name:ident($handle:ident, $kind:ident, $this:ident)) => {exports! {
        $($doc)*
        fn $name(
            $this: *const $handle, out: *mut *mut $handle,
        ) -> $crate::ffi::bloomline_status {
            use $crate::ffi::boundary::*;
            new_handle(out, || Ok($handle(required($this)?.0.try_clone()?)))
        }
    }};
    (free [$($doc:tt)*] $name:ident($handle:ident, $kind:ident, $this:ident)) => {exports! {
        $($doc)*
        fn $name($this: *mut $handle) {
            $crate::ffi::boundary::free($this)
        }
    }};
    (memory [$($doc:tt)*] $name:ident($handle:ident, $kind:ident, $this:ident)) => {exports! {
        $($doc)*
        fn $name($this: *const $handle) -> usize {
            $crate::ffi::boundary::read_or($this, 0, |filter| filter.0.memory_usage())
        }
    }};
    (encoded_len [$($doc:tt)*] $name:ident($handle:ident, $kind:ident, $this:ident)) => {exports! {
        $($doc)*
        fn $name($this: *const $handle) -> usize {
            $crate::ffi::boundary::read_or($this, 0, |filter| filter.0.encoded_len())
        }
    }};
    (encode [$($doc:tt)*] $name:ident($handle:ident, $kind:ident, $this:ident)) => {exports! {
        $($doc)*
        fn $name(
            $this: *const $handle, out: *mut std::ffi::c_void, cap: usize, written: *mut usize,
        ) -> $crate::ffi::bloomline_status {
            use $crate::ffi::boundary::*;
            guard(|| {
                let len = required($this)?.0.encode_in(room_at(out, cap)?)?;
                write_optional(written, len);
                Ok(())
            })
        }
    }};
    (write [$($doc:tt)*] $name:ident($handle:ident, $kind:ident, $this:ident)) => {exports! {
        $($doc)*
        fn $name(
            $this: *const $handle, write: $crate::ffi::bloomline_write_fn,
            context: *mut std::ffi::c_void,
        ) -> $crate::ffi::bloomline_status {
            use $crate::ffi::boundary::*;
            guard(|| {
                let filter = required($this)?;
                let write = $crate::ffi::encode::Callback::new(write, context);
                Ok(filter.0.write_to(&mut write.ok_or(NULL)?)?)
            })
        }
    }};
    (decode [$($doc:tt)*] $name:ident($handle:ident, $kind:ident, $this:ident)) => {exports! {
        $($doc)*
        fn $name(
            data: *const std::ffi::c_void, len: usize, out: *mut *mut $handle,
        ) -> $crate::ffi::bloomline_status {
            use $crate::ffi::boundary::*;
            new_handle(out, || Ok($handle($kind::decode(bytes(data, len).ok_or(NULL)?)?)))
        }
    }};
    (save [$($doc:tt)*] $name:ident($handle:ident, $kind:ident, $this:ident)) => {exports! {
        $($doc)*
        fn $name(
            $this: *const $handle, path: *const std::ffi::c_char,
        ) -> $crate::ffi::bloomline_status {
            use $crate::ffi::boundary::*;
            guard(|| Ok(required($this)?.0.save($crate::ffi::boundary::path_at(path)?)?))
        }
    }};
    (load [$($doc:tt)*] $name:ident($handle:ident, $kind:ident, $this:ident)) => {exports! {
        $($doc)*
        fn $name(
            path: *const std::ffi::c_char, out: *mut *mut $handle,
        ) -> $crate::ffi::bloomline_status {
            use $crate::ffi::boundary::*;
            new_handle(out, || Ok($handle($kind::load($crate::ffi::boundary::path_at(path)?)?)))
        }
    }};
}
pub(super) use row;

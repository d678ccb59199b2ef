//! Which library this is: version, ABI version, backend.

use super::boundary::*;
use crate::Backend;
use std::ffi::CStr;

/// The version of this header: major number.
pub const BLOOMLINE_VERSION_MAJOR: u32 = 0;
/// The version of this header: minor number.
pub const BLOOMLINE_VERSION_MINOR: u32 = 1;
/// The version of this header: patch number.
pub const BLOOMLINE_VERSION_PATCH: u32 = 0;
/// The binary interface of this header: the number in the name of the shared library
/// (libbloomline.so.0). It changes only if programs built with an older header cannot run with a
/// newer library.
pub const BLOOMLINE_ABI_VERSION: u32 = 0;

// The header's numbers are literals. They are those of Cargo.toml, and the ABI version
// that of the soname in build.rs, or the library does not compile.
const _: () = {
    const fn number(text: &str) -> u32 {
        match u32::from_str_radix(text, 10) {
            Ok(number) => number,
            Err(_) => panic!("not a number"),
        }
    }
    assert!(BLOOMLINE_VERSION_MAJOR == number(env!("CARGO_PKG_VERSION_MAJOR")));
    assert!(BLOOMLINE_VERSION_MINOR == number(env!("CARGO_PKG_VERSION_MINOR")));
    assert!(BLOOMLINE_VERSION_PATCH == number(env!("CARGO_PKG_VERSION_PATCH")));
    assert!(BLOOMLINE_ABI_VERSION == number(env!("BLOOMLINE_SOVERSION")));
};

exports! {
/// bloomline_abi_version() returns the BLOOMLINE_ABI_VERSION of the library. A program that loads
/// the library at run time compares it with the header's before it calls anything else.
fn bloomline_abi_version() -> u32 {
    BLOOMLINE_ABI_VERSION
}

/// bloomline_abi_0() does nothing. Its name is that of the binary interface, so that a program
/// built with the header of another one does not link: see the end of this header.
fn bloomline_abi_0() {}

/// bloomline_version() returns the version of the library, such as "0.1.0". The text is static.
fn bloomline_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version contains no NUL"),
        };
    VERSION.as_ptr()
}

/// bloomline_backend() returns the name of the backend that answers probes in this process, such as
/// "avx2" or "scalar". It is chosen once, by the CPU; all give the same answers and bytes. The
/// environment variable BLOOMLINE_BACKEND, set before the library is loaded, forces one; empty is
/// as good as unset. The text is static.
///
/// Batches prefetch what suits the size of the filter and of the CPU's caches. For experiments,
/// BLOOMLINE_PREFETCH forces one prefetch for all: "none", "far" (into L2, far ahead) or "near"
/// (far, and near ahead into L1).
///
/// Returns "none" if this CPU does not have the backend, or BLOOMLINE_PREFETCH has another value.
/// Then nothing can be made or opened: BLOOMLINE_ERR_BACKEND, BLOOMLINE_ERR_PREFETCH.
fn bloomline_backend() -> *const c_char {
    let name = guard_or(c"none", || Backend::active().map_or(c"none", Backend::c_name));
    name.as_ptr()
}
}

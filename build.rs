//! What only the build can say: the name under which the shared library is found at run
//! time. Writes nothing and generates nothing; the header is made by `make header`
//! (`tests/header.rs`).
//!
//! The shared library exports `bloomline_*` and nothing else without any help from here:
//! rustc gives the linker a list of the exported C functions and hides the rest.

use std::env::var;

/// The number in the name of the shared library. It changes with the ABI, not with each
/// version; `src/ffi/version.rs` refuses to compile if its `BLOOMLINE_ABI_VERSION` differs.
const SOVERSION: &str = "0";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=BLOOMLINE_SOVERSION={SOVERSION}");

    let os = var("CARGO_CFG_TARGET_OS").expect("set by cargo");
    let argument = match os.as_str() {
        "linux" | "android" | "freebsd" | "netbsd" | "openbsd" | "dragonfly" | "illumos"
        | "solaris" => format!("-Wl,-soname,libbloomline.so.{SOVERSION}"),
        "macos" | "ios" => format!("-Wl,-install_name,@rpath/libbloomline.{SOVERSION}.dylib"),
        // Windows has no such name, and wasm no shared libraries.
        _ => return,
    };
    println!("cargo::rustc-cdylib-link-arg={argument}");
}

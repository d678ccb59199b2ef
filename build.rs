//! What only the build can say: the name under which programs find the shared library at run time,
//! on systems with ELF libraries. (On macOS `scripts/build-lib.sh` gives it: there a linker takes it
//! for nothing but a library.) And whether it is built for ThreadSanitizer: see `kernel/shared.rs`.
//! Generates nothing; the header is made by `make header`.
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
    // `cfg(sanitize)` itself is not stable.
    println!("cargo::rustc-check-cfg=cfg(bloomline_tsan)");
    if var("CARGO_CFG_SANITIZE").is_ok_and(|all| all.split(',').any(|one| one == "thread")) {
        println!("cargo::rustc-cfg=bloomline_tsan");
    }
    let is = |name: &str, values: &[&str]| values.contains(&&*var(name).unwrap_or_default());
    let elf =
        is("CARGO_CFG_TARGET_FAMILY", &["unix"]) && !is("CARGO_CFG_TARGET_VENDOR", &["apple"]);
    if var("CARGO_FEATURE_CAPI").is_ok() && elf {
        // Linkers ignore it for the programs that tests and examples are.
        println!("cargo::rustc-link-arg=-Wl,-soname,libbloomline.so.{SOVERSION}");
    }
}

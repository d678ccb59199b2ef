//! Environment variables.
//!
//! The library reads them when it is loaded, before `main` or within `dlopen`: later another
//! thread may change the environment, and a simultaneous read crashes in the C library. An atomic
//! keeps each value, so no process forks with a lock held; threads that come first at the same
//! time do the same work twice. On systems where nothing runs at load time the first use reads.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, Ordering};

/// The values of [`BACKEND`].
pub(crate) const BACKENDS: [&str; 4] = ["scalar", "portable", "avx2", "avx512"];

/// Which backend to use.
pub(crate) static BACKEND: Variable = Variable::new("BLOOMLINE_BACKEND", &BACKENDS);

/// Which prefetch all batches use, whatever the size of the filter.
pub(crate) static PREFETCH: Variable =
    Variable::new("BLOOMLINE_PREFETCH", &["none", "far", "near"]);

/// Whether large filters may lie in huge pages: "0" if not.
pub(crate) static HUGE_PAGES: Variable = Variable::new("BLOOMLINE_HUGE_PAGES", &["0"]);

/// A variable with a list of values.
pub(crate) struct Variable {
    name: &'static str,
    values: &'static [&'static str],
    /// One of the numbers below, or `FIRST` and the index of a value.
    state: AtomicU8,
}

const UNREAD: u8 = 0;
const UNSET: u8 = 1;
const UNKNOWN: u8 = 2;
const FIRST: u8 = 3;

/// What a variable says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Nothing: it is not set, or empty.
    Unset,
    /// The value of that index.
    Value(usize),
    /// Something that is not in the list.
    Unknown,
}

impl Variable {
    const fn new(name: &'static str, values: &'static [&'static str]) -> Variable {
        Variable { name, values, state: AtomicU8::new(UNREAD) }
    }

    /// Its value when the library was loaded.
    pub(crate) fn get(&self) -> Setting {
        // No other memory depends on the state, so no order is needed.
        let state = match self.state.load(Ordering::Relaxed) {
            UNREAD => self.read(),
            state => state,
        };
        match state {
            UNSET => Setting::Unset,
            UNKNOWN => Setting::Unknown,
            value => Setting::Value(usize::from(value - FIRST)),
        }
    }

    /// Makes this its value, whatever the environment says.
    pub(crate) fn set(&self, setting: Setting) {
        let state = match setting {
            Setting::Unset => UNSET,
            Setting::Unknown => UNKNOWN,
            Setting::Value(index) => FIRST + index as u8,
        };
        self.state.store(state, Ordering::Relaxed);
    }

    fn read(&self) -> u8 {
        let state = match std::env::var_os(self.name) {
            Some(text) if !text.is_empty() => self
                .values
                .iter()
                .position(|&value| text == value)
                .map_or(UNKNOWN, |index| FIRST + index as u8),
            _ => UNSET,
        };
        self.state.store(state, Ordering::Relaxed);
        state
    }
}

/// Run by the system's loader.
#[used]
#[cfg_attr(
    any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly",
        target_os = "illumos",
        target_os = "solaris"
    ),
    // SAFETY: this section holds pointers to C functions without a result; these
    // may ignore the arguments that some loaders give.
    unsafe(link_section = ".init_array")
)]
#[cfg_attr(
    target_vendor = "apple",
    // SAFETY: as above.
    unsafe(link_section = "__DATA,__mod_init_func,mod_init_funcs")
)]
#[cfg_attr(
    windows,
    // SAFETY: as above.
    unsafe(link_section = ".CRT$XCU")
)]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    BACKEND.read();
    PREFETCH.read();
    HUGE_PAGES.read();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(any(target_os = "linux", target_vendor = "apple", windows))]
    fn variables_are_read_when_the_library_is_loaded() {
        for variable in [&BACKEND, &PREFETCH, &HUGE_PAGES] {
            assert_ne!(variable.state.load(Ordering::Relaxed), UNREAD, "{}", variable.name);
        }
    }

    #[test]
    fn a_value_is_known_by_its_place_in_the_list() {
        fn read(name: &'static str, values: &'static [&'static str]) -> Setting {
            Variable::new(name, values).get()
        }
        assert_eq!(read("BLOOMLINE_NOBODY_SETS_THIS", &["1"]), Setting::Unset);
        // Cargo sets it for tests.
        assert_eq!(read("CARGO_PKG_NAME", &["other", env!("CARGO_PKG_NAME")]), Setting::Value(1));
        assert_eq!(read("CARGO_PKG_NAME", &["other"]), Setting::Unknown);
    }
}

//! Environment variables.
//!
//! The library reads them when it is loaded (`kernel::choice`), before `main` or within `dlopen`: later another
//! thread may change the environment, and a simultaneous read crashes in the C library. An atomic
//! keeps each value, so no process forks with a lock held; threads that come first at the same
//! time do the same work twice. On systems where nothing runs at load time the first use reads.

use std::sync::atomic::{AtomicU8, Ordering};

/// Which prefetch all batches use, whatever the size of the filter.
pub(crate) static PREFETCH: Variable =
    Variable::new("BLOOMLINE_PREFETCH", &["none", "far", "near"]);

/// Whether large filters may lie in huge pages: "0" if not.
pub(crate) static HUGE_PAGES: Variable = Variable::new("BLOOMLINE_HUGE_PAGES", &["0"]);

/// A variable with a list of values.
#[derive(Debug)]
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
    pub(crate) const fn new(name: &'static str, values: &'static [&'static str]) -> Variable {
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

    /// Whether its value is known.
    #[cfg(test)]
    pub(crate) fn is_read(&self) -> bool {
        self.state.load(Ordering::Relaxed) != UNREAD
    }

    /// Reads it from the environment.
    pub(crate) fn read(&self) -> u8 {
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

#[cfg(test)]
mod tests {
    use super::*;

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

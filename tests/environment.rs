//! The environment is read when the program is loaded, and not by the first use: then another
//! thread may be changing it.

#![cfg(any(target_os = "linux", target_vendor = "apple", windows))]
#![allow(unsafe_code)]

use bloomline::{Backend, Filter, Params};

#[test]
fn what_is_set_later_changes_nothing() {
    // SAFETY: this program has one test, so no other thread is there to read the environment.
    unsafe { std::env::set_var("BLOOMLINE_BACKEND", "there is no such backend") };
    let backend = Backend::active().expect("chosen by what was set when the program began");
    let filter = Filter::new(Params::new(1, 6, 0).unwrap()).unwrap();
    assert_eq!(filter.backend(), backend);
}

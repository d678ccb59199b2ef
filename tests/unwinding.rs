//! A panic is caught: by the unwinder that a program of this target links, before it reaches C.

use std::panic::{catch_unwind, set_hook};

#[test]
fn a_panic_is_caught() {
    set_hook(Box::new(|_| {}));
    assert!(catch_unwind(|| panic!("on purpose")).is_err());
}

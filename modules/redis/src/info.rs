//! The section of INFO.
#![allow(unsafe_code)]

use crate::api::raw::RawInfo;
use crate::api::table;
use crate::object::{BYTES, OBJECTS};
use std::ffi::c_int;
use std::sync::atomic::Ordering;

/// Called by the server, also in the child and in a crash report: it only reads numbers.
pub(crate) unsafe extern "C" fn fill(info: *mut RawInfo, _for_crash_report: c_int) {
    let table = table();
    let numbers = [(c"filters", &OBJECTS), (c"memory_bytes", &BYTES)];
    // SAFETY: what INFO is written to in this call. The names are literals.
    unsafe {
        (table.info_section)(info, c"filters".as_ptr());
        for (name, number) in numbers {
            (table.info_number)(info, name.as_ptr(), number.load(Ordering::Relaxed));
        }
    }
}

//! Probes that read one line more than there is. Not tests of the library but of the checker:
//! `make test-asan` runs each with every backend, and AddressSanitizer must report it, or its silence
//! about the other tests means nothing. Ignored in all other runs.
#![cfg(feature = "capi")]
#![allow(unsafe_code)]

use bloomline as _;
use std::ffi::c_void;
use std::mem::MaybeUninit;

// As include/bloomline.h has them, but a view with room to spare.
#[repr(C)]
struct Params {
    line_count: u64,
    k: u32,
    layout: u32,
    seed: u64,
}
type View = [u64; 16];
unsafe extern "C" {
    fn bloomline_lines_view(
        params: *const Params,
        lines: *const c_void,
        len: usize,
        out: *mut View,
    ) -> i32;
    fn bloomline_view_contains_hash(view: *const View, hash: u64) -> bool;
    fn bloomline_view_contains_hashes(
        view: *const View,
        hashes: *const u64,
        count: usize,
        bitmap: *mut u64,
    ) -> usize;
    fn bloomline_lines_insert_hashes(
        params: *const Params,
        lines: *mut c_void,
        len: usize,
        hashes: *const u64,
        count: usize,
    ) -> i32;
}

const LINES: usize = 10;

/// Lines of which the last is not there, and a view that takes it to be.
fn one_line_short() -> (Vec<u8>, View) {
    let params = Params { line_count: LINES as u64, k: 6, layout: 0, seed: 0 };
    let lines = vec![0xFF; (LINES - 1) * 64];
    let mut view = MaybeUninit::uninit();
    // SAFETY: only the address is taken here. The length is a lie: that is what this is for.
    let status = unsafe {
        bloomline_lines_view(&params, lines.as_ptr().cast(), LINES * 64, view.as_mut_ptr())
    };
    assert_eq!(status, 0);
    // SAFETY: written if the status is 0.
    (lines, unsafe { view.assume_init() })
}

/// The key of this hash is in the last line.
const LAST: u64 = u64::MAX;

#[test]
#[ignore = "reads beyond its memory; `make test-asan` runs it"]
fn one_key() {
    let (_lines, view) = one_line_short();
    // SAFETY: none; see above.
    let found = unsafe { bloomline_view_contains_hash(&view, LAST) };
    println!("not reported; {found}");
}

#[test]
#[ignore = "reads beyond its memory; `make test-asan` runs it"]
fn a_batch() {
    let (_lines, view) = one_line_short();
    let mut hashes = [0; 200];
    hashes[133] = LAST;
    let mut bitmap = [0; 4];
    // SAFETY: none; see above.
    let found = unsafe {
        bloomline_view_contains_hashes(&view, hashes.as_ptr(), hashes.len(), bitmap.as_mut_ptr())
    };
    println!("not reported; {found}");
}

#[test]
#[ignore = "writes beyond its memory; `make test-asan` runs it"]
fn an_insert() {
    let params = Params { line_count: LINES as u64, k: 6, layout: 0, seed: 0 };
    let mut lines = vec![0u8; (LINES - 1) * 64];
    // SAFETY: none; see above.
    let status = unsafe {
        bloomline_lines_insert_hashes(&params, lines.as_mut_ptr().cast(), LINES * 64, &LAST, 1)
    };
    println!("not reported; {status:?}");
}

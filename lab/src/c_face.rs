//! The library through C, linked statically: compiled for any CPU, so these are the called single
//! probes.

use crate::contender::{By, Contender, Kind, Size, Sizes, in_calls};
use crate::ours::IN_C as FILTER;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// `bloomline_params`.
#[repr(C)]
#[derive(Default)]
struct Params {
    line_count: u64,
    k: u32,
    layout: u32,
    seed: u64,
}

/// `bloomline_view`.
type View = [u64; 8];

// Linked by `build.rs`.
unsafe extern "C" {
    fn bloomline_params_for_bits(keys: u64, bits: f64, out: *mut Params) -> c_int;
    fn bloomline_params_for_rate(keys: u64, rate: f64, out: *mut Params) -> c_int;
    fn bloomline_filter_new(params: *const Params, out: *mut *mut c_void) -> c_int;
    fn bloomline_filter_free(filter: *mut c_void);
    fn bloomline_filter_insert_hash(filter: *mut c_void, hash: u64) -> bool;
    fn bloomline_filter_insert_hashes(filter: *mut c_void, hashes: *const u64, n: usize);
    fn bloomline_filter_contains_hash(filter: *const c_void, hash: u64) -> bool;
    fn bloomline_filter_contains_hashes(
        filter: *const c_void,
        hashes: *const u64,
        n: usize,
        bitmap: *mut u64,
    ) -> usize;
    fn bloomline_filter_view(filter: *const c_void, out: *mut View) -> c_int;
    fn bloomline_view_contains_hash(view: *const View, hash: u64) -> bool;
    fn bloomline_view_contains_hashes(
        view: *const View,
        hashes: *const u64,
        n: usize,
        bitmap: *mut u64,
    ) -> usize;
}

pub(crate) fn kinds() -> Vec<Kind> {
    let kind = |name, sizes, by_view| {
        Kind::new(name, By::Ours, sizes, move |keys, size| {
            Some(Box::new(InC::new(keys, size, by_view)))
        })
    };
    vec![kind(FILTER, Sizes::All, false), kind(VIEW, Sizes::Most, true)]
}

const VIEW: &str = "view in C";

struct InC {
    filter: *mut c_void,
    bytes: usize,
    view: Option<Box<View>>,
}

impl InC {
    fn new(keys: u64, size: Size, by_view: bool) -> InC {
        let (mut params, mut filter) = (Params::default(), null_mut());
        // SAFETY: the arguments are as bloomline.h wants them.
        let status = unsafe {
            match size {
                Size::Bits(bits) => bloomline_params_for_bits(keys, bits, &mut params),
                Size::Rate(rate) => bloomline_params_for_rate(keys, rate, &mut params),
            }
            .max(bloomline_filter_new(&params, &mut filter))
        };
        assert_eq!(status, 0, "the filter is made");
        let bytes = params.line_count as usize * 64;
        InC { filter, bytes, view: by_view.then(Box::default) }
    }
}

impl Drop for InC {
    fn drop(&mut self) {
        // SAFETY: made by filter_new, and not used any more.
        unsafe { bloomline_filter_free(self.filter) }
    }
}

// SAFETY of all calls: the filter lives, the view is of it, and nothing else uses them meanwhile.
impl Contender for InC {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        // SAFETY: see above.
        unsafe { bloomline_filter_insert_hashes(self.filter, hashes.as_ptr(), hashes.len()) }
        true
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        for &hash in hashes {
            // SAFETY: see above.
            unsafe { bloomline_filter_insert_hash(self.filter, hash) };
        }
        true
    }

    fn filled(&mut self) {
        if let Some(view) = &mut self.view {
            // SAFETY: see above.
            let status = unsafe { bloomline_filter_view(self.filter, &mut **view) };
            assert_eq!(status, 0, "a filter has a view");
        }
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        // SAFETY: see above.
        unsafe {
            match &self.view {
                Some(view) => bloomline_view_contains_hash(&**view, hash),
                None => bloomline_filter_contains_hash(self.filter, hash),
            }
        }
    }

    fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
        Some(in_calls(hashes, each, |hashes, bitmap| {
            let (hashes, n, bitmap) = (hashes.as_ptr(), hashes.len(), bitmap.as_mut_ptr());
            // SAFETY: see above; the bitmap has a bit for each hash.
            unsafe {
                match &self.view {
                    Some(view) => bloomline_view_contains_hashes(&**view, hashes, n, bitmap),
                    None => bloomline_filter_contains_hashes(self.filter, hashes, n, bitmap),
                }
            }
        }))
    }
}

//! The library through C, linked statically: compiled for any CPU, so these are the called single
//! probes.

use crate::built::{EIGHT_ROWS, static_params};
use crate::common::memory::Memory;
use crate::contender::{By, Contender, Kind, RATE, Size, Sizes, in_calls};
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
    fn bloomline_static_block_len(n: usize, rate: f64) -> usize;
    fn bloomline_static_block_build(
        hashes: *const u64,
        n: usize,
        rate: f64,
        seed: u64,
        threads: usize,
        out: *mut c_void,
        cap: usize,
        written: *mut usize,
    ) -> c_int;
    fn bloomline_view_open(data: *const c_void, len: usize, flags: u32, out: *mut View) -> c_int;
}

pub(crate) fn kinds() -> Vec<Kind> {
    let kind = |name, sizes, by_view| {
        Kind::new(name, By::Ours, sizes, move |keys, size| {
            Some(Box::new(InC::new(keys, size, by_view)))
        })
    };
    let of_static = |name, build: fn(u64, Size) -> Option<Box<dyn Contender>>| {
        Kind::new(name, By::Ours, Sizes::Two, build)
    };
    vec![
        kind(FILTER, Sizes::All, false),
        kind(VIEW, Sizes::Most, true),
        of_static(STATIC_VIEW, |keys, size| Some(Box::new(StaticInC::new(keys, size)))),
        of_static("static view in C, 8 rows", |keys, size| match size {
            Size::Rate(RATE) => Some(Box::new(StaticInC::new(keys, Size::Rate(EIGHT_ROWS)))),
            _ => None,
        }),
    ]
}

const VIEW: &str = "view in C";
const STATIC_VIEW: &str = "static view in C";

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

/// A static filter: its block is built of all keys at once, and probed by a view.
struct StaticInC {
    rate: f64,
    hashes: Vec<u64>,
    block: Memory,
    len: usize,
    view: Box<View>,
}

/// What follows the lines of a block.
const FOOTER: usize = 64;

impl StaticInC {
    fn new(keys: u64, size: Size) -> StaticInC {
        // A number of rows has one rate.
        let rate = 0.5_f64.powi(static_params(keys, size).rows() as i32);
        let (hashes, block, view) = (Vec::new(), Memory::new(0), Box::default());
        StaticInC { rate, hashes, block, len: 0, view }
    }
}

// SAFETY of all calls: the block stays where it is, and nothing writes it once the view is open.
impl Contender for StaticInC {
    fn bytes(&self) -> usize {
        self.len - FOOTER
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        self.hashes.extend_from_slice(hashes);
        true
    }

    fn filled(&mut self) {
        let hashes = std::mem::take(&mut self.hashes);
        let (n, rate) = (hashes.len(), self.rate);
        // SAFETY: it reads nothing but its arguments.
        self.block = Memory::new(unsafe { bloomline_static_block_len(n, rate) });
        let (out, cap) = (self.block.as_mut_ptr().cast(), self.block.len());
        // SAFETY: see above; the lengths are those of the hashes and of the block.
        let status = unsafe {
            let built = bloomline_static_block_build(
                hashes.as_ptr(),
                n,
                rate,
                0,
                1,
                out,
                cap,
                &mut self.len,
            );
            built.max(bloomline_view_open(out, self.len, 0, &mut *self.view))
        };
        assert_eq!(status, 0, "a block is built, and opened");
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        // SAFETY: see above.
        unsafe { bloomline_view_contains_hash(&*self.view, hash) }
    }

    fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
        Some(in_calls(hashes, each, |hashes, bitmap| {
            let (hashes, n, bitmap) = (hashes.as_ptr(), hashes.len(), bitmap.as_mut_ptr());
            // SAFETY: see above; the bitmap has a bit for each hash.
            unsafe { bloomline_view_contains_hashes(&*self.view, hashes, n, bitmap) }
        }))
    }
}

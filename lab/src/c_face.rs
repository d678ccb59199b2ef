//! The library through C: the shared library is opened at run time, `BLOOMLINE_LIB` names it. It is
//! compiled for any CPU and called through pointers, so these are the called single probes.

use crate::contender::{By, Contender, Kind, Size, Sizes, in_calls};
use std::ffi::{CString, c_int, c_void};
use std::ptr::null_mut;

/// `bloomline_params`.
#[repr(C)]
#[derive(Default)]
struct Params {
    line_count: u64,
    k: u32,
    reserved: u32,
    seed: u64,
}

/// `bloomline_view`.
type View = [u64; 8];

macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?,)*) => {
        /// The functions of `bloomline.h` that are called, by their names there.
        #[derive(Clone, Copy)]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// Those of an open library. None if it lacks one.
            fn of(library: *mut c_void) -> Option<Functions> {
                Some(Functions {
                    $($name: {
                        let name = concat!("bloomline_", stringify!($name), "\0");
                        // SAFETY: the library is open, and the name ends with a zero.
                        let found = unsafe { libc::dlsym(library, name.as_ptr().cast()) };
                        if found.is_null() {
                            return None;
                        }
                        // SAFETY: the function of that name has this type, by bloomline.h.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument),*) $(-> $result)?,
                            >(found)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    params_for_bits: fn(u64, f64, *mut Params) -> c_int,
    params_for_rate: fn(u64, f64, *mut Params) -> c_int,
    filter_new: fn(*const Params, *mut *mut c_void) -> c_int,
    filter_free: fn(*mut c_void),
    filter_insert_hash: fn(*mut c_void, u64) -> bool,
    filter_insert_hashes: fn(*mut c_void, *const u64, usize),
    filter_contains_hash: fn(*const c_void, u64) -> bool,
    filter_contains_hashes: fn(*const c_void, *const u64, usize, *mut u64) -> usize,
    filter_view: fn(*const c_void, *mut View) -> c_int,
    view_contains_hash: fn(*const View, u64) -> bool,
    view_contains_hashes: fn(*const View, *const u64, usize, *mut u64) -> usize,
}

/// Without the library, none.
pub(crate) fn kinds() -> Vec<Kind> {
    let Some(path) = std::env::var("BLOOMLINE_LIB").ok().and_then(|path| CString::new(path).ok())
    else {
        eprintln!("BLOOMLINE_LIB names no shared library: nothing is called through C");
        return Vec::new();
    };
    // SAFETY: the library's initialisers read environment variables, and there is one thread.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    let functions = if library.is_null() { None } else { Functions::of(library) };
    let functions = functions.unwrap_or_else(|| panic!("{path:?} is not this library"));
    let kind = |name, sizes, by_view| {
        Kind::new(name, By::Ours, sizes, move |keys, size| {
            Some(Box::new(InC::new(functions, keys, size, by_view)))
        })
    };
    vec![kind(FILTER, Sizes::All, false), kind(VIEW, Sizes::Most, true)]
}

pub(crate) const FILTER: &str = "filter in C";
pub(crate) const VIEW: &str = "view in C";

struct InC {
    functions: Functions,
    filter: *mut c_void,
    bytes: usize,
    view: Option<Box<View>>,
}

impl InC {
    fn new(functions: Functions, keys: u64, size: Size, by_view: bool) -> InC {
        let (mut params, mut filter) = (Params::default(), null_mut());
        // SAFETY: the arguments are as bloomline.h wants them.
        let status = unsafe {
            match size {
                Size::Bits(bits) => (functions.params_for_bits)(keys, bits, &mut params),
                Size::Rate(rate) => (functions.params_for_rate)(keys, rate, &mut params),
            }
            .max((functions.filter_new)(&params, &mut filter))
        };
        assert_eq!(status, 0, "the filter is made");
        let bytes = params.line_count as usize * 64;
        InC { functions, filter, bytes, view: by_view.then(Box::default) }
    }
}

impl Drop for InC {
    fn drop(&mut self) {
        // SAFETY: made by filter_new, and not used any more.
        unsafe { (self.functions.filter_free)(self.filter) }
    }
}

// SAFETY of all calls: the filter lives, the view is of it, and nothing else uses them meanwhile.
impl Contender for InC {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn insert(&mut self, hashes: &[u64]) {
        // SAFETY: see above.
        unsafe { (self.functions.filter_insert_hashes)(self.filter, hashes.as_ptr(), hashes.len()) }
    }

    fn insert_singly(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            // SAFETY: see above.
            unsafe { (self.functions.filter_insert_hash)(self.filter, hash) };
        }
    }

    fn filled(&mut self) {
        if let Some(view) = &mut self.view {
            // SAFETY: see above.
            let status = unsafe { (self.functions.filter_view)(self.filter, &mut **view) };
            assert_eq!(status, 0, "a filter has a view");
        }
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        // SAFETY: see above.
        unsafe {
            match &self.view {
                Some(view) => (self.functions.view_contains_hash)(&**view, hash),
                None => (self.functions.filter_contains_hash)(self.filter, hash),
            }
        }
    }

    fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
        Some(in_calls(hashes, each, |hashes, bitmap| {
            let (hashes, n, bitmap) = (hashes.as_ptr(), hashes.len(), bitmap.as_mut_ptr());
            // SAFETY: see above; the bitmap has a bit for each hash.
            unsafe {
                match &self.view {
                    Some(view) => (self.functions.view_contains_hashes)(&**view, hashes, n, bitmap),
                    None => (self.functions.filter_contains_hashes)(self.filter, hashes, n, bitmap),
                }
            }
        }))
    }
}

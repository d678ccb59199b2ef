//! One key of a RocksDB filter: hash and probe in one function, without branches on the kind.

use super::super::Backend;
#[cfg(target_arch = "x86_64")]
use super::super::{Words, batch::Ops};
#[cfg(target_arch = "x86_64")]
use crate::hash::xxph3::{SHORT, xxph3};
use std::ffi::c_void;

/// Answers whether a key may be in an opened filter: where the filter's words are, then the key.
pub(crate) type ContainsKey<V> = unsafe extern "C" fn(*const V, *const c_void, usize) -> bool;

/// The function of a backend, if it has one. It leaves keys that take more than a few instructions
/// to hash to [`Others`].
///
/// # Safety of the function
/// The CPU has the backend. The words are those of a filter of RocksDB's present kind, whose
/// lines can be read; so can `len` bytes at the key. And what [`Others`] asks for.
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
pub(crate) fn contains_key<V: Others>(backend: Backend) -> Option<ContainsKey<V>> {
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! with {
            ($features:literal, $ops:ty) => {{
                #[target_feature(enable = $features)]
                unsafe extern "C" fn contains<V: Others>(
                    view: *const V,
                    key: *const c_void,
                    len: usize,
                ) -> bool {
                    // SAFETY: the caller's promise.
                    unsafe {
                        if !SHORT.contains(&len) {
                            return V::contains(view, key, len);
                        }
                        let hash = xxph3(std::slice::from_raw_parts(key.cast(), len));
                        <$ops>::contains_one((*view.cast::<Words>()).single(), hash)
                    }
                }
                Some(contains::<V>)
            }};
        }
        match backend {
            Backend::Avx2 => return with!("avx2,bmi2,popcnt", super::Avx2),
            Backend::Avx512 => return with!("avx512f,avx512vl,bmi2,popcnt", super::Avx512),
            _ => {}
        }
    }
    None
}

/// The words of an opened filter under the name that C knows them by.
///
/// # Safety
/// In memory it is a [`Words`](super::super::Words).
pub(crate) unsafe trait Others {
    /// Answers for a key of any length.
    ///
    /// # Safety
    /// As for the function that [`contains_key`] gives.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    unsafe extern "C" fn contains(view: *const Self, key: *const c_void, len: usize) -> bool;
}

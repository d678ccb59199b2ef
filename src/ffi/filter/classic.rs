//! `bloomline_classic_*`: filters of the textbook's kind, which are `bloomline_filter`s.

use super::super::boundary::{guard_or, new_handle};
use super::super::params::{bloomline_params, checked, write};
use super::super::status::bloomline_status;
use super::bloomline_filter;
use crate::{Filter, Params};

/// bloomline_classic_new() makes an empty filter of the textbook's kind: one array of bits, of
/// which a key sets k, anywhere. It has the lowest false-positive rate that so many bits can
/// give (at 10 bits per key 0.82 % where bloomline_filter_new() has 0.97 %), and a key is up
/// to k cache lines instead of one, so that it is several times slower. The bits are those of
/// 'line_count' times 64 bytes.
///
/// It is a bloomline_filter like any other, and all functions of that take it, but
/// bloomline_filter_fold() and bloomline_filter_fold_to_rate(), which refuse it with
/// BLOOMLINE_ERR_LAYOUT. bloomline_filter_union() unites it with filters of its kind only.
/// What it is saved or encoded as is read as what it is; a view of it has no parameters to
/// tell. Its size and rate are those that bloomline_classic_params_for_rate() and the like
/// tell.
///
/// Errors: as bloomline_filter_new().
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_classic_new(
    params: *const bloomline_params,
    out: *mut *mut bloomline_filter,
) -> bloomline_status {
    // SAFETY: rules of the header: `params` is NULL or there; `out` is NULL or has room.
    unsafe { new_handle(out, || Ok(bloomline_filter(Filter::classic(checked(params)?)?))) }
}

/// bloomline_classic_params_for_rate() is bloomline_params_for_rate() for
/// bloomline_classic_new(), by the textbook's formula: 1 % takes 9.6 bits per key.
///
/// Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_classic_params_for_rate(
    keys: u64,
    rate: f64,
    out: *mut bloomline_params,
) -> bloomline_status {
    // SAFETY: rules of the header: `out` is NULL or has room.
    unsafe { write(out, || Params::classic_for_rate(keys, rate)) }
}

/// bloomline_classic_params_for_bits() is bloomline_params_for_bits() for
/// bloomline_classic_new().
///
/// Errors: BLOOMLINE_ERR_BITS_PER_KEY, BLOOMLINE_ERR_LINE_COUNT if it would not fit in
/// memory.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_classic_params_for_bits(
    keys: u64,
    bits_per_key: f64,
    out: *mut bloomline_params,
) -> bloomline_status {
    // SAFETY: rules of the header: `out` is NULL or has room.
    unsafe { write(out, || Params::classic_for_bits(keys, bits_per_key)) }
}

/// bloomline_classic_params_rate() returns the false-positive rate to be expected, from 0 to
/// 1, once 'keys' different keys are in a filter that bloomline_classic_new() made with these
/// parameters. If 'params' is NULL or is refused by the other functions, the result is 1.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_classic_params_rate(
    params: *const bloomline_params,
    keys: u64,
) -> f64 {
    guard_or(1.0, || {
        // SAFETY: rules of the header: `params` is NULL or there.
        unsafe { checked(params) }.map_or(1.0, |params| params.classic_rate(keys))
    })
}

//! `bloomline_classic_*`: standard Bloom filters, which are `bloomline_filter`s.

use super::boundary::{guard_or, new_handle};
use super::filter::bloomline_filter;
use super::params::{bloomline_params, checked, write};
use super::status::bloomline_status;
use crate::{Filter, Params};

/// bloomline_classic_new() creates an empty standard Bloom filter: one array of 'line_count' * 64
/// bytes in which a key sets k bits anywhere. At 10 bits per key its false-positive rate is 0.82 %
/// (bloomline_filter_new(): 0.97 %), but a probe reads up to k cache lines and is several times
/// slower. For its size and rate use bloomline_classic_params_...().
///
/// All bloomline_filter functions accept it, but folding returns BLOOMLINE_ERR_LAYOUT, and
/// bloomline_filter_union() needs two classic filters. Saving keeps the type.
/// bloomline_view_params() fails on its views: use bloomline_view_classic_params().
///
/// Errors: as bloomline_filter_new().
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_classic_new(
    params: *const bloomline_params,
    out: *mut *mut bloomline_filter,
) -> bloomline_status {
    // SAFETY: rules of the header: `params` is NULL or there; `out` is NULL or has room.
    unsafe { new_handle(out, || Ok(bloomline_filter(Filter::classic(checked(params)?)?))) }
}

/// bloomline_classic_params_for_rate() is bloomline_params_for_rate() for bloomline_classic_new():
/// 1 % takes 9.6 bits per key.
///
/// Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory.
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

/// bloomline_classic_params_for_bits() is bloomline_params_for_bits() for bloomline_classic_new().
///
/// Errors: BLOOMLINE_ERR_BITS_PER_KEY, BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory.
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

/// bloomline_classic_params_rate() is bloomline_params_rate() for bloomline_classic_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_classic_params_rate(
    params: *const bloomline_params,
    keys: u64,
) -> f64 {
    // SAFETY: rules of the header: `params` is NULL or there.
    guard_or(1.0, || unsafe { checked(params) }.map_or(1.0, |params| params.classic_rate(keys)))
}

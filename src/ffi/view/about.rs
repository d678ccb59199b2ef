//! What a `bloomline_view` says of itself: its parameters, its lines and its rates.

use super::super::boundary::*;
use super::super::params::bloomline_params;
use super::super::status::{BLOOMLINE_ERR_LAYOUT, BLOOMLINE_ERR_NOT_A_FILTER};
use super::{bloomline_view, opened, unpack};
use std::ptr;

/// What bloomline_view_about() writes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct bloomline_view_facts {
    /// The fill ratio, 0 to 1: the fraction of bits that are set; of a cuckoo filter its load
    /// factor.
    pub fill: f64,
    /// How many different keys are present, estimated from the fill.
    pub estimated_keys: f64,
    /// The estimated false-positive rate, 0 to 1, at the present fill. If it is above the target,
    /// build the filter anew, larger. Of several filters it is that of all together; of a cascade
    /// the 'unknown_rate' of bloomline_cascade_about().
    pub estimated_rate: f64,
    /// The false-positive rate, 0 to 1, of the fullest line. Near 1 it shows keys that an attacker
    /// chose to fall on one line; they hardly change 'estimated_rate'. By chance the fullest of a
    /// million lines stays below 0.1 at an average of 1 %. For classic and LevelDB filters it is
    /// 'estimated_rate'.
    pub worst_line_rate: f64,
}

exports! {
/// bloomline_view_shape() writes line count, k, layout and seed of a view's filter to 'out'. For a
/// filter that was made with a bloomline_params, these are its parameters. A cuckoo filter has the
/// layout BLOOMLINE_KIND_CUCKOO, and its fingerprint bits in place of k. A static filter has the
/// layout BLOOMLINE_KIND_STATIC, the lines of its first level, and its rows in place of k. (No
/// function makes a filter of the parameters of these two.)
///
/// Errors: BLOOMLINE_ERR_NOT_A_FILTER if the view was not opened; BLOOMLINE_ERR_LAYOUT for filters
/// of other engines, scalable and growing filters, windows and cascades.
fn bloomline_view_shape(
    view: *const bloomline_view, out: *mut bloomline_params,
) -> bloomline_status {
    write_result(view, out, |view| {
        let view = unpack(view).ok_or(Failure(BLOOMLINE_ERR_NOT_A_FILTER))?;
        bloomline_params::of_view(&view).ok_or(Failure(BLOOMLINE_ERR_LAYOUT))
    })
}

/// bloomline_view_lines() returns the address of the lines, and writes their length in bytes to
/// 'len', unless that is NULL. The lines are the first part of an encoded filter, whose kind
/// bloomline_encoded_kind() returns. For filters of other engines it returns the bytes that probes
/// read.
///
/// If 'view' is NULL or not opened, or of a scalable or growing filter, a window, a cascade or a
/// column of a matrix, returns NULL and writes 0.
fn bloomline_view_lines(view: *const bloomline_view, len: *mut usize) -> *const c_void {
    let (start, count) = opened(view).map_or((ptr::null(), 0), |view| view.place());
    write_optional(len, count);
    start.cast()
}

/// bloomline_view_key_count() returns how many keys the writer of the filter counted. A scalable
/// filter counts those that were new, a window those of each of its generations, a cascade the
/// included ones. It is a hint: 0 means unknown or none. Returns 0 if 'view' is NULL or not opened.
fn bloomline_view_key_count(view: *const bloomline_view) -> u64 {
    guard_or(0, || opened(view).map_or(0, |view| view.key_count()))
}

/// bloomline_view_about() writes to 'out' how full a view's filter is. It reads the whole filter.
///
/// Errors: BLOOMLINE_ERR_NOT_A_FILTER if the view was not opened.
fn bloomline_view_about(
    view: *const bloomline_view, out: *mut bloomline_view_facts,
) -> bloomline_status {
    write_result(view, out, |view| {
        let view = unpack(view).ok_or(Failure(BLOOMLINE_ERR_NOT_A_FILTER))?;
        Ok(bloomline_view_facts {
            fill: view.fill(),
            estimated_keys: view.estimated_keys(),
            estimated_rate: view.estimated_rate(),
            worst_line_rate: view.worst_line_rate(),
        })
    })
}
}

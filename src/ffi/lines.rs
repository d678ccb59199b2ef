//! `bloomline_lines_*`: a filter whose lines are the caller's own memory, such as that of a
//! garbage-collected language, or memory that processes share.

use super::boundary::*;
use super::params::{bloomline_params, checked};
use super::view::{bloomline_view, pack};
use crate::kernel::Probed;
use crate::{Error, Params, View, lines_insert, lines_intersect, lines_union};

exports! {
/// bloomline_lines_insert_hashes() inserts the keys of 'n' hashes into the lines at 'lines'. The
/// lines take 64 times the 'line_count' of 'params' in bytes; 'len' is how many bytes there are.
/// Lines of zeros are an empty filter. It allocates nothing and keeps no state. Lines aligned to 64
/// bytes are faster.
///
/// The lines are the first part of an encoded filter. docs/FORMAT.md describes the footer after
/// them.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'len' is less than the lines; those of
/// bloomline_filter_new(). Nothing is inserted.
fn bloomline_lines_insert_hashes(
    params: *const bloomline_params, lines: *mut c_void, len: usize, hashes: *const u64, n: usize,
) -> bloomline_status {
    guard(|| {
        let params = checked(params)?;
        let hashes = slice(hashes, n).ok_or(NULL)?;
        let lines = lines_at(lines, len).ok_or(NULL)?;
        lines_insert(&params, hashes, lines)?;
        Ok(())
    })
}

/// bloomline_lines_union() adds all keys of the lines at 'from' to those at 'lines';
/// bloomline_lines_intersect() keeps only what both have, as bloomline_filter_intersect(). Both
/// have the line count, k and seed of 'params': the caller has to know, since lines do not say it.
/// 'from' may be the lines of a view of the same parameters, from bloomline_view_lines(), but must
/// not overlap 'lines'. It allocates nothing.
///
/// Errors: as bloomline_lines_insert_hashes(), 'from_len' included; nothing is changed.
fn bloomline_lines_union(
    params: *const bloomline_params, lines: *mut c_void, len: usize, from: *const c_void,
    from_len: usize,
) -> bloomline_status {
    combine(params, (lines, len), (from, from_len), lines_union)
}
fn bloomline_lines_intersect(
    params: *const bloomline_params, lines: *mut c_void, len: usize, from: *const c_void,
    from_len: usize,
) -> bloomline_status {
    combine(params, (lines, len), (from, from_len), lines_intersect)
}

/// bloomline_lines_view() writes to 'out' a view of the first 'line_count' lines at 'lines'. It
/// reads none of them: cheap enough for each probe.
///
/// Other threads or processes may insert into the lines while the view is probed, if they set bits
/// in whole lanes: aligned words of 64 bits, by atomic operations. Until they are done, use only
/// the contains functions of the view and bloomline_view_about(). Keys inserted before are present:
/// bits are only set, and a probe that reads a vector reads each aligned lane as a whole.
///
/// Errors: as bloomline_lines_insert_hashes().
fn bloomline_lines_view(
    params: *const bloomline_params, lines: *const c_void, len: usize, out: *mut bloomline_view,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        let params = checked(params)?;
        if lines.is_null() && len > 0 {
            return Err(NULL);
        }
        let view = pack(&View::of_shared_lines(Probed::at(lines.cast(), len), params)?);
        out.write(view);
        Ok(())
    })
}
}

/// What changes lines by others: `lines_union` and `lines_intersect`.
type Combine = fn(&Params, &[u8], &mut [u8]) -> Result<(), Error>;

/// Combines lines by `how`.
///
/// # Safety
/// `params` is NULL or there; `lines` and `from` are initialized bytes or NULL, the first this
/// call's alone, the second written by nobody meanwhile.
unsafe fn combine(
    params: *const bloomline_params,
    lines: (*mut c_void, usize),
    from: (*const c_void, usize),
    how: Combine,
) -> bloomline_status {
    // SAFETY: the same contract.
    guard(|| unsafe {
        let params = checked(params)?;
        let from = bytes(from.0, from.1).ok_or(NULL)?;
        let lines = lines_at(lines.0, lines.1).ok_or(NULL)?;
        Ok(how(&params, from, lines)?)
    })
}

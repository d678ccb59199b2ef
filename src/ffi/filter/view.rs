//! `bloomline_filter_view`: apart, as C declares views behind filters.

use super::super::boundary::*;
use super::super::view::{bloomline_view, pack};
use super::bloomline_filter;

exports! {
/// bloomline_filter_view() writes a view of the filter to 'out': for batches over several filters,
/// its fill, its expected false-positive rate, its lines. Valid until the filter is changed or
/// freed.
fn bloomline_filter_view(
    filter: *const bloomline_filter, out: *mut bloomline_view,
) -> bloomline_status {
    write_result(filter, out, |filter| Ok(pack(&filter.0.view())))
}
}

//! `bloomline_shard_of` and `bloomline_shards_*`: one set split over several filters. Uses
//! `shards` and `view`.

use super::batch::answer_hashes;
use super::boundary::slice;
use super::view::{bloomline_view, unpack};
use crate::shards::{shard_of, shards_contain_hashes_by};
use crate::view::View;

/// bloomline_shard_of() tells which of 'shards' shards, 0 to shards - 1, the key of a hash
/// belongs to, when one set is split over several filters, files or machines. It does not
/// depend on the line and the bits that the hash has in a filter, so that each shard's filter
/// is as any of so many keys. For 0 shards the result is 0. docs/FORMAT.md has the formula.
///
/// # Safety
/// See [`crate::ffi`]; any arguments will do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_shard_of(hash: u64, shards: u64) -> u64 {
    shard_of(hash, shards)
}

/// bloomline_shards_contain_hashes() asks for 'n' keys by their hashes, each the filter of its
/// shard: view i is that of shard i of 'n_views'. It returns how many keys may be present,
/// and writes a bit for each to 'bitmap', as bloomline_view_contains_hashes() does. The lines
/// of 64 keys are asked for before the first is looked at, whichever filters they are in.
///
/// All filters must use the same hash; their sizes and k may differ. A view that was not
/// opened may have all keys; so may all, if 'views' or 'hashes' is NULL or 'n_views' is 0. If
/// 'bitmap' is NULL, nothing is written and the result is 'n'.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_shards_contain_hashes(
    views: *const bloomline_view,
    n_views: usize,
    hashes: *const u64,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: each array has its count unless NULL.
    unsafe {
        let views = slice(views, n_views).unwrap_or_default();
        let probe = View::anything().ok().map(|always| {
            move |hashes: &[u64], bitmap: &mut [u64]| {
                // SAFETY: rules of the header: a view that was opened has its bytes.
                let view = |shard: usize| unpack(&views[shard]).unwrap_or(always);
                shards_contain_hashes_by(views.len(), view, hashes, bitmap)
            }
        });
        answer_hashes(hashes, n, bitmap, probe)
    }
}

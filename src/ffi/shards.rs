//! Several filters at once: `bloomline_shard_of` and `bloomline_shards_*` for one set split over
//! them, `bloomline_views_contain_hash` for one key in each of them. Uses `shards` and `view`.

use super::batch::answer_hashes;
use super::boundary::{all_present, bitmap_at, slice};
use super::view::{bloomline_view, unpack};
use crate::shards::{shard_of, shards_contain_hashes_by};
use crate::view::{View, views_contain_hash};
use std::mem::MaybeUninit;

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

/// bloomline_views_contain_hash() asks 'n_views' filters for one key, given by its hash: the
/// files of an LSM tree, or the shards of a set. It returns how many of them may have it.
/// Bit i % 64 of bitmap[i / 64] is set if filter i may; unused bits of the last word are
/// zero. 'bitmap' has room for (n_views + 63) / 64 words, and need not be initialized.
///
/// All filters must use the same hash; their sizes and k may differ. The lines are all
/// asked for before the first is looked at, so that filters which are not in the cache cost
/// little more than one of them.
///
/// A view that was not opened may have the key; if 'views' is NULL, so may all. If 'bitmap'
/// is NULL, nothing is written and the result is 'n_views'.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_views_contain_hash(
    views: *const bloomline_view,
    n_views: usize,
    hash: u64,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: each array has its count unless NULL.
    let Some(bitmap) = (unsafe { bitmap_at(bitmap, n_views) }) else {
        return n_views;
    };
    // SAFETY: rules of the header: the array has its count unless NULL.
    let (Some(views), Ok(always)) = (unsafe { slice(views, n_views) }, View::anything()) else {
        return all_present(bitmap, n_views);
    };
    let mut present = 0;
    for (views, word) in views.chunks(64).zip(bitmap) {
        let mut unpacked = [const { MaybeUninit::<View<'_>>::uninit() }; 64];
        for (slot, view) in unpacked.iter_mut().zip(views) {
            // SAFETY: rules of the header: the view is NULL or there, with its bytes
            // if it was opened.
            slot.write(unsafe { unpack(view) }.unwrap_or(always));
        }
        // SAFETY: the first `views.len()` slots, at most 64, have just been written.
        let unpacked = unsafe {
            std::slice::from_raw_parts(unpacked.as_ptr().cast::<View<'_>>(), views.len())
        };
        present += views_contain_hash(unpacked, hash, std::slice::from_mut(word));
    }
    present
}

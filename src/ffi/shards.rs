//! Several filters at once: `bloomline_shard_of` and `bloomline_shards_*` for one set split over
//! them, `bloomline_views_contain` and `_contain_hash` for one key in each of them.

use super::batch::answer;
use super::boundary::{bitmap_at, bytes, slice};
use super::view::{bloomline_view, unpack};
use crate::filter::shards::shards_contain_hashes_by;
use crate::filter::views::{all_present, hash_once, views_word};
use crate::hash::KeyHash;
use crate::{View, shard_of};
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// bloomline_shard_of() returns which of 'shards' shards, 0 to shards - 1, the key of a hash
/// belongs to, for a set split over several filters, files or machines. It is independent of the
/// line and bits of the hash in a filter. docs/FORMAT.md has the formula. Returns 0 for 0 shards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_shard_of(hash: u64, shards: u64) -> u64 {
    shard_of(hash, shards)
}

/// bloomline_shards_contain_hashes() probes for each of 'n' keys, by their hashes, the filter of
/// its shard: view i is that of shard i of 'n_views'. It returns how many keys may be present, and
/// writes a bit for each to 'bitmap', as bloomline_view_contains_hashes(). The lines of 64 keys are
/// prefetched, in whichever filters.
///
/// All filters must hash keys alike, with the same seed; sizes and k may differ. If they do not, if
/// 'views' or 'hashes' is NULL, or 'n_views' is 0, all keys may be present. A view that was not
/// opened may have all its keys. If 'bitmap' is NULL, nothing is written and the result is 'n'.
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
        let mut alike = Alike::default();
        let alike = views.iter().all(|view| unpack(view).is_none_or(|view| alike.and(&view)));
        let probe = View::anything().ok().filter(|_| alike).map(|always| {
            move |hashes: &[u64], bitmap: &mut [u64]| {
                // SAFETY: rules of the header: a view that was opened has its bytes.
                let view = |shard: usize| unpack(&views[shard]).unwrap_or(always);
                shards_contain_hashes_by(views.len(), view, hashes, bitmap)
            }
        });
        answer(slice(hashes, n), n, bitmap, |hashes, bitmap| Some(probe?(hashes, bitmap)))
    }
}

/// bloomline_views_contain_hash() probes 'n_views' filters for one key, by its hash: the files of
/// an LSM tree, or the shards of a set. It returns how many may have it. Bit i % 64 of bitmap[i /
/// 64] is set if filter i may; unused bits of the last word are zero. 'bitmap' has room for
/// (n_views + 63) / 64 words, and need not be initialized. All lines are prefetched, so the probes
/// cost little more than one cache miss. For filters already in the cache, a loop over
/// bloomline_view_contains_hash() is faster.
///
/// All filters must hash keys alike, with the same seed; sizes and k may differ. If they do not,
/// all may have the key: bloomline_views_contain() has no such limit. A view that was not opened
/// may have the key; if 'views' is NULL, all may. If 'bitmap' is NULL, nothing is written and the
/// result is 'n_views'.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_views_contain_hash(
    views: *const bloomline_view,
    n_views: usize,
    hash: u64,
    bitmap: *mut u64,
) -> usize {
    let mut alike = Alike::default();
    let hash = |view: &View<'_>| alike.and(view).then_some(hash);
    // SAFETY: rules of the header: each array has its count unless NULL, and a view that was
    // opened has its bytes.
    unsafe { views_answer(views, n_views, bitmap, hash) }
}

/// bloomline_views_contain() is bloomline_views_contain_hash() for the key of 'len' bytes at 'key'.
/// The filters may hash it differently, with seeds of their own or as other engines do. If 'key' is
/// NULL and 'len' is not 0, all filters may have the key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_views_contain(
    views: *const bloomline_view,
    n_views: usize,
    key: *const c_void,
    len: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: `len` bytes are there unless NULL.
    let mut hash = unsafe { bytes(key, len) }.map(hash_once);
    let hash = |view: &View<'_>| hash.as_mut().map(|hash| hash(view));
    // SAFETY: rules of the header: each array has its count unless NULL, and a view that was
    // opened has its bytes.
    unsafe { views_answer(views, n_views, bitmap, hash) }
}

/// Whether one hash serves all views that it is asked about.
#[derive(Default)]
struct Alike(Option<KeyHash>);

impl Alike {
    /// Whether it serves this one and all before.
    #[inline(always)]
    fn and(&mut self, view: &View<'_>) -> bool {
        *self.0.get_or_insert(view.key_hash()) == view.key_hash()
    }
}

/// Asks each view by the hash that `hash` has for it; if for one it has none, all answers are
/// "maybe".
///
/// # Safety
/// `views` as for `boundary::slice`, `bitmap` as for `boundary::bitmap_at`; a view that was opened
/// has its bytes.
#[inline(always)]
unsafe fn views_answer(
    views: *const bloomline_view,
    n_views: usize,
    bitmap: *mut u64,
    mut hash: impl FnMut(&View<'_>) -> Option<u64>,
) -> usize {
    // SAFETY: the same contract.
    let Some(bitmap) = (unsafe { bitmap_at(bitmap, n_views) }) else {
        return n_views;
    };
    // SAFETY: the same contract.
    let (Some(views), Ok(always)) = (unsafe { slice(views, n_views) }, View::anything()) else {
        return all_present(n_views, bitmap);
    };
    let mut present = 0;
    for (views, word) in views.chunks(64).zip(&mut *bitmap) {
        let mut unpacked = [const { MaybeUninit::<View<'_>>::uninit() }; 64];
        let mut hashes = [0; 64];
        for (i, view) in views.iter().enumerate() {
            // SAFETY: the same contract.
            let opened = unsafe { unpack(view) };
            if let Some(view) = &opened {
                let Some(hash) = hash(view) else {
                    return all_present(n_views, bitmap);
                };
                hashes[i] = hash;
            }
            unpacked[i].write(opened.unwrap_or(always));
        }
        // SAFETY: the first `views.len()` slots, at most 64, have just been written.
        let unpacked = unsafe {
            std::slice::from_raw_parts(unpacked.as_ptr().cast::<View<'_>>(), views.len())
        };
        *word = views_word(unpacked, &hashes);
        present += word.count_ones() as usize;
    }
    present
}

//! One set split over several filters: `bloomline_shard_of` and `bloomline_shards_*`.

use super::batch::answer;
use super::boundary::*;
use super::view::{bloomline_view, unpack};
use crate::bitmap::all_present;
use crate::filter::shards::{Shards, answer_by_shards};
use crate::shard_of;

exports! {
/// bloomline_shard_of() returns which of 'shards' shards, 0 to shards - 1, the key of a hash
/// belongs to, for a set split over several filters, files or machines. It is independent of the
/// line and bits of the hash in a filter. docs/FORMAT.md has the formula. Returns 0 for 0 shards.
fn bloomline_shard_of(hash: u64, shards: u64) -> u64 {
    shard_of(hash, shards)
}

/// bloomline_shards_contain_hashes() probes for each of 'n' keys, by their hashes, the filter of
/// its shard: view i is that of shard i of 'n_views'. It returns how many keys may be present, and
/// writes a bit for each to 'bitmap', as bloomline_view_contains_hashes(). In large filters, the
/// lines of many keys are prefetched.
///
/// All filters must hash keys alike, with the same seed; sizes and k may differ. If they do not, or
/// 'n_views' is 0, all keys may be present. A view that was not opened may have all its keys.
fn bloomline_shards_contain_hashes(
    views: *const bloomline_view, n_views: usize, hashes: *const u64, n: usize, bitmap: *mut u64,
) -> usize {
    let views = slice(views, n_views).unwrap_or_default();
    answer(slice(hashes, n), n, bitmap, |hashes, bitmap| {
        all_alike(views).then(|| answer_by_shards(&Opened(views), hashes, bitmap))
    })
}
}

/// Whether one hash serves all of these that were opened.
fn all_alike(views: &[bloomline_view]) -> bool {
    let unlike = |a: &bloomline_view, b: &bloomline_view| a.words().hashed_unlike(b.words());
    let [first, ..] = views else { return true };
    // Most often all were opened. Then no check word is needed.
    if views.iter().fold(0, |all, view| all | unlike(view, first)) == 0 {
        return true;
    }
    let mut opened = views.iter().filter(|view| view.single().is_some());
    opened.next().is_none_or(|first| opened.all(|view| unlike(view, first) == 0))
}

/// Views whose bytes are there, as who made this vouches. Those that were not opened have all keys.
struct Opened<'a>(&'a [bloomline_view]);

impl Shards for Opened<'_> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn bytes(&self, shard: usize) -> usize {
        self.0[shard].bytes()
    }

    #[inline(always)]
    fn contains(&self, shard: usize, hash: u64) -> bool {
        self.0[shard].single().is_none_or(|single| single.contains(hash))
    }

    fn contains_hashes(&self, shard: usize, hashes: &[u64], bitmap: &mut [u64]) -> usize {
        // SAFETY: the bytes are there.
        match unsafe { unpack(&self.0[shard]) } {
            Some(view) => view.contains_hashes(hashes, bitmap),
            None => all_present(hashes.len(), bitmap),
        }
    }

    #[inline(always)]
    fn prefetch(&self, shard: usize, hash: u64) {
        // SAFETY: the bytes are there.
        unsafe { self.0[shard].prefetch_line(hash) };
    }
}

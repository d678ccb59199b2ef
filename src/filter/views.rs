//! One key in many filters at once.

use super::view::View;
use crate::bitmap::{Answers, all_present};
use crate::kernel::{FAR_VIEWS, Prefetch};
use crate::key::Key;

/// Probes many filters for one hash: a point lookup over the tables of an LSM tree, or over shards. With 16
/// filters or more, if they are large enough for this CPU, it prefetches the lines of all before it tests the
/// first. With fewer the misses overlap without that. Answer `i` is true if the key may be present in view
/// `i`. Returns how many are.
///
/// The views must hash keys alike: one format, one seed. If they do not, the key may be present in
/// every view. [`views_contain`] has no such limit.
///
/// # Panics
/// If `answers` is too short: see [`Answers`].
pub fn views_contain_hash(
    views: &[View<'_>],
    hash: u64,
    answers: &mut (impl Answers + ?Sized),
) -> usize {
    one_hash(views, hash, answers, are_far_views)
}

/// As [`views_contain_hash`], with or without a prefetch, of views that hash alike: for the benchmarks
/// that choose it.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub fn views_contain_hash_with(
    views: &[View<'_>],
    hash: u64,
    prefetches: bool,
    answers: &mut (impl Answers + ?Sized),
) -> usize {
    one_hash(views, hash, answers, |_| prefetches)
}

#[inline(always)]
fn one_hash(
    views: &[View<'_>],
    hash: u64,
    answers: &mut (impl Answers + ?Sized),
    are_far: impl Fn(&[View<'_>]) -> bool,
) -> usize {
    let bitmap = answers.words(views.len());
    if !hash_alike(views) {
        return all_present(views.len(), bitmap);
    }
    views_answer(views, bitmap, are_far, || |_| hash)
}

/// Probes many filters for one key, as [`views_contain_hash`]. The filters may hash differently,
/// with different seeds or as other engines do: the key is hashed once for each run of views that
/// hash alike.
///
/// # Panics
/// If `answers` is too short: see [`Answers`].
pub fn views_contain<K: Key + ?Sized>(
    views: &[View<'_>],
    key: &K,
    answers: &mut (impl Answers + ?Sized),
) -> usize {
    let key = key.key_bytes();
    views_answer(views, answers.words(views.len()), are_far_views, || hash_once(key.as_ref()))
}

/// Whether one hash of a key serves all these views.
pub(crate) fn hash_alike(views: &[View<'_>]) -> bool {
    views.windows(2).all(|pair| pair[0].key_hash() == pair[1].key_hash())
}

/// The hashes of a key for consecutive views, computed anew only where they differ.
pub(crate) fn hash_once(key: &[u8]) -> impl FnMut(&View<'_>) -> u64 {
    let mut last = None;
    move |view| match last {
        Some((how, hash)) if how == view.key_hash() => hash,
        _ => {
            let hash = view.key_hash().hash(key);
            last = Some((view.key_hash(), hash));
            hash
        }
    }
}

#[inline]
fn are_far_views(views: &[View<'_>]) -> bool {
    are_far(views, View::bytes)
}

/// Asks each view by the hash that `hash` has for it.
#[inline(always)]
fn views_answer<H: FnMut(&View<'_>) -> u64>(
    views: &[View<'_>],
    bitmap: &mut [u64],
    are_far: impl Fn(&[View<'_>]) -> bool,
    hash: impl Fn() -> H,
) -> usize {
    let (mut ahead, mut now) = (hash(), hash());
    let mut present = 0;
    for (views, word) in views.chunks(64).zip(bitmap) {
        if are_far(views) {
            views.iter().for_each(|view| view.prefetch_hash(ahead(view)));
        }
        *word = answers(views, |view| view.contains_hash(now(view)));
        present += word.count_ones() as usize;
    }
    present
}

/// The answers of up to 64 views, first in the lowest bit.
#[inline(always)]
pub(crate) fn answers<'v, V>(views: &'v [V], mut contains: impl FnMut(&'v V) -> bool) -> u64 {
    // From the last on: so no register counts, and all are left for the calls.
    views.iter().rev().fold(0, |word, view| word << 1 | u64::from(contains(view)))
}

/// Whether it pays to prefetch one line of each of these views before the first is probed.
#[inline(always)]
pub(crate) fn are_far<V>(views: &[V], bytes: impl Fn(&V) -> usize) -> bool {
    // The bits of all sizes together: nearly the largest.
    let largest = |views: &[V]| views.iter().fold(0, |all, view| all | bytes(view));
    views.len() >= FAR_VIEWS && Prefetch::to_probe_views(largest(views).saturating_mul(views.len()))
}

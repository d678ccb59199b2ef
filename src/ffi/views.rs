//! One key in several filters: `bloomline_views_contain` and `bloomline_views_contain_hash`, and the
//! same of views that lie anywhere.

use super::batch::{answer, up_to};
use super::boundary::*;
use super::view::bloomline_view;
use crate::filter::views::{answers, are_far};
use crate::kernel::Words;

exports! {
/// bloomline_views_contain_hash() probes 'n_views' filters for one key, by its hash: the files of
/// an LSM tree, or the shards of a set. It returns how many may have it. The bit of a filter in
/// 'bitmap' is set if it may. If there are 16 large filters or more, it first prefetches the lines
/// of all, on CPUs where that pays. With fewer filters the cache misses overlap by themselves.
///
/// All filters must hash keys alike, with the same seed; sizes and k may differ. If they do not,
/// all may have the key: bloomline_views_contain() has no such limit. A view that was not opened
/// may have the key.
fn bloomline_views_contain_hash(
    views: *const bloomline_view, n_views: usize, hash: u64, bitmap: *mut u64,
) -> usize {
    let by = ByHash { hash, first: None, differ: 0 };
    views_answer(views, n_views, bitmap, by)
}

/// bloomline_views_contain() is bloomline_views_contain_hash() for the key of 'len' bytes at 'key'.
/// The filters may hash it differently, with seeds of their own or as other engines do. If 'key' is
/// NULL and 'len' is not 0, all filters may have the key.
fn bloomline_views_contain(
    views: *const bloomline_view, n_views: usize, key: *const c_void, len: usize, bitmap: *mut u64,
) -> usize {
    match bytes(key, len) {
        Some(key) => views_answer(views, n_views, bitmap, ByKey { key, last: None }),
        None => answer(slice(views, n_views), n_views, bitmap, |_, _: &mut [u64]| None),
    }
}

/// bloomline_views_contain_hash_each() and bloomline_views_contain_each() do the same for views
/// that lie anywhere, by an array of pointers to them. Where a pointer is NULL, the key may be
/// present. Views of one kind in an array, as bloomline_views_contain_hash() takes them, are probed
/// in half the time.
fn bloomline_views_contain_hash_each(
    views: *const *const bloomline_view, n_views: usize, hash: u64, bitmap: *mut u64,
) -> usize {
    let by = ByHash { hash, first: None, differ: 0 };
    each_answers(views, n_views, bitmap, by)
}
fn bloomline_views_contain_each(
    views: *const *const bloomline_view, n_views: usize, key: *const c_void, len: usize,
    bitmap: *mut u64,
) -> usize {
    match bytes(key, len) {
        Some(key) => each_answers(views, n_views, bitmap, ByKey { key, last: None }),
        None => answer(slice(views, n_views), n_views, bitmap, |_, _: &mut [u64]| None),
    }
}
}

/// What views are asked for.
trait Ask: Copy {
    /// The hash to prefetch a view by, which may not have been opened.
    fn hash_ahead(&mut self, words: &Words) -> u64;
    /// The hash to ask a view by, which was opened.
    fn hash(&mut self, words: &Words) -> u64;
    /// Whether the answers count; if not, all are "maybe".
    fn counts(&self) -> bool;
}

/// One hash, if all views that it meets hash alike.
#[derive(Clone, Copy)]
struct ByHash {
    hash: u64,
    /// How the first hashes.
    first: Option<(u64, u64)>,
    differ: u64,
}

impl Ask for ByHash {
    #[inline(always)]
    fn hash_ahead(&mut self, _: &Words) -> u64 {
        self.hash
    }

    #[inline(always)]
    fn hash(&mut self, words: &Words) -> u64 {
        let hashing = words.hashing();
        let first = self.first.get_or_insert(hashing);
        self.differ |= (first.0 ^ hashing.0) | (first.1 ^ hashing.1);
        self.hash
    }

    #[inline(always)]
    fn counts(&self) -> bool {
        self.differ == 0
    }
}

/// A key, hashed anew where views differ.
#[derive(Clone, Copy)]
struct ByKey<'k> {
    key: &'k [u8],
    last: Option<((u64, u64), u64)>,
}

impl Ask for ByKey<'_> {
    #[inline(always)]
    fn hash_ahead(&mut self, words: &Words) -> u64 {
        self.hash(words)
    }

    #[inline(always)]
    fn hash(&mut self, words: &Words) -> u64 {
        match self.last {
            Some((hashing, hash)) if hashing == words.hashing() => hash,
            _ => {
                let (_, how, _) = words.shape();
                let hash = how.hash(self.key);
                self.last = Some((words.hashing(), hash));
                hash
            }
        }
    }

    #[inline(always)]
    fn counts(&self) -> bool {
        true
    }
}

/// Asks each view where its words lie: to unpack one takes as long as to probe it.
///
/// # Safety
/// `views` as for `boundary::slice`, `bitmap` as for `boundary::bitmap_at`; a view that was opened
/// has its bytes.
#[inline(always)]
unsafe fn views_answer(
    views: *const bloomline_view,
    n_views: usize,
    bitmap: *mut u64,
    mut ask: impl Ask,
) -> usize {
    // SAFETY: the same contract.
    unsafe {
        if let Some((views, word)) = up_to::<64, _>(views, n_views, bitmap)
            && !are_far(views, bloomline_view::bytes)
            && let Some(present) = answer_alike(views, word, &mut ask)
        {
            return present;
        }
        views_answer_apart(views, n_views, bitmap, ask)
    }
}

/// The same for any views: apart, since the usual ones need none of its registers.
///
/// # Safety
/// As for [`views_answer`].
#[inline(never)]
unsafe fn views_answer_apart(
    views: *const bloomline_view,
    n_views: usize,
    bitmap: *mut u64,
    mut ask: impl Ask,
) -> usize {
    let probe = |views: &[bloomline_view], bitmap: &mut [u64]| {
        let mut present = 0;
        for (views, word) in views.chunks(64).zip(bitmap) {
            // SAFETY: the same contract.
            present += unsafe { answer_any(views, word, &mut ask) };
        }
        ask.counts().then_some(present)
    };
    // SAFETY: the same contract.
    unsafe { answer(slice(views, n_views), n_views, bitmap, probe) }
}

/// Asks views by their addresses.
///
/// # Safety
/// `views` as for `boundary::slice`, each NULL or a view that lasts as long as the call; `bitmap`
/// as for `boundary::bitmap_at`; a view that was opened has its bytes.
unsafe fn each_answers(
    views: *const *const bloomline_view,
    n_views: usize,
    bitmap: *mut u64,
    mut ask: impl Ask,
) -> usize {
    // SAFETY: the same contract.
    let at = |view: &*const bloomline_view| unsafe { shared(*view) };
    let probe = |views: &[*const bloomline_view], bitmap: &mut [u64]| {
        let mut present = 0;
        for (views, word) in views.chunks(64).zip(bitmap) {
            if are_far(views, |view| at(view).map_or(0, bloomline_view::bytes)) {
                for view in views.iter().filter_map(at) {
                    // SAFETY: the same contract.
                    unsafe { view.prefetch_line(ask.hash_ahead(view.words())) };
                }
            }
            *word = answers(views, |view| at(view).is_none_or(|view| is_in(view, &mut ask)));
            present += word.count_ones() as usize;
        }
        ask.counts().then_some(present)
    };
    // SAFETY: the same contract.
    unsafe { answer(slice(views, n_views), n_views, bitmap, probe) }
}

/// Whether a view may have the key.
#[inline(always)]
fn is_in(view: &bloomline_view, ask: &mut impl Ask) -> bool {
    view.single().is_none_or(|single| single.contains(ask.hash(view.words())))
}

/// Answers up to 64 views. Returns how many may have the key.
///
/// # Safety
/// A view that was opened has its bytes.
#[inline(always)]
unsafe fn answer_any(views: &[bloomline_view], word: &mut u64, ask: &mut impl Ask) -> usize {
    if are_far(views, bloomline_view::bytes) {
        for view in views {
            // SAFETY: the same contract.
            unsafe { view.prefetch_line(ask.hash_ahead(view.words())) };
        }
    }
    // SAFETY: the same contract.
    if let Some(alike) = unsafe { answer_alike(views, word, ask) } {
        // They are alike; those of other words may not be.
        ask.hash(views[0].words());
        return alike;
    }
    *word = answers(views, |view| is_in(view, ask));
    word.count_ones() as usize
}

/// Answers up to 64 views that are all alike, and were all opened. Returns how many may have the
/// key; none if they are not.
///
/// # Safety
/// A view that was opened has its bytes.
#[inline(always)]
unsafe fn answer_alike(
    views: &[bloomline_view],
    word: &mut u64,
    ask: &mut impl Ask,
) -> Option<usize> {
    let hash = ask.hash_ahead(views[0].words());
    // SAFETY: the same contract; a view has its words first.
    unsafe { Words::answer(views.as_ptr().cast(), views.len(), hash, word) }
}

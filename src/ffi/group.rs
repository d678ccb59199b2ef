//! `bloomline_group`: many views, checked once and asked together.

use super::boundary::*;
use super::select::{reach, rows_to};
use super::view::{bloomline_view, unpack};
use crate::bitmap::all_present;
use crate::filter::group::{
    Members, any, by_member, one_hash, one_key, refine_pairs, rows, select_pairs,
};
use crate::filter::select::Row;

/// Filters that are asked together many times: those of the tables of an LSM tree, of shards, of
/// partitions. Make a group once, and a new one when the set of filters changes. A probe then takes
/// about half the time of bloomline_views_contain_hash(), which is for views that differ from call
/// to call. Any number of threads may probe a group.
///
/// The filters may be of any kinds, sizes and seeds. Plain filters of one k and one seed are the
/// fastest, and filters of RocksDB of one k: the bits of a key are computed once for all of them.
/// Faster still are columns of one matrix, which a few cache lines answer for all:
/// bloomline_matrix_column_view().
///
/// Made by bloomline_group_new(); freed by bloomline_group_free().
pub struct bloomline_group(Members<'static>);

const _: () = shared_between_threads::<bloomline_group>();

exports! {
/// bloomline_group_new() makes a group of 'n' views. It copies the views. The filters that the
/// views are of must stay as long as the group is used. A view that was not opened may have every
/// key.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
fn bloomline_group_new(
    views: *const bloomline_view, n: usize, out: *mut *mut bloomline_group,
) -> bloomline_status {
    new_handle(out, || {
        let views = slice(views, n).ok_or(NULL)?.iter();
        let members = views.map(|view| Some(unpack(view)?.member()));
        Ok(bloomline_group(Members::new(members)?))
    })
}

/// bloomline_group_free() frees a group, not the filters.
fn bloomline_group_free(group: *mut bloomline_group) {
    free(group)
}

/// bloomline_group_view_count() returns how many filters the group has; 0 for NULL.
fn bloomline_group_view_count(group: *const bloomline_group) -> usize {
    read_or(group, 0, |group| group.0.len())
}

/// bloomline_group_contains_hash() probes all filters of 'group' for one key, by its hash, as
/// bloomline_views_contain_hash(). bloomline_group_contains() probes for the key of 'len' bytes at
/// 'key', as bloomline_views_contain(). If 'group' is NULL, they write nothing and return SIZE_MAX.
fn bloomline_group_contains_hash(
    group: *const bloomline_group, hash: u64, bitmap: *mut u64,
) -> usize {
    if let Some(bloomline_group(members)) = shared(group)
        && is_there(bitmap.cast_const())
        && let Some(present) = members.answer_at_once(hash, bitmap)
    {
        return present;
    }
    contains_hash_apart(group, hash, bitmap)
}
fn bloomline_group_contains(
    group: *const bloomline_group, key: *const c_void, len: usize, bitmap: *mut u64,
) -> usize {
    let key = bytes(key, len);
    answer(group, bitmap, |members, words| match key {
        Some(key) => one_key(members, key, words),
        None => all_present(members.len(), words),
    })
}

/// bloomline_group_contains_hashes() is bloomline_group_contains_hash() for 'n' keys. The answers
/// about each begin in a word of their own: those about key j begin at bitmaps[j * words], where
/// 'words' is the number of filters divided by 64, rounded up. 'bitmaps' has room for n * words.
/// Returns how many bits are set.
fn bloomline_group_contains_hashes(
    group: *const bloomline_group, hashes: *const u64, n: usize, bitmaps: *mut u64,
) -> usize {
    let Some(bloomline_group(members)) = shared(group) else { return usize::MAX };
    let Some(bitmaps) = bitmaps_at(bitmaps, members.words(), n) else {
        return members.len().saturating_mul(n);
    };
    match slice(hashes, n) {
        Some(hashes) => rows(members, hashes, bitmaps),
        None => {
            let rows = bitmaps.chunks_exact_mut(members.words().max(1));
            rows.map(|row| all_present(members.len(), row)).sum()
        }
    }
}

/// bloomline_group_contains_hashes_by_member() is the same, filter by filter: the answers of each
/// filter begin in a word of their own. Those of filter i begin at bitmaps[i * words], where 'words'
/// is 'n' divided by 64, rounded up. 'bitmaps' has room for so many words for each filter. It is for
/// many keys: each filter is probed for all of them as by bloomline_view_contains_hashes(), but
/// memory is prefetched by the size of all filters together. For columns of one matrix
/// bloomline_group_contains_hashes() is faster.
fn bloomline_group_contains_hashes_by_member(
    group: *const bloomline_group, hashes: *const u64, n: usize, bitmaps: *mut u64,
) -> usize {
    let Some(bloomline_group(members)) = shared(group) else { return usize::MAX };
    let Some(bitmaps) = bitmaps_at(bitmaps, n.div_ceil(64), members.len()) else {
        return members.len().saturating_mul(n);
    };
    match slice(hashes, n) {
        Some(hashes) => by_member(members, hashes, bitmaps),
        None => {
            let rows = bitmaps.chunks_exact_mut(n.div_ceil(64).max(1));
            rows.map(|row| all_present(n, row)).sum()
        }
    }
}

/// bloomline_group_contains_any_hash() probes all filters of 'group' for any of 'n' keys, by their
/// hashes: bit i of 'bitmap' is set if at least one of the keys may be present in filter i. It
/// returns how many bits are set. It is what a query with IN asks of files or partitions. A filter
/// is probed for no more than some thousand keys after the first one that may be present. If
/// 'group' is NULL, it writes nothing and returns SIZE_MAX.
fn bloomline_group_contains_any_hash(
    group: *const bloomline_group, hashes: *const u64, n: usize, bitmap: *mut u64,
) -> usize {
    let hashes = slice(hashes, n);
    answer(group, bitmap, |members, words| match hashes {
        Some(hashes) => any(members, hashes, words),
        None => all_present(members.len(), words),
    })
}

/// bloomline_group_contains_pairs() probes one filter for each of 'n' keys: filter members[i] for
/// the key of hashes[i]. That hash is the one that this filter uses. It is for looking up many
/// keys, each in its own table. It returns how many keys may be present. If members[i] is not below
/// the number of filters, the key may be present.
fn bloomline_group_contains_pairs(
    group: *const bloomline_group, members: *const u32, hashes: *const u64, n: usize,
    bitmap: *mut u64,
) -> usize {
    let all_there = is_there(members) & is_there(hashes) & is_there(bitmap.cast_const());
    if let Some(bloomline_group(group)) = shared(group)
        && all_there & (n <= isize::MAX as usize / size_of::<u64>())
        && let Some(present) = group.pairs_at_once(members, hashes, n, bitmap)
    {
        return present;
    }
    contains_pairs_apart(group, members, hashes, n, bitmap)
}

/// bloomline_group_select_pairs() does so for a column of 'n' rows. It writes the numbers of the
/// rows that may be present to 'out', as bloomline_view_select_hashes() does for one filter, and
/// returns how many there are: a join whose build side is in partitions asks for each row the
/// filter of its own partition. bloomline_group_select16_pairs() does so for at most 65,536 rows,
/// whose numbers have 2 bytes.
///
/// If 'group', 'members' or 'hashes' is NULL, all rows may be present. If 'out' is NULL, returns
/// 'n'. If 'n' rows cannot be counted by the type of 'out', writes nothing and returns SIZE_MAX.
fn bloomline_group_select_pairs(
    group: *const bloomline_group, members: *const u32, hashes: *const u64, n: usize, out: *mut u32,
) -> usize {
    select_pairs_to(group, members, hashes, n, out)
}
fn bloomline_group_select16_pairs(
    group: *const bloomline_group, members: *const u32, hashes: *const u64, n: usize, out: *mut u16,
) -> usize {
    select_pairs_to(group, members, hashes, n, out)
}

/// bloomline_group_refine_pairs() takes the 'n' rows of a selection, and keeps those that may be
/// present, as bloomline_view_refine_hashes() does for one filter: row i is probed in filter
/// members[i], by hashes[i]. bloomline_group_refine16_pairs() does so for numbers of rows that have
/// 2 bytes.
///
/// The caller promises that both arrays have all rows of the selection. If 'group', 'members' or
/// 'hashes' is NULL, the selection stays as it is. If 'selection' is NULL, returns 'n'.
fn bloomline_group_refine_pairs(
    group: *const bloomline_group, members: *const u32, hashes: *const u64, selection: *mut u32,
    n: usize,
) -> usize {
    refine_pairs_in(group, members, hashes, selection, n)
}
fn bloomline_group_refine16_pairs(
    group: *const bloomline_group, members: *const u32, hashes: *const u64, selection: *mut u16,
    n: usize,
) -> usize {
    refine_pairs_in(group, members, hashes, selection, n)
}
}

/// [`bloomline_group_select_pairs`].
///
/// # Safety
/// `group` is NULL or alive; `members` and `hashes` as for `boundary::slice`; `out` as for `rows_to`.
#[inline(never)]
unsafe fn select_pairs_to<R: Row>(
    group: *const bloomline_group,
    members: *const u32,
    hashes: *const u64,
    n: usize,
    out: *mut R,
) -> usize {
    // SAFETY: the same contract.
    unsafe {
        rows_to(out, n, |room| {
            let (group, members, hashes) = (shared(group)?, slice(members, n)?, slice(hashes, n)?);
            Some(select_pairs::<R>(&group.0, members, hashes, room.into()))
        })
    }
}

/// [`bloomline_group_refine_pairs`].
///
/// # Safety
/// `group` is NULL or alive; `selection` is NULL, or `n` rows that nobody else touches; `members` and `hashes`
/// as for `boundary::slice`, and have these rows.
#[inline(never)]
unsafe fn refine_pairs_in<R: Row>(
    group: *const bloomline_group,
    members: *const u32,
    hashes: *const u64,
    selection: *mut R,
    n: usize,
) -> usize {
    // SAFETY: the same contract; `selection` can be a slice, as one was made of it.
    unsafe {
        let all = reach(selection, n);
        let (Some(group), Some(members), Some(hashes)) =
            (shared(group), slice(members, all), slice(hashes, all))
        else {
            return n;
        };
        if n == 0 || slice(selection.cast_const(), n).is_none() {
            return n;
        }
        refine_pairs(&group.0, members, hashes, std::slice::from_raw_parts_mut(selection, n))
    }
}

/// [`bloomline_group_contains_pairs`] for any group, apart.
///
/// # Safety
/// `group` is NULL or alive; `members` and `hashes` as for `boundary::slice`, `bitmap` as for
/// `boundary::bitmap_at`.
#[inline(never)]
unsafe fn contains_pairs_apart(
    group: *const bloomline_group,
    members: *const u32,
    hashes: *const u64,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: the same contract.
    unsafe {
        let Some(bitmap) = bitmap_at(bitmap, n) else { return n };
        match (shared(group), slice(members, n), slice(hashes, n)) {
            (Some(group), Some(members), Some(hashes)) => {
                group.0.answer_pairs(members, hashes, bitmap)
            }
            _ => all_present(n, bitmap),
        }
    }
}

/// [`bloomline_group_contains_hash`] for any group: apart, since the usual one needs none of its
/// registers.
///
/// # Safety
/// As for [`answer`].
#[inline(never)]
unsafe fn contains_hash_apart(group: *const bloomline_group, hash: u64, bitmap: *mut u64) -> usize {
    // SAFETY: the same contract; a group that is not NULL has so many words.
    unsafe {
        if let Some(bloomline_group(members)) = shared(group)
            && is_there(bitmap.cast_const())
            && let Some(present) = members.answer_by_one(hash, bitmap)
        {
            return present;
        }
        answer(group, bitmap, |members, words| one_hash(members, hash, words))
    }
}

/// Answers for all filters of a group by `ask`.
///
/// # Safety
/// `group` is NULL or alive; `bitmap` as for `boundary::bitmap_at`.
#[inline(always)]
unsafe fn answer(
    group: *const bloomline_group,
    bitmap: *mut u64,
    ask: impl FnOnce(&Members<'_>, &mut [u64]) -> usize,
) -> usize {
    // SAFETY: the same contract.
    unsafe {
        let Some(bloomline_group(members)) = shared(group) else { return usize::MAX };
        match bitmap_at(bitmap, members.len()) {
            Some(bitmap) => ask(members, bitmap),
            None => members.len(),
        }
    }
}

//! Probes of a `bloomline_matrix`.

use super::super::boundary::{bitmap_at, bitmaps_at, bytes, is_there, shared, slice};
use super::{Held, bloomline_matrix};
use crate::filter::views::all_present;
use std::ffi::c_void;

exports! {
/// bloomline_matrix_contains_hash() probes all columns for one key, by its hash, and returns how
/// many may have it. The bit of a column in 'bitmap' is set if it may. bloomline_matrix_contains()
/// probes for the key of 'len' bytes at 'key'. bloomline_matrix_contains_hash_among() looks only at
/// the columns whose bit is set in 'among', such as the tables that are live. It sets no bit of
/// others in 'bitmap'. If 'among' is NULL, all columns count.
///
/// If 'bitmap' is NULL, nothing is written and the result is the number of columns. If 'matrix' is
/// NULL, nothing is written and the result is SIZE_MAX.
fn bloomline_matrix_contains_hash(
    matrix: *const bloomline_matrix, hash: u64, bitmap: *mut u64,
) -> usize {
    if let Some(bloomline_matrix(matrix)) = shared(matrix)
        && is_there(bitmap.cast_const())
        && let Some(rows) = matrix.rows()
    {
        return rows.answer_to(hash, bitmap);
    }
    contains_hash_apart(matrix, hash, bitmap)
}
fn bloomline_matrix_contains(
    matrix: *const bloomline_matrix, key: *const c_void, len: usize, bitmap: *mut u64,
) -> usize {
    let key = bytes(key, len);
    answer(matrix, bitmap, |matrix, words| match key {
        Some(key) => matrix.contains(key, words),
        None => all_present(matrix.columns(), words),
    })
}
fn bloomline_matrix_contains_hash_among(
    matrix: *const bloomline_matrix, hash: u64, among: *const u64, bitmap: *mut u64,
) -> usize {
    answer(matrix, bitmap, |matrix, words| match slice(among, matrix.words()) {
        Some(among) => matrix.contains_hash_among(hash, among, words),
        None => matrix.contains_hash(hash, words),
    })
}

/// bloomline_matrix_contains_hashes() is bloomline_matrix_contains_hash() for 'n' keys. The
/// answers about each begin in a word of their own: those about key j begin at bitmaps[j * words],
/// where 'words' is the number of columns divided by 64, rounded up. 'bitmaps' has room for n *
/// words. Returns how many bits are set. If 'hashes' is NULL, all columns may have all keys.
fn bloomline_matrix_contains_hashes(
    matrix: *const bloomline_matrix, hashes: *const u64, n: usize, bitmaps: *mut u64,
) -> usize {
    let Some(bloomline_matrix(matrix)) = shared(matrix) else { return usize::MAX };
    let Some(bitmaps) = bitmaps_at(bitmaps, matrix.words(), n) else {
        return matrix.columns().saturating_mul(n);
    };
    match slice(hashes, n) {
        Some(hashes) => matrix.answer_rows(hashes, bitmaps),
        None => {
            let rows = bitmaps.chunks_exact_mut(matrix.words());
            rows.map(|row| all_present(matrix.columns(), row)).sum()
        }
    }
}

/// bloomline_matrix_contains_pairs() probes one column for each of 'n' keys: column columns[i] for
/// the key of hashes[i]. It returns how many keys may be present. The bit of a key in 'bitmap' is
/// set if it may be.
///
/// Where there is no column columns[i], the key may be present. If 'matrix', 'columns' or 'hashes'
/// is NULL, all may. If 'bitmap' is NULL, nothing is written and the result is 'n'.
fn bloomline_matrix_contains_pairs(
    matrix: *const bloomline_matrix, columns: *const u32, hashes: *const u64, n: usize,
    bitmap: *mut u64,
) -> usize {
    let Some(bitmap) = bitmap_at(bitmap, n) else { return n };
    match (shared(matrix), slice(columns, n), slice(hashes, n)) {
        (Some(matrix), Some(columns), Some(hashes)) => {
            matrix.0.contains_pairs(columns, hashes, bitmap)
        }
        _ => all_present(n, bitmap),
    }
}

/// bloomline_matrix_count_hash() returns how many columns may have the key of a hash, without
/// writing which; SIZE_MAX if 'matrix' is NULL. bloomline_matrix_any_hash() returns true if one of
/// the columns whose bit is set in 'among' may have it; if 'among' is NULL, one of all columns. It
/// reads no more than it needs.
fn bloomline_matrix_count_hash(matrix: *const bloomline_matrix, hash: u64) -> usize {
    shared(matrix).map_or(usize::MAX, |matrix| matrix.0.count_hash(hash))
}
fn bloomline_matrix_any_hash(
    matrix: *const bloomline_matrix, hash: u64, among: *const u64,
) -> bool {
    shared(matrix).is_none_or(|bloomline_matrix(matrix)| match slice(among, matrix.words()) {
        Some(among) => matrix.any_hash_among(hash, among),
        None => matrix.any_hash(hash),
    })
}
}

/// [`bloomline_matrix_contains_hash`] for NULL and unaligned bitmaps, apart: the usual ones need none of its
/// registers.
///
/// # Safety
/// As for [`answer`].
#[inline(never)]
unsafe fn contains_hash_apart(
    matrix: *const bloomline_matrix,
    hash: u64,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: the same contract.
    unsafe { answer(matrix, bitmap, |matrix, words| matrix.contains_hash(hash, words)) }
}

/// Answers for all columns by `ask`.
///
/// # Safety
/// `matrix` is NULL or alive; `bitmap` as for `boundary::bitmap_at`.
#[inline(always)]
unsafe fn answer(
    matrix: *const bloomline_matrix,
    bitmap: *mut u64,
    ask: impl FnOnce(&Held, &mut [u64]) -> usize,
) -> usize {
    // SAFETY: the same contract.
    unsafe {
        let Some(bloomline_matrix(matrix)) = shared(matrix) else { return usize::MAX };
        match bitmap_at(bitmap, matrix.columns()) {
            Some(bitmap) => ask(matrix, bitmap),
            None => matrix.columns(),
        }
    }
}

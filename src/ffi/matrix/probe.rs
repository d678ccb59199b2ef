//! Probes of a `bloomline_matrix`.

use super::super::boundary::{
    Failure, NULL, bitmap_at, bitmaps_at, bytes, exclusive, guard, is_there, output, shared, slice,
};
use super::super::status::{BLOOMLINE_ERR_BUFFER_TOO_SMALL, bloomline_status};
use super::bloomline_matrix;
use crate::MatrixAmong;
use crate::bitmap::all_present;
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// A key that a column may have, as bloomline_matrix_select_hashes() writes it: the number of its
/// hash, and the number of the column.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct bloomline_matrix_pair {
    /// The number of the key's hash, counted from 0.
    pub key: u32,
    /// The number of the column.
    pub column: u32,
}

impl From<(u32, u32)> for bloomline_matrix_pair {
    fn from((key, column): (u32, u32)) -> bloomline_matrix_pair {
        bloomline_matrix_pair { key, column }
    }
}

exports! {
/// bloomline_matrix_contains_hash() probes all columns for one key, by its hash, and returns how
/// many may have it. The bit of a column in 'bitmap' is set if it may. bloomline_matrix_contains()
/// probes for the key of 'len' bytes at 'key'.
///
/// If 'among' is not NULL, it is a bitmap with a bit for each column, other than 'bitmap'. Only the
/// columns whose bit is set in it count, such as the tables that are live; the others do not have
/// the key. All functions below that take 'among' treat it in this way.
///
/// If 'bitmap' is NULL, nothing is written and the result is the number of columns. If 'matrix' is
/// NULL, nothing is written and the result is SIZE_MAX.
fn bloomline_matrix_contains_hash(
    matrix: *const bloomline_matrix, hash: u64, among: *const u64, bitmap: *mut u64,
) -> usize {
    if let Some(bloomline_matrix(matrix)) = shared(matrix)
        && is_there(bitmap.cast_const()) && among.is_aligned()
        && let Some(rows) = matrix.rows()
    {
        return rows.answer_to(hash, among, bitmap);
    }
    contains_hash_apart(matrix, hash, among, bitmap)
}
fn bloomline_matrix_contains(
    matrix: *const bloomline_matrix, key: *const c_void, len: usize, among: *const u64,
    bitmap: *mut u64,
) -> usize {
    let key = bytes(key, len);
    answer(matrix, among, bitmap, |matrix, words| match key {
        Some(key) => matrix.contains(key, words),
        None => matrix.all(words),
    })
}

/// bloomline_matrix_contains_hashes() is bloomline_matrix_contains_hash() for 'n' keys. The
/// answers about each begin in a word of their own: those about key j begin at bitmaps[j * words],
/// where 'words' is the number of columns divided by 64, rounded up. 'bitmaps' has room for n *
/// words. Returns how many bits are set. If 'hashes' is NULL, all columns may have all keys.
fn bloomline_matrix_contains_hashes(
    matrix: *const bloomline_matrix, hashes: *const u64, n: usize, among: *const u64,
    bitmaps: *mut u64,
) -> usize {
    let Some(matrix) = asked(matrix, among) else { return usize::MAX };
    let (columns, words) = (matrix.shape().columns(), matrix.shape().words());
    let Some(bitmaps) = bitmaps_at(bitmaps, words, n) else { return columns.saturating_mul(n) };
    match slice(hashes, n) {
        Some(hashes) => matrix.answer_rows(hashes, bitmaps),
        None => bitmaps.chunks_exact_mut(words).map(|row| matrix.all(row)).sum(),
    }
}

/// bloomline_matrix_select_hashes() probes columns for 'n' keys, too, and writes a pair for each
/// column that may have a key, in ascending order: by key, then by column. It writes up to
/// 'capacity' pairs to 'pairs', and their number to 'written'. It begins with the pair '*from'. Set
/// that to {0, 0} before the first call; each call sets it to where the next one goes on. Call
/// until from->key is 'n': then all pairs are written.
///
/// A call writes all pairs of a key or none of them. Only if a key by itself has more than
/// 'capacity' are they written by several calls: as many as there is room for, and the next ones.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'capacity' is 0, or if 'n' is more than 2^32 - 1,
/// which a pair cannot number. Nothing is written, and every column may have every key; so it is if
/// 'matrix' or 'hashes' is NULL.
fn bloomline_matrix_select_hashes(
    matrix: *const bloomline_matrix, hashes: *const u64, n: usize, among: *const u64,
    from: *mut bloomline_matrix_pair, pairs: *mut bloomline_matrix_pair, capacity: usize,
    written: *mut usize,
) -> bloomline_status {
    guard(|| {
        let matrix = asked(matrix, among).ok_or(NULL)?;
        let (from, written) = (exclusive(from).ok_or(NULL)?, output(written)?);
        if capacity == 0 || u32::try_from(n).is_err() {
            return Err(Failure(BLOOMLINE_ERR_BUFFER_TOO_SMALL));
        }
        let hashes = slice(hashes, n).ok_or(NULL)?;
        let room = pairs.cast::<MaybeUninit<bloomline_matrix_pair>>();
        slice(room, capacity).ok_or(NULL)?;
        let room = std::slice::from_raw_parts_mut(room, capacity);
        let (count, next) = matrix.select_some(hashes, (from.key, from.column), room);
        *from = next.into();
        written.write(count);
        Ok(())
    })
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
/// writing which; SIZE_MAX if 'matrix' is NULL. bloomline_matrix_any_hash() returns true if one may
/// have it. It reads no more than it needs.
fn bloomline_matrix_count_hash(
    matrix: *const bloomline_matrix, hash: u64, among: *const u64,
) -> usize {
    asked(matrix, among).map_or(usize::MAX, |matrix| matrix.count_hash(hash))
}
fn bloomline_matrix_any_hash(
    matrix: *const bloomline_matrix, hash: u64, among: *const u64,
) -> bool {
    asked(matrix, among).is_none_or(|matrix| matrix.any_hash(hash))
}
}

/// [`bloomline_matrix_contains_hash`] for NULL and unaligned arrays, apart: the usual ones need none of its
/// registers.
///
/// # Safety
/// As for [`answer`].
#[inline(never)]
unsafe fn contains_hash_apart(
    matrix: *const bloomline_matrix,
    hash: u64,
    among: *const u64,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: the same contract.
    unsafe { answer(matrix, among, bitmap, |matrix, words| matrix.contains_hash(hash, words)) }
}

/// Answers for one key by `ask`.
///
/// # Safety
/// As for [`asked`]; `bitmap` as for `boundary::bitmap_at`.
#[inline(always)]
unsafe fn answer(
    matrix: *const bloomline_matrix,
    among: *const u64,
    bitmap: *mut u64,
    ask: impl FnOnce(&MatrixAmong<'_>, &mut [u64]) -> usize,
) -> usize {
    // SAFETY: the same contract.
    unsafe {
        let Some(matrix) = asked(matrix, among) else { return usize::MAX };
        let columns = matrix.shape().columns();
        match bitmap_at(bitmap, columns) {
            Some(bitmap) => ask(&matrix, bitmap),
            None => columns,
        }
    }
}

/// What is asked: a matrix, of the columns in `among` if that is not NULL.
///
/// # Safety
/// `matrix` is NULL or alive; `among` as for `boundary::slice`, of a bit for each column, during `'a`.
#[inline(always)]
pub(super) unsafe fn asked<'a>(
    matrix: *const bloomline_matrix,
    among: *const u64,
) -> Option<MatrixAmong<'a>> {
    // SAFETY: the same contract.
    unsafe {
        let bloomline_matrix(matrix) = shared(matrix)?;
        Some(matrix.asked(slice(among, matrix.words())))
    }
}

//! Batches of keys of a `bloomline_matrix`: probes by their bytes, and inserts.

use super::super::boundary::{NULL, bitmap_at, bitmaps_at, bloomline_status, slice};
use super::super::hash::{Key, bloomline_bytes, keys_at};
use super::probe::asked;
use super::{bloomline_matrix, change_own};
use crate::hash::KeyHash;
use crate::{Error, Matrix};

exports! {
/// bloomline_matrix_contains_keys() is bloomline_matrix_contains_hashes() for 'n' keys by their
/// bytes. If the 'data' of a key is NULL with a length above 0, all columns may have that key. If
/// 'keys' is NULL, all columns may have all keys.
fn bloomline_matrix_contains_keys(
    matrix: *const bloomline_matrix, keys: *const bloomline_bytes, n: usize, among: *const u64,
    bitmaps: *mut u64,
) -> usize {
    let Some(matrix) = asked(matrix, among) else { return usize::MAX };
    let (shape, words) = (matrix.shape(), matrix.shape().words());
    let Some(bitmaps) = bitmaps_at(bitmaps, words, n) else {
        return shape.columns().saturating_mul(n);
    };
    let Some(keys) = keys_at(keys, n) else {
        return bitmaps.chunks_exact_mut(words).map(|row| matrix.all(row)).sum();
    };
    let mut present = 0;
    KeyHash::Xxh3(shape.params().seed()).in_parts(keys, |hashes, first| {
        let rows = &mut bitmaps[first * words..][..hashes.len() * words];
        present += matrix.answer_rows(hashes, rows);
        for (key, row) in keys[first..].iter().zip(rows.chunks_exact_mut(words)) {
            if key.is_broken() {
                present -= row.iter().map(|word| word.count_ones() as usize).sum::<usize>();
                present += matrix.all(row);
            }
        }
    });
    present
}

/// bloomline_matrix_insert_hashes() inserts 'n' keys into a column by their hashes,
/// bloomline_matrix_insert_keys() by their bytes, in order, faster than one by one. Unless 'bitmap'
/// is NULL, the bit of each key that was new in the column is set there, of the others it is clear.
///
/// Errors: BLOOMLINE_ERR_COLUMN if there is no such column. No bitmap is written.
fn bloomline_matrix_insert_hashes(
    matrix: *mut bloomline_matrix, column: usize, hashes: *const u64, n: usize, bitmap: *mut u64,
) -> bloomline_status {
    let hashes = slice(hashes, n);
    insert_batch(matrix, column, hashes, bitmap, |matrix, hashes, new| match new {
        Some(new) => matrix.insert_new_hashes(column, hashes, new).map(drop),
        None => matrix.insert_hashes(column, hashes),
    })
}
fn bloomline_matrix_insert_keys(
    matrix: *mut bloomline_matrix, column: usize, keys: *const bloomline_bytes, n: usize,
    bitmap: *mut u64,
) -> bloomline_status {
    let keys = keys_at(keys, n);
    insert_batch(matrix, column, keys, bitmap, |matrix, keys: &[Key], new| match new {
        Some(new) => matrix.insert_new_keys(column, keys, new).map(drop),
        None => matrix.insert_keys(column, keys),
    })
}
}

/// Inserts a batch into a column by `insert`, which takes room for the bits of those that were new, if
/// the caller wants to know.
///
/// # Safety
/// `matrix` is NULL or the call's alone; `bitmap` as for `boundary::bitmap_at`.
unsafe fn insert_batch<T>(
    matrix: *mut bloomline_matrix,
    column: usize,
    items: Option<&[T]>,
    bitmap: *mut u64,
    insert: impl FnOnce(&mut Matrix, &[T], Option<&mut [u64]>) -> Result<(), Error>,
) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe {
        change_own(matrix, |matrix| {
            let items = items.ok_or(NULL)?;
            if bitmap.is_null() {
                return Ok(insert(matrix, items, None)?);
            }
            // Before a word is written.
            if column >= matrix.columns() {
                return Err(Error::Column(column as u64).into());
            }
            let bitmap = bitmap_at(bitmap, items.len()).ok_or(NULL)?;
            Ok(insert(matrix, items, Some(bitmap))?)
        })
    }
}

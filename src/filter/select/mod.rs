//! Selections: a column and a filter of any kind to the rows that may be present.

mod column;
mod hashed;

pub use column::{Column, Hashes, Nullable, Nulls, Offset, Strings};
pub(crate) use hashed::Hashing;
pub use hashed::hash_column;
// For C.
#[cfg(feature = "capi")]
pub(crate) use column::{ColumnRows, hash_strings};
#[cfg(feature = "capi")]
pub(crate) use rows::RowNumber;
pub(crate) use rows::{Room, Row};

use super::probe::Probe;
use crate::bitmap::Answers;
use crate::kernel::rows;
use std::ops::Range;

/// Probes of columns for query engines: which rows may be present, as a selection, as bytes or as bits.
/// All that is a [`Probe`] has it: every kind of filter, views, and references to either.
///
/// A selection is an array of row numbers in ascending order, `u32` or `u16`, in the caller's memory. To
/// *refine* one is to keep those of its rows that may be present. A column of millions of rows is best
/// probed in parts of 1,024 to 4,096 rows, as engines do, with what comes next done for each part.
///
/// ```
/// use bloomline::{Filter, Select};
///
/// // Two columns of a table, and filters of the keys that they are joined with.
/// let (customers, items) = ([7u64, 8, 9, 7], ["pear", "plum", "pear", "apple"]);
/// let some_customers = Filter::from_keys([7u64, 9], 0.0001)?;
/// let some_items = Filter::from_keys(["apple", "pear"], 0.0001)?;
///
/// let mut rows = [0u32; 4];
/// let mut count = some_customers.select_column(&customers, &mut rows);
/// assert_eq!(rows[..count], [0, 2, 3]);
/// count = some_items.refine_column(&items, &mut rows[..count]);
/// assert_eq!(rows[..count], [0, 2, 3]);
/// # Ok::<(), bloomline::Error>(())
/// ```
pub trait Select: Probe {
    /// Writes the numbers of the rows that may be present to `rows`, in order. Returns how many. What is
    /// behind these in `rows` is of no use.
    ///
    /// # Panics
    /// If `rows` is shorter than the column; if the type of `rows` is too narrow for the number of the last
    /// row.
    fn select_column<C: Column + ?Sized, R: Row>(&self, column: &C, rows: &mut [R]) -> usize {
        select(self, column, rows.into())
    }

    /// As [`select_column`](Select::select_column), for the hashes of keys.
    ///
    /// # Panics
    /// As there.
    fn select_hashes<R: Row>(&self, hashes: &[u64], rows: &mut [R]) -> usize {
        self.select_column(&Hashes(hashes), rows)
    }

    /// Keeps those rows of a selection that may be present, in their order, at its front. Returns how
    /// many. What is behind these in `rows` is of no use.
    ///
    /// # Panics
    /// If the column lacks a row of the selection; then the selection is unchanged.
    fn refine_column<C: Column + ?Sized, R: Row>(&self, column: &C, rows: &mut [R]) -> usize {
        let all = column.rows();
        if let Some(last) = last_row(rows) {
            assert!(last < all, "row {last} of a column of {all}");
        }
        refine(self, column, rows)
    }

    /// As [`refine_column`](Select::refine_column), where row `i` has hash `i`.
    ///
    /// # Panics
    /// As there.
    fn refine_hashes<R: Row>(&self, hashes: &[u64], rows: &mut [R]) -> usize {
        self.refine_column(&Hashes(hashes), rows)
    }

    /// Writes a byte for each row: 1 if it may be present, 0 if it is definitely absent. Returns how many
    /// may be. Further bytes stay as they are.
    ///
    /// # Panics
    /// If there are fewer bytes than rows.
    fn mask_column<C: Column + ?Sized>(&self, column: &C, bytes: &mut [u8]) -> usize {
        mask(column.rows(), bytes, |work| answer(self, column, work))
    }

    /// As [`mask_column`](Select::mask_column), for the hashes of keys.
    ///
    /// # Panics
    /// As there.
    fn mask_hashes(&self, hashes: &[u64], bytes: &mut [u8]) -> usize {
        self.mask_column(&Hashes(hashes), bytes)
    }

    /// Answers a column as [`Probe::contains_keys`] answers keys: bit `i` is true if row `i` may be
    /// present. Returns how many may be.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    fn contains_column<C: Column + ?Sized>(
        &self,
        column: &C,
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        bits(answers.words(column.rows()), |work| answer(self, column, work))
    }
}

impl<P: Probe + ?Sized> Select for P {}

/// Rows that are hashed, probed and written together: what is between stays in the L1 cache.
pub(crate) const RUN: usize = 1024;

/// So few need less room, which is zeroed first.
pub(crate) const SMALL_RUN: usize = 64;
const MID_RUN: usize = 384;

/// Is handed the number of a row, how many follow, and their answers, run by run.
pub(crate) type Work<'w> = &'w mut dyn FnMut(usize, usize, &[u64]);

/// [`Select::select_column`].
pub(crate) fn select<P: Probe + ?Sized, C: Column + ?Sized, R: Row>(
    filter: &P,
    column: &C,
    rows: Room<'_, R>,
) -> usize {
    numbers(column.rows(), rows, |work| answer(filter, column, work))
}

/// Writes the numbers of those of so many rows that may be present: `answer` hands on the answers. Returns how many.
///
/// # Panics
/// If there is no room for all, or numbers are too small.
pub(crate) fn numbers<R: Row>(
    all: usize,
    mut rows: Room<'_, R>,
    answer: impl FnOnce(Work<'_>),
) -> usize {
    let kernels = rows::kernels();
    check_room(all, &rows);
    let mut count = 0;
    answer(&mut |first, len, words| {
        // No row is written behind those that are done.
        let room = rows.part(count..count + len);
        count += rows::select(kernels, words, len, first, room);
    });
    count
}

/// The same by a byte for each row.
///
/// # Panics
/// If there are fewer.
pub(crate) fn mask(all: usize, bytes: &mut [u8], answer: impl FnOnce(Work<'_>)) -> usize {
    let (kernels, mut count) = (rows::kernels(), 0);
    assert!(bytes.len() >= all, "{all} rows of a column, and room for {}", bytes.len());
    answer(&mut |first, len, words| {
        rows::bytes(kernels, words, &mut bytes[first..first + len]);
        count += ones(words);
    });
    count
}

/// The same by a bit for each row, in words that are there.
pub(crate) fn bits(out: &mut [u64], answer: impl FnOnce(Work<'_>)) -> usize {
    let mut count = 0;
    answer(&mut |first, _, words| {
        out[first / 64..][..words.len()].copy_from_slice(words);
        count += ones(words);
    });
    count
}

/// The same as numbers, where `answer` writes the answers about a range of rows.
pub(crate) fn select_answered<R: Row>(
    all: usize,
    rows: Room<'_, R>,
    mut answer: impl FnMut(Range<usize>, &mut [u64]),
) -> usize {
    numbers(all, rows, |work| {
        let mut words = [0; RUN / 64];
        for first in (0..all).step_by(RUN) {
            let len = (all - first).min(RUN);
            let words = &mut words[..len.div_ceil(64)];
            answer(first..first + len, words);
            work(first, len, words);
        }
    })
}

/// # Panics
/// If a selection of so many rows has no room, or its numbers are too small.
fn check_room<R: Row>(all: usize, rows: &Room<'_, R>) {
    assert!(rows.len() >= all, "{all} rows of a column, and room for {}", rows.len());
    assert!(all as u64 <= R::MOST, "{all} rows of a column, and numbers for {}", R::MOST);
}

/// The last row of a selection, which need not be in order.
pub(crate) fn last_row<R: Row>(rows: &[R]) -> Option<usize> {
    rows::last(rows::kernels(), rows).map(R::number)
}

/// [`Select::refine_column`], of rows that the column has.
pub(crate) fn refine<P: Probe + ?Sized, C: Column + ?Sized, R: Row>(
    filter: &P,
    column: &C,
    rows: &mut [R],
) -> usize {
    if rows.len() <= SMALL_RUN {
        return refine_in_runs(filter, column, rows, &mut [0; SMALL_RUN], &mut [0]);
    }
    // What is left of a part of a column.
    if rows.len() <= MID_RUN {
        return refine_in_runs(filter, column, rows, &mut [0; MID_RUN], &mut [0; MID_RUN / 64]);
    }
    refine_in_runs(filter, column, rows, &mut [0; RUN], &mut [0; RUN / 64])
}

/// Hands on the answers about a column until all are done.
pub(crate) fn answer<P: Probe + ?Sized, C: Column + ?Sized>(
    filter: &P,
    column: &C,
    work: Work<'_>,
) {
    if column.rows() <= SMALL_RUN {
        return each_run(filter, column, &mut [0; SMALL_RUN], &mut [0], work);
    }
    each_run(filter, column, &mut [0; RUN], &mut [0; RUN / 64], work);
}

/// The same, with room for the hashes of a run and for its answers.
fn each_run<P: Probe + ?Sized, C: Column + ?Sized>(
    filter: &P,
    column: &C,
    hashes: &mut [u64],
    words: &mut [u64],
    work: Work<'_>,
) {
    let (all, mut first) = (column.rows(), 0);
    while first < all {
        let len = (all - first).min(hashes.len());
        let (hashes, words) = (&mut hashes[..len], &mut words[..len.div_ceil(64)]);
        column.hash_run(filter, first, hashes);
        filter.contains_hashes(hashes, words);
        for (i, word) in words.iter_mut().enumerate() {
            *word = column.settle_run(first + 64 * i, (len - 64 * i).min(64), *word);
        }
        work(first, len, words);
        first += len;
    }
}

/// [`refine`], with room as [`each_run`].
fn refine_in_runs<P: Probe + ?Sized, C: Column + ?Sized, R: Row>(
    filter: &P,
    column: &C,
    rows: &mut [R],
    hashes: &mut [u64],
    words: &mut [u64],
) -> usize {
    refine_answered(rows, words, |picked, words| {
        let hashes = &mut hashes[..picked.len()];
        column.hash_picked(filter, picked, hashes);
        filter.contains_hashes(hashes, words);
        for (word, picked) in words.iter_mut().zip(picked.chunks(64)) {
            *word = column.settle_picked(picked, *word);
        }
    })
}

/// The same, where `answer` writes the answers about some rows: as many at a time as have room in `words`.
#[inline(always)]
pub(crate) fn refine_answered<R: Row>(
    rows: &mut [R],
    words: &mut [u64],
    mut answer: impl FnMut(&[R], &mut [u64]),
) -> usize {
    let (kernels, mut from, mut count) = (rows::kernels(), 0, 0);
    while from < rows.len() {
        let len = (rows.len() - from).min(64 * words.len());
        let words = &mut words[..len.div_ceil(64)];
        answer(&rows[from..from + len], words);
        count += rows::refine(kernels, words, rows, (from, len), count);
        from += len;
    }
    count
}

fn ones(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

//! Columns of a query engine, probed by a view: the rows that may be present, as a selection.

use super::boundary::*;
use super::view::{bloomline_view, opened};
use crate::Probe;
use crate::filter::select::{
    ColumnRows, Hashes, Offset, Room, Row, RowNumber, hash_strings, last_row, refine, select,
};
use std::cell::Cell;
use std::mem::MaybeUninit;

exports! {
/// bloomline_view_select_u64() probes for the integers of a column of 'n' rows. It writes the
/// numbers of the rows that may be present to 'out', in ascending order, and returns how many there
/// are. The others select rows of a column of
///
/// - hashes: those of bloomline_view_hash(), or whatever the keys were inserted by;
/// - 8-byte and 4-byte integers, hashed as the bytes of their own width in little-endian order on
///   every CPU: bloomline_hash_u64_batch() and bloomline_hash_u32_batch() do so with a seed;
/// - strings, as Apache Arrow has them: that of row i is the bytes of 'data' from offsets[i] to
///   offsets[i + 1]. There are n + 1 offsets; of large strings they have 8 bytes. The caller
///   promises that 'data' has these bytes: the function does not know its length.
///
/// 'out' has room for 'n' numbers. What is behind those returned is of no use. Rows are best
/// selected from 1,024 to 4,096 at a time, each part used while it is in the cache.
///
/// If 'view' is NULL or not opened, or an array is NULL, all rows may be present; so may a string
/// whose offsets are negative or descend, or whose 'data' is NULL. If 'out' is NULL, returns 'n'. If
/// 'n' rows cannot be counted by the type of 'out', writes nothing and returns SIZE_MAX.
fn bloomline_view_select_u64(
    view: *const bloomline_view, values: *const u64, n: usize, out: *mut u32,
) -> usize {
    select_rows(view, slice(values, n), n, out)
}
fn bloomline_view_select_u32(
    view: *const bloomline_view, values: *const u32, n: usize, out: *mut u32,
) -> usize {
    select_rows(view, slice(values, n), n, out)
}
fn bloomline_view_select_hashes(
    view: *const bloomline_view, hashes: *const u64, n: usize, out: *mut u32,
) -> usize {
    select_rows(view, slice(hashes, n).map(Hashes).as_ref(), n, out)
}
fn bloomline_view_select_strings(
    view: *const bloomline_view, offsets: *const i32, data: *const c_void, n: usize, out: *mut u32,
) -> usize {
    select_rows(view, strings(offsets, data, n).as_ref(), n, out)
}
fn bloomline_view_select_large_strings(
    view: *const bloomline_view, offsets: *const i64, data: *const c_void, n: usize, out: *mut u32,
) -> usize {
    select_rows(view, strings(offsets, data, n).as_ref(), n, out)
}

/// bloomline_view_select16_u64() and those below do so for at most 65,536 rows, whose numbers have
/// 2 bytes.
fn bloomline_view_select16_u64(
    view: *const bloomline_view, values: *const u64, n: usize, out: *mut u16,
) -> usize {
    select_rows(view, slice(values, n), n, out)
}
fn bloomline_view_select16_u32(
    view: *const bloomline_view, values: *const u32, n: usize, out: *mut u16,
) -> usize {
    select_rows(view, slice(values, n), n, out)
}
fn bloomline_view_select16_hashes(
    view: *const bloomline_view, hashes: *const u64, n: usize, out: *mut u16,
) -> usize {
    select_rows(view, slice(hashes, n).map(Hashes).as_ref(), n, out)
}
fn bloomline_view_select16_strings(
    view: *const bloomline_view, offsets: *const i32, data: *const c_void, n: usize, out: *mut u16,
) -> usize {
    select_rows(view, strings(offsets, data, n).as_ref(), n, out)
}
fn bloomline_view_select16_large_strings(
    view: *const bloomline_view, offsets: *const i64, data: *const c_void, n: usize, out: *mut u16,
) -> usize {
    select_rows(view, strings(offsets, data, n).as_ref(), n, out)
}

/// bloomline_view_refine_u64() takes the 'n' rows of a selection. It keeps those that may be
/// present, in their order, at the front of 'selection', and returns how many there are. What is
/// behind these is of no use. The others refine by columns as above.
///
/// The caller promises that the column has all rows of the selection. The functions do not know its
/// length: for a row beyond it they read memory beyond the array.
///
/// To leave out rows that are null, pass a selection of the rows that are not. If all rows may be
/// present, for example because 'view' was not opened, the selection stays as it is. If 'selection'
/// is NULL, returns 'n'.
fn bloomline_view_refine_u64(
    view: *const bloomline_view, values: *const u64, selection: *mut u32, n: usize,
) -> usize {
    refine_rows(view, slice(values, reach(selection, n)), selection, n)
}
fn bloomline_view_refine_u32(
    view: *const bloomline_view, values: *const u32, selection: *mut u32, n: usize,
) -> usize {
    refine_rows(view, slice(values, reach(selection, n)), selection, n)
}
fn bloomline_view_refine_hashes(
    view: *const bloomline_view, hashes: *const u64, selection: *mut u32, n: usize,
) -> usize {
    refine_rows(view, slice(hashes, reach(selection, n)).map(Hashes).as_ref(), selection, n)
}
fn bloomline_view_refine_strings(
    view: *const bloomline_view, offsets: *const i32, data: *const c_void, selection: *mut u32,
    n: usize,
) -> usize {
    refine_rows(view, strings(offsets, data, reach(selection, n)).as_ref(), selection, n)
}
fn bloomline_view_refine_large_strings(
    view: *const bloomline_view, offsets: *const i64, data: *const c_void, selection: *mut u32,
    n: usize,
) -> usize {
    refine_rows(view, strings(offsets, data, reach(selection, n)).as_ref(), selection, n)
}

/// bloomline_view_refine16_u64() and those below do so for numbers of rows that have 2 bytes.
fn bloomline_view_refine16_u64(
    view: *const bloomline_view, values: *const u64, selection: *mut u16, n: usize,
) -> usize {
    refine_rows(view, slice(values, reach(selection, n)), selection, n)
}
fn bloomline_view_refine16_u32(
    view: *const bloomline_view, values: *const u32, selection: *mut u16, n: usize,
) -> usize {
    refine_rows(view, slice(values, reach(selection, n)), selection, n)
}
fn bloomline_view_refine16_hashes(
    view: *const bloomline_view, hashes: *const u64, selection: *mut u16, n: usize,
) -> usize {
    refine_rows(view, slice(hashes, reach(selection, n)).map(Hashes).as_ref(), selection, n)
}
fn bloomline_view_refine16_strings(
    view: *const bloomline_view, offsets: *const i32, data: *const c_void, selection: *mut u16,
    n: usize,
) -> usize {
    refine_rows(view, strings(offsets, data, reach(selection, n)).as_ref(), selection, n)
}
fn bloomline_view_refine16_large_strings(
    view: *const bloomline_view, offsets: *const i64, data: *const c_void, selection: *mut u16,
    n: usize,
) -> usize {
    refine_rows(view, strings(offsets, data, reach(selection, n)).as_ref(), selection, n)
}
}

/// Strings by their offsets, and where they lie, whose length C does not say.
pub(super) struct Strings<'a, O> {
    /// One more than there are rows.
    offsets: &'a [O],
    data: *const u8,
    /// No string ends behind this.
    end: usize,
    /// Whether a string is not there, as far as they were hashed.
    broken: Cell<bool>,
}

/// # Safety
/// As for `boundary::slice`, of one offset more than `rows`, of none for 0 rows; the bytes between any two
/// that ascend are at `data`, unless NULL.
pub(super) unsafe fn strings<'a, O>(
    offsets: *const O,
    data: *const c_void,
    rows: usize,
) -> Option<Strings<'a, O>> {
    let offsets = match rows {
        // As engines have them that leave out the one offset of an empty column.
        0 => &[],
        // SAFETY: the same contract.
        _ => unsafe { slice(offsets, rows.checked_add(1)?) }?,
    };
    Some(Strings { offsets, data: data.cast(), end: usize::MAX, broken: Cell::new(false) })
}

impl<O: Offset> Strings<'_, O> {
    /// The same where there are only as many bytes as the last offset says.
    pub(super) fn up_to_last(self) -> Self {
        let end = self.offsets.last().and_then(|last| last.place()).unwrap_or(0);
        Strings { end, ..self }
    }

    /// String `row`, if it is there.
    #[inline(always)]
    fn get(&self, row: usize) -> Option<&[u8]> {
        let (start, end) = (self.offsets[row].place()?, self.offsets[row + 1].place()?);
        let len = end.checked_sub(start).filter(|_| end <= self.end)?;
        if self.data.is_null() {
            return (len == 0).then_some(&[]);
        }
        // SAFETY: not NULL; whoever called `strings` vouches for the bytes between offsets that ascend.
        unsafe { bytes(self.data.add(start).cast(), len) }
    }

    /// Whether all of them are.
    pub(super) fn are_there(&self) -> bool {
        (0..self.rows()).all(|row| self.get(row).is_some())
    }

    /// The same to be hashed: of one that is not there, no bytes.
    #[inline(always)]
    fn string(&self, row: usize) -> &[u8] {
        let string = self.get(row);
        if string.is_none() {
            self.broken.set(true);
        }
        string.unwrap_or_default()
    }

    /// The answers about up to 64 rows: those that are not there may be present.
    #[inline(always)]
    fn settle(&self, rows: impl Iterator<Item = usize>, hits: u64) -> u64 {
        if !self.broken.get() {
            return hits;
        }
        rows.enumerate().fold(hits, |hits, (i, row)| hits | u64::from(self.get(row).is_none()) << i)
    }
}

impl<O: Offset> ColumnRows for Strings<'_, O> {
    fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    #[inline]
    fn hash_run<P: Probe + ?Sized>(&self, filter: &P, first: usize, out: &mut [u64]) {
        hash_strings(filter, (first..).map(|row| self.string(row)), out);
    }

    #[inline]
    fn hash_picked<P: Probe + ?Sized, R: RowNumber>(
        &self,
        filter: &P,
        rows: &[R],
        out: &mut [u64],
    ) {
        for (row, out) in rows.iter().zip(out) {
            *out = filter.hash(self.string(row.number()));
        }
    }

    #[inline(always)]
    fn settle_run(&self, first: usize, len: usize, hits: u64) -> u64 {
        self.settle(first..first + len, hits)
    }

    #[inline(always)]
    fn settle_picked<R: RowNumber>(&self, rows: &[R], hits: u64) -> u64 {
        self.settle(rows.iter().map(|row| row.number()), hits)
    }
}

/// How many rows a column has at least, if it has those of a selection.
///
/// # Safety
/// As for `boundary::slice`.
pub(super) unsafe fn reach<R: Row>(selection: *const R, n: usize) -> usize {
    // SAFETY: the same contract.
    let rows = unsafe { slice(selection, n) }.unwrap_or_default();
    last_row(rows).map_or(0, |last| last.saturating_add(1))
}

/// Selects rows of a column. Where there is no filter or no column, all of them.
///
/// # Safety
/// `view` as for [`opened`]; `out` is NULL or has room for `n` rows that nobody else touches. The
/// column has `n`.
#[inline(never)]
unsafe fn select_rows<C: ColumnRows + ?Sized, R: Row>(
    view: *const bloomline_view,
    column: Option<&C>,
    n: usize,
    out: *mut R,
) -> usize {
    // SAFETY: the same contract.
    unsafe { rows_to(out, n, |room| Some(select(&opened(view)?, column?, Room::<R>::from(room)))) }
}

/// Has `select` write rows of `n` to `out`, and returns how many. Where it is None, and has written nothing, all.
///
/// # Safety
/// `out` is NULL or has room for `n` rows that nobody else touches.
#[inline(always)]
pub(super) unsafe fn rows_to<R: Row>(
    out: *mut R,
    n: usize,
    select: impl FnOnce(&mut [MaybeUninit<R>]) -> Option<usize>,
) -> usize {
    if n as u64 > R::MOST {
        return usize::MAX;
    }
    let out = out.cast::<MaybeUninit<R>>();
    // SAFETY: the same contract.
    if n == 0 || unsafe { slice(out, n) }.is_none() {
        return n;
    }
    // SAFETY: it can be a slice, by the check; the caller vouches for the room.
    let room = unsafe { std::slice::from_raw_parts_mut(out, n) };
    if let Some(count) = select(room) {
        return count;
    }
    for (row, room) in room.iter_mut().enumerate() {
        room.write(R::of(row));
    }
    n
}

/// Refines a selection. Where there is no filter or no column, it stays as it is.
///
/// # Safety
/// `view` as for [`opened`]; `selection` is NULL, or `n` rows that nobody else touches, which the column
/// has.
#[inline(never)]
unsafe fn refine_rows<C: ColumnRows + ?Sized, R: Row>(
    view: *const bloomline_view,
    column: Option<&C>,
    selection: *mut R,
    n: usize,
) -> usize {
    // SAFETY: the same contract.
    unsafe {
        if let (Some(view), Some(column)) = (opened(view), column)
            && n != 0
            && slice(selection, n).is_some()
        {
            return refine(&view, column, std::slice::from_raw_parts_mut(selection, n));
        }
        n
    }
}

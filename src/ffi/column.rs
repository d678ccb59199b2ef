//! `bloomline_column`: a column that may have nulls, hashed, or probed by a view to a selection, to bytes or to bits.

use super::boundary::*;
use super::select::{rows_to, strings};
use super::status::BLOOMLINE_ERR_LAYOUT;
use super::view::{bloomline_view, opened};
use crate::filter::select::{
    ColumnRows, Hashes, Room, Row, Work, answer, bits, last_row, mask, numbers, refine,
};
use crate::hash::hash_column;
use crate::{Nullable, Nulls, View};

/// bloomline_column: hashes, of 8 bytes.
pub const BLOOMLINE_COLUMN_HASHES: usize = 0;
/// bloomline_column: integers of 8 bytes, hashed as bloomline_hash_u64() does.
pub const BLOOMLINE_COLUMN_U64: usize = 1;
/// bloomline_column: integers of 4 bytes, hashed as bloomline_hash_u32_batch() does.
pub const BLOOMLINE_COLUMN_U32: usize = 2;
/// bloomline_column: strings, by offsets of 4 bytes.
pub const BLOOMLINE_COLUMN_STRINGS: usize = 3;
/// bloomline_column: strings, by offsets of 8 bytes.
pub const BLOOMLINE_COLUMN_LARGE_STRINGS: usize = 4;

/// A column of keys, as bloomline_view_select_u64() describes columns: 'n' rows, some of which may
/// be null. Signed integers are cast to unsigned ones.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bloomline_column {
    /// A BLOOMLINE_COLUMN_ number.
    pub r#type: usize,
    /// 'n' hashes or integers; of strings their 'n' + 1 offsets, of 4 or 8 bytes and signed. If 'n'
    /// is 0, it may be NULL.
    pub values: *const c_void,
    /// The bytes of strings, as many as the last offset says. Unused otherwise.
    pub data: *const c_void,
    /// How many rows.
    pub n: usize,
    /// NULL, or a bit for each row, the lowest of a byte first, as Apache Arrow has them: a row
    /// whose bit is 0 is null, and has no key.
    pub validity: *const u8,
    /// Which bit is that of the first row.
    pub first_bit: usize,
}

exports! {
/// bloomline_hash_column() writes the hashes of a column of any type to 'out', in the order of its
/// rows. They are those of bloomline_hash() with 'seed'; a column of hashes is copied. Strings are
/// hashed where they are. 'out' has room for a hash for each row, apart from the column's arrays.
///
/// The hash of a row that is null is 0, whatever lies in its place. Probe these hashes as
/// BLOOMLINE_COLUMN_HASHES with the same 'validity': then 'nulls' says whether it may be present.
///
/// Errors: those of bloomline_concurrent_builder_insert(); BLOOMLINE_ERR_NULL also if 'column' or
/// 'out' is NULL. Nothing is written.
fn bloomline_hash_column(
    column: *const bloomline_column, seed: u64, out: *mut u64,
) -> bloomline_status {
    guard(|| {
        let column = required(column)?;
        check(column)?;
        let out = zeroed_slice(out, column.n).ok_or(NULL)?;
        with(column, Nulls::Absent, Hash(seed, out))
    })
}

/// bloomline_view_select_column() selects rows of a column of any type, also of one with nulls, as
/// bloomline_view_select_u64() does. If 'nulls' is true, every row that is null may be present; if
/// it is false, none is, as in a join, where NULL equals nothing. bloomline_view_select16_column()
/// is for at most 65,536 rows, whose numbers have 2 bytes.
///
/// bloomline_view_refine_column() refines the 'n' rows of a selection, as
/// bloomline_view_refine_u64() does, and so does bloomline_view_refine16_column() where row numbers
/// have 2 bytes. If a selected row is not below the 'n' of the column, the whole selection stays as
/// it is.
///
/// bloomline_view_mask_column() writes a byte for each row to 'out': 1 if it may be present, 0 if
/// it is definitely absent. bloomline_view_contains_column() writes a bit for each row, as
/// bloomline_view_contains_hashes() does.
///
/// All return how many rows may be present. If 'view' is NULL or not opened, the type is unknown,
/// or 'values' is NULL, all may, null ones too. A string, unless its row is null, may be present if
/// its offsets are negative, descend, or end behind the last one, or if it has bytes and 'data' is
/// NULL. If 'out' or 'bitmap' is NULL, the result is the number of rows. If 'column' is NULL, or a
/// column to select from has more rows than the type of 'out' can count, nothing is written and the
/// result is SIZE_MAX; a selection to refine stays as it is, and the result is 'n'.
fn bloomline_view_select_column(
    view: *const bloomline_view, column: *const bloomline_column, nulls: bool, out: *mut u32,
) -> usize {
    select_rows(view, column, nulls, out)
}
fn bloomline_view_select16_column(
    view: *const bloomline_view, column: *const bloomline_column, nulls: bool, out: *mut u16,
) -> usize {
    select_rows(view, column, nulls, out)
}
fn bloomline_view_refine_column(
    view: *const bloomline_view, column: *const bloomline_column, nulls: bool, selection: *mut u32,
    n: usize,
) -> usize {
    refine_rows(view, column, nulls, selection, n)
}
fn bloomline_view_refine16_column(
    view: *const bloomline_view, column: *const bloomline_column, nulls: bool, selection: *mut u16,
    n: usize,
) -> usize {
    refine_rows(view, column, nulls, selection, n)
}
fn bloomline_view_mask_column(
    view: *const bloomline_view, column: *const bloomline_column, nulls: bool, out: *mut u8,
) -> usize {
    let Some(column) = shared(column) else { return usize::MAX };
    let Some(out) = zeroed_slice(out, column.n) else { return column.n };
    mask(column.n, out, |work| answer_column(view, column, nulls, work))
}
fn bloomline_view_contains_column(
    view: *const bloomline_view, column: *const bloomline_column, nulls: bool, bitmap: *mut u64,
) -> usize {
    let Some(column) = shared(column) else { return usize::MAX };
    let Some(bitmap) = bitmap_at(bitmap, column.n) else { return column.n };
    bits(bitmap, |work| answer_column(view, column, nulls, work))
}
}

/// What is done with the rows of a column, whatever its type.
pub(super) trait Use {
    type Output;

    fn rows<C: ColumnRows + ?Sized>(self, rows: &C) -> Self::Output;
}

/// Uses a column.
///
/// # Safety
/// The arrays of the column are NULL, or as its comments say.
pub(super) unsafe fn with<U: Use>(
    column: &bloomline_column,
    nulls: Nulls,
    then: U,
) -> Result<U::Output, Failure> {
    let &bloomline_column { r#type, values, data, n, .. } = column;
    // SAFETY: the same contract.
    unsafe {
        match r#type {
            BLOOMLINE_COLUMN_HASHES => {
                nullable(column, nulls, &Hashes(slice(values.cast(), n).ok_or(NULL)?), then)
            }
            BLOOMLINE_COLUMN_U64 => {
                nullable(column, nulls, slice::<u64>(values.cast(), n).ok_or(NULL)?, then)
            }
            BLOOMLINE_COLUMN_U32 => {
                nullable(column, nulls, slice::<u32>(values.cast(), n).ok_or(NULL)?, then)
            }
            BLOOMLINE_COLUMN_STRINGS => {
                let strings = strings::<i32>(values.cast(), data, n).ok_or(NULL)?.up_to_last();
                nullable(column, nulls, &strings, then)
            }
            BLOOMLINE_COLUMN_LARGE_STRINGS => {
                let strings = strings::<i64>(values.cast(), data, n).ok_or(NULL)?.up_to_last();
                nullable(column, nulls, &strings, then)
            }
            _ => Err(Failure(BLOOMLINE_ERR_LAYOUT)),
        }
    }
}

/// The rest of it, for the rows of the column.
///
/// # Safety
/// As there.
unsafe fn nullable<C: ColumnRows + ?Sized, U: Use>(
    column: &bloomline_column,
    nulls: Nulls,
    rows: &C,
    then: U,
) -> Result<U::Output, Failure> {
    let &bloomline_column { n, validity, first_bit, .. } = column;
    if validity.is_null() {
        return Ok(then.rows(rows));
    }
    let bits = first_bit.checked_add(n).ok_or(NULL)?;
    // SAFETY: the same contract.
    let validity = unsafe { slice(validity, bits.div_ceil(8)) }.ok_or(NULL)?;
    Ok(then.rows(&Nullable::new(rows, validity, nulls).from_bit(first_bit)))
}

/// Hashes a column.
struct Hash<'a>(u64, &'a mut [u64]);

impl Use for Hash<'_> {
    type Output = ();

    fn rows<C: ColumnRows + ?Sized>(self, rows: &C) {
        hash_column(rows, self.0, self.1);
    }
}

/// Checks a column, and that each of its strings is there.
///
/// # Safety
/// As for [`with`].
pub(super) unsafe fn check(column: &bloomline_column) -> Result<(), Failure> {
    struct Nothing;
    impl Use for Nothing {
        type Output = ();
        fn rows<C: ColumnRows + ?Sized>(self, _: &C) {}
    }
    let &bloomline_column { r#type, values, data, n, .. } = column;
    // SAFETY: the same contract.
    unsafe {
        with(column, Nulls::Absent, Nothing)?;
        let are_there = match r#type {
            BLOOMLINE_COLUMN_STRINGS => strings::<i32>(values.cast(), data, n)
                .is_some_and(|strings| strings.up_to_last().are_there()),
            BLOOMLINE_COLUMN_LARGE_STRINGS => strings::<i64>(values.cast(), data, n)
                .is_some_and(|strings| strings.up_to_last().are_there()),
            _ => true,
        };
        if are_there { Ok(()) } else { Err(NULL) }
    }
}

/// What C's bool says of rows that are null.
fn nulls_are(present: bool) -> Nulls {
    if present { Nulls::Present } else { Nulls::Absent }
}

/// Hands on the answers about a column. Where it cannot be asked, all rows may be present.
///
/// # Safety
/// `view` as for [`opened`]; the column as for [`with`].
unsafe fn answer_column(
    view: *const bloomline_view,
    column: &bloomline_column,
    nulls: bool,
    work: Work<'_>,
) {
    struct Answer<'a>(View<'a>, Work<'a>);
    impl Use for Answer<'_> {
        type Output = ();
        fn rows<C: ColumnRows + ?Sized>(self, rows: &C) {
            answer(&self.0, rows, self.1);
        }
    }
    // SAFETY: the same contract.
    unsafe {
        if let Some(view) = opened(view)
            && with(column, nulls_are(nulls), Answer(view, &mut *work)).is_ok()
        {
            return;
        }
    }
    for first in (0..column.n).step_by(64) {
        let len = (column.n - first).min(64);
        work(first, len, &[u64::MAX >> (64 - len)]);
    }
}

/// Selects rows of a column.
///
/// # Safety
/// As for [`answer_column`]; the column is NULL or alive; `out` as for [`rows_to`].
#[inline(never)]
unsafe fn select_rows<R: Row>(
    view: *const bloomline_view,
    column: *const bloomline_column,
    nulls: bool,
    out: *mut R,
) -> usize {
    // SAFETY: the same contract.
    unsafe {
        let Some(column) = shared(column) else { return usize::MAX };
        rows_to(out, column.n, |room| {
            let answer = |work: Work<'_>| answer_column(view, column, nulls, work);
            Some(numbers(column.n, Room::<R>::from(room), answer))
        })
    }
}

/// Refines a selection.
///
/// # Safety
/// As for [`answer_column`]; the column is NULL or alive; `selection` is NULL, or `n` rows that nobody else
/// touches.
#[inline(never)]
unsafe fn refine_rows<R: Row>(
    view: *const bloomline_view,
    column: *const bloomline_column,
    nulls: bool,
    selection: *mut R,
    n: usize,
) -> usize {
    struct Refine<'a, R>(View<'a>, &'a mut [R]);
    impl<R: Row> Use for Refine<'_, R> {
        type Output = usize;
        fn rows<C: ColumnRows + ?Sized>(self, rows: &C) -> usize {
            refine(&self.0, rows, self.1)
        }
    }
    // SAFETY: the same contract.
    unsafe {
        let (Some(view), Some(column), Some(rows)) =
            (opened(view), shared(column), slice(selection.cast_const(), n))
        else {
            return n;
        };
        if last_row(rows).is_none_or(|last| last >= column.n) {
            return n;
        }
        let rows = std::slice::from_raw_parts_mut(selection, n);
        with(column, nulls_are(nulls), Refine(view, rows)).unwrap_or(n)
    }
}

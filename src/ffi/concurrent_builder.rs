//! `bloomline_concurrent_builder`: threads insert columns; probed once finished.

use super::boundary::*;
use super::filter::bloomline_filter;
use super::params::{bloomline_params, checked};
use super::select::strings;
use super::status::BLOOMLINE_ERR_LAYOUT;
use crate::filter::concurrent::{check_rates, fold_worthwhile};
use crate::filter::select::Given;
use crate::{Column, ConcurrentBuilder, Nullable, Nulls, Offset};
use std::ptr::null_mut;

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

/// A filter that any number of threads insert columns into, and that nobody can probe: no function
/// takes a builder for that. The filter is there once it is finished. Until then a pointer to it is
/// NULL, and a bloomline_view of zeros is not opened: probes of both return true. So no row is
/// dropped for a key that was still to come.
///
/// Threads wait for each other, in turn, while one inserts some hundred keys into a part of the
/// lines. So do not use a builder in a child process that was forked meanwhile. All of a classic
/// filter is one part.
pub struct bloomline_concurrent_builder(ConcurrentBuilder);

const _: () = shared_between_threads::<bloomline_concurrent_builder>();

exports! {
/// bloomline_concurrent_builder_new() creates a builder of a filter of these parameters. For keys
/// that cannot be counted beforehand take those of bloomline_params_foldable(), for a bound on
/// memory those of bloomline_params_for_rate_within().
///
/// Errors: those of bloomline_filter_new().
fn bloomline_concurrent_builder_new(
    params: *const bloomline_params, out: *mut *mut bloomline_concurrent_builder,
) -> bloomline_status {
    new_handle(out, || Ok(bloomline_concurrent_builder(ConcurrentBuilder::new(checked(params)?)?)))
}

/// bloomline_concurrent_builder_free() frees a builder that was not finished.
fn bloomline_concurrent_builder_free(builder: *mut bloomline_concurrent_builder) {
    free(builder)
}

/// bloomline_concurrent_builder_insert() inserts the keys of 'count' columns. It may run in any
/// number of threads. Nothing is copied but some thousands of hashes at a time, onto the stack of
/// the thread, of which it takes 80 KiB. It allocates nothing.
///
/// Errors: BLOOMLINE_ERR_NULL for a column whose array is NULL, and for strings whose offsets are
/// negative or descend, or that have bytes and whose 'data' is NULL; BLOOMLINE_ERR_LAYOUT for a
/// 'type' that is unknown. Of none of the columns a key is inserted.
fn bloomline_concurrent_builder_insert(
    builder: *const bloomline_concurrent_builder, columns: *const bloomline_column, count: usize,
) -> bloomline_status {
    guard(|| {
        let (builder, columns) = (required(builder)?, slice(columns, count).ok_or(NULL)?);
        columns.iter().try_for_each(|column| with_column(column, None))?;
        columns.iter().try_for_each(|column| with_column(column, Some(&builder.0)))
    })
}

/// bloomline_concurrent_builder_union() adds the keys of 'from', such as those that another process
/// has inserted, in any number of threads. Line count, k, seed and type (plain or classic) must be
/// equal.
///
/// Errors: BLOOMLINE_ERR_MISMATCH; nothing is added.
fn bloomline_concurrent_builder_union(
    builder: *const bloomline_concurrent_builder, from: *const bloomline_filter,
) -> bloomline_status {
    guard(|| Ok(required(builder)?.0.union(&required(from)?.0)?))
}

/// bloomline_concurrent_builder_key_count() returns how many keys were inserted, repeated ones
/// counted each time, rows that are null not: whether all that were to come are there. Returns 0
/// for NULL.
fn bloomline_concurrent_builder_key_count(builder: *const bloomline_concurrent_builder) -> u64 {
    read_or(builder, 0, |builder| builder.0.key_count())
}

/// bloomline_concurrent_builder_finish() writes the filter to 'out', in the same memory, frees
/// '*builder', which no thread uses any more, and sets it to NULL. The filter has the bytes of one
/// into which the same keys were inserted by one thread.
///
/// bloomline_concurrent_builder_finish_to_rate() folds it as bloomline_filter_fold_to_rate() does
/// to 'rate', unless it is classic or there is no memory for that. If its false-positive rate is
/// above 'most', from 0 to 1, it is not worth its probes: it is freed, and NULL is written to
/// 'out', of which probes return true.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; BLOOMLINE_ERR_RATE for rates out of range. '*builder' is
/// unchanged, and still the caller's.
fn bloomline_concurrent_builder_finish(
    builder: *mut *mut bloomline_concurrent_builder, out: *mut *mut bloomline_filter,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        out.write(convert_handle(builder, |builder| bloomline_filter(builder.0.finish()))?);
        Ok(())
    })
}
fn bloomline_concurrent_builder_finish_to_rate(
    builder: *mut *mut bloomline_concurrent_builder, rate: f64, most: f64,
    out: *mut *mut bloomline_filter,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        check_rates(rate, most)?;
        let filter = convert_handle(builder, |builder| bloomline_filter(builder.0.finish()))?;
        if fold_worthwhile(&mut (*filter).0, rate, most) {
            out.write(filter);
        } else {
            free(filter);
            out.write(null_mut());
        }
        Ok(())
    })
}
}

/// Checks a column, and inserts its keys if there is a builder.
///
/// # Safety
/// The arrays of the column are NULL, or as its comments say.
unsafe fn with_column(
    column: &bloomline_column,
    builder: Option<&ConcurrentBuilder>,
) -> Result<(), Failure> {
    let &bloomline_column { r#type, values, n, .. } = column;
    // SAFETY: the same contract.
    unsafe {
        match r#type {
            BLOOMLINE_COLUMN_HASHES => {
                rows(column, &Given(slice(values.cast(), n).ok_or(NULL)?), builder)
            }
            BLOOMLINE_COLUMN_U64 => {
                rows(column, slice::<u64>(values.cast(), n).ok_or(NULL)?, builder)
            }
            BLOOMLINE_COLUMN_U32 => {
                rows(column, slice::<u32>(values.cast(), n).ok_or(NULL)?, builder)
            }
            BLOOMLINE_COLUMN_STRINGS => string_rows::<i32>(column, builder),
            BLOOMLINE_COLUMN_LARGE_STRINGS => string_rows::<i64>(column, builder),
            _ => Err(Failure(BLOOMLINE_ERR_LAYOUT)),
        }
    }
}

/// The same for a column of strings. Their offsets are checked once, before any key is inserted.
///
/// # Safety
/// As there.
unsafe fn string_rows<O: Offset>(
    column: &bloomline_column,
    builder: Option<&ConcurrentBuilder>,
) -> Result<(), Failure> {
    let &bloomline_column { values, data, n, .. } = column;
    // SAFETY: the same contract.
    unsafe {
        let strings = strings::<O>(values.cast(), data, n).ok_or(NULL)?;
        if builder.is_none() && !strings.are_there() {
            return Err(NULL);
        }
        rows(column, &strings, builder)
    }
}

/// The rest of it, for the rows of the column.
///
/// # Safety
/// As there.
unsafe fn rows<C: Column + ?Sized>(
    column: &bloomline_column,
    rows: &C,
    builder: Option<&ConcurrentBuilder>,
) -> Result<(), Failure> {
    let &bloomline_column { n, validity, first_bit, .. } = column;
    if validity.is_null() {
        if let Some(builder) = builder {
            builder.insert_column(rows);
        }
        return Ok(());
    }
    let bits = first_bit.checked_add(n).ok_or(NULL)?;
    // SAFETY: the same contract.
    let validity = unsafe { slice(validity, bits.div_ceil(8)) }.ok_or(NULL)?;
    if let Some(builder) = builder {
        builder.insert_column(&Nullable::new(rows, validity, Nulls::Absent).from_bit(first_bit));
    }
    Ok(())
}

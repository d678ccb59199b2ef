//! `bloomline_concurrent_builder`: threads insert columns; probed once finished.

use super::boundary::*;
use super::column::{Use, bloomline_column, check, with};
use super::filter::bloomline_filter;
use super::params::{bloomline_params, checked};
use crate::filter::concurrent::{check_rates, fold_worthwhile};
use crate::filter::select::ColumnRows;
use crate::{ConcurrentBuilder, Nulls};
use std::ptr::null_mut;

/// Builds a filter: any number of threads insert columns into the builder, and finishing it returns
/// the filter. No function probes a builder. Until it is finished, keep NULL as the pointer to the
/// filter, or zeros as its bloomline_view: probes of both return true. So no row is dropped because
/// its key had not been inserted yet.
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
/// number of threads. It copies only some thousands of hashes at a time, onto the thread's stack,
/// of which it takes 80 KiB. It allocates nothing.
///
/// Errors: BLOOMLINE_ERR_NULL for a column whose array is NULL, and for strings whose offsets are
/// negative or descend, or that have bytes and whose 'data' is NULL; BLOOMLINE_ERR_LAYOUT for a
/// 'type' that is unknown. After an error no key of any column is inserted.
fn bloomline_concurrent_builder_insert(
    builder: *const bloomline_concurrent_builder, columns: *const bloomline_column, count: usize,
) -> bloomline_status {
    guard(|| {
        let (builder, columns) = (required(builder)?, slice(columns, count).ok_or(NULL)?);
        columns.iter().try_for_each(|column| check(column))?;
        columns.iter().try_for_each(|column| with(column, Nulls::Absent, Insert(&builder.0)))
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

/// bloomline_concurrent_builder_key_count() returns how many keys were inserted. Repeated keys
/// count each time, rows that are null do not. The number shows whether all keys that you expect
/// have come. Returns 0 for NULL.
fn bloomline_concurrent_builder_key_count(builder: *const bloomline_concurrent_builder) -> u64 {
    read_or(builder, 0, |builder| builder.0.key_count())
}

/// bloomline_concurrent_builder_finish() writes the filter to 'out', in the same memory, frees
/// '*builder', which no thread uses any more, and sets it to NULL. The filter has the bytes of one
/// into which the same keys were inserted by one thread.
///
/// bloomline_concurrent_builder_finish_to_rate() folds it as bloomline_filter_fold_to_rate() does
/// to 'rate', unless it is classic or there is no memory for that. If its false-positive rate is
/// above 'most', from 0 to 1, it is not worth its probes: the function frees it and writes NULL to
/// 'out'; probes of NULL return true.
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

/// Inserts the keys of a column.
struct Insert<'a>(&'a ConcurrentBuilder);

impl Use for Insert<'_> {
    type Output = ();

    fn rows<C: ColumnRows + ?Sized>(self, rows: &C) {
        self.0.insert_column(rows);
    }
}

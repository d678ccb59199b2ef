//! A filter that many threads build, and that nobody can probe before it is finished.

use super::super::Filter;
use super::super::select::{Column, Hashes, Hashing};
use crate::error::Error;
use crate::hash::KeyHash;
use crate::kernel::{Backend, Kernel, LockedLines};
use crate::shape::Params;
use std::fmt;

/// A filter that any number of threads build from their columns, through a shared reference. It has no
/// probes: [`finish`](ConcurrentBuilder::finish) takes it, when all threads are done, and returns a
/// [`Filter`]. So no thread can probe too early, and get "absent" for a key that another has yet to insert.
///
/// Columns are hashed and inserted where they are; only some thousands of hashes at a time are copied, onto
/// the stack of the thread. The lines are in parts, each behind a lock. A thread holds the lock while it
/// inserts some hundred keys into the part. If another thread holds it, the thread goes on with another part
/// first. [`ConcurrentFilter`](crate::ConcurrentFilter) needs atomic operations for each key; this needs
/// none. (All of a [classic](Params::classic) filter is one part.)
///
/// The finished filter has the bytes of one into which one thread inserts the same keys.
///
/// ```
/// use bloomline::{ConcurrentBuilder, Nullable, Nulls, Params, Select};
///
/// // At most 1,000,000 keys: fewer of them give a smaller filter.
/// let builder = ConcurrentBuilder::new(Params::for_rate(1_000_000, 0.01)?.foldable(8)?)?;
/// let batches = [[7u64, 8, 9], [10, 11, 0]];
/// let validity = [[0b111u8], [0b011]]; // the last row is null
/// std::thread::scope(|scope| {
///     for (batch, validity) in batches.iter().zip(&validity) {
///         let builder = &builder;
///         scope.spawn(move || builder.insert_column(&Nullable::new(batch, validity, Nulls::Absent)));
///     }
/// });
/// assert_eq!(builder.key_count(), 5);
/// // None if more than a third of absent keys would pass.
/// let filter = builder.finish_to_rate(0.01, 0.33)?.expect("worth its probes");
/// assert!(filter.params().bytes() < 10_000);
/// let mut rows = [0u32; 3];
/// assert_eq!(filter.select_column(&batches[0], &mut rows), 3);
/// # Ok::<(), bloomline::Error>(())
/// ```
///
/// What is not finished cannot be probed:
///
/// ```compile_fail,E0599
/// # use bloomline::{ConcurrentBuilder, Params};
/// let builder = ConcurrentBuilder::new(Params::for_rate(1000, 0.01)?)?;
/// builder.contains("apple");
/// # Ok::<(), bloomline::Error>(())
/// ```
pub struct ConcurrentBuilder {
    lines: LockedLines,
    params: Params,
    kernel: &'static Kernel,
}

impl ConcurrentBuilder {
    /// Creates a builder of a filter of these parameters. For keys that cannot be counted beforehand, make
    /// them [foldable](Params::foldable); for a bound on memory, see [`Params::for_rate_within`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn new(params: Params) -> Result<ConcurrentBuilder, Error> {
        ConcurrentBuilder::of(Filter::new(params)?)
    }

    /// The same with a given backend.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn with_backend(params: Params, backend: Backend) -> Result<ConcurrentBuilder, Error> {
        ConcurrentBuilder::of(Filter::with_backend(params, backend)?)
    }

    fn of(filter: Filter) -> Result<ConcurrentBuilder, Error> {
        let (lines, params, kernel) = filter.into_lines();
        let lines = LockedLines::new(lines.into_bytes(), params.k(), kernel)?;
        Ok(ConcurrentBuilder { lines, params, kernel })
    }

    /// Inserts the keys of a column: of `[u64]`, `[&str]`, [`Strings`](crate::Strings) and so on. Rows that
    /// are [null](crate::Nullable) are left out, whether the column's [`Nulls`](crate::Nulls) say absent or
    /// present.
    pub fn insert_column<C: Column + ?Sized>(&self, column: &C) {
        let hash = Hashing(KeyHash::Xxh3(self.params.seed()));
        self.lines.insert(column.rows(), &|first, hashes| {
            column.hash_run(&hash, first, hashes);
            keep_valid(hashes, |row| column.valid_run(first + row))
        });
    }

    /// As [`insert_column`](ConcurrentBuilder::insert_column), for the hashes of keys. They must be uniform
    /// over all 64 bits.
    pub fn insert_hashes(&self, hashes: &[u64]) {
        self.insert_column(&Hashes(hashes));
    }

    /// Adds the keys of a filter, such as one that another process has built.
    ///
    /// # Errors
    /// [`Error::Mismatch`] unless both have the same parameters; nothing is added.
    pub fn union(&self, other: &Filter) -> Result<(), Error> {
        if self.params != other.params() {
            return Err(Error::Mismatch);
        }
        self.lines.union(other.lines(), other.key_count());
        Ok(())
    }

    /// Returns the number of keys inserted, repeated ones counted each time, nulls not, those of united
    /// filters included.
    pub fn key_count(&self) -> u64 {
        self.lines.keys()
    }

    /// Returns line count, k, layout and seed.
    pub fn params(&self) -> Params {
        self.params
    }

    /// Returns the bytes of memory that the lines take.
    pub fn memory_usage(&self) -> usize {
        self.lines.taken()
    }

    /// Returns the filter, in the same memory.
    pub fn finish(self) -> Filter {
        let (lines, key_count) = self.lines.finish();
        Filter { key_count, ..Filter::of_lines(lines, self.params, self.kernel) }
    }

    /// Returns the filter [folded](Filter::fold_to_rate) as far as its false-positive rate stays at or below
    /// `rate`. None if the filter is not worth its probes: if its rate, folded or not, is above `most`.
    ///
    /// It stays larger where there is no memory to fold it, and if it is classic.
    ///
    /// # Errors
    /// [`Error::Rate`] if `rate` is not between 0 and 1, or `most` is not from 0 to 1.
    pub fn finish_to_rate(self, rate: f64, most: f64) -> Result<Option<Filter>, Error> {
        check_rates(rate, most)?;
        let mut filter = self.finish();
        Ok(fold_worthwhile(&mut filter, rate, most).then_some(filter))
    }
}

/// What [`ConcurrentBuilder::finish_to_rate`] cannot do, for C before it gives the builder up.
pub(crate) fn check_rates(rate: f64, most: f64) -> Result<(), Error> {
    if !(rate > 0.0 && rate < 1.0) {
        return Err(Error::Rate(rate));
    }
    if (0.0..=1.0).contains(&most) { Ok(()) } else { Err(Error::Rate(most)) }
}

/// Folds a filter to a rate that was checked. Returns whether it is worth its probes.
pub(crate) fn fold_worthwhile(filter: &mut Filter, rate: f64, most: f64) -> bool {
    // A filter that cannot be folded is as good as it was.
    let _ = filter.fold_to_rate(rate);
    filter.estimated_rate() <= most
}

/// Moves the hashes of rows that have a value to the front, and returns how many they are. `valid` says of
/// up to 64 rows from the given one on whether they have.
fn keep_valid(hashes: &mut [u64], valid: impl Fn(usize) -> u64) -> usize {
    let mut kept = 0;
    for from in (0..hashes.len()).step_by(64) {
        let (end, valid) = ((from + 64).min(hashes.len()), valid(from));
        let all = u64::MAX >> (64 - (end - from));
        if valid & all == all {
            // Without nulls before, they are in their place.
            if kept < from {
                hashes.copy_within(from..end, kept);
            }
            kept += end - from;
            continue;
        }
        for row in from..end {
            hashes[kept] = hashes[row];
            kept += (valid >> (row - from) & 1) as usize;
        }
    }
    kept
}

impl fmt::Debug for ConcurrentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcurrentBuilder")
            .field("keys", &self.key_count())
            .field("lines", &self.params.line_count())
            .field("k", &self.params.k())
            .finish_non_exhaustive()
    }
}

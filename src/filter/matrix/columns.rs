//! Columns put into a matrix, changed there, and taken out.

use super::Matrix;
use crate::error::Error;
use crate::filter::Filter;
use crate::filter::view::View;
use crate::format::matrix::MatrixShape;
use crate::kernel::{Block, Kernels, MatrixCalls};
use crate::key::Key;
use crate::layouts::matrix::ROWS;
use crate::line::{LINE_BYTES, Line};
use crate::os::memory::Zeroed;
use crate::os::threads;
use std::ops::Range;

/// Bytes of lines that a thread transposes at least, before another is started.
const LEAST_EACH: usize = 1 << 20;

/// Columns.
impl Matrix {
    /// Makes the filter of a view column `column`, in the place of what was there. It must be a plain
    /// one (or the view of a counting filter) of the matrix's k and seed. If it has 2, 4, 8 and so on
    /// times the lines, it is [folded](Filter::fold).
    ///
    /// A column alone takes fifty times as long as one in a run of
    /// [`set_columns`](Matrix::set_columns), or longer: all rows of the matrix are read and written
    /// for a bit of each.
    ///
    /// # Errors
    /// [`Error::Column`] if there is no such column; [`Error::ColumnShape`] if the filter does not
    /// fit; [`Error::OutOfMemory`]. The matrix is unchanged.
    pub fn set_column(&mut self, column: usize, filter: &View<'_>) -> Result<(), Error> {
        self.set_columns(column, [*filter], 1)
    }

    /// Makes the filters of these views the columns from `first` on, as
    /// [`set_column`](Matrix::set_column) does, on up to `threads` threads; 0: as many as there are
    /// CPUs. Give it runs of 64, from a multiple of 64 on: then each word of the rows is written
    /// once, as a whole, and 64 lines are transposed together.
    ///
    /// # Errors
    /// [`Error::Column`] if they are more than the columns from `first` on; [`Error::ColumnShape`] if
    /// one does not fit; [`Error::OutOfMemory`]. The matrix is unchanged.
    pub fn set_columns<'v>(
        &mut self,
        first: usize,
        filters: impl IntoIterator<Item = View<'v>>,
        threads: usize,
    ) -> Result<(), Error> {
        let mut sources = Vec::new();
        for filter in filters {
            sources.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
            sources.push(Source { folds: self.folds(&filter)?, filter });
        }
        let columns = self.range_of(first, sources.len())?;
        let calls = self.kernels.of_matrix();
        let (words, group_bytes) = (self.words(), self.shape.group_bytes());
        // Work for the threads: some groups each.
        let lines = self.params().line_count() as usize;
        let bytes = lines.saturating_mul(sources.len()).saturating_mul(LINE_BYTES);
        let threads = threads::or_all(threads).min(bytes / LEAST_EACH).max(1);
        let each = lines.div_ceil(4 * threads);
        let parts = self.groups.chunks_mut(each * group_bytes).enumerate();
        threads::share(threads, parts, |(part, groups)| {
            for (i, groups) in groups.chunks_mut(AT_ONCE * group_bytes).enumerate() {
                put(&sources, columns.clone(), part * each + i * AT_ONCE, groups, words, calls);
            }
        });
        Ok(())
    }

    /// Empties a column.
    ///
    /// # Errors
    /// [`Error::Column`] if there is no such column.
    pub fn clear_column(&mut self, column: usize) -> Result<(), Error> {
        let columns = self.range_of(column, 1)?;
        let words = self.words();
        for row in self.groups.chunks_mut(8 * words) {
            row[columns.start / 8] &= !(1 << (columns.start % 8));
        }
        Ok(())
    }

    /// Returns a column as a filter, whose key count is unknown.
    ///
    /// # Errors
    /// [`Error::Column`] if there is no such column; [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn column(&self, column: usize) -> Result<Filter, Error> {
        column_of(&self.shape, &self.groups, column)
    }

    /// Returns a copy with another number of columns: the first of these columns, and empty ones behind
    /// them. Their names stay; new columns are named 0.
    ///
    /// # Errors
    /// As [`Matrix::new`].
    pub fn with_columns(&self, columns: usize) -> Result<Matrix, Error> {
        let mut copy = Matrix::with_kernels(self.params(), columns, self.kernels)?;
        let (from, to) = (8 * self.words(), 8 * copy.words());
        let same = from.min(to);
        let last = match columns % 64 {
            some if some > 0 && columns < self.columns() => u64::MAX >> (64 - some),
            _ => u64::MAX,
        };
        for (to, from) in copy.groups.chunks_mut(to).zip(self.groups.chunks(from)) {
            to[..same].copy_from_slice(&from[..same]);
            if let Some(word) = to.last_chunk_mut().filter(|_| last != u64::MAX) {
                *word = (u64::from_le_bytes(*word) & last).to_le_bytes();
            }
        }
        if self.shape.has_names() {
            let mut names = crate::os::numbers::HashList::with_capacity(columns)?;
            names.append(&self.names[..columns.min(self.columns())])?;
            while names.len() < columns {
                names.push(0)?;
            }
            copy.names = names;
        }
        copy.shape = copy.shape.with_names(self.shape.has_names());
        copy.set_checksums(self.shape.has_checksums());
        Ok(copy)
    }

    /// Empties all columns.
    pub fn clear(&mut self) {
        self.groups.fill(0);
    }

    // ---- keys ----

    /// Inserts a key into a column. Returns true if it was definitely absent there.
    ///
    /// # Errors
    /// [`Error::Column`] if there is no such column.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, column: usize, key: &K) -> Result<bool, Error> {
        self.insert_hash(column, self.hash(key))
    }

    /// As [`insert`](Matrix::insert), for the hash of a key. The hash must be uniform over all 64 bits.
    ///
    /// # Errors
    /// As [`insert`](Matrix::insert).
    pub fn insert_hash(&mut self, column: usize, hash: u64) -> Result<bool, Error> {
        self.range_of(column, 1)?;
        Ok(self.prepared.insert(&mut self.groups, column, hash))
    }

    /// Inserts many keys into a column, by their hashes. To fill a column from nothing, fill a
    /// [`Filter`] and [set](Matrix::set_column) it.
    ///
    /// # Errors
    /// As [`insert`](Matrix::insert).
    pub fn insert_hashes(&mut self, column: usize, hashes: &[u64]) -> Result<(), Error> {
        self.range_of(column, 1)?;
        self.prepared.insert_all(&mut self.groups, column, hashes);
        Ok(())
    }

    /// As [`insert_hashes`](Matrix::insert_hashes), for keys.
    ///
    /// # Errors
    /// As [`insert`](Matrix::insert).
    pub fn insert_keys<K: Key>(&mut self, column: usize, keys: &[K]) -> Result<(), Error> {
        self.range_of(column, 1)?;
        let hash = self.key_hash();
        hash.in_parts(keys, |hashes, _| {
            self.prepared.insert_all(&mut self.groups, column, hashes);
        });
        Ok(())
    }

    /// So many columns from `first` on, if they are there.
    fn range_of(&self, first: usize, count: usize) -> Result<Range<usize>, Error> {
        let end = first.checked_add(count).filter(|&end| end <= self.columns());
        let end = end.ok_or(Error::Column(first.saturating_add(count.max(1) - 1) as u64))?;
        Ok(first..end)
    }

    /// How often a filter has to be folded to be a column.
    fn folds(&self, filter: &View<'_>) -> Result<u32, Error> {
        let own = self.params();
        let fits = filter.params().filter(|params| {
            let times = params.line_count() / own.line_count();
            let same = params.k() == own.k() && params.seed() == own.seed();
            same && !params.is_classic()
                && params.line_count().is_multiple_of(own.line_count())
                && times.is_power_of_two()
        });
        let misfit = Error::ColumnShape { line_count: own.line_count(), k: own.k() };
        Ok((fits.ok_or(misfit)?.line_count() / own.line_count()).trailing_zeros())
    }
}

/// A column of the matrix that has these groups.
pub(super) fn column_of(
    shape: &MatrixShape,
    groups: &[u8],
    column: usize,
) -> Result<Filter, Error> {
    if column >= shape.columns() {
        return Err(Error::Column(column as u64));
    }
    let (params, words) = (shape.params(), shape.words());
    let mut lines = Zeroed::new(params.bytes())?;
    let groups = groups.chunks(shape.group_bytes());
    for (line, group) in lines.chunks_mut(LINE_BYTES).zip(groups) {
        let mut rows = group.chunks(8 * words);
        for byte in line {
            for (bit, row) in rows.by_ref().take(8).enumerate() {
                *byte |= (row[column / 8] >> (column % 8) & 1) << bit;
            }
        }
    }
    Ok(Filter::of_lines(lines, params, Kernels::active()?.of_params(params)))
}

/// Lines of 64 columns that are read, before the next columns are: memory is read in longer pieces, and
/// their groups are still in the cache.
const AT_ONCE: usize = 8;

/// A filter that becomes a column.
struct Source<'a> {
    filter: View<'a>,
    folds: u32,
}

impl Source<'_> {
    /// A line of the column: the OR of those that fold to it.
    fn line(&self, line: usize) -> Line {
        let (first, count) = (line << self.folds, 1 << self.folds);
        let mut all = self.filter.line(first);
        for line in first + 1..first + count {
            for (all, lane) in all.iter_mut().zip(self.filter.line(line)) {
                *all |= lane;
            }
        }
        all
    }
}

/// Writes some lines of each of these columns into their groups, from line `first` on.
fn put(
    sources: &[Source<'_>],
    columns: Range<usize>,
    first: usize,
    groups: &mut [u8],
    words: usize,
    calls: &MatrixCalls,
) {
    let mut sources = sources;
    let mut column = columns.start;
    while column < columns.end {
        let (word, bit) = (column / 64, column % 64);
        let count = (64 - bit).min(columns.end - column);
        let (now, later) = sources.split_at(count);
        let set = u64::MAX >> (64 - count) << bit;
        for (line, group) in groups.chunks_mut(ROWS * 8 * words).enumerate() {
            let mut block: Block = [[0; 8]; 64];
            for (to, source) in block[bit..].iter_mut().zip(now) {
                *to = source.line(first + line);
            }
            calls.transpose.put(&mut block, !set, group, words, word);
        }
        (sources, column) = (later, column + count);
    }
}

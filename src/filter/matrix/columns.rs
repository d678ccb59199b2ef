//! Columns put into a matrix, changed there, and taken out.

use super::Matrix;
use crate::bitmap::Answers;
use crate::error::Error;
use crate::filter::Filter;
use crate::filter::view::View;
use crate::format::matrix::MatrixShape;
use crate::kernel::{
    Block, Kernels, Layout, MatrixCalls, TOGETHER, ahead, copy_lines, prefetch_lines,
};
use crate::key::Key;
use crate::layouts::matrix::ROWS;
use crate::line::{LANES, LINE_BYTES, Line};
use crate::os::memory::Zeroed;
use crate::os::threads;
use std::ops::Range;

/// Bytes of lines that a thread transposes at least, before another is started.
const LEAST_EACH: usize = 1 << 20;

/// Columns.
impl Matrix {
    /// Replaces column `column` by the filter of a view. That must be a plain filter (or the view of a
    /// counting filter) of the matrix's k and seed. If it has 2, 4, 8 and so on times the lines, it is
    /// [folded](Filter::fold).
    ///
    /// To set a single column takes fifty times as long as one of a run of
    /// [`set_columns`](Matrix::set_columns), or longer: all rows of the matrix are read and written for a bit
    /// of each.
    ///
    /// # Errors
    /// [`Error::Column`] if there is no such column; [`Error::ColumnShape`] if the filter does not
    /// fit; [`Error::OutOfMemory`]. The matrix is unchanged.
    pub fn set_column(&mut self, column: usize, filter: &View<'_>) -> Result<(), Error> {
        self.set_columns(column, [*filter], 1)
    }

    /// Replaces the columns from `first` on by the filters of these views, as
    /// [`set_column`](Matrix::set_column) does, on up to `threads` threads; 0: as many as there are CPUs.
    /// Give it runs of 64, from a multiple of 64 on: then each word of the rows is written once, as a whole,
    /// and 64 lines are transposed together.
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
        if sources.is_empty() {
            return Ok(());
        }
        let all = All {
            sources: &sources,
            columns,
            words: self.words(),
            calls: self.kernels.of_matrix(),
            past: self.prepared.is_in_memory(),
        };
        // Work for the threads: some groups each.
        let lines = self.params().line_count() as usize;
        let bytes = lines.saturating_mul(sources.len()).saturating_mul(LINE_BYTES);
        let threads = threads::or_all(threads).min(bytes / LEAST_EACH).max(1);
        let each = lines.div_ceil(4 * threads);
        let parts = self.groups.chunks_mut(each * self.shape.group_bytes()).enumerate();
        threads::share(threads, parts, |(part, groups)| all.put(part * each, groups));
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
        self.prepared.insert_all(&mut self.groups, column, hashes, |_, _| ());
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
            self.prepared.insert_all(&mut self.groups, column, hashes, |_, _| ());
        });
        Ok(())
    }

    /// As [`insert_hashes`](Matrix::insert_hashes). Answer `i` is true if key `i` was definitely absent
    /// from the column, as [`insert`](Matrix::insert) returns it: of equal keys in the batch, only the
    /// first can be new. Returns how many were.
    ///
    /// # Errors
    /// As [`insert`](Matrix::insert); no answer is written.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is inserted.
    pub fn insert_new_hashes(
        &mut self,
        column: usize,
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
    ) -> Result<usize, Error> {
        self.range_of(column, 1)?;
        Ok(self.insert_new(column, hashes, answers.words(hashes.len())))
    }

    /// As [`insert_new_hashes`](Matrix::insert_new_hashes), for keys.
    ///
    /// # Errors
    /// As [`insert`](Matrix::insert); no answer is written.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`]. Nothing is inserted.
    pub fn insert_new_keys<K: Key>(
        &mut self,
        column: usize,
        keys: &[K],
        answers: &mut (impl Answers + ?Sized),
    ) -> Result<usize, Error> {
        self.range_of(column, 1)?;
        let (words, mut count) = (answers.words(keys.len()), 0);
        self.key_hash().in_parts(keys, |hashes, first| {
            let some = &mut words[first / 64..][..hashes.len().div_ceil(64)];
            count += self.insert_new(column, hashes, some);
        });
        Ok(count)
    }

    /// Inserts keys into a column that there is, into words for a bit each.
    fn insert_new(&mut self, column: usize, hashes: &[u64], new: &mut [u64]) -> usize {
        new.fill(0);
        self.prepared.insert_all(&mut self.groups, column, hashes, |i, is_new| {
            new[i / 64] |= u64::from(is_new) << (i % 64);
        });
        new.iter().map(|word| word.count_ones() as usize).sum()
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
        let misfit = || Error::ColumnShape {
            line_count: own.line_count(),
            k: own.k(),
            seed_differs: filter.params().is_some_and(|params| params.seed() != own.seed()),
        };
        Ok((fits.ok_or_else(misfit)?.line_count() / own.line_count()).trailing_zeros())
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

/// Blocks of lines that are read, before they are transposed: memory is read in longer pieces, and all
/// of it is in the cache.
const BLOCKS: usize = 64;

const EMPTY: Block = [[0; LANES]; 64];

/// A filter that becomes a column.
struct Source<'a> {
    filter: View<'a>,
    folds: u32,
}

impl Source<'_> {
    /// Reads lines of the column, from line `first` on: each becomes the line of this column in the next
    /// block of these, of which it is every `apart`-th one.
    fn read(&self, first: usize, column: usize, blocks: &mut [Block], apart: usize) {
        if self.has_them() {
            return copy_lines(self.filter.lines, first, column, blocks, apart);
        }
        for (line, block) in (first..).zip(blocks.iter_mut().step_by(apart)) {
            block[column] = self.line(line);
        }
    }

    /// Whether the lines of the column are those of the filter, side by side.
    fn has_them(&self) -> bool {
        self.folds == 0 && self.filter.kernel.layout() != Layout::Column
    }

    /// Prefetches so many lines of the column.
    fn prefetch(&self, first: usize, count: usize) {
        if self.has_them() {
            prefetch_lines(self.filter.lines, first, count);
        }
    }

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

/// What becomes columns.
struct All<'a> {
    sources: &'a [Source<'a>],
    columns: Range<usize>,
    /// Of a row.
    words: usize,
    calls: &'a MatrixCalls,
    /// Whether the caches do not hold the matrix.
    past: bool,
}

impl All<'_> {
    /// Writes the lines from `first` on into their groups.
    fn put(&self, first: usize, groups: &mut [u8]) {
        let words = self.columns.end.div_ceil(64) - self.columns.start / 64;
        let lines = groups.len() / (ROWS * 8 * self.words);
        let wanted = BLOCKS.min(lines.saturating_mul(words.min(TOGETHER)));
        // If there is no memory for more, one block after the other.
        let (mut one, mut many) = ([EMPTY], Vec::new());
        let blocks = match many.try_reserve_exact(wanted) {
            Ok(()) => {
                many.resize(wanted, EMPTY);
                &mut many[..]
            }
            Err(_) => &mut one[..],
        };
        self.put_by(blocks, first, groups);
    }

    /// The same, with these blocks to read into.
    fn put_by(&self, blocks: &mut [Block], first: usize, groups: &mut [u8]) {
        let all = self.columns.start / 64..self.columns.end.div_ceil(64);
        let width = TOGETHER.min(all.len()).min(blocks.len()).max(1);
        let at_once = blocks.len() / width;
        let groups = groups.chunks_mut(at_once * ROWS * 8 * self.words);
        for (groups, first) in groups.zip((first..).step_by(at_once)) {
            let mut word = all.start;
            while word < all.end {
                // Up to the end of a cache line.
                let end = all.end.min((word / width + 1) * width);
                self.put_words(word..end, blocks, first, groups);
                word = end;
            }
        }
    }

    /// Writes some words of each row.
    fn put_words(
        &self,
        words: Range<usize>,
        blocks: &mut [Block],
        first: usize,
        groups: &mut [u8],
    ) {
        let group_bytes = ROWS * 8 * self.words;
        let lines = groups.len() / group_bytes;
        let blocks = &mut blocks[..lines * words.len()];
        let from = self.columns.start.max(64 * words.start);
        let to = self.columns.end.min(64 * words.end);
        if to - from < 64 * words.len() {
            blocks.fill(EMPTY);
        }
        let mut keep = [u64::MAX; TOGETHER];
        for column in from..to {
            let block = column / 64 - words.start;
            keep[block] &= !(1 << (column % 64));
            let source = &self.sources[column - self.columns.start];
            if let Some(later) = self.sources.get(column - self.columns.start + ahead::COLUMNS) {
                later.prefetch(first, lines);
            }
            source.read(first, column % 64, &mut blocks[block..], words.len());
        }
        let keep = &keep[..words.len()];
        for (blocks, group) in blocks.chunks_mut(words.len()).zip(groups.chunks_mut(group_bytes)) {
            let put = self.calls.transpose;
            put.put(blocks, keep, group, (self.words, words.start), self.past);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Params;

    /// Whatever memory there is to read lines into.
    #[test]
    fn any_number_of_blocks_gives_the_same_groups() {
        let params = Params::new(21, 6, 5).unwrap();
        for columns in [3, 64, 600] {
            let filters: Vec<Filter> = (0..columns)
                .map(|column| {
                    let mut filter = Filter::new(params).unwrap();
                    filter.insert(&column);
                    filter
                })
                .collect();
            let mut whole = Matrix::new(params, columns as usize).unwrap();
            for (column, filter) in filters.iter().enumerate() {
                whole.set_column(column, &filter.view()).unwrap();
            }
            let sources: Vec<Source<'_>> =
                filters.iter().map(|filter| Source { filter: filter.view(), folds: 0 }).collect();
            let all = All {
                sources: &sources,
                columns: 0..columns as usize,
                words: whole.words(),
                calls: whole.kernels.of_matrix(),
                past: false,
            };
            for blocks in [1, 2, 3, 7, 8, 9, 17, 64] {
                let mut groups = vec![0; whole.groups.len()];
                all.put_by(&mut vec![EMPTY; blocks], 0, &mut groups);
                assert!(groups == *whole.groups, "{columns} columns, {blocks} blocks");
            }
        }
    }
}

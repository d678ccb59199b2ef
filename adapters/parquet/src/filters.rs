//! The filters of a column, of all row groups.

use crate::build::failed;
use crate::read::bytes_of;
use crate::value::{Asked, Value, check};
use bloomline::{Bitmap, Error, Group, OwnedView};
use bytes::Bytes;
use parquet::basic::Type;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::ChunkReader;
use parquet::schema::types::ColumnDescPtr;

/// The Bloom filters of a column of a file, of all row groups. Any number of threads may ask them.
#[derive(Debug)]
pub struct ColumnFilters {
    /// A row group without a filter may have every value.
    group: Group<Option<OwnedView<Bytes>>>,
    column: ColumnDescPtr,
}

impl ColumnFilters {
    /// Reads the filters of the leaf column of this number, one or two reads each. Together they take no more
    /// memory than the file and 1 KiB for each row group, whatever the metadata says. A row group that lies in
    /// another file, as those of a `_metadata` file do, has none here: take `of_bytes` for it.
    ///
    /// Other threads may read a [`File`](std::fs::File) and its clones meanwhile. They may not read another reader
    /// whose clones share a position: see [`ChunkReader::get_read`].
    ///
    /// # Errors
    /// If there is no such column, or a read fails.
    pub fn read<R: ChunkReader + 'static>(
        reader: &R,
        metadata: &ParquetMetaData,
        column: usize,
    ) -> Result<ColumnFilters> {
        let mut room = reader.len();
        let filters = chunks(metadata, column)?.map(|chunk| bytes_of(reader, chunk, &mut room));
        let filters = filters.collect::<Result<Vec<_>>>()?;
        ColumnFilters::of_bytes(metadata, column, filters)
    }

    /// The same of bytes that are read already, such as those of an object store: for each row group
    /// those from `bloom_filter_offset` on, header included, or none.
    ///
    /// # Errors
    /// If there is no such column, or they are not as many as the row groups.
    pub fn of_bytes(
        metadata: &ParquetMetaData,
        column: usize,
        filters: Vec<Option<Bytes>>,
    ) -> Result<ColumnFilters> {
        drop(chunks(metadata, column)?);
        let (row_groups, given) = (metadata.num_row_groups(), filters.len());
        if given != row_groups {
            let what = format!("{given} filters were given of {row_groups} row groups");
            return Err(ParquetError::General(what));
        }
        let column = metadata.file_metadata().schema_descr().column(column);
        let is_believed = column.physical_type() != Type::BOOLEAN || hashes_truth_values(metadata);
        let opened: Vec<Option<_>> = filters
            .into_iter()
            .map(|bytes| bytes.filter(|_| is_believed))
            .map(|bytes| match OwnedView::open_parquet(bytes.unwrap_or_default()) {
                Ok(view) => Ok(Some(view)),
                // A filter that says nothing. Any other error is not about the bytes.
                Err(Error::Layout(_) | Error::NotAFilter | Error::Truncated { .. }) => Ok(None),
                Err(error) => Err(failed(error)),
            })
            .collect::<Result<_>>()?;
        let group = Group::of_optional(opened, |filter| filter.as_ref().map(OwnedView::view))
            .map_err(failed)?;
        Ok(ColumnFilters { group, column })
    }

    /// Returns how many row groups the file has.
    pub fn row_groups(&self) -> usize {
        self.group.len()
    }

    /// Returns whether this row group has a filter that can be read. If not, every value may be in it. Of a
    /// `BOOLEAN` column none is read, unless the crate `parquet` wrote the file: others hash truth values eight at
    /// a time, and most have no such filters.
    pub fn has_filter(&self, row_group: usize) -> bool {
        self.group.get(row_group).is_some_and(Option::is_some)
    }

    /// Returns the row groups that may contain this value, in order.
    ///
    /// # Errors
    /// If it is not of the column's type.
    pub fn may_contain<V: Value + ?Sized>(&self, value: &V) -> Result<Vec<usize>> {
        check(value, &self.column)?;
        let mut words = vec![0; self.group.words()];
        match value.asked(&self.column) {
            Asked::One(hash) => {
                self.group.contains_hash(hash, &mut words);
            }
            Asked::Either(one, other) => {
                self.group.contains_hash(one, &mut words);
                let mut more = vec![0; words.len()];
                self.group.contains_hash(other, &mut more);
                words.iter_mut().zip(more).for_each(|(word, more)| *word |= more);
            }
            Asked::Anything => words.fill(!0),
        }
        let is_in = |&i: &usize| words[i / 64] >> (i % 64) & 1 == 1;
        Ok((0..self.row_groups()).filter(is_in).collect())
    }

    /// Returns the row groups that may contain any of these values, in order: those that a query with
    /// `IN` reads.
    ///
    /// # Errors
    /// If one is not of the column's type.
    pub fn may_contain_any<V: Value>(&self, values: &[V]) -> Result<Vec<usize>> {
        let Flat { hashes, anything, .. } = self.flat(values)?;
        if !anything.is_empty() {
            return Ok((0..self.row_groups()).collect());
        }
        let mut maybe = Bitmap::new();
        self.group.contains_any_hash(&hashes, &mut maybe);
        Ok(maybe.ones().collect())
    }

    /// Returns for each of these values and each row group whether it may be there.
    ///
    /// # Errors
    /// If a value is not of the column's type.
    pub fn may_contain_each<V: Value>(&self, values: &[V]) -> Result<RowGroupAnswers> {
        let Flat { hashes, others, anything } = self.flat(values)?;
        let words = hashes.len().div_ceil(64);
        let mut answers = vec![0; words * self.row_groups()];
        self.group.contains_hashes_by_member(&hashes, &mut answers);
        let (full, rest) = (values.len() / 64, values.len() % 64);
        for row in answers.chunks_exact_mut(words.max(1)) {
            for (behind, &i) in (values.len()..).zip(&others) {
                row[i / 64] |= (row[behind / 64] >> (behind % 64) & 1) << (i % 64);
            }
            for &i in &anything {
                row[i / 64] |= 1 << (i % 64);
            }
            // What comes behind the values is no answer about them.
            if let Some((last, behind)) = row[full..].split_first_mut() {
                *last &= (1 << rest) - 1;
                behind.fill(0);
            }
        }
        Ok(RowGroupAnswers { answers, words, values: values.len(), row_groups: self.row_groups() })
    }

    /// What is asked for values: a hash of each, then the second ones.
    fn flat<V: Value>(&self, values: &[V]) -> Result<Flat> {
        let (mut hashes, mut second) = (Vec::with_capacity(values.len()), Vec::new());
        let (mut others, mut anything) = (Vec::new(), Vec::new());
        for (i, value) in values.iter().enumerate() {
            check(value, &self.column)?;
            match value.asked(&self.column) {
                Asked::One(hash) => hashes.push(hash),
                Asked::Either(one, other) => {
                    hashes.push(one);
                    second.push(other);
                    others.push(i);
                }
                Asked::Anything => {
                    hashes.push(0);
                    anything.push(i);
                }
            }
        }
        hashes.extend(second);
        Ok(Flat { hashes, others, anything })
    }
}

/// Hashes of values, then those that some have beside: of the value `others[i]` hash `values + i`. A value
/// in `anything` may be anywhere.
struct Flat {
    hashes: Vec<u64>,
    others: Vec<usize>,
    anything: Vec<usize>,
}

/// Whether each of many values may be in each row group.
#[derive(Clone, Debug)]
pub struct RowGroupAnswers {
    /// So many words for each row group, a bit for each value, in the first ones; the others are zero.
    answers: Vec<u64>,
    words: usize,
    values: usize,
    row_groups: usize,
}

impl RowGroupAnswers {
    /// Returns whether the value of this number may be in a row group; of others true.
    pub fn get(&self, row_group: usize, value: usize) -> bool {
        let is_there = row_group < self.row_groups && value < self.values;
        !is_there || self.answers[row_group * self.words + value / 64] >> (value % 64) & 1 == 1
    }

    /// Returns how many of the values may be in a row group.
    pub fn count(&self, row_group: usize) -> usize {
        if row_group >= self.row_groups {
            return self.values;
        }
        let words = &self.answers[row_group * self.words..][..self.words];
        words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the numbers of the values that may be in a row group, in order.
    pub fn values(&self, row_group: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.values).filter(move |&value| self.get(row_group, value))
    }

    /// Returns the row groups that may contain the value of this number, in order.
    pub fn row_groups(&self, value: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.row_groups).filter(move |&row_group| self.get(row_group, value))
    }
}

/// Whether the writer of a file is known to hash each truth value.
fn hashes_truth_values(metadata: &ParquetMetaData) -> bool {
    let writer = metadata.file_metadata().created_by();
    writer.is_some_and(|writer| writer.starts_with("parquet-rs "))
}

/// The chunks of a column, of all row groups.
fn chunks(
    metadata: &ParquetMetaData,
    column: usize,
) -> Result<impl Iterator<Item = &ColumnChunkMetaData>> {
    let columns = metadata.file_metadata().schema_descr().num_columns();
    if column >= columns {
        let what = format!("there is no column {column}: the file has {columns}");
        return Err(ParquetError::General(what));
    }
    Ok(metadata.row_groups().iter().map(move |row_group| row_group.column(column)))
}

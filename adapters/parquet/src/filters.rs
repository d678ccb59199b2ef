//! The filters of a column, of all row groups.

use crate::build::failed;
use crate::value::{Asked, Value, check};
use bloomline::engines::parquet::{MAX_HEADER_LEN, read_header};
use bloomline::{Error, Group, OwnedView};
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::ChunkReader;
use parquet::schema::types::ColumnDescPtr;

/// The bits of a filter that every value may be in.
static ANYTHING: [u8; 32] = [0xFF; 32];

/// So many values are asked of a row group before it is looked whether one was found.
const AT_ONCE: usize = 1024;

/// The Bloom filters of a column of a file, of all row groups. Any number of threads may ask them.
#[derive(Debug)]
pub struct ColumnFilters {
    group: Group<OwnedView<Bytes>>,
    column: ColumnDescPtr,
    known: Vec<bool>,
}

impl ColumnFilters {
    /// Reads the filters of the leaf column of this number, one or two reads each. Together they take no more
    /// memory than the file and 1 KiB for each row group, whatever the metadata says.
    ///
    /// # Errors
    /// If there is no such column, or a read fails.
    pub fn read<R: ChunkReader>(
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
        let opened: Vec<Option<_>> = filters
            .into_iter()
            .map(|bytes| match OwnedView::open_parquet(bytes.unwrap_or_default()) {
                Ok(view) => Ok(Some(view)),
                // A filter that says nothing. Any other error is not about the bytes.
                Err(Error::Layout(_) | Error::NotAFilter | Error::Truncated { .. }) => Ok(None),
                Err(error) => Err(failed(error)),
            })
            .collect::<Result<_>>()?;
        let known = opened.iter().map(Option::is_some).collect();
        let anything = || OwnedView::open_parquet_bits(Bytes::from_static(&ANYTHING));
        let views = opened.into_iter().map(|view| view.map_or_else(anything, Ok));
        let views = views.collect::<std::result::Result<Vec<_>, _>>().map_err(failed)?;
        let group = Group::of(views, |view| view.view()).map_err(failed)?;
        let column = metadata.file_metadata().schema_descr().column(column);
        Ok(ColumnFilters { group, column, known })
    }

    /// Returns how many row groups the file has.
    pub fn row_groups(&self) -> usize {
        self.known.len()
    }

    /// Returns whether this row group has a filter that can be read. If not, every value may be in it.
    pub fn has_filter(&self, row_group: usize) -> bool {
        self.known.get(row_group).is_some_and(|&known| known)
    }

    /// Returns the row groups that may contain this value, in order.
    ///
    /// # Errors
    /// If it is not of the column's type.
    pub fn may_contain<V: Value + ?Sized>(&self, value: &V) -> Result<Vec<usize>> {
        check(value, &self.column)?;
        let mut words = vec![0; self.group.words()];
        match value.asked() {
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
        let mut words = [0; AT_ONCE / 64];
        let is_in = |&i: &usize| {
            let view = self.group[i].view();
            let mut batches = hashes.chunks(AT_ONCE);
            !anything.is_empty()
                || batches.any(|batch| view.contains_hashes(batch, &mut words[..]) > 0)
        };
        Ok((0..self.row_groups()).filter(is_in).collect())
    }

    /// Returns for each of these values and each row group whether it may be there.
    ///
    /// # Errors
    /// If a value is not of the column's type.
    pub fn may_contain_each<V: Value>(&self, values: &[V]) -> Result<RowGroupAnswers> {
        let Flat { hashes, others, anything } = self.flat(values)?;
        let (words, asked) = (values.len().div_ceil(64), hashes.len().div_ceil(64));
        let (mut answers, mut all) = (Vec::new(), vec![0; asked]);
        answers.reserve_exact(words * self.row_groups());
        for member in self.group.iter() {
            member.contains_hashes(&hashes, &mut all);
            let bit = |i: usize| all[i / 64] >> (i % 64) & 1;
            let start = answers.len();
            answers.extend_from_slice(&all[..words]);
            // The last word also has answers about what comes behind the values.
            if let (Some(last), 1..) = (answers.last_mut(), values.len() % 64) {
                *last &= !0 >> (64 - values.len() % 64);
            }
            for (behind, &i) in others.iter().enumerate() {
                answers[start + i / 64] |= bit(values.len() + behind) << (i % 64);
            }
            for &i in &anything {
                answers[start + i / 64] |= 1 << (i % 64);
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
            match value.asked() {
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
    /// So many words for each row group, a bit for each value; the others are zero.
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

/// The header and bits of a chunk's filter, if it has one that the file can hold beside the column's others,
/// which leave so many bytes.
fn bytes_of<R: ChunkReader>(
    reader: &R,
    chunk: &ColumnChunkMetaData,
    room: &mut u64,
) -> Result<Option<Bytes>> {
    let Some(offset) = chunk.bloom_filter_offset() else {
        return Ok(None);
    };
    let file_len = reader.len();
    let left = u64::try_from(offset).ok().and_then(|offset| file_len.checked_sub(offset));
    let Some(left) = left else {
        return Ok(None);
    };
    // Filters do not overlap, so together they are no longer than the file.
    let mut read = |len: usize| {
        let Some(rest) = room.checked_sub(len as u64) else {
            return Ok(None);
        };
        *room = rest;
        Ok(Some(reader.get_bytes(offset as u64, len)?))
    };
    if let Some(len) = chunk.bloom_filter_length() {
        return match usize::try_from(len) {
            Ok(len) if len as u64 <= left => read(len),
            _ => Ok(None),
        };
    }
    let start = reader.get_bytes(offset as u64, left.min(MAX_HEADER_LEN as u64) as usize)?;
    match read_header(&start) {
        Ok(header) => {
            let len = header.header_len as u64 + header.bits_len as u64;
            if len <= start.len() as u64 {
                Ok(Some(start))
            } else if len <= left {
                read(len as usize)
            } else {
                Ok(None)
            }
        }
        Err(_) => Ok(None),
    }
}

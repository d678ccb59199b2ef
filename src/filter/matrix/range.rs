//! Answers from single ranges of an encoded matrix, such as an object store returns.

use super::MatrixView;
use crate::bitmap::Answers;
use crate::error::Error;
use crate::format::matrix::MatrixShape;
use crate::hash::KeyHash;
use crate::kernel::Kernels;
use crate::key::Key;
use crate::layouts;
use crate::line::line_index;
use std::iter;
use std::ops::Range;

/// Reading single ranges: a lookup in a matrix that lies elsewhere, such as in an object store.
///
/// ```
/// use bloomline::{Bitmap, Matrix, MatrixShape, Params};
///
/// let mut matrix = Matrix::new(Params::for_rate(1_000, 0.01)?, 500)?;
/// matrix.insert(123, "apple")?;
/// matrix.set_checksums(true);
/// let store = matrix.to_bytes()?;
/// let read = |range: &std::ops::Range<u64>| &store[range.start as usize..range.end as usize];
///
/// // Once: the last 64 bytes, and the length.
/// let len = store.len() as u64;
/// let shape = MatrixShape::read(read(&(len - 64..len)).try_into().unwrap(), len)?;
/// // For each key, one range: 64 bytes per column. If it is to be verified, 8 bytes more.
/// let hash = shape.hash("apple");
/// let range = shape.range(hash);
/// let group = read(&range);
/// shape.verify_range(&range, group, read(&shape.checksum_of(&range)))?;
/// let mut maybe = Bitmap::new();
/// shape.contains_in(group, hash, &mut maybe)?;
/// assert!(maybe[123]);
/// # Ok::<(), bloomline::Error>(())
/// ```
impl MatrixShape {
    /// Returns the hash of a key.
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        KeyHash::Xxh3(self.params().seed()).of(key)
    }

    /// Probes all columns for the key of a hash, in the bytes of its [`range`](MatrixShape::range).
    /// Answer `c` is true if the key may be present in column `c`. Returns how many are.
    ///
    /// # Errors
    /// [`Error::Truncated`] if `bytes` has not the length of the range (no answer is written);
    /// [`Error::Backend`].
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    pub fn contains_in(
        &self,
        bytes: &[u8],
        hash: u64,
        answers: &mut (impl Answers + ?Sized),
    ) -> Result<usize, Error> {
        let asked = self.in_range(bytes)?;
        Ok(asked.contains_hash(hash, answers))
    }

    /// The matrix of one line that is these bytes, those of a [`range`](MatrixShape::range).
    ///
    /// # Errors
    /// As [`contains_in`](MatrixShape::contains_in).
    pub(crate) fn in_range<'a>(&self, bytes: &'a [u8]) -> Result<MatrixView<&'a [u8]>, Error> {
        self.check_len(bytes, self.group_bytes())?;
        let shape = MatrixShape::new(self.params().with_lines(1)?, self.columns())?;
        Ok(MatrixView::of_groups(bytes, shape, Kernels::active()?))
    }

    /// Returns which bytes of the encoded matrix are the rows that the key of a hash reads, in ascending
    /// order: up to k ranges of a bit per column. They are within its [`range`](MatrixShape::range). Read
    /// them instead of it if there are many columns and a request costs little.
    pub fn row_ranges(&self, hash: u64) -> impl Iterator<Item = Range<u64>> {
        let (start, row) = (self.range(hash).start, 8 * self.words() as u64);
        layouts::matrix::rows(hash, self.params().k())
            .map(move |number| start + number as u64 * row..start + (number as u64 + 1) * row)
    }

    /// As [`contains_in`](MatrixShape::contains_in), from the bytes of the
    /// [`row_ranges`](MatrixShape::row_ranges), one behind the other.
    ///
    /// # Errors
    /// As [`contains_in`](MatrixShape::contains_in).
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    pub fn contains_in_rows(
        &self,
        bytes: &[u8],
        hash: u64,
        answers: &mut (impl Answers + ?Sized),
    ) -> Result<usize, Error> {
        self.check_rows(bytes, hash)?;
        let (row, words) = (8 * self.words(), answers.words(self.columns()));
        words.fill(u64::MAX);
        for row in bytes.chunks(row) {
            for (word, row) in words.iter_mut().zip(row.as_chunks().0) {
                *word &= u64::from_le_bytes(*row);
            }
        }
        if let Some(last) = words.last_mut() {
            *last &= u64::MAX >> (64 * self.words() - self.columns());
        }
        Ok(words.iter().map(|word| word.count_ones() as usize).sum())
    }

    /// Verifies the bytes of a [`range`](MatrixShape::range) by its checksum, the 8 bytes of
    /// [`checksum_of`](MatrixShape::checksum_of). A matrix without checksums has none to verify.
    ///
    /// # Errors
    /// [`Error::Truncated`] if one has not its length; [`Error::Checksum`] if they do not match.
    pub fn verify_range(
        &self,
        range: &Range<u64>,
        bytes: &[u8],
        checksum: &[u8],
    ) -> Result<(), Error> {
        self.check_len(bytes, self.group_bytes())?;
        if !self.has_checksums() {
            return Ok(());
        }
        self.check_len(checksum, 8)?;
        let line = range.start / self.group_bytes() as u64;
        let same = MatrixShape::checksum(line, bytes).to_le_bytes() == checksum;
        if same { Ok(()) } else { Err(Error::Checksum) }
    }

    /// Returns the ranges to read for many keys, by their hashes, in ascending order. Those with a gap
    /// of at most `gap` bytes are one. The range of each key lies within one of them.
    ///
    /// ```
    /// # use bloomline::{Matrix, Params};
    /// let matrix = Matrix::new(Params::new(1_000, 6, 0)?, 500)?;
    /// let hashes: Vec<u64> = ["apple", "pear"].map(|key| matrix.hash(key)).into();
    /// let shape = matrix.shape();
    /// assert_eq!(shape.ranges(&hashes, 0).len(), 2);
    /// assert_eq!(shape.ranges(&hashes, shape.encoded_len()).len(), 1);
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    pub fn ranges(&self, hashes: &[u64], gap: u64) -> Vec<Range<u64>> {
        let line = |&hash: &u64| line_index(hash, self.params().line_count());
        let mut lines: Vec<u64> = hashes.iter().map(line).collect();
        lines.sort_unstable();
        MatrixShape::merged(lines.into_iter().map(|line| self.group_range(line)), gap).collect()
    }

    /// Ranges in ascending order, those with a gap of at most `gap` bytes as one.
    pub(crate) fn merged(
        sorted: impl Iterator<Item = Range<u64>>,
        gap: u64,
    ) -> impl Iterator<Item = Range<u64>> {
        let mut sorted = sorted.peekable();
        iter::from_fn(move || {
            let mut range = sorted.next()?;
            while let Some(next) =
                sorted.next_if(|next| next.start.saturating_sub(range.end) <= gap)
            {
                range.end = range.end.max(next.end);
            }
            Some(range)
        })
    }

    /// Whether so many bytes can be the rows of a key.
    ///
    /// # Errors
    /// [`Error::Truncated`] if not.
    pub(crate) fn check_rows(&self, bytes: &[u8], hash: u64) -> Result<(), Error> {
        self.check_len(bytes, self.row_ranges(hash).count() * 8 * self.words())
    }

    fn check_len(&self, bytes: &[u8], len: usize) -> Result<(), Error> {
        let (needed, given) = (len as u64, bytes.len() as u64);
        if needed == given { Ok(()) } else { Err(Error::Truncated { needed, given }) }
    }
}

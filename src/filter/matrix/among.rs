//! Probes of a matrix, of all its columns or of some: what all that holds its groups has in common.

use crate::bitmap::{Answers, answers_of_rows};
use crate::format::matrix::MatrixShape;
use crate::hash::KeyHash;
use crate::kernel::Rows;
use crate::key::Key;
use std::fmt;

/// Some columns of a matrix, such as the tables that are live: what
/// [`Matrix::among`](crate::Matrix::among) returns. It answers as the matrix does, and false for all other
/// columns.
///
/// ```
/// use bloomline::{Bitmap, Matrix, Params};
///
/// let mut matrix = Matrix::new(Params::for_rate(1_000, 0.01)?, 3)?;
/// for column in 0..3 {
///     matrix.insert(column, "apple")?;
/// }
/// let live = [0b101]; // not column 1
/// let mut maybe = Bitmap::new();
/// assert_eq!(matrix.among(&live).contains("apple", &mut maybe), 2);
/// assert!(maybe[0] && !maybe[1] && maybe[2]);
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct MatrixAmong<'a> {
    /// None if the bytes are gone: then all that count may have every key.
    rows: Option<Rows<'a>>,
    shape: MatrixShape,
    /// As many words as a row has. All columns count if it is None.
    live: Option<&'a [u64]>,
}

impl<'a> MatrixAmong<'a> {
    #[inline(always)]
    pub(super) fn new(
        rows: Option<Rows<'a>>,
        shape: MatrixShape,
        live: Option<&'a [u64]>,
    ) -> MatrixAmong<'a> {
        MatrixAmong { rows, shape, live }
    }

    pub(crate) fn shape(&self) -> &MatrixShape {
        &self.shape
    }

    pub(super) fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.shape.params().seed())
    }

    /// Probes these columns for a key. Answer `c` is true if the key may be present in column `c`, and it
    /// is one of these. Returns how many are.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    #[inline]
    pub fn contains<K: Key + ?Sized>(
        &self,
        key: &K,
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        self.contains_hash(self.key_hash().of(key), answers)
    }

    /// As [`contains`](Self::contains), for the hash of a key. The hash must be uniform over all 64 bits.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    #[inline]
    pub fn contains_hash(&self, hash: u64, answers: &mut (impl Answers + ?Sized)) -> usize {
        let words = answers.words(self.shape.columns());
        match &self.rows {
            Some(rows) => rows.answer(hash, self.live, words),
            None => self.all(words),
        }
    }

    /// Returns how many of these columns may have the key of a hash.
    #[inline]
    pub fn count_hash(&self, hash: u64) -> usize {
        match &self.rows {
            Some(rows) => rows.count(hash, self.live),
            None => how_many(self.shape.columns(), self.live),
        }
    }

    /// Returns whether any of these columns may have the key of a hash. It reads no more than it needs.
    #[inline]
    pub fn any_hash(&self, hash: u64) -> bool {
        match &self.rows {
            Some(rows) => rows.any(hash, self.live),
            None => how_many(self.shape.columns(), self.live) > 0,
        }
    }

    /// Probes these columns for many keys, by their hashes. The answers about each key begin in a word of
    /// their own, as those of [`Matrix::contains_hashes`](crate::Matrix::contains_hashes). Returns how many
    /// answers are true.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    pub fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let bits = answers_of_rows(self.shape.words(), hashes.len());
        self.answer_rows(hashes, answers.words(bits))
    }

    /// As [`contains_hashes`](Self::contains_hashes), for keys.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    pub fn contains_keys<K: Key>(
        &self,
        keys: &[K],
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        let all = answers.words(answers_of_rows(self.shape.words(), keys.len()));
        let (mut count, words) = (0, self.shape.words());
        self.key_hash().in_parts(keys, |hashes, first| {
            let part = &mut all[first * words..][..hashes.len() * words];
            count += self.answer_rows(hashes, part);
        });
        count
    }

    /// The answers about many keys, into words for all.
    pub(crate) fn answer_rows(&self, hashes: &[u64], words: &mut [u64]) -> usize {
        match &self.rows {
            Some(rows) => rows.answers(hashes, self.live, words),
            None => words.chunks_exact_mut(self.shape.words()).map(|row| self.all(row)).sum(),
        }
    }

    /// The words of the answer about a key from number `first` on.
    ///
    /// # Panics
    /// Unless there are so many.
    pub(super) fn answer_part(&self, hash: u64, first: usize, words: &mut [u64]) {
        match &self.rows {
            Some(rows) => rows.answer_part(hash, self.live, first, words),
            None => {
                for (i, word) in words.iter_mut().enumerate() {
                    *word = self.word(first + i);
                }
            }
        }
    }

    /// The answer about any key, where the bytes are gone. Returns how many bits are set.
    #[cold]
    pub(crate) fn all(&self, words: &mut [u64]) -> usize {
        let each = words.iter_mut().enumerate().map(|(at, word)| {
            *word = self.word(at);
            word.count_ones() as usize
        });
        each.sum()
    }

    /// Word `at` of the same.
    fn word(&self, at: usize) -> u64 {
        word(self.shape.columns(), self.live, at)
    }
}

/// A word of the columns that count.
fn word(columns: usize, live: Option<&[u64]>, at: usize) -> u64 {
    let inside = u64::MAX >> (64 * (at + 1)).saturating_sub(columns);
    inside & live.map_or(u64::MAX, |live| live[at])
}

/// How many columns count. Apart: it is rarely needed, and takes registers from the probes.
#[cold]
#[inline(never)]
fn how_many(columns: usize, live: Option<&[u64]>) -> usize {
    (0..columns.div_ceil(64)).map(|at| word(columns, live, at).count_ones() as usize).sum()
}

impl fmt::Debug for MatrixAmong<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.shape.columns();
        f.debug_struct("MatrixAmong").field("columns", &columns).finish_non_exhaustive()
    }
}

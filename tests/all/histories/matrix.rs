//! The library's matrix as the subject of histories: asked in all ways, and its view.

use super::columns::{self, Columns, bits};
use super::definition::arg;
use super::{Keys, Subject};
use crate::mapped;
use bloomline::{Backend, Bitmap, Error, Filter, Matrix, MatrixView, Params};
use std::path::Path;

/// Rows of answers, of so many words each, as pairs of a key and a column.
fn pairs_of(rows: &[u64], words: usize) -> Vec<(u32, u32)> {
    let bits = bits(rows).into_iter().enumerate().filter(|&(_, is_set)| is_set);
    bits.map(|(i, _)| ((i / (64 * words)) as u32, (i % (64 * words)) as u32)).collect()
}

/// The rows of keys, in a batch, as pairs and one by one, which are counted alike.
macro_rules! rows {
    ($matrix:expr, $keys:expr) => {{
        let (mut rows, mut row) = (Bitmap::new(), Bitmap::new());
        let mut one_by_one = Vec::new();
        let hashes: Vec<u64> = match $keys {
            Keys::Bytes(keys) => keys.iter().map(|key| $matrix.hash(key)).collect(),
            Keys::Hashes(hashes) => hashes.clone(),
        };
        let count = match $keys {
            Keys::Bytes(keys) => $matrix.contains_keys(&keys[..], &mut rows),
            Keys::Hashes(hashes) => $matrix.contains_hashes(&hashes[..], &mut rows),
        };
        for (i, &hash) in hashes.iter().enumerate() {
            let present = match $keys {
                Keys::Bytes(keys) => $matrix.contains(&keys[i], &mut row),
                Keys::Hashes(_) => $matrix.contains_hash(hash, &mut row),
            };
            assert_eq!($matrix.count_hash(hash), present);
            assert_eq!($matrix.any_hash(hash), present > 0);
            one_by_one.extend_from_slice(row.as_words());
        }
        assert_eq!(rows.as_words(), one_by_one);
        assert_eq!(count, rows.count_ones());
        let mut pairs = Vec::new();
        let count = match $keys {
            Keys::Bytes(keys) => $matrix.select_keys(&keys[..], &mut pairs),
            Keys::Hashes(hashes) => $matrix.select_hashes(&hashes[..], &mut pairs),
        };
        assert_eq!(count, pairs.len());
        assert!(pairs == pairs_of(&one_by_one, $matrix.words()));
        one_by_one
    }};
}

/// The rows of keys of some columns, asked in all ways.
macro_rules! rows_among {
    ($matrix:expr, $keys:expr, $hashes:expr, $among:expr) => {{
        let (mut one_by_one, mut row, mut rows) = (Vec::new(), Bitmap::new(), Bitmap::new());
        let (mut total, mut pairs, some) = (0, Vec::new(), $matrix.among($among));
        for (i, &hash) in $hashes.iter().enumerate() {
            let present = match $keys {
                Keys::Bytes(keys) => some.contains(&keys[i], &mut row),
                Keys::Hashes(_) => some.contains_hash(hash, &mut row),
            };
            assert_eq!(present, row.count_ones());
            assert_eq!(some.count_hash(hash), present);
            assert_eq!(some.any_hash(hash), present > 0);
            one_by_one.extend_from_slice(row.as_words());
            total += present;
        }
        let counts = match $keys {
            Keys::Bytes(keys) => {
                [some.contains_keys(&keys[..], &mut rows), some.select_keys(&keys[..], &mut pairs)]
            }
            Keys::Hashes(hashes) => [
                some.contains_hashes(&hashes[..], &mut rows),
                some.select_hashes(&hashes[..], &mut pairs),
            ],
        };
        assert_eq!(counts, [total; 2]);
        assert_eq!(rows.as_words(), one_by_one);
        assert!(pairs == pairs_of(&one_by_one, $matrix.words()));
        one_by_one
    }};
}

impl Subject for Matrix {
    fn make(args: &[&str], backend: Backend) -> Result<Self, Error> {
        let params = Params::new(arg(args, 0), arg(args, 1), arg(args, 2))?;
        Matrix::with_backend(params, arg(args, 3), backend)
    }
    fn open(bytes: &[u8]) -> Result<Self, Error> {
        Matrix::decode(bytes)
    }
    fn copy(&self) -> Self {
        self.try_clone().unwrap()
    }
    fn bytes(&self) -> Vec<u8> {
        self.to_bytes().unwrap()
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        bits(&self.rows(keys, None))
    }
    fn save(&mut self, path: &Path) {
        Matrix::save(self, path).unwrap();
        assert!(matches!(mapped::open(path), Err(Error::Layout(10))));
        *self = Matrix::load(path).unwrap();
    }
    fn other(&mut self, verb: &str, args: &[&str]) -> String {
        columns::answer(self, verb, args)
    }
}

impl Columns for Matrix {
    fn columns(&self) -> u32 {
        Matrix::columns(self) as u32
    }
    fn params(&self) -> (u64, u32, u64) {
        let params = Matrix::params(self);
        (params.line_count(), params.k(), params.seed())
    }
    fn insert(&mut self, column: usize, keys: &Keys) -> Result<(), Error> {
        match keys {
            Keys::Bytes(keys) if keys.len() == 1 => {
                Matrix::insert(self, column, &keys[0]).map(drop)
            }
            Keys::Hashes(hashes) if hashes.len() == 1 => {
                self.insert_hash(column, hashes[0]).map(drop)
            }
            Keys::Bytes(keys) => self.insert_keys(column, keys),
            Keys::Hashes(hashes) => self.insert_hashes(column, hashes),
        }
    }
    fn set(
        &mut self,
        first: usize,
        filters: &[Vec<u64>],
        (lines, k): (u64, u32),
    ) -> Result<(), Error> {
        let params = Params::new(lines, k, Matrix::params(self).seed())?;
        let filled = filters.iter().map(|hashes| {
            let mut filter = Filter::new(params).unwrap();
            filter.insert_hashes(hashes);
            filter
        });
        let filled: Vec<Filter> = filled.collect();
        match &filled[..] {
            [one] => self.set_column(first, &one.view()),
            many => self.set_columns(first, many.iter().map(Filter::view), 2),
        }
    }
    fn clear_column(&mut self, column: usize) -> Result<(), Error> {
        Matrix::clear_column(self, column)
    }
    fn column(&self, column: usize) -> Result<Vec<u8>, Error> {
        Matrix::column(self, column)?.to_bytes()
    }
    fn with_columns(&self, columns: usize) -> Result<Self, Error> {
        Matrix::with_columns(self, columns)
    }
    fn set_names(&mut self, names: &[u64]) -> Result<(), Error> {
        Matrix::set_names(self, names)
    }
    fn name(&self, column: usize) -> u64 {
        self.names().get(column).copied().unwrap_or(0)
    }
    fn set_checksums(&mut self, checksums: bool) {
        Matrix::set_checksums(self, checksums);
    }
    fn rows(&self, keys: &Keys, among: Option<&[u64]>) -> Vec<u64> {
        let bytes = self.bytes();
        let view = MatrixView::open(&bytes[..]).unwrap();
        let hashes = keys.hashes(Matrix::params(self).seed());
        let [own, viewed] = match among {
            None => [rows!(self, keys), rows!(view, keys)],
            Some(among) => {
                [rows_among!(self, keys, &hashes, among), rows_among!(view, keys, &hashes, among)]
            }
        };
        assert_eq!(own, viewed);
        own
    }
    fn pairs(&self, columns: &[u32], hashes: &[u64]) -> Vec<bool> {
        let mut answers = Bitmap::new();
        let count = self.contains_pairs(columns, hashes, &mut answers);
        assert_eq!(count, answers.count_ones());
        answers.iter().collect()
    }
}

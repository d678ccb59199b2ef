//! Histories of matrices: the verbs, which are about columns, and the model, of `src/layouts/matrix.rs`.
//! The library's matrix as their subject is in `matrix.rs`.

use super::definition::arg;
use super::{Keys, Said, Subject, said_all};
use crate::definition::*;
use crate::kinds::matrix_bytes::*;
use bloomline::definition::matrix::{self, group_bytes, row_bytes};
use bloomline::{Backend, Error};

/// What a matrix is asked to do.
pub(super) trait Columns: Sized {
    fn columns(&self) -> u32;
    /// `LINE_COUNT K SEED`.
    fn params(&self) -> (u64, u32, u64);
    fn insert(&mut self, column: usize, keys: &Keys) -> Result<(), Error>;
    /// Filters of so many lines and of `k`, with these hashes, become the columns from `first` on.
    fn set(&mut self, first: usize, filters: &[Vec<u64>], shape: (u64, u32)) -> Result<(), Error>;
    fn clear_column(&mut self, column: usize) -> Result<(), Error>;
    /// A column as an encoded filter.
    fn column(&self, column: usize) -> Result<Vec<u8>, Error>;
    fn with_columns(&self, columns: usize) -> Result<Self, Error>;
    fn set_names(&mut self, names: &[u64]) -> Result<(), Error>;
    /// 0: it has none.
    fn name(&self, column: usize) -> u64;
    fn set_checksums(&mut self, checksums: bool);
    /// A row of words for each key, of the columns in `among` or of all.
    fn rows(&self, keys: &Keys, among: Option<&[u64]>) -> Vec<u64>;
    fn pairs(&self, columns: &[u32], hashes: &[u64]) -> Vec<bool>;
}

/// Each bit of some words.
pub(super) fn bits(words: &[u64]) -> Vec<bool> {
    words.iter().flat_map(|word| (0..64).map(move |bit| word >> bit & 1 == 1)).collect()
}

/// Answers what only matrices are asked.
pub(super) fn answer(of: &mut impl Columns, verb: &str, args: &[&str]) -> String {
    let (lines, k, seed) = of.params();
    let hashes = |from: usize| Keys::parse(&args[from..]).0.hashes(seed);
    match verb {
        "columns" => u64::from(of.columns()).said(),
        "params" => format!("{lines} {k} {seed}"),
        "insert_into" => of.insert(arg(args, 0), &Keys::parse(&args[1..]).0).said(),
        "set" => {
            let mut filters = vec![Vec::new(); arg(args, 1)];
            let count = filters.len();
            let deal = |(i, hash): (usize, u64)| filters[i % count].push(hash);
            hashes(4).into_iter().enumerate().for_each(deal);
            of.set(arg(args, 0), &filters, (arg(args, 2), arg(args, 3))).said()
        }
        "clear_column" => of.clear_column(arg(args, 0)).said(),
        "column" => match of.column(arg(args, 0)) {
            Ok(bytes) => format!("{} {:016x}", bytes.len(), hash(&bytes, 0)),
            Err(error) => Err::<(), _>(error).said(),
        },
        "with_columns" => {
            let more = of.with_columns(arg(args, 0));
            more.map(|more| *of = more).said()
        }
        "names" => of.set_names(&hashes(0)).said(),
        "name" => of.name(arg(args, 0)).said(),
        "checksums" => done!(of.set_checksums(args[0] == "1")),
        "among" => {
            let among = Keys::parse(&args[..1]).0.hashes(0);
            said_all(&bits(&of.rows(&Keys::parse(&args[1..]).0, Some(&among))))
        }
        "pairs" => {
            let (hashes, all) = (hashes(1), u64::from(of.columns()) + 1);
            let numbers = random_hashes(hashes.len(), arg(args, 0)).into_iter();
            let numbers: Vec<u32> = numbers.map(|number| (number % all) as u32).collect();
            said_all(&of.pairs(&numbers, &hashes))
        }
        _ => panic!("{verb}"),
    }
}

/// By the definition.
#[derive(Clone)]
pub(super) struct Plain {
    columns: u32,
    k: u32,
    seed: u64,
    groups: Vec<u8>,
    names: Vec<u64>,
    summed: bool,
}

impl Plain {
    fn lines(&self) -> u64 {
        (self.groups.len() / group_bytes(self.columns)) as u64
    }

    fn has_column(&self, column: usize) -> Result<(), Error> {
        if column < self.columns as usize { Ok(()) } else { Err(Error::Column(column as u64)) }
    }

    fn insert_hashes(&mut self, column: usize, hashes: &[u64]) {
        for &hash in hashes {
            matrix::insert(&mut self.groups, self.columns, self.k, column as u32, hash);
        }
    }

    /// Bit `column` of all rows, one after the other.
    fn places(&self, column: u32) -> impl Iterator<Item = (usize, u32)> + use<> {
        let rows = self.groups.len() / row_bytes(self.columns);
        let row = row_bytes(self.columns);
        (0..rows).map(move |i| (i * row + column as usize / 8, column % 8))
    }
}

impl Subject for Plain {
    fn make(args: &[&str], _: Backend) -> Result<Self, Error> {
        let [lines, columns]: [usize; 2] = [0, 3].map(|at| arg(args, at));
        let (k, seed) = (arg(args, 1), arg(args, 2));
        if !(1..=16).contains(&k) {
            return Err(Error::K(k));
        }
        if columns == 0 {
            return Err(Error::Columns(0));
        }
        let columns = columns as u32;
        let groups = vec![0; lines * group_bytes(columns)];
        Ok(Plain { columns, k, seed, groups, names: Vec::new(), summed: false })
    }
    fn open(bytes: &[u8]) -> Result<Self, Error> {
        let ([groups, names, _], shape) = (matrix_ends(bytes), get(bytes, RESERVED));
        let named = bytes[groups..names].chunks(8);
        Ok(Plain {
            columns: shape as u32,
            k: get(bytes, K) as u32,
            seed: get(bytes, SEED),
            groups: bytes[..groups].to_vec(),
            names: named.map(|name| u64::from_le_bytes(name.try_into().unwrap())).collect(),
            summed: shape & SUMMED > 0,
        })
    }
    fn copy(&self) -> Self {
        self.clone()
    }
    fn bytes(&self) -> Vec<u8> {
        let Plain { columns, k, seed, summed, .. } = *self;
        encode_matrix(&self.groups, columns, k, seed, &self.names, summed)
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        bits(&self.rows(keys, None))
    }
    fn other(&mut self, verb: &str, args: &[&str]) -> String {
        answer(self, verb, args)
    }
}

impl Columns for Plain {
    fn columns(&self) -> u32 {
        self.columns
    }
    fn params(&self) -> (u64, u32, u64) {
        (self.lines(), self.k, self.seed)
    }
    fn insert(&mut self, column: usize, keys: &Keys) -> Result<(), Error> {
        self.has_column(column)?;
        self.insert_hashes(column, &keys.hashes(self.seed));
        Ok(())
    }
    /// A filter that is folded has the lines of one of so many lines: its keys are all that matters.
    fn set(
        &mut self,
        first: usize,
        filters: &[Vec<u64>],
        (line_count, k): (u64, u32),
    ) -> Result<(), Error> {
        let times = line_count / self.lines();
        if k != self.k || line_count % self.lines() > 0 || !times.is_power_of_two() {
            return Err(Error::ColumnShape { line_count, k, seed_differs: false });
        }
        self.has_column(first + filters.len() - 1)?;
        for (column, hashes) in (first..).zip(filters) {
            self.clear_column(column)?;
            self.insert_hashes(column, hashes);
        }
        Ok(())
    }
    fn clear_column(&mut self, column: usize) -> Result<(), Error> {
        self.has_column(column)?;
        self.places(column as u32).for_each(|(byte, bit)| self.groups[byte] &= !(1 << bit));
        Ok(())
    }
    fn column(&self, column: usize) -> Result<Vec<u8>, Error> {
        self.has_column(column)?;
        let lines = matrix::column(&self.groups, self.columns, column as u32);
        Ok(encode(&lines, self.k, self.seed, 0))
    }
    fn with_columns(&self, columns: usize) -> Result<Self, Error> {
        if columns == 0 {
            return Err(Error::Columns(0));
        }
        let (columns, mut more) = (columns as u32, self.clone());
        more.columns = columns;
        more.groups = vec![0; self.lines() as usize * group_bytes(columns)];
        for column in 0..columns.min(self.columns) {
            let places = more.places(column).zip(self.places(column));
            for ((to, bit), (from, _)) in places {
                more.groups[to] |= self.groups[from] & 1 << bit;
            }
        }
        if !self.names.is_empty() {
            more.names.resize(columns as usize, 0);
        }
        Ok(more)
    }
    fn set_names(&mut self, names: &[u64]) -> Result<(), Error> {
        if !names.is_empty() && names.len() != self.columns as usize {
            return Err(Error::Columns(names.len() as u64));
        }
        self.names = names.to_vec();
        Ok(())
    }
    fn name(&self, column: usize) -> u64 {
        self.names.get(column).copied().unwrap_or(0)
    }
    fn set_checksums(&mut self, checksums: bool) {
        self.summed = checksums;
    }
    fn rows(&self, keys: &Keys, among: Option<&[u64]>) -> Vec<u64> {
        let mut rows = Vec::new();
        for hash in keys.hashes(self.seed) {
            let mut row = vec![0; self.columns.div_ceil(64) as usize];
            for column in 0..self.columns {
                let word = column as usize / 64;
                let is_asked = among.is_none_or(|among| among[word] >> (column % 64) & 1 == 1);
                let has = matrix::contains(&self.groups, self.columns, self.k, column, hash);
                row[word] |= u64::from(has && is_asked) << (column % 64);
            }
            rows.extend(row);
        }
        rows
    }
    fn pairs(&self, columns: &[u32], hashes: &[u64]) -> Vec<bool> {
        let pairs = columns.iter().zip(hashes);
        let one = |(&column, &hash): (&u32, &u64)| {
            column >= self.columns
                || matrix::contains(&self.groups, self.columns, self.k, column, hash)
        };
        pairs.map(one).collect()
    }
}

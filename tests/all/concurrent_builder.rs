//! `ConcurrentBuilder`: what threads build of parts of many columns is byte for byte what the definition
//! makes of all keys; nulls are no keys; what is folded, what is not worth its probes, what is refused.

use crate::definition::{self, AWKWARD, classic_filter, fewer, random_hashes};

use bloomline::definition::line;
use bloomline::hash::hash;
use bloomline::{
    Backend, Column, ConcurrentBuilder, Error, Filter, Nullable, Nulls, Params, Strings,
};
use std::sync::Barrier;
use std::thread;

const SEED: u64 = 7;

fn params_of(line_count: u64, k: u32) -> Params {
    Params::new(line_count, k, SEED).unwrap()
}

/// Around the sizes of words, of what is sorted at a time, and of what a thread takes.
const SIZES: [usize; 10] = [0, 1, 63, 64, 65, 2048, 2049, 4096, 4097, 9000];

/// The encoded filter of the definition: its lines, and the number of keys.
fn expected(params: Params, hashes: &[u64]) -> Vec<u8> {
    let lines = definition::lines_of(params.line_count() as usize, params.k(), hashes);
    Filter::from_lines(params, &lines, hashes.len() as u64).unwrap().to_bytes().unwrap()
}

#[test]
fn one_thread_builds_the_filter_of_the_definition() {
    for backend in Backend::available() {
        let some = if fewer() { 5 } else { 1 };
        for k in (1..=line::MAX_K).step_by(some) {
            // One part, two, some that differ in size, and as many as there may be.
            for line_count in [1, 31, 32, 1001, 5000] {
                let params = params_of(line_count, k);
                for len in SIZES {
                    let mut hashes = random_hashes(len, line_count);
                    hashes.iter_mut().zip(AWKWARD).for_each(|(hash, awkward)| *hash = awkward);
                    let builder = ConcurrentBuilder::with_backend(params, backend).unwrap();
                    builder.insert_hashes(&hashes);
                    assert_eq!(builder.key_count(), len as u64);
                    let bytes = builder.finish().to_bytes().unwrap();
                    assert!(
                        bytes == expected(params, &hashes),
                        "{backend:?} {k} {line_count} {len}"
                    );
                }
            }
        }
    }
}

/// Columns of several types, and the hashes of their keys.
struct Columns {
    hashes: Vec<u64>,
    longs: Vec<u64>,
    ints: Vec<i32>,
    offsets: Vec<i64>,
    data: Vec<u8>,
    validity: Vec<u8>,
}

impl Columns {
    fn new(len: usize, number: u64) -> Columns {
        let hashes = random_hashes(len, number);
        let longs: Vec<u64> = hashes.iter().map(|hash| hash % 50_000).collect();
        let ints = longs.iter().map(|&long| long as i32 - 20_000).collect();
        let (mut offsets, mut data) = (vec![3], b"not".to_vec());
        for long in &longs {
            data.extend_from_slice("x".repeat((long % 20) as usize).as_bytes());
            data.extend_from_slice(long.to_string().as_bytes());
            offsets.push(data.len() as i64);
        }
        // All of a word, none, and some; then none of a whole chunk.
        let word = |word: usize| match word % 5 {
            0 => u64::MAX,
            1 => 0,
            _ if (70..140).contains(&word) => 0,
            _ => hash(&(word as u64), number),
        };
        let validity = (0..=len / 64).flat_map(|i| word(i).to_le_bytes()).collect();
        Columns { hashes, longs, ints, offsets, data, validity }
    }

    fn strings(&self) -> Strings<'_, i64> {
        Strings::new(&self.offsets, &self.data).unwrap()
    }

    /// Row `row` of a column whose first has this bit.
    fn has(&self, first: usize, row: usize) -> bool {
        let at = first + row;
        self.validity.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    }

    /// Inserts all columns, as they are, and with nulls.
    fn insert(&self, builder: &ConcurrentBuilder) {
        builder.insert_hashes(&self.hashes);
        builder.insert_column(&self.longs);
        builder.insert_column(&self.ints[..]);
        builder.insert_column(&self.strings());
        // Of rows that are null a probe may say "present": they are no keys for that.
        for (first, nulls) in [(0, Nulls::Absent), (3, Nulls::Present)] {
            builder.insert_column(&self.null(&self.ints, first, nulls));
            builder.insert_column(&self.null(&self.strings(), first, nulls));
        }
    }

    fn null<'a, C: Column + ?Sized>(
        &'a self,
        column: &'a C,
        first: usize,
        nulls: Nulls,
    ) -> Nullable<'a, C> {
        Nullable::new(column, &self.validity, nulls).from_bit(first)
    }

    /// The hashes of all keys that `insert` inserts.
    fn keys(&self) -> Vec<u64> {
        let (rows, strings) = (0..self.hashes.len(), self.strings());
        let int = |row: usize| hash(&self.ints[row].to_le_bytes(), SEED);
        let string = |row: usize| hash(strings.get(row).unwrap(), SEED);
        let mut keys = self.hashes.clone();
        keys.extend(self.longs.iter().map(|long| hash(&long.to_le_bytes(), SEED)));
        keys.extend(rows.clone().map(int).chain(rows.clone().map(string)));
        for first in [0, 3] {
            let there = || rows.clone().filter(|&row| self.has(first, row));
            keys.extend(there().map(int).chain(there().map(string)));
        }
        keys
    }
}

#[test]
fn threads_build_one_filter_of_all_columns() {
    let len = if fewer() { 1000 } else { 9000 };
    for (line_count, k) in [(1, 6), (40, 8), (3000, 11), (100_000, 6)] {
        let params = params_of(line_count, k);
        for threads in [1, 2, 7] {
            let parts: Vec<Columns> =
                (0..threads).map(|number| Columns::new(len - number, number as u64)).collect();
            let keys: Vec<u64> = parts.iter().flat_map(Columns::keys).collect();
            let (builder, start) = (ConcurrentBuilder::new(params).unwrap(), Barrier::new(threads));
            thread::scope(|scope| {
                for part in &parts {
                    let (builder, start) = (&builder, &start);
                    scope.spawn(move || {
                        start.wait();
                        part.insert(builder);
                    });
                }
            });
            assert_eq!(builder.key_count(), keys.len() as u64);
            let bytes = builder.finish().to_bytes().unwrap();
            assert!(bytes == expected(params, &keys), "{line_count} lines, {threads} threads");
        }
    }
}

#[test]
fn threads_that_meet_in_one_part_lose_nothing() {
    // All in the lines of the first part, a few keys at a time.
    let params = params_of(2000, 6);
    let rounds = if fewer() { 50 } else { 1000 };
    let hashes_of = |thread: u64, round: u64| -> Vec<u64> {
        random_hashes(40, thread << 32 | round).iter().map(|hash| hash >> 10).collect()
    };
    let (builder, start) = (ConcurrentBuilder::new(params).unwrap(), Barrier::new(4));
    thread::scope(|scope| {
        for thread in 0..4 {
            let (builder, start) = (&builder, &start);
            scope.spawn(move || {
                start.wait();
                (0..rounds).for_each(|round| builder.insert_hashes(&hashes_of(thread, round)));
            });
        }
    });
    let all: Vec<u64> = (0..4)
        .flat_map(|thread| (0..rounds).flat_map(move |round| hashes_of(thread, round)))
        .collect();
    assert!(builder.finish().to_bytes().unwrap() == expected(params, &all));
}

#[test]
fn a_union_of_parts_is_the_whole() {
    let (params, hashes) = (params_of(700, 7), random_hashes(8000, 1));
    let (builder, other) =
        (ConcurrentBuilder::new(params).unwrap(), ConcurrentBuilder::new(params).unwrap());
    builder.insert_hashes(&hashes[..3000]);
    other.insert_hashes(&hashes[3000..]);
    let other = other.finish();
    for params in [params_of(701, 7), params_of(700, 6), params_of(700, 7).with_seed(8)] {
        let builder = ConcurrentBuilder::new(params).unwrap();
        assert_eq!(builder.union(&other), Err(Error::Mismatch));
        assert_eq!((builder.key_count(), builder.finish().fill()), (0, 0.0));
    }
    builder.union(&other).unwrap();
    assert!(builder.finish().to_bytes().unwrap() == expected(params, &hashes));

    // A count of keys stops where it can count no further.
    let many = Filter::from_lines(params, other.lines(), u64::MAX).unwrap();
    let builder = ConcurrentBuilder::new(params).unwrap();
    builder.union(&many).unwrap();
    builder.insert_hashes(&hashes);
    assert_eq!((builder.key_count(), builder.finish().key_count()), (u64::MAX, u64::MAX));
}

#[test]
fn it_is_folded_to_a_rate_if_that_is_worth_it() {
    let params = Params::for_rate(100_000, 0.01).unwrap().foldable(6).unwrap();
    for keys in [0, 1, 1000, 30_000, 100_000, 400_000] {
        let hashes = random_hashes(keys, 3);
        let mut expected = Filter::new(params).unwrap();
        expected.insert_hashes(&hashes);
        expected.fold_to_rate(0.01).unwrap();
        for most in [0.0, 0.001, 0.3, 1.0] {
            let builder = ConcurrentBuilder::new(params).unwrap();
            builder.insert_hashes(&hashes);
            let filter = builder.finish_to_rate(0.01, most).unwrap();
            assert_eq!(filter.is_some(), expected.estimated_rate() <= most, "{keys}, {most}");
            assert!(filter.is_none_or(|filter| filter == expected), "{keys} keys");
        }
    }
    // What the rate would be is known beforehand: too many keys pass.
    assert!(params.rate(400_000) > 0.3 && params.rate(100_000) < 0.01);
    for (rate, most, wrong) in
        [(0.0, 0.5, 0.0), (1.0, 0.5, 1.0), (0.1, -0.1, -0.1), (0.1, 1.5, 1.5), (-1.0, 2.0, -1.0)]
    {
        let result = ConcurrentBuilder::new(params).unwrap().finish_to_rate(rate, most);
        assert_eq!(result.unwrap_err(), Error::Rate(wrong));
    }
    for (rate, most) in [(f64::NAN, 0.5), (0.5, f64::NAN)] {
        let result = ConcurrentBuilder::new(params).unwrap().finish_to_rate(rate, most);
        assert!(matches!(result, Err(Error::Rate(rate)) if rate.is_nan()));
    }
}

#[test]
fn a_classic_filter_is_built_too() {
    let hashes = random_hashes(9000, 1);
    let params = Params::classic_for_rate(9000, 0.01).unwrap();
    let mut expected = classic_filter(params).unwrap();
    expected.insert_hashes(&hashes);
    let build = || {
        let builder = ConcurrentBuilder::new(params).unwrap();
        thread::scope(|scope| {
            for hashes in hashes.chunks(3000) {
                let builder = &builder;
                scope.spawn(move || builder.insert_hashes(hashes));
            }
        });
        builder
    };
    assert!(build().finish() == expected);
    // It is not folded.
    assert!(build().finish_to_rate(0.5, 0.5).unwrap() == Some(expected));
    assert!(build().finish_to_rate(0.5, 0.0001).unwrap().is_none());
}

#[test]
fn parameters_within_a_bound() {
    for (keys, rate) in [(0, 0.01), (1, 0.5), (1000, 0.01), (1_000_000, 0.001), (u64::MAX, 0.01)] {
        let whole = Params::for_rate(keys, rate);
        for bytes in [0, 1, 63, 64, 127, 128, 4096, 1 << 20, 1 << 30] {
            let params = Params::for_rate_within(keys, rate, bytes).unwrap();
            assert!(params.bytes() <= bytes.max(64), "{keys} keys, {rate}, {bytes} bytes");
            match whole {
                Ok(whole) if whole.bytes() <= bytes.max(64) => assert_eq!(params, whole),
                _ => {
                    assert_eq!(params.line_count(), (bytes as u64 / 64).max(1));
                    // No other k is better, and the rate is missed.
                    let at = |k| Params::new(params.line_count(), k, 0).unwrap().rate(keys);
                    let best = (1..=line::MAX_K).map(at).fold(1.0, f64::min);
                    assert!(params.rate(keys) <= best * (1.0 + 1e-12) && best > rate);
                }
            }
        }
    }
    for rate in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(matches!(Params::for_rate_within(1, rate, 64), Err(Error::Rate(_))));
    }
    assert_eq!(Params::for_rate_within(1, 1e-30, 64), Err(Error::RateTooSmall(1e-30)));
}

//! The matrix against its definition, by every backend, and against the filters that are its columns.

mod bytes;
mod columns;
mod filled;
mod pairs;
mod wide;

use crate::definition::fewer;
use bloomline::definition::matrix as definition;
use bloomline::{Backend, Bitmap, Error, Filter, Matrix, MatrixView, Params, hash};
use std::ops::Range;

const SEED: u64 = 77;

/// The hashes of the keys of a column.
fn keys_of(column: usize, count: u64) -> Vec<u64> {
    (0..count).map(|key| hash::hash_u64(key << 32 | column as u64, SEED)).collect()
}

fn filter_of(params: Params, column: usize, count: u64) -> Filter {
    let mut filter = Filter::new(params).unwrap();
    filter.insert_hashes(&keys_of(column, count));
    filter
}

fn params(lines: u64, k: u32) -> Params {
    Params::new(lines, k, SEED).unwrap()
}

/// Bytes of a matrix by the definition.
fn defined(params: Params, columns: usize, keys: u64) -> Vec<u8> {
    let columns_u32 = columns as u32;
    let len = params.line_count() as usize * definition::group_bytes(columns_u32);
    let mut bytes = vec![0; len];
    for column in 0..columns {
        for hash in keys_of(column, keys) {
            definition::insert(&mut bytes, columns_u32, params.k(), column as u32, hash);
        }
    }
    bytes
}

/// Some hashes of present keys, and of absent ones.
fn probes(columns: usize, keys: u64) -> Vec<u64> {
    let present =
        (0..columns).step_by(columns.div_ceil(20)).flat_map(|column| keys_of(column, keys.min(3)));
    present.chain((0..60).map(|key| hash::hash_u64(key, 1))).collect()
}

fn numbers(words: &[u64], columns: usize) -> Vec<usize> {
    assert!(words.len() == columns.div_ceil(64));
    let set = (0..64 * words.len()).filter(|c| words[c / 64] >> (c % 64) & 1 == 1);
    let set: Vec<usize> = set.collect();
    assert!(set.iter().all(|&c| c < columns), "bits behind the last column are zero");
    set
}

/// Rows of answers as pairs: the number of a key, and of a column that may have it.
fn pairs_of(rows: &[u64], columns: usize) -> Vec<(u32, u32)> {
    let rows = rows.chunks_exact(columns.div_ceil(64)).enumerate();
    let pairs = rows.flat_map(|(key, row)| {
        numbers(row, columns).into_iter().map(move |column| (key as u32, column as u32))
    });
    pairs.collect()
}

/// The answers of rows, where others than some columns have no key.
fn masked(rows: &[u64], among: &[u64]) -> Vec<u64> {
    rows.iter().zip(among.iter().cycle()).map(|(word, live)| word & live).collect()
}

fn ones(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

#[test]
fn every_backend_answers_as_the_definition() {
    let mut ran = Vec::new();
    for backend in Backend::available() {
        ran.push(backend.name());
        let shapes = [(1, 6, 20), (3, 1, 40), (2, 8, 60), (5, 9, 30), (1, 13, 10), (1, 16, 10)];
        let widths = [1, 2, 63, 64, 65, 128, 130, 511, 512, 513, 1000, 2051];
        for (at, columns) in widths.into_iter().enumerate() {
            for (i, (lines, k, keys)) in shapes.into_iter().enumerate() {
                // Where there are fewer, each width gets another one.
                if columns > 600 && lines > 2 || fewer() && (at + i) % 6 > 0 {
                    continue;
                }
                check(backend, params(lines, k), columns, keys);
            }
        }
    }
    println!("backends: {}", ran.join(" "));
    if let Ok(required) = std::env::var("BLOOMLINE_REQUIRE_BACKENDS") {
        for name in required.split(',').filter(|name| !name.is_empty()) {
            assert!(ran.contains(&name), "{name} did not run");
        }
    }
}

fn check(backend: Backend, params: Params, columns: usize, keys: u64) {
    let bytes = defined(params, columns, keys);
    let filters: Vec<Filter> = (0..columns).map(|column| filter_of(params, column, keys)).collect();
    let mut matrix = Matrix::with_backend(params, columns, backend).unwrap();
    matrix.set_columns(0, filters.iter().map(Filter::view), 1).unwrap();
    assert!(matrix.groups() == bytes, "{backend:?} {params:?} {columns}");
    let encoded = matrix.to_bytes().unwrap();
    let view = MatrixView::open_with_backend(&encoded[..], backend).unwrap();
    let hashes = probes(columns, keys);
    let words = matrix.words();
    let among: Vec<u64> = (0..words as u64).map(|word| hash::hash_u64(word, 5)).collect();
    let mut all = Vec::new();
    let (mut pairs, mut pair_hashes, mut pair_answers) = (Vec::new(), Vec::new(), Vec::new());
    for (i, &hash) in hashes.iter().enumerate() {
        let contains = |column: &usize| {
            definition::contains(&bytes, columns as u32, params.k(), *column as u32, hash)
        };
        let expected: Vec<usize> = (0..columns).filter(contains).collect();
        let mut maybe = Bitmap::new();
        assert_eq!(matrix.contains_hash(hash, &mut maybe), expected.len());
        assert_eq!(numbers(maybe.as_words(), columns), expected, "{backend:?} {params:?}");
        all.extend_from_slice(maybe.as_words());
        let mut same = vec![u64::MAX; words];
        assert_eq!(view.contains_hash(hash, &mut same[..]), expected.len());
        assert_eq!(same, maybe.as_words());
        assert_eq!(matrix.count_hash(hash), expected.len());
        assert_eq!(matrix.any_hash(hash), !expected.is_empty());
        // Of some columns only.
        let is_live = |column: &&usize| among[*column / 64] >> (*column % 64) & 1 == 1;
        let live: Vec<usize> = expected.iter().filter(is_live).copied().collect();
        let some = matrix.among(&among);
        assert_eq!(some.contains_hash(hash, &mut maybe), live.len());
        assert_eq!(numbers(maybe.as_words(), columns), live);
        assert_eq!(some.count_hash(hash), live.len());
        assert_eq!(some.any_hash(hash), !live.is_empty());
        // From a single range.
        let shape = matrix.shape();
        let read = |range: Range<u64>| &encoded[range.start as usize..range.end as usize];
        let mut there = Bitmap::new();
        let group = read(shape.range(hash));
        assert_eq!(
            shape.contains_in(group, hash, &mut there),
            Ok(expected.len()),
            "{backend:?} {params:?} {columns}"
        );
        assert_eq!(there.as_words(), same);
        let rows: Vec<u8> = shape.row_ranges(hash).flat_map(|range| read(range).to_vec()).collect();
        assert_eq!(shape.contains_in_rows(&rows, hash, &mut there), Ok(expected.len()));
        assert_eq!(there.as_words(), same);
        for column in [i % columns, columns - 1, columns] {
            pairs.push(column as u32);
            pair_hashes.push(hash);
            pair_answers.push(column == columns || contains(&column));
        }
    }
    let mut rows = vec![u64::MAX; all.len()];
    assert_eq!(matrix.contains_hashes(&hashes, &mut rows[..]), ones(&all));
    assert_eq!(rows, all);
    // Fewer keys than are looked up ahead, as many, and more.
    for count in 0..=hashes.len().min(20) {
        let what = format!("{backend:?} {params:?} {columns} {count}");
        let (expected, some) = (&all[all.len() - words * count..], &mut rows[..words * count]);
        let last = &hashes[hashes.len() - count..];
        some.fill(u64::MAX);
        assert_eq!(matrix.contains_hashes(last, &mut *some), ones(expected));
        assert_eq!(some, expected, "{what}");
        let live = masked(expected, &among);
        some.fill(u64::MAX);
        assert_eq!(matrix.among(&among).contains_hashes(last, &mut *some), ones(&live), "{what}");
        assert_eq!(some, live, "{what}");
    }
    let mut found = vec![(7, 7)];
    assert_eq!(matrix.select_hashes(&hashes, &mut found), ones(&all));
    assert!(found == pairs_of(&all, columns), "{backend:?} {params:?} {columns}");
    assert_eq!(view.among(&among).select_hashes(&hashes, &mut found), found.len());
    assert!(found == pairs_of(&masked(&all, &among), columns), "{backend:?} {params:?} {columns}");
    let mut maybe = Bitmap::new();
    let count = pair_answers.iter().filter(|&&answer| answer).count();
    assert_eq!(matrix.contains_pairs(&pairs, &pair_hashes, &mut maybe), count);
    assert!(maybe.iter().eq(pair_answers));
}

/// Of keys whose runs of lanes begin anywhere, in a matrix where a row too many shows.
#[test]
fn no_backend_denies_a_key_at_any_k() {
    for backend in Backend::available() {
        for (k, columns) in (1..=16).flat_map(|k| [1, 65, 300, 600].map(|columns| (k, columns))) {
            let mut matrix = Matrix::with_backend(params(2, k), columns, backend).unwrap();
            let hashes = keys_of(5, 20);
            matrix.insert_hashes(columns - 1, &hashes).unwrap();
            for &hash in &hashes {
                let found = [matrix.count_hash(hash), usize::from(matrix.any_hash(hash))];
                assert_eq!(found, [1, 1], "{backend:?}, k = {k}, {columns} columns");
                assert_eq!(matrix.contains_hash(hash, &mut Bitmap::new()), 1);
            }
        }
    }
}

/// Rows that are prefetched for one key, and of which batches prefetch a part.
#[test]
fn wide_rows_in_memory_are_asked_as_the_definition() {
    let (columns, lines) = (4_700, if fewer() { 60 } else { 250 });
    let inside: Vec<usize> = (0..columns).step_by(89).chain([columns - 1]).collect();
    for backend in Backend::available() {
        for k in [6, 11] {
            let mut matrix = Matrix::with_backend(params(lines, k), columns, backend).unwrap();
            for &column in &inside {
                matrix.insert_hashes(column, &keys_of(column, 40)).unwrap();
            }
            let keys = inside.iter().map(|&column| keys_of(column, 1)[0]);
            let hashes: Vec<u64> = keys.chain((0..20).map(|key| hash::hash_u64(key, 1))).collect();
            let words = matrix.words();
            let among: Vec<u64> = (0..words as u64).map(|word| hash::hash_u64(word, 5)).collect();
            let mut rows = vec![u64::MAX; words * hashes.len()];
            matrix.contains_hashes(&hashes, &mut rows[..]);
            for (&hash, row) in hashes.iter().zip(rows.chunks(words)) {
                let expected: Vec<usize> = (0..columns)
                    .filter(|&column| {
                        let (columns, column) = (columns as u32, column as u32);
                        definition::contains(matrix.groups(), columns, k, column, hash)
                    })
                    .collect();
                let mut maybe = Bitmap::new();
                assert_eq!(matrix.contains_hash(hash, &mut maybe), expected.len());
                assert_eq!(numbers(maybe.as_words(), columns), expected, "{backend:?}, k = {k}");
                assert_eq!(maybe.as_words(), row);
                assert_eq!(matrix.count_hash(hash), expected.len());
                let live = |column: &&usize| among[*column / 64] >> (*column % 64) & 1 == 1;
                let live = expected.iter().filter(live).count();
                assert_eq!(matrix.among(&among).contains_hash(hash, &mut maybe), live);
            }
            let live = masked(&rows, &among);
            let mut some = vec![u64::MAX; rows.len()];
            assert_eq!(matrix.among(&among).contains_hashes(&hashes, &mut some[..]), ones(&live));
            assert!(some == live, "{backend:?}, k = {k}");
            let mut pairs = Vec::new();
            matrix.select_hashes(&hashes, &mut pairs);
            assert!(pairs == pairs_of(&rows, columns), "{backend:?}, k = {k}");
            assert!(matrix.contains_hash(hashes[0], &mut Bitmap::new()) > 0);
        }
    }
}

#[test]
fn sizes_and_numbers_out_of_range_are_errors() {
    let shape = params(2, 6);
    assert_eq!(Matrix::new(shape, 0).unwrap_err(), Error::Columns(0));
    #[cfg(target_pointer_width = "64")]
    {
        assert_eq!(Matrix::new(shape, 1 << 32).unwrap_err(), Error::Columns(1 << 32));
        let large = params(1 << 50, 6);
        assert_eq!(Matrix::new(large, 1 << 20).unwrap_err(), Error::LineCount(1 << 50));
        let too_much = Matrix::new(params(1 << 40, 6), 1 << 10).unwrap_err();
        assert_eq!(too_much, Error::OutOfMemory);
    }
    #[cfg(target_pointer_width = "32")]
    assert_eq!(Matrix::new(params(1, 6), 1 << 26).unwrap_err(), Error::LineCount(1));
    let classic = Params::classic(2, 6, 0).unwrap();
    assert_eq!(Matrix::new(classic, 5).unwrap_err(), Error::Classic);
    for columns in [1, 63, 64, 65, 65_536] {
        let mut matrix = Matrix::new(shape, columns).unwrap();
        let filter = filter_of(shape, 0, 5);
        let absent = Error::Column(columns as u64);
        assert_eq!(matrix.set_column(columns, &filter.view()), Err(absent.clone()));
        assert_eq!(matrix.clear_column(columns), Err(absent.clone()));
        assert_eq!(matrix.column(columns), Err(absent.clone()));
        assert_eq!(matrix.insert_hash(columns, 5), Err(absent.clone()));
        assert_eq!(matrix.insert_hashes(columns, &[5]), Err(absent.clone()));
        assert_eq!(matrix.set_columns(columns - 1, [filter.view(); 2], 1), Err(absent));
        #[cfg(target_pointer_width = "64")]
        {
            let end = Err(Error::Column(u64::MAX));
            assert_eq!(matrix.set_columns(usize::MAX, [filter.view(); 2], 1), end);
        }
        assert!(matrix.groups().iter().all(|&byte| byte == 0));
        matrix.set_column(columns - 1, &filter.view()).unwrap();
        let mut maybe = Bitmap::new();
        assert_eq!(matrix.contains_hash(keys_of(0, 1)[0], &mut maybe), 1);
        assert!(maybe[columns - 1] && maybe.len() == columns);
    }
}

//! The matrix against its definition, by every backend, and against the filters that are its columns.

use crate::directory::Directory;
use crate::mapped;
use bloomline::definition::{line, matrix as definition};
use bloomline::{
    Backend, Bitmap, CountingFilter, CuckooFilter, CuckooParams, Error, Filter, Kind, Matrix,
    MatrixShape, MatrixView, Params, View, hash,
};
use std::cell::Cell;
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

#[test]
fn every_backend_answers_as_the_definition() {
    let mut ran = Vec::new();
    for backend in Backend::available() {
        ran.push(backend.name());
        for columns in [1, 2, 63, 64, 65, 128, 130, 511, 512, 513, 1000, 2051] {
            for (lines, k, keys) in
                [(1, 6, 20), (3, 1, 40), (2, 8, 60), (5, 9, 30), (1, 13, 10), (1, 16, 10)]
            {
                if columns > 600 && lines > 2 {
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
        assert_eq!(matrix.contains_hash_among(hash, &among, &mut maybe), live.len());
        assert_eq!(numbers(maybe.as_words(), columns), live);
        assert_eq!(matrix.any_hash_among(hash, &among), !live.is_empty());
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
    let ones: u32 = all.iter().map(|word| word.count_ones()).sum();
    assert_eq!(matrix.contains_hashes(&hashes, &mut rows[..]), ones as usize);
    assert_eq!(rows, all);
    let mut maybe = Bitmap::new();
    let count = pair_answers.iter().filter(|&&answer| answer).count();
    assert_eq!(matrix.contains_pairs(&pairs, &pair_hashes, &mut maybe), count);
    assert!(maybe.iter().eq(pair_answers));
}

#[test]
fn a_column_taken_out_is_the_filter() {
    let (shape, columns) = (params(7, 6), 130);
    let mut matrix = Matrix::new(shape, columns).unwrap();
    for column in [0, 1, 63, 64, 100, 129] {
        let filter = filter_of(shape, column, 100);
        matrix.set_column(column, &filter.view()).unwrap();
        assert!(matrix.column(column).unwrap().lines() == filter.lines());
        let defined = definition::column(matrix.groups(), columns as u32, column as u32);
        assert!(defined == filter.lines());
        // Again, by other keys: nothing stays.
        let filter = filter_of(shape, column + 1000, 50);
        matrix.set_column(column, &filter.view()).unwrap();
        assert!(matrix.column(column).unwrap().lines() == filter.lines());
    }
    for column in [2, 62, 65, 128] {
        assert!(matrix.column(column).unwrap().lines().iter().all(|&byte| byte == 0));
    }
    matrix.clear_column(64).unwrap();
    assert!(matrix.column(64).unwrap().lines().iter().all(|&byte| byte == 0));
    assert!(matrix.column(63).unwrap().lines() == filter_of(shape, 1063, 50).lines());
    matrix.clear();
    assert!(matrix.groups().iter().all(|&byte| byte == 0));
}

#[test]
fn columns_are_set_in_runs_on_threads_as_one_by_one() {
    let (shape, columns) = (params(300, 7), 200);
    let filters: Vec<Filter> = (0..columns).map(|column| filter_of(shape, column, 500)).collect();
    let mut single = Matrix::new(shape, columns).unwrap();
    for (column, filter) in filters.iter().enumerate() {
        single.set_column(column, &filter.view()).unwrap();
    }
    for (first, end) in [(0, 200), (0, 64), (3, 70), (64, 128), (100, 101), (130, 200), (5, 5)] {
        for threads in [1, 2, 0] {
            let mut matrix = Matrix::new(shape, columns).unwrap();
            matrix.set_columns(0, filters.iter().rev().map(Filter::view), 1).unwrap();
            let old = matrix.clone();
            let views = filters[first..end].iter().map(Filter::view);
            matrix.set_columns(first, views, threads).unwrap();
            for column in 0..columns {
                let from = if (first..end).contains(&column) { &single } else { &old };
                assert!(matrix.column(column).unwrap() == from.column(column).unwrap());
            }
        }
    }
}

#[test]
fn keys_inserted_one_by_one_are_those_of_a_filter() {
    let (shape, columns) = (params(4, 9), 70);
    let mut matrix = Matrix::new(shape, columns).unwrap();
    let mut bytes = vec![0; matrix.groups().len()];
    for column in [0, 33, 64, 69] {
        let mut filter = Filter::new(shape).unwrap();
        for hash in keys_of(column, 100) {
            assert_eq!(matrix.insert_hash(column, hash).unwrap(), filter.insert_hash(hash));
            definition::insert(&mut bytes, columns as u32, 9, column as u32, hash);
        }
        assert!(matrix.column(column).unwrap().lines() == filter.lines());
    }
    assert!(matrix.groups() == bytes);
    let mut same = Matrix::new(shape, columns).unwrap();
    for column in [0, 33, 64, 69] {
        same.insert_hashes(column, &keys_of(column, 100)).unwrap();
    }
    assert!(matrix == same);
    assert!(same.insert(3, "apple").unwrap() && !same.insert(3, "apple").unwrap());
    same.insert_keys(4, &["pear", "plum"]).unwrap();
    let mut maybe = Bitmap::new();
    same.contains("apple", &mut maybe);
    assert!(maybe[3]);
    same.contains_keys(&["pear", "plum"], &mut maybe);
    assert!(maybe[4] && maybe[128 + 4]);
}

#[test]
fn larger_filters_are_folded_and_others_refused() {
    let shape = params(3, 6);
    let mut matrix = Matrix::new(shape, 5).unwrap();
    for (column, times) in [(0, 1), (1, 2), (2, 8), (3, 64)] {
        let larger = params(3 * times, 6);
        let mut filter = filter_of(larger, column, 200);
        matrix.set_column(column, &filter.view()).unwrap();
        while filter.params().line_count() > 3 {
            filter.fold().unwrap();
        }
        assert!(matrix.column(column).unwrap().lines() == filter.lines());
    }
    let before = matrix.clone();
    let misfit = Err(Error::ColumnShape { line_count: 3, k: 6 });
    let refused = [
        params(9, 6),
        params(1, 6),
        params(4, 6),
        params(3, 7),
        params(3, 6).with_seed(1),
        Params::classic(3, 6, SEED).unwrap(),
    ];
    for params in refused {
        let filter = filter_of(params, 9, 10);
        assert_eq!(matrix.set_column(4, &filter.view()), misfit, "{params:?}");
        // None of a run, if one does not fit.
        let views = [filter_of(shape, 9, 10), filter].map(|filter| filter.to_bytes().unwrap());
        let views = views.iter().map(|bytes| View::open(bytes).unwrap());
        assert_eq!(matrix.set_columns(0, views, 1), misfit);
        let fits = filter_of(params.foldable_to(shape).unwrap(), 9, 10);
        assert_eq!(matrix.clone().set_column(4, &fits.view()), Ok(()));
    }
    let cuckoo = CuckooFilter::new(CuckooParams::new(3, 12, SEED).unwrap()).unwrap();
    assert_eq!(matrix.set_column(4, &cuckoo.view()), misfit);
    assert!(matrix == before);
    // Views of other kinds with the same lines.
    let mut counting = CountingFilter::new(shape).unwrap();
    counting.insert_hashes(&keys_of(7, 50));
    matrix.set_column(4, &counting.view()).unwrap();
    assert!(matrix.column(4).unwrap().lines() == filter_of(shape, 7, 50).lines());
    // At any address.
    let mut apart = vec![0; 1];
    apart.extend(filter_of(shape, 9, 50).to_bytes().unwrap());
    matrix.set_column(4, &View::open(&apart[1..]).unwrap()).unwrap();
    assert!(matrix.column(4).unwrap().lines() == filter_of(shape, 9, 50).lines());
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
    assert_eq!(Matrix::new(classic, 5).unwrap_err(), Error::Layout(6));
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

#[test]
fn a_matrix_gets_more_columns_and_fewer() {
    let (shape, columns) = (params(3, 6), 100);
    let mut matrix = Matrix::new(shape, columns).unwrap();
    let filters: Vec<Filter> = (0..columns).map(|column| filter_of(shape, column, 60)).collect();
    matrix.set_columns(0, filters.iter().map(Filter::view), 1).unwrap();
    let names: Vec<u64> = (0..100).map(|name| name * name).collect();
    matrix.set_names(&names).unwrap();
    matrix.set_checksums(true);
    for count in [1, 63, 64, 65, 100, 101, 128, 129, 1000] {
        let other = matrix.with_columns(count).unwrap();
        assert_eq!((other.columns(), other.params()), (count, shape));
        for column in 0..count {
            let lines = other.column(column).unwrap();
            match filters.get(column) {
                Some(filter) => assert!(lines.lines() == filter.lines()),
                None => assert!(lines.lines().iter().all(|&byte| byte == 0)),
            }
        }
        let same: Vec<u64> = (0..count as u64).map(|c| if c < 100 { c * c } else { 0 }).collect();
        assert_eq!(other.names(), same);
        assert!(Matrix::decode(&other.to_bytes().unwrap()).unwrap() == other);
    }
    assert_eq!(matrix.with_columns(0).unwrap_err(), Error::Columns(0));
    assert_eq!(matrix.set_names(&[1]), Err(Error::Columns(1)));
    assert_eq!(matrix.names(), names);
    matrix.set_names(&[]).unwrap();
    assert_eq!(matrix.names(), []);
}

/// One of each form: with names, with checksums, with both.
fn encoded_forms() -> Vec<(Matrix, Vec<u8>)> {
    let mut forms = Vec::new();
    for (columns, lines) in [(1, 1), (70, 3), (128, 2)] {
        for (named, summed) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut matrix = Matrix::new(params(lines, 6), columns).unwrap();
            for column in 0..columns {
                matrix.insert_hashes(column, &keys_of(column, 10)).unwrap();
            }
            if named {
                matrix.set_names(&(0..columns as u64).map(|c| !c).collect::<Vec<_>>()).unwrap();
            }
            matrix.set_checksums(summed);
            let bytes = matrix.to_bytes().unwrap();
            forms.push((matrix, bytes));
        }
    }
    forms
}

#[test]
fn bytes_files_and_views_have_all_of_it() {
    let directory = Directory::new("matrix");
    for (matrix, bytes) in encoded_forms() {
        assert_eq!(bytes.len() as u64, matrix.shape().encoded_len());
        assert_eq!(bytes.len(), matrix.encoded_len());
        assert_eq!(Kind::of(&bytes), Ok(Kind::Matrix));
        assert!(bytes.starts_with(matrix.groups()));
        let decoded = Matrix::decode(&bytes).unwrap();
        assert!(decoded == matrix && decoded.names() == matrix.names());
        assert_eq!(decoded.shape(), matrix.shape());
        let path = directory.file("matrix.bloomline");
        matrix.save(&path).unwrap();
        assert!(Matrix::load(&path).unwrap() == matrix);
        let map = mapped::open_matrix(&path).unwrap();
        let other = mapped::open_matrix_unverified(&path).unwrap();
        let owned = MatrixView::open(bytes.clone()).unwrap();
        for column in 0..matrix.columns() {
            assert_eq!(owned.name(column), matrix.names().get(column).copied());
            assert_eq!(map.view().name(column), owned.name(column));
        }
        assert_eq!(owned.name(matrix.columns()), None);
        for hash in probes(matrix.columns(), 3) {
            let mut answers =
                [const { Vec::<u64>::new() }; 4].map(|_| vec![u64::MAX; matrix.words()]);
            matrix.contains_hash(hash, &mut answers[0]);
            map.view().contains_hash(hash, &mut answers[1]);
            other.view().contains_hash(hash, &mut answers[2]);
            owned.contains_hash(hash, &mut answers[3]);
            assert!(answers.iter().all(|answer| *answer == answers[0]));
        }
        // Ranges of the bytes, wherever they begin.
        for range in [0..10, 5..bytes.len(), bytes.len() - 70..bytes.len() - 3] {
            let mut part = Vec::new();
            matrix.write_range_to(range.clone(), &mut part).unwrap();
            assert!(part == bytes[range]);
        }
        let body = matrix.groups().len();
        for at in body..bytes.len() - 64 {
            let mut part = Vec::new();
            matrix.write_range_to(at..at + 9, &mut part).unwrap();
            assert!(part == bytes[at..at + 9]);
        }
    }
}

#[test]
fn damage_is_found_and_leads_to_no_false_negative_in_a_footer() {
    for (matrix, bytes) in encoded_forms() {
        for at in (0..bytes.len()).step_by(if bytes.len() > 10_000 { 97 } else { 3 }) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(Matrix::decode(&damaged).is_err(), "byte {at}");
            assert!(MatrixView::open(&damaged[..]).is_err(), "byte {at}");
            if at < bytes.len() - 64 {
                // No probe leaves the bytes, and no bit behind the last column is told.
                let view = MatrixView::open_unverified(&damaged[..]).unwrap();
                for hash in probes(matrix.columns(), 3) {
                    let mut maybe = Bitmap::new();
                    let count = view.contains_hash(hash, &mut maybe);
                    assert_eq!(numbers(maybe.as_words(), matrix.columns()).len(), count);
                    assert_eq!(view.count_hash(hash), count);
                    assert_eq!(view.any_hash(hash), count > 0);
                }
            } else {
                assert!(MatrixView::open_unverified(&damaged[..]).is_err(), "byte {at}");
            }
        }
        for len in (0..bytes.len()).step_by(if bytes.len() > 10_000 { 61 } else { 1 }) {
            assert!(Matrix::decode(&bytes[..len]).is_err());
        }
    }
}

/// Bytes that are replaced under a view.
struct Changing<'a>(&'a Cell<&'a [u8]>);

impl AsRef<[u8]> for Changing<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.get()
    }
}

#[test]
fn bits_behind_the_last_column_are_refused_or_ignored() {
    // Of rows of each way to be cut into tiles.
    for columns in [1, 6, 63, 65, 70, 100, 130, 250, 449, 511, 600, 1_000, 1_100] {
        let matrix = Matrix::new(params(1, 3), columns).unwrap();
        let words = columns.div_ceil(64);
        let inside: Vec<u64> =
            (0..words).map(|at| u64::MAX >> (64 * (at + 1)).saturating_sub(columns)).collect();
        let full = vec![0xFF; matrix.groups().len()];
        let row: Vec<u8> = inside.iter().flat_map(|word| (!word).to_le_bytes()).collect();
        let empty = row.repeat(full.len() / row.len());
        for (groups, count) in [(full, columns), (empty, 0)] {
            let bytes = sealed(&matrix.shape(), &groups);
            assert_eq!(Matrix::decode(&bytes).unwrap_err(), Error::Checksum);
            assert_eq!(MatrixView::open(&bytes[..]).unwrap_err(), Error::Checksum);
            let whole = matrix.to_bytes().unwrap();
            for backend in Backend::available() {
                let damage = Cell::new(&whole[..]);
                let view = MatrixView::open_with_backend(Changing(&damage), backend).unwrap();
                damage.set(&bytes);
                let mut maybe = Bitmap::new();
                assert_eq!(view.contains_hash(5, &mut maybe), count, "{columns}, {backend:?}");
                let expected = if count > 0 { inside.clone() } else { vec![0; words] };
                assert_eq!(maybe.as_words(), expected);
                assert_eq!(view.count_hash(5), count, "{columns}, {backend:?}");
                assert_eq!(view.any_hash(5), count > 0, "{columns}, {backend:?}");
                // Those behind alone, and the first column with them.
                let behind: Vec<u64> = inside.iter().map(|word| !word).collect();
                assert!(!view.any_hash_among(5, &behind), "{columns}, {backend:?}");
                let mut first = behind.clone();
                first[0] |= 1;
                let one = count.min(1);
                assert_eq!(view.any_hash_among(5, &first), one > 0, "{columns}, {backend:?}");
                assert_eq!(view.contains_hash_among(5, &first, &mut maybe), one);
            }
        }
    }
}

/// These groups, with a footer whose checksums are right, as `docs/FORMAT.md` has it.
fn sealed(shape: &MatrixShape, groups: &[u8]) -> Vec<u8> {
    let params = shape.params();
    let mut bytes = groups.to_vec();
    let body_checksum = hash::hash(&bytes, 0);
    let mut footer = Vec::new();
    footer.extend(0_u64.to_le_bytes());
    footer.extend(params.line_count().to_le_bytes());
    footer.extend(params.seed().to_le_bytes());
    footer.extend(params.k().to_le_bytes());
    footer.extend(10_u16.to_le_bytes());
    footer.extend(1_u16.to_le_bytes());
    footer.extend((shape.columns() as u64).to_le_bytes());
    footer.extend(body_checksum.to_le_bytes());
    let sum = hash::hash(&footer, 0);
    footer.extend(sum.to_le_bytes());
    footer.extend(b"BLMLINE\n");
    bytes.extend(footer);
    bytes
}

#[test]
fn a_footer_of_the_format_is_that_of_the_library() {
    let matrix = Matrix::new(params(2, 5), 65).unwrap();
    assert!(matrix.to_bytes().unwrap() == sealed(&matrix.shape(), matrix.groups()));
}

#[test]
fn ranges_hold_the_answers_and_are_verified() {
    let (mut matrix, lines) = (Matrix::new(params(50, 6), 65).unwrap(), 50);
    for column in 0..65 {
        matrix.insert_hashes(column, &keys_of(column, 300)).unwrap();
    }
    matrix.set_checksums(true);
    matrix.set_names(&vec![7; 65]).unwrap();
    let bytes = matrix.to_bytes().unwrap();
    let read = |range: &Range<u64>| &bytes[range.start as usize..range.end as usize];
    let len = bytes.len() as u64;
    let footer: &[u8; 64] = read(&(len - 64..len)).try_into().unwrap();
    let shape = MatrixShape::read(footer, len).unwrap();
    assert_eq!(shape, matrix.shape());
    assert_eq!(
        MatrixShape::read(footer, len - 1).unwrap_err(),
        Error::Truncated { needed: len, given: len - 1 }
    );
    assert!(MatrixShape::read(footer, 63).is_err());
    let names = shape.name_bytes();
    assert_eq!(names.end - names.start, 65 * 8);
    let hashes = probes(65, 300);
    for &hash in &hashes {
        let range = shape.range(hash);
        assert_eq!(range.end - range.start, 2 * 64 * 64);
        assert_eq!(range.start, line::line_index(hash, lines) * 2 * 64 * 64);
        let group = read(&range);
        let sum = read(&shape.checksum_of(&range));
        assert_eq!(shape.verify_range(&range, group, sum), Ok(()));
        assert!(shape.verify_range(&range, &group[1..], sum).is_err());
        assert!(shape.verify_range(&range, group, &sum[1..]).is_err());
        // A group in the place of another.
        let other = (range.start + 2 * 64 * 64) % (lines * 2 * 64 * 64);
        let other = other..other + 2 * 64 * 64;
        assert_eq!(
            shape.verify_range(&range, read(&other), read(&shape.checksum_of(&other))),
            Err(Error::Checksum)
        );
        let mut maybe = vec![u64::MAX; 2];
        let cut = Error::Truncated { needed: 2 * 64 * 64, given: 100 };
        assert_eq!(shape.contains_in(&group[..100], hash, &mut maybe), Err(cut));
        assert!(shape.contains_in_rows(&group[..16], hash, &mut maybe).is_err());
        assert_eq!(maybe, [u64::MAX; 2], "the answer stays maybe");
    }
    for gap in [0, 1, 2 * 64 * 64, 20_000, len] {
        let ranges = shape.ranges(&hashes, gap);
        assert!(ranges.windows(2).all(|two| two[1].start > two[0].end + gap));
        for &hash in &hashes {
            let range = shape.range(hash);
            assert!(ranges.iter().any(|r| r.start <= range.start && range.end <= r.end));
        }
    }
    assert!(shape.ranges(&[], 0).is_empty());
    assert!(shape.checksum_of(&(0..1)).end > 0);
    matrix.set_checksums(false);
    assert!(matrix.shape().checksum_of(&(0..1)).is_empty());
}

#[test]
fn if_the_bytes_are_gone_every_column_may_have_the_key() {
    #[derive(Clone)]
    struct Fewer(Vec<u8>, std::rc::Rc<std::cell::Cell<bool>>);
    impl AsRef<[u8]> for Fewer {
        fn as_ref(&self) -> &[u8] {
            if self.1.get() { &[] } else { &self.0 }
        }
    }
    let mut matrix = Matrix::new(params(2, 6), 70).unwrap();
    matrix.set_names(&[3; 70]).unwrap();
    let gone = std::rc::Rc::new(std::cell::Cell::new(false));
    let view = MatrixView::open(Fewer(matrix.to_bytes().unwrap(), gone.clone())).unwrap();
    let mut maybe = Bitmap::new();
    assert_eq!(view.contains_hash(5, &mut maybe), 0);
    assert_eq!(view.name(69), Some(3));
    gone.set(true);
    assert_eq!(view.contains_hash(5, &mut maybe), 70);
    assert_eq!(maybe.as_words(), [u64::MAX, 0x3F]);
    assert_eq!(view.contains_hashes(&[5, 6], &mut maybe), 140);
    assert_eq!(view.contains_pairs(&[1, 2], &[5, 6], &mut maybe), 2);
    assert_eq!(view.contains_hash_among(5, &[3, 0], &mut maybe), 2);
    assert!(view.any_hash(5) && view.count_hash(5) == 70 && view.name(0).is_none());
}

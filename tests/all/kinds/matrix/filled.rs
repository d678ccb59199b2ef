//! Columns put into a matrix, changed and taken out, against the definition and the filters that they are.

use super::*;
use bloomline::{CountingFilter, CuckooFilter, CuckooParams, View};

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
    let (shape, columns) = (params(if fewer() { 30 } else { 300 }, 7), 200);
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
    let misfit = |seed_differs| Err(Error::ColumnShape { line_count: 3, k: 6, seed_differs });
    let refused = [
        params(9, 6),
        params(1, 6),
        params(4, 6),
        params(3, 7),
        params(3, 6).with_seed(1),
        params(4, 6).with_seed(1),
        Params::classic(3, 6, SEED).unwrap(),
    ];
    for params in refused {
        let (filter, misfit) = (filter_of(params, 9, 10), misfit(params.seed() != SEED));
        assert_eq!(matrix.set_column(4, &filter.view()), misfit, "{params:?}");
        // None of a run, if one does not fit.
        let views = [filter_of(shape, 9, 10), filter].map(|filter| filter.to_bytes().unwrap());
        let views = views.iter().map(|bytes| View::open(bytes).unwrap());
        assert_eq!(matrix.set_columns(0, views, 1), misfit);
        let fits = filter_of(params.foldable_to(shape).unwrap(), 9, 10);
        assert_eq!(matrix.clone().set_column(4, &fits.view()), Ok(()));
    }
    let cuckoo = CuckooFilter::new(CuckooParams::new(3, 12, SEED + 1).unwrap()).unwrap();
    assert_eq!(matrix.set_column(4, &cuckoo.view()), misfit(false));
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

/// An error tells that the seeds differ, and not which they are: they may be secrets.
#[test]
fn a_filter_of_another_seed_is_told_of() {
    let (own, other) = (params(3, 6).with_seed(111_222_333), 444_555_666);
    let mut matrix = Matrix::new(own, 2).unwrap();
    for (refused, said) in [
        (own.with_seed(other), ": 3 lines, k = 6, and the seeds differ"),
        (params(4, 6).with_seed(other), ": 3 lines, k = 6, and the seeds differ"),
        (params(4, 6).with_seed(own.seed()), ": 3 lines, k = 6"),
        (params(3, 7).with_seed(own.seed()), ": 3 lines, k = 6"),
    ] {
        let filter = Filter::new(refused).unwrap();
        let error = matrix.set_column(0, &filter.view()).unwrap_err();
        assert!(error.to_string().ends_with(&format!("and so on{said}")), "{error}");
        let all = format!("{error} {error:?}");
        assert!(!all.contains("111222333") && !all.contains("444555666"), "{all}");
    }
}

/// Batches of every length at the seams of their loops, in which keys are new once.
#[test]
fn batches_tell_which_keys_are_new_in_a_column() {
    let (shape, keys) = (params(4, 9), (0..900_u64).map(|i| i / 2 % 300).collect::<Vec<_>>());
    for columns in [1, 63, 64, 65, 513] {
        let column = columns / 2;
        for count in [0, 1, 2, 15, 16, 17, 63, 64, 65, 511, 512, 513, 900] {
            let keys = &keys[keys.len() - count..];
            let hashes: Vec<u64> = keys.iter().map(|&key| hash::hash_u64(key, SEED)).collect();
            let mut bytes = vec![0; 4 * definition::group_bytes(columns as u32)];
            let (mut expected, number) = (vec![0; count.div_ceil(64)], column as u32);
            for (i, &hash) in hashes.iter().enumerate() {
                let new = !definition::contains(&bytes, columns as u32, 9, number, hash);
                expected[i / 64] |= u64::from(new) << (i % 64);
                definition::insert(&mut bytes, columns as u32, 9, number, hash);
            }
            let new: u32 = expected.iter().map(|word| word.count_ones()).sum();
            for by_keys in [false, true] {
                let mut matrix = Matrix::new(shape, columns).unwrap();
                let mut told = vec![u64::MAX; count.div_ceil(64) + 1];
                let counted = if by_keys {
                    matrix.insert_new_keys(column, keys, &mut told)
                } else {
                    matrix.insert_new_hashes(column, &hashes, &mut told)
                };
                assert_eq!(counted, Ok(new as usize), "{count} in {columns} columns");
                assert_eq!(told.pop(), Some(u64::MAX), "a word behind the answers");
                assert_eq!(told, expected, "{count} in {columns} columns");
                assert!(matrix.groups() == bytes);
                let mut untold = vec![7; count.div_ceil(64)];
                let none = Err(Error::Column(columns as u64));
                assert_eq!(matrix.insert_new_hashes(columns, &hashes, &mut untold), none);
                assert_eq!(matrix.insert_new_keys(columns, keys, &mut untold), none);
                assert!(matrix.groups() == bytes && untold.iter().all(|&word| word == 7));
            }
        }
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

/// In each way that words are written: one of each row, whole cache lines, parts of them; bits beside them stay.
/// The first matrix is more than the caches hold.
#[test]
fn every_backend_sets_columns_as_the_definition() {
    let large = if fewer() { 20 } else { 600 };
    let sizes = [
        (512, large, 0..512),
        (64, 70, 0..64),
        (63, 40, 0..63),
        (448, 11, 0..448),
        (1088, 9, 0..1088),
        (1100, 7, 64..1100),
        (1100, 9, 500..1030),
        (1536, 17, 512..1536),
        (700, 9, 63..65),
        (700, 9, 513..514),
    ];
    for (columns, lines, set) in sizes {
        let shape = params(lines, 6);
        let filters: Vec<Filter> =
            (0..columns).map(|column| filter_of(shape, column, 4 * lines)).collect();
        let mut bytes = defined(shape, columns, 0);
        // The others have other keys.
        for column in 0..columns {
            let keys = if set.contains(&column) { column } else { column + 10_000 };
            for hash in keys_of(keys, 4 * lines) {
                definition::insert(&mut bytes, columns as u32, 6, column as u32, hash);
            }
        }
        for backend in Backend::available() {
            for threads in [1, 2] {
                let mut matrix = Matrix::with_backend(shape, columns, backend).unwrap();
                for column in 0..columns {
                    matrix.insert_hashes(column, &keys_of(column + 10_000, 4 * lines)).unwrap();
                }
                let views = filters[set.clone()].iter().map(Filter::view);
                matrix.set_columns(set.start, views, threads).unwrap();
                assert!(matrix.groups() == bytes, "{backend:?}, {set:?} of {columns}");
            }
        }
    }
}

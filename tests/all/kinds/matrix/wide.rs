//! 65,536 columns: rows of 8 KiB, and numbers of columns that take 16 bits.

use super::*;

const COLUMNS: usize = 1 << 16;

/// Those that have keys: at both ends, in the middle, and at the seams of words, of parts of a row and of halves.
const INSIDE: [usize; 12] =
    [0, 1, 63, 64, 4_095, 32_766, 32_767, 32_768, 40_000, 65_472, 65_534, 65_535];

fn without(pairs: &[(u32, u32)], column: usize) -> impl Iterator<Item = &(u32, u32)> {
    pairs.iter().filter(move |pair| pair.1 as usize != column)
}

#[test]
fn as_many_columns_as_16_bits_number_are_their_definition() {
    let (shape, columns) = (params(2, 6), COLUMNS as u32);
    let mut bytes = vec![0; 2 * definition::group_bytes(columns)];
    for column in INSIDE {
        for hash in keys_of(column, 20) {
            definition::insert(&mut bytes, columns, 6, column as u32, hash);
        }
    }
    let keys = INSIDE.iter().map(|&column| keys_of(column, 1)[0]);
    let hashes: Vec<u64> = keys.chain((0..4).map(|key| hash::hash_u64(key, 1))).collect();
    let mut expected = Vec::new();
    for (key, &hash) in hashes.iter().enumerate() {
        let has = |column: &u32| definition::contains(&bytes, columns, 6, *column, hash);
        expected.extend((0..columns).filter(has).map(|column| (key as u32, column)));
    }
    let mut live = vec![u64::MAX; COLUMNS / 64];
    for column in [32_767, 65_535] {
        live[column / 64] &= !(1 << (column % 64));
    }
    let some: Vec<_> = without(&expected, 32_767).filter(|pair| pair.1 != 65_535).collect();
    assert!(expected.len() >= INSIDE.len() && some.len() + 2 <= expected.len());
    for backend in Backend::available() {
        let mut matrix = Matrix::with_backend(shape, COLUMNS, backend).unwrap();
        // Two by a run of filters across the middle, the others by their keys.
        let filters: Vec<Filter> = (32_767..32_769).map(|c| filter_of(shape, c, 20)).collect();
        matrix.set_columns(32_767, filters.iter().map(Filter::view), 1).unwrap();
        for column in INSIDE.into_iter().filter(|&c| c != 32_767 && c != 32_768) {
            matrix.insert_hashes(column, &keys_of(column, 20)).unwrap();
        }
        assert!(matrix.groups() == bytes, "{backend:?}");
        check(&matrix, &hashes, &expected, &live, &some, backend);
        for column in INSIDE {
            let filter = filter_of(shape, column, 20);
            assert!(matrix.column(column).unwrap().lines() == filter.lines(), "{column}");
        }
        for column in [32_768, 65_535, 0] {
            let others: Vec<_> = without(&expected, column).copied().collect();
            let mut cleared = matrix.clone();
            cleared.clear_column(column).unwrap();
            let mut pairs = Vec::new();
            cleared.select_hashes(&hashes, &mut pairs);
            assert!(pairs == others, "{backend:?}, {column}");
            assert!(cleared.column(column).unwrap().lines().iter().all(|&byte| byte == 0));
            let beside = if column == 65_535 { 65_534 } else { column + 1 };
            assert!(cleared.column(beside).unwrap() == matrix.column(beside).unwrap());
        }
    }
}

/// All ways to ask, of all columns and of some.
fn check(
    matrix: &Matrix,
    hashes: &[u64],
    expected: &[(u32, u32)],
    live: &[u64],
    some: &[&(u32, u32)],
    backend: Backend,
) {
    let (mut rows, mut row, mut pairs) = (Bitmap::new(), Bitmap::new(), Vec::new());
    assert_eq!(matrix.contains_hashes(hashes, &mut rows), expected.len());
    assert!(pairs_of(rows.as_words(), COLUMNS) == expected, "{backend:?}");
    assert_eq!(matrix.select_hashes(hashes, &mut pairs), expected.len());
    assert!(pairs == expected, "{backend:?}");
    let among = matrix.among(live);
    assert_eq!(among.contains_hashes(hashes, &mut rows), some.len());
    assert!(pairs_of(rows.as_words(), COLUMNS).iter().eq(some.iter().copied()), "{backend:?}");
    assert_eq!(among.select_hashes(hashes, &mut pairs), some.len());
    assert!(pairs.iter().eq(some.iter().copied()), "{backend:?}");
    for (key, &hash) in hashes.iter().enumerate() {
        let of_key = expected.iter().filter(|pair| pair.0 as usize == key);
        let numbers: Vec<usize> = of_key.map(|pair| pair.1 as usize).collect();
        assert_eq!(matrix.contains_hash(hash, &mut row), numbers.len());
        assert!(row.ones().eq(numbers.iter().copied()), "{backend:?}, key {key}");
        assert_eq!(matrix.count_hash(hash), numbers.len());
        assert_eq!(matrix.any_hash(hash), !numbers.is_empty());
        let count = some.iter().filter(|pair| pair.0 as usize == key).count();
        assert_eq!(among.contains_hash(hash, &mut row), count);
        assert_eq!((among.count_hash(hash), among.any_hash(hash)), (count, count > 0));
    }
    let columns: Vec<u32> = INSIDE.iter().map(|&column| column as u32).collect();
    assert_eq!(matrix.contains_pairs(&columns, &hashes[..INSIDE.len()], &mut row), INSIDE.len());
}

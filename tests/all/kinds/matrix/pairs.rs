//! Answers of batches as pairs of a key and a column: in batches of any length, of rows of any width.

use super::*;

/// Answers to these keys by the definition, as rows.
fn defined_rows(bytes: &[u8], params: Params, columns: usize, hashes: &[u64]) -> Vec<u64> {
    let mut rows = vec![0; columns.div_ceil(64) * hashes.len()];
    for (&hash, row) in hashes.iter().zip(rows.chunks_exact_mut(columns.div_ceil(64))) {
        for column in 0..columns {
            let has = definition::contains(bytes, columns as u32, params.k(), column as u32, hash);
            row[column / 64] |= u64::from(has) << (column % 64);
        }
    }
    rows
}

/// A part of a batch has a fixed number of words: batches around it, and rows of fewer and of more.
#[test]
fn batches_of_any_length_are_selected_as_the_definition() {
    let sizes = [(1, 2_100), (64, 1_030), (65, 520), (130, 350), (5_000, 30), (70_000, 12)];
    for (columns, most) in sizes {
        let (shape, most) = (params(2, 6), if fewer() { most / 10 + 14 } else { most });
        let mut matrix = Matrix::new(shape, columns).unwrap();
        let mut bytes = vec![0; matrix.groups().len()];
        for column in (0..columns).step_by(columns.div_ceil(40)).chain([columns - 1]) {
            for hash in keys_of(column, 60) {
                definition::insert(&mut bytes, columns as u32, 6, column as u32, hash);
            }
            matrix.insert_hashes(column, &keys_of(column, 60)).unwrap();
        }
        let keys: Vec<String> = (0..most).map(|key| format!("key {key}")).collect();
        // In the middle, and in the last words of a row.
        let last = (0..8).map(|i| columns - 1 - i * 67 % columns);
        for column in last.chain([columns / 2]) {
            matrix.insert_keys(column, &keys[..9]).unwrap();
            for key in &keys[..9] {
                let hash = hash::hash(key.as_bytes(), SEED);
                definition::insert(&mut bytes, columns as u32, 6, column as u32, hash);
            }
        }
        assert!(matrix.groups() == bytes);
        let hashes: Vec<u64> = keys.iter().map(|key| hash::hash(key.as_bytes(), SEED)).collect();
        let rows = defined_rows(&bytes, shape, columns, &hashes);
        let words = matrix.words();
        let among: Vec<u64> = (0..words as u64).map(|word| hash::hash_u64(word, 5)).collect();
        let mut pairs = Vec::new();
        let part = (1024 / words).max(1);
        for count in [0, 1, 2, 63, 64, 65, part - 1, part, part + 1, 511, 512, 513, most] {
            if count > most {
                continue;
            }
            let (what, rows) = (format!("{columns}, {count}"), &rows[..count * words]);
            let expected = pairs_of(rows, columns);
            assert_eq!(matrix.select_hashes(&hashes[..count], &mut pairs), expected.len());
            assert!(pairs == expected, "{what}");
            assert_eq!(matrix.select_keys(&keys[..count], &mut pairs), expected.len());
            assert!(pairs == expected, "{what}");
            let expected = pairs_of(&masked(rows, &among), columns);
            let some = matrix.among(&among);
            assert_eq!(some.select_hashes(&hashes[..count], &mut pairs), expected.len());
            assert!(pairs == expected, "{what}");
            assert_eq!(some.select_keys(&keys[..count], &mut pairs), expected.len());
            assert!(pairs == expected, "{what}");
        }
    }
}

#[test]
#[should_panic(expected = "out of range")]
fn a_mask_has_a_bit_for_each_column() {
    let matrix = Matrix::new(params(1, 6), 65).unwrap();
    let _ = matrix.among(&[u64::MAX]).any_hash(5);
}

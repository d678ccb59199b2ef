//! The bytes of a matrix: encoded, damaged, gone, and read in ranges.

use super::*;
use crate::directory::Directory;
use crate::mapped;
use bloomline::definition::line;
use bloomline::{Kind, MatrixShape};
use std::cell::Cell;

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
        let is_long = bytes.len() > 10_000 || fewer();
        let step = if fewer() { 397 } else { 97 };
        // Of the footer every byte.
        let end = bytes.len() - 64;
        for at in (0..end).step_by(if is_long { step } else { 3 }).chain(end..bytes.len()) {
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
        for len in (0..bytes.len()).step_by(if is_long { step } else { 1 }) {
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
                assert!(!view.among(&behind).any_hash(5), "{columns}, {backend:?}");
                assert_eq!(view.among(&behind).count_hash(5), 0, "{columns}, {backend:?}");
                let mut first = behind.clone();
                first[0] |= 1;
                let one = count.min(1);
                let some = view.among(&first);
                assert_eq!(some.any_hash(5), one > 0, "{columns}, {backend:?}");
                assert_eq!(some.contains_hash(5, &mut maybe), one);
                assert_eq!(some.count_hash(5), one);
                // In batches.
                assert_eq!(view.contains_hashes(&[5; 10], &mut maybe), 10 * count);
                assert_eq!(maybe.as_words(), expected.repeat(10));
                assert_eq!(some.contains_hashes(&[5; 10], &mut maybe), 10 * one);
                let mut pairs = Vec::new();
                assert_eq!(some.select_hashes(&[5; 10], &mut pairs), 10 * one);
                assert_eq!(view.select_hashes(&[5; 10], &mut pairs), 10 * count);
            }
        }
    }
}

/// These groups, with a footer whose checksums are right, as `docs/format/matrix.md` has it.
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
    // Of some, the last one among them, and of a bit that is no column.
    let (live, mut pairs) = ([3, 0x60], Vec::new());
    let some = view.among(&live);
    assert_eq!(some.contains_hash(5, &mut maybe), 3);
    assert_eq!(maybe.as_words(), [3, 0x20]);
    assert_eq!((some.count_hash(5), some.any_hash(5)), (3, true));
    assert_eq!(some.contains_hashes(&[5, 6], &mut maybe), 6);
    assert_eq!(some.select_hashes(&[5, 6], &mut pairs), 6);
    assert_eq!(pairs, [(0, 0), (0, 1), (0, 69), (1, 0), (1, 1), (1, 69)]);
    assert_eq!(view.select_hashes(&[5, 6], &mut pairs), 140);
    assert!(view.any_hash(5) && view.count_hash(5) == 70 && view.name(0).is_none());
}

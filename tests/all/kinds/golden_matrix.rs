//! The golden files of matrices, in `golden/matrix/`: they are what `src/layouts/matrix.rs` and XXH3-64
//! make, and no kernel, byte for byte; every backend reads the accepted ones, whole and by ranges, and
//! the others are rejected with their error. `BLESS=1 cargo test --test all golden_matrix` writes them
//! anew.

use crate::definition::*;
use crate::golden_files::{Golden, Intact, Spoilt, golden_tests, numbers};
use crate::histories::{Keys, Subject};
use crate::kinds::matrix_bytes::*;
use bloomline::definition::{line, matrix};
use bloomline::{Backend, Bitmap, Error, Matrix, MatrixShape, MatrixView};
use std::fmt::Write as _;
use std::ops::Range;

/// The hashes of the keys of a column.
fn keys_of(column: u32, count: usize) -> Vec<u64> {
    random_hashes(count, u64::from(column) << 8 | 3)
}

/// Groups of so many keys in each column.
fn groups_of(lines: usize, columns: u32, k: u32, keys: usize) -> Vec<u8> {
    let mut groups = vec![0; lines * matrix::group_bytes(columns)];
    for column in 0..columns {
        for hash in keys_of(column, keys) {
            matrix::insert(&mut groups, columns, k, column, hash);
        }
    }
    groups
}

fn names_of(columns: u32) -> Vec<u64> {
    random_hashes(columns as usize, 8)
}

fn accepted(files: &mut Golden) {
    let mut add = |name: &str, bytes: Vec<u8>| {
        let columns = get(&bytes, RESERVED) as u32;
        let some = (0..columns).step_by(columns.div_ceil(16) as usize);
        let present = some.flat_map(|column| keys_of(column, 2));
        let probes = present.chain(random_hashes(16, 9)).chain(AWKWARD).collect();
        files.accept(name, bytes, probes);
    };
    for (columns, lines) in [(1, 1), (2, 3), (63, 1), (64, 2), (65, 1), (130, 1), (513, 1)] {
        let groups = groups_of(lines, columns, 6, 40);
        add(&format!("columns{columns:03}"), encode_matrix(&groups, columns, 6, 0, &[], false));
    }
    for k in [1, 8, 9, 16] {
        let groups = groups_of(2, 5, k, 20);
        add(&format!("k{k:02}"), encode_matrix(&groups, 5, k, 0, &[], false));
    }
    let (groups, names) = (groups_of(2, 5, 6, 60), names_of(5));
    add("named", encode_matrix(&groups, 5, 6, 0, &names, false));
    add("checksums", encode_matrix(&groups, 5, 6, 0, &[], true));
    let groups = groups_of(3, 70, 6, 60);
    add("named-checksums", encode_matrix(&groups, 70, 6, 0, &names_of(70), true));
    add("empty", encode_matrix(&[0; 4096], 7, 6, 0, &[], true));
    let full: Vec<u8> = (0..4096).map(|at| if at % 8 == 0 { 0x7F } else { 0 }).collect();
    add("full", encode_matrix(&full, 7, 6, 0, &[], false));
    let mut awkward = vec![0; 2 * 4096];
    for (column, hash) in (0..).zip(AWKWARD) {
        matrix::insert(&mut awkward, AWKWARD.len() as u32, 16, column, hash);
    }
    add("awkward-hashes", encode_matrix(&awkward, AWKWARD.len() as u32, 16, 0, &[], true));
    // Byte keys under a seed: `key C` and 29 that follow, in column C.
    let mut seeded = vec![0; 4096];
    for column in 0..60 {
        for i in column..column + 30 {
            let hash = hash(format!("key {i}").as_bytes(), u64::MAX);
            matrix::insert(&mut seeded, 60, 6, column, hash);
        }
    }
    add("seed-max", encode_matrix(&seeded, 60, 6, u64::MAX, &[], false));
    // The number of keys is a hint.
    let mut counted = encode_matrix(&groups_of(1, 3, 6, 40), 3, 6, 0, &[], false);
    put(&mut counted, KEY_COUNT, u64::MAX);
    seal(&mut counted);
    add("key-count-max", counted);
    // The last names are a footer, which misleads a reader that looks for the magic from the front;
    // names may be equal.
    let footer = &encode(&[0; 64], 6, 0, 0)[64..];
    let footer = footer.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
    let names: Vec<u64> = [0, 0].into_iter().chain(footer).collect();
    add("names-like-a-footer", encode_matrix(&groups_of(1, 10, 6, 40), 10, 6, 0, &names, false));
}

/// Three columns of so many lines, with names and checksums.
fn intact(lines: usize) -> Intact {
    Intact(encode_matrix(&groups_of(lines, 3, 6, 40), 3, 6, 0, &names_of(3), true))
}

fn rejected(files: &mut Golden) {
    let (one, two) = (intact(1), intact(2));
    let shape = get(&one.0, RESERVED);
    let mut bad = Spoilt { files, intact: &one };
    let len = one.0.len();
    bad.ends();
    bad.add("footer-seed-changed", status::CHECKSUM, one.altered(SEED, 1));
    bad.add("footer-columns-changed", status::CHECKSUM, one.altered(RESERVED, shape + 1));
    bad.each("layout", status::LAYOUT, LAYOUT, &[5, 0x010A]);
    for bit in [34, 40, 63] {
        let fields = [(RESERVED, shape | 1 << bit)];
        bad.add(&format!("reserved-bit-{bit}"), status::RESERVED, one.with(&fields));
    }
    bad.with("columns-0", status::COLUMNS, &[(RESERVED, 0)]);
    bad.with("columns-0-named-checksums", status::COLUMNS, &[(RESERVED, NAMED | SUMMED)]);
    // The last is good in its lowest byte.
    bad.each("k", status::K, K, &[0, 17, 0x0000_0106]);
    // The last seems right to a reader that computes the length in 64 bits.
    let most = (i64::MAX as u64 - 64 - 24) / 4104;
    bad.line_counts(&[0, most + 1, 1 << 58, u64::MAX, (1 << 61) + 1]);
    // Nor does it fit for want of names and checksums.
    let fields = [(LINE_COUNT, most + 1), (RESERVED, 3)];
    bad.add("line-count-unnamed", status::LINE_COUNT, one.with(&fields));
    let most_columns = u64::from(u32::MAX) | NAMED | SUMMED;
    let fields = [(LINE_COUNT, 1 << 25), (RESERVED, most_columns)];
    bad.add("line-count-most-columns", status::LINE_COUNT, one.with(&fields));
    bad.with("length-one-line-more", status::TRUNCATED, &[(LINE_COUNT, 2)]);
    bad.with("length-most-lines", status::TRUNCATED, &[(LINE_COUNT, most)]);
    bad.with("length-most-columns", status::TRUNCATED, &[(RESERVED, most_columns)]);
    // In 32 bits its group is 0 bytes.
    bad.with("length-most-a-group", status::TRUNCATED, &[(RESERVED, 1 << 26 | NAMED | SUMMED)]);
    bad.with("length-one-column-more", status::TRUNCATED, &[(RESERVED, shape + 1)]);
    bad.with("length-two-words", status::TRUNCATED, &[(RESERVED, shape + 62)]);
    bad.with("length-unnamed", status::TRUNCATED, &[(RESERVED, shape & !NAMED)]);
    bad.with("length-no-checksums", status::TRUNCATED, &[(RESERVED, shape & !SUMMED)]);
    bad.add("length-one-line-less", status::TRUNCATED, two.with(&[(LINE_COUNT, 1)]));
    bad.add("length-first-byte-gone", status::TRUNCATED, one.0[1..].to_vec());
    bad.add("length-footer-only", status::TRUNCATED, one.0[len - 64..].to_vec());
    bad.flip("lines-first-byte-changed", 0, 0x02);
    bad.flip("lines-name-byte-changed", 4096, 0x02);
    bad.flip("lines-checksum-byte-changed", 4096 + 24, 0x02);
    // Under a `lines_checksum` that is right.
    bad.add("groups-first-byte-changed", status::CHECKSUM, one.changed(|body| body[0] ^= 2));
    bad.add("groups-checksum-changed", status::CHECKSUM, one.changed(|body| body[4096 + 24] ^= 1));
    bad.add("groups-last-checksum-changed", status::CHECKSUM, {
        two.changed(|body| *body.last_mut().unwrap() ^= 0x80)
    });
    bad.add("groups-in-each-other-s-place", status::CHECKSUM, {
        two.changed(|body| {
            let at = body.len() - 16;
            body[..2 * 4096].rotate_left(4096);
            body[at..].rotate_left(8);
        })
    });
    let mut behind = groups_of(1, 3, 6, 40);
    behind[4096 - 8] |= 1 << 3;
    let bytes = encode_matrix(&behind, 3, 6, 0, &[], true);
    bad.add("groups-bit-behind-the-last-column", status::CHECKSUM, bytes);
    let mut behind = groups_of(1, 70, 6, 40);
    behind[15] |= 0x80;
    let bytes = encode_matrix(&behind, 70, 6, 0, &[], false);
    bad.add("groups-bit-in-the-last-byte-of-a-row", status::CHECKSUM, bytes);

    let fields = [(LAYOUT, 0x7FFF), (RESERVED, 1 << 34)];
    bad.add("order-5-6", status::LAYOUT, one.with(&fields));
    bad.with("order-6-columns", status::RESERVED, &[(RESERVED, 1 << 34)]);
    bad.with("order-columns-7", status::COLUMNS, &[(RESERVED, NAMED), (K, 0)]);
    bad.with("order-6-8", status::COLUMNS, &[(RESERVED, SUMMED), (LINE_COUNT, 0)]);
    bad.with("order-7-8", status::K, &[(K, 17), (LINE_COUNT, 0)]);
    bad.order_of_lengths(2);
}

/// The range and the rows of hashes.
fn vectors() -> String {
    let mut text = String::new();
    let hashes: Vec<u64> = AWKWARD.into_iter().chain(random_hashes(8, 30)).collect();
    for (i, &hash) in hashes.iter().enumerate() {
        let line_count = [1, 2, 3, 1000, 65_537][i % 5];
        let columns = [1, 64, 65, 512, 1000, 65_536][i % 6];
        let (k, length) = (1 + 5 * i as u32 % 16, matrix::group_bytes(columns) as u64);
        let offset = line::line_index(hash, line_count) * length;
        write!(text, "{hash:016x} {line_count} {columns} {k} {offset} {length}").unwrap();
        matrix::rows(hash, k).for_each(|row| write!(text, " {row}").unwrap());
        text.push('\n');
    }
    text
}

/// The lines of each column, and its name.
fn columns(accepted: &[(String, Vec<u8>, Vec<u64>)]) -> String {
    let mut text = String::new();
    for (file, bytes, _) in accepted {
        let [groups, names, _] = matrix_ends(bytes);
        let columns = get(bytes, RESERVED) as u32;
        for column in 0..columns {
            let lines = matrix::column(&bytes[..groups], columns, column);
            let name = bytes[groups..names].chunks(8).nth(column as usize);
            let name = name.map_or("-".into(), |name| {
                format!("{:016x}", u64::from_le_bytes(name.try_into().unwrap()))
            });
            let sum = hash(&lines, 0);
            writeln!(text, "accepted/{file}.bloomline {column} {sum:016x} {name}").unwrap();
        }
    }
    text
}

fn golden() -> Golden {
    let mut files = Golden::new("matrix", 700 << 10);
    files.check = Some(check_matrix);
    files.answer =
        |bytes, hash| columns_with(bytes, hash).iter().map(|word| word.count_ones()).sum();
    files.said = Some(|bytes, hash| {
        let words = columns_with(bytes, hash).into_iter().map(|word| format!("{word:016x}"));
        words.collect::<Vec<_>>().join(" ")
    });
    files.numbers = |bytes| [numbers(bytes), vec![get(bytes, RESERVED)]].concat();
    files.viewed = false;
    accepted(&mut files);
    rejected(&mut files);
    let mut files = files.sorted();
    files.texts = vec![("vectors.txt", vectors()), ("columns.txt", columns(&files.accepted))];
    files
}

/// A matrix as a filter of the keys of all columns.
struct AnyColumn(Matrix);

impl Subject for AnyColumn {
    fn make(_: &[&str], _: Backend) -> Result<Self, Error> {
        panic!("make")
    }
    fn open(bytes: &[u8]) -> Result<Self, Error> {
        Matrix::decode(bytes).map(AnyColumn)
    }
    fn copy(&self) -> Self {
        AnyColumn(self.0.clone())
    }
    fn bytes(&self) -> Vec<u8> {
        self.0.to_bytes().unwrap()
    }
    fn contains(&self, keys: &Keys) -> Vec<bool> {
        let Keys::Hashes(hashes) = keys else { panic!("hashes") };
        hashes.iter().map(|&hash| self.0.any_hash(hash)).collect()
    }
    fn other(&mut self, verb: &str, _: &[&str]) -> String {
        panic!("{verb}")
    }
}

golden_tests!(AnyColumn);

#[test]
fn views_ranges_and_columns_have_what_the_definition_has() {
    for (name, bytes, probes) in golden().accepted {
        let (columns, [groups, names, _]) = (get(&bytes, RESERVED) as u32, matrix_ends(&bytes));
        let read = |range: Range<u64>| &bytes[range.start as usize..range.end as usize];
        let footer = bytes.last_chunk().unwrap();
        let shape = MatrixShape::read(footer, bytes.len() as u64).unwrap();
        assert_eq!(shape.columns(), columns as usize, "{name}");
        assert!(read(shape.name_bytes()) == &bytes[groups..names], "{name}");
        for &hash in &probes {
            let expected = columns_with(&bytes, hash);
            for backend in Backend::available() {
                let view = MatrixView::open_with_backend(&bytes[..], backend).unwrap();
                assert_eq!(view.shape(), shape);
                let mut words = vec![u64::MAX; expected.len()];
                view.contains_hash(hash, &mut words[..]);
                assert_eq!(words, expected, "{name} {backend:?} {hash:x}");
                view.contains_hashes(&[0, hash], &mut [words.clone(), words].concat()[..]);
            }
            let (range, mut maybe) = (shape.range(hash), Bitmap::new());
            shape.contains_in(read(range.clone()), hash, &mut maybe).unwrap();
            assert_eq!(maybe.as_words(), expected, "{name} {hash:x}");
            let sum = read(shape.checksum_of(&range));
            assert_eq!(shape.verify_range(&range, read(range.clone()), sum), Ok(()), "{name}");
            let rows: Vec<u8> =
                shape.row_ranges(hash).flat_map(|range| read(range).to_vec()).collect();
            shape.contains_in_rows(&rows, hash, &mut maybe).unwrap();
            assert_eq!(maybe.as_words(), expected, "{name} {hash:x}");
        }
        let decoded = Matrix::decode(&bytes).unwrap();
        for column in 0..columns {
            let lines = matrix::column(&bytes[..groups], columns, column);
            assert!(decoded.column(column as usize).unwrap().lines() == lines, "{name} {column}");
        }
    }
}

#[test]
fn views_and_shapes_reject_what_the_definition_does() {
    golden().are_rejected_by(&["lines-", "groups-"], |bytes, verify| {
        if verify {
            return status_of_result(&MatrixView::open(bytes));
        }
        let unverified = status_of_result(&MatrixView::open_unverified(bytes));
        if let Some(footer) = bytes.last_chunk() {
            let shape = MatrixShape::read(footer, bytes.len() as u64);
            assert_eq!(status_of_result(&shape), unverified);
        }
        unverified
    });
}

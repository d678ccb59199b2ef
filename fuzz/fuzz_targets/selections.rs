//! Any column, nulls and selection: what filters of every kind and backend select, refine and mark is what a loop of
//! `contains_hash` says, and the rows of each backend are the bits that are set.
#![no_main]

use bloomline::internals::rows_by;
use bloomline::{
    Backend, Bitmap, Column, ConcurrentFilter, CountingFilter, CuckooFilter, CuckooParams, Filter,
    Group, GrowingFilter, Matrix, Nullable, Nulls, Params, Probe, Row, ScalableFilter, Select,
    StaticFilter, StaticParams, Strings, View, Window, engines,
};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use std::fmt::Debug;

#[derive(Debug, Arbitrary)]
struct Input {
    lines: u16,
    k: u8,
    values: Vec<u64>,
    /// How often they come, each time changed: long columns of few bytes.
    times: u8,
    /// Which values are inserted: those whose bit is set, of each 64.
    inserted: u64,
    validity: Vec<u8>,
    first_bit: u16,
    /// Some rows, in any order.
    picked: Vec<u16>,
    answers: Vec<u64>,
}

/// What is asked, and how a loop answers.
struct Asked<'a> {
    values: Vec<u64>,
    input: &'a Input,
}

impl Asked<'_> {
    /// Whether a row has a value.
    fn valid(&self, row: usize) -> bool {
        let bit = usize::from(self.input.first_bit) + row;
        self.input.validity.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    /// Columns of every type.
    fn types(&self, filter: &impl Probe, what: &str) {
        self.columns(filter, what);
        let values = &self.values;
        let signed: Vec<i64> = values.iter().map(|&value| value as i64).collect();
        self.column(filter, &signed, |row| filter.hash(&signed[row]), what);
        let short: Vec<u32> = values.iter().map(|&value| value as u32).collect();
        self.column(filter, &short, |row| filter.hash(&short[row]), what);
        let short_signed: Vec<i32> = values.iter().map(|&value| value as i32).collect();
        self.column(filter, &short_signed, |row| filter.hash(&short_signed[row]), what);
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let ends = values.iter().scan(0, |end, value| {
            *end += (value % 9) as i32;
            Some(*end)
        });
        let offsets: Vec<i32> = std::iter::once(0).chain(ends).collect();
        let strings = Strings::new(&offsets, &bytes).expect("at most 8 bytes each");
        let hash = |row: usize| filter.hash(strings.get(row).expect("a row"));
        self.column(filter, &strings, hash, what);
    }

    /// A column without nulls, and with.
    fn columns(&self, filter: &impl Probe, what: &str) {
        let values = self.values.as_slice();
        self.column(filter, values, |row| filter.hash(&values[row]), what);
        for nulls in [Nulls::Absent, Nulls::Present] {
            let column = Nullable::new(values, &self.input.validity, nulls)
                .from_bit(self.input.first_bit.into());
            let maybe = |row: usize| match self.valid(row) {
                true => filter.contains_hash(filter.hash(&values[row])),
                false => nulls == Nulls::Present,
            };
            self.answers(filter, &column, maybe, what);
        }
    }

    fn column<C: Column + ?Sized>(
        &self,
        filter: &impl Probe,
        column: &C,
        hash: impl Fn(usize) -> u64,
        what: &str,
    ) {
        self.answers(filter, column, |row| filter.contains_hash(hash(row)), what);
    }

    /// What is said of a column, and what `maybe` says of its rows.
    fn answers<C: Column + ?Sized>(
        &self,
        filter: &impl Probe,
        column: &C,
        maybe: impl Fn(usize) -> bool,
        what: &str,
    ) {
        let all: Vec<bool> = (0..self.values.len()).map(maybe).collect();
        self.rows::<u32, C>(filter, column, &all, what);
        self.rows::<u16, C>(filter, column, &all, what);
        let mut bytes = vec![9; all.len() + 2];
        let count = filter.mask_column(column, &mut bytes);
        assert_eq!(count, all.iter().filter(|&&maybe| maybe).count(), "{what}");
        assert!(
            bytes.iter().copied().eq(all.iter().map(|&maybe| maybe.into()).chain([9; 2])),
            "{what}"
        );
        let mut bits = Bitmap::new();
        assert_eq!(filter.contains_column(column, &mut bits), count, "{what}");
        assert!(bits.iter().eq(all), "{what}");
    }

    fn rows<R, C>(&self, filter: &impl Probe, column: &C, all: &[bool], what: &str)
    where
        R: Row + TryFrom<usize, Error: Debug> + Debug,
        C: Column + ?Sized,
    {
        let number = |row: usize| R::try_from(row).expect("few rows");
        let mut rows = vec![number(0xBEEF); all.len() + 2];
        let count = filter.select_column(column, &mut rows);
        let expected = (0..all.len()).filter(|&row| all[row]).map(number);
        assert!(rows[..count].iter().copied().eq(expected), "{what}");
        assert_eq!(rows[all.len()..], [number(0xBEEF); 2], "{what}");
        let in_column = |row: &u16| usize::from(*row) < all.len();
        let picked: Vec<usize> =
            self.input.picked.iter().copied().filter(in_column).map(usize::from).collect();
        for selection in [&picked, &(0..all.len()).step_by(3).collect::<Vec<_>>()] {
            let mut rows: Vec<R> = selection.iter().copied().map(number).collect();
            let count = filter.refine_column(column, &mut rows);
            let expected = selection.iter().copied().filter(|&row| all[row]).map(number);
            assert!(rows[..count].iter().copied().eq(expected), "{what}");
        }
    }

    /// Each row in a member of its own.
    fn pairs(&self, group: &Group<View<'_>>, what: &str) {
        let hashes: Vec<u64> =
            self.values.iter().map(|value| value.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let members: Vec<u32> = self.values.iter().map(|value| (value % 5) as u32).collect();
        let mut rows = vec![9_u32; hashes.len() + 2];
        let count = group.select_pairs(&members, &hashes, &mut rows);
        let expected = (0..hashes.len()).filter(|&row| {
            group.get(members[row] as usize).is_none_or(|member| member.contains_hash(hashes[row]))
        });
        assert!(rows[..count].iter().map(|&row| row as usize).eq(expected), "{what}");
        assert_eq!(rows[hashes.len()..], [9; 2], "{what}");
        let may = rows[..count].to_vec();
        let selection = self.input.picked.iter().map(|&row| u32::from(row));
        let selection: Vec<u32> = selection.filter(|&row| (row as usize) < hashes.len()).collect();
        let mut refined = selection.clone();
        let count = group.refine_pairs(&members, &hashes, &mut refined);
        let expected = selection.iter().filter(|row| may.binary_search(row).is_ok());
        assert!(refined[..count].iter().eq(expected), "{what}");
    }
}

/// The rows, and the bytes, of a backend for any answers.
fn bits_to_rows<R: Row + TryFrom<usize, Error: Debug> + Debug>(
    backend: Backend,
    words: &[u64],
    first: usize,
) {
    let number = |row: usize| R::try_from(row).expect("few rows");
    for len in [64 * words.len(), (64 * words.len()).saturating_sub(first % 64)] {
        let set: Vec<usize> = (0..len).filter(|&i| words[i / 64] >> (i % 64) & 1 == 1).collect();
        let mut rows = vec![number(7); len + 2];
        let count = rows_by::select(backend, words, len, first, &mut rows[..len]);
        assert!(
            rows[..count].iter().copied().eq(set.iter().map(|&i| number(first + i))),
            "{backend:?}"
        );
        assert_eq!(rows[len..], [number(7); 2], "{backend:?}");
        let mut rows: Vec<R> = (0..len + 2).map(|i| number(i * 7 % 50_000)).collect();
        let before = rows.clone();
        let count = rows_by::refine(backend, words, &mut rows[..len]);
        assert!(rows[..count].iter().copied().eq(set.iter().map(|&i| before[i])), "{backend:?}");
        assert_eq!(rows[len..], before[len..], "{backend:?}");
        let mut bytes = vec![9; len];
        rows_by::bytes(backend, words, &mut bytes);
        assert_eq!(
            bytes.iter().map(|&byte| usize::from(byte)).sum::<usize>(),
            set.len(),
            "{backend:?}"
        );
        assert!(set.iter().all(|&i| bytes[i] == 1), "{backend:?}");
    }
}

fuzz_target!(|input: Input| {
    let k = u32::from(input.k % 16) + 1;
    let params = Params::new(u64::from(input.lines % 700) + 1, k, 3).unwrap();
    let turns = 0..u64::from(input.times % 32) + 1;
    let values: Vec<u64> = turns
        .flat_map(|turn| {
            input.values.iter().map(move |value| value ^ turn.wrapping_mul(0xD6E8_FEB8_6659_FD93))
        })
        .take(1200)
        .collect();
    let chosen = |i: &(usize, &u64)| input.inserted >> (i.0 % 64) & 1 == 1;
    let keys: Vec<u64> = values.iter().enumerate().filter(chosen).map(|i| *i.1).collect();
    let mut hashes: Vec<u64> = keys.iter().map(|key| bloomline::hash::hash_u64(*key, 3)).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let asked = Asked { values, input: &input };
    let words = &input.answers[..input.answers.len().min(20)];
    for backend in Backend::available() {
        bits_to_rows::<u32>(backend, words, input.first_bit.into());
        bits_to_rows::<u16>(backend, words, usize::from(input.first_bit) % 50_000);

        let mut filter = Filter::with_backend(params, backend).unwrap();
        filter.insert_keys(&keys);
        asked.types(&filter, "plain");
        asked.columns(&filter.view(), "a view");
        let mut classic =
            Filter::with_backend(Params::classic(params.line_count(), k, 3).unwrap(), backend)
                .unwrap();
        classic.insert_keys(&keys);
        asked.columns(&classic, "classic");
        let concurrent = ConcurrentFilter::with_backend(params, backend).unwrap();
        concurrent.insert_keys(&keys);
        asked.columns(&concurrent, "concurrent");
        let mut counting = CountingFilter::with_backend(params, backend).unwrap();
        counting.insert_keys(&keys);
        asked.columns(&counting, "counting");
        let mut scalable = ScalableFilter::with_backend(64, 0.01, 3, backend).unwrap();
        scalable.insert_keys(&keys).unwrap();
        asked.columns(&scalable, "scalable");
        let mut window = Window::with_backend(3, params, backend).unwrap();
        window.insert_keys(&keys);
        asked.columns(&window, "window");
        let growing = GrowingFilter::new(3000, 0.01, 3).unwrap();
        let mut growing = growing.with_backend(backend).unwrap();
        growing.insert_keys(&keys).unwrap();
        asked.columns(&growing, "growing");
        let mut cuckoo =
            CuckooFilter::with_backend(CuckooParams::for_rate(3000, 0.01).unwrap(), backend)
                .unwrap();
        hashes.iter().for_each(|&hash| _ = cuckoo.insert_hash(hash).unwrap());
        asked.columns(&cuckoo, "cuckoo");
        let of_static =
            StaticParams::for_rate(hashes.len().max(1) as u64, 0.01).unwrap().with_seed(3);
        let fixed = StaticFilter::build_with_backend(of_static, &hashes, backend).unwrap();
        asked.columns(&fixed, "static");
        let mut matrix = Matrix::with_backend(params, 70, backend).unwrap();
        matrix.insert_hashes(65, &hashes).unwrap();
        let column = matrix.column_view(65).unwrap();
        asked.columns(&column, "a column");

        let mut block = vec![0; engines::rocksdb::block_len(200, 10.0).unwrap()];
        let of_rocksdb: Vec<u64> =
            keys.iter().take(200).map(|key| engines::rocksdb::hash(&key.to_le_bytes())).collect();
        let len = engines::rocksdb::block_len(of_rocksdb.len() as u64, 10.0).unwrap();
        engines::rocksdb::block_build(&of_rocksdb, 10.0, &mut block[..len]).unwrap();
        let of_rocksdb = View::open_rocksdb_with_backend(&block[..len], backend).unwrap();
        asked.types(&of_rocksdb, "RocksDB");
        let mut bits = vec![0; 512];
        engines::parquet::insert_hashes(&mut bits, &hashes).unwrap();
        let of_parquet = View::open_parquet_bits_with_backend(&bits, backend).unwrap();
        asked.columns(&of_parquet, "Parquet");

        asked.pairs(&Group::new([filter.view(); 3]).unwrap(), "a run");
        asked.pairs(
            &Group::new([filter.view(), classic.view(), column, of_parquet]).unwrap(),
            "a group",
        );
    }
});

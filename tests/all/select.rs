//! Columns and selections: the rows that the plain definition says may be present, of columns of every
//! type, with nulls and by any selection; and what is refused.

use crate::definition::random_hashes;

use bloomline::definition::{line, sbbf};
use bloomline::hash::{hash, hash_column};
use bloomline::{
    Bitmap, Column, Filter, Hashes, Key, Nullable, Nulls, Params, Probe, Row, Select, Strings,
    View, engines,
};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Around the sizes of words, registers, and of what is probed together.
const SIZES: [usize; 16] = [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 384, 385, 1024, 1025, 2100];

/// Of what columns are made.
fn values(len: usize) -> Vec<u64> {
    random_hashes(len, 11)
}

/// A filter of each second value, and of some rows by chance; and the answer of the definition.
fn filter_of<K: Key>(keys: &[K]) -> (Filter, Vec<bool>) {
    let params = Params::new(40, 6, 7).unwrap();
    let (mut filter, mut lines) = (Filter::new(params).unwrap(), vec![0; params.bytes()]);
    for key in keys.iter().step_by(2).take(400) {
        filter.insert(key);
        line::insert(&mut lines, 6, hash(key, 7));
    }
    let answers = keys.iter().map(|key| line::contains(&lines, 6, hash(key, 7))).collect();
    (filter, answers)
}

/// Some rows of a column: ascending, and in an order of no kind with repetitions.
fn selections(rows: usize) -> [Vec<usize>; 3] {
    let any = if rows == 0 { vec![] } else { random_hashes(1500, 5) };
    let some = (0..rows).filter(|row| row % 7 < 2).collect();
    [(0..rows).collect(), some, any.iter().map(|&row| row as usize % rows).collect()]
}

fn rows_of<R: TryFrom<usize, Error: Debug>>(rows: &[usize]) -> Vec<R> {
    rows.iter().map(|&row| R::try_from(row).unwrap()).collect()
}

/// A selection and a refinement of `R`, with more room than they need.
fn check_rows<R, C>(filter: &impl Probe, column: &C, answers: &[bool])
where
    R: Row + TryFrom<usize, Error: Debug> + Debug,
    C: Column + ?Sized,
{
    let present: Vec<usize> = (0..answers.len()).filter(|&row| answers[row]).collect();
    let mut rows = rows_of::<R>(&vec![9; answers.len() + 3]);
    let count = filter.select_column(column, &mut rows);
    assert_eq!(rows[..count], rows_of::<R>(&present));
    assert_eq!(rows[answers.len()..], rows_of::<R>(&[9; 3]));
    for selection in selections(answers.len()) {
        let left: Vec<usize> = selection.iter().copied().filter(|&row| answers[row]).collect();
        let mut rows = rows_of::<R>(&selection);
        let count = filter.refine_column(column, &mut rows);
        assert_eq!(rows[..count], rows_of::<R>(&left));
    }
}

/// All that is asked of a column.
fn check<C: Column + ?Sized>(filter: &impl Probe, column: &C, answers: &[bool]) {
    check_rows::<u32, C>(filter, column, answers);
    check_rows::<u16, C>(filter, column, answers);
    let ones = answers.iter().filter(|&&answer| answer).count();
    let mut bytes = vec![9; answers.len() + 3];
    assert_eq!(filter.mask_column(column, &mut bytes), ones);
    assert!(bytes.iter().copied().eq(answers.iter().map(|&answer| answer.into()).chain([9; 3])));
    let mut bits = Bitmap::new();
    assert_eq!(filter.contains_column(column, &mut bits), ones);
    assert!(bits.iter().eq(answers.iter().copied()));
}

fn check_keys<K: Key>(keys: &[K]) {
    let (filter, answers) = filter_of(keys);
    check(&filter, keys, &answers);
    let hashes: Vec<u64> = keys.iter().map(|key| hash(key, 7)).collect();
    let mut made = vec![0; hashes.len()];
    filter.hash_keys(keys, &mut made);
    assert_eq!(made, hashes);
    made.fill(0);
    hash_column(keys, 7, &mut made);
    assert_eq!(made, hashes);
    check(&filter, &Hashes(&hashes), &answers);
    let present: Vec<u32> = (0..).zip(&answers).filter(|row| *row.1).map(|row| row.0).collect();
    let mut rows = vec![0_u32; keys.len()];
    let count = filter.select_hashes(&hashes, &mut rows);
    assert_eq!(rows[..count], present);
    let count = filter.refine_hashes(&hashes, &mut rows[..count]);
    assert_eq!(rows[..count], present);
    let mut bytes = vec![9; keys.len()];
    assert_eq!(filter.mask_hashes(&hashes, &mut bytes), present.len());
    assert!(bytes.iter().map(|&byte| byte == 1).eq(answers));
}

#[test]
fn columns_of_every_type() {
    for len in SIZES {
        let values = values(len);
        check_keys(&values);
        check_keys(&values.iter().map(|&value| value as i64).collect::<Vec<_>>());
        check_keys(&values.iter().map(|&value| value as u32).collect::<Vec<_>>());
        check_keys(&values.iter().map(|&value| value as i32).collect::<Vec<_>>());
        check_keys(&values.iter().map(|value| value.to_be_bytes()).collect::<Vec<_>>());
        check_keys(&values.iter().map(|value| format!("{value}")).collect::<Vec<_>>());
    }
    // Values that a filter has as another type are others.
    let mut rows = [0u32; 20];
    let filter = Filter::from_keys([-1i32; 20], 1e-9).unwrap();
    assert_eq!(filter.select_column(&[-1i32; 20], &mut rows), 20);
    assert_eq!(filter.select_column(&[u32::MAX; 20], &mut rows), 20);
    assert_eq!(filter.select_column(&[-1i64; 20], &mut rows), 0);
}

#[test]
fn strings_by_their_offsets() {
    for len in SIZES {
        let strings: Vec<String> = values(len)
            .iter()
            .map(|value| format!("{value}").repeat((value % 4) as usize))
            .collect();
        let (filter, answers) = filter_of(&strings);
        // The first string begins behind some bytes, as in a slice of a column.
        let data = format!("no string{}and behind", strings.concat());
        let mut offsets = vec![9];
        offsets.extend(strings.iter().scan(9, |end, string| {
            *end += string.len();
            Some(*end)
        }));
        let (short, long) = (rows_of::<i32>(&offsets), rows_of::<i64>(&offsets));
        check(&filter, &Strings::new(&short, data.as_bytes()).unwrap(), &answers);
        check(&filter, &Strings::new(&long, data.as_bytes()).unwrap(), &answers);
        let (hashes, mut made) = (strings.iter().map(|string| hash(string, 3)), vec![0; len]);
        hash_column(&Strings::new(&short, data.as_bytes()).unwrap(), 3, &mut made);
        assert!(made.iter().copied().eq(hashes));
    }
}

#[test]
fn offsets_that_are_none() {
    let none = |offsets: &[i32]| {
        let long: Vec<i64> = offsets.iter().map(|&offset| offset.into()).collect();
        let (short, long) = (Strings::new(offsets, b"12345"), Strings::new(&long, b"12345"));
        assert_eq!(short.is_none(), long.is_none());
        short.is_none()
    };
    for offsets in
        [&[0, 6][..], &[-1, 5], &[0, -1], &[3, 2], &[0, 5, 4], &[6], &[i32::MIN], &[i32::MAX]]
    {
        assert!(none(offsets), "{offsets:?}");
    }
    for offsets in [&[][..], &[0], &[5], &[5, 5, 5], &[0, 5], &[2, 3]] {
        assert!(!none(offsets), "{offsets:?}");
    }
    assert!(Strings::new(&[0, 1i64 << 40], b"12345").is_none());
    assert!(Strings::new(&[0, i64::MAX], b"12345").is_none());
    let strings = Strings::new(&[0i32; 0], b"").unwrap();
    assert!(strings.is_empty() && strings.get(usize::MAX - 1).is_none());

    // A single wrong one at any place of many, which are compared several at once.
    let data = [0; 700];
    let good: Vec<i64> = (0..101).map(|i| 7 * i).collect();
    assert!(Strings::new(&good, &data).is_some());
    for place in 0..good.len() {
        for wrong in [-1, 7 * place as i64 - 8, 7 * place as i64 + 8, 701, i64::MIN, i64::MAX] {
            // Only the last may be higher without being above the next, and only the first lower.
            let fits = match place {
                0 => (0..=7).contains(&wrong),
                100 => (693..=700).contains(&wrong),
                _ => (7 * place as i64 - 7..=7 * place as i64 + 7).contains(&wrong),
            };
            let mut offsets = good.clone();
            offsets[place] = wrong;
            assert_eq!(Strings::new(&offsets, &data).is_some(), fits, "{wrong} at {place}");
            if let Ok(short) =
                offsets.iter().map(|&o| i32::try_from(o)).collect::<Result<Vec<_>, _>>()
            {
                assert_eq!(Strings::new(&short, &data).is_some(), fits, "{wrong} at {place}");
            }
        }
    }
}

#[test]
fn nulls() {
    for len in SIZES {
        let values = values(len);
        let (filter, answers) = filter_of(&values);
        let validity: Vec<u8> = random_hashes(len, 3).iter().map(|&byte| byte as u8).collect();
        for first in [0, 1, 7, 8, 61] {
            // The bitmap may end before the column, whose last rows then have no value.
            for bytes in [validity.len(), len / 8 / 2] {
                let validity = &validity[..bytes];
                let valid = |row: usize| {
                    let bit = first + row;
                    validity.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
                };
                let of = |null: bool| {
                    let rows = answers.iter().enumerate();
                    rows.map(|(row, &answer)| if valid(row) { answer } else { null }).collect()
                };
                let (absent, present): (Vec<bool>, Vec<bool>) = (of(false), of(true));
                let column = |nulls| Nullable::new(&values, validity, nulls).from_bit(first);
                check(&filter, &column(Nulls::Absent), &absent);
                check(&filter, &column(Nulls::Present), &present);
                let hash_of = |row: usize| if valid(row) { hash(&values[row], 7) } else { 0 };
                let (hashes, mut made) = ((0..len).map(hash_of), vec![9; len]);
                hash_column(&column(Nulls::Present), 7, &mut made);
                assert!(made.iter().copied().eq(hashes));
                let given = Hashes(&made);
                let given = Nullable::new(&given, validity, Nulls::Present).from_bit(first);
                check(&filter, &given, &present);
            }
        }
    }
    let filter = Filter::from_keys([1u64; 1], 0.01).unwrap();
    let column = Nullable::new(&[1u64; 70], &[], Nulls::Present).from_bit(usize::MAX);
    assert_eq!(filter.mask_column(&column, &mut [0; 70]), 70);
}

/// Filters of other formats hash by functions of their own.
#[test]
fn other_formats_and_pointers() {
    let values = values(1100);
    let of_rocksdb = |value: &u64| engines::rocksdb::hash(&value.to_le_bytes());
    let hashes: Vec<u64> = values.iter().step_by(2).map(of_rocksdb).collect();
    let mut block = vec![0; engines::rocksdb::block_len(hashes.len() as u64, 10.0).unwrap()];
    engines::rocksdb::block_build(&hashes, 10.0, &mut block).unwrap();
    let view = View::open_rocksdb(&block).unwrap();
    let answers: Vec<bool> = values.iter().map(|value| view.contains(value)).collect();
    assert!(answers.contains(&false));
    check(&view, &values, &answers);
    let (filter, answers) = filter_of(&values);
    check(&std::sync::Arc::new(filter), &values, &answers);
    of_parquet(&values);
    of_parquet(&values.iter().map(|&value| value as i32).collect::<Vec<_>>());
    of_parquet(&values.iter().map(|value| format!("{value}")).collect::<Vec<_>>());
}

fn of_parquet<K: Key>(keys: &[K]) {
    let mut bits = vec![0; 32 * 27];
    let hashes: Vec<u64> = keys.iter().map(engines::parquet::hash).collect();
    hashes.iter().step_by(2).for_each(|&hash| sbbf::insert(&mut bits, hash));
    let answers: Vec<bool> = hashes.iter().map(|&hash| sbbf::contains(&bits, hash)).collect();
    assert!(answers.contains(&false));
    check(&View::open_parquet_bits(&bits).unwrap(), keys, &answers);
}

#[track_caller]
fn refused(says: &str, call: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("refused");
    let text = panic.downcast::<String>().unwrap();
    assert!(text.contains(says), "{text}");
}

#[test]
fn what_is_refused_is_said() {
    let (filter, column) = (Filter::from_keys([1u64], 0.01).unwrap(), vec![1u64; 100]);
    refused("100 rows of a column, and room for 99", || {
        filter.select_column(&column, &mut [0u32; 99]);
    });
    refused("100 rows of a column, and room for 99", || {
        filter.mask_column(&column, &mut [0; 99]);
    });
    refused("100 answers take 2 words", || {
        filter.contains_column(&column, &mut [0; 1]);
    });
    let long = vec![1u64; 65_537];
    let mut rows = vec![0u16; 65_537];
    assert_eq!(filter.select_column(&long[1..], &mut rows), 65_536);
    assert!(rows[..65_536].iter().copied().eq(0..=u16::MAX));
    refused("numbers for 65536", || {
        filter.select_column(&long, &mut rows);
    });
    let mut rows: Vec<u32> = (0..90).chain([100, 5]).collect();
    let before = rows.clone();
    refused("row 100 of a column of 100", || {
        filter.refine_column(&column, &mut rows);
    });
    refused("row 100 of a column of 100", || {
        filter.refine_hashes(&column, &mut rows);
    });
    assert_eq!(rows, before);
    refused("row 0 of a column of 0", || {
        filter.refine_column(&[0u8; 0], &mut [0u16]);
    });
    refused("one output per key", || filter.hash_keys(&column, &mut [0; 99]));
    refused("one output per row", || hash_column(&column, 0, &mut [0; 99]));
}

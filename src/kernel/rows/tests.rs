//! Rows by every backend, against a loop over the bits; and nothing beside the room is written.

use super::{RowNumber, bytes, hash_by, hash_picked, last, refine, select};
use crate::hash::KeyHash;
use crate::kernel::Backend;
use crate::key::Integers;
use std::fmt::Debug;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Answers of every density.
fn words(stream: u64) -> [u64; 4] {
    let mix = |i: u64| (stream * 4 + i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
    std::array::from_fn(|i| {
        let (a, b) = (mix(i as u64), mix(i as u64 + 1000).wrapping_mul(0xD6E8_FEB8_6659_FD93));
        [0, u64::MAX, a, a & b, a | b, a & b & b.rotate_left(7), 1, 1 << 63][stream as usize % 8]
    })
}

fn is_set(words: &[u64], i: usize) -> bool {
    words[i / 64] >> (i % 64) & 1 == 1
}

fn check<R: RowNumber + Debug>(first: usize) {
    const BESIDE: usize = 77;
    for backend in Backend::available() {
        let kernels = backend.kernels().unwrap();
        for len in 0..=200 {
            for stream in 0..16 {
                let words = words(stream);
                let set: Vec<usize> = (0..len).filter(|&i| is_set(&words, i)).collect();
                let expected: Vec<R> = set.iter().map(|&i| R::of(first + i)).collect();
                let mut room = vec![R::of(BESIDE); len + 40];
                let count = select(kernels, &words, len, first, (&mut room[3..3 + len]).into());
                assert_eq!(room[3..3 + count], expected, "{backend:?} {len}");
                let beside = room[..3].iter().chain(&room[3 + len..]);
                assert!(beside.copied().eq(vec![R::of(BESIDE); 40]), "{backend:?} {len}");

                // In place, and from further behind: what lies before and behind stays.
                for (from, to) in [(0, 0), (5, 5), (70, 3), (64, 60)] {
                    let row = |i: usize| R::of((7 * i + 3) % 50_000);
                    let mut rows: Vec<R> = (0..from + len + 40).map(row).collect();
                    let all = rows.clone();
                    let count = refine(kernels, &words, &mut rows, (from, len), to);
                    let left: Vec<R> = set.iter().map(|&i| all[from + i]).collect();
                    assert_eq!(rows[to..to + count], left, "{backend:?} {len}");
                    assert_eq!(rows[..to], all[..to], "{backend:?} {len}");
                    assert_eq!(rows[from + len..], all[from + len..], "{backend:?} {len}");
                }
            }
        }
    }
}

#[test]
fn rows_are_those_whose_bit_is_set() {
    check::<u16>(0);
    check::<u16>(65_536 - 200);
    check::<u32>(0);
    check::<u32>(3_000_000_000);
}

#[test]
fn bytes_are_the_bits() {
    for backend in Backend::available() {
        let kernels = backend.kernels().unwrap();
        for len in 0..=200 {
            for stream in 0..16 {
                let words = words(stream);
                let mut room = vec![9; len + 70];
                bytes(kernels, &words, &mut room[3..3 + len]);
                let expected = (0..len).map(|i| u8::from(is_set(&words, i)));
                assert!(room[3..3 + len].iter().copied().eq(expected), "{backend:?} {len}");
                assert!(room[..3].iter().chain(&room[3 + len..]).all(|&byte| byte == 9));
            }
        }
    }
}

/// Rows in no order, some twice, the last of the column among them from some length on.
fn some_rows<R: RowNumber>(len: usize, all: usize) -> Vec<R> {
    (0..len).map(|i| R::of((i * 37 + all - 1) % all)).collect()
}

fn check_last<R: RowNumber + Debug>(all: usize) {
    for backend in Backend::available() {
        let kernels = backend.kernels().unwrap();
        assert_eq!(last::<R>(kernels, &[]), None, "{backend:?}");
        for len in 1..=200 {
            let mut rows = some_rows::<R>(len, all);
            for place in [0, len / 2, len - 1] {
                assert_eq!(last(kernels, &rows), rows.iter().copied().max(), "{backend:?} {len}");
                rows.swap(0, place);
                rows[place] = R::of(all);
                assert_eq!(last(kernels, &rows), Some(R::of(all)), "{backend:?} {len}");
                rows[place] = R::of(0);
            }
        }
    }
}

#[test]
fn the_last_row_is_the_largest() {
    check_last::<u16>(65_535);
    check_last::<u32>(u32::MAX as usize);
}

/// Of columns of a type whose values have these bytes.
fn check_picked<T: Copy, R: RowNumber + Debug>(
    values: &[T],
    bytes: impl Fn(T) -> Vec<u8>,
    integers: impl for<'a> Fn(&'a [T]) -> Integers<'a>,
) {
    const BESIDE: u64 = 0xA5A5_A5A5_A5A5_A5A5;
    for backend in Backend::available() {
        let kernels = backend.kernels().unwrap();
        let there = R::picked(kernels.number()).is_some();
        for seed in [0, 7, u64::MAX, 0x0102_0304_0506_0708] {
            for len in 0..=67 {
                let rows = some_rows::<R>(len, values.len());
                let mut out = vec![BESIDE; len + 2];
                let done = hash_by(kernels, seed, integers(values), &rows, &mut out[1..=len]);
                assert_eq!(done, there, "{backend:?}");
                let of = |row: &R| xxh3_64_with_seed(&bytes(values[row.number()]), seed);
                let expected = |row| if there { of(row) } else { BESIDE };
                assert!(rows.iter().map(expected).eq(out[1..=len].iter().copied()), "{backend:?}");
                assert_eq!([out[0], out[len + 1]], [BESIDE; 2], "{backend:?} {len}");
            }
        }
    }
}

#[test]
fn picked_values_have_their_hashes() {
    let values: Vec<u64> =
        (0..300_u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i as u32)).collect();
    let signed: Vec<i64> = values.iter().map(|&value| value as i64).collect();
    let short: Vec<u32> = values.iter().map(|&value| (value >> 16) as u32).collect();
    let short_signed: Vec<i32> = short.iter().map(|&value| value as i32).collect();
    check_picked::<_, u16>(&values, |v| v.to_le_bytes().to_vec(), |all| Integers::U64(all));
    check_picked::<_, u32>(&signed, |v| v.to_le_bytes().to_vec(), |all| Integers::I64(all));
    check_picked::<_, u32>(&short, |v| v.to_le_bytes().to_vec(), |all| Integers::U32(all));
    check_picked::<_, u16>(&short_signed, |v| v.to_le_bytes().to_vec(), |all| Integers::I32(all));
}

/// Other hashes, and rows that the column lacks.
#[test]
fn what_is_not_picked_is_said() {
    let column = Integers::U64(&[1, 2, 3]);
    for how in [KeyHash::Xxph3, KeyHash::RocksDbLegacy, KeyHash::LevelDb, KeyHash::Xxh64] {
        assert!(!hash_picked(how, column, &[0_u32; 9], &mut [0; 9]));
    }
    for backend in Backend::available() {
        let kernels = backend.kernels().unwrap();
        let there = <u16 as RowNumber>::picked(kernels.number()).is_some();
        for (row, room) in [(3, 9), (0, 8), (0, 10)] {
            let mut out = vec![0; room];
            let pick =
                || hash_by(kernels, 0, column, &[0, 0, 0, 0, 0, 0, 0, 0, row as u16], &mut out);
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(pick));
            assert_eq!(done.is_err(), there, "{backend:?}: row {row}, room for {room}");
        }
    }
}

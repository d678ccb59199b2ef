//! Rows by every backend, against a loop over the bits; and nothing beside the room is written.

use super::{RowNumber, bytes, refine, select};
use crate::kernel::Backend;
use std::fmt::Debug;

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

//! Columns by every backend: the hash of each value is XXH3-64, or XXH64, of its bytes, and nothing else is
//! written.

use super::{CALLS, XXH64, hash_batch, of_integers};
use crate::hash::KeyHash;
use crate::kernel::Backend;
use crate::key::Integers;
use xxhash_rust::xxh3::xxh3_64_with_seed;
use xxhash_rust::xxh64::xxh64;

const UNTOUCHED: u64 = 0xA5A5_A5A5_A5A5_A5A5;

/// Numbers whose bytes differ in every way, the limits of all types first.
fn numbers() -> impl Iterator<Item = u64> {
    let limits =
        [0, 1, u64::MAX, 1 << 63, u64::MAX >> 1, 1 << 31, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 32];
    let random = (0..).map(|i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i as u32));
    limits.into_iter().chain((0..64).map(|i| 1 << i)).chain(random)
}

/// Of bytes, with a seed.
type Hash = fn(&[u8], u64) -> u64;

/// Of columns of every length up to 130, from every start to a register's end.
fn check<T: Copy>(
    values: &[T],
    bytes: impl Fn(T) -> Vec<u8>,
    integers: impl for<'a> Fn(&'a [T]) -> Integers<'a>,
) {
    for backend in Backend::available() {
        let kernels = backend.kernels().unwrap();
        for seed in [0, 7, u64::MAX, 0xFFFF_FFFF, 1 << 32, 0x0102_0304_0506_0708] {
            for (table, hash) in [(&CALLS, xxh3_64_with_seed as Hash), (&XXH64, xxh64)] {
                let expected: Vec<u64> =
                    values.iter().map(|&value| hash(&bytes(value), seed)).collect();
                for len in 0..=130 {
                    let first = len % 9;
                    let mut out = [UNTOUCHED; 132];
                    let column = integers(&values[first..first + len]);
                    of_integers(kernels, table, column, seed, &mut out[1..=len]);
                    let expected = &expected[first..first + len];
                    assert_eq!(&out[1..=len], expected, "{backend:?} {seed:#x}");
                    assert_eq!([out[0], out[len + 1]], [UNTOUCHED; 2], "{backend:?} {len}");
                }
            }
        }
    }
}

#[test]
fn columns_have_the_hashes_of_their_values() {
    let values: Vec<u64> = numbers().take(140).collect();
    let signed: Vec<i64> = values.iter().map(|&value| value as i64).collect();
    let short: Vec<u32> = values.iter().map(|&value| (value ^ value >> 32) as u32).collect();
    let short_signed: Vec<i32> = short.iter().map(|&value| value as i32).collect();
    check(&values, |value| value.to_le_bytes().to_vec(), |all| Integers::U64(all));
    check(&signed, |value| value.to_le_bytes().to_vec(), |all| Integers::I64(all));
    check(&short, |value| value.to_le_bytes().to_vec(), |all| Integers::U32(all));
    check(&short_signed, |value| value.to_le_bytes().to_vec(), |all| Integers::I32(all));
}

/// Other formats hash integers by functions of their own.
#[test]
fn columns_of_other_formats_are_their_bytes() {
    let values: Vec<u64> = numbers().take(100).collect();
    for how in
        [KeyHash::Xxh3(3), KeyHash::Xxph3, KeyHash::RocksDbLegacy, KeyHash::LevelDb, KeyHash::Xxh64]
    {
        let mut out = vec![0; values.len()];
        how.hash_all(&values, &mut out);
        let one_by_one = values.iter().map(|value| how.hash(&value.to_le_bytes()));
        assert!(one_by_one.eq(out), "{how:?}");
    }
}

#[test]
#[should_panic(expected = "one output per key")]
fn a_column_needs_room() {
    crate::hash::hash_batch(&[1u32; 9], 0, &mut [0; 8]);
}

#[test]
fn strings_of_every_number_have_their_hashes() {
    let keys: Vec<String> = numbers().take(70).map(|number| format!("key {number}")).collect();
    for len in 0..keys.len() {
        let keys = &keys[..len];
        let expected: Vec<u64> =
            keys.iter().map(|key| xxh3_64_with_seed(key.as_bytes(), 7)).collect();
        let mut out = vec![UNTOUCHED; len];
        KeyHash::Xxh3(7).hash_all(keys, &mut out);
        assert_eq!(out, expected);
        out.fill(UNTOUCHED);
        hash_batch(keys, 7, &mut out);
        assert_eq!(out, expected);
    }
}

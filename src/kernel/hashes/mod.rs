//! Hashes of many keys: of columns of integers several at once, of other keys one by one.
//!
//! `plain` is the formula, `avx2` and `avx512` are the same for 4 and 8 values at once. All give the
//! hashes of [`hash`](crate::hash::hash). `xxh64` has Parquet's, by all of them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
mod plain;
#[cfg(test)]
mod tests;
mod xxh64;

use super::backend::Backend;
use super::choice::Kernels;
use super::prefetch::{INTO_L1, prefetch};
use crate::hash::{KeyHash, bloom32, hash, xxph3};
use crate::key::{Integers, Key};
use std::slice::from_raw_parts;
use xxhash_rust::xxh3::xxh3_64_with_seed;
use xxhash_rust::xxh64::xxh64 as xxh64_of_bytes;

/// Writes the hashes of as many integers as there is room for.
///
/// # Safety of the functions
/// This CPU runs the backend, and there are as many values as hashes.
#[derive(Clone, Copy)]
struct Calls {
    of_u64: unsafe fn(values: &[u64], seed: u64, out: &mut [u64]),
    of_u32: unsafe fn(values: &[u32], seed: u64, out: &mut [u64]),
}

const PLAIN: Calls = Calls { of_u64: plain::of_u64, of_u32: plain::of_u32 };

/// By XXH3-64.
static CALLS: [Calls; Backend::ALL.len()] = Backend::table([
    // For NEON, too, which has no product of 64 bits: two scalar ones take less time than a vector's parts.
    (Backend::Scalar, PLAIN),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx2, Calls { of_u64: avx2::of_u64, of_u32: avx2::of_u32 }),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx512, Calls { of_u64: avx512::of_u64, of_u32: avx512::of_u32 }),
]);

/// By XXH64.
static XXH64: [Calls; Backend::ALL.len()] = Backend::table([
    (Backend::Scalar, Calls { of_u64: xxh64::of_u64, of_u32: xxh64::of_u32 }),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx2, Calls { of_u64: xxh64::of_u64_avx2, of_u32: xxh64::of_u32_avx2 }),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx512, Calls { of_u64: xxh64::of_u64_avx512, of_u32: xxh64::of_u32_avx512 }),
]);

/// Fewer keys are hashed before a vector is set up.
const FEWEST: usize = 8;

/// Hashes integers by a backend's row of a table: those of 4 bytes as 4 bytes, those of 8 as 8.
fn of_integers(
    kernels: Kernels,
    table: &'static [Calls; Backend::ALL.len()],
    integers: Integers<'_>,
    seed: u64,
    out: &mut [u64],
) {
    let calls = kernels.row_of(table);
    let (of_u32, of_u64) = (calls.of_u32, calls.of_u64);
    let of_u32 = |values: &[u32], out: &mut [u64]| {
        assert_eq!(values.len(), out.len(), "one output per key");
        // SAFETY: this CPU runs the backend, since its kernels exist; there are as many values.
        unsafe { of_u32(values, seed, out) }
    };
    let of_u64 = |values: &[u64], out: &mut [u64]| {
        assert_eq!(values.len(), out.len(), "one output per key");
        // SAFETY: as above.
        unsafe { of_u64(values, seed, out) }
    };
    match integers {
        Integers::U32(values) => of_u32(values, out),
        Integers::U64(values) => of_u64(values, out),
        Integers::I32(values) => {
            // SAFETY: the same integers, without a sign; of one size and alignment.
            of_u32(unsafe { from_raw_parts(values.as_ptr().cast(), values.len()) }, out)
        }
        Integers::I64(values) => {
            // SAFETY: as above.
            of_u64(unsafe { from_raw_parts(values.as_ptr().cast(), values.len()) }, out)
        }
    }
}

/// Hashes keys by XXH3-64, one output for each.
#[inline(always)]
fn by_xxh3<K: Key>(keys: &[K], seed: u64, out: &mut [u64]) {
    if keys.len() >= FEWEST
        && let Some(integers) = K::integers(keys)
        && let Ok(kernels) = Kernels::active()
    {
        return of_integers(kernels, &CALLS, integers, seed, out);
    }
    // The hash function is inlined, whatever the length.
    all(keys, out, |key| xxh3_64_with_seed(key, seed));
}

/// Hashes keys by XXH64 without a seed, one output for each.
fn by_xxh64<K: Key>(keys: &[K], out: &mut [u64]) {
    if let Some(integers) = K::integers(keys)
        && let Ok(kernels) = Kernels::active()
    {
        return of_integers(kernels, &XXH64, integers, 0, out);
    }
    all(keys, out, |key| xxh64_of_bytes(key, 0));
}

/// A batch prefetches the bytes of keys so many places ahead, if they are elsewhere than the keys.
const AHEAD: usize = 16;

fn all<K: Key>(keys: &[K], out: &mut [u64], hash: impl Fn(&[u8]) -> u64 + Copy) {
    let (most, last) = keys.split_at(keys.len().saturating_sub(AHEAD));
    let (out, out_of_last) = out.split_at_mut(most.len());
    if keys.len() >= FEWEST {
        keys.iter().take(AHEAD).for_each(prefetch_bytes);
    }
    if !most.is_empty() {
        with_ahead(most, &keys[AHEAD..], out, hash);
    }
    with_ahead(last, last, out_of_last, hash);
}

#[inline(always)]
fn prefetch_bytes<K: Key>(key: &K) {
    key.elsewhere().into_iter().for_each(prefetch::<INTO_L1>);
}

/// Hashes keys, and prefetches as many that are ahead.
// As part of its callers it takes more instructions.
#[inline(never)]
fn with_ahead<K: Key>(keys: &[K], ahead: &[K], out: &mut [u64], hash: impl Fn(&[u8]) -> u64) {
    for ((key, ahead), out) in keys.iter().zip(ahead).zip(out) {
        prefetch_bytes(ahead);
        *out = hash(key.key_bytes().as_ref());
    }
}

/// Hashes many keys; `out` gets one hash per key, in order. Columns of `u32`, `i32`, `u64` and `i64`
/// are hashed several values at once.
///
/// An integer is hashed as the bytes of its own type, so a column has the hashes of its values one by
/// one. A column of `i32` does not meet a filter of `i64`: widen it first, if the keys were inserted
/// so. A column of `i32` and one of `u32` with the same bits are one.
///
/// # Panics
/// If `out` is not as long as `keys`.
///
/// ```
/// use bloomline::Filter;
/// use bloomline::hash::hash_batch;
///
/// let filter = Filter::from_keys([7i32, -7], 0.001)?;
/// let column = [-7i32, 7];
/// let mut hashes = [0; 2];
/// hash_batch(&column, 0, &mut hashes);
/// assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
/// # Ok::<(), bloomline::Error>(())
/// ```
pub fn hash_batch<K: Key>(keys: &[K], seed: u64, out: &mut [u64]) {
    assert_eq!(keys.len(), out.len(), "one output per key");
    if keys.len() >= FEWEST && K::integers(keys).is_some() {
        return by_xxh3(keys, seed, out);
    }
    all(keys, out, |key| hash(key, seed));
}

/// Hashes many integer keys; `out` gets one hash per key, in order.
///
/// # Panics
/// If `out` is not as long as `keys`.
pub fn hash_u64_batch(keys: &[u64], seed: u64, out: &mut [u64]) {
    hash_batch(keys, seed, out);
}

/// The same by any backend that this CPU has, for benchmarks.
#[cfg(feature = "internals")]
pub mod by {
    use crate::kernel::Backend;
    use crate::key::Integers;

    /// Writes the hashes of integers.
    ///
    /// # Panics
    /// If this CPU does not have the backend; if `out` is not as long as `values`.
    pub fn hash_u64_batch(backend: Backend, values: &[u64], seed: u64, out: &mut [u64]) {
        let kernels = backend.kernels().expect("this CPU's");
        super::of_integers(kernels, &super::CALLS, Integers::U64(values), seed, out);
    }
}

impl KeyHash {
    /// As [`in_parts`], with the hashes of this format.
    pub(crate) fn in_parts<K: Key>(self, keys: &[K], work: impl FnMut(&[u64], usize)) {
        in_parts(keys, |keys, out| self.hash_all(keys, out), work);
    }

    /// The hashes of keys, one output for each.
    pub(crate) fn hash_each<K: Key>(self, keys: &[K], out: &mut [u64]) {
        assert_eq!(keys.len(), out.len(), "one output per key");
        self.hash_all(keys, out);
    }

    /// The hashes of some keys, choosing the function once.
    pub(crate) fn hash_all<K: Key>(self, keys: &[K], out: &mut [u64]) {
        match self {
            KeyHash::Xxh3(seed) => by_xxh3(keys, seed, out),
            KeyHash::Xxph3 => all(keys, out, xxph3::xxph3),
            KeyHash::RocksDbLegacy => all(keys, out, |key| bloom32::rocksdb_legacy(key).into()),
            KeyHash::LevelDb => all(keys, out, |key| bloom32::leveldb(key).into()),
            KeyHash::Xxh64 => by_xxh64(keys, out),
        }
    }
}

/// Calls `work` with the hashes of keys, some at a time, and the number of the first. All parts but
/// the last are a multiple of 64.
pub(crate) fn in_parts<K>(
    keys: &[K],
    hash_all: impl Fn(&[K], &mut [u64]),
    mut work: impl FnMut(&[u64], usize),
) {
    const PART: usize = 512;
    // The array is zeroed: for a few keys that would take longer than all else.
    const SMALL_PART: usize = 16;
    if keys.len() <= SMALL_PART {
        let hashes = &mut [0; SMALL_PART][..keys.len()];
        hash_all(keys, hashes);
        return work(hashes, 0);
    }
    let mut hashes = [0; PART];
    for (i, keys) in keys.chunks(PART).enumerate() {
        let hashes = &mut hashes[..keys.len()];
        hash_all(keys, hashes);
        work(hashes, i * PART);
    }
}

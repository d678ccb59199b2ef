//! Key bytes to 64-bit hashes: XXH3-64 with a seed. Uses `xxhash-rust` only.
//!
//! A filter works on hashes. Those of this module are well mixed over all 64
//! bits, which every line and bit choice relies on; so must be any hash that a
//! caller brings along. Small integers as they are will not do: hash them with
//! [`hash_u64`].

pub mod bloom32;
pub mod xxph3;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The hash of a key.
#[inline]
pub fn hash(key: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(key, seed)
}

/// The hash of an integer key: that of its 8 little-endian bytes, on every CPU.
#[inline]
pub fn hash_u64(key: u64, seed: u64) -> u64 {
    xxh3_64_with_seed(&key.to_le_bytes(), seed)
}

/// Hashes many keys; `out` gets one hash per key, in order.
///
/// # Panics
/// If `out` is not as long as `keys`.
pub fn hash_batch<K: AsRef<[u8]>>(keys: &[K], seed: u64, out: &mut [u64]) {
    assert_eq!(keys.len(), out.len(), "one output per key");
    for (key, out) in keys.iter().zip(out) {
        *out = hash(key.as_ref(), seed);
    }
}

/// Hashes many integer keys; `out` gets one hash per key, in order.
///
/// # Panics
/// If `out` is not as long as `keys`.
pub fn hash_u64_batch(keys: &[u64], seed: u64, out: &mut [u64]) {
    assert_eq!(keys.len(), out.len(), "one output per key");
    for (&key, out) in keys.iter().zip(out) {
        *out = hash_u64(key, seed);
    }
}

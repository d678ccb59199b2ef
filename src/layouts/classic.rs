//! The standard Bloom filter, in its plainest form: one array of bits; anywhere in it a key
//! sets k bits.
//!
//! Its false-positive rate is up to 18 % lower than that of [`line`](mod@crate::definition::line) at 10 bits
//! per key, and two thirds lower at 20. A key takes up to k cache lines instead of one.
//!
//! ```text
//! positions of a hash among the n bits of a filter, by double hashing:
//!     at   = hash
//!     step = hash * C2 (mod 2^64)
//!     for i in 0 to k - 1:
//!         position = high 64 bits of (at * n)
//!         at   = at + step (mod 2^64)
//!         step = step + (i + 1) * C1 (mod 2^64)
//! insert   : set the bits
//! contains : are they all set
//! ```
//!
//! Bit `p` is bit `p mod 8` of byte `p / 8`. Because `step` grows, double hashing is as good as k
//! independent hashes. With equal steps, keys of similar steps would share runs of positions,
//! which in a filter of a few lines makes most of the false positives.
//!
//! This file is the definition. It alone makes the golden files. The kernel does the same for
//! many keys at a time; the tests compare it byte for byte.
//!
//! ```
//! use bloomline::definition::classic;
//!
//! let mut lines = [0; 64 * 10];
//! let hash = bloomline::hash::hash("apple", 0);
//! classic::insert(&mut lines, 6, hash); // k = 6
//! assert!(classic::contains(&lines, 6, hash));
//! ```

use crate::line::{C1, C2, line_index};

/// Returns the `k` positions of a hash among `bits` bits. They may repeat.
#[inline(always)]
pub fn positions(hash: u64, k: u32, bits: u64) -> impl Iterator<Item = u64> {
    let (mut at, mut step) = (hash, hash.wrapping_mul(C2));
    (0..k).map(move |i| {
        // The line index of so many lines of one bit.
        let position = line_index(at, bits);
        at = at.wrapping_add(step);
        step = step.wrapping_add(C1.wrapping_mul(u64::from(i) + 1));
        position
    })
}

/// Sets the bits of the key. `bytes` is the whole filter.
///
/// # Panics
/// If `bytes` is empty.
pub fn insert(bytes: &mut [u8], k: u32, hash: u64) {
    for position in positions(hash, k, 8 * bytes.len() as u64) {
        bytes[(position / 8) as usize] |= 1 << (position % 8);
    }
}

/// Returns whether all bits of the key are set. False: definitely absent; true: maybe.
///
/// # Panics
/// As [`insert`].
pub fn contains(bytes: &[u8], k: u32, hash: u64) -> bool {
    positions(hash, k, 8 * bytes.len() as u64)
        .all(|position| bytes[(position / 8) as usize] >> (position % 8) & 1 == 1)
}

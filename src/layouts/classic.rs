//! The textbook Bloom filter, in its plainest form: one array of bits, of which a key sets k,
//! anywhere.
//!
//! It has the lowest rate that bits can give, up to 18 % less than the lines of
//! [`line`](mod@crate::line) at 10 bits per key, and two thirds less at 20; and a key is up to
//! k cache lines, where there it is one.
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
//! Bit `p` is bit `p mod 8` of byte `p / 8`. That `step` grows is what makes double hashing
//! as good as k independent hashes: with equal steps, keys whose steps are alike meet each
//! other's bits in a row, and in a filter of a few lines that is most of the false positives.
//!
//! This file is the definition. The kernel does the same with many keys at a time and is held
//! to it, byte for byte, by the tests; the golden files are made by it alone.

use crate::line::{C1, C2, line_index};

/// The `k` positions of a hash among `bits` bits. The same one may come twice.
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

/// Sets the key's bits. `bytes` is the whole filter.
///
/// # Panics
/// If `bytes` is empty.
pub fn insert(bytes: &mut [u8], k: u32, hash: u64) {
    for position in positions(hash, k, 8 * bytes.len() as u64) {
        bytes[(position / 8) as usize] |= 1 << (position % 8);
    }
}

/// Whether all the key's bits are set: no means never inserted, yes means maybe.
///
/// # Panics
/// As [`insert`].
pub fn contains(bytes: &[u8], k: u32, hash: u64) -> bool {
    positions(hash, k, 8 * bytes.len() as u64)
        .all(|position| bytes[(position / 8) as usize] >> (position % 8) & 1 == 1)
}

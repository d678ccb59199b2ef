//! RocksDB's line, in its plainest form: that of its filters since format version 5
//! ("FastLocalBloom").
//!
//! A filter is an array of 64-byte lines of 512 bits; bit `b` is bit `b & 7` of byte
//! `b >> 3`. A key is a 64-bit hash, XXPH3 in RocksDB:
//!
//! ```text
//! index    = high 32 bits of (low 32 bits of hash * line_count)
//! bits     = x >> 23 for k values of x: the high 32 bits of the hash, then each the
//!            one before * 0x9E3779B9 (mod 2^32)
//! ```
//!
//! This is the definition; the tests compare the backends in `kernel/` with it.
//!
//! ```
//! use bloomline::definition::fast_local;
//!
//! let mut lines = [0; 64 * 10];
//! let hash = bloomline::hash::hash("apple", 0);
//! fast_local::insert(&mut lines, 6, hash); // k = 6
//! assert!(fast_local::contains(&lines, 6, hash));
//! ```

use crate::line::LINE_BYTES;

/// The largest number of bits a key may set in RocksDB's format.
pub const MAX_K: u32 = 30;

/// The factor from one position to the next.
pub const STEP: u32 = 0x9E37_79B9;

/// Which of `line_count` lines the hash belongs to.
#[inline(always)]
pub const fn line_index(hash: u64, line_count: u32) -> u32 {
    (((hash & 0xFFFF_FFFF) * line_count as u64) >> 32) as u32
}

/// Returns the positions of the hash's `k` bits in its line, 0 to 511. They may repeat.
pub fn positions(hash: u64, k: u32) -> impl Iterator<Item = u32> {
    let mut x = (hash >> 32) as u32;
    (0..k).map(move |_| {
        let position = x >> 23;
        x = x.wrapping_mul(STEP);
        position
    })
}

/// Where the line of a hash begins in the whole array of lines.
///
/// # Panics
/// Unless the array is a non-zero multiple of 64 bytes, of fewer than 2^32 lines.
fn line_at(lines: &[u8], hash: u64) -> usize {
    let count = u32::try_from(lines.len() / LINE_BYTES).expect("fewer than 2^32 lines");
    assert!(count > 0 && lines.len().is_multiple_of(LINE_BYTES), "whole lines");
    line_index(hash, count) as usize * LINE_BYTES
}

/// Sets the bits of the key. `lines` is the whole array.
///
/// # Panics
/// Unless `lines` is a non-zero multiple of 64 bytes, of fewer than 2^32 lines.
pub fn insert(lines: &mut [u8], k: u32, hash: u64) {
    let at = line_at(lines, hash);
    for position in positions(hash, k) {
        lines[at + position as usize / 8] |= 1 << (position % 8);
    }
}

/// Returns whether all bits of the key are set. False: definitely absent; true: maybe.
///
/// # Panics
/// As [`insert`].
pub fn contains(lines: &[u8], k: u32, hash: u64) -> bool {
    let at = line_at(lines, hash);
    positions(hash, k).all(|position| lines[at + position as usize / 8] >> (position % 8) & 1 == 1)
}

//! The line: the whole algorithm, in its plainest form.
//!
//! A filter is an array of lines: 512-bit blocks, each one cache line. A line is 8 lanes of 64
//! bits, stored little-endian. A key is a 64-bit hash. It belongs to one line and sets `k` bits
//! there, at most one per lane while `k <= 8`:
//!
//! ```text
//! index    = high 64 bits of (hash * line_count)
//! mask     = 8 lanes, from g = hash * C1 (mod 2^64):
//!            lane i has bit (g >> (13 + 6 i)) & 63, if (i + (g >> 61)) mod 8 < k
//!            k > 8: the same again with C2 for the k - 8 bits that are left
//! insert   : line |= mask
//! contains : line & mask == mask
//! ```
//!
//! This file is the definition. It alone makes the golden files. The backends in `kernel/` do the
//! same faster; the tests compare them with it byte for byte.

/// Bytes in a line: one cache line.
pub const LINE_BYTES: usize = 64;
/// 64-bit lanes in a line.
pub const LANES: usize = 8;
/// Bits in a line.
pub const LINE_BITS: u64 = 512;
/// The largest number of bits a key may set.
pub const MAX_K: u32 = 16;

/// Multiplier of the first round (lanes for the first 8 bits): 2^64 / golden ratio.
pub const C1: u64 = 0x9E37_79B9_7F4A_7C15;
/// Multiplier of the second round (the bits above 8).
pub const C2: u64 = 0xD6E8_FEB8_6659_FD93;
/// Lane `i` takes its bit position from `g >> SHIFTS[i]`.
pub const SHIFTS: [u32; LANES] = [13, 19, 25, 31, 37, 43, 49, 55];

/// Lane values of a line, or of a mask over it.
pub type Line = [u64; LANES];

/// Which of `line_count` lines the hash belongs to: `floor(hash * line_count / 2^64)`.
///
/// Works for any line count. The index grows with the hash, so halving an even count halves every
/// index: that makes folding possible.
#[inline(always)]
pub const fn line_index(hash: u64, line_count: u64) -> u64 {
    ((hash as u128 * line_count as u128) >> 64) as u64
}

/// Returns the bits that a key sets in its line.
///
/// # Panics
/// Unless `k` is 1 to 16.
pub const fn mask(hash: u64, k: u32) -> Line {
    assert!(1 <= k && k <= MAX_K, "k is 1 to 16");
    let first = round(hash.wrapping_mul(C1), if k < 8 { k } else { 8 });
    if k <= 8 {
        return first;
    }
    let second = round(hash.wrapping_mul(C2), k - 8);
    let mut both = first;
    let mut i = 0;
    while i < LANES {
        both[i] |= second[i];
        i += 1;
    }
    both
}

/// One bit in each of `count` consecutive lanes; lane 0 follows lane 7.
const fn round(g: u64, count: u32) -> Line {
    let mut mask = [0; LANES];
    let mut i = 0;
    while i < LANES {
        if lane_counts(i, g >> 61, count) {
            mask[i] = 1 << ((g >> SHIFTS[i]) & 63);
        }
        i += 1;
    }
    mask
}

/// Whether `lane` is one of the `count` lanes of the run that `start`, 0 to 7, selects.
pub(crate) const fn lane_counts(lane: usize, start: u64, count: u32) -> bool {
    (lane as u64 + start) % 8 < count as u64
}

/// Where the line of a hash begins in the whole array of lines.
///
/// # Panics
/// Unless the array is a non-zero multiple of 64 bytes.
fn line_at(lines: &[u8], hash: u64) -> usize {
    assert!(!lines.is_empty() && lines.len().is_multiple_of(LINE_BYTES), "whole lines");
    line_index(hash, (lines.len() / LINE_BYTES) as u64) as usize * LINE_BYTES
}

/// Sets the bits of the key. `lines` is the whole array.
///
/// # Panics
/// Unless `lines` is a non-zero multiple of 64 bytes, and `k` is 1 to 16.
pub fn insert(lines: &mut [u8], k: u32, hash: u64) {
    let at = line_at(lines, hash);
    for (i, bits) in mask(hash, k).iter().enumerate() {
        for (j, byte) in bits.to_le_bytes().iter().enumerate() {
            lines[at + 8 * i + j] |= byte;
        }
    }
}

/// Returns whether all bits of the key are set. False: definitely absent; true: maybe.
///
/// # Panics
/// As [`insert`].
pub fn contains(lines: &[u8], k: u32, hash: u64) -> bool {
    let at = line_at(lines, hash);
    mask(hash, k).iter().enumerate().all(|(i, bits)| {
        let present = bits.to_le_bytes();
        (0..8).all(|j| lines[at + 8 * i + j] & present[j] == present[j])
    })
}

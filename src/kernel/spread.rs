//! The older layouts of LevelDB and RocksDB: a 32-bit hash whose `k` bits are found by
//! adding a rotated copy of it again and again. Uses `batch`.
//!
//! ```text
//! delta    = hash rotated right by 17 bits
//! LevelDB  : bit hash % bits of the whole filter, then hash + delta, ...
//! RocksDB  : line hash % line_count; in it bit hash % line_bits, then hash + delta, ...
//! ```
//!
//! The hash is the low half of what a probe is given. Vectors gain nothing here: in
//! LevelDB's layout each bit is a cache line of its own, and a filter has some tens of
//! keys.

use super::batch::{Lines, Ops};

/// LevelDB's: the whole filter is one array of bits.
pub(super) struct LevelDb;

/// RocksDB's before format version 5: lines of `1 << LOG2` bytes.
pub(super) struct Legacy<const LOG2: u32>;

/// The `k` values from which positions are made.
#[inline(always)]
fn values(hash: u64, k: u32) -> impl Iterator<Item = u32> {
    let hash = hash as u32;
    let delta = hash.rotate_right(17);
    (0..k).map(move |i| hash.wrapping_add(delta.wrapping_mul(i)))
}

impl LevelDb {
    #[inline(always)]
    fn bit(lines: Lines, value: u32) -> (*mut u8, u32) {
        let position = u64::from(value) % (8 * lines.count());
        (lines.first().wrapping_add((position / 8) as usize), (position % 8) as u32)
    }
}

impl Ops for LevelDb {
    /// A line is a byte.
    const LINE_LOG2: u32 = 0;
    /// Filters are small, and there are k lines to a key.
    const PREFETCH: bool = false;

    #[inline(always)]
    fn line(lines: Lines, hash: u64) -> *const u8 {
        LevelDb::bit(lines, hash as u32).0
    }

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) {
        for value in values(hash, lines.k()) {
            let (byte, bit) = LevelDb::bit(lines, value);
            // SAFETY: the position is below the number of bits; the caller vouches for
            // the bytes.
            unsafe { *byte |= 1 << bit };
        }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        values(hash, lines.k()).all(|value| {
            let (byte, bit) = LevelDb::bit(lines, value);
            // SAFETY: as in `insert`.
            unsafe { *byte >> bit & 1 == 1 }
        })
    }
}

impl<const LOG2: u32> Legacy<LOG2> {
    #[inline(always)]
    fn bit(line: *mut u8, value: u32) -> (*mut u8, u32) {
        let position = value & ((8 << LOG2) - 1);
        (line.wrapping_add(position as usize / 8), position % 8)
    }

    #[inline(always)]
    fn start(lines: Lines, hash: u64) -> *mut u8 {
        let index = u64::from(hash as u32) % lines.count();
        lines.first().wrapping_add((index as usize) << LOG2)
    }
}

impl<const LOG2: u32> Ops for Legacy<LOG2> {
    const LINE_LOG2: u32 = LOG2;
    /// For the sake of old files; not worth loops of their own.
    const PREFETCH: bool = false;

    #[inline(always)]
    fn line(lines: Lines, hash: u64) -> *const u8 {
        Self::start(lines, hash)
    }

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) {
        let line = Self::start(lines, hash);
        for value in values(hash, lines.k()) {
            let (byte, bit) = Self::bit(line, value);
            // SAFETY: the byte is one of the line's, which the caller vouches for.
            unsafe { *byte |= 1 << bit };
        }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        let line = Self::start(lines, hash);
        values(hash, lines.k()).all(|value| {
            let (byte, bit) = Self::bit(line, value);
            // SAFETY: as in `insert`.
            unsafe { *byte >> bit & 1 == 1 }
        })
    }
}

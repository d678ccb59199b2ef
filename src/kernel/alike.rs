//! Several filters in which a key has the same bits.

use super::single::Single;
use crate::line::{LANES, LINE_BYTES, line_index};

/// Where the lines of a filter begin, and how many there are.
#[derive(Clone, Copy)]
pub(super) struct Column {
    base: *const u8,
    count: usize,
}

#[repr(align(64))]
struct Full([u8; LINE_BYTES]);

/// The line that has the bits of all keys.
static FULL: Full = Full([0xFF; LINE_BYTES]);

impl Column {
    /// Answers "maybe" to every key.
    pub(super) const ANYTHING: Column = Column { base: (&raw const FULL.0).cast(), count: 1 };

    #[cfg(all(test, target_arch = "x86_64"))]
    pub(super) fn at(base: *const u8, count: usize) -> Column {
        Column { base, count }
    }

    pub(super) fn of(single: &Single<'_>) -> Column {
        match single.count {
            0 => Column::ANYTHING,
            count => Column { base: single.start(), count },
        }
    }

    /// # Safety
    /// As for [`Alike`].
    #[inline(always)]
    pub(super) unsafe fn contains<A: Alike>(&self, hash: u64, k: u32) -> bool {
        // SAFETY: the caller's promise.
        unsafe { A::contains(self.base, self.count, hash, k) }
    }

    /// The line of a hash.
    #[inline(always)]
    pub(super) fn line<A: Alike>(&self, hash: u64) -> *const u8 {
        self.base.wrapping_add(A::index(hash, self.count) * LINE_BYTES)
    }
}

/// How a backend compares lines with the bits of a key that several filters share.
///
/// # Safety of the methods
/// The CPU has the backend's instructions; 64 bytes can be read at a line.
pub(super) trait Alike: Sized {
    /// The bits of a key in its line.
    type Mask: Copy;

    /// The number of the line of a hash, of so many lines.
    #[inline(always)]
    fn index(hash: u64, count: usize) -> usize {
        line_index(hash, count as u64) as usize
    }

    unsafe fn mask(hash: u64, k: u32) -> Self::Mask;

    /// Whether a line has all of them.
    unsafe fn has(line: *const u8, mask: Self::Mask) -> bool;

    /// The answers before, moved up, and the one about a line in the lowest bit.
    #[inline(always)]
    unsafe fn push(hits: u64, line: *const u8, mask: Self::Mask) -> u64 {
        // SAFETY: the caller's promise.
        hits << 1 | u64::from(unsafe { Self::has(line, mask) })
    }

    /// From so many filters on it pays to make the bits of a key once.
    const FEWEST: usize = 1;

    /// Whether a filter may have a key that no other is asked for, by its first line and the number of
    /// lines.
    #[inline(always)]
    unsafe fn contains(base: *const u8, count: usize, hash: u64, k: u32) -> bool {
        let line = base.wrapping_add(Self::index(hash, count) * LINE_BYTES);
        // SAFETY: the caller's promise.
        unsafe { Self::has(line, Self::mask(hash, k)) }
    }

    /// The answers before, moved up, and the one about such a filter in the lowest bit.
    #[inline(always)]
    unsafe fn push_one(hits: u64, column: Column, hash: u64, k: u32) -> u64 {
        // SAFETY: the caller's promise.
        hits << 1 | u64::from(unsafe { column.contains::<Self>(hash, k) })
    }
}

/// How it compares lines with any bits.
///
/// # Safety of the methods
/// As for [`Alike`].
pub(super) trait OfLanes: Alike {
    /// These bits, by lanes.
    unsafe fn of_lanes(lanes: [u64; LANES]) -> Self::Mask;
}

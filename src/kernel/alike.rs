//! Several filters in which a key has the same bits.

use crate::line::{LANES, LINE_BYTES, line_index};

/// How a backend compares lines with the bits of a key that several filters share.
///
/// # Safety of the methods
/// The CPU has the backend's instructions; 64 bytes can be read at a line.
pub(super) trait Alike {
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
}

/// How it compares lines with any bits.
///
/// # Safety of the methods
/// As for [`Alike`].
pub(super) trait OfLanes: Alike {
    /// These bits, by lanes.
    unsafe fn of_lanes(lanes: [u64; LANES]) -> Self::Mask;
}

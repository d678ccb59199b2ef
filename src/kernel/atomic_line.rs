//! Setting a key's bits while others set and read theirs: the step that the concurrent filter
//! takes. The lanes are behind a trait, and as many as one likes, so that a model checker can
//! stand in for the CPU's (`tests/loom.rs`).

use std::sync::atomic::{AtomicU64, Ordering};

/// A lane that threads share.
///
/// Relaxed order is enough: bits are only ever set, nobody draws a conclusion about other
/// memory from one of them, and a thread that has to see another's insert is told of it by
/// other means, which order the two.
pub trait Lane {
    /// Its bits.
    fn load(&self) -> u64;
    /// Sets bits in one step. What was there before is not asked for: to tell it, many CPUs
    /// would have to try until nobody comes between.
    fn or(&self, bits: u64);
}

impl Lane for AtomicU64 {
    #[inline(always)]
    fn load(&self) -> u64 {
        AtomicU64::load(self, Ordering::Relaxed)
    }

    #[inline(always)]
    fn or(&self, bits: u64) {
        self.fetch_or(bits, Ordering::Relaxed);
    }
}

/// Sets the bits of a mask; whether any of them was not set when it looked. Of threads that set
/// the same bits at once the first is told so, and others may be.
///
/// A line that has all bits is only read, so that keys which are in cost its other readers no
/// cache line. Else all lanes are written, also those that have their bits or that the mask
/// leaves alone: to guess which those are costs more than to write them.
#[inline(always)]
pub fn insert<L: Lane, const N: usize>(line: &[L; N], mask: &[u64; N]) -> bool {
    // Lanes are little-endian in memory.
    let lanes = || line.iter().zip(mask.iter().map(|bits| bits.to_le()));
    if lanes().fold(0, |unset, (lane, bits)| unset | (bits & !lane.load())) == 0 {
        return false;
    }
    lanes().for_each(|(lane, bits)| lane.or(bits));
    true
}

/// Sets bits of a lane, as they are in memory; whether any of them was not set when it looked.
/// Of threads that try at once the first is told so, and others may be. A lane that has its
/// bits already is only read, so that keys which are in cost no cache line its other readers.
#[inline(always)]
pub fn set<L: Lane>(lane: &L, bits: u64) -> bool {
    let new = lane.load() & bits != bits;
    if new {
        lane.or(bits);
    }
    new
}

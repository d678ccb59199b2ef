//! Setting a key's bits while other threads set and read theirs: one step of the concurrent filter.
//! The lanes, up to 32, are behind a trait, so that a model checker can replace the CPU's
//! (`tests/loom.rs`).

use std::sync::atomic::{AtomicU64, Ordering};

/// A lane that threads share.
///
/// Relaxed order is enough: bits are only ever set, and no bit says anything about other memory. A
/// thread that has to see another's insert learns of it by other means, which order the two.
pub trait Lane {
    /// Its bits.
    fn load(&self) -> u64;
    /// Sets bits atomically. It does not return the old value, for which many CPUs would have to
    /// retry until no other thread intervenes.
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

/// Sets the bits of a mask. Returns whether one of them was not set before. If threads set the same
/// bits at once, the first returns true, and others may.
///
/// Lanes that have their bits are only read, so present keys cost other readers no cache line. Those
/// that lack bits are found without a branch and then written in a loop: the CPU can hardly predict
/// which they are, but often how many.
#[inline(always)]
pub fn insert<L: Lane, const N: usize>(line: &[L; N], mask: &[u64; N]) -> bool {
    const { assert!(N <= 32) };
    // Lanes are little-endian in memory.
    let lacks = |i: usize| mask[i].to_le() & !line[i].load() != 0;
    let lacking = (0..N).fold(0u32, |lacking, i| lacking | u32::from(lacks(i)) << i);
    let mut left = lacking;
    while left != 0 {
        let i = left.trailing_zeros() as usize;
        line[i].or(mask[i].to_le());
        left &= left - 1;
    }
    lacking != 0
}

/// Sets bits of a lane, in memory order. Returns whether one of them was not set before. If threads
/// set the same bits at once, the first returns true, and others may. A lane that has its bits is
/// only read, so present keys cost its other readers no cache line.
#[inline(always)]
pub fn set<L: Lane>(lane: &L, bits: u64) -> bool {
    let new = lane.load() & bits != bits;
    if new {
        lane.or(bits);
    }
    new
}

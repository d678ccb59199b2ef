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

/// Sets the bits of a key, given as numbers of lanes and what each gets, unless the line has all of
/// them: for that they are not computed. Returns whether one was not set before. If threads set the
/// same bits at once, the first returns true, and others may.
///
/// Present keys are only read, so they cost other readers no cache line. If a bit is missing, all
/// lanes are written. To write only those that lack bits would take a branch on what is in memory: a
/// CPU that guesses wrong waits for the line before it goes on to the next key.
#[inline(always)]
pub fn insert<L: Lane, const N: usize, B: Iterator<Item = (usize, u64)>>(
    line: &[L; N],
    bits: impl FnOnce() -> B,
    has_all: impl FnOnce() -> bool,
) -> bool {
    let new = !has_all();
    if new {
        // Lanes are little-endian in memory.
        bits().for_each(|(lane, bits)| line[lane].or(bits.to_le()));
    }
    new
}

/// The same for a CPU on which an OR takes longer than a wrong guess, and a line that is in the cache:
/// only the lanes that lack bits are written. `bits` says what each lane gets.
///
/// The lanes are found without a branch, so the CPU guesses once, how many there are; and without a
/// store, for which the OR would wait.
#[inline(always)]
pub fn insert_missing<L: Lane, const N: usize>(line: &[L; N], bits: impl Fn(usize) -> u64) -> bool {
    let mut missing = 0_u32;
    for (i, lane) in line.iter().enumerate() {
        let bits = bits(i).to_le();
        missing |= u32::from(lane.load() & bits != bits) << i;
    }
    let new = missing != 0;
    while missing != 0 {
        let lane = missing.trailing_zeros() as usize;
        line[lane].or(bits(lane).to_le());
        missing &= missing - 1;
    }
    new
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

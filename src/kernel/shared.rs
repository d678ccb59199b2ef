//! The bytes that probes read, by their address: other threads may be inserting into them.
//!
//! Where one lane after the other is read, [`lane`] does it, a relaxed atomic load: in the kernels of
//! `scalar` and `portable` that [`Kernel::shared`](super::Kernel::shared) returns, and in those of classic
//! filters. Where a vector is read, [`read_shared_vector`] does it, which says why that is right. Kernels use
//! raw pointers, so no reference claims that the bytes are constant.

use crate::line::{LINE_BYTES, Line};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// A lane, as it is in memory, in which other threads may be setting bits.
///
/// Relaxed order is enough: see [`Lane`](super::atomic_line::Lane).
///
/// # Safety
/// It can be read, and is aligned.
#[inline(always)]
pub(super) unsafe fn lane(at: *const u64) -> u64 {
    // SAFETY: the caller's promise; all other accesses meanwhile are atomic, of the same size.
    unsafe { AtomicU64::from_ptr(at.cast_mut()) }.load(Ordering::Relaxed)
}

/// Reads lanes in which other threads may be setting bits, as one vector: the only access to shared
/// lines that is not atomic. `ConcurrentFilter` says so to users, and `packaging/tsan.supp` names this
/// function to ThreadSanitizer.
///
/// Rust has no atomic load of a vector, so this rests on the machine, not on the language:
///
/// * No lane is torn. Shared lanes are aligned to 64 bits, and on each CPU that has these vectors an
///   aligned 64-bit part of a vector is read at once.
/// * Lanes may be of different times. Each bit is one of its own: it is only ever set, and says
///   nothing about another. A key that was inserted before the probe has all bits in all later
///   states of its line, so it is found; for a key being inserted both answers are right.
/// * The compiler makes no use of the race. It sees a plain load by a raw pointer in a function that is
///   called by its address, and no store to the same place: threads store by atomic instructions
///   elsewhere. Where a kernel is inlined into its caller's loop, `native::halves` loads by `asm`, so
///   that no load moves out of the loop.
///
/// Built for ThreadSanitizer it is a call, with accesses that the sanitizer sees, so that a
/// suppression by its name finds it.
///
/// # Safety
/// They can be read. If other threads write them, it is as [`Probed::at`] says.
#[cfg_attr(not(bloomline_tsan), inline(always))]
#[cfg_attr(bloomline_tsan, inline(never))]
pub(super) unsafe fn read_shared_vector<V: Copy>(lanes: *const u8) -> V {
    if cfg!(not(bloomline_tsan)) {
        // SAFETY: the caller's promise; a vector of integers takes any bytes.
        return unsafe { lanes.cast::<V>().read_unaligned() };
    }
    let mut vector = MaybeUninit::<V>::uninit();
    for i in 0..size_of::<V>() / 8 {
        // SAFETY: as above, lane by lane, of which the vector has so many.
        unsafe {
            let lane = lanes.cast::<u64>().add(i);
            // Volatile, so that the compiler does not make a vector of them, which the sanitizer
            // does not see.
            let lane = if lane.is_aligned() { lane.read_volatile() } else { lane.read_unaligned() };
            vector.as_mut_ptr().cast::<u64>().add(i).write_unaligned(lane);
        }
    }
    // SAFETY: all of it was written.
    unsafe { vector.assume_init() }
}

/// Bytes to probe, borrowed for `'a`: their address and how many.
#[derive(Clone, Copy)]
pub(crate) struct Probed<'a> {
    start: *const u8,
    len: usize,
    borrowed: PhantomData<&'a [AtomicU8]>,
}

// SAFETY: it is a shared borrow of bytes that may be read in any thread.
unsafe impl Send for Probed<'_> {}
// SAFETY: as above.
unsafe impl Sync for Probed<'_> {}

impl<'a> From<&'a [u8]> for Probed<'a> {
    #[inline(always)]
    fn from(bytes: &'a [u8]) -> Probed<'a> {
        Probed { start: bytes.as_ptr(), len: bytes.len(), borrowed: PhantomData }
    }
}

impl<'a> Probed<'a> {
    /// So many bytes at an address.
    ///
    /// # Safety
    /// They can be read for as long as `'a`. Other threads that write them meanwhile only set bits
    /// in whole aligned lanes, by atomic operations, and no caller uses [`Probed::as_slice`].
    #[inline(always)]
    pub(crate) unsafe fn at(start: *const u8, len: usize) -> Probed<'a> {
        Probed { start, len, borrowed: PhantomData }
    }

    /// Lanes in which threads set bits. No caller uses [`Probed::as_slice`] on them.
    #[inline(always)]
    pub(crate) fn lanes(lanes: &'a [AtomicU64]) -> Probed<'a> {
        Probed { start: lanes.as_ptr().cast(), len: size_of_val(lanes), borrowed: PhantomData }
    }

    /// The first `len` bytes, if there are so many.
    #[inline(always)]
    pub(crate) fn first(self, len: usize) -> Option<Probed<'a>> {
        (len <= self.len).then_some(Probed { len, ..self })
    }

    /// Whether they are aligned lanes, as those that other threads write are.
    pub(crate) fn is_lanes(self) -> bool {
        self.start.cast::<AtomicU64>().is_aligned() && self.len.is_multiple_of(8)
    }

    #[inline(always)]
    pub(crate) fn start(self) -> *const u8 {
        self.start
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// How many bits are set, also while others set more of them.
    pub(crate) fn count_ones(self) -> u64 {
        let lanes = self.start.cast::<AtomicU64>();
        if !self.is_lanes() {
            // Lanes that others write are aligned.
            return self.as_slice().iter().map(|byte| u64::from(byte.count_ones())).sum();
        }
        // SAFETY: aligned lanes that can be read, of which others at most set bits.
        let lanes = unsafe { std::slice::from_raw_parts(lanes, self.len / 8) };
        lanes.iter().map(|lane| u64::from(lane.load(Ordering::Relaxed).count_ones())).sum()
    }

    /// A line, also while others set more of its bits.
    ///
    /// # Panics
    /// If there is none of this number.
    #[inline]
    pub(crate) fn line(self, number: usize) -> Line {
        assert!(number < self.len / LINE_BYTES, "a line");
        let lanes = self.start.wrapping_add(number * LINE_BYTES).cast::<u64>();
        if !self.is_lanes() {
            // Lanes that others write are aligned.
            // SAFETY: so many bytes are there.
            return unsafe { lanes.cast::<Line>().read_unaligned() }.map(u64::from_le);
        }
        // SAFETY: aligned lanes that can be read.
        std::array::from_fn(|i| u64::from_le(unsafe { lane(lanes.add(i)) }))
    }

    /// Passes on a copy of each line, of lanes that were read while others may set more bits.
    pub(crate) fn each_line(self, each: &mut dyn FnMut(&[u8; LINE_BYTES])) {
        let lanes = self.start.cast::<AtomicU64>();
        if !self.is_lanes() {
            // Lanes that others write are aligned.
            return self.as_slice().as_chunks().0.iter().for_each(each);
        }
        // SAFETY: as above.
        let lanes = unsafe { std::slice::from_raw_parts(lanes, self.len / 8) };
        for lanes in lanes.chunks_exact(LINE_BYTES / 8) {
            let mut line = [0; LINE_BYTES];
            for (bytes, lane) in line.as_chunks_mut().0.iter_mut().zip(lanes) {
                *bytes = lane.load(Ordering::Relaxed).to_ne_bytes();
            }
            each(&line);
        }
    }

    /// The bytes, which no thread writes.
    pub(crate) fn as_slice(self) -> &'a [u8] {
        // SAFETY: made of a slice, or by a caller who promised that no thread writes these bytes
        // if they are used as a slice.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

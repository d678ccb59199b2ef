//! The bytes that probes read, by their address: other threads may be inserting into them.
//!
//! Rust has no atomic load of a vector, so correctness rests on the machine, not on the language.
//! On every CPU with vectors here, an aligned lane of 64 bits is never read torn, not even as part
//! of a vector. Bits are only ever set. So the lanes that a kernel reads, in any order, have all
//! bits set before and no bits that no thread sets: a present key is found, and for a key being
//! inserted both answers are true. The kernels use raw pointers and are called through function
//! pointers; one that is inlined loads by `asm`. So no reference claims that the bytes are constant,
//! and the compiler never sees both sides of the race.

use super::Kernel;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

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
    /// in whole lanes, and no caller uses [`Probed::as_slice`].
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
    pub(crate) fn first(self, len: usize) -> Option<Probed<'a>> {
        (len <= self.len).then_some(Probed { len, ..self })
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
        if !lanes.is_aligned() || !self.len.is_multiple_of(8) {
            // Lanes that others write are aligned.
            return self.as_slice().iter().map(|byte| u64::from(byte.count_ones())).sum();
        }
        // SAFETY: aligned lanes that can be read, of which others at most set bits.
        let lanes = unsafe { std::slice::from_raw_parts(lanes, self.len / 8) };
        lanes.iter().map(|lane| u64::from(lane.load(Ordering::Relaxed).count_ones())).sum()
    }

    /// The bytes, which no thread writes.
    pub(crate) fn as_slice(self) -> &'a [u8] {
        // SAFETY: made of a slice, or by a caller who promised that no thread writes these bytes
        // if they are used as a slice.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl Kernel {
    /// Prefetches the line of a hash, to be written soon.
    #[inline]
    pub(crate) fn prefetch_shared(&self, lanes: &[AtomicU64], k: u32, hash: u64) {
        self.prefetch(Probed::lanes(lanes), k, hash);
    }
}

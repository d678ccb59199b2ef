//! What is probed: bytes by their address, since other threads may be adding keys to them.
//!
//! Rust has no atomic load of a vector, so this is told to the machine and not to the
//! language: an aligned lane of 64 bits is never read torn, also not as a part of a vector, on
//! any CPU that there are vectors for. Bits are only ever set. So whatever lanes a kernel
//! reads, in whatever order, have all bits that were set before and none that nobody sets:
//! a key that was in is found, and for one that is being added meanwhile both answers are
//! true. The kernels work through raw pointers, and are reached through pointers to functions:
//! no reference says that the bytes stay, and the compiler sees no two sides of the race to
//! reason about.

use super::{Hashes, Kernel, Prefetch};
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
    /// They can be read for as long as `'a`. If others write them meanwhile, they only set bits
    /// in whole lanes, and nobody asks for [`Probed::as_slice`].
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(crate) unsafe fn at(start: *const u8, len: usize) -> Probed<'a> {
        Probed { start, len, borrowed: PhantomData }
    }

    /// Lanes that threads set bits in. Nobody asks for [`Probed::as_slice`] of them.
    #[inline(always)]
    pub(crate) fn lanes(lanes: &'a [AtomicU64]) -> Probed<'a> {
        Probed { start: lanes.as_ptr().cast(), len: size_of_val(lanes), borrowed: PhantomData }
    }

    /// The first `len` bytes, if there are so many.
    #[cfg(feature = "capi")]
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
        if !lanes.is_aligned() || self.len % 8 != 0 {
            // Lanes that others write are aligned.
            return self.as_slice().iter().map(|byte| u64::from(byte.count_ones())).sum();
        }
        // SAFETY: aligned lanes that can be read, of which others at most set bits.
        let lanes = unsafe { std::slice::from_raw_parts(lanes, self.len / 8) };
        lanes.iter().map(|lane| u64::from(lane.load(Ordering::Relaxed).count_ones())).sum()
    }

    /// The bytes as such, of which nobody is writing any.
    pub(crate) fn as_slice(self) -> &'a [u8] {
        // SAFETY: made of a slice, or by somebody who promised that nobody writes these bytes if
        // they are asked for as a slice.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl Kernel {
    /// As [`Kernel::contains`], of lines to which keys may be added meanwhile.
    #[inline(always)]
    pub(crate) fn contains_shared(&self, lanes: &[AtomicU64], k: u32, hash: u64) -> bool {
        self.contains(Probed::lanes(lanes), k, hash)
    }

    /// As [`Kernel::probe_batch`], of lines to which keys may be added meanwhile.
    ///
    /// # Panics
    /// If `bitmap` has not a word for each 64 keys.
    pub(crate) fn probe_batch_shared(
        &self,
        lanes: &[AtomicU64],
        k: u32,
        hashes: Hashes<'_>,
        bitmap: &mut [u64],
    ) -> usize {
        let plan = Prefetch::to_probe(size_of_val(lanes));
        self.probe_batch_with(Probed::lanes(lanes), k, hashes, plan, bitmap)
    }

    /// Asks for the line of a hash, soon to be written. Does nothing else.
    #[inline]
    pub(crate) fn ask_shared(&self, lanes: &[AtomicU64], k: u32, hash: u64) {
        self.ask(Probed::lanes(lanes), k, hash);
    }
}

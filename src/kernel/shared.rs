//! Probes of lines to which other threads may be adding keys. The same kernels.
//!
//! Rust has no atomic load of a vector, so this is told to the machine and not to the
//! language: an aligned lane of 64 bits is never read torn, also not as a part of a vector, on
//! any CPU that there are vectors for. Bits are only ever set. So whatever lanes a kernel
//! reads, in whatever order, have all bits that were set before and none that nobody sets:
//! a key that was in is found, and for one that is being added meanwhile both answers are
//! true. The kernels work through raw pointers from here on, and are reached through pointers
//! to functions: no reference says that the bytes stay, and the compiler sees no two sides of
//! the race to reason about.

use super::batch::Lines;
use super::{Hashes, Kernel, Prefetch};
use std::sync::atomic::AtomicU64;

/// The lanes as lines.
fn lines_of(lanes: &[AtomicU64], k: u32, line_log2: u32) -> Lines {
    Lines::new(lanes.as_ptr().cast_mut().cast(), size_of_val(lanes), k, line_log2)
}

impl Kernel {
    /// As [`Kernel::contains`], of lines to which keys may be added meanwhile.
    #[inline(always)]
    pub(crate) fn contains_shared(&self, lanes: &[AtomicU64], k: u32, hash: u64) -> bool {
        // SAFETY: this CPU runs the kernel, since it exists; the bytes are a slice's, and may
        // be written meanwhile for the reasons above.
        unsafe { (self.contains)(lanes.as_ptr().cast(), size_of_val(lanes), k, hash) }
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
        assert!(bitmap.len() >= hashes.len().div_ceil(64), "one word of bitmap for 64 keys");
        let plan = Prefetch::to_probe(size_of_val(lanes));
        let lines = lines_of(lanes, k, self.line_log2);
        // SAFETY: as in `contains_shared`.
        unsafe { (self.probe_batch)(lines, hashes, plan, bitmap) }
    }

    /// Asks for the line of a hash, soon to be written. Does nothing else.
    #[inline]
    pub(crate) fn ask_shared(&self, lanes: &[AtomicU64], k: u32, hash: u64) {
        (self.ask)(lines_of(lanes, k, self.line_log2), hash);
    }
}

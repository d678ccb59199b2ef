//! Prefetch hints, and when which is used: the one table of measured distances.
//!
//! A probe that misses the caches costs as much as the memory system makes it
//! cost. Prefetching into L1, as is usual, stops at the few miss buffers of L1.
//! Prefetching into L2, far ahead, uses the longer queue of L2; a second prefetch,
//! near, then brings the line the short way into L1. In a filter that fits the
//! cache both only cost time. Uses nothing of the crate.

/// Into L1, for a line needed within the next few keys.
pub(crate) const NEAR: u8 = 1;
/// Into L2, for a line needed a block or more later.
pub(crate) const FAR: u8 = 2;

/// Asks for the cache line at `address`. Any address will do: a hint never faults.
#[inline(always)]
pub(crate) fn prefetch<const HINT: u8>(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetch instructions are part of the x86-64 baseline, and do not
    // access memory in any way a program can observe.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match HINT {
            NEAR => _mm_prefetch::<_MM_HINT_T0>(address.cast()),
            _ => _mm_prefetch::<_MM_HINT_T1>(address.cast()),
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: prfm is part of the aarch64 baseline, and does not access memory in
    // any way a program can observe.
    unsafe {
        match HINT {
            NEAR => core::arch::asm!(
                "prfm pldl1keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly)
            ),
            _ => core::arch::asm!(
                "prfm pldl2keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly)
            ),
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

/// How far ahead a batch asks for its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefetch {
    /// Blocks of 64 keys asked for into L2 ahead of their use, 0 to 3; 0 = no prefetch.
    pub far: usize,
    /// Whether the next few lines are asked for into L1 as well.
    pub near: bool,
}

impl Prefetch {
    /// No prefetch at all.
    pub const NONE: Prefetch = Prefetch { far: 0, near: false };
}

impl Prefetch {
    /// What pays when a filter of so many bytes is probed.
    pub(crate) fn to_probe(bytes: usize) -> Prefetch {
        if bytes < 3 << 20 { Prefetch::NONE } else { Prefetch { far: 2, near: bytes >= 32 << 20 } }
    }

    /// What pays when keys are inserted into a filter of so many bytes.
    pub(crate) fn to_insert(bytes: usize) -> Prefetch {
        if bytes < 3 << 20 { Prefetch::NONE } else { Prefetch { far: 1, near: false } }
    }
}

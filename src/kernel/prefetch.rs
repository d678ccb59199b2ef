//! Prefetch hints, and when which is used: the one table of measured distances.
//!
//! A probe that misses the caches costs as much as the memory system makes it
//! cost. Prefetching into L1, as is usual, stops at the few miss buffers of L1.
//! Prefetching into L2, far ahead, uses the longer queue of L2; a second prefetch,
//! near, then brings the line the short way into L1. In a filter that fits the
//! cache both only cost time.

use crate::line::LINE_BYTES;

/// Into L1, for a line needed within the next few keys.
pub(crate) const INTO_L1: u8 = 1;
/// Into L2, for a line needed a block or more later.
pub(crate) const INTO_L2: u8 = 2;

/// Asks for the cache line at `address`. Any address will do: a hint never faults.
#[inline(always)]
pub(crate) fn prefetch<const HINT: u8>(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetch instructions are part of the x86-64 baseline, and do not
    // access memory in any way a program can observe.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match HINT {
            INTO_L1 => _mm_prefetch::<_MM_HINT_T0>(address.cast()),
            _ => _mm_prefetch::<_MM_HINT_T1>(address.cast()),
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: prfm is part of the aarch64 baseline, and does not access memory in
    // any way a program can observe.
    unsafe {
        match HINT {
            INTO_L1 => core::arch::asm!(
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

/// Asks for some bytes, aligned to cache lines, that will be needed soon.
#[inline(always)]
pub(crate) fn prefetch_all(bytes: &[u8]) {
    for line in bytes.chunks(LINE_BYTES) {
        prefetch::<INTO_L2>(line.as_ptr());
    }
}

/// How a batch asks for its lines ahead of their use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetch {
    /// Not at all.
    None,
    /// Into L2, 128 keys ahead.
    Far,
    /// The same, and into L1, 8 keys ahead.
    FarAndNear,
}

// What pays, by the size of the filter. `cargo bench --bench sweep` measures it; a
// CPU for which other rows are better gets its own when somebody has measured them.
// ns per key, k = 6, none / far / far and near:
//
//   MiB   AMD Zen 4 (1 MiB L2), AVX-512    AVX2                   insert, AVX-512
//     4   1.6 to 4.0 / 1.5 / 1.8           3.2 / 2.1 / 2.4        1.9 to 3.4 / 1.8 / 2.6
//     8   4.5 / 1.64 / 1.90                10 / 2.4 / 2.8         2.5 / 2.0 / 2.7
//    16   6.7 / 2.1 / 2.2                  16 / 2.6 / 2.9         7.4 / 2.6 / 3.0
//    64   9.7 / 4.9 / 2.9                  14 / 3.0 / 3.0         12 / 4.1 / 3.2
//   512   11.6 / 6.9 / 4.2                 22 / 4.7 / 4.9         15 / 6.3 / 5.6
//
// (At 4 MiB it depends on who else uses L3; asking costs little where it does not pay.)
//
// On an Intel Xeon (2 MiB L2, 480 MiB L3; an earlier form, 64 ahead), AVX-512 and insert:
//
//     4   1.07 / 1.30 / 1.56               insert 1.20 / 1.52
//     8   2.64 / 2.34 / 2.48               2.49 / 2.68
//    64   4.29 / 3.75 / 3.58               3.81 / 3.52
//   512   7.70 / 7.15 / 6.66               7.28 / 6.20
const MIB: usize = 1 << 20;

impl Prefetch {
    /// What pays when a filter of so many bytes is probed.
    pub(crate) fn to_probe(bytes: usize) -> Prefetch {
        match bytes / MIB {
            0..3 => Prefetch::None,
            3..16 => Prefetch::Far,
            _ => Prefetch::FarAndNear,
        }
    }

    /// The same for few keys, no more than a block. Who asks for few asks one filter after the
    /// other, as an engine does: that it would fit into the core's own caches does not mean
    /// that it is there.
    pub(crate) fn to_probe_few(bytes: usize) -> Prefetch {
        if bytes < MIB / 4 { Prefetch::None } else { Prefetch::Far }
    }

    /// What pays when keys are inserted into a filter of so many bytes. At 1 MiB far
    /// costs a sixth on Zen 4, at 2 MiB it saves from nothing to a fifth.
    pub(crate) fn to_insert(bytes: usize) -> Prefetch {
        match bytes / MIB {
            0..2 => Prefetch::None,
            2..32 => Prefetch::Far,
            _ => Prefetch::FarAndNear,
        }
    }
}

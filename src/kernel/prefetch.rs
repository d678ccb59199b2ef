//! Prefetch hints, and when which is used: the one table of measured distances.
//!
//! Prefetching into L1, as is usual, is limited by the few miss buffers of L1. Prefetching into
//! L2, far ahead, uses the longer queue of L2; a second, near prefetch then brings the line the
//! short way into L1. In a filter that fits in the cache, both only cost time.

use crate::line::LINE_BYTES;

/// How far ahead lines are prefetched: keys from the one at work to the one whose lines are. All
/// were measured, by `cargo bench --bench sweep` or `--bench ratios`.
pub(crate) mod ahead {
    /// Batches, into L2.
    pub(crate) const FAR: usize = 128;
    /// The same in large filters, into L1.
    pub(crate) const NEAR: usize = 8;
    /// Probes of windows, all generations.
    pub(crate) const WINDOW: usize = 32;
    /// Inserts into windows, the newest generation.
    pub(crate) const WINDOW_INSERT: usize = 16;
    /// Inserts into concurrent filters.
    pub(crate) const CONCURRENT: usize = 16;
    /// Inserts into cuckoo filters, both buckets.
    pub(crate) const CUCKOO: usize = 16;
    /// In bytes: smaller cuckoo filters are not prefetched for inserts.
    pub(crate) const CUCKOO_FROM: usize = 1 << 20;
    /// Inserts into counting filters and removals, the four cache lines of the counters.
    pub(crate) const COUNTING: usize = 12;
}

/// Batches of up to so many keys are done key by key, without tiles.
pub(crate) const FEW: usize = 16;

/// Into L1, for a line needed within the next few keys.
pub(crate) const INTO_L1: u8 = 1;
/// Into L2, for a line needed a tile or more later.
pub(crate) const INTO_L2: u8 = 2;

/// Prefetches the cache line at `address`, which may be any: a hint never faults.
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

/// Prefetches some bytes, aligned to cache lines.
#[inline(always)]
pub(crate) fn prefetch_all(bytes: &[u8]) {
    for line in bytes.chunks(LINE_BYTES) {
        prefetch::<INTO_L2>(line.as_ptr());
    }
}

/// How a batch prefetches its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetch {
    /// Not at all.
    None,
    /// Into L2, 128 keys ahead.
    Far,
    /// The same, and into L1, 8 keys ahead.
    FarAndNear,
}

// What pays, by the size of the filter, as `make bench-sweep` measures it. ns per key,
// k = 6, none / far / far and near:
//
//   MiB   AMD Zen 4 (1 MiB L2), AVX-512    AVX2                   insert, AVX-512
//     4   1.6 to 4.0 / 1.5 / 1.8           3.2 / 2.1 / 2.4        1.9 to 3.4 / 1.8 / 2.6
//     8   4.5 / 1.64 / 1.90                10 / 2.4 / 2.8         2.5 / 2.0 / 2.7
//    16   6.7 / 2.1 / 2.2                  16 / 2.6 / 2.9         7.4 / 2.6 / 3.0
//    64   9.7 / 4.9 / 2.9                  14 / 3.0 / 3.0         12 / 4.1 / 3.2
//   512   11.6 / 6.9 / 4.2                 22 / 4.7 / 4.9         15 / 6.3 / 5.6
//
// (At 4 MiB it depends on who else uses L3; an unneeded prefetch costs little.)
//
// An Intel Xeon (2 MiB L2, 480 MiB L3), AVX-512 and insert; far is 64 keys ahead there:
//
//     4   1.07 / 1.30 / 1.56               insert 1.20 / 1.52
//     8   2.64 / 2.34 / 2.48               2.49 / 2.68
//    64   4.29 / 3.75 / 3.58               3.81 / 3.52
//   512   7.70 / 7.15 / 6.66               7.28 / 6.20
const MIB: usize = 1 << 20;

impl Prefetch {
    /// What pays for probes of a filter of so many bytes.
    pub(crate) fn to_probe(bytes: usize) -> Prefetch {
        match bytes / MIB {
            0..3 => Prefetch::None,
            3..16 => Prefetch::Far,
            _ => Prefetch::FarAndNear,
        }
    }

    /// The same for a tile of keys or less. A caller with few keys probes one filter after
    /// another, as an engine does, so even a small filter may not be in the cache.
    pub(crate) fn to_probe_few(bytes: usize) -> Prefetch {
        if bytes < MIB / 4 { Prefetch::None } else { Prefetch::Far }
    }

    /// What pays for inserts into a filter of so many bytes. On Zen 4, far costs a sixth at 1 MiB
    /// and saves up to a fifth at 2 MiB.
    pub(crate) fn to_insert(bytes: usize) -> Prefetch {
        match bytes / MIB {
            0..2 => Prefetch::None,
            2..32 => Prefetch::Far,
            _ => Prefetch::FarAndNear,
        }
    }
}

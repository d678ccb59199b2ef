//! Prefetch hints, how far ahead of the keys at work they are, and how a batch uses them. From which
//! size on they pay says `tuning`.
//!
//! Prefetching into L1, as is usual, is limited by the few miss buffers of L1. Prefetching into
//! L2, far ahead, uses the longer queue of L2; a second, near prefetch then brings the line the
//! short way into L1. In a filter that fits in the cache, both only cost time.

use crate::line::LINE_BYTES;

/// How far ahead lines are prefetched: keys from the one at work to the one whose lines are. Unless it
/// says otherwise, they were measured, by `cargo bench --bench sweep` or `--bench ratios`.
pub(crate) mod ahead {
    /// Batches of byte keys hash so many at the start, so that the first lines are prefetched soon.
    pub(crate) const FIRST_HASHES: usize = 8;
    /// Batches, into L2. On a Zen 4 with other work on it (4 to 256 MiB, AVX2 and AVX-512, probes and
    /// inserts), 64 take 1.0 to 1.46 of the time of 128, at the median 1.23. 96 take 0.88 to 1.17 and
    /// 192 take 0.83 to 1.11, at the median 1.04 and 1.0. On an Intel Xeon whose model was not
    /// recorded, 128 take at most 1.05 of the best loop that only touches lines, over all hints and
    /// distances. So all CPUs have one distance.
    pub(crate) const FAR: usize = 128;
    /// The same in large filters, into L1.
    pub(crate) const NEAR: usize = 8;
    /// Fewer keys in a call are not prefetched.
    pub(crate) const FEWEST: usize = 4;
    /// The same in cuckoo filters.
    pub(crate) const FEWEST_CUCKOO: usize = 8;
    /// Probes of windows, all generations.
    pub(crate) const WINDOW: usize = 32;
    /// Inserts into windows, the newest generation.
    pub(crate) const WINDOW_INSERT: usize = 16;
    /// Inserts into concurrent filters whose bits lie anywhere.
    pub(crate) const CONCURRENT: usize = 16;
    /// Inserts into cuckoo filters, both buckets.
    pub(crate) const CUCKOO: usize = 16;
    /// Inserts into counting filters and removals, the four cache lines of the counters.
    pub(crate) const COUNTING: usize = 12;
    /// Inserts into growing filters and removals. Not measured by a sweep.
    pub(crate) const GROWING: usize = 12;
    /// Probes of matrices and inserts, the rows of the key. Not measured by a sweep.
    pub(crate) const MATRIX: usize = 8;
    /// Filters that become columns of a matrix: filters, not keys. Not measured by a sweep.
    pub(crate) const COLUMNS: usize = 2;
}

/// Up to so many keys in a call are probed one by one, where a batch takes longer. (Growing filters, where it
/// depends on more, say it themselves.)
pub(crate) mod singly {
    /// In a cascade.
    pub(crate) const CASCADE: usize = 6;
    /// In a cascade, of those that pass the first layer.
    pub(crate) const CASCADE_PASSED: usize = 8;
    /// In a scalable filter out of the cache.
    pub(crate) const SCALABLE: usize = 2;
    /// In a window.
    pub(crate) const WINDOW: usize = 3;
    /// In a view, of keys that lie anywhere.
    #[cfg(feature = "capi")]
    pub(crate) const ANYWHERE: usize = 2;
    /// By the bytes of keys, in a view of a static or a cuckoo filter.
    #[cfg(feature = "capi")]
    pub(crate) const HASHED: usize = 6;
}

/// Batches of up to so many keys are done key by key, without tiles.
pub(crate) const KEY_BY_KEY: usize = 32;

/// One key of so many filters or more has its lines prefetched, if that pays. Fewer misses overlap
/// by themselves.
pub(crate) const FAR_VIEWS: usize = 16;

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

/// What a probe reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// A line, or bits all over: the next probes' reads overlap with these.
    One,
    /// Several lines, or one that takes long.
    Several,
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

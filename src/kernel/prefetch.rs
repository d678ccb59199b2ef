//! Prefetch hints, and when which is used: the one table of measured distances.
//!
//! Prefetching into L1, as is usual, is limited by the few miss buffers of L1. Prefetching into
//! L2, far ahead, uses the longer queue of L2; a second, near prefetch then brings the line the
//! short way into L1. In a filter that fits in the cache, both only cost time.

use crate::line::LINE_BYTES;
use crate::os::cache::Caches;
use crate::os::environment::{self, Setting};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How far ahead lines are prefetched: keys from the one at work to the one whose lines are. All
/// were measured, by `cargo bench --bench sweep` or `--bench ratios`.
pub(crate) mod ahead {
    /// Batches of byte keys hash so many at the start, so that the first lines are prefetched soon.
    pub(crate) const FIRST_HASHES: usize = 8;
    /// Batches, into L2.
    pub(crate) const FAR: usize = 128;
    /// The same in large filters, into L1.
    pub(crate) const NEAR: usize = 8;
    /// Fewer keys in a call are not prefetched.
    pub(crate) const FEWEST: usize = 4;
    /// Probes of windows, all generations.
    pub(crate) const WINDOW: usize = 32;
    /// Inserts into windows, the newest generation.
    pub(crate) const WINDOW_INSERT: usize = 16;
    /// Inserts into concurrent filters.
    pub(crate) const CONCURRENT: usize = 16;
    /// Inserts into cuckoo filters, both buckets.
    pub(crate) const CUCKOO: usize = 16;
    /// Inserts into counting filters and removals, the four cache lines of the counters.
    pub(crate) const COUNTING: usize = 12;
}

/// Batches of up to so many keys are done key by key, without tiles.
pub(crate) const KEY_BY_KEY: usize = 32;

/// One key of so many filters or more has its lines prefetched, if that pays. Fewer misses overlap
/// by themselves.
pub(crate) const FAR_VIEWS: usize = 8;

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
//
// An older Intel Xeon (1 MiB L2, 36 MiB L3), AVX2 and insert, by processor time on a busy machine:
//
//     1   7.0 / 3.5 / 3.8                  14 / 7.2 / 7.7
//     2   13 / 3.4 / 4.1                   26 / 7.2 / 7.6
//     4   17 / 5.3 / 5.6                   30 / 8.3 / 8.5
//    16   19 / 9.5 / 9.9                   27 / 9.0 / 9.0
//    64   24 / 12.1 / 12.3                 34 / 12.8 / 12.5
//
// So from L2's own size on. There a Zen 4 without neighbours takes up to a sixth longer with a
// prefetch, and this Xeon up to four times as long without.

/// No filter is as large, and its double is no overflow.
const NEVER: usize = usize::MAX / 4;

/// The sizes, in bytes, that filters are compared with to see what pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    /// From where a batch prefetches: L2.
    far: usize,
    /// From where a batch of probes prefetches near too: there L3 no longer has most lines.
    near: usize,
}

impl Sizes {
    /// For these caches.
    const fn of(caches: Caches) -> Sizes {
        // What is not known is taken for that of a Zen 4. No core has less L2 than 128 KiB, and
        // one that reports more than 4 MiB shares it with others.
        let l2 = match caches.l2 {
            0 => 1 << 20,
            1..LEAST_L2 => LEAST_L2,
            LEAST_L2..MOST_L2 => caches.l2,
            MOST_L2.. => MOST_L2,
        };
        let near = 16 * l2;
        let half = caches.l3 / 2;
        Sizes { far: l2, near: if half > 0 && half < near { half } else { near } }
    }

    /// For a filter of any size, whatever the caches.
    const fn forced(plan: Prefetch) -> Sizes {
        match plan {
            Prefetch::None => Sizes { far: NEVER, near: NEVER },
            Prefetch::Far => Sizes { far: 0, near: NEVER },
            Prefetch::FarAndNear => Sizes { far: 0, near: 0 },
        }
    }

    /// Those in use.
    #[inline(always)]
    fn get() -> Sizes {
        Sizes { far: FAR.load(Ordering::Relaxed), near: NEAR.load(Ordering::Relaxed) }
    }

    fn to_probe(self, bytes: usize) -> Prefetch {
        by_size(bytes, self.far, self.near)
    }

    fn to_probe_few(self, bytes: usize) -> Prefetch {
        by_size(bytes, self.far / 2, usize::MAX)
    }

    fn to_insert(self, bytes: usize) -> Prefetch {
        by_size(bytes, self.far, 2 * self.near)
    }
}

const LEAST_L2: usize = 128 << 10;
const MOST_L2: usize = 4 << 20;

fn by_size(bytes: usize, far: usize, near: usize) -> Prefetch {
    match bytes {
        _ if bytes < far => Prefetch::None,
        _ if bytes < near => Prefetch::Far,
        _ => Prefetch::FarAndNear,
    }
}

// The sizes in use. A thread that comes before `learn` is done works with the usual ones.
static FAR: AtomicUsize = AtomicUsize::new(USUAL.far);
static NEAR: AtomicUsize = AtomicUsize::new(USUAL.near);
const USUAL: Sizes = Sizes::of(Caches { l2: 0, l3: 0 });

/// Sets the sizes once per process: by the environment's `BLOOMLINE_PREFETCH`, or else the caches.
/// Called before anything is made. None waits for another; threads that come first at once may all
/// do it, with the same result.
pub(super) fn learn() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.load(Ordering::Relaxed) {
        return;
    }
    let sizes = match environment::PREFETCH.get() {
        Setting::Value(index) => Sizes::forced(FORCED[index]),
        Setting::Unset | Setting::Unknown => Sizes::of(Caches::read()),
    };
    FAR.store(sizes.far, Ordering::Relaxed);
    NEAR.store(sizes.near, Ordering::Relaxed);
    DONE.store(true, Ordering::Relaxed);
}

/// What the values of the variable mean, in its order: none, far, near.
const FORCED: [Prefetch; 3] = [Prefetch::None, Prefetch::Far, Prefetch::FarAndNear];

impl Prefetch {
    /// What pays for probes of a filter of so many bytes.
    #[inline]
    pub(crate) fn to_probe(bytes: usize) -> Prefetch {
        Sizes::get().to_probe(bytes)
    }

    /// The same for a tile of keys or less. A caller with few keys probes one filter after
    /// another, as an engine does, so even a small filter may not be in the cache.
    #[inline]
    pub(crate) fn to_probe_few(bytes: usize) -> Prefetch {
        Sizes::get().to_probe_few(bytes)
    }

    /// What pays for inserts into a filter of so many bytes.
    #[inline]
    pub(crate) fn to_insert(bytes: usize) -> Prefetch {
        Sizes::get().to_insert(bytes)
    }

    /// Whether so many inserts into a filter of so many bytes are to prefetch all of its lines first, in
    /// order: if it fits in the cache, and each line gets four keys or more. If it was in memory, 256 KiB
    /// then take 1.65 ns per key instead of 2.9; in the cache that costs a thirtieth (Zen 4).
    pub(crate) fn all_to_insert(bytes: usize, keys: usize) -> bool {
        let far = Sizes::get().far;
        bytes < far && far < NEVER && keys >= bytes / (LINE_BYTES / 4)
    }

    /// Whether prefetching pays for one key of several filters, so many bytes together. With 1 MiB of
    /// L2 and the usual L3, 8 of 1.2 MB take 0.6 of the time; 4 of them would take 1.3.
    #[inline]
    pub(crate) fn to_probe_views(bytes: usize) -> bool {
        bytes >= Sizes::get().far.saturating_mul(8)
    }

    /// Whether prefetching pays for inserts into a cuckoo filter of so many bytes.
    pub(crate) fn to_insert_cuckoo(bytes: usize) -> bool {
        bytes >= Sizes::get().far
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn caches(l2: usize, l3: usize) -> Sizes {
        Sizes::of(Caches { l2, l3 })
    }

    #[test]
    fn the_measured_cpus_get_what_was_measured() {
        use Prefetch::{Far, FarAndNear, None};
        let zen_4 = caches(MIB, 32 * MIB);
        assert_eq!(zen_4, USUAL);
        assert_eq!(zen_4.to_probe(MIB - 1), None);
        for (mib, plan) in [(1, Far), (15, Far), (16, FarAndNear), (512, FarAndNear)] {
            assert_eq!(zen_4.to_probe(mib * MIB), plan, "{mib} MiB");
        }
        for (mib, plan) in [(1, Far), (31, Far), (32, FarAndNear)] {
            assert_eq!(zen_4.to_insert(mib * MIB), plan, "{mib} MiB");
        }
        assert_eq!(zen_4.to_probe_few(MIB / 2 - 1), None);
        assert_eq!(zen_4.to_probe_few(MIB / 2), Far);
        assert_eq!(zen_4.to_probe_few(512 * MIB), Far);
        let xeon = caches(2 * MIB, 480 * MIB);
        for (mib, plan) in [(1, None), (8, Far), (64, FarAndNear)] {
            assert_eq!(xeon.to_probe(mib * MIB), plan, "{mib} MiB");
        }
    }

    #[test]
    fn larger_filters_and_smaller_caches_prefetch_no_less() {
        let rank = |plan| FORCED.iter().position(|&forced| forced == plan);
        let all = [0, 1, 64 << 10, 256 << 10, MIB, 2 * MIB, 12 * MIB, 1 << 30, usize::MAX];
        for ask in [Sizes::to_probe, Sizes::to_probe_few, Sizes::to_insert] {
            for (l2, l3) in all.map(|l2| all.map(|l3| (l2, l3))).into_iter().flatten() {
                let mut last = rank(Prefetch::None);
                for bytes in (10..31).flat_map(|log2| [(1 << log2) - 1, 1 << log2, 3 << (log2 - 1)])
                {
                    let plan = rank(ask(caches(l2, l3), bytes));
                    assert!(plan >= last, "{bytes} bytes, L2 {l2}, L3 {l3}");
                    let larger = rank(ask(caches(l2.saturating_mul(2), l3), bytes));
                    assert!(l2 == 0 || plan >= larger, "{bytes} bytes, L2 {l2}, L3 {l3}");
                    last = plan;
                }
                assert_ne!(last, rank(Prefetch::None), "no cache holds a gigabyte");
            }
        }
    }

    #[test]
    fn a_forced_plan_is_that_of_all_sizes() {
        for plan in FORCED {
            for bytes in [0, 64, MIB, 200 * MIB] {
                let forced = Sizes::forced(plan);
                assert_eq!(forced.to_probe(bytes), plan);
                assert_eq!(forced.to_insert(bytes), plan);
                let few = forced.to_probe_few(bytes);
                assert_eq!(few == Prefetch::None, plan == Prefetch::None);
            }
        }
    }
}

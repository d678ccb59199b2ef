//! From which size of a filter on prefetching pays: a row for each kind of core that was measured, and
//! one on paper, the sizes in use, and the choice by size. `make tune` measures a machine, and prints its
//! row with its regret: how much longer than by the best plan of each size it takes.

use super::backend::Backend;
use super::prefetch::Prefetch;
use crate::line::LINE_BYTES;
use crate::os::cache::Caches;
use crate::os::cpu::{self, is_intel};
use crate::os::environment::{self, Setting};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A row: from how many times the L2 on what pays. The L2 is what explains most: a filter that it
/// holds needs no hints, one that only L3 holds does.
struct Row {
    /// Whether it is the row of such a core.
    is_of: fn(Core) -> bool,
    /// From where a batch prefetches its probes.
    far: usize,
    /// From where it prefetches near, too: there L3 no longer has most lines. Half of L3, if that is
    /// less.
    near: usize,
    /// The same for inserts.
    insert_far: usize,
    insert_near: usize,
    /// From where one key of many filters has all lines prefetched, by the bytes of all; 0: nowhere.
    views: usize,
}

/// The rows. The first that is of a core counts; the last is of all.
const ROWS: [Row; 3] = [
    // Intel's cores with AVX-512 and 2 MiB of L2 (Sapphire, Emerald and Granite Rapids) look ahead over
    // 512 instructions, and overlap misses by themselves for longer. The L2 does not explain that: one
    // with 1 MiB needs hints from there on.
    Row {
        is_of: |core| core.intel && core.avx512 && core.caches.l2 >= 2 << 20,
        far: 3,
        near: 16,
        insert_far: 8,
        insert_near: 32,
        views: 0,
    },
    // 64-bit Arm cores: not measured, by what is published. Servers' have 1 or 2 MiB of L2 (Neoverse N1,
    // V1, V2), and look ahead over 128 to 320 instructions, no more than a Zen 4. A probe by NEON has more of
    // them, so fewer misses overlap by themselves: what pays on a Zen 4 from the L2 on pays here. Behind
    // the L2 is a mesh, whose 32 to 36 MiB of L3 are for 64 or 96 cores, and farther away than a Zen 4's.
    // So the near prefetch, which costs little where it is not needed, begins at half as many times the L2.
    Row { is_of: |core| core.aarch64, far: 1, near: 8, insert_far: 1, insert_near: 16, views: 8 },
    // AMD's Zen 4 and Zen 5, older Intel cores; all that was not measured. In the tables below the row's
    // regret is at the mean 1 to 3 % on the Zen 4. On the Zen 5 it is 10 % with AVX-512, which could do
    // without a prefetch up to 4 MiB, and 1 % with AVX2, which could not: so they have no rows of their own.
    Row { is_of: |_| true, far: 1, near: 16, insert_far: 1, insert_near: 32, views: 4 },
];

// What the rows are from: ns per key by the size of the filter (`make bench-sweep`), k = 6, none / far /
// far and near, on machines that docs/PERFORMANCE.md names:
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
//   AMD Zen 5 (1 MiB L2, 32 MiB L3), by processor time on a busy machine:
//
//     1   0.87 / 1.08 / 1.10               1.24 / 1.16 / 1.26     1.32 / 1.49 / 1.43
//     4   1.01 / 1.31 / 1.25               1.78 / 1.40 / 1.39     2.4 / 1.6 / 1.5
//     8   3.6 / 1.43 / 1.47                2.2 / 1.39 / 1.69      5.6 / 1.9 / 2.1
//    16   4.4 / 2.0 / 1.7                  8.3 / 2.1 / 2.0        8.7 / 2.4 / 2.1
//    64   6.9 / 2.6 / 2.6                  10.7 / 2.6 / 2.7       10.4 / 3.0 / 2.9
//   256   7.6 / 3.0 / 3.1                  11.4 / 3.0 / 3.1       10.8 / 3.3 / 3.3
//
// Xeon A (2 MiB L2, 480 MiB L3), AVX-512 and insert, with lines prefetched 64 keys ahead, not 128:
//
//     4   1.07 / 1.30 / 1.56               insert 1.20 / 1.52
//     8   2.64 / 2.34 / 2.48               2.49 / 2.68
//    64   4.29 / 3.75 / 3.58               3.81 / 3.52
//   512   7.70 / 7.15 / 6.66               7.28 / 6.20
//
// Xeon B, older (1 MiB L2, 36 MiB L3), AVX2 and insert, by processor time on a busy machine:
//
//     1   7.0 / 3.5 / 3.8                  14 / 7.2 / 7.7
//     2   13 / 3.4 / 4.1                   26 / 7.2 / 7.6
//     4   17 / 5.3 / 5.6                   30 / 8.3 / 8.5
//    16   19 / 9.5 / 9.9                   27 / 9.0 / 9.0
//    64   24 / 12.1 / 12.3                 34 / 12.8 / 12.5
//
// There a Zen 4 without neighbours takes up to a sixth longer with a prefetch than without, and Xeon
// B up to four times as long without.

/// No filter is as large, and its double is no overflow.
const NEVER: usize = usize::MAX / 4;

/// The sizes, in bytes, that filters are compared with to see what pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    far: usize,
    near: usize,
    insert_far: usize,
    insert_near: usize,
    views: usize,
}

/// What decides which row a core has.
#[derive(Clone, Copy)]
struct Core {
    caches: Caches,
    intel: bool,
    avx512: bool,
    aarch64: bool,
}

impl Core {
    /// The core that runs this.
    fn read() -> Core {
        Core {
            caches: Caches::read(),
            intel: is_intel(),
            avx512: Backend::Avx512.is_available(),
            aarch64: cfg!(target_arch = "aarch64"),
        }
    }
}

impl Sizes {
    /// For such a core.
    fn of(core: Core) -> Sizes {
        let row = ROWS.iter().find(|row| (row.is_of)(core)).unwrap_or(LAST);
        Sizes::by(row, core.caches)
    }

    /// For these caches, by a row.
    const fn by(row: &Row, caches: Caches) -> Sizes {
        let l2 = l2(caches);
        let near = row.near * l2;
        let half = caches.l3 / 2;
        let near = if half > 0 && half < near { half } else { near };
        Sizes {
            far: row.far * l2,
            near,
            insert_far: row.insert_far * l2,
            insert_near: row.insert_near / row.near * near,
            views: if row.views == 0 { NEVER } else { row.views * l2 },
        }
    }

    /// For a filter of any size, whatever the caches.
    const fn forced(plan: Prefetch) -> Sizes {
        match plan {
            Prefetch::None => Sizes::all(NEVER, NEVER),
            Prefetch::Far => Sizes::all(0, NEVER),
            Prefetch::FarAndNear => Sizes::all(0, 0),
        }
    }

    const fn all(far: usize, near: usize) -> Sizes {
        Sizes { far, near, insert_far: far, insert_near: near, views: far }
    }

    /// Those in use.
    #[inline(always)]
    fn get() -> Sizes {
        Sizes {
            far: FAR.load(Ordering::Relaxed),
            near: NEAR.load(Ordering::Relaxed),
            insert_far: INSERT_FAR.load(Ordering::Relaxed),
            insert_near: INSERT_NEAR.load(Ordering::Relaxed),
            views: VIEWS.load(Ordering::Relaxed),
        }
    }

    fn to_probe(self, bytes: usize) -> Prefetch {
        by_size(bytes, self.far, self.near)
    }

    #[cfg(test)]
    fn to_probe_few(self, bytes: usize) -> Prefetch {
        few_by_size(bytes, self.far)
    }

    fn to_insert(self, bytes: usize) -> Prefetch {
        by_size(bytes, self.insert_far, self.insert_near)
    }
}

/// The L2 that counts. What is not known is taken for that of a Zen 4. No core has less than 128 KiB,
/// and one that reports more than 4 MiB shares it with others.
const fn l2(caches: Caches) -> usize {
    match caches.l2 {
        0 => 1 << 20,
        1..LEAST_L2 => LEAST_L2,
        LEAST_L2..MOST_L2 => caches.l2,
        MOST_L2.. => MOST_L2,
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

fn few_by_size(bytes: usize, far: usize) -> Prefetch {
    by_size(bytes, far / 2, usize::MAX)
}

// The sizes in use. A thread that comes before `learn` is done works with the usual ones.
static FAR: AtomicUsize = AtomicUsize::new(USUAL.far);
static NEAR: AtomicUsize = AtomicUsize::new(USUAL.near);
static INSERT_FAR: AtomicUsize = AtomicUsize::new(USUAL.insert_far);
static INSERT_NEAR: AtomicUsize = AtomicUsize::new(USUAL.insert_near);
static VIEWS: AtomicUsize = AtomicUsize::new(USUAL.views);
static ORS_ARE_SLOW: AtomicBool = AtomicBool::new(false);
static PDEP_IS_SLOW: AtomicBool = AtomicBool::new(false);
static WIDE_VECTORS_ARE_FAST: AtomicBool = AtomicBool::new(false);
const LAST: &Row = &ROWS[ROWS.len() - 1];
const USUAL: Sizes = Sizes::by(LAST, Caches { l2: 0, l3: 0 });

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
        Setting::Unset | Setting::Unknown => Sizes::of(Core::read()),
    };
    FAR.store(sizes.far, Ordering::Relaxed);
    NEAR.store(sizes.near, Ordering::Relaxed);
    INSERT_FAR.store(sizes.insert_far, Ordering::Relaxed);
    INSERT_NEAR.store(sizes.insert_near, Ordering::Relaxed);
    VIEWS.store(sizes.views, Ordering::Relaxed);
    ORS_ARE_SLOW.store(cpu::ors_are_slow(), Ordering::Relaxed);
    PDEP_IS_SLOW.store(cpu::pdep_is_slow(), Ordering::Relaxed);
    WIDE_VECTORS_ARE_FAST.store(cpu::wide_vectors_are_fast(), Ordering::Relaxed);
    DONE.store(true, Ordering::Relaxed);
}

/// Whether an atomic OR takes this CPU longer than a branch that it guesses wrong. A virtual machine
/// may have to emulate the instruction that tells, so it is asked once.
pub(crate) fn ors_are_slow() -> bool {
    ORS_ARE_SLOW.load(Ordering::Relaxed)
}

/// Whether sums of bytes find the n-th 1 of a word faster than an instruction. Asked once, too.
pub(super) fn pdep_is_slow() -> bool {
    PDEP_IS_SLOW.load(Ordering::Relaxed)
}

/// Whether vectors of 512 bits are as fast as shorter ones. Asked once, too.
pub(super) fn wide_vectors_are_fast() -> bool {
    WIDE_VECTORS_ARE_FAST.load(Ordering::Relaxed)
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
        // Not all sizes: what is loaded atomically is loaded, used or not.
        few_by_size(bytes, FAR.load(Ordering::Relaxed))
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
        let far = INSERT_FAR.load(Ordering::Relaxed);
        bytes < far && far < NEVER && keys >= bytes / (LINE_BYTES / 4)
    }

    /// Whether prefetching pays for one key of several filters, so many bytes together. On a Zen 4 with
    /// other work on it, 16 and 60 filters take 1.1 to 1.2 of the time without it in L2, 0.9 at 7 MiB, and
    /// 0.83 to 1.05 from 8 to 480 MiB. On a Zen 5, 16 of 1.25 MB take 0.87 of a loop's time, and 1.08
    /// without it; 8 of them would take 1.2, and 1.0 without, 8 of 10 MB 1.12 and 1.03.
    #[inline]
    pub(crate) fn to_probe_views(bytes: usize) -> bool {
        bytes >= VIEWS.load(Ordering::Relaxed)
    }

    /// Whether prefetching pays for inserts into a cuckoo filter of so many bytes.
    pub(crate) fn to_insert_cuckoo(bytes: usize) -> bool {
        bytes >= Sizes::get().insert_far
    }
}

/// What a row would say on this CPU: for the benchmark that looks for one.
#[cfg(feature = "internals")]
#[derive(Clone, Copy)]
pub struct Tried(Sizes);

#[cfg(feature = "internals")]
impl Tried {
    /// By the multiples of a row, in its order.
    pub fn new([far, near, insert_far, insert_near, views]: [usize; 5]) -> Tried {
        let row = Row { is_of: |_| true, far, near, insert_far, insert_near, views };
        Tried(Sizes::by(&row, Caches::read()))
    }

    /// The sizes in use.
    pub fn chosen() -> Tried {
        learn();
        Tried(Sizes::get())
    }

    /// How batches prefetch that probe a filter of so many bytes.
    pub fn to_probe(&self, bytes: usize) -> Prefetch {
        self.0.to_probe(bytes)
    }

    /// The same for inserts.
    pub fn to_insert(&self, bytes: usize) -> Prefetch {
        self.0.to_insert(bytes)
    }

    /// Whether one key of many filters has its lines prefetched, so many bytes together.
    pub fn to_probe_views(&self, bytes: usize) -> bool {
        bytes >= self.0.views
    }

    /// What the multiples are of, in bytes.
    pub fn unit() -> usize {
        l2(Caches::read())
    }

    /// The condition by which a row is of this core and those like it, in Rust.
    pub fn is_of() -> String {
        Core::read().condition()
    }
}

#[cfg(feature = "internals")]
impl Core {
    /// Of its kind, with an L2 of its size.
    fn condition(self) -> String {
        let or_not = |is: bool| if is { "" } else { "!" };
        let kind = match self.aarch64 {
            true => "core.aarch64".into(),
            false => {
                format!("{}core.intel && {}core.avx512", or_not(self.intel), or_not(self.avx512))
            }
        };
        format!("|core| {kind} && core.caches.l2 == {} << 10", self.caches.l2 >> 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn core(l2: usize, l3: usize) -> Core {
        Core { caches: Caches { l2, l3 }, intel: false, avx512: true, aarch64: false }
    }

    fn caches(l2: usize, l3: usize) -> Sizes {
        Sizes::of(core(l2, l3))
    }

    fn intel(l2: usize, l3: usize, avx512: bool) -> Sizes {
        Sizes::of(Core { intel: true, avx512, ..core(l2, l3) })
    }

    fn arm(l2: usize, l3: usize) -> Sizes {
        Sizes::of(Core { avx512: false, aarch64: true, ..core(l2, l3) })
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
        let xeon = intel(2 * MIB, 480 * MIB, true);
        for (mib, plan) in [(1, None), (4, None), (8, Far), (64, FarAndNear)] {
            assert_eq!(xeon.to_probe(mib * MIB), plan, "{mib} MiB");
        }
        for (mib, plan) in [(8, None), (64, FarAndNear)] {
            assert_eq!(xeon.to_insert(mib * MIB), plan, "{mib} MiB");
        }
        assert_eq!(xeon.views, NEVER);
        // One that is older, and small cores that share as much.
        for other in [intel(MIB, 36 * MIB, false), intel(MIB, 36 * MIB, true)] {
            assert_eq!((other.to_probe(MIB), other.to_insert(MIB)), (Far, Far));
        }
        assert_eq!(intel(4 * MIB, 108 * MIB, false), caches(4 * MIB, 108 * MIB));
    }

    #[test]
    fn arm_cores_prefetch_near_earlier() {
        use Prefetch::{Far, FarAndNear, None};
        // A Neoverse V1 and a V2, as they report their caches; a core that reports none.
        let (v1, v2, unknown) = (arm(MIB, 32 * MIB), arm(2 * MIB, 36 * MIB), arm(0, 0));
        for (mib, plans) in [
            (0, [None; 3]),
            (1, [Far, None, Far]),
            (7, [Far; 3]),
            (8, [FarAndNear, Far, FarAndNear]),
            (16, [FarAndNear; 3]),
        ] {
            let all = [v1, v2, unknown].map(|sizes| sizes.to_probe(mib * MIB));
            assert_eq!(all, plans, "{mib} MiB");
        }
        assert_eq!([v1.to_insert(15 * MIB), v1.to_insert(16 * MIB)], [Far, FarAndNear]);
        assert_eq!(v1.views, 8 * MIB);
    }

    #[cfg(feature = "internals")]
    #[test]
    fn a_tried_row_is_of_its_core_and_counts_in_its_l2() {
        let xeon = Core { intel: true, ..core(2 * MIB, 480 * MIB) };
        let of_xeon = "|core| core.intel && core.avx512 && core.caches.l2 == 2048 << 10";
        assert_eq!(xeon.condition(), of_xeon);
        let v1 = Core { avx512: false, aarch64: true, ..core(MIB, 32 * MIB) };
        assert_eq!(v1.condition(), "|core| core.aarch64 && core.caches.l2 == 1024 << 10");
        let (tried, unit) = (Tried::new([2, 4, 3, 8, 5]), Tried::unit());
        assert_eq!(tried.to_probe(2 * unit - 1), Prefetch::None);
        assert_ne!(tried.to_probe(2 * unit), Prefetch::None);
        assert_eq!(tried.to_insert(3 * unit - 1), Prefetch::None);
        assert_ne!(tried.to_insert(3 * unit), Prefetch::None);
        assert!(!tried.to_probe_views(5 * unit - 1) && tried.to_probe_views(5 * unit));
        assert!(!Tried::new([1, 1, 1, 1, 0]).to_probe_views(NEVER - 1));
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

//! From which size of a filter on prefetching pays: the sizes in use, by the row of the core, and the choice by
//! size.

use super::cores::{Core, ROWS, Row, l2};
use super::prefetch::{Prefetch, Reads};
use crate::line::LINE_BYTES;
use crate::os::cache::Caches;
use crate::os::cpu;
use crate::os::environment::{self, Setting};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// No filter is as large, and its double is no overflow.
const NEVER: usize = usize::MAX / 4;

/// The sizes, in bytes, that filters are compared with to see what pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    far: usize,
    several: usize,
    near: usize,
    insert_far: usize,
    insert_near: usize,
    views: usize,
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
            several: row.several * l2,
            near,
            insert_far: row.insert_far * l2,
            insert_near: near / row.near * row.insert_near,
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
        Sizes { far, several: far, near, insert_far: far, insert_near: near, views: far }
    }

    /// Those in use.
    #[inline(always)]
    fn get() -> Sizes {
        Sizes {
            far: FAR.load(Ordering::Relaxed),
            several: SEVERAL.load(Ordering::Relaxed),
            near: NEAR.load(Ordering::Relaxed),
            insert_far: INSERT_FAR.load(Ordering::Relaxed),
            insert_near: INSERT_NEAR.load(Ordering::Relaxed),
            views: VIEWS.load(Ordering::Relaxed),
        }
    }

    fn to_probe(self, reads: Reads, bytes: usize) -> Prefetch {
        let far = match reads {
            Reads::One => self.far,
            Reads::Several => self.several,
        };
        by_size(bytes, far, self.near)
    }

    #[cfg(test)]
    fn to_probe_few(self, bytes: usize) -> Prefetch {
        few_by_size(bytes, self.far)
    }

    fn to_insert(self, bytes: usize) -> Prefetch {
        by_size(bytes, self.insert_far, self.insert_near)
    }
}

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
static SEVERAL: AtomicUsize = AtomicUsize::new(USUAL.several);
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
    SEVERAL.store(sizes.several, Ordering::Relaxed);
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
    pub(crate) fn to_probe(reads: Reads, bytes: usize) -> Prefetch {
        Sizes::get().to_probe(reads, bytes)
    }

    /// The same for a tile of keys or less. A caller with few keys probes one filter after
    /// another, as an engine does, so even a small filter may not be in the cache.
    #[inline]
    pub(crate) fn to_probe_few(reads: Reads, bytes: usize) -> Prefetch {
        // Not all sizes: what is loaded atomically is loaded, used or not.
        let far = match reads {
            Reads::One => &FAR,
            Reads::Several => &SEVERAL,
        };
        few_by_size(bytes, far.load(Ordering::Relaxed))
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
        let row = Row { is_of: |_| true, far, several: far, near, insert_far, insert_near, views };
        Tried(Sizes::by(&row, Caches::read()))
    }

    /// The sizes in use.
    pub fn chosen() -> Tried {
        learn();
        Tried(Sizes::get())
    }

    /// How batches prefetch that probe a filter of so many bytes.
    pub fn to_probe(&self, bytes: usize) -> Prefetch {
        self.0.to_probe(Reads::One, bytes)
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

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn core(l2: usize, l3: usize) -> Core {
        Core { caches: Caches { l2, l3 }, intel: false, zen5: false, avx512: true, aarch64: false }
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
        assert_eq!(zen_4.to_probe(Reads::One, MIB - 1), None);
        for (mib, plan) in [(1, Far), (15, Far), (16, FarAndNear), (512, FarAndNear)] {
            assert_eq!(zen_4.to_probe(Reads::One, mib * MIB), plan, "{mib} MiB");
        }
        for (mib, plan) in [(1, Far), (31, Far), (32, FarAndNear)] {
            assert_eq!(zen_4.to_insert(mib * MIB), plan, "{mib} MiB");
        }
        assert_eq!(zen_4.to_probe_few(MIB / 2 - 1), None);
        assert_eq!(zen_4.to_probe_few(MIB / 2), Far);
        assert_eq!(zen_4.to_probe_few(512 * MIB), Far);
        let zen_5 = |avx512| Sizes::of(Core { zen5: true, avx512, ..core(MIB, 32 * MIB) });
        for (mib, plan) in [(5, None), (6, Far), (15, Far), (16, FarAndNear)] {
            assert_eq!(zen_5(true).to_probe(Reads::One, mib * MIB), plan, "{mib} MiB");
        }
        for (mib, plan) in [(0, None), (1, FarAndNear), (512, FarAndNear)] {
            assert_eq!(zen_5(true).to_insert(mib * MIB), plan, "{mib} MiB");
        }
        assert_eq!(zen_5(true).to_probe(Reads::Several, MIB), Far);
        assert_eq!([2, 3].map(|mib| zen_5(true).to_probe_few(mib * MIB)), [None, Far]);
        assert_eq!(zen_5(false), USUAL);
        let xeon = intel(2 * MIB, 480 * MIB, true);
        for (mib, plan) in [(1, None), (4, None), (8, Far), (64, FarAndNear)] {
            assert_eq!(xeon.to_probe(Reads::One, mib * MIB), plan, "{mib} MiB");
        }
        for (mib, plan) in [(8, None), (64, FarAndNear)] {
            assert_eq!(xeon.to_insert(mib * MIB), plan, "{mib} MiB");
        }
        assert_eq!(xeon.views, NEVER);
        // One that is older, and small cores that share as much.
        for other in [intel(MIB, 36 * MIB, false), intel(MIB, 36 * MIB, true)] {
            assert_eq!((other.to_probe(Reads::One, MIB), other.to_insert(MIB)), (Far, Far));
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
            let all = [v1, v2, unknown].map(|sizes| sizes.to_probe(Reads::One, mib * MIB));
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
        let one: fn(Sizes, usize) -> Prefetch = |sizes, bytes| sizes.to_probe(Reads::One, bytes);
        for ask in [one, Sizes::to_probe_few, Sizes::to_insert] {
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
                assert_eq!(forced.to_probe(Reads::One, bytes), plan);
                assert_eq!(forced.to_insert(bytes), plan);
                let few = forced.to_probe_few(bytes);
                assert_eq!(few == Prefetch::None, plan == Prefetch::None);
            }
        }
    }
}

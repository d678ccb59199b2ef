//! The cores that were measured, and from which size of a filter on prefetching pays on each: a row for each
//! kind, and one on paper. `make tune` measures a machine, and prints its row with its regret: how much longer
//! than by the best plan of each size it takes. `tuning` chooses by them.

use super::backend::Backend;
use crate::os::cache::Caches;
use crate::os::cpu;

/// A row: from how many times the L2 on what pays. The L2 is what explains most: a filter that it
/// holds needs no hints, one that only L3 holds does.
pub(super) struct Row {
    /// Whether it is the row of such a core.
    pub(super) is_of: fn(Core) -> bool,
    /// From where a batch prefetches its probes, of a line for each key or of bits all over.
    pub(super) far: usize,
    /// The same where a probe reads several lines, or does much with one: of matrices, windows, growing filters.
    pub(super) several: usize,
    /// From where it prefetches near, too: there L3 no longer has most lines. Half of L3, if that is
    /// less.
    pub(super) near: usize,
    /// The same for inserts.
    pub(super) insert_far: usize,
    pub(super) insert_near: usize,
    /// From where one key of many filters has all lines prefetched, by the bytes of all; 0: nowhere.
    pub(super) views: usize,
}

/// The rows. The first that is of a core counts; the last is of all.
pub(super) const ROWS: [Row; 4] = [
    // Intel's cores with AVX-512 and 2 MiB of L2 (Sapphire, Emerald and Granite Rapids) look ahead over
    // 512 instructions, and overlap misses by themselves for longer. The L2 does not explain that: one
    // with 1 MiB needs hints from there on.
    Row {
        is_of: |core| core.intel && core.avx512 && core.caches.l2 >= 2 << 20,
        far: 3,
        several: 3,
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
    Row {
        is_of: |core| core.aarch64,
        far: 1,
        several: 1,
        near: 8,
        insert_far: 1,
        insert_near: 16,
        views: 8,
    },
    // AMD's Zen 5 overlaps the misses of probes by itself while L3 has the lines. Hints only cost time there:
    // without them a batch takes 0.9 of the time from 1 to 5 MiB, one of strings 0.92, one of a classic filter
    // 0.75, of Parquet's blocks in a group of 3 MiB 0.73. With AVX2 a batch takes 1.0. Up to 64 keys take 0.87,
    // and 0.8 to 1.0 where the next ones are for another filter, in memory. A matrix takes 1.05, a growing
    // filter 1.01 (1.04 with AVX2): these have hints. From 6 MiB on all have, as neighbours share L3. Inserts by
    // AVX-512 gain by near hints at every size (0.85 of the time up to 8 MiB); by AVX2 they lose (1.06).
    Row {
        is_of: |core| core.zen5 && core.avx512,
        far: 6,
        several: 1,
        near: 16,
        insert_far: 1,
        insert_near: 1,
        views: 4,
    },
    // AMD's Zen 4, older Intel cores; all that was not measured. In the tables below the row's regret is at
    // the mean 1 to 3 % on the Zen 4.
    Row { is_of: |_| true, far: 1, several: 1, near: 16, insert_far: 1, insert_near: 32, views: 4 },
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
//   AMD Zen 5 (1 MiB L2, 32 MiB L3), AVX-512 and AVX2, and insert by both; on a busy machine none
//   took 3.6 at 8 MiB:
//
//     1   1.02 / 1.20 / 1.27    1.20 / 1.19 / 1.27     1.73 / 1.68 / 1.53    1.21 / 1.29 / 1.38
//     4   1.20 / 1.33 / 1.45    1.33 / 1.32 / 1.42     2.06 / 1.92 / 1.66    1.36 / 1.43 / 1.53
//     8   1.19 / 1.35 / 1.43    1.34 / 1.34 / 1.46     2.15 / 2.00 / 1.68    1.39 / 1.46 / 1.56
//    16   2.04 / 1.53 / 1.67    2.28 / 1.53 / 1.66     4.87 / 2.11 / 1.91    5.03 / 1.70 / 1.78
//    64   7.47 / 2.69 / 2.70    10.6 / 2.57 / 2.62     10.7 / 2.86 / 2.76    11.1 / 2.57 / 2.62
//   512   8.39 / 3.40 / 3.47    11.7 / 3.46 / 3.46     11.7 / 3.69 / 3.52    12.2 / 3.43 / 3.41
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

/// What decides which row a core has.
#[derive(Clone, Copy)]
pub(super) struct Core {
    pub(super) caches: Caches,
    pub(super) intel: bool,
    pub(super) zen5: bool,
    pub(super) avx512: bool,
    pub(super) aarch64: bool,
}

impl Core {
    /// The core that runs this.
    pub(super) fn read() -> Core {
        Core {
            caches: Caches::read(),
            intel: cpu::is_intel(),
            zen5: cpu::is_zen5(),
            avx512: Backend::Avx512.is_available(),
            aarch64: cfg!(target_arch = "aarch64"),
        }
    }
}

#[cfg(feature = "internals")]
impl Core {
    /// Of its kind, with an L2 of its size.
    pub(super) fn condition(self) -> String {
        let or_not = |is: bool| if is { "" } else { "!" };
        let kind = match self {
            Core { aarch64: true, .. } => "core.aarch64".into(),
            Core { zen5: true, .. } => format!("core.zen5 && {}core.avx512", or_not(self.avx512)),
            _ => format!("{}core.intel && {}core.avx512", or_not(self.intel), or_not(self.avx512)),
        };
        format!("|core| {kind} && core.caches.l2 == {} << 10", self.caches.l2 >> 10)
    }
}

/// The L2 that counts. What is not known is taken for that of a Zen 4. No core has less than 128 KiB,
/// and one that reports more than 4 MiB shares it with others.
pub(super) const fn l2(caches: Caches) -> usize {
    match caches.l2 {
        0 => 1 << 20,
        1..LEAST_L2 => LEAST_L2,
        LEAST_L2..MOST_L2 => caches.l2,
        MOST_L2.. => MOST_L2,
    }
}

const LEAST_L2: usize = 128 << 10;
const MOST_L2: usize = 4 << 20;

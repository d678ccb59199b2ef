//! The `scalar` backend: the definition with mask and test in one loop without branches. Runs on
//! every CPU.

use super::super::alike::{Alike, OfLanes};
use super::super::batch::Ops;
use super::super::lines::Lines;
use super::super::shared;
use crate::line::{C1, C2, LANES, Line, SHIFTS, lane_counts};

/// How k divides into rounds. A constant of each loop, which so needs no branch for it.
pub(in crate::kernel) mod class {
    /// k < 8: one round, and some lanes do not count.
    pub(in crate::kernel) const BELOW_8: u8 = 0;
    /// k = 8: one round, all lanes.
    pub(in crate::kernel) const EXACTLY_8: u8 = 1;
    /// k > 8: all lanes of the first round, some of the second.
    pub(in crate::kernel) const ABOVE_8: u8 = 2;
}

/// A one in each lane that counts.
#[repr(align(64))]
pub(super) struct Row(pub(super) [u64; LANES]);

/// The rows for a count of lanes: `[start]` is the run that `start` selects.
#[repr(C)]
pub(in crate::kernel) struct Rows {
    pub(super) lanes: [Row; 8],
    /// The same with 32 bits for each lane, in the order of [`PAIRED`].
    #[cfg(target_arch = "x86_64")]
    pub(super) paired: [[u32; LANES]; 8],
}

/// The order of lanes when two registers of four are shuffled into one.
#[cfg(target_arch = "x86_64")]
pub(super) const PAIRED: [usize; LANES] = [0, 1, 4, 5, 2, 3, 6, 7];

/// By the count of lanes less one.
static ROWS: [Rows; 8] = {
    let mut rows = [const {
        Rows {
            lanes: [const { Row([0; LANES]) }; 8],
            #[cfg(target_arch = "x86_64")]
            paired: [[0; LANES]; 8],
        }
    }; 8];
    let mut count = 1;
    while count <= 8 {
        let mut start = 0;
        while start < 8 {
            let mut lane = 0;
            while lane < LANES {
                let counts = lane_counts(lane, start as u64, count as u32);
                rows[count - 1].lanes[start].0[lane] = counts as u64;
                #[cfg(target_arch = "x86_64")]
                {
                    let counts = lane_counts(PAIRED[lane], start as u64, count as u32);
                    rows[count - 1].paired[start][lane] = counts as u32;
                }
                lane += 1;
            }
            start += 1;
        }
        count += 1;
    }
    rows
};

/// The same as bits: bit `i` of `[count][start]` says that lane `order[i]` counts.
#[cfg(target_arch = "x86_64")]
pub(super) const fn select(order: [usize; LANES]) -> [[u8; 8]; 9] {
    let mut table = [[0; 8]; 9];
    let mut count = 0;
    while count <= 8 {
        let mut start = 0;
        while start < 8 {
            let mut i = 0;
            while i < LANES {
                let counts = lane_counts(order[i], start as u64, count as u32);
                table[count][start] |= (counts as u8) << i;
                i += 1;
            }
            start += 1;
        }
        count += 1;
    }
    table
}

/// The rows of the round that does not use all lanes, by the top 3 bits of its g:
/// the first round if k < 8, the second if k > 8.
#[inline(always)]
pub(super) fn rows(k: u32) -> &'static [Row; 8] {
    &all_rows(k).lanes
}

/// The same in all forms.
#[inline(always)]
pub(in crate::kernel) fn all_rows(k: u32) -> &'static Rows {
    &ROWS[(k - 1) as usize % 8]
}

/// One lane after the other. If `SHARED`, other threads may be setting bits in them: then they are
/// aligned, and only probed.
pub(in crate::kernel) struct Scalar<const CLASS: u8, const SHARED: bool>;

/// Several filters, one lane after the other.
pub(in crate::kernel) struct ScalarAlike;

impl Alike for ScalarAlike {
    type Mask = Line;

    #[inline(always)]
    unsafe fn mask(hash: u64, k: u32) -> Line {
        let mut mask = [0; LANES];
        match k {
            ..=8 => lanes::<{ class::BELOW_8 }>(hash, k, |i, bit| mask[i] = bit.to_le()),
            _ => lanes::<{ class::ABOVE_8 }>(hash, k, |i, bit| mask[i] = bit.to_le()),
        }
        mask
    }

    #[inline(always)]
    unsafe fn has(line: *const u8, mask: Line) -> bool {
        // SAFETY: the caller vouches for 64 readable bytes; i is below 8.
        let unset = |i: usize| mask[i] & !unsafe { line.cast::<u64>().add(i).read_unaligned() };
        (0..LANES).fold(0, |all, i| all | unset(i)) == 0
    }
}

impl OfLanes for ScalarAlike {
    #[inline(always)]
    unsafe fn of_lanes(lanes: Line) -> Line {
        lanes.map(u64::to_le)
    }
}

/// Calls `each` with the number of each lane and the bits of a key in it.
#[inline(always)]
fn lanes<const CLASS: u8>(hash: u64, k: u32, mut each: impl FnMut(usize, u64)) {
    let (g, g2) = (hash.wrapping_mul(C1), hash.wrapping_mul(C2));
    if CLASS != class::ABOVE_8 {
        let row = &rows(k)[(g >> 61) as usize].0;
        for i in 0..LANES {
            each(i, row[i] << ((g >> SHIFTS[i]) & 63));
        }
        return;
    }
    // Both rounds at once, so that each lane is read once.
    let row = &rows(k)[(g2 >> 61) as usize].0;
    for i in 0..LANES {
        let first = 1 << ((g >> SHIFTS[i]) & 63);
        each(i, first | row[i] << ((g2 >> SHIFTS[i]) & 63));
    }
}

impl<const CLASS: u8, const SHARED: bool> Ops for Scalar<CLASS, SHARED> {
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        let (line, mut unset) = (lines.line(hash), 0);
        lanes::<CLASS>(hash, lines.k(), |i, bit| {
            // SAFETY: the caller vouches for 64 writable bytes; i is below 8.
            unsafe {
                let lane = line.cast::<u64>().add(i);
                let old = lane.read_unaligned();
                unset |= bit.to_le() & !old;
                lane.write_unaligned(old | bit.to_le());
            }
        });
        unset != 0
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        let line = lines.line(hash);
        let mut unset = 0;
        lanes::<CLASS>(hash, lines.k(), |i, bit| {
            // SAFETY: the caller vouches for 64 readable bytes; i is below 8.
            let lane = unsafe {
                let lane = line.cast::<u64>().add(i);
                if SHARED { shared::lane(lane) } else { lane.read_unaligned() }
            };
            unset |= bit & !u64::from_le(lane);
        });
        unset == 0
    }
}

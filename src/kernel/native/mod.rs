//! The lines of `line.rs` on the backends, one file each.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512vl;
#[cfg(target_arch = "x86_64")]
mod halves;
#[cfg(not(target_arch = "x86_64"))]
mod portable;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod wide;

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::{Avx2, Avx2Alike};
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512vl::Avx512Vl;
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
pub(super) use halves::inlined;
#[cfg(not(target_arch = "x86_64"))]
pub(super) use portable::{Portable, PortableAlike, SHIFTS_BY_LANE};
pub(super) use scalar::{Scalar, ScalarAlike, all_rows, class};
#[cfg(target_arch = "x86_64")]
pub(super) use wide::{Wide, answers, pair_answers};

use crate::line::{LANES, SHIFTS};

/// The shifts of all lanes, as wide as lanes. (A constant: the `map` of an array is a call in some
/// builds.)
pub(super) const SHIFTS_64: [u64; LANES] = {
    let (mut shifts, mut lane) = ([0; LANES], 0);
    while lane < LANES {
        shifts[lane] = SHIFTS[lane] as u64;
        lane += 1;
    }
    shifts
};

/// The first bit of each lane in the line and the lane's shift, twice: a run of lanes from any of them on
/// never wraps. An index that does is read past the end of its table by loops that LLVM 22 vectorizes (Rust
/// 1.95).
const RUN: [(usize, u32); 2 * LANES] = {
    let (mut run, mut i) = ([(0, 0); 2 * LANES], 0);
    while i < run.len() {
        run[i] = (64 * (i % LANES), SHIFTS[i % LANES]);
        i += 1;
    }
    run
};

/// The bits of a round of `line::mask`, `count` of them, 0 to 8: bit `64 * lane + position` of the line.
#[inline(always)]
pub(super) fn round(g: u64, count: usize) -> impl Iterator<Item = usize> {
    let first = first_lane(g);
    (0..count).map(move |i| {
        let (bit, shift) = RUN[(first + i) % RUN.len()];
        bit + (g >> shift & 63) as usize
    })
}

/// Lane i counts if (i + (g >> 61)) mod 8 is below their number: they begin with this one.
#[inline(always)]
pub(super) fn first_lane(g: u64) -> usize {
    (g >> 61).wrapping_neg() as usize % LANES
}

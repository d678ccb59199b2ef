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
pub(super) use avx2::{Avx2, Avx2Alike};
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::{Avx512, Avx512Alike};
#[cfg(target_arch = "x86_64")]
pub(super) use avx512vl::Avx512Vl;
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
pub(super) use halves::inlined;
#[cfg(not(target_arch = "x86_64"))]
pub(super) use portable::{Portable, PortableAlike, SHIFTS_BY_LANE};
pub(super) use scalar::{Scalar, ScalarAlike, all_rows, class};

use crate::line::{LANES, SHIFTS};

/// The shifts of all lanes, as wide as lanes. (A constant: the `map` of an array is a call in some
/// builds.)
const SHIFTS_64: [u64; LANES] = {
    let (mut shifts, mut lane) = ([0; LANES], 0);
    while lane < LANES {
        shifts[lane] = SHIFTS[lane] as u64;
        lane += 1;
    }
    shifts
};

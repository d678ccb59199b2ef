//! The `scalar` backend: the definition with the mask and the test merged into one
//! loop without branches. Runs on every CPU. Uses `line` and `batch`.

use super::batch::{Ops, class};
use crate::line::{C1, C2, LANES, SHIFTS};

/// `ROWS[count][start + i]` is 1 for each lane `i` that counts when a run of `count`
/// lanes is turned by `start`: `(i + start) mod 8 < count`.
pub(super) static ROWS: [[u64; 16]; 9] = {
    let mut rows = [[0; 16]; 9];
    let mut count = 0;
    while count <= 8 {
        let mut i = 0;
        while i < 16 {
            rows[count][i] = (i % 8 < count) as u64;
            i += 1;
        }
        count += 1;
    }
    rows
};

/// One lane after the other.
pub(super) struct Scalar;

/// Calls `each` with the lanes' numbers and bits.
#[inline(always)]
fn lanes<const CLASS: u8>(hash: u64, k: u32, mut each: impl FnMut(usize, u64)) {
    let mut round = |g: u64, count: u32| {
        let row = &ROWS[count as usize][(g >> 61) as usize..][..LANES];
        for i in 0..LANES {
            each(i, row[i] << ((g >> SHIFTS[i]) & 63));
        }
    };
    round(hash.wrapping_mul(C1), if CLASS == class::BELOW_8 { k } else { 8 });
    if CLASS == class::ABOVE_8 {
        round(hash.wrapping_mul(C2), k - 8);
    }
}

impl Ops for Scalar {
    #[inline(always)]
    unsafe fn insert<const CLASS: u8>(line: *mut u8, hash: u64, k: u32) {
        lanes::<CLASS>(hash, k, |i, bit| {
            // SAFETY: the caller vouches for 64 writable bytes; i is below 8.
            unsafe {
                let lane = line.cast::<u64>().add(i);
                lane.write_unaligned(lane.read_unaligned() | bit.to_le());
            }
        });
    }

    #[inline(always)]
    unsafe fn contains<const CLASS: u8>(line: *const u8, hash: u64, k: u32) -> bool {
        let mut unset = 0;
        lanes::<CLASS>(hash, k, |i, bit| {
            // SAFETY: the caller vouches for 64 readable bytes; i is below 8.
            unset |= bit & !u64::from_le(unsafe { line.cast::<u64>().add(i).read_unaligned() });
        });
        unset == 0
    }
}

//! RocksDB's line, one bit after the other, on every CPU.

use super::super::batch::Ops;
use super::super::lines::Lines;
use crate::layouts::fast_local::STEP;

/// One bit after the other.
pub(in crate::kernel) struct Scalar;

impl Ops for Scalar {
    #[inline(always)]
    fn line(lines: Lines, hash: u64) -> *const u8 {
        super::line(lines, hash)
    }

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { super::insert(lines, hash) }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        let line = super::line(lines, hash);
        let mut x = (hash >> 32) as u32;
        for _ in 0..lines.k() {
            let position = (x >> 23) as usize;
            // SAFETY: the caller vouches for the line; the byte is one of its 64.
            if unsafe { *line.add(position / 8) } >> (position % 8) & 1 == 0 {
                return false;
            }
            x = x.wrapping_mul(STEP);
        }
        true
    }
}

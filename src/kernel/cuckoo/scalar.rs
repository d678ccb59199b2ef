//! Cuckoo filters by their definition. Uses `cuckoo` and `batch`.

use super::super::batch::{Lines, Ops};
use crate::cuckoo;
use crate::line::LINE_BYTES;

/// One slot after the other.
pub(in crate::kernel) struct Scalar<const BITS: u32>;

impl<const BITS: u32> Ops for Scalar<BITS> {
    #[inline(always)]
    fn ask<const HINT: u8>(lines: Lines, hash: u64) {
        super::ask::<BITS, HINT>(lines, hash);
    }

    #[inline(always)]
    unsafe fn insert(_: Lines, _: u64) {
        unreachable!("an insert that can fail is not a kernel's");
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        let len = lines.count() as usize * LINE_BYTES;
        // SAFETY: the caller vouches for the lines; they are not written meanwhile.
        let lines = unsafe { std::slice::from_raw_parts(lines.first(), len) };
        cuckoo::contains(lines, BITS, hash)
    }
}

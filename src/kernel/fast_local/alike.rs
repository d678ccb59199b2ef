//! Several filters of RocksDB with one k: their lines are compared as native ones are.

use super::super::alike::{Alike, OfLanes};
use super::super::batch::Ops;
use super::super::lines::Lines;
use crate::layouts::fast_local::{self, positions};
use crate::line::LANES;
use std::marker::PhantomData;

/// Several by the comparison of `A`, few by the probe of `O`.
pub(in crate::kernel) struct RocksDb<A, O>(PhantomData<(A, O)>);

impl<A: OfLanes, O: Ops> Alike for RocksDb<A, O> {
    type Mask = A::Mask;

    #[inline(always)]
    fn index(hash: u64, count: usize) -> usize {
        // The format has no more than 2^26 lines; see `engines::rocksdb`.
        fast_local::line_index(hash, count as u32) as usize
    }

    #[inline(always)]
    unsafe fn mask(hash: u64, k: u32) -> A::Mask {
        let mut lanes = [0; LANES];
        for position in positions(hash, k) {
            lanes[position as usize / 64] |= 1 << (position % 64);
        }
        // SAFETY: the caller's promise.
        unsafe { A::of_lanes(lanes) }
    }

    /// The bits are made in memory, for which a vector waits: that takes as long as 12 probes.
    const FEWEST: usize = 16;

    #[inline(always)]
    unsafe fn contains(base: *const u8, count: usize, hash: u64, k: u32) -> bool {
        // SAFETY: the caller's promise.
        unsafe { O::contains(Lines::some(base.cast_mut(), count, k), hash) }
    }

    #[inline(always)]
    unsafe fn push(hits: u64, line: *const u8, mask: A::Mask) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { A::push(hits, line, mask) }
    }

    #[inline(always)]
    unsafe fn has(line: *const u8, mask: A::Mask) -> bool {
        // SAFETY: the caller's promise.
        unsafe { A::has(line, mask) }
    }
}

//! Cuckoo filters, the four slots of a bucket in one integer.

use super::super::batch::Ops;
use super::super::lines::Lines;
use super::bucket::{addresses, bits, found, ones, read};
use crate::layouts::cuckoo::fingerprint;

/// Four slots at a time.
pub(in crate::kernel) struct Integers<const BITS: u32>;

impl<const BITS: u32> Ops for Integers<BITS> {
    const INSERTS: bool = false;

    #[inline(always)]
    fn prefetch<const HINT: u8>(lines: Lines, hash: u64) {
        super::bucket::prefetch_buckets::<HINT>(lines, hash);
    }

    #[inline(always)]
    fn prefetches_few(keys: usize, bytes: usize) -> bool {
        super::bucket::prefetches_few(keys, bytes)
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        let bits = bits::<BITS>(lines);
        let [first, other] = addresses(bits, lines, hash);
        // SAFETY: the caller vouches for the lines, and these are buckets of them.
        let words = unsafe { [read(bits, first), read(bits, other)] };
        found(bits, words, fingerprint(hash, bits) * ones(bits))
    }
}

//! Cuckoo filters, the four slots of a bucket in one integer.

use super::super::batch::{Ops, one_by_one};
use super::super::lines::Lines;
use super::super::single::Single;
use super::bucket::{addresses, bits, found, is_in_last_page, read};
use crate::layouts::cuckoo::fingerprint;

/// Four slots at a time.
pub(in crate::kernel) struct Integers<const BITS: u32>;

impl<const BITS: u32> Integers<BITS> {
    /// Whether a key may be present, whose line is in `ANY_PAGE` or before the last: see [`addresses`].
    ///
    /// # Safety
    /// As for [`Ops`].
    #[inline(always)]
    unsafe fn is_in<const ANY_PAGE: bool>(lines: Lines, hash: u64) -> bool {
        let bits = bits::<BITS>(lines);
        let [first, other] = addresses::<ANY_PAGE>(bits, lines, hash);
        // SAFETY: the caller vouches for the lines, and these are buckets of them.
        let words = unsafe { [read(bits, first), read(bits, other)] };
        found(bits, words, fingerprint(hash, bits))
    }

    /// Apart, and jumped to: so no register is saved for it.
    ///
    /// # Safety
    /// As for [`Ops`].
    #[cold]
    #[inline(never)]
    unsafe extern "C" fn in_last_page(single: &Single<'_>, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { Self::is_in::<true>(single.lines(), hash) }
    }
}

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
        // SAFETY: the caller's promise.
        unsafe { Self::is_in::<true>(lines, hash) }
    }

    #[inline(always)]
    unsafe fn contains_one(single: &Single<'_>, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            if is_in_last_page(single.lines(), hash) {
                return Self::in_last_page(single, hash);
            }
            Self::is_in::<false>(single.lines(), hash)
        }
    }

    #[inline(always)]
    unsafe fn probe_few(single: &Single<'_>, hashes: &[u64], word: &mut u64) -> usize {
        // SAFETY: the caller's promise.
        *word = unsafe { one_by_one::<Self>(single.lines(), hashes) };
        word.count_ones() as usize
    }
}

//! Cuckoo filters, the four slots of a bucket in one integer.

use super::super::batch::Ops;
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

impl<const BITS: u32> Integers<BITS> {
    /// Whether a key may be present; none for a key of the last page.
    ///
    /// # Safety
    /// As for [`Ops`].
    #[inline(always)]
    pub(super) unsafe fn before_last_page(lines: Lines, hash: u64) -> Option<bool> {
        // SAFETY: the caller's promise.
        (!is_in_last_page(lines, hash)).then(|| unsafe { Self::is_in::<false>(lines, hash) })
    }

    /// Answers a few keys one by one, by `alone`. At the first key that it leaves open, it jumps to `up_to`, so that no
    /// register is saved for that.
    ///
    /// # Safety
    /// As for [`Ops`]; there are at most 64.
    #[inline(always)]
    pub(super) unsafe fn one_by_one(
        single: &Single<'_>,
        hashes: &[u64],
        word: &mut u64,
        alone: impl Fn(u64) -> Option<bool>,
    ) -> usize {
        let mut hits = 0_u64;
        for (i, &hash) in hashes.iter().enumerate().rev() {
            let Some(hit) = alone(hash) else {
                // SAFETY: the caller's promise.
                return unsafe { Self::up_to(single, hashes.as_ptr(), i, hits, word) };
            };
            hits = hits.wrapping_add(hits).wrapping_add(u64::from(hit));
        }
        *word = hits;
        word.count_ones() as usize
    }

    /// The rest of [`one_by_one`](Self::one_by_one): the keys up to number `last`, and the answers of those behind it.
    ///
    /// # Safety
    /// As there.
    #[cold]
    #[inline(never)]
    unsafe extern "C" fn up_to(
        single: &Single<'_>,
        hashes: *const u64,
        last: usize,
        mut hits: u64,
        word: &mut u64,
    ) -> usize {
        let (lines, mut left) = (single.lines(), last + 1);
        // A range with its end would be looked at twice for each key.
        while left > 0 {
            left -= 1;
            // SAFETY: the caller's promise.
            let hit = unsafe { Self::is_in::<true>(lines, *hashes.add(left)) };
            hits = hits.wrapping_add(hits).wrapping_add(u64::from(hit));
        }
        *word = hits;
        word.count_ones() as usize
    }
}

impl<const BITS: u32> Ops for Integers<BITS> {
    const INSERTS: bool = false;
    const THREE: bool = true;

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
        unsafe {
            let alone = |hash| Self::before_last_page(single.lines(), hash);
            Self::one_by_one(single, hashes, word, alone)
        }
    }
}

//! Probes of a growing filter, one key or many, and how often a key is there.

use super::{GrowingFilter, chain};
use crate::bitmap::Answers;
use crate::filter::keys::one_by_one;
use crate::filter::probe::{Probe, hashing, probing};
use crate::kernel::Prefetch;
use crate::key::Key;

/// Up to so many keys in a call are probed one by one.
const SINGLY: usize = 8;
/// The same of a filter that fits in the cache, where tiles pay only if they are filled.
const SINGLY_NEAR: usize = 15;

/// Whether so many keys are probed one by one, in lines that a batch would prefetch so.
#[inline]
pub(super) fn is_singly(keys: usize, plan: impl FnOnce() -> Prefetch) -> bool {
    match keys {
        0 => false,
        1..=SINGLY => true,
        _ => keys <= SINGLY_NEAR && plan() == Prefetch::None,
    }
}

impl GrowingFilter {
    /// Whether the prefix of a hash is beside the lines.
    #[cold]
    #[inline(never)]
    pub(super) fn stash_has(&self, hash: u64, length: u32) -> bool {
        let mut prefixes = (0..=length).map(|length| self.common.normal(hash, length));
        prefixes.any(|prefix| self.stash.may_have(prefix) && self.stash.get(prefix) > 0)
    }

    /// Adds what is beside the lines to the answers about these hashes. Returns how many that are.
    #[cold]
    #[inline(never)]
    fn add_stash(&self, hashes: &[u64], words: &mut [u64]) -> usize {
        let mut more = 0;
        for (hashes, word) in hashes.chunks(64).zip(words) {
            let mut unsure = !*word & u64::MAX >> (64 - hashes.len());
            while unsure != 0 {
                let i = unsure.trailing_zeros();
                let is_there = self.contains_hash(hashes[i as usize]);
                *word |= u64::from(is_there) << i;
                more += usize::from(is_there);
                unsure &= unsure - 1;
            }
        }
        more
    }

    /// An upper estimate of how often a key is present: how often it was inserted less how often it was
    /// removed. Keys of the same prefix count, too.
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(self.hash(key))
    }

    /// As [`GrowingFilter::count`], for the hash of a key.
    pub fn count_hash(&self, hash: u64) -> u64 {
        let (layout, home, value) = self.places.locate(hash);
        let in_lines = if layout.is_mixed() {
            chain::count_prefixes(layout, home, value)
        } else {
            chain::count_all(layout, home, value)
        };
        // What bytes stated may be any.
        (0..=layout.length).fold(in_lines, |count, length| {
            let normal = self.common.normal(hash, length);
            count.saturating_add(self.copies.get(normal)).saturating_add(self.stash.get(normal))
        })
    }
}

probing!(GrowingFilter);

impl Probe for GrowingFilter {
    #[inline(always)]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.key_hash().of(key)
    }

    hashing!();

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        let (layout, line, value) = self.places.locate(hash);
        let is_there = layout.contains(line, value);
        if self.stash.is_empty() {
            is_there
        } else {
            is_there || self.stash_has(hash, layout.length)
        }
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        let (layout, line, _) = self.places.locate(hash);
        layout.lines.prefetch(line);
    }

    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let words = answers.words(hashes.len());
        if is_singly(hashes.len(), || self.places.plan()) {
            return one_by_one(hashes, words, |hash| self.contains_hash(hash));
        }
        let present = self.places.contains_all(self.calls, hashes, words);
        if self.stash.is_empty() { present } else { present + self.add_stash(hashes, words) }
    }
}

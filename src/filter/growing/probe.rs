//! Probes of a growing filter, one key or many, and how often a key is there.

use super::{GrowingFilter, chain};
use crate::bitmap::Answers;
use crate::filter::keys::one_by_one;
use crate::filter::probe::{Probe, hashing, probing};
use crate::kernel::{Prefetch, TILE};
use crate::key::Key;

/// Up to so many keys in a call are probed one by one.
const SINGLY: usize = 8;
/// The same of a filter that fits in the cache, where tiles pay only if they are filled.
const SINGLY_NEAR: usize = 15;
/// And so many that are left over when groups of [`GROUP`] are filled, of up to [`TILE`] keys.
const LEFT_NEAR: usize = 4;
/// Lines that are asked at once.
const GROUP: usize = 8;

/// How many of so many keys are probed one by one, in lines that a batch would prefetch so: the last ones.
#[inline]
fn singly(keys: usize, plan: impl FnOnce() -> Prefetch) -> usize {
    if keys <= SINGLY {
        return keys;
    }
    let left = match keys {
        ..=SINGLY_NEAR => keys,
        ..=TILE if keys % GROUP <= LEFT_NEAR => keys % GROUP,
        _ => 0,
    };
    if left > 0 && plan() == Prefetch::None { left } else { 0 }
}

/// Answers keys: the last ones one by one, as many as pay, the others by `together`. Returns how many may be
/// present.
#[inline(always)]
pub(super) fn answer(
    hashes: &[u64],
    words: &mut [u64],
    plan: impl FnOnce() -> Prefetch,
    together: impl FnOnce(&[u64], &mut [u64]) -> usize,
    contains: impl Fn(u64) -> bool,
) -> usize {
    let first = hashes.len() - singly(hashes.len(), plan);
    let (many, rest) = hashes.split_at(first);
    let mut present = if many.is_empty() { 0 } else { together(many, words) };
    if !rest.is_empty() {
        let mut last = [0];
        present += one_by_one(rest, &mut last, contains);
        words[0] = last[0] << first | if many.is_empty() { 0 } else { words[0] };
    }
    present
}

impl GrowingFilter {
    /// Whether the prefix of a hash is beside the lines.
    #[cold]
    #[inline(never)]
    pub(super) fn stash_has(&self, hash: u64, length: u32) -> bool {
        let mut prefixes = (0..=length).map(|length| self.common.normal(hash, length));
        prefixes.any(|prefix| self.stash.may_have(prefix) && self.stash.get(prefix) > 0)
    }

    /// Whether a hash that the lines do not have is beside them.
    #[cold]
    #[inline(never)]
    fn beside_has(&self, hash: u64) -> bool {
        self.stash_has(hash, self.places.locate(hash).0.length)
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
        let in_lines = self.single.contains(&self.places, hash);
        if !self.stash.is_empty() {
            return in_lines || self.beside_has(hash);
        }
        in_lines
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        let (layout, line, _) = self.places.locate(hash);
        layout.lines.prefetch(line);
    }

    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let words = answers.words(hashes.len());
        let together = |hashes: &[u64], words: &mut [u64]| {
            let present = self.places.contains_all(self.calls, hashes, words);
            if self.stash.is_empty() { present } else { present + self.add_stash(hashes, words) }
        };
        let plan = || self.places.plan(hashes[0]);
        answer(hashes, words, plan, together, |hash| self.contains_hash(hash))
    }
}

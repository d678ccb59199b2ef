//! Probes of a growing filter, one key or many, and how often a key is there.

use super::{GrowingFilter, chain};
use crate::bitmap::Answers;
use crate::filter::probe::{Probe, probing};
use crate::key::Key;

/// Hashes whose lines are found and prefetched together.
const TILE: usize = 64;

impl GrowingFilter {
    /// Whether the prefix of a hash is beside the lines.
    #[cold]
    #[inline(never)]
    pub(super) fn stash_has(&self, hash: u64, length: u32) -> bool {
        (0..=length).any(|length| self.stash.get(self.common.normal(hash, length)) > 0)
    }

    /// How often a key was inserted, less how often it was removed, at most: keys of the same prefix
    /// count, too.
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
        let beside = (0..=layout.length).map(|length| {
            let normal = self.common.normal(hash, length);
            self.copies.get(normal) + self.stash.get(normal)
        });
        in_lines + beside.sum::<u64>()
    }
}

probing!(GrowingFilter);

impl Probe for GrowingFilter {
    #[inline(always)]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.key_hash().of(key)
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        let (layout, line, value) = self.places.locate(hash);
        layout.contains(line, value)
            || !self.stash.is_empty() && self.stash_has(hash, layout.length)
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        let (layout, line, _) = self.places.locate(hash);
        layout.lines.prefetch(line);
    }

    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let (words, mut present) = (answers.words(hashes.len()), 0);
        let mut tiles = hashes.chunks(TILE);
        let prefetch = |tile: Option<&[u64]>| {
            for &hash in tile.unwrap_or_default() {
                self.prefetch_hash(hash);
            }
        };
        if hashes.len() > 4 {
            prefetch(tiles.next());
        }
        for (tile, word) in hashes.chunks(TILE).zip(words) {
            prefetch(tiles.next());
            let each = tile.iter().rev();
            *word = each.fold(0, |word, &hash| word << 1 | u64::from(self.contains_hash(hash)));
            present += word.count_ones() as usize;
        }
        present
    }
}

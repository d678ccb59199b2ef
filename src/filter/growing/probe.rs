//! Probes of a growing filter, one key or many, and how often a key is there.

use super::{GrowingFilter, chain};
use crate::bitmap::Answers;
use crate::filter::probe::{Probe, probing};
use crate::kernel::growing::Line;
use crate::key::Key;

/// Hashes whose lines are found and prefetched together.
const TILE: usize = 64;
/// Up to so many keys in a call are probed one by one.
const SINGLY: usize = 4;

/// What is read where there is no line.
static EMPTY: Line = [0; 8];

/// The home lines of some hashes.
struct Tile<'f> {
    lines: [&'f Line; TILE],
    values: [i64; TILE],
    r: [u32; TILE],
}

impl GrowingFilter {
    /// Whether the prefix of a hash is beside the lines.
    #[cold]
    #[inline(never)]
    pub(super) fn stash_has(&self, hash: u64, length: u32) -> bool {
        let mut prefixes = (0..=length).map(|length| self.common.normal(hash, length));
        prefixes.any(|prefix| self.stash.may_have(prefix) && self.stash.get(prefix) > 0)
    }

    /// Finds and prefetches the lines of up to 64 hashes.
    fn tile(&self, hashes: &[u64]) -> Tile<'_> {
        let mut tile = Tile { lines: [&EMPTY; TILE], values: [0; TILE], r: [1; TILE] };
        let places = tile.lines.iter_mut().zip(&mut tile.values).zip(&mut tile.r);
        for (&hash, ((line, value), r)) in hashes.iter().zip(places) {
            let (layout, home, offset) = self.places.locate(hash);
            layout.lines.prefetch(home);
            (*line, *value, *r) = (layout.lines.get(home).unwrap_or(&EMPTY), offset, layout.r);
        }
        tile
    }

    /// A bit for each of these hashes, whose lines are here.
    fn find(&self, hashes: &[u64], tile: &Tile<'_>) -> u64 {
        let count = hashes.len();
        let (lines, values, r) = (&tile.lines[..count], &tile.values[..count], &tile.r[..count]);
        let found = if self.common.mixed() {
            self.calls.find_mixed_many(lines, values, r)
        } else {
            self.calls.find_many(lines, values, r)
        };
        let all = u64::MAX >> (TILE - count);
        let mut unsure = if self.stash.is_empty() { found.onward } else { !found.present & all };
        let mut word = found.present;
        while unsure != 0 {
            let i = unsure.trailing_zeros();
            word |= u64::from(self.contains_hash(hashes[i as usize])) << i;
            unsure &= unsure - 1;
        }
        word
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
        if (1..=SINGLY).contains(&hashes.len()) {
            let each = hashes.iter().rev();
            words[0] = each.fold(0, |word, &hash| word << 1 | u64::from(self.contains_hash(hash)));
            return words[0].count_ones() as usize;
        }
        let mut tiles = hashes.chunks(TILE);
        let mut next = self.tile(tiles.next().unwrap_or_default());
        for (hashes, word) in hashes.chunks(TILE).zip(words) {
            let tile = next;
            next = self.tile(tiles.next().unwrap_or_default());
            *word = self.find(hashes, &tile);
            present += word.count_ones() as usize;
        }
        present
    }
}

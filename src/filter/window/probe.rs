//! Probes of a window: one key, or a tile of keys at a time, in all generations.

use super::Window;
use crate::bitmap::Answers;
use crate::filter::keys::one_by_one;
use crate::filter::probe::{Probe, hashing, probing};
use crate::kernel::{ADJACENT, Prefetch, Reads, Steps, TILE, ahead, prefetch_all, singly};
use crate::key::Key;
use crate::line::LINE_BYTES;

impl Window {
    /// For each of the first `len` hashes, at most 64, a bit: whether a generation may have it,
    /// except that of one place and those of slices before `since`. The lines of later hashes are
    /// prefetched, if that pays.
    pub(super) fn find(&self, hashes: &[u64], len: usize, but: Option<usize>, since: u64) -> u64 {
        let ahead = match Prefetch::to_probe(Reads::Several, self.lines.len()) {
            Prefetch::None => 0,
            _ => ahead::WINDOW,
        };
        let known = (len + ahead).min(hashes.len());
        // To clear room for many takes as long as to probe for a few.
        let (mut few, mut many);
        let first = if known <= 8 {
            few = [0; 8];
            &mut few[..known]
        } else {
            many = [0; TILE + ahead::WINDOW];
            &mut many[..known]
        };
        for (first, &hash) in first.iter_mut().zip(hashes) {
            *first = self.first_of(self.line_of(hash));
        }
        let mut found = 0;
        for (eight, &stale) in self.stale.iter().enumerate() {
            let (place, hashes) = (ADJACENT * eight, &hashes[..len]);
            let (lines, steps) = self.from(place);
            let have = &mut [0; TILE][..len];
            self.kernel.each_have(lines, steps, first, hashes, have);
            let mut counts = u8::MAX;
            if let Some(but) = but
                && but / ADJACENT == eight
            {
                counts &= !(1 << (but % ADJACENT));
            }
            if since > 0 {
                let expired = |&j: &usize| self.generations[place + j].slice < since;
                (0..steps.count).filter(expired).for_each(|j| counts &= !(1 << j));
            }
            for (i, have) in have.iter().enumerate() {
                let mut have = have & counts;
                if have & stale != 0 {
                    // Lines that an older generation left do not count.
                    have = self.without_old(place, self.line_of(hashes[i]), have);
                }
                found |= u64::from(have != 0) << i;
            }
        }
        found
    }

    /// The lines from those of a place on, and how the next up to [`ADJACENT`] of a key lie in them.
    #[inline(always)]
    fn from(&self, place: usize) -> (&[u8], Steps) {
        let (stride, k) = (self.stride(), self.params().k());
        let count = ADJACENT.min(self.generations.len() - place);
        (&self.lines[place * stride..], Steps { count, stride, k })
    }

    /// Of places from `place` on, a bit each, those whose line is not one that an older generation left.
    #[cold]
    #[inline(never)]
    fn without_old(&self, place: usize, line: usize, have: u8) -> u8 {
        let current = |&j: &usize| have >> j & 1 != 0 && self.is_current(place + j, line);
        (0..ADJACENT).filter(current).fold(0, |all, j| all | 1 << j)
    }

    /// Apart: a few keys need none of its registers.
    #[inline(never)]
    fn contains_many(&self, hashes: &[u64], words: &mut [u64]) -> usize {
        for (i, word) in words.iter_mut().enumerate() {
            let hashes = &hashes[TILE * i..];
            *word = self.find(hashes, hashes.len().min(TILE), None, 0);
        }
        words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// As [`contains_hashes`](Window::contains_hashes) would answer after
    /// [`advance_to`](Window::advance_to) `slice`, for readers that may not change the window.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    pub fn contains_hashes_at(
        &self,
        slice: u64,
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        let oldest = slice.saturating_sub(self.generations.len() as u64 - 1);
        let words = answers.words(hashes.len());
        for (i, word) in words.iter_mut().enumerate() {
            let hashes = &hashes[TILE * i..];
            *word = self.find(hashes, hashes.len().min(TILE), None, oldest);
        }
        words.iter().map(|word| word.count_ones() as usize).sum()
    }
}

probing!(Window);

impl Probe for Window {
    #[inline(always)]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.key_hash().of(key)
    }

    hashing!();

    fn contains_hash(&self, hash: u64) -> bool {
        let line = self.line_of(hash);
        let (first, mut found) = (self.first_of(line), false);
        // No branch on the answer.
        for (eight, stale) in self.stale.iter().enumerate() {
            let (lines, steps) = self.from(ADJACENT * eight);
            let mut have = self.kernel.have(lines, steps, first, hash);
            if have & stale != 0 {
                // Lines that an older generation left do not count.
                have = self.without_old(ADJACENT * eight, line, have);
            }
            found |= have != 0;
        }
        found
    }

    /// The lines of all generations.
    fn prefetch_hash(&self, hash: u64) {
        let first = self.first_of(self.line_of(hash));
        (0..self.generations.len())
            .for_each(|i| prefetch_all(&self.lines[first + i * self.stride()..][..LINE_BYTES]));
    }

    #[inline]
    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let words = answers.words(hashes.len());
        match hashes.len() {
            1..=singly::WINDOW => one_by_one(hashes, words, |hash| self.contains_hash(hash)),
            _ => self.contains_many(hashes, words),
        }
    }
}

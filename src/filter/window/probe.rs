//! Probes of a window: one key, or a tile of keys at a time, in all generations.

use super::Window;
use crate::bitmap::Answers;
use crate::filter::probe::{Probe, probing};
use crate::kernel::{ADJACENT, Prefetch, TILE, ahead, prefetch_all};
use crate::key::Key;
use crate::line::LINE_BYTES;

impl Window {
    /// For each of the first `len` hashes, at most 64, a bit: whether a generation may have it,
    /// except that of one place and those of slices before `since`. The lines of later hashes are
    /// prefetched, if that pays.
    pub(super) fn find(&self, hashes: &[u64], len: usize, but: Option<usize>, since: u64) -> u64 {
        let (places, k) = (self.generations.len(), self.params().k());
        let ahead = match Prefetch::to_probe(self.lines.len()) {
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
        let absent = &mut [[0; 8]; TILE / 8][..len.div_ceil(8)];
        for (first, &hash) in first.iter_mut().zip(hashes) {
            *first = self.first_of(self.line_of(hash));
        }
        let mut found = 0;
        for (eight, &stale) in self.stale.iter().enumerate() {
            let (place, hashes) = (ADJACENT * eight, &hashes[..len]);
            let shape = (ADJACENT.min(places - place), self.stride());
            let lines = &self.lines[place * self.stride()..];
            self.kernel.absent(lines, shape, k, first, hashes, absent);
            let but =
                but.filter(|but| but / ADJACENT == eight).map_or(0, |but| 1 << (but % ADJACENT));
            // Places past the last repeat it.
            let mut places = (u8::MAX >> (ADJACENT - shape.0)) & !but;
            if since > 0 {
                let expired = |&j: &usize| self.generations[place + j].slice < since;
                (0..shape.0).filter(expired).for_each(|j| places &= !(1 << j));
            }
            for (i, &absent) in absent.as_flattened()[..len].iter().enumerate() {
                let mut have = !absent & places;
                if have & stale != 0 {
                    // Lines that an older generation left do not count.
                    let line = self.line_of(hashes[i]);
                    let old = |&j: &usize| !self.is_current(place + j, line);
                    (0..shape.0).filter(old).for_each(|j| have &= !(1 << j));
                }
                found |= u64::from(have != 0) << i;
            }
        }
        found
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

    fn contains_hash(&self, hash: u64) -> bool {
        if Prefetch::to_probe_few(self.lines.len()) != Prefetch::None {
            self.prefetch_hash(hash);
        }
        let (line, k) = (self.line_of(hash), self.params().k());
        let first = self.first_of(line);
        let place = |i| &self.lines[first + i * self.stride()..][..LINE_BYTES];
        (0..self.generations.len())
            .any(|i| self.kernel.contains(place(i).into(), k, hash) && self.is_current(i, line))
    }

    /// The lines of all generations.
    fn prefetch_hash(&self, hash: u64) {
        let first = self.first_of(self.line_of(hash));
        (0..self.generations.len())
            .for_each(|i| prefetch_all(&self.lines[first + i * self.stride()..][..LINE_BYTES]));
    }

    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let words = answers.words(hashes.len());
        if let &[hash] = hashes {
            words[0] = self.contains_hash(hash).into();
            return words[0] as usize;
        }
        for (i, word) in words.iter_mut().enumerate() {
            let hashes = &hashes[TILE * i..];
            *word = self.find(hashes, hashes.len().min(TILE), None, 0);
        }
        words.iter().map(|word| word.count_ones() as usize).sum()
    }
}

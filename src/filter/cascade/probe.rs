//! Probes of a cascade, whatever holds its layers.

use crate::filter::view::View;
use crate::layouts::cascade::{included, layer_hash};

/// Keys that pass the first layer and are probed at the next ones as a batch.
const PASSED_KEYS: usize = 512;

/// Whether a key is included. `layer` returns one of `count` layers by its number.
#[inline]
pub(super) fn contains<'v>(count: usize, layer: impl Fn(usize) -> View<'v>, hash: u64) -> bool {
    let passes = |&i: &usize| layer(i).contains_hash(layer_hash(hash, i));
    let first = (0..count).find(|i| !passes(i));
    included(first.unwrap_or(count))
}

/// The answers for many keys; returns how many are included. The first layer answers all keys as one
/// batch. Those that it passes are collected and go down the others together.
pub(super) fn contains_batch<'v>(
    count: usize,
    layer: impl Fn(usize) -> View<'v>,
    hashes: &[u64],
    words: &mut [u64],
) -> usize {
    let passed = layer(0).contains_hashes(hashes, words);
    // Those that pass the only layer are included.
    if count == 1 {
        return passed;
    }
    let mut batch = Batch { hashes: [0; PASSED_KEYS], places: [0; PASSED_KEYS], len: 0 };
    for word in 0..words.len() {
        let mut bits = words[word];
        while bits != 0 {
            let place = 64 * word + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            batch.push(hashes[place], place);
            if batch.len == PASSED_KEYS {
                batch.settle(count, &layer, words);
            }
        }
    }
    batch.settle(count, &layer, words);
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// Keys that have passed all layers so far: their hashes, and where they are among those given.
struct Batch {
    hashes: [u64; PASSED_KEYS],
    places: [usize; PASSED_KEYS],
    len: usize,
}

impl Batch {
    fn push(&mut self, hash: u64, place: usize) {
        self.hashes[self.len] = hash;
        self.places[self.len] = place;
        self.len += 1;
    }

    /// Answers these keys, whose bits are set, by the layers from number 1 on. Then there are none.
    fn settle<'v>(&mut self, count: usize, layer: &impl Fn(usize) -> View<'v>, words: &mut [u64]) {
        for i in 1..count {
            if self.len == 0 {
                return;
            }
            let len = std::mem::take(&mut self.len);
            let (mut hashes, mut passed) = ([0; PASSED_KEYS], [0; PASSED_KEYS / 64]);
            let mapped = &mut hashes[..len];
            for (mapped, &hash) in mapped.iter_mut().zip(&self.hashes) {
                *mapped = layer_hash(hash, i);
            }
            layer(i).contains_hashes(mapped, &mut passed);
            for at in 0..len {
                let (hash, place) = (self.hashes[at], self.places[at]);
                if passed[at / 64] >> (at % 64) & 1 == 1 {
                    self.push(hash, place);
                } else {
                    set(words, place, included(i));
                }
            }
        }
        for &place in &self.places[..self.len] {
            set(words, place, included(count));
        }
        self.len = 0;
    }
}

/// Makes a bit, which is set, that answer.
fn set(words: &mut [u64], place: usize, answer: bool) {
    words[place / 64] &= !(u64::from(!answer) << (place % 64));
}

//! Probes of a cascade, whatever holds its layers.

use crate::filter::view::View;
use crate::kernel::{TILE, singly};
use crate::layouts::cascade::{included, layer_hash};

/// Keys that pass the first layer and are probed at the next ones as a batch.
const PASSED_KEYS: usize = 512;

/// How often a key of neither set is taken for an included one, by the rates of the layers.
pub(super) fn unknown_rate(rates: impl DoubleEndedIterator<Item = f64> + ExactSizeIterator) -> f64 {
    let is_included = |i| f64::from(u8::from(included(i)));
    let all_pass = is_included(rates.len());
    rates
        .enumerate()
        .rev()
        .fold(all_pass, |behind, (i, passes)| passes * behind + (1.0 - passes) * is_included(i))
}

/// Whether a key is included that passes the first `from` of `count` layers. `passes` tells whether
/// its hash in a layer passes that.
#[inline(always)]
pub(super) fn contains(
    from: usize,
    count: usize,
    passes: impl Fn(usize, u64) -> bool,
    hash: u64,
) -> bool {
    let first = (from..count).find(|&i| !passes(i, layer_hash(hash, i)));
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
    if let ([word], ..=singly::CASCADE_PASSED) = (&mut *words, passed) {
        let mut bits = *word;
        while bits != 0 {
            let place = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let passes = |i, hash| layer(i).contains_hash(hash);
            let answer = contains(1, count, passes, hashes[place]);
            *word ^= u64::from(!answer) << place;
        }
        return word.count_ones() as usize;
    }
    match words.len() {
        1 => settle_all::<TILE, 1>(count, &layer, hashes, words),
        _ => settle_all::<PASSED_KEYS, { PASSED_KEYS / TILE }>(count, &layer, hashes, words),
    }
}

/// The rest of [`contains_batch`], apart: a few keys need none of its room.
#[inline(never)]
fn settle_all<'v, const KEYS: usize, const WORDS: usize>(
    count: usize,
    layer: &impl Fn(usize) -> View<'v>,
    hashes: &[u64],
    words: &mut [u64],
) -> usize {
    let mut batch = Batch::<KEYS, WORDS> { hashes: [0; KEYS], places: [0; KEYS], len: 0 };
    for word in 0..words.len() {
        let mut bits = words[word];
        while bits != 0 {
            let place = TILE * word + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            batch.push(hashes[place], place);
            if batch.len == KEYS {
                batch.settle(count, layer, words);
            }
        }
    }
    batch.settle(count, layer, words);
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// Keys that have passed all layers so far: their hashes, and where they are among those given.
struct Batch<const KEYS: usize, const WORDS: usize> {
    hashes: [u64; KEYS],
    places: [usize; KEYS],
    len: usize,
}

impl<const KEYS: usize, const WORDS: usize> Batch<KEYS, WORDS> {
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
            let (mut hashes, mut passed) = ([0; KEYS], [0; WORDS]);
            let mapped = &mut hashes[..len];
            for (mapped, &hash) in mapped.iter_mut().zip(&self.hashes) {
                *mapped = layer_hash(hash, i);
            }
            layer(i).contains_hashes(mapped, &mut passed);
            for at in 0..len {
                let (hash, place) = (self.hashes[at], self.places[at]);
                if passed[at / TILE] >> (at % TILE) & 1 == 1 {
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
    words[place / TILE] &= !(u64::from(!answer) << (place % TILE));
}

//! Inserts, removals and probes in long histories, against the multiset of prefixes.

use crate::definition::{fewer, next_random};
use crate::kinds::growing_bytes::{Read, Region};
use crate::kinds::growing_model::Growing;
use bloomline::definition::growing::{Mixed, Multiset};
use bloomline::{Bitmap, Error, GrowingFilter};
use std::collections::HashSet;

/// Where the hashes of a history are.
#[derive(Clone, Copy, Debug)]
enum Keys {
    Uniform,
    /// A few keys are most of them.
    Popular,
    /// In the range of one line or a few.
    Flooded(u32),
    /// In one of four regions.
    Regions,
}

impl Keys {
    fn next(self, state: &mut u64) -> u64 {
        let (hash, other) = (next_random(state), next_random(state));
        match self {
            Keys::Uniform => hash,
            Keys::Popular if other % 4 > 0 => {
                (other >> 8 & other >> 20 & 0xFFF).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            }
            Keys::Popular => hash,
            Keys::Flooded(bits) => 0x7654_3210_0000_0000 + (hash >> bits),
            Keys::Regions => hash >> 2 | 1 << 62,
        }
    }
}

/// The lines that a probe reads at most, wherever keys crowd: a value lies 256 buckets behind its home at most.
const MOST_LINES: usize = 512;

/// What crowds before the end of a region may be too far behind its home for the line behind the last that has any.
#[test]
fn crowds_before_the_ends_of_regions_are_read_again() {
    let (mut state, mut empty) = (8, 0);
    // Nothing else is so near the end: of the only region, and of one of sixteen.
    for (most, end, gap) in [(2_000, u64::MAX, 1 << 61), (40_000, (6 << 60) - 1, 1 << 57)] {
        for part in (4..32).step_by(if fewer() { 8 } else { 2 }) {
            for back in 0..7 {
                let mut filter = GrowingFilter::new(most, 0.003, 0).unwrap();
                let mut model = Growing::new(most, 0.003, 0);
                let mut insert = |filter: &mut GrowingFilter, hash: u64| {
                    filter.insert_hash(hash).unwrap();
                    model.insert(hash, 0);
                };
                let others = (0..most * 4 / part).map(|_| next_random(&mut state));
                let others: Vec<u64> =
                    others.filter(|hash| !(end - gap..=end).contains(hash)).collect();
                others.iter().for_each(|&hash| insert(&mut filter, hash));
                let line = u64::MAX / filter.line_count();
                (0..900).for_each(|_| {
                    let offset = (u128::from(next_random(&mut state)) * u128::from(line / 2)) >> 64;
                    insert(&mut filter, end - back * line - offset as u64);
                });
                let bytes = filter.to_bytes().unwrap();
                assert!(bytes == model.encode(), "{most} at {part}, {back}");
                assert!(GrowingFilter::decode(&bytes).unwrap() == filter);
                let is_empty = |region: &Region| {
                    region.lines.len() as u64 > region.w.div_ceil(region.u)
                        && region.lines.ends_with(&[[0; 64]])
                };
                empty += Read::of(&bytes).regions.iter().filter(|region| is_empty(region)).count();
            }
        }
    }
    println!("{empty} empty lines behind others");
    assert!(empty > 5);
}

/// A filter and its model, which do the same.
struct Both {
    filter: GrowingFilter,
    model: Multiset,
    /// What was inserted and not removed.
    keys: Vec<u64>,
}

impl Both {
    fn new(most_keys: u64, rate: f64) -> Both {
        let filter = GrowingFilter::new(most_keys, rate, 0).unwrap();
        let model = Multiset::new(filter.prefix_count() / 16);
        Both { filter, model, keys: Vec::new() }
    }

    fn insert(&mut self, hash: u64) {
        assert_eq!(self.filter.insert_hash(hash), Ok(self.model.insert(hash)), "{hash:#x}");
        self.keys.push(hash);
    }

    fn remove(&mut self, hash: u64) {
        let was_there = self.model.remove(hash);
        let expected = if was_there { Ok(()) } else { Err(Error::Absent) };
        assert_eq!(self.filter.remove_hash(hash), expected, "{hash:#x}");
    }

    /// One of the keys, which is no more.
    fn remove_any(&mut self, state: &mut u64) {
        if !self.keys.is_empty() {
            let at = next_random(state) as usize % self.keys.len();
            let hash = self.keys.swap_remove(at);
            self.remove(hash);
        }
    }

    fn probe(&self, hash: u64) {
        assert_eq!(self.filter.contains_hash(hash), self.model.contains(hash), "{hash:#x}");
    }

    fn check(&self, keys: Keys, state: &mut u64) {
        assert!(self.filter.prefixes().eq(self.model.iter()), "order and counts");
        assert_eq!(self.filter.key_count(), self.model.iter().map(|(_, count)| count).sum());
        let others: Vec<u64> = (0..500).map(|_| keys.next(state)).collect();
        let all = || self.keys.iter().rev().take(2000).chain(&others).copied();
        for hash in all() {
            self.probe(hash);
            assert!(self.filter.lines_read(hash) <= MOST_LINES, "{hash:#x}");
            assert_eq!(self.filter.count_hash(hash), self.model.count(hash));
        }
        let hashes: Vec<u64> = all().collect();
        let expected: Vec<bool> = hashes.iter().map(|&hash| self.model.contains(hash)).collect();
        // All at once; and in calls that are probed one by one, as a whole or at the end.
        for count in [hashes.len(), 12, 20] {
            for (hashes, expected) in hashes.chunks(count).zip(expected.chunks(count)) {
                let mut answers = Bitmap::new();
                let present = self.filter.view().contains_hashes(hashes, &mut answers);
                assert_eq!(present, expected.iter().filter(|&&there| there).count());
                assert!(answers.iter().eq(expected.iter().copied()), "{count} in a call");
            }
        }
    }

    /// Grows to `size` keys and shrinks to a tenth, several times, then to none.
    fn history(mut self, keys: Keys, size: usize, state: &mut u64) {
        for round in 0..3 {
            while self.keys.len() < size {
                for _ in 0..size / 7 + 1 {
                    match next_random(state) % 8 {
                        0 => self.remove_any(state),
                        1 => self.probe(keys.next(state)),
                        2 if round == 0 => self.remove_absent(keys, state),
                        _ => self.insert(keys.next(state)),
                    }
                }
                self.check(keys, state);
            }
            while self.keys.len() > size / 10 {
                for _ in 0..size / 7 + 1 {
                    match next_random(state) % 4 {
                        0 if self.keys.len() < size => self.insert(keys.next(state)),
                        _ => self.remove_any(state),
                    }
                }
                self.check(keys, state);
            }
        }
        while !self.keys.is_empty() {
            self.remove_any(state);
        }
        self.check(keys, state);
        assert_eq!(self.filter.prefixes().next(), None);
        assert_eq!(self.filter.beside(), (0, 0));
    }

    /// What is definitely absent cannot be removed.
    fn remove_absent(&mut self, keys: Keys, state: &mut u64) {
        let hash = keys.next(state);
        if !self.model.contains(hash) {
            assert_eq!(self.filter.remove_hash(hash), Err(Error::Absent));
        }
    }
}

#[test]
fn answers_are_those_of_the_set_of_prefixes() {
    let all = [
        Keys::Uniform,
        Keys::Popular,
        Keys::Regions,
        Keys::Flooded(12),
        Keys::Flooded(24),
        Keys::Flooded(40),
    ];
    let sizes: &[usize] = if fewer() { &[40, 700] } else { &[3, 40, 700, 7_000, 20_000] };
    let mut state = 1;
    for &size in sizes {
        for (at, keys) in all.into_iter().enumerate() {
            // From far below what is expected to far above it.
            let shapes = [(1, 0.5), (100, 0.01), (5_000, 0.05), (60_000, 0.01), (1 << 40, 1e-5)];
            for (i, (most, rate)) in shapes.into_iter().enumerate() {
                // Where there are fewer, each kind of keys gets every second one.
                if fewer() && (at + i + usize::from(size > 40)) % 2 > 0 {
                    continue;
                }
                println!("{size} keys, {keys:?}, made for {most} at {rate}");
                Both::new(most, rate).history(keys, size, &mut state);
            }
        }
    }
}

/// A million times: few places, and as many removals.
#[test]
fn one_key_a_million_times() {
    let count = if fewer() { 20_000 } else { 1_000_000 };
    let mut state = 5;
    let mut both = Both::new(1000, 0.01);
    (0..1000).for_each(|_| both.insert(next_random(&mut state)));
    let before = both.filter.memory_usage();
    let hash = 0x1234_5678_9ABC_DEF0;
    for _ in 0..count {
        both.insert(hash);
    }
    assert_eq!(both.filter.count_hash(hash), both.model.count(hash));
    assert!(both.filter.memory_usage() < before + 4096);
    for _ in 0..count {
        both.remove(hash);
    }
    both.keys.truncate(1000);
    both.check(Keys::Uniform, &mut state);
}

// ---- mixed lengths ----

/// The model of mixed lengths answers for keys of which each has the length that it got. The filter's
/// regions lengthen one after the other, so it is held to what must hold: no false negative, the rate.
/// A model of one length for all answers the same while no length has changed.
#[test]
fn unbounded_filters_lose_no_key() {
    let sizes: &[usize] = if fewer() { &[100, 12_000] } else { &[100, 3_000, 20_000, 100_000] };
    for &size in sizes {
        for keys in
            [Keys::Uniform, Keys::Popular, Keys::Regions, Keys::Flooded(20), Keys::Flooded(40)]
        {
            for first in [1, 50, 10_000] {
                println!("{size} keys, {keys:?}, made for {first} first");
                unbounded_history(keys, size, first);
            }
        }
    }
}

fn unbounded_history(keys: Keys, size: usize, first: u64) {
    let mut filter = GrowingFilter::unbounded(first, 0.01, 0).unwrap();
    let (mut state, mut inside) = (3, Vec::new());
    // Of keys that are in, others of their kind, and any.
    let check_list = |filter: &GrowingFilter, inside: &[u64], state: &mut u64| {
        let some = inside.iter().copied().step_by(inside.len() / 1000 + 1);
        let others: Vec<u64> = (0..500).map(|_| keys.next(state)).collect();
        let any: Vec<u64> = (0..500).map(|_| next_random(state)).collect();
        answers_as_listed(filter, some.chain(others).chain(any));
    };
    let mut first_length = Mixed::new(filter.prefix_count() / 16);
    for round in 0..2 {
        while inside.len() < size {
            for _ in 0..size / 5 + 1 {
                let hash = keys.next(&mut state);
                let was_there = filter.contains_hash(hash);
                assert_eq!(filter.insert_hash(hash), Ok(!was_there));
                inside.push(hash);
                if round == 0 && inside.len() <= first as usize * 3 / 4 {
                    assert_eq!(first_length.insert(hash), !was_there);
                    let other = keys.next(&mut state);
                    assert_eq!(filter.contains_hash(other), first_length.contains(other));
                }
            }
            assert!(inside.iter().all(|&hash| filter.contains_hash(hash)), "a false negative");
            assert_eq!(filter.key_count(), inside.len() as u64);
            let sorted: Vec<u64> = filter.prefixes().map(|(prefix, _)| prefix).collect();
            assert!(sorted.is_sorted_by(|a, b| a < b));
            assert!(filter.estimated_rate() <= 0.01, "{}", filter.estimated_rate());
        }
        check_list(&filter, &inside, &mut state);
        while inside.len() > size / 10 {
            for _ in 0..size / 10 + 1 {
                if inside.is_empty() {
                    break;
                }
                let at = next_random(&mut state) as usize % inside.len();
                filter.remove_hash(inside.swap_remove(at)).unwrap();
            }
            assert!(inside.iter().all(|&hash| filter.contains_hash(hash)), "a false negative");
        }
        check_list(&filter, &inside, &mut state);
    }
    while let Some(hash) = inside.pop() {
        filter.remove_hash(hash).unwrap();
    }
    check_list(&filter, &inside, &mut state);
}

/// Only inserts: what it answers is what the prefixes say that it lists, each of its own length.
#[test]
fn unbounded_filters_answer_by_the_prefixes_that_they_list() {
    let mut filter = GrowingFilter::unbounded(10, 0.01, 0).unwrap();
    let mut state = 8;
    for _ in 0..if fewer() { 5_000 } else { 100_000 } {
        filter.insert_hash(next_random(&mut state)).unwrap();
    }
    let longest = filter.prefixes().map(|(prefix, _)| prefix.trailing_zeros()).max().unwrap();
    assert!(longest > 8, "lengths differ");
    answers_as_listed(&filter, (0..20_000).map(|_| next_random(&mut state)));
}

/// A key may be present if a prefix of it is listed, of whatever length.
fn answers_as_listed(filter: &GrowingFilter, hashes: impl Iterator<Item = u64>) {
    let listed: HashSet<u64> = filter.prefixes().map(|(prefix, _)| prefix).collect();
    let longest = ((1_u64 << 59) / filter.prefix_count()).ilog2();
    // The bits of the prefix, a 1, and zeros.
    let prefix = |hash: u64, length: u32| {
        let all = u128::from(filter.prefix_count()) << length;
        ((((u128::from(hash) * all) >> 64) as u64) << 1 | 1) << (longest - length)
    };
    for hash in hashes {
        let is_listed = (0..=longest).any(|length| listed.contains(&prefix(hash, length)));
        assert_eq!(filter.contains_hash(hash), is_listed, "{hash:#x}");
    }
}

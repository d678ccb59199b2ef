//! The rate of unbounded filters, whatever they have been through: phases of any kind, in any order.

use crate::definition::{fewer, next_random};
use bloomline::{GrowingFilter, GrowingWriter};

/// A filter with what it is to have, and the most keys that it ever had.
struct Run {
    filter: GrowingFilter,
    first: u64,
    rate: f64,
    keys: Vec<u64>,
    highest: usize,
    state: u64,
}

/// Where keys of a phase come from, and in which order.
const WAYS: u64 = 4;
const PHASES: u64 = 9;

impl Run {
    fn next(&mut self) -> u64 {
        next_random(&mut self.state)
    }

    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// Keys anywhere, or in one sixteenth of all hashes; in any order, ascending, or descending.
    fn new_keys(&mut self, count: usize) -> Vec<u64> {
        let (way, place) = (self.next() % WAYS, self.next());
        let bits = if way == 2 { 4 } else { 0 };
        let mut keys: Vec<u64> = (0..count)
            .map(|_| {
                if bits > 0 {
                    place >> (64 - bits) << (64 - bits) | self.next() >> bits
                } else {
                    self.next()
                }
            })
            .collect();
        match way {
            1 => keys.sort_unstable(),
            3 => keys.sort_unstable_by(|a, b| b.cmp(a)),
            _ => {}
        }
        keys
    }

    fn note(&mut self, keys: &[u64]) {
        self.keys.extend(keys);
        self.highest = self.highest.max(self.keys.len());
    }

    fn remove(&mut self, count: usize) {
        for _ in 0..count.min(self.keys.len()) {
            let at = self.below(self.keys.len());
            let hash = self.keys.swap_remove(at);
            self.filter.remove_hash(hash).unwrap();
        }
    }

    /// Up to so many keys come, go, or are read from somewhere.
    fn phase(&mut self, number: u64, most: usize) {
        let count = 1 + self.below(most);
        match number {
            0 | 1 => {
                for hash in self.new_keys(count) {
                    self.filter.insert_hash(hash).unwrap();
                    self.note(&[hash]);
                    if self.keys.len() < 500 {
                        self.check("insert");
                    }
                }
            }
            2 => {
                let keys = self.new_keys(count);
                self.filter.insert_hashes(&keys).unwrap();
                self.note(&keys);
            }
            3 => {
                // Fewer are not shared out.
                let count = if most < 1 << 16 { count } else { count.max(1 << 16) };
                let keys = &self.new_keys(count);
                self.filter.insert_hashes_parallel(keys, 2).unwrap();
                self.note(keys);
            }
            4 => self.remove(count),
            5 => {
                let bytes = self.filter.to_bytes().unwrap();
                self.filter = GrowingFilter::decode(&bytes).unwrap();
            }
            6 => {
                let mut journal = Vec::new();
                self.filter.save_whole(&mut journal, 1).unwrap();
                let keys = self.new_keys(count.min(self.keys.len() / 10));
                self.filter.insert_hashes(&keys).unwrap();
                self.filter.save_changed(&mut journal, 2).unwrap();
                self.note(&keys);
                self.check("before it is replayed");
                self.filter = GrowingFilter::replay(&journal[..]).unwrap().filter;
            }
            7 => {
                let mut writer = GrowingWriter::new(self.filter.try_clone().unwrap()).unwrap();
                let keys = self.new_keys(count);
                writer.insert_hashes(&keys).unwrap();
                self.note(&keys);
                self.filter = writer.filter().try_clone().unwrap();
            }
            8 => {
                // Parts of all hashes have parts of the rate.
                let count = 2 + self.below(3);
                let mut parts = self.filter.split(count).unwrap();
                self.filter = parts.pop().unwrap();
                parts.iter().for_each(|part| self.filter.union(part).unwrap());
            }
            _ => self.remove(self.keys.len() - self.keys.len() / 50),
        }
        self.check(&format!("phase {number} with {count}"));
    }

    /// A 24th for each doubling, one for the first keys, and a bit for keys that come while regions move.
    fn check(&self, after: &str) {
        let parts = (self.highest.max(1) as f64 / self.first as f64).log2().max(0.0) + 2.0;
        let (rate, most) = (self.filter.estimated_rate(), self.rate * (parts / 24.0).min(1.0));
        let Run { first, keys, highest, .. } = self;
        assert!(
            rate <= most,
            "{first} first at {}, {} keys, {highest} before, {after}: {rate} is above {most}",
            self.rate,
            keys.len()
        );
    }
}

#[test]
fn any_history_keeps_the_rate() {
    let most = if fewer() { 1 << 14 } else { 1 << 18 };
    for (i, first) in [1, 10, 1000].into_iter().enumerate() {
        for (j, rate) in [0.5, 0.01, 0.0001].into_iter().enumerate() {
            for seed in 0..2 {
                let filter = GrowingFilter::unbounded(first, rate, 0).unwrap();
                let state = 1 + (seed * 16 + i * 4 + j) as u64;
                let mut run = Run { filter, first, rate, keys: vec![], highest: 0, state };
                if seed == 1 {
                    let keys = run.new_keys(most / 20);
                    run.filter = GrowingFilter::build_unbounded(first, rate, 0, &keys).unwrap();
                    run.note(&keys);
                    run.check("build");
                }
                while run.keys.len() < most {
                    // So that each size takes part in some phases.
                    let some = (run.keys.len() / 2).clamp(20, most / 2);
                    // Few lose nearly all keys: else it would never have many.
                    let (number, rare) = (run.next() % PHASES, run.next() % 100);
                    run.phase(if rare == 0 { PHASES } else { number }, some);
                }
                assert!(run.keys.iter().all(|&hash| run.filter.contains_hash(hash)));
            }
        }
    }
}

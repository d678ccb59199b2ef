//! Probes of whole filters against the definition: all lengths of batches, on all backends.

use super::super::backend::Backend;
use super::super::prefetch::Prefetch;
use super::tests::line_of;
use super::tiles::{Homes, contains, contains_all};
use super::{Found, Line};
use crate::hash::hash_u64;
use crate::layouts::growing::{self, Content, MOST_KEYS, REGIONS, place, prefix, region, write};

/// The lines of one width in all regions, full: many go on.
struct Lines {
    w: u64,
    u: u64,
    r: u32,
    regions: Vec<Vec<[u8; 64]>>,
    words: Vec<Vec<Line>>,
}

/// The hash of a key. Some crowd, so that they take more than two lines.
fn hash_of(key: u64) -> u64 {
    let hash = hash_u64(key, 1);
    if key % 64 == 5 { hash >> 8 | 0x35 << 56 } else { hash }
}

/// A region, a line and a value.
type Place = (usize, usize, i64);

impl Lines {
    /// With so many keys per line, each line the home of `u` prefixes.
    fn new(lines: u64, keys: u64, u: u64, r: u32) -> Lines {
        let w = lines * u;
        let count = REGIONS * lines * keys;
        let mut sorted: Vec<(u64, u64)> =
            (0..count).map(hash_of).map(|hash| (region(hash), prefix(hash, w))).collect();
        sorted.sort_unstable();
        let region_of = |number| {
            let mut rest: Vec<u64> =
                sorted.iter().filter(|key| key.0 == number).map(|key| key.1).collect();
            rest.reverse();
            let mut made = Vec::new();
            while !rest.is_empty() || (made.len() as u64) < lines {
                let start = made.len() as u64 * u;
                let own = rest.iter().rev().take_while(|&&key| key < start + u);
                let mut values: Vec<i64> =
                    own.take(MOST_KEYS).map(|&key| key as i64 - start as i64).collect();
                let line = loop {
                    let left = &rest[..rest.len() - values.len()];
                    let goes_on = left.last().is_some_and(|&key| key < start + u);
                    match write(&Content { keys: values.clone(), goes_on }, r) {
                        Some(line) => break line,
                        None => values.pop(),
                    };
                };
                rest.truncate(rest.len() - values.len());
                made.push(line);
            }
            made
        };
        let regions: Vec<Vec<[u8; 64]>> = (0..REGIONS).map(region_of).collect();
        let words = regions.iter().map(|lines| lines.iter().map(line_of).collect()).collect();
        Lines { w, u, r, regions, words }
    }

    fn defined(&self, hash: u64) -> bool {
        let lines = &self.regions[region(hash) as usize];
        growing::contains(lines, prefix(hash, self.w), self.u, self.r)
    }
}

impl Homes for Lines {
    type Place = Place;

    fn home(&self, hash: u64) -> Place {
        let (line, offset) = place(prefix(hash, self.w), self.u);
        (region(hash) as usize, line as usize, offset as i64)
    }

    fn line(&self, &(region, line, _): &Place) -> &Line {
        &self.words[region][line]
    }

    fn value(&self, place: &Place) -> i64 {
        place.2
    }

    fn width(&self, _: &Place) -> u32 {
        self.r
    }

    fn next(&self, &(region, line, value): &Place) -> Place {
        (region, line + 1, value - self.u as i64)
    }

    fn is_mixed(&self) -> bool {
        false
    }
}

#[test]
fn batches_are_as_defined() {
    for lines in [Lines::new(12, 52, 5230, 7), Lines::new(12, 23, 70 << 16, 17)] {
        let go_on = lines.words.iter().flatten().filter(|line| super::goes_on(line)).count();
        assert!(go_on > 20, "{go_on} lines go on");
        for backend in Backend::available() {
            let calls = backend.kernels().unwrap().of_growing();
            let mut present = 0;
            // Every second key was inserted.
            let hash = |i: u64| hash_of((i % 1500) | (i & 1) << 40);
            let batches = (0..=200).chain([1000]).map(|count| {
                let hashes = (0..count).map(|i| hash(i + 7 * count));
                hashes.collect::<Vec<u64>>()
            });
            // All of some whole tiles go on.
            let goes_on = |&hash: &u64| {
                let place = lines.home(hash);
                calls.find(lines.line(&place), lines.value(&place), lines.r) == Found::Onward
            };
            let late: Vec<u64> = (0..1500).map(hash).filter(goes_on).collect();
            assert!(late.len() > 64, "{} keys go on", late.len());
            let late = late.iter().cycle().take(700).copied().collect();
            for hashes in batches.chain([late]) {
                let mut expected = vec![0; hashes.len().div_ceil(64)];
                for (i, &hash) in hashes.iter().enumerate() {
                    let is_there = lines.defined(hash);
                    assert_eq!(contains(&lines, calls, hash), is_there);
                    expected[i / 64] |= u64::from(is_there) << (i % 64);
                }
                let all: u32 = expected.iter().map(|word| word.count_ones()).sum();
                present += all;
                for plan in [Prefetch::None, Prefetch::Far, Prefetch::FarAndNear] {
                    let mut words = vec![u64::MAX; expected.len()];
                    let found = contains_all(&lines, calls, &hashes, plan, &mut words);
                    assert_eq!(
                        (found, &words),
                        (all as usize, &expected),
                        "{} {plan:?}",
                        hashes.len()
                    );
                }
            }
            assert!(present > 5000, "{present}");
        }
    }
}

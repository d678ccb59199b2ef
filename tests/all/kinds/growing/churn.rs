//! A growing filter of constant size whose keys come and go: it stays as it was.

use crate::definition::{fewer, next_random};
use bloomline::GrowingFilter;
use bloomline::definition::growing::Multiset;

const ROUNDS: usize = 100;

fn size() -> u64 {
    if fewer() { 100_000 } else { 300_000 }
}

/// What must not change.
#[derive(Debug)]
struct Sizes {
    bytes: f64,
    lines: f64,
    /// The part of the lines that keys need.
    fill: f64,
    /// Lines that a probe reads, of absent keys and of present ones.
    absent: f64,
    present: f64,
    regions: usize,
    /// Prefixes for which no line had room.
    stash: u64,
}

impl Sizes {
    fn of(filter: &GrowingFilter, keys: &[u64], state: &mut u64) -> Sizes {
        let mean = |hashes: &[u64]| {
            let read: usize = hashes.iter().map(|&hash| filter.lines_read(hash)).sum();
            read as f64 / hashes.len() as f64
        };
        let absent: Vec<u64> = (0..keys.len()).map(|_| next_random(state)).collect();
        Sizes {
            bytes: filter.memory_usage() as f64,
            lines: filter.line_count() as f64,
            fill: filter.fill(),
            absent: mean(&absent),
            present: mean(keys),
            regions: filter.regions(),
            stash: filter.beside().1,
        }
    }

    /// Whether these are the same, but for so large a part at most.
    fn is_near(&self, start: &Sizes, most: f64) {
        let near = |name: &str, now: f64, start: f64| {
            assert!((now / start - 1.0).abs() <= most, "{name}: {start}, then {now}");
        };
        near("bytes", self.bytes, start.bytes);
        near("lines", self.lines, start.lines);
        near("fill", self.fill, start.fill);
        near("lines of an absent key", self.absent, start.absent);
        near("lines of a present key", self.present, start.present);
        assert_eq!((self.regions, self.stash), (start.regions, start.stash));
    }
}

/// A filter of so many keys, and what it has.
fn filled(mut filter: GrowingFilter, state: &mut u64) -> (GrowingFilter, Vec<u64>) {
    let keys: Vec<u64> = (0..size()).map(|_| next_random(state)).collect();
    keys.iter().for_each(|&hash| _ = filter.insert_hash(hash).unwrap());
    (filter, keys)
}

/// A twentieth of the keys is replaced in each round, any of them.
fn churn(
    filter: &mut GrowingFilter,
    keys: &mut [u64],
    state: &mut u64,
    mut replaced: impl FnMut(u64, u64),
) {
    for _ in 0..ROUNDS * keys.len() / 20 {
        let (at, new) = (next_random(state) as usize % keys.len(), next_random(state));
        let old = std::mem::replace(&mut keys[at], new);
        filter.remove_hash(old).unwrap();
        filter.insert_hash(new).unwrap();
        replaced(old, new);
    }
}

#[test]
fn a_bounded_filter_stays_as_it_was() {
    let mut state = 9;
    let made = GrowingFilter::new(size(), 0.01, 0).unwrap();
    let (mut filter, mut keys) = filled(made, &mut state);
    let mut model = Multiset::new(filter.prefix_count() / 16);
    keys.iter().for_each(|&hash| _ = model.insert(hash));
    let start = Sizes::of(&filter, &keys, &mut state);
    churn(&mut filter, &mut keys, &mut state, |old, new| {
        assert!(model.remove(old));
        model.insert(new);
    });
    let end = Sizes::of(&filter, &keys, &mut state);
    println!("{start:?}\n{end:?}");
    end.is_near(&start, 0.05);
    assert!(filter.prefixes().eq(model.iter()));
    assert_eq!(filter.key_count(), keys.len() as u64);
    let absent: Vec<u64> = (0..20_000).map(|_| next_random(&mut state)).collect();
    for &hash in keys.iter().chain(&absent) {
        assert_eq!(filter.contains_hash(hash), model.contains(hash), "{hash:#x}");
    }
}

/// The keys that come get the longest prefixes, those that go had shorter ones as well: so the rate falls, and each
/// key takes up to two bits more.
#[test]
fn an_unbounded_filter_keeps_its_rate() {
    let mut state = 9;
    let made = GrowingFilter::unbounded(100, 0.01, 0).unwrap();
    let (mut filter, mut keys) = filled(made, &mut state);
    let start = Sizes::of(&filter, &keys, &mut state);
    churn(&mut filter, &mut keys, &mut state, |_, _| ());
    let end = Sizes::of(&filter, &keys, &mut state);
    println!("{start:?}\n{end:?}, rate {}", filter.estimated_rate());
    end.is_near(&start, 0.15);
    assert!(filter.estimated_rate() <= 0.01);
    assert!(keys.iter().all(|&hash| filter.contains_hash(hash)));
}

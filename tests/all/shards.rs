//! Shards: which one a key belongs to, that its filter does not notice, and batches over all.

use crate::definition;

use bloomline::{Filter, Params, View, hash, shard_of, shards_contain_hashes};
use definition::*;

fn filters(shards: u64, keys: u64, bits_per_key: f64) -> Vec<Filter> {
    let params = Params::for_bits(keys / shards, bits_per_key).unwrap();
    let mut filters: Vec<Filter> = (0..shards).map(|_| Filter::new(params).unwrap()).collect();
    for key in 0..keys {
        let hash = hash::hash_u64(key, 0);
        filters[shard_of(hash, shards) as usize].insert_hash(hash);
    }
    filters
}

fn views(filters: &[Filter]) -> Vec<View<'_>> {
    filters.iter().map(Filter::view).collect()
}

#[test]
fn shards_are_of_equal_size() {
    for shards in [1, 2, 3, 7, 10, 64, 1000] {
        let keys = 2000 * shards;
        let mut counts = vec![0_u64; shards as usize];
        for key in 0..keys {
            counts[shard_of(hash::hash_u64(key, 0), shards) as usize] += 1;
        }
        // Six standard deviations of a count of 2000.
        assert!(counts.iter().all(|&count| count.abs_diff(2000) < 6 * 45), "{shards}: {counts:?}");
    }
    assert_eq!(shard_of(u64::MAX, 0), 0);
}

/// The rate of a set in shards is that of the set in one filter, for any number of shards.
#[test]
fn rates_are_as_predicted() {
    const KEYS: u64 = 400_000;
    for bits in [8.0, 10.0, 16.0] {
        for shards in [1, 2, 3, 5, 8, 16, 32, 64].into_iter().step_by(if fewer() { 4 } else { 1 }) {
            let filters = filters(shards, KEYS, bits);
            let views = views(&filters);
            let asked: Vec<u64> =
                (KEYS..KEYS + 1_000_000).map(|key| hash::hash_u64(key, 0)).collect();
            let mut bitmap = vec![0; asked.len().div_ceil(64)];
            let rate = shards_contain_hashes(&views, &asked, &mut bitmap) as f64 / 1e6;
            let expected = filters[0].params().rate(KEYS / shards);
            // Six standard deviations of the measurement, and 3 % for the sets themselves:
            // shards have not all the same number of keys.
            let slack = 6.0 * (expected / 1e6).sqrt() + 0.03 * expected;
            assert!((rate - expected).abs() < slack, "{bits} bits, {shards}: {rate}, {expected}");
        }
    }
}

#[test]
fn batches_ask_the_right_shard() {
    for shards in [1, 2, 64] {
        let filters = filters(shards, 10_000, 10.0);
        let views = views(&filters);
        for n in (0..=130).chain([511, 512, 1000, 2049, 5000]) {
            let mut hashes = random_hashes(n, shards);
            for (i, hash) in hashes.iter_mut().enumerate().step_by(3) {
                *hash = hash::hash_u64(i as u64, 0);
            }
            let mut bitmap = vec![!0; n.div_ceil(64) + 1];
            let count = shards_contain_hashes(&views, &hashes, &mut bitmap);
            let yes = |hash: u64| filters[shard_of(hash, shards) as usize].contains_hash(hash);
            for (i, &hash) in hashes.iter().enumerate() {
                assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, yes(hash), "{shards}, {n}: {i}");
                assert!(i % 3 > 0 || yes(hash));
            }
            assert_eq!(count, hashes.iter().filter(|&&hash| yes(hash)).count());
            assert!(n % 64 == 0 || bitmap[n / 64] >> (n % 64) == 0);
            assert_eq!(bitmap[n.div_ceil(64)], !0);
        }
    }
    // Without a filter to ask, every key may be in.
    let mut bitmap = [0; 2];
    assert_eq!(shards_contain_hashes(&[], &[1; 70], &mut bitmap), 70);
    assert_eq!(bitmap, [!0, 0x3F]);
}

/// Shards of one shape are united to the filter of the whole set.
#[test]
fn shards_are_merged_by_union() {
    let params = Params::for_bits(10_000, 10.0).unwrap();
    let mut whole = Filter::new(params).unwrap();
    let mut parts: Vec<Filter> = (0..4).map(|_| Filter::new(params).unwrap()).collect();
    for key in 0..10_000 {
        let hash = hash::hash_u64(key, 0);
        whole.insert_hash(hash);
        parts[shard_of(hash, 4) as usize].insert_hash(hash);
    }
    let mut merged = Filter::new(params).unwrap();
    parts.iter().for_each(|part| merged.union(part).unwrap());
    assert!(merged.lines() == whole.lines());
}

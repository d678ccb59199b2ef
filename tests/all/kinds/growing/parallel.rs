//! Inserts on several threads: the prefixes and the answers of the definition, for any number of threads.

use crate::definition::{fewer, next_random};
use bloomline::definition::growing::Multiset;
use bloomline::{Bitmap, GrowingFilter};

fn threads() -> &'static [usize] {
    if fewer() { &[2] } else { &[1, 2, 3, 16] }
}

/// Enough to be sorted by region.
const SOME: usize = 70_000;

fn random(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    (0..count).map(|_| next_random(&mut state)).collect()
}

/// Uniform, popular ones, in order, in one region, in few lines.
fn sets() -> Vec<Vec<u64>> {
    let uniform = random(SOME, 1);
    let mut popular = random(SOME, 2);
    popular.iter_mut().step_by(2).for_each(|hash| {
        *hash = (*hash & *hash >> 12 & 0xFF).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    });
    let mut sorted = random(SOME, 3);
    sorted.sort_unstable();
    let region = random(SOME, 4).into_iter().map(|hash| 0xA << 60 | hash >> 4).collect();
    let flooded = random(SOME, 5).into_iter().map(|hash| 0x7654_3210_0000_0000 + (hash >> 38));
    vec![uniform, popular, sorted, region, flooded.take(SOME).collect()]
}

fn check(filter: &GrowingFilter, model: &Multiset, keys: &[u64]) {
    assert!(filter.prefixes().eq(model.iter()));
    assert_eq!(filter.key_count(), model.iter().map(|(_, count)| count).sum());
    let mut answers = Bitmap::new();
    assert_eq!(filter.contains_hashes(keys, &mut answers), keys.len());
    let others = random(5_000, 77);
    filter.contains_hashes(&others, &mut answers);
    assert!(others.iter().zip(answers.iter()).all(|(&hash, said)| said == model.contains(hash)));
}

/// One batch after the other into a filter that has keys, and is moving a region or not.
#[test]
fn any_number_of_threads_inserts_the_same_prefixes() {
    for (i, first) in [0, 3_000, 40_000, 40_900, 120_000].into_iter().enumerate() {
        let before = random(first, 9);
        for (set, hashes) in sets().iter().enumerate() {
            if fewer() && (set + i) % 4 > 0 {
                continue;
            }
            let mut model = Multiset::new(30_000_000 / 16);
            before.iter().for_each(|&hash| _ = model.insert(hash));
            let new: Bitmap = hashes.iter().map(|&hash| model.insert(hash)).collect();
            for &threads in threads() {
                let mut filter = GrowingFilter::new(300_000, 0.01, 0).unwrap();
                assert_eq!(filter.prefix_count(), 30_000_000);
                before.iter().for_each(|&hash| _ = filter.insert_hash(hash).unwrap());
                let mut answers = Bitmap::new();
                let count =
                    filter.insert_new_hashes_parallel(hashes, &mut answers, threads).unwrap();
                assert!(
                    answers == new && count == new.count_ones(),
                    "{first}, set {set}, {threads}"
                );
                let all: Vec<u64> = before.iter().chain(hashes).copied().collect();
                check(&filter, &model, &all);
                // It goes on as others do, until it is empty.
                for &hash in &all {
                    assert_eq!(filter.remove_hash(hash), Ok(()));
                }
                assert_eq!((filter.prefixes().count(), filter.beside()), (0, (0, 0)));
            }
        }
    }
}

/// Keys are hashed by the threads; more than are sorted at a time.
#[test]
fn keys_are_inserted_as_by_one_thread() {
    let keys: Vec<u64> = (0..(1 << 20) + 80_000).map(|i| i % 1_000_000).collect();
    for len in [0, 1, 1000, SOME, keys.len()] {
        let keys = &keys[..if fewer() { len.min(SOME) } else { len }];
        let mut expected = GrowingFilter::new(1_000_000, 0.01, 5).unwrap();
        let (mut new, mut answers) = (Bitmap::new(), Bitmap::new());
        let count = expected.insert_new_keys(keys, &mut new).unwrap();
        let mut filter = GrowingFilter::new(1_000_000, 0.01, 5).unwrap();
        assert_eq!(filter.insert_new_keys_parallel(keys, &mut answers, 2), Ok(count));
        assert!(answers == new && filter == expected);
        filter.insert_keys_parallel(keys, 2).unwrap();
        assert_eq!(filter.key_count(), 2 * keys.len() as u64);
        assert!(keys.iter().all(|key| filter.count(key) >= 2));
    }
}

/// Clusters of keys that reach as far behind their home as lines allow. When lines become narrower, they reach less
/// far: much of each cluster is then beside the lines, though few keys came.
#[test]
fn regions_that_put_many_keys_beside_their_lines() {
    let clusters = 320;
    // Numbers of a cluster's keys, in two regions.
    let some = |numbers: std::ops::Range<u64>| {
        let each = move |number| {
            (0..clusters).flat_map(move |i| {
                let hash = (1 << 60) / clusters * i + number * 0x9E37_79B9;
                [3, 9].map(|region: u64| (region << 60) + hash)
            })
        };
        numbers.flat_map(each).collect::<Vec<u64>>()
    };
    let mut filter = GrowingFilter::new(1 << 30, 0.01, 0).unwrap();
    let mut all = some(0..260);
    all.iter().for_each(|&hash| _ = filter.insert_hash(hash).unwrap());
    for first in (260..320).step_by(20) {
        let mut batch = some(first..first + 20);
        // Another one so often that all are sorted by region.
        batch.resize(SOME, 7);
        filter.insert_hashes_parallel(&batch, 2).unwrap();
        println!("{} keys of each cluster, {} beside the lines", first + 20, filter.beside().1);
        all.extend(batch);
    }
    let built = GrowingFilter::build(1 << 30, 0.01, 0, &all).unwrap();
    assert!(filter == built && filter.key_count() == all.len() as u64);
    assert!(all.iter().all(|&hash| filter.contains_hash(hash)));
}

/// Without a bound it is the same for any number of threads, and keeps its rate.
#[test]
fn an_unbounded_filter_is_the_same_for_any_number_of_threads() {
    let most = if fewer() { 80_000 } else { 1_500_000 };
    let hashes = random(most, 8);
    let fill = |threads: usize| {
        let mut filter = GrowingFilter::unbounded(1_000, 0.01, 0).unwrap();
        filter.insert_hashes(&hashes[..SOME / 10]).unwrap();
        for hashes in hashes[SOME / 10..].chunks(most / 3) {
            filter.insert_hashes_parallel(hashes, threads).unwrap();
        }
        filter
    };
    let mut filter = fill(2);
    for &threads in threads() {
        assert!(fill(threads) == filter, "{threads} threads");
    }
    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
    let others = random(200_000, 55);
    let wrong = others.iter().filter(|&&hash| filter.contains_hash(hash)).count();
    assert!(wrong < 2_300, "{wrong} of 200,000");
    for &hash in &hashes {
        assert!(
            filter.contains_hash(hash),
            "the last prefix of a key is there until it is removed"
        );
        filter.remove_hash(hash).unwrap();
    }
    assert_eq!(filter.key_count(), 0);
}

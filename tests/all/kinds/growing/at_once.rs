//! Batches of so many hashes that a filter is built anew with them: it is as after inserts one by one.

use crate::definition::{fewer, next_random};
use bloomline::definition::growing::Multiset;
use bloomline::{Bitmap, GrowingFilter};

/// Of so many hashes on, and as many as there are keys for each eighth.
const LEAST: usize = 4096;

fn random(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    (0..count).map(|_| next_random(&mut state)).collect()
}

/// Uniform, in order, popular ones, in one region, in few lines.
fn batches(count: usize) -> [Vec<u64>; 5] {
    let mut sorted = random(count, 2);
    sorted.sort_unstable();
    let mut popular = random(count, 3);
    popular.iter_mut().step_by(2).for_each(|hash| {
        *hash = (*hash & *hash >> 12 & 0xFF).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    });
    let region = random(count, 4).into_iter().map(|hash| 0xA << 60 | hash >> 4).collect();
    let flooded = random(count, 5).into_iter().map(|hash| 0x7654_3210_0000_0000 + (hash >> 38));
    [random(count, 1), sorted, popular, region, flooded.collect()]
}

fn one_by_one(filter: &mut GrowingFilter, hashes: &[u64]) {
    hashes.iter().for_each(|&hash| _ = filter.insert_hash(hash).unwrap());
}

/// Into an empty filter, a small one, one that a region moves in, and one with keys beside its lines; just as many as
/// it takes, and one less.
#[test]
fn a_large_batch_is_as_inserts_one_by_one() {
    let firsts: &[usize] = if fewer() { &[0, 40_900] } else { &[0, 3_000, 9_000, 40_900, 120_000] };
    for (i, &first) in firsts.iter().enumerate() {
        let least = LEAST.max(first / 8);
        for (set, batch) in batches(3 * least).iter().enumerate() {
            for count in [least - 1, least, 3 * least] {
                if fewer() && (set + i) % 2 > 0 {
                    continue;
                }
                let (before, batch) = (random(first, 9), &batch[..count]);
                let mut filter = GrowingFilter::new(100_000, 0.01, 0).unwrap();
                one_by_one(&mut filter, &before);
                // The second time, with those that lie beside the lines.
                for _ in 0..2 {
                    filter.insert_hashes(batch).unwrap();
                }
                let mut model = Multiset::new(filter.prefix_count() / 16);
                before.iter().chain(batch).chain(batch).for_each(|&hash| _ = model.insert(hash));
                let name = format!("{count} of set {set} to {first}");
                assert!(filter.prefixes().eq(model.iter()), "{name}");
                assert_eq!(filter.key_count() as usize, first + 2 * count, "{name}");
                let (probes, mut answers) = (random(3_000, 7), Bitmap::new());
                let there = filter.contains_hashes(batch, &mut answers);
                assert_eq!(there, count, "{name}");
                filter.contains_hashes(&probes, &mut answers);
                let expected = probes.iter().map(|&hash| model.contains(hash));
                assert!(answers.iter().eq(expected), "{name}");
                // It goes on as others do, until it is empty.
                for hash in random(2_000, 8) {
                    assert_eq!(filter.insert_hash(hash), Ok(model.insert(hash)), "{name}");
                }
                for hash in before.into_iter().chain(random(2_000, 8)) {
                    assert_eq!(filter.remove_hash(hash), Ok(()), "{name}");
                }
                batch.iter().chain(batch).for_each(|&hash| filter.remove_hash(hash).unwrap());
                assert_eq!((filter.prefixes().count(), filter.beside()), (0, (0, 0)), "{name}");
            }
        }
    }
}

/// Its lines are as full as those that grow key by key are on average, and no key lies beside them, also while it grows
/// on.
#[test]
fn it_has_the_memory_of_inserts() {
    let count = if fewer() { 60_000 } else { 400_000 };
    let all = random(2 * count, 1);
    let mut one = GrowingFilter::new(count as u64, 0.01, 0).unwrap();
    let mut filter = one.try_clone().unwrap();
    let (mut sum, mut samples) = (0.0, 0);
    for (i, &hash) in all.iter().enumerate() {
        one.insert_hash(hash).unwrap();
        if i >= count && i % 1_000 == 0 {
            (sum, samples) = (sum + one.fill(), samples + 1);
        }
    }
    all[..count].chunks(count / 4).for_each(|batch| filter.insert_hashes(batch).unwrap());
    let mean = sum / f64::from(samples);
    println!("{:.3} full, {mean:.3} by inserts", filter.fill());
    assert!((filter.fill() / mean - 1.0).abs() < if fewer() { 0.04 } else { 0.01 });
    let mut lowest = filter.fill();
    for &hash in &all[count..] {
        filter.insert_hash(hash).unwrap();
        lowest = lowest.min(filter.fill());
        assert_eq!(filter.beside().1, 0);
    }
    println!("{lowest:.3} full at least while it grows on");
    assert!(filter == one);
}

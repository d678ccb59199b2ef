//! Inserts on several threads: the bytes of the definition, for any number of threads.

use bloomline::definition::line;
use bloomline::{Filter, Params};

use crate::definition;
use definition::{AWKWARD, random_hashes};

const THREADS: [usize; 6] = [0, 1, 2, 3, 7, 64];

/// Enough for seven threads to take part.
const MANY: usize = 7 * 32768 + 100;

/// Hashes of all lines, of one line, in order, on the bounds between lines, and next to none.
fn sets(line_count: u64) -> Vec<Vec<u64>> {
    let random = random_hashes(MANY, line_count);
    let bounds = (0..MANY as u64).map(|i| {
        let line = u128::from(i / 3 % line_count);
        let first = (line << 64).div_ceil(u128::from(line_count)) as u64;
        first.wrapping_add(i % 3).wrapping_sub(1)
    });
    let mut sorted = random.clone();
    sorted.sort_unstable();
    let mut awkward = random.clone();
    awkward.iter_mut().step_by(2).zip(AWKWARD.iter().cycle()).for_each(|(hash, &awkward)| {
        *hash = awkward;
    });
    let one_line = random.iter().map(|hash| hash % (u64::MAX / line_count / 2)).collect();
    vec![vec![], vec![u64::MAX], random, bounds.collect(), sorted, awkward, one_line, vec![0; MANY]]
}

#[test]
fn any_number_of_threads_makes_the_same_filter() {
    let most = if definition::fewer() { 50_000 } else { 300_000 };
    for (k, line_count) in [(1, 1), (6, 2), (8, 5), (11, 4000), (6, most)] {
        let params = Params::new(line_count, k, 0).unwrap();
        for (i, hashes) in sets(line_count).iter().enumerate() {
            let mut lines = vec![0; params.bytes()];
            hashes.iter().for_each(|&hash| line::insert(&mut lines, k, hash));
            let few = if definition::fewer() { 3 } else { 1 };
            for threads in THREADS.into_iter().step_by(few) {
                let mut filter = Filter::new(params).unwrap();
                filter.insert_hashes_parallel(hashes, threads);
                assert!(filter.lines() == lines, "set {i}, {line_count} lines, {threads} threads");
                assert_eq!(filter.key_count(), hashes.len() as u64);
            }
        }
    }
}

#[test]
fn keys_are_hashed_and_inserted_as_by_one_thread() {
    // More than are hashed at a time, so that the second part adds to the first.
    let keys: Vec<String> = (0..(1 << 20) + 70_000).map(|i| format!("key {i}")).collect();
    let params = Params::new(20_000, 6, 9).unwrap();
    for len in [0, 1, 100_000, keys.len()] {
        let mut expected = Filter::new(params).unwrap();
        expected.insert_keys(&keys[..len]);
        for threads in [0, 1, 3, 64] {
            let mut filter = Filter::new(params).unwrap();
            filter.insert_keys_parallel(&keys[..len], threads);
            assert!(filter == expected, "{len} keys, {threads} threads");
        }
    }
}

#[test]
fn a_second_batch_adds_to_the_first() {
    let hashes = random_hashes(2 * MANY, 5);
    let params = Params::new(5000, 7, 0).unwrap();
    let (mut one, mut several) = (Filter::new(params).unwrap(), Filter::new(params).unwrap());
    one.insert_hashes(&hashes);
    for part in hashes.chunks(MANY) {
        several.insert_hashes_parallel(part, 3);
    }
    assert!(one == several);
}

#[test]
fn a_classic_filter_takes_one_thread_and_all_keys() {
    let hashes = random_hashes(MANY, 1);
    let params = Params::classic_for_rate(MANY as u64, 0.01).unwrap();
    let (mut one, mut several) = (
        crate::definition::classic_filter(params).unwrap(),
        crate::definition::classic_filter(params).unwrap(),
    );
    one.insert_hashes(&hashes);
    several.insert_hashes_parallel(&hashes, 7);
    assert!(one == several);
}

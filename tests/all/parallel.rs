//! Inserts on several threads: the bytes and the answers of the definition, for any number of threads.

use bloomline::definition::line;
use bloomline::{Bitmap, Filter, Params};

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

/// Inserts by the definition. Returns which hashes were new: their bits changed a line.
fn new_by_definition(lines: &mut [u8], k: u32, hashes: &[u64]) -> Vec<bool> {
    let new = |&hash: &u64| {
        let new = !line::contains(lines, k, hash);
        line::insert(lines, k, hash);
        new
    };
    hashes.iter().map(new).collect()
}

/// Hashes of which some repeat: the next again, one of a few thousand before, of a million before.
fn repeating(len: usize) -> Vec<u64> {
    let random = random_hashes(len, 77);
    let distances = [0, 0, 1, 2, 63, 64, 511, 4095, 4096, 50_000, 1 << 20];
    let mut hashes = Vec::with_capacity(len);
    for i in 0..len {
        let distance = distances[(random[i] % distances.len() as u64) as usize];
        hashes.push(if distance == 0 || distance > i { random[i] } else { hashes[i - distance] });
    }
    hashes
}

#[test]
fn the_answers_are_those_of_one_by_one() {
    const EACH: usize = 32768;
    let million = 1 << 20;
    let sizes = [0, 1, 64, 2 * EACH - 1, 2 * EACH, 2 * EACH + 1, 3 * EACH + 4095, 8 * EACH + 63];
    let large = [million, million + 1, million + 2 * EACH + 65];
    let sizes = if definition::fewer() {
        vec![2 * EACH - 1, 3 * EACH + 4095]
    } else {
        [&sizes[..], &large].concat()
    };
    let all = repeating(*sizes.iter().max().unwrap());
    for (k, line_count) in [(6, 1), (8, 3), (7, 20_011), (11, 1000)] {
        let params = Params::new(line_count, k, 0).unwrap();
        for &len in &sizes {
            let hashes = &all[..len];
            let mut lines = vec![0; params.bytes()];
            let expected: Bitmap = new_by_definition(&mut lines, k, hashes).into_iter().collect();
            let step = if len > million || definition::fewer() { 3 } else { 1 };
            for threads in (0..=8).step_by(step) {
                let what = format!("{len} hashes, {line_count} lines, {threads} threads");
                let (mut filter, mut new) = (Filter::new(params).unwrap(), Bitmap::new());
                let count = filter.insert_new_hashes_parallel(hashes, &mut new, threads);
                assert!(new == expected, "{what}");
                assert_eq!(count, expected.count_ones(), "{what}");
                assert!(filter.lines() == lines, "{what}");
                assert_eq!(filter.key_count(), len as u64, "{what}");
                // All are there.
                let again = filter.insert_new_hashes_parallel(hashes, &mut new, threads);
                assert_eq!((again, new.count_ones()), (0, 0), "{what}");
            }
        }
    }
}

#[test]
fn new_keys_are_those_of_one_thread_and_of_dedup() {
    // More than dedup takes at a time.
    let keys: Vec<String> = repeating(700_000).iter().map(|hash| format!("key {hash}")).collect();
    let params = Params::new(20_000, 6, 9).unwrap();
    for len in [0, 1, 513, 100_000, keys.len()] {
        let keys = &keys[..len];
        let (mut one, mut expected) = (Filter::new(params).unwrap(), Bitmap::new());
        one.insert_new_keys(keys, &mut expected);
        let new: Vec<&String> = expected.ones().map(|i| &keys[i]).collect();
        // By 7, dedup takes its second block in fewer parts than its first.
        for threads in [0, 1, 2, 5, 7] {
            let (mut filter, mut answers) = (Filter::new(params).unwrap(), Bitmap::new());
            let count = filter.insert_new_keys_parallel(keys, &mut answers, threads);
            assert!(answers == expected && count == new.len(), "{len} keys, {threads} threads");
            assert!(filter == one, "{len} keys, {threads} threads");

            let mut filter = Filter::new(params).unwrap();
            let found: Vec<&String> = filter.dedup_parallel(keys, threads).collect();
            assert!(found == new, "{len} keys, {threads} threads");
            assert!(filter == one, "{len} keys, {threads} threads");
        }
        // One thread takes 512 at a time.
        let mut filter = Filter::new(params).unwrap();
        assert!(filter.dedup(keys).collect::<Vec<_>>() == new, "{len} keys");
        assert!(filter == one, "{len} keys");
    }
}

#[test]
fn dedup_says_how_many_are_left_and_drops_the_others() {
    use std::rc::Rc;
    let items: Vec<Rc<str>> = (0..1000).map(|i| format!("{}", i / 2).into()).collect();
    let mut filter = Filter::new(Params::for_rate(1000, 1e-6).unwrap()).unwrap();
    let mut dedup = filter.dedup(items.iter().cloned());
    assert_eq!(dedup.size_hint(), (0, Some(1000)));
    assert_eq!(dedup.next().as_deref(), Some("0"));
    // Of the first 512 items, 256 are new; of the others all may be.
    assert_eq!(dedup.size_hint(), (255, Some(255 + 488)));
    assert_eq!(dedup.nth(254).as_deref(), Some("255"));
    assert_eq!(dedup.size_hint(), (0, Some(488)));
    assert_eq!(dedup.by_ref().count(), 244);
    assert_eq!((dedup.next(), dedup.size_hint()), (None, (0, Some(0))));
    drop(dedup);
    assert!(items.iter().all(|item| Rc::strong_count(item) == 1));
}

#[test]
fn too_few_words_are_found_before_anything_is_inserted() {
    let hashes = random_hashes(MANY, 3);
    let mut filter = Filter::new(Params::new(1000, 6, 0).unwrap()).unwrap();
    let mut words = vec![0; MANY / 64];
    let call = std::panic::AssertUnwindSafe(|| {
        filter.insert_new_hashes_parallel(&hashes, &mut words, 2);
    });
    assert!(std::panic::catch_unwind(call).is_err());
    assert_eq!((filter.key_count(), filter.fill()), (0, 0.0));
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
    let count = several.insert_new_hashes_parallel(&hashes, &mut Bitmap::new(), 7);
    assert_eq!((count, several.key_count()), (0, 2 * MANY as u64));
}

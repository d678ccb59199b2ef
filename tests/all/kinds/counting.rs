//! Counting filters: whatever is inserted and rightly removed, no key that is in is denied; what is
//! surely absent cannot be removed. The histories have their bytes.

use crate::definition;

use bloomline::{Bitmap, CountingFilter, Error, Params};
use definition::*;
use std::collections::BTreeMap;

fn counting(line_count: u64, k: u32, seed: u64) -> CountingFilter {
    CountingFilter::new(Params::new(line_count, k, seed).unwrap()).unwrap()
}

/// Keys that are inserted and rightly removed, in any order: none that is in is denied, and counts are
/// upper estimates. Without counters that stick, what is left is the plain filter of its keys.
#[test]
fn what_is_in_is_never_denied() {
    for round in 0..definition::cases(60) {
        let (lines, k) = (1 + u64::from(round) % 5, 1 + round % 16);
        let (mut filter, mut state) = (counting(lines, k, 3), u64::from(round));
        let mut present: BTreeMap<u64, u32> = BTreeMap::new();
        // What was wrongly removed before keys came does no harm to them.
        for hash in random_hashes(50, state) {
            let _ = filter.remove_hash(hash);
        }
        for _ in 0..400 {
            let hash = next_random(&mut state) % 60 * 0x0123_4567_89AB_CDEF;
            let times = present.entry(hash).or_default();
            if next_random(&mut state) % 9 < 5 {
                filter.insert_hash(hash);
                *times += 1;
            } else if *times > 0 {
                filter.remove_hash(hash).unwrap();
                *times -= 1;
            }
            let left = present.iter().filter(|&(_, &times)| times > 0);
            for (&hash, &times) in left {
                assert!(filter.contains_hash(hash) && filter.count_hash(hash) >= times.min(15));
            }
        }
        assert_eq!(
            filter.key_count(),
            present.values().map(|&times| u64::from(times)).sum::<u64>()
        );
    }
}

/// What no filter can do that forgets its keys: here two keys set the same bit, so that the
/// one that is in cannot be told from the one that is not.
#[test]
fn a_wrong_removal_of_a_false_positive_hides_another_key() {
    let mut filter = counting(1, 1, 0);
    let hashes = random_hashes(2000, 1);
    let (is_in, mut others) = (hashes[0], hashes[1..].iter().copied());
    filter.insert_hash(is_in);
    let is_not = others.find(|&hash| filter.contains_hash(hash)).unwrap();
    filter.remove_hash(is_not).unwrap();
    assert!(!filter.contains_hash(is_in));
    assert!(matches!(filter.remove_hash(is_in), Err(Error::Absent)));
    // It is in again once it is inserted again.
    filter.insert_hash(is_in);
    assert!(filter.contains_hash(is_in));
}

/// Which keys are removed, of several times as many as are hashed at once.
#[test]
fn removed_keys_are_those_of_their_hashes() {
    let keys: Vec<String> = (0..1500).map(|i| format!("key {}", i % 1200)).collect();
    let mut filter = counting(100, 6, 8);
    filter.insert_keys(&keys[300..1000]);
    let mut other = filter.try_clone().unwrap();
    let (mut removed, mut expected) = (vec![u64::MAX; 24], vec![0; 24]);
    for (i, key) in keys.iter().enumerate() {
        expected[i / 64] |= u64::from(other.remove(key.as_bytes()).is_ok()) << (i % 64);
    }
    let count: u32 = expected.iter().map(|word| word.count_ones()).sum();
    assert!(count < 800 && expected[5] & 1 == 1 && expected[0] & 1 == 0);
    assert_eq!(filter.remove_keys(&keys, &mut removed), count as usize);
    assert_eq!(removed, expected);
    assert!(filter.to_bytes().unwrap() == other.to_bytes().unwrap());
}

// ---- counting ----

#[test]
fn counts_are_upper_estimates_and_mostly_exact() {
    let mut filter = CountingFilter::new(Params::for_rate(10_000, 0.01).unwrap()).unwrap();
    let keys = random_hashes(10_000, 2);
    for (i, &hash) in keys.iter().enumerate() {
        (0..i % 5).for_each(|_| _ = filter.insert_hash(hash));
    }
    let mut exact = 0;
    for (i, &hash) in keys.iter().enumerate() {
        let (count, times) = (filter.count_hash(hash) as usize, i % 5);
        assert!((times..=15).contains(&count), "key {i} is in {times} times: {count}");
        exact += usize::from(count == times);
    }
    println!("{exact} of {} counts are exact", keys.len());
    assert!(exact > 9_700);
}

// ---- storms ----

/// A full filter under removals of everything: of keys that are not in, in every order and
/// far more often than they are in.
#[test]
fn removal_storms() {
    let params = Params::for_rate(20_000, 0.01).unwrap();
    let mut filter = CountingFilter::new(params).unwrap();
    let (first, others) = (random_hashes(20_000, 3), random_hashes(200_000, 4));
    filter.insert_hashes(&first);
    let before = filter.to_bytes().unwrap();

    // Keys that are surely absent.
    let absent: Vec<u64> =
        others.iter().copied().filter(|&hash| !filter.contains_hash(hash)).collect();
    assert!(absent.len() > 197_000);
    let mut removed = Bitmap::new();
    assert_eq!(filter.remove_hashes(&absent, &mut removed), 0);
    assert!(filter.to_bytes().unwrap() == before);

    // All that are in, in another order: nothing is left, and nothing was saturated.
    let mut order = first.clone();
    order.sort_unstable();
    assert_eq!(filter.remove_hashes(&order, &mut removed), order.len());
    assert!(filter.to_bytes().unwrap() == CountingFilter::new(params).unwrap().to_bytes().unwrap());
    assert_eq!(filter.remove_hashes(&order, &mut removed), 0);

    // False positives and keys that are in, over and over, until nothing more goes.
    filter.insert_hashes(&first);
    let all: Vec<u64> = others.iter().chain(&first).copied().collect();
    while filter.remove_hashes(&all, &mut removed) > 0 {}
    assert_eq!(check(&filter.to_bytes().unwrap(), true), status::OK);
    // What comes after it is in.
    filter.insert_hashes(&first);
    let mut bitmap = vec![0; first.len().div_ceil(64)];
    assert_eq!(filter.contains_hashes(&first, &mut bitmap), first.len());
}

// ---- whole filters ----

#[test]
fn sizes_that_cannot_be() {
    // The most lines that a plain filter may have leave no room for counters.
    let most = isize::MAX as u64 / 64 - 1;
    for line_count in [most, most / 5 + 1] {
        let params = Params::new(line_count, 6, 0).unwrap();
        assert!(matches!(CountingFilter::new(params), Err(Error::LineCount(_))), "{line_count}");
    }
    if usize::BITS == 64 {
        let params = Params::new(1 << 50, 6, 0).unwrap();
        assert!(matches!(CountingFilter::new(params), Err(Error::OutOfMemory)));
    }
}

//! Growing filters as sets, against the multisets of prefixes.

use crate::definition::{fewer, next_random};
use crate::kinds::growing_model::Growing;
use bloomline::definition::growing::{self, Multiset};
use bloomline::{Error, GrowingFilter};
use std::collections::BTreeMap;

fn hashes(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    // A third of them are also in every other list, and each tenth repeats.
    let mut shared = 99;
    let mut all: Vec<u64> = (0..count / 3).map(|_| next_random(&mut shared)).collect();
    while all.len() < count {
        all.push(next_random(&mut state));
        if all.len().is_multiple_of(10) {
            all.push(all[all.len() / 2]);
        }
    }
    all
}

fn sizes() -> &'static [usize] {
    if fewer() { &[0, 1, 50, 9_000] } else { &[0, 1, 50, 1_000, 9_000, 200_000] }
}

fn of(hashes: &[u64]) -> (GrowingFilter, Multiset) {
    let mut filter = GrowingFilter::new(100_000, 0.01, 7).unwrap();
    let mut model = Multiset::new(filter.prefix_count() / 16);
    for &hash in hashes {
        filter.insert_hash(hash).unwrap();
        model.insert(hash);
    }
    (filter, model)
}

#[test]
fn built_at_once_it_is_the_same() {
    for &size in sizes() {
        let mut all = hashes(size, 1);
        for _ in 0..20 {
            all.extend(all.first().copied());
        }
        let (filter, model) = of(&all);
        let built = GrowingFilter::build(100_000, 0.01, 7, &all).unwrap();
        all.sort_unstable();
        let sorted = GrowingFilter::build(100_000, 0.01, 7, &all).unwrap();
        assert!(built.prefixes().eq(model.iter()));
        assert!(built == filter && sorted == filter && built.key_count() == filter.key_count());
        assert!(all.iter().all(|&hash| built.contains_hash(hash)));
        assert!(built.memory_usage() <= filter.memory_usage() + 128);
        // It goes on as others do.
        let (mut built, mut model, mut state) = (built, model, 4);
        for _ in 0..size / 2 {
            let hash = next_random(&mut state);
            assert_eq!(built.insert_hash(hash), Ok(model.insert(hash)));
        }
        assert!(built.prefixes().eq(model.iter()));
        assert_eq!(built.beside().1, 0);
    }
}

/// Lines have eight of many copies. So a filter is as large as its lines need it, however often keys come, and
/// its bytes are those of a filter that was decoded.
#[test]
fn copies_make_no_filter_larger() {
    let decoded = |filter: &GrowingFilter| {
        let bytes = filter.to_bytes().unwrap();
        let decoded = GrowingFilter::decode(&bytes).unwrap();
        assert!(decoded == *filter && decoded.to_bytes().unwrap() == bytes);
        decoded
    };
    for (keys, times) in [(1, 30_000), (400, 50), (700, 8), (3_000, 20)] {
        let own = hashes(keys, 3);
        let all = own.repeat(times);
        for unbounded in [false, true] {
            let new = || match unbounded {
                true => GrowingFilter::unbounded(1_000, 0.01, 0).unwrap(),
                false => GrowingFilter::new(1_000, 0.01, 0).unwrap(),
            };
            let built = match unbounded {
                true => GrowingFilter::build_unbounded(1_000, 0.01, 0, &all).unwrap(),
                false => GrowingFilter::build(1_000, 0.01, 0, &all).unwrap(),
            };
            assert!(decoded(&built).memory_usage() >= built.memory_usage());
            let mut inserted = new();
            inserted.insert_hashes(&all).unwrap();
            decoded(&inserted);
            let mut both = built.try_clone().unwrap();
            both.union(&built).unwrap();
            decoded(&both);
            for filter in [&built, &inserted, &both] {
                assert!(own.iter().all(|&hash| filter.contains_hash(hash)));
            }
            assert_eq!(both.key_count(), 2 * all.len() as u64);
        }
    }
}

#[test]
fn merged_intersected_and_subtracted() {
    for &size in sizes() {
        for &other in sizes() {
            let (a, b) = (hashes(size, 1), hashes(other, 2));
            let ((one, of_one), (two, of_two)) = (of(&a), of(&b));
            let (one_counts, two_counts): (BTreeMap<_, _>, BTreeMap<_, _>) =
                (of_one.iter().collect(), of_two.iter().collect());
            let both = |of: fn(u64, u64) -> u64| {
                let mut all = one_counts.clone();
                two_counts.keys().for_each(|prefix| _ = all.entry(*prefix).or_insert(0));
                for (prefix, count) in &mut all {
                    *count = of(*count, two_counts.get(prefix).copied().unwrap_or(0));
                }
                all.into_iter().filter(|&(_, count)| count > 0).collect::<Vec<_>>()
            };
            let mut union = of(&a).0;
            union.union(&two).unwrap();
            assert!(union.prefixes().eq(both(|a, b| a + b)));
            assert_eq!(union.key_count(), (a.len() + b.len()) as u64);
            assert!(a.iter().chain(&b).all(|&hash| union.contains_hash(hash)));
            let mut common = of(&a).0;
            common.intersect(&two).unwrap();
            assert!(common.prefixes().eq(both(u64::min)));
            let mut rest = of(&a).0;
            rest.difference(&two).unwrap();
            assert!(rest.prefixes().eq(both(u64::saturating_sub)));
            union.difference(&two).unwrap();
            assert!(union == one);
        }
    }
}

#[test]
fn split_by_ranges_of_hashes() {
    for &size in sizes() {
        let all = hashes(size, 1);
        let (filter, _) = of(&all);
        for parts in [1, 2, 3, 16, 40] {
            let split = filter.split(parts).unwrap();
            assert_eq!(split.len(), parts);
            for &hash in &all {
                let part = ((u128::from(hash) * parts as u128) >> 64) as usize;
                assert!(split[part].contains_hash(hash));
            }
            let keys: u64 = split.iter().map(GrowingFilter::key_count).sum();
            assert!((filter.key_count()..=filter.key_count() + 40 * 20).contains(&keys));
        }
    }
}

/// Each part answers for its hashes as the filter does, those at its ends, too. Of a bounded filter it has the prefixes
/// of its hashes.
#[test]
fn parts_answer_as_the_filter() {
    for (unbounded, shift) in [(false, 0), (false, 9), (true, 0), (true, 12)] {
        let mut filter = match unbounded {
            true => GrowingFilter::unbounded(20, 0.05, 0).unwrap(),
            false => GrowingFilter::new(2_000, 0.05, 0).unwrap(),
        };
        let mut probes: Vec<u64> = hashes(9_000, 3).iter().map(|hash| hash >> shift).collect();
        probes.iter().for_each(|&hash| _ = filter.insert_hash(hash).unwrap());
        let mut state = 8;
        probes.extend((0..20_000).map(|_| next_random(&mut state) >> shift));
        for parts in [1_usize, 2, 3, 16, 41, 300] {
            let split = filter.split(parts).unwrap();
            assert_eq!(split.len(), parts);
            let part_of = |hash: u64| ((u128::from(hash) * parts as u128) >> 64) as usize;
            let first = |part: usize| ((part as u128) << 64).div_ceil(parts as u128);
            let ends = (0..parts).flat_map(|part| [first(part), first(part + 1) - 1]);
            for hash in probes.iter().copied().chain(ends.map(|hash| hash as u64)) {
                let expected = filter.contains_hash(hash);
                assert_eq!(
                    split[part_of(hash)].contains_hash(hash),
                    expected,
                    "{hash:#x} of {parts}"
                );
            }
            if unbounded {
                continue;
            }
            let hash = |prefix: u64| {
                (u128::from(prefix) << 64).div_ceil(u128::from(filter.prefix_count()))
            };
            for (part, own) in split.iter().enumerate() {
                let expected = filter.prefixes().filter(|&(prefix, _)| {
                    let (first, last) = (hash(prefix) as u64, (hash(prefix + 1) - 1) as u64);
                    part_of(first) <= part && part <= part_of(last)
                });
                assert!(own.prefixes().eq(expected), "part {part} of {parts}");
            }
        }
    }
}

#[test]
fn frozen_it_has_all_keys() {
    for &size in sizes() {
        let all = hashes(size, 1);
        let (filter, _) = of(&all);
        let (frozen, prefixes) = filter.freeze(0.01).unwrap();
        assert!(all.iter().all(|&hash| frozen.contains_hash(prefixes.hash(hash))));
        let mut state = 77;
        let absent: Vec<u64> = (0..20_000).map(|_| next_random(&mut state)).collect();
        let wrong = absent.iter().filter(|&&hash| frozen.contains_hash(prefixes.hash(hash)));
        let most = 20_000.0 * (filter.estimated_rate() + 0.01) * 1.2 + 20.0;
        assert!((wrong.count() as f64) < most);
    }
}

#[test]
fn merged_unbounded_filters_have_all_keys() {
    let make = |count, seed| {
        let mut filter = GrowingFilter::unbounded(20, 0.01, 0).unwrap();
        let all = hashes(count, seed);
        filter.insert_hashes(&all).unwrap();
        (filter, all)
    };
    for &size in sizes() {
        let ((mut one, a), (two, b)) = (make(size, 1), make(9_000, 2));
        one.union(&two).unwrap();
        assert!(a.iter().chain(&b).all(|&hash| one.contains_hash(hash)));
        for (i, part) in one.split(3).unwrap().iter().enumerate() {
            let mut own = a.iter().filter(|&&hash| ((u128::from(hash) * 3) >> 64) as usize == i);
            assert!(own.all(|&hash| part.contains_hash(hash)));
        }
        assert_eq!(one.difference(&two), Err(Error::Unbounded));
        assert!(one.freeze(0.01).is_err());
    }
}

/// Of unbounded filters, of which the first lengths are the same or not: the common prefixes of the definition. They
/// answer "maybe" where both filters do, and each key of both can be removed as often as it is in both.
#[test]
fn intersected_unbounded_filters() {
    let sizes: &[usize] =
        if fewer() { &[0, 1, 400, 2_000] } else { &[0, 1, 50, 400, 2_000, 6_000] };
    // Uniform hashes, and those of one prefix of the first length or a few.
    for shift in [0, 12, 20] {
        let make = |count, seed| {
            let mut filter = GrowingFilter::unbounded(20, 0.05, 0).unwrap();
            let all: Vec<u64> = hashes(count, seed).iter().map(|hash| hash >> shift).collect();
            all.iter().for_each(|&hash| _ = filter.insert_hash(hash).unwrap());
            (filter, all)
        };
        let (mut same, mut several) = (0, 0);
        for (&size, &other) in
            sizes.iter().flat_map(|size| sizes.iter().map(move |other| (size, other)))
        {
            let ((mut both, a), (two, b)) = (make(size, 1), make(other, 2));
            let one = both.try_clone().unwrap();
            let (of_one, of_two) = (one.prefixes().collect(), two.prefixes().collect());
            let expected = growing::common(&of_one, &of_two);
            both.intersect(&two).unwrap();
            let sum: u64 = expected.values().sum();
            assert!(
                both.key_count() == sum
                    && both.prefixes().map(|(_, count)| count).sum::<u64>() >= sum
            );
            // Where the other filter has longer prefixes, short ones may have become several.
            if both.prefixes().eq(expected) {
                same += 1;
            } else {
                several += 1;
            }
            let mut state = 5;
            let others = (0..3_000).map(|_| next_random(&mut state) >> shift);
            for hash in a.iter().chain(&b).copied().chain(others) {
                let expected = one.contains_hash(hash) && two.contains_hash(hash);
                assert_eq!(both.contains_hash(hash), expected, "{size} and {other}: {hash:#x}");
            }
            let mut left = BTreeMap::new();
            b.iter().for_each(|&hash| *left.entry(hash).or_insert(0) += 1);
            let mut in_both = a;
            in_both.retain(|hash| match left.get_mut(hash) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    true
                }
                _ => false,
            });
            while let Some(hash) = in_both.pop() {
                assert_eq!(both.remove_hash(hash), Ok(()));
                let next = in_both.iter().rev().step_by(in_both.len() / 50 + 1);
                assert!(next.copied().all(|hash| both.contains_hash(hash)), "{size} and {other}");
            }
        }
        assert!(same > several, "{same} of {several}");
    }
}

#[test]
fn what_was_made_otherwise_does_not_match() {
    let make = |keys, seed| GrowingFilter::new(keys, 0.01, seed).unwrap();
    for other in [make(1000, 1), make(2000, 0), GrowingFilter::unbounded(1000, 0.01, 0).unwrap()] {
        let mut filter = make(1000, 0);
        assert_eq!(filter.union(&other), Err(Error::Mismatch));
        assert_eq!(filter.intersect(&other), Err(Error::Mismatch));
        assert_eq!(filter.difference(&other), Err(Error::Mismatch));
    }
}

/// What is kept beside the lines, as it repeats too often, makes the lines no more. All keys are in one
/// region of one filter, and in all regions of the other.
#[test]
fn keys_that_repeat_often_take_no_room() {
    for (size, shift) in [(2_000, 0), (12_000, 0), (12_000, 4)] {
        let (mut all, mut state) = (Vec::new(), 5);
        for i in 0..size {
            let hash = next_random(&mut state) >> shift;
            all.extend(std::iter::repeat_n(hash, if i % 3 == 0 { 12 } else { 1 }));
        }
        let [even, odd] =
            [0, 1].map(|first| all[first..].iter().step_by(2).copied().collect::<Vec<_>>());
        let (whole, mut merged) = (of(&all).0, of(&even).0);
        merged.union(&of(&odd).0).unwrap();
        let built = GrowingFilter::build(100_000, 0.01, 7, &all).unwrap();
        let expected = Growing::open(&whole.to_bytes().unwrap()).encode();
        for filter in [&whole, &merged, &built, &whole.try_clone().unwrap()] {
            assert!(filter.prefixes().eq(whole.prefixes()));
            assert!(filter.to_bytes().unwrap() == expected, "{size} >> {shift}");
        }
    }
}

/// All keys are in the first region of a filter of sixteen, one of them more often in both filters than lines keep it.
#[test]
fn keys_that_repeat_in_the_first_region() {
    let mut state = 5;
    let mut all: Vec<u64> = (0..15_000).map(|_| next_random(&mut state) >> 4).collect();
    all.extend([all[0]; 4]);
    let filter = GrowingFilter::build(400_000, 0.01, 7, &all).unwrap();
    assert_eq!((filter.regions(), filter.beside()), (16, (0, 0)));
    let mut twice = filter.try_clone().unwrap();
    twice.union(&filter).unwrap();
    assert_eq!(twice.count_hash(all[0]), 10);
    all.extend_from_within(..);
    let built = GrowingFilter::build(400_000, 0.01, 7, &all).unwrap();
    assert!(twice.to_bytes().unwrap() == built.to_bytes().unwrap());
}

/// Copies of a key lie in two lines where the run of a line ends between them.
#[test]
fn copies_are_counted_wherever_they_lie() {
    let mut state = 5;
    let all: Vec<u64> = (0..30_000).map(|_| next_random(&mut state)).collect();
    let bounded = GrowingFilter::build(100_000, 0.01, 7, &[]).unwrap();
    let unbounded = GrowingFilter::unbounded(1000, 0.01, 7).unwrap();
    for mut filter in [bounded, unbounded] {
        all.iter().for_each(|&hash| assert!(filter.insert_hash(hash).is_ok()));
        let (counted, stashed) = filter.beside();
        for &hash in &all[..150] {
            let mut copies = filter.try_clone().unwrap();
            for _ in 0..100 {
                copies.insert_hash(hash).unwrap();
            }
            let beside = copies.beside();
            assert!(beside.0 - counted >= 100 - 15 && beside.1 == stashed, "{beside:?}");
            assert!(copies.count_hash(hash) >= 101);
        }
    }
}

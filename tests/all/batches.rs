//! Batches that insert and report what was new: against inserts one by one by the definition, in
//! every kind; iterators; and what answers are written to.

use bloomline::definition::{classic, line};
use bloomline::{
    Answers, Bitmap, ConcurrentFilter, CountingFilter, Filter, Params, Probe, ScalableFilter, View,
    Window,
};
use std::collections::HashSet;

use crate::definition;
use definition::{AWKWARD, random_hashes};

/// Around the sizes of words, of blocks, and of what is probed at once.
const SIZES: [usize; 14] = [0, 1, 63, 64, 65, 127, 128, 500, 511, 512, 513, 1024, 1500, 5000];

/// So many hashes, of which many repeat: next to each other, and far apart.
fn hashes(len: usize) -> Vec<u64> {
    let some = random_hashes(len / 2 + 1, len as u64);
    let order = random_hashes(len, 1);
    let picked = order.iter().map(|&at| some[at as usize % some.len()]);
    picked.zip(AWKWARD.iter().cycle()).enumerate().map(pick).collect()
}

fn pick((i, (hash, &awkward)): (usize, (u64, &u64))) -> u64 {
    if i % 11 == 0 { awkward } else { hash }
}

fn words(new: &[bool]) -> Vec<u64> {
    let word = |part: &[bool]| {
        part.iter().enumerate().fold(0, |word, (i, &new)| word | u64::from(new) << i)
    };
    new.chunks(64).map(word).collect()
}

#[test]
fn what_is_new_is_that_of_inserts_one_by_one() {
    for (k, line_count) in [(1, 1), (6, 7), (8, 100), (11, 3000)] {
        let params = Params::new(line_count, k, 0).unwrap();
        for len in SIZES {
            let hashes = hashes(len);
            let mut lines = vec![0; params.bytes()];
            let new = by_definition(&hashes, |hash| {
                let new = !line::contains(&lines, k, hash);
                line::insert(&mut lines, k, hash);
                new
            });
            let mut filter = Filter::new(params).unwrap();
            check(&new, |answers| filter.insert_new_hashes(&hashes, answers));
            assert!(filter.lines() == lines);
            assert_eq!(filter.key_count(), len as u64);
            let concurrent = ConcurrentFilter::new(params).unwrap();
            check(&new, |answers| concurrent.insert_new_hashes(&hashes, answers));
            assert!(concurrent.into_filter().lines() == lines);
            let mut counting = CountingFilter::new(params).unwrap();
            check(&new, |answers| counting.insert_new_hashes(&hashes, answers));
            assert!(counting.filter().lines() == lines);
            let mut one_by_one = CountingFilter::new(params).unwrap();
            assert_eq!(by_definition(&hashes, |hash| one_by_one.insert_hash(hash)), new);
            assert!(one_by_one.to_bytes().unwrap() == counting.to_bytes().unwrap());

            let mut bits = vec![0; params.bytes()];
            let new = by_definition(&hashes, |hash| {
                let new = !classic::contains(&bits, k, hash);
                classic::insert(&mut bits, k, hash);
                new
            });
            let mut filter = crate::definition::classic_filter(params).unwrap();
            check(&new, |answers| filter.insert_new_hashes(&hashes, answers));
            assert!(filter.lines() == bits);
        }
    }
}

#[test]
fn filters_that_grow_or_forget() {
    for len in SIZES {
        let hashes = hashes(len);
        for first_keys in [1, 100, 10_000] {
            let scalable = || ScalableFilter::new(first_keys, 0.01, 0).unwrap();
            let mut one_by_one = scalable();
            let new = by_definition(&hashes, |hash| one_by_one.insert_hash(hash).unwrap());
            let expected = one_by_one.to_bytes().unwrap();
            let mut filter = scalable();
            check(&new, |answers| filter.insert_new_hashes(&hashes, answers).unwrap());
            assert!(filter.to_bytes().unwrap() == expected);
            let mut filter = scalable();
            filter.insert_hashes(&hashes).unwrap();
            assert!(filter.to_bytes().unwrap() == expected);
        }
        for limit in [0, 1, 50, 1000] {
            let window = || {
                let mut window = Window::new(3, 500, 0.01, 0).unwrap();
                window.rotate_after(limit);
                window
            };
            let mut one_by_one = window();
            let new = by_definition(&hashes, |hash| one_by_one.insert_hash(hash));
            let expected = one_by_one.to_bytes().unwrap();
            let mut filter = window();
            check(&new, |answers| filter.insert_new_hashes(&hashes, answers));
            assert!(filter.to_bytes().unwrap() == expected);
            let mut filter = window();
            filter.insert_hashes(&hashes);
            assert!(filter.to_bytes().unwrap() == expected);
        }
    }
}

fn by_definition(hashes: &[u64], mut insert: impl FnMut(u64) -> bool) -> Vec<bool> {
    hashes.iter().map(|&hash| insert(hash)).collect()
}

/// That a batch gives these answers, with more room than it needs.
fn check(new: &[bool], insert: impl FnOnce(&mut [u64]) -> usize) {
    const UNTOUCHED: u64 = 0xA5A5_A5A5_A5A5_A5A5;
    let mut answers = vec![UNTOUCHED; new.len().div_ceil(64) + 1];
    let count = insert(&mut answers);
    assert_eq!(count, new.iter().filter(|&&new| new).count());
    assert_eq!(answers.pop(), Some(UNTOUCHED));
    assert_eq!(answers, words(new));
}

/// Keys are their hashes, in every batch and every iterator.
#[test]
fn keys_and_iterators_are_their_hashes() {
    for len in SIZES {
        let keys: Vec<String> = (0..len).map(|i| format!("key {}", i * i % 2000)).collect();
        let params = Params::new(500, 6, 3).unwrap();
        let empty = || Filter::new(params).unwrap();
        let hashes: Vec<u64> = keys.iter().map(|key| empty().hash(key)).collect();
        let (mut expected, mut new) = (empty(), Bitmap::new());
        let count = expected.insert_new_hashes(&hashes, &mut new);
        let expected = expected.to_bytes().unwrap();

        let (mut filter, mut answers) = (empty(), Bitmap::new());
        assert_eq!(filter.insert_new_keys(&keys, &mut answers), count);
        assert_eq!(answers, new);
        assert!(filter.to_bytes().unwrap() == expected);
        let mut filters = [empty(), empty(), empty(), empty()];
        filters[0].insert_keys(&keys);
        filters[1].insert_iter(&keys);
        filters[2].insert_iter(keys.iter().map(|key| key.as_bytes()));
        filters[3].extend(keys.clone());
        assert!(filters.iter().all(|filter| filter.to_bytes().unwrap() == expected));

        let concurrent = ConcurrentFilter::new(params).unwrap();
        concurrent.insert_iter(&keys);
        assert!(concurrent.into_filter().lines() == filters[0].lines());
        let concurrent = ConcurrentFilter::new(params).unwrap();
        assert_eq!(concurrent.insert_new_keys(&keys, &mut answers), count);
        assert_eq!(answers, new);
        let mut counting = CountingFilter::new(params).unwrap();
        counting.extend(&keys);
        assert!(counting.filter().to_bytes().unwrap() == expected);

        let mut scalable = ScalableFilter::new(100, 0.01, 3).unwrap();
        scalable.insert_iter(&keys).unwrap();
        let mut other = ScalableFilter::new(100, 0.01, 3).unwrap();
        other.insert_keys(&keys).unwrap();
        assert!(scalable.to_bytes().unwrap() == other.to_bytes().unwrap());
        let mut window = Window::with_params(2, params).unwrap();
        window.extend(&keys);
        let mut other = Window::with_params(2, params).unwrap();
        other.insert_keys(&keys);
        assert!(window.to_bytes().unwrap() == other.to_bytes().unwrap());
    }
}

#[test]
fn dedup_yields_what_is_new_in_order() {
    for len in SIZES {
        let keys: Vec<u64> = hashes(len);
        let mut seen = HashSet::new();
        let expected: Vec<u64> = keys.iter().copied().filter(|&key| seen.insert(key)).collect();
        // Large enough for no false positives among so many keys.
        let params = Params::for_rate(100_000, 1e-9).unwrap();
        let mut filter = Filter::new(params).unwrap();
        assert_eq!(filter.dedup(keys.clone()).collect::<Vec<_>>(), expected);
        assert!(filter.dedup(&keys).next().is_none());
        let concurrent = ConcurrentFilter::new(params).unwrap();
        assert_eq!(concurrent.dedup(&keys).copied().collect::<Vec<_>>(), expected);
        let mut counting = CountingFilter::new(params).unwrap();
        assert!(counting.dedup(keys.iter().copied()).eq(expected.iter().copied()));
        let mut window = Window::with_params(2, params).unwrap();
        assert!(window.dedup(&keys).eq(&expected));
    }
}

#[test]
fn dedup_reads_ahead_by_one_block_at_most() {
    let mut filter = Filter::new(Params::for_rate(100_000, 1e-9).unwrap()).unwrap();
    let mut taken = 0;
    let mut items = filter.dedup((0..2000u64).inspect(|_| taken += 1));
    assert_eq!(items.size_hint(), (0, Some(2000)));
    assert_eq!(items.next(), Some(0));
    assert_eq!(items.size_hint(), (511, Some(1999)));
    drop(items);
    assert_eq!(taken, 512);
    assert!((0..512u64).all(|item| filter.contains(&item)));
    assert_eq!(filter.key_count(), 512);
    // The rest is still to come, and what was read ahead is not.
    assert_eq!(filter.dedup(0..2000u64).next(), Some(512));
}

#[test]
fn bitmaps() {
    let empty = Bitmap::new();
    assert!(empty.is_empty() && empty.get(0).is_none());
    assert!(empty.ones().next().is_none() && empty.zeros().next().is_none());
    for len in [1, 2, 63, 64, 65, 128, 200] {
        let plain: Vec<bool> = random_hashes(len, 9).iter().map(|hash| hash % 3 == 0).collect();
        let bitmap: Bitmap = plain.iter().copied().collect();
        assert_eq!((bitmap.len(), bitmap.is_empty()), (len, false));
        assert!(bitmap.iter().eq(plain.iter().copied()));
        assert!(bitmap.iter().rev().eq(plain.iter().rev().copied()));
        assert!((0..len).all(|i| bitmap[i] == plain[i] && bitmap.get(i) == Some(plain[i])));
        assert_eq!(bitmap.get(len), None);
        assert!(std::panic::catch_unwind(|| bitmap[len]).is_err());
        let ones: Vec<usize> = (0..len).filter(|&i| plain[i]).collect();
        assert!(bitmap.ones().eq(ones.iter().copied()));
        assert!(bitmap.zeros().eq((0..len).filter(|&i| !plain[i])));
        assert_eq!(bitmap.count_ones(), ones.len());
        assert_eq!(bitmap.as_words(), words(&plain));
        assert_eq!(bitmap.clone().into_words(), words(&plain));
    }
    let some: Bitmap = [true, false, true].into_iter().collect();
    assert_eq!(format!("{some:?}"), "Bitmap { len: 3, ones: [0, 2] }");
    // The length is part of it.
    assert_ne!(some, [true, false, true, false].into_iter().collect());
}

/// Each type of answers, in a batch that is shorter than the one before.
#[test]
fn answers_of_every_type() {
    let mut filter = Filter::new(Params::for_rate(1000, 1e-9).unwrap()).unwrap();
    filter.insert_keys(&["apple", "pear"]);
    fn ask(filter: &Filter, answers: &mut (impl Answers + ?Sized)) {
        assert_eq!(filter.contains_keys(&[b"apple"; 150], answers), 150);
        assert_eq!(Probe::contains_keys(filter, &["plum", "pear", "apple"], answers), 2);
    }
    let (mut array, mut vec, mut bitmap) = ([7; 4], vec![7; 4], Bitmap::new());
    ask(&filter, &mut array);
    ask(&filter, &mut vec);
    ask(&filter, &mut bitmap);
    assert_eq!(array, [0b110, u64::MAX, (1 << 22) - 1, 7]);
    assert_eq!(vec, array);
    assert_eq!((bitmap.as_words(), bitmap.len()), (&[0b110][..], 3));
    ask(&filter, &mut array[1..]);
    assert_eq!(array, [0b110, 0b110, u64::MAX, (1 << 22) - 1]);
}

/// A prefetch is a hint, of a filter that may lie across cache lines, too.
#[test]
fn prefetched_keys_have_the_same_answers() {
    fn same(filter: &impl Probe) {
        for hash in random_hashes(200, 5) {
            let answer = filter.contains_hash(hash);
            filter.prefetch_hash(hash);
            assert_eq!(filter.contains_hash(hash), answer);
        }
    }
    let params = Params::new(20, 6, 0).unwrap();
    let lines = vec![0x55; 20 * 64 + 1];
    same(&View::of_lines(&lines[1..], params, 0).unwrap());
    same(&ScalableFilter::new(100, 0.01, 0).unwrap());
    same(&Window::with_params(3, params).unwrap());
}

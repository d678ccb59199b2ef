//! The concurrent filter: its bytes and answers against the plain definition, alone and with
//! threads that insert, probe and take snapshots at once.

use crate::definition;
use crate::directory::Directory;

use bloomline::definition::line;
use bloomline::{Backend, ConcurrentFilter, Error, Filter, Params};
use definition::*;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

fn filter_of(lines: usize, k: u32) -> ConcurrentFilter {
    ConcurrentFilter::new(Params::new(lines as u64, k, 7).unwrap()).unwrap()
}

#[test]
fn alone_it_is_the_definition() {
    for backend in Backend::available() {
        println!("backend {}", backend.name());
        for k in 1..=line::MAX_K {
            for lines in [1, 3, 1000] {
                let params = Params::new(lines as u64, k, 0).unwrap();
                let filter = ConcurrentFilter::with_backend(params, backend).unwrap();
                let hashes = random_hashes(lines * 20 + 7, k.into());
                let mut expected = vec![0; lines * 64];
                for &hash in &hashes {
                    let new = !line::contains(&expected, k, hash);
                    line::insert(&mut expected, k, hash);
                    assert_eq!(filter.insert_hash(hash), new);
                    assert!(filter.contains_hash(hash) && !filter.insert_hash(hash));
                }
                assert!(filter.snapshot().unwrap().lines() == expected);
                let others = random_hashes(200, 99);
                let mut bitmap = vec![!0; 4];
                let count = filter.contains_hashes(&others, &mut bitmap);
                for (i, &hash) in others.iter().enumerate() {
                    let yes = line::contains(&expected, k, hash);
                    assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, yes);
                    assert_eq!(filter.contains_hash(hash), yes);
                }
                assert_eq!(count as u32, bitmap.iter().map(|word| word.count_ones()).sum::<u32>());
                assert!(filter.into_filter().lines() == expected);
            }
        }
    }
}

/// Every length, in filters that are prefetched and in some that are not; hashes that repeat
/// are new once.
#[test]
fn batches_of_every_length() {
    for lines in [9, (4 << 20) / 64] {
        for n in (0..=130).chain([300]) {
            let filter = filter_of(lines, 6);
            let mut hashes = random_hashes(n, n as u64);
            for i in (2..n).step_by(5) {
                hashes[i] = hashes[i / 2];
            }
            let plain = filter_of(lines, 6);
            let mut bitmap = vec![!0; n.div_ceil(64) + 1];
            let new = filter.insert_new_hashes(&hashes, &mut bitmap);
            for (i, &hash) in hashes.iter().enumerate() {
                assert_eq!(
                    bitmap[i / 64] >> (i % 64) & 1 == 1,
                    plain.insert_hash(hash),
                    "{n}: {i}"
                );
            }
            let (words, rest) = bitmap.split_at(n.div_ceil(64));
            assert_eq!(new as u32, words.iter().map(|word| word.count_ones()).sum::<u32>());
            assert_eq!(rest, [!0], "words behind the answers stay");
            assert!(filter.snapshot().unwrap().lines() == plain.snapshot().unwrap().lines());
            assert_eq!(filter.insert_new_hashes(&hashes, &mut bitmap), 0);

            let keys: Vec<String> = (0..n).map(|i| format!("key {}", i / 2)).collect();
            let (by_key, by_keys) = (filter_of(lines, 6), filter_of(lines, 6));
            by_keys.insert_new_keys(&keys, &mut bitmap);
            for (i, key) in keys.iter().enumerate() {
                assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, by_key.insert(key.as_bytes()));
                assert!(by_keys.contains(key.as_bytes()));
            }
            assert_eq!(by_keys.contains_keys(&keys, &mut bitmap), n);
        }
    }
}

/// Four threads with keys of their own in the same few lines, and the same keys too: nothing
/// is lost, everyone sees its own inserts at once, and each bit is new to somebody.
#[test]
fn threads_lose_nothing() {
    const THREADS: usize = 4;
    const KEYS: usize = 4000;
    for round in 0..20 {
        let filter = filter_of(40, 6);
        let shared = random_hashes(KEYS, 1000 + round);
        let start = Barrier::new(THREADS);
        let new = AtomicUsize::new(0);
        thread::scope(|scope| {
            for thread in 0..THREADS as u64 {
                let (filter, shared, start, new) = (&filter, &shared, &start, &new);
                scope.spawn(move || {
                    let own = random_hashes(KEYS, 10 * round + thread);
                    let mut bitmap = [0; 1];
                    start.wait();
                    for (i, (&own, &shared)) in own.iter().zip(shared).enumerate() {
                        if i % 3 == 0 {
                            filter.insert_new_hashes(&[own], &mut bitmap);
                        } else {
                            filter.insert_hash(own);
                        }
                        assert!(filter.contains_hash(own), "its own insert");
                        new.fetch_add(filter.insert_hash(shared).into(), Ordering::Relaxed);
                        assert_eq!(filter.contains_hashes(&[shared, own], &mut bitmap), 2);
                    }
                });
            }
        });
        let mut expected = vec![0; 40 * 64];
        for thread in 0..THREADS as u64 {
            let all = random_hashes(KEYS, 10 * round + thread);
            all.iter().chain(&shared).for_each(|&hash| line::insert(&mut expected, 6, hash));
        }
        assert!(filter.snapshot().unwrap().lines() == expected);
        assert!(new.into_inner() > 0);
    }
}

/// Each key is new to at least one of the threads that race for it, unless its bits were
/// those of others.
#[test]
fn a_new_key_is_new_to_somebody() {
    let filter = filter_of(20_000, 8);
    let hashes = random_hashes(20_000, 5);
    let told = hashes.iter().map(|_| AtomicBool::new(false)).collect::<Vec<_>>();
    let start = Barrier::new(3);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                start.wait();
                for (&hash, told) in hashes.iter().zip(&told) {
                    if filter.insert_hash(hash) {
                        told.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let missed = told.iter().filter(|told| !told.load(Ordering::Relaxed)).count();
    // At 64 bits per key nearly no key is a false positive.
    assert!(missed < 5, "{missed} keys were new to nobody");
}

/// Snapshots are saved while four threads insert: each has all that was in before it.
#[test]
fn snapshots_while_inserting() {
    let directory = Directory::new("concurrent");
    let path = directory.file("filter");
    let filter = filter_of(2000, 6);
    let done: Vec<AtomicUsize> = (0..4).map(|_| AtomicUsize::new(0)).collect();
    thread::scope(|scope| {
        for (thread, done) in done.iter().enumerate() {
            let filter = &filter;
            scope.spawn(move || {
                for (i, hash) in random_hashes(20_000, thread as u64).into_iter().enumerate() {
                    filter.insert_hash(hash);
                    done.store(i + 1, Ordering::Release);
                }
            });
        }
        for _ in 0..10 {
            let before: Vec<usize> = done.iter().map(|done| done.load(Ordering::Acquire)).collect();
            filter.snapshot().unwrap().save(&path).unwrap();
            let saved = Filter::load(&path).unwrap();
            for (thread, &before) in before.iter().enumerate() {
                let hashes = random_hashes(20_000, thread as u64);
                assert!(hashes[..before].iter().all(|&hash| saved.contains_hash(hash)));
            }
        }
    });
}

#[test]
fn unions_and_conversions() {
    let params = Params::new(50, 6, 7).unwrap();
    let (mut a, mut b) = (Filter::new(params).unwrap(), Filter::new(params).unwrap());
    a.insert(b"apple");
    b.insert(b"pear");
    let shared = ConcurrentFilter::from(a);
    assert!(shared.contains(b"apple") && !shared.contains(b"pear"));
    shared.union(&b).unwrap();
    assert!(shared.contains(b"apple") && shared.contains(b"pear"));
    assert!(matches!(
        shared.union(&Filter::new(Params::new(51, 6, 7).unwrap()).unwrap()),
        Err(Error::Mismatch)
    ));
    assert!((1.5..2.5).contains(&shared.estimated_keys()), "{}", shared.estimated_keys());
    assert_eq!(shared.params(), params);
    let filter = shared.into_filter();
    assert!(filter.contains(b"pear") && filter.key_count() == 0);
}

/// What is written while threads insert has all keys inserted before, and its own checksum.
#[test]
fn saved_while_threads_insert() {
    let params = Params::for_rate(20_000, 0.01).unwrap();
    for make in [Filter::new, crate::definition::classic_filter] {
        let filter = ConcurrentFilter::from(make(params).unwrap()).with_keys(0..5000u64);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for key in (5000..20_000u64).cycle().take_while(|_| !done.load(Ordering::Relaxed)) {
                    filter.insert(&key);
                }
            });
            for _ in 0..20 {
                let mut streamed = Vec::new();
                filter.write_to(&mut streamed).unwrap();
                let mut encoded = vec![0; filter.encoded_len()];
                assert_eq!(filter.encode(&mut encoded), Ok(encoded.len()));
                for bytes in [streamed, encoded, filter.to_bytes().unwrap()] {
                    let read = ConcurrentFilter::decode(&bytes).unwrap();
                    assert!((0..5000u64).all(|key| read.contains(&key)));
                    assert_eq!(Filter::decode(&bytes).unwrap().key_count(), 0);
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        let same = ConcurrentFilter::decode(&filter.to_bytes().unwrap()).unwrap();
        assert_eq!(same, filter);
        assert_eq!(filter.to_bytes(), filter.snapshot().unwrap().to_bytes());
    }
}

//! A growing filter that one thread changes: what readers answer is what the multiset of prefixes says, in the
//! same thread; and in others no key is absent that was inserted before the probe.

use crate::definition::{fewer, next_random};
use bloomline::definition::growing::Multiset;
use bloomline::{Bitmap, Error, GrowingFilter, GrowingReader, GrowingWriter};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

fn random(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    (0..count).map(|_| next_random(&mut state)).collect()
}

/// What is asked, one by one and together. `ever` has all that were inserted, also those removed since.
fn check(
    reader: &GrowingReader,
    (model, ever): (&Multiset, &Multiset),
    hashes: &[u64],
    exact: bool,
) {
    let mut answers = Bitmap::new();
    let count = reader.contains_hashes(hashes, &mut answers);
    assert_eq!(count, answers.iter().filter(|&answer| answer).count());
    let mut wrong = 0;
    for (&hash, together) in hashes.iter().zip(answers.iter()) {
        let alone = reader.contains_hash(hash);
        assert_eq!(alone, together, "{hash:#x}");
        assert!(alone || !model.contains(hash), "{hash:#x}");
        assert!(!exact || alone == model.contains(hash), "{hash:#x}");
        wrong += usize::from(alone && !ever.contains(hash));
    }
    // A few keys in a call go another way.
    for (count, together) in (1..=20).zip(hashes.chunks(20)) {
        let some = &together[..count];
        let present = reader.contains_hashes(some, &mut answers);
        assert_eq!(present, some.iter().filter(|&&hash| reader.contains_hash(hash)).count());
        assert!(
            some.iter().zip(answers.iter()).all(|(&hash, is)| reader.contains_hash(hash) == is)
        );
    }
    // While something is beside the lines, one of 1000 absent keys is not; nor, for a while, what was there.
    assert!(wrong < 10, "{wrong}");
}

#[test]
fn a_reader_answers_as_the_definition() {
    let rounds = if fewer() { 8_000 } else { 120_000 };
    for flooded in [false, true] {
        let filter = GrowingFilter::new(40_000, 0.01, 0).unwrap();
        let mut model = Multiset::new(filter.prefix_count() / 16);
        let mut ever = Multiset::new(filter.prefix_count() / 16);
        let mut writer = GrowingWriter::new(filter).unwrap();
        let reader = writer.reader();
        let (mut state, mut inside, mut beside) = (6, Vec::new(), false);
        for round in 0..rounds {
            let mut hash = next_random(&mut state);
            if flooded && round % 4 > 0 {
                hash = 0x7654_0000_0000_0000 + (hash >> 10);
            }
            // It grows, and shrinks.
            let shrinks = round > rounds / 2;
            if next_random(&mut state) % 8 < if shrinks { 6 } else { 1 } && !inside.is_empty() {
                let at = next_random(&mut state) as usize % inside.len();
                let hash = inside.swap_remove(at);
                assert_eq!(writer.remove_hash(hash), Ok(()));
                assert!(model.remove(hash));
            } else {
                assert_eq!(writer.insert_hash(hash), Ok(model.insert(hash)));
                assert!(reader.contains_hash(hash));
                ever.insert(hash);
                inside.push(hash);
            }
            if round % (rounds / 40) == 0 {
                let mut hashes = random(1000, round as u64);
                hashes.iter_mut().step_by(3).for_each(|hash| {
                    *hash = 0x7654_0000_0000_0000 + (*hash >> 9);
                });
                hashes.extend(&inside);
                let is_beside = writer.filter().beside().1 > 0;
                beside |= is_beside;
                check(&reader, (&model, &ever), &hashes, !is_beside);
                assert!(writer.filter().prefixes().eq(model.iter()));
                assert!(writer.filter().try_clone().unwrap().prefixes().eq(model.iter()));
            }
        }
        assert_eq!(beside, flooded, "some have no room in lines");
        assert_eq!(writer.remove_hash(3), Err(Error::Absent));
        let mut other = GrowingFilter::new(40_000, 0.01, 0).unwrap();
        for hash in random(20_000, 99) {
            other.insert_hash(hash).unwrap();
            model.insert(hash);
            ever.insert(hash);
        }
        writer.union(&other).unwrap();
        check(&reader, (&model, &ever), &random(1000, 99), writer.filter().beside().1 == 0);
        writer.clear();
        assert!(!random(1000, 99).iter().any(|&hash| reader.contains_hash(hash)));
    }
}

#[test]
fn keys_are_hashed_alike() {
    let mut writer = GrowingWriter::new(GrowingFilter::new(3000, 0.01, 7).unwrap()).unwrap();
    let reader = writer.reader();
    let keys: Vec<String> = (0..3000).map(|i| format!("key {i}")).collect();
    writer.insert_keys(&keys[1..]).unwrap();
    writer.insert("key 0").unwrap();
    assert!(keys.iter().all(|key| reader.contains(key) && reader.clone().contains(key)));
    let mut answers = Bitmap::new();
    assert_eq!(reader.contains_keys(&keys, &mut answers), 3000);
    writer.remove("key 5").unwrap();
    assert_eq!(writer.filter().key_count(), 2999);
    drop(writer);
    assert!(reader.contains("key 7"), "it lives as long as a reader");
}

/// Each verb of the writer does what the filter's own does, and the reader sees it.
#[test]
fn verbs_are_the_filters_own() {
    let new = || GrowingFilter::new(3000, 0.01, 7).unwrap();
    let keys: Vec<u64> = (0..900).chain(0..100).collect();
    let hashes: Vec<u64> = keys.iter().map(|key| new().hash(key)).collect();
    let (first, rest) = (&keys[..600], &keys[600..]);
    let other = new().with_keys((300..600).chain(5000..5200_u64)).unwrap();
    let (mut writer, mut filter) = (GrowingWriter::new(new()).unwrap(), new());
    let reader = writer.reader();
    let check = |writer: &GrowingWriter, filter: &GrowingFilter| {
        assert!(*writer.filter() == *filter && writer.filter().key_count() == filter.key_count());
        let seen = hashes.iter().map(|&hash| reader.contains_hash(hash));
        assert!(seen.eq(hashes.iter().map(|&hash| filter.contains_hash(hash))));
    };
    let (mut own, mut expected) = (Bitmap::new(), Bitmap::new());
    assert_eq!(
        writer.insert_new_keys(first, &mut own),
        filter.insert_new_keys(first, &mut expected)
    );
    assert!(own.iter().eq(expected.iter()));
    check(&writer, &filter);
    assert_eq!(
        writer.insert_new_hashes(&hashes[600..], &mut own),
        filter.insert_new_hashes(&hashes[600..], &mut expected)
    );
    assert!(own.iter().eq(expected.iter()));
    check(&writer, &filter);
    writer.insert_iter(rest).unwrap();
    filter.insert_iter(rest).unwrap();
    writer.extend(first);
    filter.extend(first);
    check(&writer, &filter);
    writer.difference(&other).unwrap();
    filter.difference(&other).unwrap();
    check(&writer, &filter);
    assert_eq!(writer.remove_keys(rest, &mut own), filter.remove_keys(rest, &mut expected));
    assert!(own.iter().eq(expected.iter()));
    check(&writer, &filter);
    let some = &hashes[..900];
    assert_eq!(writer.remove_hashes(some, &mut own), filter.remove_hashes(some, &mut expected));
    assert!(own.iter().eq(expected.iter()));
    check(&writer, &filter);
    writer.intersect(&other).unwrap();
    filter.intersect(&other).unwrap();
    check(&writer, &filter);
    assert_eq!(writer.intersect(&GrowingFilter::new(9, 0.1, 7).unwrap()), Err(Error::Mismatch));
}

/// Readers in other threads, while the filter grows a hundredfold, and back.
fn readers(unbounded: bool) {
    let most = if fewer() { 20_000 } else { 400_000 };
    let hashes = random(most, 11);
    let kept = most / 4;
    let filter = match unbounded {
        false => GrowingFilter::new(most as u64, 0.01, 0).unwrap(),
        true => GrowingFilter::unbounded(100, 0.01, 0).unwrap(),
    };
    let mut writer = GrowingWriter::new(filter).unwrap();
    let (inserted, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let threads = [1, 2].map(|seed| {
            let reader = writer.reader();
            let (hashes, inserted, ended) = (&hashes, &inserted, &ended);
            scope.spawn(move || {
                let (mut state, mut answers) = (seed, Bitmap::new());
                let (mut absent, mut wrong) = (0, 0);
                while !ended.load(Ordering::Relaxed) {
                    let count = inserted.load(Ordering::Acquire);
                    if count == 0 {
                        continue;
                    }
                    // Those that come last most often.
                    let mut any = |_| {
                        let back = next_random(&mut state) as usize % count;
                        let back = if seed == 1 { back % 50 } else { back };
                        hashes[count - 1 - back.min(count - 1)]
                    };
                    let some: Vec<u64> = (0..100).map(&mut any).collect();
                    assert!(some.iter().all(|&hash| reader.contains_hash(hash)), "one by one");
                    assert_eq!(reader.contains_hashes(&some, &mut answers), 100, "together");
                    let others = [(); 100].map(|()| next_random(&mut state));
                    wrong += others.iter().filter(|&&hash| reader.contains_hash(hash)).count();
                    absent += 100;
                }
                (absent, wrong)
            })
        });
        let (first, rest) = hashes.split_at(kept);
        for (i, &hash) in first.iter().enumerate() {
            writer.insert_hash(hash).unwrap();
            inserted.store(i + 1, Ordering::Release);
        }
        // Others come and go.
        writer.insert_hashes(rest).unwrap();
        for &hash in rest {
            writer.remove_hash(hash).unwrap();
        }
        ended.store(true, Ordering::Relaxed);
        // ThreadSanitizer does not see that a scope waits for its threads.
        threads.into_iter().for_each(|thread| _ = thread.join().unwrap());
    });
    assert_eq!(writer.filter().key_count(), kept as u64);
    assert!(hashes[..kept].iter().all(|&hash| writer.filter().contains_hash(hash)));
}

#[test]
fn no_key_is_absent_in_another_thread() {
    readers(false);
}

#[test]
fn nor_without_a_bound() {
    readers(true);
}

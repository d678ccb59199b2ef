//! The cuckoo filter: no key that is in is denied, at the load and rate that it promises, when it is
//! full; every backend is held to `src/layouts/cuckoo.rs`.

use crate::definition;
use crate::plans;

use bloomline::definition::cuckoo;
use bloomline::{Backend, CuckooFilter, CuckooParams, Error, Filter, Params};
use bloomline::{View, hash};
use definition::{AWKWARD, random_hashes};

const BITS: [u32; 3] = [8, 12, 16];

fn filter(line_count: u64, bits: u32) -> CuckooFilter {
    CuckooFilter::new(CuckooParams::new(line_count, bits, 7).unwrap()).unwrap()
}

/// Inserts until there is no room for one.
fn fill(filter: &mut CuckooFilter, seed: u64) -> Vec<u64> {
    let mut hashes = random_hashes(filter.params().slots() as usize, seed);
    let inserted = inserted(filter, |filter| filter.insert_hashes(&hashes));
    hashes.truncate(inserted);
    hashes
}

/// How many keys a batch inserted: the result says that it is full, or nothing.
fn inserted(
    filter: &mut CuckooFilter,
    insert: impl FnOnce(&mut CuckooFilter) -> Result<(), Error>,
) -> usize {
    let before = filter.key_count();
    let result = insert(filter);
    assert!(matches!(result, Ok(()) | Err(Error::Full)));
    (filter.key_count() - before) as usize
}

// ---- the definition ----

#[test]
fn the_other_of_the_other_is_the_first() {
    for bits in BITS {
        for line_count in
            [1, 2, 3, 10, 63, 64, 65, 127, 128, 129, 255, 256, 1_000_003, cuckoo::MAX_LINES]
        {
            if CuckooParams::new(line_count, bits, 0).is_err() {
                continue; // more than 32 bits can address
            }
            for hash in random_hashes(2000, line_count).into_iter().chain(AWKWARD) {
                let fingerprint = cuckoo::fingerprint(hash, bits);
                assert!((1..1 << bits).contains(&fingerprint));
                let first = cuckoo::first(hash, bits, line_count);
                let other = cuckoo::other(first, fingerprint, bits, line_count);
                for at in [first, other] {
                    assert!(at.line < line_count && at.bucket < cuckoo::buckets(bits));
                    let end = cuckoo::offset(at, bits) + bits as usize / 2;
                    assert!(end <= (at.line as usize + 1) * 64, "a bucket is within a line");
                }
                assert_eq!(cuckoo::other(other, fingerprint, bits, line_count), first);
            }
        }
    }
}

/// Keys that are inserted and rightly removed, in any order, up to a full filter and down again: none
/// that is in is denied, and each takes a slot.
#[test]
fn what_is_in_is_never_denied() {
    for round in 0..definition::cases(60) {
        let bits = BITS[round as usize % 3];
        let (mut filter, mut state) = (filter(1 + u64::from(round) % 4, bits), u64::from(round));
        let mut present = Vec::new();
        for step in 0..600 {
            let hash = definition::next_random(&mut state);
            if hash % 8 < if step % 200 < 120 { 7 } else { 1 } {
                match filter.insert_hash(hash) {
                    Ok(_) => present.push(hash),
                    Err(error) => assert!(matches!(error, Error::Full)),
                }
            } else if !present.is_empty() {
                filter.remove_hash(present.swap_remove(hash as usize % present.len())).unwrap();
            }
            assert!(present.iter().all(|&hash| filter.contains_hash(hash)));
            assert_eq!(filter.key_count(), present.len() as u64);
            assert_eq!(cuckoo::taken(filter.lines(), bits), present.len() as u64);
        }
    }
}

/// A full filter under removals of everything: what is surely absent is refused, and changes
/// nothing; of the rest no more go than are in. What comes after the storm is in.
#[test]
fn removal_storms() {
    for bits in BITS {
        let mut filter = filter(20, bits);
        let (inserted, others) = (fill(&mut filter, 1), random_hashes(50_000, 2));
        let before = filter.to_bytes().unwrap();
        let (maybe, absent): (Vec<u64>, _) =
            others.iter().partition(|&&hash| filter.contains_hash(hash));
        for hash in absent {
            assert!(matches!(filter.remove_hash(hash), Err(Error::Absent)));
        }
        assert!(filter.to_bytes().unwrap() == before);

        let mut left = filter.key_count();
        for &hash in maybe.iter().chain(&inserted) {
            left -= u64::from(filter.remove_hash(hash).is_ok());
            assert_eq!(filter.key_count(), left);
        }
        assert_eq!(left, 0, "all that were in have been asked for");
        assert!(filter.lines().iter().all(|&byte| byte == 0));
        assert!(fill(&mut filter, 1) == inserted);
        assert!(inserted.iter().all(|&hash| filter.contains_hash(hash)));
    }
}

#[test]
fn a_key_is_in_as_often_as_it_was_inserted_and_at_most_8_times() {
    for bits in BITS {
        let mut filter = filter(1000, bits);
        let others = random_hashes(60, 5);
        filter.insert_hashes(&others).unwrap();
        // The filter is far from full when this key's two buckets are.
        let alone = |&hash: &u64| {
            let first = cuckoo::first(hash, bits, 1000);
            cuckoo::other(first, cuckoo::fingerprint(hash, bits), bits, 1000) != first
        };
        let key = random_hashes(50, 6).into_iter().find(alone).unwrap();
        let mut times = 0;
        while filter.insert_hash(key).is_ok() {
            times += 1;
        }
        assert_eq!(times, 8);
        for _ in 0..times {
            assert!(filter.contains_hash(key));
            filter.remove_hash(key).unwrap();
        }
        assert!(others.iter().all(|&hash| filter.contains_hash(hash)));
    }
}

// ---- full ----

#[test]
fn ninety_five_per_cent_go_in() {
    for bits in BITS {
        for line_count in [100, 1000, if definition::fewer() { 10_000 } else { 40_000 }] {
            let mut filter = filter(line_count, bits);
            let inserted = fill(&mut filter, line_count + u64::from(bits));
            println!("{bits} bits, {line_count} lines: full at {:.4}", filter.fill());
            assert!(filter.fill() >= 0.95);
            assert_eq!(filter.key_count(), inserted.len() as u64);
        }
    }
}

#[test]
fn filters_hold_the_keys_they_are_sized_for() {
    for bits in BITS {
        for keys in [0, 1, 5, 10, 20, 30, 40, 50, 80, 100, 200, 300, 1000, 5000] {
            let params = CuckooParams::for_bits(keys, bits).unwrap();
            for seed in 0..200 {
                let mut filter = CuckooFilter::new(params).unwrap();
                let hashes = random_hashes(keys as usize, seed << 32 | keys);
                filter.insert_hashes(&hashes).unwrap();
                assert_eq!(filter.key_count(), keys, "{bits} bits, seed {seed}");
            }
        }
    }
}

/// No relocation makes room for a ninth copy, so none is tried.
#[test]
fn a_ninth_copy_is_refused_at_once() {
    for bits in BITS {
        // In one line the two buckets of a key can be the same one.
        for line_count in [1, 1000] {
            for hash in random_hashes(20, 3) {
                let mut filter = filter(line_count, bits);
                let added = (0..10_000).filter(|_| filter.insert_hash(hash).is_ok()).count();
                assert!(added == 8 || added == 4 && line_count == 1, "{added}");
                assert_eq!(filter.kicks(), 0, "{bits} bits, {line_count} lines");
                assert_eq!(filter.most_kicks(), cuckoo::MAX_KICKS);
            }
        }
    }
}

/// Whatever is asked of a full filter, it relocates no more than the budget allows.
#[test]
fn refused_inserts_cost_little() {
    for bits in BITS {
        let mut filter = filter(300, bits);
        let inserted = fill(&mut filter, 1);
        let (before, full) = (filter.kicks(), filter.key_count());
        let (mut refused, mut wasted) = (0, 0);
        for hash in random_hashes(100_000, 2) {
            let before = filter.kicks();
            if filter.insert_hash(hash).is_err() {
                refused += 1;
                wasted += filter.kicks() - before;
            }
        }
        assert!(refused > 99_000);
        let (waste, least) = (u64::from(cuckoo::MAX_WASTE), u64::from(cuckoo::LEAST_KICKS));
        assert!(wasted <= waste + 100_000 * least, "{bits} bits: {wasted} relocations");
        assert!(filter.kicks() - before >= wasted && filter.key_count() > full);
        assert_eq!(filter.most_kicks(), cuckoo::LEAST_KICKS);
        assert!(inserted.iter().all(|&hash| filter.contains_hash(hash)));

        // A clone knows that it is full; what is decoded does not, and takes no less.
        assert_eq!(filter.try_clone().unwrap().most_kicks(), cuckoo::LEAST_KICKS);
        let mut decoded = CuckooFilter::decode(&filter.to_bytes().unwrap()).unwrap();
        assert!(decoded == filter);
        assert_eq!(decoded.most_kicks(), cuckoo::MAX_KICKS);
        for hash in random_hashes(3000, 4) {
            filter.remove_hash(inserted[hash as usize % 100]).ok();
            decoded.remove_hash(inserted[hash as usize % 100]).ok();
            if filter.insert_hash(hash).is_ok() {
                decoded.insert_hash_within(hash, cuckoo::MAX_KICKS).unwrap();
                assert!(decoded == filter);
            }
        }

        // A key that is removed makes room for a search, and all that are removed for all.
        let kicks = filter.most_kicks();
        filter.remove_hash(inserted[150]).unwrap();
        assert!(filter.most_kicks() > kicks || kicks == cuckoo::MAX_KICKS);
        filter.clear();
        assert_eq!(filter.most_kicks(), cuckoo::MAX_KICKS);
    }
}

/// A search that may relocate less is the beginning of one that may more.
#[test]
fn a_limit_changes_what_is_refused_and_nothing_else() {
    for bits in BITS {
        let mut limited = filter(50, bits);
        let mut other = filter(50, bits);
        for hash in random_hashes(4000, 8) {
            let kicks = (hash >> 60) as u32;
            let (before, lines) = (limited.kicks(), limited.lines().to_vec());
            let result = limited.insert_hash_within(hash, kicks);
            assert!(limited.kicks() - before <= u64::from(kicks));
            match result {
                Ok(_) => _ = other.insert_hash_within(hash, cuckoo::MAX_KICKS).unwrap(),
                Err(_) => assert!(limited.lines() == lines),
            }
            assert!(limited.lines() == other.lines());
        }
    }
}

// ---- the rate ----

#[test]
fn the_rate_is_that_of_the_model() {
    for (bits, probes) in [(8, 2_000_000), (12, 4_000_000), (16, 16_000_000)] {
        let params = CuckooParams::for_bits(200_000, bits).unwrap();
        let mut filter = CuckooFilter::new(params).unwrap();
        for keys in [100_000, 100_000] {
            let hashes = random_hashes(keys, filter.key_count() + 1);
            filter.insert_hashes(&hashes).unwrap();
            let others = random_hashes(probes, 1 << 40);
            let mut bitmap = vec![0; probes.div_ceil(64)];
            let hits = filter.contains_hashes(&others, &mut bitmap) as f64;
            let expected = params.rate(filter.key_count()) * probes as f64;
            println!("{bits} bits, load {:.3}: {hits} hits, {expected:.0} expected", filter.fill());
            // The number of hits has a standard deviation of its square root.
            assert!((hits - expected).abs() < 5.0 * expected.sqrt() + 0.005 * expected);
        }
    }
}

#[test]
fn parameters_are_for_the_rate_and_in_range() {
    for (rate, bits) in
        [(0.9, 8), (0.03, 8), (0.029, 12), (0.002, 12), (0.0018, 16), (0.000_12, 16)]
    {
        for keys in [0, 1, 1000, 1_000_000_007] {
            let params = CuckooParams::for_rate(keys, rate).unwrap();
            assert_eq!(params.fingerprint_bits(), bits, "{rate}");
            assert!(params.rate(keys) <= rate);
            assert!(params.slots() as f64 * 0.95 >= keys as f64);
        }
    }
    for rate in [0.0, -1.0, 1.0, 2.0, f64::NAN, f64::INFINITY, 0.0001, 1e-300] {
        assert!(
            matches!(
                CuckooParams::for_rate(1000, rate),
                Err(Error::Rate(_) | Error::RateTooSmall(_))
            ),
            "{rate}"
        );
    }
    for bits in [0, 1, 4, 7, 9, 15, 17, 32, u32::MAX] {
        assert!(matches!(CuckooParams::new(1, bits, 0), Err(Error::FingerprintBits(_))));
        assert!(matches!(CuckooParams::for_bits(1, bits), Err(Error::FingerprintBits(_))));
    }
    for lines in [0, cuckoo::MAX_LINES + 1, u64::MAX] {
        assert!(matches!(
            CuckooParams::new(lines, 8, 0),
            Err(Error::NoLines | Error::LineCount(_))
        ));
    }
    assert!(matches!(CuckooParams::for_rate(u64::MAX, 0.01), Err(Error::LineCount(_))));
    assert_eq!(CuckooParams::for_bits(0, 8).unwrap().line_count(), 1);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn more_than_memory_is_an_error() {
    let params = CuckooParams::new(cuckoo::MAX_LINES, 8, 0).unwrap();
    // 256 GiB: refused, unless the system gives out what it has not got.
    if let Err(error) = CuckooFilter::new(params) {
        assert!(matches!(error, Error::OutOfMemory));
    }
}

// ---- every backend ----

#[test]
fn backends_answer_as_the_definition() {
    for backend in Backend::available() {
        println!("{}", backend.name());
        for bits in BITS {
            for line_count in [1, 2, 3, 37, 128, 191, 1000] {
                let params = CuckooParams::new(line_count, bits, 0).unwrap();
                let mut filter = CuckooFilter::with_backend(params, backend).unwrap();
                let awkward = inserted(&mut filter, |filter| filter.insert_hashes(&AWKWARD));
                assert_eq!(filter.backend(), backend);
                assert!(awkward > 8);
                // Close to full, with holes.
                let inserted = fill(&mut filter, line_count);
                inserted.iter().step_by(5).for_each(|&hash| filter.remove_hash(hash).unwrap());
                let mut lines = filter.lines().to_vec();
                if bits == 12 {
                    // Not part of any bucket, so not of any answer.
                    lines.chunks_mut(64).for_each(|line| line[60..].fill(0x5A));
                }
                let probes: Vec<u64> = inserted
                    .iter()
                    .copied()
                    .chain(AWKWARD)
                    .chain(random_hashes(3000, line_count + 9))
                    .collect();
                let expected: Vec<bool> =
                    probes.iter().map(|&hash| cuckoo::contains(&lines, bits, hash)).collect();
                assert!(expected.contains(&true));
                let bytes = definition::encode_cuckoo(&lines, bits, 0, 0);
                // At any address.
                for shift in [0, 1, 8, 60] {
                    let mut moved = vec![0; shift];
                    moved.extend_from_slice(&bytes);
                    let view = View::open_with_backend(&moved[shift..], backend).unwrap();
                    for (&hash, &expected) in probes.iter().zip(&expected) {
                        assert_eq!(
                            view.contains_hash(hash),
                            expected,
                            "{backend:?} {bits} {hash:x}"
                        );
                    }
                    for plan in plans::PLANS {
                        for len in (0..=130).chain([191, 192, 193, 255, 256, 257, 320, 700, 2000]) {
                            // From the front and from the back: keys that are in, and others.
                            let len = len.min(probes.len());
                            for from in [0, probes.len() - len] {
                                let case =
                                    format!("{backend:?} {bits} {line_count} {plan:?} {len}");
                                let mut answers = vec![0xABCD; len.div_ceil(64) + 1];
                                let hashes = &probes[from..][..len];
                                let hits = plans::contains(view, hashes, plan, &mut answers);
                                let answer = |i: usize| answers[i / 64] >> (i % 64) & 1 == 1;
                                for i in 0..len {
                                    assert_eq!(answer(i), expected[from + i], "{case}, key {i}");
                                }
                                for i in len..len.div_ceil(64) * 64 {
                                    assert!(!answer(i), "{case}, past the end");
                                }
                                assert_eq!(answers[len.div_ceil(64)], 0xABCD, "{case}");
                                let expected = &expected[from..][..len];
                                assert_eq!(hits, expected.iter().filter(|&&hit| hit).count());
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Above the sizes where lines are asked for ahead, for inserts and for probes; byte keys.
#[test]
fn large_filters() {
    let count = if definition::fewer() { 200_000 } else { 1_500_000 };
    let keys: Vec<String> = (0..count).map(|i| format!("key {i}")).collect();
    let others: Vec<String> = (0..100_000).map(|i| format!("other {i}")).collect();
    for bits in BITS {
        let params = CuckooParams::for_bits(20_000_000, bits).unwrap().with_seed(11);
        let mut filter = CuckooFilter::new(params).unwrap();
        filter.insert_keys(&keys).unwrap();
        assert_eq!(filter.key_count(), keys.len() as u64);
        let mut bitmap = vec![0; keys.len().div_ceil(64)];
        assert_eq!(filter.contains_keys(&keys, &mut bitmap), keys.len());
        let bytes = filter.to_bytes().unwrap();
        for backend in Backend::available() {
            let view = View::open_with_backend(&bytes, backend).unwrap();
            let hits = view.contains_keys(&others, &mut bitmap);
            let expected =
                others.iter().filter(|key| view.contains_hash(hash::hash(key.as_bytes(), 11)));
            assert_eq!(hits, expected.count(), "{backend:?} {bits}");
        }
        // One by one it is the same filter.
        let mut again = CuckooFilter::new(params).unwrap();
        keys.iter().for_each(|key| _ = again.insert(key).unwrap());
        assert!(again.lines() == filter.lines());
    }
}

/// One key, and a few, take other code in memory than in the cache.
#[test]
fn one_key_of_filters_in_memory() {
    let line_counts =
        if definition::fewer() { vec![1 << 18] } else { vec![(1 << 18) - 1, 1 << 18, 300_001] };
    for (bits, line_count) in
        BITS.into_iter().flat_map(|bits| line_counts.iter().map(move |&count| (bits, count)))
    {
        let mut lines = vec![0; 64 * line_count];
        let inserted = random_hashes(2_000, 12);
        for &hash in inserted.iter().chain(&AWKWARD) {
            _ = cuckoo::insert(&mut lines, bits, hash);
        }
        let probes = [inserted, AWKWARD.to_vec(), random_hashes(20_000, 13)].concat();
        let is_there = |hash: &u64| cuckoo::contains(&lines, bits, *hash);
        let expected: Vec<bool> = probes.iter().map(is_there).collect();
        let bytes = definition::encode_cuckoo(&lines, bits, 0, 0);
        for backend in Backend::available() {
            let view = View::open_with_backend(&bytes, backend).unwrap();
            let answers: Vec<bool> = probes.iter().map(|&hash| view.contains_hash(hash)).collect();
            assert!(answers == expected, "{backend:?}, {bits} bits, {line_count} lines");
            for len in 1..16 {
                let calls = probes.chunks(len).zip(expected.chunks(len)).step_by(len);
                for (hashes, expected) in calls {
                    let mut word = [0];
                    let found = view.contains_hashes(hashes, &mut word);
                    assert_eq!(found, word[0].count_ones() as usize);
                    let answers = (0..hashes.len()).map(|i| word[0] >> i & 1 == 1);
                    assert!(
                        answers.eq(expected.iter().copied()),
                        "{backend:?}, {bits} bits, {len}"
                    );
                }
            }
        }
    }
}

// ---- bytes ----

#[test]
fn views_have_its_parameters() {
    let bytes = filter(3, 8).to_bytes().unwrap();
    let view = View::open(&bytes).unwrap();
    assert_eq!(view.params(), None);
    assert_eq!(view.cuckoo_params(), Some(CuckooParams::new(3, 8, 7).unwrap()));
    assert_eq!(Filter::new(Params::new(3, 6, 0).unwrap()).unwrap().view().cuckoo_params(), None);
}

/// Lines that no writer wrote: the filter still works, and counts what is there.
#[test]
fn any_lines_are_a_filter() {
    for bits in BITS {
        let lines: Vec<u8> = random_hashes(64, 8).into_iter().flat_map(u64::to_le_bytes).collect();
        let mut filter =
            CuckooFilter::decode(&definition::encode_cuckoo(&lines, bits, 0, 0)).unwrap();
        assert_eq!(filter.key_count(), cuckoo::taken(&lines, bits));
        for hash in random_hashes(2000, 9) {
            let _ = filter.insert_hash(hash);
            let _ = filter.remove_hash(hash.rotate_left(7));
            let (count, bits) = (filter.key_count(), filter.params().fingerprint_bits());
            assert_eq!(count, cuckoo::taken(filter.lines(), bits));
        }
    }
}

/// A set: a key that may be present is not stored again.
#[test]
fn a_cuckoo_filter_takes_a_key_once() {
    let params = CuckooParams::new(3, 16, 7).unwrap();
    let (mut once, mut plain) = (CuckooFilter::new(params).unwrap(), vec![0; params.bytes()]);
    for key in (0..50u64).flat_map(|key| [key; 20]) {
        let hash = once.hash(&key);
        let absent = !cuckoo::contains(&plain, 16, hash);
        if absent {
            cuckoo::insert(&mut plain, 16, hash).unwrap();
        }
        assert_eq!(once.insert_absent(&key), Ok(absent));
        assert_eq!(once.insert_absent_hash(hash), Ok(false));
    }
    assert!(once.lines() == plain && once.key_count() <= 50);
    while once.insert(&3u64).is_ok() {}
    assert_eq!(once.insert_absent(&3u64), Ok(false), "full, and it is there");
}

/// What a full filter took before is kept, and answered.
#[test]
fn a_full_cuckoo_filter_says_how_far_it_came() {
    let params = CuckooParams::new(1, 8, 7).unwrap();
    let make = || CuckooFilter::new(params).unwrap();
    let mut one = make();
    let expected: Vec<bool> = (0..500u64).map_while(|key| one.insert(&key).ok()).collect();
    assert!((50..=64).contains(&expected.len()));
    let keys: Vec<u64> = (0..500).collect();
    let mut new = [u64::MAX; 9];
    let mut filter = make();
    assert_eq!(filter.insert_new_keys(&keys, &mut new), Err(Error::Full));
    for i in 0..keys.len() {
        assert_eq!(new[i / 64] >> (i % 64) & 1 == 1, *expected.get(i).unwrap_or(&false));
    }
    assert_eq!((filter.key_count(), filter.lines()), (expected.len() as u64, one.lines()));
    let taken = std::cell::Cell::new(0);
    let counted = (0..u64::MAX).inspect(|_| taken.set(taken.get() + 1));
    let mut filter = make();
    assert_eq!(filter.insert_iter(counted), Err(Error::Full), "it ends");
    assert_eq!((filter.lines(), taken.get()), (one.lines(), 512));
    assert_eq!(make().with_keys(keys).unwrap_err(), Error::Full);
}

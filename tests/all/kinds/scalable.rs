//! Scalable filters: no key is denied, and the rate stays below the one asked for up to a thousand times
//! the first capacity; what cannot grow says so and loses nothing. The histories
//! have their bytes.

use crate::definition;
use crate::kinds::scalable_bytes::*;

use bloomline::{Error, Filter, Params, ScalableFilter};
use definition::*;

// ---- growing ----

/// From the first capacity to a thousand times as many keys: the rate is below the one that
/// was asked for all the time, and is what the model expects.
#[test]
fn a_thousand_times_the_first_capacity() {
    const FIRST: usize = 1000;
    let fewer = definition::fewer();
    let probes = random_hashes(if fewer { 200_000 } else { 2_000_000 }, 81);
    for rate in [0.1, 0.01, 0.001] {
        let mut filter = ScalableFilter::new(FIRST as u64, rate, 0).unwrap();
        let mut state = 80;
        let mut inserted = Vec::new();
        for times in [1, 10, 100, 1000].into_iter().take(if fewer { 3 } else { 4 }) {
            while (filter.key_count() as usize) < times * FIRST {
                let left = times * FIRST - filter.key_count() as usize;
                let hashes: Vec<u64> =
                    (0..left.min(4096)).map(|_| next_random(&mut state)).collect();
                filter.insert_new_hashes(&hashes, &mut [0; 64]).unwrap();
                inserted.extend(hashes);
            }
            let mut bitmap = vec![0; inserted.len().div_ceil(64)];
            assert_eq!(filter.contains_hashes(&inserted, &mut bitmap), inserted.len());
            let mut bitmap = vec![0; probes.len().div_ceil(64)];
            let wrong = filter.contains_hashes(&probes, &mut bitmap) as f64;
            let (measured, expected) = (wrong / probes.len() as f64, filter.expected_rate());
            let plain = filter.plain_params().unwrap().bytes();
            let bytes: usize = filter.stages().map(|stage| stage.lines().len()).sum();
            println!(
                "{rate} at {times}x: {} stages, measured {:.4} of the rate asked for, expected \
                 {:.4}, estimated {:.4}; {:.2} times the memory of a plain filter",
                filter.stages().len(),
                measured / rate,
                expected / rate,
                filter.estimated_rate() / rate,
                bytes as f64 / plain as f64
            );
            // 5 standard deviations, and 3 % for what the simple model of a line leaves out;
            // estimates are from one filter's fill, so that those of a small one scatter.
            let noise = 5.0 * (expected / probes.len() as f64).sqrt();
            assert!(measured < rate, "{measured} at {times}x");
            assert!(
                (measured - expected).abs() < noise + 0.15 * expected,
                "{measured} at {times}x"
            );
            assert!((filter.estimated_rate() - measured).abs() < noise + 0.1 * measured);
            // Stages double, and are full but for the newest.
            let counts: Vec<u64> = filter.stages().map(Filter::key_count).collect();
            let (newest, full) = counts.split_last().unwrap();
            let sizes = (0..).map(|i| (FIRST as u64) << i);
            assert!(full.iter().copied().eq(sizes.take(full.len())), "{counts:?}");
            assert!(*newest <= (FIRST as u64) << full.len(), "{counts:?}");
            let lines: Vec<u64> = filter.stages().map(|s| s.params().line_count()).collect();
            assert!(lines.windows(2).all(|pair| pair[1] >= 2 * pair[0] - 2), "{lines:?}");
        }
        assert_eq!(filter.stages().len(), if fewer { 7 } else { 10 });
    }
}

#[test]
fn keys_that_are_in_do_not_make_it_grow() {
    let mut filter = ScalableFilter::new(100, 0.001, 0).unwrap();
    let keys: Vec<String> = (0..100).map(|i| format!("key {i}")).collect();
    for _ in 0..20 {
        filter.insert_new_keys(&keys, &mut [0; 2]).unwrap();
        keys.iter().for_each(|key| assert!(!filter.insert(key.as_bytes()).unwrap()));
    }
    assert_eq!(filter.stages().len(), 1);
    assert!((99..=100).contains(&filter.key_count()));
    // And in one batch, with many of each.
    let repeated: Vec<u64> =
        random_hashes(150, 8).into_iter().flat_map(|hash| [hash; 40]).collect();
    let mut bitmap = vec![0; repeated.len().div_ceil(64)];
    let new = filter.insert_new_hashes(&repeated, &mut bitmap).unwrap();
    assert!((148..=150).contains(&new), "{new}");
    assert_eq!(filter.stages().len(), 2);
}

#[test]
fn folds_into_a_plain_filter() {
    let keys = random_hashes(20_000, 9);
    let mut filter = ScalableFilter::new(50, 0.01, 7).unwrap();
    filter.insert_new_hashes(&keys, &mut [0; 313]).unwrap();
    let params = filter.plain_params().unwrap();
    assert_eq!(params, Params::for_rate(filter.key_count(), 0.01).unwrap().with_seed(7));
    let plain = filter.to_filter(keys.iter().copied()).unwrap();
    let mut same = Filter::new(params).unwrap();
    same.insert_hashes(&keys);
    assert!(plain.to_bytes().unwrap() == same.to_bytes().unwrap());
    let some = keys[..19_000].iter().copied();
    assert!(matches!(filter.to_filter(some), Err(Error::KeyCount { .. })));
    // One of no keys.
    let empty = ScalableFilter::new(50, 0.01, 0).unwrap();
    assert_eq!(empty.to_filter([]).unwrap().params().line_count(), 1);
}

/// In a batch each key is answered for as by itself, whichever stages have it, and however many keys are absent.
#[test]
fn batches_of_present_and_absent_keys() {
    let (keys, absent) = (random_hashes(20_000, 5), random_hashes(20_000, 6));
    let mut filter = ScalableFilter::new(100, 0.01, 0).unwrap();
    filter.insert_new_hashes(&keys, &mut [0; 313]).unwrap();
    assert!(filter.stages().len() > 6);
    // Keys of all stages, and of the first ones.
    for newest in [keys.len(), 300] {
        for (len, percent) in [65, 1000, 1024, 1025, 2500]
            .into_iter()
            .flat_map(|len| [0, 1, 20, 50, 80, 99, 100].map(|percent| (len, percent)))
        {
            let is_absent = |i: usize| i * 37 % 100 < percent;
            let hashes: Vec<u64> = (0..len)
                .map(|i| if is_absent(i) { absent[i] } else { keys[i * 7919 % newest] })
                .collect();
            let mut answers = vec![u64::MAX; len.div_ceil(64)];
            let count = filter.contains_hashes(&hashes, &mut answers);
            let mut expected = vec![0; len.div_ceil(64)];
            for (i, &hash) in hashes.iter().enumerate() {
                let is_there = filter.stages().any(|stage| stage.contains_hash(hash));
                assert!(is_there || is_absent(i));
                expected[i / 64] |= u64::from(is_there) << (i % 64);
            }
            assert!(answers == expected, "{len} keys, {percent} % absent");
            let ones: u32 = expected.iter().map(|word| word.count_ones()).sum();
            assert_eq!(count, ones as usize);
        }
    }
}

// ---- what cannot be ----

#[test]
fn capacities_and_rates_out_of_range() {
    for rate in [0.0, -0.0, 1.0, 1.5, -0.1, 9e-16, 1e-300, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(
                ScalableFilter::new(100, rate, 0),
                Err(Error::Rate(_) | Error::RateTooSmall(_))
            ),
            "{rate}"
        );
    }
    // No capacity is as good as a small one.
    for first_keys in [0, 1, 31, 32] {
        let mut filter = ScalableFilter::new(first_keys, 0.01, 0).unwrap();
        let hashes = random_hashes(32, 3);
        filter.insert_new_hashes(&hashes, &mut [0]).unwrap();
        assert_eq!((filter.stages().len(), filter.key_count()), (1, 32));
        assert!(filter.insert_hash(1).unwrap());
        assert_eq!(filter.stages().len(), 2);
    }
    assert!(matches!(ScalableFilter::new(u64::MAX, 0.01, 0), Err(Error::LineCount(_))));
    if usize::BITS == 64 {
        let error = ScalableFilter::new(1 << 55, 0.01, 0);
        assert!(matches!(error, Err(Error::OutOfMemory)));
    }
    // The least rate has room for all its stages.
    for rate in [1e-15, f64::from_bits(1f64.to_bits() - 1)] {
        let last = rate * 0.15 * 0.85f64.powi(63);
        assert!(Params::for_rate(1, last).is_ok());
    }
}

/// What a file claims that its stages are for, and that they have, does not make it grow beyond four
/// times its lines, or 64 KiB.
#[test]
fn a_claim_does_not_make_it_large() {
    for (lines, rate) in [(1, 0.01), (1, 1e-15), (256, 0.9), (257, 0.01), (1000, 1e-15)] {
        for capacity in [1 << 32, 1 << 52, u64::MAX / 2 + 1, u64::MAX] {
            let mut stage = StageOf::new(lines, 8, capacity, &[5]);
            stage.key_count = capacity;
            let bytes = encode_scalable(&[stage], rate, 0);
            let mut filter = ScalableFilter::decode(&bytes).unwrap();
            assert!(filter.to_bytes().unwrap() == bytes, "what it says is kept");
            for hash in random_hashes(100, 4) {
                filter.insert_hash(hash).unwrap();
                assert!(filter.contains_hash(hash) && filter.contains_hash(5));
            }
            let second = filter.stages().nth(1).unwrap().params().line_count();
            let most = 1024.max(4 * lines as u64);
            assert!(second <= most && second > most / 2, "{lines} lines, then {second}");
        }
    }
    // Claims that its lines bear out are believed: twice the keys.
    for (lines, capacity) in [(1, 513), (1000, 32_000)] {
        let mut stage = StageOf::new(lines, 8, capacity, &[5]);
        stage.key_count = capacity;
        let mut filter = ScalableFilter::decode(&encode_scalable(&[stage], 0.01, 0)).unwrap();
        assert!(filter.insert_hash(7).unwrap());
        let twice = Params::for_rate(2 * capacity, 0.01 * 0.15 * 0.85).unwrap();
        assert_eq!(filter.stages().nth(1).unwrap().params(), twice);
    }
}

/// The limit is beyond what the library itself needs, whatever the rate.
#[test]
fn twice_the_keys_take_less_than_the_limit() {
    for exponent in (0..=30).step_by(if definition::fewer() { 6 } else { 1 }) {
        let rate = 0.999 * 10f64.powf(-f64::from(exponent) / 2.0);
        let mut of_stage = rate * 0.15;
        let mut before = 0.0;
        for stage in 0..64 {
            let (bits, _) = bloomline::sizing::bits_for_rate(of_stage).unwrap();
            assert!(stage == 0 || bits / before < 1.2, "{rate}, stage {stage}");
            (before, of_stage) = (bits, of_stage * 0.85);
        }
    }
}

/// A filter that cannot grow: of the most stages there are.
#[test]
fn what_cannot_grow_says_so_and_loses_nothing() {
    let stages = vec![StageOf::new(1, 3, 1, &[5]); 64];
    let bytes = encode_scalable(&stages, 0.5, 0);
    let mut filter = ScalableFilter::decode(&bytes).unwrap();
    let hashes = random_hashes(30, 4);
    let mut new = [0; 1];
    let before = filter.clone_by_bytes();
    let result = filter.insert_new_hashes(&hashes, &mut new);
    assert!(matches!(result, Err(Error::OutOfMemory)));
    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)), "all keys are in");
    // The same one by one: the error is for the keys that are new.
    let mut other = before;
    for (i, &hash) in hashes.iter().enumerate() {
        let result = other.insert_hash(hash);
        assert_eq!(new[0] >> i & 1 == 1, result.is_err());
        assert!(matches!(result, Ok(false) | Err(Error::OutOfMemory)));
    }
    assert!(other.to_bytes().unwrap() == filter.to_bytes().unwrap());
    assert_eq!(filter.stages().len(), stages.len());
    let keys = ["a", "b", "c"];
    let result = filter.insert_new_keys(&keys, &mut [0]);
    assert!(matches!(result, Ok(0) | Err(Error::OutOfMemory)));
    assert!(keys.iter().all(|key| filter.contains(key.as_bytes())));
    assert!(filter.expected_rate() <= 0.5, "by the keys that are counted");
}

trait CloneByBytes {
    fn clone_by_bytes(&self) -> Self;
}

impl CloneByBytes for ScalableFilter {
    fn clone_by_bytes(&self) -> ScalableFilter {
        ScalableFilter::decode(&self.to_bytes().unwrap()).unwrap()
    }
}

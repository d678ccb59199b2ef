//! What a growing filter promises of memory and rate, from no key to a million times the first.

use crate::definition::{fewer, next_random};
use crate::kinds::growing_model::Growing;
use bloomline::{Error, GrowingFilter, GrowingView};

fn bits(filter: &GrowingFilter, keys: u64) -> f64 {
    filter.memory_usage() as f64 * 8.0 / keys as f64
}

/// The rate on hashes that are not in.
fn measured(filter: &GrowingFilter, probes: usize, state: &mut u64) -> f64 {
    let wrong = (0..probes).filter(|_| filter.contains_hash(next_random(state))).count();
    wrong as f64 / probes as f64
}

#[test]
fn few_keys_take_little() {
    for (keys, most) in [(0, 320), (1, 384), (10, 384), (100, 640), (1000, 2600)] {
        let mut filter = GrowingFilter::new(keys, 0.01, 0).unwrap();
        let mut state = 2;
        (0..keys).for_each(|_| _ = filter.insert_hash(next_random(&mut state)).unwrap());
        println!("{keys} keys: {} bytes", filter.memory_usage());
        assert!(filter.memory_usage() <= most, "{keys} keys: {} bytes", filter.memory_usage());
        filter.clear();
        assert!(filter.memory_usage() <= 320 && filter.prefixes().next().is_none());
    }
}

/// Bits per key, averaged while the keys grow by a quarter up to what was expected; the rate there.
#[test]
fn a_bounded_filter_in_the_end() {
    let most = if fewer() { 100_000 } else { 1_000_000 };
    for (rate, limit) in [(0.01, 10.0), (0.004, 11.4), (0.001, 13.65)] {
        let (mut filter, mut state) = (GrowingFilter::new(most, rate, 0).unwrap(), 4);
        let (mut sum, mut samples) = (0.0, 0);
        let inserted: Vec<u64> = (0..most).map(|_| next_random(&mut state)).collect();
        for (keys, &hash) in (1..).zip(&inserted) {
            filter.insert_hash(hash).unwrap();
            if keys > most / 4 * 3 && keys % (most / 400) == 0 {
                // As if there were as many prefixes as for so many keys.
                sum += bits(&filter, keys) - (most as f64 / keys as f64).log2();
                samples += 1;
            }
        }
        let mean = sum / f64::from(samples);
        let wrong = measured(&filter, 1_000_000, &mut state);
        let [absent, present] = lines_per_probe(&filter, &inserted, &mut state);
        println!(
            "{rate}: {mean:.2} bits per key, rate {wrong:.5}, exact {:.5}, {absent:.3} and {present:.3} lines per probe",
            filter.estimated_rate()
        );
        assert!(absent < 1.1 && present < 1.1);
        assert!(mean < limit + if fewer() { 0.8 } else { 0.0 }, "{rate}: {mean} bits per key");
        assert!(filter.estimated_rate() <= rate);
        assert!((wrong - rate).abs() < 0.1 * rate + 5.0 * (rate / 1e6).sqrt(), "{rate}: {wrong}");
        assert_eq!(filter.beside().1, 0, "uniform keys find room");
    }
}

/// With more keys than its bound the rate of a bounded filter rises in proportion, less what keys have in common.
#[test]
fn a_bounded_filter_beyond_its_bound() {
    let most = if fewer() { 20_000 } else { 200_000 };
    for rate in [0.01, 0.001] {
        let (mut filter, mut state) = (GrowingFilter::new(most, rate, 0).unwrap(), 4);
        for times in 1..=4 {
            (0..most).for_each(|_| _ = filter.insert_hash(next_random(&mut state)).unwrap());
            let expected = 1.0 - (-rate * f64::from(times)).exp();
            let estimated = filter.estimated_rate();
            println!("{times} times the bound: {estimated:.5}, expected {expected:.5}");
            assert!((estimated / expected - 1.0).abs() < 0.02, "{times}: {estimated}");
            assert!(estimated <= rate * f64::from(times));
            let wrong = measured(&filter, 200_000, &mut state);
            assert!((wrong - estimated).abs() < 5.0 * (estimated / 2e5).sqrt(), "{times}: {wrong}");
        }
        assert_eq!(filter.beside().1, 0);
    }
}

/// The lines that a probe reads, on average: first of hashes that are not in, then of those that are.
fn lines_per_probe(filter: &GrowingFilter, inserted: &[u64], state: &mut u64) -> [f64; 2] {
    let mean = |hashes: &[u64]| {
        let read: usize = hashes.iter().map(|&hash| filter.lines_read(hash)).sum();
        read as f64 / hashes.len() as f64
    };
    let absent: Vec<u64> = (0..100_000).map(|_| next_random(state)).collect();
    [mean(&absent), mean(inserted)]
}

/// Bits per key, and lines per probe, of a bounded filter that was built of all its keys.
#[test]
fn a_bounded_filter_at_once() {
    let most: u64 = if fewer() { 100_000 } else { 1_000_000 };
    let mut state = 8;
    let hashes: Vec<u64> = (0..most).map(|_| next_random(&mut state)).collect();
    let more = if fewer() { 0.8 } else { 0.0 };
    for (rate, limit) in [(0.01, 9.6), (0.004, 10.9), (0.001, 13.1)] {
        let filter = GrowingFilter::build(most, rate, 0, &hashes).unwrap();
        let bits = bits(&filter, most);
        let [absent, present] = lines_per_probe(&filter, &hashes, &mut state);
        println!("{rate}: {bits:.2} bits per key, {absent:.3} and {present:.3} lines per probe");
        assert!(bits < limit + more && absent < 1.3 && present < 1.3);
        assert_eq!(filter.beside().1, 0);
    }
}

/// Built at once, an unbounded filter spends what the shorter prefixes may. Its prefixes have one length, that
/// which the definition needs for so many, and it grows on within its rate.
#[test]
fn an_unbounded_filter_at_once() {
    let most: u64 = if fewer() { 30_000 } else { 200_000 };
    let mut state = 9;
    let hashes: Vec<u64> = (0..9 * most).map(|_| next_random(&mut state)).collect();
    let (first_ones, rest) = hashes.split_at(most as usize);
    for growth in [1, 30, 1000, most] {
        let first = most / growth;
        let mut filter = GrowingFilter::build_unbounded(first, 0.01, 0, first_ones).unwrap();
        let mut length = 0;
        while most as f64 > (first << length) as f64 * f64::from(length + 1) * 27.0 / 32.0 {
            length += 1;
        }
        let mut model = Growing::unbounded(first, 0.01, 0);
        (model.lengths, model.key_count) = ([length; 16], most);
        for &hash in first_ones {
            *model.counts.entry(model.normal(hash, length)).or_default() += 1;
        }
        assert!(filter.to_bytes().unwrap() == model.encode(), "{growth} times the first keys");
        let (bits, rate) = (self::bits(&filter, most), filter.estimated_rate());
        println!("{growth} times the first keys: {bits:.2} bits per key, rate {rate:.5}");
        assert!((rate - model.rate()).abs() < 1e-12 && rate <= 0.01);
        let mut inserted = GrowingFilter::unbounded(first, 0.01, 0).unwrap();
        inserted.insert_hashes(first_ones).unwrap();
        let by_inserts = self::bits(&inserted, most);
        assert!(
            growth == 1 || bits < by_inserts - 1.0,
            "{bits} bits per key, {by_inserts} by inserts"
        );
        for (i, part) in rest.chunks(most as usize / 2).enumerate() {
            filter.insert_hashes(part).unwrap();
            let rate = filter.estimated_rate();
            assert!(rate <= 0.01, "{growth}: {rate} after {i}");
        }
        assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
    }
    let none = GrowingFilter::build_unbounded(10, 0.01, 0, &[]).unwrap();
    assert!(none == GrowingFilter::unbounded(10, 0.01, 0).unwrap() && none.key_count() == 0);
    assert_eq!(GrowingFilter::build_unbounded(10, 1.5, 0, &[]).unwrap_err(), Error::Rate(1.5));
}

/// Where chance puts more keys than lines have room for, they go on until there is room: what would lie beside the
/// lines, every probe for an absent key would ask.
#[test]
fn a_crowd_finds_room_in_lines() {
    for mixed in [false, true] {
        let mut filter = match mixed {
            true => GrowingFilter::unbounded(50_000, 0.01, 0).unwrap(),
            false => GrowingFilter::new(100_000, 0.01, 0).unwrap(),
        };
        let (mut state, mut inserted, mut lines) = (7, Vec::new(), 0);
        for keys in 0..100_000 {
            let mut hash = next_random(&mut state);
            if (90_000..96_000).contains(&keys) && keys % 10 == 0 {
                // A 48th of all lines.
                hash = (5 << 60) + hash / 48;
            }
            filter.insert_hash(hash).unwrap();
            inserted.push(hash);
            lines = lines.max(filter.line_count());
            assert_eq!(filter.beside().1, 0, "{keys} keys, {lines} lines");
        }
        assert!(inserted.iter().all(|&hash| filter.contains_hash(hash)));
    }
}

/// It is never larger than in the end, though it was made for a million times as many keys.
#[test]
fn a_bounded_filter_on_its_way() {
    let most = if fewer() { 1 << 17 } else { 1 << 20 };
    let (mut filter, mut state, mut largest) = (GrowingFilter::new(most, 0.01, 0).unwrap(), 5, 0);
    for keys in 1..=most {
        filter.insert_hash(next_random(&mut state)).unwrap();
        if keys.is_power_of_two() || keys % 5000 == 0 {
            largest = largest.max(filter.memory_usage());
            let doublings = (most as f64 / keys as f64).log2();
            // A bit for each halving, and at the start whole lines.
            let limit = keys as f64 * (11.0 + 1.15 * doublings) / 8.0 + 7000.0;
            assert!((filter.memory_usage() as f64) < limit, "{keys} keys: {}", bits(&filter, keys));
        }
    }
    assert!(largest <= filter.memory_usage() * 103 / 100);
}

/// From the first key to a million times as many: the rate is kept, and the memory.
#[test]
fn an_unbounded_filter_at_any_growth() {
    let most: u64 = if fewer() { 1 << 17 } else { 1 << 20 };
    for first in [1, 1000] {
        let (mut filter, mut state) = (GrowingFilter::unbounded(first, 0.01, 0).unwrap(), 6);
        let (mut inserted, mut sum, mut samples) = (Vec::new(), 0.0, 0);
        // Behind the first lines: of small filters, and of others.
        let mut highest = [0.0_f64; 2];
        for keys in 1..=most {
            let hash = next_random(&mut state);
            filter.insert_hash(hash).unwrap();
            inserted.push(hash);
            if keys >= 4_000 && keys % 97 == 0 {
                let highest = &mut highest[usize::from(keys >= 1 << 16)];
                *highest = highest.max(bits(&filter, keys));
            }
            if keys % (most / 64) == 0 {
                let rate = filter.estimated_rate();
                // A 24th for each doubling, and for the first keys.
                let parts = (keys as f64 / first as f64).log2().max(0.0) + 2.0;
                assert!(rate <= 0.01 * (parts / 24.0).min(1.0), "{keys} keys: {rate}");
                sum += bits(&filter, keys);
                samples += 1;
                println!(
                    "{first} first, {keys} keys: {:.2} bits per key, rate {rate:.5}",
                    bits(&filter, keys)
                );
            }
        }
        let mean = sum / f64::from(samples);
        println!("{first} first: {mean:.2} bits per key on average, {highest:.2?} at most");
        assert!(highest[0] < 22.5 && highest[1] < 18.0, "{highest:?}");
        assert!(mean < if fewer() { 17.5 } else { 16.5 }, "{mean}");
        assert!(measured(&filter, 200_000, &mut state) <= 0.0105);
        assert!(inserted.iter().all(|&hash| filter.contains_hash(hash)));
    }
}

/// The rate is that of the prefixes together: a short one may have longer ones in each half.
#[test]
fn the_rate_is_exact() {
    let most = if fewer() { 3000 } else { 100_000 };
    for (first, rate) in [(100, 0.01), (100, 0.5), (1, 0.9)] {
        let (mut filter, mut state) = (GrowingFilter::unbounded(first, rate, 0).unwrap(), 7);
        for keys in 1..=most {
            filter.insert_hash(next_random(&mut state)).unwrap();
            if keys == most || keys % (most / 5) == most / 7 || keys < 20 {
                let bytes = filter.to_bytes().unwrap();
                let exact = Growing::open(&bytes).rate();
                let view = GrowingView::open(&bytes[..]).unwrap();
                for estimated in [filter.estimated_rate(), view.estimated_rate()] {
                    let diff = (estimated - exact).abs();
                    assert!(
                        diff < 1e-12,
                        "{first} at {rate}, {keys} keys: {estimated}, not {exact}"
                    );
                }
            }
        }
    }
}

/// Where there are no longer prefixes, keys go on to come and go.
#[test]
fn prefixes_that_cannot_get_longer() {
    for (first, rate) in [(1, 1e-16), (20, 1e-15), (1 << 40, 0.001)] {
        let (mut filter, mut state) = (GrowingFilter::unbounded(first, rate, 0).unwrap(), 8);
        let hashes: Vec<u64> = (0..50_000).map(|_| next_random(&mut state)).collect();
        for _ in 0..2 {
            hashes.iter().for_each(|&hash| _ = filter.insert_hash(hash).unwrap());
            assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
            hashes[..49_000].iter().for_each(|&hash| filter.remove_hash(hash).unwrap());
            assert!(hashes[49_000..].iter().all(|&hash| filter.contains_hash(hash)));
        }
        assert_eq!((filter.key_count(), filter.beside().1), (2 * 50_000 - 2 * 49_000, 0));
    }
}

#[test]
fn rates_that_no_filter_has() {
    let new = |keys, rate| GrowingFilter::new(keys, rate, 0).unwrap_err();
    assert_eq!(new(10, 0.0), Error::Rate(0.0));
    assert_eq!(new(10, 1.0), Error::Rate(1.0));
    assert!(matches!(new(10, f64::NAN), Error::Rate(_)));
    assert_eq!(new(1 << 50, 1e-5), Error::RateTooSmall(1e-5));
    let unbounded = |keys, rate| GrowingFilter::unbounded(keys, rate, 0).unwrap_err();
    assert_eq!(unbounded(10, 2.0), Error::Rate(2.0));
    for (keys, rate) in [(1 << 50, 1e-5), (1, 5e-324)] {
        assert_eq!(
            unbounded(keys, rate),
            Error::RateTooSmall(rate),
            "the caller's rate, not a length's share"
        );
    }
}

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
    for (rate, limit) in [(0.01, 10.1), (0.004, 11.4), (0.001, 13.7)] {
        let (mut filter, mut state) = (GrowingFilter::new(most, rate, 0).unwrap(), 4);
        let (mut sum, mut samples) = (0.0, 0);
        for keys in 1..=most {
            filter.insert_hash(next_random(&mut state)).unwrap();
            if keys > most / 4 * 3 && keys % (most / 400) == 0 {
                // As if there were as many prefixes as for so many keys.
                sum += bits(&filter, keys) - (most as f64 / keys as f64).log2();
                samples += 1;
            }
        }
        let mean = sum / f64::from(samples);
        let wrong = measured(&filter, 1_000_000, &mut state);
        println!(
            "{rate}: {mean:.2} bits per key, rate {wrong:.5}, exact {:.5}",
            filter.estimated_rate()
        );
        assert!(mean < limit + if fewer() { 0.8 } else { 0.0 }, "{rate}: {mean} bits per key");
        assert!(filter.estimated_rate() <= rate);
        assert!((wrong - rate).abs() < 0.1 * rate + 5.0 * (rate / 1e6).sqrt(), "{rate}: {wrong}");
        assert_eq!(filter.beside().1, 0, "uniform keys find room");
    }
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
        for keys in 1..=most {
            let hash = next_random(&mut state);
            filter.insert_hash(hash).unwrap();
            inserted.push(hash);
            if keys % (most / 64) == 0 {
                let rate = filter.estimated_rate();
                assert!(rate <= 0.01, "{keys} keys: {rate}");
                sum += bits(&filter, keys);
                samples += 1;
                println!(
                    "{first} first, {keys} keys: {:.2} bits per key, rate {rate:.5}",
                    bits(&filter, keys)
                );
            }
        }
        let mean = sum / f64::from(samples);
        println!("{first} first: {mean:.2} bits per key on average");
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

#[test]
fn rates_that_no_filter_has() {
    let new = |keys, rate| GrowingFilter::new(keys, rate, 0).unwrap_err();
    assert_eq!(new(10, 0.0), Error::Rate(0.0));
    assert_eq!(new(10, 1.0), Error::Rate(1.0));
    assert!(matches!(new(10, f64::NAN), Error::Rate(_)));
    assert_eq!(new(1 << 50, 1e-5), Error::RateTooSmall(1e-5));
    assert_eq!(GrowingFilter::unbounded(10, 2.0, 0).unwrap_err(), Error::Rate(2.0));
}

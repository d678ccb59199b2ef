//! What a filter does beside probing: union, clear, fold, estimates, the shapes that can
//! be asked for, and the builder. Probes and bytes are in `backends.rs`, damage in
//! `format.rs`, false-positive rates in `statistics.rs`.

use crate::definition;

use bloomline::definition::line;
use bloomline::{
    Builder, ConcurrentFilter, Error, Filter, Params, View, block_build, lines_insert,
    lines_intersect, lines_union, sizing,
};
use definition::{encode, lines_of, random_hashes};

fn params(lines: u64, k: u32) -> Params {
    Params::new(lines, k, 0).unwrap()
}

fn filter_of(params: Params, hashes: &[u64]) -> Filter {
    let mut filter = Filter::new(params).unwrap();
    filter.insert_hashes(hashes);
    filter
}

// ---- whole filters ----

#[test]
fn the_key_count_saturates() {
    let bytes = encode(&[0; 64], 6, 0, u64::MAX - 1);
    let mut filter = Filter::decode(&bytes).unwrap();
    filter.union(&filter_of(params(1, 6), &[1, 2, 3])).unwrap();
    assert_eq!(filter.key_count(), u64::MAX);
    filter.insert(b"one more");
    filter.insert_hashes(&[1, 2]);
    filter.insert_keys(&["a", "b"]);
    assert_eq!(filter.key_count(), u64::MAX);
}

#[test]
fn the_key_count_counts_inserts() {
    let mut filter = Filter::new(params(10, 6)).unwrap();
    filter.insert(b"a");
    filter.insert(b"a");
    filter.insert_hash(5);
    filter.insert_hashes(&[5, 6, 7]);
    filter.insert_keys(&["x", "y"]);
    assert_eq!((filter.key_count(), filter.view().key_count()), (8, 8));
}

#[test]
fn a_cleared_filter_is_a_new_one() {
    for lines in [1, 50, 40_000] {
        let mut filter = filter_of(params(lines, 6), &random_hashes(5000, 1));
        filter.clear();
        let new = Filter::new(params(lines, 6)).unwrap();
        assert!(filter.to_bytes().unwrap() == new.to_bytes().unwrap());
        assert_eq!((filter.key_count(), filter.fill(), filter.estimated_keys()), (0, 0.0, 0.0));
        filter.insert_hash(9);
        assert!(filter.contains_hash(9));
    }
}

// ---- folding ----

#[test]
fn a_fold_is_the_filter_with_half_the_lines() {
    for k in [1, 6, 8, 16] {
        let hashes = random_hashes(3000, k.into());
        let mut filter = filter_of(params(192, k).with_seed(5), &hashes);
        for lines in [96, 48, 24, 12, 6, 3] {
            filter.fold().unwrap();
            assert_eq!(filter.params(), params(lines, k).with_seed(5));
            assert!(filter.lines() == lines_of(lines as usize, k, &hashes), "{lines} lines");
            assert_eq!(filter.key_count(), 3000);
            let mut bitmap = vec![0; hashes.len().div_ceil(64)];
            assert_eq!(filter.contains_hashes(&hashes, &mut bitmap), hashes.len());
        }
        let before = filter.to_bytes().unwrap();
        assert!(matches!(filter.fold(), Err(Error::OddLineCount(_))), "3 lines");
        assert!(filter.to_bytes().unwrap() == before);
    }
    assert!(matches!(Filter::new(params(1, 6)).unwrap().fold(), Err(Error::OddLineCount(_))));
    // From pages of the system to memory of the allocator.
    let hashes = random_hashes(100_000, 1);
    let mut large = filter_of(params(40_000, 6), &hashes);
    large.fold().unwrap();
    assert!(large.lines() == lines_of(20_000, 6, &hashes));
}

/// It folds as often as the rate allows: once more would be above it.
#[test]
fn folded_to_a_rate() {
    let hashes = random_hashes(20_000, 1);
    for (rate, folds) in [(1e-9, 0), (0.0001, 2), (0.01, 4), (0.2, 5), (0.9999, 8)] {
        let mut filter = filter_of(params(8192, 6), &hashes);
        assert_eq!(filter.fold_to_rate(rate).unwrap(), folds, "{rate}");
        assert_eq!(filter.params().line_count(), 8192 >> folds);
        assert!(filter.lines() == lines_of(8192 >> folds, 6, &hashes));
        if folds > 0 {
            assert!(filter.estimated_rate() <= rate, "{rate}: {}", filter.estimated_rate());
        }
        filter.fold().unwrap();
        assert!(filter.estimated_rate() > rate, "{rate}: {}", filter.estimated_rate());
    }
    // An odd count ends it; an empty filter folds to one line.
    let mut odd = filter_of(params(7 * 4, 6), &hashes[..10]);
    assert_eq!(odd.fold_to_rate(0.5).unwrap(), 2);
    let mut empty = Filter::new(params(1024, 6)).unwrap();
    assert_eq!(empty.fold_to_rate(1e-9).unwrap(), 10);
    for rate in [f64::NAN, 0.0, 1.0, -0.5, 2.0, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(
            matches!(empty.fold_to_rate(rate), Err(Error::Rate(_) | Error::RateTooSmall(_))),
            "{rate}"
        );
    }
}

// ---- how full it is ----

#[test]
fn fill_is_the_share_of_bits() {
    let mut filter = Filter::new(params(4, 8)).unwrap();
    filter.insert_hash(1);
    assert_eq!(filter.fill(), 8.0 / 2048.0);
    let full = Filter::decode(&encode(&[0xFF; 128], 6, 0, 0)).unwrap();
    assert_eq!((full.fill(), full.estimated_rate()), (1.0, 1.0));
    // All bits set tell of no number of keys; the estimate is large and finite.
    assert!(full.estimated_keys().is_finite() && full.estimated_keys() > 500.0);
}

#[test]
fn estimated_keys_are_near_the_number() {
    let lines = 4000;
    for k in [1, 4, 6, 8, 11, 16] {
        let mut worst: f64 = 0.0;
        // From one key in 10 lines to a fill of some 95 %.
        for keys in [400, 4000, 40_000, 200_000, 600_000, 1_500_000 / k as usize * 4] {
            let filter = filter_of(params(lines, k), &random_hashes(keys, u64::from(k) + 1));
            let estimate = filter.estimated_keys();
            let error = estimate / keys as f64 - 1.0;
            assert!(error.abs() < 0.005, "k={k} keys={keys} fill={} {estimate}", filter.fill());
            worst = worst.max(error.abs());
        }
        println!("k={k}: estimated within {:.2} %", worst * 100.0);
    }
}

/// The estimated rate is exact for the lines as they are: the share of all keys that
/// could be asked for. Here all of them are asked for, in a way: so many random ones that
/// the noise is small.
#[test]
fn estimated_rate_is_the_measured_one() {
    let probes = random_hashes(400_000, 999);
    for (lines, k, keys) in [(1, 6, 40), (1, 16, 20), (3, 8, 200), (10, 12, 500), (10, 1, 900)] {
        let filter = filter_of(params(lines, k), &random_hashes(keys, 5));
        let estimate = filter.estimated_rate();
        let mut bitmap = vec![0; probes.len().div_ceil(64)];
        let hits = filter.contains_hashes(&probes, &mut bitmap) as f64;
        let expected = estimate * probes.len() as f64;
        let noise = (expected * (1.0 - estimate)).sqrt();
        println!(
            "lines={lines} k={k}: {estimate:.5}, off by {:.1} sigma",
            (hits - expected) / noise
        );
        assert!((hits - expected).abs() < 4.5 * noise, "lines={lines} k={k}");
    }
}

// ---- shapes ----

#[test]
fn shapes_that_cannot_be() {
    for k in [0, 17, 255, 256, u32::MAX] {
        assert!(matches!(Params::new(1, k, 0), Err(Error::K(_))), "k={k}");
    }
    let limit = isize::MAX as u64 / 64 - 1;
    for lines in [0, limit + 1, limit + 2, 1 << 58, u64::MAX] {
        assert!(
            matches!(Params::new(lines, 6, 0), Err(Error::NoLines | Error::LineCount(_))),
            "{lines} lines"
        );
    }
    let largest = Params::new(limit, 6, 0).unwrap();
    assert_eq!(largest.encoded_len(), isize::MAX as usize / 64 * 64);

    for rate in [f64::NAN, 0.0, -0.0, 1.0, -0.01, 1.5, f64::INFINITY, -f64::INFINITY, 1e-300] {
        assert!(
            matches!(Params::for_rate(1000, rate), Err(Error::Rate(_) | Error::RateTooSmall(_))),
            "rate {rate}"
        );
        assert!(
            matches!(Params::for_rate(0, rate), Err(Error::Rate(_) | Error::RateTooSmall(_))),
            "rate {rate}, no keys"
        );
    }
    for bits in [f64::NAN, 0.0, -0.0, -1.0, f64::INFINITY, -f64::INFINITY] {
        assert!(matches!(Params::for_bits(1000, bits), Err(Error::BitsPerKey(_))), "{bits} bits");
        assert!(matches!(Params::for_bits(0, bits), Err(Error::BitsPerKey(_))), "{bits}, no keys");
        assert!(matches!(Builder::new(bits, 0), Err(Error::BitsPerKey(_))), "{bits}, a builder");
    }
    assert!(matches!(Params::for_rate(u64::MAX, 0.01), Err(Error::LineCount(_))));
    assert!(matches!(Params::for_bits(u64::MAX, 10.0), Err(Error::LineCount(_))));
    assert!(matches!(Params::for_bits(1, f64::MAX), Err(Error::LineCount(_))));
    assert!(matches!(Builder::new(f64::MAX, 0), Err(Error::LineCount(_))));
}

#[test]
fn shapes_for_a_rate() {
    for keys in [1, 100, 10_000, 1_000_000, 1_000_000_000] {
        for rate in [0.9, 0.5, 0.1, 0.01, 0.001, 1e-6] {
            let params = match Params::for_rate(keys, rate) {
                // 32 bits do not address the largest.
                Err(Error::LineCount(_)) if cfg!(target_pointer_width = "32") => continue,
                params => params.unwrap(),
            };
            assert!(params.rate(keys) <= rate * 1.000_001, "{keys} keys at {rate}");
            // One line less would be too few, where there are lines enough to tell.
            if params.line_count() > 1000 {
                let less = Params::new(params.line_count() - 2, params.k(), 0).unwrap();
                assert!(less.rate(keys) > rate, "{keys} keys at {rate}");
            }
            assert_eq!(params.seed(), 0);
        }
    }
}

#[test]
fn shapes_for_bits() {
    for (keys, bits, lines, k) in [
        (0, 10.0, 1, 6),
        (1, 10.0, 1, 6),
        (512, 10.0, 10, 6),
        (513, 10.0, 11, 6),
        (51, 10.0, 1, 6),
        (52, 10.0, 2, 6),
        (1000, 9.5, 19, 6),
        (1024, 8.5, 17, 6),
        (1024, 0.5, 1, 1),
        (1_000_000, 0.001, 2, 1),
        (1, 1e-300, 1, 1),
        (5, 1000.0, 10, 16),
    ] {
        let params = Params::for_bits(keys, bits).unwrap();
        let got = (params.line_count(), params.k());
        assert_eq!(got, (lines, k), "{keys} keys, {bits} bits");
        assert_eq!(params.bytes() as u64, lines * 64);
        assert_eq!(params.encoded_len() as u64, lines * 64 + 64);
    }
}

/// No keys: one line that says no to all, by each way to make it.
#[test]
fn shapes_for_no_keys() {
    let expected = encode(&[0; 64], 6, 0, 0);
    for params in [Params::for_rate(0, 0.01).unwrap(), Params::for_bits(0, 10.0).unwrap()] {
        assert_eq!((params.line_count(), params.rate(0)), (1, 0.0));
        let filter = Filter::new(params).unwrap();
        assert!(random_hashes(1000, 1).iter().all(|&hash| !filter.contains_hash(hash)));
        assert_eq!((filter.estimated_rate(), filter.estimated_keys()), (0.0, 0.0));
        assert!(filter.to_bytes().unwrap() == expected);
        let mut block = vec![0xEE; 128];
        assert_eq!(block_build(&params, &[], &mut block).unwrap(), 128);
        assert!(block == expected);
    }
}

// ---- blocks and the builder ----

#[test]
fn a_builder_builds_the_block_of_its_keys() {
    let mut builder = Builder::new(10.0, 7).unwrap();
    let keys: Vec<String> = (0..1000).map(|i| format!("key {i}")).collect();
    for key in &keys {
        builder.add(key.as_bytes()).unwrap();
    }
    assert_eq!(builder.key_count(), 1000);
    let params = Params::for_bits(1000, 10.0).unwrap().with_seed(7);
    assert_eq!(builder.params().unwrap(), params);
    let len = builder.block_len().unwrap();
    assert_eq!(len, params.encoded_len());

    // Room for all but a byte: nothing is written, and no key is lost.
    let mut small = vec![0xEE; len - 1];
    assert!(matches!(builder.finish(&mut small), Err(Error::BufferTooSmall { .. })));
    assert!(small.iter().all(|&byte| byte == 0xEE));
    assert!(matches!(builder.finish(&mut []), Err(Error::BufferTooSmall { .. })));
    assert_eq!((builder.key_count(), builder.block_len().unwrap()), (1000, len));

    let mut block = vec![0xEE; len + 3];
    assert_eq!(builder.finish(&mut block).unwrap(), len);
    assert_eq!(block[len..], [0xEE; 3]);
    let mut filter = Filter::new(params).unwrap();
    filter.insert_keys(&keys);
    assert!(block[..len] == filter.to_bytes().unwrap());

    // Then it is empty, and as good as new, whatever was in the buffer.
    assert_eq!((builder.key_count(), builder.block_len().unwrap()), (0, 128));
    assert_eq!(builder.finish(&mut block).unwrap(), 128);
    assert!(block[..128] == encode(&[0; 64], 6, 7, 0));
    builder.add(b"apple").unwrap();
    let len = builder.finish(&mut block).unwrap();
    let view = View::open(&block[..len]).unwrap();
    assert!(view.contains(b"apple") && !view.contains(b"key 1"));
    assert_eq!(view.key_count(), 1);
}

#[test]
fn neighbours_that_repeat_count_once() {
    let mut builder = Builder::new(10.0, 0).unwrap();
    for key in ["a", "a", "a", "b", "b", "a", "", "", "a"] {
        builder.add(key.as_bytes()).unwrap();
    }
    assert_eq!(builder.key_count(), 3, "a b empty");
    builder.add_hash(bloomline::hash::hash(b"a", 0)).unwrap();
    assert_eq!(builder.key_count(), 3, "a key and its hash are the same");
    let mut block = vec![0; builder.block_len().unwrap()];
    builder.finish(&mut block).unwrap();
    let view = View::open(&block).unwrap();
    assert_eq!(view.key_count(), 3);
    assert!(["a", "b", ""].iter().all(|key| view.contains(key.as_bytes())));
    // What a block ended with does not count as a neighbour in the next.
    builder.add(b"a").unwrap();
    assert_eq!(builder.key_count(), 1);
    // A hash of zero is a hash, the first one too.
    let mut builder = Builder::new(10.0, 0).unwrap();
    builder.add_hash(0).unwrap();
    assert_eq!(builder.key_count(), 1);
}

#[test]
fn blocks_of_every_shape() {
    for (lines, k) in [(1, 1), (2, 8), (3, 6), (1000, 16)] {
        let hashes = random_hashes(lines * 30, 3);
        let params = params(lines as u64, k).with_seed(11);
        let expected = encode(&lines_of(lines, k, &hashes), k, 11, hashes.len() as u64);
        for offset in [0, 1, 8, 63] {
            let mut buffer = vec![0xEE; offset + expected.len()];
            assert_eq!(
                block_build(&params, &hashes, &mut buffer[offset..]).unwrap(),
                expected.len()
            );
            assert!(buffer[offset..] == expected, "{lines} lines at {offset}");
        }
        let mut bare = vec![0; 64 * lines + 1];
        let (first, rest) = hashes.split_at(lines * 10);
        lines_insert(&params, first, &mut bare[..64 * lines]).unwrap();
        lines_insert(&params, rest, &mut bare).unwrap();
        assert!(bare[..64 * lines] == expected[..64 * lines] && bare[64 * lines] == 0);
        let few = &mut bare[..64 * lines - 1];
        assert!(matches!(lines_insert(&params, rest, few), Err(Error::BufferTooSmall { .. })));

        let mut small = vec![0xEE; expected.len() - 1];
        assert!(matches!(
            block_build(&params, &hashes, &mut small),
            Err(Error::BufferTooSmall { .. })
        ));
        assert!(small.iter().all(|&byte| byte == 0xEE));
    }
}

/// Memory that the system has not got is an error.
#[test]
fn more_than_there_is() {
    // As many bytes as can be addressed. No machine with 64-bit addresses has them; one
    // with 32 bits may.
    let params = params(isize::MAX as u64 / 64 - 1, 6);
    if cfg!(target_pointer_width = "64") {
        assert!(matches!(Filter::new(params), Err(Error::OutOfMemory)));
        assert!(matches!(crate::definition::classic_filter(params), Err(Error::OutOfMemory)));
        assert!(matches!(ConcurrentFilter::new(params), Err(Error::OutOfMemory)));
    }
    let mut buffer = [0xEE; 200];
    assert!(matches!(
        block_build(&params, &[1, 2], &mut buffer),
        Err(Error::BufferTooSmall { .. })
    ));
    assert_eq!(buffer, [0xEE; 200]);
}

/// The expected rate of a shape is the model's, at any number of keys.
#[test]
fn expected_rates() {
    let params = params(1000, 6);
    assert_eq!(params.rate(0), 0.0);
    let mut before = 0.0;
    for keys in [1, 10, 1000, 51_200, 100_000, 1_000_000, 1 << 40, u64::MAX] {
        let rate = params.rate(keys);
        assert!(rate > before || rate > 0.999_999, "{keys}: {rate}");
        assert!(rate <= 1.0);
        before = rate;
    }
    assert_eq!(params.rate(51_200), sizing::rate(10.0, 6));
    assert_eq!(line::LINE_BITS * 1000 / 51_200, 10);
}

/// The bits of both, so the keys of both.
#[test]
fn intersections() {
    let params = Params::for_rate(2000, 0.01).unwrap();
    for make in [Filter::new, crate::definition::classic_filter] {
        let of = |keys: std::ops::Range<u64>| make(params).unwrap().with_keys(keys);
        let (mut both, other) = (of(0..400), of(200..600));
        let expected: Vec<u8> =
            both.lines().iter().zip(other.lines()).map(|(a, b)| a & b).collect();
        let mut assigned = both.clone();
        assigned &= &other;
        let before = both.clone();
        both.intersect(&other).unwrap();
        assert!(both.lines() == expected && both == assigned);
        assert_eq!(both.key_count(), 0, "unknown");
        assert!((200..400u64).all(|key| both.contains(&key)));
        for key in 0..10_000u64 {
            assert!(!both.contains(&key) || before.contains(&key) && other.contains(&key));
        }
        assert!((180.0..300.0).contains(&both.estimated_keys()), "{}", both.estimated_keys());
        for others in [
            Filter::new(params.with_seed(1)).unwrap(),
            if both.params().is_classic() {
                Filter::new(params)
            } else {
                crate::definition::classic_filter(params)
            }
            .unwrap(),
        ] {
            let before = both.clone();
            assert_eq!(both.intersect(&others), Err(Error::Mismatch));
            assert_eq!(both, before);
        }
    }
}

/// Lines of the caller's own are combined as those of filters.
#[test]
fn caller_owned_lines_combined() {
    let params = Params::for_rate(300, 0.01).unwrap();
    let of = |keys: std::ops::Range<u64>| Filter::new(params).unwrap().with_keys(keys);
    let (one, other) = (of(0..200), of(100..300));
    for (combine, expected) in [
        (lines_union as fn(&Params, &[u8], &mut [u8]) -> _, (|a, b| a | b) as fn(u8, u8) -> u8),
        (lines_intersect, |a, b| a & b),
    ] {
        let mut lines = one.lines().to_vec();
        let short = lines.len() - 1;
        for error in [
            combine(&params, &other.lines()[1..], &mut lines),
            combine(&params, other.lines(), &mut lines[..short]),
        ] {
            assert_eq!(error, Err(Error::BufferTooSmall { needed: params.bytes(), given: short }));
        }
        assert_eq!(lines, one.lines());
        combine(&params, other.lines(), &mut lines).unwrap();
        let both = one.lines().iter().zip(other.lines());
        assert!(lines.iter().eq(both.map(|(&a, &b)| expected(a, b)).collect::<Vec<_>>().iter()));
    }
}

#[test]
fn filters_of_raw_lines() {
    let params = Params::for_rate(2000, 0.01).unwrap();
    let filter = Filter::new(params).unwrap().with_keys(0..1000u64);
    // Of any alignment.
    let bytes = [&[0], filter.lines()].concat();
    let same = Filter::from_lines(params, &bytes[1..], filter.key_count()).unwrap();
    assert_eq!(same, filter);
    let unknown = Filter::from_lines(params, filter.lines(), 0).unwrap();
    assert_eq!((unknown.key_count(), unknown.lines()), (0, filter.lines()));
    let needed = params.bytes() as u64;
    for len in [0, 64, bytes.len() - 2, bytes.len()] {
        let error = Filter::from_lines(params, &bytes[..len], 0).unwrap_err();
        assert_eq!(error, Error::Truncated { needed, given: len as u64 });
    }
}

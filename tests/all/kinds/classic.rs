//! Classic filters: the kernel against `src/layouts/classic.rs`, bytes and answers; measured rates
//! against the textbook's formula; sizes; and all that a filter does, with the layouts kept
//! apart.

use crate::definition;
use crate::plans;

use bloomline::definition::classic;
use bloomline::{
    Backend, ConcurrentFilter, CountingFilter, Error, Filter, Params, View, Window, block_build,
    hash, lines_insert, shards_contain_hashes, sizing, views_contain_hash,
};
use definition::{AWKWARD, fewer, random_hashes};
use plans::Plan;
use proptest::prelude::*;

fn params(lines: usize, k: u32) -> Params {
    Params::classic(lines as u64, k, 7).unwrap()
}

fn filter_of(params: Params, hashes: &[u64]) -> Filter {
    let mut filter = Filter::new(params).unwrap();
    filter.insert_hashes(hashes);
    filter
}

fn bits_by_definition(lines: usize, k: u32, hashes: &[u64]) -> Vec<u8> {
    let mut bits = vec![0; lines * 64];
    hashes.iter().for_each(|&hash| classic::insert(&mut bits, k, hash));
    bits
}

/// Batch answers against the definition's, all bits past the last zero.
fn assert_answers(view: View<'_>, k: u32, hashes: &[u64], plan: Option<Plan>) {
    let mut bitmap = vec![u64::MAX; hashes.len().div_ceil(64) + 1];
    let count = match plan {
        None => view.contains_hashes(hashes, &mut bitmap),
        Some(plan) => plans::contains(view, hashes, plan, &mut bitmap),
    };
    assert_eq!(bitmap.pop(), Some(u64::MAX), "past the end");
    let mut expected = vec![0; bitmap.len()];
    for (i, &hash) in hashes.iter().enumerate() {
        let answer = classic::contains(view.lines(), k, hash);
        expected[i / 64] |= u64::from(answer) << (i % 64);
        assert_eq!(view.contains_hash(hash), answer, "k={k} {hash:x}");
    }
    assert!(bitmap == expected, "k={k}, {} hashes, {plan:?}", hashes.len());
    assert_eq!(count as u32, expected.iter().map(|word| word.count_ones()).sum::<u32>());
}

// ---- the kernel ----

#[test]
fn bytes_and_answers_for_every_k_and_size() {
    for k in 1..=16 {
        for lines in [1, 2, 3, 5, 64, 1000, 4097] {
            let keys: Vec<u64> = random_hashes(512 * lines.min(10) / k as usize, 1)
                .into_iter()
                .chain(AWKWARD)
                .collect();
            let expected = bits_by_definition(lines, k, &keys);
            let batch = filter_of(params(lines, k), &keys);
            assert!(batch.lines() == expected, "k={k} lines={lines}, batch");
            let mut one_by_one = Filter::new(params(lines, k)).unwrap();
            for &hash in &keys {
                let present = classic::contains(one_by_one.lines(), k, hash);
                assert_eq!(one_by_one.insert_hash(hash), !present, "{hash:#x} was new");
            }
            assert!(one_by_one.lines() == expected, "k={k} lines={lines}");
            let probes: Vec<u64> =
                keys.iter().take(300).copied().chain(random_hashes(300, 2)).collect();
            assert_answers(batch.view(), k, &probes, None);
        }
    }
}

#[test]
fn every_batch_length_and_prefetch() {
    for k in [1, 2, 3, 7, 16] {
        let keys = random_hashes(2000, 3);
        let filter = filter_of(params(40, k), &keys);
        let probes: Vec<u64> =
            keys.iter().zip(random_hashes(2000, 4)).flat_map(|(&a, b)| [a, b]).collect();
        for len in (0..=130).chain([191, 192, 193, 255, 256, 257, 320, 385, 512, 1000, 1025]) {
            for plan in plans::PLANS {
                assert_answers(filter.view(), k, &probes[len..2 * len], Some(plan));
                let mut other = Filter::new(params(40, k)).unwrap();
                plans::insert(&mut other, &keys[..len], plan);
                assert!(other.lines() == bits_by_definition(40, k, &keys[..len]));
            }
        }
    }
}

/// Above the sizes where prefetching begins, and at addresses that are no multiple of a line.
#[test]
fn large_and_unaligned() {
    for megabytes in [4, 40] {
        let lines = megabytes * 16384 + 1;
        let keys = random_hashes(100_000, 5);
        let filter = filter_of(params(lines, 7), &keys);
        assert!(filter.lines() == bits_by_definition(lines, 7, &keys));
        assert_answers(filter.view(), 7, &keys[..5000], None);
        assert_answers(filter.view(), 7, &random_hashes(5000, 6), None);
    }
    let filter = filter_of(params(9, 7), &random_hashes(400, 7));
    let encoded = filter.to_bytes().unwrap();
    for offset in 0..65 {
        let moved = [vec![0xFF; offset], encoded.clone()].concat();
        assert_answers(View::open(&moved[offset..]).unwrap(), 7, &random_hashes(700, 7), None);
    }
}

/// One key and calls of a few, in a filter that is taken for one in the cache and in one that is not.
#[test]
fn few_keys_of_small_and_large_filters() {
    for (lines, k) in [100, 100_000].into_iter().flat_map(|lines| (1..=16).map(move |k| (lines, k)))
    {
        let keys = random_hashes(2000, 8);
        let filter = filter_of(params(lines, k), &keys);
        let others = random_hashes(2000, 9);
        let probes: Vec<u64> = keys.iter().zip(&others).flat_map(|(&a, &b)| [a, b]).collect();
        for len in 1..=9 {
            probes.chunks(len).take(60).for_each(|few| assert_answers(filter.view(), k, few, None));
        }
    }
}

/// The positions are spread evenly, also the first few and the last.
#[test]
fn positions_are_even() {
    let mut counts = vec![[0u32; 64]; 16];
    for i in 0..64_000 {
        for (j, position) in classic::positions(hash::hash_u64(i, 0), 16, 64).enumerate() {
            counts[j][position as usize] += 1;
        }
    }
    for (j, counts) in counts.iter().enumerate() {
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi < 130.0, "position {j}: chi squared {chi} of 63 degrees of freedom");
    }
}

// ---- rates ----

/// The measured rate as a multiple of the formula's; and the noise of that, as sigma.
fn measured(lines: u64, filters: u64, bits_per_key: f64, hash_of: impl Fn(u64) -> u64) -> [f64; 2] {
    let keys = (lines as f64 * 512.0 / bits_per_key) as u64;
    let params = Params::classic(lines, sizing::classic::best_k(bits_per_key), 0).unwrap();
    let expected = params.rate(keys);
    let hits = if fewer() { 400.0 } else { 25_000.0 };
    let probes = (hits / expected / filters as f64) as u64;
    let (mut number, mut found) = (0, 0);
    let mut bitmap = [0; 16];
    for _ in 0..filters {
        let mut next = |out: &mut Vec<u64>, count: u64| {
            out.clear();
            out.extend((0..count).map(|i| hash_of(number + i)));
            number += count;
        };
        let mut hashes = Vec::new();
        next(&mut hashes, keys);
        let filter = filter_of(params, &hashes);
        for _ in 0..probes.div_ceil(1024) {
            next(&mut hashes, 1024);
            found += filter.contains_hashes(&hashes, &mut bitmap) as u64;
        }
    }
    let expected = expected * (filters * probes.div_ceil(1024) * 1024) as f64;
    [found as f64 / expected, expected.sqrt().recip()]
}

#[test]
fn rates_are_the_textbooks() {
    for bits_per_key in [8.0, 10.0, 12.0, 16.0, 20.0] {
        let sequential = measured(4000, 1, bits_per_key, |i| hash::hash_u64(i, 0));
        let random = measured(4000, 1, bits_per_key, |mut i| definition::next_random(&mut i));
        for (what, [ratio, sigma]) in [("sequential", sequential), ("random", random)] {
            println!("{bits_per_key} bits per key, {what} keys: {ratio:.4} of the formula's rate");
            let allowed = if fewer() { 0.02 + 4.5 * sigma } else { 0.02 };
            assert!((ratio - 1.0).abs() < allowed, "{bits_per_key}, {what}: {ratio}");
        }
    }
}

/// In filters of a kilobyte, where plain double hashing has nearly twice the rate.
#[test]
fn rates_of_small_filters() {
    for bits_per_key in [10.0, 20.0] {
        let [ratio, sigma] = measured(16, 400, bits_per_key, |i| hash::hash_u64(i, 3));
        println!("{bits_per_key} bits per key, 16 lines: {ratio:.4} of the formula's rate");
        assert!((ratio - 1.0).abs() < 0.04 + 4.5 * sigma, "{bits_per_key}: {ratio}");
    }
}

#[test]
fn sizes() {
    // 1 % takes 9.585 bits per key, and with whole k a trace more.
    let one = Params::classic_for_rate(1_000_000, 0.01).unwrap();
    assert_eq!((one.k(), one.line_count(), one.seed()), (7, 9_592_955u64.div_ceil(512), 0));
    assert!(one.rate(1_000_000) <= 0.01 && one.line_count() < 18_800);
    assert!(one.line_count() < Params::for_rate(1_000_000, 0.01).unwrap().line_count());
    for (rate, k) in [(0.3, 2), (1e-3, 10), (1e-4, 13), (1e-5, 16), (1e-6, 16), (1e-12, 16)] {
        let params = Params::classic_for_rate(1_000_000, rate).unwrap();
        assert_eq!(params.k(), k, "{rate}");
        assert!(params.rate(1_000_000) <= rate);
        assert!(params.rate(1_010_000) > rate);
    }
    assert_eq!(Params::classic_for_bits(1000, 10.0).unwrap().k(), 7);
    assert_eq!(Params::classic_for_bits(1000, 10.0).unwrap().line_count(), 20);
    assert_eq!(Params::classic_for_bits(0, 10.0).unwrap().line_count(), 1);
    assert_eq!(Params::classic_for_rate(0, 0.01).unwrap().rate(0), 0.0);
    for rate in [0.0, 1.0, -1.0, 1.5, f64::NAN, f64::INFINITY, -f64::INFINITY, 1e-100] {
        assert!(
            matches!(
                Params::classic_for_rate(10, rate),
                Err(Error::Rate(_) | Error::RateTooSmall(_))
            ),
            "{rate}"
        );
    }
    for bits in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Params::classic_for_bits(10, bits), Err(Error::BitsPerKey(_))), "{bits}");
    }
    assert!(matches!(Params::classic_for_rate(u64::MAX, 1e-9), Err(Error::LineCount(_))));
}

// ---- the filter ----

#[test]
fn estimates() {
    let params = Params::classic_for_rate(100_000, 0.01).unwrap();
    let filter = filter_of(params, &random_hashes(100_000, 8));
    assert!((filter.estimated_keys() / 1e5 - 1.0).abs() < 0.01);
    assert!((filter.estimated_rate() / 0.01 - 1.0).abs() < 0.03);
    let shared = ConcurrentFilter::from(filter.try_clone().unwrap());
    assert_eq!(shared.estimated_keys(), filter.estimated_keys());
    let empty = Filter::new(params).unwrap();
    assert_eq!((empty.estimated_keys(), empty.estimated_rate(), empty.fill()), (0.0, 0.0, 0.0));
}

/// What is made of parameters has their layout, or says that it cannot.
#[test]
fn parameters_say_where_the_bits_are() {
    let (of_lines, spread) = (Params::new(6, 7, 7).unwrap(), params(6, 7));
    assert!(spread.is_classic() && !of_lines.is_classic() && spread != of_lines);
    let changed =
        [spread.with_seed(3), spread.with_random_seed().unwrap(), spread.foldable(1).unwrap()];
    assert!(changed.iter().all(Params::is_classic));
    assert!(spread.rate(100) < of_lines.rate(100));
    assert_eq!(CountingFilter::new(spread).err(), Some(Error::Classic));
    assert_eq!(Window::with_params(3, spread).err(), Some(Error::Classic));

    let hashes = random_hashes(300, 9);
    let bits = bits_by_definition(6, 7, &hashes);
    let filter = filter_of(spread, &hashes);
    assert!(filter.lines() == bits);
    for backend in Backend::available() {
        let mut filter = Filter::with_backend(spread, backend).unwrap();
        filter.insert_hashes(&hashes);
        assert!(filter.lines() == bits && filter.params() == spread);
    }
    let shared = ConcurrentFilter::new(spread).unwrap();
    shared.insert_hashes(&hashes);
    assert!(shared == ConcurrentFilter::from(filter.clone()) && shared.params() == spread);
    assert_eq!(Filter::from_lines(spread, &bits, 300).unwrap(), filter);
    let mut block = vec![0xAA; spread.encoded_len()];
    assert_eq!(block_build(&spread, &hashes, &mut block), Ok(block.len()));
    assert!(block == filter.to_bytes().unwrap());
    let mut lines = vec![0; spread.bytes()];
    lines_insert(&spread, &hashes, &mut lines).unwrap();
    assert!(lines == bits);
    let view = View::of_lines(&lines, spread, 0).unwrap();
    assert_eq!(view.params(), Some(spread));
    assert!(hashes.iter().all(|&hash| view.contains_hash(hash)));
}

#[test]
fn layouts_are_kept_apart() {
    let keys = random_hashes(300, 9);
    let mut classic = filter_of(params(6, 7), &keys);
    let mut plain = Filter::new(Params::new(6, 7, 7).unwrap()).unwrap();
    plain.insert_hashes(&keys);
    let before = (classic.to_bytes().unwrap(), plain.to_bytes().unwrap());
    assert!(classic.params().is_classic() && !plain.params().is_classic());
    assert!(matches!(classic.union(&plain), Err(Error::Mismatch)));
    assert!(matches!(plain.union(&classic), Err(Error::Mismatch)));
    assert!(matches!(classic.fold(), Err(Error::Classic)));
    assert!(matches!(classic.fold_to_rate(0.9), Err(Error::Classic)));
    let shared = ConcurrentFilter::from(plain.try_clone().unwrap());
    assert!(matches!(shared.union(&classic), Err(Error::Mismatch)));
    let shared_classic = ConcurrentFilter::from(classic.try_clone().unwrap());
    assert!(matches!(shared_classic.union(&plain), Err(Error::Mismatch)));
    shared_classic.union(&classic).unwrap();
    assert!((classic.to_bytes().unwrap(), plain.to_bytes().unwrap()) == before);
    // They are asked for one hash together all the same.
    let views = [plain.view(), classic.view(), plain.view()];
    let mut bitmap = [0];
    assert_eq!(views_contain_hash(&views, keys[0], &mut bitmap), 3);
    let mut bitmap = [0; 5];
    let of_all = shards_contain_hashes(&views, &keys, &mut bitmap);
    assert_eq!(of_all, keys.len());
}

#[test]
fn threads_insert_into_one() {
    let hashes = random_hashes(20_000, 10);
    let shared = ConcurrentFilter::from(Filter::new(params(400, 7)).unwrap());
    std::thread::scope(|scope| {
        for part in hashes.chunks(5000) {
            let shared = &shared;
            scope.spawn(move || {
                let mut bitmap = [0; 79];
                shared.insert_new_hashes(part, &mut bitmap);
                assert!(part.iter().all(|&hash| shared.contains_hash(hash)));
                assert!(part.iter().all(|&hash| !shared.insert_hash(hash)), "new once");
            });
        }
    });
    assert!(shared.insert(b"new") && !shared.insert(b"new") && shared.contains(b"new"));
    let expected = filter_of(params(400, 7), &hashes);
    let mut snapshot = shared.snapshot().unwrap();
    assert!(snapshot.params().is_classic());
    let mut with_new = expected;
    with_new.insert(b"new");
    assert!(snapshot.lines() == with_new.lines());
    snapshot.union(&shared.into_filter()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: definition::cases(300), failure_persistence: None, ..Default::default() })]

    /// Against a set: what is in is never denied, in one filter and in two united.
    #[test]
    fn never_a_false_negative(
        lines in 1usize..20,
        k in 1u32..=16,
        keys in prop::collection::hash_set(any::<u64>(), 0..400),
        split in 0usize..400,
    ) {
        let keys: Vec<u64> = keys.into_iter().collect();
        let (a, b) = keys.split_at(split.min(keys.len()));
        let mut filter = filter_of(params(lines, k), a);
        filter.union(&filter_of(params(lines, k), b)).unwrap();
        prop_assert!(filter.lines() == bits_by_definition(lines, k, &keys));
        let decoded = Filter::decode(&filter.to_bytes().unwrap()).unwrap();
        let mut bitmap = vec![0; keys.len().div_ceil(64)];
        prop_assert_eq!(decoded.contains_hashes(&keys, &mut bitmap), keys.len());
    }
}

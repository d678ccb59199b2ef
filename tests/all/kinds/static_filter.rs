//! Static filters: every backend against `src/layouts/static_line.rs`, bytes and answers, and the
//! sets and inputs that are out of the ordinary.

use crate::definition::*;
use bloomline::definition::static_line::{self, Levels};
use bloomline::{
    Backend, Error, Kind, OwnedView, StaticBuilder, StaticFilter, StaticParams, View,
    static_block_build, static_block_len,
};

/// Whether an encoded filter has the lines that the definition makes of these hashes. Returns them
/// and the levels.
fn check(filter: &StaticFilter, hashes: &[u64], what: &str) -> Levels {
    let bytes = filter.to_bytes().unwrap();
    let (_, rows, levels) = static_parts(&bytes);
    let expected = static_line::build(hashes, levels, rows);
    assert!(filter.lines() == expected, "{what}: the lines");
    assert_eq!(bytes.len(), expected.len() + FOOTER_BYTES);
    levels
}

/// Sets that are out of the ordinary.
fn odd_sets() -> Vec<(&'static str, Vec<u64>)> {
    let few = random_hashes(300, 1);
    vec![
        ("none", vec![]),
        ("one", vec![few[0]]),
        ("zero", vec![0]),
        ("all ones", vec![u64::MAX]),
        ("zeros and ones", [vec![0; 5], vec![u64::MAX; 5]].concat()),
        ("all equal", vec![few[1]; 5000]),
        ("awkward", AWKWARD.to_vec()),
        ("each twice", few.iter().chain(&few).copied().collect()),
        ("small integers", (0..2000).collect()),
        ("one bit each", (0..64).map(|bit| 1 << bit).collect()),
        ("one bit apart", (0..64).map(|bit| few[2] ^ 1 << bit).collect()),
        ("low bits", (0..3000).map(|i| few[3] ^ i).collect()),
        ("high bits", (0..3000).map(|i| few[3] ^ i << 52).collect()),
    ]
}

#[test]
fn every_backend_builds_and_answers_as_the_definition() {
    for rows in 4..=16 {
        let most = if fewer() { 1200 } else { 5000 };
        for keys in [1, 2, 40, 70, 130, 600, most] {
            let hashes = random_hashes(keys, u64::from(rows));
            let absent = random_hashes(1000, 99);
            let probes: Vec<u64> = hashes.iter().chain(&absent).copied().collect();
            let params = StaticParams::for_rows(keys as u64, rows).unwrap();
            let mut first: Option<StaticFilter> = None;
            for backend in Backend::available() {
                let what = format!("{rows} rows, {keys} keys, {backend:?}");
                let filter = StaticFilter::build_with_backend(params, &hashes, backend).unwrap();
                let levels = check(&filter, &hashes, &what);
                let mut answers = vec![0; probes.len().div_ceil(64)];
                let count = filter.contains_hashes(&probes, &mut answers);
                let mut expected = 0;
                for (i, &hash) in probes.iter().enumerate() {
                    let is = static_line::contains(filter.lines(), levels, rows, hash);
                    assert!(is || i >= keys, "{what}: a false negative");
                    assert_eq!(answers[i / 64] >> (i % 64) & 1 == 1, is, "{what}: key {i}");
                    assert_eq!(filter.contains_hash(hash), is, "{what}: key {i} alone");
                    expected += usize::from(is);
                }
                assert_eq!(count, expected);
                assert!(*first.get_or_insert_with(|| filter.clone()) == filter);
            }
        }
    }
}

#[test]
fn batches_of_every_length() {
    for rows in [5, 8, 9, 11, 16] {
        let hashes = random_hashes(3000, 5);
        let params = StaticParams::for_rows(3000, rows).unwrap();
        for backend in Backend::available() {
            let filter = StaticFilter::build_with_backend(params, &hashes, backend).unwrap();
            let mixed: Vec<u64> =
                hashes.iter().zip(random_hashes(3000, 6)).flat_map(|(&a, b)| [a, b]).collect();
            for len in (0..=130).chain([300, 2049, 6000]) {
                let batch = &mixed[..len];
                let mut answers = vec![u64::MAX; len.div_ceil(64)];
                filter.contains_hashes(batch, &mut answers);
                for bit in 0..answers.len() * 64 {
                    let is = batch.get(bit).is_some_and(|&hash| filter.contains_hash(hash));
                    assert_eq!(answers[bit / 64] >> (bit % 64) & 1 == 1, is, "{len}: {bit}");
                }
            }
        }
    }
}

#[test]
fn odd_sets_are_built_and_have_all_their_keys() {
    for (name, hashes) in odd_sets() {
        for rows in [4, 7, 8, 9, 13] {
            let params = StaticParams::for_rows(hashes.len() as u64, rows).unwrap();
            let first = StaticFilter::build(params, &hashes, 1).unwrap();
            check(&first, &hashes, name);
            assert!(hashes.iter().all(|&hash| first.contains_hash(hash)), "{name}");
            let mut answers = vec![0; hashes.len().div_ceil(64)];
            assert_eq!(first.contains_hashes(&hashes, &mut answers), hashes.len(), "{name}");
            // The order does not matter, nor do repetitions.
            let mut again: Vec<u64> = hashes.iter().rev().chain(&hashes).copied().collect();
            let same = StaticFilter::build(params, &again, 1).unwrap();
            assert!(first == same || name == "none", "{name}");
            again.sort_unstable();
            again.dedup();
            assert!(StaticFilter::build(params, &again, 1).unwrap() == first, "{name}");
        }
    }
    let none = StaticFilter::from_keys(Vec::<&str>::new(), 0.01).unwrap();
    assert!(random_hashes(1000, 1).iter().all(|&hash| !none.contains_hash(hash)));
    assert_eq!((none.key_count(), none.levels()), (0, 1));
}

/// Far too few lines: the levels end, and the keys that are left may all be present.
#[test]
fn too_many_keys_are_no_false_negatives() {
    for rows in [4, 8, 16] {
        let hashes = random_hashes(20_000, 3);
        for lines in [1, 3, 100] {
            let params = StaticParams::new(lines, rows, 0).unwrap();
            let filter = StaticFilter::build(params, &hashes, 1).unwrap();
            check(&filter, &hashes, "too few lines");
            assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
            let mut answers = vec![0; hashes.len().div_ceil(64)];
            assert_eq!(filter.contains_hashes(&hashes, &mut answers), hashes.len());
        }
    }
}

#[test]
fn threads_make_the_same_bytes() {
    let hashes = random_hashes(if fewer() { 100_000 } else { 300_000 }, 8);
    for rows in [8, 10] {
        let params = StaticParams::for_rows(hashes.len() as u64, rows).unwrap();
        let one = StaticFilter::build(params, &hashes, 1).unwrap();
        for threads in [0, 2, 3, 8] {
            assert!(StaticFilter::build(params, &hashes, threads).unwrap() == one, "{threads}");
        }
    }
}

#[test]
fn builders_make_what_build_makes() {
    let keys: Vec<String> = (0..3000).map(|i| format!("key {i}")).collect();
    let mut builder = StaticBuilder::for_rate(0.005, 7).unwrap();
    for key in &keys {
        builder.add(key).unwrap();
        builder.add(key).unwrap();
    }
    assert_eq!(builder.key_count(), 3000);
    let params = builder.params().unwrap();
    assert_eq!((params.rows(), params.seed()), (8, 7));
    let hashes: Vec<u64> = keys.iter().map(|key| hash(key.as_bytes(), 7)).collect();
    let filter = StaticFilter::build(params, &hashes, 1).unwrap();
    let bytes = filter.to_bytes().unwrap();
    let mut again = builder.clone();
    assert!(again.build(0).unwrap() == filter);
    assert_eq!(again.key_count(), 0);
    let mut again = builder.clone();
    assert!(again.finish_vec().unwrap() == bytes);
    // Into memory of the caller's, with whatever is there.
    let most = builder.block_len().unwrap();
    assert_eq!(most, static_block_len(&params));
    let mut room = vec![0xA5; most + 9];
    let too_small = Error::BufferTooSmall { needed: most, given: most - 1 };
    assert_eq!(builder.finish(&mut room[..most - 1]), Err(too_small));
    assert_eq!(builder.key_count(), 3000);
    assert_eq!(builder.finish(&mut room).unwrap(), bytes.len());
    assert!(room[..bytes.len()] == bytes && room[most..] == [0xA5; 9]);
    assert_eq!(builder.key_count(), 0);
    for shift in [1, 8, 9] {
        let len = static_block_build(&params, &hashes, 2, &mut room[shift..]).unwrap();
        assert!(room[shift..][..len] == bytes);
    }
    assert!(filter.contains("key 17") && !filter.contains("no key"));
}

#[test]
fn views_probe_at_any_address() {
    for rows in [6, 12] {
        let hashes = random_hashes(2000, 4);
        let params = StaticParams::for_rows(2000, rows).unwrap().with_seed(5);
        let filter = StaticFilter::build(params, &hashes, 1).unwrap();
        let bytes = filter.to_bytes().unwrap();
        assert_eq!(Kind::of(&bytes), Ok(Kind::Static));
        let probes: Vec<u64> = hashes.iter().copied().chain(random_hashes(2000, 5)).collect();
        let mut expected = vec![0; probes.len().div_ceil(64)];
        filter.contains_hashes(&probes, &mut expected);
        for shift in [0, 1, 7, 8, 33, 64] {
            let mut room = vec![0; bytes.len() + shift];
            room[shift..].copy_from_slice(&bytes);
            for backend in Backend::available() {
                let view = View::open_with_backend(&room[shift..], backend).unwrap();
                assert_eq!((view.static_params(), view.params()), (Some(params), None));
                assert_eq!((view.key_count(), view.estimated_rate()), (2000, params.rate()));
                let mut answers = vec![0; probes.len().div_ceil(64)];
                view.contains_hashes(&probes, &mut answers);
                assert_eq!(answers, expected, "{backend:?}, {shift}");
                view.prefetch_hash(probes[0]);
            }
        }
        let owned = OwnedView::open(bytes.clone()).unwrap();
        assert!(probes.iter().all(|&h| owned.contains_hash(h) == filter.contains_hash(h)));
        assert!(StaticFilter::decode(&bytes).unwrap() == filter);
        assert!(format!("{filter:?}").contains(&format!("rows: {rows}")));
    }
}

/// Bytes that shrink under an `OwnedView` are not read past their end.
#[test]
fn an_owned_view_of_fewer_bytes_answers_maybe() {
    use std::cell::Cell;
    struct Shrinking(Vec<u8>, Cell<usize>);
    impl AsRef<[u8]> for Shrinking {
        fn as_ref(&self) -> &[u8] {
            &self.0[..self.1.get()]
        }
    }
    let params = StaticParams::for_rows(5000, 8).unwrap();
    let filter = StaticFilter::build(params, &random_hashes(5000, 4), 1).unwrap();
    let bytes = filter.to_bytes().unwrap();
    let first = params.line_count() as usize * 64;
    let lines = bytes.len() - 64;
    let len = bytes.len();
    let owned = OwnedView::open(Shrinking(bytes, Cell::new(len))).unwrap();
    let absent = random_hashes(500, 9);
    for (len, all) in [(lines, false), (lines - 1, true), (first, true), (0, true)] {
        owned.get_ref().1.set(len);
        assert_eq!(absent.iter().all(|&hash| owned.contains_hash(hash)), all, "{len} bytes");
    }
}

#[test]
fn parameters_that_cannot_be_are_errors() {
    assert_eq!(StaticParams::new(1, 3, 0), Err(Error::Rows(3)));
    assert_eq!(StaticParams::new(1, 17, 0), Err(Error::Rows(17)));
    assert_eq!(StaticParams::new(0, 8, 0), Err(Error::NoLines));
    for lines in [u64::MAX, (1 << 48) + 1] {
        assert_eq!(StaticParams::new(lines, 8, 0), Err(Error::LineCount(lines)));
    }
    for rate in [0.0, 1.0, -1.0, 1e-6, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(
                StaticParams::for_rate(1000, rate),
                Err(Error::Rate(_) | Error::RateTooSmall(_))
            ),
            "{rate}"
        );
        assert!(StaticBuilder::for_rate(rate, 0).is_err());
    }
    for bits in [0.0, -1.0, 3.9, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(
                StaticParams::for_bits(1000, bits),
                Err(Error::BitsPerKey(_) | Error::TooFewBits(_))
            ),
            "{bits}"
        );
    }
    assert!(StaticParams::for_rate(u64::MAX, 0.01).is_err());
    let rows = |rate| StaticParams::for_rate(1000, rate).unwrap().rows();
    assert_eq!([0.5, 0.0625, 0.01, 0.004, 1.0 / 65536.0].map(rows), [4, 4, 7, 8, 16]);
    let rows = |bits| StaticParams::for_bits(1000, bits).unwrap().rows();
    assert_eq!([5.0, 7.5, 8.6, 10.0, 12.7, 100.0].map(rows), [4, 7, 8, 9, 12, 16]);
}

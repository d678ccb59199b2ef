//! A few hashes and a few keys in a call, of every kind that probes its own lines, on every backend: the answers
//! of the definitions, in whatever they are written to, and nothing beside them.

use crate::definition::{answer, random_hashes};
use bloomline::definition::sbbf;
use bloomline::hash::hash;
use bloomline::{
    Backend, Bitmap, ConcurrentFilter, CountingFilter, CuckooFilter, CuckooParams, Filter,
    OwnedView, Params, Probe, StaticFilter, StaticParams, View,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Past the numbers that have code of their own, and past a word.
const MOST: usize = 70;
const STALE: u64 = 0xA5A5_A5A5_A5A5_A5A5;
/// So many keys are in.
const KEYS: usize = 700;

/// Keys that are in, and as many others, in turn.
fn keys() -> Vec<u64> {
    random_hashes(2 * KEYS, 3)
}

/// Holds a filter to the definition, for each number of keys, wherever they begin.
fn check(filter: &impl Probe, is_in: impl Fn(u64) -> bool, what: &str) {
    let keys = keys();
    let hashes: Vec<u64> = keys.iter().map(|key| filter.hash(key)).collect();
    let expected: Vec<bool> = hashes.iter().map(|&hash| is_in(hash)).collect();
    assert!(expected.iter().step_by(2).all(|&is| is), "{what}: a false negative");
    assert!(expected.contains(&false), "{what}");
    let (mut of_hashes, mut of_keys) = (Bitmap::new(), Bitmap::new());
    for n in 0..=MOST {
        for from in [0, 1, n, 2 * n + 1, 500] {
            let (hashes, keys) = (&hashes[from..][..n], &keys[from..][..n]);
            let expected: Bitmap = expected[from..][..n].iter().copied().collect();
            let count = expected.count_ones();
            let what = format!("{what}, {n} from {from}");

            assert_eq!(filter.contains_hashes(hashes, &mut of_hashes), count, "{what}");
            assert_eq!(filter.contains_keys(keys, &mut of_keys), count, "{what}");
            assert_eq!((&of_hashes, &of_keys), (&expected, &expected), "{what}");

            let (mut array, mut list) = ([STALE; 3], vec![STALE; 3]);
            assert_eq!(filter.contains_hashes(hashes, &mut array), count, "{what}");
            assert_eq!(filter.contains_keys(keys, &mut list), count, "{what}");
            let mut words = [STALE; 3];
            words[..n.div_ceil(64)].copy_from_slice(expected.as_words());
            assert_eq!((array, &*list), (words, &words[..]), "{what}");
        }
    }
    for n in [1, 2, 3, 32, 33, 64] {
        let none: &mut [u64] = &mut [];
        let short = catch_unwind(AssertUnwindSafe(|| filter.contains_hashes(&hashes[..n], none)));
        assert!(short.is_err(), "{what}: no room for {n} answers");
    }
}

#[test]
fn a_few_in_a_call_are_answered_as_by_the_definition() {
    let inserted: Vec<u64> = keys().into_iter().step_by(2).collect();
    for backend in Backend::available() {
        for k in [1, 5, 8, 9, 16] {
            let params = Params::new(40, k, 7).unwrap();
            let mut filter = Filter::with_backend(params, backend).unwrap();
            filter.insert_keys(&inserted);
            let what = format!("{backend:?}, k = {k}");
            let bytes = filter.to_bytes().unwrap();
            let is_in = |hash| answer(&bytes, hash);
            check(&filter, is_in, &what);
            check(&filter.view(), is_in, &format!("{what}, a view"));
            check(&&filter, is_in, &format!("{what}, a reference"));
            check(&ConcurrentFilter::from(filter), is_in, &format!("{what}, concurrent"));
            let mut counting = CountingFilter::with_backend(params, backend).unwrap();
            counting.insert_keys(&inserted);
            check(&counting, is_in, &format!("{what}, counting"));
            check(&OwnedView::open(&bytes).unwrap(), is_in, &format!("{what}, an owned view"));

            let params = Params::classic(40, k, 7).unwrap();
            let mut filter = Filter::with_backend(params, backend).unwrap();
            filter.insert_keys(&inserted);
            let bytes = filter.to_bytes().unwrap();
            check(&filter, |hash| answer(&bytes, hash), &format!("{what}, classic"));
        }
        for bits in [8, 12, 16] {
            let params = CuckooParams::for_bits(2 * KEYS as u64, bits).unwrap();
            let mut filter = CuckooFilter::with_backend(params, backend).unwrap();
            filter.insert_keys(&inserted).unwrap();
            let (bytes, what) = (filter.to_bytes().unwrap(), format!("{backend:?}, {bits} bits"));
            check(&filter, |hash| answer(&bytes, hash), &what);
            check(&filter.view(), |hash| answer(&bytes, hash), &format!("{what}, a view"));
        }
        for rows in [4, 7, 8, 9, 16] {
            let params = StaticParams::for_rows(KEYS as u64, rows).unwrap();
            let hashes: Vec<u64> = inserted.iter().map(|key| hash(key, 0)).collect();
            let filter = StaticFilter::build_with_backend(params, &hashes, backend).unwrap();
            let (bytes, what) = (filter.to_bytes().unwrap(), format!("{backend:?}, {rows} rows"));
            let is_in = |hash| answer(&bytes, hash);
            check(&filter, is_in, &what);
            check(&filter.view(), is_in, &format!("{what}, a view"));
            check(&OwnedView::open(&bytes).unwrap(), is_in, &format!("{what}, an owned view"));
        }
        let mut bits = vec![0; 40 * sbbf::BLOCK_BYTES];
        let view = View::open_parquet_bits(&bits).unwrap();
        let hashes: Vec<u64> = inserted.iter().map(|key| view.hash(key)).collect();
        hashes.iter().for_each(|&hash| sbbf::insert(&mut bits, hash));
        let view = View::open_parquet_bits_with_backend(&bits, backend).unwrap();
        check(&view, |hash| sbbf::contains(&bits, hash), &format!("{backend:?}, Parquet's"));
    }
}

//! What must hold when somebody uses the library otherwise than it was meant: views of different
//! seeds in one call, keys that were chosen to do harm, calls that cannot succeed.

use bloomline::definition::line::line_index;
use bloomline::hash::{hash, hash_u64};
use bloomline::{
    CuckooFilter, CuckooParams, Error, Filter, Params, View, shard_of, shards_contain_hashes,
    views_contain, views_contain_hash,
};

fn filter(lines: u64, seed: u64, keys: &[&[u8]]) -> Filter {
    let mut filter = Filter::new(Params::new(lines, 6, seed).unwrap()).unwrap();
    filter.insert_keys(keys);
    filter
}

fn bit(bitmap: &[u64], i: usize) -> bool {
    bitmap[i / 64] >> (i % 64) & 1 == 1
}

// ---- views that hash differently ----

#[test]
fn a_hash_for_views_of_two_seeds_is_never_a_silent_no() {
    for count in [2, 64, 65, 130] {
        let filters: Vec<Filter> =
            (0..count).map(|i| filter(3, u64::from(i == count - 1), &[b"key"])).collect();
        let views: Vec<View<'_>> = filters.iter().map(Filter::view).collect();
        let mut bitmap = vec![0; views.len().div_ceil(64)];
        let present = views_contain_hash(&views, hash(b"key", 0), &mut bitmap);
        assert_eq!(present, views.len());
        assert!((0..views.len()).all(|i| bit(&bitmap, i)), "one of {count} views said no");
        assert!((views.len()..64 * bitmap.len()).all(|i| !bit(&bitmap, i)), "bits past the end");
    }
}

#[test]
fn a_key_for_views_of_any_hash_gets_the_answer_of_each() {
    let key = b"a key of some length";
    let mut block = vec![0; 4096];
    let hashes = [bloomline::engines::rocksdb::hash(key)];
    let len = bloomline::engines::rocksdb::block_build(&hashes, 10.0, &mut block).unwrap();
    let filters: Vec<Filter> = (0..200)
        .map(|i| filter(1 + i % 5, i / 3, &[if i % 2 == 0 { key } else { b"other" }]))
        .collect();
    let mut views: Vec<View<'_>> = filters.iter().map(Filter::view).collect();
    views.insert(77, View::open_rocksdb(&block[..len]).unwrap());
    let mut bitmap = vec![u64::MAX; views.len().div_ceil(64)];
    let present = views_contain(&views, key, &mut bitmap);
    let expected: Vec<bool> = views.iter().map(|view| view.contains(key)).collect();
    assert!(expected[77] && expected.iter().any(|&present| !present));
    assert!((0..64 * bitmap.len()).all(|i| bit(&bitmap, i) == (expected.get(i) == Some(&true))));
    assert_eq!(present, expected.iter().filter(|&&present| present).count());
}

#[test]
fn shards_of_two_seeds_are_never_a_silent_no() {
    let keys: Vec<[u8; 8]> = (0..1000u64).map(u64::to_le_bytes).collect();
    let mut filters: Vec<Filter> = (0..4).map(|i| filter(100, i / 2, &[])).collect();
    for key in &keys {
        filters[shard_of(hash(key, 0), 4) as usize].insert(key);
    }
    let views: Vec<View<'_>> = filters.iter().map(Filter::view).collect();
    let hashes: Vec<u64> = keys.iter().map(|key| hash(key, 0)).collect();
    let mut bitmap = vec![0; 1000usize.div_ceil(64)];
    assert_eq!(shards_contain_hashes(&views, &hashes, &mut bitmap), keys.len());
    assert!((0..64 * bitmap.len()).all(|i| bit(&bitmap, i) == (i < keys.len())));
}

// ---- keys that were chosen ----

/// Hashes that all fall on one line of so many, with all other bits at random.
fn on_line(line: u64, lines: u64) -> impl Iterator<Item = u64> {
    (0u64..).map(|i| hash_u64(i, 0)).filter(move |&hash| line_index(hash, lines) == line)
}

#[test]
fn a_flooded_line_shows() {
    let params = Params::for_rate(100_000, 0.01).unwrap();
    let mut flooded = Filter::new(params).unwrap();
    let hashes: Vec<u64> = (0..100_000).map(|key| hash_u64(key, 1)).collect();
    flooded.insert_hashes(&hashes);
    let (average, worst) = (flooded.estimated_rate(), flooded.worst_line_rate());
    assert!(worst > average && worst < 0.2, "by chance: {worst}, average {average}");
    on_line(7, params.line_count()).take(1000).for_each(|hash| _ = flooded.insert_hash(hash));
    assert!(flooded.worst_line_rate() > 0.99, "{}", flooded.worst_line_rate());
    assert!(flooded.estimated_rate() < 1.2 * average, "it hardly shows in the average");
    // The same in bytes that are only viewed, and in a cuckoo filter.
    let bytes = flooded.to_bytes().unwrap();
    assert_eq!(View::open(&bytes).unwrap().worst_line_rate(), flooded.worst_line_rate());
    let mut cuckoo = CuckooFilter::new(CuckooParams::for_bits(100_000, 8).unwrap()).unwrap();
    (0..30_000).for_each(|key| _ = cuckoo.insert_hash(hash_u64(key, 1)).unwrap());
    let view = cuckoo.view();
    assert!(view.worst_line_rate() > view.estimated_rate() && view.worst_line_rate() < 0.032);
    assert_eq!(Filter::new(params).unwrap().worst_line_rate(), 0.0);
}

#[test]
fn where_bits_lie_anywhere_the_worst_line_is_the_whole() {
    let mut filter = Filter::new(Params::classic(40, 6, 0).unwrap()).unwrap();
    (0..2000u64).for_each(|key| _ = filter.insert_hash(hash_u64(key, 0)));
    assert_eq!(filter.worst_line_rate(), filter.estimated_rate());
}

#[test]
fn random_seeds_are_random() {
    let params = Params::for_rate(1000, 0.01).unwrap();
    let seeds: std::collections::HashSet<u64> =
        (0..1000).map(|_| params.with_random_seed().unwrap().seed()).collect();
    assert_eq!(seeds.len(), 1000);
    // Each bit is set in some of a thousand and clear in others.
    assert_eq!(seeds.iter().fold(0, |any, seed| any | seed), u64::MAX);
    assert_eq!(seeds.iter().fold(u64::MAX, |all, seed| all & seed), 0);
    let seeded = params.with_random_seed().unwrap();
    assert_eq!((seeded.line_count(), seeded.k()), (params.line_count(), params.k()));
    let cuckoo = CuckooParams::for_rate(1000, 0.01).unwrap();
    assert_ne!(cuckoo.with_random_seed().unwrap(), cuckoo.with_random_seed().unwrap());
}

// ---- sizes that can be folded ----

#[test]
fn a_foldable_size_can_be_folded_so_often() {
    for keys in [5_000_000, 10_000_000, 50_000_000] {
        let params = Params::for_rate(keys, 0.01).unwrap();
        let foldable = params.foldable(8).unwrap();
        assert!(foldable.line_count().is_multiple_of(256));
        assert!((params.line_count()..params.line_count() + 256).contains(&foldable.line_count()));
        assert_eq!((foldable.k(), foldable.seed()), (params.k(), params.seed()));
    }
    let odd = Params::new(5, 6, 7).unwrap();
    assert_eq!(odd.foldable(0).unwrap(), odd);
    for folds in [63, 64, u32::MAX] {
        assert!(matches!(Params::new(5, 6, 7).unwrap().foldable(folds), Err(Error::LineCount(_))));
    }
}

#[test]
fn a_filter_made_too_large_is_folded_to_the_rate() {
    let params = Params::for_rate(5_000_000, 0.01).unwrap().foldable(6).unwrap();
    let mut filter = Filter::new(params).unwrap();
    let hashes: Vec<u64> = (0..100_000).map(|key| hash_u64(key, 0)).collect();
    filter.insert_hashes(&hashes);
    // 50 times as large as need be: 5 folds leave 1.56 of the size, a sixth would be too much.
    assert_eq!(filter.fold_to_rate(0.01).unwrap(), 5);
    assert!(filter.estimated_rate() <= 0.01);
    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
}

// ---- calls that cannot succeed ----

#[test]
fn a_block_that_can_hold_no_keys_is_refused() {
    use bloomline::engines::{leveldb, rocksdb, rocksdb_legacy};
    let hashes: Vec<u64> = (0..30).collect();
    let mut out = [0xA5; 4096];
    for bits in [0.499, 0.4, 0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(
            matches!(
                rocksdb::block_len(30, bits),
                Err(Error::BitsPerKey(_) | Error::TooFewBits(_))
            ),
            "{bits} bits"
        );
        let built = rocksdb::block_build(&hashes, bits, &mut out);
        assert!(
            matches!(built, Err(Error::BitsPerKey(_) | Error::TooFewBits(_))),
            "{bits} bits: {built:?}"
        );
    }
    for bits in [-0.1, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let built = rocksdb_legacy::block_build(&hashes, bits, &mut out);
        assert!(matches!(built, Err(Error::BitsPerKey(_))), "{bits} bits: {built:?}");
        let built = leveldb::block_build(&hashes, bits, &mut out);
        assert!(matches!(built, Err(Error::BitsPerKey(_))), "{bits} bits: {built:?}");
    }
    assert!(out.iter().all(|&byte| byte == 0xA5), "written to on failure");
    // The least that there is.
    let len = rocksdb::block_build(&hashes, 0.5, &mut out).unwrap();
    let view = View::open_rocksdb(&out[..len]).unwrap();
    assert!(hashes.iter().all(|&hash| view.contains_hash(hash)));
    let len = leveldb::block_build(&hashes, 0.0, &mut out).unwrap();
    let view = View::open_leveldb(&out[..len]).unwrap();
    assert!(hashes.iter().all(|&hash| view.contains_hash(hash)));
}

/// What a call does that panics.
fn panics<T>(call: impl FnOnce() -> T) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err()
}

#[test]
fn a_bitmap_that_is_too_short_is_found_before_the_first_key() {
    use bloomline::{ConcurrentFilter, CountingFilter, ScalableFilter, Window};
    let keys: Vec<[u8; 8]> = (0..1000u64).map(u64::to_le_bytes).collect();
    let params = Params::for_rate(1000, 0.01).unwrap();
    let short = &mut [0; 15];

    let mut filter = Filter::new(params).unwrap();
    assert!(panics(|| filter.insert_new_keys(&keys, short)));
    assert_eq!((filter.key_count(), filter.fill()), (0, 0.0));
    let mut scalable = ScalableFilter::new(1000, 0.01, 0).unwrap();
    assert!(panics(|| scalable.insert_new_keys(&keys, short)));
    assert_eq!((scalable.key_count(), scalable.estimated_rate()), (0, 0.0));
    let mut window = Window::new(3, 1000, 0.01, 0).unwrap();
    assert!(panics(|| window.insert_new_keys(&keys, short)));
    assert_eq!(window.key_count(0), 0);
    let concurrent = ConcurrentFilter::new(params).unwrap();
    assert!(panics(|| concurrent.insert_new_keys(&keys, short)));
    assert_eq!(concurrent.estimated_keys(), 0.0);
    let mut counting = CountingFilter::new(params).unwrap();
    counting.insert_keys(&keys);
    assert!(panics(|| counting.remove_keys(&keys, short)));
    assert!(panics(|| counting.insert_new_keys(&keys, short)));
    assert_eq!(counting.key_count(), 1000);
    assert!(keys.iter().all(|key| counting.contains(key)));
}

#[test]
fn keys_that_panic_are_not_counted() {
    let keys = (0..1000u64).inspect(|&key| assert!(key != 700, "on purpose"));
    let mut filter = Filter::new(Params::for_rate(1000, 0.01).unwrap()).unwrap();
    assert!(panics(|| filter.insert_iter(keys)));
    assert!(filter.key_count() as f64 <= filter.estimated_keys() * 1.05);
}

#[test]
fn definitions_refuse_what_is_no_filter() {
    use bloomline::definition::{cuckoo, fast_local, line};
    for len in [0, 1, 63, 65, 127] {
        let lines = &mut vec![0; len];
        assert!(panics(|| line::contains(lines, 6, 1)), "{len} bytes");
        assert!(panics(|| line::insert(lines, 6, 1)), "{len} bytes");
        assert!(panics(|| fast_local::contains(lines, 6, 1)), "{len} bytes");
        assert!(panics(|| fast_local::insert(lines, 6, 1)), "{len} bytes");
        assert!(panics(|| cuckoo::contains(lines, 8, 1)), "{len} bytes");
        assert!(panics(|| cuckoo::insert(lines, 8, 1)), "{len} bytes");
    }
    assert!(panics(|| bloomline::definition::classic::contains(&[], 6, 1)));
    use bloomline::definition::matrix;
    for len in [0, 1, 4095, 4097, 4096 + 64] {
        let groups = &mut vec![0; len];
        assert!(panics(|| matrix::contains(groups, 64, 6, 0, 1)), "{len} bytes");
        assert!(panics(|| matrix::insert(groups, 64, 6, 0, 1)), "{len} bytes");
        assert!(panics(|| drop(matrix::column(groups, 64, 0))), "{len} bytes");
    }
    for (columns, column) in [(0, 0), (3, 3), (64, 64), (3, u32::MAX)] {
        let groups = &mut vec![0; 4096];
        assert!(panics(|| matrix::insert(groups, columns, 6, column, 1)), "{column} of {columns}");
        assert!(panics(|| matrix::contains(groups, columns, 6, column, 1)), "{column}");
    }
    let lines = &mut [0; 64];
    for k in [0, 17, u32::MAX] {
        assert!(panics(|| line::contains(lines, k, 1)), "k = {k}");
    }
    for bits in [0, 1, 7, 9, 17, 64] {
        assert!(panics(|| cuckoo::insert(lines, bits, 1)), "{bits} bits");
        assert!(panics(|| cuckoo::remove(lines, bits, 1)), "{bits} bits");
    }
    assert_eq!(*lines, [0; 64]);
}

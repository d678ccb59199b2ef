//! Groups on every backend: the answers of their members by the definitions, in the caller's order,
//! whatever the kinds, sizes and seeds; one key, many keys, pairs.

use crate::definition::*;
use crate::kinds::scalable_bytes::*;
use bloomline::definition::{fast_local, line};
use bloomline::hash::hash_u64;
use bloomline::{
    Backend, Bitmap, CuckooFilter, CuckooParams, Filter, Group, OwnedView, Params, Row,
    ScalableFilter, StaticFilter, StaticParams, Swap, View,
};
use std::fmt::Debug;
use std::sync::Arc;

/// Numbers of members around those that words and loops take together.
const COUNTS: [usize; 12] = [0, 1, 2, 7, 8, 9, 63, 64, 65, 128, 130, 200];
pub(crate) const SEED: u64 = 7;

/// The hashes that member `i` has.
pub(crate) fn hashes_in(i: usize, count: u64) -> Vec<u64> {
    (0..count).map(|key| hash_u64(key, i as u64)).collect()
}

/// What is asked: keys of several members, and others.
pub(crate) fn probes() -> Vec<u64> {
    let of_members = (0..200).flat_map(|i| hashes_in(i, 2)).step_by(7);
    AWKWARD.into_iter().chain(of_members).chain((0..20).map(|key| hash_u64(key, 999))).collect()
}

/// A filter as bytes, and its plain definition.
pub(crate) struct Sample {
    bytes: Vec<u8>,
    rocksdb: bool,
    pub(crate) plain: Box<dyn Fn(u64) -> bool>,
}

impl Sample {
    fn encoded(bytes: Vec<u8>) -> Sample {
        let plain = bytes.clone();
        Sample { bytes, rocksdb: false, plain: Box::new(move |hash| answer(&plain, hash)) }
    }

    /// Native lines, rather full, so that some keys are in falsely.
    pub(crate) fn native(i: usize, lines: usize, k: u32, seed: u64) -> Sample {
        let hashes = hashes_in(i, (lines as u64 * 60).min(3000));
        Sample::encoded(encode(&lines_of(lines, k, &hashes), k, seed, 0))
    }

    fn classic(i: usize, lines: usize, k: u32) -> Sample {
        Sample::encoded(encode_classic(lines, k, SEED, &hashes_in(i, lines as u64 * 60)))
    }

    pub(crate) fn cuckoo(i: usize) -> Sample {
        let params = CuckooParams::for_bits(500, 8).unwrap().with_seed(SEED);
        let mut filter = CuckooFilter::new(params).unwrap();
        filter.insert_hashes(&hashes_in(i, 400)).unwrap();
        Sample::encoded(filter.to_bytes().unwrap())
    }

    fn fixed(i: usize, rate: f64) -> Sample {
        let params = StaticParams::for_rate(700, rate).unwrap().with_seed(SEED);
        let filter = StaticFilter::build(params, &hashes_in(i, 700), 1).unwrap();
        Sample::encoded(filter.to_bytes().unwrap())
    }

    pub(crate) fn rocksdb(i: usize, lines: usize, k: u32) -> Sample {
        let mut block = vec![0; lines * 64];
        for hash in hashes_in(i, 50) {
            fast_local::insert(&mut block, k, hash);
        }
        let plain = block.clone();
        block.extend_from_slice(&[0xFF, 0, k as u8, 0, 0]);
        let plain = Box::new(move |hash| fast_local::contains(&plain, k, hash));
        Sample { bytes: block, rocksdb: true, plain }
    }

    pub(crate) fn view(&self, backend: Backend) -> View<'_> {
        if self.rocksdb {
            return View::open_rocksdb_with_backend(&self.bytes, backend).unwrap();
        }
        View::open_with_backend(&self.bytes, backend).unwrap()
    }
}

/// The size of member `i` in lines: 1 to 10,000.
fn lines(i: usize) -> usize {
    [1, 2, 3, 7, 64, 100, 999, 10_000][i % 8]
}

fn bit(words: &[u64], i: usize) -> bool {
    words[i / 64] >> (i % 64) & 1 == 1
}

/// Holds a group to what its members answer by the definitions.
pub(crate) fn check(views: &[View<'_>], plain: impl Fn(usize, u64) -> bool, what: &str) {
    let (count, probes) = (views.len(), probes());
    let group = Group::new(views.iter().copied()).unwrap();
    let stride = count.div_ceil(64);
    assert_eq!((group.len(), group.words()), (count, stride), "{what}");
    let mut rows = vec![u64::MAX; stride * probes.len()];
    let mut total = 0;
    let all = group.contains_hashes(&probes, &mut rows);
    for (j, &hash) in probes.iter().enumerate() {
        let mut words = vec![u64::MAX; stride];
        let present = group.contains_hash(hash, &mut words);
        for i in 0..64 * stride {
            let expected = i < count && plain(i, hash);
            assert_eq!(bit(&words, i), expected, "{what}: member {i} of {count}, {hash:x}");
        }
        assert_eq!(present, words.iter().map(|word| word.count_ones() as usize).sum::<usize>());
        assert_eq!(words, rows[stride * j..][..stride], "{what}: row {j}");
        total += present;
    }
    assert_eq!(all, total, "{what}");
    check_many(&group, &plain, what);
    check_pairs(&group, &plain, what);
}

/// The same member by member, and for any of many keys: some of which are in many members, or late, or absent.
fn check_many(group: &Group<View<'_>>, plain: impl Fn(usize, u64) -> bool, what: &str) {
    let (count, probes) = (group.len(), probes());
    // More than are asked at once; of few members, as their definitions are slow.
    let mut late: Vec<u64> =
        (0..if count < 10 { 1200 } else { 0 }).map(|key| hash_u64(key, 998)).collect();
    late.push(probes[40]);
    for asked in [&[][..], &probes[..1], &probes[..4], &probes[3..8], &probes[5..70], &late] {
        let each = asked.len().div_ceil(64);
        let (mut rows, mut any) = (vec![u64::MAX; each * count], vec![u64::MAX; group.words()]);
        let total = group.contains_hashes_by_member(asked, &mut rows);
        let maybe = group.contains_any_hash(asked, &mut any);
        for i in 0..count {
            let row = &rows[each * i..][..each];
            for j in 0..64 * each {
                let expected = asked.get(j).is_some_and(|&hash| plain(i, hash));
                assert_eq!(bit(row, j), expected, "{what}: member {i} of {count}, key {j}");
            }
            let some = row.iter().any(|&word| word != 0);
            assert_eq!(bit(&any, i), some, "{what}: any of {}, {i} of {count}", asked.len());
        }
        assert!((count..64 * any.len()).all(|i| !bit(&any, i)), "{what}: past the end");
        let ones = |words: &[u64]| words.iter().map(|word| word.count_ones() as usize).sum();
        assert_eq!([total, maybe], [ones(&rows), ones(&any)], "{what}");
    }
}

/// The same for pairs, some of members that are not there.
fn check_pairs(group: &Group<View<'_>>, plain: impl Fn(usize, u64) -> bool, what: &str) {
    let (count, probes) = (group.len(), probes());
    for n in [0_usize, 1, 2, 15, 16, 63, 64, 65, 129, 200, 1089] {
        let mut members: Vec<u32> = (0..n).map(|j| (j * 31 % (count + 1)) as u32).collect();
        if let Some(last) = members.last_mut() {
            *last = u32::MAX;
        }
        let hashes: Vec<u64> = (0..n).map(|j| probes[j % probes.len()]).collect();
        let mut words = vec![u64::MAX; n.div_ceil(64)];
        let present = group.contains_pairs(&members, &hashes, &mut words);
        assert!((n..64 * words.len()).all(|j| !bit(&words, j)), "{what}: past {n} pairs");
        for (j, (&member, &hash)) in members.iter().zip(&hashes).enumerate() {
            let expected = member as usize >= count || plain(member as usize, hash);
            assert_eq!(bit(&words, j), expected, "{what}: pair {j} of {n}, {count} members");
        }
        assert_eq!(present, words.iter().map(|word| word.count_ones() as usize).sum::<usize>());
        check_rows::<u32>(group, (&members, &hashes), &words, what);
        check_rows::<u16>(group, (&members, &hashes), &words, what);
    }
}

/// The rows of pairs whose answers these are.
fn check_rows<R: Row + TryFrom<usize, Error: Debug> + Debug>(
    group: &Group<View<'_>>,
    (members, hashes): (&[u32], &[u64]),
    words: &[u64],
    what: &str,
) {
    let number = |row: usize| R::try_from(row).unwrap();
    let mut rows = vec![number(0xBEEF); hashes.len() + 3];
    let count = group.select_pairs(members, hashes, &mut rows);
    let expected = (0..hashes.len()).filter(|&row| bit(words, row)).map(number);
    assert!(rows[..count].iter().copied().eq(expected), "{what}: rows {:?}", &rows[..count]);
    assert!(
        rows[hashes.len()..].iter().all(|&row| row == number(0xBEEF)),
        "{what}: behind the rows"
    );
    // All rows, some, and some in no order with repetitions.
    let all = 0..hashes.len();
    let any = all.clone().flat_map(|row| [row * 7 % hashes.len(), row / 2]).collect();
    for selection in [all.clone().collect(), all.filter(|row| row % 7 < 2).collect(), any] {
        let selection: Vec<usize> = selection;
        let mut rows: Vec<R> = selection.iter().copied().map(number).collect();
        let count = group.refine_pairs(members, hashes, &mut rows);
        let expected = selection.into_iter().filter(|&row| bit(words, row)).map(number);
        assert!(rows[..count].iter().copied().eq(expected), "{what}: refined {:?}", &rows[..count]);
    }
}

/// Samples of a kind or of several, in groups of every size, on every backend.
fn check_all(samples: &[Sample], what: &str) {
    for backend in Backend::available() {
        let views: Vec<View<'_>> = samples.iter().map(|sample| sample.view(backend)).collect();
        for count in COUNTS.into_iter().filter(|&count| count <= views.len()) {
            let plain = |i: usize, hash| (samples[i].plain)(hash);
            check(&views[..count], plain, &format!("{what}, {}", backend.name()));
        }
    }
}

#[test]
fn one_run_of_every_k() {
    for k in 1..=16 {
        let count = if k == 6 || k == 12 && !fewer() { 200 } else { 9 };
        let samples: Vec<_> = (0..count).map(|i| Sample::native(i, lines(i), k, SEED)).collect();
        check_all(&samples, &format!("k = {k}"));
    }
}

#[test]
fn runs_in_a_row_and_by_turns() {
    let in_a_row: Vec<_> =
        (0..200).map(|i| Sample::native(i, lines(i), 5 + (i / 70) as u32, SEED)).collect();
    check_all(&in_a_row, "in a row");
    let by_turns: Vec<_> =
        (0..200).map(|i| Sample::native(i, lines(i), 5 + (i % 7) as u32, SEED)).collect();
    check_all(&by_turns, "by turns");
}

#[test]
fn kinds_by_turns() {
    let samples: Vec<_> = (0..200)
        .map(|i| match i % 9 {
            0 | 4 => Sample::native(i, lines(i / 9), 6, SEED),
            1 => Sample::classic(i, 1 + i % 20, 7),
            2 => Sample::cuckoo(i),
            3 => Sample::fixed(i, 0.01),
            5 => Sample::native(i, lines(i / 9), 11, SEED),
            6 => Sample::fixed(i, 0.0001),
            _ => Sample::native(i, lines(i / 9), 6, SEED),
        })
        .collect();
    check_all(&samples, "kinds");
}

#[test]
fn blocks_of_rocksdb() {
    let samples: Vec<_> =
        (0..200).map(|i| Sample::rocksdb(i, [1, 2, 7, 100][i % 4], 6 + (i / 66) as u32)).collect();
    check_all(&samples, "RocksDB");
    for k in 1..=fast_local::MAX_K {
        let samples: Vec<_> = (0..9).map(|i| Sample::rocksdb(i, [1, 7, 100][i % 3], k)).collect();
        check_all(&samples, &format!("RocksDB, k = {k}"));
    }
}

#[test]
fn filters_made_of_filters() {
    let filters: Vec<_> = (0..3)
        .map(|i| {
            let mut filter = ScalableFilter::new(40, 0.2, SEED).unwrap();
            hashes_in(i, 100).into_iter().for_each(|hash| _ = filter.insert_hash(hash).unwrap());
            filter
        })
        .collect();
    let bytes: Vec<_> = filters.iter().map(|filter| filter.to_bytes().unwrap()).collect();
    let natives: Vec<_> = (0..3).map(|i| Sample::native(i, 3, 6, SEED)).collect();
    let active = Backend::active().unwrap();
    let views: Vec<_> = (0..3).flat_map(|i| [filters[i].view(), natives[i].view(active)]).collect();
    let plain = |i: usize, hash| match i % 2 {
        0 => scalable_contains(&bytes[i / 2], hash),
        _ => (natives[i / 2].plain)(hash),
    };
    check(&views, plain, "scalable filters");
}

/// Where a filter lies across cache lines, or is shared with threads that insert.
#[test]
fn lines_anywhere() {
    let mut moved: Vec<Vec<u8>> = Vec::new();
    for (i, offset) in [0, 1, 33, 63].into_iter().enumerate() {
        moved.push(vec![0; offset]);
        moved[i].extend_from_slice(&lines_of(50, 9, &hashes_in(i, 500)));
    }
    let params = Params::new(50, 9, SEED).unwrap();
    let views: Vec<_> = moved
        .iter()
        .map(|bytes| View::of_lines(&bytes[bytes.len() - 50 * 64..], params, 0).unwrap())
        .collect();
    check(&views, |i, hash| line::contains(views[i].lines(), 9, hash), "unaligned");
}

// ---- what hashes differently ----

#[test]
fn a_hash_for_members_of_two_seeds_is_never_a_silent_no() {
    let samples: Vec<_> = (0..130).map(|i| Sample::native(i, 3, 6, (i == 100).into())).collect();
    let active = Backend::active().unwrap();
    let views: Vec<_> = samples.iter().map(|sample| sample.view(active)).collect();
    let group = Group::new(views.iter().copied()).unwrap();
    let mut answers = Bitmap::new();
    assert_eq!(group.contains_hash(12345, &mut answers), 130);
    assert_eq!((answers.count_ones(), answers.len()), (130, 130));
    let mut rows = [0; 6];
    assert_eq!(group.contains_hashes(&[1, 2], &mut rows), 260);
    assert_eq!(rows, [u64::MAX, u64::MAX, 3, u64::MAX, u64::MAX, 3]);
    assert_eq!(group.contains_any_hash(&[1, 2], &mut answers), 130);
    assert_eq!(answers.count_ones(), 130);
    assert_eq!(group.contains_any_hash(&[], &mut answers), 0);
    let mut by_member = [0; 130];
    assert_eq!(group.contains_hashes_by_member(&[1, 2], &mut by_member), 260);
    assert_eq!(by_member, [3; 130]);
    // A pair has the hash of its member.
    check_pairs(&group, |i, hash| (samples[i].plain)(hash), "two seeds");
}

#[test]
fn a_key_gets_the_answer_of_each_member() {
    let key = b"a key of some length";
    let mut block = vec![0; 4096];
    let hashes = [bloomline::engines::rocksdb::hash(key)];
    let len = bloomline::engines::rocksdb::block_build(&hashes, 10.0, &mut block).unwrap();
    let filters: Vec<Filter> = (0..200)
        .map(|i| {
            let mut filter = Filter::new(Params::new(1 + i % 5, 6, i % 3).unwrap()).unwrap();
            filter.insert(if i % 2 == 0 { &key[..] } else { b"other" });
            filter
        })
        .collect();
    let mut views: Vec<View<'_>> = filters.iter().map(Filter::view).collect();
    views.insert(77, View::open_rocksdb(&block[..len]).unwrap());
    views.insert(5, View::open_rocksdb(&[]).unwrap());
    let mut answers = Bitmap::new();
    let present = Group::new(views.iter().copied()).unwrap().contains(key, &mut answers);
    let expected: Vec<bool> = (0..views.len())
        .map(|i| match i {
            5 => views[5].contains(key),
            78 => true,
            _ => {
                let filter = &filters[i - usize::from(i > 5) - usize::from(i > 78)];
                line::contains(filter.lines(), 6, hash(key, filter.params().seed()))
            }
        })
        .collect();
    assert_eq!(answers.iter().collect::<Vec<_>>(), expected);
    assert_eq!(present, answers.count_ones());
    assert!(present > 0 && present < 200);
}

// ---- who owns the members ----

#[test]
fn a_group_owns_its_members_and_is_published() {
    let native = |i: usize| Sample::native(i, lines(i), 6, SEED);
    let version = |from: usize| {
        let tables = (from..from + 10).map(|i| {
            let block: Arc<[u8]> = native(i).bytes.into();
            Arc::new(OwnedView::open(block).unwrap())
        });
        Group::of(tables.collect::<Vec<_>>(), |table| table.view()).unwrap()
    };
    let current = Swap::new(version(0));
    let old = current.snapshot();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..200 {
                let group = current.load();
                for hash in probes() {
                    let mut answers = [0];
                    let present = group.contains_hash(hash, &mut answers);
                    assert_eq!(present as u32, answers[0].count_ones());
                    assert_eq!(bit(&answers, 3), group[3].contains_hash(hash));
                }
            }
        });
        for from in 1..50 {
            current.publish(version(from));
        }
    });
    // Bytes that move with their owner lie still in a group.
    let inline: Vec<OwnedView<[u8; 128]>> =
        (0..5).map(|i| OwnedView::open(native(8 * i).bytes.try_into().unwrap()).unwrap()).collect();
    let moved = Box::new(Group::of(inline, OwnedView::view).unwrap());
    for hash in probes() {
        let mut answers = Bitmap::new();
        old.contains_hash(hash, &mut answers);
        assert!((0..10).all(|i| answers[i] == (native(i).plain)(hash)));
        moved.contains_hash(hash, &mut answers);
        assert!((0..5).all(|i| answers[i] == (native(8 * i).plain)(hash)));
    }
}

/// Bytes that are gone.
#[test]
fn a_damaged_member_answers_maybe() {
    struct Fickle(Vec<u8>, std::sync::atomic::AtomicBool);
    impl AsRef<[u8]> for Fickle {
        fn as_ref(&self) -> &[u8] {
            if self.1.swap(false, std::sync::atomic::Ordering::Relaxed) { &self.0 } else { &[] }
        }
    }
    let samples: Vec<_> = (0..70).map(|i| Sample::native(i, 20, 6, SEED)).collect();
    let owned: Vec<_> = samples
        .iter()
        .enumerate()
        .map(|(i, sample)| {
            let view = OwnedView::open(Fickle(sample.bytes.clone(), true.into())).unwrap();
            view.get_ref().1.store(i % 5 != 0, std::sync::atomic::Ordering::Relaxed);
            view
        })
        .collect();
    let group = Group::of(owned, OwnedView::view).unwrap();
    for hash in probes() {
        let mut answers = Bitmap::new();
        group.contains_hash(hash, &mut answers);
        for i in 0..70 {
            assert_eq!(answers[i], i % 5 == 0 || (samples[i].plain)(hash), "member {i}");
        }
    }
}

/// By every call, wherever it stands: among filters that are asked together, and others.
#[test]
fn a_member_without_a_filter_answers_maybe() {
    let missing = |i: usize| i % 7 == 3 || i == 0 || i == 69;
    for step in [1, 5, 9] {
        let sample = |i: usize| match i % step {
            0 => Sample::native(i, 20, 6, SEED),
            1 => Sample::classic(i, 20, 6),
            _ => Sample::cuckoo(i),
        };
        let samples: Vec<_> = (0..70).map(|i| (!missing(i)).then(|| sample(i))).collect();
        let plain = |i: usize, hash| samples[i].as_ref().is_none_or(|sample| (sample.plain)(hash));
        let open = |sample: &Sample| OwnedView::open(sample.bytes.clone()).unwrap();
        let views: Vec<_> = samples.iter().map(|sample| sample.as_ref().map(open)).collect();
        let group = Group::of_optional(views, |view| view.as_ref().map(OwnedView::view)).unwrap();
        let (probes, mut answers) = (probes(), Bitmap::new());
        for &hash in &probes {
            group.contains_hash(hash, &mut answers);
            assert!((0..70).all(|i| answers[i] == plain(i, hash)));
        }
        group.contains_hashes_by_member(&probes, &mut answers);
        let row = 64 * probes.len().div_ceil(64);
        for (i, (j, &hash)) in
            (0..70).flat_map(|i| probes.iter().enumerate().map(move |at| (i, at)))
        {
            assert_eq!(answers[i * row + j], plain(i, hash), "member {i}");
        }
        group.contains_any_hash(&probes[..5], &mut answers);
        assert!((0..70).all(|i| answers[i] == probes[..5].iter().any(|&hash| plain(i, hash))));
        let members: Vec<u32> = (0..probes.len() as u32).map(|j| j % 72).collect();
        group.contains_pairs(&members, &probes, &mut answers);
        for (j, (&i, &hash)) in members.iter().zip(&probes).enumerate() {
            assert_eq!(answers[j], i >= 70 || plain(i as usize, hash), "pair {j}");
        }
    }
}

#[test]
fn there_must_be_a_hash_for_each_member_and_room() {
    let filter = Filter::new(Params::new(1, 6, 0).unwrap()).unwrap();
    let group = Group::new([filter.view(); 65]).unwrap();
    let panics =
        |call: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err();
    assert!(panics(&|| _ = group.contains_pairs(&[0, 1], &[0], &mut [0; 9][..])));
    assert!(panics(&|| _ = group.select_pairs(&[0, 1], &[0], &mut [0u32; 9])));
    assert!(panics(&|| _ = group.select_pairs(&[0; 9], &[0; 9], &mut [0u32; 8])));
    let (members, hashes, mut rows) = (vec![0; 65_537], vec![0; 65_537], vec![0u16; 65_537]);
    assert_eq!(group.select_pairs(&members[1..], &hashes[1..], &mut rows), 0);
    assert!(panics(&|| _ = group.select_pairs(&members, &hashes, &mut vec![0u16; 65_537])));
    assert!(panics(&|| _ = group.refine_pairs(&[0, 1], &[0], &mut [0u32; 1])));
    let mut rows = [1u16, 9, 0];
    let refine = std::panic::AssertUnwindSafe(|| group.refine_pairs(&[0; 9], &[0; 9], &mut rows));
    assert!(std::panic::catch_unwind(refine).is_err() && rows == [1, 9, 0], "no such row");
    assert!(panics(&|| _ = group.contains_hash(0, &mut [0; 1][..])));
    assert!(panics(&|| _ = group.contains_hashes(&[0, 1], &mut [0; 3][..])));
    assert!(!panics(&|| _ = group.contains_hashes(&[0, 1], &mut [0; 4][..])));
    assert_eq!(format!("{group:?}"), "Group { members: 65, .. }");
}

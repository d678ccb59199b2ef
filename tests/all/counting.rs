//! Counting filters against a plain model: a set of hashes that says how often each is in.
//! Whatever is inserted and rightly removed, no key that is in is denied; the bytes are
//! those of the keys that are left; what is surely absent cannot be removed; wrong removals
//! do no harm to keys that come later; and no damaged file is read.

use crate::definition;
use crate::directory::Directory;
use crate::mapped;

use bloomline::{Backend, Bitmap, CountingFilter, Error, Filter, Params, View, hash, line};
use definition::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// How often each key is in, and what the counters must be: the rules of the page, a byte for
/// each counter.
struct Model {
    k: u32,
    line_count: u64,
    times: BTreeMap<u64, u64>,
    counters: Vec<u8>,
    /// Whether a counter has ever reached 15.
    saturated: bool,
}

impl Model {
    fn new(params: Params) -> Model {
        let (k, line_count) = (params.k(), params.line_count());
        let counters = vec![0; line_count as usize * 512];
        Model { k, line_count, times: BTreeMap::new(), counters, saturated: false }
    }

    fn bits(&self, hash: u64) -> Vec<usize> {
        let line = line::line_index(hash, self.line_count) as usize * 512;
        let mask = line::mask(hash, self.k);
        (0..512).filter(|bit| mask[bit / 64] >> (bit % 64) & 1 == 1).map(|bit| line + bit).collect()
    }

    fn insert(&mut self, hash: u64) {
        for bit in self.bits(hash) {
            self.counters[bit] = (self.counters[bit] + 1).min(15);
            self.saturated |= self.counters[bit] == 15;
        }
        *self.times.entry(hash).or_default() += 1;
    }

    /// Removes what need not be in: whether that is refused, and nothing done.
    fn remove(&mut self, hash: u64) -> bool {
        let bits = self.bits(hash);
        if bits.iter().any(|&bit| self.counters[bit] == 0) {
            return false;
        }
        for bit in bits {
            self.counters[bit] -= u8::from(self.counters[bit] < 15);
        }
        match self.times.get_mut(&hash) {
            Some(1) => drop(self.times.remove(&hash)),
            Some(times) => *times -= 1,
            None => {}
        }
        true
    }

    /// A hash for each time that a key is in.
    fn hashes(&self) -> Vec<u64> {
        let times = self.times.iter();
        times.flat_map(|(&hash, &times)| std::iter::repeat_n(hash, times as usize)).collect()
    }

    fn any_key(&self, pick: usize) -> Option<u64> {
        self.times.keys().nth(pick % self.times.len().max(1)).copied()
    }

    /// What the filter must be when encoded.
    fn encoded(&self, seed: u64, key_count: u64) -> Vec<u8> {
        let counters: Vec<u8> =
            self.counters.chunks(2).map(|pair| pair[0] | pair[1] << 4).collect();
        let byte = |eight: &[u8]| (0..8).map(|bit| u8::from(eight[bit] > 0) << bit).sum();
        let lines: Vec<u8> = self.counters.chunks(8).map(byte).collect();
        encode_counting(&lines, &counters, self.k, seed, key_count)
    }

    fn check(&self, filter: &CountingFilter) {
        let params = filter.params();
        let bytes = filter.to_bytes().unwrap();
        assert!(
            bytes == self.encoded(params.seed(), filter.key_count()),
            "the bytes are the model's"
        );
        assert_eq!(check(&bytes, true), status::OK);
        let keys: Vec<u64> = self.times.keys().copied().collect();
        let mut bitmap = vec![0; keys.len().div_ceil(64)];
        assert_eq!(filter.contains_hashes(&keys, &mut bitmap), keys.len(), "no key is denied");
        for (&hash, &times) in &self.times {
            assert!(filter.contains_hash(hash) && filter.view().contains_hash(hash));
            assert!(u64::from(filter.count_hash(hash)) >= times.min(15), "an upper estimate");
        }
        if !self.saturated {
            let lines = lines_of(self.line_count as usize, self.k, &keys);
            assert!(filter.filter().lines() == lines, "a plain filter of what is left");
            let counters = counters_of(self.line_count as usize, self.k, &self.hashes());
            assert!(bytes[lines.len()..bytes.len() - 64] == counters);
        }
    }
}

fn counting(line_count: u64, k: u32, seed: u64) -> CountingFilter {
    CountingFilter::new(Params::new(line_count, k, seed).unwrap()).unwrap()
}

// ---- histories ----

#[derive(Clone, Debug)]
enum Step {
    Insert(Vec<u8>),
    InsertHashes(Vec<u64>),
    InsertKeys(Vec<Vec<u8>>),
    /// One key, so often.
    Repeat(u64, usize),
    /// Keys that are in, by number; so often each.
    Remove(Vec<usize>, usize),
    RemoveHashes(Vec<usize>),
    RemoveKeys(Vec<Vec<u8>>),
    /// Hashes that may be in or not: those that are definitely absent are not removed.
    RemoveAbsent(Vec<u64>),
    Union(Vec<u64>),
    Encode,
    Save,
    Clear,
}

fn hashes(most: usize) -> impl Strategy<Value = Vec<u64>> {
    let hash = prop_oneof![
        6 => any::<u64>(),
        1 => (0u32..64).prop_map(|bit| 1 << bit),
        2 => prop::sample::select(AWKWARD.to_vec()),
    ];
    prop::collection::vec(hash, 0..most)
}

fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(0u8..4, 0..3), 0..80)
}

fn picks() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(any::<usize>(), 0..60)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => prop::collection::vec(0u8..4, 0..3).prop_map(Step::Insert),
        3 => hashes(150).prop_map(Step::InsertHashes),
        3 => keys().prop_map(Step::InsertKeys),
        2 => (any::<u64>(), 1usize..40).prop_map(|(hash, times)| Step::Repeat(hash, times)),
        4 => (picks(), 1usize..20).prop_map(|(picks, times)| Step::Remove(picks, times)),
        3 => picks().prop_map(Step::RemoveHashes),
        2 => keys().prop_map(Step::RemoveKeys),
        3 => hashes(60).prop_map(Step::RemoveAbsent),
        2 => hashes(60).prop_map(Step::Union),
        2 => Just(Step::Encode),
        1 => Just(Step::Save),
        1 => Just(Step::Clear),
    ]
}

/// Takes a step with filter and model. No key is removed that is not in, unless that is
/// refused.
fn take(filter: &mut CountingFilter, model: &mut Model, step: Step, file: &std::path::Path) {
    let params = filter.params();
    let seed = params.seed();
    match step {
        Step::Insert(key) => {
            filter.insert(&key);
            model.insert(hash::hash(&key, seed));
        }
        Step::InsertHashes(hashes) => {
            filter.insert_hashes(&hashes);
            hashes.into_iter().for_each(|hash| model.insert(hash));
        }
        Step::InsertKeys(keys) => {
            filter.insert_keys(&keys);
            keys.iter().for_each(|key| model.insert(hash::hash(key, seed)));
        }
        Step::Repeat(hash, times) => {
            for _ in 0..times {
                filter.insert_hash(hash);
                model.insert(hash);
            }
        }
        Step::Remove(picks, times) => {
            for pick in picks {
                let Some(hash) = model.any_key(pick) else { return };
                for _ in 0..times.min(model.times[&hash] as usize) {
                    filter.remove_hash(hash).unwrap();
                    assert!(model.remove(hash));
                }
            }
        }
        Step::RemoveHashes(picks) => {
            let mut removed = Vec::new();
            for pick in picks {
                if let Some(hash) = model.any_key(pick) {
                    assert!(model.remove(hash));
                    removed.push(hash);
                }
            }
            let mut answers = vec![u64::MAX; removed.len().div_ceil(64)];
            assert_eq!(filter.remove_hashes(&removed, &mut answers), removed.len());
            for i in 0..answers.len() * 64 {
                assert_eq!(answers[i / 64] >> (i % 64) & 1 == 1, i < removed.len());
            }
        }
        Step::RemoveKeys(mut keys) => {
            let mut left = model.times.clone();
            keys.retain(|key| {
                let times = left.entry(hash::hash(key, seed)).or_default();
                let is_in = *times > 0;
                *times -= u64::from(is_in);
                is_in
            });
            let mut removed = Bitmap::new();
            assert_eq!(filter.remove_keys(&keys, &mut removed), keys.len());
            assert!(removed.iter().all(|removed| removed) && removed.len() == keys.len());
            keys.iter().for_each(|key| assert!(model.remove(hash::hash(key, seed))));
        }
        Step::RemoveAbsent(mut hashes) => {
            hashes.retain(|&hash| !filter.contains_hash(hash));
            let before = filter.to_bytes().unwrap();
            for &hash in &hashes {
                assert!(matches!(filter.remove_hash(hash), Err(Error::Absent)));
                assert_eq!(filter.count_hash(hash), 0);
            }
            let mut removed = vec![u64::MAX; hashes.len().div_ceil(64)];
            assert_eq!(filter.remove_hashes(&hashes, &mut removed), 0);
            assert!(removed.iter().all(|&word| word == 0));
            assert!(filter.to_bytes().unwrap() == before, "what is absent changes nothing");
        }
        Step::Union(hashes) => {
            let mut other = CountingFilter::new(params).unwrap();
            other.insert_hashes(&hashes);
            filter.union(&other).unwrap();
            // The counters of the other one are at most 15 before they are added, which is
            // the same.
            hashes.into_iter().for_each(|hash| model.insert(hash));
        }
        Step::Encode => {
            *filter = CountingFilter::decode(&filter.to_bytes().unwrap()).unwrap();
        }
        Step::Save => {
            filter.save(file).unwrap();
            let mapped = mapped::open(file).unwrap();
            assert!(mapped.view().lines() == filter.filter().lines());
            let plain = Filter::load(file).unwrap();
            assert!(plain.to_bytes().unwrap() == filter.filter().to_bytes().unwrap());
            *filter = CountingFilter::load(file).unwrap();
        }
        Step::Clear => {
            filter.clear();
            *model = Model::new(params);
        }
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: definition::cases(cases),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn no_history_loses_a_key(
        line_count in 1u64..6,
        k in 1u32..=16,
        seed in any::<u64>(),
        steps in prop::collection::vec(step(), 1..20),
    ) {
        let directory = Directory::new("history");
        let file = directory.file("filter");
        let mut filter = counting(line_count, k, seed);
        let mut model = Model::new(filter.params());
        for step in steps {
            take(&mut filter, &mut model, step, &file);
            model.check(&filter);
            prop_assert_eq!(filter.key_count(), model.times.values().sum::<u64>());
        }
    }

    /// Removals of anything, in or not, and then keys that are rightly treated: these are
    /// never denied.
    #[test]
    fn what_was_wrongly_removed_before_does_no_harm(
        line_count in 1u64..4,
        k in 1u32..=16,
        before in hashes(300),
        wrongly in hashes(300),
        steps in prop::collection::vec(step(), 1..12),
    ) {
        let directory = Directory::new("wrong");
        let file = directory.file("filter");
        let mut filter = counting(line_count, k, 0);
        let mut wrong = Model::new(filter.params());
        filter.insert_hashes(&before);
        before.iter().for_each(|&hash| wrong.insert(hash));
        let mut removed = vec![0; wrongly.len().div_ceil(64)];
        filter.remove_hashes(&wrongly, &mut removed);
        for (i, &hash) in wrongly.iter().enumerate() {
            prop_assert_eq!(wrong.remove(hash), removed[i / 64] >> (i % 64) & 1 == 1);
        }
        prop_assert!(filter.to_bytes().unwrap() == wrong.encoded(0, filter.key_count()));

        // From here on only what is inserted is removed.
        let mut model = Model::new(filter.params());
        for step in steps.into_iter().filter(|step| !matches!(step, Step::Clear)) {
            take(&mut filter, &mut model, step, &file);
            for (&hash, &times) in &model.times {
                prop_assert!(filter.contains_hash(hash));
                prop_assert!(u64::from(filter.count_hash(hash)) >= times.min(15));
            }
            prop_assert_eq!(check(&filter.to_bytes().unwrap(), true), status::OK);
        }
    }
}

/// What no filter can do that forgets its keys: here two keys set the same bit, so that the
/// one that is in cannot be told from the one that is not.
#[test]
fn a_wrong_removal_of_a_false_positive_hides_another_key() {
    let mut filter = counting(1, 1, 0);
    let hashes = random_hashes(2000, 1);
    let (is_in, mut others) = (hashes[0], hashes[1..].iter().copied());
    filter.insert_hash(is_in);
    let is_not = others.find(|&hash| filter.contains_hash(hash)).unwrap();
    filter.remove_hash(is_not).unwrap();
    assert!(!filter.contains_hash(is_in));
    assert!(matches!(filter.remove_hash(is_in), Err(Error::Absent)));
    // It is in again once it is inserted again.
    filter.insert_hash(is_in);
    assert!(filter.contains_hash(is_in));
}

/// Which keys are removed, of several times as many as are hashed at once.
#[test]
fn removed_keys_are_those_of_their_hashes() {
    let keys: Vec<String> = (0..1500).map(|i| format!("key {}", i % 1200)).collect();
    let mut filter = counting(100, 6, 8);
    filter.insert_keys(&keys[300..1000]);
    let mut other = filter.try_clone().unwrap();
    let (mut removed, mut expected) = (vec![u64::MAX; 24], vec![0; 24]);
    for (i, key) in keys.iter().enumerate() {
        expected[i / 64] |= u64::from(other.remove(key.as_bytes()).is_ok()) << (i % 64);
    }
    let count: u32 = expected.iter().map(|word| word.count_ones()).sum();
    assert!(count < 800 && expected[5] & 1 == 1 && expected[0] & 1 == 0);
    assert_eq!(filter.remove_keys(&keys, &mut removed), count as usize);
    assert_eq!(removed, expected);
    assert!(filter.to_bytes().unwrap() == other.to_bytes().unwrap());
}

// ---- counting ----

#[test]
fn counts_are_upper_estimates_and_mostly_exact() {
    let mut filter = CountingFilter::new(Params::for_rate(10_000, 0.01).unwrap()).unwrap();
    let keys = random_hashes(10_000, 2);
    for (i, &hash) in keys.iter().enumerate() {
        (0..i % 5).for_each(|_| _ = filter.insert_hash(hash));
    }
    let mut exact = 0;
    for (i, &hash) in keys.iter().enumerate() {
        let (count, times) = (filter.count_hash(hash) as usize, i % 5);
        assert!((times..=15).contains(&count), "key {i} is in {times} times: {count}");
        exact += usize::from(count == times);
    }
    println!("{exact} of {} counts are exact", keys.len());
    assert!(exact > 9_700);
}

#[test]
fn counters_stick_at_15() {
    for (times, count) in [(14, 14), (15, 15), (16, 15), (1000, 15)] {
        let mut filter = counting(1, 6, 0);
        (0..times).for_each(|_| _ = filter.insert(b"often"));
        assert_eq!(filter.count(b"often"), count, "{times} times");
        assert_eq!(filter.key_count(), times);
        for _ in 0..times {
            assert!(filter.contains(b"often"));
            filter.remove(b"often").unwrap();
        }
        assert_eq!(filter.contains(b"often"), times >= 15);
        assert_eq!(filter.count(b"often"), if times >= 15 { 15 } else { 0 });
        filter.clear();
        assert!(!filter.contains(b"often") && filter.key_count() == 0);
        assert!(filter.to_bytes().unwrap() == counting(1, 6, 0).to_bytes().unwrap());
    }
}

// ---- storms ----

/// A full filter under removals of everything: of keys that are not in, in every order and
/// far more often than they are in.
#[test]
fn removal_storms() {
    let params = Params::for_rate(20_000, 0.01).unwrap();
    let mut filter = CountingFilter::new(params).unwrap();
    let (first, others) = (random_hashes(20_000, 3), random_hashes(200_000, 4));
    filter.insert_hashes(&first);
    let before = filter.to_bytes().unwrap();

    // Keys that are surely absent.
    let absent: Vec<u64> =
        others.iter().copied().filter(|&hash| !filter.contains_hash(hash)).collect();
    assert!(absent.len() > 197_000);
    let mut removed = Bitmap::new();
    assert_eq!(filter.remove_hashes(&absent, &mut removed), 0);
    assert!(filter.to_bytes().unwrap() == before);

    // All that are in, in another order: nothing is left, and nothing was saturated.
    let mut order = first.clone();
    order.sort_unstable();
    assert_eq!(filter.remove_hashes(&order, &mut removed), order.len());
    assert!(filter.to_bytes().unwrap() == CountingFilter::new(params).unwrap().to_bytes().unwrap());
    assert_eq!(filter.remove_hashes(&order, &mut removed), 0);

    // False positives and keys that are in, over and over, until nothing more goes.
    filter.insert_hashes(&first);
    let all: Vec<u64> = others.iter().chain(&first).copied().collect();
    while filter.remove_hashes(&all, &mut removed) > 0 {}
    assert_eq!(check(&filter.to_bytes().unwrap(), true), status::OK);
    // What comes after it is in.
    filter.insert_hashes(&first);
    let mut bitmap = vec![0; first.len().div_ceil(64)];
    assert_eq!(filter.contains_hashes(&first, &mut bitmap), first.len());
}

// ---- whole filters ----

#[test]
fn every_backend_gives_the_same_bytes_and_answers() {
    let (keys, probes) = (random_hashes(3000, 5), random_hashes(3000, 6));
    for k in 1..=16 {
        let params = Params::new(61, k, 0).unwrap();
        let mut model = Model::new(params);
        keys.iter().for_each(|&hash| model.insert(hash));
        keys[..1000].iter().for_each(|&hash| assert!(model.remove(hash)));
        for backend in Backend::available() {
            let mut filter = CountingFilter::with_backend(params, backend).unwrap();
            assert_eq!(filter.filter().backend(), backend);
            filter.insert_hashes(&keys);
            assert_eq!(filter.remove_hashes(&keys[..1000], &mut [0; 16]), 1000);
            model.check(&filter);
            let mut bitmap = vec![0; probes.len().div_ceil(64)];
            filter.contains_hashes(&probes, &mut bitmap);
            for (i, &hash) in probes.iter().enumerate() {
                let answer = line::contains(filter.filter().lines(), k, hash);
                assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, answer, "{}", backend.name());
                assert_eq!(filter.contains_hash(hash), answer);
                assert_eq!(filter.count_hash(hash) > 0, answer);
            }
        }
    }
}

#[test]
fn plain_filters_of_it() {
    let mut filter = counting(20, 7, 9);
    let keys: Vec<String> = (0..500).map(|i| format!("key {i}")).collect();
    filter.insert_keys(&keys);
    filter.remove_keys(&keys[..100], &mut [0; 2]);
    let mut plain = Filter::new(filter.params()).unwrap();
    plain.insert_keys(&keys[100..]);
    let expected = plain.to_bytes().unwrap();
    assert!(filter.filter().to_bytes().unwrap() == expected);
    assert!(filter.to_filter().unwrap().to_bytes().unwrap() == expected);
    assert!(filter.view().lines() == plain.lines());
    assert_eq!(filter.filter().estimated_rate(), plain.estimated_rate());
    let copy = filter.try_clone().unwrap();
    assert!(copy.to_bytes().unwrap() == filter.to_bytes().unwrap());
    assert!(filter.into_filter().to_bytes().unwrap() == expected);
}

#[test]
fn union_adds_counters_up_to_15() {
    let (mut a, mut b) = (counting(3, 8, 0), counting(3, 8, 0));
    for (in_a, in_b) in [(0, 3), (3, 0), (7, 7), (8, 7), (15, 1), (20, 20)] {
        a.clear();
        b.clear();
        (0..in_a).for_each(|_| _ = a.insert(b"key"));
        (0..in_b).for_each(|_| _ = b.insert(b"key"));
        a.union(&b).unwrap();
        assert_eq!(a.count(b"key"), 15.min(in_a + in_b), "{in_a} and {in_b}");
        assert_eq!(a.key_count(), u64::from(in_a + in_b));
    }
    let before = a.to_bytes().unwrap();
    for other in [counting(4, 8, 0), counting(3, 7, 0), counting(3, 8, 1)] {
        assert!(matches!(a.union(&other), Err(Error::Mismatch)));
    }
    assert!(a.to_bytes().unwrap() == before);
}

#[test]
fn sizes_that_cannot_be() {
    // The most lines that a plain filter may have leave no room for counters.
    let most = isize::MAX as u64 / 64 - 1;
    for line_count in [most, most / 5 + 1] {
        let params = Params::new(line_count, 6, 0).unwrap();
        assert!(matches!(CountingFilter::new(params), Err(Error::LineCount(_))), "{line_count}");
    }
    if usize::BITS == 64 {
        let params = Params::new(1 << 50, 6, 0).unwrap();
        assert!(matches!(CountingFilter::new(params), Err(Error::OutOfMemory)));
    }
}

// ---- bytes ----

#[test]
fn buffers_and_layouts() {
    let mut filter = counting(2, 6, 0);
    filter.insert(b"apple");
    let bytes = filter.to_bytes().unwrap();
    assert_eq!((filter.encoded_len(), bytes.len()), (704, 704));
    let mut buffer = vec![0xEE; 710];
    assert_eq!(filter.encode(&mut buffer).unwrap(), 704);
    assert!(buffer[..704] == bytes && buffer[704..] == [0xEE; 6]);
    for len in [0, 64, 703] {
        let mut buffer = vec![0xEE; len];
        assert!(matches!(filter.encode(&mut buffer), Err(Error::BufferTooSmall { .. })));
        assert!(buffer.iter().all(|&byte| byte == 0xEE));
    }
    // A plain filter is none, and the rule about the layout comes before that about k.
    let mut plain = filter.filter().to_bytes().unwrap();
    assert!(matches!(CountingFilter::decode(&plain), Err(Error::Layout(_))));
    put(&mut plain, K, 0);
    seal(&mut plain);
    assert!(matches!(CountingFilter::decode(&plain), Err(Error::Layout(_))));
    let missing = Directory::new("missing").file("filter");
    assert!(matches!(CountingFilter::load(missing), Err(Error::Io(_))));
}

#[test]
fn damage_is_found() {
    let directory = Directory::new("damage");
    let (path, mut bytes) = (directory.file("filter"), Vec::new());
    for hashes in [vec![], random_hashes(90, 7)] {
        let mut filter = counting(2, 6, 0);
        filter.insert_hashes(&hashes);
        bytes = filter.to_bytes().unwrap();
        for len in 0..bytes.len() {
            let expected = if len < 64 { status::TRUNCATED } else { status::NOT_A_FILTER };
            assert_eq!(status_of_result(&CountingFilter::decode(&bytes[..len])), expected);
            assert_eq!(status_of_result(&View::open(&bytes[..len])), expected);
            let behind = CountingFilter::decode(&bytes[bytes.len() - len..]);
            assert_eq!(status_of_result(&behind), status::TRUNCATED);
        }
        for at in 0..bytes.len() {
            for flip in [0x01, 0x10, 0x80, 0xFF] {
                bytes[at] ^= flip;
                let status = check(&bytes, true);
                assert_ne!(status, status::OK, "byte {at} ^ {flip:#x}");
                assert_eq!(status_of_result(&CountingFilter::decode(&bytes)), status);
                assert_eq!(status_of_result(&View::open(&bytes)), status);
                // With checksums made right, only a change of counts that stay above 0 is
                // sound.
                if at < bytes.len() - 64 {
                    let mut sealed = bytes.clone();
                    seal(&mut sealed);
                    let status = check(&sealed, true);
                    assert_eq!(status_of_result(&CountingFilter::decode(&sealed)), status);
                    assert_eq!(status_of_result(&View::open(&sealed)), status);
                }
                bytes[at] ^= flip;
            }
        }
    }
    for len in [0, 63, 64, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..len]).unwrap();
        assert!(CountingFilter::load(&path).is_err());
        assert!(mapped::open(&path).is_err());
    }
}

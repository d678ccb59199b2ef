//! Iterators with the answers of a filter: those of probes one by one, of every kind of filter.

use bloomline::{CuckooFilter, CuckooParams, Filter, Params, Probe, ScalableFilter, Window};

use crate::definition;
use definition::random_hashes;

/// Around the size of a block.
const SIZES: [usize; 9] = [0, 1, 63, 64, 512, 1023, 1024, 1025, 3000];

fn agrees(filter: &(impl Probe + ?Sized), hashes: &[u64]) {
    for len in SIZES {
        let hashes = &hashes[..len];
        let answers = filter.contains_hashes_iter(hashes.iter().copied());
        assert_eq!(answers.len(), len);
        let expected = hashes.iter().map(|&hash| (hash, filter.contains_hash(hash)));
        assert!(answers.eq(expected), "{len} hashes");
        let expected = || hashes.iter().map(|key| (key, filter.contains(key)));
        assert!(filter.contains_iter(hashes).eq(expected()), "{len} keys");
        // The rest by `fold`, after some by `next`.
        for by_next in [0, 1, 64, 1000, 1024, 1100].into_iter().filter(|&some| some <= len) {
            let mut answers = filter.contains_iter(hashes);
            let mut all: Vec<_> = answers.by_ref().take(by_next).collect();
            answers.for_each(|answer| all.push(answer));
            assert!(all.into_iter().eq(expected()), "{by_next} of {len} keys by next");
        }
    }
}

#[test]
fn answers_are_those_of_probes_one_by_one_in_order() {
    let hashes = random_hashes(3000, 1);
    let (present, _) = hashes.split_at(1500);
    let params = Params::new(100, 6, 0).unwrap();
    let mut filter = Filter::new(params).unwrap();
    filter.insert_hashes(present);
    filter.insert_keys(present);
    assert!(filter.contains_hashes_iter(present.iter().copied()).all(|(_, maybe)| maybe));
    assert!(filter.contains_hashes_iter(hashes.clone()).any(|(_, maybe)| !maybe));
    agrees(&filter, &hashes);
    agrees(&filter.view(), &hashes);
    agrees(&&filter, &hashes);
    let mut classic = crate::definition::classic_filter(params).unwrap();
    classic.insert_hashes(present);
    agrees(&classic, &hashes);
    let mut cuckoo = CuckooFilter::new(CuckooParams::new(200, 12, 0).unwrap()).unwrap();
    assert!(present.iter().all(|&hash| cuckoo.insert_hash(hash).is_ok()));
    agrees(&cuckoo, &hashes);
    let mut scalable = ScalableFilter::new(100, 0.01, 0).unwrap();
    scalable.insert_keys(present).unwrap();
    agrees(&scalable, &hashes);
    let mut window = Window::new(3, 500, 0.01, 0).unwrap();
    window.insert_hashes(present);
    agrees(&window, &hashes);
}

#[test]
fn sizes_are_exact_and_the_end_is_the_end() {
    let filter = Filter::from_keys(["apple"], 0.01).unwrap();
    let mut answers = filter.contains_hashes_iter((0..1300u32).map(u64::from));
    for left in (0..1300).rev() {
        assert_eq!(answers.next().map(|(hash, _)| hash), Some(1299 - left as u64));
        assert_eq!((answers.len(), answers.size_hint()), (left, (left, Some(left))));
    }
    assert!(answers.next().is_none() && answers.next().is_none());
    // An iterator that goes on after its end, and says nothing of its length.
    let mut turn = 0;
    let odd = std::iter::from_fn(|| {
        turn += 1;
        (turn % 3 != 0).then_some(turn)
    });
    let mut answers = filter.contains_hashes_iter(odd);
    assert_eq!(answers.size_hint(), (0, None));
    assert_eq!(answers.by_ref().map(|(hash, _)| hash).collect::<Vec<_>>(), [1, 2]);
    assert!(answers.next().is_none());
}

#[test]
fn nothing_is_taken_before_the_first_answer_and_no_more_than_a_block_for_it() {
    let filter = Filter::from_keys(["apple"], 0.01).unwrap();
    let mut taken = 0;
    let mut answers = filter.contains_iter((0..10_000u64).inspect(|_| taken += 1));
    assert!(answers.next().is_some());
    drop(answers);
    assert_eq!(taken, 1024);
    drop(filter.contains_iter((0..10u64).inspect(|_| panic!("not asked for"))));
    // Keys that are moved in come out.
    let words = ["apple", "pear"].map(String::from);
    let found = filter.contains_iter(words).find(|(_, maybe)| *maybe);
    assert_eq!(found, Some((String::from("apple"), true)));
}

/// The items that were taken are lost, but none is answered that was not probed.
#[test]
fn after_a_panic_of_the_items_no_key_is_absent() {
    let hashes = random_hashes(3000, 2);
    let mut filter = Filter::new(Params::new(100, 6, 0).unwrap()).unwrap();
    filter.insert_hashes(&hashes);
    for panics in [0, 50, 1023, 1024, 1500] {
        let mut taken = 0;
        let mut answers = filter.contains_hashes_iter(hashes.iter().map(|&hash| {
            taken += 1;
            assert!(taken != panics + 1, "the caller's own");
            hash
        }));
        let mut failed = 0;
        loop {
            let next = || answers.next();
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(next)) {
                Ok(Some((_, maybe))) => assert!(maybe, "{panics}"),
                Ok(None) => break,
                Err(_) => failed += 1,
            }
        }
        assert_eq!(failed, 1);
    }
}

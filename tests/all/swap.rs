//! `Swap`: readers find one whole filter, the newest or one that was; none is lost, and none
//! stays.

use bloomline::{CuckooFilter, CuckooParams, Filter, Params, Swap, hash};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

const KEYS: u64 = 50;
const FILTERS: u64 = if cfg!(debug_assertions) { 300 } else { 3000 };

/// Key `i` of filter `number`.
fn hash_of(number: u64, i: u64) -> u64 {
    hash::hash_u64(number << 32 | i, 1)
}

/// Filter number `number`: it has exactly its keys, and says so by its count.
fn filter(number: u64) -> Filter {
    let params = Params::new(6, 7, 0).unwrap();
    let empty = if number.is_multiple_of(2) {
        Filter::new(params)
    } else {
        crate::definition::classic_filter(params)
    };
    let mut filter = empty.unwrap();
    filter.insert_hashes(&(0..KEYS).map(|i| hash_of(number, i)).collect::<Vec<_>>());
    filter.insert_hashes(&vec![hash_of(number, 0); number as usize]);
    filter
}

/// Whether all keys of a filter are in, and hardly any of its neighbours'.
fn is_whole(filter: &Filter) -> Option<u64> {
    let number = filter.key_count().checked_sub(KEYS)?;
    let has = |number| (0..KEYS).filter(|&i| filter.contains_hash(hash_of(number, i))).count();
    let mut bitmap = [0];
    let hashes: Vec<u64> = (0..KEYS).map(|i| hash_of(number, i)).collect();
    let all = has(number) == KEYS as usize
        && filter.contains_hashes(&hashes, &mut bitmap) == KEYS as usize
        && filter.params().is_classic() == (number % 2 == 1);
    (all && has(number + 1) < 10 && has(number.wrapping_sub(1)) < 10).then_some(number)
}

#[test]
fn readers_find_one_whole_filter() {
    let swap = Swap::new(filter(0));
    let (done, start, loads) = (AtomicBool::new(false), Barrier::new(4), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for reader in 0..3 {
            let (swap, done, start, loads) = (&swap, &done, &start, &loads);
            scope.spawn(move || {
                start.wait();
                let (mut newest, mut kept) = (0, Vec::new());
                while !done.load(Ordering::Acquire) {
                    let number = if reader == 0 {
                        // More at a time than arc-swap has room for without counting.
                        kept.push(swap.load());
                        let number = is_whole(kept.last().unwrap());
                        if kept.len() == 12 {
                            assert!(kept.iter().all(|filter| is_whole(filter).is_some()));
                            kept.clear();
                        }
                        number
                    } else if reader == 1 {
                        is_whole(&swap.snapshot())
                    } else {
                        is_whole(&swap.load())
                    };
                    let number = number.expect("a filter that is not whole");
                    assert!(number >= newest, "filter {number} after filter {newest}");
                    newest = number;
                    loads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        start.wait();
        for number in 1..=FILTERS {
            let old = swap.publish(filter(number));
            assert_eq!(is_whole(&old), Some(number - 1));
            assert_eq!(is_whole(&swap.load()), Some(number));
        }
        done.store(true, Ordering::Release);
    });
    println!("{} loads of {FILTERS} filters", loads.into_inner());
    assert_eq!(is_whole(&swap.snapshot()), Some(FILTERS));
}

#[test]
fn what_is_replaced_goes_when_its_last_reader_does() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Counted(Filter);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = || DROPPED.load(Ordering::Relaxed);
    let swap = Swap::new(Counted(filter(0)));
    let (loaded, snapshot) = (swap.load(), swap.snapshot());
    drop(swap.publish(Counted(filter(1))));
    assert!(dropped() == 0 && is_whole(&loaded.0) == Some(0));
    drop(loaded);
    assert_eq!(dropped(), 0);
    drop(snapshot);
    assert_eq!(dropped(), 1);
    for number in 2..100 {
        swap.publish(Counted(filter(number)));
        assert_eq!(dropped(), number as usize);
    }
    let last = swap.load();
    drop(swap);
    assert!(dropped() == 99 && is_whole(&last.0) == Some(99));
    drop(last);
    assert_eq!(dropped(), 100);
}

#[test]
fn anything_can_be_in_it() {
    let shared = Arc::new(filter(3));
    let swap = Swap::new(shared.clone());
    assert!(Arc::ptr_eq(&swap.snapshot(), &shared));
    let cuckoo: Swap<CuckooFilter> =
        Swap::new(CuckooFilter::new(CuckooParams::for_rate(100, 0.01).unwrap()).unwrap());
    assert!(!cuckoo.load().contains(b"key"));
    let shards: Swap<Vec<Filter>> = Swap::new(vec![filter(0), filter(1)]);
    shards.publish(vec![filter(2)]);
    assert_eq!(shards.load().len(), 1);
    assert_eq!(format!("{:?}", Swap::new(7)), "Swap(7)");
}

//! A growing filter for which there is no memory: what fails changes nothing, and what can wait waits.
#![allow(unsafe_code)]

use bloomline::definition::growing::Multiset;
use bloomline::{Error, GrowingFilter};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;

thread_local! {
    /// How many allocations succeed, of which every one counts; none: all.
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Fails when this thread has no allocation left.
struct Scarce;

fn denied() -> bool {
    LEFT.with(|left| match left.get() {
        Some(0) => true,
        Some(count) => {
            left.set(Some(count - 1));
            false
        }
        None => false,
    })
}

// SAFETY: the system's allocator, or NULL.
unsafe impl GlobalAlloc for Scarce {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the same contract.
        if denied() { null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the same contract.
        if denied() { null_mut() } else { unsafe { System.alloc_zeroed(layout) } }
    }

    unsafe fn realloc(&self, bytes: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the same contract.
        if denied() { null_mut() } else { unsafe { System.realloc(bytes, layout, size) } }
    }

    unsafe fn dealloc(&self, bytes: *mut u8, layout: Layout) {
        // SAFETY: the same contract.
        unsafe { System.dealloc(bytes, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Scarce = Scarce;

/// What `work` returns if only so many allocations succeed.
fn with<T>(left: u64, work: impl FnOnce() -> T) -> T {
    LEFT.with(|cell| cell.set(Some(left)));
    let result = work();
    LEFT.with(|cell| cell.set(None));
    result
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

fn history(flooded: bool) {
    let mut filter = GrowingFilter::new(20_000, 0.01, 0).unwrap();
    let mut model = Multiset::new(filter.prefix_count() / 16);
    let (mut state, mut inside, mut failed) = (1, Vec::new(), 0);
    for i in 0..60_000_u64 {
        let mut hash = next(&mut state);
        if flooded {
            hash = 0x5000_0000_0000_0000 | hash >> 14;
        }
        // For a while there is no memory at all, then some, then enough.
        let left = match i / 500 % 4 {
            0 => 0,
            1 => next(&mut state) % 3,
            2 => next(&mut state) % 20,
            _ => u64::MAX,
        };
        if i > 40_000 || next(&mut state).is_multiple_of(3) && !inside.is_empty() {
            if inside.is_empty() {
                break;
            }
            let hash = inside.swap_remove(next(&mut state) as usize % inside.len());
            assert_eq!(with(left, || filter.remove_hash(hash)), Ok(()));
            assert!(model.remove(hash));
        } else {
            let new = !model.contains(hash);
            match with(left, || filter.insert_hash(hash)) {
                Ok(is_new) => {
                    assert_eq!((is_new, model.insert(hash)), (new, new));
                    inside.push(hash);
                }
                Err(error) => {
                    assert_eq!(error, Error::OutOfMemory);
                    failed += 1;
                }
            }
        }
        if i.is_multiple_of(500) {
            assert!(filter.prefixes().eq(model.iter()), "{i}");
            assert!(inside.iter().all(|&hash| filter.contains_hash(hash)), "{i}");
        }
    }
    println!("{failed} inserts failed");
    assert!(failed > 0);
}

#[test]
fn no_key_is_lost_for_want_of_memory() {
    history(false);
}

#[test]
fn nor_when_all_are_in_one_region() {
    history(true);
}

#[test]
fn what_cannot_be_built_leaves_the_filter() {
    let mut state = 3;
    let hashes: Vec<u64> = (0..20_000).map(|_| next(&mut state)).collect();
    let mut filter = GrowingFilter::build(40_000, 0.01, 0, &hashes).unwrap();
    let other = GrowingFilter::build(40_000, 0.01, 0, &hashes[..5000]).unwrap();
    let before: Vec<(u64, u64)> = filter.prefixes().collect();
    let mut left = 0;
    while with(left, || filter.union(&other)) == Err(Error::OutOfMemory) {
        assert!(filter.prefixes().eq(before.iter().copied()));
        assert!(with(left, || filter.split(3)).is_err());
        left += 1;
    }
    assert!(left > 20 && filter.key_count() == 25_000);
}

/// Bytes that come a few at a time.
struct Slowly<'a>(&'a [u8]);

impl std::io::Read for Slowly<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let len = to.len().min(100);
        self.0.read(&mut to[..len])
    }
}

#[test]
fn a_stream_for_which_there_is_no_room() {
    let mut state = 4;
    let hashes: Vec<u64> = (0..30_000).map(|_| next(&mut state)).collect();
    let filter = GrowingFilter::build(40_000, 0.01, 0, &hashes).unwrap();
    let bytes = filter.to_bytes().unwrap();
    let mut left = 0;
    let read = loop {
        match with(left, || GrowingFilter::read_from(Slowly(&bytes))) {
            Ok(read) => break read,
            Err(error) => assert_eq!(error, Error::OutOfMemory),
        }
        left += 1;
    };
    assert!(left > 5 && read == filter, "{left}");
}

/// A key that is there often has a short prefix. When its region moves to lines for which that is too short, its
/// further copies become those of several prefixes.
#[test]
fn copies_of_a_prefix_that_becomes_several() {
    let mut state = 5;
    let hashes: Vec<u64> = (0..60_000).map(|_| next(&mut state)).collect();
    let make = |count: usize| {
        let mut filter = GrowingFilter::unbounded(20, 0.01, 0).unwrap();
        (0..20).for_each(|_| _ = filter.insert_hash(hashes[0]).unwrap());
        filter.insert_hashes(&hashes[1..count]).unwrap();
        filter
    };
    // The insert with which they are more prefixes.
    let mut last = 12_000;
    let mut filter = make(last);
    let before = filter.beside().0;
    while filter.beside().0 == before {
        filter.insert_hash(hashes[last]).unwrap();
        last += 1;
    }
    assert!(filter.regions() == 16 && before > 0);
    println!("{before} copies, {} after {last} keys", filter.beside().0);
    for left in 0.. {
        let mut filter = make(last - 1);
        let result = with(left, || filter.insert_hash(hashes[last - 1]));
        let is_done = result.is_ok() && filter.beside().0 > before;
        assert!(filter.count_hash(hashes[0]) >= 20);
        filter.insert_hashes(&hashes[last..last + 2000]).unwrap();
        assert!(filter.count_hash(hashes[0]) >= 20 && filter.beside().0 > before);
        if is_done {
            assert!(left > 3, "{left} allocations");
            return;
        }
    }
}

/// Without the memory to build the filter anew, a large batch is inserted one by one. It fails where one by one does.
#[test]
fn a_large_batch() {
    let mut state = 6;
    let hashes: Vec<u64> = (0..30_000).map(|_| next(&mut state)).collect();
    let (before, batch) = hashes.split_at(20_000);
    let make = |hashes: &[u64]| {
        let mut filter = GrowingFilter::new(30_000, 0.01, 0).unwrap();
        hashes.iter().for_each(|&hash| _ = filter.insert_hash(hash).unwrap());
        filter
    };
    let mut built = make(before);
    built.insert_hashes(batch).unwrap();
    let (mut singly, mut failed) = (0, 0);
    for left in 0.. {
        let mut filter = make(before);
        let result = with(left, || filter.insert_hashes(batch));
        let count = filter.key_count() as usize;
        assert_eq!(result, if count == hashes.len() { Ok(()) } else { Err(Error::OutOfMemory) });
        assert!(filter == make(&hashes[..count]), "{left}");
        failed += usize::from(result.is_err());
        singly += 1;
        if filter.memory_usage() == built.memory_usage() {
            break;
        }
    }
    assert!(failed > 0 && singly > 20, "{failed} of {singly} failed");
}

/// The common prefixes of unbounded filters, for which there is no memory, leave the filter as it was.
#[test]
fn what_unbounded_filters_have_in_common() {
    let mut state = 7;
    let hashes: Vec<u64> = (0..6_000).map(|_| next(&mut state)).collect();
    let make = |hashes: &[u64]| {
        let mut filter = GrowingFilter::unbounded(20, 0.1, 0).unwrap();
        filter.insert_hashes(hashes).unwrap();
        filter
    };
    let (one, other) = (make(&hashes[..4_000]), make(&hashes[2_000..]));
    let mut common = one.try_clone().unwrap();
    common.intersect(&other).unwrap();
    for left in 0.. {
        let mut filter = one.try_clone().unwrap();
        if with(left, || filter.intersect(&other)).is_ok() {
            assert!(left > 5 && filter == common, "{left} allocations");
            return;
        }
        assert!(filter == one, "{left} allocations");
    }
}

/// Without the memory for an empty filter, its lines go all the same. It is then encoded as any empty one.
#[test]
fn what_is_cleared_is_encoded_as_empty() {
    let mut state = 8;
    let hashes: Vec<u64> = (0..30_000).map(|_| next(&mut state)).collect();
    for count in [100, 30_000] {
        let mut filter = GrowingFilter::build(40_000, 0.01, 0, &hashes[..count]).unwrap();
        with(0, || filter.clear());
        let empty = GrowingFilter::new(40_000, 0.01, 0).unwrap();
        assert!(filter == empty && filter.to_bytes() == empty.to_bytes(), "{count} keys");
        filter.insert_hashes(&hashes).unwrap();
        assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
    }
}

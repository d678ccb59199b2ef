//! What a growing filter that readers probe takes, and gives back: a test by itself, for it counts all bytes.
#![allow(unsafe_code)]

use bloomline::{GrowingFilter, GrowingWriter};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// The bytes that are allocated, and the most that were.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counted;

// SAFETY: the system's allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, bytes: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the same contract.
        unsafe { System.dealloc(bytes, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

fn hash(i: u64) -> u64 {
    bloomline::hash::hash_u64(i, 0)
}

/// Grows, shrinks and grows again while readers come, probe and go.
#[test]
fn lines_are_freed_when_no_reader_is_left() {
    let (ended, keys) = (AtomicBool::new(false), 100_000);
    let before = LIVE.load(Ordering::Relaxed);
    let mut writer = GrowingWriter::new(GrowingFilter::new(keys, 0.01, 0).unwrap()).unwrap();
    thread::scope(|scope| {
        let (reader, ended) = (writer.reader(), &ended);
        scope.spawn(move || {
            let mut i = 0;
            while !ended.load(Ordering::Relaxed) {
                let some: [u64; 300] = std::array::from_fn(|j| hash(i + j as u64));
                reader.clone().contains_hashes(&some, &mut [0; 5]);
                i += 1;
            }
        });
        for _ in 0..3 {
            for i in 0..keys {
                writer.insert_hash(hash(i)).unwrap();
            }
            for i in keys / 20..keys {
                writer.remove_hash(hash(i)).unwrap();
            }
            for i in 0..keys / 20 {
                writer.remove_hash(hash(i)).unwrap();
            }
        }
        for i in 0..keys {
            writer.insert_hash(hash(i)).unwrap();
        }
        ended.store(true, Ordering::Relaxed);
    });
    let (live, most) =
        (LIVE.load(Ordering::Relaxed) - before, MOST.load(Ordering::Relaxed) - before);
    let says = writer.filter().memory_usage();
    // 10 bits per key, a region that moves, what readers see of the layouts, a thread. At the most
    // also the lines before they grew, for as long as a reader has them that gets no turn.
    assert!(live < says + says / 8 + 20_000, "{live} bytes are there, the filter has {says}");
    assert!(most < 2 * says + 60_000, "at most {most} bytes, the filter has {says}");
    assert!((0..keys).all(|i| writer.reader().contains_hash(hash(i))));
    drop(writer);
    let left = LIVE.load(Ordering::Relaxed).saturating_sub(before);
    assert!(left < 10_000, "{left} bytes are left");
}

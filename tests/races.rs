//! Growing filters in several threads, readers beside a writer and parallel inserts, for ThreadSanitizer:
//! `make test-tsan` runs the tests of tests/all that have threads of this kind. By itself cargo runs none of this.
#![allow(unsafe_code)]

use bloomline::GrowingFilter;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

mod definition;
#[path = "all/kinds/growing/parallel.rs"]
mod parallel;
#[path = "all/kinds/growing/shared.rs"]
mod shared;

struct Unguarded(UnsafeCell<GrowingFilter>);

// SAFETY: none; see below.
unsafe impl Sync for Unguarded {}

/// Not a test of the library but of the checker: two threads insert into one filter, which ThreadSanitizer must
/// report, or its silence about the other tests means nothing. They take turns, without a promise that one sees
/// what the other did: so nothing else breaks.
#[test]
#[ignore = "breaks the thread rule; `make test-tsan` runs it"]
fn control() {
    let filter = Arc::new(Unguarded(UnsafeCell::new(GrowingFilter::new(1000, 0.01, 0).unwrap())));
    let turn = Arc::new(AtomicUsize::new(0));
    let threads = [0, 1].map(|me| {
        let (filter, turn) = (Arc::clone(&filter), Arc::clone(&turn));
        thread::spawn(move || {
            for round in 0..50 {
                while turn.load(Ordering::Relaxed) != 2 * round + me {
                    thread::yield_now();
                }
                // SAFETY: none; that is what this is for.
                let filter = unsafe { &mut *filter.0.get() };
                filter.insert_hash((2 * round + me) as u64).unwrap();
                turn.store(2 * round + me + 1, Ordering::Relaxed);
            }
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    println!("not reported");
}

//! Threads that share a piece of work, for the length of a call.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// So many threads; as many as the machine has, if 0.
pub(crate) fn or_all(threads: usize) -> usize {
    match threads {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        _ => threads,
    }
}

/// Calls `work` with each item, on up to so many threads, the caller's among them. A thread that
/// has done an item takes the next: if the system starts fewer threads, those do all.
pub(crate) fn share<I: Iterator + Send>(threads: usize, items: I, work: impl Fn(I::Item) + Sync) {
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(item) = next() {
            work(item);
        }
    };
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        work();
        // The end of a scope waits for the work, this for the threads to be gone.
        for other in others {
            other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn each_item_is_done_once() {
        assert!(or_all(0) > 0);
        assert_eq!(or_all(7), 7);
        for threads in [0, 1, 2, 64] {
            for count in [0, 1, 2, 1000] {
                let mut done: Vec<_> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                share(threads, done.iter(), |item| {
                    item.fetch_add(1, Ordering::Relaxed);
                });
                assert!(done.iter_mut().all(|times| *times.get_mut() == 1));
            }
        }
    }
}

//! Threads that share a piece of work, for the length of a call.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
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
/// has done an item takes the next, and none waits for another's: if the system starts fewer
/// threads, those do all.
pub(crate) fn share<T: Send>(
    threads: usize,
    items: impl Iterator<Item = T>,
    work: impl Fn(T) + Sync,
) {
    let items: Vec<_> = items.map(|item| Mutex::new(Some(item))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(place) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            // Each number comes once, so nobody else is here.
            let item = place.lock().unwrap_or_else(PoisonError::into_inner).take();
            item.into_iter().for_each(&work);
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

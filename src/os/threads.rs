//! Threads that share a piece of work, for the length of a call.
//!
//! On Unix they are the system's own: the standard library's allocate memory to start, and abort
//! the process if there is none; and they make a C program some 50 KB larger.
#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
#[cfg(not(unix))]
use std::thread;

/// More threads than this are not started.
const MOST: usize = 256;

/// So many threads; as many as there are CPUs, if 0.
pub(crate) fn or_all(threads: usize) -> usize {
    if threads == 0 { cpus().max(1) } else { threads }
}

/// The CPUs that this process may run on; 0 if the system does not say. (The standard library's
/// function reads the files of control groups, and aborts if there is no memory for them.)
#[cfg(any(target_os = "linux", target_os = "android"))]
fn cpus() -> usize {
    // SAFETY: the set is an array of bits, and zeros are one. The system writes as many bytes as
    // the set has.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        match libc::sched_getaffinity(0, size_of_val(&set), &mut set) {
            0 => libc::CPU_COUNT(&set) as usize,
            _ => 0,
        }
    }
}

/// The CPUs of the machine; 0 if the system does not say.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn cpus() -> usize {
    // SAFETY: it only asks.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(0)
}

#[cfg(not(unix))]
fn cpus() -> usize {
    thread::available_parallelism().map_or(0, std::num::NonZero::get)
}

/// Calls `work` with each item, on up to so many threads, the caller's among them. A thread that
/// has done an item takes the next, and none waits for another's: if the system starts fewer
/// threads, those do all. The caller's does what there is no memory to put on a list.
///
/// # Panics
/// If `work` does.
pub(crate) fn share<T: Send>(
    threads: usize,
    items: impl Iterator<Item = T>,
    work: impl Fn(T) + Sync,
) {
    let mut list = Vec::new();
    for item in items {
        match list.try_reserve(1) {
            Ok(()) => list.push(Mutex::new(Some(item))),
            Err(_) => work(item),
        }
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let each = || {
        while let Some(place) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
            // Each number comes once, so nobody else is here.
            let item = place.lock().unwrap_or_else(PoisonError::into_inner).take();
            item.into_iter().for_each(&work);
        }
    };
    // A panic must not leave a thread that the system started.
    on_threads(threads.clamp(1, MOST), &|| {
        if catch_unwind(AssertUnwindSafe(each)).is_err() {
            failed.store(true, Ordering::Relaxed);
        }
    });
    assert!(!failed.into_inner(), "a thread panicked");
}

/// Calls `work` on so many threads, or as many as start, and waits for all.
#[cfg(unix)]
fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) {
    use std::ffi::c_void;
    use std::ptr::{from_ref, null, null_mut};

    extern "C" fn start(work: *mut c_void) -> *mut c_void {
        // SAFETY: it points at the reference below, which outlives the thread.
        (unsafe { *work.cast::<&(dyn Fn() + Sync)>() })();
        null_mut()
    }
    // SAFETY: a handle is a number or an address, and zero is one; only those are used that the
    // system has written.
    let mut others: [libc::pthread_t; MOST] = unsafe { std::mem::zeroed() };
    let argument = from_ref(&work).cast_mut().cast();
    let mut started = 0;
    while started + 1 < threads {
        // SAFETY: there is room for the handle; the thread only reads the argument, which other
        // threads may use too, and is joined before it goes.
        let status = unsafe { libc::pthread_create(&mut others[started], null(), start, argument) };
        if status != 0 {
            break;
        }
        started += 1;
    }
    work();
    for &other in &others[..started] {
        // SAFETY: it was started, and nobody else joins it.
        unsafe { libc::pthread_join(other, null_mut()) };
    }
}

/// Calls `work` on so many threads, or as many as start, and waits for all.
#[cfg(not(unix))]
fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) {
    thread::scope(|scope| {
        for _ in 1..threads {
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_done_once() {
        assert!(or_all(0) > 0);
        assert_eq!(or_all(7), 7);
        for threads in [0, 1, 2, 64, usize::MAX] {
            for count in [0, 1, 2, 1000] {
                let mut done: Vec<_> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                share(threads, done.iter(), |item| {
                    item.fetch_add(1, Ordering::Relaxed);
                });
                assert!(done.iter_mut().all(|times| *times.get_mut() == 1));
            }
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_after_all_others_are_done() {
        let done = AtomicUsize::new(0);
        let items = 0..100;
        let result = catch_unwind(AssertUnwindSafe(|| {
            share(4, items, |item| {
                assert!(item != 50, "this one");
                done.fetch_add(1, Ordering::Relaxed);
            });
        }));
        assert!(result.is_err());
        assert!(done.into_inner() <= 99);
    }
}

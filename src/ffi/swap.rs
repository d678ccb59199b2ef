//! `bloomline_swap`: a filter that is replaced while threads read it.
//!
//! Not that `Swap` itself: it holds an `Arc`, and to make one without memory ends the process.
//! Here what is shared is allocated as all handles are, and counted by `Holder`.

use super::batch::{Key, answer_hashes, answer_keys};
use super::boundary::{Failure, NULL};
use super::boundary::{bytes, convert_handle, free, guard, guard_or, output, shared, try_box};
use super::filter::bloomline_filter;
use super::hash::bloomline_bytes;
use super::status::bloomline_status;
use arc_swap::{ArcSwapAny, RefCnt};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A place for a filter that any number of threads probe, and in which another takes its
/// place at one stroke: built beside, then published. A reader finds the old filter or the new
/// one, whole, and never waits. It is made by bloomline_swap_new() and freed by
/// bloomline_swap_free().
///
/// Any number of threads may call all functions of a swap at once, but bloomline_swap_free(),
/// which needs it for itself alone.
///
/// The first call of a thread that asks or publishes makes a record of that thread, of less
/// than 1 KB, which a later thread takes over when it ends. If there is no memory for those
/// bytes, the process is ended; all else that lacks memory is a status.
pub struct bloomline_swap(ArcSwapAny<Holder>);

// What the thread rule promises to C.
const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<bloomline_swap>();
};

/// A filter, and how many hold it. A snapshot of C is a pointer to one, as to its filter.
#[repr(C)]
struct Held {
    filter: bloomline_filter,
    holders: AtomicUsize,
}

/// One who holds a filter: what `Arc` is, of memory that `try_box` has allocated.
struct Holder(NonNull<Held>);

// SAFETY: all that is reached through it is a filter behind a shared reference, which threads
// may share, and a count that is atomic; whoever is last drops the filter, which threads may
// send.
unsafe impl Send for Holder {}
// SAFETY: as above.
unsafe impl Sync for Holder {}

impl Holder {
    fn held(&self) -> &Held {
        // SAFETY: it is there as long as it has a holder.
        unsafe { self.0.as_ref() }
    }
}

impl Clone for Holder {
    fn clone(&self) -> Holder {
        // In relaxed order: who has one to copy sees the filter already.
        if self.held().holders.fetch_add(1, Ordering::Relaxed) > isize::MAX as usize {
            // Snapshots that nobody releases; the count must not wrap. As `Arc` does.
            std::process::abort();
        }
        Holder(self.0)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // What all others did with the filter happened before it goes.
        if self.held().holders.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: it came from `try_box`, and nobody else holds it.
            unsafe { free(self.0.as_ptr()) };
        }
    }
}

// SAFETY: as for `Arc`: the pointer is that of the value, stays the same for it, and is turned
// back into a holder once for each that was turned into it.
unsafe impl RefCnt for Holder {
    type Base = Held;

    fn into_ptr(me: Holder) -> *mut Held {
        std::mem::ManuallyDrop::new(me).0.as_ptr()
    }

    fn as_ptr(me: &Holder) -> *mut Held {
        me.0.as_ptr()
    }

    unsafe fn from_ptr(held: *const Held) -> Holder {
        // SAFETY: it came from `into_ptr`, which has no NULL.
        Holder(unsafe { NonNull::new_unchecked(held.cast_mut()) })
    }
}

impl Holder {
    /// The first holder of a filter that C gives up.
    ///
    /// # Safety
    /// As for [`convert_handle`].
    unsafe fn of(filter: *mut *mut bloomline_filter) -> Result<Holder, Failure> {
        // SAFETY: the same contract.
        let held = unsafe {
            convert_handle(filter, |filter| Held { filter, holders: AtomicUsize::new(1) })
        }?;
        NonNull::new(held).map(Holder).ok_or(NULL)
    }
}

/// bloomline_swap_new() makes a swap with the filter '*first' in it, which is used up: the swap
/// frees it, and '*first' is set to NULL.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; '*first' is then as before, and still the caller's.
///
/// # Safety
/// See [`crate::ffi`]; the filter is not used again.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_swap_new(
    first: *mut *mut bloomline_filter,
    out: *mut *mut bloomline_swap,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        let room = try_box(MaybeUninit::<bloomline_swap>::uninit())?;
        // SAFETY: rules of the header: the pointer to the handle is NULL or this call's alone.
        // The room is as large as what is written there, and is a box of it from then on.
        unsafe {
            match Holder::of(first) {
                Ok(holder) => (*room).write(bloomline_swap(ArcSwapAny::new(holder))),
                Err(failure) => {
                    free(room);
                    return Err(failure);
                }
            };
            out.write(room.cast());
        }
        Ok(())
    })
}

/// bloomline_swap_free() frees a swap that no thread uses any more, and its filter; snapshots
/// stay until they are released. NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`]; the swap is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_swap_free(swap: *mut bloomline_swap) {
    // SAFETY: the handle came from `try_box`, and the caller gives it up.
    unsafe { free(swap) }
}

/// bloomline_swap_publish() puts the filter '*next' in the place of the one that was there. It
/// is used up: the swap frees it, and '*next' is set to NULL. It may be of any size and kind.
/// A call that begins after this one has returned is answered by it, or by one that is newer.
/// The filter that was there is freed as soon as no call and no snapshot uses it, perhaps in
/// the thread that does so last.
///
/// To replace a filter while it is in use, make the next one, insert its keys however long
/// that takes, and publish it. Nothing must be inserted into it afterwards.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; '*next' is then as before, and still the caller's.
///
/// # Safety
/// See [`crate::ffi`]; the filter is not used again.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_swap_publish(
    swap: *const bloomline_swap,
    next: *mut *mut bloomline_filter,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive, the pointer to the other
        // NULL or this call's alone.
        unsafe { shared(swap).ok_or(NULL)?.0.store(Holder::of(next)?) };
        Ok(())
    })
}

/// bloomline_swap_acquire() takes a snapshot: the filter that is in the swap now, for
/// questions that one filter has to answer, and for all functions that take a const
/// bloomline_filter. It stays as it is, whatever is published, until it is given to
/// bloomline_swap_release(), once, in any thread. It must not be changed or freed. Of a NULL
/// swap it is NULL, which may have every key.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_swap_acquire(
    swap: *const bloomline_swap,
) -> *const bloomline_filter {
    guard_or(std::ptr::null(), || {
        // SAFETY: rules of the header: the handle is NULL or alive.
        let swap = unsafe { shared(swap) };
        // The filter is the first part of what is held.
        swap.map_or(std::ptr::null(), |swap| {
            Holder::into_ptr(swap.0.load_full()).cast_const().cast()
        })
    })
}

/// bloomline_swap_release() gives back a snapshot, which must not be used any more. NULL is a
/// no-op.
///
/// # Safety
/// See [`crate::ffi`]; the snapshot is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_swap_release(snapshot: *const bloomline_filter) {
    if !snapshot.is_null() {
        // SAFETY: it came from `bloomline_swap_acquire`, and the caller gives it up.
        guard_or((), || drop(unsafe { Holder::from_ptr(snapshot.cast()) }));
    }
}

/// bloomline_swap_contains() returns false if the key of 'len' bytes at 'key' is certainly not
/// in the filter that is in the swap now, and true if it may be.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_swap_contains(
    swap: *const bloomline_swap,
    key: *const c_void,
    len: usize,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive; `len` bytes are there unless
    // NULL.
    match unsafe { (shared(swap), bytes(key, len)) } {
        (Some(swap), Some(key)) => swap.0.load().held().filter.0.contains(key),
        _ => true,
    }
}

/// bloomline_swap_contains_hash() is bloomline_swap_contains() for a key given by its hash.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_swap_contains_hash(
    swap: *const bloomline_swap,
    hash: u64,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive.
    unsafe { shared(swap) }.is_none_or(|swap| swap.0.load().held().filter.0.contains_hash(hash))
}

/// bloomline_swap_contains_hashes() is bloomline_filter_contains_hashes() for the filter that
/// is in the swap now: one filter answers the whole batch.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_swap_contains_hashes(
    swap: *const bloomline_swap,
    hashes: *const u64,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive; each array has its count
    // unless NULL.
    unsafe {
        let probe = shared(swap).map(|swap| {
            let filter = swap.0.load();
            move |hashes: &[u64], bitmap: &mut [u64]| {
                filter.held().filter.0.contains_hashes(hashes, bitmap)
            }
        });
        answer_hashes(hashes, n, bitmap, probe)
    }
}

/// bloomline_swap_contains_keys() is bloomline_swap_contains_hashes() for keys given by their
/// bytes.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_swap_contains_keys(
    swap: *const bloomline_swap,
    keys: *const bloomline_bytes,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive; each array has its count
    // unless NULL.
    unsafe {
        let probe = shared(swap).map(|swap| {
            let filter = swap.0.load();
            move |keys: &[Key], bitmap: &mut [u64]| {
                filter.held().filter.0.contains_keys(keys, bitmap)
            }
        });
        answer_keys(keys, n, bitmap, probe)
    }
}

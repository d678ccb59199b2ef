//! `bloomline_swap`: replaced atomically while threads read it.
//!
//! Not that `Swap` itself: it holds an `Arc`, and to make one without memory ends the process.
//! Here what is shared is allocated as all handles are, and counted by `Holder`.

use super::boundary::*;
use super::filter::bloomline_filter;
use arc_swap::{ArcSwapAny, RefCnt};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A place for a filter that threads read while it is atomically replaced. A reader takes a
/// snapshot by bloomline_swap_acquire(), the old filter or the new one, whole, and never waits.
/// Made by bloomline_swap_new(); freed by bloomline_swap_free(), which requires exclusive access:
/// all other functions may run in any number of threads.
///
/// The first call in a thread makes a record of that thread, of less than 1 KB, which a later
/// thread takes over. If there is no memory for that record, it aborts the process.
pub struct bloomline_swap(ArcSwapAny<Holder>);

const _: () = shared_between_threads::<bloomline_swap>();

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

exports! {
/// bloomline_swap_new() creates a swap, takes ownership of the filter '*first' in it, and sets
/// '*first' to NULL.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; '*first' is unchanged, and still the caller's.
fn bloomline_swap_new(
    first: *mut *mut bloomline_filter, out: *mut *mut bloomline_swap,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        let room = try_box(MaybeUninit::<bloomline_swap>::uninit())?;
        match Holder::of(first) {
            Ok(holder) => (*room).write(bloomline_swap(ArcSwapAny::new(holder))),
            Err(failure) => {
                free(room);
                return Err(failure);
            }
        };
        out.write(room.cast());
        Ok(())
    })
}

/// bloomline_swap_free() frees a swap that no thread uses any more, and its filter. Snapshots stay
/// until they are released.
fn bloomline_swap_free(swap: *mut bloomline_swap) {
    free(swap)
}

/// bloomline_swap_publish() atomically replaces the filter in 'swap' by '*next', of any size and
/// type, takes ownership of it, and sets '*next' to NULL. A later bloomline_swap_acquire() returns
/// it, or a newer one. The old filter is freed when its last snapshot is released, perhaps by that
/// thread. Insert all keys into '*next' before: it must not change afterwards.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; '*next' is unchanged, and still the caller's.
fn bloomline_swap_publish(
    swap: *const bloomline_swap, next: *mut *mut bloomline_filter,
) -> bloomline_status {
    guard(|| {
        required(swap)?.0.store(Holder::of(next)?);
        Ok(())
    })
}

/// bloomline_swap_acquire() returns a snapshot: the filter now in 'swap', for any function that
/// takes a const bloomline_filter. Publishing does not affect it. Do not change or free it; pass
/// it to bloomline_swap_release() exactly once, from any thread.
///
/// Returns NULL if 'swap' is NULL; probes of NULL return true.
fn bloomline_swap_acquire(swap: *const bloomline_swap) -> *const bloomline_filter {
    guard_or(std::ptr::null(), || {
        let swap = shared(swap);
        // The filter is the first part of what is held.
        swap.map_or(std::ptr::null(), |swap| {
            Holder::into_ptr(swap.0.load_full()).cast_const().cast()
        })
    })
}

/// bloomline_swap_release() releases a snapshot. Do not use it afterwards.
fn bloomline_swap_release(snapshot: *const bloomline_filter) {
    if !snapshot.is_null() {
        // It came from `bloomline_swap_acquire`, and the caller gives it up.
        guard_or((), || drop(Holder::from_ptr(snapshot.cast())));
    }
}
}

//! `bloomline_allocator`: where the memory of lines and of builds comes from.

use super::boundary::*;
use crate::os::memory::{self, Allocator};

/// Functions that lines are allocated by, such as those of an engine's arena.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bloomline_allocator {
    /// Returns 'size' bytes at a multiple of 'align', which is 64, or NULL. They need not be
    /// zeroed.
    pub alloc: Option<
        unsafe extern "C" fn(context: *mut c_void, size: usize, align: usize) -> *mut c_void,
    >,
    /// Frees what 'alloc' returned for this 'size'.
    pub free: Option<unsafe extern "C" fn(context: *mut c_void, memory: *mut c_void, size: usize)>,
    /// Passed to both.
    pub context: *mut c_void,
}

// With both functions there, it is one of the library's.
const _: () = assert!(size_of::<bloomline_allocator>() == size_of::<Allocator>());

exports! {
/// bloomline_set_allocator() makes 'allocator' the source of the memory of all lines and counters
/// made from now on, of filters of all kinds. The memory to build them in comes from it, too: the
/// keys in a bloomline_builder, and what bloomline_static_block_build() and bloomline_cascade_new()
/// take for each hash. NULL restores the default. Handles, of some hundred bytes, and file names
/// stay with malloc(). With an allocator, no huge pages are mapped.
///
/// Memory is freed by the allocator that it came from. So keep '*allocator' in place, unchanged,
/// until all filters and builders made with it are freed: best make it static.
///
/// Any thread may call this at any time; a filter made meanwhile has the old allocator or the new.
/// 'alloc' and 'free' are called by whichever thread makes, grows or frees a filter, by several at
/// once. They must not call this library, and must return normally: no exception, no longjmp(). If
/// 'alloc' returns NULL or an address that is no multiple of 64, the call that needed it returns
/// BLOOMLINE_ERR_OUT_OF_MEMORY.
///
/// There is one allocator for the process, and none for each filter: the functions called
/// bloomline_..._memory() tell what each takes of it.
///
/// Errors: BLOOMLINE_ERR_NULL if 'alloc' or 'free' is NULL; nothing changes.
fn bloomline_set_allocator(allocator: *const bloomline_allocator) -> bloomline_status {
    guard(|| {
        if let Some(allocator) = shared(allocator) {
            allocator.alloc.and(allocator.free).ok_or(NULL)?;
        }
        // The functions are there, and so it has the fields of an `Allocator`; the caller
        // vouches for the rest.
        memory::set_allocator(allocator.cast());
        Ok(())
    })
}
}

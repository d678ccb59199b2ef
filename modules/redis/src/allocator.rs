//! The memory of the module comes from the server, so that `maxmemory`, eviction and INFO count it.
//!
//! The server aligns to 16 bytes, and lines want 64: larger alignments are made by hand. What the
//! server cannot give is NULL and not the end of the process, where the server can say so.
#![allow(unsafe_code)]
// Tests run without a server, so with another allocator.
#![cfg_attr(test, allow(dead_code))]

use crate::api::{Table, table};
use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
#[cfg(target_os = "linux")]
use std::ffi::c_int;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The allocator of the module.
pub(crate) struct Server;

#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: Server = Server;

/// Whether the server's functions are there.
static READY: AtomicBool = AtomicBool::new(false);

/// Whether large zeroed blocks are to lie in huge pages.
static HUGE: AtomicBool = AtomicBool::new(false);

/// Asks the system for huge pages for large blocks from now on, or not.
pub(crate) fn set_huge_pages(wanted: bool) {
    HUGE.store(wanted, Ordering::Relaxed);
}

/// What every allocator aligns to, on systems with 64 bits.
const USUAL: usize = 2 * size_of::<usize>();

/// Larger blocks are asked for before they are taken: see [`zeroed`].
const LARGE: usize = 1 << 20;

/// Says that the server's functions are there.
pub(crate) fn start() {
    READY.store(true, Ordering::Release);
}

// SAFETY: blocks are those of the server's allocator, or of the arena, which never gives one twice.
unsafe impl GlobalAlloc for Server {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !READY.load(Ordering::Acquire) {
            return ARENA.take(layout);
        }
        aligned(layout, |size| some(table(), size))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !READY.load(Ordering::Acquire) {
            // The arena is zeroed, and gives nothing twice.
            return ARENA.take(layout);
        }
        let block = aligned(layout, |size| zeroed(table(), size));
        if HUGE.load(Ordering::Relaxed) && !block.is_null() {
            advise(block, layout.size());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if ARENA.has(block) {
            return;
        }
        let start = if layout.align() <= USUAL {
            block
        } else {
            // SAFETY: `aligned` has put the start before the block.
            unsafe { block.cast::<*mut u8>().sub(1).read() }
        };
        // SAFETY: the server gave it, and it is freed only here.
        unsafe { (table().free)(start.cast()) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= USUAL && !ARENA.has(block) {
            let table = table();
            // SAFETY: the server gave the block, whose alignment is the usual one.
            return unsafe { table.try_realloc.unwrap_or(table.realloc)(block.cast(), size) }
                .cast();
        }
        let Ok(new) = Layout::from_size_align(size, layout.align()) else { return null_mut() };
        // SAFETY: the size is not 0, as the caller promises; both blocks have as many bytes as
        // are copied, and the old one is the caller's.
        unsafe {
            let moved = self.alloc(new);
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

/// A block of that alignment from a function that has the usual one.
fn aligned(layout: Layout, take: impl FnOnce(usize) -> *mut c_void) -> *mut u8 {
    if layout.align() <= USUAL {
        return take(layout.size()).cast();
    }
    // The start of the block lies just before the aligned part: at least a pointer's room.
    let Some(room) = layout.size().checked_add(layout.align() + USUAL) else { return null_mut() };
    let start = take(room).cast::<u8>();
    if start.is_null() {
        return start;
    }
    let least = start.wrapping_add(USUAL);
    let block = least.wrapping_add(least.align_offset(layout.align()));
    // SAFETY: between `start` and `block` are `USUAL` bytes or more, which are this block's and
    // nobody reads; `block` is aligned to more than a pointer.
    unsafe { block.cast::<*mut u8>().sub(1).write(start) };
    block
}

fn some(table: &Table, size: usize) -> *mut c_void {
    // SAFETY: it takes any size.
    unsafe { table.try_alloc.unwrap_or(table.alloc)(size) }
}

/// Zeroed bytes.
///
/// A server that can refuse may still lack the zeroed form. Then large blocks are asked for, given
/// back, and taken zeroed: their pages stay untouched until they are used. If another thread takes
/// the memory in between, the server ends as it does when it has none for itself.
fn zeroed(table: &Table, size: usize) -> *mut c_void {
    if let Some(try_calloc) = table.try_calloc {
        // SAFETY: it takes any size.
        return unsafe { try_calloc(1, size) };
    }
    if let Some(try_alloc) = table.try_alloc {
        // SAFETY: it takes any size.
        let block = unsafe { try_alloc(size) };
        if block.is_null() {
            return block;
        }
        if size < LARGE {
            // SAFETY: so many bytes were given.
            unsafe { block.cast::<u8>().write_bytes(0, size) };
            return block;
        }
        // SAFETY: given just above.
        unsafe { (table.free)(block) };
    }
    // SAFETY: it takes any size.
    unsafe { (table.calloc)(1, size) }
}

/// Asks the system for huge pages for the whole ones of a block.
fn advise(block: *mut u8, size: usize) {
    const HUGE_PAGE: usize = 2 << 20;
    let before = block.align_offset(HUGE_PAGE);
    let Some(whole) = size.checked_sub(before).map(|rest| rest / HUGE_PAGE * HUGE_PAGE) else {
        return;
    };
    #[cfg(target_os = "linux")]
    if whole > 0 {
        const MADV_HUGEPAGE: c_int = 14;
        unsafe extern "C" {
            fn madvise(start: *mut c_void, len: usize, advice: c_int) -> c_int;
        }
        // SAFETY: advice on pages inside a block that was just given. If the system ignores it, the
        // pages are small, and all else is the same.
        unsafe { madvise(block.add(before).cast(), whole, MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = whole;
}

/// Memory for what is allocated before the server has loaded the module: environment variables
/// that the library reads.
struct Arena {
    bytes: UnsafeCell<[u8; ARENA_BYTES]>,
    used: AtomicUsize,
}

const ARENA_BYTES: usize = 1 << 16;

static ARENA: Arena = Arena { bytes: UnsafeCell::new([0; ARENA_BYTES]), used: AtomicUsize::new(0) };

// SAFETY: each byte is given once.
unsafe impl Sync for Arena {}

impl Arena {
    /// Zeroed bytes, which are not taken back; NULL if there are no more.
    fn take(&self, layout: Layout) -> *mut u8 {
        let start = self.bytes.get().cast::<u8>();
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let free = start.wrapping_add(used);
            let from = used + free.align_offset(layout.align());
            let Some(end) = from.checked_add(layout.size()).filter(|&end| end <= ARENA_BYTES)
            else {
                return null_mut();
            };
            let order = Ordering::Relaxed;
            match self.used.compare_exchange(used, end, order, order) {
                Ok(_) => return start.wrapping_add(from),
                Err(now) => used = now,
            }
        }
    }

    fn has(&self, block: *mut u8) -> bool {
        let start = self.bytes.get().addr();
        (start..start + ARENA_BYTES).contains(&block.addr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arena_gives_aligned_bytes_once() {
        let arena = Arena { bytes: UnsafeCell::new([0; ARENA_BYTES]), used: AtomicUsize::new(0) };
        let mut last = arena.bytes.get().addr();
        for (size, align) in [(1, 1), (8, 8), (100, 64), (3, 1), (64, 64)] {
            let block = arena.take(Layout::from_size_align(size, align).unwrap());
            assert!(arena.has(block) && block.addr().is_multiple_of(align));
            assert!(block.addr() >= last, "after the one before");
            last = block.addr() + size;
        }
        assert!(arena.take(Layout::from_size_align(ARENA_BYTES, 1).unwrap()).is_null());
    }

    #[test]
    fn blocks_are_aligned_and_know_their_start() {
        let mut room = [0u64; 64];
        for shift in [0, 16, 32, 48] {
            let start = room.as_mut_ptr().cast::<u8>().wrapping_add(shift);
            let layout = Layout::from_size_align(128, 64).unwrap();
            let block = aligned(layout, |size| {
                assert_eq!(size, 128 + 64 + USUAL);
                start.cast()
            });
            assert!(block.addr().is_multiple_of(64));
            assert!(block.addr() + 128 <= start.addr() + 128 + 64 + USUAL);
            // SAFETY: `aligned` wrote it.
            assert_eq!(unsafe { block.cast::<*mut u8>().sub(1).read() }, start);
        }
    }
}

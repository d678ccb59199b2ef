//! The memory of the module comes from the server, so that `maxmemory`, eviction and INFO count it.
//!
//! Lines want an alignment of 64 bytes, which jemalloc gives; other allocators align to 16 bytes, and
//! larger alignments are made by hand. What the server cannot give is NULL and not the end of the
//! process, where the server can say so.
#![allow(unsafe_code)]
// Tests run without a server, so with another allocator.
#![cfg_attr(test, allow(dead_code))]

use crate::api::{Table, table};
use std::alloc::{GlobalAlloc, Layout};
use std::cell::{Cell, UnsafeCell};
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

/// Blocks from this size on are never resized by a function that ends the server where it has no
/// memory, if it has one that does not. Smaller ones the server takes all the time for itself.
const RESIZED: usize = 1 << 12;

/// The pages of blocks from this size on are given back to the system.
const LARGE: usize = 1 << 20;

/// The alignment of lines.
const LINE: usize = 64;

/// Whether blocks whose size is a multiple of a line's are aligned to lines as they come, so that nothing
/// has to lie before them. It never changes once there is a block of that alignment.
static NATURAL: AtomicBool = AtomicBool::new(false);

/// Says that the server's functions are there, and what its allocator is.
pub(crate) fn start(is_jemalloc: bool) {
    // What `aligned_alloc` of jemalloc does for alignments up to 64: it takes a block of the size
    // rounded up to a multiple of the alignment. With the header of `aligned` a power of two, as
    // most chunks of growing filters are, would take a fourth more.
    NATURAL.store(is_jemalloc, Ordering::Release);
    READY.store(true, Ordering::Release);
}

/// Whether a block of such a size and alignment comes as it is, with nothing before it.
fn is_natural(layout: Layout) -> bool {
    layout.align() <= USUAL
        || layout.align() == LINE
            && layout.size().is_multiple_of(LINE)
            && NATURAL.load(Ordering::Acquire)
}

// SAFETY: blocks are those of the server's allocator, or of the arena, which never gives one twice.
unsafe impl GlobalAlloc for Server {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !READY.load(Ordering::Acquire) {
            return ARENA.take(layout);
        }
        aligned(layout, |size| counted(some(table(), size)))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !READY.load(Ordering::Acquire) {
            // The arena is zeroed, and gives nothing twice.
            return ARENA.take(layout);
        }
        let block = aligned(layout, |size| counted(zeroed(table(), size)));
        if HUGE.load(Ordering::Relaxed) && !block.is_null() {
            advise(block, layout.size());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if ARENA.has(block) {
            return;
        }
        let start = if is_natural(layout) {
            block
        } else {
            // SAFETY: `aligned` has put the start before the block.
            unsafe { block.cast::<*mut u8>().sub(1).read() }
        };
        count(start.cast(), -1);
        // SAFETY: the server gave it, and it is freed only here.
        unsafe { (table().free)(start.cast()) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let realloc = READY.load(Ordering::Acquire).then(|| {
            let table = table();
            // A server that can refuse to give a block may lack the form that resizes one: then a
            // new block is taken, unless it is small.
            let may_end = table.try_alloc.is_none() || size < RESIZED;
            table.try_realloc.or(may_end.then_some(table.realloc))
        });
        if let Some(realloc) = realloc.flatten()
            && layout.align() <= USUAL
            && !ARENA.has(block)
        {
            count(block.cast(), -1);
            // SAFETY: the server gave the block, whose alignment is the usual one.
            let resized = unsafe { realloc(block.cast(), size) };
            // Where it is refused, the old one stays.
            count(if resized.is_null() { block.cast() } else { resized }, 1);
            return resized.cast();
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

thread_local! {
    /// The bytes that blocks take which this thread has been given, less those it has freed, while they
    /// are counted.
    static BALANCE: Cell<Option<isize>> = const { Cell::new(None) };
}

/// Whether any thread counts. The server runs commands, and loads, in one.
static COUNTING: AtomicUsize = AtomicUsize::new(0);

/// What work returns, and by how many bytes more the server's memory is taken after it, to the byte where
/// the server says what a block takes.
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> (T, isize) {
    /// Ends the count, also where work panics.
    struct Count(Option<isize>);
    impl Drop for Count {
        fn drop(&mut self) {
            COUNTING.fetch_sub(1, Ordering::Relaxed);
            BALANCE.set(self.0);
        }
    }
    COUNTING.fetch_add(1, Ordering::Relaxed);
    let count = Count(BALANCE.replace(Some(0)));
    let result = work();
    let taken = BALANCE.get().unwrap_or(0);
    drop(count);
    (result, taken)
}

/// Does work that is not counted.
fn uncounted(work: impl FnOnce()) {
    let balance = BALANCE.take();
    work();
    BALANCE.set(balance);
}

/// Counts a block that was given (1) or is freed (-1).
#[inline]
fn count(start: *mut c_void, sign: isize) {
    if COUNTING.load(Ordering::Relaxed) > 0
        && !start.is_null()
        && let Some(balance) = BALANCE.get()
        && let Some(malloc_size) = table().malloc_size
    {
        // SAFETY: the server gave the block, which is not freed yet.
        let bytes = unsafe { malloc_size(start) };
        BALANCE.set(Some(balance.wrapping_add(sign * bytes as isize)));
    }
}

fn counted(start: *mut c_void) -> *mut c_void {
    count(start, 1);
    start
}

/// A block of that alignment from a function that has the usual one.
fn aligned(layout: Layout, take: impl FnOnce(usize) -> *mut c_void) -> *mut u8 {
    if is_natural(layout) {
        let block = take(layout.size()).cast::<u8>();
        if block.addr().is_multiple_of(layout.align()) {
            return block;
        }
        // Not jemalloc after all: an error rather than lines that lie across cache lines.
        count(block.cast(), -1);
        // SAFETY: the server has just given it, and nobody has it.
        unsafe { (table().free)(block.cast()) };
        return null_mut();
    }
    // The start of the block lies just before the aligned part: a pointer's room. As the block is
    // aligned to a pointer at least, no more than the alignment is left out.
    let Some(room) = layout.size().checked_add(layout.align()) else { return null_mut() };
    let start = take(room).cast::<u8>();
    if start.is_null() {
        return start;
    }
    debug_assert!(start.addr().is_multiple_of(size_of::<*mut u8>()));
    let least = start.wrapping_add(size_of::<*mut u8>());
    let block = least.wrapping_add(least.align_offset(layout.align()));
    // SAFETY: between `start` and `block` is a pointer's room or more, which is this block's and
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
/// A server that can refuse, as Redis 7.0, may still lack the zeroed form.
fn zeroed(table: &Table, size: usize) -> *mut c_void {
    if let Some(try_calloc) = table.try_calloc {
        // SAFETY: it takes any size.
        return unsafe { try_calloc(1, size) };
    }
    if let Some(try_alloc) = table.try_alloc {
        // SAFETY: it takes any size.
        let block = unsafe { try_alloc(size) };
        if !block.is_null() {
            // SAFETY: so many bytes were given.
            unsafe { clear(block.cast(), size) };
        }
        return block;
    }
    // SAFETY: it takes any size.
    unsafe { (table.calloc)(1, size) }
}

/// Pages of all systems are at multiples of their size, which divides this.
const PAGES: usize = 1 << 16;

/// Sets a block to zeros. The pages of a large one are given back: the system has zeros in them when
/// they are used.
///
/// # Safety
/// So many bytes are the caller's.
unsafe fn clear(block: *mut u8, size: usize) {
    let (before, whole) = whole_pages(block, size);
    // SAFETY: parts of the block; pages of it that hold nothing any more.
    unsafe {
        if size < LARGE || !give_back(block.add(before), whole) {
            return block.write_bytes(0, size);
        }
        block.write_bytes(0, before);
        block.add(before + whole).write_bytes(0, size - before - whole);
    }
}

/// The bytes before the first whole page of a block, and those of all whole pages.
fn whole_pages(block: *mut u8, size: usize) -> (usize, usize) {
    let before = block.align_offset(PAGES).min(size);
    (before, (size - before) / PAGES * PAGES)
}

/// Gives pages back to the system, which are zeros when they are used again. Returns whether that
/// was done.
///
/// # Safety
/// They are whole pages of a block of the caller's, from the server, and hold nothing any more.
unsafe fn give_back(pages: *mut u8, size: usize) -> bool {
    #[cfg(target_os = "linux")]
    {
        const MADV_DONTNEED: c_int = 4;
        // SAFETY: private memory of the process, as all blocks of the server's allocator are. Where
        // pages are locked this fails, and nothing has changed.
        size > 0 && unsafe { madvise(pages.cast(), size, MADV_DONTNEED) } == 0
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (pages, size);
        false
    }
}

/// Frees bytes, and gives their pages back at once. The server's allocator would keep them for some
/// seconds, in which the filter that is read from them would take as much again.
pub(crate) fn give_up(mut bytes: Vec<u8>) {
    let (block, size) = (bytes.as_mut_ptr(), bytes.capacity());
    let (before, whole) = whole_pages(block, size);
    if !cfg!(test) && size >= LARGE {
        // SAFETY: inside of a block that is freed next.
        unsafe { give_back(block.add(before), whole) };
    }
    // It was there before what is read from it.
    uncounted(|| drop(bytes));
}

/// What lines that a filter has allocated take of the server's memory, all that comes with them
/// included, if the server says so; else what was asked for.
pub(crate) fn memory_of(lines: &[u8]) -> usize {
    let asked = lines.len() + 64;
    #[cfg(not(test))]
    if let Some(malloc_size) = table().malloc_size {
        // SAFETY: lines are blocks of this allocator with an alignment of 64 bytes, from the
        // first byte on: they are the server's as they are, or `aligned` has put the start before
        // them.
        return unsafe {
            let block = lines.as_ptr();
            malloc_size(match Layout::from_size_align(lines.len(), LINE).is_ok_and(is_natural) {
                true => block.cast_mut().cast(),
                false => block.cast::<*mut c_void>().sub(1).read(),
            })
        };
    }
    asked
}

#[cfg(target_os = "linux")]
unsafe extern "C" {
    fn madvise(start: *mut c_void, len: usize, advice: c_int) -> c_int;
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
        for shift in (0..64).step_by(8) {
            let start = room.as_mut_ptr().cast::<u8>().wrapping_add(shift);
            let layout = Layout::from_size_align(128, 64).unwrap();
            let block = aligned(layout, |size| {
                assert_eq!(size, 128 + 64);
                start.cast()
            });
            assert!(block.addr().is_multiple_of(64));
            assert!(block.addr() + 128 <= start.addr() + 128 + 64);
            assert!(block.addr() >= start.addr() + size_of::<*mut u8>());
            // SAFETY: `aligned` wrote it.
            assert_eq!(unsafe { block.cast::<*mut u8>().sub(1).read() }, start);
        }
    }
}

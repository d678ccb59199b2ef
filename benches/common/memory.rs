//! Memory allocated as a filter's is, and how much of it is in huge pages. Uses `libc` on Unix.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

const HUGE_PAGE: usize = 2 << 20;

/// Bytes at a multiple of 64, all written; in huge pages from 2 MiB on, where the
/// system grants them.
pub(crate) struct Memory {
    start: *mut u8,
    len: usize,
    mapped: Option<Mapped>,
}

/// A mapping that the bytes lie in.
struct Mapped {
    start: *mut u8,
    len: usize,
}

impl Memory {
    pub(crate) fn new(len: usize) -> Memory {
        let mapped = if len >= HUGE_PAGE { Mapped::new(len) } else { None };
        let start = match &mapped {
            Some(mapped) => mapped.start.wrapping_add(mapped.start.align_offset(HUGE_PAGE)),
            // SAFETY: the layout's size is above zero.
            None => unsafe { alloc(Memory::layout(len)) },
        };
        if start.is_null() {
            handle_alloc_error(Memory::layout(len));
        }
        // SAFETY: so many bytes are there.
        unsafe { start.write_bytes(0, len) };
        Memory { start, len, mapped }
    }

    fn layout(len: usize) -> Layout {
        Layout::from_size_align(len.max(64), 64).unwrap()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.mapped.is_none() {
            // SAFETY: allocated by `new` with this layout.
            unsafe { dealloc(self.start, Memory::layout(self.len)) }
        }
    }
}

impl Mapped {
    /// Pages for so many bytes from a multiple of a huge page on. None if there are none.
    #[cfg(unix)]
    fn new(len: usize) -> Option<Mapped> {
        let len = len.next_multiple_of(HUGE_PAGE) + HUGE_PAGE;
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new anonymous mapping, at an address of the system's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        #[cfg(target_os = "linux")]
        // SAFETY: advice on pages that this owns.
        unsafe {
            libc::madvise(start, len, libc::MADV_HUGEPAGE);
        }
        Some(Mapped { start: start.cast(), len })
    }

    #[cfg(not(unix))]
    fn new(_: usize) -> Option<Mapped> {
        None
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        #[cfg(unix)]
        // SAFETY: the pages are this one's own, and nothing borrows them any more.
        unsafe {
            libc::munmap(self.start.cast(), self.len);
        }
        #[cfg(not(unix))]
        unreachable!("{} bytes at {:?}", self.len, self.start);
    }
}

impl Deref for Memory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: so many bytes were written by `new`.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and self is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

/// Values that any bytes are: what an [`Array`] can hold.
pub(crate) trait Plain: Copy {}
impl Plain for u64 {}
impl Plain for [u8; 16] {}

/// An array in such memory: what a batch reads in passing should not cost page walks.
pub(crate) struct Array<T> {
    memory: Memory,
    of: PhantomData<T>,
}

impl<T: Plain> Array<T> {
    pub(crate) fn from_fn(len: usize, mut value: impl FnMut(usize) -> T) -> Array<T> {
        let mut array = Array { memory: Memory::new(len * size_of::<T>()), of: PhantomData };
        for (i, to) in array.iter_mut().enumerate() {
            *to = value(i);
        }
        array
    }
}

impl<T: Plain> Default for Array<T> {
    fn default() -> Array<T> {
        Array { memory: Memory::new(0), of: PhantomData }
    }
}

impl<T: Plain> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: any bytes are such values.
        unsafe { self.memory.align_to::<T>().1 }
    }
}

impl<T: Plain> DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: any bytes are such values, and their bytes are bytes.
        unsafe { self.memory.align_to_mut::<T>().1 }
    }
}

/// From now on, what this process allocates is, or is not, given in huge pages.
/// False if the system cannot say so.
pub(crate) fn allow_huge_pages(allow: bool) -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: a setting of this process; the arguments are as prctl wants them.
    return unsafe {
        let zero: libc::c_ulong = 0;
        libc::prctl(libc::PR_SET_THP_DISABLE, libc::c_ulong::from(!allow), zero, zero, zero) == 0
    };
    #[cfg(not(target_os = "linux"))]
    return allow;
}

/// Which part, 0 to 1, of the mapping that these bytes lie in is in huge pages. None if the system
/// does not report it.
pub(crate) fn huge_part(bytes: &[u8]) -> Option<f64> {
    let address = bytes.as_ptr() as usize;
    let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
    let mut lines = maps.lines().skip_while(|line| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let range = range.and_then(|(from, to)| {
            Some(usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?)
        });
        !range.is_some_and(|range| range.contains(&address))
    });
    let mut kilobytes = |field: &str| {
        let value = lines.find_map(|line| line.strip_prefix(field))?;
        value.trim().strip_suffix(" kB")?.parse::<f64>().ok()
    };
    let resident = kilobytes("Rss:")?;
    Some(kilobytes("AnonHugePages:")? / resident)
}

/// Says so if a filter that should be is not in huge pages: it is slower then.
pub(crate) fn warn_of_small_pages(bytes: &[u8]) {
    if bytes.len() >= HUGE_PAGE {
        match huge_part(bytes) {
            Some(part) if part > 0.9 => {}
            Some(part) => eprintln!("only {:.0} % of it are in huge pages", 100.0 * part),
            None => eprintln!("the system does not tell whether it is in huge pages"),
        }
    }
}

//! Pages from the system: `mmap` and related calls.
#![allow(unsafe_code)]

use crate::error::Error;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

/// 2 MiB: a huge page on x86-64, and on aarch64 with pages of 4 KiB.
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// Pages that are unmapped on drop: `len` bytes are used of `mapped`.
pub(super) struct Pages {
    start: *mut u8,
    len: usize,
    mapped: usize,
}

// SAFETY: the pages are owned, and reached only through a borrow of self.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

/// Private pages of zeros.
fn map(len: usize) -> Result<*mut u8, Error> {
    // SAFETY: a new anonymous mapping, at an address of the system's choice.
    let start = unsafe {
        libc::mmap(
            null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if start == libc::MAP_FAILED { Err(Error::OutOfMemory) } else { Ok(start.cast()) }
}

impl Pages {
    /// Zeroed private pages, the first at a multiple of a huge page, and huge as far as the
    /// system has them.
    pub(super) fn zeroed(len: usize) -> Result<Pages, Error> {
        let pages = Pages::usual(len)?;
        pages.advise(true);
        Ok(pages)
    }

    /// The same in pages as is usual.
    pub(super) fn usual(len: usize) -> Result<Pages, Error> {
        let used = mapped_len(len, page()).ok_or(Error::OutOfMemory)?;
        // Linux aligns whole huge pages by itself, as a rule.
        if used.is_multiple_of(HUGE_PAGE) {
            let start = map(used)?;
            if start.align_offset(HUGE_PAGE) == 0 {
                return Ok(Pages { start, len, mapped: used });
            }
            // SAFETY: the mapping just made, that nothing uses.
            unsafe { libc::munmap(start.cast(), used) };
        }
        // More than is needed, then what is before and after the aligned part
        // goes back.
        let room = used.checked_add(HUGE_PAGE).ok_or(Error::OutOfMemory)?;
        let start = map(room)?;
        let before = start.align_offset(HUGE_PAGE);
        // SAFETY: whole pages of the mapping just made, that nothing uses.
        unsafe {
            if before > 0 {
                libc::munmap(start.cast(), before);
            }
            if room - before > used {
                libc::munmap(start.add(before + used).cast(), room - before - used);
            }
        }
        let start = start.wrapping_add(before);
        Ok(Pages { start, len, mapped: used })
    }

    /// Each huge page of these by itself, the last one first.
    ///
    /// # Panics
    /// Unless they are whole huge pages.
    pub(super) fn in_huge_pages(self) -> impl Iterator<Item = Pages> {
        let (start, count) = (self.start, self.mapped / HUGE_PAGE);
        assert!(self.mapped == count * HUGE_PAGE, "whole huge pages");
        // Each of them is unmapped by itself.
        std::mem::forget(self);
        let at = move |i| start.wrapping_add(i * HUGE_PAGE);
        (0..count).rev().map(move |i| Pages { start: at(i), len: HUGE_PAGE, mapped: HUGE_PAGE })
    }

    /// Writes to the first page. With the first page of a huge page the system makes its table of them, too.
    pub(super) fn touch(&self) {
        // SAFETY: there is a byte, which this owns; as long as nobody has it, it may be any.
        unsafe { self.start.write_volatile(0) };
    }

    /// Asks the system for huge pages: for pages that are there, later; for others, when they are first written to.
    /// With false, asks for small pages, also where the system makes huge ones by itself.
    pub(super) fn advise(&self, huge: bool) {
        #[cfg(target_os = "linux")]
        // SAFETY: advice on pages that this owns. If the system ignores it, the pages
        // are as usual, and all else is the same.
        unsafe {
            let advice = if huge { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
            libc::madvise(self.start.cast(), self.mapped, advice);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = huge;
    }

    /// The whole of a file, to read. None if it is empty.
    ///
    /// # Safety
    /// As `memory::FileBytes::open`.
    pub(super) unsafe fn file(file: &File) -> Result<Option<Pages>, Error> {
        let len = usize::try_from(file.metadata()?.len()).map_err(|_| Error::OutOfMemory)?;
        if len == 0 {
            return Ok(None);
        }
        // SAFETY: a new mapping, at an address of the system's choice.
        let start = unsafe {
            libc::mmap(null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error().into());
        }
        Ok(Some(Pages { start: start.cast(), len, mapped: len }))
    }

    pub(super) fn parts(&self) -> (*mut u8, usize) {
        (self.start, self.len)
    }

    pub(super) fn mapped(&self) -> usize {
        self.mapped
    }
}

/// How much is mapped for `len` bytes: whole huge pages if that wastes a tenth of them at
/// most. Otherwise the last part of a huge page is in pages of `page` bytes, and nothing is
/// wasted.
fn mapped_len(len: usize, page: usize) -> Option<usize> {
    let huge = len.checked_next_multiple_of(HUGE_PAGE)?;
    if huge - len <= len / 10 { Some(huge) } else { len.checked_next_multiple_of(page) }
}

/// The bytes of the system's pages.
fn page() -> usize {
    // SAFETY: returns a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).ok().filter(|page| page.is_power_of_two()).unwrap_or(HUGE_PAGE)
}

#[cfg(test)]
#[test]
fn little_is_wasted() {
    const PAGE: usize = 4096;
    for (len, mapped) in [
        (HUGE_PAGE, HUGE_PAGE),
        (HUGE_PAGE + 64, HUGE_PAGE + PAGE),
        (2 * HUGE_PAGE - 64, 2 * HUGE_PAGE),
        (9 * HUGE_PAGE + 64, 9 * HUGE_PAGE + PAGE),
        (10 * HUGE_PAGE + 64, 11 * HUGE_PAGE),
    ] {
        assert_eq!(mapped_len(len, PAGE), Some(mapped), "{len}");
    }
    for len in (HUGE_PAGE..20 * HUGE_PAGE).step_by(64 * 997) {
        let mapped = mapped_len(len, PAGE).unwrap();
        assert!(mapped >= len && mapped.is_multiple_of(PAGE) && mapped - len <= len / 10, "{len}");
    }
    assert_eq!(mapped_len(usize::MAX, PAGE), None);
    let pages = Pages::zeroed(HUGE_PAGE + 64).unwrap();
    assert_eq!(pages.start.align_offset(HUGE_PAGE), 0);
    assert_eq!(pages.mapped, HUGE_PAGE + page().max(64));
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the pages are this one's own, and nothing borrows it any more.
        unsafe {
            libc::munmap(self.start.cast(), self.mapped);
        }
    }
}

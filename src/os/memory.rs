//! Memory for lines: zeroed, 64-byte aligned, in huge pages where they waste little; and files
//! mapped for reading.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::line::LINE_BYTES;
#[cfg(unix)]
use crate::os::arena::{PIECE, Piece};
use crate::os::environment::{HUGE_PAGES, Setting};
use std::alloc::{self, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::fs::File;
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// A caller's own functions for the memory of lines, laid out as C has them.
#[repr(C)]
pub(crate) struct Allocator {
    /// So many bytes at that alignment, or NULL.
    pub(crate) alloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    /// Takes them back, with the size that was asked for.
    pub(crate) free: unsafe extern "C" fn(*mut c_void, *mut c_void, usize),
    /// The first argument of both.
    pub(crate) context: *mut c_void,
}

/// What new lines come from; NULL for the usual memory.
static ALLOCATOR: AtomicPtr<Allocator> = AtomicPtr::new(null_mut());

/// Takes the memory of lines made from now on from `allocator`; NULL: the usual memory again.
///
/// # Safety
/// An allocator stays in its place, unchanged, as long as lines that came from it live. Its
/// functions keep to what their fields say, in any thread, and do not unwind.
#[cfg(feature = "capi")]
pub(crate) unsafe fn set_allocator(allocator: *const Allocator) {
    // Who sees the pointer sees what it points at.
    ALLOCATOR.store(allocator.cast_mut(), Ordering::Release);
}

/// 2 MiB: a huge page on x86-64, and on aarch64 with pages of 4 KiB.
#[cfg(unix)]
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// Sets whether filters of 2 MiB and more that are made from now on, in the whole process, may lie
/// in huge pages. They do unless the environment variable `BLOOMLINE_HUGE_PAGES=0` is set; this call
/// overrides it.
///
/// Huge pages come from the system. With `false` all filters come from the process's allocator
/// (`#[global_allocator]`), which then sees all memory: for programs that count or limit it. Probes
/// of large filters are slower then. Filters that exist stay where they are.
pub fn set_huge_pages(allowed: bool) {
    HUGE_PAGES.set(if allowed { Setting::Unset } else { Setting::Value(0) });
}

/// Zeroed bytes, aligned to a cache line.
///
/// A large filter gets huge pages, where the system grants them: in pages of 4 KiB most probes
/// would pay for a page walk besides the cache miss. They come from the system, not from the
/// allocator, unless `BLOOMLINE_HUGE_PAGES=0` or [`set_huge_pages`] says no.
pub(crate) struct Zeroed {
    source: Source,
    len: usize,
}

/// The source of the bytes.
enum Source {
    Allocated(NonNull<u8>, alloc::Layout),
    /// From a caller's allocator, with the size that was asked of it.
    Given(NonNull<u8>, usize, &'static Allocator),
    #[cfg(unix)]
    Mapped(pages::Pages),
    #[cfg(unix)]
    Part(Piece),
}

/// Whether new lines may come from the system, as pages, and not from an allocator.
#[cfg(unix)]
pub(super) fn may_map() -> bool {
    ALLOCATOR.load(Ordering::Acquire).is_null() && HUGE_PAGES.get() != Setting::Value(0)
}

// SAFETY: the bytes are owned, and shared only as slices that borrow from self.
unsafe impl Send for Zeroed {}
// SAFETY: as above.
unsafe impl Sync for Zeroed {}

impl Zeroed {
    /// Allocates so many zeroed bytes, at least one.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(len: usize) -> Result<Zeroed, Error> {
        assert!(len > 0);
        // SAFETY: NULL, or there as long as lines that came from it, by `set_allocator`.
        if let Some(allocator) = unsafe { ALLOCATOR.load(Ordering::Acquire).as_ref() } {
            return Zeroed::given(len, allocator);
        }
        #[cfg(unix)]
        if len >= HUGE_PAGE && may_map() {
            let pages = pages::Pages::zeroed(len)?;
            return Ok(Zeroed { source: Source::Mapped(pages), len });
        }
        let layout =
            alloc::Layout::from_size_align(len, LINE_BYTES).map_err(|_| Error::OutOfMemory)?;
        // SAFETY: the layout's size is above zero.
        let bytes = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(Error::OutOfMemory)?;
        Ok(Zeroed { source: Source::Allocated(bytes, layout), len })
    }

    /// The same from a caller's allocator, which need not zero them.
    fn given(len: usize, allocator: &'static Allocator) -> Result<Zeroed, Error> {
        let Allocator { alloc, free, context } = *allocator;
        // SAFETY: the contract of `set_allocator`.
        let bytes = unsafe { alloc(context, len, LINE_BYTES) }.cast::<u8>();
        let bytes = NonNull::new(bytes).ok_or(Error::OutOfMemory)?;
        if bytes.addr().get() % LINE_BYTES != 0 {
            // SAFETY: as above; nothing has used them.
            unsafe { free(context, bytes.as_ptr().cast(), len) };
            return Err(Error::OutOfMemory);
        }
        // SAFETY: so many bytes are there, and nobody else has them.
        unsafe { bytes.write_bytes(0, len) };
        Ok(Zeroed { source: Source::Given(bytes, len, allocator), len })
    }

    /// A piece, which is zeroed.
    #[cfg(unix)]
    pub(super) fn of_piece(piece: Piece) -> Zeroed {
        Zeroed { source: Source::Part(piece), len: PIECE }
    }

    /// Whether it is one.
    pub(super) fn is_piece(&self) -> bool {
        #[cfg(unix)]
        return matches!(self.source, Source::Part(_));
        #[cfg(not(unix))]
        false
    }

    /// A copy of these bytes, at least one.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn copy_of(bytes: &[u8]) -> Result<Zeroed, Error> {
        let mut copy = Zeroed::new(bytes.len())?;
        copy.copy_from_slice(bytes);
        Ok(copy)
    }

    /// How many bytes were taken for them, from the allocator or as pages of the system.
    pub(crate) fn taken(&self) -> usize {
        match &self.source {
            Source::Allocated(..) | Source::Given(..) => self.len,
            #[cfg(unix)]
            Source::Mapped(pages) => pages.mapped(),
            #[cfg(unix)]
            Source::Part(_) => self.len,
        }
    }

    /// Where they are, for as long as they live.
    pub(crate) fn start(&self) -> *mut u8 {
        match &self.source {
            Source::Allocated(bytes, _) | Source::Given(bytes, ..) => bytes.as_ptr(),
            #[cfg(unix)]
            Source::Mapped(pages) => pages.parts().0,
            #[cfg(unix)]
            Source::Part(piece) => piece.start(),
        }
    }
}

impl PartialEq for Zeroed {
    fn eq(&self, other: &Zeroed) -> bool {
        **self == **other
    }
}

impl Eq for Zeroed {}

impl Drop for Zeroed {
    fn drop(&mut self) {
        match &self.source {
            // SAFETY: allocated by `new` with this layout, and freed only here.
            Source::Allocated(bytes, layout) => unsafe { dealloc(bytes.as_ptr(), *layout) },
            // SAFETY: they came from this allocator with this size, and are freed only here.
            Source::Given(bytes, size, allocator) => unsafe {
                (allocator.free)(allocator.context, bytes.as_ptr().cast(), *size);
            },
            #[cfg(unix)]
            Source::Mapped(_) | Source::Part(_) => {}
        }
    }
}

impl Deref for Zeroed {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: so many initialised bytes are there, and the slice borrows self.
        unsafe { std::slice::from_raw_parts(self.start(), self.len) }
    }
}

impl DerefMut for Zeroed {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and self is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.len) }
    }
}

impl AsRef<[u8]> for Zeroed {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// Zeroed bytes as lanes that threads share and write to. They become a slice only once there is
/// one owner.
pub(crate) struct Shared(Zeroed);

impl Shared {
    pub(crate) fn lanes(&self) -> &[AtomicU64] {
        // SAFETY: the bytes are initialised, aligned to a line, and borrowed with self; an
        // AtomicU64 is any 8 bytes, and nothing else reaches them meanwhile.
        unsafe { std::slice::from_raw_parts(self.0.start().cast(), self.0.len / 8) }
    }

    pub(crate) fn taken(&self) -> usize {
        self.0.taken()
    }

    pub(crate) fn into_zeroed(self) -> Zeroed {
        self.0
    }
}

impl From<Zeroed> for Shared {
    fn from(bytes: Zeroed) -> Shared {
        Shared(bytes)
    }
}

/// A whole file as bytes: mapped on Unix, read into memory elsewhere.
///
/// If a file is replaced by a rename, as `Filter::save` does, the map keeps the old one.
pub(crate) struct FileBytes {
    #[cfg(unix)]
    bytes: Option<pages::Pages>,
    #[cfg(not(unix))]
    bytes: Vec<u8>,
}

impl FileBytes {
    /// # Errors
    /// [`Error::Io`]; [`Error::OutOfMemory`].
    ///
    /// # Safety
    /// As long as the bytes live, nobody writes to the file or changes its length.
    pub(crate) unsafe fn open(file: &File) -> Result<FileBytes, Error> {
        #[cfg(unix)]
        // SAFETY: the same contract.
        return unsafe { pages::Pages::file(file) }.map(|bytes| FileBytes { bytes });
        #[cfg(not(unix))]
        {
            let mut bytes = Vec::new();
            crate::os::file::append_from(&mut &*file, u64::MAX, &mut bytes)?;
            Ok(FileBytes { bytes })
        }
    }
}

impl AsRef<[u8]> for FileBytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    #[cfg(unix)]
    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.bytes {
            // SAFETY: the pages are readable for as long as self lives, and by the contract of
            // `open` nobody writes to them or cuts them off.
            Some(pages) => unsafe {
                let (bytes, len) = pages.parts();
                std::slice::from_raw_parts(bytes, len)
            },
            None => &[],
        }
    }

    #[cfg(not(unix))]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(all(test, unix))]
#[test]
fn large_filters_come_from_the_allocator_if_they_may_not_lie_in_huge_pages() {
    let is_mapped = |len| matches!(Zeroed::new(len).unwrap().source, Source::Mapped(_));
    let before = HUGE_PAGES.get();
    set_huge_pages(false);
    assert!(!is_mapped(HUGE_PAGE));
    set_huge_pages(true);
    assert!(is_mapped(HUGE_PAGE) && !is_mapped(HUGE_PAGE - LINE_BYTES));
    HUGE_PAGES.set(before);
}

#[cfg(unix)]
pub(super) mod pages {
    //! Pages from the system: `mmap` and related calls.

    use super::HUGE_PAGE;
    use crate::error::Error;
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::ptr::null_mut;

    /// Pages that are unmapped on drop: `len` bytes are used of `mapped`.
    pub(in crate::os) struct Pages {
        start: *mut u8,
        len: usize,
        mapped: usize,
    }

    // SAFETY: the pages are owned, and reached only through a borrow of self.
    unsafe impl Send for Pages {}
    // SAFETY: as above.
    unsafe impl Sync for Pages {}

    impl Pages {
        /// Zeroed private pages, the first at a multiple of a huge page, and huge as far as the
        /// system has them.
        pub(super) fn zeroed(len: usize) -> Result<Pages, Error> {
            let pages = Pages::usual(len)?;
            pages.advise(true);
            Ok(pages)
        }

        /// The same in pages as is usual.
        pub(in crate::os) fn usual(len: usize) -> Result<Pages, Error> {
            let used = mapped_len(len, page()).ok_or(Error::OutOfMemory)?;
            // More than is needed, then what is before and after the aligned part
            // goes back.
            let room = used.checked_add(HUGE_PAGE).ok_or(Error::OutOfMemory)?;
            // SAFETY: a new anonymous mapping, at an address of the system's choice.
            let start = unsafe {
                libc::mmap(
                    null_mut(),
                    room,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            if start == libc::MAP_FAILED {
                return Err(Error::OutOfMemory);
            }
            let start = start.cast::<u8>();
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

        /// Asks the system for huge pages: for what is there, later, and for what is not, when it is first written
        /// to. Or for small ones, wherever huge ones are usual.
        pub(in crate::os) fn advise(&self, huge: bool) {
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
        /// As [`super::FileBytes::open`].
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

        pub(in crate::os) fn parts(&self) -> (*mut u8, usize) {
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
            assert!(
                mapped >= len && mapped.is_multiple_of(PAGE) && mapped - len <= len / 10,
                "{len}"
            );
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
}

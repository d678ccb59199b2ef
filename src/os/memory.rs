//! Memory for lines: zeroed, 64-byte aligned, in huge pages where they waste little; and files
//! mapped for reading.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::line::LINE_BYTES;
#[cfg(unix)]
use crate::os::arena::{PIECE, Piece};
use crate::os::environment::{HUGE_PAGES, Setting};
#[cfg(unix)]
use crate::os::pages::{HUGE_PAGE, Pages};
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

/// Sets whether filters of 2 MiB and more that are made from now on, in the whole process, may lie
/// in huge pages. They do unless the environment variable `BLOOMLINE_HUGE_PAGES=0` is set; this call
/// overrides it.
///
/// Huge pages come from the system. With `false` all filters come from the process's allocator
/// (`#[global_allocator]`), which then sees all memory: for programs that count or limit it. Probes
/// of large filters are slower then. Memory that filters have stays where it is. A growing filter takes
/// further memory by the new setting; it has pages from the system from 8 MiB on.
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
    /// How many bytes are there. Those behind them, if any, are not zeroed yet.
    len: usize,
}

/// The source of the bytes.
enum Source {
    Allocated(NonNull<u8>, alloc::Layout),
    /// From a caller's allocator, with the size that was asked of it.
    Given(NonNull<u8>, usize, &'static Allocator),
    #[cfg(unix)]
    Mapped(Pages),
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
            let mut given = Zeroed::given(len, allocator)?;
            given.grow_to(len);
            return Ok(given);
        }
        #[cfg(unix)]
        if len >= HUGE_PAGE && may_map() {
            let pages = Pages::zeroed(len)?;
            return Ok(Zeroed { source: Source::Mapped(pages), len });
        }
        let layout = lines_of(len)?;
        // SAFETY: the layout's size is above zero.
        let bytes = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(Error::OutOfMemory)?;
        Ok(Zeroed { source: Source::Allocated(bytes, layout), len })
    }

    /// Room for so many bytes, at least one, from the allocator: none is there before
    /// [`grow_to`](Zeroed::grow_to).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn room_for(len: usize) -> Result<Zeroed, Error> {
        assert!(len > 0);
        // SAFETY: as in `new`.
        if let Some(allocator) = unsafe { ALLOCATOR.load(Ordering::Acquire).as_ref() } {
            return Zeroed::given(len, allocator);
        }
        let layout = lines_of(len)?;
        // SAFETY: the layout's size is above zero.
        let bytes = NonNull::new(unsafe { alloc::alloc(layout) }).ok_or(Error::OutOfMemory)?;
        Ok(Zeroed { source: Source::Allocated(bytes, layout), len: 0 })
    }

    /// As [`room_for`](Zeroed::room_for), from a caller's allocator.
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
        Ok(Zeroed { source: Source::Given(bytes, len, allocator), len: 0 })
    }

    /// The room of a piece, as [`room_for`](Zeroed::room_for).
    #[cfg(unix)]
    pub(super) fn of_piece(piece: Piece) -> Zeroed {
        Zeroed { source: Source::Part(piece), len: 0 }
    }

    /// The bytes that there is room for.
    pub(crate) fn room(&self) -> usize {
        match &self.source {
            Source::Allocated(_, layout) => layout.size(),
            Source::Given(_, size, _) => *size,
            #[cfg(unix)]
            Source::Mapped(_) => self.len,
            #[cfg(unix)]
            Source::Part(_) => PIECE,
        }
    }

    /// So many bytes are there from here on, for which there is room. What is new is zeroed, so that pages are
    /// taken only as far as they are used.
    ///
    /// # Panics
    /// If there is no room.
    pub(crate) fn grow_to(&mut self, len: usize) {
        assert!(len <= self.room(), "bytes that there is room for");
        let more = len.saturating_sub(self.len);
        // SAFETY: `room()` is the size of what this owns, and no more than that is written.
        unsafe { self.start().add(self.len).write_bytes(0, more) };
        self.len += more;
    }

    /// None is there from here on.
    pub(super) fn clear(&mut self) {
        self.len = 0;
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
            #[cfg(unix)]
            Source::Mapped(pages) => pages.mapped(),
            _ => self.room(),
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

/// The layout of so many bytes of lines.
fn lines_of(len: usize) -> Result<alloc::Layout, Error> {
    alloc::Layout::from_size_align(len, LINE_BYTES).map_err(|_| Error::OutOfMemory)
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
            // SAFETY: allocated by `new` or `room_for` with this layout, and freed only here.
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
    bytes: Option<Pages>,
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
        return unsafe { Pages::file(file) }.map(|bytes| FileBytes { bytes });
        #[cfg(not(unix))]
        return whole(file).map(|bytes| FileBytes { bytes });
    }
}

/// All bytes of a file, wherever it was read before.
#[cfg(any(not(unix), test))]
fn whole(mut file: &File) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    std::io::Seek::rewind(&mut file)?;
    crate::os::file::append_from(&mut file, u64::MAX, &mut bytes)?;
    Ok(bytes)
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

/// Who maps a file has read its end before.
#[cfg(test)]
#[test]
fn a_file_is_read_from_its_start() {
    let path = std::env::temp_dir().join(format!("bloomline-whole-{}", std::process::id()));
    std::fs::write(&path, [7; 20_000]).unwrap();
    let file = File::open(&path).unwrap();
    std::io::Seek::seek(&mut &file, std::io::SeekFrom::End(0)).unwrap();
    assert_eq!(whole(&file), Ok(vec![7; 20_000]));
    std::fs::remove_file(path).unwrap();
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

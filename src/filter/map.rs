//! Filters in files, mapped: a view for as long as its file is mapped.
//!
//! What is mapped is a `&[u8]` over bytes that the whole system shares, so that nobody may write
//! them: to open a map is `unsafe`, with that as its contract.
#![allow(unsafe_code)]

use super::probe::probing;
use super::view::View;
use crate::error::Error;
use crate::format::native;
use crate::hash::KeyHash;
use crate::kernel::Kernel;
use crate::os::file;
use crate::os::memory::FileBytes;
use std::path::Path;

/// A filter in a file, mapped into memory and probed where it lies. It is shared
/// with all other processes that map it. On systems without `mmap` the file is read instead.
///
/// To open a map is `unsafe`, since no program can keep all others from writing the file; see
/// [`MappedFilter::open`]. Without `unsafe`, [`Filter::load`](crate::Filter::load) and
/// [`CuckooFilter::load`](crate::CuckooFilter::load) read the same files into memory.
///
/// ```compile_fail,E0133
/// let map = bloomline::MappedFilter::open("filter".as_ref());
/// ```
pub struct MappedFilter {
    bytes: FileBytes,
    lines: usize,
    k: u32,
    hash: KeyHash,
    key_count: u64,
    kernel: &'static Kernel,
}

impl MappedFilter {
    /// Maps a file and checks all of it, as [`View::open`] does.
    ///
    /// # Errors
    /// As [`View::open`]; [`Error::NotAFile`]; [`Error::Io`].
    ///
    /// # Safety
    /// As long as the map lives, nobody, in this process or another, writes to the file or
    /// changes its length. To write to it is undefined behaviour, as to write to any `&[u8]`, and
    /// answers may be wrong in either direction; a probe of bytes that were cut off ends the
    /// process (SIGBUS).
    ///
    /// To replace the file by renaming another over it, as [`Filter::save`](crate::Filter::save)
    /// does, and to remove it, is allowed: the map keeps the old file.
    pub unsafe fn open(path: &Path) -> Result<MappedFilter, Error> {
        // SAFETY: the same contract.
        let mapped = unsafe { MappedFilter::open_unverified(path) }?;
        native::verify(&mapped.bytes)?;
        Ok(mapped)
    }

    /// Maps a file and checks its footer, as [`View::open_unverified`] does: nothing
    /// else of the file is read before it is probed.
    ///
    /// # Errors
    /// As [`View::open_unverified`]; [`Error::NotAFile`]; [`Error::Io`].
    ///
    /// # Safety
    /// As [`MappedFilter::open`].
    pub unsafe fn open_unverified(path: &Path) -> Result<MappedFilter, Error> {
        let (file, _) = file::open_filter(path, View::check)?;
        // SAFETY: the caller's promise for as long as what is made here lives, which owns the
        // bytes.
        let bytes = unsafe { FileBytes::open(&file) }?;
        let View { lines, k, hash, key_count, kernel } = View::open_unverified(&bytes)?;
        let lines = lines.len();
        Ok(MappedFilter { bytes, lines, k, hash, key_count, kernel })
    }

    /// The filter, for as long as it is mapped.
    #[inline]
    pub fn view(&self) -> View<'_> {
        let MappedFilter { k, hash, key_count, kernel, .. } = *self;
        View { lines: self.bytes[..self.lines].into(), k, hash, key_count, kernel }
    }
}

probing!(MappedFilter, view);

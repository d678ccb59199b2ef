//! Mapped files: a view for as long as its file is mapped.
//!
//! A map is a `&[u8]` over bytes that the whole system shares and no process may write. So opening
//! a map is `unsafe`, with that contract.
#![allow(unsafe_code)]

use super::owned::OwnedView;
use super::probe::{Probe, probing};
use super::view::{View, brief};
use crate::error::Error;
use crate::format::native::FooterBytes;
use crate::format::{self, encoded};
use crate::hash::KeyHash;
use crate::os::file;
use crate::os::memory::FileBytes;
use std::fmt;
use std::path::Path;
use std::slice::from_mut;
use std::sync::Arc;

/// A filter in a file, mapped into memory and probed there. All processes that map it share the
/// memory. On systems without `mmap` the file is read instead.
///
/// Opening a map is `unsafe`, because a program cannot keep others from writing the file; see
/// [`MappedFilter::open`]. Without `unsafe`, [`Filter::load`](crate::Filter::load) and
/// [`CuckooFilter::load`](crate::CuckooFilter::load) read the same files into memory.
///
/// ```compile_fail,E0133
/// let map = bloomline::MappedFilter::open("filter");
/// ```
///
/// A clone shares the map.
///
/// ```
/// let path = std::env::temp_dir().join(format!("{}.filter", std::process::id()));
/// bloomline::Filter::from_keys(["apple"], 0.01)?.save(&path)?;
/// // SAFETY: nobody writes to the file.
/// let map = unsafe { bloomline::MappedFilter::open(&path)? };
/// assert!(map.contains("apple"));
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone)]
pub struct MappedFilter(OwnedView<Map>);

#[derive(Clone)]
struct Map(Arc<FileBytes>);

impl AsRef<[u8]> for Map {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The probes of a mapped filter, by what it has mapped.
macro_rules! mapped {
    ($kind:ident) => {
        impl $kind {
            fn key_hash(&self) -> KeyHash {
                self.0.key_hash()
            }

            #[inline(always)]
            fn contains_one(&self, hash: u64) -> bool {
                self.0.contains_hash(hash)
            }

            #[inline(always)]
            fn contains_two(&self, first: u64, second: u64) -> Option<u64> {
                let mut word = 0;
                Probe::contains_hashes(&self.0, &[first, second], from_mut(&mut word));
                Some(word)
            }

            #[inline(always)]
            fn contains_few(&self, hashes: &[u64], word: &mut u64) -> usize {
                Probe::contains_hashes(&self.0, hashes, from_mut(word))
            }
        }

        probing!($kind, view);
    };
}

/// How a view of the bytes is opened.
type Open = fn(&[u8]) -> Result<View<'_>, Error>;

/// A mapped file that ends as `check` allows: its footer, and how many bytes are before that.
///
/// # Safety
/// As [`MappedFilter::open`].
pub(crate) unsafe fn map_file(
    path: &Path,
    check: impl FnOnce(&FooterBytes, u64) -> Result<(), Error>,
) -> Result<FileBytes, Error> {
    file::read(path, |file, len| {
        // Before any of it takes memory, where a map does.
        let (footer, body_len) = encoded::footer(file, len)?;
        check(&footer, body_len)?;
        // SAFETY: the caller's promise for as long as the bytes live.
        unsafe { FileBytes::open(file) }
    })
}

impl MappedFilter {
    /// Maps a file and checks all of it, as [`View::open`] does.
    ///
    /// # Errors
    /// As [`View::open`]; [`Error::NotAFile`]; [`Error::Io`].
    ///
    /// # Safety
    /// As long as the map lives, no process, this one included, writes to the file or changes its
    /// length. Writing to it is undefined behaviour, as for any `&[u8]`: answers may be wrong in
    /// either direction. If the file is cut short, a probe of missing bytes aborts the process
    /// (SIGBUS). For lines to insert into meanwhile there is
    /// [`ConcurrentFilter`](crate::ConcurrentFilter).
    ///
    /// Removing the file, or renaming another over it as [`Filter::save`](crate::Filter::save)
    /// does, is allowed: the map keeps the old file.
    pub unsafe fn open<P: AsRef<Path>>(path: P) -> Result<MappedFilter, Error> {
        // SAFETY: the same contract.
        unsafe { MappedFilter::opened(path.as_ref(), |bytes| View::open(bytes)) }
    }

    /// Maps a file and checks its footer, as [`View::open_unverified`] does: nothing
    /// else of the file is read before it is probed.
    ///
    /// # Errors
    /// As [`View::open_unverified`]; [`Error::NotAFile`]; [`Error::Io`].
    ///
    /// # Safety
    /// As [`MappedFilter::open`].
    pub unsafe fn open_unverified<P: AsRef<Path>>(path: P) -> Result<MappedFilter, Error> {
        // SAFETY: the same contract.
        unsafe { MappedFilter::opened(path.as_ref(), |bytes| View::open_unverified(bytes)) }
    }

    /// # Safety
    /// As [`MappedFilter::open`].
    unsafe fn opened(path: &Path, open: Open) -> Result<MappedFilter, Error> {
        // SAFETY: the same contract.
        let bytes = unsafe { map_file(path, View::check) }?;
        OwnedView::opened(Map(Arc::new(bytes)), open).map(MappedFilter)
    }

    /// Returns a view of the filter.
    #[inline]
    pub fn view(&self) -> View<'_> {
        self.0.view()
    }
}

impl fmt::Debug for MappedFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        brief(f, "MappedFilter", &self.view())
    }
}

mapped!(MappedFilter);

/// The map of a kind that has a view of its own, by the name of the kind's modules; `mapped`, if it is probed as
/// filters are.
macro_rules! mapped_kind {
    ($(#[$doc:meta])* pub struct $kind:ident($module:ident::$view:ident); $($mapped:ident)?) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $kind(super::$module::$view<Map>);

        impl $kind {
            /// Maps a file and checks all of it, as `open` of the view does.
            ///
            /// # Errors
            /// As `open` of the view; [`Error::NotAFile`]; [`Error::Io`].
            ///
            /// # Safety
            /// As [`MappedFilter::open`].
            pub unsafe fn open<P: AsRef<Path>>(path: P) -> Result<$kind, Error> {
                // SAFETY: the same contract.
                let map = unsafe { $kind::map(path.as_ref()) }?;
                super::$module::$view::open(map).map($kind)
            }

            /// Maps a file and checks what `open_unverified` of the view does: nothing else of the file is
            /// read before it is probed.
            ///
            /// # Errors
            /// As `open_unverified` of the view; [`Error::NotAFile`]; [`Error::Io`].
            ///
            /// # Safety
            /// As [`MappedFilter::open`].
            pub unsafe fn open_unverified<P: AsRef<Path>>(path: P) -> Result<$kind, Error> {
                // SAFETY: the same contract.
                let map = unsafe { $kind::map(path.as_ref()) }?;
                super::$module::$view::open_unverified(map).map($kind)
            }

            /// # Safety
            /// As [`MappedFilter::open`].
            unsafe fn map(path: &Path) -> Result<Map, Error> {
                let check = |footer: &FooterBytes, len| format::$module::check(footer, len).map(drop);
                // SAFETY: the same contract.
                unsafe { map_file(path, check) }.map(|bytes| Map(Arc::new(bytes)))
            }

            /// Returns the view, which probes the file.
            pub fn view(&self) -> &super::$module::$view<impl AsRef<[u8]> + Clone> {
                &self.0
            }
        }

        impl fmt::Debug for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        $($mapped!($kind);)?
    };
}

#[cfg(feature = "static")]
mapped_kind! {
    /// A cascade in a file, mapped into memory and probed there, as [`MappedFilter`] is.
    ///
    /// A clone shares the map.
    ///
    /// ```
    /// let mut builder = bloomline::CascadeBuilder::new(0); // the seed of the hash
    /// builder.include("revoked")?;
    /// builder.exclude("valid")?;
    /// let path = std::env::temp_dir().join(format!("{}.cascade", std::process::id()));
    /// builder.build(1)?.save(&path)?;
    /// // SAFETY: nobody writes to the file.
    /// let map = unsafe { bloomline::MappedCascade::open(&path)? };
    /// assert!(map.contains("revoked") && !map.contains("valid"));
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    pub struct MappedCascade(cascade::CascadeView); mapped
}

#[cfg(feature = "matrix")]
mapped_kind! {
    /// A matrix in a file, mapped into memory and probed there, as [`MappedFilter`] is: see
    /// [`view`](MappedMatrix::view).
    ///
    /// A clone shares the map.
    ///
    /// ```
    /// use bloomline::{MappedMatrix, Matrix, Params};
    ///
    /// let mut matrix = Matrix::new(Params::for_rate(1000, 0.01)?, 100)?; // 100 filters of 1000 keys
    /// matrix.insert(7, "apple")?;
    /// let path = std::env::temp_dir().join(format!("{}.matrix", std::process::id()));
    /// matrix.save(&path)?;
    /// // SAFETY: nobody writes to the file.
    /// let map = unsafe { MappedMatrix::open(&path)? };
    /// let mut maybe = bloomline::Bitmap::new();
    /// map.view().contains("apple", &mut maybe);
    /// assert!(maybe[7]);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    pub struct MappedMatrix(matrix::MatrixView);
}

#[cfg(feature = "growing")]
mapped_kind! {
    /// A growing filter in a file, mapped into memory and probed there, as [`MappedFilter`] is.
    ///
    /// A clone shares the map.
    ///
    /// ```
    /// use bloomline::{GrowingFilter, MappedGrowing, Probe};
    ///
    /// let mut filter = GrowingFilter::new(1_000_000, 0.01, 0)?; // a million keys at most, 1 %, seed 0
    /// filter.insert("apple")?;
    /// let path = std::env::temp_dir().join(format!("{}.growing", std::process::id()));
    /// filter.save(&path)?;
    /// // SAFETY: nobody writes to the file.
    /// let map = unsafe { MappedGrowing::open(&path)? };
    /// assert!(map.contains("apple"));
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    pub struct MappedGrowing(growing::GrowingView); mapped
}

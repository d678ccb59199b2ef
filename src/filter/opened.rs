//! A filter of any kind, opened, for C: one that a view can probe, a cascade, a growing filter or a matrix,
//! in a file or in the caller's bytes.

use super::cascade::CascadeView;
use super::growing::GrowingView;
use super::matrix::MatrixView;
use super::{AnyMatrix, OwnedView, View};
use crate::error::Error;
use crate::format::native::FooterBytes;
use crate::format::{cascade, encoded, growing, matrix, native};
use crate::os::file;
use crate::os::memory::{FileBytes, Zeroed};
use std::io::{Read, Seek};
use std::path::Path;

/// Where the bytes are.
pub(crate) enum Bytes {
    /// In a mapped file.
    Mapped(FileBytes),
    /// In memory of their own.
    Copied(Zeroed),
    /// In the caller's memory, who vouches that they stay.
    Lent(&'static [u8]),
}

impl AsRef<[u8]> for Bytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(bytes) => bytes,
            Bytes::Copied(bytes) => bytes,
            Bytes::Lent(bytes) => bytes,
        }
    }
}

/// An encoded filter that was opened, and its bytes.
pub(crate) enum Opened {
    Filter(OwnedView<Bytes>),
    Cascade(CascadeView<Bytes>),
    Growing(GrowingView<Bytes>),
    Matrix(AnyMatrix<Bytes>),
}

impl Opened {
    /// Reads a file and opens it. A file that is none of these costs no memory.
    ///
    /// # Errors
    /// As [`Opened::of`]; [`Error::NotAFile`]; [`Error::Io`]; [`Error::OutOfMemory`].
    pub(crate) fn read(path: &Path, verified: bool) -> Result<Opened, Error> {
        let bytes = file::read(path, |file, len| {
            let (footer, body_len) = encoded::footer(file, len)?;
            check(&footer, body_len)?;
            file.rewind()?;
            let mut bytes = Zeroed::new(usize::try_from(len).map_err(|_| Error::OutOfMemory)?)?;
            file.read_exact(&mut bytes)?;
            Ok(bytes)
        })?;
        Opened::of(Bytes::Copied(bytes), verified)
    }

    /// Opens a copy of these bytes.
    ///
    /// # Errors
    /// As [`Opened::of`]; [`Error::OutOfMemory`].
    pub(crate) fn copy(bytes: &[u8], verified: bool) -> Result<Opened, Error> {
        let (body, footer) = native::split(bytes)?;
        check(footer, body.len() as u64)?;
        Opened::of(Bytes::Copied(Zeroed::copy_of(bytes)?), verified)
    }

    /// Opens these bytes.
    ///
    /// # Errors
    /// As [`View::open`] or [`View::open_unverified`]; of a cascade as [`CascadeView`], of a
    /// growing filter as [`GrowingView`], of a matrix as [`MatrixView`].
    pub(crate) fn of(bytes: Bytes, verified: bool) -> Result<Opened, Error> {
        let layout = native::split(bytes.as_ref()).map(|(_, footer)| native::stated_layout(footer));
        match (layout, verified) {
            (Ok(cascade::LAYOUT), true) => CascadeView::open(bytes).map(Opened::Cascade),
            (Ok(cascade::LAYOUT), false) => {
                CascadeView::open_unverified(bytes).map(Opened::Cascade)
            }
            (Ok(growing::LAYOUT), true) => GrowingView::open(bytes).map(Opened::Growing),
            (Ok(growing::LAYOUT), false) => {
                GrowingView::open_unverified(bytes).map(Opened::Growing)
            }
            (Ok(matrix::LAYOUT), true) => MatrixView::open(bytes).map(Opened::of_matrix),
            (Ok(matrix::LAYOUT), false) => {
                MatrixView::open_unverified(bytes).map(Opened::of_matrix)
            }
            (_, true) => OwnedView::open(bytes).map(Opened::Filter),
            (_, false) => OwnedView::open_unverified(bytes).map(Opened::Filter),
        }
    }

    fn of_matrix(view: MatrixView<Bytes>) -> Opened {
        Opened::Matrix(AnyMatrix::Opened(view))
    }

    /// The view of it, which leads to where this is if it is a cascade or a growing
    /// filter.
    ///
    /// # Errors
    /// [`Error::Layout`] for a matrix.
    pub(crate) fn view(&self) -> Result<View<'_>, Error> {
        match self {
            Opened::Filter(filter) => Ok(filter.view()),
            Opened::Cascade(cascade) => Ok(cascade.view()),
            Opened::Growing(growing) => Ok(growing.view()),
            Opened::Matrix(_) => Err(Error::Layout(matrix::LAYOUT)),
        }
    }
}

/// Whether one can be opened of `body_len` bytes, which need not be read yet, with this footer.
pub(crate) fn check(footer: &FooterBytes, body_len: u64) -> Result<(), Error> {
    match native::stated_layout(footer) {
        cascade::LAYOUT => cascade::check(footer, body_len).map(drop),
        growing::LAYOUT => growing::check(footer, body_len).map(drop),
        matrix::LAYOUT => matrix::check(footer, body_len).map(drop),
        _ => View::check(footer, body_len),
    }
}

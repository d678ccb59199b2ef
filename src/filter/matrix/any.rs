//! A matrix as C has it: one of its own, or an encoded one where its bytes are.

use super::asking::asking;
use super::columns::column_of;
use super::{Matrix, MatrixView};
use crate::error::Error;
use crate::filter::Filter;
use crate::format::matrix::{LAYOUT, MatrixShape};
use crate::kernel::Rows;
use crate::os::file;
use crate::os::room::Room;
use std::io::Write;
use std::path::Path;

pub(crate) enum AnyMatrix<B> {
    Own(Matrix),
    /// It cannot be changed.
    Opened(MatrixView<B>),
}

impl<B: AsRef<[u8]>> AnyMatrix<B> {
    #[inline(always)]
    pub(crate) fn rows(&self) -> Option<Rows<'_>> {
        match self {
            AnyMatrix::Own(matrix) => matrix.rows(),
            AnyMatrix::Opened(view) => view.rows(),
        }
    }

    pub(crate) fn name(&self, column: usize) -> Option<u64> {
        match self {
            AnyMatrix::Own(matrix) => matrix.names().get(column).copied(),
            AnyMatrix::Opened(view) => view.name(column),
        }
    }

    pub(crate) fn column(&self, column: usize) -> Result<Filter, Error> {
        match self {
            AnyMatrix::Own(matrix) => matrix.column(column),
            AnyMatrix::Opened(view) => column_of(&view.shape(), view.get_ref().as_ref(), column),
        }
    }

    pub(crate) fn with_columns(&self, columns: usize) -> Result<AnyMatrix<B>, Error> {
        match self {
            AnyMatrix::Own(matrix) => matrix.with_columns(columns),
            AnyMatrix::Opened(view) => {
                Matrix::decode(view.get_ref().as_ref())?.with_columns(columns)
            }
        }
        .map(AnyMatrix::Own)
    }

    // ---- the whole of it: of an encoded one its bytes, checksums included ----

    pub(crate) fn try_clone(&self) -> Result<AnyMatrix<B>, Error> {
        match self {
            AnyMatrix::Own(matrix) => matrix.try_clone(),
            AnyMatrix::Opened(view) => Matrix::decode(view.get_ref().as_ref()),
        }
        .map(AnyMatrix::Own)
    }

    pub(crate) fn memory_usage(&self) -> usize {
        match self {
            AnyMatrix::Own(matrix) => matrix.memory_usage(),
            AnyMatrix::Opened(_) => 0,
        }
    }

    pub(crate) fn encoded_len(&self) -> usize {
        match self {
            AnyMatrix::Own(matrix) => matrix.encoded_len(),
            AnyMatrix::Opened(view) => view.get_ref().as_ref().len(),
        }
    }

    pub(crate) fn encode_in(&self, out: Room<'_>) -> Result<usize, Error> {
        match self {
            AnyMatrix::Own(matrix) => matrix.encode_in(out),
            AnyMatrix::Opened(view) => {
                let bytes = view.get_ref().as_ref();
                out.first(bytes.len())?.put(bytes);
                Ok(bytes.len())
            }
        }
    }

    pub(crate) fn write_to(&self, out: &mut dyn Write) -> Result<(), Error> {
        match self {
            AnyMatrix::Own(matrix) => matrix.write_to(out),
            AnyMatrix::Opened(view) => Ok(out.write_all(view.get_ref().as_ref())?),
        }
    }

    pub(crate) fn save(&self, path: &Path) -> Result<(), Error> {
        match self {
            AnyMatrix::Own(matrix) => matrix.save(path),
            AnyMatrix::Opened(view) => {
                file::replace(path, |file| file.write_all(view.get_ref().as_ref()))
            }
        }
    }
}

impl<B> AnyMatrix<B> {
    pub(crate) fn decode(bytes: &[u8]) -> Result<AnyMatrix<B>, Error> {
        Matrix::decode(bytes).map(AnyMatrix::Own)
    }

    pub(crate) fn load(path: &Path) -> Result<AnyMatrix<B>, Error> {
        Matrix::load(path).map(AnyMatrix::Own)
    }

    /// The matrix, to be changed.
    ///
    /// # Errors
    /// [`Error::Layout`] for an encoded one.
    pub(crate) fn own(&mut self) -> Result<&mut Matrix, Error> {
        match self {
            AnyMatrix::Own(matrix) => Ok(matrix),
            AnyMatrix::Opened(_) => Err(Error::Layout(LAYOUT)),
        }
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> MatrixShape {
        match self {
            AnyMatrix::Own(matrix) => matrix.shape(),
            AnyMatrix::Opened(view) => view.shape(),
        }
    }
}

asking!(AnyMatrix<B> where B: AsRef<[u8]>);

//! Views of matrices: probes an encoded matrix where its bytes are.

use super::asking::asking;
use super::{brief, prepared};
use crate::error::Error;
use crate::format::matrix::{self as format, MatrixShape};
use crate::format::native;
use crate::kernel::{Backend, Kernels, Prepared, Rows};
use std::fmt;

/// An encoded [`Matrix`](crate::Matrix) that is probed where it is: `B` is a `&[u8]`, or owns the
/// bytes, as a `Vec<u8>` or an `Arc<[u8]>` does.
///
/// ```
/// use bloomline::{Bitmap, Matrix, MatrixView, Params};
///
/// let mut matrix = Matrix::new(Params::for_rate(1_000, 0.01)?, 100)?;
/// matrix.insert(70, "apple")?;
/// let bytes = matrix.to_bytes()?;
/// let view = MatrixView::open(&bytes[..])?;
/// let mut maybe = Bitmap::new();
/// view.contains("apple", &mut maybe);
/// assert!(maybe[70]);
/// # Ok::<(), bloomline::Error>(())
/// ```
///
/// The bytes may lie at any address, and move with the view. If [`AsRef`] gives fewer bytes than
/// when the view was opened, every column may have every key; if it gives other bytes, answers may be
/// wrong.
#[derive(Clone)]
pub struct MatrixView<B> {
    bytes: B,
    shape: MatrixShape,
    prepared: Prepared,
}

impl<B: AsRef<[u8]>> MatrixView<B> {
    /// Opens an encoded matrix and verifies all of it, all checksums included.
    ///
    /// # Errors
    /// As [`Matrix::decode`](crate::Matrix::decode).
    pub fn open(bytes: B) -> Result<MatrixView<B>, Error> {
        MatrixView::opened(bytes, true, Kernels::active()?)
    }

    /// Opens an encoded matrix and verifies its footer, not the groups: in a time that does not depend
    /// on the size. No probe leaves the bytes, whatever they are, but damaged groups may cause false
    /// negatives.
    ///
    /// # Errors
    /// As [`MatrixView::open`], but [`Error::Checksum`] for the footer only.
    pub fn open_unverified(bytes: B) -> Result<MatrixView<B>, Error> {
        MatrixView::opened(bytes, false, Kernels::active()?)
    }

    /// As [`MatrixView::open`], probing with a given backend.
    ///
    /// # Errors
    /// As [`MatrixView::open`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn open_with_backend(bytes: B, backend: Backend) -> Result<MatrixView<B>, Error> {
        MatrixView::opened(bytes, true, backend.kernels().ok_or(Error::Backend)?)
    }

    fn opened(bytes: B, verified: bool, kernels: Kernels) -> Result<MatrixView<B>, Error> {
        let all = bytes.as_ref();
        let format::Parts { shape, groups, checksums, .. } = format::parse(all)?;
        if verified {
            native::verify(all)?;
            let sums = checksums.as_chunks().0.iter().map(|&sum| u64::from_le_bytes(sum));
            if !format::agree(&shape, groups, sums) {
                return Err(Error::Checksum);
            }
        }
        Ok(MatrixView::of_groups(bytes, shape, kernels))
    }

    /// Of bytes that begin with the groups of such a matrix.
    pub(super) fn of_groups(bytes: B, shape: MatrixShape, kernels: Kernels) -> MatrixView<B> {
        MatrixView { bytes, shape, prepared: prepared(&shape, kernels) }
    }

    #[inline(always)]
    pub(super) fn rows(&self) -> Option<Rows<'_>> {
        self.prepared.rows(self.bytes.as_ref())
    }

    /// Returns the name of a column; None if it has none, or the bytes are gone.
    pub fn name(&self, column: usize) -> Option<u64> {
        let names = self.shape.name_bytes();
        let names = self.bytes.as_ref().get(names.start as usize..names.end as usize)?;
        names.as_chunks().0.get(column).map(|&name| u64::from_le_bytes(name))
    }
}

impl<B> MatrixView<B> {
    /// Returns what a reader of single ranges of the encoded matrix needs to know.
    pub fn shape(&self) -> MatrixShape {
        self.shape
    }

    /// The bytes.
    pub fn get_ref(&self) -> &B {
        &self.bytes
    }

    /// Returns the bytes.
    pub fn into_inner(self) -> B {
        self.bytes
    }
}

asking!(MatrixView<B> where B: AsRef<[u8]>);

impl<B> fmt::Debug for MatrixView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        brief(f, "MatrixView", &self.shape)
    }
}

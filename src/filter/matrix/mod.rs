//! The matrix: the lines of many filters, transposed, so that one key is asked of all of them at
//! once.

mod among;
#[cfg(feature = "capi")]
mod any;
mod asking;
mod columns;
mod pairs;
mod range;
mod view;

pub use among::MatrixAmong;
#[cfg(feature = "capi")]
pub(crate) use any::AnyMatrix;
pub use view::MatrixView;

use crate::error::Error;
use crate::format::encoded::{Body, Encoded, whole_values, write_parts};
use crate::format::matrix::{self as format, MatrixShape};
use crate::format::native::{Footer, FooterBytes};
use crate::kernel::{Backend, Kernels, Prepared, Rows};
use crate::os::memory::Zeroed;
use crate::os::numbers::HashList;
use crate::shape::Params;
use asking::asking;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;

/// Many filters of one shape, its **columns**, asked for one key at once: the tables of an LSM tree,
/// shards, the segments of a log. The answer is a bitmap of columns.
///
/// The lines of all columns lie side by side, bit by bit. So a key reads k rows, and a row has one bit
/// for each column. In 512 columns one key reads k cache lines, in 512 filters apart 512.
///
/// ```
/// use bloomline::{Bitmap, Filter, Matrix, Params};
///
/// let shape = Params::for_rate(1_000, 0.01)?;
/// let mut matrix = Matrix::new(shape, 3)?;
/// for (column, fruits) in [["apple", "pear"], ["plum", "fig"], ["kiwi", "pear"]].iter().enumerate() {
///     let mut filter = Filter::new(shape)?;
///     filter.insert_keys(fruits);
///     matrix.set_column(column, &filter.view())?;
/// }
/// let mut maybe = Bitmap::new();
/// matrix.contains("pear", &mut maybe);
/// assert!(maybe[0] && maybe[2]);
/// # Ok::<(), bloomline::Error>(())
/// ```
///
/// Rates and memory are those of the single filters: a column is, byte for byte, a plain [`Filter`] of the
/// matrix's [`params`](Matrix::params). Rows are padded to 64 columns. All columns have one line count, k and
/// seed; see [`Params::foldable_to`] for filters of other sizes.
///
/// Probing works through a shared reference, from any number of threads. For filters of any kinds and
/// sizes there is [`Group`](crate::Group).
/// `src/layouts/matrix.rs` is its definition.
///
/// [`Filter`]: crate::Filter
pub struct Matrix {
    shape: MatrixShape,
    prepared: Prepared,
    groups: Zeroed,
    /// As many as columns, or none.
    names: HashList,
    kernels: Kernels,
}

impl Matrix {
    /// Creates a matrix of so many empty columns.
    ///
    /// # Errors
    /// [`Error::Columns`] if there are none or more than 2^32 - 1; [`Error::Classic`] if the parameters
    /// are classic; [`Error::LineCount`] if the size cannot be addressed; [`Error::OutOfMemory`];
    /// [`Error::Backend`].
    pub fn new(params: Params, columns: usize) -> Result<Matrix, Error> {
        Matrix::with_kernels(params, columns, Kernels::active()?)
    }

    /// Creates a matrix with a given backend.
    ///
    /// # Errors
    /// As [`Matrix::new`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn with_backend(params: Params, columns: usize, backend: Backend) -> Result<Matrix, Error> {
        Matrix::with_kernels(params, columns, backend.kernels().ok_or(Error::Backend)?)
    }

    fn with_kernels(params: Params, columns: usize, kernels: Kernels) -> Result<Matrix, Error> {
        Matrix::of_shape(MatrixShape::new(params, columns)?, kernels)
    }

    fn of_shape(shape: MatrixShape, kernels: Kernels) -> Result<Matrix, Error> {
        let (groups, prepared) = (Zeroed::new(shape.bytes())?, prepared(&shape, kernels));
        Ok(Matrix { shape, prepared, groups, names: HashList::new(), kernels })
    }

    #[inline(always)]
    fn rows(&self) -> Option<Rows<'_>> {
        self.prepared.rows(&self.groups)
    }

    // ---- what it is ----

    /// Returns what a reader of single ranges of the encoded matrix needs to know.
    pub fn shape(&self) -> MatrixShape {
        self.shape
    }

    /// The groups, one for each line of the columns: the rows as `docs/format/matrix.md` has them.
    pub fn groups(&self) -> &[u8] {
        &self.groups
    }

    // ---- names and checksums ----

    /// Gives each column a name of 8 bytes, the caller's own: the number of a file, a hash of its path. They
    /// are encoded with the matrix. An empty slice removes all names.
    ///
    /// # Errors
    /// [`Error::Columns`] if there are neither as many names as columns nor none;
    /// [`Error::OutOfMemory`]; the old names stay.
    pub fn set_names(&mut self, names: &[u64]) -> Result<(), Error> {
        if !names.is_empty() && names.len() != self.columns() {
            return Err(Error::Columns(names.len() as u64));
        }
        let mut list = HashList::with_capacity(names.len())?;
        list.append(names)?;
        self.names = list;
        self.shape = self.shape.with_names(!names.is_empty());
        Ok(())
    }

    /// Returns the names of the columns, in their order; none if they have none.
    pub fn names(&self) -> &[u64] {
        &self.names
    }

    /// Whether the encoded matrix has a checksum for each group, so that a reader of single ranges
    /// can verify them. They cost 8 bytes for each line of a column, and the time to read the
    /// groups once more when it is encoded. At first it has none.
    pub fn set_checksums(&mut self, checksums: bool) {
        self.shape = self.shape.with_checksums(checksums);
    }
}

/// What probes of a matrix of this shape need.
fn prepared(shape: &MatrixShape, kernels: Kernels) -> Prepared {
    let params = shape.params();
    Prepared::new(params.line_count(), shape.columns(), params.k(), kernels)
}

asking!(Matrix);

whole_values!(Matrix);

impl Matrix {
    /// The checksums of all groups.
    fn checksums(&self) -> impl Iterator<Item = [u8; 8]> {
        let groups = self.groups.chunks(self.shape.group_bytes()).enumerate();
        let checksums =
            groups.map(|(line, group)| MatrixShape::checksum(line as u64, group).to_le_bytes());
        checksums.take(if self.shape.has_checksums() { usize::MAX } else { 0 })
    }
}

impl Encoded for Matrix {
    fn footer(&self) -> Footer {
        self.shape.footer()
    }

    fn body_len(&self) -> usize {
        self.shape.checksum_bytes().end as usize
    }

    fn write_body(&self, from: usize, out: &mut dyn Write) -> io::Result<()> {
        let mut skip = write_parts([&*self.groups], from, out)?;
        let names = self.names.iter().map(|name| name.to_le_bytes());
        for word in names {
            skip = write_parts([&word[..]], skip, out)?;
        }
        // Those before the range are not computed.
        let skipped = skip / 8;
        skip -= 8 * skipped;
        for word in self.checksums().skip(skipped) {
            skip = write_parts([&word[..]], skip, out)?;
        }
        Ok(())
    }

    fn read(footer: &FooterBytes, body: &mut Body<'_>) -> Result<Matrix, Error> {
        let shape = format::check(footer, body.len())?;
        let mut matrix = Matrix::of_shape(shape, Kernels::active()?)?;
        body.fill(&mut matrix.groups)?;
        let mut words = |bytes: Range<u64>| {
            let (mut word, count) = ([0; 8], (bytes.end - bytes.start) as usize / 8);
            let mut list = HashList::with_capacity(count)?;
            for _ in 0..count {
                body.fill(&mut word)?;
                list.push(u64::from_le_bytes(word))?;
            }
            Ok::<_, Error>(list)
        };
        matrix.names = words(shape.name_bytes())?;
        let sums = words(shape.checksum_bytes())?;
        let agree = format::agree(&shape, &matrix.groups, sums.iter().copied());
        if agree { Ok(matrix) } else { Err(Error::Checksum) }
    }

    fn copy(&self) -> Result<Matrix, Error> {
        let mut names = HashList::with_capacity(self.names.len())?;
        names.append(&self.names)?;
        let groups = Zeroed::copy_of(&self.groups)?;
        Ok(Matrix { groups, names, ..*self })
    }

    fn memory(&self) -> usize {
        self.groups.taken() + self.names.taken()
    }
}

impl PartialEq for Matrix {
    fn eq(&self, other: &Matrix) -> bool {
        self.shape == other.shape && self.groups == other.groups && *self.names == *other.names
    }
}

impl Eq for Matrix {}

impl fmt::Debug for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        brief(f, "Matrix", &self.shape)
    }
}

/// Not the seed, which may be a secret.
fn brief(f: &mut fmt::Formatter<'_>, name: &str, shape: &MatrixShape) -> fmt::Result {
    let params = shape.params();
    f.debug_struct(name)
        .field("columns", &shape.columns())
        .field("lines", &params.line_count())
        .field("k", &params.k())
        .finish_non_exhaustive()
}

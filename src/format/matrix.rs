//! Layout 10: the groups of a matrix, then a name for each column and a checksum for each group,
//! if it has these, before the footer of `native`. `docs/format/matrix.md` is the standard.

use super::native::{self, Footer, FooterBytes};
use crate::error::Error;
use crate::hash;
use crate::layouts::matrix::{ROWS, group_bytes};
use crate::line::line_index;
use crate::shape::Params;
use std::ops::Range;

pub(crate) const LAYOUT: u16 = 10;

/// The footer's field `shape`: the number of columns, then these.
const NAMED: u64 = 1 << 32;
const SUMMED: u64 = 1 << 33;
const KNOWN: u64 = SUMMED | NAMED | u32::MAX as u64;

/// The shape of a [`Matrix`](crate::Matrix): the parameters of its columns, how many they are, and
/// what its encoded form has besides. It is all that a reader of single ranges needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixShape {
    params: Params,
    columns: u32,
    named: bool,
    summed: bool,
}

impl MatrixShape {
    /// The shape of a matrix of so many columns of these parameters, without names and checksums.
    ///
    /// # Errors
    /// [`Error::Columns`] if `columns` is 0 or more than 2^32 - 1; [`Error::Classic`] if the
    /// parameters are classic; [`Error::LineCount`] if the size cannot be addressed.
    pub fn new(params: Params, columns: usize) -> Result<MatrixShape, Error> {
        native::in_one_line(params)?;
        let columns = number_of(columns as u64)?;
        let lines = params.line_count();
        // For each line its group, a checksum; for each column a name; a footer. A group alone may be
        // more than `usize` has.
        let group = ROWS as u128 * 8 * u128::from(columns.div_ceil(64)) + 8;
        let all = u128::from(lines) * group + u128::from(columns) * 8 + 64;
        if all > isize::MAX as u128 {
            return Err(Error::LineCount(lines));
        }
        Ok(MatrixShape { params, columns, named: false, summed: false })
    }

    /// The same with a name of 8 bytes for each column, or without.
    pub(crate) fn with_names(self, named: bool) -> MatrixShape {
        MatrixShape { named, ..self }
    }

    /// The same with a checksum for each group, or without.
    pub(crate) fn with_checksums(self, summed: bool) -> MatrixShape {
        MatrixShape { summed, ..self }
    }

    /// Reads the shape from the last 64 bytes of an encoded matrix of so many bytes.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::NotAFilter`], [`Error::Version`], [`Error::Checksum`],
    /// [`Error::Layout`], [`Error::Reserved`], [`Error::Columns`], [`Error::K`],
    /// [`Error::LineCount`]: see `docs/format/matrix.md`.
    pub fn read(footer: &[u8; 64], encoded_len: u64) -> Result<MatrixShape, Error> {
        let needed = native::FOOTER_BYTES as u64;
        let body_len = encoded_len.checked_sub(needed);
        check(footer, body_len.ok_or(Error::Truncated { needed, given: encoded_len })?)
    }

    /// Returns line count, k and seed of the columns.
    pub fn params(&self) -> Params {
        self.params
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns as usize
    }

    /// Returns how many words the answers about one key take: a bit for each column.
    pub fn words(&self) -> usize {
        self.columns.div_ceil(64) as usize
    }

    /// Returns whether each column has a name.
    pub fn has_names(&self) -> bool {
        self.named
    }

    /// Returns whether each group has a checksum.
    pub fn has_checksums(&self) -> bool {
        self.summed
    }

    /// Returns the length of the encoded matrix in bytes.
    pub fn encoded_len(&self) -> u64 {
        self.checksum_bytes().end + native::FOOTER_BYTES as u64
    }

    /// Returns the bytes of all groups.
    pub fn bytes(&self) -> usize {
        self.group_bytes() * self.params.line_count() as usize
    }

    pub(crate) fn group_bytes(&self) -> usize {
        group_bytes(self.columns)
    }

    /// Returns which bytes of the encoded matrix hold the answers about the key of a hash: a group of
    /// 64 bytes for each column, columns rounded up to a multiple of 64.
    pub fn range(&self, hash: u64) -> Range<u64> {
        self.group_range(line_index(hash, self.params.line_count()))
    }

    pub(crate) fn group_range(&self, line: u64) -> Range<u64> {
        let group = self.group_bytes() as u64;
        line * group..(line + 1) * group
    }

    /// Returns which bytes of the encoded matrix are the names of the columns, 8 bytes each in their
    /// order; empty if there are none.
    pub fn name_bytes(&self) -> Range<u64> {
        let start = self.bytes() as u64;
        start..start + if self.named { 8 * u64::from(self.columns) } else { 0 }
    }

    /// Returns which bytes of the encoded matrix are the checksums of the groups, 8 bytes each in the
    /// order of the groups; empty if there are none.
    pub fn checksum_bytes(&self) -> Range<u64> {
        let start = self.name_bytes().end;
        start..start + if self.summed { 8 * self.params.line_count() } else { 0 }
    }

    /// Returns which bytes of the encoded matrix are the checksum of the group in this range, which
    /// [`range`](MatrixShape::range) returned; empty if there are none.
    pub fn checksum_of(&self, range: &Range<u64>) -> Range<u64> {
        let all = self.checksum_bytes();
        if all.is_empty() {
            return all;
        }
        let at = all.start + 8 * (range.start / self.group_bytes() as u64);
        at..at + 8
    }

    /// The checksum of a group: of its bytes, with its number as the seed, so that a group in the
    /// place of another is found.
    pub(crate) fn checksum(line: u64, group: &[u8]) -> u64 {
        hash::of_bytes(group, line)
    }

    /// What the footer says.
    pub(crate) fn footer(&self) -> Footer {
        let flags = if self.named { NAMED } else { 0 } | if self.summed { SUMMED } else { 0 };
        let shape = u64::from(self.columns) | flags;
        Footer { shape, ..native::footer(LAYOUT, self.params, 0) }
    }
}

/// The number of columns, if there can be so many.
fn number_of(columns: u64) -> Result<u32, Error> {
    let number = u32::try_from(columns).ok().filter(|&columns| columns > 0);
    number.ok_or(Error::Columns(columns))
}

/// As `native::check`, for this layout.
pub(crate) fn check(footer: &FooterBytes, body_len: u64) -> Result<MatrixShape, Error> {
    let footer = Footer::read_of(footer, LAYOUT)?;
    if footer.shape & !KNOWN != 0 {
        return Err(Error::Reserved);
    }
    let columns = number_of(footer.shape & u64::from(u32::MAX))?;
    let params = Params::new(footer.line_count, footer.k, footer.seed).map_err(Error::of_bytes)?;
    let shape = MatrixShape::new(params, columns as usize)?
        .with_names(footer.shape & NAMED != 0)
        .with_checksums(footer.shape & SUMMED != 0);
    native::check_len(body_len, shape.checksum_bytes().end as usize)?;
    Ok(shape)
}

/// An encoded matrix, taken apart.
pub(crate) struct Parts<'a> {
    pub(crate) shape: MatrixShape,
    pub(crate) groups: &'a [u8],
    pub(crate) checksums: &'a [u8],
}

/// An encoded matrix whose groups are not verified.
pub(crate) fn parse(bytes: &[u8]) -> Result<Parts<'_>, Error> {
    let (body, footer) = native::split(bytes)?;
    let shape = check(footer, body.len() as u64)?;
    let checksums = &body[shape.checksum_bytes().start as usize..];
    Ok(Parts { shape, groups: &body[..shape.bytes()], checksums })
}

/// Whether each group has its checksum, if there are any, and no bit is behind the last column.
pub(crate) fn agree(
    shape: &MatrixShape,
    groups: &[u8],
    checksums: impl Iterator<Item = u64>,
) -> bool {
    let all = groups.chunks(shape.group_bytes()).enumerate();
    let differs = |((line, group), sum)| MatrixShape::checksum(line as u64, group) != sum;
    if all.zip(checksums).any(differs) {
        return false;
    }
    let behind = match shape.columns % 64 {
        0 => return true,
        some => u64::MAX << some,
    };
    let mut last = groups.chunks(8 * shape.words()).filter_map(<[u8]>::last_chunk);
    last.all(|&word| u64::from_le_bytes(word) & behind == 0)
}

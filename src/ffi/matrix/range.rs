//! The shape of a matrix, and single ranges of an encoded one, such as an object store returns.

use super::super::boundary::{
    Failure, NULL, bitmap_at, bytes, guard, output, required, slice, write_optional, write_result,
    zeroed_slice,
};
use super::super::params::bloomline_params;
use super::super::status::{BLOOMLINE_ERR_RESERVED, bloomline_status};
use super::bloomline_matrix;
use crate::{Error, MatrixShape};
use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;

/// bloomline_matrix_shape, 'flags': each column has a name.
pub const BLOOMLINE_MATRIX_NAMES: u64 = 1;
/// bloomline_matrix_shape, 'flags': each line of the columns has a checksum.
pub const BLOOMLINE_MATRIX_CHECKSUMS: u64 = 2;

/// What a matrix is, and all that a reader of single ranges needs to know. Written by
/// bloomline_matrix_about() and bloomline_matrix_shape_read(); every function checks it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct bloomline_matrix_shape {
    /// Line count, k and seed of each column.
    pub params: bloomline_params,
    /// How many columns there are.
    pub columns: u64,
    /// A sum of BLOOMLINE_MATRIX_ numbers.
    pub flags: u64,
}

/// Some bytes of an encoded matrix: 'len' of them, at 'offset'.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct bloomline_byte_range {
    /// How many bytes are before them.
    pub offset: u64,
    /// How many they are.
    pub len: u64,
}

impl From<Range<u64>> for bloomline_byte_range {
    fn from(range: Range<u64>) -> bloomline_byte_range {
        bloomline_byte_range { offset: range.start, len: range.end - range.start }
    }
}

impl From<bloomline_byte_range> for Range<u64> {
    fn from(range: bloomline_byte_range) -> Range<u64> {
        range.offset..range.offset + range.len
    }
}

impl From<MatrixShape> for bloomline_matrix_shape {
    fn from(shape: MatrixShape) -> bloomline_matrix_shape {
        let names = if shape.has_names() { BLOOMLINE_MATRIX_NAMES } else { 0 };
        let checksums = if shape.has_checksums() { BLOOMLINE_MATRIX_CHECKSUMS } else { 0 };
        let (params, columns) = (shape.params().into(), shape.columns() as u64);
        bloomline_matrix_shape { params, columns, flags: names | checksums }
    }
}

impl bloomline_matrix_shape {
    fn check(&self) -> Result<MatrixShape, Failure> {
        if self.flags & !(BLOOMLINE_MATRIX_NAMES | BLOOMLINE_MATRIX_CHECKSUMS) != 0 {
            return Err(Failure(BLOOMLINE_ERR_RESERVED));
        }
        let columns = usize::try_from(self.columns).map_err(|_| Error::Columns(self.columns))?;
        Ok(MatrixShape::new(self.params.check()?, columns)?
            .with_names(self.flags & BLOOMLINE_MATRIX_NAMES != 0)
            .with_checksums(self.flags & BLOOMLINE_MATRIX_CHECKSUMS != 0))
    }
}

exports! {
/// bloomline_matrix_about() writes parameters and number of the columns, and whether they have
/// names and checksums, to 'out'.
fn bloomline_matrix_about(
    matrix: *const bloomline_matrix, out: *mut bloomline_matrix_shape,
) -> bloomline_status {
    write_result(matrix, out, |matrix| Ok(matrix.0.shape().into()))
}

/// bloomline_matrix_shape_read() reads the shape of an encoded matrix of 'encoded_len' bytes from
/// its last 64, at 'footer', and writes it to 'out'. With it a lookup in a matrix that lies
/// elsewhere, such as in an object store, reads one range: 64 bytes for each column.
///
/// Errors: those of bloomline_view_open(); BLOOMLINE_ERR_COLUMNS.
fn bloomline_matrix_shape_read(
    footer: *const c_void, encoded_len: u64, out: *mut bloomline_matrix_shape,
) -> bloomline_status {
    let footer = bytes(footer, 64);
    write_result(&(), out, |()| {
        let footer = footer.and_then(<[u8]>::first_chunk).ok_or(NULL)?;
        Ok(MatrixShape::read(footer, encoded_len)?.into())
    })
}

/// bloomline_matrix_range() writes which bytes of the encoded matrix hold the answers about the
/// key of a hash: 'len' bytes at 'offset'. Their checksum is 8 bytes at 'checksum', which may be
/// NULL; 0 is written there if the matrix has none. The hash of a key is bloomline_hash() with the
/// seed of the shape.
///
/// Errors: those of bloomline_matrix_new() and BLOOMLINE_ERR_RESERVED for a shape out of range.
fn bloomline_matrix_range(
    shape: *const bloomline_matrix_shape, hash: u64, offset: *mut u64, len: *mut u64,
    checksum: *mut u64,
) -> bloomline_status {
    guard(|| {
        let (offset, len) = (output(offset)?, output(len)?);
        let shape = required(shape)?.check()?;
        let range = shape.range(hash);
        offset.write(range.start);
        len.write(range.end - range.start);
        let sum = shape.checksum_of(&range);
        write_optional(checksum, if sum.is_empty() { 0 } else { sum.start });
        Ok(())
    })
}

/// bloomline_matrix_contains_in() probes all columns for the key of a hash, in the 'len' bytes at
/// 'data', which are those of its bloomline_matrix_range(). The bit of a column in 'bitmap' is set
/// if it may have the key. If 'checksum' is not NULL, it is the 8 bytes of the range's checksum,
/// by which 'data' is verified first.
///
/// Errors: BLOOMLINE_ERR_TRUNCATED if 'len' is not that of the range; BLOOMLINE_ERR_CHECKSUM;
/// those of bloomline_matrix_range(); BLOOMLINE_ERR_BACKEND. No bitmap is written: all columns may
/// have the key.
fn bloomline_matrix_contains_in(
    shape: *const bloomline_matrix_shape, hash: u64, data: *const c_void, len: usize,
    checksum: *const c_void, bitmap: *mut u64,
) -> bloomline_status {
    guard(|| {
        let (shape, data) = (required(shape)?.check()?, bytes(data, len).ok_or(NULL)?);
        if let Some(checksum) = bytes(checksum, 8) {
            shape.verify_range(&shape.range(hash), data, checksum)?;
        }
        // Before a word is written.
        let matrix = shape.in_range(data)?;
        matrix.contains_hash(hash, bitmap_at(bitmap, shape.columns()).ok_or(NULL)?);
        Ok(())
    })
}

/// bloomline_matrix_ranges() writes which bytes to read for 'n' keys, by their hashes: ranges to
/// 'out', in ascending order, and how many to 'count'. It joins equal ranges, and ranges with a gap
/// of at most 'gap' bytes between them. Let 'gap' be as many bytes as the store sends in the time
/// that a request takes. 'out' has room for 'n' ranges. The bloomline_matrix_range() of each key
/// lies within one of them. It allocates nothing.
///
/// Errors: those of bloomline_matrix_range().
fn bloomline_matrix_ranges(
    shape: *const bloomline_matrix_shape, hashes: *const u64, n: usize, gap: u64,
    out: *mut bloomline_byte_range, count: *mut usize,
) -> bloomline_status {
    guard(|| {
        let (shape, count) = (required(shape)?.check()?, output(count)?);
        let hashes = slice(hashes, n).ok_or(NULL)?;
        let out = zeroed_slice(out, n).ok_or(NULL)?;
        for (range, &hash) in out.iter_mut().zip(hashes) {
            *range = shape.range(hash).into();
        }
        out.sort_unstable_by_key(|range| range.offset);
        // A range is written where one was that has been read.
        let (cells, mut merged) = (Cell::from_mut(out).as_slice_of_cells(), 0);
        let sorted = cells.iter().map(|cell| cell.get().into());
        for (range, cell) in MatrixShape::merged(sorted, gap).zip(cells) {
            cell.set(range.into());
            merged += 1;
        }
        count.write(merged);
        Ok(())
    })
}

/// bloomline_matrix_row_ranges() writes which bytes are the rows that the key of a hash reads: up
/// to k ranges of a bit for each column, to 'out', in ascending order, and how many to 'count'.
/// They lie within its bloomline_matrix_range(). Read them instead of that range if there are many
/// columns and a request costs little. They have no checksum. 'out' has room for k ranges, which is
/// at most 16.
///
/// Errors: those of bloomline_matrix_range().
fn bloomline_matrix_row_ranges(
    shape: *const bloomline_matrix_shape, hash: u64, out: *mut bloomline_byte_range,
    count: *mut usize,
) -> bloomline_status {
    guard(|| {
        let (out, count) = (output(out)?, output(count)?);
        let shape = required(shape)?.check()?;
        let mut rows = 0;
        for range in shape.row_ranges(hash) {
            out.add(rows).write(range.into());
            rows += 1;
        }
        count.write(rows);
        Ok(())
    })
}

/// bloomline_matrix_contains_in_rows() is bloomline_matrix_contains_in() for the 'len' bytes at
/// 'data' of the bloomline_matrix_row_ranges() of the hash, one row behind the other.
///
/// Errors: BLOOMLINE_ERR_TRUNCATED if 'len' is not that of all rows; those of
/// bloomline_matrix_range(). No bitmap is written: all columns may have the key.
fn bloomline_matrix_contains_in_rows(
    shape: *const bloomline_matrix_shape, hash: u64, data: *const c_void, len: usize,
    bitmap: *mut u64,
) -> bloomline_status {
    guard(|| {
        let (shape, data) = (required(shape)?.check()?, bytes(data, len).ok_or(NULL)?);
        // Before a word is written.
        shape.check_rows(data, hash)?;
        let bitmap = bitmap_at(bitmap, shape.columns()).ok_or(NULL)?;
        shape.contains_in_rows(data, hash, bitmap)?;
        Ok(())
    })
}

/// bloomline_matrix_parts() writes which bytes of the encoded matrix are the names of the columns
/// to 'names', and which are the checksums of all lines to 'checksums': 8 bytes each, in the order
/// of the columns and of the lines, the lowest byte first. A 'len' of 0: it has none. Either may be
/// NULL.
///
/// Errors: those of bloomline_matrix_range().
fn bloomline_matrix_parts(
    shape: *const bloomline_matrix_shape, names: *mut bloomline_byte_range,
    checksums: *mut bloomline_byte_range,
) -> bloomline_status {
    guard(|| {
        let shape = required(shape)?.check()?;
        write_optional(names, shape.name_bytes().into());
        write_optional(checksums, shape.checksum_bytes().into());
        Ok(())
    })
}
}

//! `bloomline_matrix`: many filters of one shape, side by side, so that a key is asked of all at once.

/// cbindgen:ignore
mod keys;
/// cbindgen:ignore
mod probe;
/// cbindgen:ignore
mod range;

pub use keys::*;
pub use probe::*;
pub use range::*;

use super::boundary::{
    Failure, NULL, change, exclusive, new_handle, read_or, required, shared_between_threads, slice,
    write_optional, write_result,
};
use super::filter::bloomline_filter;
use super::handle::handle;
use super::hash::key_or_empty;
use super::params::{bloomline_params, checked};
use super::status::{BLOOMLINE_ERR_NOT_A_FILTER, bloomline_status};
use super::view::{bloomline_view, pack, unpack};
use crate::Matrix;
use crate::filter::AnyMatrix;
use crate::filter::opened::Bytes;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr;

/// What bloomline_encoded_kind() returns for a matrix: bloomline_matrix_decode() reads it, and
/// bloomline_map_open() opens it.
pub const BLOOMLINE_KIND_MATRIX: i32 = 10;
const _: () = assert!(BLOOMLINE_KIND_MATRIX == crate::Kind::Matrix as i32);

/// What a handle has: a matrix, or an encoded one that was opened.
type Held = AnyMatrix<Bytes>;

/// Many plain filters of one line count, k and seed, its columns: those of the tables of an LSM
/// tree, of shards, of the segments of a log. Their lines lie side by side, bit by bit, so one key
/// in 512 columns takes little more than in one. The answer is a bitmap of columns.
///
/// Rates and memory are those of the single filters: a column is, byte for byte, a
/// bloomline_filter. Columns are padded to a multiple of 64. For filters of any kinds and sizes
/// there is bloomline_group.
pub struct bloomline_matrix(pub(super) Held);

const _: () = shared_between_threads::<bloomline_matrix>();

impl bloomline_matrix {
    /// The handle of one that is part of something else: for functions that take a const one.
    pub(super) fn borrowed(matrix: &Held) -> *const bloomline_matrix {
        const {
            assert!(offset_of!(bloomline_matrix, 0) == 0);
            assert!(size_of::<bloomline_matrix>() == size_of::<Held>());
        }
        ptr::from_ref(matrix).cast()
    }
}

/// Changes a matrix.
///
/// # Safety
/// As for `boundary::exclusive`.
unsafe fn change_own(
    matrix: *mut bloomline_matrix,
    with: impl FnOnce(&mut Matrix) -> Result<(), Failure>,
) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe { change(matrix, |matrix| with(matrix.0.own()?)) }
}

exports! {
/// bloomline_matrix_new() creates a matrix of 'columns' empty columns of these parameters. It
/// takes 64 bytes for each line of a column, with 'columns' rounded up to a multiple of 64.
///
/// Errors: BLOOMLINE_ERR_COLUMNS if 'columns' is 0 or more than 2^32 - 1; BLOOMLINE_ERR_CLASSIC for
/// a classic filter; otherwise as bloomline_filter_new().
fn bloomline_matrix_new(
    shape: *const bloomline_params, columns: usize, out: *mut *mut bloomline_matrix,
) -> bloomline_status {
    new_handle(out, || Ok(bloomline_matrix(Held::Own(Matrix::new(checked(shape)?, columns)?))))
}
}

handle! { bloomline_matrix(Held) matrix;
/// bloomline_matrix_clone() and the functions under it are those of bloomline_filter, for all
/// columns together, with their names. bloomline_map_matrix() probes an encoded matrix where it is.
/// bloomline_matrix_clone() of that matrix makes one in memory, which can be changed; it checks the
/// bytes as bloomline_matrix_decode() does.
///
/// Errors: as there; in reading, also BLOOMLINE_ERR_COLUMNS, and BLOOMLINE_ERR_LAYOUT for a filter
/// of another kind.
clone bloomline_matrix_clone;
free bloomline_matrix_free;
memory bloomline_matrix_memory;
encoded_len bloomline_matrix_encoded_len;
encode bloomline_matrix_encode;
write bloomline_matrix_write;
decode bloomline_matrix_decode;
save bloomline_matrix_save;
load bloomline_matrix_load;
}

exports! {
/// bloomline_matrix_set_columns() makes the filters of 'n' views the columns from 'first' on, in
/// the place of what was there; bloomline_matrix_set_column() one of them. They are copied. Each
/// filter must be a plain or a counting one, with the matrix's k and seed. Its line count must be
/// the matrix's, or that times 2, 4, 8 and so on: then the column is the filter, folded.
/// bloomline_params_foldable_to() makes such parameters.
///
/// Set runs of 64, from a multiple of 64 on. A column set alone takes fifty times as long as one in
/// such a run, since all rows of the matrix are read and written for a bit of each.
/// bloomline_matrix_set_columns() runs on up to 'threads' threads, the caller's among them; 0: on
/// as many as there are CPUs.
///
/// Errors: BLOOMLINE_ERR_COLUMN if there are not so many columns; BLOOMLINE_ERR_COLUMN_SHAPE if a
/// filter does not fit; BLOOMLINE_ERR_NOT_A_FILTER if a view was not opened;
/// BLOOMLINE_ERR_OUT_OF_MEMORY. The matrix is unchanged.
fn bloomline_matrix_set_columns(
    matrix: *mut bloomline_matrix, first: usize, views: *const bloomline_view, n: usize,
    threads: usize,
) -> bloomline_status {
    let opened = |view| unpack(view).ok_or(Failure(BLOOMLINE_ERR_NOT_A_FILTER));
    change_own(matrix, |matrix| {
        let views = slice(views, n).ok_or(NULL)?;
        for view in views {
            opened(view)?;
        }
        Ok(matrix.set_columns(first, views.iter().filter_map(|view| opened(view).ok()), threads)?)
    })
}
fn bloomline_matrix_set_column(
    matrix: *mut bloomline_matrix, column: usize, view: *const bloomline_view,
) -> bloomline_status {
    bloomline_matrix_set_columns(matrix, column, view, 1, 1)
}

/// bloomline_matrix_clear_column() empties a column, bloomline_matrix_clear() all columns. Names
/// stay.
///
/// Errors: BLOOMLINE_ERR_COLUMN if there is no such column.
fn bloomline_matrix_clear_column(matrix: *mut bloomline_matrix, column: usize) -> bloomline_status {
    change_own(matrix, |matrix| Ok(matrix.clear_column(column)?))
}
fn bloomline_matrix_clear(matrix: *mut bloomline_matrix) {
    if let Some(matrix) = exclusive(matrix)
        && let Ok(matrix) = matrix.0.own()
    {
        matrix.clear();
    }
}

/// bloomline_matrix_column() creates a copy of a column as a filter, whose key count is unknown.
///
/// Errors: BLOOMLINE_ERR_COLUMN if there is no such column; BLOOMLINE_ERR_OUT_OF_MEMORY,
/// BLOOMLINE_ERR_BACKEND.
fn bloomline_matrix_column(
    matrix: *const bloomline_matrix, column: usize, out: *mut *mut bloomline_filter,
) -> bloomline_status {
    new_handle(out, || Ok(bloomline_filter(required(matrix)?.0.column(column)?)))
}

/// bloomline_matrix_column_view() writes a view of a column to 'out': it is probed as any other
/// filter, also in a group. A group probes all its columns of one matrix at once, whatever their
/// order in the group. bloomline_view_about() of such a view reads the rows of all columns. Valid
/// until the matrix is changed or freed.
///
/// Errors: BLOOMLINE_ERR_COLUMN if there is no such column; BLOOMLINE_ERR_COLUMNS if there are more
/// than 2^28; BLOOMLINE_ERR_BACKEND.
fn bloomline_matrix_column_view(
    matrix: *const bloomline_matrix, column: usize, out: *mut bloomline_view,
) -> bloomline_status {
    write_result(matrix, out, |matrix| Ok(pack(&matrix.0.column_view(column)?)))
}

/// bloomline_matrix_with_columns() creates a copy with another number of columns: the first ones
/// of 'matrix', with their names, and empty ones behind them, named 0.
///
/// Errors: as bloomline_matrix_new().
fn bloomline_matrix_with_columns(
    matrix: *const bloomline_matrix, columns: usize, out: *mut *mut bloomline_matrix,
) -> bloomline_status {
    new_handle(out, || Ok(bloomline_matrix(required(matrix)?.0.with_columns(columns)?)))
}

/// bloomline_matrix_insert() inserts the key of 'len' bytes at 'key' into a column,
/// bloomline_matrix_insert_hash() a key by its hash. It writes to 'is_new', unless that is NULL,
/// whether the key was new in the column: false if it is already present, or a false positive. To
/// fill a column from nothing, fill a bloomline_filter and set it.
///
/// Errors: BLOOMLINE_ERR_COLUMN if there is no such column.
fn bloomline_matrix_insert(
    matrix: *mut bloomline_matrix, column: usize, key: *const c_void, len: usize,
    is_new: *mut bool,
) -> bloomline_status {
    let key = key_or_empty(key, len);
    change_own(matrix, |matrix| {
        write_optional(is_new, matrix.insert(column, key)?);
        Ok(())
    })
}
fn bloomline_matrix_insert_hash(
    matrix: *mut bloomline_matrix, column: usize, hash: u64, is_new: *mut bool,
) -> bloomline_status {
    change_own(matrix, |matrix| {
        write_optional(is_new, matrix.insert_hash(column, hash)?);
        Ok(())
    })
}

/// bloomline_matrix_set_names() gives each of the 'n' columns a name of 8 bytes, the caller's own,
/// such as the number of a file. They are encoded with the matrix. 0 names remove them.
/// bloomline_matrix_name() returns that of a column; 0 if it has none, if there is no such column,
/// and for NULL.
///
/// Errors: BLOOMLINE_ERR_COLUMNS if there are neither as many names as columns nor none;
/// BLOOMLINE_ERR_OUT_OF_MEMORY. The names are unchanged.
fn bloomline_matrix_set_names(
    matrix: *mut bloomline_matrix, names: *const u64, n: usize,
) -> bloomline_status {
    change_own(matrix, |matrix| Ok(matrix.set_names(slice(names, n).ok_or(NULL)?)?))
}
fn bloomline_matrix_name(matrix: *const bloomline_matrix, column: usize) -> u64 {
    read_or(matrix, 0, |matrix| matrix.0.name(column).unwrap_or(0))
}

/// bloomline_matrix_set_checksums() sets whether the encoded matrix has a checksum for each line of
/// its columns. With them bloomline_matrix_contains_in() can verify what it is given. They cost 8
/// bytes each, and the time to read the matrix once more when it is encoded. At first it has none.
fn bloomline_matrix_set_checksums(matrix: *mut bloomline_matrix, checksums: bool) {
    if let Some(matrix) = exclusive(matrix)
        && let Ok(matrix) = matrix.0.own()
    {
        matrix.set_checksums(checksums);
    }
}
}

//! The matrix, in its plainest form: the lines of many filters, transposed.
//!
//! Its **columns** are filters of one line count, one k and one seed. For each line number there is a
//! **group** of 512 **rows**, one for each bit of a line: row `64 * lane + bit`. A row has one bit per
//! column, padded with zeros to a multiple of 64:
//!
//! ```text
//! bit c of row r of group i = bit r of line i of column c
//! contains : the AND of the rows that the key's mask names, in the group of its line
//!            bit c is set if the key may be present in column c
//! ```
//!
//! So one key is asked of all columns by reading k rows, which lie within one stretch of bytes.
//! Line and mask are those of [`line`](mod@crate::definition::line): a column taken out is, byte for
//! byte, the lines of a filter.
//!
//! The groups follow each other in the order of the lines, and the rows of a group in theirs. Bit `c`
//! of a row is bit `c mod 8` of its byte `c / 8`.
//!
//! This file is the definition. It alone makes the golden files. The kernels do the same faster; the
//! tests compare them with it byte for byte.
//!
//! ```
//! use bloomline::definition::matrix;
//!
//! let mut groups = vec![0; 10 * matrix::group_bytes(64)]; // 64 columns of ten lines
//! let hash = bloomline::hash::hash("apple", 0);
//! matrix::insert(&mut groups, 64, 6, 7, hash); // k = 6, column 7
//! assert!(matrix::contains(&groups, 64, 6, 7, hash));
//! ```

use crate::line::{LINE_BITS, LINE_BYTES, line_index, mask};

/// Rows of a group: the bits of a line.
pub const ROWS: usize = LINE_BITS as usize;

/// The bytes of a row of so many columns.
pub const fn row_bytes(columns: u32) -> usize {
    columns.div_ceil(64) as usize * 8
}

/// The bytes of a group of so many columns.
pub const fn group_bytes(columns: u32) -> usize {
    ROWS * row_bytes(columns)
}

/// The rows of a group that a key reads, in ascending order: up to `k`, which is 1 to 16.
pub fn rows(hash: u64, k: u32) -> impl Iterator<Item = usize> {
    let mask = mask(hash, k);
    (0..ROWS).filter(move |row| mask[row / 64] >> (row % 64) & 1 == 1)
}

/// The number of groups in a whole matrix of so many columns.
///
/// # Panics
/// Unless `bytes` are whole groups, at least one.
fn line_count(bytes: &[u8], columns: u32) -> u64 {
    let group = group_bytes(columns);
    assert!(!bytes.is_empty() && bytes.len().is_multiple_of(group), "whole groups");
    (bytes.len() / group) as u64
}

/// Where bit `column` of a row is: its byte in the whole matrix, and its bit there.
fn place(line: u64, row: usize, columns: u32, column: u32) -> (usize, u32) {
    assert!(column < columns, "a column of the matrix");
    let row = line as usize * ROWS + row;
    (row * row_bytes(columns) + column as usize / 8, column % 8)
}

/// Sets the bits of the key in a column. `bytes` is the whole matrix.
///
/// # Panics
/// Unless `bytes` are whole groups, at least one; `k` is 1 to 16; and `column` is below `columns`.
pub fn insert(bytes: &mut [u8], columns: u32, k: u32, column: u32, hash: u64) {
    let line = line_index(hash, line_count(bytes, columns));
    for row in rows(hash, k) {
        let (byte, bit) = place(line, row, columns, column);
        bytes[byte] |= 1 << bit;
    }
}

/// Returns whether all bits of the key are set in a column. False: definitely absent; true: maybe.
///
/// # Panics
/// As [`insert`].
pub fn contains(bytes: &[u8], columns: u32, k: u32, column: u32, hash: u64) -> bool {
    let line = line_index(hash, line_count(bytes, columns));
    rows(hash, k).all(|row| {
        let (byte, bit) = place(line, row, columns, column);
        bytes[byte] >> bit & 1 == 1
    })
}

/// Returns the lines of a column: those of a filter.
///
/// # Panics
/// Unless `bytes` are whole groups, at least one, and `column` is below `columns`.
pub fn column(bytes: &[u8], columns: u32, column: u32) -> Vec<u8> {
    let count = line_count(bytes, columns);
    let mut lines = vec![0; count as usize * LINE_BYTES];
    for line in 0..count {
        for row in 0..ROWS {
            let (byte, bit) = place(line, row, columns, column);
            let set = bytes[byte] >> bit & 1;
            lines[line as usize * LINE_BYTES + row / 8] |= set << (row % 8);
        }
    }
    lines
}

//! The limit of a matrix: loads a word of each cache line of the rows that a key reads, and answers
//! nothing of use. Which of its two forms is the limit depends on the size and the CPU.

use super::K;
use crate::common::touch::prefetch_to_read;
use crate::limits::one_by_one;
use bloomline::Matrix;
use bloomline::definition::line::{C1, LANES, SHIFTS, line_index};

/// Of a group.
const ROWS: usize = 512;

#[derive(Clone, Copy)]
pub(super) struct Touch<'a> {
    groups: &'a [u8],
    lines: u64,
    row_bytes: usize,
}

impl Touch<'_> {
    pub(super) fn new(matrix: &Matrix) -> Touch<'_> {
        let (groups, lines) = (matrix.groups(), matrix.params().line_count());
        let row_bytes = 8 * matrix.words();
        assert_eq!(groups.len(), lines as usize * ROWS * row_bytes);
        Touch { groups, lines, row_bytes }
    }

    /// In the order in which a matrix reads them: a cache line of each row, then the next of each. The hints
    /// ask for all of them before the first is read.
    #[inline(always)]
    pub(super) fn rows<const HINTS: bool>(&self, hash: u64) -> usize {
        let line = line_index(hash, self.lines) as usize;
        let group = self.groups.as_ptr().wrapping_add(line * ROWS * self.row_bytes);
        let g = hash.wrapping_mul(C1);
        let (first, mut all) = ((g >> 61) as usize, 0);
        // As the definition of the line has it, K lanes from one on.
        let rows: [_; K as usize] = std::array::from_fn(|i| {
            let lane = (i + LANES - first) % LANES;
            let row = 64 * lane + (g >> SHIFTS[lane] & 63) as usize;
            group.wrapping_add(row * self.row_bytes)
        });
        let lines =
            || (0..self.row_bytes).step_by(64).flat_map(|at| rows.map(|row| row.wrapping_add(at)));
        if HINTS {
            lines().for_each(|line| prefetch_to_read(line.cast()));
        }
        for line in lines() {
            // SAFETY: a word of a row of a group, all of which are in the slice.
            all |= one_by_one(unsafe { line.cast::<u64>().read() });
        }
        all as usize & 1
    }
}

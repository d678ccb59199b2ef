//! The limit of a matrix: loads a word of each cache line of the rows that a key reads, and answers
//! nothing of use.

use super::K;
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

    #[inline(always)]
    pub(super) fn rows(&self, hash: u64) -> usize {
        let line = line_index(hash, self.lines) as usize;
        let group = self.groups.as_ptr().wrapping_add(line * ROWS * self.row_bytes);
        let g = hash.wrapping_mul(C1);
        let (first, mut all) = ((g >> 61) as usize, 0);
        // As the definition of the line has it, K lanes from one on.
        for i in 0..K as usize {
            let lane = (i + LANES - first) % LANES;
            let row = 64 * lane + (g >> SHIFTS[lane] & 63) as usize;
            let start = group.wrapping_add(row * self.row_bytes);
            for at in (0..self.row_bytes).step_by(64) {
                // SAFETY: a word of a row of a group, all of which are in the slice.
                all |= one_by_one(unsafe { start.wrapping_add(at).cast::<u64>().read() });
            }
        }
        all as usize & 1
    }
}

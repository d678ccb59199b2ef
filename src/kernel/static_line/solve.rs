//! Makes static lines of sorted hashes: elimination over all equations of a line at once.
//!
//! An equation is two words, in two arrays. Once it has its pivot, the lowest column that it has left,
//! it is added to all equations behind it that have this column: a loop without branches, of which
//! the compiler makes vectors, with the instructions of the backend that calls. (Of arrays of eight it
//! makes them at `opt-level = 3` only.)

use super::rows::{Field, Rows};
use crate::layouts::static_line::{
    MAX_ROWS, NONE_BUMPED, OWN, extra_coefficients, extra_columns, fingerprint, lanes, next_hash,
    place,
};
use crate::line::LANES;

/// Equations at a time. The more columns, the more keys has a line: up to 135 on average, and twice
/// as many only where hashes are not uniform.
const MOST: usize = 256;
/// Pivots at most: a line has fewer columns.
const RANK: usize = 128;
/// Loops take a multiple of so many equations, so that vectors leave no rest.
const STEP: usize = 8;

/// Equations, two words each: the first has the first 63 coefficients; the second the others, and
/// above them the fingerprint. Aligned, so that no vector of them lies in two cache lines.
#[repr(align(64))]
struct Equations<const N: usize> {
    first: [u64; N],
    second: [u64; N],
    positions: [u8; N],
}

impl<const N: usize> Equations<N> {
    fn new() -> Equations<N> {
        Equations { first: [0; N], second: [0; N], positions: [0; N] }
    }
}

/// The equations of a line.
pub(super) struct System {
    /// Those without a pivot yet.
    left: Equations<MOST>,
    /// Those with one, and the column that it is.
    done: Equations<RANK>,
    pivots: [u8; RANK],
}

impl System {
    pub(super) fn new() -> System {
        System { left: Equations::new(), done: Equations::new(), pivots: [0; RANK] }
    }

    /// Makes the line of these hashes, all that belong to it, in ascending order: writes its bytes,
    /// and returns how many of the hashes it bumps, which are the last.
    #[inline(always)]
    pub(super) fn solve(&mut self, hashes: &[u64], count: u64, rows: u32, out: &mut [u8]) -> usize {
        let width = extra_columns(rows);
        let (mut rank, mut threshold) = (0, NONE_BUMPED);
        for hashes in hashes.chunks(MOST) {
            let len = self.load(hashes, count, rows);
            for i in 0..rank {
                self.eliminate(i, 0, len);
            }
            (rank, threshold) = self.forward(rank, len, width);
            if threshold < NONE_BUMPED {
                break;
            }
        }
        self.back(rank, width);
        self.write(rank, threshold, rows, out);
        match threshold {
            NONE_BUMPED => 0,
            _ => hashes.len() - hashes.partition_point(|&hash| place(hash, count).1 < threshold),
        }
    }

    /// The equations of these hashes. Equal hashes are one.
    #[inline(always)]
    fn load(&mut self, hashes: &[u64], count: u64, rows: u32) -> usize {
        let width = extra_columns(rows);
        let (mut len, mut last) = (0, None);
        for &hash in hashes {
            let (next, fingerprint) = (next_hash(hash), fingerprint(hash, rows));
            self.left.first[len] = next >> 1;
            self.left.second[len] = extra_coefficients(next, width) | fingerprint << width;
            self.left.positions[len] = place(hash, count).1;
            len += usize::from(last != Some(hash));
            last = Some(hash);
        }
        len
    }

    /// Adds equation `i` of those with a pivot to those of `from..to` that have that column, and to
    /// some before and behind them that do not matter any more.
    #[inline(always)]
    fn eliminate(&mut self, i: usize, from: usize, to: usize) {
        let words = (self.done.first[i], self.done.second[i]);
        let Equations { first, second, .. } = &mut self.left;
        let steps = from / STEP..to.div_ceil(STEP);
        let first = first.as_chunks_mut::<STEP>().0[steps.clone()].as_flattened_mut();
        let second = second.as_chunks_mut::<STEP>().0[steps].as_flattened_mut();
        let pivot = u32::from(self.pivots[i]);
        if pivot < OWN {
            for (first, second) in first.iter_mut().zip(second) {
                let have = have(*first, pivot);
                *first ^= words.0 & have;
                *second ^= words.1 & have;
            }
        } else {
            for (first, second) in first.iter_mut().zip(second) {
                let have = have(*second, pivot - OWN);
                *first ^= words.0 & have;
                *second ^= words.1 & have;
            }
        }
    }

    /// Gives the first `len` equations their pivots, up to the first that contradicts those before.
    /// Returns how many there are then, and the threshold.
    #[inline(always)]
    fn forward(&mut self, mut rank: usize, len: usize, width: u32) -> (usize, u8) {
        let others = (1 << width) - 1;
        for i in 0..len {
            let (first, second) = (self.left.first[i], self.left.second[i]);
            let position = self.left.positions[i];
            let pivot = match (first, second & others) {
                (0, 0) if second == 0 => continue,
                (0, 0) => {
                    // All of that position are bumped, also those that have a pivot already.
                    while rank > 0 && self.done.positions[rank - 1] == position {
                        rank -= 1;
                    }
                    return (rank, position);
                }
                (0, second) => OWN + second.trailing_zeros(),
                (first, _) => first.trailing_zeros(),
            };
            (self.done.first[rank], self.done.second[rank]) = (first, second);
            (self.done.positions[rank], self.pivots[rank]) = (position, pivot as u8);
            self.eliminate(rank, i + 1, len);
            rank += 1;
        }
        (rank, NONE_BUMPED)
    }

    /// Solves: from the last equation on, whose pivot alone is left, adds what is known to the
    /// fingerprints of those before it.
    #[inline(always)]
    fn back(&mut self, rank: usize, width: u32) {
        let Equations { first, second, .. } = &mut self.done;
        for i in (0..rank).rev() {
            let fingerprint = second[i] >> width << width;
            let own = second[i];
            let pivot = u32::from(self.pivots[i]);
            let steps = ..i.div_ceil(STEP);
            let first = first.as_chunks::<STEP>().0[steps].as_flattened();
            let seconds = second.as_chunks_mut::<STEP>().0[steps].as_flattened_mut();
            if pivot < OWN {
                for (first, second) in first.iter().zip(seconds) {
                    *second ^= fingerprint & have(*first, pivot);
                }
            } else {
                for second in seconds {
                    *second ^= fingerprint & have(*second, pivot - OWN);
                }
            }
            // Those behind it do not have its pivot; it has.
            second[i] = own;
        }
    }

    /// Writes the line.
    #[inline(always)]
    fn write(&self, rank: usize, threshold: u8, rows: u32, out: &mut [u8]) {
        let width = extra_columns(rows);
        let mut line = [0u64; MAX_ROWS as usize];
        for i in 0..rank {
            // The fingerprint is now the column of the pivot, a bit for each row.
            let column = self.done.second[i] >> width;
            let pivot = u32::from(self.pivots[i]);
            if pivot < OWN {
                let lanes = if rows <= 8 { &mut line[..LANES] } else { &mut line[..] };
                for (j, lane) in lanes.iter_mut().enumerate() {
                    *lane |= (column >> j & 1) << pivot;
                }
            } else {
                let (field, bit) = field_of(rows, pivot - OWN);
                for j in 0..rows as usize {
                    let lane = field.lanes[j] as usize % line.len();
                    line[lane] |= (column >> j & 1) << (field.bits[j] + bit);
                }
            }
        }
        for (i, lane) in line[..LANES].iter_mut().enumerate() {
            *lane |= u64::from(threshold >> i & 1) << OWN;
        }
        let (out, _) = out.as_chunks_mut::<8>();
        for (out, lane) in out[..lanes(rows)].iter_mut().zip(line) {
            *out = lane.to_le_bytes();
        }
    }
}

/// All ones if a word has a bit.
#[inline(always)]
fn have(word: u64, bit: u32) -> u64 {
    if word & 1 << bit != 0 { u64::MAX } else { 0 }
}

/// The field that has one of the columns past the first 63, and the bit in it.
#[inline(always)]
fn field_of(rows: u32, mut column: u32) -> (&'static Field, u64) {
    let fields = &Rows::of(rows).fields;
    let mut i = 0;
    while i + 1 < fields.len() && column >= fields[i].width {
        column -= fields[i].width;
        i += 1;
    }
    (&fields[i], column.into())
}

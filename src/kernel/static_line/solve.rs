//! Makes static lines of sorted hashes: elimination over all equations of a line at once.
//!
//! The equations of a line are two words each, in two arrays. Once an equation has its pivot, the
//! lowest column that it has left, it is added to all equations behind it that have this column. A
//! loop without branches over arrays: the compiler makes vectors of it, with the instructions of
//! the backend that calls.

use super::{Field, fields};
use crate::layouts::static_line::{
    MAX_ROWS, NONE_BUMPED, OWN, extra, extra_coefficients, extra_columns, fingerprint, lanes,
    next_hash, place,
};
use crate::line::LANES;

/// Equations at a time. The more columns, the more keys has a line: up to 139 on average, and twice
/// as many only where hashes are not uniform.
const MOST: usize = 256;

/// The equations of a line. The first word of each has the first 63 coefficients, and at the top
/// the lowest bit of the fingerprint; the second the other coefficients, and above them the other
/// bits.
pub(super) struct System {
    first: [u64; MOST],
    second: [u64; MOST],
    positions: [u8; MOST],
    /// The column of each equation that has its pivot, these being the first.
    pivots: [u8; MOST],
}

/// The top bit of the first word.
const TOP: u64 = 1 << OWN;

impl System {
    pub(super) fn new() -> System {
        let words = [0; MOST];
        System { first: words, second: words, positions: [0; MOST], pivots: [0; MOST] }
    }

    /// Makes the line of these hashes, all that belong to it, in ascending order: writes its bytes,
    /// and returns how many of the hashes it bumps, which are the last.
    #[inline(always)]
    pub(super) fn solve(&mut self, hashes: &[u64], count: u64, rows: u32, out: &mut [u8]) -> usize {
        let width = extra_columns(rows);
        let (mut rank, mut threshold, mut rest) = (0, NONE_BUMPED, hashes);
        while !rest.is_empty() && threshold == NONE_BUMPED {
            let now;
            (now, rest) = rest.split_at(rest.len().min(MOST - rank));
            let end = self.load(rank, now, count, rows);
            for i in 0..rank {
                self.eliminate(i, rank, end);
            }
            (rank, threshold) = self.forward(rank, end, width);
        }
        self.back(rank, width);
        self.write(rank, threshold, rows, out);
        if threshold == NONE_BUMPED {
            return 0;
        }
        hashes.len() - hashes.partition_point(|&hash| place(hash, count).1 < threshold)
    }

    /// The equations of these hashes behind the first `rank`. Equal hashes are one.
    #[inline(always)]
    fn load(&mut self, rank: usize, hashes: &[u64], count: u64, rows: u32) -> usize {
        let width = extra_columns(rows);
        let (mut end, mut last) = (rank, None);
        for &hash in hashes {
            let (next, fingerprint) = (next_hash(hash), fingerprint(hash, rows));
            self.first[end] = next >> 1 | fingerprint << OWN;
            self.second[end] = extra_coefficients(next, rows) | fingerprint >> 1 << width;
            self.positions[end] = place(hash, count).1;
            end += usize::from(last != Some(hash));
            last = Some(hash);
        }
        end
    }

    /// Adds equation `i` to those of `from..end` that have its pivot.
    #[inline(always)]
    fn eliminate(&mut self, i: usize, from: usize, end: usize) {
        let pivot = u32::from(self.pivots[i]);
        let words = (self.first[i], self.second[i]);
        add_to(&mut self.first[from..end], &mut self.second[from..end], pivot, words);
    }

    /// Gives the equations from `rank` on their pivots, up to the first that contradicts those
    /// before. Returns how many have one, and the threshold.
    #[inline(always)]
    fn forward(&mut self, mut rank: usize, end: usize, width: u32) -> (usize, u8) {
        let others = (1 << width) - 1;
        for i in rank..end {
            let (first, second) = (self.first[i], self.second[i]);
            let pivot = match (first & !TOP, second & others) {
                (0, 0) if (first, second) == (0, 0) => continue,
                (0, 0) => {
                    // All of that position are bumped, and so are those that have a pivot already.
                    let threshold = self.positions[i];
                    while rank > 0 && self.positions[rank - 1] == threshold {
                        rank -= 1;
                    }
                    return (rank, threshold);
                }
                (0, second) => OWN + second.trailing_zeros(),
                (first, _) => first.trailing_zeros(),
            };
            (self.first[rank], self.second[rank]) = (first, second);
            (self.positions[rank], self.pivots[rank]) = (self.positions[i], pivot as u8);
            self.eliminate(rank, i + 1, end);
            rank += 1;
        }
        (rank, NONE_BUMPED)
    }

    /// Solves: from the last equation on, whose pivot alone is left, adds what is known to the
    /// fingerprints of those before it.
    #[inline(always)]
    fn back(&mut self, rank: usize, width: u32) {
        for i in (0..rank).rev() {
            let (a, b) = (self.first[i] & TOP, self.second[i] >> width << width);
            let pivot = u32::from(self.pivots[i]);
            add_to(&mut self.first[..i], &mut self.second[..i], pivot, (a, b));
        }
    }

    /// Writes the line.
    #[inline(always)]
    fn write(&self, rank: usize, threshold: u8, rows: u32, out: &mut [u8]) {
        let width = extra_columns(rows);
        let mut line = [0u64; MAX_ROWS as usize];
        for i in 0..rank {
            // The fingerprint is now the column of the pivot, a bit for each row.
            let column = self.first[i] >> OWN | self.second[i] >> width << 1;
            let pivot = u32::from(self.pivots[i]);
            if pivot < OWN {
                for (j, lane) in line[..rows as usize].iter_mut().enumerate() {
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

/// Adds two words to those equations that have a column.
#[inline(always)]
fn add_to(first: &mut [u64], second: &mut [u64], column: u32, (a, b): (u64, u64)) {
    let both = first.iter_mut().zip(second);
    if column < OWN {
        for (first, second) in both {
            let has = 0u64.wrapping_sub(*first >> column & 1);
            *first ^= a & has;
            *second ^= b & has;
        }
    } else {
        let column = column - OWN;
        for (first, second) in both {
            let has = 0u64.wrapping_sub(*second >> column & 1);
            *first ^= a & has;
            *second ^= b & has;
        }
    }
}

/// The field that has one of the columns past the first 63, and the bit in it.
#[inline(always)]
fn field_of(rows: u32, column: u32) -> (&'static Field, u64) {
    let (fields, mut column, mut i) = (fields(rows), column, 0);
    while i + 1 < extra(rows).len() && column >= fields[i].width {
        column -= fields[i].width;
        i += 1;
    }
    (&fields[i], column.into())
}

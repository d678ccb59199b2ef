//! The static line, in its plainest form: a filter of a set that no longer changes.
//!
//! Each line holds the solution of a linear system over GF(2). A key has `w` **coefficients** and a
//! **fingerprint** of `r` bits, both from its hash. The line has `r` **rows** of `w` bits. The key
//! may be present if each row, ANDed with the coefficients, has the parity of that bit of the
//! fingerprint:
//!
//! ```text
//! contains : parity(row[j] & coefficients) == fingerprint bit j, for all j
//! ```
//!
//! An absent key passes with probability `2^-r`. There are more keys than a line has columns. So
//! its keys are taken in the order of their hashes, until the equations of one have no solution
//! with those before. Where that key lies in the line is the line's **threshold**. Keys from there
//! on are **bumped**: they are keys of the next **level**, an array of lines for itself, by another
//! hash. The first level bumps one key in eight, so a probe reads 1.13 lines on average.
//!
//! ```text
//! line      = high 64 bits of (hash * line_count)
//! position  = top 8 bits of the low 64 bits of the same product, at most 254
//! next hash = (g ^ g >> 32) * C2, with g = hash * C1 + C2
//! coefficients: the first 63 are bits 1 to 63 of the next hash,
//!             the others the highest bits of (next hash * C3)
//! fingerprint = the low r bits of the hash, the lowest of them set
//! bumped    : position >= threshold
//! ```
//!
//! Both line and position grow with the hash: sorted hashes are sorted by line, and by position in
//! it. Equal hashes are one key. Whether a system has a solution does not depend on the order of
//! its equations, nor does the solution that is stored: its free columns are 0. So a set of hashes
//! determines all bytes.
//!
//! **How rows lie in a line.** With up to 8 rows a line is 64 bytes, 8 lanes of 64 bits stored
//! little-endian; with 9 to 16 rows it is 128 bytes, 16 lanes. Row `j` has the low 63 bits of lane
//! `j` for its first 63 columns. The lanes left over are shared out: [`extra`] has the widths of
//! the further fields of a row. The first field of each row in turn, then the second field of each,
//! are put into the lanes left over from the lowest bit on; a field that does not fit into the low
//! 63 bits of a lane begins the next. The top bits of lanes 0 to 7 are the threshold.
//!
//! This file is the definition. It alone makes the golden files. The kernels do the same faster;
//! the tests compare them with it byte for byte.
//!
//! ```
//! use bloomline::definition::static_line::{Levels, build, contains};
//!
//! let keys: Vec<u64> = (0..100).map(|i| bloomline::hash::hash_u64(i, 0)).collect();
//! let levels = Levels { line_count: 4, shares: [0, 0], tail: 0 };
//! let lines = build(&keys, levels, 7); // 7 rows: one false positive in 128
//! assert!(keys.iter().all(|&key| contains(&lines, levels, 7, key)));
//! ```

use crate::line::{C1, C2, LANES, line_index};

/// The fewest rows of a filter.
pub const MIN_ROWS: u32 = 4;
/// The most.
pub const MAX_ROWS: u32 = 16;
/// Columns of a row in its own lane.
pub const OWN: u32 = 63;
/// The threshold of a line that bumps no key.
pub const NONE_BUMPED: u8 = 255;
/// The most lines of a first level.
pub const MAX_LINES: u64 = 1 << 48;
/// The most levels after the third.
pub const MAX_TAIL: u8 = 15;

/// Multiplier of the coefficients past the first 63.
pub(crate) const C3: u64 = 0xA076_1D64_78BD_642F;

/// The widths of the fields that a row has besides its own lane.
///
/// # Panics
/// Unless `rows` is 4 to 16.
pub const fn extra(rows: u32) -> &'static [u32] {
    match rows {
        4 => &[60],
        5 | 10 => &[31, 6],
        6 | 12 => &[21],
        7 | 14 => &[9],
        8 | 16 => &[],
        9 => &[21, 21, 7],
        11 => &[21, 7],
        13 => &[9, 4],
        15 => &[4],
        _ => panic!("rows are 4 to 16"),
    }
}

/// The columns of a row beyond its own lane: the sum of [`extra`].
pub const fn extra_columns(rows: u32) -> u32 {
    let (fields, mut sum, mut i) = (extra(rows), 0, 0);
    while i < fields.len() {
        sum += fields[i];
        i += 1;
    }
    sum
}

/// The lanes of a line: 8 up to 8 rows, else 16.
pub const fn lanes(rows: u32) -> usize {
    if rows <= 8 { LANES } else { 2 * LANES }
}

/// Where field `number` of each row lies: its lane, and its lowest bit there.
pub const fn field_places(rows: u32, number: usize) -> [(usize, u32); MAX_ROWS as usize] {
    let (mut lane, mut bit) = (rows as usize, 0);
    let mut places = [(0, 0); MAX_ROWS as usize];
    let mut field = 0;
    while field <= number {
        let width = extra(rows)[field];
        let mut row = 0;
        while row < rows as usize {
            if bit + width > OWN {
                lane += 1;
                bit = 0;
            }
            places[row] = (lane, bit);
            bit += width;
            row += 1;
        }
        field += 1;
    }
    places
}

/// The hash of a key for the next level, which gives its coefficients in this one.
#[inline(always)]
pub const fn next_hash(hash: u64) -> u64 {
    let g = hash.wrapping_mul(C1).wrapping_add(C2);
    (g ^ (g >> 32)).wrapping_mul(C2)
}

/// The coefficients past the first 63, so many, in the lowest bits; from the next hash.
#[inline(always)]
pub const fn extra_coefficients(next_hash: u64, columns: u32) -> u64 {
    next_hash.wrapping_mul(C3) >> 1 >> (OWN - columns)
}

/// The coefficients of a key: bit `i` is that of column `i`.
pub const fn coefficients(hash: u64, rows: u32) -> u128 {
    let next = next_hash(hash);
    (next >> 1) as u128 | (extra_coefficients(next, extra_columns(rows)) as u128) << OWN
}

/// The fingerprint of a key. Its lowest bit is always 1, so a line without keys contains none.
#[inline(always)]
pub const fn fingerprint(hash: u64, rows: u32) -> u64 {
    (hash & ((1 << rows) - 1)) | 1
}

/// The line of a key, and its position there, 0 to 254.
#[inline(always)]
pub const fn place(hash: u64, line_count: u64) -> (u64, u8) {
    let position = (hash.wrapping_mul(line_count) >> 56) as u8;
    (line_index(hash, line_count), if position < 255 { position } else { 254 })
}

/// The sizes of all levels: that of the first, and of each other relative to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The lines of the first level, 1 to [`MAX_LINES`].
    pub line_count: u64,
    /// The second and the third level have so many 256ths of the lines of the one before; 0 if
    /// there is none.
    pub shares: [u8; 2],
    /// How many levels follow the third, each with a sixteenth of the lines of the one before.
    pub tail: u8,
}

impl Levels {
    /// The line count of each level.
    pub fn counts(self) -> impl Iterator<Item = u64> {
        let shares = self.shares.into_iter().take_while(|&share| share > 0);
        let tail = (0..self.tail).map(|_| 16);
        let mut count = self.line_count;
        std::iter::once(count).chain(shares.chain(tail).map(move |share| {
            count = next_count(count, share);
            count
        }))
    }

    /// The lines of all levels.
    pub fn all_lines(self) -> u64 {
        self.counts().sum()
    }
}

/// The lines of the level behind one of `count` lines: so many 256ths of them, rounded up.
#[inline(always)]
pub const fn next_count(count: u64, share: u8) -> u64 {
    (count * share as u64 + 255) >> 8
}

/// A line taken apart: its rows, and its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Bit `i` of row `j` is column `i`.
    pub rows: [u128; MAX_ROWS as usize],
    /// Keys of this position or a higher one are bumped.
    pub threshold: u8,
}

impl Line {
    /// Makes the line of these hashes, all the keys of one line, in ascending order.
    pub fn of(hashes: &[u64], line_count: u64, rows: u32) -> Line {
        // Equations reduced by those before: coefficients, fingerprint, position. The lowest
        // column of each is in none behind it.
        let mut reduced: Vec<(u128, u64, u8)> = Vec::new();
        let mut threshold = NONE_BUMPED;
        for &hash in hashes {
            let (mut left, mut right) = (coefficients(hash, rows), fingerprint(hash, rows));
            for &(coefficients, fingerprint, _) in &reduced {
                if left & coefficients & coefficients.wrapping_neg() != 0 {
                    left ^= coefficients;
                    right ^= fingerprint;
                }
            }
            let position = place(hash, line_count).1;
            if left != 0 {
                reduced.push((left, right, position));
            } else if right != 0 {
                threshold = position;
                break;
            }
        }
        reduced.retain(|&(_, _, position)| position < threshold);
        let mut line = Line { rows: [0; MAX_ROWS as usize], threshold };
        // The last first: all columns of an equation but its lowest are then known.
        for (coefficients, fingerprint, _) in reduced.into_iter().rev() {
            for (j, row) in line.rows.iter_mut().take(rows as usize).enumerate() {
                let parity = u64::from((*row & coefficients).count_ones() % 2);
                if parity != fingerprint >> j & 1 {
                    *row |= coefficients & coefficients.wrapping_neg();
                }
            }
        }
        line
    }

    /// The bytes of the line.
    pub fn to_bytes(&self, rows: u32) -> Vec<u8> {
        let mut lane = vec![0; lanes(rows)];
        for (j, row) in self.rows.iter().take(rows as usize).enumerate() {
            lane[j] |= (*row as u64) << 1 >> 1;
            let mut rest = *row >> OWN;
            for (number, &width) in extra(rows).iter().enumerate() {
                let (of, bit) = field_places(rows, number)[j];
                lane[of] |= (rest as u64 & ((1 << width) - 1)) << bit;
                rest >>= width;
            }
        }
        for (i, lane) in lane.iter_mut().take(LANES).enumerate() {
            *lane |= u64::from(self.threshold >> i & 1) << 63;
        }
        lane.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// The line of these bytes.
    ///
    /// # Panics
    /// Unless they are the bytes of a line.
    pub fn from_bytes(bytes: &[u8], rows: u32) -> Line {
        assert!(bytes.len() == 8 * lanes(rows), "a line");
        let lane = |i: usize| u64::from_le_bytes(std::array::from_fn(|j| bytes[8 * i + j]));
        let threshold = (0..LANES).fold(0, |all, i| all | ((lane(i) >> 63) as u8) << i);
        let mut line = Line { rows: [0; MAX_ROWS as usize], threshold };
        for (j, row) in line.rows.iter_mut().take(rows as usize).enumerate() {
            *row = u128::from(lane(j) << 1 >> 1);
            let mut column = OWN;
            for (number, &width) in extra(rows).iter().enumerate() {
                let (of, bit) = field_places(rows, number)[j];
                *row |= u128::from(lane(of) >> bit & ((1 << width) - 1)) << column;
                column += width;
            }
        }
        line
    }

    /// Whether the equations of a key hold.
    pub fn holds(&self, hash: u64, rows: u32) -> bool {
        let (coefficients, fingerprint) = (coefficients(hash, rows), fingerprint(hash, rows));
        (0..rows as usize).all(|j| {
            u64::from((self.rows[j] & coefficients).count_ones() % 2) == fingerprint >> j & 1
        })
    }
}

/// Makes one level of these hashes, in any order. Returns its lines, and the next hashes of the
/// keys that it bumps.
pub fn build_level(hashes: &[u64], line_count: u64, rows: u32) -> (Vec<u8>, Vec<u64>) {
    let mut sorted = hashes.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let (mut bytes, mut bumped) = (Vec::new(), Vec::new());
    let mut rest = &sorted[..];
    for index in 0..line_count {
        let own = rest.iter().take_while(|&&hash| place(hash, line_count).0 == index).count();
        let (hashes, others) = rest.split_at(own);
        let line = Line::of(hashes, line_count, rows);
        bytes.extend(line.to_bytes(rows));
        let over = hashes.iter().filter(|&&hash| place(hash, line_count).1 >= line.threshold);
        bumped.extend(over.map(|&hash| next_hash(hash)));
        rest = others;
    }
    (bytes, bumped)
}

/// Makes all levels. Keys that the last one bumps are not stored: probes for them pass all levels.
pub fn build(hashes: &[u64], levels: Levels, rows: u32) -> Vec<u8> {
    let (mut bytes, mut hashes) = (Vec::new(), hashes.to_vec());
    for line_count in levels.counts() {
        let (lines, bumped) = build_level(&hashes, line_count, rows);
        bytes.extend(lines);
        hashes = bumped;
    }
    bytes
}

/// Returns whether a key may be present. False: definitely absent; true: maybe. `lines` are those
/// of all levels.
///
/// # Panics
/// Unless `rows` is 4 to 16 and there are as many lines as levels have.
pub fn contains(lines: &[u8], levels: Levels, rows: u32, mut hash: u64) -> bool {
    let (line_bytes, mut first) = (8 * lanes(rows), 0);
    for line_count in levels.counts() {
        let (index, position) = place(hash, line_count);
        let at = (first + index) as usize * line_bytes;
        let line = Line::from_bytes(&lines[at..at + line_bytes], rows);
        if position < line.threshold {
            return line.holds(hash, rows);
        }
        hash = next_hash(hash);
        first += line_count;
    }
    // Bumped by all levels: nothing rules it out.
    true
}

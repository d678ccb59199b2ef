//! The static lines of `layouts/static_line.rs` on the backends.
//!
//! `plain`, `avx2` and `avx512` each answer a tile of keys by one level: which keys it contains,
//! and which it has bumped. `levels` has what they share: the bumped keys of a batch are collected,
//! and probed at the next level as a batch of its own. `build` makes filters.
//!
//! The rows and the sizes of the levels stand for k: see [`pack`].

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod build;
mod levels;
mod plain;
mod solve;
mod sort;

#[cfg(target_arch = "x86_64")]
pub(super) type Avx2<const ROWS: u32> = levels::Levels<avx2::Avx2, ROWS>;
#[cfg(target_arch = "x86_64")]
pub(super) type Avx512<const ROWS: u32> = levels::Levels<avx512::Avx512, ROWS>;
pub(super) type Plain = levels::Levels<plain::Plain>;

use super::lines::Lines;
use crate::layouts::static_line::{
    Levels, MAX_ROWS, MIN_ROWS, extra, extra_columns, field_places, next_count,
};
use crate::line::{LANES, LINE_BYTES};

/// Rows and levels as one number, which stands for k: from the lowest bit on 8 bits of rows, two
/// shares of 8 bits, 4 bits of tail.
pub(crate) fn pack(rows: u32, levels: Levels) -> u32 {
    let [second, third] = levels.shares.map(u32::from);
    rows | second << 8 | third << 16 | u32::from(levels.tail) << 24
}

/// Rows, shares and tail of such a number.
pub(crate) fn unpack(packed: u32) -> (u32, [u8; 2], u8) {
    (packed & 0xFF, [(packed >> 8) as u8, (packed >> 16) as u8], (packed >> 24) as u8)
}

/// A line of a filter with such a number is `1 << line_log2(packed)` bytes.
#[inline(always)]
pub(super) fn line_log2(packed: u32) -> u32 {
    LINE_BYTES.ilog2() + u32::from(packed & 0xFF > LANES as u32)
}

/// The next level, if there is one: the lines behind these.
#[inline(always)]
fn next(lines: Lines) -> Option<Lines> {
    let (rows, [share, third], tail) = unpack(lines.k());
    if share == 0 {
        return None;
    }
    let shares = [third, if tail > 0 { 16 } else { 0 }];
    let packed = rows | u32::from(shares[0]) << 8 | u32::from(shares[1]) << 16;
    let packed = packed | u32::from(tail.saturating_sub(1)) << 24;
    Some(lines.behind(line_log2(rows), next_count(lines.count(), share), packed))
}

/// How the lanes left over are added to the rows, for vectors of 4 and 8 lanes.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Field {
    /// The lane that has the field, of each row.
    lanes: [u64; MAX_ROWS as usize],
    /// Its lowest bit there.
    bits: [u64; MAX_ROWS as usize],
    /// The same in groups of four rows: the first of four lanes that have all of them, and which
    /// halves of lanes, counted from there, make up the four.
    start: [usize; 4],
    halves: [[u32; 8]; 4],
    width: u32,
}

/// Fields of a row at most.
const FIELDS: usize = 3;

/// A number of rows, and how they lie in a line.
struct Rows {
    count: u32,
    /// Columns past the first 63.
    extra: u32,
    fields: [Field; FIELDS],
}

/// Those for each number of rows, from [`MIN_ROWS`] on.
static ROWS: [Rows; (MAX_ROWS - MIN_ROWS + 1) as usize] = {
    const NONE: Field =
        Field { lanes: [0; 16], bits: [0; 16], start: [0; 4], halves: [[0; 8]; 4], width: 0 };
    const NO_ROWS: Rows = Rows { count: 0, extra: 0, fields: [NONE; FIELDS] };
    let mut all = [NO_ROWS; (MAX_ROWS - MIN_ROWS + 1) as usize];
    let mut count = MIN_ROWS;
    while count <= MAX_ROWS {
        let rows = &mut all[(count - MIN_ROWS) as usize];
        (rows.count, rows.extra) = (count, extra_columns(count));
        let mut number = 0;
        while number < extra(count).len() {
            rows.fields[number] = field(count, number);
            number += 1;
        }
        count += 1;
    }
    all
};

impl Rows {
    /// Those of that number.
    #[inline(always)]
    fn of(count: u32) -> &'static Rows {
        &ROWS[(count.clamp(MIN_ROWS, MAX_ROWS) - MIN_ROWS) as usize]
    }

    /// The rows of a filter's lines.
    #[inline(always)]
    fn in_lines(lines: Lines) -> &'static Rows {
        Rows::of(lines.k() & 0xFF)
    }
}

const fn field(rows: u32, number: usize) -> Field {
    let lanes = crate::layouts::static_line::lanes(rows);
    let places = field_places(rows, number);
    let mut field = Field {
        lanes: [0; 16],
        bits: [0; 16],
        start: [0; 4],
        halves: [[0; 8]; 4],
        width: extra(rows)[number],
    };
    let mut row = 0;
    while row < 16 {
        // Rows that are not there are as the last.
        let (lane, bit) = places[if row < rows as usize { row } else { rows as usize - 1 }];
        field.lanes[row] = lane as u64;
        field.bits[row] = bit as u64;
        let group = row / 4;
        if row % 4 == 0 {
            field.start[group] = if lane < lanes - 4 { lane } else { lanes - 4 };
        }
        let from = (lane - field.start[group]) as u32;
        assert!(from < 4, "four rows have their fields within four lanes");
        field.halves[group][row % 4 * 2] = 2 * from;
        field.halves[group][row % 4 * 2 + 1] = 2 * from + 1;
        row += 1;
    }
    field
}

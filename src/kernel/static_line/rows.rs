//! The rows of static lines and the sizes of their levels, which are one number: see [`pack`].

use super::super::lines::Lines;
use crate::layouts::static_line::{
    Levels, MAX_ROWS, MIN_ROWS, extra, extra_columns, field_places, next_count,
};
use crate::line::{LANES, LINE_BYTES};

/// Rows and levels as one number: from the lowest bit on 8 bits of rows, two
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
pub(in super::super) fn line_log2(packed: u32) -> u32 {
    LINE_BYTES.ilog2() + u32::from(packed & 0xFF > LANES as u32)
}

/// The next level, if there is one: the lines behind these.
#[inline(always)]
pub(super) fn next(lines: Lines) -> Option<Lines> {
    let (rows, [share, third], tail) = unpack(lines.rows_and_levels());
    if share == 0 {
        return None;
    }
    let shares = [third, if tail > 0 { 16 } else { 0 }];
    let packed = rows | u32::from(shares[0]) << 8 | u32::from(shares[1]) << 16;
    let packed = packed | u32::from(tail.saturating_sub(1)) << 24;
    Some(lines.behind(line_log2(rows), next_count(lines.count(), share), packed))
}

/// Where the second level of lines of so many rows begins, and how many lines it has, if there is one.
#[inline(always)]
pub(super) fn second(rows: u32, lines: Lines) -> Option<(*const u8, u64)> {
    let (_, [share, _], _) = unpack(lines.rows_and_levels());
    let behind = lines.first().wrapping_add((lines.count() as usize) << line_log2(rows));
    (share > 0).then(|| (behind.cast_const(), next_count(lines.count(), share)))
}

/// How the lanes left over are added to the rows, for vectors of 4 and 8 lanes.
#[repr(align(64))]
#[derive(Clone, Copy)]
pub(super) struct Field {
    /// The lane that has the field, of each row.
    pub(super) lanes: [u64; MAX_ROWS as usize],
    /// Its lowest bit there.
    pub(super) bits: [u64; MAX_ROWS as usize],
    /// The same in groups of four rows: the first of four lanes that have all of them, and which
    /// halves of lanes, counted from there, make up the four.
    pub(super) start: [usize; 4],
    pub(super) halves: [[u32; 8]; 4],
    pub(super) width: u32,
}

/// Fields of a row at most.
pub(super) const FIELDS: usize = 3;

/// A number of rows, and how they lie in a line.
pub(super) struct Rows {
    pub(super) count: u32,
    /// Columns past the first 63.
    pub(super) extra: u32,
    pub(super) fields: [Field; FIELDS],
}

/// Those for each number of rows, from [`MIN_ROWS`] on. A constant, so that code for one number has its
/// fields in its instructions.
const ROWS: &[Rows; (MAX_ROWS - MIN_ROWS + 1) as usize] = &{
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
    pub(super) fn of(count: u32) -> &'static Rows {
        &ROWS[(count.clamp(MIN_ROWS, MAX_ROWS) - MIN_ROWS) as usize]
    }

    /// The rows of a filter's lines.
    #[inline(always)]
    pub(super) fn in_lines(lines: Lines) -> &'static Rows {
        Rows::of(lines.rows_and_levels() & 0xFF)
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

//! A column of a matrix as a filter by itself: where its bits are.
//!
//! The bits of a key are one in each of the rows that the key reads. No vector helps: each is a load of
//! its own.

use super::batch::{self, Hashes, Ops};
use super::lines::Lines;
use super::native::round;
use super::prefetch::{Prefetch, Reads, prefetch};
use super::shared::Probed;
use crate::layouts::matrix::ROWS;
use crate::line::{C1, C2, LANES, LINE_BYTES, Line, line_index};

/// What a view keeps of a column besides its first word and the number of lines: k, which of the bits of
/// a word it has, and how many words a row has.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) k: u32,
    /// Below 64.
    pub(crate) bit: u32,
    pub(crate) words: usize,
}

/// The lowest bits of a packed column are k, less one, then come its bit and the words, less one.
const K_BITS: u32 = 4;
const BITS_BITS: u32 = 6;
const MOST_WORDS: usize = 1 << (u32::BITS - K_BITS - BITS_BITS);

impl Column {
    /// As a number, in the place where other layouts have k; None if rows are too wide for it.
    pub(crate) fn pack(self) -> Option<u32> {
        let words = self.words.checked_sub(1).filter(|&words| words < MOST_WORDS)? as u32;
        Some((words << BITS_BITS | self.bit) << K_BITS | (self.k - 1))
    }

    #[inline(always)]
    pub(crate) fn unpack(packed: u32) -> Column {
        let bit = (packed >> K_BITS) & ((1 << BITS_BITS) - 1);
        let words = (packed >> (K_BITS + BITS_BITS)) as usize + 1;
        Column { k: (packed & ((1 << K_BITS) - 1)) + 1, bit, words }
    }

    /// The bytes of a group.
    #[inline(always)]
    fn group_bytes(self) -> usize {
        ROWS * 8 * self.words
    }

    /// The column number `column` of the matrix of these groups: its first word, with as many bytes from
    /// there on as its lines are, and what a view keeps of it. None if rows are too wide.
    ///
    /// # Panics
    /// Unless they are whole groups of so many lines, with that column.
    pub(crate) fn of(
        groups: &[u8],
        line_count: u64,
        words: usize,
        k: u32,
        column: usize,
    ) -> Option<(Probed<'_>, u32)> {
        let (packed, first) = (Column { k, bit: (column % 64) as u32, words }, column / 64 * 8);
        let bytes = (line_count as usize).checked_mul(packed.group_bytes());
        assert!(bytes == Some(groups.len()) && first < 8 * words, "a column of whole groups");
        let lines = Probed::from(&groups[first..]).first(line_count as usize * LINE_BYTES)?;
        Some((lines, packed.pack()?))
    }

    /// A line of the column that [`Column::of`] returned these lines for, with this.
    ///
    /// # Panics
    /// If there is none of this number.
    pub(crate) fn line(self, lines: Probed<'_>, number: usize) -> Line {
        assert!(number < lines.len() / LINE_BYTES, "a line");
        let first = lines.start().wrapping_add(number * self.group_bytes());
        let (first, mut line) = (first.wrapping_add(self.bit as usize / 8), [0; LANES]);
        for (lane, word) in line.iter_mut().enumerate() {
            for bit in 0..64 {
                let row = 64 * lane + bit;
                // SAFETY: the byte of the column in a row of one of the groups, which are borrowed as the
                // lines are.
                let byte = unsafe { *first.wrapping_add(row * 8 * self.words) };
                *word |= u64::from(byte >> (self.bit % 8) & 1) << bit;
            }
        }
        line
    }
}

/// Passes on the rows that a key reads: as `line::mask` has bits, k times.
#[inline(always)]
pub(super) fn each_row(hash: u64, k: u32, mut each: impl FnMut(usize)) {
    let k = k as usize;
    for row in round(hash.wrapping_mul(C1), k.min(LANES)) {
        each(row);
    }
    if k > LANES {
        for row in round(hash.wrapping_mul(C2), k - LANES) {
            each(row);
        }
    }
}

/// Whether a column has all bits of a key, without a branch: one in the byte at the same distance from
/// the start of each row.
///
/// # Safety
/// `first` is that byte in the first row of a group that can be read, with rows of so many bytes.
#[inline(always)]
pub(super) unsafe fn has(first: *const u8, row_bytes: usize, k: u32, hash: u64, bit: u32) -> bool {
    let mut byte = u8::MAX;
    // SAFETY: the caller's promise: a group is 512 rows.
    each_row(hash, k, |row| byte &= unsafe { *first.wrapping_add(row * row_bytes) });
    byte >> (bit % 8) & 1 == 1
}

impl Column {
    /// The byte of the column in the first row of the group of a hash.
    #[inline(always)]
    fn first_byte(self, lines: Lines, hash: u64) -> *const u8 {
        let group = line_index(hash, lines.count()) as usize * self.group_bytes();
        lines.first().wrapping_add(group + self.bit as usize / 8)
    }
}

impl Ops for Column {
    const READS: Reads = Reads::Several;
    const INSERTS: bool = false;
    const SHORT: bool = false;

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        let column = Column::unpack(lines.column());
        // SAFETY: the group is one of the matrix, as the line is one of the column.
        unsafe { has(column.first_byte(lines, hash), 8 * column.words, column.k, hash, column.bit) }
    }

    #[inline(always)]
    fn prefetch<const HINT: u8>(lines: Lines, hash: u64) {
        let column = Column::unpack(lines.column());
        let first = column.first_byte(lines, hash);
        each_row(hash, column.k, |row| {
            prefetch::<HINT>(first.wrapping_add(row * 8 * column.words))
        });
    }

    /// By a plan for all that keys read: as many bytes as the matrix.
    #[inline(always)]
    unsafe fn probe_batch(
        lines: Lines,
        hashes: Hashes<'_>,
        _: Prefetch,
        bitmap: &mut [u64],
    ) -> usize {
        let matrix = lines.count() as usize * Column::unpack(lines.column()).group_bytes();
        let plan = Prefetch::to_probe(Self::READS, matrix);
        // SAFETY: the caller's promise.
        unsafe { batch::probe::<Column>(lines, hashes, plan, bitmap) }
    }
}

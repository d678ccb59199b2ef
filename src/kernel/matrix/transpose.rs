//! Lines to rows: the bits of 64 lines, transposed.
//!
//! The lines of 64 columns are a **block**: a word of each row. Up to eight blocks, of columns side by
//! side, are put into a group together, so that a cache line of a row is written once, as a whole.

use super::super::prefetch::{INTO_L1, prefetch};
use super::super::shared::{Probed, read_shared_vector};
use crate::layouts::matrix::ROWS;
use crate::line::{LANES, LINE_BITS, LINE_BYTES, Line};
use std::mem::MaybeUninit;

/// A line of each of 64 columns.
pub(crate) type Block = [Line; 64];

/// Blocks that are put into a group together, at most: words of a cache line.
pub(crate) const TOGETHER: usize = 8;

/// The words of rows that each of such blocks gives.
///
/// Those of a row lie in cache lines of different sets.
#[repr(align(64))]
pub(super) struct Rows(MaybeUninit<[[u64; ROWS + LANES]; TOGETHER]>);

impl Rows {
    /// The words of the block of this number, below 8.
    #[inline(always)]
    pub(super) fn of(&self, block: usize) -> *const u64 {
        self.0.as_ptr().cast::<u64>().wrapping_add(block * (ROWS + LANES))
    }

    #[inline(always)]
    fn room(&mut self, block: usize) -> *mut u64 {
        self.0.as_mut_ptr().cast::<u64>().wrapping_add(block * (ROWS + LANES))
    }
}

/// How a backend transposes.
pub(super) trait Transpose {
    /// Transposes a block: bit `c` of word `r` is that of row `r` of its column `c`. Words are as a matrix
    /// has them. The block may be changed.
    ///
    /// # Safety
    /// 512 words can be written, at any address.
    unsafe fn transpose(block: &mut Block, words: *mut u64);

    /// Writes the words of all eight blocks, a cache line for each row. If `past`, past the caches.
    ///
    /// # Safety
    /// All blocks are there. At `at` and every `row_bytes` from there on, 512 times, eight words can be
    /// written.
    #[inline(always)]
    unsafe fn write(rows: &Rows, at: *mut u8, row_bytes: usize, _past: bool) {
        // SAFETY: the caller's promise.
        unsafe { write(rows, &[0; TOGETHER], at, row_bytes) }
    }
}

/// Transposes blocks, and writes them into a group: the words of each row there, from `at` on, with so
/// many bytes from row to row. Of each word, the bits that `keep` has stay as they are there.
///
/// # Safety of the function
/// This CPU runs the backend. There are one to eight blocks, and as many words of `keep`; so many can be
/// read and written in each of 512 rows.
pub(crate) type Put =
    unsafe fn(blocks: &mut [Block], keep: &[u64], at: *mut u8, row_bytes: usize, past: bool);

/// What a backend does.
#[derive(Clone, Copy)]
pub(crate) struct Calls(pub(super) Put);

impl Calls {
    /// Writes the lines of up to 512 columns into a group: the words from `word` on of each row. Of each,
    /// the bits that `keep` has stay as they are there. If `past`, the group is not wanted in the caches.
    ///
    /// # Panics
    /// Unless `group` is 512 rows of `words` words, and those are of them; unless there are one to eight
    /// blocks, and as many words of `keep`.
    #[inline]
    pub(crate) fn put(
        self,
        blocks: &mut [Block],
        keep: &[u64],
        group: &mut [u8],
        (words, word): (usize, usize),
        past: bool,
    ) {
        let count = blocks.len();
        assert!(group.len() == LINE_BITS as usize * 8 * words && word + count <= words, "a group");
        assert!((1..=TOGETHER).contains(&count) && keep.len() == count, "blocks");
        // SAFETY: the functions are those of a backend of this CPU; the rest is checked.
        unsafe { (self.0)(blocks, keep, group.as_mut_ptr().add(8 * word), 8 * words, past) };
    }
}

/// Copies lines of a filter, from the one of number `first` on: each becomes the line of this column in
/// the next block of these, of which it is every `apart`-th one.
///
/// # Panics
/// If there are not so many lines.
#[inline(never)]
pub(crate) fn copy_lines(
    lines: Probed<'_>,
    first: usize,
    column: usize,
    blocks: &mut [Block],
    apart: usize,
) {
    let blocks = blocks.iter_mut().step_by(apart);
    let there = lines.len() / LINE_BYTES;
    assert!(first <= there && blocks.len() <= there - first, "lines of the filter");
    let mut from = lines.start().wrapping_add(first * LINE_BYTES);
    for block in blocks {
        // SAFETY: one of the lines, which are borrowed.
        let mut line = unsafe { read_shared_vector::<Line>(from) };
        // Not by `map`, which is a call in some builds.
        for lane in &mut line {
            *lane = u64::from_le(*lane);
        }
        block[column] = line;
        from = from.wrapping_add(LINE_BYTES);
    }
}

/// Prefetches lines of a filter, from the one of number `first` on.
pub(crate) fn prefetch_lines(lines: Probed<'_>, first: usize, count: usize) {
    for line in first..first + count {
        prefetch::<INTO_L1>(lines.start().wrapping_add(line * LINE_BYTES));
    }
}

/// The work of [`Put`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn put<T: Transpose>(
    blocks: &mut [Block],
    keep: &[u64],
    at: *mut u8,
    row_bytes: usize,
    past: bool,
) {
    let keeps = keep.iter().any(|&keep| keep != 0);
    // SAFETY: the caller's promise; there are rows for up to eight blocks.
    unsafe {
        if let ([block], 8, false) = (&mut *blocks, row_bytes, keeps) {
            return T::transpose(block, at.cast());
        }
        let mut rows = Rows(MaybeUninit::uninit());
        for (i, block) in blocks.iter_mut().enumerate() {
            T::transpose(block, rows.room(i));
        }
        if blocks.len() == TOGETHER && !keeps {
            T::write(&rows, at, row_bytes, past);
        } else {
            write(&rows, keep, at, row_bytes);
        }
    }
}

/// Writes the words of as many blocks as there are words of `keep`.
///
/// # Safety
/// As for [`Put`]; those blocks are there.
#[inline(always)]
unsafe fn write(rows: &Rows, keep: &[u64], at: *mut u8, row_bytes: usize) {
    for row in 0..ROWS {
        for (i, &keep) in keep.iter().enumerate() {
            // SAFETY: the caller's promise: a word of one of 512 rows.
            unsafe {
                let to = at.add(row * row_bytes + 8 * i).cast::<u64>();
                let word = rows.of(i).add(row).read();
                let kept = if keep == 0 { 0 } else { to.read_unaligned() & keep.to_le() };
                to.write_unaligned(word | kept);
            }
        }
    }
}

/// Without vectors of bytes: the squares of all lanes at once, by swapping halves, quarters and so on, six
/// steps, three of them while eight lines are in registers. Lanes side by side become vectors.
pub(super) struct Plain;

impl Transpose for Plain {
    #[inline(always)]
    unsafe fn transpose(block: &mut Block, words: *mut u64) {
        for first in 0..8 {
            three_steps::<8>(block, first);
        }
        for first in (0..64).step_by(8) {
            three_steps::<1>(block, first);
        }
        for lane in 0..LANES {
            for (bit, line) in block.iter().enumerate() {
                // SAFETY: the caller's promise: one of 512 words.
                unsafe { words.add(64 * lane + bit).write_unaligned(line[lane].to_le()) };
            }
        }
    }
}

/// Three steps, in which the distance of the lines is halved from `4 * APART` on.
#[inline(always)]
fn three_steps<const APART: usize>(block: &mut Block, first: usize) {
    let mut eight = [[0; LANES]; 8];
    for i in 0..8 {
        eight[i] = block[first + i * APART];
    }
    step::<4, APART>(&mut eight);
    step::<2, APART>(&mut eight);
    step::<1, APART>(&mut eight);
    for i in 0..8 {
        block[first + i * APART] = eight[i];
    }
}

/// Of these lines, which lie so far apart, swaps bits of each with those of the line `HALF` behind.
#[inline(always)]
fn step<const HALF: usize, const APART: usize>(eight: &mut [Line; 8]) {
    let bits = (HALF * APART) as u32;
    // The lower half of every `2 * bits` bits.
    let low = u64::MAX / ((1 << bits) + 1);
    for i in 0..8 {
        if i & HALF == 0 {
            #[expect(clippy::needless_range_loop, reason = "a lane of two lines")]
            for lane in 0..LANES {
                let (a, b) = (eight[i][lane], eight[i + HALF][lane]);
                let swapped = (a >> bits ^ b) & low;
                eight[i][lane] = a ^ swapped << bits;
                eight[i + HALF][lane] = b ^ swapped;
            }
        }
    }
}

/// The function of a backend, by the type that does the work.
macro_rules! calls {
    ($transpose:ty $(, $attribute:meta)*) => {{
        $(#[$attribute])*
        unsafe fn put_by(
            blocks: &mut [transpose::Block],
            keep: &[u64],
            at: *mut u8,
            row_bytes: usize,
            past: bool,
        ) {
            // SAFETY: the caller's promise, handed on.
            unsafe { transpose::put::<$transpose>(blocks, keep, at, row_bytes, past) }
        }
        transpose::Calls(put_by)
    }};
}
pub(super) use calls;

//! Lines to rows: the bits of 64 lines, transposed.
//!
//! The 64 lines are a square of bits for each of the 8 lanes, all transposed at once, by swapping
//! halves, quarters and so on: six steps, three of them while eight lines are in registers. The code
//! is the same on all backends; lanes side by side become vectors.

use crate::line::{LANES, LINE_BITS, Line};

/// A line of each of 64 columns; transposed, lane `l` of line `b` is the word of row `64 l + b`.
pub(crate) type Block = [Line; 64];

/// Transposes a block, and writes it into a group: the word of each row there, from `at` on, with so
/// many bytes from row to row. Bits that `keep` has stay as they are there.
///
/// # Safety of the function
/// This CPU runs the backend, and 512 words can be read and written.
pub(crate) type Put = unsafe fn(block: &mut Block, keep: u64, at: *mut u8, row_bytes: usize);

/// What a backend does.
#[derive(Clone, Copy)]
pub(crate) struct Calls(pub(super) Put);

impl Calls {
    /// Writes the lines of up to 64 columns into a group: word `word` of each row. Bits that `keep`
    /// has stay as they are there.
    ///
    /// # Panics
    /// Unless `group` is 512 rows of `words` words, and `word` is one of them.
    #[inline]
    pub(crate) fn put(
        self,
        block: &mut Block,
        keep: u64,
        group: &mut [u8],
        words: usize,
        word: usize,
    ) {
        assert!(group.len() == LINE_BITS as usize * 8 * words && word < words, "a group");
        // SAFETY: the functions are those of a backend of this CPU; a word of each of 512 rows is there.
        unsafe { (self.0)(block, keep, group.as_mut_ptr().add(8 * word), 8 * words) };
    }
}

/// Three steps, in which the distance of the lines is halved from `4 * APART` on.
#[inline(always)]
fn three_steps<const APART: usize>(block: &mut Block, first: usize) {
    let mut eight: [Line; 8] = std::array::from_fn(|i| block[first + i * APART]);
    let mut half = 4;
    while half > 0 {
        let bits = (half * APART) as u32;
        // The lower half of every `2 * bits` bits.
        let low = u64::MAX / ((1 << bits) + 1);
        let mut i = 0;
        while i < 8 {
            if i & half == 0 {
                #[expect(clippy::needless_range_loop, reason = "a lane of two lines")]
                for lane in 0..LANES {
                    let (a, b) = (eight[i][lane], eight[i + half][lane]);
                    let swapped = (a >> bits ^ b) & low;
                    eight[i][lane] = a ^ swapped << bits;
                    eight[i + half][lane] = b ^ swapped;
                }
            }
            i += 1;
        }
        half /= 2;
    }
    for (i, line) in eight.into_iter().enumerate() {
        block[first + i * APART] = line;
    }
}

/// The work of [`Put`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn put(block: &mut Block, keep: u64, at: *mut u8, row_bytes: usize) {
    for first in 0..8 {
        three_steps::<8>(block, first);
    }
    for first in (0..64).step_by(8) {
        three_steps::<1>(block, first);
    }
    for lane in 0..LANES {
        for (bit, line) in block.iter().enumerate() {
            // SAFETY: the caller's promise: it is a word of one of 512 rows.
            unsafe {
                let to = at.add((64 * lane + bit) * row_bytes).cast::<u64>();
                let kept = if keep == 0 { 0 } else { u64::from_le(to.read_unaligned()) & keep };
                to.write_unaligned((line[lane] | kept).to_le());
            }
        }
    }
}

/// The function of a backend.
macro_rules! calls {
    ($($attribute:meta),*) => {{
        $(#[$attribute])*
        unsafe fn put_by(
            block: &mut transpose::Block,
            keep: u64,
            at: *mut u8,
            row_bytes: usize,
        ) {
            // SAFETY: the caller's promise, handed on.
            unsafe { transpose::put(block, keep, at, row_bytes) }
        }
        transpose::Calls(put_by)
    }};
}
pub(super) use calls;

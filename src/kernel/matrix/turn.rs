//! A block transposed by vectors of bytes: of eight registers at a time the bytes are put side by side,
//! then squares of 8 by 8 bits are transposed, then the bytes of these are put side by side.

use super::transpose::Block;
use crate::line::LINE_BYTES;
use std::mem::MaybeUninit;

/// Bytes in a register: sixteens, which no operation but those of memory mixes.
pub(super) trait Sixteens: Copy {
    /// How many.
    const COUNT: usize;
    /// Whether [`Sixteens::squares`] takes the bytes of a square from the last to the first.
    const BACKWARDS: bool;

    /// # Safety
    /// So many bytes can be read there, at any address.
    unsafe fn bytes(at: *const u8) -> Self;
    /// Stores each sixteen, 128 words behind the one before.
    ///
    /// # Safety
    /// They can be written there, at any address.
    unsafe fn store_apart(self, at: *mut u64);
    /// Bytes of both by turns: of the lower halves of the sixteens, and of the upper ones.
    fn by_bytes(self, other: Self) -> [Self; 2];
    /// The same of two bytes each.
    fn by_twos(self, other: Self) -> [Self; 2];
    /// The same of four bytes each.
    fn by_fours(self, other: Self) -> [Self; 2];
    /// Transposes each square: 8 bytes of 8 bits.
    fn squares(self) -> Self;
}

/// In each sixteen: byte `p` of all eight registers, side by side, is half `p % 2` of that of register
/// `p / 2` that is returned.
#[inline(always)]
fn side_by_side<S: Sixteens>(of: [S; 8]) -> [S; 8] {
    let [a, b, c, d, e, f, g, h] = of;
    let ([a, b], [c, d], [e, f], [g, h]) =
        (a.by_bytes(b), c.by_bytes(d), e.by_bytes(f), g.by_bytes(h));
    let ([a, c], [e, g]) = (a.by_twos(c), e.by_twos(g));
    let ([b, d], [f, h]) = (b.by_twos(d), f.by_twos(h));
    let ([a, e], [c, g]) = (a.by_fours(e), c.by_fours(g));
    let ([b, f], [d, h]) = (b.by_fours(f), d.by_fours(h));
    [a, e, c, g, b, f, d, h]
}

/// Transposes a block: bit `c` of word `r` is that of row `r` of its column `c`.
///
/// # Safety
/// The CPU has the instructions of `S`. 512 words can be written, at any address.
#[inline(always)]
pub(super) unsafe fn transpose<S: Sixteens>(block: &Block, words: *mut u64) {
    let lines = block.as_ptr().cast::<u8>();
    let mut squares = [[MaybeUninit::<S>::uninit(); 8]; 8];
    for part in 0..LINE_BYTES / (16 * S::COUNT) {
        // SAFETY: the bytes are those of the part of each of 64 lines; the words, those of the rows of their
        // bits: 128 for each sixteen.
        unsafe {
            for eight in 0..8 {
                let first = lines.add(8 * LINE_BYTES * eight + 16 * S::COUNT * part);
                let mut of = [S::bytes(first); 8];
                for (i, of) in of.iter_mut().enumerate() {
                    *of = S::bytes(first.add(LINE_BYTES * if S::BACKWARDS { 7 - i } else { i }));
                }
                for (squares, pair) in squares.iter_mut().zip(side_by_side(of)) {
                    squares[eight].write(pair.squares());
                }
            }
            for (pair, squares) in squares.iter().enumerate() {
                let mut of = [squares[0].assume_init(); 8];
                for (of, square) in of.iter_mut().zip(squares) {
                    *of = square.assume_init();
                }
                let first = words.add(128 * S::COUNT * part + 16 * pair);
                for (i, two) in side_by_side(of).into_iter().enumerate() {
                    two.store_apart(first.add(2 * i));
                }
            }
        }
    }
}

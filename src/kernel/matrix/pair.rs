//! Two words of a row at a time, which are a vector on CPUs whose baseline has one.

use super::words::{Wide, Word};

/// A vector of NEON.
#[derive(Clone, Copy)]
pub(super) struct Pair([Word; 2]);

impl Wide for Pair {
    const COUNT: usize = 2;
    type Sum = usize;
    const ZERO: usize = 0;
    type Lanes = <Word as Wide>::Lanes;

    #[inline(always)]
    fn lanes(g: u64, row_bytes: usize) -> Self::Lanes {
        Word::lanes(g, row_bytes)
    }

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Pair {
        // SAFETY: the caller's promise.
        unsafe { Pair([Word::load(at), Word::load(at.add(8))]) }
    }

    #[inline(always)]
    unsafe fn of(words: *const u64) -> Pair {
        // SAFETY: the caller's promise.
        unsafe { Pair([Word::of(words), Word::of(words.add(1))]) }
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe { at.cast::<[u64; 2]>().write_unaligned(self.0.map(|word| word.0)) };
    }

    #[inline(always)]
    fn and(self, other: Pair) -> Pair {
        let ([a, b], [c, d]) = (self.0, other.0);
        Pair([a.and(c), b.and(d)])
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0[0].0 | self.0[1].0 == 0
    }

    #[inline(always)]
    fn add_to(self, sum: usize) -> usize {
        self.0[1].add_to(self.0[0].add_to(sum))
    }

    #[inline(always)]
    fn total(sum: usize) -> usize {
        sum
    }
}

//! The AND of rows, by as many words at a time as a register has.

use crate::line::MAX_K;

/// A part of the words of a row, in a register.
pub(super) trait Words: Copy {
    /// How many.
    const COUNT: usize;
    /// Bits that are counted.
    type Sum: Copy;
    const ZERO: Self::Sum;

    /// # Safety
    /// So many words can be read there, at any address.
    unsafe fn load(at: *const u8) -> Self;
    /// # Safety
    /// So many words can be written there.
    unsafe fn store(self, at: *mut u64);
    fn and(self, other: Self) -> Self;
    fn is_zero(self) -> bool;
    fn add_to(self, sum: Self::Sum) -> Self::Sum;
    fn total(sum: Self::Sum) -> usize;
}

/// Tiles that are in registers at once.
const TILES: usize = 4;

/// The rows that a key reads: where they begin in its group.
pub(super) type Places = [usize; MAX_K as usize];

/// A word, in the CPU's byte order.
#[derive(Clone, Copy)]
pub(super) struct Word(u64);

impl Words for Word {
    const COUNT: usize = 1;
    type Sum = usize;
    const ZERO: usize = 0;

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Word {
        // SAFETY: the caller's promise.
        Word(unsafe { read(at) })
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u64) {
        // SAFETY: the caller's promise.
        unsafe { at.write(self.0) };
    }

    #[inline(always)]
    fn and(self, other: Word) -> Word {
        Word(self.0 & other.0)
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0 == 0
    }

    #[inline(always)]
    fn add_to(self, sum: usize) -> usize {
        sum + self.0.count_ones() as usize
    }

    #[inline(always)]
    fn total(sum: usize) -> usize {
        sum
    }
}

/// A word of a row.
///
/// # Safety
/// It can be read.
#[inline(always)]
unsafe fn read(at: *const u8) -> u64 {
    // SAFETY: the caller's promise.
    u64::from_le(unsafe { at.cast::<u64>().read_unaligned() })
}

/// The work of [`And`](super::And).
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn and<W: Words>(
    group: *const u8,
    places: &Places,
    k: usize,
    words: usize,
    live: *const u64,
    out: *mut u64,
) -> usize {
    let (mut sum, mut at) = (W::ZERO, 0);
    // SAFETY: the caller's promise: all words are below `words`.
    unsafe {
        let mut done = |tile: W, at: usize| {
            let tile = if live.is_null() { tile } else { tile.and(W::load(live.add(at).cast())) };
            if !out.is_null() {
                tile.store(out.add(at));
            }
            sum = tile.add_to(sum);
        };
        while at + TILES * W::COUNT <= words {
            for (i, tile) in tiles::<W>(group.add(8 * at), places, k).into_iter().enumerate() {
                done(tile, at + i * W::COUNT);
            }
            at += TILES * W::COUNT;
        }
        while at + W::COUNT <= words {
            done(tile::<W>(group.add(8 * at), places, k), at);
            at += W::COUNT;
        }
        let mut rest = 0;
        while at < words {
            let mut word = Word::load(group.add(8 * at + places[0]));
            for &place in places.get_unchecked(1..k) {
                word = word.and(Word::load(group.add(8 * at + place)));
            }
            let word = if live.is_null() { word } else { word.and(Word(*live.add(at))) };
            if !out.is_null() {
                word.store(out.add(at));
            }
            rest = word.add_to(rest);
            at += 1;
        }
        W::total(sum) + rest
    }
}

/// The work of [`Any`](super::Any). It stops at the first tile with a column, and in a tile as soon as no column
/// is left.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn any<W: Words>(
    group: *const u8,
    places: &Places,
    k: usize,
    words: usize,
    live: *const u64,
) -> bool {
    let mut at = 0;
    // SAFETY: the caller's promise: all words are below `words`.
    unsafe {
        while at + W::COUNT <= words {
            if any_in_tile::<W>(group, places, k, live, at) {
                return true;
            }
            at += W::COUNT;
        }
        (at..words).any(|at| any_in_tile::<Word>(group, places, k, live, at))
    }
}

/// # Safety
/// As for [`Any`](super::Any); there are `W::COUNT` words from `at` on.
#[inline(always)]
unsafe fn any_in_tile<W: Words>(
    group: *const u8,
    places: &Places,
    k: usize,
    live: *const u64,
    at: usize,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let group = group.add(8 * at);
        let mut tile = W::load(group.add(places[0]));
        if !live.is_null() {
            tile = tile.and(W::load(live.add(at).cast()));
        }
        for &place in places.get_unchecked(1..k) {
            if tile.is_zero() {
                return false;
            }
            tile = tile.and(W::load(group.add(place)));
        }
        !tile.is_zero()
    }
}

/// The AND of a tile of k rows.
///
/// # Safety
/// As for [`And`](super::And); there are so many words.
#[inline(always)]
unsafe fn tile<W: Words>(group: *const u8, places: &Places, k: usize) -> W {
    // SAFETY: the caller's promise; k is at most 16.
    unsafe {
        let mut tile = W::load(group.add(places[0]));
        for &place in places.get_unchecked(1..k) {
            tile = tile.and(W::load(group.add(place)));
        }
        tile
    }
}

/// The same for [`TILES`] of them, side by side.
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
unsafe fn tiles<W: Words>(group: *const u8, places: &Places, k: usize) -> [W; TILES] {
    // SAFETY: as above.
    unsafe {
        let load = |place: usize, i: usize| W::load(group.add(place + 8 * i * W::COUNT));
        let mut tiles: [W; TILES] = std::array::from_fn(|i| load(places[0], i));
        for &place in places.get_unchecked(1..k) {
            for (i, tile) in tiles.iter_mut().enumerate() {
                *tile = tile.and(load(place, i));
            }
        }
        tiles
    }
}

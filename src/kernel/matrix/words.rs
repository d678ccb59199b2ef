//! The AND of rows, by as many words at a time as a register has.

use super::super::column::each_row;
use super::super::native::first_lane;
use super::super::prefetch::{INTO_L2, prefetch};
use crate::line::{C1, C2, LANES, LINE_BYTES, SHIFTS};
use std::mem::MaybeUninit;
use std::ptr;
use std::slice::from_raw_parts;

/// A part of the words of a row, in a register.
pub(super) trait Wide: Copy {
    /// How many.
    const COUNT: usize;
    /// Bits that are counted.
    type Sum: Copy;
    const ZERO: Self::Sum;
    /// Eight numbers, as registers have them.
    type Lanes: Copy;

    /// # Safety
    /// So many words can be read there, at any address.
    unsafe fn load(at: *const u8) -> Self;
    /// Words of a caller, in the CPU's byte order.
    ///
    /// # Safety
    /// As for [`Wide::load`].
    #[inline(always)]
    unsafe fn of(words: *const u64) -> Self {
        // SAFETY: the caller's promise. Vectors of x86-64 know one byte order.
        unsafe { Self::load(words.cast()) }
    }
    /// # Safety
    /// So many words can be written there.
    unsafe fn store(self, at: *mut u64);
    fn and(self, other: Self) -> Self;
    fn is_zero(self) -> bool;
    fn add_to(self, sum: Self::Sum) -> Self::Sum;
    fn total(sum: Self::Sum) -> usize;

    /// Where the rows of all lanes begin, in rows of so many bytes, by their bits in `g`.
    fn lanes(g: u64, row_bytes: usize) -> Self::Lanes;

    /// The AND of some words, fewer than [`Wide::COUNT`], of the rows at these places. False if there
    /// is no faster way than one by one.
    ///
    /// # Safety
    /// As for [`Wide::load`] and [`Wide::store`], of so many words.
    #[inline(always)]
    unsafe fn part(
        _group: *const u8,
        _places: &[u64],
        _count: usize,
        _live: *const u64,
        _out: *mut u64,
        _sum: &mut Self::Sum,
    ) -> bool {
        false
    }
}

/// Tiles that are in registers at once.
const TILES: usize = 4;

/// What is asked: how many words of a row, at least one; the bytes from row to row; how many rows a key
/// reads, 1 to 16; which bits of the last word stand for columns.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) words: usize,
    pub(super) row_bytes: usize,
    pub(super) k: u32,
    pub(super) last: u64,
}

/// The first row of each lane.
#[cfg(target_arch = "x86_64")]
pub(super) const FIRST_ROWS: [u64; LANES] = [0, 64, 128, 192, 256, 320, 384, 448];

/// Room for where the rows that a key reads begin in its group: k of them, somewhere in here.
///
/// Aligned, so that no vector that is stored crosses a cache line, for up to 8 rows. From one that does,
/// the CPU hands on no word to the loads that follow: they wait until it is in the cache, behind the
/// answers to the key before, and keys no longer overlap.
#[repr(align(64))]
pub(super) struct Places(MaybeUninit<[u64; 3 * LANES]>);

impl Places {
    #[inline(always)]
    pub(super) fn uninit() -> Places {
        Places(MaybeUninit::uninit())
    }

    /// Writes where the rows of a key begin. Returns which is the first of them.
    #[inline(always)]
    pub(super) fn write<W: Wide>(&mut self, hash: u64, asked: &Asked) -> usize {
        let (k, row_bytes) = (asked.k as usize, asked.row_bytes);
        let (first, second) = (hash.wrapping_mul(C1), hash.wrapping_mul(C2));
        let some = if k <= LANES { first } else { second };
        let (lanes, start) = (W::lanes(some, row_bytes), first_lane(some));
        let to = self.0.as_mut_ptr().cast::<u64>();
        // SAFETY: eight lanes are as many numbers, and a k is at most 16: the last is written below
        // 7 + 8 + 8.
        unsafe {
            // The lanes of a round twice, one behind the other: those that count follow each other.
            to.cast::<W::Lanes>().write_unaligned(lanes);
            to.add(LANES).cast::<W::Lanes>().write_unaligned(lanes);
            if k > LANES {
                let all = W::lanes(first, row_bytes);
                to.add(start + (k - LANES)).cast::<W::Lanes>().write_unaligned(all);
            }
        }
        start
    }

    /// Those of a key: k places, of at most 16.
    ///
    /// # Safety
    /// [`Places::write`] wrote them for this k, and returned `first`.
    #[inline(always)]
    pub(super) unsafe fn from(&self, first: usize, k: u32) -> &[u64] {
        // SAFETY: the caller's promise: all are written from `first` on, which is below 8.
        unsafe { from_raw_parts(self.0.as_ptr().cast::<u64>().add(first), k as usize) }
    }
}

/// A word, in the CPU's byte order.
#[derive(Clone, Copy)]
pub(super) struct Word(pub(super) u64);

impl Wide for Word {
    const COUNT: usize = 1;
    type Sum = usize;
    const ZERO: usize = 0;
    type Lanes = [u64; LANES];

    #[inline(always)]
    fn lanes(g: u64, row_bytes: usize) -> [u64; LANES] {
        let (mut places, mut lane) = ([0; LANES], 0);
        while lane < LANES {
            let row = 64 * lane as u64 + (g >> SHIFTS[lane] & 63);
            places[lane] = row * row_bytes as u64;
            lane += 1;
        }
        places
    }

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Word {
        // SAFETY: the caller's promise.
        Word(unsafe { read(at) })
    }

    #[inline(always)]
    unsafe fn of(words: *const u64) -> Word {
        // SAFETY: the caller's promise.
        Word(unsafe { *words })
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
pub(super) unsafe fn read(at: *const u8) -> u64 {
    // SAFETY: the caller's promise.
    u64::from_le(unsafe { at.cast::<u64>().read_unaligned() })
}

/// Passes on where the rows of a key begin, as [`each_row`] the rows.
#[inline(always)]
pub(super) fn each_place(hash: u64, asked: &Asked, mut each: impl FnMut(usize)) {
    each_row(hash, asked.k, |row| each(row * asked.row_bytes));
}

/// Where the rows of a key begin.
#[inline(always)]
fn places<'r, W: Wide>(hash: u64, asked: &Asked, room: &'r mut Places) -> &'r [u64] {
    let first = room.write::<W>(hash, asked);
    // SAFETY: just written.
    unsafe { room.from(first, asked.k) }
}

/// The work of [`And`](super::And), where a row is one word.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn one<W: Wide>(
    asked: &Asked,
    group: *const u8,
    hash: u64,
    live: *const u64,
    out: *mut u64,
) -> usize {
    if W::COUNT == 1 {
        // Without vectors each place is computed alone, and no more than there are.
        let mut word = asked.last;
        // SAFETY: the caller's promise.
        unsafe {
            each_place(hash, asked, |place| word &= read(group.add(place)));
            return done(Word(word), 0, live, out, 0);
        }
    }
    let mut room = Places::uninit();
    let places = places::<W>(hash, asked, &mut room);
    // SAFETY: the caller's promise.
    unsafe { done(word(asked.last, group, places), 0, live, out, 0) }
}

/// The AND of a word and those of the rows at these places.
///
/// # Safety
/// As for [`And`](super::And), of a word.
#[inline(always)]
pub(super) unsafe fn word(mut word: u64, group: *const u8, places: &[u64]) -> Word {
    for place in places {
        // Volatile: of a plain loop LLVM makes vectors, word by word, in twice the instructions.
        // SAFETY: a number of the slice; the caller's promise.
        word &= unsafe { read(group.add(ptr::from_ref(place).read_volatile() as usize)) };
    }
    Word(word)
}

/// The work of [`And`](super::And).
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn and<W: Wide>(
    asked: &Asked,
    group: *const u8,
    hash: u64,
    live: *const u64,
    out: *mut u64,
) -> usize {
    let mut room = Places::uninit();
    let places = places::<W>(hash, asked, &mut room);
    // SAFETY: the caller's promise.
    let (sum, rest) = unsafe { and_at::<W>(asked, group, places, live, out, W::ZERO) };
    W::total(sum).wrapping_add(rest)
}

/// Rows of so many words are wide.
pub(super) const WIDE: usize = 64;

/// The same for wide rows, whose first lines are all prefetched at once: tile by tile, the CPU waits for
/// some of them before it comes to others.
///
/// # Safety
/// As for [`and`].
#[inline(always)]
pub(super) unsafe fn wide<W: Wide>(
    asked: &Asked,
    group: *const u8,
    hash: u64,
    live: *const u64,
    out: *mut u64,
) -> usize {
    let mut room = Places::uninit();
    let places = places::<W>(hash, asked, &mut room);
    for &place in places {
        for line in (0..8 * asked.words.min(WIDE)).step_by(LINE_BYTES) {
            prefetch::<INTO_L2>(group.wrapping_add(place as usize + line));
        }
    }
    // SAFETY: the caller's promise.
    let (sum, rest) = unsafe { and_at::<W>(asked, group, places, live, out, W::ZERO) };
    W::total(sum).wrapping_add(rest)
}

/// The same, of the rows at these places. Adds the bits to a sum, but for some words to a number by itself,
/// less those that stand for no column: it may be below zero.
///
/// # Safety
/// As for [`and`].
#[inline(always)]
pub(super) unsafe fn and_at<W: Wide>(
    asked: &Asked,
    group: *const u8,
    places: &[u64],
    live: *const u64,
    out: *mut u64,
    mut sum: W::Sum,
) -> (W::Sum, usize) {
    // SAFETY: the caller's promise: all words are below `words`.
    unsafe {
        let (mut at, words) = (0, asked.words);
        while at + TILES * W::COUNT <= words {
            let tiles = tiles::<W, TILES>(group.add(8 * at), places);
            for (i, tile) in tiles.into_iter().enumerate() {
                sum = done(tile, at + i * W::COUNT, live, out, sum);
            }
            at += TILES * W::COUNT;
        }
        if at + 2 * W::COUNT <= words {
            let [first, second] = tiles::<W, 2>(group.add(8 * at), places);
            sum = done(first, at, live, out, sum);
            sum = done(second, at + W::COUNT, live, out, sum);
            at += 2 * W::COUNT;
        }
        if at + W::COUNT <= words {
            sum = done(tile::<W>(group.add(8 * at), places), at, live, out, sum);
            at += W::COUNT;
        }
        let mut rest = 0;
        if at < words
            && !W::part(
                group.add(8 * at),
                places,
                words - at,
                behind(live, at),
                behind(out, at).cast_mut(),
                &mut sum,
            )
        {
            while at < words {
                rest = done(word(u64::MAX, group.add(8 * at), places), at, live, out, rest);
                at += 1;
            }
        }
        if asked.last == u64::MAX {
            return (sum, rest);
        }
        // Bits that stand for no column: there are none but in damaged bytes.
        let end = words - 1;
        let behind = if out.is_null() {
            let live = if live.is_null() { u64::MAX } else { *live.add(end) };
            word(live & !asked.last, group.add(8 * end), places).0
        } else {
            let written = *out.add(end);
            *out.add(end) = written & asked.last;
            written & !asked.last
        };
        (sum, rest.wrapping_sub(behind.count_ones() as usize))
    }
}

/// So many words behind; NULL stays NULL.
#[inline(always)]
fn behind(at: *const u64, words: usize) -> *const u64 {
    if at.is_null() { at } else { at.wrapping_add(words) }
}

/// Restricts a tile to live columns, writes it, counts its bits.
///
/// # Safety
/// As for [`And`](super::And); there are so many words from `at` on.
#[inline(always)]
unsafe fn done<W: Wide>(
    tile: W,
    at: usize,
    live: *const u64,
    out: *mut u64,
    sum: W::Sum,
) -> W::Sum {
    // SAFETY: the caller's promise.
    unsafe {
        let tile = if live.is_null() { tile } else { tile.and(W::of(live.add(at))) };
        if !out.is_null() {
            tile.store(out.add(at));
        }
        tile.add_to(sum)
    }
}

/// The work of [`Any`](super::Any). It stops at the first tile with a column, and in a tile as soon as
/// no column is left.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn any<W: Wide>(
    asked: &Asked,
    group: *const u8,
    hash: u64,
    live: *const u64,
) -> bool {
    let mut room = Places::uninit();
    let places = places::<W>(hash, asked, &mut room);
    let mut at = 0;
    // SAFETY: the caller's promise: all words are below `words`.
    unsafe {
        while at + W::COUNT <= asked.words {
            if any_in_tile::<W>(group.add(8 * at), places, behind(live, at)) {
                if at + W::COUNT < asked.words || asked.last == u64::MAX {
                    return true;
                }
                // By bits behind the last column, perhaps: each word by itself says.
                break;
            }
            at += W::COUNT;
        }
        while at < asked.words {
            let columns = if at + 1 < asked.words { u64::MAX } else { asked.last };
            let live = if live.is_null() { u64::MAX } else { *live.add(at) };
            if word(columns & live, group.add(8 * at), places).0 != 0 {
                return true;
            }
            at += 1;
        }
        false
    }
}

/// # Safety
/// As for [`Any`](super::Any), of a tile.
#[inline(always)]
unsafe fn any_in_tile<W: Wide>(group: *const u8, places: &[u64], live: *const u64) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let mut tile = W::load(group.add(places[0] as usize));
        if !live.is_null() {
            tile = tile.and(W::of(live));
        }
        for &place in &places[1..] {
            if tile.is_zero() {
                return false;
            }
            tile = tile.and(W::load(group.add(place as usize)));
        }
        !tile.is_zero()
    }
}

/// The AND of a tile of the rows at these places. (No closures here: they would be compiled without the
/// backend's instructions.)
///
/// # Safety
/// As for [`And`](super::And), of a tile.
#[inline(always)]
unsafe fn tile<W: Wide>(group: *const u8, places: &[u64]) -> W {
    // SAFETY: the caller's promise.
    unsafe {
        let mut tile = W::load(group.add(places[0] as usize));
        for &place in &places[1..] {
            tile = tile.and(W::load(group.add(place as usize)));
        }
        tile
    }
}

/// The same for several of them, side by side.
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
unsafe fn tiles<W: Wide, const N: usize>(group: *const u8, places: &[u64]) -> [W; N] {
    // SAFETY: the caller's promise.
    unsafe {
        let first = group.add(places[0] as usize);
        let mut tiles = [W::load(first); N];
        for (i, tile) in tiles.iter_mut().enumerate().skip(1) {
            *tile = W::load(first.add(8 * i * W::COUNT));
        }
        for &place in &places[1..] {
            let row = group.add(place as usize);
            for (i, tile) in tiles.iter_mut().enumerate() {
                *tile = tile.and(W::load(row.add(8 * i * W::COUNT)));
            }
        }
        tiles
    }
}

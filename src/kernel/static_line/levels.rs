//! What all backends share: from level to level.

use super::super::batch::{self, Hashes, Lookahead, NO_LOOKAHEAD, Nothing, Ops, Plan, TILE, Work};
use super::super::lines::Lines;
use super::super::prefetch::{INTO_L2, Prefetch, Reads, prefetch};
use super::super::single::Single;
use super::bumped::{Bumped, MOST};
use super::rows::{Rows, line_log2, next};
use crate::layouts::static_line::{fingerprint, next_hash, place};
use crate::line::{LINE_BYTES, line_index};
use std::marker::PhantomData;

/// What a level says of a tile: a bit for each key.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// Keys that it may contain.
    pub(super) hits: u64,
    /// Keys that the next level has to answer; not among the hits.
    pub(super) bumped: u64,
}

/// How many keys of a few are done together, where that pays; fewer or as many have code of their own.
pub(super) const FOUR: usize = 4;

/// What a line says of one key.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) threshold: u8,
    /// The parity of each row, in bit `j` that of row `j`; any bits above.
    pub(super) parities: u64,
}

/// What a backend implements.
///
/// # Safety of the methods
/// As for [`Ops`].
pub(super) trait Tile {
    /// Whether each number of rows has code for single keys and for a few, not only those that most rates need.
    const EACH: bool = false;

    /// What the line at an address says of a key. `ROWS` is what is known of their number.
    unsafe fn line<const ROWS: u32>(line: *const u8, rows: &Rows, hash: u64) -> Line;

    /// The same of one of a few keys, none of which waits for another.
    #[inline(always)]
    unsafe fn line_of_few<const ROWS: u32>(line: *const u8, hash: u64) -> Line {
        // SAFETY: the caller's promise.
        unsafe { Self::line::<ROWS>(line, Rows::of(ROWS), hash) }
    }

    /// Whether it finds what lines of so many rows say of [`FOUR`] keys together, in less time than of one after
    /// the other.
    #[inline(always)]
    fn together(_rows: u32) -> bool {
        false
    }

    /// The thresholds of the lines at some addresses, and of which the parities are those of a key each: a bit
    /// for each key, the first in the lowest.
    #[inline(always)]
    unsafe fn four<const ROWS: u32>(
        lines: [*const u8; FOUR],
        hashes: [u64; FOUR],
    ) -> ([u8; FOUR], u64) {
        let (mut thresholds, mut hits) = ([0; FOUR], 0);
        for i in 0..FOUR {
            // SAFETY: the caller's promise.
            let line = unsafe { Self::line::<ROWS>(lines[i], Rows::of(ROWS), hashes[i]) };
            thresholds[i] = line.threshold;
            hits |= u64::from(matches(line.parities, hashes[i], ROWS)) << i;
        }
        (thresholds, hits)
    }

    /// The answers of one level for 1 to 64 keys. Plan and lookahead are as for
    /// [`Ops::probe_tile`]; `O` prefetches.
    #[inline(always)]
    unsafe fn tile<P: Plan, O: Ops>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) -> Found {
        let (rows, mut found) = (Rows::in_lines(lines), Found { hits: 0, bumped: 0 });
        for (i, &hash) in hashes.iter().enumerate() {
            P::prefetch::<O>(lines, lookahead, i);
            // SAFETY: the caller's promise.
            let line = unsafe { Self::line::<ANY>(O::line(lines, hash), rows, hash) };
            let bumped = place(hash, lines.count()).1 >= line.threshold;
            let hit = !bumped & matches(line.parities, hash, rows.count);
            found.hits |= u64::from(hit) << i;
            found.bumped |= u64::from(bumped) << i;
        }
        found
    }

    /// Whether the levels contain a key, however many rows there are. A [`Call`], so that what calls
    /// it last jumps to it.
    unsafe extern "C" fn any_rows(single: &Single<'_>, hash: u64) -> bool;

    /// The same of lines with so many rows, or [`UP_TO_7`] or [`FROM_9`].
    unsafe extern "C" fn of_class<const ROWS: u32>(single: &Single<'_>, hash: u64) -> bool;

    /// The same of lines with another number of rows of the class of this one.
    unsafe extern "C" fn other_rows<const ROWS: u32>(single: &Single<'_>, hash: u64) -> bool;

    /// The same of lines of so many rows, if the first level has bumped the key.
    unsafe extern "C" fn bumped<const ROWS: u32>(single: &Single<'_>, hash: u64) -> bool;

    /// The same of any lines, if the second level has bumped the key. The hash is that of the third.
    unsafe extern "C" fn third(single: &Single<'_>, hash: u64) -> bool;

    /// The same of lines of so many rows, for so many keys, up to [`FOUR`]: writes their answers, and returns how
    /// many are true.
    unsafe extern "C" fn some_keys<const ROWS: u32, const N: usize>(
        single: &Single<'_>,
        hashes: *const u64,
        word: &mut u64,
    ) -> usize;

    /// The same of those up to key number `LAST`, which the first level has bumped; `hits` are the answers of the
    /// keys behind it.
    unsafe extern "C" fn keys_from_bumped<const ROWS: u32, const LAST: usize>(
        single: &Single<'_>,
        hashes: *const u64,
        hits: u64,
        word: &mut u64,
    ) -> usize;

    /// The same of a few keys.
    unsafe extern "C" fn few_keys<const ROWS: u32>(
        single: &Single<'_>,
        hashes: *const u64,
        count: usize,
        word: &mut u64,
    ) -> usize;

    /// The same by single probes, in lines with any number of rows of the class of this one.
    unsafe extern "C" fn one_by_one<const ROWS: u32>(
        single: &Single<'_>,
        hashes: *const u64,
        count: usize,
        word: &mut u64,
    ) -> usize;

    /// The same in lines with another number of rows of that class.
    unsafe extern "C" fn few_of_other_rows<const ROWS: u32>(
        single: &Single<'_>,
        hashes: *const u64,
        count: usize,
        word: &mut u64,
    ) -> usize;

    /// [`Tile::bumped`] for some of a few keys, those of the bits `bumped`. Adds the answers to those in `hits`,
    /// writes them, and returns how many are true.
    unsafe extern "C" fn few_bumped<const ROWS: u32>(
        single: &Single<'_>,
        hashes: *const u64,
        bumped: u64,
        hits: u64,
        word: &mut u64,
    ) -> usize;

    /// [`Tile::tile`] without a prefetch, as a function of its own: compiled with the backend's
    /// instructions wherever it is called.
    unsafe fn tile_alone<O: Ops>(lines: Lines, hashes: &[u64]) -> Found {
        // SAFETY: the caller's promise.
        unsafe { Self::tile::<Nothing, O>(lines, hashes, NO_LOOKAHEAD) }
    }
}

/// Calls a function for so many rows: of how many further fields they have, and of whether their lines
/// have 16 lanes.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! by_rows {
    ($rows:expr, $work:ident $([$($type:ident),*])? => $arguments:tt) => {
        match $rows {
            8 => $work::<0, false $($(, $type)*)?> $arguments,
            4 | 6 | 7 => $work::<1, false $($(, $type)*)?> $arguments,
            5 | super::levels::UP_TO_7 => $work::<2, false $($(, $type)*)?> $arguments,
            16 => $work::<0, true $($(, $type)*)?> $arguments,
            12 | 14 | 15 => $work::<1, true $($(, $type)*)?> $arguments,
            10 | 11 | 13 => $work::<2, true $($(, $type)*)?> $arguments,
            _ => $work::<3, true $($(, $type)*)?> $arguments,
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use by_rows;

/// Whether the parities of the rows are those of a key.
#[inline(always)]
pub(super) fn matches(parities: u64, hash: u64, rows: u32) -> bool {
    (parities ^ fingerprint(hash, rows)) & ((1 << rows) - 1) == 0
}

/// Stands for any number of rows.
pub(super) const ANY: u32 = 0;
/// For any of 4 to 7, whose lines have 8 lanes and up to two further fields.
pub(super) const UP_TO_7: u32 = 3;
/// For any of 9 to 16, whose lines have 16 lanes and up to three further fields.
pub(super) const FROM_9: u32 = 17;

/// Where the line of a hash begins.
#[inline(always)]
pub(super) fn offset(rows: u32, hash: u64, count: u64) -> usize {
    (line_index(hash, count) as usize) << line_log2(rows)
}

/// The position of a hash but for 255, which stands for 254. Where it is below a threshold, so is the
/// position; where not, only 255 and the threshold 255 leave a doubt.
#[inline(always)]
pub(super) fn top(hash: u64, count: u64) -> u8 {
    (hash.wrapping_mul(count) >> 56) as u8
}

/// The rows of lines of which so much is known.
#[inline(always)]
pub(super) fn rows<const ROWS: u32>(lines: Lines) -> &'static Rows {
    match ROWS {
        ANY | UP_TO_7 | FROM_9 => Rows::in_lines(lines),
        _ => Rows::of(ROWS),
    }
}

/// Whether lines of so many rows contain a key. The first level, which answers seven keys of eight,
/// is here, without what the others need.
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
pub(super) unsafe fn first<const ROWS: u32, T: Tile>(single: &Single<'_>, hash: u64) -> bool {
    let (lines, rows) = (single.lines(), rows::<ROWS>(single.lines()));
    let line = lines.first().wrapping_add(offset(ROWS, hash, lines.count()));
    // SAFETY: the caller vouches for the lines, and this is one of them.
    let line = unsafe { T::line::<ROWS>(line, rows, hash) };
    if top(hash, lines.count()) < line.threshold {
        return matches(line.parities, hash, rows.count);
    }
    // SAFETY: the caller's promise.
    unsafe { later::<ROWS, T>(single, hash) }
}

/// Whether the later levels contain a key that the first has bumped: the few rows that most rates need have
/// code of their own.
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
pub(super) unsafe fn later<const ROWS: u32, T: Tile>(single: &Single<'_>, hash: u64) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        match ROWS {
            4..=6 => T::bumped::<UP_TO_7>(single, hash),
            9 | 11..=15 => T::bumped::<FROM_9>(single, hash),
            _ => T::bumped::<ROWS>(single, hash),
        }
    }
}

/// The operations by a backend's `T`, and the shortest code for single keys in lines of so many
/// `ROWS`, if that is known.
pub(in crate::kernel) struct Levels<T, const ROWS: u32 = ANY>(PhantomData<T>);

impl<T: Tile, const ROWS: u32> Ops for Levels<T, ROWS> {
    const READS: Reads = Reads::Several;
    const INSERTS: bool = false;
    const THREE: bool = true;

    #[inline(always)]
    fn line_log2(packed: u32) -> u32 {
        line_log2(packed)
    }

    #[inline(always)]
    fn line(lines: Lines, hash: u64) -> *const u8 {
        lines.first().wrapping_add(
            (place(hash, lines.count()).0 as usize) << line_log2(lines.rows_and_levels()),
        )
    }

    #[inline(always)]
    fn prefetch<const HINT: u8>(lines: Lines, hash: u64) {
        let line = Self::line(lines, hash);
        prefetch::<HINT>(line);
        let log2 = line_log2(lines.rows_and_levels());
        if log2 > LINE_BYTES.ilog2() {
            prefetch::<HINT>(line.wrapping_add(LINE_BYTES));
        }
        if lines.straddle() {
            prefetch::<HINT>(line.wrapping_add((1 << log2) - 1));
        }
    }

    #[inline(always)]
    unsafe fn contains(mut lines: Lines, mut hash: u64) -> bool {
        let rows = Rows::in_lines(lines);
        loop {
            // SAFETY: the caller vouches for all levels, and this is a line of one.
            let line = unsafe { T::line::<ROWS>(Self::line(lines, hash), rows, hash) };
            if place(hash, lines.count()).1 < line.threshold {
                return matches(line.parities, hash, rows.count);
            }
            match next(lines) {
                Some(level) => lines = level,
                // Nothing rules it out.
                None => return true,
            }
            hash = next_hash(hash);
        }
    }

    #[inline(always)]
    unsafe fn contains_one(single: &Single<'_>, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            match ROWS {
                // Calls for 8 rows are for these alone.
                8 => first::<8, T>(single, hash),
                _ if single.numbered(ROWS as u8) => first::<ROWS, T>(single, hash),
                ANY => T::any_rows(single, hash),
                // Apart, so that the number above is the first that is looked for.
                _ if T::EACH => T::other_rows::<ROWS>(single, hash),
                1..8 => T::of_class::<UP_TO_7>(single, hash),
                _ => T::of_class::<FROM_9>(single, hash),
            }
        }
    }

    /// Up to four keys by functions of their own, which are jumped to; so are those of other rows.
    #[inline(always)]
    unsafe fn probe_few(single: &Single<'_>, hashes: &[u64], word: &mut u64) -> usize {
        let keys = hashes.as_ptr();
        // SAFETY: the caller's promise.
        unsafe {
            // First of all: what a backend never calls is then not compiled for it.
            if !T::EACH && hashes.len() <= FOUR {
                return T::one_by_one::<ROWS>(single, keys, hashes.len(), word);
            }
            match hashes.len() {
                1 if T::EACH => T::some_keys::<ROWS, 1>(single, keys, word),
                2 if T::EACH => T::some_keys::<ROWS, 2>(single, keys, word),
                3 if T::EACH => T::some_keys::<ROWS, 3>(single, keys, word),
                FOUR if T::EACH => T::some_keys::<ROWS, FOUR>(single, keys, word),
                count if ROWS != 8 && !single.numbered(ROWS as u8) => {
                    T::few_of_other_rows::<ROWS>(single, keys, count, word)
                }
                count => T::few_keys::<ROWS>(single, keys, count, word),
            }
        }
    }

    #[inline(always)]
    unsafe fn probe_batch(
        lines: Lines,
        hashes: Hashes<'_>,
        plan: Prefetch,
        bitmap: &mut [u64],
    ) -> usize {
        let mut probe = Probe::<T> {
            bitmap,
            next: next(lines),
            prefetches: plan != Prefetch::None,
            bumped: Bumped::new(),
            ops: PhantomData,
        };
        // SAFETY: the caller's promise.
        unsafe {
            batch::for_each_tile(lines, hashes, plan, &mut probe);
            probe.drain();
        }
        probe.bitmap.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// The batch at work.
struct Probe<'a, T> {
    bitmap: &'a mut [u64],
    /// The second level.
    next: Option<Lines>,
    prefetches: bool,
    bumped: Bumped,
    ops: PhantomData<T>,
}

impl<T: Tile> Probe<'_, T> {
    /// Answers the keys that are left by the next level and those behind it.
    ///
    /// # Safety
    /// As for [`Ops`].
    #[inline(never)]
    unsafe fn drain(&mut self) {
        let mut level = self.next;
        while let Some(lines) = level
            && self.bumped.len > 0
        {
            level = next(lines);
            let len = std::mem::take(&mut self.bumped.len);
            for at in (0..len).step_by(TILE) {
                let (hashes, places, count) = self.bumped.tile(at, len);
                let hashes = &hashes[..count];
                // SAFETY: the caller vouches for all levels.
                let found = unsafe { T::tile_alone::<Levels<T>>(lines, hashes) };
                for_each_bit(found.hits, |i| self.set(places[i]));
                for_each_bit(found.bumped, |i| self.hand_on(level, hashes[i], places[i]));
            }
        }
    }

    #[inline(always)]
    fn set(&mut self, place: usize) {
        self.bitmap[place / TILE] |= 1 << (place % TILE);
    }

    /// Has a bumped key answered by that level later on; if there is none, nothing rules it out.
    #[inline(always)]
    fn hand_on(&mut self, level: Option<Lines>, hash: u64, place: usize) {
        match level {
            Some(lines) => {
                let hash = next_hash(hash);
                if self.prefetches {
                    Levels::<T>::prefetch::<INTO_L2>(lines, hash);
                }
                self.bumped.push(hash, place);
            }
            None => self.set(place),
        }
    }
}

/// Calls `each` with the number of each bit that is set.
#[inline(always)]
pub(super) fn for_each_bit(mut bits: u64, mut each: impl FnMut(usize)) {
    while bits != 0 {
        each(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

impl<T: Tile> Work for Probe<'_, T> {
    type Ops = Levels<T>;

    #[inline(always)]
    unsafe fn tile<P: Plan>(
        &mut self,
        lines: Lines,
        tile: usize,
        hashes: &[u64],
        lookahead: &Lookahead,
    ) {
        // SAFETY: the caller's promise.
        let found = unsafe {
            match P::PREFETCHES {
                true => T::tile::<P, Levels<T>>(lines, hashes, lookahead),
                // Long code, which need not be here once more.
                false => T::tile_alone::<Levels<T>>(lines, hashes),
            }
        };
        self.bitmap[tile] = found.hits;
        let next = self.next;
        for_each_bit(found.bumped, |i| self.hand_on(next, hashes[i], tile * TILE + i));
        if self.bumped.len >= MOST {
            // SAFETY: as above.
            unsafe { self.drain() };
        }
    }
}

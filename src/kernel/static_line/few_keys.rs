//! A few keys of static lines, without what a tile has around it.
//!
//! Up to four keys are probed one by one: no misprediction then makes another key wait. More read the first
//! level without a branch on its lines. What follows seldom is jumped to, so that no register is saved for it.

#[cfg(doc)]
use super::super::batch::Ops;
use super::super::batch::key_by_key;
use super::super::lines::Lines;
use super::super::single::Single;
use super::levels::{FOUR, Found, Levels, Tile, for_each_bit, later, matches, offset, top};
use super::one_key::bumped;
use std::slice::from_raw_parts;

impl Found {
    /// Moves all up, and puts what a level says of so many keys in the lowest places.
    #[inline(always)]
    fn push(&mut self, some: Found, keys: usize) {
        self.hits = (self.hits << keys).wrapping_add(some.hits);
        self.bumped = (self.bumped << keys).wrapping_add(some.bumped);
    }

    /// What the first level says of a key, in lines of so many rows; a hit of a bumped key is none.
    ///
    /// # Safety
    /// As for [`Ops`].
    #[inline(always)]
    unsafe fn one<const ROWS: u32, T: Tile>(lines: Lines, hash: u64) -> Found {
        let at = lines.first().wrapping_add(offset(ROWS, hash, lines.count()));
        // SAFETY: the caller vouches for the lines, and this is one of them.
        let line = unsafe { T::line_of_few::<ROWS>(at, hash) };
        let bumped = (top(hash, lines.count()) >= line.threshold).into();
        Found { hits: matches(line.parities, hash, ROWS).into(), bumped }
    }

    /// The same of four keys.
    ///
    /// # Safety
    /// As for [`Ops`].
    #[inline(always)]
    unsafe fn four<const ROWS: u32, T: Tile>(lines: Lines, hashes: &[u64; FOUR]) -> Found {
        let at = |i: usize| -> *const u8 {
            lines.first().wrapping_add(offset(ROWS, hashes[i], lines.count()))
        };
        // Written out: the code of `map` is much to compile, thirty times.
        let lines_of = [at(0), at(1), at(2), at(3)];
        // SAFETY: the caller vouches for the lines, of which these are.
        let (thresholds, hits) = unsafe { T::four::<ROWS>(lines_of, *hashes) };
        let mut bumped = 0_u64;
        // By numbers: else the thresholds go through memory.
        for i in (0..FOUR).rev() {
            let over = top(hashes[i], lines.count()) >= thresholds[i];
            bumped = bumped.wrapping_add(bumped).wrapping_add(u64::from(over));
        }
        Found { hits, bumped }
    }

    /// Writes the answers about these keys, and returns how many are true.
    ///
    /// # Safety
    /// As for [`Ops`]; there is a hash for each bit.
    #[inline(always)]
    unsafe fn finish<const ROWS: u32, T: Tile>(
        self,
        single: &Single<'_>,
        hashes: *const u64,
        word: &mut u64,
    ) -> usize {
        let hits = self.hits & !self.bumped;
        if self.bumped != 0 {
            // SAFETY: the caller's promise.
            return unsafe { T::few_bumped::<ROWS>(single, hashes, self.bumped, hits, word) };
        }
        *word = hits;
        hits.count_ones() as usize
    }
}

/// Answers up to four keys one by one: no misprediction then makes another key wait. At the first that is bumped it
/// jumps away, so that no register is saved for that.
///
/// # Safety
/// As for [`Ops`]; there are `N` hashes.
#[inline(always)]
pub(super) unsafe fn some_keys<const ROWS: u32, const N: usize, T: Tile>(
    single: &Single<'_>,
    hashes: *const u64,
    word: &mut u64,
) -> usize {
    let (lines, mut hits) = (single.lines(), 0);
    // SAFETY: the caller's promise.
    unsafe {
        if ROWS != 8 && !single.numbered(ROWS as u8) {
            return T::few_of_other_rows::<ROWS>(single, hashes, N, word);
        }
        if N == FOUR && T::together(ROWS) {
            let found = Found::four::<ROWS, T>(lines, &*hashes.cast());
            return found.finish::<ROWS, T>(single, hashes, word);
        }
        // From the last on, so that an answer moves those behind it up. Written out: a loop may stay one.
        macro_rules! key {
            ($number:literal) => {
                if N > $number {
                    let hash = *hashes.add($number);
                    let at = lines.first().wrapping_add(offset(ROWS, hash, lines.count()));
                    let line = T::line_of_few::<ROWS>(at, hash);
                    if top(hash, lines.count()) >= line.threshold {
                        return T::keys_from_bumped::<ROWS, $number>(single, hashes, hits, word);
                    }
                    hits = hits << 1 | u64::from(matches(line.parities, hash, ROWS));
                }
            };
        }
        key!(3);
        key!(2);
        key!(1);
        key!(0);
    }
    *word = hits;
    hits.count_ones() as usize
}

/// Answers keys: the first level for all of them, without a branch on its lines, so that no misprediction ends
/// the overlap of misses; then the bumped keys.
///
/// # Safety
/// As for [`Ops`]; there are up to 64 hashes.
#[inline(always)]
pub(super) unsafe fn few_keys<const ROWS: u32, T: Tile>(
    single: &Single<'_>,
    hashes: &[u64],
    word: &mut u64,
) -> usize {
    let (lines, mut found) = (single.lines(), Found { hits: 0, bumped: 0 });
    // SAFETY: the caller's promise.
    unsafe {
        let fours = if T::together(ROWS) { hashes.len() / FOUR } else { 0 };
        for &hash in hashes[FOUR * fours..].iter().rev() {
            found.push(Found::one::<ROWS, T>(lines, hash), 1);
        }
        for four in hashes.as_chunks().0[..fours].iter().rev() {
            found.push(Found::four::<ROWS, T>(lines, four), FOUR);
        }
        found.finish::<ROWS, T>(single, hashes.as_ptr(), word)
    }
}

/// [`Tile::keys_from_bumped`].
///
/// # Safety
/// As for [`Ops`]; there is one hash more than `LAST`.
#[inline(always)]
pub(super) unsafe fn keys_from_bumped<const ROWS: u32, const LAST: usize, T: Tile>(
    single: &Single<'_>,
    hashes: *const u64,
    hits: u64,
    word: &mut u64,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let bumped = u64::from(bumped::<ROWS, T>(single, *hashes.add(LAST)));
        let others = key_by_key::<Levels<T, ROWS>>(single, from_raw_parts(hashes, LAST));
        *word = (hits << 1 | bumped) << LAST | others;
    }
    word.count_ones() as usize
}

/// [`Tile::one_by_one`].
///
/// # Safety
/// As for [`Ops`]; so many hashes are there, at most 64.
#[inline(always)]
pub(super) unsafe fn one_by_one<const ROWS: u32, T: Tile>(
    single: &Single<'_>,
    hashes: *const u64,
    count: usize,
    word: &mut u64,
) -> usize {
    // SAFETY: the caller's promise.
    *word = unsafe { key_by_key::<Levels<T, ROWS>>(single, from_raw_parts(hashes, count)) };
    word.count_ones() as usize
}

/// [`Tile::few_of_other_rows`].
///
/// # Safety
/// As for [`Ops`]; so many hashes are there, at most 64.
#[inline(always)]
pub(super) unsafe fn few_of_other_rows<const ROWS: u32, T: Tile>(
    single: &Single<'_>,
    hashes: *const u64,
    count: usize,
    word: &mut u64,
) -> usize {
    macro_rules! by_rows {
        ($first:literal, $second:literal, $third:literal) => {
            match () {
                () if single.numbered($first) => T::few_keys::<$first>(single, hashes, count, word),
                () if single.numbered($second) => {
                    T::few_keys::<$second>(single, hashes, count, word)
                }
                () => T::few_keys::<$third>(single, hashes, count, word),
            }
        };
    }
    // SAFETY: the caller's promise.
    unsafe {
        match ROWS {
            // Two take less time one by one. Apart, so that the others save no register for that.
            _ if !T::EACH || count < 3 => T::one_by_one::<ROWS>(single, hashes, count, word),
            1..=7 => by_rows!(6, 5, 4),
            9..=12 => by_rows!(9, 12, 11),
            _ => by_rows!(14, 13, 15),
        }
    }
}

/// [`Tile::few_bumped`].
///
/// # Safety
/// As for [`Ops`]; there is a hash for each bit.
#[inline(always)]
pub(super) unsafe fn few_bumped<const ROWS: u32, T: Tile>(
    single: &Single<'_>,
    hashes: *const u64,
    bumped: u64,
    mut hits: u64,
    word: &mut u64,
) -> usize {
    for_each_bit(bumped, |i| {
        // SAFETY: the caller's promise.
        hits |= u64::from(unsafe { later::<ROWS, T>(single, *hashes.add(i)) }) << i;
    });
    *word = hits;
    hits.count_ones() as usize
}

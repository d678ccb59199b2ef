//! One key of static lines: what few keys need that the first level does not answer.

use super::super::batch::{Ops, key_by_key};
use super::super::single::Single;
use super::levels::{Levels, Tile, for_each_bit, later, matches, offset, rows, top};
use super::rows::{next, second};
use crate::layouts::static_line::next_hash;
use std::slice::from_raw_parts;

/// The functions of a backend for one key, each compiled with these attributes. They are jumped to, so that
/// the code before them stays short, and those that few keys need are cold: it is laid out for the others.
macro_rules! one_key {
    ($(#[$attribute:meta])*) => {
        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn any_rows(single: &Single<'_>, hash: u64) -> bool {
            // SAFETY: the caller's promise.
            unsafe { super::one_key::any_rows::<Self>(single, hash) }
        }

        $(#[$attribute])*
        #[inline(never)]
        unsafe extern "C" fn of_class<const ROWS: u32>(single: &Single<'_>, hash: u64) -> bool {
            // SAFETY: the caller's promise.
            unsafe { super::levels::first::<ROWS, Self>(single, hash) }
        }

        $(#[$attribute])*
        #[inline(never)]
        unsafe extern "C" fn other_rows<const ROWS: u32>(single: &Single<'_>, hash: u64) -> bool {
            // SAFETY: the caller's promise.
            unsafe { super::one_key::other_rows::<ROWS, Self>(single, hash) }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn bumped<const ROWS: u32>(single: &Single<'_>, hash: u64) -> bool {
            // SAFETY: the caller's promise.
            unsafe { super::one_key::bumped::<ROWS, Self>(single, hash) }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn third(single: &Single<'_>, hash: u64) -> bool {
            // SAFETY: the caller's promise.
            unsafe { super::one_key::third::<Self>(single, hash) }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn some_keys<const ROWS: u32, const N: usize>(
            single: &Single<'_>,
            hashes: *const u64,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise.
            unsafe { super::levels::some_keys::<ROWS, N, Self>(single, hashes, word) }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn keys_from_bumped<const ROWS: u32, const LAST: usize>(
            single: &Single<'_>,
            hashes: *const u64,
            hits: u64,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise.
            unsafe {
                super::one_key::keys_from_bumped::<ROWS, LAST, Self>(single, hashes, hits, word)
            }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn few_keys<const ROWS: u32>(
            single: &Single<'_>,
            hashes: *const u64,
            count: usize,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise: so many are there.
            unsafe {
                let hashes = std::slice::from_raw_parts(hashes, count);
                super::levels::few_keys::<ROWS, Self>(single, hashes, word)
            }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn few_of_other_rows<const ROWS: u32>(
            single: &Single<'_>,
            hashes: *const u64,
            count: usize,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise.
            unsafe { super::one_key::few_of_other_rows::<ROWS, Self>(single, hashes, count, word) }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn few_bumped<const ROWS: u32>(
            single: &Single<'_>,
            hashes: *const u64,
            bumped: u64,
            hits: u64,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise.
            unsafe {
                super::one_key::few_bumped::<ROWS, Self>(single, hashes, bumped, hits, word)
            }
        }
    };
}
pub(super) use one_key;

/// [`Tile::other_rows`].
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
pub(super) unsafe fn other_rows<const ROWS: u32, T: Tile>(single: &Single<'_>, hash: u64) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        match ROWS {
            1..=7 => match () {
                () if single.numbered(6) => T::of_class::<6>(single, hash),
                () if single.numbered(5) => T::of_class::<5>(single, hash),
                () => T::of_class::<4>(single, hash),
            },
            9..=12 => match () {
                () if single.numbered(9) => T::of_class::<9>(single, hash),
                () if single.numbered(12) => T::of_class::<12>(single, hash),
                () => T::of_class::<11>(single, hash),
            },
            _ => match () {
                () if single.numbered(14) => T::of_class::<14>(single, hash),
                () if single.numbered(13) => T::of_class::<13>(single, hash),
                () => T::of_class::<15>(single, hash),
            },
        }
    }
}

/// [`Tile::bumped`]: by the second level alone, which seldom bumps a key again.
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
pub(super) unsafe fn bumped<const ROWS: u32, T: Tile>(single: &Single<'_>, hash: u64) -> bool {
    let lines = single.lines();
    if top(hash, lines.count()) < u8::MAX
        && let Some((second, count)) = second(ROWS, lines)
    {
        let hash = next_hash(hash);
        let line = second.wrapping_add(offset(ROWS, hash, count));
        let rows = rows::<ROWS>(lines);
        // SAFETY: as in `first`.
        let line = unsafe { T::line::<ROWS>(line, rows, hash) };
        let top = top(hash, count);
        if top < line.threshold {
            return matches(line.parities, hash, rows.count);
        }
        if top < u8::MAX {
            // SAFETY: the caller's promise.
            return unsafe { T::third(single, next_hash(hash)) };
        }
    }
    // SAFETY: the caller's promise.
    unsafe { T::any_rows(single, hash) }
}

/// [`Tile::third`].
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
pub(super) unsafe fn third<T: Tile>(single: &Single<'_>, hash: u64) -> bool {
    match next(single.lines()).and_then(next) {
        // SAFETY: the caller vouches for all levels.
        Some(lines) => unsafe { Levels::<T>::contains(lines, hash) },
        // Nothing rules it out.
        None => true,
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
            // Two take less time one by one.
            _ if !T::EACH || count < 3 => {
                let hashes = from_raw_parts(hashes, count);
                *word = key_by_key::<Levels<T, ROWS>>(single, hashes);
                word.count_ones() as usize
            }
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

/// [`Tile::any_rows`].
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
pub(super) unsafe fn any_rows<T: Tile>(single: &Single<'_>, hash: u64) -> bool {
    // SAFETY: the caller's promise.
    unsafe { Levels::<T>::contains(single.lines(), hash) }
}

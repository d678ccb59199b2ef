//! One key of static lines: what few keys need that the first level does not answer.

use super::super::batch::Ops;
use super::super::single::Single;
use super::levels::{Levels, Tile, matches, offset, rows, top};
use super::rows::{next, second};
use crate::layouts::static_line::next_hash;

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

/// [`Tile::any_rows`].
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
pub(super) unsafe fn any_rows<T: Tile>(single: &Single<'_>, hash: u64) -> bool {
    // SAFETY: the caller's promise.
    unsafe { Levels::<T>::contains(single.lines(), hash) }
}

//! Inserts into a chain of lines where more values go on than an insert carries from line to line: there lines
//! are taken apart and put together.

use super::edit::GOES_ON;
use super::store::Lines;
use super::whole::{OPENED, room};
use crate::line::Line;
use std::mem::MaybeUninit;

/// So many lines change at most.
pub(super) const MOST: usize = 449;

/// Of a line, the width of remainders, what is added to its values, and room for them. Returns how many there are.
pub(super) type Open = unsafe fn(&Line, u32, u64, &mut [MaybeUninit<u64>; OPENED]) -> usize;
/// Of values, from where on they count, below which of them, whether the line goes on, and the width. Returns the line,
/// and how many it has.
pub(super) type Close = unsafe fn(&[u64], u64, i64, bool, u32) -> (Line, usize);

/// Puts values before those of a line. What it has no room for comes before those of the next line, and so on, over
/// `most` lines at most. False if that is too few, or no line can have one of these: the lines are as before.
///
/// The values ascend, and are lower by `step` in the next line. If they are several, they are at most as high as
/// those of this one.
///
/// # Panics
/// If there are more than [`OPENED`] values, or `r` is above 54.
///
/// # Safety
/// This CPU runs the backend of `open` and `close`.
#[inline(always)]
pub(super) unsafe fn insert(
    lines: &mut Lines,
    at: usize,
    values: &[i64],
    (r, step): (u32, i64),
    most: usize,
    (open, close): (Open, Close),
) -> bool {
    let mut before = [const { MaybeUninit::<Line>::uninit() }; MOST];
    // Those that come into a line, and behind them its own.
    let mut all = [0; 2 * OPENED];
    let mut count = values.len();
    for (all, value) in all[..OPENED].iter_mut().zip(values) {
        *all = *value as u64;
    }
    let mut changed = 0;
    let is_in = loop {
        let at = at + changed;
        lines.prefetch(at + 4);
        let Some(line) = lines.get_mut(at) else {
            match lines.reach(at) {
                true => continue,
                false => break false,
            }
        };
        let Some(own) = all[count..].first_chunk_mut() else { break false };
        let Some(before) = before[..most.min(MOST)].get_mut(changed) else { break false };
        // SAFETY: the caller's promise.
        let (all_of_line, goes_on) =
            unsafe { (count + open(line, r, 0, room(own)), line[0] & GOES_ON) };
        if changed == 0 && values.len() == 1 {
            // It may come behind some of the line.
            let new = all[0] as i64;
            let before = all[1..all_of_line].iter().take_while(|&&own| own as i64 <= new).count();
            all[..=before].rotate_left(1);
        }
        // SAFETY: as above.
        let (closed, took) = unsafe { close(&all[..all_of_line], 0, i64::MAX, goes_on != 0, r) };
        if took == 0 {
            // The first is too far behind its home.
            break false;
        }
        before.write(*line);
        changed += 1;
        *line = closed;
        // Behind the copy, which would wait for a word that is written before.
        line[0] |= if took < all_of_line { GOES_ON } else { 0 };
        if took == all_of_line {
            break true;
        }
        for i in took..all_of_line {
            all[i - took] = (all[i] as i64 - step) as u64;
        }
        count = all_of_line - took;
    };
    if !is_in {
        // SAFETY: those of all changed lines are written.
        unsafe { undo(lines, at, &before[..changed]) };
    }
    is_in
}

/// Lines become what they were.
///
/// # Safety
/// These are written.
#[inline(always)]
pub(super) unsafe fn undo(lines: &mut Lines, at: usize, before: &[MaybeUninit<Line>]) {
    for (i, before) in before.iter().enumerate() {
        if let Some(line) = lines.get_mut(at + i) {
            // SAFETY: the caller's promise.
            *line = unsafe { before.assume_init() };
        }
    }
}

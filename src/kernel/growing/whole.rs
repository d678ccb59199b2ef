//! Lines taken apart, and put together.

use super::edit::Header;
use super::width::{width, window_behind};
use crate::layouts::growing::{BASES, HEADER, HEADER_BITS};
use crate::line::{LINE_BITS, Line};
use std::mem::MaybeUninit;

/// Where [`open`] writes the values of a line: any number that a vector may end with, too.
pub(crate) const OPENED: usize = 64;

/// The place of values, for what only writes to it.
#[inline(always)]
pub(super) fn room(values: &mut [u64; OPENED]) -> &mut [MaybeUninit<u64>; OPENED] {
    // SAFETY: the backends only write values there.
    unsafe { &mut *std::ptr::from_mut(values).cast() }
}

/// Writes the values of a line to `out`, in order, each with `start` added. Returns how many there are.
///
/// # Panics
/// If `r` is above 54.
#[inline(always)]
pub(super) fn open(line: &Line, r: u32, start: u64, out: &mut [MaybeUninit<u64>; OPENED]) -> usize {
    let header = Header::of(line, r);
    let start = start.wrapping_add_signed(header.base << r);
    let (mut number, mut taken) = (0, 0);
    // A word at a time: shifts of both together take several instructions.
    for (mut ones, first) in [(header.bits as u64, 0), ((header.bits >> 64) as u64, 64)] {
        while ones != 0 && number < header.values {
            let place = first + u64::from(ones.trailing_zeros());
            ones &= ones - 1;
            // Before it are the ones of the values before, and a zero for each bucket.
            let remainder = window_behind(line, taken) >> 1 >> (63 - r);
            out[number as usize].write(start.wrapping_add(((place - number) << r) + remainder));
            number += 1;
            taken += u64::from(r);
        }
    }
    header.values as usize
}

/// Makes a line of the first of these ascending values, from each of which `start` is taken: those below
/// `limit`, and as many as fit. Returns the line, and how many it has.
///
/// # Panics
/// If `r` is above 54.
#[inline(always)]
pub(super) fn close(
    values: &[u64],
    start: u64,
    limit: i64,
    goes_on: bool,
    r: u32,
) -> (Line, usize) {
    let width = width(r);
    let mut line = [0; 8];
    let base =
        values.first().map_or(0, |first| (first.wrapping_sub(start) as i64 >> r).min(BASES[1]));
    let (mut header, mut ones) = (Header { values: 0, base, bits: 0 }, [0_u64; 2]);
    // The word that is being filled, from its highest bit on, and how many bits of it are free.
    let (mut at, mut word, mut free) = (line.len() - 1, 0, 64);
    let most = if base < BASES[0] { 0 } else { width.room as usize };
    for &value in values.iter().take(most) {
        let value = value.wrapping_sub(start) as i64;
        let place = ((value >> r).wrapping_sub(base) as u64).wrapping_add(header.values);
        if value >= limit
            || place >= HEADER_BITS.into()
            || u64::from(HEADER) + place + 1 + (header.values + 1) * u64::from(r) > LINE_BITS
        {
            break;
        }
        if place < 64 {
            ones[0] |= 1 << place
        } else {
            ones[1] |= 1 << (place - 64)
        }
        let low = value as u64 & width.mask;
        if r < free {
            free -= r;
            // All bits are free only where remainders have none.
            word |= low << (free & 63);
        } else {
            line[at] = word | low >> (r - free);
            at -= 1;
            free += 64 - r;
            word = low << (free - 1) << 1;
        }
        header.values += 1;
    }
    line[at] = word;
    header.bits = u128::from(ones[0]) | u128::from(ones[1]) << 64;
    let words = header.words(goes_on);
    line[0] |= words[0];
    line[1] |= words[1];
    (line, header.values as usize)
}

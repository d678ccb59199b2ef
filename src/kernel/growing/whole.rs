//! Lines taken apart, and put together.

use super::edit::{Header, put_bits};
use super::width::{remainder, width};
use crate::layouts::growing::{BASES, HEADER, HEADER_BITS};
use crate::line::{LINE_BITS, Line};

/// Where [`open`] writes the values of a line: any number that a vector may end with, too.
pub(crate) const OPENED: usize = 64;

/// Writes the values of a line to `out`, in order, each with `start` added. Returns how many there are.
///
/// # Panics
/// If `r` is above 54.
#[inline(always)]
pub(super) fn open(line: &Line, r: u32, start: u64, out: &mut [u64; OPENED]) -> usize {
    let header = Header::of(line, r);
    let (mut bits, mut bucket) = (header.bits, header.base);
    for number in 0..header.values {
        // The zeros before the next 1, and that.
        let zeros = bits.trailing_zeros();
        bits = bits >> zeros >> 1;
        bucket += i64::from(zeros);
        let value = bucket << r | remainder(line, number, r) as i64;
        out[number as usize] = start.wrapping_add_signed(value);
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
    let mut header = Header { values: 0, base, bits: 0 };
    for &value in values.iter().take(width.room as usize) {
        let value = value.wrapping_sub(start) as i64;
        let len = ((value >> r).saturating_sub(base) as u64)
            .saturating_add(header.values)
            .saturating_add(1);
        if value >= limit
            || len > HEADER_BITS.into()
            || u64::from(HEADER) + len + (header.values + 1) * u64::from(r) > LINE_BITS
            || base < BASES[0]
        {
            break;
        }
        header.bits |= 1 << (len - 1);
        let at = LINE_BITS as i64 - (header.values as i64 + 1) * i64::from(r);
        put_bits(&mut line, at, value as u64 & width.mask);
        header.values += 1;
    }
    let words = header.words(goes_on);
    line[0] |= words[0];
    line[1] |= words[1];
    (line, header.values as usize)
}

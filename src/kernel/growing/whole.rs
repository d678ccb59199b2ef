//! Lines taken apart, and put together.

use super::edit::{Header, put_bits};
use super::width::{remainder, width};
use crate::layouts::growing::{BASES, HEADER, HEADER_BITS};
use crate::line::{LINE_BITS, Line};

/// Writes the values of a line to `out`, in order. Returns how many there are.
///
/// # Panics
/// If `r` is above 54.
#[inline(always)]
pub(super) fn open(line: &Line, r: u32, out: &mut [i64; 64]) -> usize {
    let header = Header::of(line, r);
    let (mut bits, mut bucket) = (header.bits, header.base);
    for number in 0..header.values {
        // The zeros before the next 1, and that.
        let zeros = bits.trailing_zeros();
        bits = bits >> zeros >> 1;
        bucket += i64::from(zeros);
        out[number as usize] = bucket << r | remainder(line, number, r) as i64;
    }
    header.values as usize
}

/// Makes a line of the first of these ascending values, as many as fit. Returns the line, and how
/// many it has.
///
/// # Panics
/// If `r` is above 54.
#[inline(always)]
pub(super) fn close(values: &[i64], goes_on: bool, r: u32) -> (Line, usize) {
    let width = width(r);
    let mut line = [0; 8];
    let base = values.first().map_or(0, |first| (first >> r).min(BASES[1]));
    let mut header = Header { values: 0, base, bits: 0 };
    for &value in values.iter().take(width.room as usize) {
        let len = ((value >> r).saturating_sub(base) as u64)
            .saturating_add(header.values)
            .saturating_add(1);
        if len > HEADER_BITS.into()
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
    header.put(&mut line, goes_on);
    (line, header.values as usize)
}

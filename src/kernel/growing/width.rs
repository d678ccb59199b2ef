//! What follows from the width of the remainders of a line, for each width.

use crate::layouts::growing::{HEADER, MOST_BITS, room};
use crate::line::{LINE_BITS, Line};

/// So many values go on to the next line at most, unless lines are taken apart.
pub(super) const MOST_OUT: usize = 8;

/// The bits of [`window`] that are always those of remainders.
const WINDOW: u64 = 57;

/// What follows from a width of `r` bits.
///
/// The remainders that lie in one [`window`] are compared at once: its **fields**, from the highest
/// bit down.
pub(super) struct Width {
    /// The most values of a line.
    pub(super) room: u64,
    /// A 1 for each of them.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(super) values: u64,
    /// The bits of a remainder.
    pub(super) mask: u64,
    /// How many fields are compared at once.
    pub(super) fields: u64,
    /// So many remainders are inserted at once at most: those of less than 64 bits.
    pub(super) together: usize,
    /// The lowest bit of each field.
    pub(super) lows: u64,
    /// The highest bit of each field.
    pub(super) highs: u64,
}

impl Width {
    const fn of(r: u32) -> Width {
        let fields = if r == 0 { 0 } else { WINDOW / r as u64 };
        let (mut lows, mut field) = (0, 1);
        while field <= fields {
            lows |= 1 << (64 - field * r as u64);
            field += 1;
        }
        let highs = if r == 0 { 0 } else { lows << (r - 1) };
        let room = room(r) as u64;
        let together = if r <= 63 / MOST_OUT as u32 { MOST_OUT } else { 63 / r as usize };
        Width { room, together, values: (1 << room) - 1, mask: (1 << r) - 1, fields, lows, highs }
    }
}

/// The widths there are, by `r`.
static WIDTHS: [Width; MOST_BITS as usize + 1] = {
    let (mut widths, mut r) = ([const { Width::of(0) }; MOST_BITS as usize + 1], 0);
    while r <= MOST_BITS {
        widths[r as usize] = Width::of(r);
        r += 1;
    }
    widths
};

/// The most bits of remainders that lie before another one of the line.
pub(super) const MOST_BEFORE: u64 = 455;

// So a window is within its line, as `window` needs it.
const _: () = {
    assert!(MOST_BEFORE + WINDOW == LINE_BITS);
    let mut r = 0;
    while r <= MOST_BITS {
        let room = room(r) as u64;
        assert!((room - 1) * r as u64 <= MOST_BEFORE);
        assert!(HEADER as u64 + room * (r as u64 + 1) <= LINE_BITS);
        r += 1;
    }
};

/// What follows from a width.
///
/// # Panics
/// If `r` is above [`MOST_BITS`].
#[inline(always)]
pub(super) fn width(r: u32) -> &'static Width {
    &WIDTHS[r as usize]
}

/// The bits of a line below the remainders of the first `before` values of it, from the highest bit
/// down: 57 of them or more, then zeros or other bits of the line.
///
/// # Panics
/// If there is no remainder below: the remainders before have more than 455 bits.
#[inline(always)]
pub(super) fn window(line: &Line, before: u64, r: u32) -> u64 {
    window_behind(line, before * u64::from(r))
}

/// The same behind so many bits of remainders.
///
/// # Panics
/// As for [`window`].
#[inline(always)]
pub(super) fn window_behind(line: &Line, bits: u64) -> u64 {
    assert!(bits <= MOST_BEFORE, "a value of the line");
    #[cfg(target_endian = "little")]
    {
        // The 8 bytes that end with the byte of the highest bit.
        let at = (MOST_BEFORE - bits) / 8;
        // SAFETY: the first byte is one of 0 to 56 of 64 bytes.
        let word = unsafe { line.as_ptr().byte_add(at as usize).read_unaligned() };
        word << (bits % 8)
    }
    #[cfg(target_endian = "big")]
    {
        let (word, skip) = (7 - (bits / 64) as usize, bits % 64);
        // Below the lowest word is nothing.
        let below = if word == 0 { 0 } else { line[word - 1] };
        line[word] << skip | below >> 1 >> (63 - skip)
    }
}

/// The remainder of a value of a line, by its number.
///
/// # Panics
/// As for [`window`].
#[inline(always)]
pub(super) fn remainder(line: &Line, number: u64, r: u32) -> u64 {
    window(line, number, r) >> 1 >> (63 - r)
}

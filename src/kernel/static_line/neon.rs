//! Static lines with NEON: a line is four registers of two lanes, or eight. The bits of each byte are
//! counted, and the counts added pairwise until a byte is left for each lane; its lowest bit is the
//! parity. NEON is part of every AArch64 CPU.

use super::super::single::Single;
use super::calls::calls;
use super::levels::{ANY, Line, Tile, by_rows};
use super::plain::lowest_bits;
use super::rows::Rows;
use crate::layouts::static_line::{extra_coefficients, next_hash};
use crate::line::{LANES, LINE_BYTES};
use std::arch::aarch64::*;

/// Two lanes to a register.
pub(in crate::kernel) struct Neon;

impl Tile for Neon {
    #[inline(always)]
    unsafe fn line<const ROWS: u32>(line: *const u8, rows: &Rows, hash: u64) -> Line {
        // SAFETY: the caller vouches for the line.
        unsafe { by_rows!(if ROWS == ANY { rows.count } else { ROWS }, one => (line, rows, hash)) }
    }

    calls! {}
}

/// What a line says of a key, whose rows have so many further fields.
///
/// # Safety
/// The line can be read.
#[inline(always)]
unsafe fn one<const TERMS: usize, const WIDE: bool>(
    line: *const u8,
    rows: &Rows,
    hash: u64,
) -> Line {
    // SAFETY: the caller vouches for all lanes.
    unsafe {
        let first = eight_lanes(line);
        let mut parities = eight_rows::<TERMS>(first, 0, line, rows, hash);
        if WIDE {
            let last = eight_lanes(line.add(LINE_BYTES));
            parities |= eight_rows::<TERMS>(last, LANES, line, rows, hash) << LANES;
        }
        Line { threshold: threshold(first), parities }
    }
}

/// Eight lanes from an address on.
///
/// # Safety
/// They can be read.
#[inline(always)]
unsafe fn eight_lanes(at: *const u8) -> [uint64x2_t; 4] {
    // SAFETY: the caller's promise. Bytes, as those may lie anywhere.
    std::array::from_fn(|i| unsafe { vreinterpretq_u64_u8(vld1q_u8(at.add(16 * i))) })
}

/// The parities of eight rows from that one on, whose own lanes are given.
///
/// # Safety
/// The line can be read.
#[inline(always)]
unsafe fn eight_rows<const TERMS: usize>(
    mut lanes: [uint64x2_t; 4],
    row: usize,
    line: *const u8,
    rows: &Rows,
    hash: u64,
) -> u64 {
    let next = next_hash(hash);
    // SAFETY: NEON is there; the numbers of lanes are of the line's.
    unsafe {
        let own = vdupq_n_u64(next >> 1);
        lanes = lanes.map(|lanes| vandq_u64(lanes, own));
        let mut rest = if TERMS > 0 { extra_coefficients(next, rows.extra) } else { 0 };
        for field in &rows.fields[..TERMS] {
            let more = vdupq_n_u64(rest & ((1 << field.width) - 1));
            rest >>= field.width;
            for (i, two) in lanes.iter_mut().enumerate() {
                let at = row + 2 * i;
                let of = |row: usize| vld1_u8(line.add(8 * field.lanes[row] as usize));
                let bits = vreinterpretq_u64_u8(vcombine_u8(of(at), of(at + 1)));
                let down = vnegq_s64(vreinterpretq_s64_u64(vld1q_u64(&raw const field.bits[at])));
                *two = veorq_u64(*two, vandq_u64(vshlq_u64(bits, down), more));
            }
        }
        let [a, b, c, d] = lanes.map(|lanes| vcntq_u8(vreinterpretq_u8_u64(lanes)));
        let eight = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        lowest_bits(vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(eight, eight)))).into()
    }
}

/// The threshold of a line that begins with these lanes: their highest bits.
#[inline(always)]
fn threshold(lanes: [uint64x2_t; 4]) -> u8 {
    // SAFETY: NEON is there.
    unsafe {
        // The upper half of each lane, of each of these, and of each of these.
        let [a, b, c, d] = lanes.map(|lanes| vreinterpretq_u32_u64(lanes));
        let upper = |a, b| vreinterpretq_u16_u32(vuzp2q_u32(a, b));
        let upper = vreinterpretq_u8_u16(vuzp2q_u16(upper(a, b), upper(c, d)));
        let bytes = vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vuzp2q_u8(upper, upper)));
        lowest_bits(bytes >> 7)
    }
}

//! Static lines on every CPU, one lane after the other.

use super::super::single::Single;
use super::calls::calls;
use super::levels::{Line, Tile};
use super::rows::Rows;
use crate::layouts::static_line::{extra_coefficients, next_hash};
use crate::line::LANES;

/// Eight lanes folded into each other.
pub(in crate::kernel) struct Plain;

impl Tile for Plain {
    #[inline(always)]
    unsafe fn line<const ROWS: u32>(line: *const u8, rows: &Rows, hash: u64) -> Line {
        // SAFETY: the caller vouches for a line there, 8 lanes or 16.
        let lane = |i: usize| u64::from_le(unsafe { line.cast::<u64>().add(i).read_unaligned() });
        let threshold = (0..LANES).fold(0, |all, i| all | ((lane(i) >> 63) as u8) << i);
        let next = next_hash(hash);
        let more = extra_coefficients(next, rows.extra);
        let row = |j: usize| {
            let (mut bits, mut more) = (lane(j) & next >> 1, more);
            for field in rows.fields.iter().take_while(|field| field.width > 0) {
                let of = lane(field.lanes[j] as usize) >> field.bits[j];
                bits ^= of & more & ((1 << field.width) - 1);
                more >>= field.width;
            }
            bits
        };
        let mut parities = u64::from(fold(std::array::from_fn(row)));
        if rows.count > 8 {
            parities |= u64::from(fold(std::array::from_fn(|j| row(LANES + j)))) << LANES;
        }
        Line { threshold, parities }
    }

    calls! {}
}

/// The parity of each lane: bit `i` is that of lane `i`.
#[inline(always)]
fn fold(lanes: [u64; LANES]) -> u8 {
    // Half of each lane is folded onto the other, and two lanes into one; three times.
    const LOW_32: u64 = 0x0000_0000_FFFF_FFFF;
    const LOW_16: u64 = 0x0000_FFFF_0000_FFFF;
    const LOW_8: u64 = 0x00FF_00FF_00FF_00FF;
    let both = |a: u64, b: u64, by: u32, low: u64| (a ^ a >> by) & low | (b ^ b << by) & !low;
    let four: [u64; 4] = std::array::from_fn(|i| both(lanes[i], lanes[i + 4], 32, LOW_32));
    let two: [u64; 2] = std::array::from_fn(|i| both(four[i], four[i + 2], 16, LOW_16));
    // Byte `i` has the parity of lane `i`.
    let mut bytes = both(two[0], two[1], 8, LOW_8);
    bytes ^= bytes >> 4;
    bytes ^= bytes >> 2;
    bytes ^= bytes >> 1;
    lowest_bits(bytes)
}

/// The lowest bits of eight bytes, that of the first in the lowest bit.
#[inline(always)]
pub(super) fn lowest_bits(bytes: u64) -> u8 {
    // Brought together in the highest byte.
    ((bytes & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

#[cfg(test)]
#[test]
fn each_lane_has_its_parity() {
    for i in 0..8 {
        for bit in 0..64 {
            let mut lanes = [0b11 << 7; LANES];
            lanes[i] ^= 1 << bit;
            assert_eq!(fold(lanes), 1 << i);
        }
    }
}

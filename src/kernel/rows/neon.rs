//! Rows of answers by `table`, in registers of NEON: `tbl` picks the bytes of the rows that are left.

use super::plain;
use super::table::{LEFT, last, rows_by_table};
use std::arch::aarch64::*;

/// What the table has for a byte of answers, as halves of 16 bits.
#[inline]
#[target_feature(enable = "neon")]
fn left(rows: [u8; 8]) -> uint16x8_t {
    vmovl_u8(vcreate_u8(u64::from_le_bytes(rows)))
}

/// The same as words of 32 bits.
#[inline]
#[target_feature(enable = "neon")]
fn words(left: uint16x8_t) -> [uint32x4_t; 2] {
    [vmovl_u16(vget_low_u16(left)), vmovl_high_u16(left)]
}

#[inline]
#[target_feature(enable = "neon")]
fn numbers_32(left: uint16x8_t, first: usize) -> uint32x4x2_t {
    let (first, [low, high]) = (vdupq_n_u32(first as u32), words(left));
    uint32x4x2_t(vaddq_u32(low, first), vaddq_u32(high, first))
}

#[inline]
#[target_feature(enable = "neon")]
fn picked_32(rows: uint32x4x2_t, left: uint16x8_t) -> uint32x4x2_t {
    let rows = uint8x16x2_t(vreinterpretq_u8_u32(rows.0), vreinterpretq_u8_u32(rows.1));
    let [low, high] = words(left);
    uint32x4x2_t(four_picked(rows, low), four_picked(rows, high))
}

#[inline]
#[target_feature(enable = "neon")]
fn four_picked(rows: uint8x16x2_t, left: uint32x4_t) -> uint32x4_t {
    // Bytes 4n to 4n + 3 for row n.
    let bytes = vmlaq_n_u32(vdupq_n_u32(0x0302_0100), left, 0x0404_0404);
    vreinterpretq_u32_u8(vqtbl2q_u8(rows, vreinterpretq_u8_u32(bytes)))
}

#[inline]
#[target_feature(enable = "neon")]
fn numbers_16(left: uint16x8_t, first: usize) -> uint16x8_t {
    vaddq_u16(left, vdupq_n_u16(first as u16))
}

#[inline]
#[target_feature(enable = "neon")]
fn picked_16(rows: uint16x8_t, left: uint16x8_t) -> uint16x8_t {
    // Bytes 2n and 2n + 1 for row n.
    let bytes = vmlaq_n_u16(vdupq_n_u16(0x0100), left, 0x0202);
    vreinterpretq_u16_u8(vqtbl1q_u8(vreinterpretq_u8_u16(rows), vreinterpretq_u8_u16(bytes)))
}

rows_by_table!("neon", left: select_32, refine_32, u32, numbers_32, picked_32, vld1q_u32_x2, vst1q_u32_x2);
rows_by_table!("neon", left: select_16, refine_16, u16, numbers_16, picked_16, vld1q_u16, vst1q_u16);

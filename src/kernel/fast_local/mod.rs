//! RocksDB's line on the backends, one file each.
//!
//! With vectors, a whole line is in registers, to probe and to insert: bits set one by one would
//! often wait for each other, because two are in one byte.

mod alike;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(feature = "capi")]
mod key;
#[cfg(feature = "capi")]
mod keys;
#[cfg(not(target_arch = "x86_64"))]
mod portable;
mod scalar;

pub(super) use alike::RocksDb;
#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;
#[cfg(all(target_arch = "x86_64", feature = "capi"))]
pub(super) use avx512::few;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::{Avx512, apart};
#[cfg(feature = "capi")]
pub(crate) use key::{ContainsKey, Others, contains_key};
#[cfg(not(target_arch = "x86_64"))]
pub(super) use portable::Portable;
pub(super) use scalar::Scalar;

use super::lines::Lines;
use crate::layouts::fast_local::{STEP, line_index};
use crate::line::LINE_BYTES;

/// Where the line of a hash is.
#[inline(always)]
pub(super) fn line(lines: Lines, hash: u64) -> *mut u8 {
    // The format has no more than 2^26 lines; see `engines::rocksdb`.
    let index = line_index(hash, lines.count() as u32);
    lines.first().wrapping_add(index as usize * LINE_BYTES)
}

/// The powers of `STEP` from 0 on: a position's factor.
const POWERS: [u32; 16] = {
    let mut powers = [1u32; 16];
    let mut i = 1;
    while i < 16 {
        powers[i] = powers[i - 1].wrapping_mul(STEP);
        i += 1;
    }
    powers
};

/// `[count]`: the first `count` of eight values, then zeros.
#[cfg(target_arch = "x86_64")]
const fn first_of(values: [u32; 8]) -> [[u32; 8]; 9] {
    let mut rows = [[0; 8]; 9];
    let mut count = 1;
    while count <= 8 {
        rows[count] = rows[count - 1];
        rows[count][count - 1] = values[count - 1];
        count += 1;
    }
    rows
}

/// The factor from one group of positions to the next.
const fn step_by(count: usize) -> u32 {
    POWERS[count - 1].wrapping_mul(STEP)
}

/// Sets the bits of a key. Returns whether any of them was not set.
///
/// # Safety
/// The lines can be written.
#[inline(always)]
unsafe fn insert(lines: Lines, hash: u64) -> bool {
    let line = line(lines, hash);
    let (mut x, mut unset) = ((hash >> 32) as u32, 0);
    for _ in 0..lines.k() {
        let (position, bit) = ((x >> 23) as usize, 1 << ((x >> 23) % 8));
        // SAFETY: a position is below 512, so the byte is one of the line's 64.
        unsafe {
            let byte = line.add(position / 8);
            unset |= bit & !*byte;
            *byte |= bit;
        }
        x = x.wrapping_mul(STEP);
    }
    unset != 0
}

//! RocksDB's line through `wide`: positions eight at a time, words looked up one by one, since no
//! portable instruction does that.

use super::super::batch::Ops;
use super::super::lines::Lines;
use super::{POWERS, step_by};
use wide::u32x8;

/// Eight positions at a time.
pub(in crate::kernel) struct Portable;

impl Ops for Portable {
    #[inline(always)]
    fn line(lines: Lines, hash: u64) -> *const u8 {
        super::line(lines, hash)
    }

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { super::insert(lines, hash) }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        let line = super::line(lines, hash);
        let powers: [u32; 8] = std::array::from_fn(|i| POWERS[i]);
        let mut x = (hash >> 32) as u32;
        let mut left = lines.k() as usize;
        loop {
            let positions: u32x8 = (u32x8::splat(x) * u32x8::new(powers)) >> 23_u32;
            let mut set = 1;
            for position in positions.to_array().into_iter().take(left) {
                // SAFETY: the caller vouches for the line; the byte is one of its 64.
                set &= unsafe { *line.add(position as usize / 8) } >> (position % 8);
            }
            if set & 1 == 0 {
                return false;
            }
            if left <= 8 {
                return true;
            }
            left -= 8;
            x = x.wrapping_mul(step_by(8));
        }
    }
}

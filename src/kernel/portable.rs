//! The `portable` backend: 8 lanes at once through `wide`, which picks the
//! instructions when it is compiled: NEON on aarch64, SSE2 on x86-64, simd128 on
//! wasm. Uses `wide`, `line` and `batch`.

use super::batch::{Ops, class};
use super::scalar::ROWS;
use crate::line::{C1, C2, LANES, SHIFTS};
use wide::u64x8;

/// 8 lanes in as many registers as it takes.
pub(super) struct Portable;

/// The bits of one round: the row of lanes that count, moved to the positions.
#[inline(always)]
fn round(g: u64, count: u32) -> u64x8 {
    let start = (g >> 61) as usize;
    let row: [u64; LANES] = ROWS[count as usize][start..start + LANES].try_into().unwrap();
    let shifts = u64x8::new(SHIFTS.map(u64::from));
    // wide takes shift counts modulo 64, so the positions need no masking.
    u64x8::new(row) << (u64x8::splat(g) >> shifts)
}

/// The bits of a key in its line.
#[inline(always)]
fn mask<const CLASS: u8>(hash: u64, k: u32) -> u64x8 {
    let first = round(hash.wrapping_mul(C1), if CLASS == class::BELOW_8 { k } else { 8 });
    if CLASS == class::ABOVE_8 { first | round(hash.wrapping_mul(C2), k - 8) } else { first }
}

/// The lanes of a line: stored little-endian on every CPU.
///
/// # Safety
/// 64 bytes can be read at `line`.
#[inline(always)]
unsafe fn load(line: *const u8) -> u64x8 {
    // SAFETY: the caller's promise; an array of integers takes any bytes.
    let lanes: [u64; LANES] = unsafe { line.cast::<[u64; LANES]>().read_unaligned() };
    u64x8::new(lanes.map(u64::from_le))
}

impl Ops for Portable {
    #[inline(always)]
    unsafe fn insert<const CLASS: u8>(line: *mut u8, hash: u64, k: u32) {
        // SAFETY: the caller vouches for 64 bytes that can be read and written.
        unsafe {
            let lanes = (load(line) | mask::<CLASS>(hash, k)).to_array().map(u64::to_le);
            line.cast::<[u64; LANES]>().write_unaligned(lanes);
        }
    }

    #[inline(always)]
    unsafe fn contains<const CLASS: u8>(line: *const u8, hash: u64, k: u32) -> bool {
        // SAFETY: the caller vouches for 64 readable bytes.
        let unset = mask::<CLASS>(hash, k) & !unsafe { load(line) };
        unset.to_array().into_iter().fold(0, |all, lane| all | lane) == 0
    }
}

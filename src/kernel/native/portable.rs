//! The `portable` backend: 8 lanes at once through `wide`, which chooses instructions at compile
//! time: NEON on aarch64. Others, such as the baseline of wasm, have no shift by a count per lane; there
//! `kernel` uses `scalar` instead, as on x86-64, whose backends have intrinsics.

use super::super::alike::{Alike, OfLanes};
use super::super::batch::{Lookahead, Ops, Plan};
use super::super::lines::Lines;
use super::super::shared::{self, read_shared_vector};
use super::SHIFTS_64;
use super::scalar::{class, rows};
use crate::line::{C1, C2, LANES};
use wide::u64x8;

/// 8 lanes in as many registers as it takes. If `SHARED`, other threads may be setting bits in them:
/// then they are aligned, and only probed.
pub(in crate::kernel) struct Portable<const CLASS: u8, const SHARED: bool>;

/// Whether vectors have a shift by a count per lane.
pub(in crate::kernel) const SHIFTS_BY_LANE: bool = cfg!(target_feature = "neon");

/// Ones moved to the bit positions of one round.
#[inline(always)]
fn round(g: u64, ones: u64x8) -> u64x8 {
    // wide takes shift counts modulo 64, so the positions need no masking.
    ones << (u64x8::splat(g) >> u64x8::new(SHIFTS_64))
}

/// The bits of a key in its line.
#[inline(always)]
fn mask<const CLASS: u8>(hash: u64, k: u32) -> u64x8 {
    let (g, g2) = (hash.wrapping_mul(C1), hash.wrapping_mul(C2));
    let all = u64x8::splat(1);
    match CLASS {
        class::BELOW_8 => round(g, u64x8::new(rows(k)[(g >> 61) as usize].0)),
        class::EXACTLY_8 => round(g, all),
        _ => round(g, all) | round(g2, u64x8::new(rows(k)[(g2 >> 61) as usize].0)),
    }
}

/// The lanes of a line: stored little-endian on every CPU.
///
/// # Safety
/// 64 bytes can be read at `line`.
#[inline(always)]
unsafe fn load(line: *const u8) -> u64x8 {
    // SAFETY: the caller's promise.
    u64x8::new(little_endian(unsafe { read_shared_vector(line) }))
}

/// The same, each lane by an atomic load.
///
/// # Safety
/// As for [`load`], and the lanes are aligned.
#[inline(always)]
unsafe fn load_lanes(line: *const u8) -> u64x8 {
    let line = line.cast::<u64>();
    // SAFETY: the caller's promise; i is below 8.
    let lane = |i| unsafe { shared::lane(line.add(i)) };
    let lanes = [lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7)];
    u64x8::new(little_endian(lanes))
}

/// Lanes between the CPU's order of bytes and that of a line.
#[inline(always)]
fn little_endian(lanes: [u64; LANES]) -> [u64; LANES] {
    if cfg!(target_endian = "little") { lanes } else { lanes.map(u64::from_le) }
}

impl<const CLASS: u8, const SHARED: bool> Ops for Portable<CLASS, SHARED> {
    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        let line = lines.line(hash);
        // SAFETY: the caller vouches for 64 bytes that can be read and written.
        unsafe {
            let (old, mask) = (load(line), mask::<CLASS>(hash, lines.k()));
            line.cast::<[u64; LANES]>().write_unaligned(little_endian((old | mask).to_array()));
            !has_all(old, mask)
        }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        let line = lines.line(hash);
        // SAFETY: the caller vouches for 64 readable bytes.
        let line = unsafe { if SHARED { load_lanes(line) } else { load(line) } };
        has_all(line, mask::<CLASS>(hash, lines.k()))
    }

    /// By vectors, also of shared lines.
    #[inline(always)]
    unsafe fn probe_tile<P: Plan>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) -> u64 {
        let mut hits = 0;
        for (i, &hash) in hashes.iter().enumerate() {
            P::prefetch::<Self>(lines, lookahead, i);
            // SAFETY: the caller vouches for 64 readable bytes.
            let line = unsafe { load(lines.line(hash)) };
            hits |= u64::from(has_all(line, mask::<CLASS>(hash, lines.k()))) << i;
        }
        hits
    }
}

/// Several filters.
pub(in crate::kernel) struct PortableAlike;

impl Alike for PortableAlike {
    type Mask = u64x8;

    #[inline(always)]
    unsafe fn mask(hash: u64, k: u32) -> u64x8 {
        match k {
            ..=8 => mask::<{ class::BELOW_8 }>(hash, k),
            _ => mask::<{ class::ABOVE_8 }>(hash, k),
        }
    }

    #[inline(always)]
    unsafe fn has(line: *const u8, mask: u64x8) -> bool {
        // SAFETY: the caller's promise.
        has_all(unsafe { load(line) }, mask)
    }
}

impl OfLanes for PortableAlike {
    #[inline(always)]
    unsafe fn of_lanes(lanes: [u64; LANES]) -> u64x8 {
        u64x8::new(lanes)
    }
}

/// Whether a line has all bits of a mask.
#[inline(always)]
fn has_all(line: u64x8, mask: u64x8) -> bool {
    (mask & !line).to_array().into_iter().fold(0, |all, lane| all | lane) == 0
}

//! One key at a time on x86-64: a line in two registers of four lanes.
//!
//! Registers of 256 bits for AVX-512, too, whose `VL` instructions save some steps: one 512-bit
//! instruction makes what the caller does next slower on some CPUs (Xeon A of docs/PERFORMANCE.md),
//! which only a batch pays back.

use super::super::shared::read_shared_vector;
use super::super::single::Single;
use super::super::single::tag::{ONE_ROUND, TWO_ROUNDS};
use super::SHIFTS_64;
use super::scalar::{Rows, class};
use crate::line::{C1, C2, LANES};
use std::arch::asm;
use std::arch::x86_64::*;

type Halves = [__m256i; 2];

pub(super) const fn tag<const CLASS: u8>() -> usize {
    if CLASS == class::ABOVE_8 { TWO_ROUNDS } else { ONE_ROUND }
}

/// [`contains`] of what is in a [`Single`].
///
/// # Safety
/// As for `Ops`.
#[inline(always)]
pub(super) unsafe fn contains_one<const CLASS: u8, const VL: bool>(
    single: &Single<'_>,
    hash: u64,
) -> bool {
    let rows = single.k().wrapping_sub(tag::<CLASS>()).cast();
    // SAFETY: the caller's promise; `Single::new` had the rows from a static.
    unsafe { contains::<CLASS, VL>(single.line(hash), rows, hash) }
}

/// [`insert`] likewise.
///
/// # Safety
/// As for `Ops`.
#[inline(always)]
pub(super) unsafe fn insert_one<const CLASS: u8, const VL: bool>(
    single: &Single<'_>,
    hash: u64,
) -> bool {
    let rows = single.k().wrapping_sub(tag::<CLASS>()).cast();
    // SAFETY: as above.
    unsafe { insert::<CLASS, VL>(single.line(hash), rows, hash) }
}

/// How the caller's own code probes one key without a call: if the program is compiled for a CPU
/// with AVX2, and the function is one of this file. [`Backend`](crate::Backend)s that are chosen
/// for a test or a comparison are called, so they do run.
#[cfg(any(test, target_feature = "avx2"))]
pub(in crate::kernel) mod inlined {
    use super::*;

    const VL: bool = cfg!(all(target_feature = "avx512f", target_feature = "avx512vl"));

    /// Calls `$of` of the class, if it is one here.
    macro_rules! by_class {
        ($of:ident, $single:expr, $hash:expr) => {
            // SAFETY: the program is compiled for such CPUs; the caller's promise.
            unsafe {
                match $single.k().addr() % 4 {
                    ONE_ROUND => Some($of::<{ class::BELOW_8 }, VL>($single, $hash)),
                    TWO_ROUNDS => Some($of::<{ class::ABOVE_8 }, VL>($single, $hash)),
                    _ => None,
                }
            }
        };
    }

    /// Whether all bits of a key are set.
    ///
    /// # Safety
    /// The lines can be read.
    #[inline(always)]
    pub(in crate::kernel) unsafe fn contains(single: &Single<'_>, hash: u64) -> Option<bool> {
        by_class!(contains_one, single, hash)
    }

    /// The answers for two keys, a bit each, if k is at most 8. For more the caller would have as much code again.
    ///
    /// # Safety
    /// The lines can be read.
    #[inline(always)]
    pub(in crate::kernel) unsafe fn two(
        single: &Single<'_>,
        first: u64,
        second: u64,
    ) -> Option<u64> {
        if single.k().addr() % 4 != ONE_ROUND {
            return None;
        }
        // SAFETY: as above.
        let has = |hash| u64::from(unsafe { contains_one::<{ class::BELOW_8 }, VL>(single, hash) });
        Some(has(first) | has(second) << 1)
    }

    /// Sets the bits of a key. Returns whether any of them was not set.
    ///
    /// # Safety
    /// The lines can be written.
    #[inline(always)]
    pub(in crate::kernel) unsafe fn insert(single: &Single<'_>, hash: u64) -> Option<bool> {
        by_class!(insert_one, single, hash)
    }
}

/// Whether a line has all bits of a key.
///
/// # Safety
/// The CPU has AVX2, and AVX-512 VL if so named; 64 bytes can be read at `line`; `rows` are those
/// of k.
#[inline(always)]
pub(super) unsafe fn contains<const CLASS: u8, const VL: bool>(
    line: *const u8,
    rows: *const Rows,
    hash: u64,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        // The probed bit of each lane goes to its lowest, so the row need not be shifted.
        let line = load_now(line);
        let g = hash.wrapping_mul(C1);
        match CLASS {
            class::BELOW_8 => has_row(moved::<VL>(line, g), g, rows),
            class::EXACTLY_8 => has_ones(moved::<VL>(line, g)),
            _ => {
                let g2 = hash.wrapping_mul(C2);
                has_ones(moved::<VL>(line, g)) & has_row(moved::<VL>(line, g2), g2, rows)
            }
        }
    }
}

/// A line with the probed bit of each lane moved to its lowest. (Not a closure, which is not always
/// inlined.)
///
/// # Safety
/// The CPU has the instructions.
#[inline(always)]
unsafe fn moved<const VL: bool>(line: Halves, g: u64) -> Halves {
    // SAFETY: the caller's promise.
    unsafe {
        let [low, high] = positions::<VL>(g);
        if VL {
            return [_mm256_rorv_epi64(line[0], low), _mm256_rorv_epi64(line[1], high)];
        }
        [_mm256_srlv_epi64(line[0], low), _mm256_srlv_epi64(line[1], high)]
    }
}

/// Sets the bits of a key in its line. Returns whether any of them was not set.
///
/// # Safety
/// As for [`contains`], and the bytes can be written.
#[inline(always)]
pub(super) unsafe fn insert<const CLASS: u8, const VL: bool>(
    line: *mut u8,
    rows: *const Rows,
    hash: u64,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let (old, mask) = (load(line), mask::<CLASS, VL>(hash, rows));
        _mm256_storeu_si256(line.cast(), _mm256_or_si256(old[0], mask[0]));
        _mm256_storeu_si256(line.add(32).cast(), _mm256_or_si256(old[1], mask[1]));
        any(without(mask, old))
    }
}

/// The bits of a key in each half of its line.
///
/// # Safety
/// The CPU has the instructions; `rows` are those of k.
#[inline(always)]
unsafe fn mask<const CLASS: u8, const VL: bool>(hash: u64, rows: *const Rows) -> Halves {
    let g = hash.wrapping_mul(C1);
    // SAFETY: the caller's promise.
    unsafe {
        match CLASS {
            class::BELOW_8 => round::<VL>(g, row(g, rows)),
            class::EXACTLY_8 => round::<VL>(g, ones()),
            _ => {
                let g2 = hash.wrapping_mul(C2);
                let (first, second) = (round::<VL>(g, ones()), round::<VL>(g2, row(g2, rows)));
                [_mm256_or_si256(first[0], second[0]), _mm256_or_si256(first[1], second[1])]
            }
        }
    }
}

/// Ones moved to the bit positions of one round.
///
/// # Safety
/// The CPU has the instructions.
#[inline(always)]
unsafe fn round<const VL: bool>(g: u64, ones: Halves) -> Halves {
    // SAFETY: the caller's promise.
    unsafe {
        let [low, high] = positions::<VL>(g);
        if VL {
            [_mm256_rolv_epi64(ones[0], low), _mm256_rolv_epi64(ones[1], high)]
        } else {
            [_mm256_sllv_epi64(ones[0], low), _mm256_sllv_epi64(ones[1], high)]
        }
    }
}

/// The bit positions of one round, in the low 6 bits of each lane; anything above them.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
pub(super) unsafe fn shifted(g: u64) -> Halves {
    // A constant of each program: where it is inlined, the compiler knows that all are below 64.
    const SHIFTS: &[u64; LANES] = &SHIFTS_64;
    // SAFETY: the caller's promise; there are 64 bytes.
    unsafe {
        let (g, [low, high]) = (_mm256_set1_epi64x(g as i64), load(SHIFTS.as_ptr().cast()));
        [_mm256_srlv_epi64(g, low), _mm256_srlv_epi64(g, high)]
    }
}

/// The bit positions of one round, in the low 6 bits of each lane. A rotate ignores what is above;
/// for a shift it is cleared.
///
/// # Safety
/// The CPU has the instructions.
#[inline(always)]
unsafe fn positions<const VL: bool>(g: u64) -> Halves {
    // SAFETY: the caller's promise.
    unsafe {
        let [low, high] = shifted(g);
        if VL {
            return [low, high];
        }
        let six_bits = _mm256_set1_epi64x(63);
        [_mm256_and_si256(low, six_bits), _mm256_and_si256(high, six_bits)]
    }
}

/// A one in each lane.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
unsafe fn ones() -> Halves {
    // SAFETY: the caller's promise.
    unsafe { [_mm256_set1_epi64x(1); 2] }
}

/// Whether the lowest bit of each lane that counts is set.
///
/// # Safety
/// As for [`row`].
#[inline(always)]
unsafe fn has_row(lanes: Halves, g: u64, rows: *const Rows) -> bool {
    // SAFETY: there are 8 rows, of 32 bytes; the caller's promise.
    unsafe {
        let row = (&raw const (*rows).paired).cast::<__m256i>().add((g >> 61) as usize);
        let [low, high] = [_mm256_castsi256_ps(lanes[0]), _mm256_castsi256_ps(lanes[1])];
        // The lower halves of all lanes.
        let paired = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
        _mm256_testc_si256(paired, _mm256_loadu_si256(row)) == 1
    }
}

/// A one in each lane that counts.
///
/// # Safety
/// The CPU has AVX2; these are the rows of a k.
#[inline(always)]
unsafe fn row(g: u64, rows: *const Rows) -> Halves {
    // SAFETY: there are 8 rows, of 64 bytes at a multiple of 64.
    unsafe {
        // As `2 * (g >> 61)`, of which the compiler makes one instruction more.
        let row = (&raw const (*rows).lanes).byte_add((g >> 55 & 0x1C0) as usize).cast::<__m256i>();
        [_mm256_load_si256(row), _mm256_load_si256(row.add(1))]
    }
}

/// 64 bytes.
///
/// # Safety
/// They can be read, and the CPU has AVX2.
#[inline(always)]
unsafe fn load(line: *const u8) -> Halves {
    // SAFETY: the caller's promise.
    unsafe { [_mm256_loadu_si256(line.cast()), _mm256_loadu_si256(line.add(32).cast())] }
}

/// 64 bytes into which other threads may be inserting. Where it is inlined, the compiler cannot know
/// what is read, as it could of an intrinsic, and so does not take it out of the caller's loop.
///
/// # Safety
/// As for [`load`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_now(line: *const u8) -> Halves {
    if !cfg!(target_feature = "avx2") || cfg!(bloomline_tsan) {
        // In a function that is called by its address, and sanitizers see it.
        // SAFETY: the caller's promise.
        return unsafe { [read_shared_vector(line), read_shared_vector(line.add(32))] };
    }
    let (low, high);
    // SAFETY: the caller vouches for the bytes; nothing is written.
    unsafe {
        asm!(
            "vmovdqu {0}, ymmword ptr [{2}]",
            "vmovdqu {1}, ymmword ptr [{2} + 32]",
            out(ymm_reg) low,
            lateout(ymm_reg) high,
            in(reg) line,
            options(readonly, nostack, preserves_flags)
        );
    }
    [low, high]
}

/// The bits of `all` that are not set in `set`, of both halves.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
unsafe fn without(all: Halves, set: Halves) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let low = _mm256_andnot_si256(set[0], all[0]);
        _mm256_or_si256(low, _mm256_andnot_si256(set[1], all[1]))
    }
}

/// Whether the lowest bit of each lane is set.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
unsafe fn has_ones(lanes: Halves) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        _mm256_testc_si256(_mm256_and_si256(lanes[0], lanes[1]), unknown(_mm256_set1_epi64x(1)))
            == 1
    }
}

/// Whether all bits are set.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
pub(super) unsafe fn all_set(bits: __m256i) -> bool {
    // SAFETY: the caller's promise.
    unsafe { _mm256_testc_si256(bits, unknown(_mm256_set1_epi8(-1))) == 1 }
}

/// The answers before, moved up, and whether all bits are set in the lowest bit. The test leaves that in the
/// carry, from where one addition takes it; the compiler makes a number of it first.
///
/// # Safety
/// The CPU has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn push_all_set(mut hits: u64, bits: __m256i) -> u64 {
    let ones = _mm256_set1_epi8(-1);
    // SAFETY: these instructions read and write registers only.
    unsafe {
        asm!(
            "vptest {bits}, {ones}",
            "adc {hits}, {hits}",
            bits = in(ymm_reg) bits,
            ones = in(ymm_reg) ones,
            hits = inout(reg) hits,
            options(pure, nomem, nostack)
        );
    }
    hits
}

/// The value, unknown to the compiler. Of a test for a known one it makes six instructions where the
/// answer is used as a number.
///
/// # Safety
/// The CPU has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn unknown(mut value: __m256i) -> __m256i {
    // SAFETY: it is no instruction.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) value, options(pure, nomem, nostack, preserves_flags));
    }
    value
}

/// Whether any bit is set.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
unsafe fn any(bits: __m256i) -> bool {
    // SAFETY: the caller's promise.
    unsafe { _mm256_testz_si256(bits, bits) == 0 }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Backend, Layout, Probed};
    use super::*;
    use crate::line;

    /// What callers inline, compiled for AVX2 here.
    #[target_feature(enable = "avx2,bmi2,popcnt")]
    fn contains(single: &Single<'_>, hash: u64) -> Option<bool> {
        // SAFETY: the lines can be read.
        unsafe { inlined::contains(single, hash) }
    }

    /// The same.
    #[target_feature(enable = "avx2,bmi2,popcnt")]
    fn insert(single: &Single<'_>, hash: u64) -> Option<bool> {
        // SAFETY: the lines can be written.
        unsafe { inlined::insert(single, hash) }
    }

    /// The same.
    #[target_feature(enable = "avx2,bmi2,popcnt")]
    fn two(single: &Single<'_>, first: u64, second: u64) -> Option<u64> {
        // SAFETY: the lines can be read.
        unsafe { inlined::two(single, first, second) }
    }

    #[test]
    fn what_is_inlined_does_as_the_definition() {
        for backend in [Backend::Avx2, Backend::Avx512] {
            let Some(kernels) = backend.kernels() else { continue };
            for k in 1..=line::MAX_K {
                let hash = |i: u64| i.wrapping_mul(line::C2).rotate_left(29) ^ u64::from(k) << 50;
                let (mut ours, mut theirs) = ([0; 320], [0; 320]);
                // SAFETY: they can be read and written, and nothing else does while this is used.
                let probed = unsafe { Probed::at(ours.as_mut_ptr(), ours.len()) };
                let single = Single::new(probed, k, kernels.of(Layout::Native));
                for i in 0..300 {
                    let (hash, other) = (hash(i), hash(i / 2));
                    let [before, second] =
                        [hash, other].map(|hash| line::contains(&theirs, k, hash));
                    // SAFETY: this CPU has AVX2, since it has the backend.
                    assert_eq!(unsafe { contains(&single, hash) }, Some(before), "k = {k}, {i}");
                    // SAFETY: as above.
                    let both = unsafe { two(&single, hash, other) };
                    let expected = u64::from(before) | u64::from(second) << 1;
                    assert_eq!(both, (k <= 8).then_some(expected), "k = {k}, {i}");
                    if i % 3 == 0 && i * u64::from(k) < 600 {
                        line::insert(&mut theirs, k, hash);
                        // SAFETY: as above.
                        assert_eq!(unsafe { insert(&single, hash) }, Some(!before), "k = {k}");
                    }
                }
                assert_eq!(ours, theirs, "k = {k}");
            }
        }
    }
}

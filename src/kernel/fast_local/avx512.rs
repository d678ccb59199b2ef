//! RocksDB's line with AVX-512: all of it in one register, sixteen positions at a time.
//! Reached only through the detection in `kernel`.

#[cfg(feature = "capi")]
use super::super::batch::prefetch_far;
use super::super::batch::{Lookahead, Ops, Plan, TILE};
#[cfg(feature = "capi")]
use super::super::few::{FewHashes, hash_of};
use super::super::lines::Lines;
use super::{POWERS, step_by};
#[cfg(feature = "capi")]
use crate::hash::xxph3::xxph3;
use std::arch::asm;
use std::arch::x86_64::*;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// Sixteen positions at a time, of single keys eight.
pub(in crate::kernel) struct Avx512;

impl Ops for Avx512 {
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
    unsafe fn insert_tile<P: Plan>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) {
        let (mut left, mut factor) = (lines.k(), 1);
        let mut staged = [UNSET; TILE];
        // Eight positions of each key, then the next eight.
        loop {
            for (staged, &hash) in staged.iter_mut().zip(hashes) {
                // SAFETY: the caller vouches for the CPU.
                unsafe { stage(staged, ((hash >> 32) as u32).wrapping_mul(factor), left) };
            }
            // Through memory, from where each part comes to all bytes of a line at once.
            let staged = black_box(&staged);
            for (i, &hash) in hashes.iter().enumerate() {
                if factor == 1 {
                    P::prefetch::<Self>(lines, lookahead, i);
                }
                // SAFETY: the caller vouches for the CPU and for the lines; what is read has
                // been staged.
                unsafe { set(super::line(lines, hash), staged[i].0.assume_init_ref()) };
            }
            if left <= 8 {
                return;
            }
            left -= 8;
            factor = factor.wrapping_mul(step_by(8));
        }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller vouches for the CPU and for the lines.
        unsafe { contains(super::line(lines, hash), (hash >> 32) as u32, lines.k()) }
    }

    #[inline(always)]
    unsafe fn probe_tile<P: Plan>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) -> u64 {
        // SAFETY: the caller vouches for the CPU and for the lines.
        unsafe {
            match lines.k() {
                ..=16 => probe_tile::<P, false>(lines, hashes, lookahead),
                _ => probe_tile::<P, true>(lines, hashes, lookahead),
            }
        }
    }
}

/// The answers for a tile, for up to 16 positions or, if `MORE`, 32.
///
/// # Safety
/// As for `Ops`.
#[inline(always)]
unsafe fn probe_tile<P: Plan, const MORE: bool>(
    lines: Lines,
    hashes: &[u64],
    lookahead: &Lookahead,
) -> u64 {
    let all = u32::MAX >> (32 - lines.k());
    let mut hits = 0u64;
    for (i, &hash) in hashes.iter().enumerate() {
        P::prefetch::<Avx512>(lines, lookahead, i);
        // SAFETY: the caller vouches for the CPU and for the lines.
        let unset = unsafe { unset::<MORE>(super::line(lines, hash), hash) };
        // The first key ends up in the highest bit; the result is reversed at the end.
        hits = hits + hits + u64::from(unset & all == 0);
    }
    hits.reverse_bits() >> (TILE - hashes.len())
}

/// The answers for 1 to 64 keys, first in the lowest bit, without what a longer batch has around
/// it. If `prefetch`, their lines are prefetched before the first is tested.
///
/// By registers of 256 bits, as single keys. With those of 512, 32 keys in cache took 5.2 ns each
/// instead of 5.7, but RocksDB's whole `MultiGet` 5 to 9 % longer (Xeon A of docs/PERFORMANCE.md).
///
/// # Safety
/// As for `Ops`.
#[cfg(feature = "capi")]
#[target_feature(enable = "avx512f,avx512vl,bmi2,popcnt")]
pub(in crate::kernel) unsafe fn few<'k>(
    lines: Lines,
    keys: impl Iterator<Item = Option<&'k [u8]>>,
    prefetch: bool,
) -> u64 {
    // SAFETY: the caller's promise.
    let contains = |hash| u64::from(unsafe { Avx512::contains(lines, hash) });
    if prefetch {
        let mut room = FewHashes::new();
        let (hashes, lost) = room.fill(keys.map(|key| hash_of(key, xxph3)));
        prefetch_far::<Avx512>(lines, hashes);
        return hashes.iter().rfold(0, |present, &hash| present << 1 | contains(hash)) | lost;
    }
    let mut present = 0;
    for (i, key) in keys.take(TILE).enumerate() {
        present |= key.map_or(1, |key| contains(xxph3(key))) << i;
    }
    present
}

/// Whether the line has the `k` bits that start with `x`. For single keys, so by registers of
/// 256 bits: see `Backend::kernels`.
///
/// # Safety
/// 64 bytes can be read at `line`.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,bmi2")]
unsafe fn contains(line: *const u8, x: u32, k: u32) -> bool {
    // SAFETY: the caller's promise; the table is longer than 32 bytes.
    let (low, high, powers) = unsafe {
        (
            _mm256_loadu_si256(line.cast()),
            apart(_mm256_loadu_si256(line.wrapping_add(32).cast())),
            _mm256_loadu_si256(POWERS.as_ptr().cast()),
        )
    };
    let mut x = _mm256_mullo_epi32(_mm256_set1_epi32(x as i32), powers);
    let (mut left, mut unset) = (k, 0);
    loop {
        // As in `unset`, the words being those of two registers.
        let words = _mm256_permutex2var_epi32(low, _mm256_srli_epi32::<28>(x), high);
        let bits = _mm256_rolv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<23>(x));
        // No branch on the result: it would be mispredicted for half of the keys.
        unset |= u32::from(_mm256_testn_epi32_mask(words, bits)) & _bzhi_u32(0xFF, left);
        if left <= 8 {
            return unset == 0;
        }
        left -= 8;
        x = _mm256_mullo_epi32(x, _mm256_set1_epi32(step_by(8) as i32));
    }
}

/// The value. The compiler does not see that, and so does not make one register of 512 bits
/// out of two.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(in crate::kernel) fn apart(mut half: __m256i) -> __m256i {
    // SAFETY: it is no instruction.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) half, options(pure, nomem, nostack, preserves_flags));
    }
    half
}

/// Eight bits of a key, taken apart. A position has 9 bits: 3 for a group of 8 bytes, 3 for a
/// byte of the group, 3 for a bit of the byte. For each of these a matrix of 8 times 8 bits
/// says which of the eight positions have which value. Then which positions are in a byte of
/// the line is a row of one AND a row of another; and which bits that makes is the product
/// with the third, for which there is an instruction.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Parts(MaybeUninit<[u64; 4]>);

const UNSET: Parts = Parts(MaybeUninit::uninit());

/// Finds out what a key sets: up to 8 bits, `k` of them, that start with `x`.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512cd,avx512vbmi,gfni,bmi2")]
fn stage(staged: &mut Parts, x: u32, k: u32) {
    // SAFETY: the table is longer than 32 bytes.
    let powers = unsafe { _mm256_loadu_si256(POWERS.as_ptr().cast()) };
    let x = _mm256_mullo_epi32(_mm256_set1_epi32(x as i32), powers);
    let position = _mm256_srli_epi32::<23>(x);
    // A product adds modulo 2: of positions that are equal only the first may count.
    let earlier = _mm256_conflict_epi32(position);
    let counts = _mm256_testn_epi32_mask(earlier, earlier) & _bzhi_u32(0xFF, k) as u8;
    // A byte of each position for each part, the value as a bit.
    let seven = _mm256_set1_epi32(7);
    let bit = _mm256_and_si256(position, seven);
    let byte = _mm256_and_si256(_mm256_srli_epi32::<3>(position), seven);
    let group = _mm256_srli_epi32::<6>(position);
    let values = _mm256_ternarylogic_epi32::<0xFE>(
        _mm256_sllv_epi32(_mm256_set1_epi32(1), bit),
        _mm256_sllv_epi32(_mm256_set1_epi32(1 << 8), byte),
        _mm256_sllv_epi32(_mm256_set1_epi32(1 << 16), group),
    );
    let values = _mm256_maskz_mov_epi32(counts, values);
    // SAFETY: the tables are 32 bytes each, and so is what is staged.
    unsafe {
        let together = _mm256_loadu_si256(BY_PART.as_ptr().cast());
        let matrices = _mm256_permutexvar_epi8(together, values);
        let rows = _mm256_loadu_si256(ROWS.as_ptr().cast());
        let turned = _mm256_gf2p8affine_epi64_epi8::<0>(rows, matrices);
        _mm256_store_si256(staged.0.as_mut_ptr().cast(), turned);
    }
}

/// Where the bytes of the parts are: those of the bits, of the bytes, of the groups. The rest
/// is not used.
static BY_PART: [u8; 32] = {
    let mut from = [3; 32];
    let mut i = 0;
    while i < 24 {
        from[i] = (4 * (i % 8) + i / 8) as u8;
        i += 1;
    }
    from
};

/// What turns the rows of a matrix into columns: the product with it has in byte `v` the
/// positions of value `v`, the last one in the lowest bit. The matrix of the bits is to be a
/// factor, of which the instruction takes the last row first.
static ROWS: [u64; 4] = [0x0102_0408_1020_4080, 0x8040_2010_0804_0201, 0x8040_2010_0804_0201, 0];

/// Sets what was found out, all of it in one write.
///
/// # Safety
/// 64 bytes can be read and written at `line`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
unsafe fn set(line: *mut u8, &[bits, bytes, groups, _]: &[u64; 4]) {
    // SAFETY: the table is 64 bytes.
    let eight_times = unsafe { _mm512_loadu_si512(EIGHT_TIMES.as_ptr().cast()) };
    let groups = _mm512_shuffle_epi8(_mm512_set1_epi64(groups as i64), eight_times);
    let positions = _mm512_and_si512(groups, _mm512_set1_epi64(bytes as i64));
    let mask = _mm512_gf2p8affine_epi64_epi8::<0>(positions, _mm512_set1_epi64(bits as i64));
    // SAFETY: the caller's promise.
    unsafe {
        let line = line.cast();
        _mm512_storeu_si512(line, _mm512_or_si512(_mm512_loadu_si512(line), mask));
    }
}

/// Each of 8 bytes eight times; where they are in each 16 bytes.
static EIGHT_TIMES: [u8; 64] = {
    let mut from = [0; 64];
    let mut i = 0;
    while i < 64 {
        from[i] = (i / 8) as u8;
        i += 1;
    }
    from
};

/// Which of a key's positions are not set in its line: sixteen, or if `MORE` 32.
///
/// # Safety
/// 64 bytes can be read at `line`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn unset<const MORE: bool>(line: *const u8, hash: u64) -> u32 {
    // SAFETY: the caller's promise.
    let line = unsafe { _mm512_loadu_si512(line.cast()) };
    let x = _mm512_mullo_epi32(_mm512_set1_epi32((hash >> 32) as i32), powers());
    let first = u32::from(unset_of(line, x));
    if !MORE {
        return first;
    }
    let next = _mm512_mullo_epi32(x, _mm512_set1_epi32(step_by(16) as i32));
    first | u32::from(unset_of(line, next)) << 16
}

/// Which of sixteen positions are not set: bit `i` stands for position `x[i] >> 23`.
#[inline]
#[target_feature(enable = "avx512f")]
fn unset_of(line: __m512i, x: __m512i) -> u16 {
    // Of the 9 bits of a position the top 4 are the word, the low 5 the bit in it; a
    // rotate takes its count modulo 32.
    let words = _mm512_permutexvar_epi32(_mm512_srli_epi32::<28>(x), line);
    let bits = _mm512_rolv_epi32(_mm512_set1_epi32(1), _mm512_srli_epi32::<23>(x));
    _mm512_testn_epi32_mask(words, bits)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn powers() -> __m512i {
    // SAFETY: the table is 64 bytes.
    unsafe { _mm512_loadu_si512(POWERS.as_ptr().cast()) }
}

//! RocksDB's line with AVX-512: all of it in one register, sixteen positions at a time.
//! Uses `batch`; reached only through the detection in `kernel`.

use super::super::batch::{BLOCK, Lines, Ops, Plan, Window};
use super::{POWERS, step_by};
use std::arch::x86_64::*;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// Sixteen positions at a time.
pub(in crate::kernel) struct Avx512;

impl Ops for Avx512 {
    #[inline(always)]
    fn line(lines: Lines, hash: u64) -> *const u8 {
        super::line(lines, hash)
    }

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) {
        // SAFETY: the caller's promise.
        unsafe { super::insert(lines, hash) }
    }

    #[inline(always)]
    unsafe fn insert_block<P: Plan>(lines: Lines, hashes: &[u64], window: &Window) {
        let k = lines.k();
        let mut staged = [UNSET; BLOCK];
        if k <= 16 {
            for (staged, &hash) in staged.iter_mut().zip(hashes) {
                // SAFETY: the caller vouches for the CPU.
                unsafe { stage(staged, (hash >> 32) as u32, k) };
            }
        }
        // Through memory, from where each position comes to all words at once.
        let staged = black_box(&staged);
        for (i, &hash) in hashes.iter().enumerate() {
            P::ask::<Self>(lines, window, i);
            // SAFETY: the caller vouches for the CPU and for the lines; what is read has
            // been staged.
            unsafe {
                if k <= 16 {
                    set(super::line(lines, hash), staged[i].0.assume_init_ref(), k);
                } else {
                    super::insert(lines, hash);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller vouches for the CPU and for the lines.
        unsafe { contains(super::line(lines, hash), (hash >> 32) as u32, lines.k()) }
    }
}

/// The positions of a key's bits in its line; past k, one that no line has.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Positions(MaybeUninit<[u32; 16]>);

const UNSET: Positions = Positions(MaybeUninit::uninit());

/// Finds out what a key sets: `k` bits, 1 to 16, that start with `x`.
#[inline]
#[target_feature(enable = "avx512f")]
fn stage(staged: &mut Positions, x: u32, k: u32) {
    let x = _mm512_mullo_epi32(_mm512_set1_epi32(x as i32), powers());
    let none = _mm512_set1_epi32(-1);
    let positions = _mm512_mask_srli_epi32::<23>(none, 0xFFFF >> (16 - k), x);
    // SAFETY: it is 64 aligned bytes.
    unsafe { _mm512_store_si512(staged.0.as_mut_ptr().cast(), positions) };
}

/// Sets what was found out, all of it in one write. A one is shifted in each of the 16 words
/// by the position less where the word begins: by 32 or more, which leaves nothing, in all
/// but one of them.
///
/// # Safety
/// 64 bytes can be read and written at `line`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn set(line: *mut u8, positions: &[u32; 16], k: u32) {
    // SAFETY: the array is 64 bytes.
    let begins = unsafe { _mm512_loadu_si512(BEGINS.as_ptr().cast()) };
    let bit = |position: u32| {
        let from = _mm512_sub_epi32(_mm512_set1_epi32(position as i32), begins);
        _mm512_sllv_epi32(_mm512_set1_epi32(1), from)
    };
    let mut sum = _mm512_setzero_si512();
    for pair in positions.as_chunks::<2>().0.iter().take(k.div_ceil(2) as usize) {
        sum = _mm512_ternarylogic_epi32::<0xFE>(sum, bit(pair[0]), bit(pair[1]));
    }
    // SAFETY: the caller's promise.
    unsafe {
        let line = line.cast();
        _mm512_storeu_si512(line, _mm512_or_si512(_mm512_loadu_si512(line), sum));
    }
}

/// The first position of each word of a line.
static BEGINS: [u32; 16] =
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480];

/// Whether the line has the `k` bits that start with `x`.
///
/// # Safety
/// 64 bytes can be read at `line`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn contains(line: *const u8, x: u32, k: u32) -> bool {
    // SAFETY: the caller's promise.
    let line = unsafe { _mm512_loadu_si512(line.cast()) };
    let x = _mm512_mullo_epi32(_mm512_set1_epi32(x as i32), powers());
    let unset = unset(line, x);
    if k <= 16 {
        return unset & (0xFFFF >> (16 - k)) == 0;
    }
    let next = _mm512_mullo_epi32(x, _mm512_set1_epi32(step_by(16) as i32));
    let unset = u32::from(unset) | u32::from(self::unset(line, next)) << 16;
    unset & (u32::MAX >> (32 - k)) == 0
}

/// Which of sixteen positions are not set: bit `i` stands for position `x[i] >> 23`.
#[inline]
#[target_feature(enable = "avx512f")]
fn unset(line: __m512i, x: __m512i) -> u16 {
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

//! RocksDB's line with AVX-512: all of it in one register, sixteen positions at a time.
//! Uses `batch`; reached only through the detection in `kernel`.

use super::super::batch::{BLOCK, Lines, Ops, Plan, Window};
use super::{POWERS, first_of, step_by};
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
        let k = lines.k() as usize;
        let mut staged = Staged { words: [UNSET; BLOCK], bits: [UNSET; BLOCK] };
        if k <= 8 {
            for (i, &hash) in hashes.iter().enumerate() {
                // SAFETY: the caller vouches for the CPU.
                unsafe { stage(&mut staged, i, (hash >> 32) as u32, k) };
            }
        }
        let staged = black_box(&staged);
        for (i, &hash) in hashes.iter().enumerate() {
            P::ask::<Self>(lines, window, i);
            // SAFETY: the caller vouches for the CPU and for the lines; what is read has
            // been staged.
            unsafe {
                if k <= 8 {
                    let words = staged.words[i].assume_init_ref();
                    let bits = staged.bits[i].assume_init_ref();
                    set(super::line(lines, hash), words, bits);
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

/// For each of 64 keys, of up to 8 positions: the word of the line, as one of 16 bits, and
/// the bit in that word.
#[repr(align(64))]
struct Staged {
    words: [Eight; BLOCK],
    bits: [Eight; BLOCK],
}

/// A value for each of 8 positions, written as one register.
type Eight = MaybeUninit<[u32; 8]>;

const UNSET: Eight = Eight::uninit();

/// `FIRST[count]`: the first `count` of eight positions, the first one again for the rest:
/// to set a bit twice is to set it, and eight are quicker than a loop of six.
static FIRST: [[u32; 8]; 9] = first_of([0, 1, 2, 3, 4, 5, 6, 7]);

/// Finds out what a key sets: `count` bits, 1 to 8, that start with `x`.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512vl")]
fn stage(staged: &mut Staged, i: usize, x: u32, count: usize) {
    let one = _mm256_set1_epi32(1);
    // SAFETY: the rows and the places are 32 bytes; a table of powers is longer.
    unsafe {
        let powers = _mm256_loadu_si256(POWERS.as_ptr().cast());
        let first = _mm256_loadu_si256(FIRST[count].as_ptr().cast());
        let x = _mm256_mullo_epi32(_mm256_set1_epi32(x as i32), powers);
        let x = _mm256_permutevar8x32_epi32(x, first);
        let word = _mm256_sllv_epi32(one, _mm256_srli_epi32::<28>(x));
        let bit = _mm256_rolv_epi32(one, _mm256_srli_epi32::<23>(x));
        _mm256_store_si256(staged.words[i].as_mut_ptr().cast(), word);
        _mm256_store_si256(staged.bits[i].as_mut_ptr().cast(), bit);
    }
}

/// Sets what was found out, all of it in one write.
///
/// # Safety
/// 64 bytes can be read and written at `line`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn set(line: *mut u8, words: &[u32; 8], bits: &[u32; 8]) {
    let mut sum = _mm512_setzero_si512();
    for i in 0..8 {
        let bit = _mm512_set1_epi32(bits[i] as i32);
        sum = _mm512_mask_or_epi32(sum, words[i] as u16, sum, bit);
    }
    // SAFETY: the caller's promise.
    unsafe {
        let line = line.cast();
        _mm512_storeu_si512(line, _mm512_or_si512(_mm512_loadu_si512(line), sum));
    }
}

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

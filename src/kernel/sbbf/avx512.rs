//! Batches of Parquet's split blocks with AVX-512. A block is half a register, so keys are tested one by one, as
//! with AVX2. But where their blocks are is computed for 8 at once, and the answers of 64 come out of one compare:
//! `vptestnmd` leaves a byte for each key, the words whose bit is not set.

use super::super::batch::{Lookahead, Ops, Plan, TILE};
use super::super::lines::Lines;
use super::{LOG2, X86, prefetch_block, x86};
use std::arch::x86_64::*;
use std::hint::black_box;

/// A block at a time, 64 answers at once.
pub(in crate::kernel) struct Avx512;

impl Ops for Avx512 {
    const LINE_LOG2: u32 = LOG2;

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { X86::insert(lines, hash) }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { X86::contains(lines, hash) }
    }

    #[inline(always)]
    fn prefetch<const HINT: u8>(lines: Lines, hash: u64) {
        prefetch_block::<HINT>(lines, hash);
    }

    #[inline(always)]
    unsafe fn probe_tile<P: Plan>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) -> u64 {
        let (eights, rest) = hashes.as_chunks();
        // SAFETY: the caller vouches for the CPU and for the blocks.
        let hits = unsafe {
            if rest.is_empty() {
                probe::<P>(lines, eights, lookahead)
            } else {
                // Those past the end are probed with hash 0, whose block every filter has.
                let mut padded = [[0; 8]; TILE / 8];
                padded.as_flattened_mut()[..hashes.len()].copy_from_slice(hashes);
                probe::<P>(lines, &padded[..=eights.len()], lookahead)
            }
        };
        hits & u64::MAX >> (TILE - hashes.len())
    }
}

/// What is stored and loaded by whole registers, on the stack: across two cache lines each would take twice as long.
#[repr(align(64))]
struct InLines<T>(T);

/// The answers for up to 8 groups of 8 hashes; ones beyond.
///
/// # Safety
/// As for `Ops`.
#[inline(always)]
unsafe fn probe<P: Plan>(lines: Lines, hashes: &[[u64; 8]], lookahead: &Lookahead) -> u64 {
    // SAFETY: the caller vouches for the CPU and for the blocks, whose offsets these are.
    unsafe {
        let mut offsets = InLines([[0; 8]; TILE / 8]);
        for (offsets, hashes) in offsets.0.iter_mut().zip(hashes) {
            *offsets = offsets_of(hashes, lines.count());
        }
        // Through memory on purpose: to take a lane out of a register takes longer than a load.
        let InLines(offsets) = black_box(&offsets);
        let mut unset = InLines([[0_u8; 8]; TILE / 8]);
        for (i, hashes) in hashes.iter().enumerate().take(TILE / 8) {
            for (j, &hash) in hashes.iter().enumerate() {
                P::prefetch::<Avx512>(lines, lookahead, 8 * i + j);
                unset.0[i][j] = unset_words(lines.first().add(offsets[i][j] as usize), hash);
            }
        }
        answers(&unset.0)
    }
}

/// How many bytes are before the blocks of 8 hashes, of so many blocks, fewer than 2^32.
#[inline]
#[target_feature(enable = "avx512f")]
fn offsets_of(hashes: &[u64; 8], count: u64) -> [u64; 8] {
    // SAFETY: the hashes are 64 bytes.
    let high = _mm512_srli_epi64::<32>(unsafe { _mm512_loadu_si512(hashes.as_ptr().cast()) });
    let product = _mm512_mul_epu32(high, _mm512_set1_epi64(count as i64));
    let index = _mm512_srli_epi64::<32>(product);
    let mut offsets = [0; 8];
    // SAFETY: the offsets are 64 bytes.
    unsafe {
        _mm512_storeu_si512(offsets.as_mut_ptr().cast(), _mm512_slli_epi64::<LOG2>(index));
    }
    offsets
}

/// The words of the block in which the bit of a key is not set: a bit for each.
///
/// # Safety
/// 32 bytes can be read at `block`.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
unsafe fn unset_words(block: *const u8, hash: u64) -> u8 {
    // SAFETY: the caller's promise.
    let words = unsafe { _mm256_loadu_si256(block.cast()) };
    _mm256_testn_epi32_mask(words, x86::mask(hash))
}

/// The keys that have no such word.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn answers(unset: &[[u8; 8]; TILE / 8]) -> u64 {
    // SAFETY: they are 64 bytes.
    let unset = unsafe { _mm512_loadu_si512(unset.as_ptr().cast()) };
    _mm512_testn_epi8_mask(unset, unset)
}

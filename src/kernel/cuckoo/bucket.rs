//! Buckets of four fingerprints: where they are, and whether one has a fingerprint.

use super::super::lines::Lines;
use super::super::prefetch::{Prefetch, ahead, prefetch};
use crate::layouts::cuckoo::{fingerprint, first, offset, other};

/// Stands for bits of a fingerprint that are known only at run time.
pub(super) const ANY: u32 = 0;

/// The bits of a fingerprint, in the place of k. Code for each of them takes three times the space;
/// it makes AVX2 20 % faster, AVX-512 not.
#[inline(always)]
pub(super) fn bits<const BITS: u32>(lines: Lines) -> u32 {
    match (BITS, lines.fingerprint_bits()) {
        (ANY, bits @ (8 | 12)) => bits,
        (ANY, _) => 16,
        _ => BITS,
    }
}

/// The addresses of the two buckets of a hash.
#[inline(always)]
pub(super) fn addresses(bits: u32, lines: Lines, hash: u64) -> [*const u8; 2] {
    let first = first(hash, bits, lines.count());
    let other = other(first, fingerprint(hash, bits), bits, lines.count());
    let start = lines.first().cast_const();
    [start.wrapping_add(offset(first, bits)), start.wrapping_add(offset(other, bits))]
}

/// Prefetches both buckets of a hash. One function for all fingerprints.
#[inline(always)]
pub(super) fn prefetch_buckets<const HINT: u8>(lines: Lines, hash: u64) {
    addresses(bits::<ANY>(lines), lines, hash).into_iter().for_each(prefetch::<HINT>);
}

/// [`Ops::prefetches_few`](super::super::batch::Ops::prefetches_few): to find the buckets twice pays in
/// memory alone, and for more than a few keys, since no branch keeps the CPU from looking ahead.
#[inline(always)]
pub(super) fn prefetches_few(keys: usize, bytes: usize) -> bool {
    keys >= ahead::FEWEST_CUCKOO && Prefetch::to_probe(bytes) == Prefetch::FarAndNear
}

/// A 1 in the lowest bit of each slot.
pub(super) const fn ones(bits: u32) -> u64 {
    1 | 1 << bits | 1 << (2 * bits) | 1 << (3 * bits)
}

/// A bucket as a number, the first slot in its lowest bits. Of 12-bit fingerprints, 16 bits
/// follow which do not belong to it.
///
/// # Safety
/// `at` is where a bucket begins, in a line that can be read.
#[inline(always)]
pub(super) unsafe fn read(bits: u32, at: *const u8) -> u64 {
    // SAFETY: a bucket has 4 bytes for 8 bits, 8 for 16, and 6 for 12: the last of those
    // begins at byte 54 of its line, so that 8 can be read there too.
    unsafe {
        match bits {
            8 => u32::from_le(at.cast::<u32>().read_unaligned()).into(),
            _ => u64::from_le(at.cast::<u64>().read_unaligned()),
        }
    }
}

/// Whether one of the buckets has the fingerprint. `pattern` has it in all slots.
///
/// A matching slot becomes zero, and subtracting 1 from zero sets the highest bit, which was not
/// set. The slots above may then be wrong, but not the answer.
#[inline(always)]
pub(super) fn found(bits: u32, words: [u64; 2], pattern: u64) -> bool {
    let ones = ones(bits);
    let slots = [words[0] ^ pattern, words[1] ^ pattern];
    let zeros = [slots[0].wrapping_sub(ones) & !slots[0], slots[1].wrapping_sub(ones) & !slots[1]];
    (zeros[0] | zeros[1]) & (ones << (bits - 1)) != 0
}

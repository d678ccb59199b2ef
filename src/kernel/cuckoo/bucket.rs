//! Buckets of four fingerprints: where they are, and whether one has a fingerprint.

use super::super::lines::Lines;
use super::super::prefetch::{Prefetch, Reads, ahead, prefetch};
use crate::layouts::cuckoo::{self, PAGE, STEP, buckets, fingerprint, last_page};
use crate::line::{LINE_BYTES, line_index};
use std::hint::select_unpredictable;

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

/// In a filter of fewer lines, 64 KiB, the last page has one in fifteen keys or more: a branch on it would be
/// mispredicted for most of these.
const FEWEST_LINES: u64 = 16 * PAGE;

/// Whether a key is probed as one of the last page, which may be longer than the others: in a small filter
/// all are, so that the branch on this is always the same way.
#[inline(always)]
pub(super) fn is_in_last_page(lines: Lines, hash: u64) -> bool {
    lines.count() < FEWEST_LINES
        || line_index(hash, lines.count()) / PAGE * PAGE + 2 * PAGE > lines.count()
}

/// True for all hashes of the last page, and for some that are up to 63 lines before it: cheaper than the exact test.
#[inline(always)]
pub(super) fn is_near_end(lines: Lines, hash: u64) -> bool {
    line_index(hash, lines.count()) + 2 * PAGE > lines.count()
}

/// The addresses of the two buckets of a hash. If it is in `ANY_PAGE`, not only [before the
/// last](is_in_last_page), where that begins has to be computed.
#[inline(always)]
pub(super) fn addresses<const ANY_PAGE: bool>(
    bits: u32,
    lines: Lines,
    hash: u64,
) -> [*const u8; 2] {
    let [first, other] = offsets::<ANY_PAGE>(bits, lines.count(), hash);
    let start = lines.first().cast_const();
    [start.wrapping_add(first as usize), start.wrapping_add(other as usize)]
}

/// Where the two buckets of a hash are in so many lines, without a branch and in few instructions: in
/// memory, the fewer there are, the more misses overlap.
#[inline(always)]
fn offsets<const ANY_PAGE: bool>(bits: u32, count: u64, hash: u64) -> [u64; 2] {
    let line = line_index(hash, count);
    let (mut page, mut in_page) = (line & !(PAGE - 1), PAGE);
    if ANY_PAGE {
        let (last, in_last) = last_page(count);
        in_page = select_unpredictable(page < last, PAGE, in_last);
        page = page.min(last);
    }
    let fingerprint = fingerprint(hash, bits);
    let m = u64::from((fingerprint as u32).wrapping_mul(STEP));
    let far = fingerprint.is_multiple_of(cuckoo::ANY_PAGE);
    let start = select_unpredictable(far, 0, page);
    let range = select_unpredictable(far, count, in_page);
    let other = start + minus((m * range) >> 32, line - start, range);
    let in_line = in_line(bits, hash, m);
    [line * LINE_BYTES as u64 + in_line[0], other * LINE_BYTES as u64 + in_line[1]]
}

/// Where in their lines the two buckets begin.
#[inline(always)]
fn in_line(bits: u32, hash: u64, m: u64) -> [u64; 2] {
    let (count, size) = (buckets(bits), u64::from(bits / 2));
    if count.is_power_of_two() && size.is_power_of_two() {
        // The highest of 16 bits are the number of a bucket; its size moves them up.
        let (down, wrap) = (16 - (count * size).ilog2(), (count - 1) * size);
        let first = hash >> 16 >> down & wrap;
        return [first, (m >> down).wrapping_sub(first) & wrap];
    }
    let first = ((hash >> 16 & 0xFFFF) * count) >> 16;
    [first * size, minus(((m & 0xFFFF) * count) >> 16, first, count) * size]
}

/// `(a - b) mod n`, for `a` and `b` below `n`.
#[inline(always)]
fn minus(a: u64, b: u64, n: u64) -> u64 {
    let difference = a.wrapping_sub(b);
    select_unpredictable(a < b, difference.wrapping_add(n), difference)
}

/// Prefetches both buckets of a hash. One function for all fingerprints.
#[inline(always)]
pub(super) fn prefetch_buckets<const HINT: u8>(lines: Lines, hash: u64) {
    addresses::<true>(bits::<ANY>(lines), lines, hash).into_iter().for_each(prefetch::<HINT>);
}

/// [`Ops::prefetches_few`](super::super::batch::Ops::prefetches_few): to find the buckets twice pays in
/// memory alone, and for more than a few keys, since no branch keeps the CPU from looking ahead.
#[inline(always)]
pub(super) fn prefetches_few(keys: usize, bytes: usize) -> bool {
    keys >= ahead::FEWEST_CUCKOO && Prefetch::to_probe(Reads::One, bytes) == Prefetch::FarAndNear
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

/// Whether one of the buckets has the fingerprint.
///
/// XORed with it, a matching slot becomes zero, and subtracting 1 from zero sets the highest bit, which
/// was not set. The slots above may then be wrong, but not the answer.
#[inline(always)]
pub(super) fn found(bits: u32, words: [u64; 2], fingerprint: u64) -> bool {
    if bits == 8 {
        // Both buckets fit in a word.
        const ONES: u64 = ones(8) | ones(8) << 32;
        let slots = (words[0] | words[1] << 32) ^ (fingerprint * ONES);
        return slots.wrapping_sub(ONES) & !slots & ONES << 7 != 0;
    }
    let ones = ones(bits);
    let pattern = fingerprint * ones;
    let slots = [words[0] ^ pattern, words[1] ^ pattern];
    let zeros = [slots[0].wrapping_sub(ones) & !slots[0], slots[1].wrapping_sub(ones) & !slots[1]];
    (zeros[0] | zeros[1]) & (ones << (bits - 1)) != 0
}

#[cfg(test)]
#[test]
fn buckets_are_where_the_definition_has_them() {
    let hash = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23) ^ i << 40;
    // The last is as many as memory can address.
    let most = (usize::MAX as u64 / 64).min(u32::MAX.into());
    let counts = (1..=400).chain([1_000, 4_095, 4_096, 4_097, 123_456, most]);
    for (count, bits) in counts.flat_map(|count| [8, 12, 16].map(|bits| (count, bits))) {
        // Fingerprints of all remainders, and those that are 0 in the hash.
        for hash in (0..200).map(hash).chain((0..50).map(|i| hash(i) >> 16 << 16)) {
            let first = cuckoo::first(hash, bits, count);
            let other = cuckoo::other(first, fingerprint(hash, bits), bits, count);
            let expected = [first, other].map(|at| cuckoo::offset(at, bits) as u64);
            assert_eq!(offsets::<true>(bits, count, hash), expected, "{bits}, {count}, {hash:x}");
            let (last, _) = last_page(count);
            let lines = Lines::some(std::ptr::without_provenance_mut(64), count as usize, bits);
            let in_last_page = count < FEWEST_LINES || first.line >= last;
            assert_eq!(is_in_last_page(lines, hash), in_last_page, "{count}, {hash:x}");
            let is_before = first.line + 2 * PAGE <= last;
            assert!(is_near_end(lines, hash) || first.line < last, "{count}, {hash:x}");
            assert!(!(is_before && is_near_end(lines, hash)), "{count}, {hash:x}");
            if first.line < last {
                assert_eq!(
                    offsets::<false>(bits, count, hash),
                    expected,
                    "{bits}, {count}, {hash:x}"
                );
            }
        }
    }
}

//! The lines of a cuckoo filter, in their plainest form.
//!
//! For each key, one of the 4 slots of one of two **buckets** stores a **fingerprint** of 8, 12 or
//! 16 bits, never 0. A line of 64 bytes has as many buckets as fit, so a key takes at most two
//! lines. The hash gives the fingerprint and the first bucket. The alternate bucket follows from
//! the fingerprint and its present bucket, so a fingerprint can move without its key. For seven
//! of eight fingerprints it is in the same **page** of 64 lines, 4 KiB: reaching it costs little
//! more, because finding the page is what is slow. For the eighth it is anywhere. Otherwise pages
//! that happen to get more keys than others would be full too early:
//!
//! ```text
//! fingerprint = low `bits` bits of hash; 1 if these are 0
//! first       = line   high 64 bits of (hash * line_count)
//!               bucket bits 16 to 31 of hash * buckets / 2^16, rounded down
//! other       , from m = fingerprint * 0x9E3779B1 (mod 2^32), in `range` lines from `start` on:
//!               line   start + (m * range / 2^32 - (line - start)) mod range
//!               bucket (low 16 bits of m * buckets / 2^16 - bucket) mod buckets
//! range       = the page of the line, or all lines if 8 divides the fingerprint; the last page
//!               has up to 127 lines
//! ```
//!
//! The alternate of the alternate is the first, for any number of lines and of buckets.
//!
//! This is the definition. Its code inserts and removes. The backends in `kernel/` probe; the
//! tests compare them with [`contains`].
//!
//! ```
//! use bloomline::definition::cuckoo;
//!
//! let mut lines = [0; 64 * 10];
//! let hash = bloomline::hash::hash("apple", 0);
//! assert_eq!(cuckoo::insert(&mut lines, 12, hash), Some(true)); // fingerprints of 12 bits
//! assert!(cuckoo::remove(&mut lines, 12, hash) && !cuckoo::contains(&lines, 12, hash));
//! ```

use crate::line::{LINE_BYTES, line_index};

/// Fingerprints in a bucket.
pub const SLOTS: u64 = 4;
/// The factor that spreads fingerprints over lines: 2^32 / golden ratio.
pub const STEP: u32 = 0x9E37_79B1;
/// The most lines of a cuckoo filter, so that two 32-bit products find a line.
pub const MAX_LINES: u64 = u32::MAX as u64;
/// Lines in a page; the last page also has those left over.
pub const PAGE: u64 = 64;
/// One of so many fingerprints has its alternate bucket in any page.
pub const ANY_PAGE: u64 = 8;
/// The most fingerprints that an insert relocates before it gives up and moves them all back.
pub const MAX_KICKS: u32 = 2048;

/// The relocations that a filter may waste on searches that fail: see [`Budget`].
pub const MAX_WASTE: u32 = 16 * MAX_KICKS;
/// What an insert may always relocate, and what each key inserted adds to the [`Budget`].
pub const LEAST_KICKS: u32 = 8;

/// A bucket: its line, and its number in that line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Below the line count.
    pub line: u64,
    /// Below [`buckets`].
    pub bucket: u64,
}

/// Buckets in a line: 16, 10 or 8 for fingerprints of 8, 12 or 16 bits.
///
/// # Panics
/// For other fingerprints.
#[inline(always)]
pub const fn buckets(bits: u32) -> u64 {
    match bits {
        8 => 16,
        12 => 10,
        16 => 8,
        _ => panic!("fingerprints have 8, 12 or 16 bits"),
    }
}

/// Returns the fingerprint of a hash: 1 to `2^bits - 1`. 0 is a free slot.
#[inline(always)]
pub const fn fingerprint(hash: u64, bits: u32) -> u64 {
    let low = hash & ((1 << bits) - 1);
    if low == 0 { 1 } else { low }
}

/// Returns the first bucket of a key.
#[inline(always)]
pub const fn first(hash: u64, bits: u32, line_count: u64) -> Bucket {
    let bucket = ((hash >> 16 & 0xFFFF) * buckets(bits)) >> 16;
    Bucket { line: line_index(hash, line_count), bucket }
}

/// Returns the alternate bucket of a fingerprint whose bucket is `from`. It can be the same one.
#[inline(always)]
pub const fn other(from: Bucket, fingerprint: u64, bits: u32, line_count: u64) -> Bucket {
    let m = (fingerprint as u32).wrapping_mul(STEP) as u64;
    let (start, range) = range(from.line, fingerprint, line_count);
    let line = (m * range) >> 32;
    let bucket = ((m & 0xFFFF) * buckets(bits)) >> 16;
    Bucket {
        line: start + minus(line, from.line - start, range),
        bucket: minus(bucket, from.bucket, buckets(bits)),
    }
}

/// The lines that can hold the alternate bucket of a fingerprint in this line: the first of them,
/// and how many.
#[inline(always)]
const fn range(line: u64, fingerprint: u64, line_count: u64) -> (u64, u64) {
    let (last, in_last) = last_page(line_count);
    let page = line - line % PAGE;
    if fingerprint.is_multiple_of(ANY_PAGE) {
        (0, line_count)
    } else if page >= last {
        (last, in_last)
    } else {
        (page, PAGE)
    }
}

/// The first line of the last page, and how many that has.
#[inline(always)]
pub(crate) const fn last_page(line_count: u64) -> (u64, u64) {
    let last = (line_count - line_count % PAGE).saturating_sub(PAGE);
    (last, line_count - last)
}

/// `(a - b) mod n`, for `a` and `b` below `n`.
#[inline(always)]
const fn minus(a: u64, b: u64, n: u64) -> u64 {
    if a < b { a + n - b } else { a - b }
}

/// Where a bucket begins in the bytes of the lines; it has `bits / 2` bytes.
#[inline(always)]
pub const fn offset(bucket: Bucket, bits: u32) -> usize {
    bucket.line as usize * LINE_BYTES + bucket.bucket as usize * (bits as usize / 2)
}

/// Returns whether one of the key's two buckets has its fingerprint. False: definitely absent;
/// true: maybe. `lines` is the whole array.
///
/// # Panics
/// Unless `lines` is a non-zero multiple of 64 bytes, and `bits` is 8, 12 or 16.
#[inline(always)]
pub fn contains(lines: &[u8], bits: u32, hash: u64) -> bool {
    let (fingerprint, places) = places(lines, bits, hash);
    places.into_iter().any(|at| slot_of(read(lines, at, bits), bits, fingerprint).is_some())
}

/// Puts the key's fingerprint into a free slot of one of its buckets. If both are full, it
/// replaces another fingerprint, which moves to its own alternate bucket, and so on, [`MAX_KICKS`]
/// times at most.
///
/// Returns whether the key was new, as [`contains`] would have said; `None` if there was no room.
/// The lines are then unchanged.
///
/// # Panics
/// As [`contains`].
#[inline(always)]
pub fn insert(lines: &mut [u8], bits: u32, hash: u64) -> Option<bool> {
    insert_within(lines, bits, hash, MAX_KICKS).new
}

/// What [`insert_within`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// What [`insert`] returns.
    pub new: Option<bool>,
    /// How many fingerprints it relocated; if there was no room, it moved as many back.
    pub kicks: u32,
}

/// As [`insert`], but relocates `most` fingerprints at most. The relocations are the first ones of
/// [`insert`]: where both insert the key, the lines are the same.
///
/// # Panics
/// As [`contains`].
#[inline(always)]
pub fn insert_within(lines: &mut [u8], bits: u32, hash: u64, most: u32) -> Inserted {
    let line_count = count(lines);
    let (mut fingerprint, [first, mut at]) = places(lines, bits, hash);
    let words = [read(lines, first, bits), read(lines, at, bits)];
    let absent_from = |word| slot_of(word, bits, fingerprint).is_none();
    let new = absent_from(words[0]) && absent_from(words[1]);
    for (at, word) in [(first, words[0]), (at, words[1])] {
        if let Some(slot) = slot_of(word, bits, 0) {
            write(lines, at, bits, word | fingerprint << (slot * u64::from(bits)));
            return Inserted { new: Some(new), kicks: 0 };
        }
    }
    // Copies of one fingerprint would replace each other.
    if words == [fingerprint * ones(bits); 2] {
        return Inserted { new: None, kicks: 0 };
    }
    let mut dice = hash;
    for kicks in 1..=most {
        dice = dice.wrapping_mul(DICE).wrapping_add(1);
        fingerprint = swap(lines, at, bits, dice >> 62, fingerprint);
        at = other(at, fingerprint, bits, line_count);
        if let Some(slot) = slot_of(read(lines, at, bits), bits, 0) {
            swap(lines, at, bits, slot, fingerprint);
            return Inserted { new: Some(new), kicks };
        }
    }
    // The same way back: each step follows from the one after it.
    for _ in 0..most {
        at = other(at, fingerprint, bits, line_count);
        fingerprint = swap(lines, at, bits, dice >> 62, fingerprint);
        dice = dice.wrapping_sub(1).wrapping_mul(DICE_BACK);
    }
    Inserted { new: None, kicks: most }
}

/// The multiplier of the sequence that chooses the slot to vacate, and its inverse.
const DICE: u64 = 0x9E37_79B9_7F4A_7C15;
const DICE_BACK: u64 = 0xF1DE_83E1_9937_733D;

/// Bounds what searches that fail cost a filter that is full. A filter may waste [`MAX_WASTE`]
/// relocations on them. Each key inserted since a failed search gives [`LEAST_KICKS`] back, each
/// key removed [`MAX_KICKS`]. An insert relocates no more than is left, up to [`MAX_KICKS`], but
/// always up to [`LEAST_KICKS`].
///
/// It is no part of the bytes: a filter that was decoded begins anew. Since a shorter search is the
/// beginning of a longer one, it has room for every key that the filter it was encoded from takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// After the last search that failed.
    wasted: u32,
    /// The keys of the filter at that time. What was given back follows from it, so inserts and
    /// removals do not write here.
    keys: u64,
}

impl Budget {
    /// How many fingerprints an insert may relocate in a filter of `keys` keys.
    #[inline(always)]
    pub const fn kicks(&self, keys: u64) -> u32 {
        let left = MAX_WASTE - self.wasted(keys);
        if left > MAX_KICKS {
            MAX_KICKS
        } else if left < LEAST_KICKS {
            LEAST_KICKS
        } else {
            left
        }
    }

    /// Notes a failed search that relocated so many, in a filter of `keys` keys.
    pub fn waste(&mut self, kicks: u32, keys: u64) {
        let wasted = self.wasted(keys).saturating_add(kicks).min(MAX_WASTE);
        *self = Budget { wasted, keys };
    }

    #[inline(always)]
    const fn wasted(&self, keys: u64) -> u32 {
        let back = if keys < self.keys {
            (self.keys - keys).saturating_mul(MAX_KICKS as u64)
        } else {
            (keys - self.keys).saturating_mul(LEAST_KICKS as u64)
        };
        (self.wasted as u64).saturating_sub(back) as u32
    }
}

/// Frees one slot that has the key's fingerprint. Returns false if none has.
///
/// # Panics
/// As [`contains`].
#[inline(always)]
pub fn remove(lines: &mut [u8], bits: u32, hash: u64) -> bool {
    let (fingerprint, places) = places(lines, bits, hash);
    for at in places {
        if let Some(slot) = slot_of(read(lines, at, bits), bits, fingerprint) {
            swap(lines, at, bits, slot, 0);
            return true;
        }
    }
    false
}

/// Counts the slots that are not free.
///
/// # Panics
/// As [`contains`].
pub fn taken(lines: &[u8], bits: u32) -> u64 {
    let places = (0..count(lines))
        .flat_map(|line| (0..buckets(bits)).map(move |bucket| Bucket { line, bucket }));
    places
        .map(|at| {
            let word = read(lines, at, bits);
            (0..SLOTS).filter(|&slot| fingerprint_in(word, slot, bits) != 0).count() as u64
        })
        .sum()
}

/// The key's fingerprint and its two buckets.
#[inline(always)]
fn places(lines: &[u8], bits: u32, hash: u64) -> (u64, [Bucket; 2]) {
    let fingerprint = fingerprint(hash, bits);
    let first = first(hash, bits, count(lines));
    (fingerprint, [first, other(first, fingerprint, bits, count(lines))])
}

#[inline(always)]
fn count(lines: &[u8]) -> u64 {
    assert!(!lines.is_empty() && lines.len().is_multiple_of(LINE_BYTES), "whole lines");
    (lines.len() / LINE_BYTES) as u64
}

/// The four slots of a bucket as one number, the first in its lowest bits.
#[inline(always)]
fn read(lines: &[u8], at: Bucket, bits: u32) -> u64 {
    let mut word = [0; 8];
    let len = bits as usize / 2;
    word[..len].copy_from_slice(&lines[offset(at, bits)..][..len]);
    u64::from_le_bytes(word)
}

#[inline(always)]
fn write(lines: &mut [u8], at: Bucket, bits: u32, word: u64) {
    let len = bits as usize / 2;
    lines[offset(at, bits)..][..len].copy_from_slice(&word.to_le_bytes()[..len]);
}

#[inline(always)]
fn fingerprint_in(word: u64, slot: u64, bits: u32) -> u64 {
    word >> (slot * u64::from(bits)) & ((1 << bits) - 1)
}

/// A 1 in the lowest bit of each slot.
#[inline(always)]
const fn ones(bits: u32) -> u64 {
    1 | 1 << bits | 1 << (2 * bits) | 1 << (3 * bits)
}

/// The first slot of a bucket, whose four slots are `word`, that has this fingerprint.
#[inline(always)]
fn slot_of(word: u64, bits: u32, fingerprint: u64) -> Option<u64> {
    let ones = ones(bits);
    // Where the slot has it, this is 0, and only a 0 borrows: the lowest such slot is exact.
    let differs = word ^ (fingerprint * ones);
    let equal = differs.wrapping_sub(ones) & !differs & (ones << (bits - 1));
    (equal != 0).then(|| u64::from(equal.trailing_zeros() / bits))
}

/// Puts a fingerprint into a slot and returns what was there.
#[inline(always)]
fn swap(lines: &mut [u8], at: Bucket, bits: u32, slot: u64, fingerprint: u64) -> u64 {
    let word = read(lines, at, bits);
    let old = fingerprint_in(word, slot, bits);
    write(lines, at, bits, word ^ (old ^ fingerprint) << (slot * u64::from(bits)));
    old
}

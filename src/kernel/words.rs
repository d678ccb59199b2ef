//! An opened filter as words: the content of a `bloomline_view` of C, which probes read in place.

use super::batch::Ops;
use super::layout::{Layout, SHARED_NATIVE};
use super::single::{Call, Single};
use crate::hash::xxph3::xxph3;
use crate::hash::{KeyHash, of_short};

/// A filter in caller-owned bytes. In C it is a plain struct, which a caller can zero, forget to
/// open, or overwrite. The check word detects that in a few instructions.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Words {
    pub(super) single: Single<'static>,
    seed: u64,
    key_count: u64,
    /// From the lowest bit on: 8 bits of the detail, 8 of the kernel, 16 of the way of hashing; the
    /// other bits of the detail.
    shape: u64,
    check: u64,
}

/// The numbers, in [`Words::shape`], of the ways of hashing that have short paths.
const XXH3: u64 = KeyHash::Xxh3(0).number().0;
const XXPH3: u64 = KeyHash::Xxph3.number().0;

/// Filters of RocksDB's present kind.
const ROCKS_DB: u64 = Layout::FastLocal as u64 | XXPH3 << 8;

/// The way of hashing in a [`Words::shape`].
#[inline(always)]
fn hash_in(shape: u64) -> u64 {
    u64::from((shape >> 16) as u16)
}

impl Words {
    /// Of lines that the kernel of that number probes.
    pub(crate) fn new(
        single: Single<'_>,
        detail: u32,
        number: u16,
        hash: KeyHash,
        key_count: u64,
    ) -> Words {
        let (hash, seed) = hash.number();
        let shape = u64::from(detail as u8) | u64::from(number) << 8 | hash << 16;
        let shape = shape | u64::from(detail >> 8) << 32;
        let mut words = Words { single: single.unbound(), seed, key_count, shape, check: 0 };
        words.check = words.check_word();
        words
    }

    /// The check word of the others: changing any one of them always changes it, and that of zeros
    /// is not zero. Every probe computes it, so it is an instruction for each word, and one more.
    #[inline(always)]
    fn check_word(&self) -> u64 {
        // Sums and exclusive ors by turns: so most changes of several words change it, too.
        let mixed = self.single.check_word() ^ self.seed;
        let mixed = mixed.wrapping_sub(self.single.count()) ^ self.key_count;
        mixed.wrapping_add(self.shape)
    }

    /// Whether these are the words of an opened filter. If not, do not use them.
    #[inline(always)]
    pub(crate) fn are_sound(&self) -> bool {
        self.check == self.check_word()
    }

    /// Whether it is a filter of RocksDB's present kind.
    #[inline(always)]
    pub(crate) fn are_of_rocksdb(&self) -> bool {
        self.shape >> 8 == ROCKS_DB
    }

    /// The layout, if it is that of native lines or RocksDB's.
    #[inline(always)]
    pub(crate) fn lines_of(&self) -> Option<Layout> {
        const NATIVE: u64 = Layout::Native as u64;
        const SHARED: u64 = SHARED_NATIVE as u64;
        const FAST_LOCAL: u64 = Layout::FastLocal as u64;
        match self.shape >> 8 & 0xFF {
            NATIVE | SHARED => Some(Layout::Native),
            FAST_LOCAL => Some(Layout::FastLocal),
            _ => None,
        }
    }

    /// By the layout: k, the bits of a fingerprint, rows and levels as one number, or how many parts.
    #[inline(always)]
    pub(crate) fn detail(&self) -> u32 {
        self.shape as u32 & 0xFF | (self.shape >> 32 << 8) as u32
    }

    /// The number of the kernel.
    #[inline(always)]
    pub(super) fn kernel(&self) -> u16 {
        (self.shape >> 8 & 0xFF) as u16
    }

    /// The way of hashing and the seed, to be compared with those of others.
    #[inline(always)]
    pub(crate) fn hashing(&self) -> (u64, u64) {
        (hash_in(self.shape), self.seed)
    }

    /// Where the seed is.
    #[inline(always)]
    pub(crate) fn seed_at(&self) -> *const u64 {
        &raw const self.seed
    }

    /// Not 0 if another hashes keys in another way or with another seed.
    #[inline(always)]
    pub(crate) fn hashed_unlike(&self, other: &Words) -> u64 {
        hash_in(self.shape ^ other.shape) | (self.seed ^ other.seed)
    }

    /// The hash of a key of at most 16 bytes, where that takes few instructions.
    #[inline(always)]
    pub(crate) fn hash_of_short(&self, key: &[u8]) -> Option<u64> {
        match hash_in(self.shape) {
            XXH3 => Some(of_short(key, self.seed)),
            XXPH3 => Some(xxph3(key)),
            _ => None,
        }
    }

    /// The lines, to be probed for one key.
    ///
    /// # Safety
    /// The words are sound, and as for [`Probed::at`](super::shared::Probed::at).
    #[inline(always)]
    pub(crate) unsafe fn single(&self) -> &Single<'static> {
        &self.single
    }

    /// The detail, the way of hashing and the key count.
    #[inline(always)]
    pub(crate) fn shape(&self) -> (u32, KeyHash, u64) {
        (self.detail(), KeyHash::numbered(hash_in(self.shape), self.seed), self.key_count)
    }
}

/// The bytes of a `bloomline_view`, which has its words first.
pub(crate) const STRIDE: usize = 64;

/// What [`Words::answer`](super::opened) calls: where the words begin, how many, the hash, the function that
/// their filters are probed with, the room for the answers. Returns how many are true, or
/// `usize::MAX` if the filters are not all alike.
pub(super) type Views = unsafe extern "C" fn(*const Words, usize, u64, Call, &mut u64) -> usize;

/// The work of [`Views`], for a backend, a layout and a class of k.
///
/// # Safety
/// The CPU has the backend's instructions; so many words are there, [`STRIDE`] bytes behind each
/// other; those that are sound lead to lines that can be read; `contains` is by `O`.
#[inline(always)]
pub(super) unsafe fn views<O: Ops>(
    words: *const Words,
    count: usize,
    hash: u64,
    contains: Call,
    answers: &mut u64,
) -> usize {
    let mut all = 0_u64;
    // SAFETY: there is at least one, the caller's promise.
    let first = unsafe { &*words };
    // From the last on: so no register counts.
    for i in (0..count).rev() {
        // SAFETY: it is there, the caller's promise.
        let words = unsafe { &*words.byte_add(i * STRIDE) };
        let unlike = words.check ^ words.check_word()
            | words.single.called_unlike(contains)
            | (words.shape ^ first.shape)
            | (words.seed ^ first.seed);
        if unlike != 0 {
            return usize::MAX;
        }
        // SAFETY: sound, and of the same function and k as the first.
        let present = unsafe { O::contains_one(&words.single.as_of(&first.single), hash) };
        all = all << 1 | u64::from(present);
    }
    *answers = all;
    all.count_ones() as usize
}

#[cfg(test)]
mod tests {
    use super::super::{Kernels, Probed};
    use super::*;
    use std::mem::transmute;

    /// The check word covers all others, so it vouches for them.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn the_check_word_depends_on_every_word() {
        let kernel = Kernels::active().unwrap().of(Layout::Native);
        let lines = [0; 192];
        let single = Single::new(Probed::from(&lines[..]), 6, kernel);
        let words = Words::new(single, 6, kernel.number, KeyHash::Xxh3(7), 5);
        // SAFETY: words without padding are any 64 bytes, and these are not probed.
        let sound = |words: [u64; 8]| unsafe { transmute::<[u64; 8], Words>(words) }.are_sound();
        // SAFETY: as above.
        let words = unsafe { transmute::<Words, [u64; 8]>(words) };
        assert!(sound(words) && !sound([0; 8]) && !sound([u64::MAX; 8]));
        for i in 0..8 {
            for bit in 0..64 {
                let mut damaged = words;
                damaged[i] ^= 1 << bit;
                assert!(!sound(damaged), "word {i}, bit {bit}");
            }
        }
    }

    /// `bloomline_inline.h` reads the same words.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn the_inline_header_knows_the_words() {
        use std::mem::offset_of;
        let header = include_str!("../../include/bloomline_inline.h");
        let single = |field| offset_of!(Words, single) / 8 + Single::WORDS[field];
        let words = [
            ("CALL", single(0)),
            ("LINES", single(1)),
            ("COUNT", single(2)),
            ("K", single(3)),
            ("SEED", offset_of!(Words, seed) / 8),
            ("KEYS", offset_of!(Words, key_count) / 8),
            ("SHAPE", offset_of!(Words, shape) / 8),
            ("CHECK", offset_of!(Words, check) / 8),
        ];
        let numbers = words.map(|(name, at)| format!("BLOOMLINE_WORD_{name}_ = {at}"));
        let others = [
            format!("BLOOMLINE_CHECK_START_ UINT64_C(0x{:X})", Single::CHECK_START),
            format!("BLOOMLINE_C1_ UINT64_C(0x{:X})", crate::line::C1),
            format!("BLOOMLINE_C2_ UINT64_C(0x{:X})", crate::line::C2),
            format!("layout == {})", Layout::Native as u32),
            format!("layout == {SHARED_NATIVE})"),
            format!("layout == {})", Layout::FastLocal as u32),
        ];
        for text in numbers.iter().chain(&others) {
            assert!(header.contains(text), "include/bloomline_inline.h has no {text}");
        }
    }
}

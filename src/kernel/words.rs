//! An opened filter as words: the content of a `bloomline_view` of C, which probes read in place.

use super::shared::Probed;
use super::single::Single;
use super::{Kernel, Kernels, Layout};
use crate::hash::xxph3::xxph3;
use crate::hash::{KeyHash, of_short};

/// A filter in caller-owned bytes. In C it is a plain struct, which a caller can zero, forget to
/// open, or overwrite. Two check words detect that in a few instructions: one of what a probe for a
/// hash reads, one of the rest.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Words {
    single: Single<'static>,
    check: u64,
    seed: u64,
    key_count: u64,
    /// From the lowest bit on: 8 bits of k (or the bits of a fingerprint), 4 of the layout, 4 of the
    /// way of hashing; and 48 that check these, the seed and the key count.
    shape: u64,
}

/// The hash functions, as numbers in [`Words::shape`].
const XXH3: u64 = 1;
const XXPH3: u64 = 2;
const ROCKS_DB_LEGACY: u64 = 3;
const LEVEL_DB: u64 = 4;

/// Filters of RocksDB's present kind.
const ROCKS_DB: u64 = Layout::FastLocal as u64 | XXPH3 << 4;

impl Words {
    pub(crate) fn new(
        single: Single<'_>,
        k: u32,
        layout: Layout,
        hash: KeyHash,
        key_count: u64,
    ) -> Words {
        let (hash, seed) = match hash {
            KeyHash::Xxh3(seed) => (XXH3, seed),
            KeyHash::Xxph3 => (XXPH3, 0),
            KeyHash::RocksDbLegacy => (ROCKS_DB_LEGACY, 0),
            KeyHash::LevelDb => (LEVEL_DB, 0),
        };
        let shape = u64::from(k as u8) | (layout as u64) << 8 | hash << 12;
        let check = single.check_word() as u64;
        let mut words = Words { single: single.unbound(), check, seed, key_count, shape };
        words.shape |= words.check_bits() << 16;
        words
    }

    /// Whether what [`Words::single`] returns was opened. If not, do not use it.
    #[inline(always)]
    pub(crate) fn can_probe(&self) -> bool {
        self.check == self.single.check_word() as u64
    }

    /// 48 bits, of which changing any one bit of what they check changes some.
    #[inline(always)]
    fn check_bits(&self) -> u64 {
        // The factors are odd and different. The product brings a change of the lowest bits to the
        // upper ones, and one of the uppermost leaves these where they are.
        let sum = self.seed.wrapping_add(self.key_count.wrapping_mul(3));
        let sum = sum.wrapping_add((self.shape & 0xFFFF).wrapping_mul(5)).wrapping_add(1);
        sum.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16
    }

    /// Whether these are the words of an opened filter. If not, do not use them.
    #[inline(always)]
    pub(crate) fn are_sound(&self) -> bool {
        // No branch between the two.
        self.can_probe() & (self.shape >> 16 == self.check_bits())
    }

    /// Whether it is a filter of RocksDB's present kind.
    #[inline(always)]
    pub(crate) fn are_of_rocksdb(&self) -> bool {
        self.shape >> 8 & 0xFF == ROCKS_DB
    }

    /// The hash of a key of at most 16 bytes, where that takes few instructions.
    #[inline(always)]
    pub(crate) fn hash_of_short(&self, key: &[u8]) -> Option<u64> {
        match self.shape >> 12 & 0xF {
            XXH3 => Some(of_short(key, self.seed)),
            XXPH3 => Some(xxph3(key)),
            _ => None,
        }
    }

    /// The lines, to be probed for one key.
    ///
    /// # Safety
    /// The words are sound, and as for [`Probed::at`].
    #[inline(always)]
    pub(crate) unsafe fn single(&self) -> &Single<'static> {
        &self.single
    }

    /// The lines, if these words are sound.
    ///
    /// # Safety
    /// As for [`Probed::at`], if they are.
    #[inline(always)]
    pub(crate) unsafe fn open<'a>(&self) -> Option<OfWords<'a>> {
        if !self.are_sound() {
            return None;
        }
        // Words exist only after kernels were chosen.
        let kernel = Kernels::chosen()?.numbered((self.shape >> 8) as u16 & 0xF)?;
        let lines = self.single.probed(kernel.line_log2);
        Some(OfWords { lines, single: self.single, kernel })
    }

    /// k, the way of hashing and the key count.
    #[inline(always)]
    pub(crate) fn shape(&self) -> (u32, KeyHash, u64) {
        let hash = match self.shape >> 12 & 0xF {
            XXH3 => KeyHash::Xxh3(self.seed),
            XXPH3 => KeyHash::Xxph3,
            ROCKS_DB_LEGACY => KeyHash::RocksDbLegacy,
            _ => KeyHash::LevelDb,
        };
        (self.shape as u32 & 0xFF, hash, self.key_count)
    }
}

/// What words lead to.
pub(crate) struct OfWords<'a> {
    pub(crate) lines: Probed<'a>,
    pub(crate) single: Single<'a>,
    pub(crate) kernel: &'static Kernel,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::transmute;

    /// All words are covered, each in its place, so they vouch for each other.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn the_checks_depend_on_every_word_and_its_place() {
        let kernel = Kernels::active().unwrap().of(Layout::Native);
        let single = Single::new(Probed::from(&[0; 192][..]), 6, kernel);
        let words = Words::new(single, 6, Layout::Native, KeyHash::Xxh3(7), 5);
        // SAFETY: words without padding are any 64 bytes; none is probed.
        let (as_words, as_numbers) = unsafe {
            (|w: [u64; 8]| transmute::<_, Words>(w), transmute::<Words, [u64; 8]>(words))
        };
        assert!(as_words(as_numbers).are_sound());
        assert!(!as_words([0; 8]).are_sound() && !as_words([0; 8]).can_probe());
        for i in 0..8 {
            for j in 0..i {
                let mut swapped = as_numbers;
                swapped.swap(i, j);
                let swapped = as_words(swapped);
                assert!(!swapped.are_sound(), "words {i} and {j} swapped");
                assert!(j > 4 || !swapped.can_probe(), "words {i} and {j} swapped");
            }
            for bit in 0..64 {
                let mut damaged = as_numbers;
                damaged[i] ^= 1 << bit;
                let damaged = as_words(damaged);
                assert!(!damaged.are_sound(), "word {i}, bit {bit}");
                assert!(i > 4 || !damaged.can_probe(), "word {i}, bit {bit}");
            }
        }
    }
}

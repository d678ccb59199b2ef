//! An opened filter as six words: the content of a `bloomline_view` of C, which the shortest probes
//! read in place.

use super::Layout;
use super::shared::Probed;
use crate::hash::KeyHash;
use std::mem::transmute;
use std::ptr;

/// A filter in caller-owned bytes. In C it is a plain struct, which a caller can zero, forget to
/// open, or overwrite. The check word detects that in a few instructions.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Words {
    /// The address of the lines.
    lines: u64,
    /// Their bytes; one line at least.
    bytes: u64,
    seed: u64,
    /// k, or the bits of a fingerprint.
    pub(super) k: u32,
    /// The layout, and above it the way of hashing.
    kind: u32,
    key_count: u64,
    check: u64,
}

/// The hash functions, as numbers in [`Words::kind`].
const XXH3: u32 = 1;
const XXPH3: u32 = 2;
const ROCKS_DB_LEGACY: u32 = 3;
const LEVEL_DB: u32 = 4;

/// Filters of RocksDB's present kind.
const ROCKS_DB: u32 = Layout::FastLocal as u32 | XXPH3 << 16;

impl Words {
    pub(crate) fn new(
        lines: Probed<'_>,
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
        let mut words = Words {
            lines: lines.start().expose_provenance() as u64,
            bytes: lines.len() as u64,
            seed,
            k,
            kind: layout as u32 | hash << 16,
            key_count,
            check: 0,
        };
        words.check = words.check_word();
        words
    }

    /// The check word of the first five words: changing any one of them always changes it, and that
    /// of zeros is not zero. Every probe computes it, so it is sums and shifts.
    #[inline(always)]
    fn check_word(&self) -> u64 {
        // SAFETY: six words without padding are any 48 bytes.
        let [a, b, c, d, e, _] = unsafe { transmute::<Words, [u64; 6]>(*self) };
        // Factors that are odd, and different, and each a single instruction.
        a.wrapping_add(b.wrapping_mul(3))
            .wrapping_add(c.wrapping_mul(5))
            .wrapping_add(d.wrapping_mul(9))
            .wrapping_sub(e)
            .wrapping_add(0x4D4C_5649)
    }

    /// Whether these are the words of an opened filter. If not, do not use them.
    #[inline(always)]
    pub(crate) fn are_sound(&self) -> bool {
        self.check == self.check_word()
    }

    /// Whether it is a filter of RocksDB's present kind.
    #[inline(always)]
    pub(crate) fn are_of_rocksdb(&self) -> bool {
        self.kind == ROCKS_DB
    }

    /// Where the lines are, and how many bytes.
    ///
    /// # Safety
    /// The words are sound, and as for [`Probed::at`].
    #[inline(always)]
    pub(crate) unsafe fn lines<'a>(&self) -> Probed<'a> {
        let start = ptr::with_exposed_provenance(self.lines as usize);
        // SAFETY: the words are of bytes that were there; the caller vouches that they still are.
        unsafe { Probed::at(start, self.bytes as usize) }
    }

    /// k, the number of the layout, the way of hashing and the key count.
    #[inline(always)]
    pub(crate) fn shape(&self) -> (u32, u16, KeyHash, u64) {
        let hash = match self.kind >> 16 {
            XXH3 => KeyHash::Xxh3(self.seed),
            XXPH3 => KeyHash::Xxph3,
            ROCKS_DB_LEGACY => KeyHash::RocksDbLegacy,
            _ => KeyHash::LevelDb,
        };
        (self.k, self.kind as u16, hash, self.key_count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check word covers all words, so it vouches for these numbers.
    #[test]
    fn the_check_word_depends_on_every_word_and_its_place() {
        // SAFETY: any 48 bytes are words.
        let check = |words: [u64; 6]| unsafe { transmute::<[u64; 6], Words>(words) }.check_word();
        let words = [1, 2, 4, 8, 16, 0];
        for i in 0..5 {
            for j in 0..i {
                let mut swapped = words;
                swapped.swap(i, j);
                assert_ne!(check(swapped), check(words), "words {i} and {j} swapped");
            }
        }
    }
}

//! Hashes of a few keys, at most a tile: without the ring of a longer batch.

use super::batch::TILE;
use std::mem::MaybeUninit;

/// Room for the hashes of up to [`TILE`] keys. Not zeroed: that would take a good part of a small
/// batch's time.
pub(crate) struct FewHashes([MaybeUninit<u64>; TILE]);

impl FewHashes {
    #[inline(always)]
    pub(crate) fn new() -> FewHashes {
        FewHashes([MaybeUninit::uninit(); TILE])
    }

    /// The hashes, as many as there is room for, and a bit for each that is missing.
    #[inline(always)]
    pub(crate) fn fill(&mut self, hashes: impl Iterator<Item = MaybeHash>) -> (&[u64], u64) {
        let (mut len, mut lost) = (0, 0);
        for (hash, missing) in hashes.take(TILE) {
            self.0[len].write(hash);
            if missing {
                lost = with_bit(lost, len);
            }
            len += 1;
        }
        // SAFETY: so many have been written, from the first on.
        (unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), len) }, lost)
    }
}

/// Apart, so that keys that are there take no instruction for it.
#[cold]
#[inline(never)]
fn with_bit(bits: u64, i: usize) -> u64 {
    bits | 1 << i
}

/// A hash, and whether it is missing, for want of a key. (As an `Option` it would go through
/// memory.)
pub(crate) type MaybeHash = (u64, bool);

/// The hash of a key, if there is one.
#[cfg(feature = "capi")]
#[inline(always)]
pub(crate) fn hash_of(key: Option<&[u8]>, hash: impl FnOnce(&[u8]) -> u64) -> MaybeHash {
    match key {
        Some(key) => (hash(key), false),
        None => (0, true),
    }
}

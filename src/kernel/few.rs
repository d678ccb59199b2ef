//! Probes of a few keys by their bytes, at most a tile: without the ring of a longer batch.

use super::batch::TILE;
#[cfg(feature = "capi")]
use super::prefetch::{INTO_L1, prefetch};
#[cfg(feature = "capi")]
use super::{Layout, Single, fast_local};
#[cfg(feature = "capi")]
use crate::line::LINE_BYTES;
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

#[cfg(feature = "capi")]
impl Single<'_> {
    /// Prefetches the line of a hash: a native line, or RocksDB's. For others, and for words that
    /// are no filter's, it does no harm.
    #[inline(always)]
    pub(crate) fn prefetch_of(&self, layout: Layout, hash: u64) {
        if layout != Layout::FastLocal {
            return self.prefetch(hash);
        }
        let line = fast_local::line(self.lines(), hash);
        prefetch::<INTO_L1>(line);
        // RocksDB does not align its filters.
        prefetch::<INTO_L1>(line.wrapping_add(LINE_BYTES - 1));
    }

    /// How many bytes native lines are, or RocksDB's.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> usize {
        (self.count() as usize).wrapping_mul(LINE_BYTES)
    }
}

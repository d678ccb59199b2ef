//! Probes of a few keys by their bytes, at most a tile, as RocksDB does: without the ring of a
//! longer batch.

#[cfg(target_arch = "x86_64")]
use super::Backend;
use super::batch::{Hashes, Lines, Ops, TILE};
use super::fast_local;
use super::prefetch::{INTO_L2, Prefetch};
use super::{Kernel, Layout, Probed};
use crate::hash::xxph3::{Factors, xxph3_by};
use crate::line::LINE_BYTES;
use std::mem::MaybeUninit;

/// Room for hashes. Not zeroed: that would take some per cent of a small batch's time.
struct Room([MaybeUninit<u64>; TILE]);

impl Room {
    #[inline(always)]
    fn new() -> Room {
        Room([MaybeUninit::uninit(); TILE])
    }

    /// The hashes of the keys, as many as there is room for, and a bit for each missing key.
    #[inline(always)]
    fn make<'k>(
        &mut self,
        keys: impl Iterator<Item = Option<&'k [u8]>>,
        hash: impl Fn(&[u8]) -> u64,
    ) -> (&[u64], u64) {
        let (mut len, mut lost) = (0, 0);
        for (place, key) in self.0.iter_mut().zip(keys) {
            place.write(match key {
                Some(key) => hash(key),
                None => {
                    lost |= 1 << len;
                    0
                }
            });
            len += 1;
        }
        // SAFETY: so many have been written, from the first on.
        (unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), len) }, lost)
    }
}

impl Kernel {
    /// The answers for 1 to [`TILE`] keys, the first in the lowest bit. The lines are those of a
    /// filter of RocksDB's present kind. A missing key may be present; keys past [`TILE`] are
    /// ignored.
    #[inline(always)]
    pub(crate) fn probe_few_of_rocksdb<'k>(
        &self,
        lines: Probed<'_>,
        k: u32,
        keys: impl Iterator<Item = Option<&'k [u8]>>,
    ) -> u64 {
        debug_assert_eq!(self.layout, Layout::FastLocal);
        let at = Lines::some(lines.start().cast_mut(), lines.len() / LINE_BYTES, k);
        let prefetch = Prefetch::to_probe_few(lines.len()) != Prefetch::None;
        // Not for large filters: there each line is prefetched as soon as it is known.
        #[cfg(target_arch = "x86_64")]
        if self.backend == Backend::Avx512
            && Prefetch::to_probe(lines.len()) != Prefetch::FarAndNear
        {
            // SAFETY: this CPU runs the kernel, since it exists; the lines can be read.
            return unsafe { fast_local::few(at, keys, prefetch) };
        }
        let by = Factors::for_many();
        let mut room = Room::new();
        let (hashes, lost) = if prefetch {
            room.make(keys, |key| {
                let hash = xxph3_by(by, key);
                fast_local::Scalar::prefetch::<INTO_L2>(at, hash);
                hash
            })
        } else {
            room.make(keys, |key| xxph3_by(by, key))
        };
        let mut present = [0];
        self.probe_batch_with(lines, k, Hashes::Given(hashes), Prefetch::None, &mut present);
        present[0] | lost
    }
}

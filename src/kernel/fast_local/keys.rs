//! A few keys of a RocksDB filter by their bytes, and prefetches of its lines.

use super::super::backend::Backend;
use super::super::batch::{Hashes, Ops};
use super::super::few::{FewHashes, hash_of};
use super::super::functions::Kernel;
use super::super::layout::Layout;
use super::super::lines::Lines;
use super::super::prefetch::{INTO_L1, INTO_L2, Prefetch, Reads, prefetch};
use super::super::shared::Probed;
use super::super::single::Single;
use super::Scalar;
use crate::hash::xxph3::{Factors, xxph3_by};
use crate::line::LINE_BYTES;

impl Single<'_> {
    /// Prefetches the line of a hash: a native line, or RocksDB's. For others, and for words that
    /// are no filter's, it does no harm.
    #[inline(always)]
    pub(crate) fn prefetch_of(&self, layout: Layout, hash: u64) {
        if layout != Layout::FastLocal {
            return self.prefetch(hash);
        }
        let line = super::line(self.lines(), hash);
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

impl Kernel {
    /// From how many keys on an engine's keys of one filter of so many bytes are probed together
    /// faster than one by one, up to the 32 that RocksDB asks for at most.
    ///
    /// Measured, ns per key: with AVX-512 one by one takes 4.6 in 12.5 KB, together 5.7 for 32
    /// keys; in 62.5 MB, on a Zen 4, one by one 52 for 4 keys and 51 for 8, together 62 and 36.
    /// With AVX2, on an older CPU: in 12.5 KB 10 and 13 for 32 keys; in 1.25 MB 27 for 2 keys,
    /// together 19 and 15 for 4 and 8. Static filters gain from 4 keys on: 24 and 14.
    #[cfg(feature = "capi")]
    pub(crate) fn fewest_together(&self, bytes: usize) -> usize {
        let (size, fewest) = match (self.layout, self.backend) {
            (Layout::Static, _) => (0, 4),
            (_, Backend::Avx512) => (2 << 20, 8),
            _ => (256 << 10, 4),
        };
        if bytes >= size { fewest } else { usize::MAX }
    }

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
        let far = Prefetch::to_probe_few(Reads::One, lines.len()) != Prefetch::None;
        // Not for large filters: there each line is prefetched as soon as it is known.
        #[cfg(target_arch = "x86_64")]
        if self.backend == Backend::Avx512
            && Prefetch::to_probe(Reads::One, lines.len()) != Prefetch::FarAndNear
        {
            // SAFETY: this CPU runs the kernel, since it exists; the lines can be read.
            return unsafe { super::few(at, keys, far) };
        }
        let by = Factors::for_many();
        let mut room = FewHashes::new();
        let (hashes, lost) = if far {
            room.fill(keys.map(|key| {
                hash_of(key, |key| {
                    let hash = xxph3_by(by, key);
                    Scalar::prefetch::<INTO_L2>(at, hash);
                    hash
                })
            }))
        } else {
            room.fill(keys.map(|key| hash_of(key, |key| xxph3_by(by, key))))
        };
        let mut present = [0];
        self.probe_batch_with(lines, k, Hashes::Given(hashes), Prefetch::None, &mut present);
        present[0] | lost
    }
}

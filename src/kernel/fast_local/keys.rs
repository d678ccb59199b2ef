//! A few keys of a RocksDB filter by their bytes, and prefetches of its lines.

#[cfg(target_arch = "x86_64")]
use super::super::backend::Backend;
use super::super::batch::{Hashes, Ops};
use super::super::few::{FewHashes, hash_of};
use super::super::functions::Kernel;
use super::super::layout::Layout;
use super::super::lines::Lines;
use super::super::prefetch::{INTO_L1, INTO_L2, Prefetch, prefetch};
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
        let far = Prefetch::to_probe_few(lines.len()) != Prefetch::None;
        // Not for large filters: there each line is prefetched as soon as it is known.
        #[cfg(target_arch = "x86_64")]
        if self.backend == Backend::Avx512
            && Prefetch::to_probe(lines.len()) != Prefetch::FarAndNear
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

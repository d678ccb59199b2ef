//! Split blocks that are not Parquet's: types of their own, as no byte says whose they are. Both are a view of
//! Parquet's blocks inside, asked by a hash that finds the same bits.

use super::owned::OwnedView;
use super::view::View;
use crate::bitmap::Answers;
use crate::engines::parquet::{check_velox, from_velox, kudu_hash, kudu_log2};
use crate::error::Error;
use crate::layouts::sbbf::BLOCK_BYTES;
use crate::os::memory::Zeroed;
use std::fmt;

/// Hashes that are made for one call: enough to be prefetched.
const SOME: usize = 1024;

/// The bits of a split-block filter of Kudu, Impala or Doris, borrowed: `BlockBloomFilter`, whose bytes its
/// `directory` is. Those engines hash a key to 32 bits as they are told, and are asked by that hash.
///
/// ```
/// use bloomline::KuduView;
/// use bloomline::definition::kudu;
///
/// let mut bits = [0; 32 * 4]; // what such a program sends
/// kudu::insert(&mut bits, 7);
/// let view = KuduView::open(&bits)?;
/// assert!(view.contains_hash32(7));
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct KuduView<'a> {
    blocks: View<'a>,
    /// How many they are, as a power of two.
    log2: u32,
}

impl<'a> KuduView<'a> {
    /// Opens bits. Only their length is looked at. Bits of Parquet or Velox, opened so, would lose keys.
    ///
    /// # Errors
    /// [`Error::LineCount`] unless they are a power of two of blocks of 32 bytes, of less than 2 GiB;
    /// [`Error::Truncated`] for no whole blocks; [`Error::Backend`]. At any of them, treat every key as present.
    pub fn open(bits: &'a [u8]) -> Result<KuduView<'a>, Error> {
        let log2 = kudu_log2(bits.len())?;
        Ok(KuduView { blocks: View::open_parquet_bits(bits)?, log2 })
    }

    /// The blocks, by hashes that only this type makes.
    #[cfg(feature = "capi")]
    pub(crate) fn blocks(&self) -> View<'a> {
        self.blocks
    }

    /// Of blocks that were opened so before.
    #[cfg(feature = "capi")]
    pub(crate) fn of(blocks: View<'a>) -> Option<KuduView<'a>> {
        let log2 = kudu_log2(blocks.bytes()).ok()?;
        Some(KuduView { blocks, log2 })
    }

    /// Returns false if the key of a hash is definitely absent, true if it may be present.
    #[inline]
    pub fn contains_hash32(&self, hash: u32) -> bool {
        self.blocks.contains_hash(kudu_hash(hash, self.log2))
    }

    /// Answers for many, a bit each, and returns how many may be present.
    ///
    /// # Panics
    /// If `answers` is a slice that is too short.
    pub fn contains_hashes32(
        &self,
        hashes: &[u32],
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        let words = answers.words(hashes.len());
        let (mut made, mut present) = ([0; SOME], 0);
        for (hashes, words) in hashes.chunks(SOME).zip(words.chunks_mut(SOME / 64)) {
            for (made, &hash) in made.iter_mut().zip(hashes) {
                *made = kudu_hash(hash, self.log2);
            }
            present += self.blocks.contains_hashes(&made[..hashes.len()], words);
        }
        present
    }
}

/// A split-block filter of Velox, in a copy: `SplitBlockBloomFilter` where a register has 8 words. It is asked
/// by hashes of 64 bits, which Velox leaves to its callers.
///
/// ```
/// use bloomline::VeloxView;
/// use bloomline::definition::velox;
///
/// let mut blocks = [0; 32 * 3]; // what Velox has in memory
/// velox::insert(&mut blocks, 0x9E37_79B9_7F4A_7C15);
/// let view = VeloxView::open(&blocks, 32)?;
/// assert!(view.contains_hash(0x9E37_79B9_7F4A_7C15));
/// assert!(VeloxView::open(&blocks, 16).is_err()); // blocks for 4 words
/// # Ok::<(), bloomline::Error>(())
/// ```
pub struct VeloxView {
    /// The words of each in Parquet's order.
    blocks: OwnedView<Zeroed>,
}

impl VeloxView {
    /// Opens blocks, of which each has `block_bytes`, as Velox has them: `sizeof(SplitBlockBloomFilter::Block)`
    /// of the program that made them. It copies them. Blocks of Parquet or Kudu, opened so, would lose keys.
    ///
    /// # Errors
    /// [`Error::Layout`] unless a block has 32 bytes; [`Error::LineCount`] for none, and for 2 GiB or more;
    /// [`Error::Truncated`] for no whole blocks; [`Error::OutOfMemory`]; [`Error::Backend`]. At any of them,
    /// treat every key as present.
    pub fn open(blocks: &[u8], block_bytes: usize) -> Result<VeloxView, Error> {
        check_velox(blocks.len(), block_bytes)?;
        let mut copy = Zeroed::new(blocks.len())?;
        from_velox(blocks, &mut copy);
        Ok(VeloxView { blocks: OwnedView::open_parquet_bits(copy)? })
    }

    /// Returns false if the key of a hash is definitely absent, true if it may be present.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.blocks.contains_hash(hash)
    }

    /// Answers for many, a bit each, and returns how many may be present.
    ///
    /// # Panics
    /// If `answers` is a slice that is too short.
    pub fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        self.blocks.contains_hashes(hashes, answers)
    }
}

impl fmt::Debug for VeloxView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = self.blocks.get_ref().len() / BLOCK_BYTES;
        f.debug_struct("VeloxView").field("blocks", &blocks).finish_non_exhaustive()
    }
}

impl fmt::Debug for KuduView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KuduView").field("blocks", &(1_u32 << self.log2)).finish_non_exhaustive()
    }
}

//! One set split over several filters: the shard of a key, and a batch over all shards.

use super::view::View;
use super::views::hash_alike;
use crate::bitmap::{AnswerWords, Answers, all_present};
use crate::kernel::{Prefetch, Reads};
use crate::line::line_index;

const S1: u64 = 0xD6E8_FEB8_6659_FD93;
const S2: u64 = 0xA076_1D64_78BD_642F;

/// Returns the shard of a hash, 0 to `shards - 1`. Returns 0 for 0 shards.
///
/// It is independent of the line and the bits of the hash, so a shard's filter has the fill ratio
/// and rate of any filter for so many keys. (Do not use the high bits of the hash: they choose the
/// line, so a shard would use only some of its lines.) `docs/FORMAT.md` has the formula, on which
/// all programs and machines that share a set must agree.
#[inline]
pub const fn shard_of(hash: u64, shards: u64) -> u64 {
    let mixed = hash.wrapping_mul(S1);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(S2);
    line_index(mixed ^ (mixed >> 29), shards)
}

/// Probes many hashes, each in the filter of its shard: `views[i]` is the filter of shard `i` of
/// `views.len()`. Lines of large filters are prefetched, so cache misses overlap across them. If there are at
/// least 8 keys per shard, such as 512 for 64 shards, and at most 256 shards, the keys of each shard are one
/// batch. Answer `i` is true if hash `i` may be present. Returns how many are. Without views every key may be
/// present.
///
/// The views must hash keys alike: one format, one seed. If they do not, every key may be present.
///
/// # Panics
/// If `answers` is too short: see [`Answers`].
pub fn shards_contain_hashes(
    views: &[View<'_>],
    hashes: &[u64],
    answers: &mut (impl Answers + ?Sized),
) -> usize {
    let bitmap = answers.words(hashes.len());
    if !hash_alike(views) {
        return all_present(hashes.len(), bitmap);
    }
    answer_by_shards(views, hashes, bitmap)
}

/// Keys of a batch that are sorted by shard at once.
const SORTED_KEYS: usize = 2048;
/// The most shards that keys are sorted by, and the keys per shard from which that pays.
const MOST_SHARDS: usize = 256;
const WORTH_IT: usize = 8;

/// The filters of a set's shards, by the number of the shard.
pub(crate) trait Shards {
    /// How many there are.
    fn count(&self) -> usize;
    /// About how many bytes one has.
    fn bytes(&self, shard: usize) -> usize;
    /// Whether a key of a shard may be present.
    fn contains(&self, shard: usize, hash: u64) -> bool;
    /// The same for many keys of a shard. Returns how many may be present.
    fn contains_hashes(&self, shard: usize, hashes: &[u64], bitmap: &mut [u64]) -> usize;
    /// Prefetches the line of a key of a shard.
    fn prefetch(&self, shard: usize, hash: u64);
}

impl Shards for [View<'_>] {
    #[inline(always)]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn bytes(&self, shard: usize) -> usize {
        self[shard].bytes()
    }

    #[inline(always)]
    fn contains(&self, shard: usize, hash: u64) -> bool {
        self[shard].contains_hash(hash)
    }

    #[inline(always)]
    fn contains_hashes(&self, shard: usize, hashes: &[u64], bitmap: &mut [u64]) -> usize {
        self[shard].contains_hashes(hashes, bitmap)
    }

    #[inline(always)]
    fn prefetch(&self, shard: usize, hash: u64) {
        self[shard].prefetch_hash(hash);
    }
}

/// Answers hashes, each in the filter of its shard. Returns how many may be present.
pub(crate) fn answer_by_shards(
    shards: &(impl Shards + ?Sized),
    hashes: &[u64],
    bitmap: &mut [u64],
) -> usize {
    let bitmap = bitmap.words(hashes.len());
    if shards.count() == 0 {
        return all_present(hashes.len(), bitmap);
    }
    // Shards of a set are of about one size.
    let bytes = shards.bytes(0).saturating_mul(shards.count());
    for (hashes, bitmap) in hashes.chunks(SORTED_KEYS).zip(bitmap.chunks_mut(SORTED_KEYS / 64)) {
        if shards.count() <= MOST_SHARDS.min(hashes.len() / WORTH_IT) {
            shard_by_shard(shards, Prefetch::to_probe(Reads::One, bytes), hashes, bitmap);
        } else {
            key_by_key(shards, Prefetch::to_probe_few(Reads::One, bytes), hashes, bitmap);
        }
    }
    bitmap.iter().map(|word| word.count_ones() as usize).sum()
}

/// Few keys: the lines of 64 are prefetched before the first of them is tested, if that pays.
fn key_by_key(shards: &(impl Shards + ?Sized), plan: Prefetch, hashes: &[u64], bitmap: &mut [u64]) {
    let of = |hash| shard_of(hash, shards.count() as u64) as usize;
    for (hashes, word) in hashes.chunks(64).zip(bitmap) {
        if plan != Prefetch::None {
            hashes.iter().for_each(|&hash| shards.prefetch(of(hash), hash));
        }
        // From the last on: so no register counts.
        *word = hashes
            .iter()
            .rev()
            .fold(0, |word, &hash| word << 1 | u64::from(shards.contains(of(hash), hash)));
    }
}

/// Many keys: sorted by shard, each shard's as a batch of its own. There are up to
/// [`SORTED_KEYS`] of them, and up to [`MOST_SHARDS`] shards. (Apart: few keys need none of its room.)
#[inline(never)]
fn shard_by_shard(
    shards: &(impl Shards + ?Sized),
    plan: Prefetch,
    hashes: &[u64],
    bitmap: &mut [u64],
) {
    // A counting sort: how many keys a shard has, where they begin, then where they end.
    let mut at = [0; MOST_SHARDS + 1];
    let mut shard = [0; SORTED_KEYS];
    for (shard, &hash) in shard.iter_mut().zip(hashes) {
        *shard = shard_of(hash, shards.count() as u64) as u8;
        at[*shard as usize + 1] += 1;
    }
    for i in 1..shards.count() {
        at[i] += at[i - 1];
    }
    let (mut sorted, mut place) = ([0; SORTED_KEYS], [0_u16; SORTED_KEYS]);
    for (i, (&shard, &hash)) in shard.iter().zip(hashes).enumerate() {
        let to = &mut at[usize::from(shard)];
        (sorted[*to], place[*to]) = (hash, i as u16);
        *to += 1;
        if plan != Prefetch::None {
            shards.prefetch(shard.into(), hash);
        }
    }
    bitmap.fill(0);
    let (mut hits, mut from) = ([0; SORTED_KEYS / 64], 0);
    for (i, &to) in at[..shards.count()].iter().enumerate() {
        let count = shards.contains_hashes(i, &sorted[from..to], &mut hits);
        if count > 0 {
            for (word, &hits) in hits[..(to - from).div_ceil(64)].iter().enumerate() {
                let mut left = hits;
                while left != 0 {
                    let of = from + 64 * word + left.trailing_zeros() as usize;
                    bitmap[usize::from(place[of]) / 64] |= 1 << (place[of] % 64);
                    left &= left - 1;
                }
            }
        }
        from = to;
    }
}

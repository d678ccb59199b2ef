//! One set split over several filters: the shard of a key, and a batch over all shards.

use super::view::View;
use super::views::{all_present, hash_alike};
use crate::bitmap::{AnswerWords, Answers};
use crate::kernel::Prefetch;
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
/// `views.len()`. Lines are prefetched, so cache misses overlap across filters. With many keys for
/// each shard (512 for 64 shards), each shard's are one batch. Answer `i` is true if hash `i` may
/// be present. Returns how many are. Without views every key may be present.
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
    shards_contain_hashes_by(views.len(), |shard| views[shard], hashes, bitmap)
}

/// Keys of a batch that are sorted by shard at once.
const AT_ONCE: usize = 2048;
/// The most shards that keys are sorted by, and the keys per shard from which that pays.
const MOST_SHARDS: usize = 256;
const WORTH_IT: usize = 8;

/// The same with filters that are found by the number of their shard.
pub(crate) fn shards_contain_hashes_by<'a>(
    shards: usize,
    view: impl Fn(usize) -> View<'a>,
    hashes: &[u64],
    bitmap: &mut [u64],
) -> usize {
    let bitmap = bitmap.words(hashes.len());
    for (hashes, bitmap) in hashes.chunks(AT_ONCE).zip(bitmap.chunks_mut(AT_ONCE / 64)) {
        if (1..=MOST_SHARDS.min(hashes.len() / WORTH_IT)).contains(&shards) {
            shard_by_shard(shards, &view, hashes, bitmap);
        } else {
            key_by_key(shards, &view, hashes, bitmap);
        }
    }
    bitmap.iter().map(|word| word.count_ones() as usize).sum()
}

/// Few keys: the lines of 64 are prefetched before the first of them is tested.
fn key_by_key<'a>(
    shards: usize,
    view: &impl Fn(usize) -> View<'a>,
    hashes: &[u64],
    bitmap: &mut [u64],
) {
    let of = |hash| view(shard_of(hash, shards as u64) as usize);
    for (hashes, word) in hashes.chunks(64).zip(bitmap) {
        *word = 0;
        if shards > 0 {
            hashes.iter().for_each(|&hash| of(hash).prefetch_hash(hash));
        }
        for (i, &hash) in hashes.iter().enumerate() {
            *word |= u64::from(shards == 0 || of(hash).contains_hash(hash)) << i;
        }
    }
}

/// Many keys: sorted by shard, each shard's as a batch of its own. There are up to
/// [`AT_ONCE`] of them, and up to [`MOST_SHARDS`] shards.
fn shard_by_shard<'a>(
    shards: usize,
    view: &impl Fn(usize) -> View<'a>,
    hashes: &[u64],
    bitmap: &mut [u64],
) {
    // A counting sort: how many keys a shard has, where they begin, then where they end.
    let mut at = [0; MOST_SHARDS + 1];
    let mut shard = [0; AT_ONCE];
    for (shard, &hash) in shard.iter_mut().zip(hashes) {
        *shard = shard_of(hash, shards as u64) as u8;
        at[*shard as usize + 1] += 1;
    }
    for i in 1..shards {
        at[i] += at[i - 1];
    }
    let (mut sorted, mut place) = ([0; AT_ONCE], [0_u16; AT_ONCE]);
    let large = Prefetch::to_probe(view(0).lines().len().saturating_mul(shards));
    for (i, (&shard, &hash)) in shard.iter().zip(hashes).enumerate() {
        let to = &mut at[usize::from(shard)];
        (sorted[*to], place[*to]) = (hash, i as u16);
        *to += 1;
        if large != Prefetch::None {
            view(shard.into()).prefetch_hash(hash);
        }
    }
    bitmap.fill(0);
    let (mut hits, mut from) = ([0; AT_ONCE / 64], 0);
    for (i, &to) in at[..shards].iter().enumerate() {
        let count = view(i).contains_hashes(&sorted[from..to], &mut hits);
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

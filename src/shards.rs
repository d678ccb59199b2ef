//! One set split over several filters: which of them a key belongs to, and a batch over all
//! of them. Uses `view` and `kernel`.

use crate::line::line_index;
use crate::view::View;

const S1: u64 = 0xD6E8_FEB8_6659_FD93;
const S2: u64 = 0xA076_1D64_78BD_642F;

/// Which of `shards` shards, 0 to `shards - 1`, the key of a hash belongs to.
///
/// It is independent of the line and the bits that the hash has in a filter: the filter of a
/// shard is as full, and as often wrong, as any of so many keys. (The high bits of the hash
/// would not do: they choose the line, so that a shard would use only some of its lines.)
/// `docs/FORMAT.md` has it as a formula, so that programs in all languages, and machines
/// that share a set, agree. For 0 shards the result is 0.
#[inline]
pub const fn shard_of(hash: u64, shards: u64) -> u64 {
    let mixed = hash.wrapping_mul(S1);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(S2);
    line_index(mixed ^ (mixed >> 29), shards)
}

/// Answers many hashes at once, each by the filter of its shard: `views[i]` is the filter of
/// shard `i` of `views.len()`. The lines of 64 keys are asked for before the first of them is
/// tested, so that their misses overlap, whichever filters they are in. Bit `i` of `bitmap`
/// says whether hash `i` may be in; bits past the last become zero. Returns how many are set.
/// Without views every key may be in.
///
/// The views must agree on the hash, that is on the seed if it is made from a key.
///
/// # Panics
/// If `bitmap` has fewer than `hashes.len().div_ceil(64)` words.
pub fn shards_contain_hashes(views: &[View<'_>], hashes: &[u64], bitmap: &mut [u64]) -> usize {
    shards_contain_hashes_by(views.len(), |shard| views[shard], hashes, bitmap)
}

/// The same with filters that are found by the number of their shard.
pub(crate) fn shards_contain_hashes_by<'a>(
    shards: usize,
    view: impl Fn(usize) -> View<'a>,
    hashes: &[u64],
    bitmap: &mut [u64],
) -> usize {
    assert!(bitmap.len() >= hashes.len().div_ceil(64), "one word of bitmap for 64 keys");
    let of = |hash| view(shard_of(hash, shards as u64) as usize);
    let mut count = 0;
    for (hashes, word) in hashes.chunks(64).zip(bitmap) {
        *word = 0;
        if shards > 0 {
            hashes.iter().for_each(|&hash| of(hash).ask(hash));
        }
        for (i, &hash) in hashes.iter().enumerate() {
            *word |= u64::from(shards == 0 || of(hash).contains_hash(hash)) << i;
        }
        count += word.count_ones() as usize;
    }
    count
}

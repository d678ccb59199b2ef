//! Keys on their way to a batch: one or two are probed singly, a few are hashed before the batch, more
//! ahead of their probe, so that hashing overlaps with cache misses.

use crate::bitmap::Answers;
use crate::hash::KeyHash;
use crate::kernel::{FewHashes, Hashes, KEY_BY_KEY, Keys, RING, TILE};
use crate::key::Key;

/// Answers for one or two hashes or keys by a single probe each: fewer instructions than a short batch
/// takes. In memory the time is proportional to them.
#[inline(always)]
pub(super) fn one_or_two<T>(
    items: &[T],
    answers: &mut (impl Answers + ?Sized),
    contains: impl Fn(&T) -> bool,
) -> Option<usize> {
    if items.is_empty() || items.len() > 2 {
        return None;
    }
    let words = answers.words(items.len());
    let maybe = |item| u64::from(contains(item));
    let (first, second) = (maybe(&items[0]), items.get(1).map_or(0, maybe));
    words[0] = first | second << 1;
    Some((first + second) as usize)
}

/// Answers for one hash, or for two if `two` does, in the caller's code.
#[inline(always)]
pub(super) fn in_place(
    hashes: &[u64],
    answers: &mut (impl Answers + ?Sized),
    one: impl FnOnce(u64) -> bool,
    two: impl FnOnce(u64, u64) -> Option<u64>,
) -> Option<usize> {
    match *hashes {
        [hash] => {
            let maybe = one(hash);
            answers.words(1)[0] = maybe.into();
            Some(maybe.into())
        }
        [first, second] => {
            let bits = two(first, second)?;
            answers.words(2)[0] = bits;
            Some((bits & 1) as usize + (bits >> 1) as usize)
        }
        _ => None,
    }
}

/// Answers for a few keys by `few`, which takes their hashes; None for none and for more.
#[inline(always)]
pub(super) fn of_few<K>(
    keys: &[K],
    answers: &mut (impl Answers + ?Sized),
    hash: impl Fn(&K) -> u64,
    few: impl FnOnce(&[u64], &mut u64) -> usize,
) -> Option<usize> {
    if !(1..=KEY_BY_KEY).contains(&keys.len()) {
        return None;
    }
    let (word, mut room) = (&mut answers.words(keys.len())[0], FewHashes::new());
    let (hashes, _) = room.fill(keys.iter().map(|key| (hash(key), false)));
    Some(few(hashes, word))
}

/// Answers for up to 64 hashes, one by one.
#[inline(always)]
pub(super) fn one_by_one(
    hashes: &[u64],
    words: &mut [u64],
    contains: impl Fn(u64) -> bool,
) -> usize {
    words[0] = 0;
    for (i, some) in hashes.chunks(IN_ONE_GO).enumerate() {
        // From the last one on: no answer needs a shift of its own.
        let each = some.iter().rev();
        let bits = each.fold(0, |bits, &hash| bits << 1 | u64::from(contains(hash)));
        words[0] |= bits << (i * IN_ONE_GO);
    }
    words[0].count_ones() as usize
}

/// A CPU guesses the end of a longer loop wrong, and with it what comes behind.
const IN_ONE_GO: usize = 16;

/// Passes the hashes of `keys` to a batch: a few as they are, which costs nothing beside, more to be
/// computed on the way.
#[inline(always)]
pub(super) fn with_hashes<K: Key>(keys: &[K], hash: KeyHash, mut batch: impl FnMut(Hashes<'_>)) {
    if keys.len() <= KEY_BY_KEY {
        let mut room = FewHashes::new();
        let (hashes, _) = room.fill(keys.iter().map(|key| (hash.of(key), false)));
        return batch(Hashes::Given(hashes));
    }
    hashed_ahead(keys, hash, &mut batch);
}

#[inline(never)]
fn hashed_ahead<K: Key>(keys: &[K], hash: KeyHash, batch: &mut dyn FnMut(Hashes<'_>)) {
    let make = |first: usize, out: &mut [u64]| hash.hash_all(&keys[first..first + out.len()], out);
    // A short batch needs no ring.
    if keys.len() <= TILE {
        batch(Hashes::Made(Keys { len: keys.len(), hash: &make, ring: &mut [0; TILE] }));
    } else {
        batch(Hashes::Made(Keys { len: keys.len(), hash: &make, ring: &mut [0; RING] }));
    }
}

//! What inserts of all filter types share: keys, iterators, and which keys were new.

use crate::bitmap::AnswerWords;
use crate::key::Key;
use std::iter::FusedIterator;

/// Items that are taken from an iterator before they are inserted.
pub(super) const AT_ONCE: usize = 512;

/// Calls `work` with the hashes of an iterator, in blocks.
pub(super) fn in_blocks(mut hashes: impl Iterator<Item = u64>, mut work: impl FnMut(&[u64])) {
    let mut block = [0; AT_ONCE];
    loop {
        let mut len = 0;
        for (place, hash) in block.iter_mut().zip(&mut hashes) {
            *place = hash;
            len += 1;
        }
        work(&block[..len]);
        if len < AT_ONCE {
            return;
        }
    }
}

/// Calls `insert`, in order, for the hashes whose answer in `present` is false; its result replaces
/// the answer. Returns how many answers are true.
///
/// So the answers of a batch probe become those of a batch of inserts: the probe has brought the
/// lines into the cache, and `insert` says of a key that repeats a new one that it is not new.
#[inline]
pub(super) fn insert_absent(
    hashes: &[u64],
    present: &mut [u64],
    mut insert: impl FnMut(u64) -> bool,
) -> usize {
    let mut count = 0;
    for (hashes, word) in hashes.chunks(64).zip(present) {
        let mut absent = !*word & (u64::MAX >> (64 - hashes.len()));
        *word = 0;
        while absent != 0 {
            let i = absent.trailing_zeros();
            *word |= u64::from(insert(hashes[i as usize])) << i;
            absent &= absent - 1;
        }
        count += word.count_ones() as usize;
    }
    count
}

/// A filter, borrowed, as [`Dedup`] uses it.
pub trait InsertNew {
    /// The hash of a key.
    fn hash_of<K: Key>(&self, key: &K) -> u64;
    /// Inserts hashes. Returns which were new.
    fn insert_new(&mut self, hashes: &[u64], new: &mut [u64]);
}

/// An iterator over the items of another that were new to a filter, in order: see
/// [`Filter::dedup`](crate::Filter::dedup).
#[must_use = "it inserts nothing until it is used"]
pub struct Dedup<F, I: Iterator> {
    filter: F,
    items: I,
    /// Items that are known to be new, the next one last.
    new: Vec<I::Item>,
}

impl<F: InsertNew, I: Iterator<Item: Key>> Dedup<F, I> {
    pub(super) fn new(filter: F, items: I) -> Dedup<F, I> {
        Dedup { filter, items, new: Vec::new() }
    }

    /// Inserts a block of items and keeps the new ones. Returns whether there were any items.
    fn fill(&mut self) -> bool {
        self.new.extend(self.items.by_ref().take(AT_ONCE));
        let mut hashes = [0; AT_ONCE];
        for (hash, item) in hashes.iter_mut().zip(&self.new) {
            *hash = self.filter.hash_of(item);
        }
        let len = self.new.len();
        let mut new = [0; AT_ONCE / 64];
        self.filter.insert_new(&hashes[..len], new.as_mut_slice().words(len));
        // Which items are new is a coin toss: so no branch for each.
        let mut kept = 0;
        for (word, &bits) in new.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                self.new.swap(kept, 64 * word + left.trailing_zeros() as usize);
                kept += 1;
                left &= left - 1;
            }
        }
        self.new.truncate(kept);
        self.new.reverse();
        len > 0
    }
}

impl<F: InsertNew, I: Iterator<Item: Key>> Iterator for Dedup<F, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        loop {
            if let Some(item) = self.new.pop() {
                return Some(item);
            }
            if !self.fill() {
                return None;
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (_, most) = self.items.size_hint();
        (self.new.len(), most.and_then(|most| most.checked_add(self.new.len())))
    }
}

impl<F: InsertNew, I: FusedIterator<Item: Key>> FusedIterator for Dedup<F, I> {}

/// The methods that follow from `insert_hash`, `insert_hashes` and `insert_new_hashes` of a filter
/// type whose inserts cannot fail: `inserting!(Filter, mut)`, without `mut` if a shared reference
/// is enough.
macro_rules! inserting {
    ($kind:ty $(, $mut:tt)?) => {
        impl $kind {
            /// Inserts a key. Returns true if the key was new: at least one of its bits was not
            /// set. Returns false if it may have been present.
            #[inline]
            pub fn insert<K: $crate::key::Key + ?Sized>(& $($mut)? self, key: &K) -> bool {
                self.insert_hash(self.hash(key))
            }

            /// Inserts many keys, faster than one by one. Answer `i` is true if key `i` was new,
            /// as [`insert`](Self::insert) returns it: a key that the batch repeats is new once.
            /// Returns how many were new.
            ///
            /// # Panics
            /// If `answers` is too short: see [`Answers`](crate::Answers). Nothing is inserted.
            pub fn insert_new_keys<K: $crate::key::Key>(
                & $($mut)? self,
                keys: &[K],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                let (words, mut count) = (answers.words(keys.len()), 0);
                self.key_hash().in_parts(keys, |hashes, first| {
                    count += self.insert_new_hashes(hashes, &mut words[first / 64..]);
                });
                count
            }

            /// Inserts the keys of an iterator in blocks of 512, faster than one by one.
            pub fn insert_iter<K: $crate::key::Key>(
                & $($mut)? self,
                keys: impl IntoIterator<Item = K>,
            ) {
                let key_hash = self.key_hash();
                let hashes = keys.into_iter().map(|key| key_hash.of(&key));
                $crate::filter::insert::in_blocks(hashes, |hashes| self.insert_hashes(hashes));
            }

            /// Returns an iterator over the items that are new to this filter, in order, which
            /// inserts them. It drops the items that may have been present: every repetition, and
            /// false positives.
            ///
            /// It works in blocks, several times as fast as one by one where the filter is larger
            /// than the caches. So it reads ahead: up to 512 items are taken and inserted before
            /// the first of them is returned. If it is dropped early, they stay inserted.
            ///
            /// ```
            /// use bloomline::{Filter, Params};
            ///
            /// let mut seen = Filter::new(Params::for_rate(1000, 0.0001)?)?;
            /// let words = ["to", "be", "or", "not", "to", "be"];
            /// let new: Vec<_> = seen.dedup(words).collect();
            /// assert_eq!(new, ["to", "be", "or", "not"]);
            /// # Ok::<(), bloomline::Error>(())
            /// ```
            pub fn dedup<I: IntoIterator<Item: $crate::key::Key>>(
                & $($mut)? self,
                items: I,
            ) -> $crate::filter::insert::Dedup<& $($mut)? Self, I::IntoIter> {
                $crate::filter::insert::Dedup::new(self, items.into_iter())
            }
        }

        impl<K: $crate::key::Key> Extend<K> for $kind {
            /// As `insert_iter`.
            fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
                self.insert_iter(keys);
            }
        }

        impl $crate::filter::insert::InsertNew for & $($mut)? $kind {
            #[inline]
            fn hash_of<K: $crate::key::Key>(&self, key: &K) -> u64 {
                self.hash(key)
            }

            fn insert_new(&mut self, hashes: &[u64], new: &mut [u64]) {
                self.insert_new_hashes(hashes, new);
            }
        }
    };
}
pub(crate) use inserting;

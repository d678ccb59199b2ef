//! Probes of every filter type, written once.

use crate::bitmap::Answers;
use crate::kernel::in_parts;
use crate::kernel::rows::Row;
use crate::key::{Integers, Key};
use std::iter::{Fuse, FusedIterator};
use std::rc::Rc;
use std::sync::Arc;

/// A set of keys that can be probed: every kind of filter, views of them, and references to
/// either. Use it for code that takes any of them. (Each kind has the same methods without it.)
/// There is no `dyn Probe`, since its methods are generic over keys: for filters of several types in
/// one collection, make an enum.
///
/// ```
/// use bloomline::{Filter, Params, Probe};
///
/// /// A table, and a filter of whichever kind that saves reading it.
/// struct Table<F> {
///     present: F,
///     rows: Vec<String>,
/// }
///
/// impl<F: Probe> Table<F> {
///     fn find(&self, key: &str) -> Option<&String> {
///         if !self.present.contains(key) {
///             return None; // definitely absent
///         }
///         self.rows.iter().find(|row| *row == key)
///     }
/// }
///
/// let rows = vec![String::from("apple"), String::from("pear")];
/// let filter = Filter::from_keys(&rows, 0.01)?;
/// let borrowed = Table { present: filter.view(), rows: rows.clone() };
/// assert!(borrowed.find("apple").is_some());
/// let table = Table { present: filter, rows };
/// assert!(table.find("pear").is_some() && table.find("plum").is_none());
/// # Ok::<(), bloomline::Error>(())
/// ```
pub trait Probe {
    /// Returns the hash of a key that [`contains_hash`](Probe::contains_hash) takes.
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64;

    /// As [`Probe::contains`], for the hash of a key.
    fn contains_hash(&self, hash: u64) -> bool;

    /// As [`Probe::prefetch`], for the hash of a key.
    fn prefetch_hash(&self, hash: u64);

    /// As [`Probe::contains_keys`], for the hashes of keys.
    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize;

    /// Returns false if the key is definitely absent, true if it may be present.
    #[inline(always)]
    fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// Prefetches what a probe for the key reads first.
    #[inline(always)]
    fn prefetch<K: Key + ?Sized>(&self, key: &K) {
        self.prefetch_hash(self.hash(key));
    }

    /// Hashes many keys as [`Probe::hash`]; `out` gets one hash per key, in order. Columns of `u32`,
    /// `i32`, `u64` and `i64` are hashed several values at once.
    ///
    /// # Panics
    /// If `out` is not as long as `keys`.
    fn hash_keys<K: Key>(&self, keys: &[K], out: &mut [u64]) {
        assert_eq!(keys.len(), out.len(), "one output per key");
        keys.iter().zip(out).for_each(|(key, out)| *out = self.hash(key));
    }

    /// As [`Probe::hash_keys`], for those integers of a column whose rows are picked, if that takes less
    /// time than to put these side by side first. Returns false, and writes nothing, if not.
    ///
    /// # Panics
    /// If the column lacks a row, or `out` is not as long as `rows`.
    #[doc(hidden)]
    fn hash_picked<R: Row>(&self, _column: Integers<'_>, _rows: &[R], _out: &mut [u64]) -> bool {
        false
    }

    /// As [`Probe::contains_iter`], for the hashes of keys.
    fn contains_hashes_iter<I: IntoIterator<Item = u64>>(
        &self,
        hashes: I,
    ) -> ContainsIter<'_, Self, I::IntoIter> {
        let probe = |filter: &Self, hashes: &[u64], answers: &mut [u64]| {
            filter.contains_hashes(hashes, answers);
        };
        ContainsIter::new(self, hashes.into_iter(), probe)
    }

    /// Returns an iterator over the keys of another, in order, each with its answer: false if the
    /// key is definitely absent, true if it may be present.
    ///
    /// It probes in blocks, several times as fast as one by one where the filter is larger than the
    /// caches. So it reads ahead: up to 1,024 keys are taken before the first is returned.
    fn contains_iter<I: IntoIterator<Item: Key>>(
        &self,
        keys: I,
    ) -> ContainsIter<'_, Self, I::IntoIter> {
        let probe = |filter: &Self, keys: &[I::Item], answers: &mut [u64]| {
            filter.contains_keys(keys, answers);
        };
        ContainsIter::new(self, keys.into_iter(), probe)
    }

    /// Probes many keys. Answer `i` is true if key `i` may be present. Returns how many may be.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    fn contains_keys<K: Key>(&self, keys: &[K], answers: &mut (impl Answers + ?Sized)) -> usize {
        let (words, mut count) = (answers.words(keys.len()), 0);
        in_parts(
            keys,
            |keys, out| self.hash_keys(keys, out),
            |hashes, first| {
                count += self.contains_hashes(hashes, &mut words[first / 64..]);
            },
        );
        count
    }
}

/// Items that are taken from an iterator before they are probed.
const PROBE_BLOCK: usize = 1024;
const WORDS: usize = PROBE_BLOCK / 64;

/// An iterator over the items of another, each with the answer of a filter, in order: see
/// [`Filter::contains_iter`](crate::Filter::contains_iter).
///
/// ```
/// let filter = bloomline::Filter::from_keys(["apple"], 0.01)?;
/// let answers: Vec<bool> = filter.contains_iter(["apple", "pear"]).map(|(_, maybe)| maybe).collect();
/// assert!(answers[0]);
/// # Ok::<(), bloomline::Error>(())
/// ```
#[must_use = "it probes nothing until it is used"]
pub struct ContainsIter<'f, F: ?Sized, I: Iterator> {
    filter: &'f F,
    items: Fuse<I>,
    probe: ProbeBlock<F, I::Item>,
    /// Items that are probed, the next one last.
    block: Vec<I::Item>,
    /// The answer for each of them, by its place there.
    answers: [u64; WORDS],
}

/// Answers a block.
type ProbeBlock<F, T> = fn(&F, &[T], &mut [u64]);

impl<'f, F: ?Sized, I: Iterator> ContainsIter<'f, F, I> {
    fn new(filter: &'f F, items: I, probe: ProbeBlock<F, I::Item>) -> Self {
        ContainsIter { filter, items: items.fuse(), probe, block: Vec::new(), answers: [0; WORDS] }
    }

    /// Probes the next block, of which the first item comes first, or last if they are `reversed`.
    /// Returns whether there is any item.
    #[inline(never)]
    fn fill(&mut self, reversed: bool) -> bool {
        // Should the items or the filter panic, those taken so far are lost, and none gets the answer of another.
        let mut block = std::mem::take(&mut self.block);
        block.extend(self.items.by_ref().take(PROBE_BLOCK));
        if reversed {
            block.reverse();
        }
        (self.probe)(self.filter, &block, &mut self.answers);
        self.block = block;
        !self.block.is_empty()
    }
}

impl<F: ?Sized, I: Iterator> Iterator for ContainsIter<'_, F, I> {
    type Item = (I::Item, bool);

    #[inline]
    fn next(&mut self) -> Option<(I::Item, bool)> {
        if self.block.is_empty() && !self.fill(true) {
            return None;
        }
        let item = self.block.pop()?;
        let i = self.block.len();
        Some((item, self.answers[i / 64 % WORDS] >> (i % 64) & 1 == 1))
    }

    /// Faster than a loop over `next`.
    fn fold<T, G: FnMut(T, (I::Item, bool)) -> T>(mut self, init: T, mut each: G) -> T {
        let mut folded = init;
        while !self.block.is_empty()
            && let Some(item) = self.next()
        {
            folded = each(folded, item);
        }
        while self.fill(false) {
            let mut items = self.block.drain(..);
            for mut word in self.answers {
                for item in items.by_ref().take(64) {
                    folded = each(folded, (item, word & 1 == 1));
                    word >>= 1;
                }
            }
        }
        folded
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (least, most) = self.items.size_hint();
        let taken = self.block.len();
        (least.saturating_add(taken), most.and_then(|most| most.checked_add(taken)))
    }
}

impl<F: ?Sized, I: ExactSizeIterator> ExactSizeIterator for ContainsIter<'_, F, I> {}

impl<F: ?Sized, I: Iterator> FusedIterator for ContainsIter<'_, F, I> {}

/// The part of a [`Probe`] that hashes many keys, of a kind that says by `key_hash` how.
macro_rules! hashing {
    () => {
        fn hash_keys<K: $crate::key::Key>(&self, keys: &[K], out: &mut [u64]) {
            self.key_hash().hash_each(keys, out);
        }

        fn hash_picked<R: $crate::kernel::rows::Row>(
            &self,
            column: $crate::key::Integers<'_>,
            rows: &[R],
            out: &mut [u64],
        ) -> bool {
            $crate::kernel::rows::hash_picked(self.key_hash(), column, rows, out)
        }
    };
}

pub(super) use hashing;

/// [`Probe`] for what leads to a filter.
macro_rules! pointers {
    ($([$($generics:tt)*] $pointer:ty),+) => {$(
        impl<$($generics)*> Probe for $pointer {
            #[inline(always)]
            fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
                P::hash(self, key)
            }

            fn hash_keys<K: Key>(&self, keys: &[K], out: &mut [u64]) {
                P::hash_keys(self, keys, out);
            }

            fn hash_picked<R: $crate::kernel::rows::Row>(
                &self,
                column: $crate::key::Integers<'_>,
                rows: &[R],
                out: &mut [u64],
            ) -> bool {
                P::hash_picked(self, column, rows, out)
            }

            #[inline(always)]
            fn contains_hash(&self, hash: u64) -> bool {
                P::contains_hash(self, hash)
            }

            #[inline(always)]
            fn prefetch_hash(&self, hash: u64) {
                P::prefetch_hash(self, hash);
            }

            #[inline]
            fn contains_hashes(
                &self,
                hashes: &[u64],
                answers: &mut (impl Answers + ?Sized),
            ) -> usize {
                P::contains_hashes(self, hashes, answers)
            }

            fn contains_keys<K: Key>(
                &self,
                keys: &[K],
                answers: &mut (impl Answers + ?Sized),
            ) -> usize {
                P::contains_keys(self, keys, answers)
            }
        }
    )+};
}

pub(super) use pointers;

pointers!(
    [P: Probe + ?Sized] &P,
    [P: Probe + ?Sized] Box<P>,
    [P: Probe + ?Sized] Rc<P>,
    [P: Probe + ?Sized] Arc<P>
);

/// The methods of [`Probe`] as methods of a kind, so that its users need not import the trait.
/// With the name of a method that returns a view, the trait too, by that view:
/// `probing!(Mapped, view)`. The kind then says by `key_hash` how its keys are hashed, and probes one of them by
/// `contains_one`, two by `contains_two`, a few by `contains_few`: none of these needs a view. With the field that
/// has its own lines, these answer: `probing!(Filter, view, lines)`. Type parameters come last:
/// `probing!(Owned<T>, view where T: Bytes)`.
macro_rules! probing {
    ($kind:ty $(where $($generics:tt)*)?) => {
        impl $(<$($generics)*>)? $kind {
            /// Returns the hash of a key that the `..._hash` methods take.
            #[inline(always)]
            pub fn hash<K: $crate::key::Key + ?Sized>(&self, key: &K) -> u64 {
                $crate::filter::probe::Probe::hash(self, key)
            }

            /// Returns false if the key is definitely absent, true if it may be present.
            #[inline(always)]
            pub fn contains<K: $crate::key::Key + ?Sized>(&self, key: &K) -> bool {
                $crate::filter::probe::Probe::contains(self, key)
            }

            /// As [`contains`](Self::contains), for the hash of a key. The hash must be uniform
            /// over all 64 bits.
            #[inline(always)]
            pub fn contains_hash(&self, hash: u64) -> bool {
                $crate::filter::probe::Probe::contains_hash(self, hash)
            }

            /// Prefetches the cache line that a probe for the key reads first. It is a hint for
            /// code that knows its next keys and probes them one by one: 8 to 16 keys ahead is a
            /// good distance in a filter that does not fit in the cache. Batches need none.
            #[inline(always)]
            pub fn prefetch<K: $crate::key::Key + ?Sized>(&self, key: &K) {
                $crate::filter::probe::Probe::prefetch(self, key);
            }

            /// As [`prefetch`](Self::prefetch), for the hash of a key.
            #[inline(always)]
            pub fn prefetch_hash(&self, hash: u64) {
                $crate::filter::probe::Probe::prefetch_hash(self, hash);
            }

            /// As [`contains_keys`](Self::contains_keys), for the hashes of keys.
            ///
            /// # Panics
            /// If `answers` is too short: see [`Answers`](crate::Answers).
            #[inline(always)]
            pub fn contains_hashes(
                &self,
                hashes: &[u64],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                $crate::filter::probe::Probe::contains_hashes(self, hashes, answers)
            }

            /// As [`contains_iter`](Self::contains_iter), for the hashes of keys.
            pub fn contains_hashes_iter<I: IntoIterator<Item = u64>>(
                &self,
                hashes: I,
            ) -> $crate::filter::probe::ContainsIter<'_, Self, I::IntoIter> {
                $crate::filter::probe::Probe::contains_hashes_iter(self, hashes)
            }

            /// Returns an iterator over the keys of another, in order, each with its answer: false
            /// if the key is definitely absent, true if it may be present.
            ///
            /// It probes in blocks, several times as fast as one by one where the filter is larger
            /// than the caches. So it reads ahead: up to 1,024 keys are taken before the first is
            /// returned.
            ///
            /// ```
            /// let filter = bloomline::Filter::from_keys(["apple", "pear"], 0.0001)?;
            /// let words = "an apple a day".split(' ');
            /// let known = filter.contains_iter(words).filter_map(|(word, maybe)| maybe.then_some(word));
            /// assert_eq!(known.collect::<Vec<_>>(), ["apple"]);
            /// # Ok::<(), bloomline::Error>(())
            /// ```
            pub fn contains_iter<I: IntoIterator<Item: $crate::key::Key>>(
                &self,
                keys: I,
            ) -> $crate::filter::probe::ContainsIter<'_, Self, I::IntoIter> {
                $crate::filter::probe::Probe::contains_iter(self, keys)
            }

            /// Probes many keys, faster than one by one. Answer `i` is true if key `i` may be
            /// present. Returns how many may be.
            ///
            /// # Panics
            /// If `answers` is too short: see [`Answers`](crate::Answers).
            pub fn contains_keys<K: $crate::key::Key>(
                &self,
                keys: &[K],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                $crate::filter::probe::Probe::contains_keys(self, keys, answers)
            }
        }
    };
    ($kind:ty, $view:ident $(where $($generics:tt)*)?) => {
        $crate::filter::probe::probing!(
            $kind,
            $view,
            |it: &$kind, hash| it.contains_one(hash),
            |it: &$kind, first, second| it.contains_two(first, second),
            |it: &$kind, hashes, word| it.contains_few(hashes, word)
            $(, where $($generics)*)?
        );
    };
    ($kind:ty, $view:ident, $($own:ident).+ $(where $($generics:tt)*)?) => {
        $crate::filter::probe::probing!(
            $kind,
            $view,
            |it: &$kind, hash| it.$($own).+.contains(hash),
            |it: &$kind, first, second| it.$($own).+.contains_two(first, second),
            |it: &$kind, hashes, word| it.$($own).+.contains_few(hashes, word)
            $(, where $($generics)*)?
        );
    };
    ($kind:ty, $view:ident, $one:expr, $two:expr, $few:expr $(, where $($generics:tt)*)?) => {
        $crate::filter::probe::probing!($kind $(where $($generics)*)?);

        impl $(<$($generics)*>)? $kind {
            /// Probes any number of keys by a view, apart: callers have no code for it.
            #[inline(never)]
            fn contains_more(&self, hashes: &[u64], words: &mut [u64]) -> usize {
                $crate::filter::probe::Probe::contains_hashes(&self.$view(), hashes, words)
            }
        }

        impl $(<$($generics)*>)? $crate::filter::probe::Probe for $kind {
            #[inline(always)]
            fn hash<K: $crate::key::Key + ?Sized>(&self, key: &K) -> u64 {
                self.key_hash().of(key)
            }

            $crate::filter::probe::hashing!();

            #[inline(always)]
            fn contains_hash(&self, hash: u64) -> bool {
                $one(self, hash)
            }

            #[inline(always)]
            fn prefetch_hash(&self, hash: u64) {
                $crate::filter::probe::Probe::prefetch_hash(&self.$view(), hash);
            }

            #[inline(always)]
            fn contains_hashes(
                &self,
                hashes: &[u64],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                let one = |hash| $one(self, hash);
                let two = |first, second| $two(self, first, second);
                if let Some(maybe) = $crate::filter::keys::in_place(hashes, answers, one, two) {
                    return maybe;
                }
                // No view is made for a few keys.
                if (1..=$crate::kernel::KEY_BY_KEY).contains(&hashes.len()) {
                    return $few(self, hashes, &mut answers.words(hashes.len())[0]);
                }
                self.contains_more(hashes, answers.words(hashes.len()))
            }

            fn contains_keys<K: $crate::key::Key>(
                &self,
                keys: &[K],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                let single = |key: &K| $crate::filter::probe::Probe::contains(self, key);
                if let Some(maybe) = $crate::filter::keys::one_or_two(keys, answers, single) {
                    return maybe;
                }
                let hash = |key: &K| $crate::filter::probe::Probe::hash(self, key);
                let few = |hashes: &[u64], word: &mut u64| $few(self, hashes, word);
                if let Some(maybe) = $crate::filter::keys::of_few(keys, answers, hash, few) {
                    return maybe;
                }
                $crate::filter::probe::Probe::contains_keys(&self.$view(), keys, answers)
            }
        }
    };
}
pub(crate) use probing;

//! What inserts of all filter types share: keys, iterators, and which keys were new.

use crate::error::Error;
use std::iter::FusedIterator;
use std::vec;

/// Items that are taken from an iterator before they are inserted.
pub(super) const INSERT_BLOCK: usize = 512;

/// Calls `work` with the hashes of an iterator, in blocks, until it returns false.
pub(super) fn in_blocks(
    mut hashes: impl Iterator<Item = u64>,
    mut work: impl FnMut(&[u64]) -> bool,
) {
    let mut block = [0; INSERT_BLOCK];
    loop {
        let mut len = 0;
        for (place, hash) in block.iter_mut().zip(&mut hashes) {
            *place = hash;
            len += 1;
        }
        if !work(&block[..len]) || len < INSERT_BLOCK {
            return;
        }
    }
}

/// A filter, borrowed, as [`Dedup`] uses it.
pub trait InsertNew<K> {
    /// Items that are inserted at a time: a multiple of [`INSERT_BLOCK`].
    const BLOCK: usize;

    /// Inserts up to so many items. Says which were new.
    fn insert_new(&mut self, items: &[K], new: &mut [u64]);
}

/// An iterator over the items of another that were new to a filter, in order: see
/// [`Filter::dedup`](crate::Filter::dedup).
///
/// ```
/// let mut seen = bloomline::Filter::new(bloomline::Params::for_rate(1000, 0.001)?)?;
/// let new: Vec<&str> = seen.dedup(["apple", "pear", "apple"]).collect();
/// assert_eq!(new, ["apple", "pear"]);
/// # Ok::<(), bloomline::Error>(())
/// ```
#[must_use = "it inserts nothing until it is used"]
pub struct Dedup<F, I: Iterator> {
    filter: F,
    items: I,
    /// A block of items that are inserted, those not passed yet.
    block: vec::IntoIter<I::Item>,
    /// Which of the whole block are new.
    new: Vec<u64>,
    /// The word of `new` that comes next, and the bits left of the one before.
    word: usize,
    left: u64,
    /// How many items of the block are passed.
    passed: usize,
}

impl<F: InsertNew<I::Item>, I: Iterator> Dedup<F, I> {
    pub(super) fn new(filter: F, items: I) -> Dedup<F, I> {
        let block = Vec::new().into_iter();
        Dedup { filter, items, block, new: Vec::new(), word: 0, left: 0, passed: 0 }
    }

    /// Inserts a block of items. Returns whether there were any.
    fn fill(&mut self) -> bool {
        let (_, most) = self.items.size_hint();
        let most = most.map_or(F::BLOCK, |most| most.min(F::BLOCK));
        self.block = Vec::new().into_iter();
        let mut block = Vec::new();
        let room = block.try_reserve(most).and_then(|()| self.new.try_reserve(most.div_ceil(64)));
        block.extend(self.items.by_ref().take(room.map_or(INSERT_BLOCK, |()| F::BLOCK)));
        // Should an insert panic, no bit is left of items that are lost.
        let mut new = std::mem::take(&mut self.new);
        new.clear();
        new.resize(block.len().div_ceil(64), 0);
        self.filter.insert_new(&block, &mut new);
        self.new = new;
        (self.word, self.left, self.passed) = (0, 0, 0);
        self.block = block.into_iter();
        self.block.len() > 0
    }
}

impl<F: InsertNew<I::Item>, I: Iterator> Iterator for Dedup<F, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        while self.left == 0 {
            match self.new.get(self.word).copied() {
                Some(word) => (self.word, self.left) = (self.word + 1, word),
                None if self.fill() => (),
                None => return None,
            }
        }
        let at = 64 * (self.word - 1) + self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        let between = at - self.passed;
        self.passed = at + 1;
        self.block.nth(between)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (_, most) = self.items.size_hint();
        let rest = self.new.get(self.word..).unwrap_or_default();
        let new =
            rest.iter().fold(self.left.count_ones(), |new, word| new + word.count_ones()) as usize;
        (new, most.and_then(|most| most.checked_add(new)))
    }
}

impl<F: InsertNew<I::Item>, I: FusedIterator> FusedIterator for Dedup<F, I> {}

/// The result of inserts where an error has no place.
pub(super) trait OrPanic {
    /// # Panics
    /// If it is an error.
    fn or_panic(self);
}

impl OrPanic for () {
    fn or_panic(self) {}
}

impl OrPanic for usize {
    fn or_panic(self) {}
}

impl<T> OrPanic for Result<T, Error> {
    fn or_panic(self) {
        if let Err(error) = self {
            panic!("{error}");
        }
    }
}

/// The methods that follow from `insert_hash`, `insert_hashes` and `insert_new_hashes` of a filter
/// type whose inserts cannot fail: `inserting!(CountingFilter, [mut] [keys] [Params])`.
///
/// * Without `mut` a shared reference is enough.
/// * `keys`: `insert_keys`, too.
/// * The parameters by which it is sized for a number of keys: `from_keys`, too.
macro_rules! inserting {
    ($kind:ident, $mut:tt $keys:tt $params:tt) => {
        $crate::filter::insert::inserting!(@ $kind, $mut);
        $crate::filter::insert::inserting!(@ $kind, $mut $keys);
        $crate::filter::insert::from_keys!($kind, $params Ok);
        $crate::filter::insert::extending!($kind, $mut);
    };
    (@ $kind:ident, [$($mut:tt)?]) => {
        /// Inserting keys.
        impl $kind {
            /// Inserts a key. Returns true if the key was new: at least one of its bits was not
            /// set. Returns false if it may have been present.
            #[inline]
            pub fn insert<K: $crate::key::Key + ?Sized>(& $($mut)? self, key: &K) -> bool {
                self.insert_hash(self.hash(key))
            }

            /// Inserts many keys, faster than one by one. Answer `i` is true if key `i` was new, as
            /// [`insert`](Self::insert) returns it: of equal keys in the batch, only the first can
            /// be new. Returns how many were new.
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
                $crate::filter::insert::in_blocks(hashes, |hashes| {
                    self.insert_hashes(hashes);
                    true
                });
            }

            /// Returns the filter with these keys inserted. So a filter of any seed, layout or
            /// backend is made of keys in one expression.
            ///
            /// ```
            /// use bloomline::{Filter, Params};
            ///
            /// let keys = ["apple", "pear"];
            /// let params = Params::for_rate(keys.len() as u64, 0.01)?.with_random_seed()?;
            /// let filter = Filter::new(params)?.with_keys(keys);
            /// assert!(filter.contains("apple"));
            /// # Ok::<(), bloomline::Error>(())
            /// ```
            #[must_use]
            pub fn with_keys<K: $crate::key::Key>(
                $($mut)? self,
                keys: impl IntoIterator<Item = K>,
            ) -> Self {
                self.insert_iter(keys);
                self
            }
        }
    };
    (@ $kind:ident, $mut:tt []) => {};
    (@ $kind:ident, [$($mut:tt)?] [keys]) => {
        impl $kind {
            /// Inserts many keys, faster than one by one.
            pub fn insert_keys<K: $crate::key::Key>(& $($mut)? self, keys: &[K]) {
                self.key_hash().in_parts(keys, |hashes, _| self.insert_hashes(hashes));
            }
        }
    };
}
pub(crate) use inserting;

/// The same methods of a filter type whose inserts can fail. After an error the keys that follow
/// are inserted, too (`true`), or not. The last are the documentation of the error.
macro_rules! try_inserting {
    ($kind:ident, $goes_on:literal, $params:tt, $one:literal, $many:literal) => {
        /// Inserting keys.
        impl $kind {
            #[doc = $one]
            #[inline]
            pub fn insert<K: $crate::key::Key + ?Sized>(
                &mut self,
                key: &K,
            ) -> Result<bool, $crate::error::Error> {
                self.insert_hash(self.hash(key))
            }

            /// Inserts many keys, in order, faster than one by one.
            ///
            /// # Errors
            #[doc = $many]
            pub fn insert_keys<K: $crate::key::Key>(
                &mut self,
                keys: &[K],
            ) -> Result<(), $crate::error::Error> {
                let mut result = Ok(());
                self.key_hash().in_parts(keys, |hashes, _| {
                    if $goes_on || result.is_ok() {
                        result = self.insert_hashes(hashes).and(std::mem::replace(&mut result, Ok(())));
                    }
                });
                result
            }

            /// Inserts many keys, in order, faster than one by one. Answer `i` is true if key `i`
            /// was new, as [`insert`](Self::insert) returns it: of equal keys in the batch, only
            /// the first can be new. Returns how many were new.
            ///
            /// # Errors
            #[doc = $many]
            /// The answers say which of the keys inserted were new.
            ///
            /// # Panics
            /// If `answers` is too short: see [`Answers`](crate::Answers). Nothing is inserted.
            pub fn insert_new_keys<K: $crate::key::Key>(
                &mut self,
                keys: &[K],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> Result<usize, $crate::error::Error> {
                let words = answers.words(keys.len());
                words.fill(0);
                let mut result = Ok(0);
                self.key_hash().in_parts(keys, |hashes, first| {
                    if $goes_on || result.is_ok() {
                        let new = self.insert_new_hashes(hashes, &mut words[first / 64..]);
                        let before = std::mem::replace(&mut result, Ok(0));
                        result = before.and_then(|before| Ok(before + new?));
                    }
                });
                result
            }

            /// Inserts the keys of an iterator in blocks of 512, faster than one by one.
            ///
            /// # Errors
            #[doc = $many]
            pub fn insert_iter<K: $crate::key::Key>(
                &mut self,
                keys: impl IntoIterator<Item = K>,
            ) -> Result<(), $crate::error::Error> {
                let (key_hash, mut result) = (self.key_hash(), Ok(()));
                let hashes = keys.into_iter().map(|key| key_hash.of(&key));
                $crate::filter::insert::in_blocks(hashes, |hashes| {
                    let before = std::mem::replace(&mut result, Ok(()));
                    result = before.and(self.insert_hashes(hashes));
                    $goes_on || result.is_ok()
                });
                result
            }

            /// Returns the filter with these keys inserted. So a filter of any seed or backend is
            /// made of keys in one expression.
            ///
            /// # Errors
            /// As [`insert_iter`](Self::insert_iter).
            pub fn with_keys<K: $crate::key::Key>(
                mut self,
                keys: impl IntoIterator<Item = K>,
            ) -> Result<Self, $crate::error::Error> {
                self.insert_iter(keys)?;
                Ok(self)
            }
        }

        $crate::filter::insert::from_keys!($kind, $params std::convert::identity);
    };
}
pub(crate) use try_inserting;

/// `from_keys` of a filter type that these parameters size.
macro_rules! from_keys {
    ($kind:ident, [] $result:path) => {};
    ($kind:ident, [$params:ident] $result:path) => {
        impl $kind {
            /// Creates a filter of these keys, sized for their number and a target false-positive
            /// rate, with seed 0. For another seed see [`with_keys`](Self::with_keys).
            ///
            /// Rust does not know the length of a range of `u64`: collect it, or pass the keys to `new` and
            /// [`with_keys`](Self::with_keys). The keys of `0..1000` would be `i32`, which have 4 bytes: another
            /// filter than that of the same numbers as `u64`.
            ///
            /// ```
            #[doc = concat!("use bloomline::", stringify!($kind), ";")]
            ///
            #[doc = concat!("let filter = ", stringify!($kind), "::from_keys([\"apple\", \"pear\"], 0.01)?;")]
            /// assert!(filter.contains("apple") && filter.contains("pear"));
            /// # Ok::<(), bloomline::Error>(())
            /// ```
            ///
            /// # Errors
            #[doc = concat!("As `", stringify!($params), "::for_rate`, [`new`](Self::new) and")]
            /// [`with_keys`](Self::with_keys).
            pub fn from_keys<K: $crate::key::Key>(
                keys: impl IntoIterator<Item = K, IntoIter: ExactSizeIterator>,
                rate: f64,
            ) -> Result<Self, $crate::error::Error> {
                let keys = keys.into_iter();
                let params = $crate::shape::$params::for_rate(keys.len() as u64, rate)?;
                $result(Self::new(params)?.with_keys(keys))
            }
        }
    };
}
pub(crate) use from_keys;

/// The iterator of new keys, and [`Extend`], of a filter type that takes any number of keys.
macro_rules! extending {
    ($kind:ident, [$($mut:tt)?] $(, $panics:literal)?) => {
        impl $kind {
            /// Returns an iterator over the items that are new to this filter, in order, which
            /// inserts them. It drops the items that may have been present: every repetition, and
            /// false positives.
            ///
            /// It works in blocks, several times as fast as one by one where the filter is larger
            /// than the caches. So it reads ahead: up to 512 items are taken and inserted before
            /// the first of them is returned. If it is dropped early, they stay inserted.
            $(#[doc = $panics])?
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
            $(#[doc = $panics])?
            fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
                $crate::filter::insert::OrPanic::or_panic(self.insert_iter(keys));
            }
        }

        impl<K: $crate::key::Key> $crate::filter::insert::InsertNew<K> for & $($mut)? $kind {
            const BLOCK: usize = $crate::filter::insert::INSERT_BLOCK;

            fn insert_new(&mut self, items: &[K], new: &mut [u64]) {
                $crate::filter::insert::OrPanic::or_panic(self.insert_new_keys(items, new));
            }
        }
    };
}
pub(crate) use extending;

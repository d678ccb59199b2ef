//! Probes of every filter type, written once.

use crate::bitmap::Answers;
use crate::hash::in_parts;
use crate::key::Key;
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

    /// As [`Probe::contains_keys`], for the hashes of keys.
    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize;

    /// Returns false if the key is definitely absent, true if it may be present.
    #[inline(always)]
    fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// Probes many keys. Answer `i` is true if key `i` may be present. Returns how many may be.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    fn contains_keys<K: Key>(&self, keys: &[K], answers: &mut (impl Answers + ?Sized)) -> usize {
        let (words, mut count) = (answers.words(keys.len()), 0);
        let hash_all = |keys: &[K], out: &mut [u64]| {
            keys.iter().zip(out).for_each(|(key, out)| *out = self.hash(key));
        };
        in_parts(keys, hash_all, |hashes, first| {
            count += self.contains_hashes(hashes, &mut words[first / 64..]);
        });
        count
    }
}

macro_rules! pointers {
    ($($pointer:ty),+) => {$(
        impl<P: Probe + ?Sized> Probe for $pointer {
            #[inline(always)]
            fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
                P::hash(self, key)
            }

            #[inline(always)]
            fn contains_hash(&self, hash: u64) -> bool {
                P::contains_hash(self, hash)
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

pointers!(&P, Box<P>, Arc<P>);

/// The methods of [`Probe`] as methods of a kind, so that its users need not import the trait.
/// With the name of a method that returns a view, the trait too, by that view:
/// `probing!(Filter, view)`. Type parameters come last: `probing!(Owned<T>, view where T: Bytes)`.
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

            /// As [`contains_keys`](Self::contains_keys), for the hashes of keys.
            ///
            /// # Panics
            /// If `answers` is too short: see [`Answers`](crate::Answers).
            pub fn contains_hashes(
                &self,
                hashes: &[u64],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                $crate::filter::probe::Probe::contains_hashes(self, hashes, answers)
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
    ($kind:ty, $view:ident $(, $own:ident)? $(where $($generics:tt)*)?) => {
        $crate::filter::probe::probing!($kind $(where $($generics)*)?);

        impl $(<$($generics)*>)? $crate::filter::probe::Probe for $kind {
            #[inline(always)]
            fn hash<K: $crate::key::Key + ?Sized>(&self, key: &K) -> u64 {
                $crate::filter::probe::Probe::hash(&self.$view(), key)
            }

            #[inline(always)]
            #[allow(unreachable_code)]
            fn contains_hash(&self, hash: u64) -> bool {
                $(return self.$own.contains(hash);)?
                $crate::filter::probe::Probe::contains_hash(&self.$view(), hash)
            }

            #[inline]
            fn contains_hashes(
                &self,
                hashes: &[u64],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                $crate::filter::probe::Probe::contains_hashes(&self.$view(), hashes, answers)
            }

            fn contains_keys<K: $crate::key::Key>(
                &self,
                keys: &[K],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                $crate::filter::probe::Probe::contains_keys(&self.$view(), keys, answers)
            }
        }
    };
}
pub(crate) use probing;

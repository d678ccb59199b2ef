//! What filters share that take one key after the other, as each insert or removal may move others: the
//! batches in which a later key is prefetched.

use crate::error::Error;

/// Calls `work` with the number of each key, in order. Bit `i` is what it said of number `i`, until it
/// fails. Returns how many are true.
pub(super) fn in_turn(
    answers: &mut [u64],
    count: usize,
    mut work: impl FnMut(usize) -> Result<bool, Error>,
) -> Result<usize, Error> {
    answers.fill(0);
    let mut all = 0;
    for i in 0..count {
        let is = work(i)?;
        answers[i / 64] |= u64::from(is) << (i % 64);
        all += usize::from(is);
    }
    Ok(all)
}

/// `insert_new_hashes` of a filter type that inserts one key after the other: by `insert_hash`, and
/// `prefetch_ahead`, which prefetches for a hash some way after a number.
macro_rules! inserting_in_turn {
    ($kind:ident) => {
        impl $kind {
            /// As [`insert_new_keys`](Self::insert_new_keys), for the hashes of keys.
            ///
            /// # Errors
            /// As [`insert_keys`](Self::insert_keys).
            ///
            /// # Panics
            /// If `answers` is too short: see [`Answers`](crate::Answers). Nothing is inserted.
            pub fn insert_new_hashes(
                &mut self,
                hashes: &[u64],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> Result<usize, $crate::error::Error> {
                let words = answers.words(hashes.len());
                $crate::filter::in_turn::in_turn(words, hashes.len(), |i| {
                    self.prefetch_ahead(hashes, i);
                    self.insert_hash(hashes[i])
                })
            }
        }
    };
}
pub(crate) use inserting_in_turn;

/// The methods that follow from `remove_hash` and `prefetch_ahead`, which prefetches for a hash some way
/// after a number.
macro_rules! removing {
    ($kind:ident) => {
        /// Removing keys.
        impl $kind {
            /// Removes a key once, however often it was inserted. Remove only keys you inserted: see
            #[doc = concat!("[`", stringify!($kind), "`].")]
            ///
            /// # Errors
            /// [`Error::Absent`](crate::Error::Absent) if the key is definitely absent; the filter is
            /// unchanged.
            #[inline]
            pub fn remove<K: $crate::key::Key + ?Sized>(
                &mut self,
                key: &K,
            ) -> Result<(), $crate::error::Error> {
                self.remove_hash(self.hash(key))
            }

            /// As [`remove_keys`](Self::remove_keys), for the hashes of keys.
            ///
            /// # Panics
            /// If `answers` is too short: see [`Answers`](crate::Answers). Nothing is removed.
            pub fn remove_hashes(
                &mut self,
                hashes: &[u64],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                let words = answers.words(hashes.len());
                let removed = $crate::filter::in_turn::in_turn(words, hashes.len(), |i| {
                    self.prefetch_ahead(hashes, i);
                    Ok(self.remove_hash(hashes[i]).is_ok())
                });
                removed.unwrap_or(0)
            }

            /// Removes many keys, in order, faster than one by one. Answer `i` is true if key `i` was
            /// removed, false if it was definitely absent. Returns how many were removed.
            ///
            /// # Panics
            /// If `answers` is too short: see [`Answers`](crate::Answers). Nothing is removed.
            pub fn remove_keys<K: $crate::key::Key>(
                &mut self,
                keys: &[K],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                let (words, mut count) = (answers.words(keys.len()), 0);
                self.key_hash().in_parts(keys, |hashes, first| {
                    count += self.remove_hashes(hashes, &mut words[first / 64..]);
                });
                count
            }
        }
    };
}
pub(crate) use removing;

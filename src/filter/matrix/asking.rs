//! Probes of a matrix, written once for all that holds its groups.

/// The methods of a kind that probe, by its `rows`: None if its bytes are gone, when the key may be in
/// every column. Type parameters come last, as in `probing!`.
macro_rules! asking {
    ($kind:ty $(where $($generics:tt)*)?) => {
        /// Probing.
        // That of C is not public, and has functions for some only.
        #[allow(dead_code, unreachable_pub)]
        impl $(<$($generics)*>)? $kind {
            /// Returns line count, k and seed of the columns.
            pub fn params(&self) -> $crate::shape::Params {
                self.shape().params()
            }

            /// Returns the number of columns.
            #[inline(always)]
            pub fn columns(&self) -> usize {
                self.shape().columns()
            }

            /// Returns a view of a column, cheap to copy and to pass on: a filter as any other, also among
            /// those that are asked for one key together. A [`Group`](crate::Group) finds the columns of
            /// one matrix among its members and asks them by one probe of the rows, in the order of the
            /// members. (Alone, a column is asked faster by
            /// [`contains_pairs`](Self::contains_pairs).)
            ///
            /// What the view says of its fill and rate reads the rows of all columns.
            ///
            /// # Errors
            /// [`Error::Column`](crate::Error::Column) if there is no such column;
            /// [`Error::Columns`](crate::Error::Columns) if there are more than 2^28.
            pub fn column_view(
                &self,
                column: usize,
            ) -> Result<$crate::filter::View<'_>, $crate::error::Error> {
                if column >= self.columns() {
                    return Err($crate::error::Error::Column(column as u64));
                }
                let Some(rows) = self.rows() else {
                    return $crate::filter::View::anything(self.key_hash());
                };
                let column = rows.column(column);
                let too_wide = $crate::error::Error::Columns(self.columns() as u64);
                let column = column.ok_or(too_wide)?;
                Ok($crate::filter::View::of_column(column, self.key_hash()))
            }

            fn key_hash(&self) -> $crate::hash::KeyHash {
                self.asked(None).key_hash()
            }

            /// Returns how many words the answers about one key take: a bit for each column.
            pub fn words(&self) -> usize {
                self.shape().words()
            }

            /// Returns the hash of a key that the `..._hash` methods take.
            #[inline]
            pub fn hash<K: $crate::key::Key + ?Sized>(&self, key: &K) -> u64 {
                self.key_hash().of(key)
            }

            /// Returns the columns whose bit is set in `live`, such as the tables that are live: a bit for
            /// each, as in answers. It is probed as the matrix is.
            ///
            /// # Panics
            /// If `live` has fewer words than [`words`](Self::words).
            #[inline]
            pub fn among<'a>(&'a self, live: &'a [u64]) -> $crate::filter::matrix::MatrixAmong<'a> {
                self.asked(Some(&live[..self.words()]))
            }

            /// The same, where all columns count if there are no words.
            #[inline(always)]
            pub(crate) fn asked<'a>(
                &'a self,
                live: Option<&'a [u64]>,
            ) -> $crate::filter::matrix::MatrixAmong<'a> {
                $crate::filter::matrix::MatrixAmong::new(self.rows(), self.shape(), live)
            }

            /// Probes all columns for a key. Answer `c` is true if the key may be present in column `c`.
            /// Returns how many are.
            ///
            /// # Panics
            /// If `answers` is too short: see [`Answers`](crate::Answers).
            #[inline]
            pub fn contains<K: $crate::key::Key + ?Sized>(
                &self,
                key: &K,
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                self.asked(None).contains(key, answers)
            }

            /// As [`contains`](Self::contains), for the hash of a key. The hash must be uniform over
            /// all 64 bits.
            ///
            /// # Panics
            /// If `answers` is too short: see [`Answers`](crate::Answers).
            #[inline]
            pub fn contains_hash(
                &self,
                hash: u64,
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                self.asked(None).contains_hash(hash, answers)
            }

            /// Returns how many columns may have the key of a hash.
            #[inline]
            pub fn count_hash(&self, hash: u64) -> usize {
                self.asked(None).count_hash(hash)
            }

            /// Returns whether any column may have the key of a hash. It reads no more than it needs.
            #[inline]
            pub fn any_hash(&self, hash: u64) -> bool {
                self.asked(None).any_hash(hash)
            }

            /// Probes all columns for many keys, by their hashes. The answers about each key begin in
            /// a word of their own: those about key `j` are the [`words`](Self::words) from
            /// `j * words` on. Returns how many answers are true.
            ///
            /// # Panics
            /// If `answers` is too short: see [`Answers`](crate::Answers).
            pub fn contains_hashes(
                &self,
                hashes: &[u64],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                self.asked(None).contains_hashes(hashes, answers)
            }

            /// As [`contains_hashes`](Self::contains_hashes), for keys.
            ///
            /// # Panics
            /// If `answers` is too short: see [`Answers`](crate::Answers).
            pub fn contains_keys<K: $crate::key::Key>(
                &self,
                keys: &[K],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                self.asked(None).contains_keys(keys, answers)
            }

            /// Probes all columns for many keys, by their hashes. Replaces the content of `pairs` by a pair
            /// for each answer that is true, in ascending order: the number of a hash, then the number of a
            /// column that may have its key. Returns how many there are. If you pass the same `pairs` to the
            /// next call, that allocates only if it has more of them.
            ///
            /// # Panics
            /// If there are more than 2^32 hashes.
            pub fn select_hashes(&self, hashes: &[u64], pairs: &mut Vec<(u32, u32)>) -> usize {
                self.asked(None).select_hashes(hashes, pairs)
            }

            /// As [`select_hashes`](Self::select_hashes), for keys.
            ///
            /// # Panics
            /// If there are more than 2^32 keys.
            pub fn select_keys<K: $crate::key::Key>(
                &self,
                keys: &[K],
                pairs: &mut Vec<(u32, u32)>,
            ) -> usize {
                self.asked(None).select_keys(keys, pairs)
            }

            /// Probes one column for each key: column `columns[i]` for the key of hash `hashes[i]`.
            /// Answer `i` is true if the key may be present there, or there is no such column. Returns
            /// how many are.
            ///
            /// # Panics
            /// If there are not as many hashes as columns; if `answers` is too short: see
            /// [`Answers`](crate::Answers).
            pub fn contains_pairs(
                &self,
                columns: &[u32],
                hashes: &[u64],
                answers: &mut (impl $crate::bitmap::Answers + ?Sized),
            ) -> usize {
                assert_eq!(columns.len(), hashes.len(), "a column for each hash");
                let (words, rows) = (answers.words(hashes.len()), self.rows());
                let one = |(&column, &hash): (&u32, &u64)| match &rows {
                    Some(rows) if (column as usize) < self.columns() => {
                        rows.one(hash, column as usize)
                    }
                    _ => true,
                };
                let parts = columns.chunks(64).zip(hashes.chunks(64)).zip(words);
                let each = parts.map(|((columns, hashes), word)| {
                    let pairs = columns.iter().zip(hashes).rev();
                    *word = pairs.fold(0, |word, pair| word << 1 | u64::from(one(pair)));
                    word.count_ones() as usize
                });
                each.sum()
            }

            /// Prefetches the rows that a probe for the key of a hash reads, or their beginning.
            #[inline]
            pub fn prefetch_hash(&self, hash: u64) {
                if let Some(rows) = self.rows() {
                    rows.prefetch(hash);
                }
            }
        }
    };
}
pub(super) use asking;

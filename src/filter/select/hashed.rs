//! Hashes of columns, without a filter.

use super::super::probe::Probe;
use super::column::Column;
use crate::bitmap::Answers;
use crate::hash::KeyHash;
use crate::key::Key;

/// Hashes a [`Column`](crate::Column) of any type; `out` gets one hash per row, in order: that of
/// [`hash`](crate::hash::hash). Strings by their offsets are hashed where they are. Filters of this seed take
/// the hashes, so one column is hashed once for several filters.
///
/// The hash of a row that is [null](crate::Nullable) is 0, whatever lies in its place. Probe these hashes as
/// [`Hashes`](crate::Hashes) with the same validity, which says whether a null may be present.
///
/// # Panics
/// If `out` does not have as many hashes as the column has rows.
///
/// ```
/// use bloomline::hash::{hash, hash_column};
/// use bloomline::{Filter, Hashes, Nullable, Nulls, Select, Strings};
///
/// let names = Strings::new(&[0i32, 5, 9, 9], b"applepear").expect("offsets within the data");
/// let validity = [0b011]; // the last is null
/// let mut hashes = [9; 3];
/// hash_column(&Nullable::new(&names, &validity, Nulls::Absent), 0, &mut hashes);
/// assert_eq!(hashes, [hash("apple", 0), hash("pear", 0), 0]);
///
/// let filter = Filter::from_keys(["pear"], 0.0001)?;
/// let mut rows = [0u32; 3];
/// let column = Hashes(&hashes);
/// let count = filter.select_column(&Nullable::new(&column, &validity, Nulls::Present), &mut rows);
/// assert_eq!(rows[..count], [1, 2]);
/// # Ok::<(), bloomline::Error>(())
/// ```
pub fn hash_column<C: Column + ?Sized>(column: &C, seed: u64, out: &mut [u64]) {
    assert_eq!(column.rows(), out.len(), "one output per row");
    column.hash_run(&Hashing(KeyHash::Xxh3(seed)), 0, out);
    for (part, hashes) in out.chunks_mut(64).enumerate() {
        let (valid, all) = (column.valid_run(64 * part), u64::MAX >> (64 - hashes.len()));
        if valid & all != all {
            for (row, hash) in hashes.iter_mut().enumerate() {
                *hash = if valid >> row & 1 == 1 { *hash } else { 0 };
            }
        }
    }
}

/// How the keys of a column are hashed. As all that cannot know, it answers "maybe".
pub(crate) struct Hashing(pub(crate) KeyHash);

impl Probe for Hashing {
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.0.of(key)
    }

    fn hash_keys<K: Key>(&self, keys: &[K], out: &mut [u64]) {
        self.0.hash_each(keys, out);
    }

    fn contains_hash(&self, _: u64) -> bool {
        true
    }

    fn prefetch_hash(&self, _: u64) {}

    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let words = answers.words(hashes.len());
        for (word, hashes) in words.iter_mut().zip(hashes.chunks(64)) {
            *word = u64::MAX >> (64 - hashes.len());
        }
        hashes.len()
    }
}

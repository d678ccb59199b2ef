//! Batches of keys whose answers are pairs: the number of a key, and the number of a column that may have it.

use super::among::MatrixAmong;
use crate::key::Key;
#[cfg(feature = "capi")]
use std::mem::{MaybeUninit, replace};

/// Words of answers that are there at once: those of many keys, or some of a wide row. They stay in the L1 cache
/// until they are pairs.
const ROOM: usize = 1024;

/// So few need less room, which is zeroed first.
const SMALL_ROOM: usize = 64;

/// A number that a pair has.
///
/// # Panics
/// If it is more than that. Columns never are.
fn number(number: usize) -> u32 {
    u32::try_from(number).expect("a batch of pairs has at most 2^32 keys: ask in parts")
}

impl MatrixAmong<'_> {
    /// Probes these columns for many keys, by their hashes, as
    /// [`Matrix::select_hashes`](crate::Matrix::select_hashes) probes all.
    ///
    /// # Panics
    /// If there are more than 2^32 hashes.
    pub fn select_hashes(&self, hashes: &[u64], pairs: &mut Vec<(u32, u32)>) -> usize {
        pairs.clear();
        self.push_pairs(hashes, 0, pairs);
        pairs.len()
    }

    /// As [`select_hashes`](Self::select_hashes), for keys.
    ///
    /// # Panics
    /// If there are more than 2^32 keys.
    pub fn select_keys<K: Key>(&self, keys: &[K], pairs: &mut Vec<(u32, u32)>) -> usize {
        pairs.clear();
        self.key_hash().in_parts(keys, |hashes, first| self.push_pairs(hashes, first, pairs));
        pairs.len()
    }

    /// Appends the pairs of keys, of which the first has this number.
    fn push_pairs(&self, hashes: &[u64], first: usize, pairs: &mut Vec<(u32, u32)>) {
        self.each_part(hashes, (0, 0), usize::MAX, |key, at, words| {
            let key = number(first + key);
            each_column(at, words, |column| {
                pairs.push((key, column));
                true
            })
        });
    }

    /// Writes pairs to `room` in ascending order, `from` one on. Returns how many, and the one to go on from:
    /// behind all keys if these are all.
    ///
    /// Those of a key are written together. If there is no room for all of them, none is, unless they are the
    /// first: then as many as there is room for.
    ///
    /// # Panics
    /// If there are more than 2^32 - 1 hashes.
    #[cfg(feature = "capi")]
    pub(crate) fn select_some<P: From<(u32, u32)>>(
        &self,
        hashes: &[u64],
        (mut key, mut column): (u32, u32),
        room: &mut [MaybeUninit<P>],
    ) -> (usize, (u32, u32)) {
        let end = number(hashes.len());
        if column as usize >= self.shape().columns() {
            (key, column) = (key.saturating_add(1), 0);
        }
        // The first word may begin with columns before that one.
        let mut skipped = u64::MAX << (column % 64);
        let (mut written, mut of_key, mut next) = (0, 0, (end, 0));
        let from = (key as usize, column as usize / 64);
        // Of keys whose pairs have no room, answers are of no use.
        self.each_part(hashes, from, room.len().max(1), |key, at, words| {
            if at == 0 {
                of_key = written;
            }
            let key = number(key);
            if let Some(word) = words.first_mut() {
                *word &= replace(&mut skipped, u64::MAX);
            }
            each_column(at, words, |column| {
                let Some(place) = room.get_mut(written) else {
                    next = if of_key > 0 { (key, 0) } else { (key, column) };
                    written = if of_key > 0 { of_key } else { written };
                    return false;
                };
                place.write(P::from((key, column)));
                written += 1;
                true
            })
        });
        (written, next)
    }

    /// Hands on the answers about keys, from word `from.1` of key `from.0` on: the number of a key, that of the
    /// first word, and the words, all of them or some at a time. Stops when `take` returns false. It probes for
    /// up to `at_once` keys before it hands on any.
    #[inline]
    fn each_part(
        &self,
        hashes: &[u64],
        from: (usize, usize),
        at_once: usize,
        take: impl FnMut(usize, usize, &mut [u64]) -> bool,
    ) {
        let words = self.shape().words();
        match words.saturating_mul(hashes.len()) {
            0..=SMALL_ROOM => self.each_row(hashes, from, at_once, &mut [0; SMALL_ROOM], take),
            _ if words <= ROOM => self.each_row(hashes, from, at_once, &mut [0; ROOM], take),
            _ => self.each_part_of_rows(hashes, from, take),
        }
    }

    /// The same, where whole rows have room.
    fn each_row(
        &self,
        hashes: &[u64],
        (first, mut at): (usize, usize),
        at_once: usize,
        room: &mut [u64],
        mut take: impl FnMut(usize, usize, &mut [u64]) -> bool,
    ) {
        let words = self.shape().words();
        let (keys, mut key) = (at_once.min(room.len() / words).max(1), first);
        for hashes in hashes.get(first..).unwrap_or_default().chunks(keys) {
            let rows = &mut room[..hashes.len() * words];
            self.answer_rows(hashes, rows);
            for row in rows.chunks_exact_mut(words) {
                if !take(key, at, &mut row[at..]) {
                    return;
                }
                (key, at) = (key + 1, 0);
            }
        }
    }

    /// The same, where a row is wider.
    fn each_part_of_rows(
        &self,
        hashes: &[u64],
        (first, mut at): (usize, usize),
        mut take: impl FnMut(usize, usize, &mut [u64]) -> bool,
    ) {
        let (mut room, words) = ([0; ROOM], self.shape().words());
        for (key, &hash) in hashes.iter().enumerate().skip(first) {
            while at < words {
                let part = &mut room[..ROOM.min(words - at)];
                self.answer_part(hash, at, part);
                if !take(key, at, part) {
                    return;
                }
                at += part.len();
            }
            at = 0;
        }
    }
}

/// Hands on the numbers of the columns whose bit is set in these words, of which the first has this number, as
/// long as `take` returns true. Returns whether that was to the end.
#[inline(always)]
fn each_column(at: usize, words: &[u64], mut take: impl FnMut(u32) -> bool) -> bool {
    for (i, &word) in words.iter().enumerate() {
        let mut left = word;
        while left != 0 {
            if !take((64 * (at + i)) as u32 + left.trailing_zeros()) {
                return false;
            }
            left &= left - 1;
        }
    }
    true
}

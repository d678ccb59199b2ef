//! The rows of a matrix on the backends: the AND of the rows that a key reads.
//!
//! A key of a small matrix costs its k cache misses, which the CPU overlaps by itself. In a wide one
//! the rows are streams, and a tile of them is in registers until all rows are in it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(not(target_arch = "x86_64"))]
mod pair;
mod transpose;
mod words;

use super::backend::Backend;
use super::choice::Kernels;
use super::prefetch::{INTO_L1, Prefetch, prefetch};
use crate::line::{LINE_BYTES, MAX_K, line_index};
use std::marker::PhantomData;
use std::ptr;
use words::{Asked, Word, and, any, each_place, read};

pub(crate) use transpose::{Block, Calls as Transpose};

/// The AND of the rows that the key of a hash reads in a group. Writes it to `out`, if that is not NULL,
/// as words in the order of the row; counts its bits. If `live` is not NULL, only columns whose bit is
/// set there count.
///
/// # Safety of the function
/// This CPU runs the backend. `group` is a whole group of such rows; there are as many words as a row
/// has in `live` and `out`, unless they are NULL.
type And = unsafe fn(
    rows: &Rows<'_>,
    group: *const u8,
    hash: u64,
    live: *const u64,
    out: *mut u64,
) -> usize;

/// Whether any bit of the AND of rows is set: as [`And`], without `out`.
type Any = unsafe fn(rows: &Rows<'_>, group: *const u8, hash: u64, live: *const u64) -> bool;

/// What a backend does for a matrix.
pub(crate) struct Calls {
    and: And,
    any: Any,
    pub(crate) transpose: Transpose,
}

/// The groups of a matrix, borrowed, and what asks them.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    start: *const u8,
    line_count: usize,
    /// Of a row.
    words: usize,
    k: u32,
    /// Bits of the last word that stand for columns.
    last: u64,
    calls: &'static Calls,
    borrowed: PhantomData<&'a [u8]>,
}

// SAFETY: it is a shared borrow of bytes.
unsafe impl Send for Rows<'_> {}
// SAFETY: as above.
unsafe impl Sync for Rows<'_> {}

impl Kernels {
    /// What the backend does for a matrix.
    pub(crate) fn of_matrix(self) -> &'static Calls {
        self.row_of(&CALLS)
    }
}

impl<'a> Rows<'a> {
    /// Groups of so many columns.
    ///
    /// # Panics
    /// Unless they are whole groups, and k is 1 to 16.
    #[inline]
    pub(crate) fn new(
        groups: &'a [u8],
        line_count: u64,
        columns: usize,
        k: u32,
        calls: &'static Calls,
    ) -> Rows<'a> {
        let words = columns.div_ceil(64);
        let bytes = (line_count as usize).checked_mul(words * 64 * LINE_BYTES);
        assert!(columns > 0 && bytes == Some(groups.len()) && line_count > 0, "whole groups");
        assert!((1..=MAX_K).contains(&k), "k is 1 to 16");
        let last = u64::MAX >> (64 * words - columns);
        let (start, line_count) = (groups.as_ptr(), line_count as usize);
        Rows { start, line_count, words, k, last, calls, borrowed: PhantomData }
    }

    #[inline(always)]
    fn asked(&self) -> Asked {
        Asked { words: self.words, k: self.k }
    }

    /// Where the group of a hash begins.
    #[inline(always)]
    fn group(&self, hash: u64) -> *const u8 {
        let line = line_index(hash, self.line_count as u64) as usize;
        // Within the groups: the line is below their number.
        self.start.wrapping_add(line * self.words * (64 * LINE_BYTES))
    }

    /// The AND of the rows of a key, by its hash: a bit for each column. With `live`, of those alone.
    /// Returns how many are set.
    ///
    /// # Panics
    /// Unless there are as many words as a row has, in both.
    #[inline]
    pub(crate) fn answer(&self, hash: u64, live: Option<&[u64]>, out: &mut [u64]) -> usize {
        assert!(out.len() == self.words, "words of a row");
        let live = self.live(live);
        // SAFETY: the group is one of the borrowed bytes, whole; the lengths are checked.
        unsafe { self.answer_at(self.group(hash), hash, live, out.as_mut_ptr()) }
    }

    /// The same, counted only.
    #[inline]
    pub(crate) fn count(&self, hash: u64, live: Option<&[u64]>) -> usize {
        let (group, live) = (self.group(hash), self.live(live));
        // SAFETY: as in `answer`; NULL is for no words.
        unsafe {
            let all = (self.calls.and)(self, group, hash, live, ptr::null_mut());
            all - self.behind(group, hash, live).count_ones() as usize
        }
    }

    /// Whether the key may be in any column.
    #[inline]
    pub(crate) fn any(&self, hash: u64, live: Option<&[u64]>) -> bool {
        let (group, words) = (self.group(hash), self.live(live));
        // SAFETY: as in `answer`.
        unsafe {
            if self.behind(group, hash, words) == 0 {
                return (self.calls.any)(self, group, hash, words);
            }
        }
        // Damaged bytes, with bits behind the last column.
        self.count(hash, live) > 0
    }

    /// Whether the key may be in one column, which there is.
    #[inline(always)]
    pub(crate) fn one(&self, hash: u64, column: usize) -> bool {
        let (group, mut word) = (self.group(hash), u64::MAX);
        let at = group.wrapping_add(column / 64 * 8);
        debug_assert!(column / 64 < self.words);
        each_place(hash, self.k, 8 * self.words, |place| {
            // SAFETY: a word of a row of the group, which is one of the borrowed bytes.
            word &= unsafe { read(at.wrapping_add(place)) };
        });
        word >> (column % 64) & 1 == 1
    }

    /// Answers for many keys, a row of words each. Returns how many bits are set.
    ///
    /// # Panics
    /// Unless there are as many words as the rows have.
    pub(crate) fn answers(&self, hashes: &[u64], out: &mut [u64]) -> usize {
        assert!(out.len() == self.words * hashes.len(), "words of the rows");
        let ahead = if self.is_far() { AHEAD } else { usize::MAX };
        let (mut present, mut at) = (0, out.as_mut_ptr());
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(i.saturating_add(ahead)) {
                self.prefetch(later);
            }
            // SAFETY: the group is one of the borrowed bytes, whole; there is room for a row of
            // words for each hash.
            unsafe {
                present += self.answer_at(self.group(hash), hash, ptr::null(), at);
                at = at.add(self.words);
            }
        }
        present
    }

    /// Prefetches the first words of the rows of a key.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        let group = self.group(hash);
        each_place(hash, self.k, 8 * self.words, |place| {
            prefetch::<INTO_L1>(group.wrapping_add(place));
        });
    }

    /// Whether a batch prefetches.
    fn is_far(&self) -> bool {
        let bytes = self.line_count * self.words * (64 * LINE_BYTES);
        Prefetch::to_probe_few(bytes) != Prefetch::None
    }

    /// # Safety
    /// `group` is a whole group of such rows; there are as many words as a row has in `live`, unless
    /// it is NULL, and in `out`.
    #[inline(always)]
    unsafe fn answer_at(
        &self,
        group: *const u8,
        hash: u64,
        live: *const u64,
        out: *mut u64,
    ) -> usize {
        // SAFETY: the calls are those of a backend of this CPU; the caller's promise for the rest.
        unsafe {
            let all = (self.calls.and)(self, group, hash, live, out);
            let end = out.add(self.words - 1);
            let behind = *end & !self.last;
            if behind == 0 {
                return all;
            }
            *end &= self.last;
            all - behind.count_ones() as usize
        }
    }

    /// The bits of an answer that stand for no column: there are none but in damaged bytes.
    ///
    /// # Safety
    /// As for [`Rows::answer_at`].
    #[inline(always)]
    unsafe fn behind(&self, group: *const u8, hash: u64, live: *const u64) -> u64 {
        let at = self.words - 1;
        let mut word = !self.last;
        if word == 0 {
            return 0;
        }
        if !live.is_null() {
            // SAFETY: there are as many words.
            word &= unsafe { *live.add(at) };
        }
        each_place(hash, self.k, 8 * self.words, |place| {
            // SAFETY: the last word of a row of the group.
            word &= unsafe { read(group.add(place + 8 * at)) };
        });
        word
    }

    /// # Panics
    /// Unless there are as many words as a row has.
    #[inline(always)]
    fn live(&self, live: Option<&[u64]>) -> *const u64 {
        match live {
            None => ptr::null(),
            Some(live) => {
                assert!(live.len() == self.words, "words of a row");
                live.as_ptr()
            }
        }
    }
}

/// Keys between the one at work and the one whose rows are prefetched, in batches.
const AHEAD: usize = 8;

/// The functions of a backend, by the type that does the work.
macro_rules! calls {
    ($words:ty $(, $attribute:meta)*) => {{
        $(#[$attribute])*
        unsafe fn and_by(
            rows: &Rows<'_>,
            group: *const u8,
            hash: u64,
            live: *const u64,
            out: *mut u64,
        ) -> usize {
            // SAFETY: the caller's promise, handed on.
            unsafe { and::<$words>(rows.asked(), group, hash, live, out) }
        }
        $(#[$attribute])*
        unsafe fn any_by(
            rows: &Rows<'_>,
            group: *const u8,
            hash: u64,
            live: *const u64,
        ) -> bool {
            // SAFETY: the caller's promise, handed on.
            unsafe { any::<$words>(rows.asked(), group, hash, live) }
        }
        Calls {
            and: and_by,
            any: any_by,
            transpose: transpose::calls!($($attribute),*),
        }
    }};
}

/// Those of each backend.
static CALLS: [Calls; Backend::ALL.len()] = [
    calls!(Word),
    #[cfg(target_arch = "x86_64")]
    calls!(Word),
    #[cfg(not(target_arch = "x86_64"))]
    calls!(pair::Pair),
    #[cfg(target_arch = "x86_64")]
    calls!(avx2::Avx2, target_feature(enable = "avx2,bmi2,popcnt")),
    #[cfg(not(target_arch = "x86_64"))]
    calls!(Word),
    #[cfg(target_arch = "x86_64")]
    calls!(
        avx512::Avx512,
        target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")
    ),
    #[cfg(not(target_arch = "x86_64"))]
    calls!(Word),
];

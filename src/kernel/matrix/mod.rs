//! The rows of a matrix on the backends: the AND of the rows that a key reads.
//!
//! A key of a small matrix costs its k cache misses, which the CPU overlaps by itself. In a wide one
//! the rows are streams, and a tile of them is in registers until all rows are in it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod batch;
mod calls;
mod columns;
#[cfg(not(target_arch = "x86_64"))]
mod pair;
mod transpose;
#[cfg(target_arch = "x86_64")]
mod turn;
mod words;

use super::choice::Kernels;
use super::column::Column;
use super::functions::Kernel;
use super::layout::Layout;
use super::prefetch::{INTO_L1, Prefetch, Reads, ahead, prefetch};
use super::shared::Probed;
use crate::layouts::matrix::ROWS;
use crate::line::{LINE_BYTES, MAX_K, line_index};
use batch::{Groups, prefetch_rows};
use calls::{And, Any, Batch, CALLS};
use std::ptr;
use std::slice::from_raw_parts;
use words::{Asked, each_place, read};

pub(crate) use calls::Calls;
pub(super) use columns::{Columns, Shape, list, place};
pub(crate) use transpose::{Block, TOGETHER, copy_lines, prefetch_lines};

/// What probes of a matrix need to know of it, checked once: when a matrix is made, or opened.
#[derive(Clone, Copy)]
pub(crate) struct Prepared {
    asked: Asked,
    line_count: usize,
    /// Of all groups.
    bytes: usize,
    kernels: Kernels,
    and: And,
    any: Any,
    batch: Batch,
}

impl Prepared {
    /// Of so many columns.
    ///
    /// # Panics
    /// If there is no line or no column, or memory has no room for so many; unless k is 1 to 16.
    pub(crate) fn new(line_count: u64, columns: usize, k: u32, kernels: Kernels) -> Prepared {
        let words = columns.div_ceil(64);
        let bytes = (line_count as usize).checked_mul(words * (64 * LINE_BYTES));
        let bytes = bytes.filter(|_| columns > 0 && line_count > 0).expect("whole groups");
        assert!((1..=MAX_K).contains(&k), "k is 1 to 16");
        let last = u64::MAX >> (64 * words - columns);
        let (asked, calls) = (Asked { words, row_bytes: 8 * words, k, last }, kernels.of_matrix());
        let (line_count, any, batch) = (line_count as usize, calls.any, calls.batch);
        let and = calls.whole(words, is_in_memory(bytes));
        Prepared { asked, line_count, bytes, kernels, and, any, batch }
    }

    /// Where the byte of a column is in the first row of the group of a hash.
    #[inline(always)]
    fn first_byte(&self, column: usize, hash: u64) -> usize {
        let line = line_index(hash, self.line_count as u64) as usize;
        line * ROWS * self.asked.row_bytes + column / 8
    }

    /// Sets the bits of a key in a column. Returns whether any of them was not set.
    ///
    /// # Panics
    /// If there is no such column in these groups.
    #[inline]
    pub(crate) fn insert(&self, groups: &mut [u8], column: usize, hash: u64) -> bool {
        let (first, bit) = (self.first_byte(column, hash), 1 << (column % 8));
        let mut old = u8::MAX;
        each_place(hash, &self.asked, |place| {
            let byte = &mut groups[first + place];
            old &= *byte;
            *byte |= bit;
        });
        old & bit == 0
    }

    /// The same for many keys: `told` takes the number of each, and whether any of its bits was not set.
    ///
    /// # Panics
    /// As [`Prepared::insert`].
    pub(crate) fn insert_all(
        &self,
        groups: &mut [u8],
        column: usize,
        hashes: &[u64],
        mut told: impl FnMut(usize, bool),
    ) {
        let distance = if self.is_far() { ahead::MATRIX } else { usize::MAX };
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(i.saturating_add(distance)) {
                let first = groups.as_ptr().wrapping_add(self.first_byte(column, later));
                each_place(later, &self.asked, |place| {
                    prefetch::<INTO_L1>(first.wrapping_add(place));
                });
            }
            told(i, self.insert(groups, column, hash));
        }
    }

    /// Whether a batch of probes prefetches: not what L2 holds, where that costs a quarter.
    fn pays_ahead(&self) -> bool {
        Prefetch::to_probe(Reads::Several, self.bytes) != Prefetch::None
    }

    /// Whether a batch of inserts does.
    fn is_far(&self) -> bool {
        Prefetch::to_probe_few(Reads::Several, self.bytes) != Prefetch::None
    }

    /// Whether it is larger than what caches hold.
    pub(crate) fn is_in_memory(&self) -> bool {
        is_in_memory(self.bytes)
    }

    /// The rows of the matrix in these bytes; none if they are fewer than its groups.
    #[inline(always)]
    pub(crate) fn rows<'a>(&'a self, groups: &'a [u8]) -> Option<Rows<'a>> {
        (groups.len() >= self.bytes).then_some(Rows { start: groups.as_ptr(), of: self })
    }
}

/// Whether so many bytes are more than what caches hold.
fn is_in_memory(bytes: usize) -> bool {
    Prefetch::to_probe(Reads::Several, bytes) == Prefetch::FarAndNear
}

/// The groups of a matrix, borrowed, and what asks them.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    start: *const u8,
    of: &'a Prepared,
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
    /// A column as a filter by itself: its lines, what stands for k there, and its kernel. None if rows are
    /// too wide for a view.
    ///
    /// # Panics
    /// If there is no such column.
    pub(crate) fn column(&self, column: usize) -> Option<(Probed<'a>, u32, &'static Kernel)> {
        let Prepared { asked, line_count, bytes, kernels, .. } = *self.of;
        // SAFETY: so many are borrowed.
        let groups = unsafe { from_raw_parts(self.start, bytes) };
        let (lines, packed) = Column::of(groups, line_count as u64, asked.words, asked.k, column)?;
        Some((lines, packed, kernels.of(Layout::Column)))
    }

    /// Where the group of a hash begins.
    #[inline(always)]
    fn group(&self, hash: u64) -> *const u8 {
        self.groups().of(hash, &self.of.asked)
    }

    #[inline(always)]
    fn groups(&self) -> Groups {
        Groups { start: self.start, line_count: self.of.line_count }
    }

    /// The AND of the rows of a key, by its hash: a bit for each column. With `live`, of those alone.
    /// Returns how many are set.
    ///
    /// # Panics
    /// Unless there are as many words as a row has, in both.
    #[inline]
    pub(crate) fn answer(&self, hash: u64, live: Option<&[u64]>, out: &mut [u64]) -> usize {
        assert!(out.len() == self.of.asked.words, "words of a row");
        let live = self.live(live);
        // SAFETY: the group is one of the borrowed bytes, whole; the lengths are checked.
        unsafe { self.answer_at(self.group(hash), hash, live, out.as_mut_ptr()) }
    }

    /// The same, where the words are vouched for. If `live` is NULL, all columns count.
    ///
    /// # Safety
    /// There are as many words in `live` as a row has, unless it is NULL, and there is room for as many in
    /// `out`.
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(crate) unsafe fn answer_to(&self, hash: u64, live: *const u64, out: *mut u64) -> usize {
        // SAFETY: the caller's promise; the group is one of the borrowed bytes, whole.
        unsafe { self.answer_at(self.group(hash), hash, live, out) }
    }

    /// The words of [`Rows::answer`] from number `first` on, as many as there is room for.
    ///
    /// # Panics
    /// Unless a row has these words, and `live` as many as a row.
    pub(crate) fn answer_part(
        &self,
        hash: u64,
        live: Option<&[u64]>,
        first: usize,
        out: &mut [u64],
    ) {
        let Prepared { asked, kernels, .. } = *self.of;
        let end = first + out.len();
        assert!(first < end && end <= asked.words, "words of a row");
        let last = if end == asked.words { asked.last } else { u64::MAX };
        let part = Asked { words: out.len(), last, ..asked };
        let and = kernels.of_matrix().whole(part.words, self.of.is_in_memory());
        let live = live.map_or(ptr::null(), |live| {
            assert!(live.len() == asked.words, "words of a row");
            live[first..end].as_ptr()
        });
        let group = self.group(hash).wrapping_add(8 * first);
        // SAFETY: the function is that of a backend of this CPU; the group is one of the borrowed bytes, of
        // which each row has these words, by the check; there are as many in both.
        unsafe { and(&part, group, hash, live, out.as_mut_ptr()) };
    }

    /// The same, counted only.
    #[inline]
    pub(crate) fn count(&self, hash: u64, live: Option<&[u64]>) -> usize {
        // SAFETY: as in `answer`; NULL is for no words.
        unsafe { self.answer_at(self.group(hash), hash, self.live(live), ptr::null_mut()) }
    }

    /// Whether the key may be in any column.
    #[inline]
    pub(crate) fn any(&self, hash: u64, live: Option<&[u64]>) -> bool {
        // SAFETY: as in `answer`.
        unsafe { (self.of.any)(&self.of.asked, self.group(hash), hash, self.live(live)) }
    }

    /// Whether the key may be in one column, which there is.
    #[inline(always)]
    pub(crate) fn one(&self, hash: u64, column: usize) -> bool {
        let (group, mut word) = (self.group(hash), u64::MAX);
        let at = group.wrapping_add(column / 64 * 8);
        debug_assert!(column / 64 < self.of.asked.words);
        each_place(hash, &self.of.asked, |place| {
            // SAFETY: a word of a row of the group, which is one of the borrowed bytes.
            word &= unsafe { read(at.wrapping_add(place)) };
        });
        word >> (column % 64) & 1 == 1
    }

    /// Answers for many keys, a row of words each; with `live`, of those columns alone. Returns how many
    /// bits are set.
    ///
    /// # Panics
    /// Unless there are as many words as the rows have, and in `live` as one has.
    pub(crate) fn answers(&self, hashes: &[u64], live: Option<&[u64]>, out: &mut [u64]) -> usize {
        assert!(out.len() == self.of.asked.words * hashes.len(), "words of the rows");
        let (Prepared { asked, batch, .. }, far) = (self.of, self.of.pays_ahead());
        // SAFETY: the function is that of a backend of this CPU; all groups are borrowed; the words
        // are counted.
        unsafe { batch(asked, self.groups(), hashes, far, self.live(live), out) }
    }

    /// Prefetches the rows of a key, of long ones the beginning.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch_rows(self.group(hash), hash, &self.of.asked);
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
        // SAFETY: the function is that of a backend of this CPU; the caller's promise for the rest.
        unsafe { (self.of.and)(&self.of.asked, group, hash, live, out) }
    }

    /// # Panics
    /// Unless there are as many words as a row has.
    #[inline(always)]
    fn live(&self, live: Option<&[u64]>) -> *const u64 {
        match live {
            None => ptr::null(),
            Some(live) => {
                assert!(live.len() == self.of.asked.words, "words of a row");
                live.as_ptr()
            }
        }
    }
}

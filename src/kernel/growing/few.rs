//! Room for the values of a few lines that is not zeroed first: to zero it takes half as long as to take the lines
//! apart.

use super::OPENED;
use super::place::Layout;
use std::mem::MaybeUninit;

/// Up to `MOST` values, ascending or not.
pub(crate) struct Few<const MOST: usize> {
    /// The first `len` are written.
    values: [MaybeUninit<u64>; MOST],
    len: usize,
}

impl<const MOST: usize> Few<MOST> {
    pub(crate) const fn new() -> Few<MOST> {
        Few { values: [const { MaybeUninit::uninit() }; MOST], len: 0 }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn all(&self) -> &[u64] {
        // SAFETY: the first `len` are written.
        unsafe { std::slice::from_raw_parts(self.values.as_ptr().cast(), self.len) }
    }

    pub(crate) fn all_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.values.as_mut_ptr().cast(), self.len) }
    }

    /// Puts a value behind these. False if there is no room.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: u64) -> bool {
        let Some(place) = self.values.get_mut(self.len) else { return false };
        place.write(value);
        self.len += 1;
        true
    }

    /// Puts the values of a line behind these, counted from the start of the region. Returns how many there are; none
    /// without room for [`OPENED`].
    #[inline(always)]
    pub(crate) fn open(&mut self, layout: &Layout, line: usize) -> Option<usize> {
        let Some(at) = layout.lines.get(line) else { return Some(0) };
        let room = self.values[self.len..].first_chunk_mut()?;
        // SAFETY: the calls are those of a backend of this CPU.
        let count = unsafe { (layout.calls.open)(at, layout.r, layout.start(line), room) };
        // So many are written.
        self.len += count.min(OPENED);
        Some(count)
    }

    /// Drops those from so many on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

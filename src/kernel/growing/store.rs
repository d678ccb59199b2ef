//! Lines in chunks: allocated one after the other as a region is written, and freed one after the
//! other behind the frontier.

use super::Line;
use super::regions::Where;
use super::shared::{Chunks, Copies, Sequences};
use crate::error::Error;
use crate::kernel::prefetch::{INTO_L1, prefetch};
use crate::line::LINE_BYTES;
use crate::os::arena::PIECE;
use crate::os::memory::Zeroed;
use crate::os::spare::Spare;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::Arc;

/// The lines of a chunk at most, those of a piece.
const MOST_LOG2: u32 = (PIECE / LINE_BYTES).ilog2();
/// And at least, unless there are fewer.
const LEAST_LOG2: u32 = 5;
/// Lines of a chunk that are zeroed together, those of a page: to write to a whole chunk for the first time takes
/// longer than any insert.
const TOGETHER: usize = 4096 / LINE_BYTES;

/// With so many lines there is room for one of these at first.
const MANY: usize = 512;

/// The lines that may follow those which are the home of a prefix.
pub(crate) const SPARE: usize = 4;

/// Lines by their number. Those before `first` are freed; those from `len` on are not there yet.
#[derive(Default)]
pub(crate) struct Lines {
    /// The start of each chunk; null when it is freed.
    starts: Vec<*mut Line>,
    /// Their memory, each the bytes of whole lines.
    memory: Vec<Option<Zeroed>>,
    log2: u32,
    first: usize,
    len: usize,
    /// So many lines are meant. More come one by one.
    planned: usize,
    /// If other threads read them. Then there are none here.
    shared: Option<Box<Copies>>,
}

// SAFETY: the chunks are owned, and reached only through a borrow of self.
unsafe impl Send for Lines {}
// SAFETY: as above.
unsafe impl Sync for Lines {}

impl Lines {
    /// None yet, of so many.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn planned(planned: usize) -> Result<Lines, Error> {
        // An eighth of a region, so that the chunks of which a part is used waste little.
        let log2 = (planned / 8).max(1).ilog2().clamp(LEAST_LOG2, MOST_LOG2);
        let mut lines = Lines { log2, planned, ..Lines::default() };
        let chunks = planned.div_ceil(1 << log2);
        lines.starts.try_reserve_exact(chunks).map_err(|_| Error::OutOfMemory)?;
        lines.memory.try_reserve_exact(chunks).map_err(|_| Error::OutOfMemory)?;
        Ok(lines)
    }

    /// How many pieces of memory those take that are meant.
    pub(crate) fn pieces(&self) -> usize {
        if self.log2 == MOST_LOG2 { self.planned >> MOST_LOG2 } else { 0 }
    }

    /// The line of a number, if it is there.
    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> Option<&Line> {
        self.at_hand(i).or_else(|| self.get_shared(i))
    }

    /// The same, if no other thread reads them.
    #[inline(always)]
    pub(super) fn at_hand(&self, i: usize) -> Option<&Line> {
        if i.wrapping_sub(self.first) >= self.len - self.first {
            return None;
        }
        // SAFETY: line `i` is in a chunk that is there, since it is between `first` and `len`: all
        // chunks from that of `first` on are. Its bytes are initialised: `len` rises only when lines are zeroed.
        Some(unsafe { &*self.at(i) })
    }

    /// The same for one probe, in few registers. No probe asks for a line that is freed: one may be given whose chunk
    /// is not.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "bmi2")]
    pub(super) fn probed(&self, i: usize) -> Option<&Line> {
        if i >= self.len {
            return None;
        }
        // SAFETY: the directory has all chunks of lines up to `len`.
        let start = unsafe { *self.starts.get_unchecked(i >> (self.log2 & 63)) };
        let in_chunk = std::arch::x86_64::_bzhi_u64(i as u64, self.log2) as usize;
        // SAFETY: a chunk that is not freed has its lines up to `len`, whose bytes are initialised.
        (!start.is_null()).then(|| unsafe { &*start.add(in_chunk) })
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self, i: usize) -> Option<&mut Line> {
        if i.wrapping_sub(self.first) >= self.len - self.first {
            return self.shared_mut(i);
        }
        // SAFETY: as in `at_hand`, and self is borrowed exclusively.
        Some(unsafe { &mut *self.at(i) })
    }

    #[cold]
    #[inline(never)]
    fn get_shared(&self, i: usize) -> Option<&Line> {
        self.shared.as_ref()?.get(i)
    }

    #[cold]
    #[inline(never)]
    fn shared_mut(&mut self, i: usize) -> Option<&mut Line> {
        self.shared.as_mut()?.get_mut(i)
    }

    /// From here on other threads may read them, by [`chunks`](Lines::chunks), of which there are `most` at
    /// most. The sequence is that of the region; none: all.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; they are as before.
    pub(crate) fn share(
        &mut self,
        sequences: &Arc<Sequences>,
        region: Option<usize>,
        most: usize,
    ) -> Result<(), Error> {
        if self.is_shared() {
            return Ok(());
        }
        // All of a chunk that is begun are there.
        while self.more_of_last() {}
        let lines = (self.first, self.len, self.planned, most);
        let copies = Copies::new(&mut self.memory, lines, self.log2, sequences, region)?;
        *self = Lines { shared: Some(Box::new(copies)), ..Lines::default() };
        Ok(())
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// What other threads read.
    pub(crate) fn chunks(&self) -> Option<&Arc<Chunks>> {
        self.shared.as_deref().map(Copies::chunks)
    }

    /// Stores what is changed where others read it. Returns whether there was anything: then the sequence of
    /// the region has begun.
    pub(crate) fn flush(&mut self) -> bool {
        self.shared.as_mut().is_some_and(|copies| copies.flush())
    }

    /// # Safety
    /// Line `i` is between `first` and `len`.
    #[inline(always)]
    unsafe fn at(&self, i: usize) -> *mut Line {
        // SAFETY: a chunk has a start in the directory, and room behind that for its lines up to `len`.
        unsafe { (*self.starts.get_unchecked(i >> self.log2)).add(i & ((1 << self.log2) - 1)) }
    }

    /// Where they are, if no other thread reads them.
    pub(super) fn place(&self) -> Option<Where<'_>> {
        let (starts, first, count) = (self.starts.as_ptr(), self.first, self.len - self.first);
        let place =
            Where { starts: starts.cast(), first, count, log2: self.log2, lines: PhantomData };
        (!self.is_shared()).then_some(place)
    }

    /// Prefetches a line, if it is there.
    #[inline(always)]
    pub(crate) fn prefetch(&self, i: usize) {
        if let Some(line) = self.get(i) {
            prefetch::<INTO_L1>(std::ptr::from_ref(line).cast());
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.shared.as_ref().map_or(self.len, |copies| copies.len())
    }

    /// How many are there.
    pub(crate) fn there(&self) -> usize {
        if let Some(copies) = &self.shared {
            return copies.there();
        }
        self.len - (self.first >> self.log2 << self.log2)
    }

    /// Empty lines up to number `len`, or some more. Memory for all that are meant of a chunk is allocated together.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; all lines are as before, and some empty ones may be there.
    pub(crate) fn grow_to(&mut self, len: usize, spare: &mut Spare) -> Result<(), Error> {
        if let Some(copies) = &mut self.shared {
            return copies.grow_to(len);
        }
        while self.len < len {
            if self.more_of_last() {
                continue;
            }
            let chunk = 1 << self.log2;
            let begun = self.len & (chunk - 1);
            if begun > 0 {
                // One more line in a chunk that was meant to be shorter.
                let more = (begun + 1) * LINE_BYTES;
                let mut longer = Zeroed::new(more)?;
                if let Some(Some(memory)) = self.memory.last_mut() {
                    longer[..memory.len()].copy_from_slice(memory);
                    self.put_last(longer);
                    self.len += 1;
                    continue;
                }
            }
            self.begin_chunk(spare)?;
        }
        Ok(())
    }

    /// Does a part of what [`grow_to`](Lines::grow_to) does: a page of lines, or room for a chunk.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; all lines are as before.
    pub(crate) fn grow_some(&mut self, len: usize, spare: &mut Spare) -> Result<(), Error> {
        if self.is_shared() {
            return self.grow_to(len, spare);
        }
        if self.more_of_last() {
            return Ok(());
        }
        match self.len & ((1 << self.log2) - 1) {
            0 => self.begin_chunk(spare),
            _ => self.grow_to(self.len + 1, spare),
        }
    }

    /// Room for the lines of another chunk, none of which is there yet.
    fn begin_chunk(&mut self, spare: &mut Spare) -> Result<(), Error> {
        let chunk = 1 << self.log2;
        let mut count = self.planned.saturating_sub(self.len).clamp(1, chunk);
        if count < chunk && self.planned >= MANY {
            // As a rule the first one is needed. A longer chunk instead of the last would take an insert long.
            count = chunk.min(count + 1);
        }
        self.starts.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
        self.memory.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
        let memory = spare.room_for(count * LINE_BYTES)?;
        self.starts.push(null_mut());
        self.memory.push(None);
        self.put_last(memory);
        Ok(())
    }

    /// Makes a line behind the last be there, unless it is behind all that are meant and [`SPARE`] more.
    #[cold]
    #[inline(never)]
    pub(super) fn reach(&mut self, i: usize) -> bool {
        if i < self.len {
            // It is freed.
            return false;
        }
        let is_meant = i < self.planned + SPARE && !self.is_shared();
        is_meant && self.grow_to(i + 1, &mut Spare::default()).is_ok()
    }

    /// Zeroes some lines for which the last chunk has room. False if it has none.
    fn more_of_last(&mut self) -> bool {
        let Some(Some(last)) = self.memory.last_mut() else { return false };
        let (there, room) = (last.len() / LINE_BYTES, last.room() / LINE_BYTES);
        // Of those that are not meant one at a time.
        let meant = self.planned.saturating_sub(self.len).clamp(1, TOGETHER);
        let more = room.min(there + meant);
        last.grow_to(more * LINE_BYTES);
        self.len += more - there;
        more > there
    }

    fn put_last(&mut self, memory: Zeroed) {
        if let (Some(start), Some(last)) = (self.starts.last_mut(), self.memory.last_mut()) {
            *start = memory.start().cast();
            *last = Some(memory);
        }
    }

    /// Frees the chunks of which all lines are before `first`.
    pub(crate) fn free_before(&mut self, first: usize, spare: &mut Spare) {
        if let Some(copies) = &mut self.shared {
            return copies.free_before(first);
        }
        let first = first.min(self.len);
        for chunk in self.first >> self.log2..first >> self.log2 {
            self.starts[chunk] = null_mut();
            spare.put(self.memory[chunk].take());
        }
        self.first = first;
    }

    /// The bytes taken.
    pub(crate) fn memory(&self) -> usize {
        if let Some(copies) = &self.shared {
            return copies.memory();
        }
        let lines: usize = self.memory.iter().flatten().map(Zeroed::taken).sum();
        let directory = self.starts.capacity() * size_of::<*mut Line>()
            + self.memory.capacity() * size_of::<Option<Zeroed>>();
        lines + directory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of chunks that others used: of 128 lines, of which a page's come at a time.
    fn begun() -> (Lines, Spare) {
        let mut lines = Lines::planned(8 * 128).unwrap();
        let mut spare = Spare::default();
        lines.grow_to(1, &mut spare).unwrap();
        (lines, spare)
    }

    #[test]
    fn lines_are_there_a_page_at_a_time() {
        let (mut lines, mut spare) = begun();
        assert!(lines.len() == TOGETHER && lines.get(TOGETHER - 1) == Some(&[0; 8]));
        assert!(lines.get(TOGETHER).is_none() && lines.memory() >= 128 * LINE_BYTES);
        *lines.get_mut(TOGETHER - 1).unwrap() = [7; 8];
        assert!(lines.reach(TOGETHER) && lines.len() == 128);
        assert!((TOGETHER..128).all(|i| lines.get(i) == Some(&[0; 8])));
        assert!(lines.reach(128) && lines.get(128).is_some());
        assert_eq!(lines.len(), 128 + TOGETHER);
        lines.free_before(130, &mut spare);
        assert!(!lines.reach(5) && !lines.reach(127) && lines.reach(200));
        assert!(!lines.reach(8 * 128 + SPARE));
        // The last one is longer than it was meant.
        lines.grow_to(8 * 128 + 3, &mut spare).unwrap();
        assert!(lines.len() >= 8 * 128 + 3 && lines.get(8 * 128 + 2) == Some(&[0; 8]));
    }

    /// In steps, of which each begins a chunk or zeroes a page; the last chunk of many lines has room for some more.
    #[test]
    fn lines_grow_a_little_at_a_time() {
        for planned in [600, 5000, 8 * 1024, 8 * 1024 + 100] {
            let mut lines = Lines::planned(planned).unwrap();
            let (mut spare, mut steps) = (Spare::new(), 0);
            while lines.len() < planned {
                let before = (lines.len(), lines.memory.len());
                lines.grow_some(planned, &mut spare).unwrap();
                let more = (lines.len() - before.0, lines.memory.len() - before.1);
                assert!(
                    more == (0, 1) || (1..=TOGETHER).contains(&more.0) && more.1 == 0,
                    "{more:?}"
                );
                steps += 1;
            }
            assert!(
                lines.len() == planned && steps <= planned / TOGETHER + 2 * lines.memory.len() + 1
            );
            assert!((0..planned).all(|i| lines.get(i) == Some(&[0; 8])));
            *lines.get_mut(planned - 1).unwrap() = [3; 8];
            let start = lines.get(planned - 1).unwrap() as *const Line;
            for i in planned..planned + SPARE {
                assert!(lines.get(i).is_none() && lines.reach(i) && lines.len() == i + 1);
                let last = lines.get(planned - 1).unwrap();
                assert_eq!(*last, [3; 8]);
                // For the first nothing was copied.
                assert!(i > planned || start == last);
            }
            assert!(!lines.reach(planned + SPARE));
        }
    }

    #[test]
    fn others_read_whole_chunks() {
        let (mut lines, _) = begun();
        *lines.get_mut(3).unwrap() = [9; 8];
        lines.share(&Arc::default(), None, 2000).unwrap();
        assert!(lines.len() == 128 && lines.get(3) == Some(&[9; 8]));
        let mut line = [1; 8];
        assert!(lines.chunks().unwrap().read(127, &mut line) && line == [0; 8]);
        assert!(!lines.chunks().unwrap().read(128, &mut line));
    }
}

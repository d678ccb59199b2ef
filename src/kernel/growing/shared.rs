//! The lines of a region that one thread changes while others read them.
//!
//! Kernels change copies of lines. When a key is inserted or removed, the copies are stored to the lines
//! themselves, word by word, all of them within one turn of the region's [`Sequence`]. Readers copy a line
//! word by word, too. All these words are atomic.
//!
//! Chunks are there as long as someone has the lines: they are freed together, with the last owner.

use super::Line;
use super::sequence::{self, Sequence};
use crate::error::Error;
use crate::kernel::prefetch::{INTO_L1, prefetch};
use crate::layouts::growing::REGIONS;
use crate::line::LINE_BYTES;
use crate::os::memory::Zeroed;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The lanes of a line that threads share.
type Lanes = [AtomicU64; 8];

/// Lines that are copied before they are stored, at most. Few inserts change so many.
const COPIES: usize = 72;

/// The numbers of all regions.
#[derive(Default)]
pub(crate) struct Sequences([Sequence<AtomicU64>; REGIONS as usize]);

impl Sequences {
    /// That of a hash.
    #[inline(always)]
    pub(crate) fn of(&self, hash: u64) -> &Sequence<AtomicU64> {
        &self.0[(hash >> 60) as usize]
    }

    /// Those of a region; none: of all.
    fn some(&self, region: Option<usize>) -> &[Sequence<AtomicU64>] {
        region.map_or(&self.0[..], |region| &self.0[region..=region])
    }

    /// Before changes to a region, or to all.
    #[inline]
    pub(crate) fn begin(&self, region: Option<usize>) {
        self.some(region).iter().for_each(Sequence::begin);
    }

    /// After them.
    #[inline]
    pub(crate) fn end(&self, region: Option<usize>) {
        self.some(region).iter().for_each(Sequence::end);
    }
}

/// Lines as readers see them.
pub(crate) struct Chunks {
    /// Where each chunk starts; null while it is not there.
    starts: Vec<AtomicPtr<Lanes>>,
    /// So many lines are there. Stored after their start.
    len: AtomicUsize,
    log2: u32,
    /// The memory of all that ever were there. The writer adds to it, and nobody waits for it.
    memory: Mutex<Vec<Zeroed>>,
}

impl Chunks {
    /// Where a line is, if it is there.
    #[inline(always)]
    fn at(&self, i: usize) -> Option<&Lanes> {
        // With this number come the starts that were stored before.
        if i >= self.len.load(Ordering::Acquire) {
            return None;
        }
        let start = self.starts.get(i >> self.log2)?.load(Ordering::Acquire);
        if start.is_null() {
            // It was freed before the lines were shared.
            return None;
        }
        // SAFETY: line `i` is there, so the chunk that starts here has it, or a longer one that took its
        // place meanwhile. The memory is owned by `self` and freed with it. It is aligned to lines and zeroed
        // before its start is stored. From then on all that is stored there is atomic words. (Who has
        // the only `Copies` may read it otherwise: no other thread stores.)
        Some(unsafe { &*start.add(i & ((1 << self.log2) - 1)) })
    }

    /// Copies a line, each word as it then is. False if it is not there.
    #[inline(always)]
    pub(crate) fn read(&self, i: usize, line: &mut Line) -> bool {
        let words = self.at(i);
        words.into_iter().for_each(|words| sequence::load(words, line));
        words.is_some()
    }

    /// Prefetches a line, if it is there.
    #[inline(always)]
    pub(crate) fn prefetch<const LEVEL: u8>(&self, i: usize) {
        if let Some(words) = self.at(i) {
            prefetch::<LEVEL>(std::ptr::from_ref(words).cast());
        }
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Vec<Zeroed>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lines of the thread that changes them.
pub(super) struct Copies {
    chunks: Arc<Chunks>,
    sequences: Arc<Sequences>,
    /// The region; none: all.
    region: Option<usize>,
    first: usize,
    len: usize,
    planned: usize,
    /// Lines that are changed, by their number.
    copies: Vec<(usize, Line)>,
}

impl Copies {
    /// Of chunks that nobody else sees, of which `len` lines are there, those from `first` on, and all for which
    /// there is room. There may be more, `most` at most.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; the memory is where it was.
    pub(super) fn new(
        memory: &mut Vec<Option<Zeroed>>,
        (first, len, planned, most): (usize, usize, usize, usize),
        log2: u32,
        sequences: &Arc<Sequences>,
        region: Option<usize>,
    ) -> Result<Copies, Error> {
        let (mut starts, mut copies, mut all) = (Vec::new(), Vec::new(), Vec::new());
        let count = most.div_ceil(1 << log2).max(memory.len()) + 1;
        starts.try_reserve_exact(count).map_err(|_| Error::OutOfMemory)?;
        copies.try_reserve_exact(COPIES).map_err(|_| Error::OutOfMemory)?;
        all.try_reserve_exact(count).map_err(|_| Error::OutOfMemory)?;
        starts.resize_with(count, || AtomicPtr::new(null_mut()));
        for (start, memory) in starts.iter_mut().zip(&mut *memory) {
            *start.get_mut() = memory.as_ref().map_or(null_mut(), |memory| memory.start().cast());
        }
        all.extend(memory.drain(..).flatten());
        debug_assert!(all.iter().all(|chunk| chunk.len() == chunk.room()));
        let len_seen = AtomicUsize::new(len);
        let chunks = Arc::new(Chunks { starts, len: len_seen, log2, memory: Mutex::new(all) });
        let sequences = Arc::clone(sequences);
        Ok(Copies { chunks, sequences, region, first, len, planned, copies })
    }

    pub(super) fn chunks(&self) -> &Arc<Chunks> {
        &self.chunks
    }

    fn is_there(&self, i: usize) -> bool {
        i.wrapping_sub(self.first) < self.len - self.first
    }

    /// A line, with its changes.
    pub(super) fn get(&self, i: usize) -> Option<&Line> {
        if !self.is_there(i) {
            return None;
        }
        if let Some((_, copy)) = self.copies.iter().find(|&&(number, _)| number == i) {
            return Some(copy);
        }
        let words = self.chunks.at(i)?;
        // SAFETY: only this thread stores to lines, and not while self is borrowed; the words of a line
        // are laid out as its atomic ones.
        Some(unsafe { &*std::ptr::from_ref(words).cast::<Line>() })
    }

    /// A copy to be changed.
    pub(super) fn get_mut(&mut self, i: usize) -> Option<&mut Line> {
        if !self.is_there(i) {
            return None;
        }
        let mut at = self.copies.iter().position(|&(number, _)| number == i);
        if at.is_none() {
            if self.copies.len() == COPIES {
                self.flush();
            }
            let mut line = [0; 8];
            if !self.chunks.read(i, &mut line) {
                return None;
            }
            // Who changes a copy prefetches what is behind that, which is no line.
            self.chunks.prefetch::<INTO_L1>(i + 1);
            self.chunks.prefetch::<INTO_L1>(i + 2);
            self.copies.push((i, line));
            at = Some(self.copies.len() - 1);
        }
        self.copies.get_mut(at?).map(|(_, line)| line)
    }

    /// Stores what is changed, after which readers see nothing of the region until its sequence ends.
    /// Returns whether there was anything.
    pub(super) fn flush(&mut self) -> bool {
        if self.copies.is_empty() {
            return false;
        }
        self.sequences.begin(self.region);
        for (number, line) in self.copies.drain(..) {
            if let Some(words) = self.chunks.at(number) {
                sequence::store(words, &line);
            }
        }
        true
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn there(&self) -> usize {
        self.len - (self.first >> self.chunks.log2 << self.chunks.log2)
    }

    /// Empty lines up to number `len`, as of lines that are not shared.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; some may be there.
    pub(super) fn grow_to(&mut self, len: usize) -> Result<(), Error> {
        while self.len < len {
            let chunk = 1 << self.chunks.log2;
            let begun = self.len & (chunk - 1);
            let last = self.len - begun;
            let start =
                self.chunks.starts.get(last >> self.chunks.log2).ok_or(Error::OutOfMemory)?;
            let count = match begun {
                0 => self.planned.saturating_sub(last).clamp(1, chunk),
                begun => begun + 1,
            };
            let mut memory = self.chunks.memory();
            memory.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
            let mut longer = Zeroed::new(count * LINE_BYTES)?;
            for (i, bytes) in
                longer.as_chunks_mut::<LINE_BYTES>().0.iter_mut().take(begun).enumerate()
            {
                // What is not stored yet is stored to the longer one.
                let mut line = [0; 8];
                self.chunks.read(last + i, &mut line);
                bytes.copy_from_slice(line.map(u64::to_ne_bytes).as_flattened());
            }
            // Readers of the shorter chunk go on with that.
            start.store(longer.start().cast(), Ordering::Release);
            memory.push(longer);
            self.len = last + count;
            self.chunks.len.store(self.len, Ordering::Release);
        }
        Ok(())
    }

    /// Says that the lines before are not read any more, by this thread.
    pub(super) fn free_before(&mut self, first: usize) {
        self.first = first.min(self.len);
    }

    /// The bytes taken.
    pub(super) fn memory(&self) -> usize {
        let lines: usize = self.chunks.memory().iter().map(Zeroed::taken).sum();
        lines
            + self.chunks.starts.capacity() * size_of::<AtomicPtr<Lanes>>()
            + self.copies.capacity() * size_of::<(usize, Line)>()
    }
}

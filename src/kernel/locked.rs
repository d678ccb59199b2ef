//! Lines into which any number of threads insert, without atomics: in parts, each behind a lock of its own.
//!
//! A thread sorts its hashes by the part that they belong to, as in `parallel`, and inserts them part by
//! part. Where another thread is at work it goes on with the next part, and comes back at the end.

use super::batch::Hashes;
use super::lines::Lines;
use super::parts::{CHUNK, Part, Parts, Sorter, start_of};
use super::prefetch::Prefetch;
use super::{Kernel, Layout};
use crate::error::Error;
use crate::line::LINE_BYTES;
use crate::os::{memory::Zeroed, threads};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};

/// Parts for each CPU: where a thread meets another, there is a part where nobody is.
const EACH: usize = 2;
/// Parts, at most: some hashes of a chunk belong to each.
const MOST: usize = 256;
/// Lines of a part, at least.
const LEAST_LINES: u64 = 16;
/// So few hashes, as most batches of engines have, need less room, which is zeroed first.
const SMALL_BATCH: usize = 2048;

/// Zeroed lines of a filter, until they are finished.
pub(crate) struct LockedLines {
    /// Reached by their address only, and as slices of one part each.
    bytes: Zeroed,
    k: u32,
    kernel: &'static Kernel,
    parts: Parts,
    /// For each part, who works there, and how many keys were inserted.
    locks: Vec<Lock>,
    /// With which part the next thread begins.
    next: AtomicUsize,
}

/// In a cache line of its own: threads that take one do not wait for another's line.
#[derive(Default)]
#[repr(align(64))]
struct Lock {
    mutex: Mutex<()>,
    /// Changed by who has the mutex. Acquired and released once more, for ThreadSanitizer: it does not see
    /// that the standard library, which it does not instrument, waits for a mutex.
    keys: AtomicU64,
}

impl LockedLines {
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Panics
    /// If there is no line.
    pub(crate) fn new(
        bytes: Zeroed,
        k: u32,
        kernel: &'static Kernel,
    ) -> Result<LockedLines, Error> {
        let lines = (bytes.len() / LINE_BYTES) as u64;
        assert!(lines > 0, "a filter has at least one line");
        let count =
            (EACH * threads::or_all(0)).min(MOST).min((lines / LEAST_LINES) as usize).max(1);
        // The bits of a key lie anywhere: then all lines are one part.
        let count = if kernel.layout() == Layout::Native { count } else { 1 };
        let mut locks = Vec::new();
        locks.try_reserve_exact(count).map_err(|_| Error::OutOfMemory)?;
        locks.resize_with(count, Lock::default);
        let parts = Parts::of(lines, count);
        Ok(LockedLines { bytes, k, kernel, parts, locks, next: AtomicUsize::new(0) })
    }

    /// How many bytes were taken for them.
    pub(crate) fn taken(&self) -> usize {
        self.bytes.taken()
    }

    /// The lines, once nobody inserts any more, and how many keys were inserted.
    pub(crate) fn finish(self) -> (Zeroed, u64) {
        let keys = self.keys();
        (self.bytes, keys)
    }

    /// How many keys were inserted, repeated ones counted each time.
    pub(crate) fn keys(&self) -> u64 {
        let keys = self.locks.iter().map(|lock| lock.keys.load(Ordering::Acquire));
        keys.fold(0, u64::saturating_add)
    }

    /// Inserts keys: `make` writes the hashes of so many rows from the given one on, and returns how many
    /// it has written, since a row need not have a key.
    pub(crate) fn insert(&self, rows: usize, make: &dyn Fn(usize, &mut [u64]) -> usize) {
        match rows {
            ..=SMALL_BATCH => self.insert_chunks::<SMALL_BATCH>(rows, make),
            _ => self.insert_chunks::<CHUNK>(rows, make),
        }
    }

    fn insert_chunks<const N: usize>(
        &self,
        rows: usize,
        make: &dyn Fn(usize, &mut [u64]) -> usize,
    ) {
        let (mut hashes, mut sorter) = ([0; N], Sorter::<N>::new(self.parts, self.kernel));
        for from in (0..rows).step_by(N) {
            let count = make(from, &mut hashes[..N.min(rows - from)]);
            self.insert_sorted(&mut hashes[..count], &mut sorter);
        }
    }

    /// Inserts hashes, and leaves them sorted.
    fn insert_sorted<const N: usize>(&self, hashes: &mut [u64], sorter: &mut Sorter<N>) {
        let mut ends = [0; MOST];
        let ends = &mut ends[..self.parts.count];
        ends[self.parts.count - 1] = hashes.len() as u16;
        sorter.sort::<false>(0..self.parts.count, hashes, &mut [], ends);
        let first = self.next.fetch_add(1, Ordering::Relaxed) % self.parts.count;
        let mut done = [false; MOST];
        for waits in [false, true] {
            for part in (first..self.parts.count).chain(0..first) {
                let own = usize::from(start_of(part, ends))..usize::from(ends[part]);
                done[part] = done[part]
                    || own.is_empty()
                    || self.at(part, waits, |part, keys| self.put(part, &hashes[own], keys));
            }
        }
    }

    /// Works on a part, unless another thread does: then it waits, or returns false.
    fn at(&self, number: usize, waits: bool, work: impl FnOnce(Part<'_>, &mut u64)) -> bool {
        let Lock { mutex, keys: counted } = &self.locks[number];
        // A thread that panicked has left bits that are set, which do no harm.
        let guard = match mutex.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) if !waits => return false,
            Err(TryLockError::WouldBlock) => mutex.lock().unwrap_or_else(PoisonError::into_inner),
        };
        let mut keys = counted.load(Ordering::Acquire);
        let (first, end) = (self.parts.first_line(number), self.parts.first_line(number + 1));
        // SAFETY: lines of the bytes, which live as long as self. Parts do not overlap. Those of this one
        // are reached only here, and only by who has its mutex, which is held as long as the slice lives.
        let lines = unsafe {
            let start = self.bytes.start().add(first as usize * LINE_BYTES);
            std::slice::from_raw_parts_mut(start, (end - first) as usize * LINE_BYTES)
        };
        work(Part { number, lines, first, all: self.parts.lines }, &mut keys);
        counted.store(keys, Ordering::Release);
        drop(guard);
        true
    }

    /// Inserts hashes of a part.
    fn put(&self, part: Part<'_>, hashes: &[u64], keys: &mut u64) {
        *keys = keys.saturating_add(hashes.len() as u64);
        if self.parts.count == 1 {
            return self.kernel.insert_batch(part.lines, self.k, Hashes::Given(hashes));
        }
        let bounds = part.bounds();
        let inside = hashes.iter().fold(true, |all, hash| all & bounds.contains(hash));
        assert!(inside, "hashes of the part");
        let plan = Prefetch::to_insert(self.parts.lines as usize * LINE_BYTES);
        let lines = Lines::part_of(part.lines, part.first, part.all, self.k);
        // SAFETY: this CPU runs the kernel, since it exists. An insert reads and writes the line of its hash,
        // no other. All hashes are between the bounds of the part, a mutable slice, and lines grow with hashes.
        unsafe { (self.kernel.insert_batch)(lines, Hashes::Given(hashes), plan) }
    }

    /// Sets the bits of lines of the same shape, those of so many keys.
    ///
    /// # Panics
    /// Unless there are as many.
    pub(crate) fn union(&self, other: &[u8], keys: u64) {
        assert_eq!(other.len(), self.parts.lines as usize * LINE_BYTES, "lines of the same shape");
        for number in 0..self.parts.count {
            self.at(number, true, |part, all_keys| {
                let other = &other[part.first as usize * LINE_BYTES..][..part.lines.len()];
                part.lines.iter_mut().zip(other).for_each(|(byte, other)| *byte |= other);
                *all_keys = all_keys.saturating_add(if number == 0 { keys } else { 0 });
            });
        }
    }
}

//! Arrays of numbers that grow with what a caller gives. They come from where lines come from, so a
//! caller's own allocator sees all memory that is proportional to its input.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::line::LINE_BYTES;
use crate::os::memory::Zeroed;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// A number that fits into a line.
///
/// # Safety
/// Any bytes are a value of it, and its alignment divides that of lines.
pub(crate) unsafe trait Number: Copy {}
// SAFETY: an integer.
unsafe impl Number for u32 {}
// SAFETY: an integer.
unsafe impl Number for u64 {}
// SAFETY: an integer.
unsafe impl Number for usize {}

/// The memory of so many numbers, in whole lines; none for none.
fn memory<T: Number>(len: usize) -> Result<Option<Zeroed>, Error> {
    let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::OutOfMemory)?;
    let bytes = bytes.checked_next_multiple_of(LINE_BYTES).ok_or(Error::OutOfMemory)?;
    if bytes == 0 { Ok(None) } else { Zeroed::new(bytes).map(Some) }
}

/// Where they are.
fn start<T: Number>(memory: &Option<Zeroed>) -> NonNull<T> {
    memory
        .as_ref()
        .and_then(|bytes| NonNull::new(bytes.start().cast()))
        .unwrap_or(NonNull::dangling())
}

/// An array, of zeros at first.
pub(crate) struct Zeros<T> {
    memory: Option<Zeroed>,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Number> Zeros<T> {
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(len: usize) -> Result<Zeros<T>, Error> {
        Ok(Zeros { memory: memory::<T>(len)?, len, of: PhantomData })
    }
}

impl<T: Number> Deref for Zeros<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: there is room for so many, aligned as lines are; any bytes are a number.
        unsafe { from_raw_parts(start(&self.memory).as_ptr(), self.len) }
    }
}

impl<T: Number> DerefMut for Zeros<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and self is borrowed exclusively.
        unsafe { from_raw_parts_mut(start(&self.memory).as_ptr(), self.len) }
    }
}

/// A list of hashes that grows.
pub(crate) struct HashList {
    /// In the memory, which stays where it is.
    start: NonNull<u64>,
    len: usize,
    capacity: usize,
    /// It is freed with the list.
    _memory: Option<Zeroed>,
}

// SAFETY: the numbers are owned, and shared only as slices that borrow from self.
unsafe impl Send for HashList {}
// SAFETY: as above.
unsafe impl Sync for HashList {}

impl HashList {
    pub(crate) const fn new() -> HashList {
        HashList { start: NonNull::dangling(), len: 0, capacity: 0, _memory: None }
    }

    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn with_capacity(capacity: usize) -> Result<HashList, Error> {
        let memory = memory::<u64>(capacity)?;
        Ok(HashList { start: start(&memory), len: 0, capacity, _memory: memory })
    }

    /// How many bytes were taken for them.
    pub(crate) fn taken(&self) -> usize {
        self._memory.as_ref().map_or(0, Zeroed::taken)
    }

    /// Makes room for so many more.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and nothing changes.
    #[inline]
    pub(crate) fn reserve(&mut self, more: usize) -> Result<(), Error> {
        if more <= self.capacity - self.len { Ok(()) } else { self.grow(more) }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) -> Result<(), Error> {
        let needed = self.len.checked_add(more).ok_or(Error::OutOfMemory)?;
        let mut larger = HashList::with_capacity(needed.max(2 * self.capacity).max(8))?;
        larger.memory_mut()[..self.len].copy_from_slice(self);
        larger.len = self.len;
        *self = larger;
        Ok(())
    }

    /// All there is room for.
    fn memory_mut(&mut self) -> &mut [u64] {
        // SAFETY: there is room for so many, and the memory is initialised.
        unsafe { from_raw_parts_mut(self.start.as_ptr(), self.capacity) }
    }

    /// # Errors
    /// [`Error::OutOfMemory`], and nothing changes.
    #[inline]
    pub(crate) fn push(&mut self, hash: u64) -> Result<(), Error> {
        self.reserve(1)?;
        // SAFETY: there is room for one more.
        unsafe { self.start.add(self.len).write(hash) };
        self.len += 1;
        Ok(())
    }

    /// Appends these, in order.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and nothing changes.
    pub(crate) fn append(&mut self, hashes: &[u64]) -> Result<(), Error> {
        self.reserve(hashes.len())?;
        let len = self.len;
        self.memory_mut()[len..][..hashes.len()].copy_from_slice(hashes);
        self.len += hashes.len();
        Ok(())
    }

    /// Drops all, and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Sorts them, and keeps each once.
    pub(crate) fn sort_and_dedup(&mut self) {
        self.sort_unstable();
        let mut len = 0;
        for i in 0..self.len {
            if len == 0 || self[len - 1] != self[i] {
                self[len] = self[i];
                len += 1;
            }
        }
        self.len = len;
    }

    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn copy(&self) -> Result<HashList, Error> {
        let mut copy = HashList::new();
        copy.append(self)?;
        Ok(copy)
    }
}

impl Deref for HashList {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        // SAFETY: so many have been written, and the slice borrows self.
        unsafe { from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for HashList {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, and self is borrowed exclusively.
        unsafe { from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Clone for HashList {
    /// # Panics
    /// If there is not enough memory.
    fn clone(&self) -> HashList {
        self.copy().unwrap_or_else(|error| panic!("{error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_lists() {
        let (mut hashes, mut expected) = (HashList::new(), Vec::new());
        assert!(hashes.is_empty() && hashes.clone().is_empty());
        for i in 0..1000 {
            hashes.push(i * i % 97).unwrap();
            expected.push(i * i % 97);
        }
        hashes.append(&[5, 4, 3]).unwrap();
        expected.extend([5, 4, 3]);
        assert_eq!((&*hashes, &*hashes.clone()), (&*expected, &*expected));
        hashes.sort_and_dedup();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(*hashes, *expected);
        assert_eq!(hashes.reserve(usize::MAX), Err(Error::OutOfMemory));
        assert_eq!(hashes.reserve(usize::MAX / 8), Err(Error::OutOfMemory));
        assert_eq!(*hashes, *expected);
        hashes.clear();
        assert!(hashes.is_empty());
        let zeros = Zeros::<u32>::new(17).unwrap();
        assert_eq!(*zeros, [0; 17]);
        assert!(Zeros::<usize>::new(0).unwrap().is_empty());
    }
}

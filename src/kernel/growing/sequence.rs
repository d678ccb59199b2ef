//! A number that one thread raises before and after it changes what others read: what they read while it was
//! even and the same is of one moment.
//!
//! What is read consists of atomic words, so no read is a data race. The number is behind a trait, so that a
//! model checker can replace the CPU's (`tests/loom.rs`).

use std::sync::atomic::{AtomicU64, Ordering, fence};

/// A word that threads share.
pub trait Word {
    /// Its value.
    fn load(&self, order: Ordering) -> u64;
    /// Gives it a value.
    fn store(&self, value: u64, order: Ordering);
    /// Orders words of its kind.
    fn fence(order: Ordering);
}

impl Word for AtomicU64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }

    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }

    #[inline(always)]
    fn fence(order: Ordering) {
        fence(order);
    }
}

/// The number: odd while a change is under way.
///
/// On a cache line of its own: readers of other numbers are not held up.
#[derive(Default)]
#[repr(align(64))]
pub struct Sequence<W>(pub W);

impl<W: Word> Sequence<W> {
    /// Before the first change, by the only thread that changes. Again before the end, it does nothing.
    ///
    /// Who reads a word that is stored after this, and then the number behind a fence, reads this one or a
    /// later one: the fences meet.
    #[inline(always)]
    pub fn begin(&self) {
        let number = self.0.load(Ordering::Relaxed);
        if number.is_multiple_of(2) {
            self.0.store(number + 1, Ordering::Relaxed);
            W::fence(Ordering::Release);
        }
    }

    /// After the last change. Who reads this number sees all of them.
    #[inline(always)]
    pub fn end(&self) {
        let number = self.0.load(Ordering::Relaxed);
        if !number.is_multiple_of(2) {
            self.0.store(number + 1, Ordering::Release);
        }
    }

    /// What `read` returns, if nothing changed meanwhile.
    #[inline(always)]
    pub fn read<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        let before = self.0.load(Ordering::Acquire);
        if !before.is_multiple_of(2) {
            return None;
        }
        let value = read();
        W::fence(Ordering::Acquire);
        (self.0.load(Ordering::Relaxed) == before).then_some(value)
    }
}

/// A number that the same thread raises within a change that replaces what says where lines are.
///
/// Who took its value, then that, and reads lines while their [`Sequence`] is even, may use them if the number is
/// still the same: had the sequence ended a change after the replacement, the number would be seen as raised.
#[derive(Default)]
pub struct Version<W>(pub W);

impl<W: Word> Version<W> {
    /// Its value. What was replaced before this value is seen, or what replaced that.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// After something was replaced, before the sequences of its lines end.
    #[inline(always)]
    pub fn raise(&self) {
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// Whether nothing was replaced before the lines were read, which were read before this call.
    #[inline(always)]
    pub fn is_still(&self, version: u64) -> bool {
        W::fence(Ordering::Acquire);
        self.0.load(Ordering::Relaxed) == version
    }
}

/// Copies the words of a line, each as it then is. Whoever moves the copy by vectors then waits for its
/// words, so it is made where it is used.
#[inline(always)]
pub fn load<W: Word, const N: usize>(words: &[W; N], line: &mut [u64; N]) {
    for (value, word) in line.iter_mut().zip(words) {
        *value = word.load(Ordering::Relaxed);
    }
}

/// Stores the words of a line, one by one.
#[inline(always)]
pub fn store<W: Word, const N: usize>(words: &[W; N], line: &[u64; N]) {
    for (&value, word) in line.iter().zip(words) {
        word.store(value, Ordering::Relaxed);
    }
}

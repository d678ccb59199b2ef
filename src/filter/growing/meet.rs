//! What two unbounded filters have in common: prefixes of both, of several lengths.
//!
//! A hash has a prefix in both filters if one of these two is a prefix of the other. So the common ones are those
//! that have a prefix, or themselves, in the other filter: the longer of each two.

use crate::error::Error;
use crate::kernel::growing::place::Common;
use std::cell::Cell;
use std::cmp::Reverse;
use std::iter::Peekable;

/// The common prefixes of two filters, ascending, each with its count.
///
/// Prefixes of which one begins with another have the first one's first bits in common, and come together. So they
/// are taken together, in a list. What there is no memory for is left out, and `failed` set.
pub(super) struct Meet<'a, I: Iterator> {
    /// The prefixes of both, with their counts in each.
    both: Peekable<I>,
    /// The values of a prefix of the first length.
    size: u64,
    family: Vec<(u64, u64, u64)>,
    /// Those that the last one is in, from outside: the end of each, and the keys of these in both filters.
    around: Vec<(u64, u64, u64)>,
    found: Vec<(u64, u64)>,
    at: usize,
    failed: &'a Cell<bool>,
}

impl<'a, I: Iterator<Item = (u64, u64, u64)>> Meet<'a, I> {
    pub(super) fn new(common: Common, both: I, failed: &'a Cell<bool>) -> Meet<'a, I> {
        let size = common.normals() / common.prefixes;
        let both = both.peekable();
        Meet { both, size, family: vec![], around: vec![], found: vec![], at: 0, failed }
    }

    /// Finds what is common in the next family. `None`: there is none.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn take_family(&mut self) -> Option<Result<(), Error>> {
        let first = self.both.next()?;
        let number = first.0 / self.size;
        self.family.clear();
        let mut next = Some(first);
        while let Some(prefix) = next {
            if self.family.try_reserve(1).is_err() {
                return Some(Err(Error::OutOfMemory));
            }
            self.family.push(prefix);
            next = self.both.next_if(|next| next.0 / self.size == number);
        }
        Some(self.find())
    }

    fn find(&mut self) -> Result<(), Error> {
        let Meet { family, around, found, at, .. } = self;
        found.clear();
        *at = 0;
        found.try_reserve(family.len()).map_err(|_| Error::OutOfMemory)?;
        // Each before those that begin with it.
        let half = |prefix: u64| 1_u64 << prefix.trailing_zeros();
        if family.len() > 1 {
            family.sort_unstable_by_key(|&(prefix, ..)| {
                (prefix - half(prefix), Reverse(half(prefix)))
            });
        }
        around.clear();
        around.try_reserve(u64::BITS as usize).map_err(|_| Error::OutOfMemory)?;
        for &(prefix, a, b) in &*family {
            while around.pop_if(|&mut (end, ..)| end <= prefix).is_some() {}
            let &(_, of_a, of_b) = around.last().unwrap_or(&(0, 0, 0));
            let count = common_keys([a, b], [of_a, of_b]);
            if count > 0 {
                found.push((prefix, count));
            }
            let (of_a, of_b) = (of_a.saturating_add(a), of_b.saturating_add(b));
            around.push((prefix + half(prefix), of_a, of_b));
        }
        if found.len() > 1 {
            found.sort_unstable();
        }
        Ok(())
    }
}

/// How many keys of both filters can have a prefix as the longer one of their two: so often it is there, and so often
/// shorter ones are of which it is one.
fn common_keys([a, b]: [u64; 2], [shorter_in_a, shorter_in_b]: [u64; 2]) -> u64 {
    let (in_a, in_b) = (a.min(shorter_in_b), b.min(shorter_in_a));
    // The others have it in both.
    in_a.saturating_add(in_b).saturating_add((a - in_a).min(b - in_b))
}

impl<I: Iterator<Item = (u64, u64, u64)>> Iterator for Meet<'_, I> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        while self.at == self.found.len() {
            if self.failed.get() {
                return None;
            }
            if self.take_family()?.is_err() {
                self.failed.set(true);
                return None;
            }
        }
        self.at += 1;
        self.found.get(self.at - 1).copied()
    }
}

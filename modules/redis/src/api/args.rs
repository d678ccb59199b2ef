//! The arguments of a command.
#![allow(unsafe_code)]

use super::raw::RawString;
use super::table;
use std::ffi::c_int;

/// The arguments, the name of the command first. They live as long as the call.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a>(&'a [*mut RawString]);

impl<'a> Args<'a> {
    /// # Safety
    /// `argv` are so many strings of the server, which live as long as `'a`.
    pub(crate) unsafe fn new(argv: *mut *mut RawString, argc: c_int) -> Args<'a> {
        match usize::try_from(argc) {
            // SAFETY: so many are there, by the contract.
            Ok(len @ 1..) => Args(unsafe { std::slice::from_raw_parts(argv, len) }),
            _ => Args(&[]),
        }
    }

    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    /// The bytes of an argument.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub(crate) fn bytes(self, i: usize) -> &'a [u8] {
        bytes_of(&self.0[i])
    }

    /// The argument as the server has it.
    ///
    /// # Panics
    /// If there are fewer.
    pub(crate) fn raw(self, i: usize) -> *mut RawString {
        self.0[i]
    }

    /// The same as numbers of the server, to hand on.
    pub(crate) fn as_raw(self) -> &'a [*mut RawString] {
        self.0
    }

    /// Those from `first` on.
    pub(crate) fn from(self, first: usize) -> Args<'a> {
        Args(&self.0[first.min(self.0.len())..])
    }

    /// The first `count`.
    pub(crate) fn first(self, count: usize) -> Args<'a> {
        Args(&self.0[..count.min(self.0.len())])
    }

    /// Their bytes, in order.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        self.0.iter().map(bytes_of)
    }

    /// Whether the command was called by our own name for it. These take more options, and deny no
    /// key that is not theirs.
    pub(crate) fn is_own(self) -> bool {
        self.bytes(0).get(..3).is_some_and(|prefix| prefix.eq_ignore_ascii_case(b"BL."))
    }

    /// Whether an argument is this word, in any case.
    pub(crate) fn is(self, i: usize, word: &str) -> bool {
        self.bytes(i).eq_ignore_ascii_case(word.as_bytes())
    }

    /// The place of a word, in any case, from `first` on.
    pub(crate) fn find(self, word: &str, first: usize) -> Option<usize> {
        (first..self.len()).find(|&i| self.is(i, word))
    }
}

#[inline]
fn bytes_of(raw: &*mut RawString) -> &[u8] {
    let mut len = 0;
    // SAFETY: a string of the server, which lives as long as what it was borrowed with, and is not
    // changed while the module has it. The pointer is not NULL.
    unsafe {
        let start = (table().string_bytes)(*raw, &raw mut len);
        std::slice::from_raw_parts(start.cast(), len)
    }
}

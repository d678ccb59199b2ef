//! One key at a time: whatever does not depend on the key is decided when the lines are known.
//!
//! A [`Single`] holds the function for a backend, a layout and a class of k, and what that function
//! reads. A probe is one jump to it. The time of a probe in memory is proportional to its
//! instructions, because a CPU looks ahead over a fixed number of them. `functions` makes it.

use super::lines::Lines;
use super::prefetch::{INTO_L1, prefetch};
use super::shared::Probed;
use crate::line::{LINE_BYTES, line_index};
use std::marker::PhantomData;
#[cfg(all(test, feature = "capi"))]
use std::mem::offset_of;
use std::ptr;

/// What one key does in its line. Its arguments fit in registers, and a C function does not unwind,
/// so a caller whose last act it is can jump to it without saving registers.
///
/// # Safety of the function
/// The CPU has the backend's instructions; the lines are there, to be written by an insert.
pub(super) type Call = unsafe extern "C" fn(&Single<'_>, u64) -> bool;

/// The answers of a few keys: the hashes and how many, 1 to 64, and the word for the answers. Returns
/// how many may be present.
///
/// # Safety of the function
/// As for [`Call`]; so many hashes are there.
pub(super) type Few = unsafe extern "C" fn(&Single<'_>, *const u64, usize, &mut u64) -> usize;

/// Lines, and how to probe them for one key.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Single<'a> {
    /// A [`Call`]. C keeps these words, and zeros are no function.
    pub(super) contains: *const (),
    pub(super) base: *const u8,
    /// How many lines, of whatever size the layout has.
    pub(super) count: usize,
    pub(super) k: *const u8,
    pub(super) lines: PhantomData<Probed<'a>>,
}

// SAFETY: it stands for bytes that may be read in any thread, and for constants.
unsafe impl Send for Single<'_> {}
// SAFETY: as above.
unsafe impl Sync for Single<'_> {}

#[cfg(feature = "capi")]
impl Single<'_> {
    /// The same lines, probed as another's: if `contains` is the function of both, and k is the same.
    #[inline(always)]
    pub(super) fn as_of(&self, other: &Single<'_>) -> Self {
        Single { k: other.k, ..*self }
    }

    /// Not 0 if they are probed by another function.
    #[inline(always)]
    pub(super) fn called_unlike(&self, contains: Call) -> u64 {
        (self.contains.addr() ^ (contains as *const ()).addr()) as u64
    }

    /// What the check word of zeros is made of.
    pub(super) const CHECK_START: u64 = 0x4D4C_5649;

    /// The fields, as a number of words from the start.
    #[cfg(test)]
    pub(super) const WORDS: [usize; 4] = [
        offset_of!(Single, contains) / size_of::<usize>(),
        offset_of!(Single, base) / size_of::<usize>(),
        offset_of!(Single, count) / size_of::<usize>(),
        offset_of!(Single, k) / size_of::<usize>(),
    ];
}

impl<'a> Single<'a> {
    /// The address that the lines begin at.
    #[inline(always)]
    pub(super) fn start(&self) -> *const u8 {
        self.base
    }

    /// Answers a few keys, 1 to [`KEY_BY_KEY`](super::prefetch::KEY_BY_KEY), into a word. Returns how many
    /// may be present.
    ///
    /// # Safety
    /// `few` is of the kernel and the k of `new`.
    #[inline(always)]
    pub(super) unsafe fn few(&self, few: Few, hashes: &[u64], word: &mut u64) -> usize {
        debug_assert!((1..=super::prefetch::KEY_BY_KEY).contains(&hashes.len()));
        // SAFETY: as in `contains`; the hashes are a slice's.
        unsafe { few(self, hashes.as_ptr(), hashes.len(), word) }
    }

    /// Whether there is no line.
    #[inline(always)]
    pub(super) fn is_nothing(&self) -> bool {
        self.count == 0
    }

    /// Prefetches the native line of a hash: two cache lines if it may lie across them.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        let line = self.line(hash);
        prefetch::<INTO_L1>(line);
        if !self.base.addr().is_multiple_of(LINE_BYTES) {
            prefetch::<INTO_L1>(line.wrapping_add(LINE_BYTES - 1));
        }
    }

    /// The line of a hash, if lines have 64 bytes.
    #[inline(always)]
    pub(super) fn line(&self, hash: u64) -> *mut u8 {
        let index = line_index(hash, self.count as u64) as usize;
        self.base.cast_mut().wrapping_add(index * LINE_BYTES)
    }

    /// What the kernel takes for k.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn k(&self) -> *const u8 {
        self.k
    }

    /// The lines as batches have them, where k is a number.
    #[inline(always)]
    pub(super) fn lines(&self) -> Lines {
        Lines::some(self.base.cast_mut(), self.count, (self.k.addr() / NUMBERED) as u32)
    }

    /// Whether the lowest 6 bits of what stands for k, as a number, are these.
    #[inline(always)]
    pub(super) fn numbered(&self, low: u8) -> bool {
        self.k.addr() as u8 == low * NUMBERED as u8
    }

    /// The same without a borrow, for C.
    #[cfg(feature = "capi")]
    pub(super) fn unbound(self) -> Single<'static> {
        Single { lines: PhantomData, ..self }
    }

    /// The lines of a layout whose lines have so many bytes.
    #[inline(always)]
    pub(super) fn probed(&self, line_log2: u32) -> Probed<'a> {
        // SAFETY: `new` had so many, for as long.
        unsafe { Probed::at(self.base, self.count << line_log2) }
    }

    /// How many lines.
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(crate) fn count(&self) -> u64 {
        self.count as u64
    }

    /// The part of the words but for the count in the check word of [`Words`](super::Words).
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(super) fn check_word(&self) -> u64 {
        let mixed = (self.contains.addr() as u64).wrapping_add(Single::CHECK_START);
        (mixed ^ self.k.addr() as u64).wrapping_add(self.base.expose_provenance() as u64)
    }
}

/// A [`Single`] without the place of its lines, which their owner may move.
#[derive(Clone, Copy)]
pub(crate) struct Movable {
    /// Its address is not read.
    single: Single<'static>,
    /// The bytes of the lines.
    len: usize,
}

impl Movable {
    /// Those of a [`Single`] of these lines.
    pub(crate) fn new(single: &Single<'_>, lines: Probed<'_>) -> Movable {
        let &Single { contains, base, count, k, .. } = single;
        debug_assert!(count == 0 || base == lines.start(), "lines of this one");
        let single = Single { contains, base: ptr::null(), count, k, lines: PhantomData };
        Movable { single, len: lines.len() }
    }

    /// The lines at the start of these bytes. None if there are too few.
    #[inline(always)]
    pub(crate) fn at<'a>(&self, bytes: Probed<'a>) -> Option<(Probed<'a>, Single<'a>)> {
        let lines = bytes.first(self.len)?;
        Some((lines, Single { base: lines.start(), lines: PhantomData, ..self.single }))
    }
}

/// A number for k is so many times as large in [`Single::k`], where others have addresses.
pub(super) const NUMBERED: usize = 4;

/// What is added to such an address, which is a multiple of 64, to say which code a caller may have in the
/// place of a call.
#[cfg(target_arch = "x86_64")]
pub(super) mod tag {
    /// `sbbf::x86`. The address itself means nothing there.
    pub(in super::super) const BLOCKS: usize = 1;
    /// `native::halves`, k up to 8.
    pub(in super::super) const ONE_ROUND: usize = 2;
    /// The same, k above 8.
    pub(in super::super) const TWO_ROUNDS: usize = 3;
}

//! One key at a time: whatever does not depend on the key is decided when the lines are known.
//!
//! A [`Single`] holds the function for a backend, a layout and a class of k, and what that function
//! reads. A probe is one jump to it. The time of a probe in memory is proportional to its
//! instructions, because a CPU looks ahead over a fixed number of them.

use super::lines::Lines;
use super::native::all_rows;
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
use super::native::inlined;
use super::prefetch::{INTO_L1, prefetch};
#[cfg(feature = "capi")]
use super::words::Views;
use super::{Kernel, Probed, atomic_line};
use crate::line::{C1, LANES, LINE_BYTES, SHIFTS, line_index, mask};
use crate::os::memory::{Shared, Zeroed};
use std::marker::PhantomData;
#[cfg(all(test, feature = "capi"))]
use std::mem::offset_of;
use std::mem::transmute;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::AtomicU64;

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

/// The functions of a kernel for a k.
#[derive(Clone, Copy)]
pub(super) struct Calls {
    pub(super) contains: Call,
    pub(super) insert: Call,
    pub(super) few: Few,
    /// One key in several filters.
    #[cfg(feature = "capi")]
    pub(super) views: Views,
    /// Added to the address of the rows of k, if they take that instead of the number.
    pub(super) rows: Option<usize>,
}

/// Lines, and how to probe them for one key.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Single<'a> {
    /// A [`Call`]. C keeps these words, and zeros are no function.
    contains: *const (),
    base: *const u8,
    /// How many lines, of whatever size the layout has.
    count: usize,
    k: *const u8,
    lines: PhantomData<Probed<'a>>,
}

// SAFETY: it stands for bytes that may be read in any thread, and for constants.
unsafe impl Send for Single<'_> {}
// SAFETY: as above.
unsafe impl Sync for Single<'_> {}

/// Lines that are not there rule out nothing.
unsafe extern "C" fn anything(_: &Single<'_>, _: u64) -> bool {
    true
}

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
    pub(crate) fn new(lines: Probed<'a>, k: u32, kernel: &Kernel) -> Single<'a> {
        let (calls, count) = (kernel.calls(k), lines.len() >> kernel.line_log2(k));
        let (contains, k) = match count {
            0 => (anything as Call, ptr::null()),
            _ => (calls.contains, calls.given(k)),
        };
        let contains = contains as *const ();
        Single { contains, base: lines.start(), count, k, lines: PhantomData }
    }

    /// Whether all bits of a key are set.
    #[inline(always)]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
        // SAFETY: as below.
        if let Some(present) = unsafe { inlined::contains(self, hash) } {
            return present;
        }
        // SAFETY: `new` had the function from a kernel, which exists only if this CPU runs it; the
        // lines can be read, and may be written meanwhile for the reasons in `shared`.
        unsafe { transmute::<*const (), Call>(self.contains)(self, hash) }
    }

    /// Answers a few keys, 1 to [`KEY_BY_KEY`](super::KEY_BY_KEY), into a word. Returns how many may be present.
    ///
    /// # Safety
    /// `few` is of the kernel and the k of `new`.
    #[inline(always)]
    pub(super) unsafe fn few(&self, few: Few, hashes: &[u64], word: &mut u64) -> usize {
        debug_assert!((1..=super::KEY_BY_KEY).contains(&hashes.len()));
        // SAFETY: as in `contains`; the hashes are a slice's.
        unsafe { few(self, hashes.as_ptr(), hashes.len(), word) }
    }

    /// Whether single keys are probed by the function of these.
    pub(super) fn is_called_by(&self, calls: &Calls) -> bool {
        self.contains == calls.contains as *const ()
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

    /// The same without a borrow, for C.
    #[cfg(feature = "capi")]
    pub(super) fn unbound(self) -> Single<'static> {
        Single { lines: PhantomData, ..self }
    }

    /// The lines of a layout whose lines have so many bytes.
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(super) fn probed(&self, line_log2: u32) -> Probed<'a> {
        // SAFETY: `new` had so many, for as long.
        unsafe { Probed::at(self.base, self.count << line_log2) }
    }

    /// How many lines.
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(super) fn count(&self) -> u64 {
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

/// A number for k is so many times as large in [`Single::k`], where others have addresses.
const NUMBERED: usize = 4;

impl Calls {
    /// What the functions take for k.
    #[inline]
    fn given(&self, k: u32) -> *const u8 {
        match self.rows {
            Some(tag) => ptr::from_ref(all_rows(k)).cast::<u8>().wrapping_add(tag),
            None => ptr::without_provenance(k as usize * NUMBERED),
        }
    }
}

/// Lines that are owned, and how to probe and insert one key: `single` first, so that C's probes
/// find it without an addition. As [`Shared`] bytes, other threads insert into them.
#[repr(C)]
pub(crate) struct OwnLines<B = Zeroed> {
    /// Of `bytes`, which stay where they are.
    single: Single<'static>,
    insert: Call,
    few: Few,
    bytes: B,
}

impl OwnLines {
    /// # Panics
    /// If there is no line.
    pub(crate) fn new(bytes: Zeroed, k: u32, kernel: &Kernel) -> OwnLines {
        let len = bytes.len();
        OwnLines::in_front(bytes, len, k, kernel)
    }

    /// The first `len` of these bytes. The kernel finds those behind them itself.
    ///
    /// # Panics
    /// If there is no line; if there are fewer bytes.
    pub(crate) fn in_front(bytes: Zeroed, len: usize, k: u32, kernel: &Kernel) -> OwnLines {
        assert!(len <= bytes.len(), "bytes that are there");
        // SAFETY: they live as long as the result, which hands out no copy that outlives it.
        let lines = unsafe { Probed::at(bytes.start(), len) };
        let single = Single::new(lines, k, kernel);
        assert!(single.count > 0, "a filter has at least one line");
        let &Calls { insert, few, .. } = kernel.calls(k);
        OwnLines { single, insert, few, bytes }
    }

    /// For threads to insert into, and to be probed by [`Kernel::shared`] of this kernel.
    pub(crate) fn share(self, k: u32, kernel: &'static Kernel) -> OwnLines<Shared> {
        let OwnLines { single, insert, few, bytes } = OwnLines::new(self.bytes, k, kernel.shared());
        OwnLines { single, insert, few, bytes: bytes.into() }
    }

    /// Sets the bits of a key. Returns whether any of them was not set.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
        // SAFETY: as below.
        if let Some(new) = unsafe { inlined::insert(&self.single, hash) } {
            return new;
        }
        // SAFETY: as in `contains`; the bytes are owned, and borrowed exclusively.
        unsafe { (self.insert)(&self.single, hash) }
    }
}

impl<B> OwnLines<B> {
    pub(crate) fn into_bytes(self) -> B {
        self.bytes
    }

    /// The lines, to be probed.
    #[inline(always)]
    pub(crate) fn single(&self) -> Single<'_> {
        self.single
    }

    /// Whether all bits of a key are set.
    #[inline(always)]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.single.contains(hash)
    }

    /// Answers a few keys, 1 to [`KEY_BY_KEY`](super::KEY_BY_KEY), into a word. Returns how many may be present.
    #[inline(always)]
    pub(crate) fn contains_few(&self, hashes: &[u64], word: &mut u64) -> usize {
        // SAFETY: `new` had both of one kernel and k.
        unsafe { self.single.few(self.few, hashes, word) }
    }
}

impl OwnLines<Shared> {
    /// The lines as lanes in which threads set bits.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> &[AtomicU64] {
        self.bytes.lanes()
    }

    /// Sets the bits of a key in a native line. Returns whether any of them was not set.
    #[inline(always)]
    pub(crate) fn insert_shared(&self, k: u32, hash: u64) -> bool {
        let (lines, _) = self.lanes().as_chunks::<LANES>();
        let line = &lines[line_index(hash, lines.len() as u64) as usize];
        let present = || self.contains(hash);
        match k {
            ..=8 => atomic_line::insert(line, || lanes(hash, k), present),
            _ => atomic_line::insert(line, || mask(hash, k).into_iter().enumerate(), present),
        }
    }
}

/// The number and the bit of each lane that counts, of a key with a k up to 8.
#[inline(always)]
fn lanes(hash: u64, k: u32) -> impl Iterator<Item = (usize, u64)> {
    let g = hash.wrapping_mul(C1);
    (0..u64::from(k)).map(move |i| {
        let lane = (i.wrapping_sub(g >> 61) % LANES as u64) as usize;
        (lane, 1 << (g >> SHIFTS[lane] & 63))
    })
}

impl Deref for OwnLines {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for OwnLines {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Kernel {
    /// The functions for a k; of static lines, for the rows, which are its lowest bits.
    #[inline(always)]
    pub(super) fn calls(&self, k: u32) -> &Calls {
        let k = k & 0xFF;
        &self.calls[usize::from(k >= 8) + usize::from(k > 8) + usize::from(k > 12)]
    }

    /// Sets the bits of one key. Returns whether any of them was not set. `lines` is a whole
    /// filter's lines.
    ///
    /// # Panics
    /// If there is no line.
    #[inline]
    pub(crate) fn insert(&self, lines: &mut [u8], k: u32, hash: u64) -> bool {
        let base = lines.as_mut_ptr().cast_const();
        // SAFETY: a mutable slice's bytes can be read, and written through the pointer.
        let single = Single::new(unsafe { Probed::at(base, lines.len()) }, k, self);
        assert!(single.count > 0, "a filter has at least one line");
        // SAFETY: this CPU runs the kernel, since it exists; the lines are a mutable slice's.
        unsafe { (self.calls(k).insert)(&single, hash) }
    }

    /// Whether all bits of one key are set.
    #[inline]
    pub(crate) fn contains(&self, lines: Probed<'_>, k: u32, hash: u64) -> bool {
        Single::new(lines, k, self).contains(hash)
    }
}

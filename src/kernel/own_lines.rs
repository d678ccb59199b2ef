//! Lines that are owned.

use super::atomic_line;
use super::functions::{Kernel, Own, class};
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
use super::native::inlined;
use super::native::round;
use super::plain::Plain;
use super::shared::Probed;
use super::single::{Call, Few, Single};
use crate::line::{C1, LANES, LINE_BYTES, SHIFTS, line_index, mask};
use crate::os::memory::{Shared, Zeroed};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU64;

/// Lines that are owned, and how to probe and insert one key: `single` first, so that C's probes
/// find it without an addition. As [`Shared`] bytes, other threads insert into them. `PLAIN` is false of
/// kinds whose single keys are called, never inlined: then the caller has no code for plain lines.
#[repr(C)]
pub(crate) struct OwnLines<B = Zeroed, const PLAIN: bool = true> {
    /// Of `bytes`, which stay where they are.
    single: Single<'static>,
    insert: Call,
    few: Few,
    bytes: B,
}

impl<const PLAIN: bool> OwnLines<Zeroed, PLAIN> {
    /// # Panics
    /// If there is no line.
    pub(crate) fn new(bytes: Zeroed, detail: u32, kernel: &Kernel) -> Self {
        let len = bytes.len();
        OwnLines::in_front(bytes, len, detail, kernel)
    }

    /// The first `len` of these bytes. The kernel finds those behind them itself.
    ///
    /// # Panics
    /// If there is no line; if there are fewer bytes.
    pub(crate) fn in_front(bytes: Zeroed, len: usize, detail: u32, kernel: &Kernel) -> Self {
        let count = len >> kernel.line_log2(detail);
        assert!(count > 0, "a filter has at least one line");
        OwnLines::of(bytes, len, count, detail, &kernel.calls(detail).own())
    }

    /// The first `len` of these bytes, so many lines.
    fn of(bytes: Zeroed, len: usize, count: usize, detail: u32, own: &Own) -> Self {
        assert!(len <= bytes.len(), "bytes that are there");
        // SAFETY: they live as long as the result, which hands out no copy that outlives it.
        let lines = unsafe { Probed::at(bytes.start(), len) };
        let single = Single::of_own(lines, count, detail, own);
        let &Own { insert, few, .. } = own;
        OwnLines { single, insert, few, bytes }
    }
}

impl OwnLines {
    /// Those of a plain filter.
    ///
    /// # Panics
    /// If there is no line.
    pub(crate) fn plain(bytes: Zeroed, k: u32, kernel: Plain) -> OwnLines {
        let count = bytes.len() / LINE_BYTES;
        assert!(count > 0, "a filter has at least one line");
        OwnLines::of(bytes, count * LINE_BYTES, count, k, &kernel.own()[class(k)])
    }

    /// For threads to insert into, and to be probed by [`Kernel::shared`] of this kernel.
    pub(crate) fn share(self, k: u32, kernel: &'static Kernel) -> OwnLines<Shared> {
        let lines = OwnLines::<Zeroed>::new(self.bytes, k, kernel.shared());
        let OwnLines { single, insert, few, bytes } = lines;
        OwnLines { single, insert, few, bytes: bytes.into() }
    }
}

impl<const PLAIN: bool> OwnLines<Zeroed, PLAIN> {
    /// Sets the bits of a key. Returns whether any of them was not set.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
        // SAFETY: as below.
        if PLAIN && let Some(new) = unsafe { inlined::insert(&self.single, hash) } {
            return new;
        }
        // SAFETY: as in `contains`; the bytes are owned, and borrowed exclusively.
        unsafe { (self.insert)(&self.single, hash) }
    }
}

impl<B, const PLAIN: bool> OwnLines<B, PLAIN> {
    pub(crate) fn bytes(&self) -> &B {
        &self.bytes
    }

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
        if PLAIN { self.single.contains_plain(hash) } else { self.single.call(hash) }
    }

    /// [`Single::two`].
    #[inline(always)]
    pub(crate) fn contains_two(&self, first: u64, second: u64) -> Option<u64> {
        if PLAIN {
            self.single.two_plain(first, second)
        } else {
            Some(self.single.call_two(first, second))
        }
    }

    /// Answers a few keys, 1 to [`KEY_BY_KEY`](super::prefetch::KEY_BY_KEY), into a word. Returns how many
    /// may be present.
    #[inline(always)]
    pub(crate) fn contains_few(&self, hashes: &[u64], word: &mut u64) -> usize {
        // SAFETY: `new` had both of one kernel and detail.
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
        self.insert_unless(k, hash, || self.contains(hash))
    }

    /// Sets the bits of a key that is known to lack one, without a look at its line.
    #[inline(always)]
    pub(crate) fn set_shared(&self, k: u32, hash: u64) -> bool {
        self.insert_unless(k, hash, || false)
    }

    #[inline(always)]
    fn insert_unless(&self, k: u32, hash: u64, has_all: impl FnOnce() -> bool) -> bool {
        let line = self.shared_line(hash);
        match k {
            ..=8 => atomic_line::insert(line, || lanes(hash, k), has_all),
            _ => atomic_line::insert(line, || mask(hash, k).into_iter().enumerate(), has_all),
        }
    }

    /// As [`OwnLines::insert_shared`], but only the lanes that lack bits are written.
    #[inline(always)]
    pub(crate) fn insert_missing(&self, k: u32, hash: u64) -> bool {
        let line = self.shared_line(hash);
        match k {
            ..=8 => {
                let g = hash.wrapping_mul(C1);
                let counts = u64::from((u8::MAX >> (8 - k)).rotate_right((g >> 61) as u32));
                let bits = |lane: usize| (counts >> lane & 1) << (g >> SHIFTS[lane] & 63);
                atomic_line::insert_missing(line, bits)
            }
            _ => {
                let mask = mask(hash, k);
                atomic_line::insert_missing(line, |lane| mask[lane])
            }
        }
    }

    #[inline(always)]
    fn shared_line(&self, hash: u64) -> &[AtomicU64; LANES] {
        let (lines, _) = self.lanes().as_chunks();
        &lines[line_index(hash, lines.len() as u64) as usize]
    }
}

/// The number and the bit of each lane that counts, of a key with a k up to 8.
#[inline(always)]
fn lanes(hash: u64, k: u32) -> impl Iterator<Item = (usize, u64)> {
    round(hash.wrapping_mul(C1), k as usize).map(|bit| (bit / 64, 1 << (bit % 64)))
}

impl<const PLAIN: bool> Deref for OwnLines<Zeroed, PLAIN> {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl<const PLAIN: bool> DerefMut for OwnLines<Zeroed, PLAIN> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

//! What a backend does for a layout: a table of functions, and how they are called.

use super::backend::Backend;
#[cfg(feature = "capi")]
use super::batch;
use super::batch::{Hashes, TILE};
use super::layout::{Layout, SHARED_CLASSIC, SHARED_NATIVE};
use super::lines::Lines;
use super::native::all_rows;
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
use super::native::inlined;
use super::prefetch::{KEY_BY_KEY, Prefetch, Reads, prefetch_all};
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
use super::sbbf;
use super::shared::Probed;
use super::single::{Call, Few, NUMBERED, Single};
use super::static_line;
use super::whole::Whole;
#[cfg(feature = "capi")]
use super::words::Views;
use crate::bitmap::AnswerWords;
use crate::line::LINE_BYTES;
use std::marker::PhantomData;
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::AtomicU64;

/// The functions of a backend for a layout. It exists only if this CPU can run it. They take a `detail` of
/// the filter, which is k where a key sets k bits, and what [`Lines`] say of other layouts.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    pub(super) backend: Backend,
    pub(super) layout: Layout,
    /// What [`Words`](super::Words) keep: the number of the layout, or of shared lines of that layout.
    pub(super) number: u16,
    pub(super) reads: Reads,
    pub(super) line_log2: u32,
    pub(super) prefetch: fn(Lines, u64),
    /// For a detail, as a rule k, below 8, for 8, up to 12 and above: all that a layout tells apart.
    pub(super) calls: [Calls; 4],
    pub(super) insert_few: unsafe fn(&mut [u8], u32, &[u64]),
    pub(super) insert_batch: unsafe fn(Lines, Hashes<'_>, Prefetch),
    pub(super) probe_batch: unsafe fn(Lines, Hashes<'_>, Prefetch, &mut [u64]) -> usize,
    /// Of a kind that is made of filters.
    pub(super) composite: Option<Whole>,
}

/// The functions of a kernel for a [`class`] of details.
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

/// What a filter that owns its lines has of [`Calls`].
#[derive(Clone, Copy)]
pub(super) struct Own {
    pub(super) contains: Call,
    pub(super) insert: Call,
    pub(super) few: Few,
    pub(super) rows: Option<usize>,
}

impl Calls {
    /// What the functions take for a detail.
    #[inline]
    fn given(&self, detail: u32) -> *const u8 {
        given(self.rows, detail)
    }

    pub(super) const fn own(&self) -> Own {
        Own { contains: self.contains, insert: self.insert, few: self.few, rows: self.rows }
    }
}

#[inline]
fn given(rows: Option<usize>, detail: u32) -> *const u8 {
    match rows {
        Some(tag) => ptr::from_ref(all_rows(detail)).cast::<u8>().wrapping_add(tag),
        None => ptr::without_provenance(detail as usize * NUMBERED),
    }
}

/// The number of the functions for a k in [`Kernel::calls`], or for the lowest bits of another detail.
#[inline(always)]
pub(super) const fn class(k: u32) -> usize {
    (k >= 8) as usize + (k > 8) as usize + (k > 12) as usize
}

/// Lines that are not there rule out nothing.
unsafe extern "C" fn anything(_: &Single<'_>, _: u64) -> bool {
    true
}

/// [`Few`] of a filter made of filters.
///
/// # Safety
/// As for [`Few`]; `single` is of one.
#[cfg(feature = "capi")]
pub(super) unsafe extern "C" fn few_of_whole(
    single: &Single<'_>,
    hashes: *const u64,
    count: usize,
    word: &mut u64,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { (single.own_kernel().calls(0).few)(single, hashes, count, word) }
}

/// [`Few`] of lines whose functions this copy of the library does not have.
#[cfg(feature = "capi")]
pub(super) extern "C" fn few_of_anything(
    _: &Single<'_>,
    _: *const u64,
    count: usize,
    word: &mut u64,
) -> usize {
    batch::anything(count, word)
}

impl<'a> Single<'a> {
    /// Of no lines.
    pub(super) const ANYTHING: Self = Single {
        contains: anything as *const (),
        base: ptr::null(),
        count: 0,
        k: ptr::null(),
        lines: PhantomData,
    };

    pub(crate) fn new(lines: Probed<'a>, detail: u32, kernel: &Kernel) -> Single<'a> {
        let (calls, count) = (kernel.calls(detail), lines.len() >> kernel.line_log2(detail));
        let (contains, k) = match count {
            0 => (anything as Call, ptr::null()),
            _ => (calls.contains, calls.given(detail)),
        };
        let contains = contains as *const ();
        Single { contains, base: lines.start(), count, k, lines: PhantomData }
    }

    /// Lines of a filter that owns them, so many.
    pub(super) fn of_own(lines: Probed<'a>, count: usize, detail: u32, own: &Own) -> Single<'a> {
        let (contains, k) = (own.contains as *const (), given(own.rows, detail));
        Single { contains, base: lines.start(), count, k, lines: PhantomData }
    }

    /// Native lines, of which some may not be there: see [`Lines::part_of`].
    pub(super) fn of_part(lines: Lines, kernel: &Kernel) -> Self {
        let (calls, count) = (kernel.calls(lines.k()), lines.count() as usize);
        let (contains, k) = (calls.contains as *const (), calls.given(lines.k()));
        Single { contains, base: lines.first(), count, k, lines: PhantomData }
    }

    /// A filter made of filters, with so many lines, at least one: see `composite`.
    #[inline]
    pub(super) fn of_composite(at: *const u8, count: usize, kernel: &'static Kernel) -> Self {
        let contains = kernel.calls(0).contains as *const ();
        Single { contains, base: at, count, k: ptr::from_ref(kernel).cast(), lines: PhantomData }
    }

    /// Whether these are of a filter made of filters with this kernel.
    #[inline(always)]
    pub(super) fn is_of(&self, kernel: &Kernel) -> bool {
        ptr::addr_eq(self.k, kernel)
    }

    /// The kernel of a filter made of filters.
    ///
    /// # Safety
    /// They are of one.
    #[cfg(feature = "capi")]
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn own_kernel(&self) -> &'static Kernel {
        // SAFETY: `of_composite` had it from a static.
        unsafe { &*self.k.cast() }
    }

    /// Whether all bits of a key are set.
    #[inline(always)]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
        // SAFETY: as in `call`.
        if let Some(present) = unsafe { sbbf::contains_inlined(self, hash) } {
            return present;
        }
        self.contains_plain(hash)
    }

    /// The same of lines that are plain as a rule: the caller has no code for blocks.
    #[inline(always)]
    pub(super) fn contains_plain(&self, hash: u64) -> bool {
        #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
        // SAFETY: as in `call`.
        if let Some(present) = unsafe { inlined::contains(self, hash) } {
            return present;
        }
        self.call(hash)
    }

    /// The answers for two keys, a bit each, the first in the lowest. None if a call with both takes less time
    /// than a probe after the other.
    #[inline(always)]
    fn two(&self, first: u64, second: u64) -> Option<u64> {
        #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
        // SAFETY: as in `call`.
        if let Some(found) = unsafe { sbbf::two_inlined(self, first, second) } {
            return Some(found);
        }
        self.two_plain(first, second)
    }

    /// The same of lines that are plain as a rule.
    #[cfg_attr(not(all(target_arch = "x86_64", target_feature = "avx2")), allow(unused_variables))]
    #[inline(always)]
    pub(super) fn two_plain(&self, first: u64, second: u64) -> Option<u64> {
        #[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
        // SAFETY: as in `call`.
        if let Some(found) = unsafe { inlined::two(self, first, second) } {
            return Some(found);
        }
        None
    }

    /// The same by two calls.
    #[inline(always)]
    pub(super) fn call_two(&self, first: u64, second: u64) -> u64 {
        let first = u64::from(self.call(first));
        first | u64::from(self.call(second)) << 1
    }

    /// The same by a call, whatever is known of the CPU: for lines that are not plain.
    #[inline(always)]
    pub(crate) fn call(&self, hash: u64) -> bool {
        // SAFETY: `new` had the function from a kernel, which exists only if this CPU runs it; the
        // lines can be read, and may be written meanwhile for the reasons in `shared`.
        unsafe { transmute::<*const (), Call>(self.contains)(self, hash) }
    }

    /// Whether single keys are probed by the function of these.
    pub(super) fn is_called_by(&self, calls: &Calls) -> bool {
        self.contains == calls.contains as *const ()
    }
}

impl Kernel {
    /// The same functions as another backend's.
    pub(super) const fn under(&self, backend: Backend) -> Kernel {
        Kernel { backend, ..*self }
    }

    /// The same functions for shared lines.
    pub(super) const fn for_shared(&self) -> Kernel {
        let number = match self.layout {
            Layout::Classic => SHARED_CLASSIC,
            _ => SHARED_NATIVE,
        };
        Kernel { number, ..*self }
    }

    /// A line of a filter with this detail is `1 << line_log2(detail)` bytes.
    #[inline(always)]
    pub(super) fn line_log2(&self, detail: u32) -> u32 {
        match self.layout {
            Layout::Static => static_line::line_log2(detail),
            _ => self.line_log2,
        }
    }

    /// The functions for single keys, by [`class`].
    pub(super) const fn own(&self) -> [Own; 4] {
        let [a, b, c, d] = &self.calls;
        [a.own(), b.own(), c.own(), d.own()]
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// What [`Words`](super::Words) keep of it.
    #[cfg(feature = "capi")]
    pub(crate) fn number(&self) -> u16 {
        self.number
    }

    pub(crate) fn backend(&self) -> Backend {
        self.backend
    }

    /// Sets the bits of many keys, in order.
    #[inline]
    pub(crate) fn insert_batch(&self, lines: &mut [u8], detail: u32, hashes: Hashes<'_>) {
        match hashes {
            Hashes::Given(hashes) if hashes.len() <= KEY_BY_KEY => {
                // SAFETY: as in `insert`.
                unsafe { (self.insert_few)(lines, detail, hashes) }
            }
            _ => self.insert_tiles(lines, detail, hashes),
        }
    }

    #[inline(never)]
    fn insert_tiles(&self, lines: &mut [u8], detail: u32, hashes: Hashes<'_>) {
        // Where lines lie across two cache lines, a key touches as many as in twice the bytes.
        let straddle = !lines.as_ptr().addr().is_multiple_of(LINE_BYTES);
        let plan = Prefetch::to_insert(lines.len() << u32::from(straddle));
        if Prefetch::all_to_insert(lines.len(), hashes.len()) {
            prefetch_all(lines);
        }
        self.insert_batch_with(lines, detail, hashes, plan);
    }

    /// The same with a given prefetch, for the benchmarks.
    pub(crate) fn insert_batch_with(
        &self,
        lines: &mut [u8],
        detail: u32,
        hashes: Hashes<'_>,
        plan: Prefetch,
    ) {
        let lines = Lines::writable(lines, detail, self.line_log2(detail));
        // SAFETY: as in `insert`.
        unsafe { (self.insert_batch)(lines, hashes, plan) }
    }

    /// Answers many keys: a bit each in `bitmap`, first in the lowest bit of the
    /// first word; counts the ones. The last word's unused bits become zero.
    ///
    /// # Panics
    /// If `bitmap` has not a word for each 64 keys.
    #[inline(never)]
    pub(crate) fn probe_batch(
        &self,
        lines: Probed<'_>,
        detail: u32,
        hashes: Hashes<'_>,
        bitmap: &mut [u64],
    ) -> usize {
        let plan = match hashes.len() {
            ..=TILE => Prefetch::to_probe_few(self.reads, lines.len()),
            _ => Prefetch::to_probe(self.reads, lines.len()),
        };
        if let (Prefetch::None, Hashes::Given(hashes)) = (plan, &hashes)
            && let (..=TILE, Layout::Native | Layout::Static) = (hashes.len(), self.layout)
            && let Some((first, rest @ [_, ..])) = hashes.split_at_checked(KEY_BY_KEY)
        {
            // A tile is made for prefetches, and to be full. All in one go would take longer: a CPU guesses
            // the end of so long a loop wrong.
            let (single, mut behind) = (Single::new(lines, detail, self), 0);
            let word = &mut bitmap.words(hashes.len())[0];
            let present = self.probe_few(&single, detail, first, word);
            let more = self.probe_few(&single, detail, rest, &mut behind);
            *word |= behind << KEY_BY_KEY;
            return present + more;
        }
        self.probe_batch_with(lines, detail, hashes, plan, bitmap)
    }

    /// The same with a given prefetch, for the benchmarks.
    pub(crate) fn probe_batch_with(
        &self,
        lines: Probed<'_>,
        detail: u32,
        hashes: Hashes<'_>,
        plan: Prefetch,
        bitmap: &mut [u64],
    ) -> usize {
        let bitmap = bitmap.words(hashes.len());
        let lines = self.readable(lines, detail);
        // SAFETY: as in `contains`.
        unsafe { (self.probe_batch)(lines, hashes, plan, bitmap) }
    }

    /// Answers 1 to [`KEY_BY_KEY`] keys into a word, as [`Kernel::probe_batch`] does, without a tile.
    #[inline(always)]
    pub(crate) fn probe_few(
        &self,
        single: &Single<'_>,
        detail: u32,
        hashes: &[u64],
        word: &mut u64,
    ) -> usize {
        let calls = self.calls(detail);
        debug_assert!(
            single.is_nothing() || single.is_called_by(calls),
            "lines of this kernel and detail"
        );
        // SAFETY: this CPU runs the kernel, since it exists, and `single` is of it and of this detail.
        unsafe { single.few(calls.few, hashes, word) }
    }

    /// [`Single::two`] of lines of this kernel.
    #[inline(always)]
    pub(crate) fn probe_two(&self, single: &Single<'_>, first: u64, second: u64) -> Option<u64> {
        match self.layout {
            Layout::Static | Layout::Cuckoo => Some(single.call_two(first, second)),
            _ => single.two(first, second),
        }
    }

    /// Asks for the line of a hash, or its lines, to be probed soon. Does nothing else.
    #[inline]
    pub(crate) fn prefetch(&self, lines: Probed<'_>, detail: u32, hash: u64) {
        (self.prefetch)(self.readable(lines, detail), hash);
    }

    #[inline(always)]
    fn readable(&self, lines: Probed<'_>, detail: u32) -> Lines {
        Lines::new(lines.start().cast_mut(), lines.len(), detail, self.line_log2(detail))
    }

    /// Prefetches the line of a hash, to be written soon.
    #[inline]
    pub(crate) fn prefetch_shared(&self, lanes: &[AtomicU64], detail: u32, hash: u64) {
        self.prefetch(Probed::lanes(lanes), detail, hash);
    }

    /// The functions for a detail; of static lines, for the rows, which are its lowest bits.
    #[inline(always)]
    pub(super) fn calls(&self, detail: u32) -> &Calls {
        &self.calls[class(detail & 0xFF)]
    }

    /// Sets the bits of one key. Returns whether any of them was not set. `lines` is a whole
    /// filter's lines.
    ///
    /// # Panics
    /// If there is no line.
    #[inline]
    pub(crate) fn insert(&self, lines: &mut [u8], detail: u32, hash: u64) -> bool {
        let base = lines.as_mut_ptr().cast_const();
        // SAFETY: a mutable slice's bytes can be read, and written through the pointer.
        let single = Single::new(unsafe { Probed::at(base, lines.len()) }, detail, self);
        assert!(single.count > 0, "a filter has at least one line");
        // SAFETY: this CPU runs the kernel, since it exists; the lines are a mutable slice's.
        unsafe { (self.calls(detail).insert)(&single, hash) }
    }
}

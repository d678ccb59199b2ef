//! Filters made of filters, probed as one: scalable filters, windows and cascades.
//!
//! The bits of a key lie in several filters, so a view of these leads to the filter itself: where
//! others have the address of their lines it has that of the filter, and in place of k its kernel,
//! whose functions take that address. No table here lists them: only the kinds name their kernels,
//! so a program has those of the kinds that it views.

use super::backend::Backend;
use super::batch::{Hashes, TILE};
use super::functions::{Calls, Kernel};
use super::layout::Layout;
use super::lines::Lines;
use super::prefetch::{Prefetch, Reads};
use super::shared::Probed;
#[cfg(feature = "capi")]
use super::single::Call;
use super::single::Single;
pub(crate) use super::whole::Composite;
#[cfg(feature = "capi")]
use super::words::Words;
use std::marker::PhantomData;
use std::mem::transmute;
use std::slice::{from_mut, from_raw_parts};

/// A kind of them.
pub(crate) trait Kind: Composite + Sized {
    const LAYOUT: Layout;
}

/// What a view of one is made of: its address, how to probe it, its kernel.
pub(crate) struct Place<'a> {
    pub(crate) whole: &'a dyn Composite,
    pub(crate) lines: Probed<'a>,
    pub(crate) single: Single<'a>,
    pub(crate) kernel: &'static Kernel,
}

/// A filter to be viewed.
#[inline]
pub(crate) fn place<C: Kind>(whole: &C) -> Place<'_> {
    // SAFETY: it is borrowed.
    unsafe { place_at(whole) }
}

/// The same by its address.
///
/// # Safety
/// It is there for as long as `'a`, and nobody changes it while the result is used.
#[inline]
pub(crate) unsafe fn place_at<'a, C: Kind + 'a>(at: *const C) -> Place<'a> {
    // SAFETY: the caller's promise.
    let whole = unsafe { &*at };
    let kernel = &Kernels::<C>::ALL[whole.backend() as usize];
    // There are lines, and few enough for memory.
    let single = Single::of_composite(at.cast(), whole.line_count() as usize, kernel);
    // No bytes are read there: only this file takes the address.
    let lines = single.probed(kernel.line_log2);
    Place { whole, lines, single, kernel }
}

impl Kernel {
    /// The filter that these lead to, if it is one of this kernel.
    #[inline]
    pub(crate) fn composite<'a>(&self, single: &Single<'a>) -> Option<&'a dyn Composite> {
        let whole = self.composite.filter(|_| single.is_of(self))?;
        // SAFETY: `place_at` had a filter of this kind there, for as long.
        Some(unsafe { &*whole(single.start()) })
    }
}

/// The kernels of a kind: its own functions for every backend.
struct Kernels<C>(PhantomData<C>);

impl<C: Kind> Kernels<C> {
    /// By the number of the backend.
    const ALL: &'static [Kernel; Backend::ALL.len()] = &{
        let mut all = [Self::SCALAR; Backend::ALL.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = Self::SCALAR.under(Backend::ALL[i]);
            i += 1;
        }
        all
    };
    const SCALAR: Kernel = Kernel {
        backend: Backend::Scalar,
        layout: C::LAYOUT,
        number: C::LAYOUT as u16,
        reads: Reads::Several,
        line_log2: crate::line::LINE_BYTES.ilog2(),
        prefetch: prefetch::<C>,
        calls: [Self::CALLS; 4],
        insert_few: |_, _, _| made_otherwise(),
        insert_batch: |_, _, _| made_otherwise(),
        probe_batch: probe_batch::<C>,
        composite: Some(whole::<C>),
    };
    const CALLS: Calls = Calls {
        contains: contains::<C>,
        insert: no_insert,
        few: few::<C>,
        #[cfg(feature = "capi")]
        views: never_alike,
        rows: None,
    };
}

/// A `C` by its address. What it borrows may end before the program does.
fn whole<C: Kind>(at: *const u8) -> *const dyn Composite {
    let whole: *const (dyn Composite + '_) = at.cast::<C>();
    // SAFETY: the two types differ in that lifetime only, and a pointer may outlive what it points at.
    // `Kernel::composite` makes a reference of it, for no longer than the view borrows the `C`.
    unsafe { transmute::<*const (dyn Composite + '_), *const dyn Composite>(whole) }
}

/// # Safety
/// `single` is of [`place_at`] for a `C`, and what was promised there holds.
unsafe extern "C" fn contains<C: Kind>(single: &Single<'_>, hash: u64) -> bool {
    // SAFETY: the caller's promise.
    unsafe { &*single.start().cast::<C>() }.contains(hash)
}

/// # Safety
/// As for [`contains`]; so many hashes are there.
unsafe extern "C" fn few<C: Kind>(
    single: &Single<'_>,
    hashes: *const u64,
    count: usize,
    word: &mut u64,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        (*single.start().cast::<C>()).contains_all(from_raw_parts(hashes, count), from_mut(word))
    }
}

/// # Safety
/// `lines` are of [`place_at`] for a `C`, and what was promised there holds.
unsafe fn probe_batch<C: Kind>(
    lines: Lines,
    hashes: Hashes<'_>,
    _: Prefetch,
    bitmap: &mut [u64],
) -> usize {
    // SAFETY: the caller's promise.
    let whole = unsafe { &*lines.first().cast_const().cast::<C>() };
    let keys = match hashes {
        Hashes::Given(hashes) => return whole.contains_all(hashes, bitmap),
        Hashes::Made(keys) => keys,
    };
    // Where they are fewer than a tile, so is the room.
    let most = (keys.ring.len() / TILE * TILE).max(TILE);
    let (mut done, mut present) = (0, 0);
    while done < keys.len {
        let hashes = &mut keys.ring[..most.min(keys.len - done)];
        (keys.hash)(done, hashes);
        present +=
            whole.contains_all(hashes, &mut bitmap[done / TILE..][..hashes.len().div_ceil(TILE)]);
        done += hashes.len();
    }
    present
}

fn prefetch<C: Kind>(lines: Lines, hash: u64) {
    // SAFETY: the lines of such a kernel are of [`place_at`] for a `C`, which is there.
    unsafe { &*lines.first().cast_const().cast::<C>() }.prefetch(hash);
}

/// Filters made of filters share no mask: each is asked by itself.
#[cfg(feature = "capi")]
unsafe extern "C" fn never_alike(_: *const Words, _: usize, _: u64, _: Call, _: &mut u64) -> usize {
    usize::MAX
}

unsafe extern "C" fn no_insert(_: &Single<'_>, _: u64) -> bool {
    made_otherwise()
}

#[cold]
fn made_otherwise() -> ! {
    panic!("keys go into filters of this layout by their own functions")
}

//! `bloomline_view`: a filter in caller-owned bytes, on the caller's stack.
//!
//! Its words are `kernel::Words`. A view is a plain struct in C: it can be zeroed, not
//! opened, or overwritten. The check word tells, and then the answers are true. What it cannot tell
//! is whether the bytes are still there.

/// cbindgen:ignore
mod about;
/// cbindgen:ignore
mod keys;

pub use about::*;
pub use keys::*;

use super::batch::{contains_many, few, short};
use super::boundary::*;
use super::hash::key_or_empty;
use super::status::BLOOMLINE_ERR_RESERVED;
use crate::kernel::composite::{Kind, place_at};
use crate::kernel::{Others, STRIDE, Single, Words};
use crate::{Error, View};
use std::mem::{offset_of, transmute};
use std::ptr;

/// bloomline_view_open(): no checksum of the lines. It reads the last 64 bytes only, for blocks
/// already verified. To open and probe takes three to four times as long as to probe, so keep a
/// view where you can. Whatever the bytes are, probes read only those 'len'. But if the lines are
/// damaged, an inserted key can be a false negative.
pub const BLOOMLINE_VIEW_UNVERIFIED: u32 = 1;

/// A filter in caller-owned bytes: a block of a file, a mapped file, a message, a handle's lines.
/// It owns nothing, needs no closing, and may be copied. The bytes must stay in place, unchanged,
/// as long as it is used. A view that was never opened, is all zero or was overwritten is
/// recognized: it reports every key as present.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bloomline_view {
    /// Not for the caller.
    pub(super) opaque: [u64; 8],
}

/// The words, and room for more where addresses are shorter: one cache line.
#[repr(C)]
struct Packed {
    words: Words,
    reserved: [u8; STRIDE - size_of::<Words>()],
}

const _: () = assert!(
    offset_of!(Packed, words) == 0
        && size_of::<bloomline_view>() == size_of::<Packed>()
        && align_of::<bloomline_view>() == align_of::<Words>()
        && size_of::<bloomline_view>() == STRIDE
);

impl bloomline_view {
    #[inline(always)]
    pub(super) fn words(&self) -> &Words {
        // SAFETY: of the same alignment and as long at least, by the assertion; any words are `Words`.
        unsafe { &*ptr::from_ref(self).cast::<Words>() }
    }

    /// What a probe for a hash needs, if the view was opened.
    #[inline(always)]
    pub(super) fn single(&self) -> Option<&Single<'static>> {
        let words = self.words();
        // SAFETY: just what is asked for.
        words.are_sound().then(|| unsafe { words.single() })
    }

    /// How many bytes of native lines there are, or of RocksDB's; any number if not opened.
    #[inline(always)]
    pub(super) fn bytes(&self) -> usize {
        // SAFETY: for a number only.
        unsafe { self.words().single() }.bytes()
    }

    /// Prefetches the line of a hash.
    ///
    /// # Safety
    /// As for [`unpack`].
    #[inline(always)]
    pub(super) unsafe fn prefetch_line(&self, hash: u64) {
        match self.words().lines_of() {
            // SAFETY: for an address only, to prefetch which does no harm.
            Some(layout) => unsafe { self.words().single() }.prefetch_of(layout, hash),
            // SAFETY: the same contract.
            None => unsafe { prefetch_apart(self, hash) },
        }
    }
}

// SAFETY: by the assertion.
unsafe impl Others for bloomline_view {
    unsafe extern "C" fn contains(view: *const Self, key: *const c_void, len: usize) -> bool {
        // SAFETY: the same contract, and the view is one that was opened.
        unsafe { contains_apart(view, key, len) }
    }
}

/// What C gets of a view.
pub(super) fn pack(view: &View<'_>) -> bloomline_view {
    // SAFETY: of the same size, and any words are a `bloomline_view`.
    unsafe { transmute(Packed { words: view.words(), reserved: [0; _] }) }
}

/// Gives C the view of a filter made of filters: its address, so that what is changed later is
/// seen.
///
/// # Safety
/// `handle` is NULL or alive, and `at` is where it has the filter; `out` is NULL or has room.
pub(super) unsafe fn write_view_of<H, C: Kind>(
    handle: *const H,
    at: impl FnOnce(*const H) -> *const C,
    out: *mut bloomline_view,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        if handle.is_null() {
            return Err(NULL);
        }
        // SAFETY: it is there, and who probes by the view vouches that it still is, unchanged by
        // others meanwhile. No reference is kept, which a change would end.
        let place = unsafe { place_at(at(handle)) };
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(pack(&View::of_composite(place))) };
        Ok(())
    })
}

/// The view again, or `None` if these are not the words of one. The lines are probed
/// only after the check, so that words which came from elsewhere point nowhere.
///
/// # Safety
/// If the words came from [`pack`], the bytes of that view are still there. Others only set bits
/// in them while the result is used, and only by such functions as take that into account.
#[inline(always)]
pub(super) unsafe fn unpack(view: &bloomline_view) -> Option<View<'static>> {
    let words = view.words();
    // SAFETY: sound words were written by `pack`; the caller vouches that the bytes are still there.
    let lines = unsafe { words.open() }?;
    Some(View::from_words(words, lines))
}

/// [`bloomline_view::prefetch_line`] for other layouts.
///
/// # Safety
/// As for [`unpack`].
#[inline(never)]
unsafe fn prefetch_apart(view: &bloomline_view, hash: u64) {
    // SAFETY: the same contract.
    if let Some(view) = unsafe { unpack(view) } {
        view.prefetch_hash(hash);
    }
}

/// The view that C points at; `None` if NULL or not opened.
///
/// # Safety
/// `view` is NULL or points at a live `bloomline_view` as for [`unpack`].
#[inline(always)]
pub(super) unsafe fn opened(view: *const bloomline_view) -> Option<View<'static>> {
    // SAFETY: the same contract.
    unsafe { unpack(shared(view)?) }
}

/// The same if it is a filter of RocksDB's present kind: found with few instructions.
///
/// # Safety
/// As for [`opened`].
#[inline(always)]
pub(super) unsafe fn opened_of_rocksdb(view: *const bloomline_view) -> Option<View<'static>> {
    // SAFETY: the same contract.
    unsafe {
        let words = shared(view)?;
        if words.words().are_of_rocksdb() { unpack(words) } else { None }
    }
}

/// Gives C the view that `open` opens.
///
/// # Safety
/// `data` as for `boundary::bytes`; `out` is NULL or points at room for a view.
unsafe fn open_view<'a>(
    data: *const c_void,
    len: usize,
    out: *mut bloomline_view,
    open: impl FnOnce(&'a [u8]) -> Result<View<'a>, Error>,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        // SAFETY: the same contract.
        let view = pack(&open(unsafe { bytes(data, len) }.ok_or(NULL)?)?);
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(view) };
        Ok(())
    })
}

exports! {
/// bloomline_view_open() opens the encoded filter in the 'len' bytes at 'data', of a
/// bloomline_filter, bloomline_counting, bloomline_cuckoo or bloomline_builder. It copies and
/// allocates nothing. Other kinds have several parts, and it returns BLOOMLINE_ERR_LAYOUT for them:
/// for scalable and growing filters, windows, cascades and matrices. Decode these and probe their
/// handles; bloomline_map_bytes() opens growing filters, cascades and matrices in place.
///
/// 'flags' is 0 or BLOOMLINE_VIEW_UNVERIFIED. With 0 it checks all bytes, checksums included, and
/// reads them from end to end. Do it once, or whenever they may have been damaged.
///
/// Errors: those of bloomline_filter_decode(), without BLOOMLINE_ERR_OUT_OF_MEMORY;
/// BLOOMLINE_ERR_RESERVED for other flags. After any error, regard every key as present: read the
/// data for which the filter was made.
fn bloomline_view_open(
    data: *const c_void, len: usize, flags: u32, out: *mut bloomline_view,
) -> bloomline_status {
    match flags {
        0 => open_view(data, len, out, View::open),
        BLOOMLINE_VIEW_UNVERIFIED => open_view(data, len, out, View::open_unverified),
        _ => BLOOMLINE_ERR_RESERVED,
    }
}

/// bloomline_view_contains() returns false if the key of 'len' bytes at 'key' is definitely absent,
/// and true if it may be present. bloomline_view_contains_hash() does so for the hash of a key:
/// that of bloomline_view_hash(), or whatever it was inserted by.
fn bloomline_view_contains(view: *const bloomline_view, key: *const c_void, len: usize) -> bool {
    if let (Some(view), Some(key)) = (shared(view), short(key, len))
        && let words = view.words()
        && words.are_sound()
        && let Some(hash) = words.hash_of_short(key)
    {
        return words.single().contains(hash);
    }
    contains_apart(view, key, len)
}
fn bloomline_view_contains_hash(view: *const bloomline_view, hash: u64) -> bool {
    shared(view).and_then(bloomline_view::single).is_none_or(|single| single.contains(hash))
}

/// bloomline_view_contains_hashes() is bloomline_filter_contains_hashes() for a view. If it is not
/// opened, all keys may be present.
fn bloomline_view_contains_hashes(
    view: *const bloomline_view, hashes: *const u64, n: usize, bitmap: *mut u64,
) -> usize {
    if n == 1 {
        return contains_singly(view, hashes, bitmap);
    }
    if let (Some((hashes, word)), Some(view)) = (few(hashes, n, bitmap), shared(view))
        && let Some(maybe) = view.words().contains_few(hashes, word)
    {
        return maybe;
    }
    contains_more(view, hashes, n, bitmap)
}

/// bloomline_view_hash() returns the hash that this filter uses for the key of 'len' bytes at
/// 'key'. One hash serves for all filters that hash keys in the same way and with the same seed. A
/// view that was not opened hashes as bloomline_hash() with seed 0.
fn bloomline_view_hash(view: *const bloomline_view, key: *const c_void, len: usize) -> u64 {
    let (view, key) = (opened(view), key_or_empty(key, len));
    view.map_or_else(|| crate::hash::hash(key, 0), |view| view.hash(key))
}
}

/// The rest of [`bloomline_view_contains`], apart: it needs a place for registers, which
/// the shorter way then does without.
///
/// # Safety
/// As there.
#[inline(never)]
pub(super) unsafe extern "C" fn contains_apart(
    view: *const bloomline_view,
    key: *const c_void,
    len: usize,
) -> bool {
    // SAFETY: the same contract.
    match unsafe { (opened(view), bytes(key, len)) } {
        (Some(view), Some(key)) => view.contains(key),
        _ => true,
    }
}

/// [`bloomline_view_contains_hashes`] for one key: a view has the function for that at hand, and
/// those for a few keys only by its kernel.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe extern "C" fn contains_singly(
    view: *const bloomline_view,
    hashes: *const u64,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: the same contract.
    unsafe {
        if let (Some(&[hash]), Some(single)) =
            (slice(hashes, 1), shared(view).and_then(bloomline_view::single))
            && !bitmap.is_null()
        {
            let present = single.contains(hash).into();
            bitmap.write_unaligned(present);
            return present as usize;
        }
        contains_more(view, hashes, 1, bitmap)
    }
}

/// The rest of [`bloomline_view_contains_hashes`], apart: so a few keys save no registers.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe extern "C" fn contains_more(
    view: *const bloomline_view,
    hashes: *const u64,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: the same contract.
    unsafe { contains_many(move || opened(view), hashes, n, bitmap) }
}

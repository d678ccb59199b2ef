//! Batches: an array of hashes or keys in, a bitmap out.

use super::boundary::*;
use super::hash::{Key, bloomline_bytes, keys_at};
use crate::Probe;
use crate::bitmap::all_present;
use crate::filter::{FewHashes, KEY_BY_KEY, hash_of};
use crate::hash::xxph3::SHORT;

/// Answers a batch of hashes. Where there is no filter, every key may be present; where there is no
/// room for the answers, the count alone says so. (Apart: a few keys need none of its registers.)
///
/// # Safety
/// `hashes` as for `boundary::slice`, `bitmap` as for `boundary::bitmap_at`.
#[inline(never)]
pub(super) unsafe fn contains_many<P: Probe>(
    filter: impl Fn() -> Option<P>,
    hashes: *const u64,
    count: usize,
    bitmap: *mut u64,
) -> usize {
    let probe =
        |hashes: &[u64], bitmap: &mut [u64]| Some(filter()?.contains_hashes(hashes, bitmap));
    // SAFETY: the same contract.
    unsafe { answer(slice(hashes, count), count, bitmap, probe) }
}

/// The same for a batch of more than a few keys. (Apart: fewer need none of its registers.)
///
/// # Safety
/// `keys` as for [`keys_at`], `bitmap` as for `boundary::bitmap_at`.
#[inline(never)]
pub(super) unsafe fn contains_many_keys<P: Probe>(
    filter: impl Fn() -> Option<P>,
    keys: *const bloomline_bytes,
    count: usize,
    bitmap: *mut u64,
) -> usize {
    let probe = |keys: &[Key], bitmap: &mut [u64]| {
        let filter = filter()?;
        Some(probe_keys(keys, bitmap, &|keys, bitmap| filter.contains_keys(keys, bitmap)))
    };
    // SAFETY: the same contract.
    unsafe { answer(keys_at(keys, count), count, bitmap, probe) }
}

/// A key of 4 to 16 bytes: its hash takes few instructions.
///
/// # Safety
/// As for `boundary::bytes`.
#[inline(always)]
pub(super) unsafe fn short<'a>(key: *const c_void, len: usize) -> Option<&'a [u8]> {
    if key.is_null() || !SHORT.contains(&len) {
        return None;
    }
    // SAFETY: not NULL and not too long; the caller vouches for the bytes.
    Some(unsafe { std::slice::from_raw_parts(key.cast(), len) })
}

/// Answers for a key by a single probe, if it is one. `None` if something is not there.
///
/// # Safety
/// `keys` is NULL or points at a key, as for `boundary::bytes`; `bitmap` is NULL or has room for a
/// word; at any alignment.
#[inline(always)]
pub(super) unsafe fn one_key(
    count: usize,
    contains: impl FnOnce(*const c_void, usize) -> bool,
    keys: *const bloomline_bytes,
    bitmap: *mut u64,
) -> Option<usize> {
    if count != 1 || keys.is_null() || bitmap.is_null() {
        return None;
    }
    // SAFETY: not NULL; the caller vouches for the key and the room.
    unsafe {
        let key = keys.read_unaligned();
        let present = contains(key.data.cast(), key.len).into();
        bitmap.write_unaligned(present);
        Some(present as usize)
    }
}

/// A few items and the word for their answers, found with few instructions.
///
/// # Safety
/// `items` as for `boundary::slice`, `bitmap` as for `boundary::bitmap_at`.
#[inline(always)]
pub(super) unsafe fn few<'a, T>(
    items: *const T,
    count: usize,
    bitmap: *mut u64,
) -> Option<(&'a [T], &'a mut u64)> {
    // SAFETY: the same contract.
    unsafe { up_to::<KEY_BY_KEY, T>(items, count, bitmap) }
}

/// [`few`] for up to `MOST`, at most 64.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn up_to<'a, const MOST: usize, T>(
    items: *const T,
    count: usize,
    bitmap: *mut u64,
) -> Option<(&'a [T], &'a mut u64)> {
    const { assert!(MOST <= 64 && align_of::<T>() == align_of::<u64>()) };
    let aligned = (items.addr() | bitmap.addr()).is_multiple_of(align_of::<u64>());
    if !(1..=MOST).contains(&count) || items.is_null() || bitmap.is_null() || !aligned {
        return None;
    }
    // SAFETY: neither is NULL, both are aligned; the caller vouches for the items and the room. The
    // word is initialized before it is referred to.
    unsafe {
        bitmap.write(0);
        Some((std::slice::from_raw_parts(items, count), &mut *bitmap))
    }
}

/// Answers up to 64 keys by `probe`, which takes their hashes. Those that are missing may be
/// present.
#[inline(always)]
pub(super) fn contains_few<'k>(
    keys: impl Iterator<Item = Option<&'k [u8]>>,
    hash: impl Fn(&[u8]) -> u64,
    word: &mut u64,
    probe: impl FnOnce(&[u64], &mut u64) -> usize,
) -> usize {
    let mut room = FewHashes::new();
    let (hashes, lost) = room.fill(keys.map(|key| hash_of(key, &hash)));
    let present = probe(hashes, word);
    if lost == 0 {
        return present;
    }
    *word |= lost;
    word.count_ones() as usize
}

/// Answers a batch by `probe`, which gives nothing if there is nothing to probe.
///
/// # Safety
/// `bitmap` as for `boundary::bitmap_at`.
#[inline(always)]
pub(super) unsafe fn answer<'a, T>(
    items: Option<&'a [T]>,
    count: usize,
    bitmap: *mut u64,
    probe: impl FnOnce(&'a [T], &mut [u64]) -> Option<usize>,
) -> usize {
    // SAFETY: the same contract.
    let Some(bitmap) = (unsafe { bitmap_at(bitmap, count) }) else {
        return count;
    };
    items.and_then(|items| probe(items, bitmap)).unwrap_or_else(|| all_present(count, bitmap))
}

/// Changes a filter by `change`, which takes items and a bitmap of its answers about them. The
/// bitmap may be NULL, if the number is enough. Where there is nothing to change, or nothing to
/// change it by, all answers are `otherwise`.
///
/// # Safety
/// `bitmap` as for `boundary::bitmap_at`.
pub(super) unsafe fn change_batch<T>(
    items: Option<&[T]>,
    count: usize,
    bitmap: *mut u64,
    otherwise: bool,
    change: Option<impl FnMut(&[T], &mut [u64]) -> usize>,
) -> usize {
    const WITHOUT_BITMAP: usize = 8192;
    let unchanged = if otherwise { count } else { 0 };
    guard_or(unchanged, || {
        // SAFETY: the same contract.
        match (items, change, unsafe { bitmap_at(bitmap, count) }) {
            (Some(items), Some(mut change), Some(bitmap)) => change(items, bitmap),
            (Some(items), Some(mut change), None) => {
                let parts = items.chunks(WITHOUT_BITMAP);
                parts.map(|part| change(part, &mut [0; WITHOUT_BITMAP / 64])).sum()
            }
            (_, _, Some(bitmap)) if otherwise => all_present(count, bitmap),
            (_, _, bitmap) => {
                bitmap.unwrap_or_default().fill(0);
                unchanged
            }
        }
    })
}

/// Removes keys by `all` at once or, where some are broken, the others by `one` each. Answers as `all`.
pub(super) fn remove_keys<F>(
    filter: &mut F,
    keys: &[Key],
    removed: &mut [u64],
    all: fn(&mut F, &[Key], &mut [u64]) -> usize,
    one: fn(&mut F, &Key) -> bool,
) -> usize {
    if !keys.iter().any(Key::is_broken) {
        return all(filter, keys, removed);
    }
    let mut count = 0;
    removed.fill(0);
    for (i, key) in keys.iter().enumerate() {
        if !key.is_broken() && one(filter, key) {
            removed[i / 64] |= 1 << (i % 64);
            count += 1;
        }
    }
    count
}

/// Answers a batch of keys by `probe`, and sets the bits of broken keys: whether such a
/// key was inserted cannot be known.
///
/// The check goes over the keys a second time, so it follows on the probes of each few
/// thousand, while those keys are still in the cache.
fn probe_keys(
    keys: &[Key],
    bitmap: &mut [u64],
    probe: &dyn Fn(&[Key], &mut [u64]) -> usize,
) -> usize {
    const CHECKED_KEYS: usize = 4096;
    let mut present = 0;
    for (keys, bitmap) in keys.chunks(CHECKED_KEYS).zip(bitmap.chunks_mut(CHECKED_KEYS / 64)) {
        present += probe(keys, bitmap);
        // The top bit tells of a length that is too long or an address of 0 (or one
        // in the upper half): a few instructions for all keys, and then a close look.
        let seen =
            keys.iter().fold(0, |seen, key| seen | key.0.data.addr().wrapping_sub(1) | key.0.len);
        if seen > isize::MAX as usize {
            for (i, _) in keys.iter().enumerate().filter(|(_, key)| key.is_broken()) {
                let bit = 1 << (i % 64);
                present += usize::from(bitmap[i / 64] & bit == 0);
                bitmap[i / 64] |= bit;
            }
        }
    }
    present
}

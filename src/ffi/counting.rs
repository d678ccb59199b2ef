//! `bloomline_counting`: keys can be removed; five times the memory.

use super::batch::{change_batch, remove_keys};
use super::boundary::*;
use super::filter::bloomline_filter;
use super::handle::handle;
use super::hash::{Key, bloomline_bytes, key_or_empty, keys_at};
use super::params::{bloomline_params, checked};
use crate::CountingFilter;
use std::ptr;

/// What bloomline_encoded_kind() returns for a filter that bloomline_counting_decode() reads.
pub const BLOOMLINE_KIND_COUNTING: i32 = 2;
const _: () = assert!(BLOOMLINE_KIND_COUNTING == crate::Kind::Counting as i32);

/// The highest count, which means 15 times or more.
pub const BLOOMLINE_COUNTING_MOST: u32 = 15;

/// A filter that keys can be removed from, and that reports about how often a key is present. It is
/// a plain filter, which is probed through bloomline_counting_filter(), and a counter of 4 bits for
/// each bit of it: 320 bytes for each line, about 50 bits per key at 1 %.
///
/// Remove only keys you inserted. A key that is definitely absent is rejected, and nothing changes.
/// A false positive is removed like a present key: other keys can then be false negatives. After
/// such a mistake, only keys inserted later are safe, and only while no key inserted before it is
/// removed. A counter that reaches 15 stays there, and so do the keys that need it.
pub struct bloomline_counting(pub(super) CountingFilter);

const _: () = shared_between_threads::<bloomline_counting>();

exports! {
/// bloomline_counting_new() creates an empty filter, of 320 bytes of memory for each line.
///
/// Errors: as bloomline_filter_new().
fn bloomline_counting_new(
    params: *const bloomline_params, out: *mut *mut bloomline_counting,
) -> bloomline_status {
    new_handle(out, || Ok(bloomline_counting(CountingFilter::new(checked(params)?)?)))
}
}

handle! { bloomline_counting(CountingFilter) filter;
/// bloomline_counting_clone() and the functions under it are those of bloomline_filter, for the
/// lines and counters of a counting filter. Encoded it takes 320 bytes for each line and 64 more.
/// After bloomline_counting_free(), do not use its views or what bloomline_counting_filter()
/// returned. bloomline_view_open() and bloomline_filter_decode() read its bytes too: its plain
/// filter. To write that alone, encode bloomline_counting_filter().
clone bloomline_counting_clone; free bloomline_counting_free; memory bloomline_counting_memory;
encoded_len bloomline_counting_encoded_len; encode bloomline_counting_encode;
write bloomline_counting_write; decode bloomline_counting_decode; save bloomline_counting_save;
load bloomline_counting_load;
}

exports! {
/// bloomline_counting_insert() inserts the key of 'len' bytes at 'key': once more, if it is
/// present. Returns whether the key was new. bloomline_counting_insert_hash() does so by its hash.
fn bloomline_counting_insert(
    filter: *mut bloomline_counting, key: *const c_void, len: usize,
) -> bool {
    exclusive(filter).is_none_or(|filter| filter.0.insert(key_or_empty(key, len)))
}
fn bloomline_counting_insert_hash(filter: *mut bloomline_counting, hash: u64) -> bool {
    exclusive(filter).is_none_or(|filter| filter.0.insert_hash(hash))
}

/// bloomline_counting_insert_hashes() inserts 'n' keys by their hashes,
/// bloomline_counting_insert_keys() by their bytes, and returns how many were new.
fn bloomline_counting_insert_hashes(
    filter: *mut bloomline_counting, hashes: *const u64, n: usize, bitmap: *mut u64,
) -> usize {
    let insert = exclusive(filter).map(|filter| {
        |hashes: &[u64], bitmap: &mut [u64]| filter.0.insert_new_hashes(hashes, bitmap)
    });
    change_batch(slice(hashes, n), n, bitmap, true, insert)
}
fn bloomline_counting_insert_keys(
    filter: *mut bloomline_counting, keys: *const bloomline_bytes, n: usize, bitmap: *mut u64,
) -> usize {
    let insert = exclusive(filter)
        .map(|filter| |keys: &[Key], bitmap: &mut [u64]| filter.0.insert_new_keys(keys, bitmap));
    change_batch(keys_at(keys, n), n, bitmap, true, insert)
}

/// bloomline_counting_remove() removes the key of 'len' bytes at 'key',
/// bloomline_counting_remove_hash() a key by its hash, once if it was inserted more often. Remove
/// only keys you inserted: see bloomline_counting.
///
/// Errors: BLOOMLINE_ERR_ABSENT if the key is definitely absent; nothing changes.
fn bloomline_counting_remove(
    filter: *mut bloomline_counting, key: *const c_void, len: usize,
) -> bloomline_status {
    change(filter, |filter| Ok(filter.0.remove(bytes(key, len).ok_or(NULL)?)?))
}
fn bloomline_counting_remove_hash(filter: *mut bloomline_counting, hash: u64) -> bloomline_status {
    change(filter, |filter| Ok(filter.0.remove_hash(hash)?))
}

/// bloomline_counting_remove_hashes() removes 'n' keys by their hashes,
/// bloomline_counting_remove_keys() by their bytes, one after the other, and returns how many were
/// removed. The bit of a key in 'removed' is set if it was, clear if it was definitely absent, or
/// NULL with a length above 0. If 'filter' or the array is NULL, none is removed.
fn bloomline_counting_remove_hashes(
    filter: *mut bloomline_counting, hashes: *const u64, n: usize, removed: *mut u64,
) -> usize {
    let remove = exclusive(filter).map(|filter| {
        |hashes: &[u64], removed: &mut [u64]| filter.0.remove_hashes(hashes, removed)
    });
    change_batch(slice(hashes, n), n, removed, false, remove)
}
fn bloomline_counting_remove_keys(
    filter: *mut bloomline_counting, keys: *const bloomline_bytes, n: usize, removed: *mut u64,
) -> usize {
    let remove = exclusive(filter).map(|filter| {
        |keys: &[Key], removed: &mut [u64]| {
            let one = |filter: &mut CountingFilter, key: &Key| filter.remove(key).is_ok();
            remove_keys(&mut filter.0, keys, removed, CountingFilter::remove_keys, one)
        }
    });
    change_batch(keys_at(keys, n), n, removed, false, remove)
}

/// bloomline_counting_count_hash() returns how often the key of a hash is present, at most: 0 if it
/// is definitely absent, BLOOMLINE_COUNTING_MOST for so often or more, and for a NULL filter. Other
/// keys can make it too high, at about the false-positive rate; only removals of keys never
/// inserted make it too low.
fn bloomline_counting_count_hash(filter: *const bloomline_counting, hash: u64) -> u32 {
    read_or(filter, BLOOMLINE_COUNTING_MOST, |filter| filter.0.count_hash(hash))
}

/// bloomline_counting_filter() returns the plain filter of the keys now present, for any function
/// that takes a const bloomline_filter. It is part of 'filter', not a copy:
/// bloomline_filter_clone() makes one, bloomline_filter_view() a view of it. Do not change or free
/// it. Valid while 'filter' is alive and is not being changed.
///
/// Returns NULL for NULL.
fn bloomline_counting_filter(filter: *const bloomline_counting) -> *const bloomline_filter {
    read_or(filter, ptr::null(), |filter| bloomline_filter::borrowed(filter.0.filter()))
}

/// bloomline_counting_union() inserts all keys of 'from' into 'into', each as often as it is
/// present in 'from'. Line count, k and seed must be equal. They may be one filter, whose keys are
/// then present twice as often.
///
/// Errors: BLOOMLINE_ERR_MISMATCH; BLOOMLINE_ERR_OUT_OF_MEMORY if they are one filter. 'into' is
/// unchanged.
fn bloomline_counting_union(
    into: *mut bloomline_counting, from: *const bloomline_counting,
) -> bloomline_status {
    guard(|| {
        if into.is_null() || from.is_null() {
            return Err(NULL);
        }
        if ptr::eq(into, from) {
            let into = &mut *into;
            let copy = into.0.try_clone()?;
            return Ok(into.0.union(&copy)?);
        }
        // Not one filter: two references, of which one may write.
        let (into, from) = (&mut *into, &*from);
        Ok(into.0.union(&from.0)?)
    })
}

/// bloomline_counting_clear() removes all keys. Size, k and seed stay.
fn bloomline_counting_clear(filter: *mut bloomline_counting) {
    if let Some(filter) = exclusive(filter) {
        filter.0.clear();
    }
}
}

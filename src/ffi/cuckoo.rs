//! `bloomline_cuckoo`: keys can be removed; can become full.

use super::batch::{change_batch, remove_keys};
use super::boundary::*;
use super::handle::handle;
use super::hash::{Key, bloomline_bytes, key_or_empty, keys_at};
use super::params::bloomline_cuckoo_params;
use super::view::{bloomline_view, pack};
use crate::{CuckooFilter, Error};

/// What bloomline_encoded_kind() returns for a filter that bloomline_cuckoo_decode() reads.
pub const BLOOMLINE_KIND_CUCKOO: i32 = 7;
const _: () = assert!(BLOOMLINE_KIND_CUCKOO == crate::Kind::Cuckoo as i32);

/// A cuckoo filter: keys can be inserted and removed, and it can become full. Probed through
/// bloomline_cuckoo_view().
///
/// It keeps a fingerprint of each key, in one of 8 slots. If relocating others makes no room,
/// inserting returns BLOOMLINE_ERR_FULL, and loses no key. About 95 % of the slots can be used:
/// bloomline_cuckoo_params says how many there are. A key that is inserted twice is present twice,
/// and has to be removed twice; it can be present 8 times at most.
///
/// A full filter fails fast. An insert relocates up to 2,048 fingerprints to make room. After 16
/// searches that found no room, an insert relocates only 8. Each key that is inserted after that
/// allows later inserts 8 relocations more, each key that is removed 2,048. A clone has the same
/// allowance, a decoded filter a new one.
///
/// Remove only keys you inserted. Any other removal can delete an inserted key's fingerprint; that
/// key is then a false negative. BLOOMLINE_ERR_ABSENT reports some such mistakes, not all.
pub struct bloomline_cuckoo(pub(super) CuckooFilter);

const _: () = shared_between_threads::<bloomline_cuckoo>();

exports! {
/// bloomline_cuckoo_new() creates an empty cuckoo filter, of 64 bytes of memory for each line. It
/// never grows.
///
/// Errors: as bloomline_filter_new().
fn bloomline_cuckoo_new(
    params: *const bloomline_cuckoo_params, out: *mut *mut bloomline_cuckoo,
) -> bloomline_status {
    new_handle(out, || Ok(bloomline_cuckoo(CuckooFilter::new(required(params)?.check()?)?)))
}
}

handle! { bloomline_cuckoo(CuckooFilter) filter;
/// bloomline_cuckoo_clone() and the functions under it are those of bloomline_filter, for a cuckoo
/// filter. Encoded it takes 64 bytes for each line and 64 more, which bloomline_view_open() and
/// bloomline_map_open() read, too.
clone bloomline_cuckoo_clone; free bloomline_cuckoo_free; memory bloomline_cuckoo_memory;
encoded_len bloomline_cuckoo_encoded_len; encode bloomline_cuckoo_encode;
write bloomline_cuckoo_write; decode bloomline_cuckoo_decode; save bloomline_cuckoo_save;
load bloomline_cuckoo_load;
}

exports! {
/// bloomline_cuckoo_view() writes a view of the cuckoo filter to 'out': to probe it, for its
/// parameters and its load factor. Valid until the filter is changed or freed.
fn bloomline_cuckoo_view(
    filter: *const bloomline_cuckoo, out: *mut bloomline_view,
) -> bloomline_status {
    write_result(filter, out, |filter| Ok(pack(&filter.0.view())))
}

/// bloomline_cuckoo_insert() inserts the key of 'len' bytes at 'key',
/// bloomline_cuckoo_insert_hash() a key by its hash.
///
/// Errors: BLOOMLINE_ERR_FULL if there is no room; the filter is unchanged.
fn bloomline_cuckoo_insert(
    filter: *mut bloomline_cuckoo, key: *const c_void, len: usize,
) -> bloomline_status {
    change(filter, |filter| {
        filter.0.insert(key_or_empty(key, len))?;
        Ok(())
    })
}
fn bloomline_cuckoo_insert_hash(filter: *mut bloomline_cuckoo, hash: u64) -> bloomline_status {
    change(filter, |filter| {
        filter.0.insert_hash(hash)?;
        Ok(())
    })
}

/// bloomline_cuckoo_insert_hashes() inserts 'n' keys by their hashes,
/// bloomline_cuckoo_insert_keys() by their bytes, in order, up to the first for which there is no
/// room; faster than one by one. It writes how many to 'inserted', also with BLOOMLINE_ERR_FULL,
/// unless that is NULL.
///
/// Errors: BLOOMLINE_ERR_FULL if not all were inserted.
fn bloomline_cuckoo_insert_hashes(
    filter: *mut bloomline_cuckoo, hashes: *const u64, n: usize, inserted: *mut usize,
) -> bloomline_status {
    insert_batch(filter, slice(hashes, n), inserted, |filter, hashes| filter.insert_hashes(hashes))
}
fn bloomline_cuckoo_insert_keys(
    filter: *mut bloomline_cuckoo, keys: *const bloomline_bytes, n: usize, inserted: *mut usize,
) -> bloomline_status {
    insert_batch(filter, keys_at(keys, n), inserted, |filter, keys| filter.insert_keys(keys))
}

/// bloomline_cuckoo_remove() removes the key of 'len' bytes at 'key',
/// bloomline_cuckoo_remove_hash() a key by its hash, once if it was inserted more often. Remove
/// only keys you inserted: see bloomline_cuckoo.
///
/// Errors: BLOOMLINE_ERR_ABSENT if the key is definitely absent; the filter is unchanged.
fn bloomline_cuckoo_remove(
    filter: *mut bloomline_cuckoo, key: *const c_void, len: usize,
) -> bloomline_status {
    change(filter, |filter| Ok(filter.0.remove(bytes(key, len).ok_or(NULL)?)?))
}
fn bloomline_cuckoo_remove_hash(filter: *mut bloomline_cuckoo, hash: u64) -> bloomline_status {
    change(filter, |filter| Ok(filter.0.remove_hash(hash)?))
}

/// bloomline_cuckoo_remove_hashes() and bloomline_cuckoo_remove_keys() are those of
/// bloomline_counting.
fn bloomline_cuckoo_remove_hashes(
    filter: *mut bloomline_cuckoo, hashes: *const u64, n: usize, removed: *mut u64,
) -> usize {
    let remove = exclusive(filter).map(|filter| {
        |hashes: &[u64], removed: &mut [u64]| filter.0.remove_hashes(hashes, removed)
    });
    change_batch(slice(hashes, n), n, removed, false, remove)
}
fn bloomline_cuckoo_remove_keys(
    filter: *mut bloomline_cuckoo, keys: *const bloomline_bytes, n: usize, removed: *mut u64,
) -> usize {
    let remove = exclusive(filter).map(|filter| {
        |keys: &[Key], removed: &mut [u64]| {
            let one = |filter: &mut CuckooFilter, key: &Key| filter.remove(key).is_ok();
            remove_keys(&mut filter.0, keys, removed, CuckooFilter::remove_keys, one)
        }
    });
    change_batch(keys_at(keys, n), n, removed, false, remove)
}

/// bloomline_cuckoo_clear() removes all keys. Size, shape and seed stay.
fn bloomline_cuckoo_clear(filter: *mut bloomline_cuckoo) {
    if let Some(filter) = exclusive(filter) {
        filter.0.clear();
    }
}
}

/// Inserts a batch by `insert`, and reports how many it inserted.
///
/// # Safety
/// `filter` is NULL or the call's alone; `inserted` is NULL or has room.
unsafe fn insert_batch<T>(
    filter: *mut bloomline_cuckoo,
    items: Option<&[T]>,
    inserted: *mut usize,
    insert: impl FnOnce(&mut CuckooFilter, &[T]) -> Result<(), Error>,
) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe {
        change(filter, |filter| {
            let items = items.ok_or(NULL)?;
            let before = filter.0.key_count();
            let result = insert(&mut filter.0, items);
            write_optional(inserted, (filter.0.key_count() - before) as usize);
            Ok(result?)
        })
    }
}

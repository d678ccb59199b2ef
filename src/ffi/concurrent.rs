//! `bloomline_concurrent`: many threads insert at once.

use super::batch::answer;
use super::boundary::*;
use super::filter::bloomline_filter;
use super::handle::handle;
use super::hash::{bloomline_bytes, key_or_empty, keys_at};
use super::view::{bloomline_view, pack};
use crate::ConcurrentFilter;

/// A filter that any number of threads insert into and probe at once. All its functions except
/// bloomline_concurrent_clear() and bloomline_concurrent_free() may run in any number of threads,
/// and none waits for another. Probed through bloomline_concurrent_view().
///
/// A thread sees its own inserts at once. It sees those of another thread after anything that
/// orders the two, such as a mutex or a join. It may see an insert that is under way or not. No
/// inserted key is ever lost. It keeps no key count.
///
/// All accesses are relaxed atomic ones, except reads of vectors: no language has an atomic load of
/// a vector, see the comment on bloomline_lines_view(). For ThreadSanitizer, if it instruments the
/// library, there is share/bloomline/tsan.supp.
pub struct bloomline_concurrent(ConcurrentFilter);

const _: () = shared_between_threads::<bloomline_concurrent>();

exports! {
/// bloomline_concurrent_new() takes ownership of '*filter', empty or not, for threads to share,
/// without a copy, and sets it to NULL. A classic filter stays one.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; '*filter' is unchanged, and still the caller's.
fn bloomline_concurrent_new(
    filter: *mut *mut bloomline_filter, out: *mut *mut bloomline_concurrent,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        out.write(convert_handle(filter, |filter| bloomline_concurrent(filter.0.into()))?);
        Ok(())
    })
}
}

handle! { bloomline_concurrent(ConcurrentFilter) filter;
/// bloomline_concurrent_free() frees a filter that no thread uses any more. Do not use its views
/// afterwards. bloomline_concurrent_memory() is bloomline_filter_memory() for it.
free bloomline_concurrent_free; memory bloomline_concurrent_memory;

/// bloomline_concurrent_clone() and the functions under it are those of bloomline_filter. Copies,
/// bytes and files have all keys present at the call, and perhaps some inserted meanwhile. The
/// bytes are those of a bloomline_filter: its functions read them, and the ones here read those of
/// a bloomline_filter. Encoding takes no memory for a snapshot.
clone bloomline_concurrent_clone; encoded_len bloomline_concurrent_encoded_len;
encode bloomline_concurrent_encode; write bloomline_concurrent_write;
decode bloomline_concurrent_decode; save bloomline_concurrent_save;
load bloomline_concurrent_load;
}

exports! {
/// bloomline_concurrent_view() writes a view of the filter to 'out', which sees all later inserts.
/// Valid until the filter is freed. While threads insert, use it for the contains functions and
/// bloomline_view_about() only; for all else take a snapshot.
fn bloomline_concurrent_view(
    filter: *const bloomline_concurrent, out: *mut bloomline_view,
) -> bloomline_status {
    write_result(filter, out, |filter| Ok(pack(&filter.0.shared_view())))
}

/// bloomline_concurrent_insert() inserts the key of 'len' bytes at 'key',
/// bloomline_concurrent_insert_hash() a key by its hash. Returns true if the key was new, and false
/// if it was already present, or a false positive. If several threads insert the same new key at
/// once, at least one gets true, and more may. Returns true for a NULL filter.
fn bloomline_concurrent_insert(
    filter: *const bloomline_concurrent, key: *const c_void, len: usize,
) -> bool {
    shared(filter).is_none_or(|filter| filter.0.insert(key_or_empty(key, len)))
}
fn bloomline_concurrent_insert_hash(filter: *const bloomline_concurrent, hash: u64) -> bool {
    shared(filter).is_none_or(|filter| filter.0.insert_hash(hash))
}

/// bloomline_concurrent_insert_hashes() inserts 'n' keys by their hashes,
/// bloomline_concurrent_insert_keys() by their bytes, and returns how many were new.
fn bloomline_concurrent_insert_hashes(
    filter: *const bloomline_concurrent, hashes: *const u64, n: usize, bitmap: *mut u64,
) -> usize {
    let (filter, hashes) = (shared(filter), slice(hashes, n));
    if let (false, Some(filter), Some(hashes)) =
        (is_there(bitmap.cast_const()), filter, hashes)
    {
        return hashes.iter().filter(|&&hash| filter.0.insert_hash(hash)).count();
    }
    answer(hashes, n, bitmap, |hashes, bitmap| Some(filter?.0.insert_new_hashes(hashes, bitmap)))
}
fn bloomline_concurrent_insert_keys(
    filter: *const bloomline_concurrent, keys: *const bloomline_bytes, n: usize, bitmap: *mut u64,
) -> usize {
    let (filter, keys) = (shared(filter), keys_at(keys, n));
    if let (false, Some(filter), Some(keys)) =
        (is_there(bitmap.cast_const()), filter, keys)
    {
        return keys.iter().filter(|&key| filter.0.insert(key)).count();
    }
    answer(keys, n, bitmap, |keys, bitmap| Some(filter?.0.insert_new_keys(keys, bitmap)))
}

/// bloomline_concurrent_union() inserts all keys of 'from', which must not change meanwhile, into
/// 'into'. Line count, k, seed and type (plain or classic) must be equal.
///
/// Errors: BLOOMLINE_ERR_MISMATCH; nothing is inserted.
fn bloomline_concurrent_union(
    into: *const bloomline_concurrent, from: *const bloomline_filter,
) -> bloomline_status {
    guard(|| Ok(required(into)?.0.union(&required(from)?.0)?))
}

/// bloomline_concurrent_clear() removes all keys. Size, k and seed stay. No thread may use the
/// filter meanwhile: a key that one inserts could be lost.
fn bloomline_concurrent_clear(filter: *mut bloomline_concurrent) {
    if let Some(filter) = exclusive(filter) {
        filter.0.clear();
    }
}

/// bloomline_concurrent_snapshot() creates a filter of all keys present at the call, and perhaps
/// some inserted meanwhile: to measure or change it while threads go on inserting. Its key count is
/// 0: unknown.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
fn bloomline_concurrent_snapshot(
    filter: *const bloomline_concurrent, out: *mut *mut bloomline_filter,
) -> bloomline_status {
    new_handle(out, || Ok(bloomline_filter(required(filter)?.0.snapshot()?)))
}
}

//! `bloomline_filter`: a filter that owns its lines.

/// cbindgen:ignore
mod probe;
/// cbindgen:ignore
mod view;

pub use probe::*;
pub use view::*;

use super::batch::{change_batch, short};
use super::boundary::*;
use super::handle::handle;
use super::hash::{Key, bloomline_bytes, key_or_empty, keys_at};
use super::params::{bloomline_params, checked};
use crate::hash::{of_bytes, of_short};
use crate::{Error, Filter};
use std::mem::offset_of;
use std::ptr;

/// What bloomline_encoded_kind() returns for a filter that bloomline_filter_decode() reads.
pub const BLOOMLINE_KIND_FILTER: i32 = 1;
/// What bloomline_encoded_kind() returns for a classic filter, which bloomline_filter_decode()
/// reads, too.
pub const BLOOMLINE_KIND_CLASSIC: i32 = 6;
const _: () = assert!(BLOOMLINE_KIND_FILTER == crate::Kind::Filter as i32);
const _: () = assert!(BLOOMLINE_KIND_CLASSIC == crate::Kind::Classic as i32);

/// A filter that keys are inserted into. Made by bloomline_filter_new(),
/// bloomline_filter_clone(), bloomline_filter_decode() or bloomline_filter_load(); freed by
/// bloomline_filter_free().
pub struct bloomline_filter(pub(super) Filter);

const _: () = shared_between_threads::<bloomline_filter>();

impl bloomline_filter {
    /// The handle of a filter that is part of something else: for functions that take a const
    /// one.
    pub(super) fn borrowed(filter: &Filter) -> *const bloomline_filter {
        // A handle is a filter and nothing else.
        const {
            assert!(offset_of!(bloomline_filter, 0) == 0);
            assert!(size_of::<bloomline_filter>() == size_of::<Filter>());
        }
        ptr::from_ref(filter).cast()
    }
}

exports! {
/// bloomline_filter_new() creates an empty filter, of 64 bytes of memory for each line, aligned to
/// the line.
///
/// On Unix, filters of 2 MiB and more get their memory from the system (mmap), in huge pages where
/// it has them. Growing filters do so piece by piece, from 8 MiB on, and their pages become huge
/// later. Huge pages waste at most a tenth: a filter for which they would waste more has small pages
/// at its end. With BLOOMLINE_HUGE_PAGES=0 in the environment all memory is the allocator's. See
/// also bloomline_set_allocator().
///
/// Errors: BLOOMLINE_ERR_NO_LINES, BLOOMLINE_ERR_K, BLOOMLINE_ERR_LINE_COUNT and
/// BLOOMLINE_ERR_LAYOUT for parameters out of range; BLOOMLINE_ERR_OUT_OF_MEMORY;
/// BLOOMLINE_ERR_BACKEND.
fn bloomline_filter_new(
    params: *const bloomline_params, out: *mut *mut bloomline_filter,
) -> bloomline_status {
    new_handle(out, || Ok(bloomline_filter(Filter::new(checked(params)?)?)))
}
}

handle! { bloomline_filter(Filter) filter;

/// bloomline_filter_clone() creates a copy, of the same keys, key count and type.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
clone bloomline_filter_clone;

/// bloomline_filter_free() frees a filter. Do not use its views afterwards.
free bloomline_filter_free;

/// bloomline_filter_memory() returns how many bytes of memory the lines of the filter take,
/// including the unused end of huge pages. If bloomline_set_allocator() has set an allocator, that
/// is what the allocator was asked for. The handle itself, of some hundred bytes, is not counted.
memory bloomline_filter_memory;
}

exports! {
/// bloomline_filter_insert() inserts the key of 'len' bytes at 'key',
/// bloomline_filter_insert_hash() a key by its hash. Returns true if the key was new, and false if
/// it was already present, or a false positive. Returns true for a NULL filter.
fn bloomline_filter_insert(filter: *mut bloomline_filter, key: *const c_void, len: usize) -> bool {
    if !filter.is_null()
        && let Some(key) = short(key, len)
    {
        let filter = &mut (*filter).0;
        return filter.insert_hash(of_short(key, filter.params().seed()));
    }
    insert_apart(filter, key, len)
}
fn bloomline_filter_insert_hash(filter: *mut bloomline_filter, hash: u64) -> bool {
    exclusive(filter).is_none_or(|filter| filter.0.insert_hash(hash))
}

/// bloomline_filter_insert_hashes() inserts 'n' keys by their hashes,
/// bloomline_filter_insert_keys() by their bytes, faster than one by one: in a large filter their
/// lines are prefetched. Does nothing if 'filter' or the array is NULL.
fn bloomline_filter_insert_hashes(filter: *mut bloomline_filter, hashes: *const u64, n: usize) {
    if let (Some(filter), Some(hashes)) = (exclusive(filter), slice(hashes, n)) {
        filter.0.insert_hashes(hashes);
    }
}
fn bloomline_filter_insert_keys(
    filter: *mut bloomline_filter, keys: *const bloomline_bytes, n: usize,
) {
    if let (Some(filter), Some(keys)) = (exclusive(filter), keys_at(keys, n)) {
        match keys {
            [key] => {
                filter.0.insert(key);
            }
            _ => filter.0.insert_keys(keys),
        }
    }
}

/// bloomline_filter_insert_hashes_parallel() and bloomline_filter_insert_keys_parallel() do the
/// same on up to 'threads' threads, the caller's among them; 0: on as many as there are CPUs. The
/// filter's bytes are the same for any number.
///
/// Each thread has a range of lines, so no atomics are needed. The functions use fewer threads if
/// there are few keys (another thread for each 32,768) or if the system starts no more, and one
/// thread for a classic filter. bloomline_filter_insert_keys_parallel() also keeps up to 10 MiB of
/// hashes; without the memory for them it takes one thread.
fn bloomline_filter_insert_hashes_parallel(
    filter: *mut bloomline_filter, hashes: *const u64, n: usize, threads: usize,
) {
    if let (Some(filter), Some(hashes)) = (exclusive(filter), slice(hashes, n)) {
        filter.0.insert_hashes_parallel(hashes, threads);
    }
}
fn bloomline_filter_insert_keys_parallel(
    filter: *mut bloomline_filter, keys: *const bloomline_bytes, n: usize, threads: usize,
) {
    if let (Some(filter), Some(keys)) = (exclusive(filter), keys_at(keys, n)) {
        filter.0.insert_keys_parallel(keys, threads);
    }
}

/// bloomline_filter_insert_new_hashes() inserts 'n' keys by their hashes,
/// bloomline_filter_insert_new_keys() by their bytes, in order, and returns how many were new. If
/// 'bitmap' is NULL, one thread does the work.
///
/// For 'threads' and memory see bloomline_filter_insert_keys_parallel(); answers take another 128
/// KiB for each thread. Bytes and answers are the same for any number of threads.
fn bloomline_filter_insert_new_hashes(
    filter: *mut bloomline_filter, hashes: *const u64, n: usize, threads: usize, bitmap: *mut u64,
) -> usize {
    let insert = exclusive(filter).map(|filter| {
        |hashes: &[u64], new: &mut [u64]| filter.0.insert_new_hashes_parallel(hashes, new, threads)
    });
    change_batch(slice(hashes, n), n, bitmap, true, insert)
}
fn bloomline_filter_insert_new_keys(
    filter: *mut bloomline_filter, keys: *const bloomline_bytes, n: usize, threads: usize,
    bitmap: *mut u64,
) -> usize {
    let insert = exclusive(filter).map(|filter| {
        |keys: &[Key], new: &mut [u64]| filter.0.insert_new_keys_parallel(keys, new, threads)
    });
    change_batch(keys_at(keys, n), n, bitmap, true, insert)
}

/// bloomline_filter_union() inserts all keys of 'from' into 'into'. bloomline_filter_intersect()
/// keeps in 'into' what both filters have: a key that is in both stays present. Others are false
/// positives at most as often as in either, and more often than in a filter of the common keys
/// alone. The key count becomes 0, which means unknown: bloomline_view_about() estimates
/// it. Line count, k, seed and type (plain or classic) must be equal.
///
/// Errors: BLOOMLINE_ERR_MISMATCH; 'into' is unchanged.
fn bloomline_filter_union(
    into: *mut bloomline_filter, from: *const bloomline_filter,
) -> bloomline_status {
    combine(into, from, Filter::union)
}
fn bloomline_filter_intersect(
    into: *mut bloomline_filter, from: *const bloomline_filter,
) -> bloomline_status {
    combine(into, from, Filter::intersect)
}

/// bloomline_filter_clear() removes all keys. Size, k and seed stay.
fn bloomline_filter_clear(filter: *mut bloomline_filter) {
    if let Some(filter) = exclusive(filter) {
        filter.0.clear();
    }
}

/// bloomline_filter_fold() halves the number of lines and keeps all keys: every two neighbours
/// become one. Shrinks a filter that is too large, without rereading its keys; the false-positive
/// rate rises. Do not use views of the filter afterwards.
///
/// Errors: BLOOMLINE_ERR_ODD_LINE_COUNT, BLOOMLINE_ERR_OUT_OF_MEMORY; BLOOMLINE_ERR_CLASSIC for a
/// classic filter. The filter is unchanged.
fn bloomline_filter_fold(filter: *mut bloomline_filter) -> bloomline_status {
    change(filter, |filter| Ok(filter.0.fold()?))
}

/// bloomline_filter_fold_to_rate() folds while the false-positive rate stays at 'rate' or below and
/// the line count is even, which may be not at all. It writes how many times to 'folds', unless
/// that is NULL. Size the filter with bloomline_params_foldable(): other line counts may be odd at
/// once.
///
/// Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_OUT_OF_MEMORY; BLOOMLINE_ERR_CLASSIC for a classic
/// filter. The filter holds all its keys in any case.
fn bloomline_filter_fold_to_rate(
    filter: *mut bloomline_filter, rate: f64, folds: *mut u32,
) -> bloomline_status {
    change(filter, |filter| {
        write_optional(folds, filter.0.fold_to_rate(rate)?);
        Ok(())
    })
}
}

/// The rest of [`bloomline_filter_insert`], apart: so the shorter way saves no registers.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe extern "C" fn insert_apart(
    filter: *mut bloomline_filter,
    key: *const c_void,
    len: usize,
) -> bool {
    // SAFETY: the same contract.
    let (filter, key) = unsafe { (exclusive(filter), key_or_empty(key, len)) };
    filter.is_none_or(|bloomline_filter(filter)| {
        filter.insert_hash(of_bytes(key, filter.params().seed()))
    })
}

/// Combines two filters by `how`, which changes nothing where both are one.
///
/// # Safety
/// Each is NULL or alive, and `into` is this call's alone.
unsafe fn combine(
    into: *mut bloomline_filter,
    from: *const bloomline_filter,
    how: fn(&mut Filter, &Filter) -> Result<(), Error>,
) -> bloomline_status {
    guard(|| {
        if into.is_null() || from.is_null() {
            return Err(NULL);
        }
        if ptr::eq(into, from) {
            return Ok(());
        }
        // SAFETY: not NULL and not one filter; the caller vouches for the rest.
        let (into, from) = unsafe { (&mut *into, &*from) };
        Ok(how(&mut into.0, &from.0)?)
    })
}

handle! { bloomline_filter(Filter) filter;

/// bloomline_filter_encoded_len() returns how many bytes bloomline_filter_encode() writes: 64 for
/// each line and 64 more.
encoded_len bloomline_filter_encoded_len;

/// bloomline_filter_encode() writes the filter to the 'cap' bytes at 'out', for
/// bloomline_view_open() and bloomline_filter_decode(): the same bytes on every CPU. It writes
/// their number to 'written', unless that is NULL. The rest of 'out' is unchanged.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_filter_encoded_len().
encode bloomline_filter_encode;

/// bloomline_filter_write() passes the same bytes to 'write', part by part in order, with
/// 'context'.
///
/// Errors: BLOOMLINE_ERR_IO as soon as 'write' returns false; BLOOMLINE_ERR_OUT_OF_MEMORY.
write bloomline_filter_write;

/// bloomline_filter_decode() creates a filter from the 'len' bytes at 'data', which
/// bloomline_filter_encode(), bloomline_block_build() or the like wrote. It checks all of them,
/// checksums included, and copies the lines.
///
/// Errors: BLOOMLINE_ERR_TRUNCATED, BLOOMLINE_ERR_NOT_A_FILTER, BLOOMLINE_ERR_VERSION,
/// BLOOMLINE_ERR_LAYOUT, BLOOMLINE_ERR_CHECKSUM, BLOOMLINE_ERR_RESERVED, BLOOMLINE_ERR_K and
/// BLOOMLINE_ERR_LINE_COUNT for data that is no valid filter, BLOOMLINE_ERR_LAYOUT also for one of
/// another kind; BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
decode bloomline_filter_decode;

/// bloomline_filter_save() writes the filter to a file and atomically replaces one of that name. It
/// first writes the bytes to another file in the same directory, flushes that to the disk, and then
/// renames it. Whoever opens the name finds the whole old filter or the whole new one. 'path' is
/// NUL-terminated, on Windows in UTF-8.
///
/// On Unix the new file keeps the permissions of the old one and, where the process may set them,
/// its owner and group. If the group cannot be kept, the new group gets the permissions of
/// everybody. Access control lists and extended attributes are not kept. A file that replaces none
/// has the permissions of any new file. A symbolic link is replaced, not followed; the file keeps
/// the permissions of its target. Other hard links keep the old file.
///
/// Errors: BLOOMLINE_ERR_NOT_A_FILE if 'path' leads to a directory, a pipe, a socket or a device,
/// also through a link; BLOOMLINE_ERR_NOT_FOUND if the directory is missing;
/// BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_IO, BLOOMLINE_ERR_OUT_OF_MEMORY. The old file is then
/// unchanged, with one exception: if flushing the directory fails, last of all, the new file is in
/// place, and may not survive a power failure.
///
/// The Rust runtime copies a path of 384 bytes or more. If there is no memory for that copy, it
/// aborts the process. This holds for every function that takes a path.
save bloomline_filter_save;

/// bloomline_filter_load() reads a filter from a file into memory, and checks it as
/// bloomline_filter_decode(). It reads the end of the file first: one that is no filter is rejected
/// before memory is taken for it. To probe a file without reading all of it, use
/// bloomline_map_open().
///
/// Errors: those of bloomline_filter_decode(); BLOOMLINE_ERR_NOT_FOUND, BLOOMLINE_ERR_PERMISSION,
/// BLOOMLINE_ERR_IO, BLOOMLINE_ERR_NOT_A_FILE.
load bloomline_filter_load;
}

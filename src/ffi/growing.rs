//! `bloomline_growing`: grows with its keys; they can be removed, counted, merged.

use super::batch::{change_batch, remove_keys};
use super::boundary::*;
use super::handle::handle;
use super::hash::{Key, bloomline_bytes, key_or_empty, keys_at};
use super::view::{bloomline_view, write_view_of};
use crate::{Error, GrowingFilter, Prefixes};
use std::ptr;

/// What bloomline_encoded_kind() returns for a filter that bloomline_growing_decode() reads, and
/// bloomline_map_open() opens.
pub const BLOOMLINE_KIND_GROWING: i32 = 11;
const _: () = assert!(BLOOMLINE_KIND_GROWING == crate::Kind::Growing as i32);

/// A filter that grows and shrinks with its keys, from which keys can be removed, that counts them
/// and that is merged with others. For each key it keeps a prefix of its hash, in order. Probed
/// through bloomline_growing_view().
///
/// bloomline_growing_new() is told the most keys that may come. With fewer its false-positive rate
/// is lower in proportion, with more it is higher. At 1 % it takes some 10 bits per key once it has
/// all of these keys. bloomline_growing_new_unbounded() is told the first number of keys only. Its
/// rate stays below the one asked for, up to 10^16 keys times the rate (10^14 at 1 %). At 1 % it
/// takes 15 to 16.5 bits per key on average, at most 18 from 65,536 keys on, and at most 22.5 from
/// 4,000 keys on.
///
/// A key that is inserted twice is present twice, and is removed twice. Remove only keys you
/// inserted. Any other removal can take the prefix of an inserted key, which is then a false
/// negative. BLOOMLINE_ERR_ABSENT reports most such mistakes, not all. A call that fails changes
/// nothing, unless it says otherwise.
pub struct bloomline_growing(pub(super) GrowingFilter);

const _: () = shared_between_threads::<bloomline_growing>();

/// What bloomline_growing_about() writes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct bloomline_growing_facts {
    /// The most keys that a bounded filter was made for, the first keys of an unbounded one.
    pub expected_keys: u64,
    /// How many different prefixes there can be; in an unbounded filter, of the first length.
    pub prefix_count: u64,
    /// The false-positive rate that it was made for, 0 to 1.
    pub target_rate: f64,
    /// The seed of the hash of keys.
    pub seed: u64,
    /// Whether it was made for an unknown number of keys: 1 or 0.
    pub is_unbounded: u64,
}

exports! {
/// bloomline_growing_new() creates an empty filter for up to 'most_keys' keys: with so many its
/// false-positive rate is 'rate'. bloomline_growing_new_unbounded() creates one whose rate stays
/// below 'rate', up to 10^16 keys times 'rate'. With fewer than 'first_keys' it takes more memory
/// per key than later. 'seed' is that of the hash of keys.
///
/// Errors: BLOOMLINE_ERR_RATE; BLOOMLINE_ERR_RATE_TOO_SMALL if keys / rate is above 2^59;
/// BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
fn bloomline_growing_new(
    most_keys: u64, rate: f64, seed: u64, out: *mut *mut bloomline_growing,
) -> bloomline_status {
    new_handle(out, || Ok(bloomline_growing(GrowingFilter::new(most_keys, rate, seed)?)))
}
fn bloomline_growing_new_unbounded(
    first_keys: u64, rate: f64, seed: u64, out: *mut *mut bloomline_growing,
) -> bloomline_status {
    new_handle(out, || Ok(bloomline_growing(GrowingFilter::unbounded(first_keys, rate, seed)?)))
}

/// bloomline_growing_build() and bloomline_growing_build_unbounded() create the filter of
/// bloomline_growing_new() and bloomline_growing_new_unbounded() with 'n' keys in it, given by
/// their hashes. That takes a small part of the time of inserts. A bounded filter is 4 % smaller
/// than after inserts; an unbounded one takes 1 to 4 bits per key less if 'n' is many times
/// 'first_keys'. Later inserts make it grow as any other. If the hashes do not ascend, the build
/// also takes 8 bytes of memory for each.
///
/// Errors: those of bloomline_growing_new().
fn bloomline_growing_build(
    most_keys: u64, rate: f64, seed: u64, hashes: *const u64, n: usize,
    out: *mut *mut bloomline_growing,
) -> bloomline_status {
    build(hashes, n, out, |hashes| GrowingFilter::build(most_keys, rate, seed, hashes))
}
fn bloomline_growing_build_unbounded(
    first_keys: u64, rate: f64, seed: u64, hashes: *const u64, n: usize,
    out: *mut *mut bloomline_growing,
) -> bloomline_status {
    build(hashes, n, out, |hashes| GrowingFilter::build_unbounded(first_keys, rate, seed, hashes))
}
}

handle! { bloomline_growing(GrowingFilter) filter;
/// bloomline_growing_clone() and the functions under it are those of bloomline_filter, for a
/// growing filter. It is encoded as if it were built at once of the prefixes that it has. So
/// bounded filters that were made with the same numbers and seed, and have the same keys, have the
/// same bytes.
///
/// If the filter has changed since it was made, read or copied, bloomline_growing_encoded_len() and
/// each function that encodes first build a copy of it, which takes a few nanoseconds per key. So
/// if you ask for the length and then encode, do both with a bloomline_growing_clone(), whose bytes
/// need no other copy. Without memory for the copy bloomline_growing_encoded_len() returns SIZE_MAX.
///
/// bloomline_map_open() and bloomline_map_bytes() open the bytes, too; bloomline_view_open() does
/// not. bloomline_growing_memory() also counts the tables beside the lines, whose memory does not
/// come from the allocator of bloomline_set_allocator().
///
/// Errors: as there; in encoding and saving, also BLOOMLINE_ERR_OUT_OF_MEMORY; in reading, also
/// BLOOMLINE_ERR_RATE.
clone bloomline_growing_clone; free bloomline_growing_free; memory bloomline_growing_memory;
encoded_len bloomline_growing_encoded_len; encode bloomline_growing_encode;
write bloomline_growing_write; decode bloomline_growing_decode; save bloomline_growing_save;
load bloomline_growing_load;
}

exports! {
/// bloomline_growing_view() writes a view of the filter to 'out': to probe it, for its key count,
/// its fill and its rate. It leads to the filter and sees all later changes. Valid until the filter
/// is freed. No thread may change the filter while another uses it.
fn bloomline_growing_view(
    filter: *const bloomline_growing, out: *mut bloomline_view,
) -> bloomline_status {
    write_view_of(filter, |filter| &raw const (*filter).0, out)
}

/// bloomline_growing_about() writes what the filter was made with to 'out'.
fn bloomline_growing_about(
    filter: *const bloomline_growing, out: *mut bloomline_growing_facts,
) -> bloomline_status {
    write_result(filter, out, |bloomline_growing(filter)| {
        Ok(bloomline_growing_facts {
            expected_keys: filter.expected_keys(),
            prefix_count: filter.prefix_count(),
            target_rate: filter.target_rate(),
            seed: filter.seed(),
            is_unbounded: filter.is_unbounded().into(),
        })
    })
}

/// bloomline_growing_insert() inserts the key of 'len' bytes at 'key',
/// bloomline_growing_insert_hash() a key by its hash: once more, if it is present. It writes to
/// 'is_new', unless that is NULL, whether the key was new: false if it is already present, or a
/// false positive.
///
/// Many hashes take several times as long in ascending order as in any other: those next to each
/// other crowd in a few lines before there is room. bloomline_growing_build() takes them best in
/// order; shuffle others.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; the filter is unchanged.
fn bloomline_growing_insert(
    filter: *mut bloomline_growing, key: *const c_void, len: usize, is_new: *mut bool,
) -> bloomline_status {
    insert_one(filter, is_new, |filter| filter.insert(key_or_empty(key, len)))
}
fn bloomline_growing_insert_hash(
    filter: *mut bloomline_growing, hash: u64, is_new: *mut bool,
) -> bloomline_status {
    insert_one(filter, is_new, |filter| filter.insert_hash(hash))
}

/// bloomline_growing_insert_hashes() inserts 'n' keys by their hashes,
/// bloomline_growing_insert_keys() by their bytes, in order, faster than one by one. Unless
/// 'bitmap' is NULL, the bit of each key that was new is set there, of the others it is clear.
///
/// If 'bitmap' is NULL and a bounded filter gets 4,096 hashes or more, and an eighth as many as it
/// has keys, it is built anew with them, which takes less time. Meanwhile it takes the memory of a
/// copy and, unless the hashes ascend, 8 bytes for each. Without that memory they are inserted one
/// by one.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY at the first key for which there is no room. Those before it
/// are inserted, and 'bitmap' tells of them: bloomline_view_key_count() has grown by their number.
fn bloomline_growing_insert_hashes(
    filter: *mut bloomline_growing, hashes: *const u64, n: usize, bitmap: *mut u64,
) -> bloomline_status {
    change(filter, |bloomline_growing(filter)| {
        let hashes = slice(hashes, n).ok_or(NULL)?;
        match bitmap_at(bitmap, n) {
            Some(bitmap) => filter.insert_new_hashes(hashes, bitmap).map(drop)?,
            None => filter.insert_hashes(hashes)?,
        }
        Ok(())
    })
}
fn bloomline_growing_insert_keys(
    filter: *mut bloomline_growing, keys: *const bloomline_bytes, n: usize, bitmap: *mut u64,
) -> bloomline_status {
    change(filter, |bloomline_growing(filter)| {
        let keys = keys_at(keys, n).ok_or(NULL)?;
        match bitmap_at(bitmap, n) {
            Some(bitmap) => filter.insert_new_keys(keys, bitmap).map(drop)?,
            None => filter.insert_keys(keys)?,
        }
        Ok(())
    })
}

/// bloomline_growing_insert_hashes_parallel() and bloomline_growing_insert_keys_parallel() do the
/// same on up to 'threads' threads, the caller's among them; 0: on as many as there are CPUs. The
/// filter has 16 regions, each a range of hashes, and one thread at a time inserts into a region.
/// So at most 16 threads take part. The functions use fewer if there are few keys (another thread
/// for each 32,768) or if the system starts no more.
///
/// Prefixes and answers are the same for any number of threads. In a bounded filter they are also
/// those of inserts one by one. In an unbounded one other keys may get longer prefixes. The calls
/// take 8 MiB at most, for 'bitmap' 4 MiB more and for keys 8 MiB more; and the new lines of each
/// region that grows meanwhile, a sixteenth of the filter each. Without the memory for that one
/// thread does the work.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY. In each region, the keys before the first for which there
/// is no room are inserted, and bloomline_view_key_count() has grown by their number. If two regions
/// are due to grow and there is not even a little memory to bring one to its end, keys would be
/// lost: the process is aborted.
fn bloomline_growing_insert_hashes_parallel(
    filter: *mut bloomline_growing, hashes: *const u64, n: usize, threads: usize, bitmap: *mut u64,
) -> bloomline_status {
    change(filter, |bloomline_growing(filter)| {
        let hashes = slice(hashes, n).ok_or(NULL)?;
        match bitmap_at(bitmap, n) {
            Some(bitmap) => filter.insert_new_hashes_parallel(hashes, bitmap, threads).map(drop)?,
            None => filter.insert_hashes_parallel(hashes, threads)?,
        }
        Ok(())
    })
}
fn bloomline_growing_insert_keys_parallel(
    filter: *mut bloomline_growing, keys: *const bloomline_bytes, n: usize, threads: usize,
    bitmap: *mut u64,
) -> bloomline_status {
    change(filter, |bloomline_growing(filter)| {
        let keys = keys_at(keys, n).ok_or(NULL)?;
        match bitmap_at(bitmap, n) {
            Some(bitmap) => filter.insert_new_keys_parallel(keys, bitmap, threads).map(drop)?,
            None => filter.insert_keys_parallel(keys, threads)?,
        }
        Ok(())
    })
}

/// bloomline_growing_remove() removes the key of 'len' bytes at 'key',
/// bloomline_growing_remove_hash() a key by its hash, once if it was inserted more often. Remove
/// only keys you inserted: see bloomline_growing.
///
/// Errors: BLOOMLINE_ERR_ABSENT if the key is definitely absent; nothing changes.
fn bloomline_growing_remove(
    filter: *mut bloomline_growing, key: *const c_void, len: usize,
) -> bloomline_status {
    change(filter, |filter| Ok(filter.0.remove(bytes(key, len).ok_or(NULL)?)?))
}
fn bloomline_growing_remove_hash(filter: *mut bloomline_growing, hash: u64) -> bloomline_status {
    change(filter, |filter| Ok(filter.0.remove_hash(hash)?))
}

/// bloomline_growing_remove_hashes() and bloomline_growing_remove_keys() are those of
/// bloomline_counting.
fn bloomline_growing_remove_hashes(
    filter: *mut bloomline_growing, hashes: *const u64, n: usize, removed: *mut u64,
) -> usize {
    let remove = exclusive(filter).map(|filter| {
        |hashes: &[u64], removed: &mut [u64]| filter.0.remove_hashes(hashes, removed)
    });
    change_batch(slice(hashes, n), n, removed, false, remove)
}
fn bloomline_growing_remove_keys(
    filter: *mut bloomline_growing, keys: *const bloomline_bytes, n: usize, removed: *mut u64,
) -> usize {
    let remove = exclusive(filter).map(|bloomline_growing(filter)| {
        |keys: &[Key], removed: &mut [u64]| {
            let one = |filter: &mut GrowingFilter, key: &Key| filter.remove(key).is_ok();
            remove_keys(filter, keys, removed, GrowingFilter::remove_keys, one)
        }
    });
    change_batch(keys_at(keys, n), n, removed, false, remove)
}

/// bloomline_growing_count_hash() returns how often the key of a hash is present, at most: 0 if it
/// is definitely absent, UINT64_MAX for a NULL filter. Keys of the same prefix count, too.
fn bloomline_growing_count_hash(filter: *const bloomline_growing, hash: u64) -> u64 {
    read_or(filter, u64::MAX, |filter| filter.0.count_hash(hash))
}

/// bloomline_growing_clear() removes all keys.
fn bloomline_growing_clear(filter: *mut bloomline_growing) {
    if let Some(filter) = exclusive(filter) {
        filter.0.clear();
    }
}

/// bloomline_growing_union() inserts all keys of 'from' into 'into', each as often as it is present
/// in 'from'. bloomline_growing_intersect() keeps in 'into' the keys that may be in 'with', too:
/// each as often as in the filter that has it less often, in unbounded filters now and then more
/// often. bloomline_growing_difference() removes the keys of 'from' from 'into', each as often as
/// it is present in 'from'. Use it only if 'into' has all of them, as with any removal.
///
/// Both filters must be made with the same numbers and seed. They may have any number of keys, and
/// may be one filter.
///
/// Errors: BLOOMLINE_ERR_MISMATCH, BLOOMLINE_ERR_OUT_OF_MEMORY. bloomline_growing_difference() also
/// BLOOMLINE_ERR_UNBOUNDED, if the filters are unbounded: there a prefix may be of other keys, too.
/// Remove keys one by one instead.
fn bloomline_growing_union(
    into: *mut bloomline_growing, from: *const bloomline_growing,
) -> bloomline_status {
    combine(into, from, GrowingFilter::union)
}
fn bloomline_growing_intersect(
    into: *mut bloomline_growing, with: *const bloomline_growing,
) -> bloomline_status {
    combine(into, with, GrowingFilter::intersect)
}
fn bloomline_growing_difference(
    into: *mut bloomline_growing, from: *const bloomline_growing,
) -> bloomline_status {
    combine(into, from, GrowingFilter::difference)
}

/// bloomline_growing_split() makes 'parts' filters of the filter, one for each range of hashes, and
/// writes their handles to the array 'out': the key of hash h is in filter number
/// h * parts / 2^64, rounded down. A prefix on the border of two is in both. It reads the filter a
/// few times, as long as there are no more parts than prefixes of the first length.
/// bloomline_growing_free() frees each.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
fn bloomline_growing_split(
    filter: *const bloomline_growing, parts: usize, out: *mut *mut bloomline_growing,
) -> bloomline_status {
    guard(|| {
        let filter = required(filter)?;
        if parts > 0 {
            output(out)?;
        }
        let mut handles = Handles(Vec::new());
        handles.0.try_reserve_exact(parts).map_err(|_| Error::OutOfMemory)?;
        for part in filter.0.split(parts)? {
            handles.0.push(try_box(bloomline_growing(part))?);
        }
        for (i, handle) in std::mem::take(&mut handles.0).into_iter().enumerate() {
            out.add(i).write(handle);
        }
        Ok(())
    })
}

/// bloomline_growing_prefixes() lists the prefixes from 'first' on, in order. It writes up to 'cap'
/// of them to 'prefixes' and, unless that is NULL, how often each is there to 'counts', and returns
/// how many it wrote. To list all, begin with 0, and go on from the last prefix plus 1 until it
/// returns less than 'cap'. Each call reads the filter from its start, so take large arrays.
///
/// Of a bounded filter the prefix of a hash h is h * prefix_count / 2^64, rounded down. Of an
/// unbounded one it is the bits of the prefix, then a 1, then zeros.
///
/// Returns 0 if 'filter' or 'prefixes' is NULL.
fn bloomline_growing_prefixes(
    filter: *const bloomline_growing, first: u64, prefixes: *mut u64, counts: *mut u64, cap: usize,
) -> usize {
    read_or(filter, 0, |filter| {
        if prefixes.is_null() {
            return 0;
        }
        let mut written = 0;
        let there = filter.0.prefixes().skip_while(|&(prefix, _)| prefix < first);
        for (i, (prefix, count)) in there.take(cap).enumerate() {
            prefixes.add(i).write(prefix);
            write_optional(if counts.is_null() { counts } else { counts.add(i) }, count);
            written = i + 1;
        }
        written
    })
}

/// bloomline_growing_freeze() builds an encoded static filter of the filter's prefixes in the 'cap'
/// bytes at 'out', as bloomline_static_block_build() does of hashes, and writes its length to
/// 'written'. bloomline_static_block_len() of the number of prefixes says how large the buffer must
/// be: the estimated_keys of bloomline_view_about() for the filter's view, which is exact. The
/// static filter takes a quarter less memory. Its false positives are its own, at 'rate', and those
/// of the growing filter.
///
/// It is probed by other hashes than the growing filter. For the key of 'hash',
/// bloomline_growing_frozen_hash() returns the hash to probe for. Its 'prefix_count' is that of
/// bloomline_growing_about(): keep it beside the static filter.
///
/// Errors: those of bloomline_static_block_build(); BLOOMLINE_ERR_UNBOUNDED.
fn bloomline_growing_freeze(
    filter: *const bloomline_growing, rate: f64, out: *mut c_void, cap: usize, written: *mut usize,
) -> bloomline_status {
    guard(|| {
        let filter = required(filter)?;
        // Without the length, the filter could not be found in the buffer.
        let written = output(written)?;
        let room = room_at(out, cap)?;
        written.write(filter.0.freeze(rate)?.0.encode_in(room)?);
        Ok(())
    })
}
fn bloomline_growing_frozen_hash(prefix_count: u64, hash: u64) -> u64 {
    Prefixes::of_count(prefix_count).hash(hash)
}
}

/// A handle of the filter that is built of hashes.
///
/// # Safety
/// `hashes` is NULL or has `n`; `out` is NULL or has room.
unsafe fn build(
    hashes: *const u64,
    n: usize,
    out: *mut *mut bloomline_growing,
    build: impl FnOnce(&[u64]) -> Result<GrowingFilter, Error>,
) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe { new_handle(out, || Ok(bloomline_growing(build(slice(hashes, n).ok_or(NULL)?)?))) }
}

/// Inserts one key by `insert`, and reports whether it was new.
///
/// # Safety
/// `filter` is NULL or the call's alone; `is_new` is NULL or has room.
unsafe fn insert_one(
    filter: *mut bloomline_growing,
    is_new: *mut bool,
    insert: impl FnOnce(&mut GrowingFilter) -> Result<bool, Error>,
) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe {
        change(filter, |filter| {
            write_optional(is_new, insert(&mut filter.0)?);
            Ok(())
        })
    }
}

/// Changes a filter by another, which may be the same.
///
/// # Safety
/// Each is NULL or alive, `into` the call's alone.
unsafe fn combine(
    into: *mut bloomline_growing,
    from: *const bloomline_growing,
    change: fn(&mut GrowingFilter, &GrowingFilter) -> Result<(), Error>,
) -> bloomline_status {
    guard(|| {
        if into.is_null() || from.is_null() {
            return Err(NULL);
        }
        if ptr::eq(into, from) {
            // SAFETY: the same contract.
            let into = unsafe { &mut *into };
            let copy = into.0.try_clone()?;
            return Ok(change(&mut into.0, &copy)?);
        }
        // SAFETY: the same contract; not one filter: two references, of which one may write.
        let (into, from) = unsafe { (&mut *into, &*from) };
        Ok(change(&mut into.0, &from.0)?)
    })
}

/// Handles that C did not get yet.
struct Handles(Vec<*mut bloomline_growing>);

impl Drop for Handles {
    fn drop(&mut self) {
        for &handle in &self.0 {
            // SAFETY: of `try_box`; nobody else has it.
            unsafe { free(handle) };
        }
    }
}

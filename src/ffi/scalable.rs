//! `bloomline_scalable`: grows with its keys, for an unknown number of them.

use super::boundary::*;
use super::filter::bloomline_filter;
use super::handle::handle;
use super::hash::{bloomline_bytes, key_or_empty, keys_at};
use super::view::{bloomline_view, write_view_of};
use crate::{Error, ScalableFilter};
use std::ptr;

/// What bloomline_encoded_kind() returns for a filter that bloomline_scalable_decode() reads.
pub const BLOOMLINE_KIND_SCALABLE: i32 = 3;
const _: () = assert!(BLOOMLINE_KIND_SCALABLE == crate::Kind::Scalable as i32);

/// A filter for an unknown number of keys: it grows with them, and stays below its false-positive
/// rate. It is a series of plain filters, its stages, each for twice the keys of the one before and
/// at a lower rate. At a thousand times the first number of keys it has 10 stages, and takes 1.9
/// times the memory of a plain filter for so many keys at 1 %. A key that is already present is not
/// inserted again. Probed through bloomline_scalable_view().
///
/// bloomline_growing_new_unbounded() makes a filter that keeps its rate in less memory once it has
/// grown, and can remove keys. Take a bloomline_scalable if inserts must be fast: those of a
/// bloomline_growing take several times as long.
///
/// If it has to grow and there is no memory, an insert returns BLOOMLINE_ERR_OUT_OF_MEMORY, **and
/// the key is inserted all the same**: no key is lost, but the rate may then exceed the target.
/// Each later insert tries to grow again.
pub struct bloomline_scalable(pub(super) ScalableFilter);

const _: () = shared_between_threads::<bloomline_scalable>();

/// What bloomline_scalable_about() writes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct bloomline_scalable_facts {
    /// How many stages it has, 1 or more.
    pub stage_count: u64,
    /// The target false-positive rate, 0 to 1, of all stages together.
    pub target_rate: f64,
    /// The rate to expect with the keys now present. It is at most the target, unless the filter
    /// could not grow.
    pub expected_rate: f64,
    /// The seed of the hash of keys.
    pub seed: u64,
}

exports! {
/// bloomline_scalable_new() creates an empty filter. Its first stage is sized for 'first_keys'
/// keys, at least 32. 'rate' is the target false-positive rate of all stages together, from 1e-15
/// to less than 1; 'seed' that of the hash of keys.
///
/// Errors: BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_RATE_TOO_SMALL; BLOOMLINE_ERR_LINE_COUNT if the first
/// stage would not fit in memory; BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
fn bloomline_scalable_new(
    first_keys: u64, rate: f64, seed: u64, out: *mut *mut bloomline_scalable,
) -> bloomline_status {
    new_handle(out, || Ok(bloomline_scalable(ScalableFilter::new(first_keys, rate, seed)?)))
}
}

handle! { bloomline_scalable(ScalableFilter) filter;
/// bloomline_scalable_clone() and the functions under it are those of bloomline_filter, for all
/// stages together. A copy grows on as 'filter' would. Encoded it takes 64 bytes for each line of
/// the stages, 64 for each stage, and 64 more. Only bloomline_scalable_decode() and
/// bloomline_scalable_load() read these bytes; no view can be opened of them. After
/// bloomline_scalable_free(), do not use what bloomline_scalable_stage() returned.
///
/// Errors: as there; in reading, also BLOOMLINE_ERR_RATE.
clone bloomline_scalable_clone; free bloomline_scalable_free; memory bloomline_scalable_memory;
encoded_len bloomline_scalable_encoded_len; encode bloomline_scalable_encode;
write bloomline_scalable_write; decode bloomline_scalable_decode; save bloomline_scalable_save;
load bloomline_scalable_load;
}

/// Inserts one key by `insert`, and reports whether it was new. A failure to grow is for new keys
/// only.
///
/// # Safety
/// `filter` is NULL or the call's alone; `is_new` is NULL or has room.
unsafe fn insert_one(
    filter: *mut bloomline_scalable,
    is_new: *mut bool,
    insert: impl FnOnce(&mut ScalableFilter) -> Result<bool, Error>,
) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe {
        change(filter, |filter| {
            let inserted = insert(&mut filter.0);
            write_optional(is_new, *inserted.as_ref().unwrap_or(&true));
            inserted?;
            Ok(())
        })
    }
}

exports! {
/// bloomline_scalable_insert() inserts the key of 'len' bytes at 'key',
/// bloomline_scalable_insert_hash() a key by its hash. It writes to 'is_new', unless that is NULL,
/// whether the key was new: false if it is already present, or a false positive.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY if the filter has to grow and cannot. The key is inserted,
/// and 'is_new' is written: true.
fn bloomline_scalable_insert(
    filter: *mut bloomline_scalable, key: *const c_void, len: usize, is_new: *mut bool,
) -> bloomline_status {
    insert_one(filter, is_new, |filter| filter.insert(key_or_empty(key, len)))
}
fn bloomline_scalable_insert_hash(
    filter: *mut bloomline_scalable, hash: u64, is_new: *mut bool,
) -> bloomline_status {
    insert_one(filter, is_new, |filter| filter.insert_hash(hash))
}

/// bloomline_scalable_insert_hashes() inserts 'n' keys by their hashes,
/// bloomline_scalable_insert_keys() by their bytes, faster than one by one.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY if the filter has to grow and cannot. All keys are inserted,
/// and 'bitmap' is written.
fn bloomline_scalable_insert_hashes(
    filter: *mut bloomline_scalable, hashes: *const u64, n: usize, bitmap: *mut u64,
) -> bloomline_status {
    insert_batch(filter, slice(hashes, n), bitmap, |filter, hashes, bitmap| {
        filter.insert_new_hashes(hashes, bitmap)
    })
}
fn bloomline_scalable_insert_keys(
    filter: *mut bloomline_scalable, keys: *const bloomline_bytes, n: usize, bitmap: *mut u64,
) -> bloomline_status {
    insert_batch(filter, keys_at(keys, n), bitmap, |filter, keys, bitmap| {
        filter.insert_new_keys(keys, bitmap)
    })
}

/// bloomline_scalable_clear() removes all keys, and all stages but the first. Rate and seed stay.
/// Do not use what bloomline_scalable_stage() returned afterwards.
fn bloomline_scalable_clear(filter: *mut bloomline_scalable) {
    if let Some(filter) = exclusive(filter) {
        filter.0.clear();
    }
}

/// bloomline_scalable_view() writes a view of all stages together to 'out': to probe the filter,
/// for its key count, its fill and its rate. It leads to the filter and sees all later inserts.
/// Valid until the filter is freed. No thread may insert while another uses it.
fn bloomline_scalable_view(
    filter: *const bloomline_scalable, out: *mut bloomline_view,
) -> bloomline_status {
    write_view_of(filter, |filter| &raw const (*filter).0, out)
}

/// bloomline_scalable_about() writes the number of stages, rates and seed of the filter to 'out'.
/// If you can insert all keys again, a plain filter for bloomline_view_key_count() keys at the
/// target rate is smaller and faster. Then compare key counts: if the plain filter's is lower, keys
/// are missing.
fn bloomline_scalable_about(
    filter: *const bloomline_scalable, out: *mut bloomline_scalable_facts,
) -> bloomline_status {
    write_result(filter, out, |bloomline_scalable(filter)| {
        Ok(bloomline_scalable_facts {
            stage_count: filter.stages().len() as u64,
            target_rate: filter.target_rate(),
            expected_rate: filter.expected_rate(),
            seed: filter.seed(),
        })
    })
}

/// bloomline_scalable_stage() returns stage number 'stage', 0 being the oldest, for any function
/// that takes a const bloomline_filter. It is part of 'filter': do not change or free it. Valid
/// until 'filter' is changed or freed.
///
/// Returns NULL if 'stage' is out of range, or 'filter' is NULL.
fn bloomline_scalable_stage(
    filter: *const bloomline_scalable, stage: usize,
) -> *const bloomline_filter {
    let stage = shared(filter).and_then(|filter| filter.0.stages().nth(stage));
    stage.map_or(ptr::null(), bloomline_filter::borrowed)
}
}

/// Inserts a batch by `insert`, which takes some items and a bitmap of those that were new.
///
/// # Safety
/// `filter` is NULL or the call's alone; `bitmap` as for `boundary::bitmap_at`.
unsafe fn insert_batch<T>(
    filter: *mut bloomline_scalable,
    items: Option<&[T]>,
    bitmap: *mut u64,
    insert: impl Fn(&mut ScalableFilter, &[T], &mut [u64]) -> Result<usize, Error>,
) -> bloomline_status {
    const WITHOUT_BITMAP: usize = 4096;
    // SAFETY: the same contract.
    unsafe {
        change(filter, |filter| {
            let items = items.ok_or(NULL)?;
            if !bitmap.is_null() {
                let bitmap = bitmap_at(bitmap, items.len()).ok_or(NULL)?;
                insert(&mut filter.0, items, bitmap)?;
                return Ok(());
            }
            // All of them, whatever becomes of some.
            let mut result = Ok(0);
            for items in items.chunks(WITHOUT_BITMAP) {
                result = result.and(insert(&mut filter.0, items, &mut [0; WITHOUT_BITMAP / 64]));
            }
            result?;
            Ok(())
        })
    }
}

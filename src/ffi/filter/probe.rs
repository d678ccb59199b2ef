//! Probes of a `bloomline_filter`: one key, and batches.

use super::super::batch::{contains_few, contains_many, contains_many_keys, few, one_key, short};
use super::super::boundary::*;
use super::super::hash::{Key, bloomline_bytes};
use super::bloomline_filter;
use crate::hash::{of_bytes, of_short};

exports! {
/// bloomline_filter_contains() returns false if the key of 'len' bytes at 'key' is definitely
/// absent, and true if it may be present; bloomline_filter_contains_hash() for the hash of a key.
fn bloomline_filter_contains(
    filter: *const bloomline_filter, key: *const c_void, len: usize,
) -> bool {
    if let (Some(bloomline_filter(filter)), Some(key)) = (shared(filter), short(key, len)) {
        return filter.contains_hash(of_short(key, filter.params().seed()));
    }
    contains_apart(filter, key, len)
}
fn bloomline_filter_contains_hash(filter: *const bloomline_filter, hash: u64) -> bool {
    shared(filter).is_none_or(|filter| filter.0.contains_hash(hash))
}

/// bloomline_filter_contains_hashes() probes for 'n' keys by their hashes,
/// bloomline_filter_contains_keys() by their bytes, and returns how many may be present.
fn bloomline_filter_contains_hashes(
    filter: *const bloomline_filter, hashes: *const u64, n: usize, bitmap: *mut u64,
) -> usize {
    if let (Some((hashes, word)), Some(filter)) = (few(hashes, n, bitmap), shared(filter)) {
        return filter.0.contains_few(hashes, word);
    }
    contains_more(filter, hashes, n, bitmap)
}
fn bloomline_filter_contains_keys(
    filter: *const bloomline_filter, keys: *const bloomline_bytes, n: usize, bitmap: *mut u64,
) -> usize {
    let one = |key, len| bloomline_filter_contains(filter, key, len);
    if let Some(maybe) = one_key(n, one, keys, bitmap) {
        return maybe;
    }
    contains_more_keys(filter, keys, n, bitmap)
}
}

/// The rest of [`bloomline_filter_contains`], apart: so the shorter way saves no registers.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe extern "C" fn contains_apart(
    filter: *const bloomline_filter,
    key: *const c_void,
    len: usize,
) -> bool {
    // SAFETY: the same contract.
    unsafe {
        match (shared(filter), bytes(key, len)) {
            (Some(bloomline_filter(filter)), Some(key)) => {
                filter.contains_hash(of_bytes(key, filter.params().seed()))
            }
            _ => true,
        }
    }
}

/// The rest of [`bloomline_filter_contains_hashes`], apart: so a few keys save no registers.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe extern "C" fn contains_more(
    filter: *const bloomline_filter,
    hashes: *const u64,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: the same contract.
    unsafe { contains_many(move || Some(&shared(filter)?.0), hashes, n, bitmap) }
}

/// The rest of [`bloomline_filter_contains_keys`], apart.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe extern "C" fn contains_more_keys(
    filter: *const bloomline_filter,
    keys: *const bloomline_bytes,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: the same contract; a `Key` is a `bloomline_bytes` in memory.
    unsafe {
        if let (Some(bloomline_filter(filter)), Some((array, word))) =
            (shared(filter), few(keys.cast::<Key>(), n, bitmap))
        {
            let seed = filter.params().seed();
            let probe = |hashes: &[u64], word: &mut u64| filter.contains_few(hashes, word);
            return contains_few(
                array.iter().map(Key::bytes),
                |key| of_bytes(key, seed),
                word,
                probe,
            );
        }
        contains_many_keys(move || Some(&shared(filter)?.0), keys, n, bitmap)
    }
}

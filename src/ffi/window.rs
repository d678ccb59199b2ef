//! `bloomline_window`: whether a key was inserted lately.

use super::batch::change_batch;
use super::boundary::{
    exclusive, new_handle, read_or, shared_between_threads, slice, write_result,
};
use super::handle::handle;
use super::hash::{Key, keys_at};
use super::hash::{bloomline_bytes, key_or_empty};
use super::params::bloomline_params;
use super::status::bloomline_status;
use super::view::{bloomline_view, write_view_of};
use crate::Window;
use std::ffi::c_void;

/// A sliding-window filter: whether a key was inserted in one of the last generations. A generation
/// is a time slice, such as a day, or a number of keys. Keys go into the newest;
/// bloomline_window_rotate() starts a new one and drops the oldest, in constant time.
///
/// With G generations, a key is present for the rest of its generation and the G - 1 that follow,
/// then it expires. Inserting it again renews it. So "seen in the last 7 days" takes 8 daily
/// generations: the current day and the 7 whole ones before it. A present key is never a false
/// negative.
///
/// Probed through bloomline_window_view(). The caller passes the time to
/// bloomline_window_advance_to(). The same calls give the same answers and bytes, whenever they are
/// made.
///
/// Made by bloomline_window_new(), bloomline_window_clone(), bloomline_window_decode() or
/// bloomline_window_load(); freed by bloomline_window_free().
pub struct bloomline_window(pub(super) Window);

const _: () = shared_between_threads::<bloomline_window>();

exports! {
/// bloomline_window_new() creates an empty window of 'generations' generations in slice 0. While
/// none has more than 'keys_per_generation' keys, the false-positive rate over all is at most
/// 'rate', between 0 and 1. 'seed' is that of the hash of keys. Each generation is a plain filter:
/// 8 of them at 1 % take 15 bits for each key and generation.
///
/// Errors: BLOOMLINE_ERR_GENERATIONS for none; BLOOMLINE_ERR_RATE,
/// BLOOMLINE_ERR_RATE_TOO_SMALL; BLOOMLINE_ERR_LINE_COUNT if it would not fit in memory;
/// BLOOMLINE_ERR_OUT_OF_MEMORY; BLOOMLINE_ERR_BACKEND.
fn bloomline_window_new(
    generations: u32, keys_per_generation: u64, rate: f64, seed: u64,
    out: *mut *mut bloomline_window,
) -> bloomline_status {
    new_handle(out, || {
        Ok(bloomline_window(Window::new(generations, keys_per_generation, rate, seed)?))
    })
}
}

handle! { bloomline_window(Window) window;

/// bloomline_window_clone() creates a copy, in the same slice and with the same limits.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY.
clone bloomline_window_clone;

/// bloomline_window_free() frees a window. Does nothing for NULL.
free bloomline_window_free;

/// bloomline_window_memory() is bloomline_filter_memory() for the lines of all generations, and the
/// marks of those that are out of date.
memory bloomline_window_memory;
}

exports! {
/// bloomline_window_rotate() starts the next slice: a new generation, and drops the oldest. Does
/// nothing for NULL.
fn bloomline_window_rotate(window: *mut bloomline_window) {
    if let Some(window) = exclusive(window) {
        window.0.rotate();
    }
}

/// bloomline_window_advance_to() sets the current time slice, such as time(NULL) / 86400 for days.
/// Each slice begun since the last call starts a generation and drops the oldest; as many slices as
/// generations drop all keys. Does nothing if 'slice' is not later, or 'window' is NULL.
fn bloomline_window_advance_to(window: *mut bloomline_window, slice: u64) {
    if let Some(window) = exclusive(window) {
        window.0.advance_to(slice);
    }
}

/// bloomline_window_rotate_after() makes generations of 'keys' keys: from now on the window rotates
/// by itself when the newest has so many, before the next key goes in, also within a batch. A key
/// that the newest already has does not count. 0, as at the start, turns this off. Does nothing for
/// NULL.
fn bloomline_window_rotate_after(window: *mut bloomline_window, keys: u64) {
    if let Some(window) = exclusive(window) {
        window.0.rotate_after(keys);
    }
}

/// bloomline_window_insert() inserts the key of 'len' bytes at 'key' into the newest generation.
/// Returns true if the key was new, and false if the window already had it, or for a false
/// positive. So one call answers "have I seen this lately?", and remembers the key. Returns true
/// for a NULL window.
fn bloomline_window_insert(window: *mut bloomline_window, key: *const c_void, len: usize) -> bool {
    exclusive(window).is_none_or(|window| window.0.insert(key_or_empty(key, len)))
}

/// bloomline_window_insert_hash() is bloomline_window_insert() for the hash of a key.
fn bloomline_window_insert_hash(window: *mut bloomline_window, hash: u64) -> bool {
    exclusive(window).is_none_or(|window| window.0.insert_hash(hash))
}

/// bloomline_window_insert_hashes() inserts 'n' keys by their hashes, and returns how many were
/// new. Bit i % 64 of bitmap[i / 64] is set if key i was, as bloomline_window_insert() reports it;
/// a key that is there twice is new once; unused bits of the last word are zero. 'bitmap' has room
/// for (n + 63) / 64 words, and need not be initialized; it may be NULL.
///
/// If 'window' or 'hashes' is NULL, nothing is inserted, and all keys are reported as new.
fn bloomline_window_insert_hashes(
    window: *mut bloomline_window, hashes: *const u64, n: usize, bitmap: *mut u64,
) -> usize {
    let insert = exclusive(window).map(|window| {
        |hashes: &[u64], bitmap: &mut [u64]| window.0.insert_new_hashes(hashes, bitmap)
    });
    change_batch(slice(hashes, n), n, bitmap, true, insert)
}

/// bloomline_window_insert_keys() is bloomline_window_insert_hashes() for keys by their bytes.
fn bloomline_window_insert_keys(
    window: *mut bloomline_window, keys: *const bloomline_bytes, n: usize, bitmap: *mut u64,
) -> usize {
    let insert = exclusive(window)
        .map(|window| |keys: &[Key], bitmap: &mut [u64]| window.0.insert_new_keys(keys, bitmap));
    change_batch(keys_at(keys, n), n, bitmap, true, insert)
}

/// bloomline_window_view() writes a view of all generations together to 'out': to probe the window,
/// for its fill and its rate. It leads to the window and sees all later inserts and rotations.
/// Valid until the window is freed. No thread may change the window while another uses it.
fn bloomline_window_view(
    window: *const bloomline_window, out: *mut bloomline_view,
) -> bloomline_status {
    write_view_of(window, |window| &raw const (*window).0, out)
}

/// bloomline_window_generations() returns how many generations there are, the newest included.
/// Returns 0 for NULL.
fn bloomline_window_generations(window: *const bloomline_window) -> u32 {
    read_or(window, 0, |window| window.0.generations())
}

/// bloomline_window_time_slice() returns the number of the current time slice: how often the window
/// rotated, or what bloomline_window_advance_to() set. Returns 0 for NULL.
fn bloomline_window_time_slice(window: *const bloomline_window) -> u64 {
    read_or(window, 0, |window| window.0.time_slice())
}

/// bloomline_window_params() writes line count, k and seed of each generation to 'out'.
fn bloomline_window_params(
    window: *const bloomline_window, out: *mut bloomline_params,
) -> bloomline_status {
    write_result(window, out, |window| Ok(window.0.params().into()))
}

/// bloomline_window_key_count() returns how many different keys are in the generation of 'age'
/// rotations ago, 0 being the newest. It misses some, at the false-positive rate. Returns 0 if
/// 'age' is out of range, and for NULL.
fn bloomline_window_key_count(window: *const bloomline_window, age: u32) -> u64 {
    read_or(window, 0, |window| window.0.key_count(age))
}
}

handle! { bloomline_window(Window) window;

/// bloomline_window_encoded_len() returns how many bytes bloomline_window_encode() writes. Returns
/// 0 for NULL.
encoded_len bloomline_window_encoded_len;

/// bloomline_window_encode() is bloomline_filter_encode() for a window, with its slice and what
/// bloomline_window_rotate_after() set. Only bloomline_window_decode() reads it.
encode bloomline_window_encode;

/// bloomline_window_write() is bloomline_filter_write() for a window.
write bloomline_window_write;

/// bloomline_window_decode() is bloomline_filter_decode() for a window.
///
/// Errors: as there; BLOOMLINE_ERR_LAYOUT also for a filter of another kind;
/// BLOOMLINE_ERR_GENERATIONS.
decode bloomline_window_decode;

/// bloomline_window_save() is bloomline_filter_save() for a window.
save bloomline_window_save;

/// bloomline_window_load() is bloomline_filter_load() for a window.
///
/// Errors: as there and for bloomline_window_decode().
load bloomline_window_load;
}

//! `bloomline_window`: keys expire.

use super::batch::change_batch;
use super::boundary::*;
use super::handle::handle;
use super::hash::{Key, bloomline_bytes, key_or_empty, keys_at};
use super::params::bloomline_params;
use super::view::{bloomline_view, write_view_of};
use crate::Window;

/// What bloomline_encoded_kind() returns for a filter that bloomline_window_decode() reads.
pub const BLOOMLINE_KIND_WINDOW: i32 = 4;
const _: () = assert!(BLOOMLINE_KIND_WINDOW == crate::Kind::Window as i32);

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
pub struct bloomline_window(pub(super) Window);

const _: () = shared_between_threads::<bloomline_window>();

/// What bloomline_window_about() writes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct bloomline_window_facts {
    /// How many generations there are, the newest included.
    pub generations: u64,
    /// The number of the current time slice: how often the window rotated, or what
    /// bloomline_window_advance_to() set.
    pub time_slice: u64,
    /// Line count, k and seed of each generation.
    pub params: bloomline_params,
}

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
/// bloomline_window_clone() and the functions under it are those of bloomline_filter, for all
/// generations together, with the slice and what bloomline_window_rotate_after() set.
/// bloomline_window_memory() counts the lines, and the notes of when each part of them was last
/// cleared. Only bloomline_window_decode() and bloomline_window_load() read its bytes.
///
/// Errors: as there; in reading, also BLOOMLINE_ERR_GENERATIONS.
clone bloomline_window_clone; free bloomline_window_free; memory bloomline_window_memory;
encoded_len bloomline_window_encoded_len; encode bloomline_window_encode;
write bloomline_window_write; decode bloomline_window_decode; save bloomline_window_save;
load bloomline_window_load;
}

exports! {
/// bloomline_window_rotate() starts the next slice: a new generation, and drops the oldest.
fn bloomline_window_rotate(window: *mut bloomline_window) {
    if let Some(window) = exclusive(window) {
        window.0.rotate();
    }
}

/// bloomline_window_advance_to() sets the current time slice, such as time(NULL) / 86400 for days.
/// Each slice begun since the last call starts a generation and drops the oldest; as many slices as
/// generations drop all keys. So call it before the first insert, too: a new window is in slice 0.
/// Does nothing if 'slice' is not later, or 'window' is NULL.
fn bloomline_window_advance_to(window: *mut bloomline_window, slice: u64) {
    if let Some(window) = exclusive(window) {
        window.0.advance_to(slice);
    }
}

/// bloomline_window_rotate_after() makes generations of 'keys' keys: from now on the window rotates
/// by itself when the newest has so many, before the next key goes in, also within a batch. A key
/// that the newest already has does not count. 0, as at the start, turns this off.
fn bloomline_window_rotate_after(window: *mut bloomline_window, keys: u64) {
    if let Some(window) = exclusive(window) {
        window.0.rotate_after(keys);
    }
}

/// bloomline_window_insert() inserts the key of 'len' bytes at 'key',
/// bloomline_window_insert_hash() a key by its hash, into the newest generation. Returns true if
/// the key was new, and false if the window already had it, or for a false positive. So one call
/// answers "have I seen this lately?", and remembers the key. Returns true for a NULL window.
fn bloomline_window_insert(window: *mut bloomline_window, key: *const c_void, len: usize) -> bool {
    exclusive(window).is_none_or(|window| window.0.insert(key_or_empty(key, len)))
}
fn bloomline_window_insert_hash(window: *mut bloomline_window, hash: u64) -> bool {
    exclusive(window).is_none_or(|window| window.0.insert_hash(hash))
}

/// bloomline_window_insert_hashes() inserts 'n' keys by their hashes,
/// bloomline_window_insert_keys() by their bytes, and returns how many were new.
fn bloomline_window_insert_hashes(
    window: *mut bloomline_window, hashes: *const u64, n: usize, bitmap: *mut u64,
) -> usize {
    let insert = exclusive(window).map(|window| {
        |hashes: &[u64], bitmap: &mut [u64]| window.0.insert_new_hashes(hashes, bitmap)
    });
    change_batch(slice(hashes, n), n, bitmap, true, insert)
}
fn bloomline_window_insert_keys(
    window: *mut bloomline_window, keys: *const bloomline_bytes, n: usize, bitmap: *mut u64,
) -> usize {
    let insert = exclusive(window)
        .map(|window| |keys: &[Key], bitmap: &mut [u64]| window.0.insert_new_keys(keys, bitmap));
    change_batch(keys_at(keys, n), n, bitmap, true, insert)
}

/// bloomline_window_clear() removes all keys of all generations. The slice, and what
/// bloomline_window_rotate_after() set, stay.
fn bloomline_window_clear(window: *mut bloomline_window) {
    if let Some(window) = exclusive(window) {
        window.0.clear();
    }
}

/// bloomline_window_view() writes a view of all generations together to 'out': to probe the window,
/// for its fill and its rate. It leads to the window and sees all later inserts and rotations.
/// Valid until the window is freed. No thread may change the window while another uses it.
fn bloomline_window_view(
    window: *const bloomline_window, out: *mut bloomline_view,
) -> bloomline_status {
    write_view_of(window, |window| &raw const (*window).0, out)
}

/// bloomline_window_about() writes generations, time slice and parameters of the window to 'out'.
fn bloomline_window_about(
    window: *const bloomline_window, out: *mut bloomline_window_facts,
) -> bloomline_status {
    write_result(window, out, |bloomline_window(window)| {
        Ok(bloomline_window_facts {
            generations: window.generations().into(),
            time_slice: window.time_slice(),
            params: window.params().into(),
        })
    })
}

/// bloomline_window_key_count() returns how many different keys are in the generation of 'age'
/// rotations ago, 0 being the newest. It misses some, at the false-positive rate. Returns 0 if
/// 'age' is out of range, and for NULL.
fn bloomline_window_key_count(window: *const bloomline_window, age: u32) -> u64 {
    read_or(window, 0, |window| window.0.key_count(age))
}
}

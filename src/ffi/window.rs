//! `bloomline_window`: whether a key was inserted lately.

use super::batch::{Key, answer_hashes, answer_keys, change_batch, keys_at};
use super::boundary::{
    NULL, bytes, exclusive, free, guard, guard_or, new_handle, output, room_at, shared, slice,
    write_optional,
};
use super::hash::{bloomline_bytes, key_or_empty};
use super::map::path;
use super::params::bloomline_params;
use super::status::bloomline_status;
use crate::Window;
use std::ffi::{c_char, c_void};

/// A filter that forgets: it tells whether a key was inserted lately, that is in one of the last
/// so many generations. A generation is a slice of time, a day for instance, or a number of keys.
/// Keys go into the newest; bloomline_window_rotate() begins a new one and drops the oldest, in
/// a time that does not depend on their size.
///
/// With G generations, a key is in for the rest of the one that it was inserted in and for the
/// G - 1 that follow; it is forgotten when the one after those begins. If it is inserted again
/// meanwhile, that counts. So "seen in the last 7 days" takes 8 daily generations: the current
/// day and 7 whole ones before it. A key is then in for at least 7 days and at most 8. As long
/// as it is in it is never denied.
///
/// The clock is the caller's, who gives the time to bloomline_window_advance_to(). The same calls
/// give the same answers and the same bytes, whenever they are made.
///
/// It is made by bloomline_window_new(), bloomline_window_decode() or bloomline_window_load(),
/// and freed by bloomline_window_free().
pub struct bloomline_window(Window);

// What the thread rule promises to C.
const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<bloomline_window>();
};

/// bloomline_window_new() makes an empty window of 'generations' generations, at least one, in
/// slice 0. While none of them has more than 'keys_per_generation' keys, the false-positive rate
/// over all of them is at most 'rate', between 0 and 1. 'seed' is that of the hash of byte keys.
/// Each generation is a plain filter: for 8 generations and 1 % it takes 15 bits
/// for each key and generation.
///
/// Errors: BLOOMLINE_ERR_GENERATIONS for none; BLOOMLINE_ERR_RATE; BLOOMLINE_ERR_LINE_COUNT if
/// the size is more than memory can address; BLOOMLINE_ERR_OUT_OF_MEMORY;
/// BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_new(
    generations: u32,
    keys_per_generation: u64,
    rate: f64,
    seed: u64,
    out: *mut *mut bloomline_window,
) -> bloomline_status {
    // SAFETY: rules of the header: `out` is NULL or has room.
    unsafe {
        new_handle(out, || {
            Ok(bloomline_window(Window::new(generations, keys_per_generation, rate, seed)?))
        })
    }
}

/// bloomline_window_free() frees a window. NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`]; the window is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_free(window: *mut bloomline_window) {
    // SAFETY: the handle came from `try_box`, and the caller gives it up.
    unsafe { free(window) }
}

/// bloomline_window_rotate() begins a new generation and drops the oldest: the slice after the
/// current one begins. NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_rotate(window: *mut bloomline_window) {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
    if let Some(window) = unsafe { exclusive(window) } {
        window.0.rotate();
    }
}

/// bloomline_window_advance_to() tells the number of the current slice of time, such as
/// time(NULL) / 86400 for days. For each slice that has begun since the last call a new
/// generation begins and the oldest is dropped: all keys are, if these are as many slices as
/// there are generations. If the slice is the current one, or an earlier one, nothing happens.
/// NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_advance_to(window: *mut bloomline_window, slice: u64) {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
    if let Some(window) = unsafe { exclusive(window) } {
        window.0.advance_to(slice);
    }
}

/// bloomline_window_rotate_after() makes generations of a number of keys: from now on the window
/// rotates by itself when the newest generation has 'keys' keys, before the next one goes in,
/// also in the midst of a batch. With 0, as at the beginning, it rotates only when it is told to.
/// A key that the newest generation has already does not count. NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_rotate_after(window: *mut bloomline_window, keys: u64) {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
    if let Some(window) = unsafe { exclusive(window) } {
        window.0.rotate_after(keys);
    }
}

/// bloomline_window_insert() adds the key of 'len' bytes at 'key' to the newest generation, also
/// if an older one has it. It returns whether the key was new: false if it was in the window
/// already, and for false positives. So one call answers "have I seen this lately?" and
/// remembers that it was asked. For a NULL window the result is true.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_insert(
    window: *mut bloomline_window,
    key: *const c_void,
    len: usize,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; `len`
    // bytes are there unless NULL.
    unsafe { exclusive(window).is_none_or(|window| window.0.insert(key_or_empty(key, len))) }
}

/// bloomline_window_insert_hash() is bloomline_window_insert() for a key given by its hash, as
/// bloomline_filter_insert_hash() takes it.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_insert_hash(
    window: *mut bloomline_window,
    hash: u64,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
    unsafe { exclusive(window) }.is_none_or(|window| window.0.insert_hash(hash))
}

/// bloomline_window_insert_hashes() adds 'n' keys by their hashes, and returns how many were
/// new. Bit i % 64 of bitmap[i / 64] is set if key i was, as bloomline_window_insert() says; one
/// that is there twice is new once; unused bits of the last word are zero. 'bitmap' has room for
/// (n + 63) / 64 words, and need not be initialized; if it is NULL, nothing is written there,
/// and the keys are added all the same. A NULL 'window' or 'hashes' adds nothing, and all keys
/// are told to be new.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_insert_hashes(
    window: *mut bloomline_window,
    hashes: *const u64,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; each
    // array has its count unless NULL.
    unsafe {
        let insert = exclusive(window).map(|window| {
            |hashes: &[u64], bitmap: &mut [u64]| window.0.insert_new_hashes(hashes, bitmap)
        });
        change_batch(slice(hashes, n), n, bitmap, insert)
    }
}

/// bloomline_window_insert_keys() is bloomline_window_insert_hashes() for keys given by their
/// bytes.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_insert_keys(
    window: *mut bloomline_window,
    keys: *const bloomline_bytes,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive and this call's alone; each
    // array has its count unless NULL.
    unsafe {
        let insert = exclusive(window).map(|window| {
            |keys: &[Key], bitmap: &mut [u64]| window.0.insert_new_keys(keys, bitmap)
        });
        change_batch(keys_at(keys, n), n, bitmap, insert)
    }
}

/// bloomline_window_contains() returns false if the key of 'len' bytes at 'key' is surely in
/// none of the generations, and true if it may be.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_contains(
    window: *const bloomline_window,
    key: *const c_void,
    len: usize,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile; `len`
    // bytes are there unless NULL.
    match unsafe { (shared(window), bytes(key, len)) } {
        (Some(window), Some(key)) => window.0.contains(key),
        _ => true,
    }
}

/// bloomline_window_contains_hash() is bloomline_window_contains() for a key given by its hash.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_contains_hash(
    window: *const bloomline_window,
    hash: u64,
) -> bool {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(window) }.is_none_or(|window| window.0.contains_hash(hash))
}

/// bloomline_window_contains_hashes() answers 'n' hashes at once, as
/// bloomline_filter_contains_hashes() does.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_contains_hashes(
    window: *const bloomline_window,
    hashes: *const u64,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile; each
    // array has its count unless NULL.
    unsafe {
        let probe = shared(window).map(|window| {
            |hashes: &[u64], bitmap: &mut [u64]| window.0.contains_hashes(hashes, bitmap)
        });
        answer_hashes(hashes, n, bitmap, probe)
    }
}

/// bloomline_window_contains_keys() answers 'n' keys at once, as
/// bloomline_filter_contains_keys() does.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_contains_keys(
    window: *const bloomline_window,
    keys: *const bloomline_bytes,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile; each
    // array has its count unless NULL.
    unsafe {
        let probe = shared(window)
            .map(|window| |keys: &[Key], bitmap: &mut [u64]| window.0.contains_keys(keys, bitmap));
        answer_keys(keys, n, bitmap, probe)
    }
}

/// bloomline_window_generations() returns how many generations there are, the newest included.
/// NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_generations(window: *const bloomline_window) -> u32 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(window) }.map_or(0, |window| window.0.generations())
}

/// bloomline_window_slice() returns the number of the current slice: how often the window was
/// rotated, or the latest that bloomline_window_advance_to() was given. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_slice(window: *const bloomline_window) -> u64 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(window) }.map_or(0, |window| window.0.slice())
}

/// bloomline_window_params() tells the size and shape of each generation.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_params(
    window: *const bloomline_window,
    out: *mut bloomline_params,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
        let window = unsafe { shared(window) }.ok_or(NULL)?;
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(window.0.params().into()) };
        Ok(())
    })
}

/// bloomline_window_key_count() returns how many different keys are in the generation of 'age'
/// rotations ago, 0 being the newest. A few that passed for others, at the rate of false
/// positives, are not counted. For an age that no generation has, and for NULL, it is 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_key_count(
    window: *const bloomline_window,
    age: u32,
) -> u64 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(window) }.map_or(0, |window| window.0.key_count(age))
}

/// bloomline_window_estimated_rate() returns the false-positive rate over all generations as
/// full as they are, 0 to 1. It reads them whole. For NULL it is 1.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_estimated_rate(window: *const bloomline_window) -> f64 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(window) }.map_or(1.0, |window| guard_or(1.0, || window.0.estimated_rate()))
}

/// bloomline_window_encoded_len() returns how many bytes bloomline_window_encode() writes. NULL
/// has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_encoded_len(window: *const bloomline_window) -> usize {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(window) }.map_or(0, |window| window.0.encoded_len())
}

/// bloomline_window_encode() writes the window, with its slice and what
/// bloomline_window_rotate_after() was told, to the 'cap' bytes at 'out'. How many bytes is
/// written to 'written', unless that is NULL; what is left of 'out' stays as it is.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
/// bloomline_window_encoded_len().
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_encode(
    window: *const bloomline_window,
    out: *mut c_void,
    cap: usize,
    written: *mut usize,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
        let window = unsafe { shared(window) }.ok_or(NULL)?;
        // SAFETY: the caller vouches for `cap` bytes.
        let len = window.0.encode_in(unsafe { room_at(out, cap) }?)?;
        // SAFETY: the caller vouches for the room.
        unsafe { write_optional(written, len) };
        Ok(())
    })
}

/// bloomline_window_decode() makes a window from the 'len' bytes at 'data', as
/// bloomline_window_encode() has written them: in the same slice, with the same keys. All is
/// checked and copied.
///
/// Errors: those of bloomline_filter_decode(); BLOOMLINE_ERR_GENERATIONS;
/// BLOOMLINE_ERR_LAYOUT also for a filter that is no window.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_decode(
    data: *const c_void,
    len: usize,
    out: *mut *mut bloomline_window,
) -> bloomline_status {
    // SAFETY: rules of the header: `len` bytes are there unless NULL; `out` is NULL or has
    // room.
    unsafe {
        new_handle(out, || Ok(bloomline_window(Window::decode(bytes(data, len).ok_or(NULL)?)?)))
    }
}

/// bloomline_window_save() writes the window to a file, as bloomline_filter_save() does.
/// While it writes it takes the memory twice.
///
/// Errors: those of bloomline_filter_save().
///
/// # Safety
/// See [`crate::ffi`]; `path` is NULL or NUL-terminated.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_save(
    window: *const bloomline_window,
    path: *const c_char,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile; `path` is NULL or ends with NUL.
        let (window, path) = unsafe { (shared(window).ok_or(NULL)?, self::path(path)?) };
        Ok(window.0.save(path)?)
    })
}

/// bloomline_window_load() reads a window from a file, checking all as
/// bloomline_window_decode() does. While it reads it takes the memory twice.
///
/// Errors: those of bloomline_window_decode(); BLOOMLINE_ERR_NOT_FOUND,
/// BLOOMLINE_ERR_PERMISSION, BLOOMLINE_ERR_NOT_A_FILE, BLOOMLINE_ERR_IO.
///
/// # Safety
/// See [`crate::ffi`]; `path` is NULL or NUL-terminated.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_window_load(
    path: *const c_char,
    out: *mut *mut bloomline_window,
) -> bloomline_status {
    // SAFETY: rules of the header: `path` is NULL or ends with NUL; `out` is NULL or has
    // room.
    unsafe { new_handle(out, || Ok(bloomline_window(Window::load(self::path(path)?)?))) }
}

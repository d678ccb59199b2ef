//! Filters for the blocks of a table file: `bloomline_block_*` when all hashes are at hand,
//! `bloomline_builder` when keys come one by one.

use super::boundary::{
    NULL, bytes, exclusive, free, guard, guard_or, new_handle, room_at, shared, slice,
    write_optional,
};
use super::params::{bloomline_params, checked};
use super::status::bloomline_status;
use crate::filter::builder::block_build_in;
use crate::{Backend, Builder};
use std::ffi::c_void;

/// bloomline_block_len() returns how many bytes bloomline_block_build() writes: 64 for each
/// line and 64 more. If 'params' is NULL or out of range, the result is 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_block_len(params: *const bloomline_params) -> usize {
    guard_or(0, || {
        // SAFETY: rules of the header: `params` is NULL or there.
        unsafe { checked(params) }.map_or(0, |params| params.encoded_len())
    })
}

/// bloomline_block_build() makes a filter of the 'n' keys with these hashes right in the
/// 'cap' bytes at 'out', ready to be written to a file and to be opened by
/// bloomline_view_open(). It allocates nothing. What is left of 'out' stays as it is. An
/// 'out' aligned to 64 bytes is faster.
///
/// The hashes are those of bloomline_hash() or bloomline_hash_u64() with the seed of
/// 'params', if keys are to be asked for by their bytes.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_block_len();
/// BLOOMLINE_ERR_K, BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_RESERVED;
/// BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_block_build(
    params: *const bloomline_params,
    hashes: *const u64,
    n: usize,
    out: *mut c_void,
    cap: usize,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: `params` is NULL or there.
        let params = unsafe { checked(params) }?;
        // SAFETY: rules of the header: the array has its count unless NULL.
        let hashes = unsafe { slice(hashes, n) }.ok_or(NULL)?;
        // SAFETY: the caller vouches for `cap` bytes.
        block_build_in(&params, hashes, unsafe { room_at(out, cap) }?)?;
        Ok(())
    })
}

/// Collects the keys of one block after the other, for a writer that meets its keys one by
/// one and knows their number only at the end. It keeps 8 bytes for each key until the
/// block is finished. It is made by bloomline_builder_new() and freed by
/// bloomline_builder_free(); one thread at a time may use it.
pub struct bloomline_builder(Builder);

/// bloomline_builder_new() makes an empty builder, whose blocks will spend 'bits_per_key'
/// bits on each key, with the best k for that, and hash keys with 'seed'.
///
/// Errors: BLOOMLINE_ERR_BITS_PER_KEY, BLOOMLINE_ERR_LINE_COUNT if not even one key would fit in
/// memory, BLOOMLINE_ERR_OUT_OF_MEMORY, BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_builder_new(
    bits_per_key: f64,
    seed: u64,
    out: *mut *mut bloomline_builder,
) -> bloomline_status {
    let make = || {
        // What its blocks will need, so that a writer learns it now.
        Backend::active()?;
        Ok(bloomline_builder(Builder::new(bits_per_key, seed)?))
    };
    // SAFETY: rules of the header: `out` is NULL or has room.
    unsafe { new_handle(out, make) }
}

/// bloomline_builder_free() frees a builder and the keys in it. NULL is a no-op.
///
/// # Safety
/// See [`crate::ffi`]; the builder is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_builder_free(builder: *mut bloomline_builder) {
    // SAFETY: the handle came from `try_box`, and the caller gives it up.
    unsafe { free(builder) }
}

/// bloomline_builder_add() adds the key of 'len' bytes at 'key'. A key that equals the one
/// added before it, as versions of a key in a table do, counts once.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY; the key is then not in the builder, and a block
/// finished from it would say no to the key.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_builder_add(
    builder: *mut bloomline_builder,
    key: *const c_void,
    len: usize,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
        let builder = unsafe { exclusive(builder) }.ok_or(NULL)?;
        // SAFETY: rules of the header: `len` bytes are there unless NULL.
        let key = unsafe { bytes(key, len) }.ok_or(NULL)?;
        Ok(builder.0.add(key)?)
    })
}

/// bloomline_builder_add_hash() is bloomline_builder_add() for a key given by its hash.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_builder_add_hash(
    builder: *mut bloomline_builder,
    hash: u64,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
        let builder = unsafe { exclusive(builder) }.ok_or(NULL)?;
        Ok(builder.0.add_hash(hash)?)
    })
}

/// bloomline_builder_key_count() returns how many keys are in the builder, neighbours that
/// repeat counted once. NULL has 0.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_builder_key_count(builder: *const bloomline_builder) -> u64 {
    // SAFETY: rules of the header: the handle is NULL or alive and unchanged meanwhile.
    unsafe { shared(builder) }.map_or(0, |builder| builder.0.key_count())
}

/// bloomline_builder_block_len() returns how many bytes bloomline_builder_finish() would
/// write now. NULL has 0, and so has a builder with more keys than a block can hold.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_builder_block_len(builder: *const bloomline_builder) -> usize {
    guard_or(0, || {
        // SAFETY: rules of the header: the handle is NULL or alive and unchanged
        // meanwhile.
        unsafe { shared(builder) }.and_then(|builder| builder.0.block_len().ok()).unwrap_or(0)
    })
}

/// bloomline_builder_finish() makes the filter of the keys added since the last block in the
/// 'cap' bytes at 'out', as bloomline_block_build() does. How many bytes it takes is written
/// to 'written', unless that is NULL. The builder is then empty, ready for the next block.
/// Without any key the block is one that says no to every key.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
/// bloomline_builder_block_len(), BLOOMLINE_ERR_LINE_COUNT; the builder then keeps its keys.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_builder_finish(
    builder: *mut bloomline_builder,
    out: *mut c_void,
    cap: usize,
    written: *mut usize,
) -> bloomline_status {
    guard(|| {
        // SAFETY: rules of the header: the handle is NULL or alive and this call's alone.
        let builder = unsafe { exclusive(builder) }.ok_or(NULL)?;
        // SAFETY: the caller vouches for `cap` bytes.
        let len = builder.0.finish_in(unsafe { room_at(out, cap) }?)?;
        // SAFETY: the caller vouches for the room.
        unsafe { write_optional(written, len) };
        Ok(())
    })
}

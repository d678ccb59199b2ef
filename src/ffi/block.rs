//! Filters for the blocks of a table file: `bloomline_block_*` when all hashes are at hand,
//! `bloomline_builder` when keys come one by one.

use super::boundary::*;
use super::hash::{Key, bloomline_bytes, keys_at};
use super::params::{bloomline_params, checked};
use crate::filter::builder::block_build_in;
use crate::filter::static_filter::static_block_build_in;
use crate::format::native;
use crate::os::file;
use crate::{Backend, Builder, Error, Kind, StaticBuilder, StaticParams, static_block_len};
use std::io::Write;

/// What bloomline_encoded_kind() returns for a static filter: bloomline_view_open() and
/// bloomline_map_open() open it.
pub const BLOOMLINE_KIND_STATIC: i32 = 8;
const _: () = assert!(BLOOMLINE_KIND_STATIC == crate::Kind::Static as i32);

/// Collects the keys of one block after the other, for a writer that learns their number at the
/// end. It keeps 8 bytes for each key until the block is finished, and has room for up to as many
/// more. While the room grows, the old one is there, too. Made by bloomline_builder_new(),
/// bloomline_builder_new_for_rate() or bloomline_builder_new_static(); freed by
/// bloomline_builder_free(). One thread at a time may use it.
pub struct bloomline_builder(Blocks);

/// What is built.
enum Blocks {
    Lines(Builder),
    Static(StaticBuilder),
}

/// Does the same with either.
macro_rules! either {
    ($blocks:expr, $of:ident => $then:expr) => {
        match $blocks {
            Blocks::Lines($of) => $then,
            Blocks::Static($of) => $then,
        }
    };
}

exports! {
/// bloomline_block_len() returns how many bytes bloomline_block_build() writes: 64 for each line
/// and 64 more. Returns 0 if 'params' is NULL or out of range.
fn bloomline_block_len(params: *const bloomline_params) -> usize {
    guard_or(0, || checked(params).map_or(0, |params| params.encoded_len()))
}

/// bloomline_block_build() builds an encoded filter of the 'n' keys with these hashes in the 'cap'
/// bytes at 'out', for bloomline_view_open(). It allocates nothing. The rest of 'out' is unchanged.
/// An 'out' aligned to 64 bytes is faster. To probe for keys by their bytes, use the hashes of
/// bloomline_hash() or bloomline_hash_u64() with the seed of 'params'.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_block_len(); those of
/// bloomline_filter_new().
fn bloomline_block_build(
    params: *const bloomline_params, hashes: *const u64, n: usize, out: *mut c_void, cap: usize,
) -> bloomline_status {
    guard(|| {
        let (params, hashes) = (checked(params)?, slice(hashes, n).ok_or(NULL)?);
        block_build_in(&params, hashes, room_at(out, cap)?)?;
        Ok(())
    })
}

/// bloomline_static_block_len() returns how many bytes bloomline_static_block_build() writes at
/// most for 'n' hashes: an upper bound, about 15 % above what large sets need. Returns 0 if 'rate'
/// is not from 2^-16 to below 1.
fn bloomline_static_block_len(n: usize, rate: f64) -> usize {
    guard_or(0, || {
        StaticParams::for_rate(n as u64, rate).map_or(0, |params| static_block_len(&params))
    })
}

/// bloomline_static_block_build() builds an encoded static filter of the 'n' keys with these hashes
/// in the 'cap' bytes at 'out', for bloomline_view_open(). It takes 30 to 40 % less memory than a
/// filter of bloomline_block_build() at the same rate, and keys cannot be added later. The rate
/// is 'rate' or the next lower power of 2, and at most 6.25 %. The hashes are those of
/// bloomline_hash() with 'seed', in any order. Give each once: the filter is sized for 'n' of them,
/// and bloomline_view_key_count() returns 'n', also if some are equal.
///
/// It writes the filter's length to 'written'. The bytes of 'out' after that are undefined, and
/// after an error all are. During the build it takes 8 bytes for each hash; the rest of its work is
/// in 'out'. It takes tens of nanoseconds per hash.
///
/// It runs on up to 'threads' threads, the caller's among them. 1: on the caller's alone; 0: on as
/// many as there are CPUs. The bytes do not depend on 'threads'. It takes fewer threads for few
/// keys, another for each 32,768. Each takes some 2 MB.
///
/// Errors: BLOOMLINE_ERR_RATE unless 'rate' is between 0 and 1, BLOOMLINE_ERR_RATE_TOO_SMALL if it
/// is below 2^-16; BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
/// bloomline_static_block_len(); BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_OUT_OF_MEMORY,
/// BLOOMLINE_ERR_BACKEND.
fn bloomline_static_block_build(
    hashes: *const u64, n: usize, rate: f64, seed: u64, threads: usize, out: *mut c_void,
    cap: usize, written: *mut usize,
) -> bloomline_status {
    guard(|| {
        let hashes = slice(hashes, n).ok_or(NULL)?;
        // Without the length, the filter could not be found in the buffer.
        let written = output(written)?;
        let params = StaticParams::for_rate(n as u64, rate)?.with_seed(seed);
        written.write(static_block_build_in(&params, hashes, threads, room_at(out, cap)?)?);
        Ok(())
    })
}

/// bloomline_block_save() saves the encoded filter in the 'len' bytes at 'data', of any kind, as
/// bloomline_filter_save() saves a filter, atomically. First it checks the bytes, checksums
/// included. bloomline_map_open() opens such a file. If a handle of its kind exists,
/// bloomline_filter_load() or the like loads it.
///
/// Errors: those of bloomline_filter_save(); those of bloomline_view_open() for bytes that are no
/// encoded filter, for example if 'len' is the length of a buffer that is longer than the filter.
/// The old file is unchanged.
fn bloomline_block_save(data: *const c_void, len: usize, path: *const c_char) -> bloomline_status {
    guard(|| {
        let (data, path) = (bytes(data, len).ok_or(NULL)?, path_at(path)?);
        Kind::of(data)?;
        native::verify(data)?;
        file::replace(path, |file| file.write_all(data))?;
        Ok(())
    })
}

/// bloomline_builder_new() creates an empty builder of blocks with 'bits_per_key' bits for each key
/// and the best k for that. It hashes keys with 'seed'. bloomline_builder_new_for_rate() takes a
/// false-positive rate instead, as bloomline_params_for_rate() does. bloomline_builder_new_static()
/// creates one of static filters: see bloomline_static_block_build().
///
/// Errors: BLOOMLINE_ERR_BITS_PER_KEY, BLOOMLINE_ERR_RATE, BLOOMLINE_ERR_RATE_TOO_SMALL;
/// BLOOMLINE_ERR_LINE_COUNT if not even one key would fit in memory; BLOOMLINE_ERR_OUT_OF_MEMORY,
/// BLOOMLINE_ERR_BACKEND.
fn bloomline_builder_new(
    bits_per_key: f64, seed: u64, out: *mut *mut bloomline_builder,
) -> bloomline_status {
    new(out, || Ok(Blocks::Lines(Builder::new(bits_per_key, seed)?)))
}
fn bloomline_builder_new_for_rate(
    rate: f64, seed: u64, out: *mut *mut bloomline_builder,
) -> bloomline_status {
    new(out, || Ok(Blocks::Lines(Builder::for_rate(rate, seed)?)))
}
fn bloomline_builder_new_static(
    rate: f64, seed: u64, out: *mut *mut bloomline_builder,
) -> bloomline_status {
    new(out, || Ok(Blocks::Static(StaticBuilder::for_rate(rate, seed)?)))
}

/// bloomline_builder_free() frees a builder and its keys.
fn bloomline_builder_free(builder: *mut bloomline_builder) {
    free(builder)
}

/// bloomline_builder_add() adds the key of 'len' bytes at 'key', bloomline_builder_add_hash() a key
/// by its hash, the others 'n' keys. A key that equals one of the last two different keys is not
/// counted again. So several versions of a key count once, and so does the prefix that sorted keys
/// share if you add it with each of them.
///
/// Errors: BLOOMLINE_ERR_OUT_OF_MEMORY, and BLOOMLINE_ERR_NULL also for a key that is NULL with a
/// length above 0. After an error the call has added no key: a block without these keys would have
/// false negatives.
fn bloomline_builder_add(
    builder: *mut bloomline_builder, key: *const c_void, len: usize,
) -> bloomline_status {
    change(builder, |builder| {
        let key = bytes(key, len).ok_or(NULL)?;
        Ok(either!(&mut builder.0, of => of.add(key))?)
    })
}
fn bloomline_builder_add_hash(builder: *mut bloomline_builder, hash: u64) -> bloomline_status {
    change(builder, |builder| Ok(either!(&mut builder.0, of => of.add_hash(hash))?))
}
fn bloomline_builder_add_hashes(
    builder: *mut bloomline_builder, hashes: *const u64, n: usize,
) -> bloomline_status {
    change(builder, |builder| {
        let hashes = slice(hashes, n).ok_or(NULL)?;
        Ok(either!(&mut builder.0, of => of.add_hashes(hashes))?)
    })
}
fn bloomline_builder_add_keys(
    builder: *mut bloomline_builder, keys: *const bloomline_bytes, n: usize,
) -> bloomline_status {
    change(builder, |builder| {
        let keys = keys_at(keys, n).filter(|keys| !keys.iter().any(Key::is_broken));
        let keys = keys.ok_or(NULL)?;
        Ok(either!(&mut builder.0, of => of.add_keys(keys))?)
    })
}

/// bloomline_builder_clear() drops the keys added since the last block.
fn bloomline_builder_clear(builder: *mut bloomline_builder) {
    if let Some(builder) = exclusive(builder) {
        either!(&mut builder.0, of => of.clear());
    }
}

/// bloomline_builder_key_count() returns how many keys were added since the last block, without the
/// repetitions that bloomline_builder_add() leaves out.
fn bloomline_builder_key_count(builder: *const bloomline_builder) -> u64 {
    read_or(builder, 0, |builder| either!(&builder.0, of => of.key_count()))
}

/// bloomline_builder_block_len() returns how many bytes bloomline_builder_finish() would write now;
/// of a static filter, how many at most. Returns 0 for NULL, and if the keys are more than a block
/// can hold.
fn bloomline_builder_block_len(builder: *const bloomline_builder) -> usize {
    read_or(builder, 0, |builder| either!(&builder.0, of => of.block_len()).unwrap_or(0))
}

/// bloomline_builder_finish() builds the filter of the keys added since the last block in the 'cap'
/// bytes at 'out', as bloomline_block_build(). It writes its length to 'written', unless that is
/// NULL: a static filter is shorter than bloomline_builder_block_len(). The builder is then empty,
/// for the next block. Without keys the block says that every key is absent.
///
/// Errors: BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_builder_block_len(),
/// BLOOMLINE_ERR_LINE_COUNT; the builder keeps its keys.
fn bloomline_builder_finish(
    builder: *mut bloomline_builder, out: *mut c_void, cap: usize, written: *mut usize,
) -> bloomline_status {
    change(builder, |builder| {
        let room = room_at(out, cap)?;
        write_optional(written, either!(&mut builder.0, of => of.finish_in(room))?);
        Ok(())
    })
}
}

/// Makes a builder, and checks what its blocks will need, so that a writer learns it now.
///
/// # Safety
/// `out` is NULL or has room for a pointer.
unsafe fn new(
    out: *mut *mut bloomline_builder,
    make: impl FnOnce() -> Result<Blocks, Error>,
) -> bloomline_status {
    // SAFETY: the same contract.
    unsafe {
        new_handle(out, || {
            Backend::active()?;
            Ok(bloomline_builder(make()?))
        })
    }
}

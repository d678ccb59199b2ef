//! Filter blocks of RocksDB, Pebble and LevelDB: opened as a `bloomline_view`, and built in the
//! caller's buffer.

use super::boundary::{
    Failure, NULL, bytes, guard, guard_or, output, room_at, slice, write_optional,
};
use super::hash::{bloomline_bytes, key_or_empty};
use super::status::{BLOOMLINE_ERR_LAYOUT, bloomline_status};
use super::view::{bloomline_view, pack};
use crate::engines;
use crate::os::room::Room;
use crate::{Error, View};
use std::ffi::c_void;

/// Opens a filter of an engine, without a look at more than its trailer.
///
/// # Safety
/// `data` as for `boundary::bytes`; `out` is NULL or points at room for a view.
unsafe fn open<'a>(
    data: *const c_void,
    len: usize,
    out: *mut bloomline_view,
    open: impl FnOnce(&'a [u8]) -> Result<View<'a>, Error>,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        // SAFETY: the same contract.
        let data = unsafe { bytes(data, len) }.ok_or(NULL)?;
        let (view, status) = match open(data) {
            Ok(view) => (view, Ok(())),
            // Not to be read here: the view says so to every key.
            Err(Error::Layout(_)) => (View::anything()?, Err(Failure(BLOOMLINE_ERR_LAYOUT))),
            Err(error) => return Err(error.into()),
        };
        // SAFETY: not NULL; the caller vouches for the room.
        unsafe { out.write(pack(&view)) };
        status
    })
}

/// The length of a block, or 0 if there is none of that size.
fn len_or_0(len: Result<usize, Error>) -> usize {
    len.unwrap_or(0)
}

/// Builds a block of n hashes at so many bits per key.
type Build = fn(&[u64], f64, Room<'_>) -> Result<usize, Error>;

/// Builds a block of an engine.
///
/// # Safety
/// `hashes` as for `boundary::slice`, `out` as for `boundary::buffer`, `written` as for
/// `boundary::write_optional`.
unsafe fn build(
    (hashes, n): (*const u64, usize),
    bits_per_key: f64,
    (out, cap): (*mut c_void, usize),
    written: *mut usize,
    build: Build,
) -> bloomline_status {
    guard(|| {
        // SAFETY: the same contract.
        let hashes = unsafe { slice(hashes, n) }.ok_or(NULL)?;
        // SAFETY: the caller vouches for `cap` bytes.
        let len = build(hashes, bits_per_key, unsafe { room_at(out, cap) }?)?;
        // SAFETY: the caller vouches for the room.
        unsafe { write_optional(written, len) };
        Ok(())
    })
}

/// Hashes a batch of keys.
///
/// # Safety
/// `keys` and `out` are NULL or have `n` elements; `out` need not be initialized.
unsafe fn hash_batch(
    keys: *const bloomline_bytes,
    n: usize,
    out: *mut u64,
    hash: impl Fn(&[u8]) -> u64,
) {
    // SAFETY: the same contract.
    let Some(keys) = (unsafe { slice(keys, n) }) else { return };
    if out.is_null() || !out.is_aligned() {
        return;
    }
    for (i, key) in keys.iter().enumerate() {
        // SAFETY: the caller vouches for the bytes of each key, and for the room.
        unsafe { out.add(i).write(hash(key_or_empty(key.data.cast(), key.len))) };
    }
}

/// bloomline_view_open_rocksdb() opens a filter block of RocksDB in the 'len' bytes at 'data':
/// the contents of a full filter, or of one partition of a partitioned one, without the
/// trailer that every block of a table has. It looks at no more than the last 5 bytes, so
/// that it can be done before each probe. Nothing is copied or allocated.
///
/// The Bloom filters of all versions can be probed: those of format_version 5 and later, and
/// the older ones, with lines of 64 (Pebble's), 128 or 256 bytes. Use bloomline_view_hash()
/// for the hash of a key; it differs between the two. As in RocksDB, a block of no keys says
/// no to every key, and one that is marked so, or of which no sense can be made, says that
/// every key may be present. Whatever the bytes are, only those 'len' are read.
///
/// Errors: BLOOMLINE_ERR_LAYOUT for a kind of filter that is not read here, Ribbon or newer.
/// Then, against the rule, 'out' is written: a view that says that every key may be present.
/// BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_view_open_rocksdb(
    data: *const c_void,
    len: usize,
    out: *mut bloomline_view,
) -> bloomline_status {
    // SAFETY: rules of the header: `len` bytes are there unless NULL; `out` is NULL or has
    // room.
    unsafe { open(data, len, out, View::open_rocksdb) }
}

/// bloomline_view_open_leveldb() opens a filter of LevelDB or goleveldb in the 'len' bytes at
/// 'data': one of those that make up a table's filter block. Like
/// bloomline_view_open_rocksdb() it is cheap enough for each probe. Empty data is the filter
/// of no keys, and says no.
///
/// Errors: BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_view_open_leveldb(
    data: *const c_void,
    len: usize,
    out: *mut bloomline_view,
) -> bloomline_status {
    // SAFETY: rules of the header: `len` bytes are there unless NULL; `out` is NULL or has
    // room.
    unsafe { open(data, len, out, View::open_leveldb) }
}

/// bloomline_leveldb_contains() answers for the filter of LevelDB or goleveldb in the 'len'
/// bytes at 'data' whether it may have the key of 'key_len' bytes at 'key': what
/// bloomline_view_open_leveldb() and bloomline_view_contains() say, in one call. LevelDB has a
/// filter for some tens of keys, and so opens one for each probe.
///
/// Data or a key that is NULL with a length above 0 may be a match.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_leveldb_contains(
    data: *const c_void,
    len: usize,
    key: *const c_void,
    key_len: usize,
) -> bool {
    // SAFETY: rules of the header: `len` and `key_len` bytes are there unless NULL.
    match unsafe { (bytes(data, len), bytes(key, key_len)) } {
        (Some(filter), Some(key)) => {
            engines::leveldb::contains(filter, || engines::leveldb::hash(key))
        }
        _ => true,
    }
}

/// bloomline_rocksdb_hash() returns the hash of the 'len' bytes at 'key' that the filters of
/// RocksDB since format_version 5 (XXPH3, 64 bits) use.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_hash(key: *const c_void, len: usize) -> u64 {
    // SAFETY: rules of the header: `len` bytes are there unless NULL.
    let key = unsafe { key_or_empty(key, len) };
    engines::rocksdb::hash(key)
}

/// bloomline_rocksdb_hash_batch() hashes 'n' keys as bloomline_rocksdb_hash() does, and
/// writes 'n' hashes to 'out', in order. If either is NULL, nothing is written.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_hash_batch(
    keys: *const bloomline_bytes,
    n: usize,
    out: *mut u64,
) {
    // SAFETY: rules of the header: each array has its count unless NULL.
    unsafe { hash_batch(keys, n, out, engines::rocksdb::hash) }
}

/// bloomline_rocksdb_block_len() returns how many bytes bloomline_rocksdb_block_build() writes
/// for 'n' hashes. Bits per key are rounded to thousandths, those from 0.5 to 1 are 1, and
/// above 100 they are 100. It is 0, and so is the block, for no keys. It is also 0 where the
/// build fails: below 0.5 bits, for which RocksDB makes no filter, and for bits that are not
/// finite.
///
/// # Safety
/// None needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_block_len(n: usize, bits_per_key: f64) -> usize {
    guard_or(0, || len_or_0(engines::rocksdb::block_len(n as u64, bits_per_key)))
}

/// bloomline_rocksdb_block_build() builds the Bloom filter that RocksDB writes since
/// format_version 5, byte for byte, from the 'n' hashes at 'hashes', those of
/// bloomline_rocksdb_hash(): with NewBloomFilterPolicy(bits_per_key), and
/// optimize_filters_for_memory off. As RocksDB does, leave out a key that repeats its
/// predecessor. 'out' is 'cap' bytes, at any alignment. How many bytes it takes is written
/// to 'written', unless that is NULL; 0 for no keys.
///
/// Errors: BLOOMLINE_ERR_BITS_PER_KEY below 0.5 bits or if they are not finite,
/// BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_rocksdb_block_len(),
/// BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_block_build(
    hashes: *const u64,
    n: usize,
    bits_per_key: f64,
    out: *mut c_void,
    cap: usize,
    written: *mut usize,
) -> bloomline_status {
    let block: Build = engines::rocksdb::build_in;
    // SAFETY: rules of the header: `n` hashes and `cap` bytes are there unless NULL;
    // `written` is NULL or has room.
    unsafe { build((hashes, n), bits_per_key, (out, cap), written, block) }
}

/// bloomline_rocksdb_legacy_hash() returns the hash of the 'len' bytes at 'key' that the filters of
/// RocksDB before format_version 5, and of Pebble (32 bits, in the low half of the result) use.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_legacy_hash(key: *const c_void, len: usize) -> u64 {
    // SAFETY: rules of the header: `len` bytes are there unless NULL.
    let key = unsafe { key_or_empty(key, len) };
    engines::rocksdb_legacy::hash(key).into()
}

/// bloomline_rocksdb_legacy_hash_batch() hashes 'n' keys as bloomline_rocksdb_legacy_hash()
/// does, and writes 'n' hashes to 'out', in order. If either is NULL, nothing is written.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_legacy_hash_batch(
    keys: *const bloomline_bytes,
    n: usize,
    out: *mut u64,
) {
    // SAFETY: rules of the header: each array has its count unless NULL.
    unsafe { hash_batch(keys, n, out, |key| engines::rocksdb_legacy::hash(key).into()) }
}

/// bloomline_rocksdb_legacy_block_len() returns how many bytes
/// bloomline_rocksdb_legacy_block_build() writes for 'n' hashes; 0 where the build fails.
///
/// # Safety
/// None needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_legacy_block_len(n: usize, bits_per_key: f64) -> usize {
    guard_or(0, || len_or_0(engines::rocksdb_legacy::block_len(n as u64, bits_per_key)))
}

/// bloomline_rocksdb_legacy_block_build() builds the Bloom filter that RocksDB wrote before
/// format_version 5 on CPUs with cache lines of 64 bytes, and that Pebble writes and reads,
/// byte for byte, from the 'n' hashes at 'hashes', those of bloomline_rocksdb_legacy_hash(). As
/// they do, leave out a key whose hash is its predecessor's. 'out', 'cap' and 'written' are as
/// in bloomline_rocksdb_block_build(), but there is a filter for no keys too, of 5 bytes.
///
/// Errors: BLOOMLINE_ERR_BITS_PER_KEY if they are negative or not finite,
/// BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_rocksdb_legacy_block_len(),
/// BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_legacy_block_build(
    hashes: *const u64,
    n: usize,
    bits_per_key: f64,
    out: *mut c_void,
    cap: usize,
    written: *mut usize,
) -> bloomline_status {
    let block: Build = engines::rocksdb_legacy::build_in;
    // SAFETY: rules of the header: `n` hashes and `cap` bytes are there unless NULL;
    // `written` is NULL or has room.
    unsafe { build((hashes, n), bits_per_key, (out, cap), written, block) }
}

/// bloomline_leveldb_hash() returns the hash of the 'len' bytes at 'key' that the filters of
/// LevelDB and goleveldb (32 bits, in the low half of the result) use.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_leveldb_hash(key: *const c_void, len: usize) -> u64 {
    // SAFETY: rules of the header: `len` bytes are there unless NULL.
    let key = unsafe { key_or_empty(key, len) };
    engines::leveldb::hash(key).into()
}

/// bloomline_leveldb_hash_batch() hashes 'n' keys as bloomline_leveldb_hash() does, and
/// writes 'n' hashes to 'out', in order. If either is NULL, nothing is written.
///
/// # Safety
/// See [`crate::ffi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_leveldb_hash_batch(
    keys: *const bloomline_bytes,
    n: usize,
    out: *mut u64,
) {
    // SAFETY: rules of the header: each array has its count unless NULL.
    unsafe { hash_batch(keys, n, out, |key| engines::leveldb::hash(key).into()) }
}

/// bloomline_leveldb_block_len() returns how many bytes bloomline_leveldb_block_build() writes
/// for 'n' hashes: at least 9; 0 where the build fails.
///
/// # Safety
/// None needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_leveldb_block_len(n: usize, bits_per_key: f64) -> usize {
    guard_or(0, || len_or_0(engines::leveldb::block_len(n as u64, bits_per_key)))
}

/// bloomline_leveldb_block_build() builds the filter that LevelDB and goleveldb write, byte for
/// byte, from the 'n' hashes at 'hashes', those of bloomline_leveldb_hash(). All keys count
/// there, also those that repeat their predecessor. 'out', 'cap' and 'written' are as in
/// bloomline_rocksdb_block_build(), but there is a filter for no keys too, of 9 bytes. LevelDB's
/// bits per key are whole numbers.
///
/// Errors: BLOOMLINE_ERR_BITS_PER_KEY if they are negative or not finite,
/// BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_leveldb_block_len(),
/// BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_BACKEND.
///
/// # Safety
/// See [`crate::ffi`].
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_leveldb_block_build(
    hashes: *const u64,
    n: usize,
    bits_per_key: f64,
    out: *mut c_void,
    cap: usize,
    written: *mut usize,
) -> bloomline_status {
    let block: Build = engines::leveldb::build_in;
    // SAFETY: rules of the header: `n` hashes and `cap` bytes are there unless NULL;
    // `written` is NULL or has room.
    unsafe { build((hashes, n), bits_per_key, (out, cap), written, block) }
}

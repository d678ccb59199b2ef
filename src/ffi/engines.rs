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

/// bloomline_view_open_rocksdb() opens a filter block of RocksDB in the 'len' bytes at 'data': a
/// full filter, or one partition of a partitioned one, without the trailer of the block. It reads
/// only the last 5 bytes: cheap enough for each probe. It copies and allocates nothing.
///
/// It reads Bloom filters of all versions: those of format_version 5 and later, and the older ones,
/// with lines of 64 (Pebble's), 128 or 256 bytes. Their hashes differ: use bloomline_view_hash().
/// As in RocksDB, a block of no keys reports every key as absent; a block that is marked so, or
/// makes no sense, every key as present. Whatever the bytes are, only those 'len' are read.
///
/// Errors: BLOOMLINE_ERR_LAYOUT for a kind of filter that it cannot read, Ribbon or newer. Then,
/// against the rule, 'out' is written: a view that reports every key as present.
/// BLOOMLINE_ERR_BACKEND.
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
/// 'data': one of those in a table's filter block. Cheap enough for each probe. Empty data is the
/// filter of no keys.
///
/// Errors: BLOOMLINE_ERR_BACKEND.
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

/// bloomline_leveldb_contains() is bloomline_view_open_leveldb() and bloomline_view_contains() in
/// one call, for the key of 'key_len' bytes at 'key': LevelDB has a filter for some tens of keys,
/// and so opens one for each probe. Returns true if 'data' or 'key' is NULL with a length above 0.
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

/// bloomline_rocksdb_hash() returns the hash (XXPH3, 64 bits) of the 'len' bytes at 'key' for
/// RocksDB's filters since format_version 5.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_hash(key: *const c_void, len: usize) -> u64 {
    // SAFETY: rules of the header: `len` bytes are there unless NULL.
    let key = unsafe { key_or_empty(key, len) };
    engines::rocksdb::hash(key)
}

/// bloomline_rocksdb_hash_batch() is bloomline_hash_batch() with bloomline_rocksdb_hash().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_hash_batch(
    keys: *const bloomline_bytes,
    n: usize,
    out: *mut u64,
) {
    // SAFETY: rules of the header: each array has its count unless NULL.
    unsafe { hash_batch(keys, n, out, engines::rocksdb::hash) }
}

/// bloomline_rocksdb_block_len() returns how many bytes bloomline_rocksdb_block_build() writes for
/// 'n' hashes. Bits per key are rounded to thousandths; those from 0.5 to 1 are 1, and those above
/// 100 are 100. Returns 0 for no keys, and if the build fails: below 0.5 bits, for which RocksDB
/// makes no filter, or for bits not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_block_len(n: usize, bits_per_key: f64) -> usize {
    guard_or(0, || engines::rocksdb::block_len(n as u64, bits_per_key).unwrap_or(0))
}

/// bloomline_rocksdb_block_build() builds, byte for byte, the Bloom filter that RocksDB writes
/// since format_version 5 with NewBloomFilterPolicy(bits_per_key) and optimize_filters_for_memory
/// off, from the 'n' hashes at 'hashes', those of bloomline_rocksdb_hash(). As RocksDB does, leave
/// out a key equal to its predecessor. 'out' is 'cap' bytes, at any alignment. It writes its
/// length, 0 for no keys, to 'written', unless that is NULL.
///
/// Errors: BLOOMLINE_ERR_BITS_PER_KEY below 0.5 bits or if they are not finite;
/// BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than bloomline_rocksdb_block_len();
/// BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_BACKEND.
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

/// bloomline_rocksdb_legacy_hash() returns the hash (32 bits, in the low half) of the 'len' bytes
/// at 'key' for filters of Pebble, and of RocksDB before format_version 5.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_legacy_hash(key: *const c_void, len: usize) -> u64 {
    // SAFETY: rules of the header: `len` bytes are there unless NULL.
    let key = unsafe { key_or_empty(key, len) };
    engines::rocksdb_legacy::hash(key).into()
}

/// bloomline_rocksdb_legacy_hash_batch() is bloomline_hash_batch() with
/// bloomline_rocksdb_legacy_hash().
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
/// bloomline_rocksdb_legacy_block_build() writes for 'n' hashes; 0 if the build fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_rocksdb_legacy_block_len(n: usize, bits_per_key: f64) -> usize {
    guard_or(0, || engines::rocksdb_legacy::block_len(n as u64, bits_per_key).unwrap_or(0))
}

/// bloomline_rocksdb_legacy_block_build() builds, byte for byte, the Bloom filter that Pebble
/// writes and reads, and that RocksDB before format_version 5 wrote on CPUs with cache lines of 64
/// bytes, from the hashes of bloomline_rocksdb_legacy_hash(). As they do, leave out a key whose
/// hash is its predecessor's. All else is as for bloomline_rocksdb_block_build(), but no keys take
/// 5 bytes, and any bits per key from 0 will do.
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

/// bloomline_leveldb_hash() returns the hash (32 bits, in the low half) of the 'len' bytes at 'key'
/// for filters of LevelDB and goleveldb.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_leveldb_hash(key: *const c_void, len: usize) -> u64 {
    // SAFETY: rules of the header: `len` bytes are there unless NULL.
    let key = unsafe { key_or_empty(key, len) };
    engines::leveldb::hash(key).into()
}

/// bloomline_leveldb_hash_batch() is bloomline_hash_batch() with bloomline_leveldb_hash().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_leveldb_hash_batch(
    keys: *const bloomline_bytes,
    n: usize,
    out: *mut u64,
) {
    // SAFETY: rules of the header: each array has its count unless NULL.
    unsafe { hash_batch(keys, n, out, |key| engines::leveldb::hash(key).into()) }
}

/// bloomline_leveldb_block_len() returns how many bytes bloomline_leveldb_block_build() writes for
/// 'n' hashes: at least 9; 0 if the build fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloomline_leveldb_block_len(n: usize, bits_per_key: f64) -> usize {
    guard_or(0, || engines::leveldb::block_len(n as u64, bits_per_key).unwrap_or(0))
}

/// bloomline_leveldb_block_build() builds, byte for byte, the filter that LevelDB and goleveldb
/// write, from the hashes of bloomline_leveldb_hash(). All keys count, also those equal to their
/// predecessor. All else is as for bloomline_rocksdb_block_build(), but no keys take 9 bytes, and
/// bits per key are whole numbers, from 0.
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

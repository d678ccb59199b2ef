//! Filter blocks of RocksDB, Pebble, LevelDB and Parquet: opened as a `bloomline_view`, and built
//! in the caller's buffer.

use super::boundary::*;
use super::hash::{bloomline_bytes, key_or_empty, keys_at, write_hashes};
use super::status::BLOOMLINE_ERR_LAYOUT;
use super::view::{bloomline_view, pack};
use crate::engines;
use crate::hash::KeyHash;
use crate::os::room::Room;
use crate::{Error, View};

/// Engines whose filter blocks are read and written, for the functions that take an 'engine'.
/// RocksDB since format_version 5.
pub const BLOOMLINE_ENGINE_ROCKSDB: u32 = 1;
/// Pebble, and RocksDB before format_version 5.
pub const BLOOMLINE_ENGINE_ROCKSDB_LEGACY: u32 = 2;
/// LevelDB and goleveldb.
pub const BLOOMLINE_ENGINE_LEVELDB: u32 = 3;
/// Parquet.
pub const BLOOMLINE_ENGINE_PARQUET: u32 = 4;

/// What an engine does: how long a block of n hashes is, and the block.
struct Engine {
    block_len: fn(u64, f64) -> Result<usize, Error>,
    build: fn(&[u64], f64, Room<'_>) -> Result<usize, Error>,
}

/// The row of an engine, if there is one of that number.
fn engine(number: u32) -> Option<Engine> {
    Some(match number {
        BLOOMLINE_ENGINE_ROCKSDB => {
            Engine { block_len: engines::rocksdb::block_len, build: engines::rocksdb::build_in }
        }
        BLOOMLINE_ENGINE_ROCKSDB_LEGACY => Engine {
            block_len: engines::rocksdb_legacy::block_len,
            build: engines::rocksdb_legacy::build_in,
        },
        BLOOMLINE_ENGINE_LEVELDB => {
            Engine { block_len: engines::leveldb::block_len, build: engines::leveldb::build_in }
        }
        BLOOMLINE_ENGINE_PARQUET => {
            Engine { block_len: engines::parquet::block_len, build: engines::parquet::build_in }
        }
        _ => return None,
    })
}

exports! {
/// bloomline_view_open_engine() opens a filter of an engine in the 'len' bytes at 'data'. It copies
/// and allocates nothing, and is cheap enough for each probe. Whatever the bytes are, only those
/// 'len' are read.
///
/// Of RocksDB, 'data' is a full filter, or one partition of a partitioned one, without the trailer
/// of the block; only the last 5 bytes are read. It reads Bloom filters of all versions, whether
/// 'engine' is BLOOMLINE_ENGINE_ROCKSDB or BLOOMLINE_ENGINE_ROCKSDB_LEGACY. Filters older than
/// format_version 5 have lines of 64 (Pebble's), 128 or 256 bytes, and another hash than newer
/// ones: use bloomline_view_hash(). As in RocksDB, a block of no keys reports every key as absent.
/// A block that RocksDB has marked as "always true", or that makes no sense, reports every key as
/// present. Of LevelDB, 'data' is one of the filters in a table's filter block; empty data is the
/// filter of no keys. Of Parquet, 'data' is the filter of a column chunk, header included; what is
/// behind it is not looked at.
///
/// Errors: BLOOMLINE_ERR_LAYOUT for another number than those of engines, and for a kind of filter
/// that it cannot read: Ribbon or newer, or of Parquet another algorithm, hash or compression.
/// Then, against the rule, 'out' is written: a view that reports every key as present. Of Parquet,
/// BLOOMLINE_ERR_TRUNCATED if bytes are missing, and BLOOMLINE_ERR_NOT_A_FILTER if they do not begin
/// with a header that bloomline_parquet_read_header() reads. BLOOMLINE_ERR_BACKEND.
fn bloomline_view_open_engine(
    engine: u32, data: *const c_void, len: usize, out: *mut bloomline_view,
) -> bloomline_status {
    guard(|| {
        let out = output(out)?;
        let data = bytes(data, len).ok_or(NULL)?;
        let opened = match engine {
            BLOOMLINE_ENGINE_ROCKSDB | BLOOMLINE_ENGINE_ROCKSDB_LEGACY => View::open_rocksdb(data),
            BLOOMLINE_ENGINE_LEVELDB => View::open_leveldb(data),
            BLOOMLINE_ENGINE_PARQUET => View::open_parquet(data),
            _ => Err(Error::Layout(0)),
        };
        let (view, status) = match opened {
            Ok(view) => (view, Ok(())),
            // Not to be read here: the view says so to every key.
            Err(Error::Layout(_)) => (View::anything(KeyHash::Xxh3(0))?, Err(Failure(BLOOMLINE_ERR_LAYOUT))),
            Err(error) => return Err(error.into()),
        };
        out.write(pack(&view));
        status
    })
}

/// bloomline_engine_hash() returns the hash of the 'len' bytes at 'key' for the filters of an
/// engine: of RocksDB 64 bits (XXPH3), of Parquet 64 (XXH64), of the others 32, in the low half.
/// Returns 0 for another number than those of engines. Values of Parquet are hashed in its plain
/// encoding: numbers little-endian, byte arrays without a length.
fn bloomline_engine_hash(engine: u32, key: *const c_void, len: usize) -> u64 {
    let key = key_or_empty(key, len);
    match engine {
        BLOOMLINE_ENGINE_ROCKSDB => engines::rocksdb::hash(key),
        BLOOMLINE_ENGINE_ROCKSDB_LEGACY => engines::rocksdb_legacy::hash(key).into(),
        BLOOMLINE_ENGINE_LEVELDB => engines::leveldb::hash(key).into(),
        BLOOMLINE_ENGINE_PARQUET => engines::parquet::hash(key),
        _ => 0,
    }
}

/// bloomline_engine_hash_batch() writes the hashes of 'n' keys to 'out', in order: those of
/// bloomline_engine_hash(), faster than one by one. It does nothing if either array is NULL.
fn bloomline_engine_hash_batch(
    engine: u32, keys: *const bloomline_bytes, n: usize, out: *mut u64,
) {
    match engine {
        BLOOMLINE_ENGINE_ROCKSDB => hash_keys(keys, n, out, engines::rocksdb::hash),
        BLOOMLINE_ENGINE_ROCKSDB_LEGACY => {
            hash_keys(keys, n, out, |key| engines::rocksdb_legacy::hash(key).into())
        }
        BLOOMLINE_ENGINE_LEVELDB => {
            hash_keys(keys, n, out, |key| engines::leveldb::hash(key).into())
        }
        BLOOMLINE_ENGINE_PARQUET => hash_keys(keys, n, out, engines::parquet::hash),
        _ => hash_keys(keys, n, out, |_| 0),
    }
}

/// bloomline_engine_block_len() returns how many bytes bloomline_engine_block_build() writes for
/// 'n' hashes; 0 if the build fails, and for no keys of RocksDB. A block of Pebble has at least 5
/// bytes, of LevelDB 9, of Parquet 47.
fn bloomline_engine_block_len(engine: u32, n: usize, bits_per_key: f64) -> usize {
    guard_or(0, || match self::engine(engine) {
        Some(engine) => (engine.block_len)(n as u64, bits_per_key).unwrap_or(0),
        None => 0,
    })
}

/// bloomline_engine_block_build() builds, byte for byte, the Bloom filter that an engine writes,
/// from the 'n' hashes at 'hashes', those of bloomline_engine_hash(). 'out' is 'cap' bytes, at any
/// alignment. It writes its length to 'written', unless that is NULL.
///
/// * RocksDB, since format_version 5, with NewBloomFilterPolicy(bits_per_key) and
///   optimize_filters_for_memory off. As RocksDB does, leave out a key equal to its predecessor.
///   Bits per key are rounded to thousandths; those from 0.5 to 1 are 1, and those above 100 are
///   100; below 0.5 RocksDB makes no filter. No keys take 0 bytes.
/// * ROCKSDB_LEGACY: what Pebble writes and reads, and RocksDB before format_version 5 wrote on
///   CPUs with cache lines of 64 bytes. As they do, leave out a key whose hash is its
///   predecessor's. Any bits per key from 0 will do. No keys take 5 bytes.
/// * LevelDB and goleveldb: all keys count, also those equal to their predecessor. Bits per key
///   are whole numbers, from 0. No keys take 9 bytes.
/// * Parquet: header and bits, whose size is a power of two from 32 bytes to 128 MiB.
///   bloomline_parquet_bits_per_key() has the bits per key of a rate.
///
/// Errors: BLOOMLINE_ERR_BITS_PER_KEY if they are negative or not finite,
/// BLOOMLINE_ERR_TOO_FEW_BITS for fewer; BLOOMLINE_ERR_BUFFER_TOO_SMALL if 'cap' is less than
/// bloomline_engine_block_len(); BLOOMLINE_ERR_LAYOUT for another number than those of engines;
/// BLOOMLINE_ERR_LINE_COUNT, BLOOMLINE_ERR_BACKEND.
fn bloomline_engine_block_build(
    engine: u32, hashes: *const u64, n: usize, bits_per_key: f64, out: *mut c_void, cap: usize,
    written: *mut usize,
) -> bloomline_status {
    guard(|| {
        let Engine { build, .. } = self::engine(engine).ok_or(Failure(BLOOMLINE_ERR_LAYOUT))?;
        let hashes = slice(hashes, n).ok_or(NULL)?;
        let len = build(hashes, bits_per_key, room_at(out, cap)?)?;
        write_optional(written, len);
        Ok(())
    })
}

/// bloomline_leveldb_contains() is bloomline_view_open_engine() and bloomline_view_contains() in
/// one call, for the key of 'key_len' bytes at 'key'. LevelDB has a filter for some tens of keys,
/// so it opens one for each probe. Returns true if 'data' or 'key' is NULL with a length above 0.
fn bloomline_leveldb_contains(
    data: *const c_void, len: usize, key: *const c_void, key_len: usize,
) -> bool {
    match (bytes(data, len), bytes(key, key_len)) {
        (Some(filter), Some(key)) => {
            engines::leveldb::contains(filter, || engines::leveldb::hash(key))
        }
        _ => true,
    }
}

}

/// Writes the hash of each key to `out`; one whose bytes are not there is taken for the empty key.
///
/// # Safety
/// `keys` as for [`keys_at`], `out` as for [`write_hashes`], unless NULL.
unsafe fn hash_keys(
    keys: *const bloomline_bytes,
    n: usize,
    out: *mut u64,
    hash: impl Fn(&[u8]) -> u64,
) {
    // SAFETY: the same contract.
    let Some(keys) = (unsafe { keys_at(keys, n) }) else {
        return;
    };
    if !is_there(out.cast_const()) {
        return;
    }
    // SAFETY: the same contract.
    unsafe {
        write_hashes(out, n, |range, buffer| {
            for (key, out) in keys[range].iter().zip(buffer) {
                *out = hash(key.bytes().unwrap_or_default());
            }
        });
    }
}

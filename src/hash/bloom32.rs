//! The 32-bit hash of LevelDB's filters and of RocksDB's legacy ones.
//!
//! The two differ in the last one to three bytes of a key, those after the last whole word:
//! LevelDB reads them as unsigned numbers, RocksDB and Pebble as signed ones. So hashes differ
//! for keys with such a byte above 127.
//!
//! ```
//! use bloomline::hash::bloom32;
//!
//! assert_eq!(bloom32::leveldb(b"apple"), bloom32::rocksdb_legacy(b"apple"));
//! assert_ne!(bloom32::leveldb(b"\xff"), bloom32::rocksdb_legacy(b"\xff"));
//! ```

const SEED: u32 = 0xBC9F_1D34;
const M: u32 = 0xC6A4_A793;

/// LevelDB's and goleveldb's.
#[inline]
pub fn leveldb(key: &[u8]) -> u32 {
    hash(key, u32::from)
}

/// RocksDB's before format version 5, and Pebble's.
#[inline]
pub fn rocksdb_legacy(key: &[u8]) -> u32 {
    hash(key, |byte| byte as i8 as u32)
}

#[inline(always)]
fn hash(key: &[u8], widen: impl Fn(u8) -> u32) -> u32 {
    let mut h = SEED ^ (key.len() as u32).wrapping_mul(M);
    let (words, rest) = key.as_chunks::<4>();
    for &word in words {
        h = h.wrapping_add(u32::from_le_bytes(word)).wrapping_mul(M);
        h ^= h >> 16;
    }
    if !rest.is_empty() {
        for (i, &byte) in rest.iter().enumerate() {
            h = h.wrapping_add(widen(byte) << (8 * i));
        }
        h = h.wrapping_mul(M);
        h ^= h >> 24;
    }
    h
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_values() {
        assert_eq!(rocksdb_legacy(b"\x9a"), 0xBE70_5AED);
        assert_eq!(leveldb(b"\x9a"), 0x6317_ED30);
        assert_eq!(rocksdb_legacy(b"plain"), leveldb(b"plain"));
    }
}

//! Key bytes to 64-bit hashes: XXH3-64 with a seed.
//!
//! A filter works on hashes. Those of this module are uniform over all 64 bits, on which the
//! choice of lines and bits depends. Any hash of the caller's own must be, too. Do not use small
//! integers as hashes: hash them with [`hash_u64`].
//!
//! ```
//! use bloomline::hash::{hash, hash_u64};
//!
//! let seed = 7;
//! let filter = bloomline::Filter::from_keys(["apple"], 0.01)?; // seed 0
//! assert!(filter.contains_hash(hash("apple", 0)));
//! assert_eq!(hash(&42u64, seed), hash_u64(42, seed));
//! # Ok::<(), bloomline::Error>(())
//! ```

pub mod bloom32;
pub mod xxph3;

pub use crate::filter::select::hash_column;
// Several at once: by the backend in use.
pub use crate::kernel::{hash_batch, hash_u64_batch};

use crate::error::Error;
use crate::key::Key;
use std::hash::{Hash, Hasher};
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};
use xxhash_rust::xxh64::xxh64;

/// Returns the hash of a key: XXH3-64 of its bytes.
#[inline]
pub fn hash<K: Key + ?Sized>(key: &K, seed: u64) -> u64 {
    of_bytes(key.key_bytes().as_ref(), seed)
}

#[inline]
pub(crate) fn of_bytes(key: &[u8], seed: u64) -> u64 {
    if key.len() <= SHORT { xxh3_64_with_seed(key, seed) } else { above_16(key, seed) }
}

/// Keys up to this length take few instructions and are hashed inline.
const SHORT: usize = 16;

/// The same of so many bytes, seed 0, with what the compiler makes of a length that it knows.
pub(crate) fn of_48(bytes: &[u8; 48]) -> u64 {
    xxh3_64_with_seed(bytes, 0)
}

/// The hash of a key of at most 16 bytes.
#[cfg(feature = "capi")]
#[inline(always)]
pub(crate) fn of_short(key: &[u8], seed: u64) -> u64 {
    debug_assert!(key.len() <= SHORT);
    if key.len() <= SHORT { xxh3_64_with_seed(key, seed) } else { 0 }
}

/// Not inlined: the code is long, and many places hash one key.
#[inline(never)]
fn above_16(key: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(key, seed)
}

/// Returns the hash of an integer key: that of its 8 little-endian bytes, on every CPU.
#[inline]
pub fn hash_u64(key: u64, seed: u64) -> u64 {
    xxh3_64_with_seed(&key.to_le_bytes(), seed)
}

/// Returns the hash of a value of any type that implements [`Hash`], for the methods that take
/// hashes: XXH3-64 of what the type passes to its hasher.
///
/// It is the same in every run. But what a type passes is its own affair: it can differ between
/// versions of the crate that defines it, or of Rust. Slices of integers are passed as they lie in
/// memory, which depends on the CPU's byte order. So do not keep filters of such hashes longer than
/// the program. It is not the hash of a [`Key`] of the same content.
///
/// ```
/// use bloomline::hash::hash_value;
/// use bloomline::{Filter, Params};
///
/// #[derive(Hash)]
/// struct Page<'a> {
///     host: &'a str,
///     number: usize,
/// }
///
/// let mut filter = Filter::new(Params::for_rate(1000, 0.01)?)?;
/// let page = Page { host: "example", number: 7 };
/// filter.insert_hash(hash_value(&page, 0));
/// assert!(filter.contains_hash(hash_value(&page, 0)));
/// assert!(!filter.contains_hash(hash_value(&Page { number: 8, ..page }, 0)));
/// # Ok::<(), bloomline::Error>(())
/// ```
pub fn hash_value<T: Hash + ?Sized>(value: &T, seed: u64) -> u64 {
    let mut hasher = LittleEndian(Xxh3::with_seed(seed));
    value.hash(&mut hasher);
    hasher.finish()
}

/// A hasher that takes integers as little-endian bytes, and `usize` as 8 of them.
struct LittleEndian(Xxh3);

macro_rules! little_endian {
    ($($write:ident($integer:ty as $width:ty)),+) => {$(
        #[inline]
        fn $write(&mut self, integer: $integer) {
            self.0.update(&(integer as $width).to_le_bytes());
        }
    )+};
}

impl Hasher for LittleEndian {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    // The other signed ones are passed on to these.
    little_endian!(
        write_u8(u8 as u8),
        write_u16(u16 as u16),
        write_u32(u32 as u32),
        write_u64(u64 as u64),
        write_u128(u128 as u128),
        write_usize(usize as u64),
        write_isize(isize as i64)
    );

    fn finish(&self) -> u64 {
        self.0.digest()
    }
}

/// Returns a seed from the operating system's random numbers.
///
/// # Errors
/// [`Error::Io`] if the system has none.
pub fn random_seed() -> Result<u64, Error> {
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    return getrandom::u64().map_err(|error| match error.raw_os_error() {
        Some(code) => std::io::Error::from_raw_os_error(code).into(),
        None => std::io::Error::from(std::io::ErrorKind::Unsupported).into(),
    });
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    Err(std::io::Error::from(std::io::ErrorKind::Unsupported).into())
}

/// How the filters of a format hash byte keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyHash {
    /// The native format: XXH3-64 with this seed.
    Xxh3(u64),
    /// RocksDB since format version 5.
    Xxph3,
    /// RocksDB before format version 5, and Pebble: 32 bits, in the low half.
    RocksDbLegacy,
    /// LevelDB and goleveldb: 32 bits, in the low half.
    LevelDb,
    /// Parquet: XXH64 without a seed.
    Xxh64,
}

impl KeyHash {
    #[inline]
    pub(crate) fn hash(self, key: &[u8]) -> u64 {
        match self {
            KeyHash::Xxh3(seed) => of_bytes(key, seed),
            KeyHash::Xxph3 => xxph3::xxph3(key),
            KeyHash::RocksDbLegacy => bloom32::rocksdb_legacy(key).into(),
            KeyHash::LevelDb => bloom32::leveldb(key).into(),
            KeyHash::Xxh64 => xxh64(key, 0),
        }
    }

    /// A number for it, which a view of C keeps, and its seed.
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(crate) const fn number(self) -> (u64, u64) {
        match self {
            KeyHash::Xxh3(seed) => (1, seed),
            KeyHash::Xxph3 => (2, 0),
            KeyHash::RocksDbLegacy => (3, 0),
            KeyHash::LevelDb => (4, 0),
            KeyHash::Xxh64 => (5, 0),
        }
    }

    /// That of a number and a seed.
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(crate) const fn numbered(number: u64, seed: u64) -> KeyHash {
        match number {
            1 => KeyHash::Xxh3(seed),
            2 => KeyHash::Xxph3,
            3 => KeyHash::RocksDbLegacy,
            5 => KeyHash::Xxh64,
            _ => KeyHash::LevelDb,
        }
    }

    /// The hash of a key of any type.
    #[inline]
    pub(crate) fn of<K: Key + ?Sized>(self, key: &K) -> u64 {
        self.hash(key.key_bytes().as_ref())
    }
}

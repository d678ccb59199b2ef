//! # Bloomline
//!
//! A Bloom filter for storage engines: a key's bits lie in one 64-byte cache line,
//! and batches of keys are probed with AVX-512, AVX2 or NEON.
//!
//! ```
//! use bloomline::{Filter, Params};
//!
//! let mut filter = Filter::new(Params::for_rate(1_000_000, 0.01)?)?;
//! filter.insert(b"apple");
//! assert!(filter.contains(b"apple"));
//!
//! let keys = ["apple", "pear", "plum"];
//! let mut bitmap = [0; 1];
//! let maybe = filter.contains_keys(&keys, &mut bitmap);
//! assert!(maybe >= 1 && bitmap[0] & 1 == 1);
//! # Ok::<(), bloomline::Error>(())
//! ```
//!
//! Where to start reading: [`line`](mod@line) is the whole algorithm in its plainest form.
//!
//! | module | what it is |
//! |---|---|
//! | [`line`](mod@line) | the line and the mask: the definition |
//! | [`hash`] | key bytes to hashes |
//! | [`sizing`] | the model of the false-positive rate |
//! | [`Params`] | line count, k and seed |
//! | [`Filter`], [`View`], [`MappedFilter`] | a filter that owns its lines, borrows them, or maps a file |
//! | [`ConcurrentFilter`] | a filter that threads insert into and probe at once |
//! | [`Swap`] | a filter that is replaced while threads read it |
//! | [`shard_of`], [`shards_contain_hashes`] | one set split over several filters |
//! | [`CountingFilter`] | a filter that keys can be removed from |
//! | [`Window`] | a filter that forgets keys which were not inserted lately |
//! | [`classic`](mod@classic) | the textbook's filter, which [`Filter::classic`] makes: the definition |
//! | [`ScalableFilter`] | a filter that grows with its keys |
//! | [`Builder`], [`block_build`] | encoded filters in the caller's memory |
//! | [`CuckooFilter`], [`CuckooParams`], [`cuckoo`] | a filter from which keys can be removed, its shape, its definition |
//! | [`engines`] | filter blocks of RocksDB, Pebble and LevelDB |
//! | [`Kind`] | what an encoded filter is |
//! | [`Backend`] | which instructions do the work |
//!
//! The C interface is `include/bloomline.h`, behind the default feature `capi`.

pub mod engines;
mod error;
#[cfg(feature = "capi")]
pub mod ffi;
mod filter;
mod format;
pub mod hash;
mod kernel;
mod layouts;
pub mod line;
mod os;
mod params;
pub mod sizing;

pub use error::Error;
pub use filter::{
    Builder, ConcurrentFilter, CountingFilter, CuckooFilter, Filter, Loaded, MappedFilter,
    ScalableFilter, Swap, View, Window, block_build, lines_insert, shard_of, shards_contain_hashes,
    views_contain, views_contain_hash,
};
pub use format::Kind;
pub use kernel::{Backend, Prefetch, atomic_line};
pub use layouts::{classic, cuckoo, fast_local};
pub use params::{CuckooParams, Params};

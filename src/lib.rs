//! # Bloomline
//!
//! A blocked Bloom filter for storage engines: a key's bits are in one 64-byte cache line, and
//! batches of keys are probed with AVX-512, AVX2 or NEON.
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
//! | [`hash`] | hashes of keys |
//! | [`sizing`] | the model of the false-positive rate |
//! | [`Params`] | line count, k and seed |
//! | [`Filter`], [`View`], [`OwnedView`], [`MappedFilter`] | a filter that owns its lines, borrows them, holds encoded bytes, or maps a file |
//! | [`ConcurrentFilter`] | a filter into which threads insert, and which they probe, at once |
//! | [`Swap`] | replaces a filter while threads read it |
//! | [`shard_of`], [`shards_contain_hashes`] | one set split over several filters |
//! | [`CountingFilter`] | a filter from which keys can be removed, and which counts them |
//! | [`Window`] | a filter whose keys expire |
//! | [`classic`](mod@classic) | the standard Bloom filter, which [`Filter::classic`] creates: the definition |
//! | [`ScalableFilter`] | a filter that grows with its keys |
//! | [`Builder`], [`block_build`] | encoded filters in caller-owned memory |
//! | [`CuckooFilter`], [`CuckooParams`], [`cuckoo`] | a filter from which keys can be removed, its parameters, its definition |
//! | [`engines`] | filter blocks of RocksDB, Pebble and LevelDB |
//! | [`Backend`] | which instructions do the work |
//!
//! The C interface is `include/bloomline.h`, behind the feature `capi`.

mod bitmap;
pub mod engines;
mod error;
// C calls it, and no Rust program. The fuzzers do, which cargo-fuzz builds with `--cfg fuzzing`.
#[cfg(all(feature = "capi", not(fuzzing)))]
#[allow(unreachable_pub, unused_imports)]
mod ffi;
#[cfg(all(feature = "capi", fuzzing))]
pub mod ffi;
mod filter;
mod format;
pub mod hash;
mod kernel;
mod key;
mod layouts;
pub mod line;
mod os;
mod params;
pub mod sizing;

pub use bitmap::{Answers, Bitmap};
pub use error::{Error, IoError};
pub use filter::{
    Builder, ConcurrentFilter, CountingFilter, CuckooFilter, Dedup, Filter, Loaded, MappedFilter,
    OwnedView, Probe, ScalableFilter, Swap, View, Window, block_build, lines_insert, shard_of,
    shards_contain_hashes, views_contain, views_contain_hash,
};
pub use kernel::{Backend, Prefetch, atomic_line};
pub use key::Key;
pub use layouts::{classic, cuckoo, fast_local};
pub use params::{CuckooParams, Params};

//! # Bloomline
//!
//! A Bloom filter for storage engines: a key's bits lie in one 64-byte cache line,
//! and batches of keys are probed with AVX-512, AVX2 or NEON.
//!
//! ```
//! use bloomline::{Bitmap, Filter, Params};
//!
//! let mut filter = Filter::new(Params::for_rate(1_000_000, 0.01)?)?; // 1,000,000 keys at 1 %
//! filter.insert("apple");
//! assert!(filter.contains("apple"));
//!
//! let mut maybe = Bitmap::new();
//! filter.contains_keys(&["apple", "pear", "plum"], &mut maybe);
//! assert!(maybe[0]);
//! # Ok::<(), bloomline::Error>(())
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | [`Key`], [`hash`] | what a key may be, and its hash |
//! | [`sizing`] | the model of the false-positive rate |
//! | [`Params`] | how large a filter is, from the number of keys and the rate you want; its seed |
//! | [`Filter`], [`View`], [`OwnedView`], [`MappedFilter`] | a filter that owns its lines, borrows them, holds encoded bytes, or maps a file |
//! | [`Probe`] | the trait of all that can be probed; [`Bitmap`]: the answers to a batch |
//! | [`Select`], [`Column`], [`Row`] | columns of keys to the rows that may be present, for query engines |
//! | [`Strings`], [`Nullable`], [`Nulls`], [`Offset`] | columns of strings by offsets; columns with nulls |
//! | [`Group`] | many filters, prepared once to be probed together |
//! | [`ConcurrentFilter`] | a filter that threads insert into and probe at once |
//! | [`ConcurrentBuilder`] | a filter that threads build from columns, to be probed once it is finished |
//! | [`Swap`] | a filter that is replaced while threads read it |
//! | [`shard_of`], [`shards_contain_hashes`] | one set split over several filters |
//! | [`CountingFilter`] | a filter that keys can be removed from |
//! | [`Window`] | a sliding-window filter: keys expire |
//! | [`ScalableFilter`] | a filter that grows with its keys |
//! | [`GrowingFilter`], [`GrowingView`], [`Prefixes`] | a filter that grows and shrinks, with removal, counts and merging; a view of its bytes; its keys in a static filter |
//! | [`GrowingWriter`], [`GrowingReader`] | a growing filter that one thread changes while others probe it |
//! | [`Journal`], [`Replayed`] | a file that keeps a growing filter through a crash; what reading such a file returns |
//! | [`Matrix`], [`MatrixView`], [`MatrixAmong`], [`MatrixShape`] | up to thousands of filters, asked for one key at once; a view of its bytes, some of its columns, its shape |
//! | [`Builder`], [`block_build`] | encoded filters in the caller's memory |
//! | [`StaticFilter`], [`StaticBuilder`], [`StaticParams`] | a smaller filter of a set that no longer changes, its builder, its shape |
//! | [`Cascade`], [`CascadeBuilder`], [`CascadeView`] | exact answers for two known sets, its builder, a view of its bytes |
//! | [`CuckooFilter`], [`CuckooParams`] | a filter from which keys can be removed, its shape |
//! | [`engines`] | filter blocks of RocksDB, Pebble and LevelDB, and the filters of Parquet files |
//! | [`KuduView`], [`VeloxView`] | views of split blocks of Kudu, Impala, Doris and Velox |
//! | [`Kind`] | what an encoded filter is |
//! | [`Backend`] | which instructions do the work |
//! | [`set_huge_pages`] | whether large filters lie in huge pages |
//!
//! What takes longest to compile is behind features, which are on by default: `cuckoo`, `engines` with the
//! views of such filters, `growing`, `static` with cascades, and `matrix`. Growing filters include static ones.
//!
//! With the feature `serde`, filters, [`Params`] and [`CuckooParams`] can be fields of structs that derive
//! `Serialize` and `Deserialize`. The C interface is `include/bloomline.h`, behind the
//! feature `capi`. To read the source, start with `src/line.rs`: the algorithm in its plainest form.

// What only kinds that are left out use is not compiled, as nothing leads to it, and not public.
#![cfg_attr(
    not(all(
        feature = "cuckoo",
        feature = "engines",
        feature = "growing",
        feature = "matrix",
        feature = "static"
    )),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        unused_macros,
        clippy::wrong_self_convention
    )
)]

mod bitmap;
#[cfg(feature = "engines")]
pub mod engines;
mod error;
// C calls it, and no Rust program. The fuzzers do, which are built with `--cfg fuzzing`.
#[cfg(all(feature = "capi", not(fuzzing)))]
#[allow(unreachable_pub, unused_imports)]
mod ffi;
#[cfg(all(feature = "capi", fuzzing))]
pub mod ffi;
mod filter;
mod format;
pub mod hash;
#[cfg_attr(not(feature = "internals"), allow(unreachable_pub))]
mod kernel;
mod key;
mod layouts;
mod os;
#[cfg(feature = "serde")]
mod serialize;
mod shape;

use layouts::line;

pub use bitmap::{Answers, Bitmap};
pub use error::{Error, IoError};
#[cfg(feature = "cuckoo")]
pub use filter::cuckoo::CuckooFilter;
pub use filter::group::Group;
pub use filter::select::{Column, Hashes, Nullable, Nulls, Offset, Select, Strings};
#[cfg(feature = "engines")]
pub use filter::split_blocks::{KuduView, VeloxView};
pub use filter::{
    Builder, ConcurrentBuilder, ConcurrentFilter, ContainsIter, CountingFilter, Dedup, Filter,
    Loaded, MappedFilter, OwnedView, Probe, ScalableFilter, Swap, View, Window, block_build,
    lines_insert, lines_intersect, lines_union, shard_of, shards_contain_hashes, views_contain,
    views_contain_hash,
};
#[cfg(feature = "static")]
pub use filter::{
    cascade::{Cascade, CascadeBuilder, CascadeView},
    map::MappedCascade,
    static_filter::{StaticBuilder, StaticFilter, static_block_build, static_block_len},
};
#[cfg(feature = "growing")]
pub use filter::{
    growing::{
        GrowingFilter, GrowingReader, GrowingView, GrowingWriter, Journal, Prefixes, Replayed,
    },
    map::MappedGrowing,
};
#[cfg(feature = "matrix")]
pub use filter::{
    map::MappedMatrix,
    matrix::{Matrix, MatrixAmong, MatrixView},
};
pub use format::{Kind, MatrixShape};
pub use kernel::Backend;
pub use kernel::rows::Row;
pub use key::Key;
// Nobody needs it to use a filter. Tests do, the Redis module, and who writes another implementation.
#[doc(hidden)]
pub use layouts::definition;
pub use os::memory::set_huge_pages;
pub use shape::{CuckooParams, Params, StaticParams, sizing};

/// What the tests and benchmarks of the library need besides. It may change at any time.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    pub use crate::filter::views_contain_hash_with;
    pub use crate::kernel::growing::sequence;
    pub use crate::kernel::hashes::by as hashes_by;
    pub use crate::kernel::rows::by as rows_by;
    pub use crate::kernel::{Prefetch, Tried, atomic_line};
}

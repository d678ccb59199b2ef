//! The C ABI: `include/bloomline.h`.
//!
//! The rules that a C caller is given stand at the top of the header (their text
//! is in `cbindgen.toml`); the comments here are those of the header. What each
//! file does to keep the rules:
//!
//! * Every pointer is untrusted until `boundary` has looked at it. A function
//!   that has a status answers `BLOOMLINE_ERR_NULL`; one that has none does
//!   nothing, or answers what cannot do harm: a `contains` says true.
//! * Outputs are written last, when nothing can fail any more, and through raw
//!   pointers: memory that C hands over for output need not be initialized.
//! * Every number that arrives is untrusted too: parameters are checked each time
//!   they are used, views carry a check word.
//! * Functions that allocate, read or write run under `boundary::guard`: a panic
//!   becomes `BLOOMLINE_ERR_INTERNAL`. Probes, inserts and hashes are written not to
//!   panic and go unguarded; should one panic after all, Rust ends the process at
//!   the `extern "C"` boundary, and nothing unwinds into C.
//!
//! | file | exports |
//! |---|---|
//! | `status` | `bloomline_status`, its numbers, `bloomline_status_message` |
//! | `version` | `bloomline_version`, `bloomline_abi_version`, `bloomline_backend` |
//! | `hash` | `bloomline_bytes`, `bloomline_hash*`, `bloomline_random_seed` |
//! | `params` | `bloomline_params`, `bloomline_params_*` |
//! | `filter` | `bloomline_filter`, `bloomline_filter_*`; `classic`: `bloomline_classic_new`, `bloomline_classic_params_*` |
//! | `view` | `bloomline_view`, `bloomline_view_*`, `bloomline_filter_view`; `keys`: `bloomline_view_contains_keys`, `_contains_each`, `_contains_fn` |
//! | `shards` | `bloomline_shard_of`, `bloomline_shards_contain_hashes`, `bloomline_views_contain*` |
//! | `block` | `bloomline_block_*`, `bloomline_builder`, `bloomline_builder_*` |
//! | `lines` | `bloomline_lines_*` |
//! | `concurrent` | `bloomline_concurrent`, `bloomline_concurrent_*` |
//! | `swap` | `bloomline_swap`, `bloomline_swap_*` |
//! | `counting` | `bloomline_counting`, `bloomline_counting_*` |
//! | `scalable` | `bloomline_scalable`, `bloomline_scalable_*` |
//! | `window` | `bloomline_window`, `bloomline_window_*` |
//! | `map` | `bloomline_map`, `bloomline_map_*` |
//! | `cuckoo` | `bloomline_cuckoo`, `bloomline_cuckoo_*` |
//! | `engines` | `bloomline_view_open_rocksdb`, `_leveldb`, `bloomline_rocksdb_*`, `bloomline_leveldb_*` |
//! | `boundary`, `batch` | nothing: what the others share |
//!
//! Where a handle's folder has an `encode` file, that is its bytes and files: `_encode`, `_decode`,
//! `_save`, `_load`.
//!
//! # Safety
//! All functions here are for C and `unsafe`: the caller keeps the rules at the top
//! of the header. In short:
//! * a pointer with a count points at that many elements, aligned and initialized
//!   (bytes may be unaligned, outputs need not be initialized), or is NULL with
//!   count 0;
//! * a handle came out of the function that makes it and has not been freed;
//! * nobody else writes what a call reads, or touches what a call writes, while
//!   the call lasts; memory that is written overlaps nothing else of the call.
//!
//! NULL is caught, as each function says. Nothing else about a pointer can be.

// One of the three places where the crate needs unsafe code: raw pointers are what
// C has. The types carry the names that C knows them by.
#![allow(unsafe_code, non_camel_case_types)]

mod batch;
mod block;
mod boundary;
mod concurrent;
mod counting;
mod cuckoo;
mod engines;
mod filter;
mod hash;
mod lines;
mod map;
mod params;
mod scalable;
mod shards;
mod status;
mod swap;
mod version;
mod view;
mod window;

pub use block::*;
pub use concurrent::*;
pub use counting::*;
pub use cuckoo::*;
pub use engines::*;
pub use filter::*;
pub use hash::*;
pub use lines::*;
pub use map::*;
pub use params::*;
pub use scalable::*;
pub use shards::*;
pub use status::*;
pub use swap::*;
pub use version::*;
pub use view::*;
pub use window::*;

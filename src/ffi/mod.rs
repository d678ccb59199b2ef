//! The C ABI: `include/bloomline.h`.
//!
//! The rules that a C caller is given stand at the top of the header (their text is in
//! `cbindgen.toml`); the comments here are those of the header. What each file does to keep the
//! rules:
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
//! A handle has a file, with its bytes and files beside it; a type or constant is where its
//! functions are. `boundary`, `batch` and `encode` are what the others share. `handle` writes
//! the functions that all handles have.
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

// Raw pointers are what C has. The types carry the names that C knows them by. What is unsafe about
// all of these functions alike is said above. A comment is of all functions under it.
#![allow(unsafe_code, non_camel_case_types, missing_docs, clippy::missing_safety_doc)]

/// Functions that C calls: `exports! { fn bloomline_...(...) { ... } }`. What is `unsafe` in them
/// rests on the rules above. (cbindgen sees no macros: `tests/header.rs` expands this one as text,
/// and marks what returns a status.)
macro_rules! exports {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? { $($body:tt)* }
    )*) => {$(
        $(#[$attribute])*
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe)]
        pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: the rules of the header. A handle is NULL or alive, and this call's alone if it is
            // not const (one that is freed is given up); an array has its count, a buffer its length and
            // an output room, unless NULL; a view that was opened has its bytes; a path ends with NUL.
            unsafe { $($body)* }
        }
    )*};
}

mod allocator;
mod batch;
mod block;
mod boundary;
mod cascade;
mod column;
mod concurrent;
mod concurrent_builder;
mod counting;
mod cuckoo;
mod encode;
mod engines;
mod filter;
mod group;
mod growing;
mod handle;
mod hash;
mod journal;
mod lines;
mod map;
mod matrix;
mod params;
mod parquet;
mod scalable;
mod select;
mod shards;
mod split_blocks;
mod status;
mod swap;
mod version;
mod view;
mod views;
mod window;

pub use {
    allocator::*, block::*, cascade::*, column::*, concurrent::*, concurrent_builder::*,
    counting::*, cuckoo::*, encode::*, engines::*, filter::*, group::*, growing::*, hash::*,
    journal::*, lines::*, map::*, matrix::*, params::*, parquet::*, scalable::*, select::*,
    shards::*, split_blocks::*, status::*, swap::*, version::*, view::*, views::*, window::*,
};

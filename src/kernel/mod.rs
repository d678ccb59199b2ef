//! Kernels: a layout's operations on whole batches, one file per instruction set.
//!
//! * `backend` has the backends, a row each; `choice` takes one, once per process.
//! * `layout` has the layouts by number. `native`, `fast_local`, `sbbf`, `cuckoo` and `static_line` are
//!   one each, `scattered` those whose bits lie anywhere. In a layout's folder `scalar`, `portable`,
//!   `avx2` and `avx512` each say how one line, and one block of 64 keys, is done.
//! * `table` has the kernels of each layout and backend, which `compiled` makes; `functions` what a kernel
//!   is, and how it is called; `plain` those of plain filters in two parts.
//! * `batch` is the loop that all share, `prefetch` the hints, `tuning` from which size on they pay,
//!   `lines` what it knows of a filter's lines.
//! * `group` is many filters, checked once. `runs` asks those of them in which a key has the same bits,
//!   `alike` says how lines are compared with these.
//! * `adjacent` probes the lines that a key has in several filters of one shape.
//! * `matrix` has the rows of a matrix, and makes them of lines; `column` is one of its columns.
//! * `growing` has the lines of growing filters.
//! * `composite` probes filters made of filters, by functions of their kinds.
//! * `hashes` are those of many keys: of columns of integers, several at once.
//! * `rows` makes the numbers of rows, or bytes, of answers.
//! * `single` is one key at a time, `own_lines` lines that are owned, `few` hashes of a few keys.
//! * `parallel` inserts with several threads, `locked` is lines into which threads of the caller's insert,
//!   `parts` divides lines and hashes for both. `absent` is an insert that says which keys were new.
//! * `shared` says what is probed: bytes that other threads may insert into; `atomic_line` is
//!   the step by which they do.
//! * `found` is what readers of other engines' filter blocks return.
//! * `words` is an opened filter as C keeps it, `opened` leads from there to its kernel.
//!
//! No two files lead to each other. `CONTRIBUTING.md` says how to add a backend.
#![allow(unsafe_code)]

mod absent;
mod adjacent;
mod alike;
pub mod atomic_line;
mod backend;
mod batch;
mod choice;
mod column;
mod compiled;
pub(crate) mod composite;
mod cores;
#[cfg(feature = "cuckoo")]
mod cuckoo;
mod fast_local;
mod few;
mod found;
mod functions;
mod group;
#[cfg(feature = "growing")]
pub(crate) mod growing;
pub(crate) mod hashes;
mod layout;
mod lines;
mod locked;
mod matrix;
mod native;
#[cfg(feature = "capi")]
mod opened;
mod own_lines;
mod parallel;
mod parts;
mod plain;
mod prefetch;
pub(crate) mod rows;
mod runs;
mod sbbf;
mod scattered;
mod shared;
mod single;
pub(crate) mod static_line;
mod table;
mod tuning;
mod whole;
#[cfg(feature = "capi")]
mod words;

pub(crate) use absent::insert_absent;
pub(crate) use adjacent::{ADJACENT, Steps};
pub use backend::Backend;
pub(crate) use batch::{Hashes, Keys, RING, TILE};
pub(crate) use choice::Kernels;
pub(crate) use column::Column;
#[cfg(feature = "capi")]
pub(crate) use fast_local::{ContainsKey, Others, contains_key};
pub(crate) use few::FewHashes;
#[cfg(feature = "capi")]
pub(crate) use few::hash_of;
pub(crate) use found::Found;
pub(crate) use functions::Kernel;
pub(crate) use group::{Member, Members, Owned};
pub(crate) use hashes::in_parts;
pub use hashes::{hash_batch, hash_u64_batch};
pub(crate) use layout::Layout;
pub(crate) use locked::LockedLines;
pub(crate) use matrix::{
    Block, Calls as MatrixCalls, Prepared, Rows, TOGETHER, copy_lines, prefetch_lines,
};
#[cfg(feature = "capi")]
pub(crate) use opened::OfWords;
pub(crate) use own_lines::OwnLines;
pub(crate) use parallel::{LEAST_EACH, Made, Room, threads_for};
pub(crate) use plain::Plain;
pub use prefetch::Prefetch;
pub(crate) use prefetch::Reads;
pub(crate) use prefetch::{FAR_VIEWS, INTO_L1, INTO_L2, KEY_BY_KEY, ahead, prefetch_all, singly};
#[cfg(feature = "capi")]
pub(crate) use scattered::leveldb_contains;
pub(crate) use shared::Probed;
pub(crate) use single::{Movable, Single};
#[cfg(feature = "internals")]
pub use tuning::Tried;
pub(crate) use tuning::ors_are_slow;
#[cfg(feature = "capi")]
pub(crate) use words::{STRIDE, Words};

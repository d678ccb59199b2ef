//! The definitions: each layout in its plainest form, one key after the other, without SIMD. They
//! make the golden files, and the tests hold the filters to them. To use a filter, you need none.
//!
//! [`line`](mod@line) is the whole algorithm of plain filters. Start reading there.

// Beside this file, where everyone looks for it first.
#[path = "line.rs"]
pub mod line;

pub use crate::layouts::{cascade, classic, cuckoo, fast_local, growing, matrix, static_line};

//! The definitions: each layout in its plainest form, one key after the other, without SIMD. They
//! make the golden files, and the tests hold the filters to them. To use a filter, you need none.
//!
//! [`line`](mod@line) is the whole algorithm of plain filters. Start reading there.
//!
//! ```
//! use bloomline::definition::line;
//!
//! let mut lines = [0; 64 * 10]; // ten lines
//! let hash = bloomline::hash::hash("apple", 0);
//! line::insert(&mut lines, 6, hash); // k = 6
//! assert!(line::contains(&lines, 6, hash));
//! ```

// Beside this file, where everyone looks for it first.
#[path = "line.rs"]
pub mod line;

pub use crate::layouts::classic;
#[cfg(feature = "cuckoo")]
pub use crate::layouts::cuckoo;
#[cfg(feature = "growing")]
pub use crate::layouts::growing;
#[cfg(feature = "matrix")]
pub use crate::layouts::matrix;
#[cfg(feature = "static")]
pub use crate::layouts::{cascade, static_line};
#[cfg(feature = "engines")]
pub use crate::layouts::{fast_local, kudu, sbbf, velox};

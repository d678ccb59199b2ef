//! The definitions of all layouts, each in its plainest form.

pub mod cascade;
pub mod classic;
pub mod cuckoo;
pub mod fast_local;
pub mod growing;
pub mod kudu;
// In `src`, where everyone looks for it first.
#[path = "../line.rs"]
pub mod line;
pub mod matrix;
pub mod sbbf;
pub mod static_line;
pub mod velox;

/// The definitions: each layout in its plainest form, one key after the other, without SIMD. They
/// make the golden files, and the tests hold the filters to them. To use a filter, you need none.
///
/// [`line`](mod@line) is the whole algorithm of plain filters. Start reading there.
///
/// ```
/// use bloomline::definition::line;
///
/// let mut lines = [0; 64 * 10]; // ten lines
/// let hash = bloomline::hash::hash("apple", 0);
/// line::insert(&mut lines, 6, hash); // k = 6
/// assert!(line::contains(&lines, 6, hash));
/// ```
pub mod definition {
    #[cfg(feature = "cuckoo")]
    pub use super::cuckoo;
    #[cfg(feature = "growing")]
    pub use super::growing;
    #[cfg(feature = "matrix")]
    pub use super::matrix;
    #[cfg(feature = "static")]
    pub use super::{cascade, static_line};
    pub use super::{classic, line};
    #[cfg(feature = "engines")]
    pub use super::{fast_local, kudu, sbbf, velox};
}

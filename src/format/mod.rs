//! The encoded forms of filters, and readers that access nothing outside of the bytes given.

pub(crate) mod cascade;
pub(crate) mod cuckoo;
pub(crate) mod encoded;
mod kind;
pub(crate) mod matrix;
pub(crate) mod native;
pub(crate) mod scalable;
pub(crate) mod static_line;
pub(crate) mod window;

pub use kind::Kind;
pub use matrix::MatrixShape;

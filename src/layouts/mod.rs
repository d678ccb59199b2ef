//! The definitions of the other layouts, each in its plainest form, as `line.rs` for native lines.

pub mod cascade;
pub mod classic;
pub mod cuckoo;
pub mod fast_local;
pub mod growing;
pub mod kudu;
pub mod matrix;
pub mod sbbf;
pub mod static_line;
pub mod velox;

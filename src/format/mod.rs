//! Bytes and filters: what is written to disk and to the wire, and read back by
//! bounded readers only. Uses `params`, `hash` and `line`.

pub(crate) mod native;

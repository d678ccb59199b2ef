//! Cuckoo filters that grow: `BL.CF.*`, and the same commands as `CF.*`.

mod commands;
mod link;
mod options;
mod persist;
mod series;

pub(crate) use commands::{COMMANDS, OWN_COMMANDS};
pub(crate) use series::Series;

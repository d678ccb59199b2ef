//! Bloom filters that grow: `BL.*`, and the same commands as `BF.*`.

mod chain;
mod commands;
mod info;
mod layout;
mod options;
mod persist;
mod plan;

pub(crate) use chain::{Chain, Link, count_by_bits};
pub(crate) use commands::COMMANDS;
pub(crate) use layout::Layout;
pub(crate) use options::{after, capacity, layout_of, new_seed, only, only_seed, rate};
pub(crate) use plan::{MAX_OWN_CAPACITY, MAX_RATE, Plan};

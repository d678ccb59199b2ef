//! The Rust programs of `docs/how-to/columns.md`, as tests.

mod built;
mod dictionary;
mod selected;

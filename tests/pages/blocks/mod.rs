//! The Rust blocks of `docs/PARQUET.md`, `docs/how-to/durable.md` and `docs/how-to/own-tables.md`, as tests. `code`
//! compares them.

// It reads journals that are open.
#[cfg(unix)]
mod durable;
mod own_tables;
mod parquet;

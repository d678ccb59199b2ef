//! The Rust blocks of `docs/PARQUET.md`, `docs/how-to/durable.md` and `docs/how-to/own-tables.md`, as tests. `code`
//! compares them.

mod durable;
mod own_tables;
mod parquet;

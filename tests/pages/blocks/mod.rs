//! The Rust blocks of `docs/PARQUET.md` and `docs/how-to/durable.md`, as tests. `code` compares them.

mod durable;
mod parquet;

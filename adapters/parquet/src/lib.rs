//! The Bloom filters of Parquet files, beside the crate [`parquet`]: those of a column are opened
//! together, and asked for one value or many in one call. The answer is the row groups to read.
//!
//! ```
//! # use bloomline_parquet::{ColumnFilters, FilterBuilder};
//! # use parquet::file::reader::{FileReader, SerializedFileReader};
//! # fn prune(file: std::fs::File) -> parquet::errors::Result<()> {
//! let reader = SerializedFileReader::new(file.try_clone()?)?;
//! let ids = ColumnFilters::read(&file, reader.metadata(), 0)?; // of the first column
//! let row_groups = ids.may_contain_any(&[42_i64, 4711])?; // for `with_row_groups`
//! # Ok(())
//! # }
//! ```
//!
//! A row group whose filter is missing, or cannot be read, may contain everything. A value of another
//! type than the column's is an error: as other bytes are hashed, it would be absent everywhere.
//!
//! [`FilterBuilder`] makes the filters of a writer, with the kernels of Bloomline.

mod build;
mod filters;
mod read;
mod value;

pub use build::FilterBuilder;
pub use filters::{ColumnFilters, RowGroupAnswers};
pub use value::Value;

//! Filters for a writer.

use crate::value::{Value, check};
use ::parquet::bloom_filter::Sbbf;
use ::parquet::errors::{ParquetError, Result};
use ::parquet::schema::types::ColumnDescriptor;
use bloomline::Error;
use bloomline::engines::parquet;

/// Makes the filter of a column chunk. Its result goes into `ColumnCloseResult::bloom_filter`, which a
/// closed `ArrowColumnChunk` gives by `close_mut()`, before the chunk is appended to its row group. The
/// writer's own filters are then to be off.
///
/// ```
/// # use bloomline_parquet::FilterBuilder;
/// # fn chunk(column: &parquet::schema::types::ColumnDescriptor) -> parquet::errors::Result<()> {
/// let mut builder = FilterBuilder::new(1_000_000, 0.01)?;
/// builder.insert(column, &[1_i64, 2, 3])?; // any number of times; nulls are left out
/// let filter: parquet::bloom_filter::Sbbf = builder.finish()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FilterBuilder {
    bits: Vec<u8>,
    rate: f64,
}

/// Values whose hashes are inserted by one call: enough to be prefetched, few enough to stay in the cache.
const SOME: usize = 1024;

/// An error of Bloomline, as this crate's callers have them.
pub(crate) fn failed(error: Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

impl FilterBuilder {
    /// Creates one for up to so many different values at a false-positive rate. More values raise the
    /// rate; of fewer the filter is smaller in the end.
    ///
    /// # Errors
    /// Unless the rate is between 0 and 1.
    pub fn new(most_values: u64, rate: f64) -> Result<FilterBuilder> {
        let bits_per_key = parquet::bits_per_key(rate).map_err(failed)?;
        let bits_len = parquet::bits_len(most_values, bits_per_key).map_err(failed)?;
        Ok(FilterBuilder { bits: vec![0; bits_len], rate })
    }

    /// Inserts values of a column.
    ///
    /// # Errors
    /// If one is not of the column's type. No value is inserted then.
    pub fn insert<V: Value>(&mut self, column: &ColumnDescriptor, values: &[V]) -> Result<()> {
        values.iter().try_for_each(|value| check(value, column))?;
        let mut hashes = [0; SOME];
        for values in values.chunks(SOME) {
            let hashes = &mut hashes[..values.len()];
            V::hash_all(values, hashes);
            parquet::insert_hashes(&mut self.bits, hashes).map_err(failed)?;
        }
        Ok(())
    }

    /// Returns the filter, as small as the rate allows.
    ///
    /// # Errors
    /// None is known.
    pub fn finish(mut self) -> Result<Sbbf> {
        let len = parquet::fold(&mut self.bits, self.rate).map_err(failed)?;
        Ok(Sbbf::new(&self.bits[..len]))
    }
}

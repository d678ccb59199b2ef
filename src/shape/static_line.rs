//! The shape of a static filter: rows, lines of the first level, seed, always valid.

use crate::error::Error;
use crate::hash::random_seed;
use crate::layouts::static_line::{MAX_LINES, MAX_ROWS, MIN_ROWS, lanes};
use crate::shape::sizing;

/// The parameters of a static filter: rows, lines of the first level, and the seed of the hash of
/// byte keys. A value of this type is always usable.
///
/// The false-positive rate is 2 to the power -rows. At the sizes of [`StaticParams::for_rate`]:
///
/// | rows | 4 | 5 | 6 | 7 | 8 | 10 | 12 | 16 |
/// |---|---|---|---|---|---|---|---|---|
/// | false positives | 6.25 % | 3.1 % | 1.6 % | 0.78 % | 0.39 % | 0.098 % | 0.024 % | 0.0015 % |
/// | bits per key | 4.22 | 5.26 | 6.29 | 7.38 | 8.48 | 10.5 | 12.6 | 17.0 |
///
/// ```
/// let params = bloomline::StaticParams::for_rate(1_000_000, 0.01)?;
/// assert_eq!(params.rate(), 1.0 / 128.0); // the next lower power of 2
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StaticParams {
    line_count: u64,
    rows: u32,
    seed: u64,
}

impl StaticParams {
    /// Makes the parameters of `line_count` lines in the first level, of 64 bytes each with up to 8
    /// rows and of 128 bytes with more.
    ///
    /// # Errors
    /// [`Error::Rows`] if `rows` is outside 4 to 16; [`Error::NoLines`] if `line_count` is 0;
    /// [`Error::LineCount`] if it is above 2^48, or more than memory can address.
    pub fn new(line_count: u64, rows: u32, seed: u64) -> Result<StaticParams, Error> {
        if !(MIN_ROWS..=MAX_ROWS).contains(&rows) {
            return Err(Error::Rows(rows));
        }
        if line_count == 0 {
            return Err(Error::NoLines);
        }
        // All levels together have at most four times the lines of the first, and some more.
        let addressable = isize::MAX as u64 / 8 / lanes(rows) as u64 / 4 - 32;
        if line_count > MAX_LINES.min(addressable) {
            return Err(Error::LineCount(line_count));
        }
        Ok(StaticParams { line_count, rows, seed })
    }

    /// Sizes the smallest filter for `keys` keys with a false-positive rate of at most `rate`: the
    /// fewest rows that reach it. Seed 0. For 0 keys it has one line.
    ///
    /// # Errors
    /// [`Error::Rate`] if the rate is not between 0 and 1; [`Error::RateTooSmall`] if it is below
    /// 2^-16; [`Error::LineCount`] if the filter would be too large.
    pub fn for_rate(keys: u64, rate: f64) -> Result<StaticParams, Error> {
        let mut enough = (MIN_ROWS..=MAX_ROWS).filter(|&rows| rate_of(rows) <= rate);
        match enough.next() {
            Some(rows) if rate < 1.0 => StaticParams::for_rows(keys, rows),
            _ => Err(Error::rate(rate)),
        }
    }

    /// Sizes a filter for `keys` keys with the most rows that fit in `bits_per_key` bits per key. Sets of
    /// fewer than a few thousand keys take more, for whole lines. Seed 0.
    ///
    /// # Errors
    /// [`Error::BitsPerKey`] if the bits are not a positive finite number; [`Error::TooFewBits`] if
    /// they are fewer than 4 rows take; [`Error::LineCount`] if the filter would be too large.
    pub fn for_bits(keys: u64, bits_per_key: f64) -> Result<StaticParams, Error> {
        let enough = (MIN_ROWS..=MAX_ROWS).rev();
        let mut enough = enough.filter(|&rows| sizing::static_line::bits(rows) <= bits_per_key);
        match enough.next() {
            Some(rows) if bits_per_key.is_finite() => StaticParams::for_rows(keys, rows),
            _ => Err(Error::bits_per_key(bits_per_key)),
        }
    }

    /// Sizes the smallest filter for `keys` keys with so many rows. Seed 0.
    ///
    /// # Errors
    /// [`Error::Rows`] if `rows` is outside 4 to 16; [`Error::LineCount`] if the filter would be
    /// too large.
    pub fn for_rows(keys: u64, rows: u32) -> Result<StaticParams, Error> {
        StaticParams::new(1, rows, 0)?;
        let lines = (keys as f64 / sizing::static_line::keys_per_line(rows)).ceil();
        // A conversion from f64 saturates, and `new` rejects what is too large.
        StaticParams::new((lines as u64).max(1), rows, 0)
    }

    /// Returns the same parameters with another seed for the hash of byte keys.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> StaticParams {
        StaticParams { seed, ..self }
    }

    /// Returns the same parameters with a random seed from the operating system: see
    /// [`Params::with_random_seed`](crate::Params::with_random_seed).
    ///
    /// # Errors
    /// [`Error::Io`] if the system has no random numbers.
    pub fn with_random_seed(self) -> Result<StaticParams, Error> {
        Ok(self.with_seed(random_seed()?))
    }

    /// Returns the number of lines of the first level.
    pub fn line_count(&self) -> u64 {
        self.line_count
    }

    /// Returns the number of rows, 4 to 16: the bits of a fingerprint.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns the seed of the hash of byte keys.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the bytes of a line: 64 with up to 8 rows, 128 with more.
    pub fn line_bytes(&self) -> usize {
        8 * lanes(self.rows)
    }

    /// Returns the false-positive rate to expect: 2 to the power -rows.
    pub fn rate(&self) -> f64 {
        rate_of(self.rows)
    }
}

fn rate_of(rows: u32) -> f64 {
    1.0 / f64::from(1u32 << rows)
}

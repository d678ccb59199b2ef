//! The shape of a filter: its line count, k, layout and seed, always valid; and the model of its
//! false-positive rate (`sizing`).

mod cuckoo;
pub(crate) mod growing;
pub mod sizing;
mod static_line;

pub use cuckoo::CuckooParams;
pub use static_line::StaticParams;

use crate::error::Error;
use crate::hash::random_seed;
use crate::line::{LINE_BITS, LINE_BYTES, MAX_K};

/// The parameters of a filter: line count, k (the bits that each key sets), where in the lines these
/// bits are, and the seed of the hash of byte keys. Filters with equal parameters can be combined. A value of this
/// type is always usable.
///
/// ```
/// let params = bloomline::Params::for_rate(1_000_000, 0.01)?;
/// assert_eq!(params.bytes(), 64 * params.line_count() as usize); // 1.24 MB
/// assert!(params.rate(1_000_000) <= 0.01); // of absent keys
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    line_count: u64,
    k: u32,
    classic: bool,
    seed: u64,
}

/// The most lines that memory can address, a footer included.
const MAX_LINES: u64 = isize::MAX as u64 / LINE_BYTES as u64 - 1;

impl Params {
    /// Makes the parameters of `line_count` 64-byte lines in which each key sets `k` bits.
    ///
    /// # Errors
    /// [`Error::K`] if k is outside 1 to 16; [`Error::NoLines`] if `line_count` is 0;
    /// [`Error::LineCount`] if it is more than memory can address.
    #[inline]
    pub fn new(line_count: u64, k: u32, seed: u64) -> Result<Params, Error> {
        if !(1..=MAX_K).contains(&k) {
            return Err(Error::K(k));
        }
        if line_count == 0 {
            return Err(Error::NoLines);
        }
        if line_count > MAX_LINES {
            return Err(Error::LineCount(line_count));
        }
        Ok(Params { line_count, k, classic: false, seed })
    }

    /// As [`Params::new`], for a standard Bloom filter: one array of bits; anywhere in it a key
    /// sets k bits. It has the lowest rate for its memory, and up to k cache lines per key. It
    /// cannot be folded. `src/layouts/classic.rs` is its definition.
    ///
    /// ```
    /// use bloomline::{Filter, Params};
    ///
    /// let mut filter = Filter::new(Params::classic_for_rate(1_000, 0.01)?)?;
    /// assert!(filter.insert("apple") && filter.params().is_classic());
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Params::new`].
    pub fn classic(line_count: u64, k: u32, seed: u64) -> Result<Params, Error> {
        Ok(Params::new(line_count, k, seed)?.into_classic())
    }

    pub(crate) fn into_classic(self) -> Params {
        Params { classic: true, ..self }
    }

    /// Sizes the smallest filter for `keys` keys with a false-positive rate of at most `rate`,
    /// between 0 and 1: 0.01 is 1 %, and takes 9.9 bits per key. Seed 0. For 0 keys it has one line.
    ///
    /// With more keys the filter still works, at a higher rate: [`Params::rate`] tells it.
    ///
    /// # Errors
    /// [`Error::Rate`] if the rate is not a number between 0 and 1; [`Error::RateTooSmall`] if it
    /// is below about 3e-24; [`Error::LineCount`] if the size cannot be addressed.
    pub fn for_rate(keys: u64, rate: f64) -> Result<Params, Error> {
        let (bits, k) = sizing::bits_for_rate(rate).ok_or(Error::rate(rate))?;
        Params::of(keys, bits, k)
    }

    /// As [`Params::for_rate`], but the filter takes at most `bytes` bytes of lines (or one line). If `rate`
    /// needs more, the filter takes all of these bytes, and the k that is best for them. [`Params::rate`]
    /// then returns the rate, by which you decide whether the filter is worth its probes.
    ///
    /// ```
    /// use bloomline::Params;
    ///
    /// let params = Params::for_rate_within(1_000_000, 0.01, 512 << 10)?;
    /// assert_eq!(params.bytes(), 512 << 10); // not 1.24 MB
    /// assert!((0.12..0.15).contains(&params.rate(1_000_000)));
    /// assert!(params.rate(10_000_000) > 0.7);
    /// assert_eq!(Params::for_rate_within(1000, 0.01, 512 << 10)?, Params::for_rate(1000, 0.01)?);
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Rate`], [`Error::RateTooSmall`].
    pub fn for_rate_within(keys: u64, rate: f64, bytes: usize) -> Result<Params, Error> {
        let most = ((bytes / LINE_BYTES) as u64).clamp(1, MAX_LINES);
        match Params::for_rate(keys, rate) {
            Ok(params) if params.line_count <= most => Ok(params),
            Ok(_) | Err(Error::LineCount(_)) => {
                let bits_per_key = most as f64 * LINE_BITS as f64 / keys as f64;
                Params::new(most, sizing::best_k(bits_per_key), 0)
            }
            Err(error) => Err(error),
        }
    }

    /// Sizes a filter of `bits_per_key` bits, which may be a fraction, for each of `keys` keys,
    /// rounded up to whole lines, with the best k. Seed 0. For 0 keys it has one line.
    ///
    /// # Errors
    /// [`Error::BitsPerKey`] if the bits are not a positive finite number;
    /// [`Error::LineCount`] if the size cannot be addressed.
    pub fn for_bits(keys: u64, bits_per_key: f64) -> Result<Params, Error> {
        if !(bits_per_key > 0.0 && bits_per_key.is_finite()) {
            return Err(Error::BitsPerKey(bits_per_key));
        }
        Params::of(keys, bits_per_key, sizing::best_k(bits_per_key))
    }

    /// As [`Params::for_rate`], for a standard Bloom filter: see [`Params::classic`].
    ///
    /// # Errors
    /// [`Error::Rate`] if the rate is not a number between 0 and 1; [`Error::RateTooSmall`] if it
    /// is below about 2e-61; [`Error::LineCount`] if the size cannot be addressed.
    pub fn classic_for_rate(keys: u64, rate: f64) -> Result<Params, Error> {
        let (bits, k) = sizing::classic::bits_for_rate(rate).ok_or(Error::rate(rate))?;
        Ok(Params::of(keys, bits, k)?.into_classic())
    }

    /// As [`Params::for_bits`], for a standard Bloom filter: see [`Params::classic`].
    ///
    /// # Errors
    /// As [`Params::for_bits`].
    pub fn classic_for_bits(keys: u64, bits_per_key: f64) -> Result<Params, Error> {
        if !(bits_per_key > 0.0 && bits_per_key.is_finite()) {
            return Err(Error::BitsPerKey(bits_per_key));
        }
        Ok(Params::of(keys, bits_per_key, sizing::classic::best_k(bits_per_key))?.into_classic())
    }

    fn of(keys: u64, bits_per_key: f64, k: u32) -> Result<Params, Error> {
        // A conversion from f64 saturates, and `new` rejects what is too large.
        let lines = (keys as f64 * bits_per_key / LINE_BITS as f64).ceil() as u64;
        Params::new(lines.max(1), k, 0)
    }

    /// Returns the same parameters with another seed for the hash of byte keys.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Params {
        Params { seed, ..self }
    }

    /// Returns the same parameters with a random seed from the operating system. Use it where
    /// others choose the keys: an attacker who knows the seed finds false positives, and keys that
    /// all fall on one line, within milliseconds.
    ///
    /// Views can be probed together by one hash only if their filters have the same seed: draw it
    /// once, and give it to the others with [`Params::with_seed`].
    ///
    /// # Errors
    /// [`Error::Io`] if the system has no random numbers.
    pub fn with_random_seed(self) -> Result<Params, Error> {
        Ok(self.with_seed(random_seed()?))
    }

    /// Rounds the line count up to a multiple of 2 to the power `folds`, so that
    /// [`Filter::fold`] can halve the filter `folds` times.
    ///
    /// # Errors
    /// [`Error::LineCount`] if the size cannot be addressed.
    ///
    /// [`Filter::fold`]: crate::Filter::fold
    pub fn foldable(self, folds: u32) -> Result<Params, Error> {
        let unit = 1u64.checked_shl(folds).unwrap_or(u64::MAX);
        self.with_lines(self.line_count.checked_next_multiple_of(unit).unwrap_or(u64::MAX))
    }

    /// Returns the parameters of a filter that folds to `shape`, as a column of a [`Matrix`](crate::Matrix)
    /// must. They have the k and seed of `shape`. Their line count is that of `shape` times a power of two:
    /// the smallest product that is no less than the line count of these. Folded to half the lines, a filter
    /// of the same keys has about half the bits per key, so let `shape` be that of the largest column.
    ///
    /// ```
    /// use bloomline::Params;
    ///
    /// let shape = Params::for_rate(100_000, 0.01)?;
    /// assert_eq!(Params::for_rate(20_000, 0.01)?.foldable_to(shape)?, shape);
    /// let larger = Params::for_rate(150_000, 0.01)?.foldable_to(shape)?;
    /// assert_eq!(larger.line_count(), 2 * shape.line_count());
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LineCount`] if the size cannot be addressed.
    pub fn foldable_to(self, shape: Params) -> Result<Params, Error> {
        let times = self.line_count.div_ceil(shape.line_count).next_power_of_two();
        shape.with_lines(shape.line_count.saturating_mul(times))
    }

    /// The same with another line count.
    pub(crate) fn with_lines(self, line_count: u64) -> Result<Params, Error> {
        let Params { line_count, .. } = Params::new(line_count, self.k, self.seed)?;
        Ok(Params { line_count, ..self })
    }

    /// Returns the number of 64-byte lines.
    pub fn line_count(&self) -> u64 {
        self.line_count
    }

    /// Returns the number of bits that each key sets, 1 to 16.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Returns whether it is for a standard Bloom filter: see [`Params::classic`].
    pub fn is_classic(&self) -> bool {
        self.classic
    }

    /// Returns the seed of the hash of byte keys.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the bytes of all lines.
    pub fn bytes(&self) -> usize {
        // Fits: `new` has checked it.
        self.line_count as usize * LINE_BYTES
    }

    /// Returns the bytes of the encoded filter: the lines and a footer of 64.
    pub fn encoded_len(&self) -> usize {
        self.bytes() + LINE_BYTES
    }

    /// Returns the false-positive rate to expect, 0 to 1, with `keys` keys present.
    pub fn rate(&self, keys: u64) -> f64 {
        if keys == 0 {
            return 0.0;
        }
        let rate = if self.classic { sizing::classic::rate_at } else { sizing::rate };
        rate(self.bits() / keys as f64, self.k)
    }

    fn bits(&self) -> f64 {
        self.line_count as f64 * LINE_BITS as f64
    }
}

//! The shape of a filter: line count, k and seed, always valid.

mod cuckoo;

pub use cuckoo::CuckooParams;

use crate::error::Error;
use crate::hash::random_seed;
use crate::line::{LINE_BITS, LINE_BYTES, MAX_K};
use crate::sizing;

/// What makes two filters comparable: how many lines, how many bits per key, and
/// the seed of the hash of byte keys. A value of this type is always usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    line_count: u64,
    k: u32,
    seed: u64,
}

/// The most lines that memory can address, a footer included.
const MAX_LINES: u64 = isize::MAX as u64 / LINE_BYTES as u64 - 1;

impl Params {
    /// A filter of `line_count` 64-byte lines in which each key sets `k` bits.
    ///
    /// # Errors
    /// [`Error::K`] if k is outside 1 to 16; [`Error::LineCount`] if there is no
    /// line, or so many that their bytes cannot be addressed.
    pub fn new(line_count: u64, k: u32, seed: u64) -> Result<Params, Error> {
        if !(1..=MAX_K).contains(&k) {
            return Err(Error::K(k));
        }
        if !(1..=MAX_LINES).contains(&line_count) {
            return Err(Error::LineCount(line_count));
        }
        Ok(Params { line_count, k, seed })
    }

    /// The smallest filter that holds `keys` keys at a false-positive rate of at
    /// most `rate`, between 0 and 1. Seed 0. For no keys it has one line.
    ///
    /// # Errors
    /// [`Error::Rate`] if the rate is not a number between 0 and 1, or is below
    /// about 3e-24; [`Error::LineCount`] if the size cannot be addressed.
    pub fn for_rate(keys: u64, rate: f64) -> Result<Params, Error> {
        let (bits, k) = sizing::bits_for_rate(rate).ok_or(Error::Rate(rate))?;
        Params::of(keys, bits, k)
    }

    /// A filter of `bits_per_key` bits, a fraction if need be, for each of `keys`
    /// keys, rounded up to whole lines, with the k that suits it best. Seed 0. For
    /// no keys it has one line.
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

    /// As [`Params::for_rate`], for [`Filter::classic`](crate::Filter::classic): the rate is
    /// that of the textbook's formula.
    ///
    /// # Errors
    /// [`Error::Rate`] if the rate is not a number between 0 and 1, or is below about 2e-61;
    /// [`Error::LineCount`] if the size cannot be addressed.
    pub fn classic_for_rate(keys: u64, rate: f64) -> Result<Params, Error> {
        let (bits, k) = sizing::classic::bits_for_rate(rate).ok_or(Error::Rate(rate))?;
        Params::of(keys, bits, k)
    }

    /// As [`Params::for_bits`], for [`Filter::classic`](crate::Filter::classic): the k is the
    /// one that the textbook's formula is lowest for.
    ///
    /// # Errors
    /// As [`Params::for_bits`].
    pub fn classic_for_bits(keys: u64, bits_per_key: f64) -> Result<Params, Error> {
        if !(bits_per_key > 0.0 && bits_per_key.is_finite()) {
            return Err(Error::BitsPerKey(bits_per_key));
        }
        Params::of(keys, bits_per_key, sizing::classic::best_k(bits_per_key))
    }

    fn of(keys: u64, bits_per_key: f64, k: u32) -> Result<Params, Error> {
        // A conversion from f64 saturates, and `new` refuses what is too large.
        let lines = (keys as f64 * bits_per_key / LINE_BITS as f64).ceil() as u64;
        Params::new(lines.max(1), k, 0)
    }

    /// The same shape with another seed for the hash of byte keys.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Params {
        Params { seed, ..self }
    }

    /// The same shape with a random seed from the operating system. Use it where others choose
    /// the keys: whoever knows the seed can find false positives, and keys that all fall on one
    /// line, in a second.
    ///
    /// Views can be asked together by one hash only if their filters have the same seed: draw it
    /// once, and give it to the others with [`Params::with_seed`].
    ///
    /// # Errors
    /// [`Error::Io`] if the system has no random numbers.
    pub fn with_random_seed(self) -> Result<Params, Error> {
        Ok(self.with_seed(random_seed()?))
    }

    /// The smallest shape with at least as many lines that [`Filter::fold`] can halve `folds`
    /// times: the line count becomes a multiple of 2 to the power `folds`.
    ///
    /// # Errors
    /// [`Error::LineCount`] if the size cannot be addressed.
    ///
    /// [`Filter::fold`]: crate::Filter::fold
    pub fn foldable(self, folds: u32) -> Result<Params, Error> {
        let unit = 1u64.checked_shl(folds).unwrap_or(u64::MAX);
        let lines = self.line_count.checked_next_multiple_of(unit).unwrap_or(u64::MAX);
        Params::new(lines, self.k, self.seed)
    }

    /// How many 64-byte lines.
    pub fn line_count(&self) -> u64 {
        self.line_count
    }

    /// How many bits each key sets, 1 to 16.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// The seed of the hash of byte keys.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The bytes of all lines.
    pub fn bytes(&self) -> usize {
        // Fits: `new` saw to it.
        self.line_count as usize * LINE_BYTES
    }

    /// The bytes of the encoded filter: the lines and a footer of 64.
    pub fn encoded_len(&self) -> usize {
        self.bytes() + LINE_BYTES
    }

    /// The false-positive rate to expect, 0 to 1, once `keys` keys are in.
    pub fn rate(&self, keys: u64) -> f64 {
        if keys == 0 {
            return 0.0;
        }
        sizing::rate(self.bits() / keys as f64, self.k)
    }

    /// The same of a filter that [`Filter::classic`](crate::Filter::classic) made.
    pub fn classic_rate(&self, keys: u64) -> f64 {
        if keys == 0 {
            return 0.0;
        }
        sizing::classic::rate_at(self.bits() / keys as f64, self.k)
    }

    fn bits(&self) -> f64 {
        self.line_count as f64 * LINE_BITS as f64
    }
}

//! The shape of a cuckoo filter: line count, bits of a fingerprint, seed, always valid.

use crate::error::Error;
use crate::hash::random_seed;
use crate::layouts::cuckoo::{MAX_LINES, SLOTS, buckets};
use crate::line::LINE_BYTES;

/// How many lines a cuckoo filter has, how many bits are kept of each key, and the seed of the
/// hash of byte keys. A value of this type is always usable.
///
/// | fingerprint bits | slots in a line | bits per key at a load of 95 % | false positives |
/// |---|---|---|---|
/// | 8 | 64 | 8.4 | 2.95 % |
/// | 12 | 40 | 13.5 | 0.186 % |
/// | 16 | 32 | 16.8 | 0.0116 % |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CuckooParams {
    line_count: u64,
    fingerprint_bits: u32,
    seed: u64,
}

/// The fraction of its slots that a filter is sized to fill. Above some 97 % inserts fail.
const LOAD: f64 = 0.95;
/// Keys that are left room for besides: small filters do not reach that load each time.
const SPARE_KEYS: f64 = 12.0;

impl CuckooParams {
    /// A filter of `line_count` lines with fingerprints of 8, 12 or 16 bits.
    ///
    /// # Errors
    /// [`Error::K`] for other fingerprints; [`Error::LineCount`] if there is no line, or more
    /// than 2^32 - 1, or more than can be addressed.
    pub fn new(line_count: u64, fingerprint_bits: u32, seed: u64) -> Result<CuckooParams, Error> {
        if !matches!(fingerprint_bits, 8 | 12 | 16) {
            return Err(Error::K(fingerprint_bits));
        }
        let addressable = isize::MAX as u64 / LINE_BYTES as u64 - 1;
        if !(1..=MAX_LINES.min(addressable)).contains(&line_count) {
            return Err(Error::LineCount(line_count));
        }
        Ok(CuckooParams { line_count, fingerprint_bits, seed })
    }

    /// The smallest filter that has room for `keys` keys, at a false-positive rate of at most
    /// `rate` when they are in: the shortest fingerprints that do, and lines for a load of
    /// 95 %. Seed 0.
    ///
    /// # Errors
    /// [`Error::Rate`] if the rate is not between 0 and 1, or is below 0.000116, which is
    /// what 16 bits can do; [`Error::LineCount`] if it would be too large.
    pub fn for_rate(keys: u64, rate: f64) -> Result<CuckooParams, Error> {
        if !(rate > 0.0 && rate < 1.0) {
            return Err(Error::Rate(rate));
        }
        let enough = [8, 12, 16].into_iter().find(|&bits| rate_at(LOAD, bits) <= rate);
        CuckooParams::for_bits(keys, enough.ok_or(Error::Rate(rate))?)
    }

    /// The smallest filter that has room for `keys` keys with fingerprints of 8, 12 or 16
    /// bits. Seed 0.
    ///
    /// # Errors
    /// [`Error::K`] for other fingerprints; [`Error::LineCount`] if it would be too large.
    pub fn for_bits(keys: u64, fingerprint_bits: u32) -> Result<CuckooParams, Error> {
        let line = CuckooParams::new(1, fingerprint_bits, 0)?;
        let lines = (keys as f64 + SPARE_KEYS) / LOAD / line.slots() as f64;
        // A conversion from f64 saturates, and `new` refuses what is too large.
        CuckooParams::new(lines.ceil() as u64, fingerprint_bits, 0)
    }

    /// The same shape with another seed for the hash of byte keys.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> CuckooParams {
        CuckooParams { seed, ..self }
    }

    /// The same shape with a random seed from the operating system: see
    /// [`Params::with_random_seed`](crate::Params::with_random_seed). Who knows the seed can
    /// choose some eighty keys that fill a filter of any size.
    ///
    /// # Errors
    /// [`Error::Io`] if the system has no random numbers.
    pub fn with_random_seed(self) -> Result<CuckooParams, Error> {
        Ok(self.with_seed(random_seed()?))
    }

    /// How many 64-byte lines.
    pub fn line_count(&self) -> u64 {
        self.line_count
    }

    /// How many bits are kept of each key: 8, 12 or 16.
    pub fn fingerprint_bits(&self) -> u32 {
        self.fingerprint_bits
    }

    /// The seed of the hash of byte keys.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many keys there are places for. About 95 % of them can be used.
    pub fn slots(&self) -> u64 {
        self.line_count * buckets(self.fingerprint_bits) * SLOTS
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
        rate_at((keys as f64 / self.slots() as f64).min(1.0), self.fingerprint_bits)
    }
}

/// The probability that one of the 8 slots that are looked at has, by chance, the fingerprint
/// that is looked for.
fn rate_at(load: f64, bits: u32) -> f64 {
    // Of all 2^bits values, two stand for fingerprint 1, and one for each of the others.
    let values = f64::from(1u32 << bits);
    let same = (values + 2.0) / (values * values);
    1.0 - (1.0 - load * same).powi(2 * SLOTS as i32)
}

//! The shape of a cuckoo filter: line count, bits of a fingerprint, seed, always valid.

use crate::error::Error;
use crate::hash::random_seed;
use crate::layouts::cuckoo::{MAX_LINES, SLOTS, buckets};
use crate::line::LINE_BYTES;

/// The parameters of a cuckoo filter: line count, bits of a fingerprint, and the seed of the hash
/// of byte keys. A value of this type is always usable.
///
/// | fingerprint bits | slots in a line | bits per key at a load factor of 95 % | false positives |
/// |---|---|---|---|
/// | 8 | 64 | 8.4 | 2.95 % |
/// | 12 | 40 | 13.5 | 0.186 % |
/// | 16 | 32 | 16.8 | 0.0116 % |
///
/// ```
/// let params = bloomline::CuckooParams::for_rate(1_000_000, 0.01)?;
/// assert!(params.bytes() < 1_800_000); // 13.5 bits per key
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CuckooParams {
    line_count: u64,
    fingerprint_bits: u32,
    seed: u64,
}

/// The load factor that a filter is sized for. Above some 97 % inserts fail.
const LOAD: f64 = 0.95;
/// Additional slots: small filters do not always reach that load factor.
const SPARE_KEYS: f64 = 12.0;

impl CuckooParams {
    /// Makes the parameters of `line_count` lines with fingerprints of 8, 12 or 16 bits.
    ///
    /// # Errors
    /// [`Error::FingerprintBits`] for others; [`Error::NoLines`] if `line_count` is 0;
    /// [`Error::LineCount`] if it is above 2^32 - 1, or more than memory can address.
    pub fn new(line_count: u64, fingerprint_bits: u32, seed: u64) -> Result<CuckooParams, Error> {
        if !matches!(fingerprint_bits, 8 | 12 | 16) {
            return Err(Error::FingerprintBits(fingerprint_bits));
        }
        if line_count == 0 {
            return Err(Error::NoLines);
        }
        if line_count > MAX_LINES.min(isize::MAX as u64 / LINE_BYTES as u64 - 1) {
            return Err(Error::LineCount(line_count));
        }
        Ok(CuckooParams { line_count, fingerprint_bits, seed })
    }

    /// Sizes the smallest filter for `keys` keys with a false-positive rate of at most `rate`:
    /// the shortest fingerprints that reach it, and lines for a load factor of 95 %. Seed 0.
    ///
    /// # Errors
    /// [`Error::Rate`] if the rate is not between 0 and 1; [`Error::RateTooSmall`] if it is below
    /// 0.000116, the rate of 16 bits; [`Error::LineCount`] if the filter would be too large.
    pub fn for_rate(keys: u64, rate: f64) -> Result<CuckooParams, Error> {
        let mut enough = [8, 12, 16].into_iter().filter(|&bits| rate_at(LOAD, bits) <= rate);
        match enough.next() {
            Some(bits) if rate < 1.0 => CuckooParams::for_bits(keys, bits),
            _ => Err(Error::rate(rate)),
        }
    }

    /// Sizes the smallest filter for `keys` keys with fingerprints of 8, 12 or 16 bits. Seed 0.
    ///
    /// # Errors
    /// [`Error::FingerprintBits`] for others; [`Error::LineCount`] if the filter would be too
    /// large.
    pub fn for_bits(keys: u64, fingerprint_bits: u32) -> Result<CuckooParams, Error> {
        let line = CuckooParams::new(1, fingerprint_bits, 0)?;
        let lines = (keys as f64 + SPARE_KEYS) / LOAD / line.slots() as f64;
        // A conversion from f64 saturates, and `new` rejects what is too large.
        CuckooParams::new(lines.ceil() as u64, fingerprint_bits, 0)
    }

    /// Returns the same parameters with another seed for the hash of byte keys.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> CuckooParams {
        CuckooParams { seed, ..self }
    }

    /// Returns the same parameters with a random seed from the operating system: see
    /// [`Params::with_random_seed`](crate::Params::with_random_seed). An attacker who knows the
    /// seed can choose nine keys that share 8 slots, so the ninth fails as full in a filter of any size.
    ///
    /// # Errors
    /// [`Error::Io`] if the system has no random numbers.
    pub fn with_random_seed(self) -> Result<CuckooParams, Error> {
        Ok(self.with_seed(random_seed()?))
    }

    /// Returns the number of 64-byte lines.
    pub fn line_count(&self) -> u64 {
        self.line_count
    }

    /// Returns the bits of a fingerprint: 8, 12 or 16.
    pub fn fingerprint_bits(&self) -> u32 {
        self.fingerprint_bits
    }

    /// Returns the seed of the hash of byte keys.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the number of slots. About 95 % of them can be used.
    pub fn slots(&self) -> u64 {
        self.line_count * buckets(self.fingerprint_bits) * SLOTS
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
        rate_at((keys as f64 / self.slots() as f64).min(1.0), self.fingerprint_bits)
    }
}

/// The probability that one of the 8 slots of a probe has the wanted fingerprint by chance.
fn rate_at(load: f64, bits: u32) -> f64 {
    // Of all 2^bits values, two stand for fingerprint 1, and one for each of the others.
    let values = f64::from(1u32 << bits);
    let same = (values + 2.0) / (values * values);
    1.0 - (1.0 - load * same).powi(2 * SLOTS as i32)
}

//! Bloomline's own filters in surrealkv's tables.

use bloomline::hash::hash;
use bloomline::{Backend, Builder, Error, StaticBuilder, StaticParams, View, sizing};
use std::fmt;
use std::hint::black_box;
use surrealkv::FilterPolicy;

/// A policy that stores Bloomline's filters, encoded as `docs/FORMAT.md` says, under a name of its own. It
/// reads plain and static ones of any rate and seed, whichever it makes.
///
/// ```
/// use bloomline_surrealkv::BloomlineFilter;
/// use surrealkv::FilterPolicy;
///
/// let policy = BloomlineFilter::static_for_rate(0.01)?;
/// let filter = policy.create_filter(&[b"apple".to_vec(), b"pear".to_vec()]);
/// assert!(policy.may_contain(&filter, b"pear"));
/// assert!(policy.may_contain(b"no filter", b"plum")); // all keys may be in what cannot be read
/// # Ok::<(), bloomline_surrealkv::Error>(())
/// ```
///
/// A probe verifies the filter's footer, not its lines: the store verifies a checksum of all of it whenever it
/// reads a filter from a file.
#[derive(Clone)]
pub struct BloomlineFilter {
    rate: f64,
    seed: u64,
    /// Without keys.
    builder: Kind,
    bits_per_key: f64,
}

#[derive(Clone)]
enum Kind {
    Plain(Builder),
    Static(StaticBuilder),
}

/// The bytes of a filter beside its lines.
const FOOTER_BYTES: usize = 64;
const LINE_BYTES: usize = 64;

impl BloomlineFilter {
    /// Creates a policy of plain filters: a key costs one cache line. At 1 % they take 9.9 bits per key.
    ///
    /// # Errors
    /// [`Error::Rate`] unless the rate is between 0 and 1; [`Error::RateTooSmall`].
    /// [`Error::Backend`] or [`Error::Prefetch`] if an environment variable is wrong: tables would have no
    /// filters.
    pub fn for_rate(rate: f64) -> Result<BloomlineFilter, Error> {
        Backend::active()?;
        let (bits_per_key, _) = sizing::bits_for_rate(rate).unwrap_or_default();
        let builder = Kind::Plain(Builder::for_rate(rate, 0)?);
        Ok(BloomlineFilter { rate, seed: 0, builder, bits_per_key })
    }

    /// Creates a policy of static filters: asked for 1 %, a quarter smaller than Bloom filters, and slower to
    /// build. Rates are powers of 2, and you get the next lower one: for 1 % it is 0.78 %, in 7.4 bits per
    /// key.
    ///
    /// # Errors
    /// [`Error::Rate`] unless the rate is between 0 and 1; [`Error::RateTooSmall`] if it is below 2^-16.
    /// [`Error::Backend`] or [`Error::Prefetch`] if an environment variable is wrong: tables would have no
    /// filters.
    pub fn static_for_rate(rate: f64) -> Result<BloomlineFilter, Error> {
        Backend::active()?;
        let params = StaticParams::for_rate(1, rate)?;
        let bits_per_key = sizing::static_line::bits(params.rows());
        let builder = Kind::Static(StaticBuilder::for_rate(rate, 0)?);
        Ok(BloomlineFilter { rate: params.rate(), seed: 0, builder, bits_per_key })
    }

    /// Returns the policy with another seed for the hash of keys in new filters. Filters of other seeds go on
    /// being read. A secret one protects against keys that were chosen to be false positives.
    ///
    /// # Errors
    /// None is known.
    pub fn with_seed(self, seed: u64) -> Result<BloomlineFilter, Error> {
        let builder = match self.builder {
            Kind::Plain(_) => Kind::Plain(Builder::for_rate(self.rate, seed)?),
            Kind::Static(_) => Kind::Static(StaticBuilder::for_rate(self.rate, seed)?),
        };
        Ok(BloomlineFilter { seed, builder, ..self })
    }

    /// Returns the false-positive rate to expect.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Builds the filter of these keys. Versions of a key follow each other, and count once.
    fn build(&self, hashes: &[u64]) -> Result<Vec<u8>, Error> {
        match self.builder.clone() {
            Kind::Plain(mut builder) => {
                builder.add_hashes(hashes)?;
                builder.finish_vec()
            }
            Kind::Static(mut builder) => {
                builder.add_hashes(hashes)?;
                builder.finish_vec()
            }
        }
    }
}

/// Where the line of a hash begins, if this is a plain filter. Read at once, it comes from memory while the footer
/// does, which says whether it is one.
#[inline(always)]
fn line_start(filter: &[u8], hash: u64) -> usize {
    let lines = filter.len().saturating_sub(FOOTER_BYTES) / LINE_BYTES;
    ((u128::from(hash) * lines as u128) >> 64) as usize * LINE_BYTES
}

impl FilterPolicy for BloomlineFilter {
    fn name(&self) -> &str {
        "bloomline.Filter"
    }

    fn may_contain(&self, filter: &[u8], key: &[u8]) -> bool {
        if matches!(self.builder, Kind::Plain(_)) {
            black_box(filter.get(line_start(filter, self.key_hash(key))).copied());
        }
        // By reference: a copy of the view would wait for the stores that made it.
        match &View::open_unverified(filter) {
            Ok(view) => view.contains(key),
            Err(_) => true,
        }
    }

    fn create_filter(&self, keys: &[Vec<u8>]) -> Vec<u8> {
        let hashes: Vec<u64> = keys.iter().map(|key| self.key_hash(key)).collect();
        self.create_filter_from_hashes(&hashes)
    }

    fn key_hash(&self, key: &[u8]) -> u64 {
        hash(key, self.seed)
    }

    /// Without memory for a filter it has no bytes, and so every key may be in it.
    fn create_filter_from_hashes(&self, hashes: &[u64]) -> Vec<u8> {
        self.build(hashes).unwrap_or_default()
    }

    fn filter_keys_per_partition(&self, partition_bytes: usize) -> usize {
        let bits = 8.0 * partition_bytes.saturating_sub(FOOTER_BYTES) as f64;
        ((bits / self.bits_per_key) as usize).max(1)
    }
}

/// The seed is left out, which may be a secret.
impl fmt::Debug for BloomlineFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.builder {
            Kind::Plain(_) => "plain",
            Kind::Static(_) => "static",
        };
        f.debug_struct("BloomlineFilter")
            .field("kind", &kind)
            .field("rate", &self.rate)
            .finish_non_exhaustive()
    }
}

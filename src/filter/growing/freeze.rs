//! A growing filter as a static one, once its keys no longer change.

use super::GrowingFilter;
use crate::error::Error;
use crate::filter::static_filter::StaticFilter;
use crate::hash::hash_u64;
use crate::kernel::growing::place::Common;
use crate::shape::StaticParams;

/// The hashes of a static filter that was [frozen](crate::GrowingFilter::freeze) from a growing one: it knows
/// a key by a hash of the key's prefix. A `Prefixes` is a few words; keep it beside the static filter.
///
/// ```
/// let mut growing = bloomline::GrowingFilter::new(1000, 0.01, 0)?;
/// growing.insert("apple")?;
/// let (filter, prefixes) = growing.freeze(0.01)?;
/// let hash = bloomline::hash::hash("apple", 0);
/// assert!(filter.contains_hash(prefixes.hash(hash)));
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefixes {
    common: Common,
}

impl Prefixes {
    /// Those of a bounded filter of so many prefixes.
    #[cfg(feature = "capi")]
    pub(crate) fn of_count(prefixes: u64) -> Prefixes {
        Prefixes { common: Common { prefixes, longer: None, first_keys: 0 } }
    }

    /// Returns the hash by which the static filter knows the key that the growing one knows by `hash`.
    #[must_use]
    pub fn hash(&self, hash: u64) -> u64 {
        hash_of(self.common.normal(hash, 0))
    }
}

fn hash_of(prefix: u64) -> u64 {
    hash_u64(prefix, 0)
}

impl GrowingFilter {
    /// Makes a static filter of the prefixes, which takes a quarter less memory and no longer changes. It
    /// holds only hashes of prefixes, so probe it by the hashes that [`Prefixes`] makes. Two keys of one
    /// prefix are one key to it. So its false-positive rate is that of this filter and `rate` together.
    ///
    /// ```
    /// use bloomline::GrowingFilter;
    ///
    /// let filter = GrowingFilter::from_keys(["apple", "pear"], 0.01)?;
    /// let (frozen, prefixes) = filter.freeze(0.01)?;
    /// assert!(frozen.contains_hash(prefixes.hash(filter.hash("apple"))));
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    ///
    /// An unbounded filter cannot be frozen: a key would have a hash for each length of prefixes.
    ///
    /// # Errors
    /// [`Error::Unbounded`]; as [`StaticParams::for_rate`] and [`StaticFilter::build`].
    pub fn freeze(&self, rate: f64) -> Result<(StaticFilter, Prefixes), Error> {
        if self.common.mixed() {
            return Err(Error::Unbounded);
        }
        let count = self.runs().count();
        let params = StaticParams::for_rate(count as u64, rate)?.with_seed(self.seed());
        let mut hashes = Vec::new();
        hashes.try_reserve_exact(count).map_err(|_| Error::OutOfMemory)?;
        hashes.extend(self.runs().map(|(prefix, _)| hash_of(prefix)));
        Ok((StaticFilter::build(params, &hashes, 1)?, Prefixes { common: self.common }))
    }
}

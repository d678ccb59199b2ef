//! The policy that takes the place of SlateDB's own.

use crate::bits::{self, Bits};
use crate::keys::{Added, Keys};
use slatedb::bytes::BufMut;
use slatedb::{Filter, FilterBuilder, FilterPolicy, FilterQuery, PrefixExtractor, RowEntry};
use std::sync::Arc;

/// SlateDB's own policy of this name, probed faster: it reads the filters of databases that are there,
/// and writes the same bytes.
///
/// ```
/// use bloomline_slatedb::BloomFilterPolicy; // in place of slatedb::BloomFilterPolicy
///
/// let policy = BloomFilterPolicy::new(10);
/// ```
///
/// Its filters have no checksum of their own: SlateDB's, of the whole block, is what finds damage.
#[derive(Clone, Debug)]
pub struct BloomFilterPolicy {
    bits_per_key: u32,
    keys: Keys,
    name: String,
    builds: bool,
}

impl BloomFilterPolicy {
    /// The name of policies whose filters are of whole keys: that of SlateDB's policy.
    pub const NAME: &'static str = "_bf";

    /// Creates a policy of so many bits per key, for whole keys. With fewer than 2 its filters let
    /// every key pass.
    pub fn new(bits_per_key: u32) -> BloomFilterPolicy {
        let keys = Keys::whole();
        let name = keys.name(BloomFilterPolicy::NAME);
        BloomFilterPolicy { bits_per_key, keys, name, builds: true }
    }

    /// Adds the prefixes that the extractor finds, for prefix scans.
    #[must_use]
    pub fn with_prefix_extractor(self, extractor: Arc<dyn PrefixExtractor>) -> BloomFilterPolicy {
        let keys = self.keys.clone().with_prefixes(extractor);
        self.of_keys(keys)
    }

    /// Says whether whole keys go into the filters, which is so by default. Without them, lookups ask
    /// for the prefix of their key.
    #[must_use]
    pub fn with_whole_key_filtering(self, enabled: bool) -> BloomFilterPolicy {
        let keys = self.keys.clone().with_whole(enabled);
        self.of_keys(keys)
    }

    fn of_keys(self, keys: Keys) -> BloomFilterPolicy {
        BloomFilterPolicy { name: keys.name(BloomFilterPolicy::NAME), keys, ..self }
    }

    /// Only reads filters: those of new tables have one byte and let every key pass. Pass it to SlateDB
    /// behind the policy that you change to, and drop it when all tables are compacted.
    #[must_use]
    pub fn reading_only(self) -> BloomFilterPolicy {
        BloomFilterPolicy { builds: false, ..self }
    }

    /// Returns the bits per key.
    pub fn bits_per_key(&self) -> u32 {
        self.bits_per_key
    }
}

impl FilterPolicy for BloomFilterPolicy {
    fn name(&self) -> &str {
        &self.name
    }

    fn builder(&self) -> Box<dyn FilterBuilder> {
        Box::new(Builder {
            bits_per_key: self.bits_per_key,
            keys: self.keys.clone(),
            added: Added::new(self.keys.clone()),
            hashes: self.builds.then(Vec::new),
        })
    }

    fn decode(&self, data: &[u8]) -> Arc<dyn Filter> {
        Arc::new(BloomFilter { keys: self.keys.clone(), bits: Bits::decode(data).into() })
    }

    fn estimate_size(&self, num_keys: usize) -> usize {
        size_of::<u16>() + if self.builds { bits::len_for(num_keys, self.bits_per_key) } else { 1 }
    }

    fn supports_prefix_queries(&self) -> bool {
        self.keys.has_prefixes()
    }
}

struct Builder {
    bits_per_key: u32,
    keys: Keys,
    added: Added,
    /// `None` if some are missing.
    hashes: Option<Vec<u64>>,
}

impl FilterBuilder for Builder {
    #[inline]
    fn add_entry(&mut self, entry: &RowEntry) {
        let Some(hashes) = &mut self.hashes else { return };
        let added = self.added.of(entry, |key| {
            hashes.try_reserve(1).ok()?;
            hashes.push(bits::hash(key));
            Some(())
        });
        if added.is_none() {
            self.hashes = None;
        }
    }

    fn build(&mut self) -> Arc<dyn Filter> {
        // The next filter does not have the last prefix of this one.
        self.added = Added::new(self.keys.clone());
        let bits = match &mut self.hashes {
            Some(hashes) => Bits::build(&std::mem::take(hashes), self.bits_per_key),
            None => Bits::anything(),
        };
        Arc::new(BloomFilter { keys: self.keys.clone(), bits: bits.into() })
    }
}

#[derive(Clone)]
struct BloomFilter {
    keys: Keys,
    bits: Arc<Bits>,
}

impl Filter for BloomFilter {
    fn might_match(&self, query: &FilterQuery) -> bool {
        self.keys.asked(query).is_none_or(|key| self.bits.may_contain(key))
    }

    fn encode(&self, writer: &mut dyn BufMut) {
        writer.put_u16(self.bits.probes());
        writer.put_slice(self.bits.bytes());
    }

    /// Without k, as SlateDB's policy counts.
    fn size(&self) -> usize {
        self.bits.bytes().len()
    }

    /// It takes no more than its size.
    fn clamp_allocated_size(&self) -> Arc<dyn Filter> {
        Arc::new(self.clone())
    }
}

//! The policy of Bloomline's own filters.

use crate::keys::{Added, Keys};
use bloomline::hash::hash;
use bloomline::{Backend, Error, OwnedView, Params, StaticBuilder, StaticParams};
use slatedb::bytes::BufMut;
use slatedb::{Filter, FilterBuilder, FilterPolicy, FilterQuery, PrefixExtractor, RowEntry};
use std::sync::Arc;

/// Filters in Bloomline's own bytes: plain ones, or static ones, which take less memory and longer to
/// build. Either policy reads what both wrote, of any rate and seed.
///
/// ```
/// # fn main() -> Result<(), bloomline::Error> {
/// use bloomline_slatedb::BloomlinePolicy;
///
/// let policy = BloomlinePolicy::of_static(0.01)?; // at most 1 % false positives
/// # Ok(())
/// # }
/// ```
///
/// A filter has a checksum, which is verified when SlateDB reads it. Every key may be in one that is damaged.
#[derive(Clone, Debug)]
pub struct BloomlinePolicy {
    kind: Kind,
    rate: f64,
    seed: u64,
    keys: Keys,
    name: String,
    builds: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Plain,
    Static,
}

impl BloomlinePolicy {
    /// The name of policies whose filters are of whole keys.
    pub const NAME: &'static str = "bloomline";

    /// Creates a policy of plain filters of that false-positive rate, for whole keys.
    ///
    /// # Errors
    /// As [`Params::for_rate`].
    /// [`Error::Backend`] or [`Error::Prefetch`] if an environment variable is wrong: tables would have no
    /// filters.
    pub fn plain(rate: f64) -> Result<BloomlinePolicy, Error> {
        Backend::active()?;
        Params::for_rate(1, rate)?;
        Ok(BloomlinePolicy::of(Kind::Plain, rate))
    }

    /// Creates a policy of static filters of at most that false-positive rate, for whole keys: the next
    /// lower power of 2.
    ///
    /// # Errors
    /// As [`StaticParams::for_rate`].
    /// [`Error::Backend`] or [`Error::Prefetch`] if an environment variable is wrong: tables would have no
    /// filters.
    pub fn of_static(rate: f64) -> Result<BloomlinePolicy, Error> {
        Backend::active()?;
        StaticParams::for_rate(1, rate)?;
        Ok(BloomlinePolicy::of(Kind::Static, rate))
    }

    fn of(kind: Kind, rate: f64) -> BloomlinePolicy {
        let keys = Keys::whole();
        let name = keys.name(BloomlinePolicy::NAME);
        BloomlinePolicy { kind, rate, seed: 0, keys, name, builds: true }
    }

    /// Hashes keys with a seed, against keys that somebody chose to pass. Filters of other seeds are
    /// read as before.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> BloomlinePolicy {
        BloomlinePolicy { seed, ..self }
    }

    /// Adds the prefixes that the extractor finds, for prefix scans.
    #[must_use]
    pub fn with_prefix_extractor(self, extractor: Arc<dyn PrefixExtractor>) -> BloomlinePolicy {
        let keys = self.keys.clone().with_prefixes(extractor);
        self.of_keys(keys)
    }

    /// Says whether whole keys go into the filters, which is so by default. Without them, lookups ask
    /// for the prefix of their key.
    #[must_use]
    pub fn with_whole_key_filtering(self, enabled: bool) -> BloomlinePolicy {
        let keys = self.keys.clone().with_whole(enabled);
        self.of_keys(keys)
    }

    fn of_keys(self, keys: Keys) -> BloomlinePolicy {
        BloomlinePolicy { name: keys.name(BloomlinePolicy::NAME), keys, ..self }
    }

    /// Only reads filters: those of new tables have no bytes and let every key pass. Pass it to SlateDB
    /// behind the policy that you change to, and drop it when all tables are compacted.
    #[must_use]
    pub fn reading_only(self) -> BloomlinePolicy {
        BloomlinePolicy { builds: false, ..self }
    }

    fn collector(&self) -> Result<Collector, Error> {
        Ok(match self.kind {
            Kind::Plain => Collector::Plain(bloomline::Builder::for_rate(self.rate, self.seed)?),
            Kind::Static => Collector::Static(StaticBuilder::for_rate(self.rate, self.seed)?),
        })
    }

    fn size_for(&self, keys: u64) -> Result<usize, Error> {
        Ok(match self.kind {
            Kind::Plain => Params::for_rate(keys, self.rate)?.encoded_len(),
            Kind::Static => {
                let params = StaticParams::for_rate(keys, self.rate)?;
                // One key in eight goes on to the next level, and a footer of 64 bytes ends it.
                let lines = params.line_count() + params.line_count().div_ceil(7);
                lines as usize * params.line_bytes() + 64
            }
        })
    }
}

impl FilterPolicy for BloomlinePolicy {
    fn name(&self) -> &str {
        &self.name
    }

    fn builder(&self) -> Box<dyn FilterBuilder> {
        Box::new(Builder {
            seed: self.seed,
            keys: self.keys.clone(),
            added: Added::new(self.keys.clone()),
            collector: self.collector().ok().filter(|_| self.builds),
        })
    }

    fn decode(&self, data: &[u8]) -> Arc<dyn Filter> {
        Arc::new(BloomlineFilter { keys: self.keys.clone(), view: opened(data).map(Arc::new) })
    }

    fn estimate_size(&self, num_keys: usize) -> usize {
        if self.builds { self.size_for(num_keys as u64).unwrap_or(usize::MAX) } else { 0 }
    }

    fn supports_prefix_queries(&self) -> bool {
        self.keys.has_prefixes()
    }
}

/// What makes a filter of hashes.
enum Collector {
    Plain(bloomline::Builder),
    Static(StaticBuilder),
}

struct Builder {
    seed: u64,
    keys: Keys,
    added: Added,
    /// `None` if hashes are missing.
    collector: Option<Collector>,
}

impl FilterBuilder for Builder {
    #[inline]
    fn add_entry(&mut self, entry: &RowEntry) {
        let Some(collector) = &mut self.collector else { return };
        let added = self.added.of(entry, |key| {
            let hash = hash(key, self.seed);
            // Several versions of a key, which follow each other, count once.
            match collector {
                Collector::Plain(builder) => builder.add_hash(hash),
                Collector::Static(builder) => builder.add_hash(hash),
            }
            .ok()
        });
        if added.is_none() {
            self.collector = None;
        }
    }

    fn build(&mut self) -> Arc<dyn Filter> {
        // The next filter does not have the last prefix of this one.
        self.added = Added::new(self.keys.clone());
        let bytes = match &mut self.collector {
            Some(Collector::Plain(builder)) => builder.finish_vec().ok(),
            Some(Collector::Static(builder)) => builder.finish_vec().ok(),
            None => None,
        };
        let view = bytes.and_then(|bytes| opened(&bytes)).map(Arc::new);
        Arc::new(BloomlineFilter { keys: self.keys.clone(), view })
    }
}

/// A filter that lies in its own memory, or `None` if it cannot be read, or there is no memory for it.
fn opened(encoded: &[u8]) -> Option<OwnedView<Aligned>> {
    OwnedView::open(Aligned::copy_of(encoded)?).ok()
}

/// Bytes that begin at a multiple of 64, so that a line of the filter is one of the cache.
struct Aligned {
    room: Vec<u8>,
    start: usize,
}

impl Aligned {
    fn copy_of(bytes: &[u8]) -> Option<Aligned> {
        const ALIGN: usize = 64;
        let mut room: Vec<u8> = Vec::new();
        room.try_reserve_exact(bytes.len().checked_add(ALIGN - 1)?).ok()?;
        let start = room.as_ptr().addr().wrapping_neg() % ALIGN;
        room.resize(start, 0);
        room.extend_from_slice(bytes);
        Some(Aligned { room, start })
    }
}

impl AsRef<[u8]> for Aligned {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.room[self.start..]
    }
}

#[derive(Clone)]
struct BloomlineFilter {
    keys: Keys,
    /// `None` if every key may be in it.
    view: Option<Arc<OwnedView<Aligned>>>,
}

impl BloomlineFilter {
    /// Those that were read, if they could be understood.
    fn bytes(&self) -> &[u8] {
        self.view.as_ref().map_or(&[], |view| view.get_ref().as_ref())
    }
}

impl Filter for BloomlineFilter {
    fn might_match(&self, query: &FilterQuery) -> bool {
        let asked = self.view.as_ref().zip(self.keys.asked(query));
        asked.is_none_or(|(view, key)| view.contains(key))
    }

    fn encode(&self, writer: &mut dyn BufMut) {
        writer.put_slice(self.bytes());
    }

    fn size(&self) -> usize {
        self.bytes().len()
    }

    /// It takes no more than its size and what the alignment needs.
    fn clamp_allocated_size(&self) -> Arc<dyn Filter> {
        Arc::new(self.clone())
    }
}

//! Bloomline's filters beside those of surrealkv's own policy, in one database.
//!
//! ```text
//! filter   : an encoded filter, then the byte 255, where surrealkv's own filters hold k, 1 to 30
//! ```
//!
//! surrealkv's own policy takes a k above 30 for an encoding to come, all of whose keys may be present.

use crate::{BloomlineFilter, BuiltinFilter};
use surrealkv::FilterPolicy;

/// A policy for databases that change over: it stores Bloomline's filters under the name of surrealkv's own
/// policy, and reads the filters of both. So old tables keep their filters until a compaction gives them new
/// ones. If the database is opened with surrealkv's own policy again, that finds all keys, and new filters say
/// "maybe".
///
/// ```
/// use bloomline_surrealkv::{BloomlineFilter, BuiltinFilter, TransitionFilter};
/// use surrealkv::FilterPolicy;
///
/// let policy = TransitionFilter::new(BloomlineFilter::static_for_rate(0.01)?);
/// let keys = [b"apple".to_vec(), b"pear".to_vec()];
/// for filter in [BuiltinFilter::default().create_filter(&keys), policy.create_filter(&keys)] {
///     assert!(policy.may_contain(&filter, b"pear"));
///     assert!(!policy.may_contain(&filter, b"plum"));
/// }
/// # Ok::<(), bloomline_surrealkv::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TransitionFilter {
    old: BuiltinFilter,
    new: BloomlineFilter,
}

/// In the place of k.
const NEW: u8 = 255;

impl TransitionFilter {
    /// Creates a policy that makes filters as `new` does.
    pub fn new(new: BloomlineFilter) -> TransitionFilter {
        TransitionFilter { old: BuiltinFilter::default(), new }
    }
}

impl FilterPolicy for TransitionFilter {
    fn name(&self) -> &str {
        self.old.name()
    }

    fn may_contain(&self, filter: &[u8], key: &[u8]) -> bool {
        match filter.split_last() {
            Some((&NEW, new)) => self.new.may_contain(new, key),
            _ => self.old.may_contain(filter, key),
        }
    }

    fn create_filter(&self, keys: &[Vec<u8>]) -> Vec<u8> {
        marked(self.new.create_filter(keys))
    }

    fn key_hash(&self, key: &[u8]) -> u64 {
        self.new.key_hash(key)
    }

    fn create_filter_from_hashes(&self, hashes: &[u64]) -> Vec<u8> {
        marked(self.new.create_filter_from_hashes(hashes))
    }

    fn filter_keys_per_partition(&self, partition_bytes: usize) -> usize {
        self.new.filter_keys_per_partition(partition_bytes.saturating_sub(1))
    }
}

fn marked(mut filter: Vec<u8>) -> Vec<u8> {
    if filter.is_empty() {
        // There was no memory for it. surrealkv's own policy takes a single byte for a filter without keys.
        filter.push(0);
    }
    filter.push(NEW);
    filter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_memory_every_key_may_be_in() {
        let policy = TransitionFilter::new(BloomlineFilter::for_rate(0.01).unwrap());
        let filter = marked(Vec::new());
        assert!(policy.may_contain(&filter, b"apple"));
        let own = surrealkv::Options::default().filter_policy.unwrap();
        assert!(own.may_contain(&filter, b"apple"));
    }
}

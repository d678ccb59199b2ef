//! The policies beside SlateDB's own: the same bytes, the same answers, in databases that either of them wrote.

mod bytes;
mod damage;
mod databases;
mod switching;

use bloomline::hash::hash_u64;
use bloomline_slatedb::{BloomFilterPolicy, BloomlinePolicy};
use slatedb::bytes::Bytes;
use slatedb::{
    Filter, FilterPolicy, FilterQuery, PrefixExtractor, PrefixTarget, RowEntry, ValueDeletable,
};
use std::sync::Arc;

/// Number `i` of a sequence without pattern.
fn random(i: u64) -> u64 {
    hash_u64(i, 5)
}

fn entry(key: &[u8]) -> RowEntry {
    RowEntry {
        key: Bytes::copy_from_slice(key),
        value: ValueDeletable::Value(Bytes::new()),
        seq: 0,
        create_ts: None,
        expire_ts: None,
    }
}

/// The filter that a policy makes of these keys.
fn filter(policy: &dyn FilterPolicy, keys: &[Vec<u8>]) -> Arc<dyn Filter> {
    let mut builder = policy.builder();
    keys.iter().for_each(|key| builder.add_entry(&entry(key)));
    builder.build()
}

fn encoded(filter: &dyn Filter) -> Vec<u8> {
    let mut bytes = Vec::new();
    filter.encode(&mut bytes);
    bytes
}

fn has(filter: &dyn Filter, key: &[u8]) -> bool {
    filter.might_match(&FilterQuery::point(Bytes::copy_from_slice(key)))
}

fn has_prefix(filter: &dyn Filter, prefix: &[u8]) -> bool {
    filter.might_match(&FilterQuery::prefix(Bytes::copy_from_slice(prefix)))
}

/// The first bytes of keys that have so many.
struct First(usize, &'static str);

impl PrefixExtractor for First {
    fn name(&self) -> &str {
        self.1
    }

    fn prefix_len(&self, target: &PrefixTarget) -> Option<usize> {
        let (PrefixTarget::Point(bytes) | PrefixTarget::Prefix(bytes)) = target;
        (bytes.len() >= self.0).then_some(self.0)
    }
}

fn first_four() -> Arc<dyn PrefixExtractor> {
    Arc::new(First(4, "four"))
}

/// Bloomline's policies, all with prefixes.
fn policies() -> Vec<Arc<dyn FilterPolicy>> {
    vec![
        Arc::new(BloomFilterPolicy::new(10).with_prefix_extractor(first_four())),
        Arc::new(BloomlinePolicy::plain(0.01).unwrap().with_prefix_extractor(first_four())),
        Arc::new(BloomlinePolicy::of_static(0.01).unwrap().with_prefix_extractor(first_four())),
    ]
}

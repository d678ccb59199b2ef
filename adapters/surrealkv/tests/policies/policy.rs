//! What the tests need of policies: surrealkv's own, and one that counts what another answers.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use surrealkv::{FilterPolicy, Options};

pub type Policy = Arc<dyn FilterPolicy>;

/// surrealkv's own policy, of 10 bits per key. It can only be had from the options.
pub fn surrealkvs_own() -> Policy {
    Options::default().filter_policy.expect("the default policy")
}

/// A policy that counts what it is asked, keeps the filters that it makes, and may change them first.
pub struct Counted {
    pub policy: Policy,
    change: Box<dyn Fn(Vec<u8>) -> Vec<u8> + Send + Sync>,
    asked: AtomicUsize,
    absent: AtomicUsize,
    made: Mutex<Vec<Vec<u8>>>,
}

impl Counted {
    pub fn new(policy: Policy) -> Arc<Counted> {
        Counted::changing(policy, |filter| filter)
    }

    pub fn changing(
        policy: Policy,
        change: impl Fn(Vec<u8>) -> Vec<u8> + Send + Sync + 'static,
    ) -> Arc<Counted> {
        let (asked, absent) = Default::default();
        let made = Mutex::default();
        Arc::new(Counted { policy, change: Box::new(change), asked, absent, made })
    }

    /// The filters made since it was last asked.
    pub fn made(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.made.lock().unwrap())
    }

    /// How many keys were asked since it was last asked, and how many of them were absent.
    pub fn answers(&self) -> Answers {
        Answers { asked: self.asked.swap(0, Relaxed), absent: self.absent.swap(0, Relaxed) }
    }

    fn keep(&self, filter: Vec<u8>) -> Vec<u8> {
        let filter = (self.change)(filter);
        self.made.lock().unwrap().push(filter.clone());
        filter
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Answers {
    pub asked: usize,
    pub absent: usize,
}

impl FilterPolicy for Counted {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn may_contain(&self, filter: &[u8], key: &[u8]) -> bool {
        let answer = self.policy.may_contain(filter, key);
        self.asked.fetch_add(1, Relaxed);
        self.absent.fetch_add(usize::from(!answer), Relaxed);
        answer
    }

    fn create_filter(&self, keys: &[Vec<u8>]) -> Vec<u8> {
        self.keep(self.policy.create_filter(keys))
    }

    fn key_hash(&self, key: &[u8]) -> u64 {
        self.policy.key_hash(key)
    }

    fn create_filter_from_hashes(&self, hashes: &[u64]) -> Vec<u8> {
        self.keep(self.policy.create_filter_from_hashes(hashes))
    }

    fn filter_keys_per_partition(&self, partition_bytes: usize) -> usize {
        self.policy.filter_keys_per_partition(partition_bytes)
    }
}

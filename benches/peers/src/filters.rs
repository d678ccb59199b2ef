//! The filters, each behind the same two calls: build from hashes, count how many of
//! a batch may be in. The loops are compiled into each, so a call is one per batch.

use crate::common::memory::Memory;
use bloomline::{CuckooFilter, CuckooParams, Filter, Params};
use std::collections::hash_map::DefaultHasher;
use xorf::Filter as _;

/// Bits per key, where a filter lets them be chosen.
const BITS: usize = 10;
/// The rate that is asked for, where a filter wants one: about what 10 bits give.
const RATE: f64 = 0.01;

/// A filter with its keys.
pub(crate) trait Built {
    /// What it takes in memory.
    fn bytes(&self) -> usize;
    /// How many of these may be in.
    fn probe(&self, hashes: &[u64]) -> usize;
}

/// A row of the table.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) build: fn(&[u64]) -> Box<dyn Built>,
}

pub(crate) const ONE_BY_ONE: &str = "bloomline, one at a time";
pub(crate) const BATCHES: &str = "bloomline, batches";

pub(crate) const ROWS: [Row; 10] = [
    Row { name: BATCHES, build: batches },
    Row { name: ONE_BY_ONE, build: one_by_one },
    Row { name: "bloomline, cuckoo of 8 bits, batches", build: |keys| cuckoo_of(keys, 8) },
    Row { name: "bloomline, cuckoo of 12 bits, batches", build: |keys| cuckoo_of(keys, 12) },
    Row { name: "sbbf-rs (256-bit blocks)", build: sbbf },
    Row { name: "fastbloom (classic)", build: fastbloom },
    Row { name: "bloomfilter (classic; hashes by itself)", build: bloomfilter },
    Row { name: "xorf (binary fuse 8; static)", build: xorf },
    Row { name: "qfilter (quotient)", build: qfilter },
    Row { name: "cuckoofilter (hashes by itself)", build: cuckoofilter },
];

// ---- bloomline ----

fn empty(keys: usize) -> Filter {
    Filter::new(Params::for_bits(keys as u64, BITS as f64).unwrap()).unwrap()
}

struct Batches(Filter);

fn batches(keys: &[u64]) -> Box<dyn Built> {
    let mut filter = empty(keys.len());
    filter.insert_hashes(keys);
    Box::new(Batches(filter))
}

impl Built for Batches {
    fn bytes(&self) -> usize {
        self.0.params().bytes()
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        let mut bitmap = [0; 256];
        hashes.chunks(64 * 256).map(|hashes| self.0.contains_hashes(hashes, &mut bitmap)).sum()
    }
}

struct OneByOne(Filter);

fn one_by_one(keys: &[u64]) -> Box<dyn Built> {
    let mut filter = empty(keys.len());
    for &key in keys {
        filter.insert_hash(key);
    }
    Box::new(OneByOne(filter))
}

impl Built for OneByOne {
    fn bytes(&self) -> usize {
        self.0.params().bytes()
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        let view = self.0.view();
        hashes.iter().map(|&hash| usize::from(view.contains_hash(hash))).sum()
    }
}

struct OwnCuckoo(CuckooFilter);

fn cuckoo_of(keys: &[u64], bits: u32) -> Box<dyn Built> {
    let params = CuckooParams::for_bits(keys.len() as u64, bits).unwrap();
    let mut filter = CuckooFilter::new(params).unwrap();
    assert_eq!(filter.insert_hashes(keys), keys.len());
    Box::new(OwnCuckoo(filter))
}

impl Built for OwnCuckoo {
    fn bytes(&self) -> usize {
        self.0.params().bytes()
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        let mut bitmap = [0; 256];
        hashes.chunks(64 * 256).map(|hashes| self.0.contains_hashes(hashes, &mut bitmap)).sum()
    }
}

// ---- sbbf-rs: a split block filter in memory that the caller brings ----

struct Sbbf {
    calls: sbbf_rs::FilterFn,
    memory: Memory,
    buckets: usize,
}

fn sbbf(keys: &[u64]) -> Box<dyn Built> {
    let buckets = (keys.len() * BITS).div_ceil(8 * sbbf_rs::BUCKET_SIZE);
    let mut memory = Memory::new(buckets * sbbf_rs::BUCKET_SIZE);
    let calls = sbbf_rs::FilterFn::new();
    for &key in keys {
        // SAFETY: the memory is aligned to 64, and has room for the buckets.
        unsafe { calls.insert(memory.as_mut_ptr(), buckets, key) };
    }
    Box::new(Sbbf { calls, memory, buckets })
}

impl Built for Sbbf {
    fn bytes(&self) -> usize {
        self.memory.len()
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        // SAFETY: as above.
        let contains =
            |hash| unsafe { self.calls.contains(self.memory.as_ptr(), self.buckets, hash) };
        hashes.iter().map(|&hash| usize::from(contains(hash))).sum()
    }
}

// ---- fastbloom ----

struct FastBloom(fastbloom::BloomFilter);

fn fastbloom(keys: &[u64]) -> Box<dyn Built> {
    let bits = fastbloom::BloomFilter::with_num_bits(keys.len() * BITS).seed(&1);
    let mut filter = bits.expected_items(keys.len());
    for &key in keys {
        filter.insert_hash(key);
    }
    Box::new(FastBloom(filter))
}

impl Built for FastBloom {
    fn bytes(&self) -> usize {
        self.0.num_bits() / 8
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        hashes.iter().map(|&hash| usize::from(self.0.contains_hash(hash))).sum()
    }
}

// ---- bloomfilter ----

struct Classic(bloomfilter::Bloom<u64>);

fn bloomfilter(keys: &[u64]) -> Box<dyn Built> {
    let bytes = keys.len() * BITS / 8;
    // The halves of the seed are two keys, which must differ.
    let seed = std::array::from_fn(|i| i as u8);
    let mut filter = bloomfilter::Bloom::new_with_seed(bytes, keys.len(), &seed).unwrap();
    for key in keys {
        filter.set(key);
    }
    Box::new(Classic(filter))
}

impl Built for Classic {
    fn bytes(&self) -> usize {
        (self.0.len() / 8) as usize
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        hashes.iter().map(|hash| usize::from(self.0.check(hash))).sum()
    }
}

// ---- xorf ----

struct Fuse(xorf::BinaryFuse8);

fn xorf(keys: &[u64]) -> Box<dyn Built> {
    Box::new(Fuse(xorf::BinaryFuse8::try_from(keys).unwrap()))
}

impl Built for Fuse {
    fn bytes(&self) -> usize {
        self.0.fingerprints.len()
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        hashes.iter().map(|hash| usize::from(self.0.contains(hash))).sum()
    }
}

// ---- qfilter ----

struct Quotient(qfilter::Filter);

fn qfilter(keys: &[u64]) -> Box<dyn Built> {
    let mut filter = qfilter::Filter::new(keys.len() as u64, RATE).unwrap();
    for &key in keys {
        filter.insert_fingerprint(false, key).unwrap();
    }
    Box::new(Quotient(filter))
}

impl Built for Quotient {
    fn bytes(&self) -> usize {
        self.0.memory_usage()
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        hashes.iter().map(|&hash| usize::from(self.0.contains_fingerprint(hash))).sum()
    }
}

// ---- cuckoofilter ----

struct Cuckoo(cuckoofilter::CuckooFilter<DefaultHasher>);

/// Its table is a power of two; where the keys fill it too full, it takes the next.
fn cuckoofilter(keys: &[u64]) -> Box<dyn Built> {
    for capacity in [keys.len(), 2 * keys.len()] {
        let mut filter = cuckoofilter::CuckooFilter::with_capacity(capacity);
        if keys.iter().all(|key| filter.add(key).is_ok()) {
            return Box::new(Cuckoo(filter));
        }
        eprintln!("cuckoofilter is full: the next size");
    }
    panic!("cuckoofilter holds half of what was asked of it");
}

impl Built for Cuckoo {
    fn bytes(&self) -> usize {
        self.0.memory_usage()
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        hashes.iter().map(|hash| usize::from(self.0.contains(hash))).sum()
    }
}

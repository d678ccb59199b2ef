//! The filters, each behind the same two calls: build from hashes, count how many of a batch may be
//! present. The loops are compiled into each, so there is one call per batch.

use crate::common::memory::Memory;
use bloomline::{CuckooFilter, CuckooParams, Filter, Params};
use std::collections::hash_map::DefaultHasher;
use xorf::Filter as _;

/// Bits per key, where a filter lets them be chosen.
const BITS: usize = 10;
/// The target rate, where a filter takes one: about that of 10 bits.
const RATE: f64 = 0.01;

/// A filter with its keys.
pub(crate) trait Built {
    /// What it takes in memory.
    fn bytes(&self) -> usize;
    /// How many of these may be present.
    fn probe(&self, hashes: &[u64]) -> usize;
}

/// A filter of any type, with what it takes and the loop that probes it.
struct Of<F, P> {
    filter: F,
    bytes: usize,
    probe: P,
}

impl<F, P: Fn(&F, &[u64]) -> usize> Built for Of<F, P> {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        (self.probe)(&self.filter, hashes)
    }
}

/// A filter that is probed by batches.
fn by_batches<F: 'static>(
    filter: F,
    bytes: usize,
    contains: impl Fn(&F, &[u64], &mut [u64; 256]) -> usize + 'static,
) -> Box<dyn Built> {
    let probe = move |filter: &F, hashes: &[u64]| {
        let mut bitmap = [0; 256];
        hashes.chunks(64 * 256).map(|hashes| contains(filter, hashes, &mut bitmap)).sum()
    };
    Box::new(Of { filter, bytes, probe })
}

/// A filter that is probed key by key.
fn by_keys<F: 'static>(
    filter: F,
    bytes: usize,
    contains: impl Fn(&F, u64) -> bool + 'static,
) -> Box<dyn Built> {
    let probe = move |filter: &F, hashes: &[u64]| {
        hashes.iter().map(|&hash| usize::from(contains(filter, hash))).sum()
    };
    Box::new(Of { filter, bytes, probe })
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

fn empty(keys: usize) -> (Filter, usize) {
    let params = Params::for_bits(keys as u64, BITS as f64).unwrap();
    (Filter::new(params).unwrap(), params.bytes())
}

fn batches(keys: &[u64]) -> Box<dyn Built> {
    let (mut filter, bytes) = empty(keys.len());
    filter.insert_hashes(keys);
    by_batches(filter, bytes, |filter, hashes, bitmap| filter.contains_hashes(hashes, bitmap))
}

fn one_by_one(keys: &[u64]) -> Box<dyn Built> {
    let (mut filter, bytes) = empty(keys.len());
    for &key in keys {
        filter.insert_hash(key);
    }
    // One view for a whole batch, as a program that probes so would have it.
    let probe = |filter: &Filter, hashes: &[u64]| {
        let view = filter.view();
        hashes.iter().map(|&hash| usize::from(view.contains_hash(hash))).sum()
    };
    Box::new(Of { filter, bytes, probe })
}

fn cuckoo_of(keys: &[u64], bits: u32) -> Box<dyn Built> {
    let params = CuckooParams::for_bits(keys.len() as u64, bits).unwrap();
    let mut filter = CuckooFilter::new(params).unwrap();
    filter.insert_hashes(keys).expect("there is room for the keys");
    let bytes = params.bytes();
    by_batches(filter, bytes, |filter, hashes, bitmap| filter.contains_hashes(hashes, bitmap))
}

// ---- others ----

/// A split block filter in memory that the caller brings.
fn sbbf(keys: &[u64]) -> Box<dyn Built> {
    let buckets = (keys.len() * BITS).div_ceil(8 * sbbf_rs::BUCKET_SIZE);
    let mut memory = Memory::new(buckets * sbbf_rs::BUCKET_SIZE);
    let calls = sbbf_rs::FilterFn::new();
    for &key in keys {
        // SAFETY: the memory is aligned to 64, and has room for the buckets.
        unsafe { calls.insert(memory.as_mut_ptr(), buckets, key) };
    }
    let bytes = memory.len();
    // SAFETY: as above.
    by_keys(memory, bytes, move |memory, key| unsafe {
        calls.contains(memory.as_ptr(), buckets, key)
    })
}

fn fastbloom(keys: &[u64]) -> Box<dyn Built> {
    let bits = fastbloom::BloomFilter::with_num_bits(keys.len() * BITS).seed(&1);
    let mut filter = bits.expected_items(keys.len());
    for &key in keys {
        filter.insert_hash(key);
    }
    let bytes = filter.num_bits() / 8;
    by_keys(filter, bytes, |filter, key| filter.contains_hash(key))
}

fn bloomfilter(keys: &[u64]) -> Box<dyn Built> {
    let bytes = keys.len() * BITS / 8;
    // The halves of the seed are two keys, which must differ.
    let seed = std::array::from_fn(|i| i as u8);
    let mut filter = bloomfilter::Bloom::new_with_seed(bytes, keys.len(), &seed).unwrap();
    for key in keys {
        filter.set(key);
    }
    let bytes = (filter.len() / 8) as usize;
    by_keys(filter, bytes, |filter, key| filter.check(&key))
}

fn xorf(keys: &[u64]) -> Box<dyn Built> {
    let filter = xorf::BinaryFuse8::try_from(keys).unwrap();
    let bytes = filter.fingerprints.len();
    by_keys(filter, bytes, |filter, key| filter.contains(&key))
}

fn qfilter(keys: &[u64]) -> Box<dyn Built> {
    let mut filter = qfilter::Filter::new(keys.len() as u64, RATE).unwrap();
    for &key in keys {
        filter.insert_fingerprint(false, key).unwrap();
    }
    let bytes = filter.memory_usage();
    by_keys(filter, bytes, |filter, key| filter.contains_fingerprint(key))
}

/// Its table is a power of two; where the keys fill it too full, it takes the next.
fn cuckoofilter(keys: &[u64]) -> Box<dyn Built> {
    for capacity in [keys.len(), 2 * keys.len()] {
        let mut filter = cuckoofilter::CuckooFilter::<DefaultHasher>::with_capacity(capacity);
        if keys.iter().all(|key| filter.add(key).is_ok()) {
            let bytes = filter.memory_usage();
            return by_keys(filter, bytes, |filter, key| filter.contains(&key));
        }
        eprintln!("cuckoofilter is full: the next size");
    }
    panic!("cuckoofilter holds half of what was asked of it");
}

//! Crates published for Rust that do the same jobs: an entry for each in [`CRATES`]. They get the
//! hashes as they are, or a cheap hasher where they insist on hashing, and the number of keys
//! beforehand, but for the one whose job is to grow.

use crate::common::data::mix;
use crate::member::{AT_RATE, Can, Kind, Member, RATE, Shared, Timed};
use fastbloom::AtomicBloomFilter;
use growable_bloom_filter::GrowableBloom;
use std::alloc::{GlobalAlloc, Layout, System};
use std::hash::Hasher;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) const FASTBLOOM: &str = "fastbloom, `AtomicBloomFilter`";

pub(crate) const CRATES: &[Kind] = &[
    Kind {
        name: FASTBLOOM,
        build: |keys, rate| Some(Box::new(fastbloom(keys, rate))),
        can: &[Can::Threads, Can::Union],
        timed_at: AT_RATE,
    },
    Kind {
        name: "cuckoofilter",
        build: cuckoofilter,
        can: &[Can::Delete],
        timed_at: &[Timed { called: "", rate: RATE, against: 0.0295 }],
    },
    Kind {
        name: "qfilter",
        build: qfilter,
        can: &[Can::Delete, Can::Grow, Can::Union],
        timed_at: AT_RATE,
    },
    Kind { name: "growable-bloom-filter", build: growable, can: &[Can::Grow], timed_at: AT_RATE },
];

// ---- fastbloom ----

pub(crate) fn fastbloom(keys: u64, rate: f64) -> AtomicBloomFilter {
    AtomicBloomFilter::with_false_pos(rate).seed(&1).expected_items(keys as usize)
}

impl Member for AtomicBloomFilter {
    fn bytes(&self) -> usize {
        self.num_bits() / 8
    }

    fn insert(&mut self, hashes: &[u64]) {
        Shared::insert(self, hashes);
    }

    fn contains(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }
}

impl Shared for AtomicBloomFilter {
    fn insert(&self, hashes: &[u64]) {
        for &hash in hashes {
            self.insert_hash(hash);
        }
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        hashes.iter().map(|&hash| usize::from(self.contains_hash(hash))).sum()
    }
}

// ---- cuckoofilter: fingerprints of 8 bits, and no others ----

struct Cuckoo(cuckoofilter::CuckooFilter<Mix>);

fn cuckoofilter(keys: u64, rate: f64) -> Option<Box<dyn Member>> {
    let filter = cuckoofilter::CuckooFilter::with_capacity(keys as usize);
    (rate >= RATE).then(|| Box::new(Cuckoo(filter)) as Box<dyn Member>)
}

impl Member for Cuckoo {
    fn bytes(&self) -> usize {
        self.0.memory_usage()
    }

    fn insert(&mut self, hashes: &[u64]) {
        hashes.iter().for_each(|hash| self.0.add(hash).expect("there is room for the keys"));
    }

    fn contains(&self, hash: u64) -> bool {
        self.0.contains(&hash)
    }

    fn remove(&mut self, hashes: &[u64]) -> Option<usize> {
        Some(hashes.iter().filter(|hash| self.0.delete(hash)).count())
    }
}

/// The hash of a hash, or of a fingerprint: a few multiplications.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0.wrapping_add(number));
    }

    /// What a slice hashes before its items.
    fn write_usize(&mut self, _length: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

// ---- qfilter ----

struct Quotient(qfilter::Filter);

fn qfilter(keys: u64, rate: f64) -> Option<Box<dyn Member>> {
    Some(Box::new(Quotient(qfilter::Filter::new(keys, rate).unwrap())))
}

impl Member for Quotient {
    fn bytes(&self) -> usize {
        self.0.memory_usage()
    }

    /// Two keys of one fingerprint are kept as two, so that each can be removed.
    fn insert(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            self.0.insert_fingerprint(true, hash).expect("there is room for the keys");
        }
    }

    fn contains(&self, hash: u64) -> bool {
        self.0.contains_fingerprint(hash)
    }

    fn remove(&mut self, hashes: &[u64]) -> Option<usize> {
        Some(hashes.iter().filter(|&&hash| self.0.remove_fingerprint(hash)).count())
    }
}

// ---- growable-bloom-filter ----

struct Growable {
    filter: GrowableBloom,
    /// It does not report it.
    bytes: usize,
}

/// A filter that grows is created for one in so many of its keys.
pub(crate) const FIRST: u64 = 100;

fn growable(keys: u64, rate: f64) -> Option<Box<dyn Member>> {
    let before = allocated();
    let filter = GrowableBloom::new(rate, (keys / FIRST) as usize);
    Some(Box::new(Growable { filter, bytes: allocated() - before }))
}

impl Member for Growable {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn insert(&mut self, hashes: &[u64]) {
        let before = allocated();
        for hash in hashes {
            self.filter.insert(hash);
        }
        self.bytes += allocated() - before;
    }

    fn contains(&self, hash: u64) -> bool {
        self.filter.contains(hash)
    }
}

/// Counts what is allocated.
struct Counted;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTED: Counted = Counted;

fn allocated() -> usize {
    ALLOCATED.load(Ordering::Relaxed)
}

// SAFETY: all is done by the system's allocator, with the arguments as they are.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are those that this wants.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are those that this wants.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are those that this wants.
        unsafe { System.dealloc(start, layout) }
    }
}

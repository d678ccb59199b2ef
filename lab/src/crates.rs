//! Filters published for Rust: an entry for each in [`kinds`]. They get the hashes as they are, or a
//! cheap hasher where they insist on hashing, and the number of keys beforehand, but for the one whose
//! job is to grow.
//!
//! | crate | how it is called here |
//! |---|---|
//! | fastbloom | `insert_hash`, `contains_hash`; k for the number of keys |
//! | sbbf-rs | its functions for this CPU, over aligned memory |
//! | parquet | `Sbbf::new` over any number of blocks; it hashes by itself: XXH64 of the 8 bytes |
//! | bloomfilter | `set`, `check`; it hashes by itself: SipHash |
//! | xorf | `BinaryFuse8` of the hashes, built at the end: the building includes keeping the hashes |
//! | qfilter | `insert_fingerprint`, `contains_fingerprint`; for 1 %, since it cannot be of any size |
//! | cuckoofilter | with a hasher of a few multiplications; of 8 bits, and its table a power of two |
//! | growable-bloom-filter | with its own hasher |

use crate::common::data::mix;
use crate::common::memory::Memory;
use crate::contender::{AT_RATE, By, Can, Contender, Kind, RATE, Shared, Size, Sizes, Timed};
use crate::model;
use fastbloom::AtomicBloomFilter;
use growable_bloom_filter::GrowableBloom;
use std::alloc::{GlobalAlloc, Layout, System};
use std::hash::Hasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use xorf::Filter as _;

pub(crate) const ATOMIC: &str = "fastbloom, `AtomicBloomFilter`";
pub(crate) const SBBF_RS: &str = "sbbf-rs";
pub(crate) const PARQUET: &str = "parquet, `Sbbf`";
pub(crate) const FASTBLOOM: &str = "fastbloom";

pub(crate) fn kinds() -> Vec<Kind> {
    let kind = |name, sizes, build: fn(u64, Size) -> Option<Box<dyn Contender>>| {
        Kind::new(name, By::Others, sizes, build)
    };
    vec![
        kind(SBBF_RS, Sizes::All, sbbf),
        kind(PARQUET, Sizes::Most, parquet),
        kind(FASTBLOOM, Sizes::Most, fastbloom),
        kind("bloomfilter", Sizes::Two, bloomfilter),
        kind("xorf, `BinaryFuse8`", Sizes::Two, xorf),
        kind(ATOMIC, Sizes::Two, |keys, size| Some(Box::new(atomic(keys, size))))
            .shown(&[Can::Threads, Can::Union], AT_RATE),
        kind("cuckoofilter", Sizes::Two, cuckoofilter)
            .shown(&[Can::Delete], &[Timed { called: "", rate: RATE, against: 0.0295 }]),
        kind("qfilter", Sizes::Two, qfilter).shown(&[Can::Delete, Can::Grow, Can::Union], AT_RATE),
        kind("growable-bloom-filter", Sizes::None, growable).shown(&[Can::Grow], AT_RATE),
    ]
}

/// Bits per key of that size in blocks of 256 bits, 8 of which a key sets.
pub(crate) fn sbbf_bytes(keys: u64, size: Size) -> usize {
    let bits = match size {
        Size::Bits(bits) => bits,
        Size::Rate(rate) => model::bits_for(rate, model::sbbf),
    };
    ((keys as f64 * bits / 256.0).ceil() as usize).max(1) * 32
}

// ---- sbbf-rs: in memory that the caller brings ----

struct Sbbf {
    memory: Memory,
    buckets: usize,
    calls: sbbf_rs::FilterFn,
}

fn sbbf(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    let memory = Memory::new(sbbf_bytes(keys, size));
    let (buckets, calls) = (memory.len() / sbbf_rs::BUCKET_SIZE, sbbf_rs::FilterFn::new());
    Some(Box::new(Sbbf { memory, buckets, calls }))
}

impl Contender for Sbbf {
    fn bytes(&self) -> usize {
        self.memory.len()
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        for &hash in hashes {
            // SAFETY: the memory is aligned to 64, and has room for the buckets.
            unsafe { self.calls.insert(self.memory.as_mut_ptr(), self.buckets, hash) };
        }
        true
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        // SAFETY: as above.
        unsafe { self.calls.contains(self.memory.as_ptr(), self.buckets, hash) }
    }
}

// ---- parquet ----

struct Parquet {
    filter: parquet::bloom_filter::Sbbf,
}

fn parquet(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    let empty = Memory::new(sbbf_bytes(keys, size));
    Some(Box::new(Parquet { filter: parquet::bloom_filter::Sbbf::new(&empty) }))
}

impl Contender for Parquet {
    fn bytes(&self) -> usize {
        self.filter.num_blocks() * 32
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        hashes.iter().for_each(|hash| self.filter.insert(&hash.cast_signed()));
        true
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.filter.check(&hash.cast_signed())
    }
}

// ---- fastbloom: one for one thread, one for several ----

/// Either, of so many bits.
macro_rules! fastbloom {
    ($type:ident, $keys:expr, $size:expr) => {
        match $size {
            Size::Bits(bits) => fastbloom::$type::with_num_bits(($keys as f64 * bits) as usize),
            Size::Rate(rate) => {
                let (bits, _) = bloomline::sizing::classic::bits_for_rate(rate).unwrap();
                fastbloom::$type::with_num_bits(($keys as f64 * bits) as usize)
            }
        }
        .seed(&1)
        .expected_items($keys as usize)
    };
}

struct Fastbloom(fastbloom::BloomFilter);

fn fastbloom(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    Some(Box::new(Fastbloom(fastbloom!(BloomFilter, keys, size))))
}

impl Contender for Fastbloom {
    fn bytes(&self) -> usize {
        self.0.num_bits() / 8
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        for &hash in hashes {
            self.0.insert_hash(hash);
        }
        true
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.0.contains_hash(hash)
    }
}

pub(crate) fn atomic(keys: u64, size: Size) -> AtomicBloomFilter {
    fastbloom!(AtomicBloomFilter, keys, size)
}

// ---- bloomfilter ----

struct Bloomfilter(bloomfilter::Bloom<u64>);

fn bloomfilter(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    // The halves of the seed are two keys, which must differ.
    let seed = std::array::from_fn(|i| i as u8);
    let bits = match size {
        Size::Bits(bits) => bits,
        Size::Rate(rate) => bloomline::sizing::classic::bits_for_rate(rate).unwrap().0,
    };
    let bytes = (keys as f64 * bits / 8.0) as usize;
    let filter = bloomfilter::Bloom::new_with_seed(bytes, keys as usize, &seed).unwrap();
    Some(Box::new(Bloomfilter(filter)))
}

impl Contender for Bloomfilter {
    fn bytes(&self) -> usize {
        (self.0.len() / 8) as usize
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        hashes.iter().for_each(|hash| self.0.set(hash));
        true
    }

    fn contains(&self, hash: u64) -> bool {
        self.0.check(&hash)
    }
}

// ---- xorf: static, of 9 bits per key and 0.39 % ----

#[derive(Default)]
struct Fuse {
    hashes: Vec<u64>,
    filter: Option<xorf::BinaryFuse8>,
}

fn xorf(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    let fits = match size {
        Size::Bits(bits) => (9.0..13.0).contains(&bits),
        Size::Rate(rate) => rate >= 0.004,
    };
    let hashes = Vec::with_capacity(keys as usize);
    fits.then(|| Box::new(Fuse { hashes, filter: None }) as Box<dyn Contender>)
}

impl Contender for Fuse {
    fn bytes(&self) -> usize {
        self.filter.as_ref().map_or(0, |filter| filter.fingerprints.len())
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        self.hashes.extend_from_slice(hashes);
        true
    }

    fn filled(&mut self) {
        self.filter = Some(xorf::BinaryFuse8::try_from(&std::mem::take(&mut self.hashes)).unwrap());
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.contains(&hash))
    }
}

impl Contender for AtomicBloomFilter {
    fn bytes(&self) -> usize {
        self.num_bits() / 8
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        Shared::insert(self, hashes);
        true
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

fn cuckoofilter(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    let fits = match size {
        Size::Bits(bits) => (8.0..12.0).contains(&bits),
        Size::Rate(rate) => rate >= RATE,
    };
    // A power of two; it fills up above some 95 % of it.
    let slots = (keys as f64 / 0.95) as usize;
    let filter = cuckoofilter::CuckooFilter::with_capacity(slots);
    fits.then(|| Box::new(Cuckoo(filter)) as Box<dyn Contender>)
}

impl Contender for Cuckoo {
    fn bytes(&self) -> usize {
        self.0.memory_usage()
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        hashes.iter().for_each(|hash| self.0.add(hash).expect("there is room for the keys"));
        true
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

fn qfilter(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    let rate = match size {
        Size::Bits(bits) if (9.0..13.0).contains(&bits) => RATE,
        Size::Bits(_) => return None,
        Size::Rate(rate) => rate,
    };
    Some(Box::new(Quotient(qfilter::Filter::new(keys, rate).unwrap())))
}

impl Contender for Quotient {
    fn bytes(&self) -> usize {
        self.0.memory_usage()
    }

    /// Two keys of one fingerprint are kept as two, so that each can be removed.
    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        for &hash in hashes {
            self.0.insert_fingerprint(true, hash).expect("there is room for the keys");
        }
        true
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

fn growable(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    let Size::Rate(rate) = size else { return None };
    let before = allocated();
    let filter = GrowableBloom::new(rate, (keys / FIRST) as usize);
    Some(Box::new(Growable { filter, bytes: allocated() - before }))
}

impl Contender for Growable {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        let before = allocated();
        for hash in hashes {
            self.filter.insert(hash);
        }
        self.bytes += allocated() - before;
        true
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

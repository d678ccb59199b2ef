//! The filters of this library: an entry for each in [`KINDS`], and how it is called.

use crate::crates::FIRST;
use crate::member::{AT_RATE, Can, Kind, Member, Shared, Timed};
use bloomline::{
    ConcurrentFilter, CountingFilter, CuckooFilter, CuckooParams, Filter, Params, ScalableFilter,
    Swap, View, Window, shard_of, shards_contain_hashes,
};

/// The one that the others are set against comes first.
pub(crate) const KINDS: &[Kind] = &[
    Kind { name: PLAIN, build: plain, can: &[Can::Union, Can::Map], timed_at: AT_RATE },
    Kind {
        name: CONCURRENT,
        build: concurrent,
        can: &[Can::Threads, Can::Union, Can::Map],
        timed_at: AT_RATE,
    },
    Kind {
        name: "`Swap<Filter>`",
        build: swapped,
        can: &[Can::Replace, Can::Union, Can::Map],
        timed_at: AT_RATE,
    },
    Kind {
        name: "64 shards of `Filter`",
        build: sharded,
        can: &[Can::Union, Can::Map],
        timed_at: AT_RATE,
    },
    Kind {
        name: "`Filter::classic`",
        build: classic,
        can: &[Can::Union, Can::Map],
        timed_at: AT_RATE,
    },
    Kind {
        name: COUNTING,
        build: counting,
        can: &[Can::Delete, Can::Union, Can::Map],
        timed_at: AT_RATE,
    },
    Kind {
        name: CUCKOO,
        build: cuckoo,
        can: &[Can::Delete, Can::Map],
        timed_at: &[
            Timed { called: ", 8 bits", rate: 0.03, against: 0.0295 },
            Timed { called: ", 12 bits", rate: 0.002, against: 0.00186 },
        ],
    },
    Kind { name: "`ScalableFilter`", build: scalable, can: &[Can::Grow], timed_at: AT_RATE },
    Kind { name: WINDOW, build: window, can: &[Can::Expire], timed_at: AT_RATE },
];

pub(crate) const PLAIN: &str = "`Filter`";
pub(crate) const CONCURRENT: &str = "`ConcurrentFilter`";
pub(crate) const COUNTING: &str = "`CountingFilter`";
pub(crate) const CUCKOO: &str = "`CuckooFilter`";
pub(crate) const WINDOW: &str = "`Window` of 8";

/// The words of an answer to a batch.
type Bitmap = [u64; crate::common::rounds::BATCH / 64];
const NONE: Bitmap = [0; crate::common::rounds::BATCH / 64];

/// The batches that a bitmap has room for.
fn batches(hashes: &[u64], mut each: impl FnMut(&[u64], &mut Bitmap) -> usize) -> usize {
    let mut bitmap = NONE;
    hashes.chunks(64 * NONE.len()).map(|hashes| each(hashes, &mut bitmap)).sum()
}

/// The probes of a [`Member`] that is a filter of this library.
macro_rules! own_probes {
    () => {
        fn contains(&self, hash: u64) -> bool {
            self.contains_hash(hash)
        }

        fn probe(&self, hashes: &[u64]) -> usize {
            batches(hashes, |hashes, bitmap| self.contains_hashes(hashes, bitmap))
        }
    };
}

fn params(keys: u64, rate: f64) -> Params {
    Params::for_rate(keys, rate).unwrap()
}

// ---- plain, and classic ----

pub(crate) fn plain(keys: u64, rate: f64) -> Option<Box<dyn Member>> {
    Some(Box::new(Filter::new(params(keys, rate)).unwrap()))
}

fn classic(keys: u64, rate: f64) -> Option<Box<dyn Member>> {
    let params = Params::classic_for_rate(keys, rate).unwrap();
    Some(Box::new(Filter::classic(params).unwrap()))
}

impl Member for Filter {
    fn bytes(&self) -> usize {
        self.params().bytes()
    }

    fn insert(&mut self, hashes: &[u64]) {
        self.insert_hashes(hashes);
    }

    own_probes!();
}

// ---- concurrent ----

fn concurrent(keys: u64, rate: f64) -> Option<Box<dyn Member>> {
    Some(Box::new(shared(keys, rate)))
}

/// The same for threads.
pub(crate) fn shared(keys: u64, rate: f64) -> ConcurrentFilter {
    ConcurrentFilter::new(params(keys, rate)).unwrap()
}

impl Member for ConcurrentFilter {
    fn bytes(&self) -> usize {
        self.params().bytes()
    }

    fn insert(&mut self, hashes: &[u64]) {
        Shared::insert(self, hashes);
    }

    own_probes!();
}

impl Shared for ConcurrentFilter {
    fn insert(&self, hashes: &[u64]) {
        self.insert_hashes(hashes);
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        batches(hashes, |hashes, bitmap| self.contains_hashes(hashes, bitmap))
    }
}

// ---- swap: filled beside, then published ----

struct Swapped {
    next: Option<Filter>,
    current: Swap<Filter>,
}

fn swapped(keys: u64, rate: f64) -> Option<Box<dyn Member>> {
    let [next, empty] = [keys, 1].map(|keys| Filter::new(params(keys, rate)).unwrap());
    Some(Box::new(Swapped { next: Some(next), current: Swap::new(empty) }))
}

impl Member for Swapped {
    fn bytes(&self) -> usize {
        self.current.load().params().bytes()
    }

    fn insert(&mut self, hashes: &[u64]) {
        self.next.as_mut().expect("it is not published yet").insert_hashes(hashes);
    }

    fn filled(&mut self) {
        self.current.publish(self.next.take().expect("it is not published yet"));
    }

    fn contains(&self, hash: u64) -> bool {
        self.current.load().contains_hash(hash)
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        let filter = self.current.load();
        batches(hashes, |hashes, bitmap| filter.contains_hashes(hashes, bitmap))
    }
}

// ---- shards ----

struct Sharded(Vec<Filter>);

const SHARDS: u64 = 64;

fn sharded(keys: u64, rate: f64) -> Option<Box<dyn Member>> {
    let one = |_| Filter::new(params(keys.div_ceil(SHARDS), rate)).unwrap();
    Some(Box::new(Sharded((0..SHARDS).map(one).collect())))
}

impl Member for Sharded {
    fn bytes(&self) -> usize {
        self.0.iter().map(|filter| filter.params().bytes()).sum()
    }

    fn insert(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            self.0[shard_of(hash, SHARDS) as usize].insert_hash(hash);
        }
    }

    fn contains(&self, hash: u64) -> bool {
        self.0[shard_of(hash, SHARDS) as usize].contains_hash(hash)
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        let views: Vec<View<'_>> = self.0.iter().map(Filter::view).collect();
        batches(hashes, |hashes, bitmap| shards_contain_hashes(&views, hashes, bitmap))
    }
}

// ---- counting ----

fn counting(keys: u64, rate: f64) -> Option<Box<dyn Member>> {
    Some(Box::new(CountingFilter::new(params(keys, rate)).unwrap()))
}

impl Member for CountingFilter {
    /// A bit and a counter of four for each bit of the plain filter.
    fn bytes(&self) -> usize {
        5 * self.params().bytes()
    }

    fn insert(&mut self, hashes: &[u64]) {
        self.insert_hashes(hashes);
    }

    own_probes!();

    fn remove(&mut self, hashes: &[u64]) -> Option<usize> {
        Some(batches(hashes, |hashes, removed| self.remove_hashes(hashes, removed)))
    }
}

// ---- cuckoo ----

fn cuckoo(keys: u64, rate: f64) -> Option<Box<dyn Member>> {
    Some(Box::new(CuckooFilter::new(CuckooParams::for_rate(keys, rate).unwrap()).unwrap()))
}

impl Member for CuckooFilter {
    fn bytes(&self) -> usize {
        self.params().bytes()
    }

    fn insert(&mut self, hashes: &[u64]) {
        self.insert_hashes(hashes).expect("there is room for the keys");
    }

    own_probes!();

    fn remove(&mut self, hashes: &[u64]) -> Option<usize> {
        Some(hashes.iter().filter(|&&hash| self.remove_hash(hash).is_ok()).count())
    }
}

// ---- scalable: told of a hundredth of the keys ----

fn scalable(keys: u64, rate: f64) -> Option<Box<dyn Member>> {
    Some(Box::new(ScalableFilter::new(keys / FIRST, rate, 0).unwrap()))
}

impl Member for ScalableFilter {
    fn bytes(&self) -> usize {
        self.stages().map(|filter| filter.params().bytes()).sum()
    }

    fn insert(&mut self, hashes: &[u64]) {
        self.insert_hashes(hashes).unwrap();
    }

    own_probes!();
}

// ---- window: each generation has its part of the keys ----

const GENERATIONS: u32 = 8;

fn window(keys: u64, rate: f64) -> Option<Box<dyn Member>> {
    let each = keys.div_ceil(u64::from(GENERATIONS));
    let mut window = Window::new(GENERATIONS, each, rate, 0).unwrap();
    window.rotate_after(each);
    Some(Box::new(window))
}

impl Member for Window {
    fn bytes(&self) -> usize {
        self.generations() as usize * self.params().bytes()
    }

    fn insert(&mut self, hashes: &[u64]) {
        self.insert_hashes(hashes);
    }

    own_probes!();
}

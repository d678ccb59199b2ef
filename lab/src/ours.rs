//! The filters of this library: an entry for each in [`kinds`], and how it is called.

use crate::built;
use crate::common::rounds::BATCH;
use crate::contender::{AT_RATE, By, Can, Contender, Kind, Shared, Size, Sizes, Timed, in_calls};
use crate::crates::FIRST;
use bloomline::{
    Backend, ConcurrentFilter, CountingFilter, CuckooFilter, CuckooParams, Filter, GrowingFilter,
    Params, ScalableFilter, Swap, View, Window, shard_of, shards_contain_hashes,
};
use std::hint::black_box;

pub(crate) const PLAIN: &str = "`Filter`";
const CALLED: &str = "`Filter`, called";
const HINTED: &str = "`Filter`, `prefetch_hash` 8 ahead";
const ITERATOR: &str = "`Filter`, `contains_hashes_iter`";
/// The plain one, called.
pub(crate) const IN_C: &str = "filter in C";
pub(crate) const CONCURRENT: &str = "`ConcurrentFilter`";
pub(crate) const COUNTING: &str = "`CountingFilter`";
pub(crate) const CUCKOO: &str = "`CuckooFilter`";
pub(crate) const WINDOW: &str = "`Window` of 8";

/// The one that the others are set against comes first.
pub(crate) fn kinds() -> Vec<Kind> {
    let ours = |name: &str, sizes, build: fn(u64, Size) -> Option<Box<dyn Contender>>| {
        Kind::new(name, By::Ours, sizes, build)
    };
    let saved: &[Can] = &[Can::Union, Can::Map];
    let mut all = vec![
        ours(PLAIN, Sizes::All, |keys, size| some(filter(keys, size))).shown(saved, AT_RATE),
        ours(CONCURRENT, Sizes::Two, |keys, size| some(shared(keys, size)))
            .shown(&[Can::Threads, Can::Union, Can::Map], AT_RATE),
        ours("`Swap<Filter>`", Sizes::Two, swapped)
            .shown(&[Can::Replace, Can::Union, Can::Map], AT_RATE),
        ours("64 shards of `Filter`", Sizes::Two, sharded).shown(saved, AT_RATE),
        ours("`Params::classic`", Sizes::Two, classic).shown(saved, AT_RATE),
        ours(COUNTING, Sizes::Two, counting).shown(&[Can::Delete, Can::Union, Can::Map], AT_RATE),
        ours(CUCKOO, Sizes::Two, cuckoo).shown(
            &[Can::Delete, Can::Map],
            &[
                Timed { called: ", 8 bits", rate: 0.03, against: 0.0295 },
                Timed { called: ", 12 bits", rate: 0.002, against: 0.00186 },
            ],
        ),
        ours("`ScalableFilter`", Sizes::Two, scalable).shown(&[Can::Grow], AT_RATE),
        ours("`GrowingFilter`", Sizes::Two, growing)
            .shown(&[Can::Delete, Can::Grow, Can::Union, Can::Map], AT_RATE),
        ours("`GrowingFilter::unbounded`", Sizes::Two, unbounded)
            .shown(&[Can::Delete, Can::Grow, Can::Union, Can::Map], AT_RATE),
        ours(WINDOW, Sizes::Two, window).shown(&[Can::Expire], AT_RATE),
    ];
    all.extend(built::kinds());
    all.push(ours(CALLED, Sizes::Two, |keys, size| some(Called::new(filter(keys, size)))));
    all.push(ours(HINTED, Sizes::Two, |keys, size| some(Hinted(filter(keys, size)))));
    all.push(ours(ITERATOR, Sizes::Two, |keys, size| some(Iterated(filter(keys, size)))));
    for backend in Backend::available().collect::<Vec<_>>().into_iter().rev().skip(1) {
        let build = move |keys, size| some(Filter::with_backend(params(keys, size), backend).ok()?);
        all.push(Kind::new(format!("{PLAIN}, {}", backend.name()), By::Ours, Sizes::Two, build));
    }
    all
}

fn some(contender: impl Contender + 'static) -> Option<Box<dyn Contender>> {
    Some(Box::new(contender))
}

/// The inserts of a filter type that has them by these names; `unwrap`, if they can fail.
macro_rules! own_inserts {
    ($($unwrap:ident)?) => {
        fn insert_batch(&mut self, hashes: &[u64]) -> bool {
            self.insert_hashes(hashes)$(.$unwrap())?;
            true
        }

        fn insert_each(&mut self, hashes: &[u64]) -> bool {
            for &hash in hashes {
                self.insert_hash(hash)$(.$unwrap())?;
            }
            true
        }
    };
}

/// The probes of a [`Contender`] that is a filter of this library.
macro_rules! own_probes {
    () => {
        #[inline(always)]
        fn contains(&self, hash: u64) -> bool {
            self.contains_hash(hash)
        }

        fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
            Some(in_calls(hashes, each, |hashes, bitmap| self.contains_hashes(hashes, bitmap)))
        }
    };
}

pub(crate) fn params(keys: u64, size: Size) -> Params {
    match size {
        Size::Bits(bits) => Params::for_bits(keys, bits).unwrap(),
        Size::Rate(rate) => Params::for_rate(keys, rate).unwrap(),
    }
}

/// What has no size by bits: those of a rate. In `Size::Bits`, None.
pub(crate) fn rate_of(size: Size) -> Option<f64> {
    match size {
        Size::Bits(_) => None,
        Size::Rate(rate) => Some(rate),
    }
}

// ---- plain, and classic ----

pub(crate) fn filter(keys: u64, size: Size) -> Filter {
    Filter::new(params(keys, size)).unwrap()
}

fn classic(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    let params = match size {
        Size::Bits(bits) => Params::classic_for_bits(keys, bits),
        Size::Rate(rate) => Params::classic_for_rate(keys, rate),
    };
    some(Filter::new(params.unwrap()).unwrap())
}

impl Contender for Filter {
    fn bytes(&self) -> usize {
        self.params().bytes()
    }

    own_inserts!();
    own_probes!();
}

// ---- plain, as functions behind pointers that do nothing else: the least of any call ----

struct Called {
    filter: Filter,
    contains: fn(&Filter, u64) -> bool,
    insert: fn(&mut Filter, u64) -> bool,
}

impl Called {
    fn new(filter: Filter) -> Called {
        #[inline(never)]
        fn contains(filter: &Filter, hash: u64) -> bool {
            filter.contains_hash(hash)
        }
        #[inline(never)]
        fn insert(filter: &mut Filter, hash: u64) -> bool {
            filter.insert_hash(hash)
        }
        Called { filter, contains: black_box(contains), insert: black_box(insert) }
    }
}

impl Contender for Called {
    fn bytes(&self) -> usize {
        Contender::bytes(&self.filter)
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        self.filter.insert_hashes(hashes);
        true
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        for &hash in hashes {
            (self.insert)(&mut self.filter, hash);
        }
        true
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        (self.contains)(&self.filter, hash)
    }
}

// ---- plain, for callers who know their next keys ----

struct Hinted(Filter);

impl Contender for Hinted {
    fn bytes(&self) -> usize {
        Contender::bytes(&self.0)
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        self.0.insert_hashes(hashes);
        true
    }

    fn contains(&self, hash: u64) -> bool {
        self.0.contains_hash(hash)
    }

    fn singles(&self, hashes: &[u64]) -> usize {
        let mut ahead = hashes.iter().skip(8);
        let probe = |&hash| {
            ahead.next().inspect(|&&next| self.0.prefetch_hash(next));
            usize::from(self.0.contains_hash(hash))
        };
        hashes.iter().map(probe).sum()
    }
}

struct Iterated(Filter);

impl Contender for Iterated {
    fn bytes(&self) -> usize {
        Contender::bytes(&self.0)
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        self.0.insert_hashes(hashes);
        true
    }

    fn contains(&self, hash: u64) -> bool {
        self.0.contains_hash(hash)
    }

    fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
        let present = |hashes: &[u64]| {
            let answers = self.0.contains_hashes_iter(hashes.iter().copied());
            answers.filter(|&(_, present)| present).count()
        };
        (each == BATCH).then(|| present(hashes))
    }
}

// ---- concurrent ----

pub(crate) fn shared(keys: u64, size: Size) -> ConcurrentFilter {
    ConcurrentFilter::new(params(keys, size)).unwrap()
}

impl Contender for ConcurrentFilter {
    fn bytes(&self) -> usize {
        self.params().bytes()
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        Shared::insert(self, hashes);
        true
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        for &hash in hashes {
            self.insert_hash(hash);
        }
        true
    }

    own_probes!();
}

impl Shared for ConcurrentFilter {
    fn insert(&self, hashes: &[u64]) {
        self.insert_hashes(hashes);
    }

    fn probe(&self, hashes: &[u64]) -> usize {
        Contender::probe(self, hashes)
    }
}

// ---- swap: filled beside, then published ----

struct Swapped {
    next: Option<Filter>,
    current: Swap<Filter>,
}

fn swapped(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    let [next, empty] = [keys, 1].map(|keys| filter(keys, size));
    some(Swapped { next: Some(next), current: Swap::new(empty) })
}

impl Contender for Swapped {
    fn bytes(&self) -> usize {
        self.current.load().params().bytes()
    }

    fn insert_batch(&mut self, hashes: &[u64]) -> bool {
        self.next.as_mut().expect("it is not published yet").insert_hashes(hashes);
        true
    }

    fn filled(&mut self) {
        self.current.publish(self.next.take().expect("it is not published yet"));
    }

    fn contains(&self, hash: u64) -> bool {
        self.current.load().contains_hash(hash)
    }

    fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
        // Anew for each call, as a caller who does not keep the filter does.
        Some(in_calls(hashes, each, |hashes, bitmap| {
            self.current.load().contains_hashes(hashes, bitmap)
        }))
    }
}

// ---- shards ----

struct Sharded(Vec<Filter>);

const SHARDS: u64 = 64;

fn sharded(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    let one = |_| filter(keys.div_ceil(SHARDS), size);
    some(Sharded((0..SHARDS).map(one).collect()))
}

impl Contender for Sharded {
    fn bytes(&self) -> usize {
        self.0.iter().map(|filter| filter.params().bytes()).sum()
    }

    fn insert_each(&mut self, hashes: &[u64]) -> bool {
        for &hash in hashes {
            self.0[shard_of(hash, SHARDS) as usize].insert_hash(hash);
        }
        true
    }

    fn contains(&self, hash: u64) -> bool {
        self.0[shard_of(hash, SHARDS) as usize].contains_hash(hash)
    }

    fn batches(&self, hashes: &[u64], each: usize) -> Option<usize> {
        let views: Vec<View<'_>> = self.0.iter().map(Filter::view).collect();
        Some(in_calls(hashes, each, |hashes, bitmap| shards_contain_hashes(&views, hashes, bitmap)))
    }
}

// ---- counting ----

/// Of 10 bits per key it would have 2 for the probes: no use.
fn counting(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    rate_of(size)?;
    some(CountingFilter::new(params(keys, size)).unwrap())
}

impl Contender for CountingFilter {
    /// A bit and a counter of four for each bit of the plain filter.
    fn bytes(&self) -> usize {
        5 * self.params().bytes()
    }

    own_inserts!();
    own_probes!();

    fn remove(&mut self, hashes: &[u64]) -> Option<usize> {
        Some(in_calls(hashes, BATCH, |hashes, removed| self.remove_hashes(hashes, removed)))
    }
}

// ---- cuckoo ----

/// Of a given memory: with the longest fingerprints that fit in it.
fn cuckoo(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    let params = match size {
        Size::Rate(rate) => CuckooParams::for_rate(keys, rate).unwrap(),
        Size::Bits(bits) => {
            let lines = (keys as f64 * bits / 512.0) as u64;
            let fits = |&fingerprint: &u32| {
                CuckooParams::for_bits(keys, fingerprint).unwrap().line_count() <= lines
            };
            CuckooParams::new(lines, [16, 12, 8].into_iter().find(fits)?, 0).unwrap()
        }
    };
    some(CuckooFilter::new(params).unwrap())
}

impl Contender for CuckooFilter {
    fn bytes(&self) -> usize {
        self.params().bytes()
    }

    own_inserts!(unwrap);
    own_probes!();

    fn remove(&mut self, hashes: &[u64]) -> Option<usize> {
        Some(hashes.iter().filter(|&&hash| self.remove_hash(hash).is_ok()).count())
    }
}

// ---- scalable: told of a hundredth of the keys ----

fn scalable(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    some(ScalableFilter::new(keys / FIRST, rate_of(size)?, 0).unwrap())
}

impl Contender for ScalableFilter {
    fn bytes(&self) -> usize {
        self.stages().map(|filter| filter.params().bytes()).sum()
    }

    own_inserts!(unwrap);
    own_probes!();
}

// ---- growing: told of all keys, or of a hundredth of them ----

fn growing(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    some(GrowingFilter::new(keys, rate_of(size)?, 0).unwrap())
}

fn unbounded(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    some(GrowingFilter::unbounded(keys / FIRST, rate_of(size)?, 0).unwrap())
}

impl Contender for GrowingFilter {
    fn bytes(&self) -> usize {
        self.memory_usage()
    }

    own_inserts!(unwrap);
    own_probes!();

    fn remove(&mut self, hashes: &[u64]) -> Option<usize> {
        Some(in_calls(hashes, BATCH, |hashes, removed| self.remove_hashes(hashes, removed)))
    }
}

// ---- window: each generation has its part of the keys ----

const GENERATIONS: u32 = 8;

fn window(keys: u64, size: Size) -> Option<Box<dyn Contender>> {
    let each = keys.div_ceil(u64::from(GENERATIONS));
    let mut window = Window::new(GENERATIONS, each, rate_of(size)?, 0).unwrap();
    window.rotate_after(each);
    some(window)
}

impl Contender for Window {
    fn bytes(&self) -> usize {
        self.generations() as usize * self.params().bytes()
    }

    own_inserts!();
    own_probes!();
}

//! What is measured of every filter, whoever has written it. The loops are compiled into each,
//! so that only whole batches are called through a pointer.

use crate::common::data::chain;

/// A filter that is being filled and asked.
pub(crate) trait Member {
    /// What it takes in memory now.
    fn bytes(&self) -> usize;

    /// Inserts all of them, all of which are new.
    fn insert(&mut self, hashes: &[u64]);

    /// All that is to be in is in.
    fn filled(&mut self) {}

    /// Whether one may be in.
    fn contains(&self, hash: u64) -> bool;

    /// How many of a batch may be in: by the filter's own batch call, where it has one.
    fn probe(&self, hashes: &[u64]) -> usize {
        hashes.iter().map(|&hash| usize::from(self.contains(hash))).sum()
    }

    /// Single probes, each of which has to wait for the one before: see [`chain`].
    fn one_by_one(&self, pairs: &[[u64; 2]]) -> usize {
        chain(pairs, |hash| usize::from(self.contains(hash)))
    }

    /// Takes keys out that are in, and says how many it took; None where it cannot.
    fn remove(&mut self, _hashes: &[u64]) -> Option<usize> {
        None
    }
}

/// A filter that several threads fill and ask at once.
pub(crate) trait Shared: Sync {
    fn insert(&self, hashes: &[u64]);
    fn probe(&self, hashes: &[u64]) -> usize;
}

/// What a filter can do, besides being inserted into and asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Can {
    /// Keys are removed.
    Delete,
    /// It becomes larger as keys come.
    Grow,
    /// Old keys are forgotten by themselves.
    Expire,
    /// Threads insert at once.
    Threads,
    /// Another takes its place while it is asked.
    Replace,
    /// Two are made one.
    Union,
    /// A file of it is asked where it is mapped.
    Map,
}

/// A kind of filter.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// An empty one for so many keys at that false-positive rate, or the nearest it has. None
    /// where that is far off.
    pub(crate) build: fn(keys: u64, rate: f64) -> Option<Box<dyn Member>>,
    pub(crate) can: &'static [Can],
    /// The rates that it is timed at.
    pub(crate) timed_at: &'static [Timed],
}

/// A filter that is timed.
pub(crate) struct Timed {
    /// What to add to the kind's name.
    pub(crate) called: &'static str,
    /// The rate that it is asked for.
    pub(crate) rate: f64,
    /// That of the plain filter that it is set against.
    pub(crate) against: f64,
}

/// The rate of all that can have any.
pub(crate) const RATE: f64 = 0.01;

/// Timed at that rate only, against the plain filter of the same.
pub(crate) const AT_RATE: &[Timed] = &[Timed { called: "", rate: RATE, against: RATE }];

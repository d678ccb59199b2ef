//! What is measured of every filter, of this library or not. The loops are compiled into each, so
//! that only whole batches are called through a pointer.

use crate::common::data::chain;

/// A filter that is filled and probed.
pub(crate) trait Member {
    /// What it takes in memory now.
    fn bytes(&self) -> usize;

    /// Inserts all of them, all of which are new.
    fn insert(&mut self, hashes: &[u64]);

    /// All keys are inserted.
    fn filled(&mut self) {}

    /// Whether one may be present.
    fn contains(&self, hash: u64) -> bool;

    /// How many of a batch may be present: by the filter's own batch call, if it has one.
    fn probe(&self, hashes: &[u64]) -> usize {
        hashes.iter().map(|&hash| usize::from(self.contains(hash))).sum()
    }

    /// Single probes, each of which has to wait for the one before: see [`chain`].
    fn one_by_one(&self, pairs: &[[u64; 2]]) -> usize {
        chain(pairs, |hash| usize::from(self.contains(hash)))
    }

    /// Removes present keys. Returns how many; None if it cannot.
    fn remove(&mut self, _hashes: &[u64]) -> Option<usize> {
        None
    }
}

/// A filter that several threads fill and ask at once.
pub(crate) trait Shared: Sync {
    fn insert(&self, hashes: &[u64]);
    fn probe(&self, hashes: &[u64]) -> usize;
}

/// What a filter can do besides inserts and probes.
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
    /// Another replaces it under probes.
    Replace,
    /// Two are made one.
    Union,
    /// A file of it is mapped and probed.
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
    /// Its target rate.
    pub(crate) rate: f64,
    /// That of the plain filter that it is set against.
    pub(crate) against: f64,
}

/// The rate of all that can have any.
pub(crate) const RATE: f64 = 0.01;

/// Timed at that rate only, against the plain filter of the same.
pub(crate) const AT_RATE: &[Timed] = &[Timed { called: "", rate: RATE, against: RATE }];

//! What is measured of every filter, of this library or not. The loops are compiled into each, so
//! that only whole batches are called through a pointer.

use crate::common::data::chain;
use crate::common::rounds::BATCH;
use std::hint::black_box;

/// A filter that is filled and probed.
pub(crate) trait Contender {
    /// What it takes in memory now.
    fn bytes(&self) -> usize;

    /// Inserts all of them, all of which are new, by a call. False, and nothing is inserted, if it has no
    /// such call.
    fn insert_batch(&mut self, _hashes: &[u64]) -> bool {
        false
    }

    /// Inserts them by a call for each. False, and nothing is inserted, if it has no such call.
    fn insert_each(&mut self, _hashes: &[u64]) -> bool {
        false
    }

    /// Inserts them in the fastest way that its documentation names.
    fn insert(&mut self, hashes: &[u64]) {
        assert!(self.insert_batch(hashes) || self.insert_each(hashes), "it has a way to insert");
    }

    /// All keys are inserted. A static filter is built here.
    fn filled(&mut self) {}

    /// Whether one may be present.
    fn contains(&self, hash: u64) -> bool;

    /// How many may be present: a loop of single probes that do not wait for each other.
    fn singles(&self, hashes: &[u64]) -> usize {
        hashes.iter().map(|&hash| usize::from(self.contains(hash))).sum()
    }

    /// How many may be present: by calls for `each` keys. None if it has no such call.
    fn batches(&self, _hashes: &[u64], _each: usize) -> Option<usize> {
        None
    }

    /// The same by single probes, up to 64 of which leave a word of answers.
    fn looped(&self, hashes: &[u64], each: usize) -> usize {
        let word = |some: &[u64]| {
            let bits = some.iter().enumerate();
            bits.fold(0, |word, (i, &hash)| word | u64::from(self.contains(hash)) << i)
        };
        hashes.chunks(each).map(|some| black_box(word(some)).count_ones() as usize).sum()
    }

    /// How many may be present: in the way that suits it best.
    fn probe(&self, hashes: &[u64]) -> usize {
        self.batches(hashes, BATCH).unwrap_or_else(|| self.singles(hashes))
    }

    /// Writes the numbers of those that may be present to `rows`, which has room for all. Returns how many.
    /// A loop of single probes, without a branch on their answers.
    fn select(&self, hashes: &[u64], rows: &mut [u32]) -> usize {
        let mut count = 0;
        for (i, &hash) in hashes.iter().enumerate() {
            rows[count] = i as u32;
            count += usize::from(self.contains(hash));
        }
        count
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

/// The words of an answer to a batch.
pub(crate) type Bitmap = [u64; BATCH / 64];

/// Calls of `each` keys, with the words that their answers take.
#[inline(always)]
pub(crate) fn in_calls(
    hashes: &[u64],
    each: usize,
    mut call: impl FnMut(&[u64], &mut [u64]) -> usize,
) -> usize {
    let mut bitmap: Bitmap = [0; BATCH / 64];
    let words = &mut bitmap[..each.div_ceil(64)];
    hashes.chunks(each).map(|some| call(some, words)).sum()
}

/// How large a filter is to be.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Size {
    /// Bits per key.
    Bits(f64),
    /// So large that this is its false-positive rate.
    Rate(f64),
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

/// Whose it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Ours,
    Others,
    /// No filter: the loops that only touch lines. The limits of the machine.
    Limit,
}

/// In which of the sizes it is timed: what is slow, or the same as another, not in all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sizes {
    /// In none: only `docs/CHOOSING.md` shows it.
    None,
    /// In a small one and a large one; at an equal rate also in one that L1 holds.
    Two,
    /// In all but the largest, where it would take too long or too much memory.
    Most,
    All,
}

/// An empty filter for so many keys. None where it cannot be of that size, or the rate far off.
pub(crate) type Build = Box<dyn Fn(u64, Size) -> Option<Box<dyn Contender>>>;

/// A kind of filter.
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) by: By,
    pub(crate) build: Build,
    pub(crate) sizes: Sizes,
    /// What `docs/CHOOSING.md` shows of it, if anything.
    pub(crate) can: &'static [Can],
    pub(crate) timed_at: &'static [Timed],
}

impl Kind {
    pub(crate) fn new(
        name: impl Into<String>,
        by: By,
        sizes: Sizes,
        build: impl Fn(u64, Size) -> Option<Box<dyn Contender>> + 'static,
    ) -> Kind {
        let (name, build) = (name.into(), Box::new(build));
        Kind { name, by, build, sizes, can: &[], timed_at: &[] }
    }

    /// `docs/CHOOSING.md` shows it.
    pub(crate) fn shown(self, can: &'static [Can], timed_at: &'static [Timed]) -> Kind {
        Kind { can, timed_at, ..self }
    }
}

/// A filter that `docs/CHOOSING.md` times.
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

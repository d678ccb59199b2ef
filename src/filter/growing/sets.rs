//! Growing filters as sets: from hashes at once, merged, intersected, subtracted, split.

use super::GrowingFilter;
use super::blocks::Merged;
use super::build::{Lengths, ascending};
use super::meet::Meet;
use super::regions::PARTS;
use super::runs::Runs;
use crate::error::Error;
use crate::kernel::growing::place::Common;
use crate::shape::growing::length_at_once;
use std::cell::Cell;
use std::cmp::Ordering;
use std::iter::Peekable;

impl GrowingFilter {
    /// Builds a bounded filter from hashes at once, several times as fast as inserts, and 4 % smaller.
    /// Ascending hashes take no other memory, others 8 bytes each meanwhile. `most_keys`, `rate` and
    /// `seed` are as in [`GrowingFilter::new`].
    ///
    /// # Errors
    /// As [`GrowingFilter::new`].
    pub fn build(
        most_keys: u64,
        rate: f64,
        seed: u64,
        hashes: &[u64],
    ) -> Result<GrowingFilter, Error> {
        GrowingFilter::new(most_keys, rate, seed)?.of_hashes(hashes)
    }

    /// Builds an unbounded filter from hashes at once. It takes 1 to 4 bits per key less than a filter into
    /// which the keys were inserted. There each length of prefixes has a part of the rate. Here all keys get
    /// prefixes of one length, and use the parts of all shorter lengths, too. `first_keys`, `rate` and `seed`
    /// are as in [`GrowingFilter::unbounded`]. With as many keys as `first_keys` or fewer there are no
    /// shorter prefixes, so there it saves nothing.
    ///
    /// The filter grows on, and its rate stays below `rate`. The keys that come then get longer prefixes.
    ///
    /// # Errors
    /// As [`GrowingFilter::new`].
    pub fn build_unbounded(
        first_keys: u64,
        rate: f64,
        seed: u64,
        hashes: &[u64],
    ) -> Result<GrowingFilter, Error> {
        GrowingFilter::unbounded(first_keys, rate, seed)?.of_hashes(hashes)
    }

    /// A filter of these that was made as this one.
    fn of_hashes(&self, hashes: &[u64]) -> Result<GrowingFilter, Error> {
        let hashes = &*ascending(hashes)?;
        let Common { longer, first_keys, .. } = self.common;
        let length = length_at_once(first_keys, longer.unwrap_or(0), hashes.len() as u64);
        let plan = self.plan([length; PARTS], false, hashes.len() as u64);
        let prefixes = || hashes.iter().map(|&hash| self.common.normal(hash, length));
        plan.build(Some(plan.keys_of(hashes, length)), || Runs::new(prefixes()))
    }

    /// Whether prefixes of both mean the same.
    fn matches(&self, other: &GrowingFilter) -> Result<(), Error> {
        let alike = self.common == other.common && self.terms.seed == other.terms.seed;
        if alike { Ok(()) } else { Err(Error::Mismatch) }
    }

    fn longer_lengths(&self, other: &GrowingFilter) -> Lengths {
        let mut lengths = self.lengths();
        for (length, other) in lengths.iter_mut().zip(other.lengths()) {
            *length = (*length).max(other);
        }
        lengths
    }

    /// Adds the keys of another filter: then each is there as often as in both together. The filters must be
    /// made with the same numbers and seed, and may have any number of keys. The rate of a bounded filter
    /// rises with the keys; the rates of unbounded filters add up. Both filters are read in order, usually
    /// once, and a third filter is built beside them.
    ///
    /// # Errors
    /// [`Error::Mismatch`]; [`Error::OutOfMemory`]. The filter is unchanged.
    pub fn union(&mut self, other: &GrowingFilter) -> Result<(), Error> {
        self.matches(other)?;
        let key_count = self.key_count.saturating_add(other.key_count);
        let plan = self.plan(self.longer_lengths(other), false, key_count);
        let (own, others) = (self.keys_of_regions(), other.keys_of_regions());
        let alike = self.regions.len() == other.regions.len();
        let expected = alike.then(|| std::array::from_fn(|part| own[part] + others[part]));
        let in_lines = || Merged::new(self, other);
        let beside = self.has_beside() || other.has_beside();
        let merged = match if beside { None } else { plan.of_blocks(expected, in_lines)? } {
            Some(merged) => merged,
            None => plan.build(expected, || self.runs_with(other))?,
        };
        self.become_other(merged);
        Ok(())
    }

    /// Keeps the keys that may be in the other filter, too. A key of both stays, as often as it is in the filter
    /// that has it less often. The filters must be made with the same numbers and seed.
    ///
    /// The result answers "maybe" where both filters do, and nowhere else. Unbounded filters have prefixes of
    /// several lengths in common, the longer of each two. One that both have, and a shorter one of which it is
    /// one, too, may stay more often than it has to.
    ///
    /// # Errors
    /// [`Error::Mismatch`]; [`Error::OutOfMemory`]. The filter is unchanged.
    pub fn intersect(&mut self, other: &GrowingFilter) -> Result<(), Error> {
        self.matches(other)?;
        if !self.common.mixed() {
            return self.combine(other, u64::min);
        }
        let failed = Cell::new(false);
        let common = || Meet::new(self.common, self.both(other), &failed);
        let filter = self.of_runs(self.longer_lengths(other), common)?;
        if failed.get() {
            return Err(Error::OutOfMemory);
        }
        self.become_other(filter);
        Ok(())
    }

    /// Removes the keys of another filter, each as often as that has it. It is as if they were removed one
    /// by one, so use it only if this filter has all of them. The filters must be bounded, and made with the
    /// same numbers and seed.
    ///
    /// # Errors
    /// [`Error::Mismatch`]; [`Error::OutOfMemory`]; [`Error::Unbounded`] if the filters are. There a prefix
    /// can be that of several keys of this filter, and most of those that a short one has become are no key's:
    /// remove keys by [`remove_keys`](GrowingFilter::remove_keys). The filter is unchanged.
    pub fn difference(&mut self, other: &GrowingFilter) -> Result<(), Error> {
        self.matches(other)?;
        if self.common.mixed() {
            return Err(Error::Unbounded);
        }
        self.combine(other, u64::saturating_sub)
    }

    fn combine(&mut self, other: &GrowingFilter, of: fn(u64, u64) -> u64) -> Result<(), Error> {
        let each = |(prefix, a, b)| (prefix, of(a, b));
        let both = || self.both(other).map(each).filter(|&(_, count)| count > 0);
        let filter = self.of_runs(Lengths::default(), both)?;
        self.become_other(filter);
        Ok(())
    }

    /// The prefixes of both, in order, each with its counts in both.
    fn both(&self, other: &GrowingFilter) -> impl Iterator<Item = (u64, u64, u64)> {
        Both { a: self.runs().peekable(), b: other.runs().peekable() }
    }

    /// A filter of these prefixes that was made as this one.
    fn of_runs<I: Iterator<Item = (u64, u64)>>(
        &self,
        lengths: Lengths,
        runs: impl Fn() -> I,
    ) -> Result<GrowingFilter, Error> {
        self.plan(lengths, false, all_of(runs())).build(None, runs)
    }

    /// Splits it into filters of so many ranges of hashes: the key of hash `h` is in filter `h * parts /
    /// 2^64`, rounded down. A prefix on the border of two is in both. Each answers by the same hashes. It reads
    /// the filter a few times, as long as there are no more parts than prefixes of the first length.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn split(&self, parts: usize) -> Result<Vec<GrowingFilter>, Error> {
        let common = self.common;
        let first_hash = |part: usize| ((part as u128) << 64).div_ceil(parts as u128);
        // Where the prefixes that a hash can have lie, from the first to the last.
        let around = |hash: u64| {
            let first = common.normal(hash, 0);
            (first - common.half(first), first + common.half(first))
        };
        let mut all = Vec::new();
        all.try_reserve_exact(parts).map_err(|_| Error::OutOfMemory)?;
        let mut rest = self.runs().peekable();
        for part in 0..parts {
            let (lowest, highest) = (first_hash(part) as u64, (first_hash(part + 1) - 1) as u64);
            let ((from, low), (high, until)) = (around(lowest), around(highest));
            while rest.next_if(|&(prefix, _)| prefix < from).is_some() {}
            // Only those next to a border need to be looked at.
            let is_own = |prefix: u64| {
                let (first, last) = common.hashes(prefix);
                first <= highest && lowest <= last
            };
            let own = || {
                let until = rest.clone().take_while(move |&(prefix, _)| prefix <= until);
                until.filter(move |&(prefix, _)| low < prefix && prefix < high || is_own(prefix))
            };
            all.push(self.of_runs(self.lengths(), own)?);
        }
        Ok(all)
    }
}

/// How many keys these are, or the highest number.
fn all_of(runs: impl Iterator<Item = (u64, u64)>) -> u64 {
    runs.fold(0, |all, (_, count)| all.saturating_add(count))
}

/// Two ascending sequences: each prefix with its counts in both.
struct Both<A: Iterator, B: Iterator> {
    a: Peekable<A>,
    b: Peekable<B>,
}

impl<A: Iterator<Item = (u64, u64)>, B: Iterator<Item = (u64, u64)>> Iterator for Both<A, B> {
    type Item = (u64, u64, u64);

    fn next(&mut self) -> Option<(u64, u64, u64)> {
        let order = match (self.a.peek(), self.b.peek()) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        match order {
            Ordering::Less => self.a.next().map(|(prefix, count)| (prefix, count, 0)),
            Ordering::Greater => self.b.next().map(|(prefix, count)| (prefix, 0, count)),
            Ordering::Equal => {
                let ((prefix, a), (_, b)) = (self.a.next()?, self.b.next()?);
                Some((prefix, a, b))
            }
        }
    }
}

//! Inserts of so many hashes at once that the filter is sooner built anew with them.

use super::GrowingFilter;
use super::build::{Keys, Lengths, Plan, ascending};
use super::regions::PARTS;
use super::runs::{InLines, Runs, With};
use crate::error::Error;
use crate::kernel::growing::place::Common;

/// Fewer hashes are inserted one by one.
const LEAST: usize = 4096;
/// So are fewer than the keys that there are, divided by this.
const PART: u64 = 8;

impl GrowingFilter {
    /// Builds a bounded filter anew, of its prefixes and those of many hashes. Returns false, and changes nothing,
    /// if it is unbounded, if inserts one by one are as fast, or if there is no memory.
    pub(super) fn build_with(&mut self, hashes: &[u64]) -> bool {
        let pays = hashes.len() >= LEAST && hashes.len() as u64 >= self.key_count / PART;
        // What comes later gets longer prefixes in an unbounded one.
        pays && !self.common.mixed() && self.try_build_with(hashes).is_ok()
    }

    fn try_build_with(&mut self, hashes: &[u64]) -> Result<(), Error> {
        let hashes = &*ascending(hashes)?;
        let key_count = self.key_count.saturating_add(hashes.len() as u64);
        let plan = Plan { in_turn: true, ..self.plan(Lengths::default(), true, key_count) };
        let mut keys: Keys = match self.regions.len() {
            PARTS => self.keys_of_regions(),
            _ => plan.count(self.runs()),
        };
        keys.iter_mut().zip(plan.keys_of(hashes, 0)).for_each(|(keys, own)| *keys += own);
        let mut new = plan.build(Some(keys), || {
            let prefixes = Prefixes { common: self.common, hashes, lines: InLines::new(self) };
            With::new(Runs::new(prefixes), self.beside_lines())
        })?;
        new.changes = std::mem::take(&mut self.changes);
        hashes.iter().for_each(|&hash| new.changes.insert(hash));
        *self = new;
        Ok(())
    }
}

/// The prefixes in the lines of a bounded filter, and those of hashes that ascend, in order.
struct Prefixes<'a> {
    common: Common,
    hashes: &'a [u64],
    lines: InLines<'a>,
}

impl Iterator for Prefixes<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        let Some((&hash, rest)) = self.hashes.split_first() else {
            return self.lines.next();
        };
        let own = self.common.normal(hash, 0);
        // What no prefix is comes behind all hashes.
        let stored = if self.lines.is_there() { self.lines.first() } else { u64::MAX };
        // No branch: which one is next cannot be foreseen.
        let is_own = own < stored;
        self.lines.pass((!is_own).into());
        self.hashes = if is_own { rest } else { self.hashes };
        Some(own.min(stored))
    }
}

#[cfg(test)]
#[test]
fn large_batches_of_bounded_filters_are_built() {
    let hashes: Vec<u64> = (0..40_000).map(|key| crate::hash::hash_u64(key, 3)).collect();
    let mut filter = GrowingFilter::new(100_000, 0.01, 0).unwrap();
    assert!(!filter.build_with(&hashes[..LEAST - 1]) && filter.key_count() == 0);
    assert!(filter.build_with(&hashes) && filter.key_count() == 40_000);
    assert!(!filter.build_with(&hashes[..4_999]) && filter.build_with(&hashes[..5_000]));
    assert!(hashes.iter().all(|&hash| crate::filter::probe::Probe::contains_hash(&filter, hash)));
    let mut unbounded = GrowingFilter::unbounded(100, 0.01, 0).unwrap();
    assert!(!unbounded.build_with(&hashes));
}

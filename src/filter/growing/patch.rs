//! What records of a journal make of a growing filter, one that readers see or not.

use super::GrowingFilter;
use crate::error::Error;
use crate::format::journal::{self as format, Header, Kind, Point, Record};
use crate::kernel::ahead;
use std::mem::take as taken;

/// What records are applied to. Each change is made as by its own methods, so that readers see it.
pub(super) trait Patched {
    fn filter(&mut self) -> &mut GrowingFilter;
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Error>;
    fn remove_hash(&mut self, hash: u64) -> Result<(), Error>;
    /// Makes another filter of it.
    fn replace(&mut self, whole: GrowingFilter);
}

impl Patched for GrowingFilter {
    fn filter(&mut self) -> &mut GrowingFilter {
        self
    }

    fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
        self.insert_hash(hash)
    }

    fn remove_hash(&mut self, hash: u64) -> Result<(), Error> {
        self.remove_hash(hash)
    }

    fn replace(&mut self, whole: GrowingFilter) {
        *self = whole;
    }
}

/// Applies the records of a patch, and returns the sequence number of the last: see
/// [`GrowingFilter::apply_patch`].
pub(super) fn apply(to: &mut impl Patched, mut patch: &[u8]) -> Result<u64, Error> {
    while !patch.is_empty() {
        let Record { header, point, content, rest } = first(patch)?;
        take(to, &header, point, content, true)?;
        patch = rest;
    }
    to.filter().saved_sequence().ok_or(Error::Sequence { last: 0, given: 0 })
}

/// The first record of a patch, and its content is what was written.
fn first(patch: &[u8]) -> Result<Record<'_>, Error> {
    let record = format::first(patch)?;
    if record.header.matches(record.content) { Ok(record) } else { Err(Error::Checksum) }
}

/// Takes a record, or leaves out one that it has. Readers may keep the seed: then that of a whole filter is to be
/// the same.
pub(super) fn take(
    to: &mut impl Patched,
    header: &Header,
    point: Point,
    content: &[u8],
    keeps_seed: bool,
) -> Result<(), Error> {
    match Stand::of(to.filter(), keeps_seed).next(header, point, content)? {
        Some(step) => step.make(to, point),
        None => Ok(()),
    }
}

/// A record that a filter lacks.
pub(super) struct Lacking<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) point: Point,
    pub(super) step: Step,
}

/// The records of a patch that a filter lacks, without those that a whole filter behind them makes void. Each
/// follows on the one before, and its content is read: applying them fails for want of memory only.
pub(super) fn lacking<'a>(
    filter: &GrowingFilter,
    mut patch: &'a [u8],
) -> Result<Vec<Lacking<'a>>, Error> {
    let (mut stand, mut all) = (Stand::of(filter, true), Vec::new());
    while !patch.is_empty() {
        let Record { header, point, content, rest } = first(patch)?;
        if let Some(step) = stand.next(&header, point, content)? {
            if let Step::Whole(whole) = &step {
                all.clear();
                stand.prefixes = whole.longest_prefixes();
            }
            (stand.point, stand.last, stand.is_clean) = (Some(point), point.sequence, true);
            all.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
            all.push(Lacking { bytes: &patch[..patch.len() - rest.len()], point, step });
        }
        patch = rest;
    }
    Ok(all)
}

/// Where a filter stands: what says which records follow on it.
struct Stand {
    /// The record that it is as, and the number of the last one, 0 without one.
    point: Option<Point>,
    last: u64,
    /// Whether it has nothing that no record has.
    is_clean: bool,
    /// The seed that it keeps, if it does.
    seed: Option<u64>,
    /// How many prefixes of the longest length there are.
    prefixes: u64,
}

impl Stand {
    fn of(filter: &GrowingFilter, keeps_seed: bool) -> Stand {
        let last = filter.changes.last();
        Stand {
            point: filter.point(),
            last: last.unwrap_or(0),
            is_clean: filter.changes.is_empty() && (last.is_some() || filter.key_count == 0),
            seed: keeps_seed.then(|| filter.seed()),
            prefixes: filter.longest_prefixes(),
        }
    }

    /// What a record changes; none if the filter has it.
    fn next(&self, header: &Header, point: Point, content: &[u8]) -> Result<Option<Step>, Error> {
        if let Some(own) = self.point
            && (own == point || header.sequence < own.sequence && point.origin == own.origin)
        {
            return Ok(None);
        }
        let wrong = Err(Error::Sequence { last: self.last, given: header.sequence });
        if !self.is_clean || self.point.is_some() && header.sequence <= self.last {
            return wrong;
        }
        match header.kind {
            Kind::Whole => {
                let whole = GrowingFilter::decode(content)?;
                if self.seed.is_some_and(|seed| seed != whole.seed()) {
                    return Err(Error::Mismatch);
                }
                Ok(Some(Step::Whole(whole)))
            }
            Kind::Changes { base, origin } => {
                if self.point.is_none_or(|own| (own.id, own.origin) != (base, origin)) {
                    return wrong;
                }
                Ok(Some(Step::Changes(format::Changes::decode(content, self.prefixes)?)))
            }
        }
    }
}

/// What a record makes of the filter that it follows on.
#[allow(clippy::large_enum_variant, reason = "without memory there is none for a box")]
pub(super) enum Step {
    Whole(GrowingFilter),
    Changes(format::Changes),
}

impl Step {
    /// Makes it, of a record that ends at `point`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], of changes only; the filter has what it had.
    pub(super) fn make(self, to: &mut impl Patched, point: Point) -> Result<(), Error> {
        match self {
            Step::Whole(whole) => to.replace(whole),
            Step::Changes(changes) => change(to, changes)?,
        }
        to.filter().is_saved(point);
        Ok(())
    }
}

/// Prefixes are inserted in rounds, each of one of so many that follow each other: in their order, they would fill
/// some lines of a region that is not yet to grow, and each would push others through many full lines. A round has one
/// for so many keys of the filter, or there are this many rounds.
const KEYS_OF_ROUND: u64 = 256;
const ROUNDS: u64 = 32;

/// The numbers below `count` in so many rounds.
fn in_rounds(count: usize, rounds: usize) -> impl Iterator<Item = usize> {
    (0..rounds).flat_map(move |first| (first..count).step_by(rounds))
}

/// Inserts and removes what changed.
///
/// # Errors
/// [`Error::OutOfMemory`]; the filter has what it had.
fn change(to: &mut impl Patched, changes: format::Changes) -> Result<(), Error> {
    let filter = to.filter();
    let (prefixes, before) = (u128::from(filter.longest_prefixes()), filter.key_count);
    let format::Changes { key_count, mut inserted, mut removed } = changes;
    // The first hash of a prefix. All its hashes have the same prefixes of each length.
    for prefix in inserted.iter_mut().chain(&mut removed) {
        *prefix = ((u128::from(*prefix) << 64).div_ceil(prefixes)) as u64;
    }
    let own = taken(&mut filter.changes);
    let rounds = (inserted.len() as u64).saturating_mul(KEYS_OF_ROUND) / before.max(1);
    let rounds = rounds.clamp(1, ROUNDS) as usize;
    for (done, i) in in_rounds(inserted.len(), rounds).enumerate() {
        to.filter().prefetch_later(inserted.get(i + rounds * ahead::GROWING));
        if let Err(error) = to.insert_hash(inserted[i]) {
            for i in in_rounds(inserted.len(), rounds).take(done) {
                let _ = to.remove_hash(inserted[i]);
            }
            let filter = to.filter();
            (filter.changes, filter.key_count) = (own, before);
            return Err(error);
        }
    }
    for hash in removed {
        // What is absent was not inserted, and its removal took another key's prefix.
        let _ = to.remove_hash(hash);
    }
    let filter = to.filter();
    (filter.changes, filter.key_count) = (own, key_count);
    Ok(())
}

#[cfg(test)]
#[test]
fn each_number_is_in_one_round() {
    for (count, rounds) in (0..100).flat_map(|count| (1..=32).map(move |rounds| (count, rounds))) {
        let mut all: Vec<usize> = in_rounds(count, rounds).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..count), "{count} in {rounds}");
    }
}

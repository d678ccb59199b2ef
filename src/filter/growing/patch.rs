//! What records of a journal make of a growing filter, one that readers see or not.

use super::GrowingFilter;
use crate::error::Error;
use crate::format::journal::{self as format, Header, Kind, Point, Record};
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
        let Record { header, point, content, rest } = format::first(patch)?;
        if !header.matches(content) {
            return Err(Error::Checksum);
        }
        take(to, &header, point, content, true)?;
        patch = rest;
    }
    to.filter().saved_sequence().ok_or(Error::Sequence { last: 0, given: 0 })
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
    let filter = to.filter();
    let own = filter.changes.point;
    if own == Some(point) {
        return Ok(());
    }
    if let Some(own) = own
        && header.sequence <= own.sequence
        && point.origin == own.origin
    {
        return Ok(());
    }
    let last = own.map_or(0, |own| own.sequence);
    let wrong = Err(Error::Sequence { last, given: header.sequence });
    if !filter.changes.is_empty() || own.is_some() && header.sequence <= last {
        return wrong;
    }
    match header.kind {
        Kind::Whole => {
            let whole = GrowingFilter::decode(content)?;
            if keeps_seed && whole.seed() != filter.seed() {
                return Err(Error::Mismatch);
            }
            to.replace(whole);
        }
        Kind::Changes { base, origin } => {
            if own.is_none_or(|own| (own.id, own.origin) != (base, origin)) {
                return wrong;
            }
            let changes = format::Changes::decode(content, filter.longest_prefixes())?;
            change(to, &changes)?;
        }
    }
    to.filter().is_saved(point);
    Ok(())
}

/// Inserts and removes what changed.
///
/// # Errors
/// [`Error::OutOfMemory`]; the filter has what it had.
fn change(to: &mut impl Patched, changes: &format::Changes) -> Result<(), Error> {
    let filter = to.filter();
    let (prefixes, before) = (u128::from(filter.longest_prefixes()), filter.key_count);
    // The first hash of a prefix. All its hashes have the same prefixes of each length.
    let hash = |prefix: &u64| ((u128::from(*prefix) << 64).div_ceil(prefixes)) as u64;
    let own = taken(&mut filter.changes);
    for (done, prefix) in changes.inserted.iter().enumerate() {
        if let Err(error) = to.insert_hash(hash(prefix)) {
            for prefix in &changes.inserted[..done] {
                let _ = to.remove_hash(hash(prefix));
            }
            let filter = to.filter();
            (filter.changes, filter.key_count) = (own, before);
            return Err(error);
        }
    }
    for prefix in &changes.removed {
        // What is absent was not inserted, and its removal took another key's prefix.
        let _ = to.remove_hash(hash(prefix));
    }
    let filter = to.filter();
    (filter.changes, filter.key_count) = (own, changes.key_count);
    Ok(())
}

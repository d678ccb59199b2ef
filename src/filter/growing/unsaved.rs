//! What changed in a growing filter since it was saved, for the next record of its journal.

use crate::format::journal::Point;

/// So many changes are kept at least, beside an eighth of the keys. With more, a whole filter is saved.
const LEAST_KEPT: u64 = 4096;

/// The hashes inserted and removed since a filter was saved.
#[derive(Default)]
pub(super) struct Changes {
    /// The last record of the filter.
    point: Option<Point>,
    /// So many hashes are kept at most. 0 if none are: there is no record, or what changed since is not known.
    most: usize,
    pub(super) inserted: Vec<u64>,
    pub(super) removed: Vec<u64>,
}

impl Changes {
    pub(super) fn since(point: Point, key_count: u64) -> Changes {
        let most = usize::try_from(key_count / 8 + LEAST_KEPT).unwrap_or(usize::MAX);
        Changes { point: Some(point), most, ..Changes::default() }
    }

    /// The record that the filter was as, before these; none if they are not all that changed.
    pub(super) fn point(&self) -> Option<Point> {
        self.point.filter(|_| self.most > 0)
    }

    /// The number of the last record, whatever changed since.
    pub(super) fn last(&self) -> Option<u64> {
        self.point.map(|point| point.sequence)
    }

    /// The same, but that something changed which is not known.
    pub(super) fn forgotten(&self) -> Changes {
        Changes { point: self.point, ..Changes::default() }
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, hash: u64) {
        if self.most > 0 {
            self.keep(hash, true);
        }
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, hash: u64) {
        if self.most > 0 {
            self.keep(hash, false);
        }
    }

    /// Where there are too many, or no memory, they are forgotten: then a whole filter is saved.
    #[inline(never)]
    fn keep(&mut self, hash: u64, inserted: bool) {
        let all = self.inserted.len() + self.removed.len();
        let list = if inserted { &mut self.inserted } else { &mut self.removed };
        if all < self.most && list.try_reserve(1).is_ok() {
            list.push(hash);
        } else {
            *self = self.forgotten();
        }
    }

    /// For a region of the filter that a thread inserts into.
    pub(super) fn of_region(&self) -> Changes {
        Changes { most: self.most, ..Changes::default() }
    }

    /// Takes those of a region back.
    pub(super) fn unite(&mut self, part: Changes) {
        if self.most == 0 {
            return;
        }
        let all = [&*self, &part].map(|one| one.inserted.len() + one.removed.len());
        let fits = part.most > 0 && all[0] + all[1] <= self.most;
        let (inserted, removed) = (&mut self.inserted, &mut self.removed);
        if fits
            && inserted.try_reserve(part.inserted.len()).is_ok()
            && removed.try_reserve(part.removed.len()).is_ok()
        {
            inserted.extend_from_slice(&part.inserted);
            removed.extend_from_slice(&part.removed);
        } else {
            *self = self.forgotten();
        }
    }

    /// Whether nothing changed since the last record, if there is one.
    pub(super) fn is_empty(&self) -> bool {
        let is_known = self.point.is_none() || self.most > 0;
        is_known && self.inserted.is_empty() && self.removed.is_empty()
    }

    pub(super) fn memory(&self) -> usize {
        (self.inserted.capacity() + self.removed.capacity()) * size_of::<u64>()
    }
}

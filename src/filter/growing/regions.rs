//! A growing filter as sixteen filters of one region each, and back: threads insert into them, each into
//! one at a time.

use super::GrowingFilter;
use super::state::{Alone, Region};
use crate::error::Error;
use crate::layouts::growing::REGIONS;

pub(super) const PARTS: usize = REGIONS as usize;

impl GrowingFilter {
    /// Makes filters of its regions, of which it has sixteen, for so many inserts into each. It has no
    /// keys until [`unite`](GrowingFilter::unite). `begins`: they may move by themselves, and are to come to
    /// the end of that.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; all is as before.
    pub(super) fn deal(
        &mut self,
        begins: bool,
        inserts: &[usize; PARTS],
    ) -> Result<Vec<GrowingFilter>, Error> {
        let failed = |_| Error::OutOfMemory;
        let mut parts = Vec::new();
        parts.try_reserve_exact(PARTS).map_err(failed)?;
        self.places.layouts.try_reserve(1).map_err(failed)?;
        for region in 0..PARTS {
            let &mut GrowingFilter { common, terms, calls, backend, .. } = self;
            let mut part = GrowingFilter::without_regions(common, terms, calls, backend);
            part.alone = Some(Alone { region, begins });
            part.changes = self.changes.of_region();
            part.spare = self.spare.shared();
            part.places.layouts.try_reserve_exact(2).map_err(failed)?;
            part.regions.try_reserve_exact(1).map_err(failed)?;
            parts.push(part);
        }
        let size = self.common.normals() / REGIONS;
        let mut copies = self.copies.deal(size, inserts)?;
        let stash = self.stash.deal(size, inserts);
        if stash.is_err() {
            copies.iter_mut().for_each(|part| self.copies.unite(std::mem::take(part)));
            self.copies.trim();
        }
        // Nothing fails from here on.
        let beside = copies.into_iter().zip(stash?);
        let own = self.regions.iter().zip(self.places.layouts.drain(..PARTS)).zip(beside);
        for (part, ((&region, layout), (copies, stash))) in parts.iter_mut().zip(own) {
            part.regions.push(region);
            part.places.layouts.push(layout);
            (part.copies, part.stash) = (copies, stash);
        }
        if let Some(mut sweep) = self.sweep.take() {
            let part = &mut parts[sweep.region];
            part.places.layouts.extend(self.places.layouts.pop());
            (part.places.from, part.places.moved) = (self.places.from, self.places.moved);
            part.fresh_newest = self.fresh_newest;
            sweep.region = 0;
            part.sweep = Some(sweep);
        }
        (self.places.moved, self.fresh_newest) = (0, 0);
        Ok(parts)
    }

    /// Takes its regions back. One of them may be moving.
    ///
    /// # Panics
    /// If more are.
    pub(super) fn unite(&mut self, parts: Vec<GrowingFilter>) {
        let mut fresh = None;
        for (region, mut part) in parts.into_iter().enumerate() {
            if let Some(mut sweep) = part.sweep.take() {
                sweep.region = region;
                (self.places.from, self.places.moved) = (part.places.from, part.places.moved);
                self.fresh_newest = part.fresh_newest;
                fresh = part.places.layouts.pop();
                assert!(self.sweep.replace(sweep).is_none(), "one region moves");
            }
            self.places.layouts.append(&mut part.places.layouts);
            self.regions[region] = part.regions.pop().unwrap_or(Region::default());
            self.copies.unite(part.copies);
            self.stash.unite(part.stash);
            self.key_count = self.key_count.saturating_add(part.key_count);
            self.changes.unite(part.changes);
        }
        self.places.layouts.extend(fresh);
        self.copies.trim();
        self.stash.trim();
        self.is_settled = false;
    }

    /// After its regions came back: one that is due begins to move.
    pub(super) fn begin_if_due(&mut self) {
        if self.sweep.is_none()
            && let Some(region) = (0..self.regions.len()).find(|&region| self.is_due(region))
        {
            self.begin(region);
        }
    }
}

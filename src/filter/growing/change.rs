//! Inserting and removing.

use super::{GrowingFilter, chain};
use crate::error::Error;
use crate::filter::in_turn::{inserting_in_turn, removing};
use crate::kernel::ahead;
use crate::kernel::growing::{Entered, MOST_COPIES};

impl GrowingFilter {
    /// As [`insert`](GrowingFilter::insert), for the hash of a key. The hash must be uniform over all 64
    /// bits.
    ///
    /// Many hashes take several times as long in ascending order as in any other: those next to each other
    /// crowd in a few lines before there is room. [`build`](GrowingFilter::build) takes them best in order;
    /// shuffle others.
    ///
    /// # Errors
    /// As [`GrowingFilter::insert`].
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
        self.is_settled = false;
        let at = self.places.of(hash);
        let layout = &mut self.places.layouts[at];
        let (home, value) = layout.place(hash);
        if self.stash.is_empty()
            && let Entered::Done { was_there } = layout.enter(home, value)
        {
            self.count_in(at, hash);
            return Ok(!was_there);
        }
        self.insert_slowly(at, hash)
    }

    /// After an insert into a layout.
    #[inline(always)]
    fn count_in(&mut self, at: usize, hash: u64) {
        let region = (hash >> 60) as usize & self.places.mask;
        self.regions[region].keys += 1;
        *self.newest(at, region) += 1;
        self.key_count = self.key_count.saturating_add(1);
        self.changes.insert(hash);
        self.tend(region);
    }

    /// Where a key has many copies, lines have to be taken apart, or something is beside the lines.
    #[inline(never)]
    fn insert_slowly(&mut self, at: usize, hash: u64) -> Result<bool, Error> {
        let layout = &self.places.layouts[at];
        let (home, value) = layout.place(hash);
        let is_found = layout.search(home, value).is_some();
        // Copies may lie in several lines, so that no line has all that are enough.
        let often = is_found && chain::count_all(layout, home, value) >= MOST_COPIES.into();
        let normal = layout.normal(layout.start(home).wrapping_add_signed(value));
        let stashed = !self.stash.is_empty() && self.stash.get(normal) > 0;
        let present = is_found || !self.stash.is_empty() && self.stash_has(hash, layout.length);
        if often || stashed {
            self.copies.reserve(1)?;
            self.copies.add(normal, 1);
            self.key_count = self.key_count.saturating_add(1);
            self.changes.insert(hash);
            return Ok(!present);
        }
        let layout = &mut self.places.layouts[at];
        chain::insert(layout, home, value, &mut self.stash)?;
        self.count_in(at, hash);
        Ok(!present)
    }

    /// The keys of full length that a layout has.
    fn newest(&mut self, layout: usize, region: usize) -> &mut u64 {
        match layout == self.regions.len() {
            true => &mut self.fresh_newest,
            false => &mut self.regions[region].newest,
        }
    }

    /// As [`insert_keys`](GrowingFilter::insert_keys), for the hashes of keys.
    ///
    /// A bounded filter that gets 4,096 hashes or more, and an eighth as many as it has keys, is built anew with
    /// them, which takes less time. Meanwhile it takes the memory of a copy and, unless the hashes ascend, 8
    /// bytes for each. Without that memory they are inserted one by one.
    ///
    /// # Errors
    /// As [`GrowingFilter::insert_keys`].
    pub fn insert_hashes(&mut self, hashes: &[u64]) -> Result<(), Error> {
        if self.build_with(hashes) {
            return Ok(());
        }
        for (i, &hash) in hashes.iter().enumerate() {
            self.prefetch_ahead(hashes, i);
            self.insert_hash(hash)?;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn prefetch_ahead(&self, hashes: &[u64], i: usize) {
        self.prefetch_later(hashes.get(i + ahead::GROWING));
    }

    /// Prefetches the line of a hash that comes later, if there is one.
    #[inline]
    pub(super) fn prefetch_later(&self, later: Option<&u64>) {
        if let Some(&later) = later {
            let (layout, line, _) = self.places.locate(later);
            layout.lines.prefetch(line);
        }
    }

    /// As [`GrowingFilter::remove`], for the hash of a key.
    ///
    /// # Errors
    /// As [`GrowingFilter::remove`].
    pub fn remove_hash(&mut self, hash: u64) -> Result<(), Error> {
        self.is_settled = false;
        let at = self.places.of(hash);
        let layout = &mut self.places.layouts[at];
        let (home, value) = layout.place(hash);
        let normal = layout.normal(layout.start(home).wrapping_add_signed(value));
        let mut full_length = true;
        let removed = if layout.is_mixed() {
            match self.remove_longest(at, hash) {
                Some(Removed::Copy) => {
                    self.key_count = self.key_count.saturating_sub(1);
                    self.changes.remove(hash);
                    return Ok(());
                }
                Some(Removed::Prefix { full }) => {
                    full_length = full;
                    true
                }
                None => false,
            }
        } else if !self.copies.is_empty() && self.copies.remove(normal) {
            self.key_count = self.key_count.saturating_sub(1);
            self.changes.remove(hash);
            return Ok(());
        } else {
            chain::remove(layout, home, value) || self.stash.remove(normal)
        };
        if !removed {
            return Err(Error::Absent);
        }
        let region = (hash >> 60) as usize & self.places.mask;
        let state = &mut self.regions[region];
        state.keys = state.keys.saturating_sub(1);
        if full_length {
            let newest = self.newest(at, region);
            *newest = newest.saturating_sub(1);
        }
        self.key_count = self.key_count.saturating_sub(1);
        self.changes.remove(hash);
        self.tend(region);
        Ok(())
    }

    /// Removes the longest prefix of a hash that is there. What is left then covers every other key.
    fn remove_longest(&mut self, at: usize, hash: u64) -> Option<Removed> {
        let layout = &mut self.places.layouts[at];
        let (home, value) = layout.place(hash);
        let in_line = chain::longest(layout, home, value);
        let of_line = in_line
            .map(|(line, value)| layout.normal(layout.start(line).wrapping_add_signed(value)));
        let mut beside = None;
        if !self.stash.is_empty() {
            let all = (0..=layout.length).rev().map(|length| self.common.normal(hash, length));
            beside = all.into_iter().find(|&normal| self.stash.get(normal) > 0);
        }
        let from_stash = match (of_line, beside) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(line), Some(beside)) => beside.trailing_zeros() < line.trailing_zeros(),
        };
        let normal = if from_stash { beside } else { of_line }?;
        if !self.copies.is_empty() && self.copies.remove(normal) {
            return Some(Removed::Copy);
        }
        let full = self.common.length_of(normal) == layout.length;
        match in_line {
            Some((line, value)) if !from_stash => {
                chain::take(layout, line, value);
            }
            _ => {
                self.stash.remove(normal);
            }
        }
        Some(Removed::Prefix { full })
    }
}

inserting_in_turn!(GrowingFilter);
removing!(GrowingFilter);

/// What a removal took.
enum Removed {
    /// One of the copies that are counted.
    Copy,
    /// A prefix, of full length or shorter.
    Prefix { full: bool },
}

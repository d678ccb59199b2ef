//! Filters are built from the prefixes of lines, many at a time.

use super::GrowingFilter;
use super::append::Appender;
use super::blocks::Blocks;
use super::build::{Keys, Plan, sum};
use super::regions::PARTS;
use super::runs::InLines;
use crate::error::Error;
use crate::kernel::growing::place::Layout;
use crate::kernel::growing::{MOST_COPIES, OPENED, last};
use crate::layouts::growing::REGIONS;

/// So many copies of a prefix are in lines.
const COPIES: usize = MOST_COPIES as usize;

impl Plan {
    /// As [`build`](Plan::build), of what `source` returns. None if a prefix is so short that it becomes several.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn of_blocks<B: Blocks>(
        &self,
        expected: Option<Keys>,
        source: impl Fn() -> B,
    ) -> Result<Option<GrowingFilter>, Error> {
        let mut keys = match expected {
            // What a filter of one region has is not told by parts.
            Some(keys) if self.is_small(&keys) || keys[1..] != [0; PARTS - 1] => keys,
            _ => self.count_blocks(source()),
        };
        loop {
            let mut filter =
                GrowingFilter::with_calls(self.common, self.terms, self.calls, self.backend)?;
            (filter.key_count, filter.is_settled) = (self.key_count, !self.grows);
            self.lay_out(&mut filter, &keys, u64::MAX, false)?;
            let Some(found) = self.fill_blocks(&mut filter, source())? else { return Ok(None) };
            if found == keys || filter.places.mask == 0 && sum(&found) == sum(&keys) {
                return Ok(Some(filter));
            }
            // Equal filters have equal lines, whatever was expected, and how many copies were counted.
            keys = found;
        }
    }

    /// The keys of each region.
    fn count_blocks(&self, mut all: impl Blocks) -> Keys {
        let (mut keys, mut cut) = ([0; PARTS], Cut::new(self));
        while let Some(mut rest) = there(all.next_block()) {
            while let Some((part, own)) = cut.next(&mut rest) {
                keys[part] += own.len() as u64;
            }
        }
        keys
    }

    /// Writes these. Returns the keys of each region that are in lines or in the stash; none if a prefix is too
    /// short.
    fn fill_blocks(
        &self,
        filter: &mut GrowingFilter,
        mut all: impl Blocks,
    ) -> Result<Option<Keys>, Error> {
        let GrowingFilter { places, regions, copies, stash, spare, .. } = filter;
        let mask = places.mask;
        let limits = places.layouts.iter().map(Layout::norm_of_most_short);
        // One of the last bits of a prefix is set that is not too short. Where all have one length, 0 is one, too.
        let mixed = self.common.mixed();
        let ends = u64::MAX >> (63 - limits.min().unwrap_or(0).min(63));
        let (mut keys, mut cut) = ([0; PARTS], Cut::new(self));
        let (mut at, mut appender, mut newest) = (0, Appender::new(), 0);
        // The last ones that are in lines: no prefix, at first.
        let mut last = [u64::MAX; COPIES];
        let mut fewer = Vec::new();
        while let Some(mut rest) = there(all.next_block()) {
            let is_short = |&prefix: &u64| prefix & ends == 0;
            if mixed && rest.iter().fold(false, |any, prefix| any | is_short(prefix)) {
                return Ok(None);
            }
            while let Some((part, mut own)) = cut.next(&mut rest) {
                if part & mask != at {
                    appender.finish(&mut places.layouts[at], stash, spare)?;
                    appender = Appender::new();
                    regions[at].newest = std::mem::take(&mut newest);
                    at = part & mask;
                }
                if is_often(&last, own) {
                    fewer.clear();
                    fewer.try_reserve(own.len()).map_err(|_| Error::OutOfMemory)?;
                    for &prefix in own {
                        if last[0] == prefix {
                            copies.reserve(1)?;
                            copies.add(prefix, 1);
                        } else {
                            fewer.push(prefix);
                            last.rotate_left(1);
                            last[COPIES - 1] = prefix;
                        }
                    }
                    own = &fewer;
                } else {
                    let kept = own.len().min(COPIES);
                    last.rotate_left(kept);
                    last[COPIES - kept..].copy_from_slice(&own[own.len() - kept..]);
                }
                let layout = &mut places.layouts[at];
                appender.extend(layout, own, stash, spare)?;
                keys[part] += own.len() as u64;
                if mixed {
                    let norm = layout.norm();
                    newest += own.iter().map(|&prefix| prefix >> norm & 1).sum::<u64>();
                }
            }
        }
        appender.finish(&mut places.layouts[at], stash, spare)?;
        regions[at].newest = newest;
        for (part, keys) in keys.iter().enumerate() {
            regions[part & mask].keys += keys;
        }
        Ok(Some(keys))
    }
}

/// Some, if there are any.
fn there(block: &[u64]) -> Option<&[u64]> {
    (!block.is_empty()).then_some(block)
}

/// Whether one of these, behind the last ones, has as many equal ones before it as lines may have.
fn is_often(last: &[u64; COPIES], own: &[u64]) -> bool {
    let behind = own.get(COPIES..).unwrap_or_default();
    let pairs = last.iter().zip(own).chain(own.iter().zip(behind));
    pairs.fold(false, |any, (a, b)| any | (a == b))
}

/// Cuts ascending prefixes into those of each region.
struct Cut {
    part: usize,
    /// What is above those of the region, and how many there can be.
    end: u64,
    region: u64,
}

impl Cut {
    fn new(plan: &Plan) -> Cut {
        let region = plan.common.normals() / REGIONS;
        Cut { part: 0, end: region, region }
    }

    /// Takes those of one region. None if none are left.
    fn next<'a>(&mut self, rest: &mut &'a [u64]) -> Option<(usize, &'a [u64])> {
        let (&first, &last) = (rest.first()?, rest.last()?);
        while first >= self.end {
            (self.part, self.end) = (self.part + 1, self.end + self.region);
        }
        let own = if last < self.end {
            rest.len()
        } else {
            rest.partition_point(|&prefix| prefix < self.end)
        };
        let (own, others) = rest.split_at(own);
        *rest = others;
        Some((self.part, own))
    }
}

impl GrowingFilter {
    /// Whether there is anything beside the lines.
    pub(super) fn has_beside(&self) -> bool {
        !self.copies.is_empty() || !self.stash.is_empty()
    }

    /// A filter of its prefixes, by a plan.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn built(&self, plan: &Plan) -> Result<GrowingFilter, Error> {
        if self.has_beside() {
            return plan.build(Some(self.keys_of_regions()), || self.runs());
        }
        let one = self.places.mask == 0 && self.sweep.is_none();
        let expected = Some(if one { self.keys_of_parts() } else { self.keys_of_regions() });
        match plan.of_blocks(expected, || InLines::new(self))? {
            Some(built) => Ok(built),
            None => plan.build(expected, || self.runs()),
        }
    }

    /// The keys that would be in each of sixteen regions, in the lines of one that is not moved: few of these are taken
    /// apart.
    fn keys_of_parts(&self) -> Keys {
        let layout = &self.places.layouts[0];
        let region = self.common.normals() / REGIONS;
        let (mut keys, mut part, mut end) = ([0; PARTS], 0, region);
        let mut prefixes = [0; OPENED];
        for i in 0..layout.lines.len() {
            let Some(line) = layout.lines.get(i) else { continue };
            let Some(last) = last(line, layout.r) else { continue };
            if layout.normal(layout.start(i).wrapping_add_signed(last)) < end {
                keys[part] += line[0] & 63;
                continue;
            }
            let count = layout.open_normal(i, &mut prefixes);
            for &prefix in &prefixes[..count] {
                while prefix >= end {
                    (part, end) = (part + 1, end + region);
                }
                keys[part] += 1;
            }
        }
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::growing::blocks::Merged;
    use crate::hash::hash_u64;

    /// The short way and the long one build the same lines.
    fn alike(short: &GrowingFilter, long: &GrowingFilter) {
        assert!(
            short.to_bytes().unwrap() == long.to_bytes().unwrap()
                && short.beside() == long.beside()
        );
        assert_eq!(short.key_count(), long.key_count());
        let keys = |filter: &GrowingFilter| {
            filter.regions.iter().map(|r| (r.keys, r.newest)).collect::<Vec<_>>()
        };
        assert!(short.regions.len() == 1 || !short.is_unbounded() || keys(short) == keys(long));
    }

    fn filter(unbounded: bool, keys: impl Iterator<Item = u64>) -> GrowingFilter {
        let made = if unbounded { GrowingFilter::unbounded } else { GrowingFilter::new };
        let mut filter = made(40_000, 0.01, 0).unwrap();
        keys.for_each(|key| {
            filter.insert_hash(hash_u64(key, 1)).unwrap();
        });
        filter
    }

    #[test]
    fn blocks_and_single_prefixes_build_the_same_lines() {
        let mut with_copies = 0;
        for unbounded in [false, true] {
            for (one, two) in
                [(0, 0), (0, 3), (1, 1), (700, 60), (3000, 9000), (30_000, 20_000), (150_000, 1000)]
            {
                // All of one and two of three of the other, some of them often; they have eight in lines at most.
                let often = |key: u64| {
                    std::iter::repeat_n(
                        key,
                        if key < 5000 && key.is_multiple_of(50) { 6 } else { 1 },
                    )
                };
                let one = filter(unbounded, (0..one).flat_map(often));
                let two = filter(unbounded, (0..two).map(|key| key * 3 / 2).flat_map(often));
                assert!(!one.has_beside() && !two.has_beside());
                let mut plan = one.plan(one.lengths(), false, one.key_count + two.key_count);
                if one.places.mask == 0 && one.sweep.is_none() {
                    assert_eq!(one.keys_of_parts(), plan.count_blocks(InLines::new(&one)));
                }
                for grows in [false, true] {
                    plan.grows = grows;
                    for expected in [None, Some(one.keys_of_regions())] {
                        let short = plan.of_blocks(expected, || Merged::new(&one, &two)).unwrap();
                        let long = plan.build(expected, || one.runs_with(&two)).unwrap();
                        // Otherwise prefixes are too short.
                        assert!(short.is_some() || unbounded);
                        let Some(short) = short else { continue };
                        alike(&short, &long);
                        with_copies += usize::from(short.has_beside());
                        alike(
                            &one.built(&plan).unwrap(),
                            &plan.build(None, || one.runs()).unwrap(),
                        );
                    }
                }
            }
        }
        assert!(with_copies > 4);
    }
}

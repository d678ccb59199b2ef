//! Filters are built from prefixes in order: to change from one region to sixteen and back, to merge, and
//! from hashes at once. `of_blocks` is the short way.

use super::GrowingFilter;
use super::append::Appender;
use super::runs::{Runs, With};
use super::state::Terms;
use super::sweep::children;
use crate::error::Error;
use crate::kernel::Backend;
use crate::kernel::growing::place::{Common, Layout};
use crate::kernel::growing::{Calls, MOST_COPIES};
use crate::layouts::growing::{REGIONS, region};
use crate::os::spare::Spare;
use crate::shape::growing::{FULL_AT_ONCE, SMALL, Width};
use std::borrow::Cow;

const PARTS: usize = REGIONS as usize;

/// For how many keys there are lines, beside 256, where short prefixes become several: so many times those
/// before. A filter of a rate up to a half has fewer. Where short ones cover most hashes, as in bytes of
/// nobody's filter, there would be ever more keys, and ever more lines for them.
const MOST_SPREAD: u64 = 16;

/// How many prefixes short ones become at most, beside 2^21: so many times the keys before. Where each length has no
/// more keys than it is to have, they become fewer than 4 for each, at any rate. Bytes of nobody's filter could
/// have some thousand short prefixes beside one region of long ones, each of which would become a million.
const MOST_CHILDREN: u64 = 4;
/// That many are none too many.
const FEW_CHILDREN: u64 = 1 << 21;

/// By how many bits the prefixes of each region are longer than the first ones.
pub(super) type Lengths = [u32; PARTS];

/// The keys of each region.
pub(super) type Keys = [u64; PARTS];

/// What a filter is built like.
pub(super) struct Plan {
    pub(super) common: Common,
    pub(super) terms: Terms,
    pub(super) calls: &'static Calls,
    pub(super) backend: Backend,
    pub(super) lengths: Lengths,
    /// Whether there is to be room for more keys.
    pub(super) grows: bool,
    /// Whether that room differs from region to region, so that they are full one after the other.
    pub(super) in_turn: bool,
    pub(super) key_count: u64,
}

impl Plan {
    /// Room for how many keys a region needs, one of several or the only one.
    fn room(&self, region: Option<usize>, keys: u64) -> u64 {
        match region {
            _ if !self.grows => keys - keys * (FULL_AT_ONCE - 241) / 256,
            // As regions that grow by a sixteenth in turn.
            Some(region) if self.in_turn => keys + keys / 256 * (region as u64 + 1) + 1,
            _ => keys + keys / 12 + 1,
        }
    }

    /// The lines for so many keys of a part of all prefixes.
    fn lines(&self, length: u32, parts: u64, room: u64) -> u64 {
        let w = (self.common.prefixes << length) / parts;
        Width::lines_for(w, room, self.common.mixed())
    }

    /// Builds a filter of what `source` returns, in order. With the keys that are to be expected of each
    /// region, it is read once, if they are right and no prefix is short. If the first has all of them, they
    /// may belong into any.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn build<I: Iterator<Item = (u64, u64)>>(
        &self,
        mut expected: Option<Keys>,
        source: impl Fn() -> I,
    ) -> Result<GrowingFilter, Error> {
        let mixed = self.common.mixed();
        // Prefixes are short or long by the widths, and the widths follow from the keys, which are more
        // where a short one becomes several.
        let (mut limit, mut most) = (Limit::none(self.common.normals()), u64::MAX);
        let mut own = 0;
        loop {
            let mut filter =
                GrowingFilter::with_calls(self.common, self.terms, self.calls, self.backend)?;
            (filter.key_count, filter.is_settled) = (self.key_count, !self.grows);
            let short = short_ones(source(), &limit, own)?;
            let all = || whole(source(), &short, &limit);
            let keys = match expected.take() {
                Some(keys) if self.is_small(&keys) || keys[1..] != [0; PARTS - 1] => keys,
                _ => self.count(all()),
            };
            self.lay_out(&mut filter, &keys, most, limit.regions)?;
            let limits = filter.places.layouts.iter().map(Layout::norm_of_most_short);
            let lowest = if mixed { limits.min().unwrap_or(0) } else { limit.of_all };
            let lowest = lowest.min(limit.of_all);
            let regions = mixed && filter.places.mask > 0;
            // There are several regions since the last time, and one has no prefixes as long.
            let late =
                regions && !limit.regions && self.norms().into_iter().any(|norm| norm > lowest);
            if lowest < limit.of_all || late {
                if limit.of_all == u64::BITS {
                    let counted = self.count(source());
                    own = sum(&counted);
                    if own != sum(&keys) {
                        // The widths are those of other keys.
                        expected = Some(counted);
                        continue;
                    }
                    most = MOST_SPREAD * own + 256;
                }
                limit.of_all = lowest;
                if regions {
                    (limit.regions, limit.least) = (true, self.norms());
                }
                continue;
            }
            let found = self.fill(&mut filter, all())?;
            if found == keys || filter.places.mask == 0 && sum(&found) == sum(&keys) {
                return Ok(filter);
            }
            // Equal filters have equal lines, whatever was expected.
            expected = Some(found);
        }
    }

    /// The keys of each region that are in lines or in the stash.
    pub(super) fn count(&self, all: impl Iterator<Item = (u64, u64)>) -> Keys {
        let most = u64::from(MOST_COPIES);
        let region = self.common.normals() / REGIONS;
        let mut keys = [0; PARTS];
        let (mut part, mut end) = (0, region);
        for (prefix, count) in all {
            while prefix >= end {
                (part, end) = (part + 1, end + region);
            }
            keys[part] += count.min(most);
        }
        keys
    }

    /// How many keys each region gets of hashes that ascend, with prefixes longer than the first ones by `length` bits.
    pub(super) fn keys_of(&self, hashes: &[u64], length: u32) -> Keys {
        // Only hashes as near as that can have a prefix in common.
        let near = u64::MAX / (self.common.prefixes << length);
        let behind = hashes.get(MOST_COPIES as usize..).unwrap_or_default();
        let repeats =
            hashes.iter().zip(behind).fold(false, |repeats, (a, b)| repeats | (b - a <= near));
        if repeats {
            let prefixes = hashes.iter().map(|&hash| self.common.normal(hash, length));
            return self.count(Runs::new(prefixes));
        }
        let mut rest = hashes;
        std::array::from_fn(|part| {
            let own = rest.partition_point(|&hash| region(hash) <= part as u64);
            rest = &rest[own..];
            own as u64
        })
    }

    /// Whether one region has all of them.
    pub(super) fn is_small(&self, keys: &Keys) -> bool {
        self.lines_of_one(sum(keys)) <= SMALL
    }

    fn lines_of_one(&self, keys: u64) -> u64 {
        let longest = self.lengths.into_iter().max().unwrap_or(0);
        self.lines(longest, 1, self.room(None, keys))
    }

    /// By how many bits the longest prefixes of each region are shorter than those that there can be.
    fn norms(&self) -> Lengths {
        let longer = self.common.longer.unwrap_or(0);
        self.lengths.map(|length| longer - length)
    }

    /// Makes room for these; if they are more than `most`, for so many in their proportions. If the filter is
    /// to be `parted`, there are sixteen regions, however few they are.
    pub(super) fn lay_out(
        &self,
        filter: &mut GrowingFilter,
        keys: &Keys,
        most: u64,
        parted: bool,
    ) -> Result<(), Error> {
        let longest = self.lengths.into_iter().max().unwrap_or(0);
        let all = sum(keys);
        let lines = self.lines_of_one(all.min(most));
        let (layouts, regions) = (&mut filter.places.layouts, &mut filter.regions);
        layouts.clear();
        regions.clear();
        if lines <= SMALL && !parted {
            layouts.push(Layout::new(self.common, self.calls, (0, 1), longest, lines)?);
            regions.push(Default::default());
            filter.places.set_regions(1);
            return Ok(());
        }
        layouts.try_reserve_exact(PARTS + 1).map_err(|_| Error::OutOfMemory)?;
        for (part, (length, &keys)) in self.lengths.into_iter().zip(keys).enumerate() {
            let keys = match all > most {
                true => (u128::from(keys) * u128::from(most) / u128::from(all)) as u64,
                false => keys,
            };
            let lines = self.lines(length, REGIONS, self.room(Some(part), keys));
            let part = (part as u64, REGIONS);
            layouts.push(Layout::new(self.common, self.calls, part, length, lines)?);
        }
        filter.spare = Spare::of_many(layouts.iter().map(|layout| layout.lines.pieces()).sum());
        regions.try_reserve_exact(PARTS).map_err(|_| Error::OutOfMemory)?;
        regions.resize(PARTS, Default::default());
        filter.places.set_regions(PARTS);
        Ok(())
    }

    /// Writes these. Returns the keys of each region that are in lines or in the stash.
    fn fill(
        &self,
        filter: &mut GrowingFilter,
        all: impl Iterator<Item = (u64, u64)>,
    ) -> Result<Keys, Error> {
        let region = self.common.normals() / REGIONS;
        let GrowingFilter { places, regions, copies, stash, spare, .. } = filter;
        let mask = places.mask;
        let mut keys = [0; PARTS];
        let (mut part, mut end, mut appender) = (0, region, Appender::new());
        let mut newest = 0;
        for (prefix, count) in all {
            while prefix >= end {
                if mask > 0 {
                    appender.finish(&mut places.layouts[part], stash, spare)?;
                    appender = Appender::new();
                    regions[part].newest = std::mem::take(&mut newest);
                }
                (part, end) = (part + 1, end + region);
            }
            let layout = &mut places.layouts[part & mask];
            let y = layout.of_normal(prefix);
            let in_lines = count.min(MOST_COPIES.into());
            for _ in 0..in_lines {
                appender.push(layout, y, stash, spare)?;
            }
            if count > in_lines {
                copies.reserve(1)?;
                copies.add(prefix, count - in_lines);
            }
            keys[part] += in_lines;
            newest += (y & 1) * in_lines;
        }
        appender.finish(&mut places.layouts[part & mask], stash, spare)?;
        regions[part & mask].newest = newest;
        for (part, keys) in keys.iter().enumerate() {
            regions[part & mask].keys += keys;
        }
        // Bytes of a greater sum are no filter's.
        copies.cap(u64::MAX - sum(&keys));
        Ok(keys)
    }
}

/// These hashes in order: themselves, or a copy.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn ascending(hashes: &[u64]) -> Result<Cow<'_, [u64]>, Error> {
    if hashes.is_sorted() {
        return Ok(hashes.into());
    }
    let mut sorted = Vec::new();
    sorted.try_reserve_exact(hashes.len()).map_err(|_| Error::OutOfMemory)?;
    sorted.extend_from_slice(hashes);
    sorted.sort_unstable();
    Ok(sorted.into())
}

pub(super) fn sum(keys: &Keys) -> u64 {
    keys.iter().sum()
}

/// By how many bits prefixes may be short.
struct Limit {
    of_all: u32,
    /// Those of a region with longer prefixes become several, and a region may have no prefixes as long: its
    /// own may be so short.
    least: Lengths,
    /// How many prefixes each has.
    region: u64,
    /// Whether there are sixteen.
    regions: bool,
}

impl Limit {
    fn none(prefixes: u64) -> Limit {
        let region = prefixes / REGIONS;
        Limit { of_all: u64::BITS, least: [0; PARTS], region, regions: false }
    }

    /// All zeros are a prefix, too, where all have one length; they are 64.
    #[inline(always)]
    fn allows(&self, prefix: u64) -> bool {
        prefix.trailing_zeros() <= self.of_all || prefix.trailing_zeros() <= self.of(prefix)
    }

    fn of(&self, prefix: u64) -> u32 {
        self.of_all.max(self.least[(prefix / self.region) as usize % PARTS])
    }
}

/// Those prefixes of `source`, which has so many keys, that are shorter than allowed, each as several that are not.
///
/// # Errors
/// [`Error::OutOfMemory`], also if there would be too many.
fn short_ones(
    source: impl Iterator<Item = (u64, u64)>,
    limit: &Limit,
    keys: u64,
) -> Result<Vec<(u64, u64)>, Error> {
    let most = keys.saturating_mul(MOST_CHILDREN).saturating_add(FEW_CHILDREN);
    let mut short = Vec::new();
    if limit.of_all == u64::BITS {
        return Ok(short);
    }
    for (prefix, count) in source.filter(|&(prefix, _)| !limit.allows(prefix)) {
        let limit = limit.of(prefix);
        let more = 1_u64 << (prefix.trailing_zeros() - limit);
        if more > most - short.len() as u64 {
            return Err(Error::OutOfMemory);
        }
        short.try_reserve(more as usize).map_err(|_| Error::OutOfMemory)?;
        short.extend(children(prefix, limit).map(|child| (child, count)));
    }
    short.sort_unstable();
    // What several short ones have in common is one.
    short.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 = kept.1.saturating_add(if same { next.1 } else { 0 });
        same
    });
    Ok(short)
}

/// The other prefixes of `source`, and `short`.
fn whole<I: Iterator<Item = (u64, u64)>>(
    source: I,
    short: &[(u64, u64)],
    limit: &Limit,
) -> impl Iterator<Item = (u64, u64)> {
    With::new(Long { source, limit }, short.iter().copied())
}

/// Those of `source` that are not shorter than that.
struct Long<'a, I> {
    source: I,
    limit: &'a Limit,
}

impl<I: Iterator<Item = (u64, u64)>> Iterator for Long<'_, I> {
    type Item = (u64, u64);

    #[inline(always)]
    fn next(&mut self) -> Option<(u64, u64)> {
        loop {
            let (prefix, count) = self.source.next()?;
            if self.limit.allows(prefix) {
                return Some((prefix, count));
            }
        }
    }
}

impl GrowingFilter {
    pub(super) fn plan(&self, lengths: Lengths, grows: bool, key_count: u64) -> Plan {
        let &GrowingFilter { common, terms, calls, backend, .. } = self;
        Plan { common, terms, calls, backend, lengths, grows, in_turn: false, key_count }
    }

    /// The lengths of the prefixes in all regions.
    pub(super) fn lengths(&self) -> Lengths {
        let mut lengths = [0; PARTS];
        for (part, length) in lengths.iter_mut().enumerate() {
            *length = self.places.layouts[part & self.places.mask].length;
        }
        if let (Some(sweep), Some(fresh)) = (&self.sweep, self.places.layouts.last()) {
            match self.places.mask {
                0 => lengths = [fresh.length; PARTS],
                _ => lengths[sweep.region] = fresh.length,
            }
        }
        lengths
    }

    /// The keys of each region in lines and in the stash. While there is one, the first has them all.
    pub(super) fn keys_of_regions(&self) -> Keys {
        let mut keys = [0; PARTS];
        keys.iter_mut().zip(&self.regions).for_each(|(keys, region)| *keys = region.keys);
        keys
    }

    /// The length of the prefixes of a region when it is moved.
    pub(super) fn next_length(&self, region: usize) -> u32 {
        let (layout, state) = (&self.places.layouts[region], &self.regions[region]);
        let longer = self.common.longer.unwrap_or(0);
        // A round of all regions takes less time than what is left.
        let spent = state.newest > layout.quota / 32 * 27;
        if spent && layout.length < longer { layout.length + 1 } else { layout.length }
    }

    /// With fewer keys it becomes one region again.
    pub(super) fn few_keys(&self) -> u64 {
        let length = self.lengths().into_iter().max().unwrap_or(0);
        Width::new(self.common.prefixes << length, SMALL, self.common.mixed()).most / 3
    }

    /// Builds the whole filter anew: one region becomes sixteen, or sixteen become one.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; all is as before.
    #[cold]
    #[inline(never)]
    pub(super) fn rebuild(&mut self) -> Result<(), Error> {
        let mut lengths = self.lengths();
        if self.places.mask == 0 {
            lengths = [self.next_length(0); PARTS];
        }
        let mut new = self.built(&self.plan(lengths, true, self.key_count))?;
        new.changes = std::mem::take(&mut self.changes);
        *self = new;
        Ok(())
    }
}

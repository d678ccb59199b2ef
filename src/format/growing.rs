//! Layout 11: the lines of all regions of a growing filter, what is beside them, then a record of 64
//! bytes for each region and one for the filter, before the footer of `native`. `docs/format/growing.md` is the
//! standard.

use super::native::{self, FOOTER_BYTES, Footer, FooterBytes, put, u32_at, u64_at};
use crate::error::Error;
use crate::layouts::growing::{MOST_BITS, REGIONS};
use crate::line::LINE_BYTES;

pub(crate) const LAYOUT: u16 = 11;

/// The most regions.
pub(crate) const PARTS: usize = REGIONS as usize;
/// The bytes of a prefix beside the lines, and its count.
pub(crate) const ENTRY_BYTES: usize = 16;
/// The fewest prefixes that a filter can have, and the most.
const PREFIXES: std::ops::RangeInclusive<u64> = 1024..=1 << 59;
/// The fewest prefixes of a line, and the most.
const OF_LINE: std::ops::RangeInclusive<u64> = 64..=1 << 59;
/// The buckets of a line.
const BUCKETS: std::ops::RangeInclusive<u64> = 1..=128;
/// So many lines may follow those that are the home of a prefix.
pub(crate) const SPARE: u64 = 4;

/// Where the fields of a region's record begin. All else in it is 0.
mod of_region {
    pub(super) const FIRST: usize = 0;
    pub(super) const LINES: usize = 8;
    pub(super) const U: usize = 16;
    pub(super) const R: usize = 24;
    pub(super) const LENGTH: usize = 28;
    pub(super) const ZERO: std::ops::RangeFrom<usize> = 32..;
}

/// Where the fields of the filter's record begin. All else in it is 0.
mod of_filter {
    pub(super) const PREFIXES: usize = 0;
    pub(super) const KEYS: usize = 8;
    pub(super) const RATE: usize = 16;
    pub(super) const STASH: usize = 24;
    pub(super) const COPIES: usize = 32;
    pub(super) const LENGTHS: usize = 40;
    pub(super) const ZERO: std::ops::RangeFrom<usize> = 44..;
}

/// A region: what its record says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Region {
    /// The number of its first line.
    pub(crate) first: u64,
    pub(crate) lines: u64,
    /// The prefixes of a line, and the bits of a remainder.
    pub(crate) u: u64,
    pub(crate) r: u32,
    /// By how many bits its prefixes are longer than the first ones.
    pub(crate) length: u32,
}

/// What the records say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) prefixes: u64,
    /// The keys that it was made for.
    pub(crate) keys: u64,
    pub(crate) rate: f64,
    /// By how many bits prefixes can get longer; none if all have one length.
    pub(crate) longer: Option<u32>,
    /// How many prefixes are in the stash, and how many have further copies.
    pub(crate) stash: u64,
    pub(crate) copies: u64,
    /// Of which the first `parts` are there.
    pub(crate) regions: [Region; PARTS],
    pub(crate) parts: usize,
}

impl Shape {
    pub(crate) fn regions(&self) -> &[Region] {
        &self.regions[..self.parts]
    }

    /// The lines of all regions.
    pub(crate) fn lines(&self) -> u64 {
        self.regions().iter().map(|region| region.lines).sum()
    }

    /// The lines, and what is beside them in units of as many bytes.
    fn blocks(&self) -> u64 {
        let entries = (self.stash + self.copies) * ENTRY_BYTES as u64;
        self.lines() + entries.div_ceil(LINE_BYTES as u64)
    }

    /// The bytes before the footer.
    pub(crate) fn body_len(&self) -> usize {
        (self.blocks() as usize + self.parts + 1) * LINE_BYTES
    }

    /// The records, of which the first are those of the regions. As many as there are regions, and one.
    pub(crate) fn records(&self) -> [FooterBytes; PARTS + 1] {
        let mut records = [[0; FOOTER_BYTES]; PARTS + 1];
        for (record, region) in records.iter_mut().zip(self.regions()) {
            put(record, of_region::FIRST, region.first.to_le_bytes());
            put(record, of_region::LINES, region.lines.to_le_bytes());
            put(record, of_region::U, region.u.to_le_bytes());
            put(record, of_region::R, region.r.to_le_bytes());
            put(record, of_region::LENGTH, region.length.to_le_bytes());
        }
        let last = &mut records[self.parts];
        put(last, of_filter::PREFIXES, self.prefixes.to_le_bytes());
        put(last, of_filter::KEYS, self.keys.to_le_bytes());
        put(last, of_filter::RATE, self.rate.to_bits().to_le_bytes());
        put(last, of_filter::STASH, self.stash.to_le_bytes());
        put(last, of_filter::COPIES, self.copies.to_le_bytes());
        let lengths = self.longer.map_or(0, |longer| longer + 1);
        put(last, of_filter::LENGTHS, lengths.to_le_bytes());
        records
    }

    /// What the footer says of a filter of this shape.
    pub(crate) fn footer(&self, key_count: u64, seed: u64) -> Footer {
        let records = self.records();
        Footer {
            key_count,
            line_count: self.blocks(),
            seed,
            k: self.parts as u32,
            layout: LAYOUT,
            shape: native::checksum(records[..=self.parts].as_flattened()),
        }
    }
}

/// What a footer says.
pub(crate) struct Outline {
    pub(crate) parts: usize,
    /// The lines, and what is beside them.
    blocks: u64,
    pub(crate) key_count: u64,
    pub(crate) seed: u64,
    /// The checksum of the records.
    records: u64,
}

/// As `native::check`, for this layout.
pub(crate) fn check(footer: &FooterBytes, body_len: u64) -> Result<Outline, Error> {
    let footer = Footer::read_of(footer, LAYOUT)?;
    let parts = footer.k as usize;
    footer.check_parts(body_len, [1, PARTS].contains(&parts).then_some(parts + 1))?;
    let Footer { key_count, line_count: blocks, seed, shape: records, .. } = footer;
    Ok(Outline { parts, blocks, key_count, seed, records })
}

/// An encoded filter of which the footer is checked: its outline, what is before the records, and these.
pub(crate) fn parse(bytes: &[u8]) -> Result<(Outline, &[u8], &[FooterBytes]), Error> {
    let (body, footer) = native::split(bytes)?;
    let outline = check(footer, body.len() as u64)?;
    let (blocks, records) = body.split_at(outline.blocks as usize * LINE_BYTES);
    Ok((outline, blocks, records.as_chunks().0))
}

impl Outline {
    /// What these records say. The order of the checks is that of `docs/format/growing.md`.
    pub(crate) fn shape(&self, records: &[FooterBytes]) -> Result<Shape, Error> {
        native::check_records(records, self.records)?;
        let Some((of_all, of_regions)) = records.split_last() else { return Err(Error::Reserved) };
        let mut shape = shape_of(of_all, self.parts)?;
        let mut lines = 0;
        for (region, record) in shape.regions.iter_mut().zip(of_regions) {
            let w = (shape.prefixes / self.parts as u64, shape.longer);
            *region = region_of(record, w)?;
            if region.first != lines || region.lines > self.blocks - lines {
                return Err(Error::LineCount(region.lines));
            }
            lines += region.lines;
        }
        // In as many bits nothing overflows: both are checked against bytes that are there.
        let entries = u128::from(shape.stash) + u128::from(shape.copies);
        let beside = (entries * ENTRY_BYTES as u128).div_ceil(LINE_BYTES as u128);
        if u128::from(lines) + beside != self.blocks.into() {
            return Err(Error::LineCount(lines));
        }
        Ok(shape)
    }
}

fn shape_of(record: &FooterBytes, parts: usize) -> Result<Shape, Error> {
    let prefixes = u64_at(record, of_filter::PREFIXES);
    let keys = u64_at(record, of_filter::KEYS);
    let lengths = u32_at(record, of_filter::LENGTHS);
    if record[of_filter::ZERO].iter().any(|&byte| byte != 0)
        || !PREFIXES.contains(&prefixes)
        || !prefixes.is_multiple_of(REGIONS)
        || keys > prefixes
        || lengths > 0 && (PREFIXES.end() / prefixes) >> (lengths - 1).min(63) == 0
    {
        return Err(Error::Reserved);
    }
    let rate = f64::from_bits(u64_at(record, of_filter::RATE));
    if !(rate > 0.0 && rate < 1.0) {
        return Err(Error::Rate(rate));
    }
    Ok(Shape {
        prefixes,
        keys,
        rate,
        longer: lengths.checked_sub(1),
        stash: u64_at(record, of_filter::STASH),
        copies: u64_at(record, of_filter::COPIES),
        regions: [Region::default(); PARTS],
        parts,
    })
}

/// The region of a record, with so many prefixes of the first length.
fn region_of(record: &FooterBytes, (w, longer): (u64, Option<u32>)) -> Result<Region, Error> {
    let region = Region {
        first: u64_at(record, of_region::FIRST),
        lines: u64_at(record, of_region::LINES),
        u: u64_at(record, of_region::U),
        r: u32_at(record, of_region::R),
        length: u32_at(record, of_region::LENGTH),
    };
    let Region { lines, u, r, length, .. } = region;
    if record[of_region::ZERO].iter().any(|&byte| byte != 0)
        || length > longer.unwrap_or(0)
        || !(1..=MOST_BITS).contains(&r)
        || !OF_LINE.contains(&u)
    {
        return Err(Error::Reserved);
    }
    let values = u << u32::from(longer.is_some());
    let begins_with_bucket = longer.is_none() || values.is_multiple_of(1 << r);
    if !BUCKETS.contains(&(values >> r)) || !begins_with_bucket {
        return Err(Error::Reserved);
    }
    let homes = (w << length).div_ceil(u);
    if lines < homes || lines > homes + SPARE { Err(Error::LineCount(lines)) } else { Ok(region) }
}

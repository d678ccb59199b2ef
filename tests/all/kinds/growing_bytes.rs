//! Growing filters by the definition: their encoded form taken apart, and what a reader says of any bytes.
//! `growing_model.rs` writes it.

use crate::definition::*;
use bloomline::definition::growing::{self, Content, Found};
use std::collections::BTreeMap;

/// The fields of the record of a region.
pub(crate) mod of_region {
    use std::ops::Range;
    pub(crate) const FIRST: Range<usize> = 0..8;
    pub(crate) const LINES: Range<usize> = 8..16;
    pub(crate) const U: Range<usize> = 16..24;
    pub(crate) const R: Range<usize> = 24..28;
    pub(crate) const LENGTH: Range<usize> = 28..32;
}

/// The fields of the record of the filter.
pub(crate) mod of_filter {
    use std::ops::Range;
    pub(crate) const PREFIXES: Range<usize> = 0..8;
    pub(crate) const KEYS: Range<usize> = 8..16;
    pub(crate) const RATE: Range<usize> = 16..24;
    pub(crate) const STASH: Range<usize> = 24..32;
    pub(crate) const COPIES: Range<usize> = 32..40;
    pub(crate) const LENGTHS: Range<usize> = 40..44;
}

/// As [`seal`], the checksum of the records too, as far as they are there.
pub(crate) fn seal_growing(bytes: &mut [u8]) {
    let footer = bytes.len() - FOOTER_BYTES;
    let start = footer.saturating_sub((get(bytes, K) as usize + 1).saturating_mul(64));
    put(bytes, RESERVED, hash(&bytes[start..footer], 0));
    seal(bytes);
}

/// A region of an encoded filter.
pub(crate) struct Region<'a> {
    pub(crate) number: u64,
    pub(crate) lines: &'a [[u8; 64]],
    pub(crate) u: u64,
    pub(crate) r: u32,
    pub(crate) length: u32,
    /// Its prefixes, and where they begin as all are counted.
    pub(crate) w: u64,
    pub(crate) start: u64,
    pub(crate) norm: u32,
    pub(crate) mixed: u32,
}

impl Region<'_> {
    fn of_line(&self) -> u64 {
        self.u << self.mixed
    }

    /// The values, counted from the start of the region, and the lines that they are in.
    pub(crate) fn values(&self) -> Vec<(u64, usize)> {
        let mut values = Vec::new();
        for (i, line) in self.lines.iter().enumerate() {
            let start = i as u64 * self.of_line();
            let keys = growing::read(line, self.r).keys;
            values.extend(keys.into_iter().map(|key| (start.wrapping_add_signed(key), i)));
        }
        values
    }

    pub(crate) fn normal(&self, value: u64) -> u64 {
        self.start + (value << self.norm)
    }

    /// Whether the lines have a prefix of a hash.
    fn contains(&self, hash: u64, prefixes: u64, parts: u64) -> bool {
        let all = u128::from(prefixes << self.length);
        let prefix = ((u128::from(hash) * all) >> 64) as u64 - self.number * (all as u64 / parts);
        let (line, offset) = growing::place(prefix, self.u);
        let mut value = if self.mixed == 1 { growing::mixed(offset, 0) } else { offset as i64 };
        for line in &self.lines[line as usize..] {
            if value >> self.r < -256 {
                return false;
            }
            let line = growing::read(line, self.r);
            let found = match self.mixed {
                0 => line.find(value, self.r),
                _ => line.find_mixed(value, self.r),
            };
            match found {
                Found::Present => return true,
                Found::Absent => return false,
                Found::Onward => value -= self.of_line() as i64,
            }
        }
        true
    }
}

/// An encoded filter, taken apart.
pub(crate) struct Read<'a> {
    pub(crate) regions: Vec<Region<'a>>,
    pub(crate) stash: Vec<(u64, u64)>,
    pub(crate) copies: Vec<(u64, u64)>,
    /// What is behind these, before the records.
    pub(crate) rest: &'a [u8],
    pub(crate) prefixes: u64,
    pub(crate) longer: Option<u32>,
}

impl Read<'_> {
    /// Of bytes whose records are valid.
    pub(crate) fn of(bytes: &[u8]) -> Read<'_> {
        let body = &bytes[..bytes.len() - 64];
        let parts = get(bytes, K);
        let (blocks, records) = body.split_at(64 * get(bytes, LINE_COUNT) as usize);
        let [prefixes, stash, copies] = [of_filter::PREFIXES, of_filter::STASH, of_filter::COPIES]
            .map(|field| get(records, field));
        let lengths = get(records, of_filter::LENGTHS) as u32;
        let (longer, mixed) = (lengths.checked_sub(1), u32::from(lengths > 0));
        let (mut regions, mut end) = (Vec::new(), 0);
        for (number, record) in (0..parts).zip(records.chunks(64)) {
            let field = |field| get(record, field);
            let (length, first) = (field(of_region::LENGTH) as u32, end);
            end += 64 * field(of_region::LINES) as usize;
            let normals = prefixes << (mixed + longer.unwrap_or(0));
            regions.push(Region {
                number,
                lines: blocks[first..end].as_chunks().0,
                u: field(of_region::U),
                r: field(of_region::R) as u32,
                length,
                w: (prefixes << length) / parts,
                start: number * (normals / parts),
                norm: longer.unwrap_or(0) - length,
                mixed,
            });
        }
        let (entries, _) = blocks[end..].as_chunks::<16>();
        let entry = |entry: &[u8; 16]| {
            let number = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().unwrap());
            (number(0), number(8))
        };
        let (stash, rest) = entries.split_at(stash as usize);
        let copies = &rest[..copies as usize];
        let rest = &blocks[end + 16 * (stash.len() + copies.len())..];
        let [stash, copies] = [stash, copies].map(|all| all.iter().map(entry).collect());
        Read { regions, stash, copies, rest, prefixes, longer }
    }
}

/// Whether an encoded filter that is intact may have a key.
pub(crate) fn growing_contains(bytes: &[u8], hash: u64) -> bool {
    let read = Read::of(bytes);
    let parts = read.regions.len() as u64;
    let region = &read.regions[growing::region(hash) as usize % read.regions.len()];
    let in_stash = |length| {
        let prefix = ((u128::from(hash) * u128::from(read.prefixes << length)) >> 64) as u64;
        let normal = match read.longer {
            None => prefix,
            Some(longer) => (2 * prefix + 1) << (longer - length),
        };
        read.stash.iter().any(|&(other, _)| other == normal)
    };
    region.contains(hash, read.prefixes, parts) || (0..=region.length).any(in_stash)
}

/// As [`check`], for growing filters.
pub(crate) fn check_growing(bytes: &[u8], verify: bool) -> u32 {
    if let Err(status) = check_layout(bytes, 11) {
        return status;
    }
    let (parts, blocks) = (get(bytes, K), get(bytes, LINE_COUNT));
    if parts != 1 && parts != 16 {
        return status::K;
    }
    // In 128 bits nothing overflows.
    let len = (u128::from(blocks) + u128::from(parts) + 2) * 64;
    if blocks == 0 || len > isize::MAX as u128 {
        return status::LINE_COUNT;
    }
    if len != bytes.len() as u128 {
        return status::TRUNCATED;
    }
    let body = &bytes[..bytes.len() - 64];
    let records = &body[64 * blocks as usize..];
    if verify && get(bytes, LINES_CHECKSUM) != hash(body, 0) {
        return status::CHECKSUM;
    }
    if get(bytes, RESERVED) != hash(records, 0) {
        return status::CHECKSUM;
    }
    let of_all = &records[64 * parts as usize..];
    let [prefixes, keys, rate, stash, copies] = [
        of_filter::PREFIXES,
        of_filter::KEYS,
        of_filter::RATE,
        of_filter::STASH,
        of_filter::COPIES,
    ]
    .map(|field| get(of_all, field));
    let lengths = get(of_all, of_filter::LENGTHS);
    let fits = |length: u64| length < 64 && u128::from(prefixes) << length <= 1 << 59;
    if of_all[44..].iter().any(|&byte| byte != 0)
        || !(1024..=1 << 59).contains(&prefixes)
        || prefixes % 16 > 0
        || keys > prefixes
        || lengths > 0 && !fits(lengths - 1)
    {
        return status::RESERVED;
    }
    let rate = f64::from_bits(rate);
    if !(rate > 0.0 && rate < 1.0) {
        return status::RATE;
    }
    let mixed = u32::from(lengths > 0);
    let mut lines = 0_u128;
    for record in records.chunks(64).take(parts as usize) {
        let [u, r, length] =
            [of_region::U, of_region::R, of_region::LENGTH].map(|at| get(record, at));
        if record[32..].iter().any(|&byte| byte != 0)
            || length > lengths.saturating_sub(1)
            || !(1..=54).contains(&r)
            || !(64..=1 << 59).contains(&u)
            || !(1..=128).contains(&((u << mixed) >> r))
            || mixed == 1 && (u << mixed) % (1 << r) > 0
        {
            return status::RESERVED;
        }
        let (first, own) = (get(record, of_region::FIRST), get(record, of_region::LINES));
        let homes = ((prefixes << length) / parts).div_ceil(u);
        if own < homes
            || own > homes + 4
            || u128::from(first) != lines
            || lines + u128::from(own) > blocks.into()
        {
            return status::LINE_COUNT;
        }
        lines += u128::from(own);
    }
    let beside = ((u128::from(stash) + u128::from(copies)) * 16).div_ceil(64);
    if lines + beside != blocks.into() {
        return status::LINE_COUNT;
    }
    if verify && !is_as_written(bytes) { status::CHECKSUM } else { status::OK }
}

/// Whether what is before valid records is as a writer leaves it.
fn is_as_written(bytes: &[u8]) -> bool {
    let read = Read::of(bytes);
    let mut counts = BTreeMap::<u64, u128>::new();
    for region in &read.regions {
        let contents: Vec<_> =
            region.lines.iter().map(|line| growing::read(line, region.r)).collect();
        let same = |(content, line): (&Content, &[u8; 64])| {
            content.keys.is_sorted() && growing::write(content, region.r) == Some(*line)
        };
        if !contents.iter().zip(region.lines).all(same) || contents[contents.len() - 1].goes_on {
            return false;
        }
        let values = region.values();
        for &(value, line) in &values {
            let zeros = value.trailing_zeros();
            if value >= region.w << region.mixed
                || region.mixed == 1 && (zeros >= region.r || zeros > region.length)
            {
                return false;
            }
            let home = (value / region.of_line()) as usize;
            if home > line || !contents[home..line].iter().all(|content| content.goes_on) {
                return false;
            }
            *counts.entry(region.normal(value)).or_default() += 1;
        }
        if !values.is_sorted_by_key(|&(value, _)| value) {
            return false;
        }
    }
    let normals = read.prefixes << (read.longer.unwrap_or(0) + u32::from(read.longer.is_some()));
    for list in [&read.stash, &read.copies] {
        let is_found = |&(prefix, count): &(u64, u64)| {
            if prefix >= normals || count == 0 {
                return false;
            }
            let region = &read.regions[(prefix / (normals / read.regions.len() as u64)) as usize];
            let zeros = prefix.trailing_zeros();
            region.mixed == 0 || (region.norm..=region.norm + region.length).contains(&zeros)
        };
        if !list.is_sorted_by(|a, b| a.0 < b.0) || !list.iter().all(is_found) {
            return false;
        }
    }
    for (prefix, count) in &read.stash {
        *counts.entry(*prefix).or_default() += u128::from(*count);
    }
    for (prefix, count) in &read.copies {
        match counts.get_mut(prefix) {
            Some(all) => *all += u128::from(*count),
            None => return false,
        }
    }
    counts.values().sum::<u128>() <= u64::MAX.into() && read.rest.iter().all(|&byte| byte == 0)
}

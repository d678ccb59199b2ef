//! Growing filters by the definition: their encoded form, and what a reader says of any bytes.

use super::*;
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

/// How the lines of a region are laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Width {
    pub(crate) u: u64,
    pub(crate) r: u32,
    pub(crate) length: u32,
}

/// What a growing filter is made with, and what it holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Growing {
    pub(crate) prefixes: u64,
    pub(crate) keys: u64,
    pub(crate) rate: f64,
    pub(crate) seed: u64,
    pub(crate) key_count: u64,
    /// By how many bits prefixes can get longer, where they can.
    pub(crate) longer: Option<u32>,
    /// By how many they are longer in each sixteenth of all.
    pub(crate) lengths: [u32; 16],
    /// Prefixes as the page's `normal` has them, and how often each is there.
    pub(crate) counts: BTreeMap<u64, u64>,
}

impl Growing {
    /// An empty one whose prefixes all have one length.
    pub(crate) fn new(keys: u64, rate: f64, seed: u64) -> Growing {
        let prefixes = (keys.max(1) as f64 / rate).ceil().max(1024.0) as u64;
        let prefixes = prefixes.next_multiple_of(16);
        let (lengths, counts) = ([0; 16], BTreeMap::new());
        Growing { prefixes, keys, rate, seed, key_count: 0, longer: None, lengths, counts }
    }

    /// An empty one whose prefixes are to get longer.
    pub(crate) fn unbounded(keys: u64, rate: f64, seed: u64) -> Growing {
        let filter = Growing::new(keys.max(1), rate / 24.0, seed);
        let longer = Some(((1 << 59) / filter.prefixes).ilog2());
        Growing { keys, rate, longer, ..filter }
    }

    fn mixed(&self) -> u32 {
        u32::from(self.longer.is_some())
    }

    /// A prefix of a hash as prefixes of all lengths are counted.
    pub(crate) fn normal(&self, hash: u64, length: u32) -> u64 {
        let prefix = (u128::from(hash) * u128::from(self.prefixes << length)) >> 64;
        match self.longer {
            None => prefix as u64,
            Some(longer) => (2 * prefix as u64 + 1) << (longer - length),
        }
    }

    /// What is above all of these.
    fn normals(&self) -> u64 {
        self.prefixes << (self.mixed() + self.longer.unwrap_or(0))
    }

    /// Inserts a key, with a prefix of a length. Returns true if none of it was there.
    pub(crate) fn insert(&mut self, hash: u64, length: u32) -> bool {
        let was_there = self.contains(hash);
        *self.counts.entry(self.normal(hash, length)).or_default() += 1;
        self.key_count += 1;
        !was_there
    }

    /// Removes a key: its longest prefix.
    pub(crate) fn remove(&mut self, hash: u64) -> bool {
        let mut all = (0..=self.longer.unwrap_or(0)).rev().map(|length| self.normal(hash, length));
        let Some(prefix) = all.find(|prefix| self.counts.contains_key(prefix)) else {
            return false;
        };
        self.key_count -= 1;
        *self.counts.get_mut(&prefix).unwrap() -= 1;
        self.counts.retain(|_, count| *count > 0);
        true
    }

    /// How often prefixes of a key are there.
    pub(crate) fn count(&self, hash: u64) -> u64 {
        let all = (0..=self.longer.unwrap_or(0)).map(|length| self.normal(hash, length));
        all.map(|prefix| self.counts.get(&prefix).copied().unwrap_or(0)).sum()
    }

    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.count(hash) > 0
    }

    /// Its bytes: those that all writers make of it.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut limit = u64::BITS;
        loop {
            let counts = self.divided(limit);
            let widths = self.widths(&counts);
            let lowest = widths.iter().map(|width| self.limit(width)).min().unwrap();
            if lowest >= limit {
                return self.encode_as(&counts, &widths);
            }
            limit = lowest;
        }
    }

    /// How many zeros a prefix in lines of this width may end with.
    fn limit(&self, width: &Width) -> u32 {
        self.longer.map_or(u64::BITS, |longer| longer - width.length + width.r - 1)
    }

    /// The prefixes, those with more zeros each as several with so many.
    fn divided(&self, limit: u32) -> BTreeMap<u64, u64> {
        let mut whole = BTreeMap::new();
        for (&prefix, &count) in &self.counts {
            let zeros = prefix.trailing_zeros();
            if zeros <= limit {
                *whole.entry(prefix).or_default() += count;
                continue;
            }
            let first = prefix - (1 << zeros) + (1 << limit);
            for i in 0..1 << (zeros - limit) {
                *whole.entry(first + (i << (limit + 1))).or_default() += count;
            }
        }
        whole
    }

    /// The widths of the lines for these prefixes.
    fn widths(&self, counts: &BTreeMap<u64, u64>) -> Vec<Width> {
        let mut keys = [0; 16];
        for (prefix, &count) in counts {
            keys[(prefix / (self.normals() / 16)) as usize] += count.min(8);
        }
        let all = keys.iter().sum::<u64>();
        let longest = *self.lengths.iter().max().unwrap();
        let mixed = self.mixed();
        let whole = self.prefixes << longest;
        let lines = lines_for(whole, all - all * 4 / 256, mixed);
        if lines <= 256 {
            let (u, r, _) = width(whole, lines, mixed);
            return vec![Width { u, r, length: longest }];
        }
        let regions = self.lengths.iter().zip(keys).map(|(&length, keys)| {
            let w = (self.prefixes << length) / 16;
            let (u, r, _) = width(w, lines_for(w, keys - keys * 4 / 256, mixed), mixed);
            Width { u, r, length }
        });
        regions.collect()
    }

    /// Its bytes, of these prefixes in lines of these widths.
    pub(crate) fn encode_as(&self, counts: &BTreeMap<u64, u64>, widths: &[Width]) -> Vec<u8> {
        let (mut lines, mut stash, mut records) = (Vec::new(), BTreeMap::new(), Vec::new());
        let part = self.normals() / widths.len() as u64;
        for (i, &Width { u, r, length }) in (0..).zip(widths) {
            let norm = self.longer.unwrap_or(0) - length;
            let w = (self.prefixes << length) / widths.len() as u64;
            let mut values = Vec::new();
            for (prefix, &count) in counts.range(i * part..(i + 1) * part) {
                values.extend((0..count.min(8)).map(|_| (prefix - i * part) >> norm));
            }
            let (own, left) = chain(&values, u << self.mixed(), w.div_ceil(u), r);
            for value in left {
                *stash.entry((value << norm) + i * part).or_insert(0) += 1;
            }
            records.extend([0; 64]);
            put(&mut records, of_region::FIRST, lines.len() as u64 / 64);
            put(&mut records, of_region::LINES, own.len() as u64);
            put(&mut records, of_region::U, u);
            put(&mut records, of_region::R, r.into());
            put(&mut records, of_region::LENGTH, length.into());
            lines.extend(own.into_flattened());
        }
        let copies: Vec<_> = counts.iter().filter(|&(_, &count)| count > 8).collect();
        records.extend([0; 64]);
        put(&mut records, of_filter::PREFIXES, self.prefixes);
        put(&mut records, of_filter::KEYS, self.keys);
        put(&mut records, of_filter::RATE, self.rate.to_bits());
        put(&mut records, of_filter::STASH, stash.len() as u64);
        put(&mut records, of_filter::COPIES, copies.len() as u64);
        put(&mut records, of_filter::LENGTHS, self.longer.map_or(0, |longer| longer + 1).into());
        for (prefix, count) in stash {
            lines.extend([prefix, count].map(u64::to_le_bytes).as_flattened());
        }
        for (prefix, count) in copies {
            lines.extend([*prefix, count - 8].map(u64::to_le_bytes).as_flattened());
        }
        lines.resize(lines.len().next_multiple_of(64), 0);
        let blocks = lines.len() as u64 / 64;
        lines.extend(records);
        let mut bytes = encode(&lines, widths.len() as u32, self.seed, self.key_count);
        put(&mut bytes, LINE_COUNT, blocks);
        put(&mut bytes, LAYOUT, 11);
        seal_growing(&mut bytes);
        bytes
    }

    /// What intact bytes hold.
    pub(crate) fn open(bytes: &[u8]) -> Growing {
        let read = Read::of(bytes);
        let mut counts = BTreeMap::new();
        for region in &read.regions {
            for (value, _) in region.values() {
                *counts.entry(region.normal(value)).or_default() += 1;
            }
        }
        for (prefix, count) in read.stash.iter().chain(&read.copies) {
            *counts.entry(*prefix).or_default() += count;
        }
        let mut lengths = [0; 16];
        for (i, length) in lengths.iter_mut().enumerate() {
            *length = read.regions[i % read.regions.len()].length;
        }
        let all = &bytes[..bytes.len() - 64];
        let longer = read.longer;
        Growing {
            prefixes: get(all, of_filter::PREFIXES),
            keys: get(all, of_filter::KEYS),
            rate: f64::from_bits(get(all, of_filter::RATE)),
            seed: get(bytes, SEED),
            key_count: get(bytes, KEY_COUNT),
            longer,
            lengths,
            counts,
        }
    }
}

/// The keys that a line has room for on average, in 256ths.
fn capacity(values: u64, r: u32) -> u64 {
    let buckets = (u128::from(values) * 256) >> r;
    if buckets > 32768 {
        return 0;
    }
    let buckets = buckets as u64;
    let by_bits = (496 * 256_u64).saturating_sub(buckets) / u64::from(r + 1);
    by_bits.min((112 * 256_u64).saturating_sub(buckets)).min(63 * 256)
}

/// The prefixes of a line, the bits of a remainder, and the keys with which a region is full, for `w`
/// prefixes in about so many lines.
fn width(w: u64, lines: u64, mixed: u32) -> (u64, u32, u64) {
    let mut u = w.div_ceil(lines).max(64);
    let values = u << mixed;
    let bits = values.ilog2();
    let from = bits.saturating_sub(8).max(1);
    let most = (from..=bits.min(54)).map(|r| capacity(values, r)).max().unwrap();
    let r = (from..=bits.min(54)).find(|&r| capacity(values, r) == most).unwrap();
    if mixed == 1 {
        u = u.next_multiple_of(1 << (r - 1));
    }
    let full = u128::from(w.div_ceil(u)) * u128::from(capacity(u << mixed, r)) * 241;
    (u, r, ((full >> 16) as u64).max(1))
}

/// The lines that so many keys need.
fn lines_for(w: u64, keys: u64, mixed: u32) -> u64 {
    let (mut low, mut high) = (1, (w / 64).max(1).min(keys.max(1)));
    while low < high {
        let middle = low + (high - low) / 2;
        if width(w, middle, mixed).2 >= keys {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The lines of a region that hold these values, and those that no line has room for.
fn chain(values: &[u64], of_line: u64, homes: u64, r: u32) -> (Vec<[u8; 64]>, Vec<u64>) {
    let (mut lines, mut left) = (Vec::new(), Vec::new());
    let mut values = values.iter().copied().peekable();
    let mut carried: Vec<u64> = Vec::new();
    while lines.len() < homes as usize + 4 && (values.peek().is_some() || !carried.is_empty()) {
        let start = lines.len() as u64 * of_line;
        while let Some(value) = values.next_if(|value| *value < start + of_line) {
            carried.push(value);
        }
        // As the lines count them, those that are too far behind left out.
        let keys = |carried: &[u64]| -> Vec<i64> {
            carried.iter().map(|&value| value.wrapping_sub(start) as i64).collect()
        };
        let behind = keys(&carried).into_iter().take_while(|&key| key >> r < -256).count();
        left.extend(carried.drain(..behind));
        let keys = keys(&carried);
        let holds = |count: usize, goes_on| {
            growing::write(&Content { keys: keys[..count].to_vec(), goes_on }, r)
        };
        let took = (0..=keys.len()).take_while(|&count| holds(count, false).is_some()).last();
        let took = took.unwrap();
        let is_last = lines.len() as u64 + 1 == homes + 4;
        lines.push(holds(took, took < keys.len() && !is_last).unwrap());
        carried.drain(..took);
    }
    left.extend(carried);
    lines.resize(lines.len().max(homes as usize), [0; 64]);
    (lines, left)
}

/// As [`seal`], the checksum of the records too, as far as they are there.
pub(crate) fn seal_growing(bytes: &mut [u8]) {
    let footer = bytes.len() - FOOTER_BYTES;
    let start = footer.saturating_sub((get(bytes, K) as usize + 1).saturating_mul(64));
    put(bytes, RESERVED, hash(&bytes[start..footer], 0));
    seal(bytes);
}

/// A region of an encoded filter.
struct Region<'a> {
    number: u64,
    lines: &'a [[u8; 64]],
    u: u64,
    r: u32,
    length: u32,
    /// Its prefixes, and where they begin as all are counted.
    w: u64,
    start: u64,
    norm: u32,
    mixed: u32,
}

impl Region<'_> {
    fn of_line(&self) -> u64 {
        self.u << self.mixed
    }

    /// The values, counted from the start of the region, and the lines that they are in.
    fn values(&self) -> Vec<(u64, usize)> {
        let mut values = Vec::new();
        for (i, line) in self.lines.iter().enumerate() {
            let start = i as u64 * self.of_line();
            let keys = growing::read(line, self.r).keys;
            values.extend(keys.into_iter().map(|key| (start.wrapping_add_signed(key), i)));
        }
        values
    }

    fn normal(&self, value: u64) -> u64 {
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
struct Read<'a> {
    regions: Vec<Region<'a>>,
    stash: Vec<(u64, u64)>,
    copies: Vec<(u64, u64)>,
    /// What is behind these, before the records.
    rest: &'a [u8],
    prefixes: u64,
    longer: Option<u32>,
}

impl Read<'_> {
    /// Of bytes whose records are valid.
    fn of(bytes: &[u8]) -> Read<'_> {
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

//! Growing filters by the definition: prefixes, how often each is there, and the bytes of these.

use super::growing_bytes::*;
use crate::definition::*;
use bloomline::definition::growing::{self, Content};
use std::collections::BTreeMap;

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
        let count = self.counts.get_mut(&prefix).unwrap();
        *count -= 1;
        if *count == 0 {
            self.counts.remove(&prefix);
        }
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

    /// The part of all hashes whose prefix is there.
    pub(crate) fn rate(&self) -> f64 {
        let covers = |&prefix: &u64| match self.longer {
            None => (prefix, prefix + 1),
            Some(_) => (prefix & (prefix - 1), prefix + (1 << prefix.trailing_zeros())),
        };
        let mut all: Vec<(u64, u64)> = self.counts.keys().map(covers).collect();
        all.sort_unstable();
        let (mut covered, mut sum) = (0, 0);
        for (from, until) in all {
            sum += until.saturating_sub(from.max(covered));
            covered = covered.max(until);
        }
        sum as f64 / self.normals() as f64
    }

    /// Its bytes: those that all writers make of it.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (mut limit, mut regions) = (u64::BITS, false);
        loop {
            let counts = self.divided(limit, regions);
            let widths = self.widths(&counts, regions);
            let lowest = limit.min(widths.iter().map(|width| self.limit(width)).min().unwrap());
            let now = widths.len() > 1;
            if (lowest, now) == (limit, regions) || self.divided(lowest, now) == counts {
                return self.encode_as(&counts, &widths);
            }
            (limit, regions) = (lowest, now);
        }
    }

    /// How many zeros a prefix in lines of this width may end with.
    fn limit(&self, width: &Width) -> u32 {
        self.longer.map_or(u64::BITS, |longer| longer - width.length + width.r - 1)
    }

    /// The prefixes, those with more zeros each as several with so many. In a region of sixteen none is longer
    /// than its longest.
    fn divided(&self, of_all: u32, regions: bool) -> BTreeMap<u64, u64> {
        let mut whole = BTreeMap::new();
        for (&prefix, &count) in &self.counts {
            let longest = self.lengths[(prefix / (self.normals() / 16)) as usize];
            let least = if regions { self.longer.unwrap_or(0) - longest } else { 0 };
            let limit = of_all.max(least);
            let zeros = prefix.trailing_zeros();
            if zeros <= limit {
                add(whole.entry(prefix).or_default(), count);
                continue;
            }
            let first = prefix - (1 << zeros) + (1 << limit);
            for i in 0..1 << (zeros - limit) {
                add(whole.entry(first + (i << (limit + 1))).or_default(), count);
            }
        }
        whole
    }

    /// For how many keys there are lines at most.
    fn most_keys(&self) -> u64 {
        16 * self.counts.values().map(|&count| count.min(8)).sum::<u64>() + 256
    }

    /// The widths of the lines for these prefixes.
    fn widths(&self, counts: &BTreeMap<u64, u64>, regions: bool) -> Vec<Width> {
        let mut keys = [0; 16];
        for (prefix, &count) in counts {
            keys[(prefix / (self.normals() / 16)) as usize] += count.min(8);
        }
        let (all, most) = (keys.iter().sum::<u64>(), self.most_keys());
        let (keys, all) = match all > most {
            true => (keys.map(|keys| (keys as u128 * most as u128 / all as u128) as u64), most),
            false => (keys, all),
        };
        let longest = *self.lengths.iter().max().unwrap();
        let mixed = self.mixed();
        let whole = self.prefixes << longest;
        let lines = lines_for(whole, all - all * 4 / 256, mixed);
        if lines <= 256 && !regions {
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
        let in_lines: u64 = counts.values().map(|&count| count.min(8)).sum();
        let copies = counts.iter().filter(|&(_, &count)| count > 8);
        let copies =
            capped(copies.map(|(&prefix, count)| (prefix, count - 8)), u64::MAX - in_lines);
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
            lines.extend([prefix, count].map(u64::to_le_bytes).as_flattened());
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

/// Adds to a count, up to the highest number.
fn add(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}

/// Counts that together are no more than that: the high ones are as low as it takes.
fn capped(all: impl Iterator<Item = (u64, u64)>, most: u64) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = all.collect();
    // The lowest ones stay if those above are given no more than their share of what is left.
    let mut by_count: Vec<usize> = (0..all.len()).collect();
    by_count.sort_by_key(|&i| all[i].1);
    let mut left = most;
    for (done, &i) in by_count.iter().enumerate() {
        let share = left / (all.len() - done) as u64;
        if all[i].1 > share {
            by_count[done..].iter().for_each(|&i| all[i].1 = all[i].1.min(share));
            break;
        }
        left -= all[i].1;
    }
    all
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

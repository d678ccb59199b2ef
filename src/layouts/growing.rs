//! The growing filter, in its plainest form: a sorted multiset of hash prefixes, in lines.
//!
//! For each key the filter stores the **prefix** of its hash, and nothing else. A key may be
//! present if its prefix is stored. So the false-positive rate is the number of distinct prefixes stored,
//! divided by the number of prefixes there are. That number, `16 w`, is fixed when the filter is
//! made. A prefix that is stored again is kept again, so each of its keys can be removed.
//!
//! ```text
//! region = hash >> 60                              one of 16
//! prefix = high 64 bits of ((hash << 4) * w)       0 to w - 1, in its region
//! line   = prefix / u, rounded down                a line is the home of u consecutive prefixes
//! offset = prefix - line * u
//! ```
//!
//! Both the region and the prefix in it grow with the hash: 16 regions side by side hold the
//! prefixes `floor(hash * 16 w / 2^64)`. A filter grows by moving its prefixes to lines of a smaller
//! `u`, and shrinks by the opposite. Which prefixes it holds does not change.
//!
//! **Values.** The lines of a region hold one ascending sequence. In each line a prefix is stored
//! as a **value**: its offset, counted from the first prefix of that line. What does not fit goes on
//! in the next line. There the value is lower by `u` than in the line before, and negative. A line
//! that goes on has a flag. A probe reads the home line. It reads the next one only if the line goes on
//! and no value of a later bucket is in it.
//!
//! **The line** has 512 bits, the first the lowest of the first byte. A value is a **bucket**, the
//! value shifted right by `r`, and a **remainder**, its low `r` bits:
//!
//! ```text
//! bits   0 to 5    m, the number of values
//! bit    6         the line goes on
//! bits   7 to 15   base, signed: the bucket of the first value, at most 255
//! bits  16 to 127  header: for each bucket from base on, a 1 for each of its values, then a 0;
//!                  it ends with the 1 of the last value, and zeros follow
//! bits 512 - (j + 1) r to 511 - j r    the remainder of value j, the lowest value first
//! ```
//!
//! So the remainders grow downwards from the end of the line, and what is between the header and
//! them is zero. Values fit if `m <= 63`, `m (r + 1) + span + 16 <= 512`, where the span is the
//! number of buckets from base to the last value, the header is within its 112 bits, and no bucket
//! is below -256. A line without values is all zero but for the flag.
//!
//! **Mixed lengths.** A filter that cannot know how many keys will come doubles `w` with its keys.
//! New keys get longer prefixes, and older ones keep theirs. With a prefix `p` that is `j` bits
//! shorter than those of its line, the value is made of `(2 p + 1) << j`: the bits of the prefix, a
//! 1, and `j` zeros. A key may be present if a stored prefix is a prefix of its own.
//!
//! This file is the definition. The kernels do the same faster; the tests compare them with it byte
//! for byte.

use crate::line::{LINE_BITS, LINE_BYTES};
use std::collections::BTreeMap;

/// The most values in a line.
pub const MOST_KEYS: usize = 63;
/// The most bits of a remainder.
pub const MOST_BITS: u32 = 54;
/// The first bit of the header.
pub const HEADER: u32 = 16;
/// The bits of the header.
pub const HEADER_BITS: u32 = 112;
/// The lowest base, and the highest.
pub const BASES: [i64; 2] = [-256, 255];
/// The regions of a filter.
pub const REGIONS: u64 = 16;

/// The region of a hash.
#[inline(always)]
pub const fn region(hash: u64) -> u64 {
    hash >> 60
}

/// The prefix of a hash in its region, which has `w` of them.
#[inline(always)]
pub const fn prefix(hash: u64, w: u64) -> u64 {
    (((hash << 4) as u128 * w as u128) >> 64) as u64
}

/// The home line of a prefix, and its offset there, in lines of `u` prefixes.
///
/// # Panics
/// If `u` is 0.
#[inline(always)]
pub const fn place(prefix: u64, u: u64) -> (u64, u64) {
    (prefix / u, prefix % u)
}

/// The value of an offset where prefixes have different lengths. `short` is by how many bits its
/// prefix is shorter than the longest ones: those bits of the offset do not count.
#[inline(always)]
pub const fn mixed(offset: u64, short: u32) -> i64 {
    ((offset >> short << 1 | 1) << short) as i64
}

/// The most values that a line with remainders of `r` bits has room for.
///
/// # Panics
/// If `r` is above [`MOST_BITS`].
pub const fn room(r: u32) -> usize {
    assert!(r <= MOST_BITS, "remainders have at most 54 bits");
    let room = (LINE_BITS as u32 - HEADER) / (r + 1);
    if room < MOST_KEYS as u32 { room as usize } else { MOST_KEYS }
}

/// What a line says of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The value is stored.
    Present,
    /// It is not stored, in no line.
    Absent,
    /// It is not in this line, and may be in the next one.
    Onward,
}

/// What a line holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The values, ascending. Equal ones are repeated. The home of a negative one is an earlier
    /// line.
    pub keys: Vec<i64>,
    /// Whether values of this home or an earlier one may be in the next line.
    pub goes_on: bool,
}

impl Content {
    /// Where to look for a value.
    pub fn find(&self, value: i64, r: u32) -> Found {
        self.found(self.count(value) > 0, value, r)
    }

    /// How often a value is stored.
    pub fn count(&self, value: i64) -> usize {
        self.keys.iter().filter(|&&key| key == value).count()
    }

    /// Where to look for a prefix of full length or a shorter one of the same hash, by the [`mixed`]
    /// value of the full length.
    ///
    /// The lowest 1 of a stored remainder ends its prefix. A remainder of 0 has none, and is in no
    /// valid line. It rules nothing out.
    pub fn find_mixed(&self, value: i64, r: u32) -> Found {
        let is_prefix = |&key: &i64| {
            let remainder = key & ((1 << r) - 1);
            let end = if remainder == 0 { r } else { remainder.trailing_zeros() + 1 };
            key >> end == value >> end
        };
        self.found(self.keys.iter().any(is_prefix), value, r)
    }

    fn found(&self, is_there: bool, value: i64, r: u32) -> Found {
        if is_there {
            Found::Present
        } else if self.goes_on && self.keys.iter().all(|&key| key >> r <= value >> r) {
            Found::Onward
        } else {
            Found::Absent
        }
    }
}

/// What the bytes of a line hold.
///
/// Any bytes can be read. A value exists if its 1 is in the header and its remainder in the line.
///
/// # Panics
/// If `r` is above [`MOST_BITS`].
pub fn read(line: &[u8; LINE_BYTES], r: u32) -> Content {
    let bit = |at: u32| line[at as usize / 8] >> (at % 8) & 1;
    let field = |first: u32, bits: u32| (0..bits).map(|i| i64::from(bit(first + i)) << i).sum();
    let number: i64 = field(0, 6);
    let base: i64 = field(7, 9);
    let mut bucket = if base > BASES[1] { base - 512 } else { base };
    let mut keys: Vec<i64> = Vec::new();
    for at in HEADER..HEADER + HEADER_BITS {
        if bit(at) == 0 {
            bucket += 1;
        } else if keys.len() < room(r).min(number as usize) {
            let remainder: i64 = field(LINE_BITS as u32 - (keys.len() as u32 + 1) * r, r);
            keys.push(bucket << r | remainder);
        }
    }
    Content { keys, goes_on: bit(6) == 1 }
}

/// The bytes of a line that holds this. `None` if it does not fit.
///
/// # Panics
/// If the values are not ascending, or `r` is above [`MOST_BITS`].
pub fn write(content: &Content, r: u32) -> Option<[u8; LINE_BYTES]> {
    assert!(content.keys.is_sorted(), "values ascend");
    let mut line = [0; LINE_BYTES];
    let mut set = |first: u32, bits: u32, number: i64| {
        for i in 0..bits {
            let at = first + i;
            line[at as usize / 8] |= ((number >> i & 1) as u8) << (at % 8);
        }
    };
    set(6, 1, content.goes_on.into());
    let [Some(first), Some(last)] = [content.keys.first(), content.keys.last()] else {
        return Some(line);
    };
    let (base, m) = ((first >> r).min(BASES[1]), content.keys.len() as u32);
    let header = (last >> r).saturating_sub(base).saturating_add(m.into());
    if content.keys.len() > room(r)
        || header > HEADER_BITS.into()
        || HEADER as i64 + header + i64::from(m * r) > LINE_BITS as i64
        || base < BASES[0]
    {
        return None;
    }
    set(0, 6, m.into());
    set(7, 9, base);
    for (j, key) in (0..m).zip(&content.keys) {
        // Before it are the ones of the values below, and a 0 for each bucket below.
        set(HEADER + j + ((key >> r) - base) as u32, 1, 1);
        set(LINE_BITS as u32 - (j + 1) * r, r, *key);
    }
    Some(line)
}

/// Whether a prefix of a region is in its lines, each the home of `u` prefixes.
///
/// # Panics
/// If there is no line for it.
pub fn contains(lines: &[[u8; LINE_BYTES]], prefix: u64, u: u64, r: u32) -> bool {
    let (home, offset) = place(prefix, u);
    let mut value = offset as i64;
    for line in &lines[home as usize..] {
        match read(line, r).find(value, r) {
            Found::Present => return true,
            Found::Absent => return false,
            Found::Onward => value -= u as i64,
        }
    }
    // The last line goes on: damaged bytes, and nothing rules it out.
    true
}

/// What a filter holds: its prefixes, and how often each. All tests compare filters with it.
///
/// ```
/// use bloomline::definition::growing::Multiset;
///
/// let mut set = Multiset::new(1024); // prefixes in each region
/// assert!(set.insert(7 << 40));
/// assert!(set.contains(7 << 40) && set.remove(7 << 40) && !set.contains(7 << 40));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multiset {
    w: u64,
    /// By the prefix over all regions, from 0 to `16 w - 1`.
    counts: BTreeMap<u64, u64>,
}

impl Multiset {
    /// An empty one, with `w` prefixes in each region.
    ///
    /// # Panics
    /// Unless `w` is 1 to `2^60`.
    pub fn new(w: u64) -> Multiset {
        assert!(0 < w && w <= 1 << 60, "w is 1 to 2^60");
        Multiset { w, counts: BTreeMap::new() }
    }

    /// The prefix of a hash over all regions.
    pub fn prefix(&self, hash: u64) -> u64 {
        region(hash) * self.w + prefix(hash, self.w)
    }

    /// Inserts a key. Returns true if its prefix was not there.
    pub fn insert(&mut self, hash: u64) -> bool {
        let count = self.counts.entry(self.prefix(hash)).or_default();
        *count += 1;
        *count == 1
    }

    /// Removes a key that was inserted. Returns false if its prefix is not there.
    pub fn remove(&mut self, hash: u64) -> bool {
        let prefix = self.prefix(hash);
        let Some(count) = self.counts.get_mut(&prefix) else { return false };
        *count -= 1;
        if *count == 0 {
            self.counts.remove(&prefix);
        }
        true
    }

    /// Returns whether a key may be present. False: definitely absent; true: maybe.
    pub fn contains(&self, hash: u64) -> bool {
        self.count(hash) > 0
    }

    /// How often the prefix of a key is stored.
    pub fn count(&self, hash: u64) -> u64 {
        self.counts.get(&self.prefix(hash)).copied().unwrap_or(0)
    }

    /// The prefixes in ascending order, and how often each is stored.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts.iter().map(|(&prefix, &count)| (prefix, count))
    }
}

/// What a filter of mixed lengths holds: a [`Multiset`] for each length, the shortest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    lengths: Vec<Multiset>,
}

impl Mixed {
    /// An empty one. Its shortest prefixes are `w` in each region.
    pub fn new(w: u64) -> Mixed {
        Mixed { lengths: vec![Multiset::new(w)] }
    }

    /// Keys inserted from here on get prefixes longer by one bit.
    pub fn double(&mut self) {
        let longest = self.lengths[self.lengths.len() - 1].w;
        self.lengths.push(Multiset::new(2 * longest));
    }

    /// Inserts a key, with a prefix of the longest length. Returns true if no prefix of it was there.
    pub fn insert(&mut self, hash: u64) -> bool {
        let was_there = self.contains(hash);
        let longest = self.lengths.len() - 1;
        self.lengths[longest].insert(hash);
        !was_there
    }

    /// Removes a key that was inserted: the longest prefix of it that is there. The shorter ones
    /// cover all that the longer one does, so the other keys stay. Returns false if there is none.
    pub fn remove(&mut self, hash: u64) -> bool {
        self.lengths.iter_mut().rev().any(|prefixes| prefixes.remove(hash))
    }

    /// Returns whether a key may be present. False: definitely absent; true: maybe.
    pub fn contains(&self, hash: u64) -> bool {
        self.lengths.iter().any(|prefixes| prefixes.contains(hash))
    }

    /// The prefixes of each length, the shortest first.
    pub fn lengths(&self) -> &[Multiset] {
        &self.lengths
    }
}

/// What two filters of mixed lengths have in common: prefixes and how often each is there. A prefix is the number of
/// its bits, a 1, and as many zeros as it is shorter than the longest that there can be.
///
/// A hash has a prefix in both if one of these two begins with the other. The longer one stays. It stays as often as
/// keys may have it as the longer one: those that have it in one filter, and a shorter one in the other, as many as
/// there can be; and of what is left, those that have it in both.
pub fn common(a: &BTreeMap<u64, u64>, b: &BTreeMap<u64, u64>) -> BTreeMap<u64, u64> {
    let half = |prefix: u64| 1 << prefix.trailing_zeros();
    let is_shorter = |shorter: u64, prefix: u64| {
        half(shorter) > half(prefix) && shorter.abs_diff(prefix) < half(shorter)
    };
    let of = |all: &BTreeMap<u64, u64>, prefix| all.get(&prefix).copied().unwrap_or(0);
    let shorter_ones = |all: &BTreeMap<u64, u64>, prefix| {
        let counts = all.iter().filter(|&(&shorter, _)| is_shorter(shorter, prefix));
        counts.fold(0, |sum: u64, (_, &count)| sum.saturating_add(count))
    };
    let mut common = BTreeMap::new();
    for &prefix in a.keys().chain(b.keys()) {
        let longer_in_a = of(a, prefix).min(shorter_ones(b, prefix));
        let longer_in_b = of(b, prefix).min(shorter_ones(a, prefix));
        let alike = (of(a, prefix) - longer_in_a).min(of(b, prefix) - longer_in_b);
        let count = longer_in_a.saturating_add(longer_in_b).saturating_add(alike);
        if count > 0 {
            common.insert(prefix, count);
        }
    }
    common
}

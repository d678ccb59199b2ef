//! Journals of growing filters: records of a whole filter, and of the prefixes that were inserted and
//! removed since the record before. `docs/format/growing.md` is the standard.

pub(crate) use super::native::checksum;
use super::native::{put, u64_at};
use crate::error::Error;

pub(crate) const HEADER_BYTES: usize = 64;
const MAGIC: [u8; 8] = *b"BLMJRNL\n";
const VERSION: u16 = 1;
/// Records begin at multiples of so many bytes, counted from the first.
pub(crate) const STEP: usize = 8;
/// The numbers before the lists of a record of changes.
const NUMBERS: usize = 24;

/// Where the fields of a header begin.
mod at {
    pub(super) const KIND: usize = 8;
    pub(super) const LEN: usize = 16;
    pub(super) const SEQUENCE: usize = 24;
    pub(super) const BASE: usize = 32;
    pub(super) const ORIGIN: usize = 40;
    pub(super) const CONTENT_CHECKSUM: usize = 48;
    pub(super) const HEADER_CHECKSUM: usize = 56;
}

/// Where a filter stands: the record that it is as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// The caller's number.
    pub(crate) sequence: u64,
    /// The checksum of the record's header, which covers that of its content and the record before.
    pub(crate) id: u64,
    /// The same of the whole filter from which it is counted.
    pub(crate) origin: u64,
}

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An encoded filter.
    Whole,
    /// What changed since the record of this number.
    Changes { base: u64, origin: u64 },
}

/// What stands before the content of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// The bytes of the content.
    pub(crate) len: u64,
    pub(crate) sequence: u64,
    pub(crate) content_checksum: u64,
}

/// The number of the version and of the kind, which are one word.
fn kind_word(kind: Kind) -> u64 {
    let number = match kind {
        Kind::Whole => 1,
        Kind::Changes { .. } => 2,
    };
    u64::from(VERSION) | number << 16
}

impl Header {
    /// The bytes, and where a filter stands with this record.
    pub(crate) fn seal(&self) -> ([u8; HEADER_BYTES], Point) {
        let (base, origin) = match self.kind {
            Kind::Whole => (0, 0),
            Kind::Changes { base, origin } => (base, origin),
        };
        let mut bytes = [0; HEADER_BYTES];
        bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
        for (at, word) in [
            (at::KIND, kind_word(self.kind)),
            (at::LEN, self.len),
            (at::SEQUENCE, self.sequence),
            (at::BASE, base),
            (at::ORIGIN, origin),
            (at::CONTENT_CHECKSUM, self.content_checksum),
        ] {
            put(&mut bytes, at, word.to_le_bytes());
        }
        let id = checksum(&bytes[..at::HEADER_CHECKSUM]);
        put(&mut bytes, at::HEADER_CHECKSUM, id.to_le_bytes());
        (bytes, self.point(id))
    }

    fn point(&self, id: u64) -> Point {
        let origin = match self.kind {
            Kind::Whole => id,
            Kind::Changes { origin, .. } => origin,
        };
        Point { sequence: self.sequence, id, origin }
    }

    /// Reads a header, by the rules of `docs/format/growing.md` in its order.
    pub(crate) fn read(bytes: &[u8; HEADER_BYTES]) -> Result<(Header, Point), Error> {
        if bytes[..MAGIC.len()] != MAGIC {
            return Err(Error::NotAFilter);
        }
        let id = u64_at(bytes, at::HEADER_CHECKSUM);
        if checksum(&bytes[..at::HEADER_CHECKSUM]) != id {
            return Err(Error::Checksum);
        }
        let word = u64_at(bytes, at::KIND);
        if word as u16 != VERSION {
            return Err(Error::Version(word as u16));
        }
        let (base, origin) = (u64_at(bytes, at::BASE), u64_at(bytes, at::ORIGIN));
        let kinds = [Kind::Whole, Kind::Changes { base, origin }];
        let len = u64_at(bytes, at::LEN);
        let Some(kind) = kinds.into_iter().find(|&kind| kind_word(kind) == word) else {
            return Err(Error::Reserved);
        };
        if kind == Kind::Whole && (base, origin) != (0, 0) || !len.is_multiple_of(STEP as u64) {
            return Err(Error::Reserved);
        }
        let content_checksum = u64_at(bytes, at::CONTENT_CHECKSUM);
        let header = Header { kind, len, sequence: u64_at(bytes, at::SEQUENCE), content_checksum };
        Ok((header, header.point(id)))
    }

    /// Whether the content is what was written.
    pub(crate) fn matches(&self, content: &[u8]) -> bool {
        content.len() as u64 == self.len && checksum(content) == self.content_checksum
    }
}

/// Whether a record begins somewhere in these bytes, which begin at a multiple of [`STEP`].
pub(crate) fn has_record(bytes: &[u8]) -> bool {
    (0..bytes.len()).step_by(STEP).any(|from| {
        bytes[from..].first_chunk().is_some_and(|header| {
            !matches!(Header::read(header), Err(Error::NotAFilter | Error::Checksum))
        })
    })
}

/// A record in bytes.
pub(crate) struct Record<'a> {
    pub(crate) header: Header,
    pub(crate) point: Point,
    pub(crate) content: &'a [u8],
    /// What follows it.
    pub(crate) rest: &'a [u8],
}

/// The record that these bytes begin with, its content unchecked.
///
/// # Errors
/// [`Error::Truncated`] if it is not all there; as [`Header::read`].
pub(crate) fn first(bytes: &[u8]) -> Result<Record<'_>, Error> {
    let given = bytes.len() as u64;
    let too_short = |needed| Error::Truncated { needed, given };
    let (header, rest) = bytes.split_first_chunk().ok_or(too_short(HEADER_BYTES as u64))?;
    let (header, point) = Header::read(header)?;
    let needed = header.len.saturating_add(HEADER_BYTES as u64);
    let len = usize::try_from(header.len).map_err(|_| too_short(needed))?;
    let (content, rest) = rest.split_at_checked(len).ok_or(too_short(needed))?;
    Ok(Record { header, point, content, rest })
}

// ---- what changed ----

/// What a record of changes says.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Changes {
    /// The keys of the filter, then.
    pub(crate) key_count: u64,
    /// Longest prefixes, ascending, each as often as it was inserted, or removed.
    pub(crate) inserted: Vec<u64>,
    pub(crate) removed: Vec<u64>,
}

impl Changes {
    /// The content of a record. There are `prefixes` prefixes of the longest length.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn encode(&self, prefixes: u64) -> Result<Vec<u8>, Error> {
        let lists = [&self.inserted[..], &self.removed[..]];
        // A prefix takes less than three bits more than a remainder: the ones, and below two zeros.
        let bits = |list: &[u64]| list.len() as u128 * u128::from(width(prefixes, list.len()) + 3);
        let len = (bits(lists[0]) + bits(lists[1])) / 8 + (NUMBERS + 2 * STEP) as u128;
        let len = usize::try_from(len).map_err(|_| Error::OutOfMemory)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| Error::OutOfMemory)?;
        let numbers = [self.key_count, self.inserted.len() as u64, self.removed.len() as u64];
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        let mut out = Bits { bytes, word: 0, used: 0 };
        for list in lists {
            let (r, mut last) = (width(prefixes, list.len()), 0);
            for &prefix in list {
                let gap = prefix - last;
                last = prefix;
                (0..gap >> r).for_each(|_| out.put(0, 1));
                out.put(1, 1);
                out.put(gap & ((1 << r) - 1), r);
            }
        }
        Ok(out.finish())
    }

    /// Reads what [`encode`](Changes::encode) wrote.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the numbers are not there; [`Error::Reserved`] if what follows is not two
    /// lists of as many prefixes and then zeros to the next multiple of 8 bytes; [`Error::OutOfMemory`].
    pub(crate) fn decode(content: &[u8], prefixes: u64) -> Result<Changes, Error> {
        let given = content.len() as u64;
        let too_short = Error::Truncated { needed: NUMBERS as u64, given };
        let (numbers, bits) = content.split_at_checked(NUMBERS).ok_or(too_short)?;
        let mut numbers = numbers.as_chunks().0.iter().map(|&number| u64::from_le_bytes(number));
        let mut next = || numbers.next().unwrap_or(0);
        let (key_count, counts) = (next(), [next(), next()]);
        let mut from = Reader { bytes: bits, at: 0 };
        let mut lists = [Vec::new(), Vec::new()];
        for (list, count) in lists.iter_mut().zip(counts) {
            // Each takes a bit at least.
            if count > from.left() {
                return Err(Error::Reserved);
            }
            let count = usize::try_from(count).map_err(|_| Error::OutOfMemory)?;
            list.try_reserve_exact(count).map_err(|_| Error::OutOfMemory)?;
            let (r, mut last) = (width(prefixes, count), 0_u64);
            for _ in 0..count {
                let high = from.zeros().ok_or(Error::Reserved)?;
                let low = from.take(r).ok_or(Error::Reserved)?;
                let prefix = u128::from(high) << r | u128::from(low);
                let prefix = prefix + u128::from(last);
                if prefix >= prefixes.into() {
                    return Err(Error::Reserved);
                }
                last = prefix as u64;
                list.push(last);
            }
        }
        if from.left() >= 8 * STEP as u64 || from.zeros().is_some() {
            return Err(Error::Reserved);
        }
        let [inserted, removed] = lists;
        Ok(Changes { key_count, inserted, removed })
    }
}

/// The low bits of a gap that are written as they are, in a list of so many.
fn width(prefixes: u64, count: usize) -> u32 {
    (prefixes / (count as u64).max(1)).max(1).ilog2()
}

/// Bits on their way to bytes, the lowest first.
struct Bits {
    bytes: Vec<u8>,
    word: u64,
    used: u32,
}

impl Bits {
    /// Writes the low `count` bits of `bits`, of which no others are set.
    fn put(&mut self, bits: u64, count: u32) {
        self.word |= bits << self.used;
        if self.used + count < u64::BITS {
            self.used += count;
            return;
        }
        self.bytes.extend_from_slice(&self.word.to_le_bytes());
        // Below 64, as no more than 59 bits come at once.
        let rest = u64::BITS - self.used;
        self.word = bits >> rest;
        self.used = count - rest;
    }

    fn finish(mut self) -> Vec<u8> {
        if self.used > 0 {
            self.bytes.extend_from_slice(&self.word.to_le_bytes());
        }
        self.bytes
    }
}

/// Bits that are read, the lowest first.
struct Reader<'a> {
    bytes: &'a [u8],
    /// The number of the next.
    at: u64,
}

impl Reader<'_> {
    fn left(&self) -> u64 {
        (self.bytes.len() as u64 * 8).saturating_sub(self.at)
    }

    /// The bits from the next one on, at least 57 of them. Behind the end they are 0.
    fn ahead(&self) -> u64 {
        let from = self.bytes.get((self.at / 8) as usize..).unwrap_or_default();
        let mut word = [0; 8];
        let len = from.len().min(8);
        word[..len].copy_from_slice(&from[..len]);
        u64::from_le_bytes(word) >> (self.at % 8)
    }

    /// Reads zeros up to a 1, and that. Returns how many zeros they were; none if there is no 1.
    fn zeros(&mut self) -> Option<u64> {
        let from = self.at;
        loop {
            let ahead = self.ahead();
            if ahead != 0 {
                self.at += u64::from(ahead.trailing_zeros()) + 1;
                return Some(self.at - from - 1);
            }
            self.at += 57;
            if self.left() == 0 {
                return None;
            }
        }
    }

    /// Reads `count` bits, at most 59.
    fn take(&mut self, count: u32) -> Option<u64> {
        if u64::from(count) > self.left() {
            return None;
        }
        let low = count.min(32);
        let first = self.ahead() & ((1 << low) - 1);
        self.at += u64::from(low);
        let second = self.ahead() & ((1 << (count - low)) - 1);
        self.at += u64::from(count - low);
        Some(first | second << low)
    }
}

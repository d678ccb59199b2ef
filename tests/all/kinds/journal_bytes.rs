//! Journals by the definition: their records, and what a reader says of any bytes.

use super::growing_bytes::*;
use super::growing_model::*;
use crate::definition::*;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The fields of the header of a record.
pub(crate) mod of_record {
    use std::ops::Range;
    pub(crate) const MAGIC: Range<usize> = 0..8;
    pub(crate) const VERSION: Range<usize> = 8..10;
    pub(crate) const KIND: Range<usize> = 10..12;
    pub(crate) const ZERO: Range<usize> = 12..16;
    pub(crate) const LEN: Range<usize> = 16..24;
    pub(crate) const SEQUENCE: Range<usize> = 24..32;
    pub(crate) const BASE: Range<usize> = 32..40;
    pub(crate) const ORIGIN: Range<usize> = 40..48;
    pub(crate) const CONTENT_CHECKSUM: Range<usize> = 48..56;
    pub(crate) const CHECKSUM: Range<usize> = 56..64;
}

fn field(bytes: &[u8], at: Range<usize>) -> u64 {
    bytes[at].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Writes a field of the record at the start of these bytes, and the checksums anew.
pub(crate) fn set_of_record(bytes: &mut [u8], at: Range<usize>, value: u64) {
    let len = at.len();
    bytes[at].copy_from_slice(&value.to_le_bytes()[..len]);
    seal_record(bytes);
}

pub(crate) fn seal_record(bytes: &mut [u8]) {
    let sum = xxh3_64_with_seed(&bytes[..56], 0);
    bytes[of_record::CHECKSUM].copy_from_slice(&sum.to_le_bytes());
}

/// The records of a journal, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct JournalWriter {
    pub(crate) bytes: Vec<u8>,
    /// The checksum of the last header, and of that of the last whole filter.
    pub(crate) last: u64,
    pub(crate) origin: u64,
}

impl JournalWriter {
    fn record(&mut self, kind: u64, sequence: u64, [base, origin]: [u64; 2], content: &[u8]) {
        let mut header = vec![0; 64];
        header[..8].copy_from_slice(b"BLMJRNL\n");
        for (at, value) in [
            (of_record::VERSION, 1),
            (of_record::KIND, kind),
            (of_record::LEN, content.len() as u64),
            (of_record::SEQUENCE, sequence),
            (of_record::BASE, base),
            (of_record::ORIGIN, origin),
            (of_record::CONTENT_CHECKSUM, xxh3_64_with_seed(content, 0)),
        ] {
            set_of_record(&mut header, at, value);
        }
        self.last = field(&header, of_record::CHECKSUM);
        self.bytes.extend(header);
        self.bytes.extend(content);
    }

    pub(crate) fn whole(&mut self, sequence: u64, filter: &[u8]) {
        self.record(1, sequence, [0, 0], filter);
        self.origin = self.last;
    }

    /// `lists` are the prefixes inserted, and removed.
    pub(crate) fn changes(&mut self, sequence: u64, filter: &Growing, lists: [Vec<u64>; 2]) {
        let content = changes(longest_prefixes(filter), filter.key_count, lists);
        self.record(2, sequence, [self.last, self.origin], &content);
    }
}

/// How many prefixes of the longest length there are.
pub(crate) fn longest_prefixes(filter: &Growing) -> u64 {
    filter.prefixes << filter.longer.unwrap_or(0)
}

/// The bits of a gap that are written as they are.
fn low_bits(prefixes: u64, count: u64) -> u32 {
    (prefixes / count.max(1)).max(1).ilog2()
}

/// The content of a record of changes.
pub(crate) fn changes(prefixes: u64, key_count: u64, lists: [Vec<u64>; 2]) -> Vec<u8> {
    let mut bytes = key_count.to_le_bytes().to_vec();
    lists.iter().for_each(|list| bytes.extend((list.len() as u64).to_le_bytes()));
    let mut bits = Vec::new();
    for mut list in lists {
        list.sort();
        let r = low_bits(prefixes, list.len() as u64);
        let mut last = 0;
        for prefix in list {
            let gap = prefix - last;
            bits.extend((0..gap >> r).map(|_| 0));
            bits.push(1);
            bits.extend((0..r).map(|i| (gap >> i & 1) as u8));
            last = prefix;
        }
    }
    bits.resize(bits.len().next_multiple_of(64), 0);
    bytes.extend(bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit)));
    bytes
}

/// The lists of such a content; none if it is invalid.
pub(crate) fn lists_of(content: &[u8], prefixes: u64) -> Option<[Vec<u64>; 2]> {
    let counts = [field(content, 8..16), field(content, 16..24)];
    let bits: Vec<u8> =
        content[24..].iter().flat_map(|byte| (0..8).map(move |i| byte >> i & 1)).collect();
    let mut bits = &bits[..];
    let mut lists = [vec![], vec![]];
    for (list, count) in lists.iter_mut().zip(counts) {
        if count > bits.len() as u64 {
            return None;
        }
        let (r, mut last) = (low_bits(prefixes, count) as usize, 0_u128);
        for _ in 0..count {
            let zeros = bits.iter().position(|&bit| bit == 1)?;
            let low = bits.get(zeros + 1..zeros + 1 + r)?;
            let low = low.iter().rev().fold(0, |number, &bit| number << 1 | u128::from(bit));
            last += (zeros as u128) << r | low;
            if last >= prefixes.into() {
                return None;
            }
            list.push(last as u64);
            bits = &bits[zeros + 1 + r..];
        }
    }
    (bits.len() < 64 && bits.iter().all(|&bit| bit == 0)).then_some(lists)
}

/// What a reader makes of a journal.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Read {
    pub(crate) sequence: u64,
    /// The bytes of the whole records.
    pub(crate) len: u64,
    pub(crate) is_torn: bool,
    /// The last whole filter, and the changes behind it: key counts and lists.
    pub(crate) whole: Vec<u8>,
    pub(crate) changes: Vec<(u64, [Vec<u64>; 2])>,
}

/// The status of a header.
fn header_status(bytes: &[u8]) -> u32 {
    if bytes.len() < 64 {
        return status::TRUNCATED;
    }
    if bytes[of_record::MAGIC] != *b"BLMJRNL\n" {
        return status::NOT_A_FILTER;
    }
    if field(bytes, of_record::CHECKSUM) != xxh3_64_with_seed(&bytes[..56], 0) {
        return status::CHECKSUM;
    }
    if field(bytes, of_record::VERSION) != 1 {
        return status::VERSION;
    }
    let kind = field(bytes, of_record::KIND);
    let own = field(bytes, of_record::BASE) | field(bytes, of_record::ORIGIN);
    if !(1..=2).contains(&kind)
        || field(bytes, of_record::ZERO) != 0
        || kind == 1 && own != 0
        || !field(bytes, of_record::LEN).is_multiple_of(8)
    {
        return status::RESERVED;
    }
    status::OK
}

/// Reads a journal, or says which status it gets.
pub(crate) fn read_journal(bytes: &[u8]) -> Result<Read, u32> {
    let mut read = Read::default();
    let (mut rest, mut seen) = (bytes, Vec::new());
    let [mut last, mut origin] = [0; 2];
    while !rest.is_empty() {
        let mut status = header_status(rest);
        let len = if status == status::OK { field(rest, of_record::LEN) } else { 0 };
        if status == status::OK && len > rest.len() as u64 - 64 {
            status = status::TRUNCATED;
        }
        let all = 64 + len.min(bytes.len() as u64) as usize;
        if status == status::OK
            && xxh3_64_with_seed(&rest[64..all], 0) != field(rest, of_record::CONTENT_CHECKSUM)
        {
            status = status::CHECKSUM;
        }
        let is_record = |from: usize| {
            let status = header_status(&rest[from..]);
            ![status::TRUNCATED, status::NOT_A_FILTER, status::CHECKSUM].contains(&status)
        };
        match status {
            status::OK => {}
            status::TRUNCATED if !seen.is_empty() => read.is_torn = true,
            status::NOT_A_FILTER | status::CHECKSUM if !seen.is_empty() => {
                if (8..rest.len()).step_by(8).any(is_record) {
                    return Err(status::CHECKSUM);
                }
                read.is_torn = true;
            }
            status => return Err(status),
        }
        if read.is_torn {
            break;
        }
        let sequence = field(rest, of_record::SEQUENCE);
        let header_checksum = field(rest, of_record::CHECKSUM);
        let content = &rest[64..all];
        (rest, read.len) = (&rest[all..], read.len + all as u64);
        let header = &bytes[read.len as usize - all..][..64];
        if seen.contains(&(sequence, header_checksum)) {
            continue;
        }
        if seen.iter().any(|&(other, _)| other >= sequence) {
            return Err(status::SEQUENCE);
        }
        if field(header, of_record::KIND) == 1 {
            let status = check_growing(content, true);
            if status != status::OK {
                return Err(status);
            }
            origin = header_checksum;
            (read.whole, read.changes) = (content.to_vec(), vec![]);
        } else {
            let base = [field(header, of_record::BASE), field(header, of_record::ORIGIN)];
            if seen.is_empty() || base != [last, origin] {
                return Err(status::SEQUENCE);
            }
            if content.len() < 24 {
                return Err(status::TRUNCATED);
            }
            let lists = lists_of(content, prefixes_of(&read.whole)).ok_or(status::RESERVED)?;
            read.changes.push((field(content, 0..8), lists));
        }
        (last, read.sequence) = (header_checksum, sequence);
        seen.push((sequence, header_checksum));
    }
    if seen.is_empty() { Err(status::TRUNCATED) } else { Ok(read) }
}

/// How many prefixes of the longest length an encoded filter has.
pub(crate) fn prefixes_of(filter: &[u8]) -> u64 {
    let record = &filter[filter.len() - 128..];
    let lengths = field(record, of_filter::LENGTHS);
    field(record, of_filter::PREFIXES) << lengths.saturating_sub(1)
}

//! A value as bytes: a header, then the library's own files, one after the other. RDB, DUMP, the
//! append-only file, SCANDUMP and the digest are all made of it.
//!
//! The header is numbers of 64 bits, little-endian: magic, version, kind, bytes after the header,
//! count of the kind's own numbers, these numbers, and XXH3-64 of all before. Each file has its
//! own checksums.

use bloomline::{
    CountingFilter, CuckooFilter, Error, Filter, GrowingFilter, StaticFilter, Window, hash,
};
use std::io::{self, ErrorKind, Write};
use std::ops::Range;

/// The most bytes that are handed over at once.
pub(crate) const CHUNK: usize = 16 << 20;

const MAGIC: u64 = u64::from_le_bytes(*b"BLIMAGE\n");
const VERSION: u64 = 1;
/// The most numbers that a kind has of its own: 8 and one for each link of a cuckoo filter, of which
/// there are up to 65,536.
const MOST: usize = 8 + (1 << 16);

/// What a value is. The numbers are in dumps: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Kind {
    Bloom = 1,
    Cuckoo = 2,
    Counting = 3,
    Window = 4,
    Loading = 5,
    Static = 6,
    Growing = 7,
}

impl Kind {
    const ALL: [Kind; 7] = [
        Kind::Bloom,
        Kind::Cuckoo,
        Kind::Counting,
        Kind::Window,
        Kind::Loading,
        Kind::Static,
        Kind::Growing,
    ];

    /// Its name in replies.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Bloom => "bloom",
            Kind::Cuckoo => "cuckoo",
            Kind::Counting => "counting",
            Kind::Window => "window",
            Kind::Loading => "loading",
            Kind::Static => "static",
            Kind::Growing => "growing",
        }
    }
}

/// What is before the files.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    pub(crate) numbers: Vec<u64>,
    /// The bytes of all files.
    pub(crate) body: u64,
}

impl Header {
    pub(crate) fn new(kind: Kind, numbers: Vec<u64>, files: &[File<'_>]) -> Header {
        let body = files.iter().map(|file| file.len() as u64).sum();
        Header { kind, numbers, body }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let fixed = [MAGIC, VERSION, self.kind as u64, self.body, self.numbers.len() as u64];
        let numbers = fixed.iter().chain(&self.numbers);
        let mut bytes: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
        bytes.extend(hash::hash(&bytes, 0).to_le_bytes());
        bytes
    }

    /// # Errors
    /// [`Error::NotAFilter`], [`Error::Version`], [`Error::Checksum`].
    pub(crate) fn parse(bytes: &[u8]) -> Result<Header, Error> {
        let (numbers, rest) = bytes.as_chunks::<8>();
        let number = |i: usize| u64::from_le_bytes(numbers[i]);
        if !rest.is_empty() || !(6..=6 + MOST).contains(&numbers.len()) || number(0) != MAGIC {
            return Err(Error::NotAFilter);
        }
        if number(1) != VERSION {
            return Err(Error::Version(u16::try_from(number(1)).unwrap_or(u16::MAX)));
        }
        let last = numbers.len() - 1;
        if number(4) != last as u64 - 5 || number(last) != hash::hash(&bytes[..8 * last], 0) {
            return Err(Error::Checksum);
        }
        let kind = Kind::ALL.into_iter().find(|&kind| kind as u64 == number(2));
        Ok(Header {
            kind: kind.ok_or(Error::NotAFilter)?,
            numbers: (5..last).map(number).collect(),
            body: number(3),
        })
    }
}

/// A file of a value.
pub(crate) enum File<'a> {
    Plain(&'a Filter),
    Cuckoo(&'a CuckooFilter),
    Counting(&'a CountingFilter),
    Window(&'a Window),
    Static(&'a StaticFilter),
    /// A growing filter that is settled.
    Growing(&'a GrowingFilter),
    /// A settled copy of one that is not.
    Copy(Box<GrowingFilter>),
    /// Bytes that are not a filter yet.
    Raw(&'a [u8]),
}

impl File<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            File::Plain(filter) => filter.encoded_len(),
            File::Cuckoo(filter) => filter.encoded_len(),
            File::Counting(filter) => filter.encoded_len(),
            File::Window(filter) => filter.encoded_len(),
            File::Static(filter) => filter.encoded_len(),
            File::Growing(filter) => filter.encoded_len(),
            File::Copy(filter) => filter.encoded_len(),
            File::Raw(bytes) => bytes.len(),
        }
    }

    /// Writes a range of the file, as far as it reaches. Costs only these bytes, but for the end of a
    /// filter, which has the checksum of all before.
    fn write_range_to(&self, range: Range<usize>, out: &mut dyn Write) -> Result<(), Error> {
        match self {
            File::Plain(filter) => filter.write_range_to(range, out),
            File::Cuckoo(filter) => filter.write_range_to(range, out),
            File::Counting(filter) => filter.write_range_to(range, out),
            File::Window(filter) => filter.write_range_to(range, out),
            File::Static(filter) => filter.write_range_to(range, out),
            File::Growing(filter) => filter.write_range_to(range, out),
            File::Copy(filter) => filter.write_range_to(range, out),
            File::Raw(bytes) => {
                let end = range.end.min(bytes.len());
                Ok(out.write_all(&bytes[range.start.min(end)..end])?)
            }
        }
    }

    pub(crate) fn write_to(&self, out: &mut dyn Write) -> Result<(), Error> {
        self.write_range_to(0..usize::MAX, out)
    }

    /// Appends bytes of the file from `offset` on, as many as there are, `most` at most.
    pub(crate) fn read_at(
        &self,
        offset: usize,
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let end = offset.saturating_add(most).min(self.len());
        out.try_reserve(end.saturating_sub(offset)).map_err(|_| Error::OutOfMemory)?;
        self.write_range_to(offset..end, out)
    }
}

/// Hands the bytes of files over, [`CHUNK`] at a time.
pub(crate) fn in_chunks(files: &[File<'_>], emit: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
    let mut chunks = Chunks { pending: Vec::new(), emit };
    for file in files {
        file.write_to(&mut chunks)?;
    }
    if !chunks.pending.is_empty() {
        (chunks.emit)(&chunks.pending);
    }
    Ok(())
}

struct Chunks<'a> {
    pending: Vec<u8>,
    emit: &'a mut dyn FnMut(&[u8]),
}

impl Write for Chunks<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut bytes = bytes;
        let all = bytes.len();
        while !bytes.is_empty() {
            if self.pending.is_empty() && bytes.len() >= CHUNK {
                // Straight from the filter.
                let (chunk, rest) = bytes.split_at(CHUNK);
                (self.emit)(chunk);
                bytes = rest;
                continue;
            }
            let (part, rest) = bytes.split_at(bytes.len().min(CHUNK - self.pending.len()));
            self.pending.try_reserve(part.len()).map_err(|_| ErrorKind::OutOfMemory)?;
            self.pending.extend_from_slice(part);
            bytes = rest;
            if self.pending.len() == CHUNK {
                (self.emit)(&self.pending);
                self.pending.clear();
            }
        }
        Ok(all)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Appends bytes of files that follow each other, as [`File::read_at`].
pub(crate) fn read_at(
    files: &[File<'_>],
    offset: usize,
    most: usize,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let (mut skip, mut left) = (offset, most);
    for file in files {
        let before = out.len();
        file.read_at(skip, left, out)?;
        left -= out.len() - before;
        skip = skip.saturating_sub(file.len());
        if left == 0 {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloomline::{CuckooParams, Params};

    #[test]
    fn a_header_is_read_as_written_and_nothing_else_is() {
        let header = Header { kind: Kind::Bloom, numbers: vec![1, u64::MAX, 3], body: 99 };
        let bytes = header.to_bytes();
        assert_eq!(Header::parse(&bytes), Ok(header));
        for i in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[i] ^= 1;
            assert!(Header::parse(&damaged).is_err(), "byte {i}");
            assert!(Header::parse(&bytes[..i]).is_err(), "{i} bytes");
        }
        for (count, is_read) in [(MOST, true), (MOST + 1, false)] {
            let header = Header { kind: Kind::Cuckoo, numbers: vec![7; count], body: 1 };
            assert_eq!(Header::parse(&header.to_bytes()).is_ok(), is_read, "{count} numbers");
        }
    }

    #[test]
    fn every_range_of_every_file_is_that_of_the_whole() {
        let params = Params::for_rate(100, 0.01).unwrap();
        let mut plain = Filter::new(params).unwrap();
        plain.insert("a");
        let mut counting = CountingFilter::new(params).unwrap();
        counting.insert("a");
        let mut window = Window::with_params(3, params).unwrap();
        window.insert("a");
        let mut cuckoo = CuckooFilter::new(CuckooParams::for_bits(100, 12).unwrap()).unwrap();
        cuckoo.insert("a").unwrap();
        let fixed = StaticFilter::from_keys(["a", "b"], 0.01).unwrap();
        let growing = GrowingFilter::from_keys(0..5000u64, 0.01).unwrap().try_clone().unwrap();
        let copy = growing.try_clone().unwrap();
        let files = [
            File::Plain(&plain),
            File::Counting(&counting),
            File::Raw(b"raw"),
            File::Window(&window),
            File::Cuckoo(&cuckoo),
            File::Static(&fixed),
            File::Growing(&growing),
            File::Copy(Box::new(copy)),
        ];
        let mut whole = Vec::new();
        for file in &files {
            file.write_to(&mut whole).unwrap();
        }
        for step in [1, 63, 64, 100, 257, 5000] {
            let mut got = Vec::new();
            while got.len() < whole.len() {
                let before = got.len();
                read_at(&files, before, step, &mut got).unwrap();
                assert_eq!(got.len(), (before + step).min(whole.len()));
            }
            assert_eq!(got, whole, "{step}");
        }
        let mut chunks = Vec::new();
        in_chunks(&files, &mut |chunk| chunks.extend_from_slice(chunk)).unwrap();
        assert_eq!(chunks, whole);
    }
}

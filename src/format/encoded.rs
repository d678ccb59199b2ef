//! Encoding, decoding, saving and loading, written once: a filter type implements [`Encoded`], and
//! `whole_values!` adds the methods.

use super::native::{FOOTER_BYTES, Footer, FooterBytes, checksum, lines_checksum, split};
use crate::error::Error;
use crate::os::file;
use crate::os::room::Room;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

/// The encoded form of a filter type.
pub(crate) trait Encoded: Sized {
    /// The filter whose bytes are written instead, if what this one holds can lie in it in several ways.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn settled(&self) -> Result<Option<Self>, Error> {
        Ok(None)
    }

    /// Its footer, without the checksums.
    fn footer(&self) -> Footer;

    /// The bytes before the footer, if they lie in one piece: then a program that saves them links no hash of
    /// streams. A kind without has the two functions below.
    fn body(&self) -> Option<&[u8]> {
        None
    }

    /// The number of bytes before the footer.
    fn body_len(&self) -> usize {
        self.body().unwrap_or_default().len()
    }

    /// Writes the bytes before the footer, from byte `from` on.
    fn write_body(&self, from: usize, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.body().unwrap_or_default()[from..])
    }

    /// Reads the filter of this footer. Checks the footer first, so a false length in it allocates
    /// nothing; then reads the bytes before the footer. The caller verifies their checksum.
    fn read(footer: &FooterBytes, body: &mut Body<'_>) -> Result<Self, Error>;

    /// A copy.
    fn copy(&self) -> Result<Self, Error>;

    /// How many bytes were taken for its lines and counters.
    fn memory(&self) -> usize;
}

// ---- writing ----

/// Writes an encoded filter to a stream.
pub(crate) fn write(filter: &impl Encoded, out: &mut dyn Write) -> Result<(), Error> {
    let own = filter.settled()?;
    Ok(write_settled(own.as_ref().unwrap_or(filter), out)?)
}

pub(crate) fn write_settled(filter: &impl Encoded, out: &mut dyn Write) -> io::Result<()> {
    let sum = match filter.body() {
        Some(bytes) => {
            out.write_all(bytes)?;
            checksum(bytes)
        }
        None => {
            let mut out = Summed { out, sum: Xxh3::new() };
            filter.write_body(0, &mut out)?;
            out.sum.digest()
        }
    };
    out.write_all(&filter.footer().seal(sum))
}

/// Writes a range of an encoded filter to a stream. What is before the range is not read, unless the
/// range has bytes of the footer, which states the checksum of all.
pub(crate) fn write_range(
    filter: &impl Encoded,
    range: Range<usize>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let own = filter.settled()?;
    Ok(write_range_settled(own.as_ref().unwrap_or(filter), range, out)?)
}

fn write_range_settled(
    filter: &impl Encoded,
    range: Range<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let body = filter.body_len();
    let len = body + FOOTER_BYTES;
    if range.start == 0 && range.end >= len {
        return write_settled(filter, out);
    }
    let mut part = Limited { out, left: range.end.min(body).saturating_sub(range.start) };
    if part.left > 0 {
        match filter.write_body(range.start, &mut part) {
            // It stops where the range ends.
            Err(error) if part.left > 0 => return Err(error),
            _ => {}
        }
    }
    // One that is turned round is empty.
    if range.end <= body.max(range.start) || range.start >= len {
        return Ok(());
    }
    let mut all = Summed { out: &mut io::sink(), sum: Xxh3::new() };
    filter.write_body(0, &mut all)?;
    let footer = filter.footer().seal(all.sum.digest());
    part.out.write_all(&footer[range.start.saturating_sub(body)..range.end.min(len) - body])
}

/// Writes so many bytes, and fails at the next.
struct Limited<'a> {
    out: &'a mut dyn Write,
    left: usize,
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.out.write(&bytes[..self.left.min(bytes.len())])?;
        self.left -= len;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes parts that follow each other, without their first `skip` bytes. Returns how many bytes are
/// still to be skipped.
pub(crate) fn write_parts<'a>(
    parts: impl IntoIterator<Item = &'a [u8]>,
    mut skip: usize,
    out: &mut dyn Write,
) -> io::Result<usize> {
    for part in parts {
        let skipped = skip.min(part.len());
        out.write_all(&part[skipped..])?;
        skip -= skipped;
    }
    Ok(skip)
}

/// Writes, and computes the checksum of the bytes written.
struct Summed<'a> {
    out: &'a mut dyn Write,
    sum: Xxh3,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.out.write(bytes)?;
        self.sum.update(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The length of an encoded filter. Where there is no memory to find out, it is `usize::MAX`, more than
/// any caller has: nothing is encoded then.
pub(crate) fn len(filter: &impl Encoded) -> usize {
    match filter.settled() {
        Ok(own) => own.as_ref().unwrap_or(filter).body_len() + FOOTER_BYTES,
        Err(_) => usize::MAX,
    }
}

/// Writes an encoded filter to the start of `out`, which may be uninitialised.
pub(crate) fn encode(filter: &impl Encoded, out: Room<'_>) -> Result<usize, Error> {
    let own = filter.settled()?;
    let filter = own.as_ref().unwrap_or(filter);
    let mut out = out.first(filter.body_len() + FOOTER_BYTES)?;
    filter.write_body(0, &mut out)?;
    let footer = filter.footer().seal(checksum(out.written()));
    out.put(&footer);
    Ok(out.written().len())
}

/// An encoded filter in memory of its own.
pub(crate) fn to_bytes(filter: &impl Encoded) -> Result<Vec<u8>, Error> {
    let own = filter.settled()?;
    let filter = own.as_ref().unwrap_or(filter);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(filter.body_len() + FOOTER_BYTES).map_err(|_| Error::OutOfMemory)?;
    filter.write_body(0, &mut bytes)?;
    let footer = filter.footer().seal(checksum(&bytes));
    bytes.extend_from_slice(&footer);
    Ok(bytes)
}

/// Saves an encoded filter as a file.
pub(crate) fn save(filter: &impl Encoded, path: &Path) -> Result<(), Error> {
    let own = filter.settled()?;
    file::replace(path, |file| write_settled(own.as_ref().unwrap_or(filter), file))
}

// ---- reading ----

pub(crate) trait ReadSeek: Read + Seek {}
impl<R: Read + Seek> ReadSeek for R {}

/// The bytes before a footer, as they are read.
pub(crate) struct Body<'a> {
    from: &'a mut dyn ReadSeek,
    len: u64,
    /// How many of them are not read yet.
    left: u64,
    sum: Sum<'a>,
    /// The checksum that the footer states.
    stated: u64,
}

/// How their checksum is computed.
// It lives for a call, and without memory there is none for a box.
#[allow(clippy::large_enum_variant)]
enum Sum<'a> {
    /// From all of them at once, which is faster where they are in memory.
    AtOnce(&'a [u8]),
    /// As they are read.
    Running(Xxh3),
}

impl Body<'_> {
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Reads as many bytes as there is room for.
    pub(crate) fn fill(&mut self, part: &mut [u8]) -> Result<(), Error> {
        self.from.read_exact(part)?;
        if let Sum::Running(sum) = &mut self.sum {
            sum.update(part);
        }
        self.left -= part.len() as u64;
        Ok(())
    }

    /// The last bytes of it, out of turn: they are read again later.
    pub(crate) fn peek_last(&mut self, part: &mut [u8]) -> Result<(), Error> {
        self.from.seek(SeekFrom::Start(self.len - part.len() as u64))?;
        self.from.read_exact(part)?;
        self.from.seek(SeekFrom::Start(self.len - self.left))?;
        Ok(())
    }

    /// Compares the checksum of all bytes with the footer's; reads those that are left.
    pub(crate) fn verify(&mut self) -> Result<(), Error> {
        if let Sum::AtOnce(bytes) = self.sum {
            return if checksum(bytes) == self.stated { Ok(()) } else { Err(Error::Checksum) };
        }
        let mut part = [0; 4096];
        while self.left > 0 {
            let len = self.left.min(part.len() as u64) as usize;
            self.fill(&mut part[..len])?;
        }
        match &self.sum {
            Sum::Running(sum) if sum.digest() != self.stated => Err(Error::Checksum),
            _ => Ok(()),
        }
    }
}

/// The last 64 bytes of so many, and how many are before them.
pub(crate) fn footer(from: &mut dyn ReadSeek, len: u64) -> Result<(FooterBytes, u64), Error> {
    let too_short = Error::Truncated { needed: FOOTER_BYTES as u64, given: len };
    let body_len = len.checked_sub(FOOTER_BYTES as u64).ok_or(too_short)?;
    let mut footer = [0; FOOTER_BYTES];
    from.seek(SeekFrom::Start(body_len))?;
    from.read_exact(&mut footer)?;
    Ok((footer, body_len))
}

/// Reads the filter of this footer from the bytes before it.
fn read<T: Encoded>(
    footer: &FooterBytes,
    from: &mut dyn ReadSeek,
    len: u64,
    sum: Sum<'_>,
) -> Result<T, Error> {
    let mut body = Body { from, len, left: len, sum, stated: lines_checksum(footer) };
    let filter = T::read(footer, &mut body)?;
    body.verify()?;
    Ok(filter)
}

/// A filter from its encoded form.
pub(crate) fn decode<T: Encoded>(bytes: &[u8]) -> Result<T, Error> {
    let (body, footer) = split(bytes)?;
    read(footer, &mut Cursor::new(body), body.len() as u64, Sum::AtOnce(body))
}

/// A filter from all that is left to read.
pub(crate) fn read_from<T: Encoded>(from: &mut dyn Read) -> Result<T, Error> {
    let mut bytes = Vec::new();
    file::append_from(from, u64::MAX, &mut bytes)?;
    decode(&bytes)
}

/// A filter from a file.
pub(crate) fn load<T: Encoded>(path: &Path) -> Result<T, Error> {
    file::read(path, |file, len| load_first(file, len))
}

/// A filter from all there is to read.
pub(crate) fn load_from<T: Encoded>(from: &mut dyn ReadSeek) -> Result<T, Error> {
    let len = from.seek(SeekFrom::End(0))?;
    load_first(from, len)
}

/// A filter from so many bytes, all there are.
fn load_first<T: Encoded>(from: &mut dyn ReadSeek, len: u64) -> Result<T, Error> {
    let (footer, len) = footer(from, len)?;
    from.rewind()?;
    read(&footer, from, len, Sum::Running(Xxh3::new()))
}

/// Gives a kind of filter that is [`Encoded`] the methods that copy, encode, decode, save, load and
/// measure it. Of a `shared` one, which may change between two ranges, no ranges are written.
macro_rules! whole_values {
    ($kind:ident) => {
        crate::format::encoded::whole_values!($kind, shared);

        impl $kind {
            /// Writes a range of the encoded filter's bytes to a stream, as far as the filter
            /// reaches. It reads only these, except for the last 64 bytes: they have the checksum
            /// of all others. It allocates no memory, unless a
            /// [growing](crate::GrowingFilter) filter has changed.
            ///
            /// # Errors
            /// [`Error::Io`](crate::Error::Io); some of the bytes may have been written.
            /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) of such a growing filter.
            pub fn write_range_to<W: std::io::Write>(
                &self,
                range: std::ops::Range<usize>,
                mut out: W,
            ) -> Result<(), crate::error::Error> {
                crate::format::encoded::write_range(self, range, &mut out)
            }
        }
    };
    ($kind:ident, shared) => {
        /// Copying, encoding and files.
        impl $kind {
            /// A copy.
            ///
            /// # Errors
            /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
            pub fn try_clone(&self) -> Result<Self, crate::error::Error> {
                crate::format::encoded::Encoded::copy(self)
            }

            /// Returns how many bytes of memory its lines, counters and marks take, the unused end of
            /// huge pages counted. The value itself and the list of its parts are not counted.
            pub fn memory_usage(&self) -> usize {
                crate::format::encoded::Encoded::memory(self)
            }

            /// The length of the encoded filter in bytes; `usize::MAX` of a
            /// [growing](crate::GrowingFilter) filter that has changed, if there is no memory to find
            /// out.
            pub fn encoded_len(&self) -> usize {
                crate::format::encoded::len(self)
            }

            /// Writes the encoded filter to the start of `out` and returns its length.
            ///
            /// # Errors
            /// [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), with nothing written;
            /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) of a growing filter that has changed.
            pub fn encode(&self, out: &mut [u8]) -> Result<usize, crate::error::Error> {
                crate::format::encoded::encode(self, out.into())
            }

            /// The same in memory that may be uninitialised.
            #[cfg(feature = "capi")]
            #[allow(dead_code, reason = "C has functions for some kinds only")]
            pub(crate) fn encode_in(
                &self,
                out: crate::os::room::Room<'_>,
            ) -> Result<usize, crate::error::Error> {
                crate::format::encoded::encode(self, out)
            }

            /// The encoded filter.
            ///
            /// # Errors
            /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
            pub fn to_bytes(&self) -> Result<Vec<u8>, crate::error::Error> {
                crate::format::encoded::to_bytes(self)
            }

            /// Writes the encoded filter to a stream. It allocates no memory, unless a
            /// [growing](crate::GrowingFilter) filter has changed.
            ///
            /// # Errors
            /// [`Error::Io`](crate::Error::Io); some of the bytes may have been written.
            /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) of such a growing filter.
            pub fn write_to<W: std::io::Write>(
                &self,
                mut out: W,
            ) -> Result<(), crate::error::Error> {
                crate::format::encoded::write(self, &mut out)
            }

            /// Reads an encoded filter and verifies all of it, both checksums included.
            ///
            /// # Errors
            /// [`Error::Truncated`](crate::Error::Truncated),
            /// [`Error::NotAFilter`](crate::Error::NotAFilter),
            /// [`Error::Version`](crate::Error::Version),
            /// [`Error::Checksum`](crate::Error::Checksum),
            /// [`Error::Layout`](crate::Error::Layout) (also for a filter of another kind),
            /// and others for bytes that are not a valid filter of this kind: see
            /// `docs/FORMAT.md`. [`Error::OutOfMemory`](crate::Error::OutOfMemory);
            /// [`Error::Backend`](crate::Error::Backend).
            pub fn decode(bytes: &[u8]) -> Result<Self, crate::error::Error> {
                crate::format::encoded::decode(bytes)
            }

            /// Reads a filter from a stream, up to the end of the stream. If the stream continues
            /// after the filter, limit it with [`Read::take`](std::io::Read::take). It uses twice
            /// the memory until it returns, because the size of a filter is at its end.
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($kind), "::decode`];")]
            /// [`Error::Io`](crate::Error::Io).
            pub fn read_from<R: std::io::Read>(mut from: R) -> Result<Self, crate::error::Error> {
                crate::format::encoded::read_from(&mut from)
            }

            /// Reads a filter from a stream that can seek, from its start to its end. It reads the
            /// last 64 bytes first, and some others before their turn; then all once, in order. It
            /// keeps no second copy, unlike [`read_from`](Self::read_from).
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($kind), "::decode`];")]
            /// [`Error::Io`](crate::Error::Io).
            pub fn load_from<R: std::io::Read + std::io::Seek>(
                mut from: R,
            ) -> Result<Self, crate::error::Error> {
                crate::format::encoded::load_from(&mut from)
            }

            /// Saves the encoded filter as a file, atomically: it writes a new file beside it,
            /// flushes it to disk, then renames it. At every moment the file is the whole old or
            /// the whole new one. A map of the old file keeps it. It allocates no memory,
            /// unless a [growing](crate::GrowingFilter) filter has changed.
            ///
            /// On Unix the new file keeps the permissions of the one it replaces and, where the
            /// process may set them, its owner and group. If the group cannot be kept, the new
            /// group gets the permissions of others. A symbolic link is replaced, not followed; the
            /// file keeps the permissions of the link's target.
            ///
            /// # Errors
            /// [`Error::NotAFile`](crate::Error::NotAFile) if the path leads to a directory, a
            /// pipe, a socket or a device, also through a link; [`Error::Io`](crate::Error::Io),
            /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); the old file is unchanged. Except
            /// if only the last step fails, flushing the directory: then the new file is in place,
            /// but may not survive a power failure.
            pub fn save<P: AsRef<std::path::Path>>(
                &self,
                path: P,
            ) -> Result<(), crate::error::Error> {
                crate::format::encoded::save(self, path.as_ref())
            }

            /// Reads a saved filter and verifies all of it. A file that is not a filter of this
            /// kind costs no memory, whatever its length.
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($kind), "::decode`];")]
            /// [`Error::NotAFile`](crate::Error::NotAFile), without waiting, for a pipe, a device
            /// or a directory; [`Error::Io`](crate::Error::Io).
            pub fn load<P: AsRef<std::path::Path>>(path: P) -> Result<Self, crate::error::Error> {
                crate::format::encoded::load(path.as_ref())
            }
        }

        #[cfg(feature = "serde")]
        crate::serialize::as_bytes!($kind);

        impl Clone for $kind {
            #[doc = concat!("As [`", stringify!($kind), "::try_clone`].")]
            ///
            /// # Panics
            /// If there is not enough memory.
            fn clone(&self) -> Self {
                self.try_clone().unwrap_or_else(|error| panic!("{error}"))
            }
        }
    };
}
pub(crate) use whole_values;

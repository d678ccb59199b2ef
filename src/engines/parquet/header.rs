//! The header of a Parquet Bloom filter: a struct in Thrift's compact protocol.
//!
//! ```text
//! BloomFilterHeader { 1: i32 numBytes, 2: algorithm, 3: hash, 4: compression }
//! ```
//!
//! The last three are unions, of which only the first choice is known: split blocks, XXH64, uncompressed. The
//! bits of a filter with another choice cannot be probed here. Fields that are not known are skipped.

use crate::error::Error;
use crate::layouts::sbbf::BLOCK_BYTES;
use crate::os::room::Room;

/// The most bytes of a header. If you do not know how long a header is, read so many bytes.
pub const MAX_HEADER_LEN: usize = 1024;

/// What a header says.
///
/// ```
/// use bloomline::engines::parquet::{Header, read_header, write_header};
///
/// let mut start = [0; 64];
/// let header_len = write_header(1024, &mut start)?;
/// assert_eq!(read_header(&start)?, Header { header_len, bits_len: 1024 });
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// How many bytes the header is. The bits begin behind them.
    pub header_len: usize,
    /// How many bytes the bits are: whole blocks, at least one.
    pub bits_len: usize,
}

/// Structs in structs, so deep. The known ones go to three.
const MAX_DEPTH: u32 = 8;

/// The types of fields.
mod kind {
    pub(super) const STOP: u8 = 0;
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const SET: u8 = 10;
    pub(super) const MAP: u8 = 11;
    pub(super) const STRUCT: u8 = 12;
    pub(super) const UUID: u8 = 13;
}

/// Reads the header at the start of these bytes. What is behind it is not looked at, nor need it be
/// there.
///
/// # Errors
/// [`Error::Truncated`] if the header goes on behind the end: give more bytes, up to
/// [`MAX_HEADER_LEN`]. [`Error::NotAFilter`] if it is no such header, or states a length of bits that is
/// negative, 0 or no multiple of 32. [`Error::Layout`] if it names another algorithm, hash or
/// compression: treat every key as present.
pub fn read_header(bytes: &[u8]) -> Result<Header, Error> {
    let whole = bytes.len() >= MAX_HEADER_LEN;
    let mut reader = Reader { left: &bytes[..bytes.len().min(MAX_HEADER_LEN)] };
    let (bits_len, known) = match reader.header() {
        Ok(found) => found,
        Err(Bad::Cut) if !whole => {
            let given = bytes.len() as u64;
            return Err(Error::Truncated { needed: given + 1, given });
        }
        Err(_) => return Err(Error::NotAFilter),
    };
    if let Err(choice) = known {
        return Err(Error::Layout(choice));
    }
    let bits_len = usize::try_from(bits_len).map_err(|_| Error::NotAFilter)?;
    if bits_len == 0 || !bits_len.is_multiple_of(BLOCK_BYTES) {
        return Err(Error::NotAFilter);
    }
    Ok(Header { header_len: bytes.len().min(MAX_HEADER_LEN) - reader.left.len(), bits_len })
}

/// Checks the length of bits: blocks, at least one, as many as a header can state.
pub(super) fn check_bits(len: usize) -> Result<(), Error> {
    if len == 0 || i32::try_from(len).is_err() {
        return Err(Error::LineCount((len / BLOCK_BYTES) as u64));
    }
    let (needed, given) = (len.next_multiple_of(BLOCK_BYTES) as u64, len as u64);
    if needed == given { Ok(()) } else { Err(Error::Truncated { needed, given }) }
}

/// Why bytes are no header.
enum Bad {
    /// They end too early.
    Cut,
    /// They are something else.
    Other,
}

/// What is not read yet.
struct Reader<'a> {
    left: &'a [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, Bad> {
        let (&first, rest) = self.left.split_first().ok_or(Bad::Cut)?;
        self.left = rest;
        Ok(first)
    }

    fn skip(&mut self, len: u64) -> Result<(), Bad> {
        let len = usize::try_from(len).map_err(|_| Bad::Cut)?;
        self.left = self.left.get(len..).ok_or(Bad::Cut)?;
        Ok(())
    }

    /// A number of at most 64 bits, 7 in a byte.
    fn varint(&mut self) -> Result<u64, Bad> {
        let mut value = 0;
        for i in 0..10 {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7F);
            if i == 9 && part > 1 {
                break;
            }
            value |= part << (7 * i);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Bad::Other)
    }

    /// The same with a sign, which is the lowest bit.
    fn signed(&mut self) -> Result<i64, Bad> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The number and type of the next field, behind that of this number; none at the end.
    fn field(&mut self, last: i16) -> Result<Option<(i16, u8)>, Bad> {
        let byte = self.byte()?;
        if byte == kind::STOP {
            return Ok(None);
        }
        let number = match i16::from(byte >> 4) {
            0 => i16::try_from(self.signed()?).map_err(|_| Bad::Other)?,
            more => last.checked_add(more).ok_or(Bad::Other)?,
        };
        Ok(Some((number, byte & 15)))
    }

    /// All of the header: the length of the bits, and whether the rest is known, or the number of a choice
    /// that is not.
    fn header(&mut self) -> Result<(i32, Result<(), u16>), Bad> {
        let (mut bits_len, mut choices, mut last) = (None, [None; 3], 0);
        while let Some((number, kind)) = self.field(last)? {
            match (number, kind) {
                (1, kind::I32) if bits_len.is_none() => {
                    bits_len = Some(i32::try_from(self.signed()?).map_err(|_| Bad::Other)?);
                }
                (2..=4, kind::STRUCT) if choices[number as usize - 2].is_none() => {
                    choices[number as usize - 2] = Some(self.choice()?);
                }
                // One of them twice, or of another type.
                (1..=4, _) => return Err(Bad::Other),
                _ => self.value(kind, MAX_DEPTH)?,
            }
            last = number;
        }
        let mut known = Ok(());
        for choice in choices.into_iter().rev() {
            match choice.ok_or(Bad::Other)? {
                1 => {}
                other => known = Err(other),
            }
        }
        Ok((bits_len.ok_or(Bad::Other)?, known))
    }

    /// Which choice of a union there is: 0 if there is none, or more than one.
    fn choice(&mut self) -> Result<u16, Bad> {
        let (mut choice, mut count, mut last) = (0, 0, 0);
        while let Some((number, kind)) = self.field(last)? {
            self.value(kind, MAX_DEPTH)?;
            choice = if kind == kind::STRUCT { number as u16 } else { 0 };
            count += 1;
            last = number;
        }
        Ok(if count == 1 { choice } else { 0 })
    }

    /// Skips a value of this type. Each takes a byte at least, but those in the header of a field, so the
    /// bytes bound the work.
    fn value(&mut self, kind: u8, depth: u32) -> Result<(), Bad> {
        let depth = depth.checked_sub(1).ok_or(Bad::Other)?;
        match kind {
            kind::TRUE | kind::FALSE => Ok(()),
            kind::BYTE => self.skip(1),
            kind::I16 | kind::I32 | kind::I64 => self.varint().map(drop),
            kind::DOUBLE => self.skip(8),
            kind::UUID => self.skip(16),
            kind::BINARY => {
                let len = self.varint()?;
                self.skip(len)
            }
            kind::LIST | kind::SET => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
                self.elements(count, &[byte & 15], depth)
            }
            kind::MAP => match self.varint()? {
                0 => Ok(()),
                count => {
                    let kinds = self.byte()?;
                    self.elements(count, &[kinds >> 4, kinds & 15], depth)
                }
            },
            kind::STRUCT => {
                let mut last = 0;
                while let Some((number, kind)) = self.field(last)? {
                    self.value(kind, depth)?;
                    last = number;
                }
                Ok(())
            }
            _ => Err(Bad::Other),
        }
    }

    /// Skips so many elements of a list, or pairs of a map. In these a truth value is a byte.
    fn elements(&mut self, count: u64, kinds: &[u8], depth: u32) -> Result<(), Bad> {
        for _ in 0..count {
            for &kind in kinds {
                match kind {
                    kind::TRUE | kind::FALSE => self.skip(1)?,
                    kind => self.value(kind, depth)?,
                }
            }
        }
        Ok(())
    }
}

/// Writes the header of so many bytes of bits to the start of `out`, and returns its length.
///
/// # Errors
/// [`Error::LineCount`] and [`Error::Truncated`] as [`insert_hashes`](super::insert_hashes);
/// [`Error::BufferTooSmall`]. Nothing is written then.
pub fn write_header(bits_len: usize, out: &mut [u8]) -> Result<usize, Error> {
    write_header_in(bits_len, out.into())
}

/// The same in memory that may be uninitialised.
pub(crate) fn write_header_in(bits_len: usize, out: Room<'_>) -> Result<usize, Error> {
    check_bits(bits_len)?;
    let header = of(bits_len);
    out.first(header.len)?.put(header.as_ref());
    Ok(header.len)
}

/// A header that is written.
pub(super) struct Written {
    bytes: [u8; 19],
    len: usize,
}

impl AsRef<[u8]> for Written {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The header of so many bytes of bits, which fit in 31 bits.
pub(super) fn of(bits_len: usize) -> Written {
    let mut written = Written { bytes: [0; 19], len: 0 };
    let mut put = |byte| {
        written.bytes[written.len] = byte;
        written.len += 1;
    };
    put(1 << 4 | kind::I32);
    let mut left = 2 * bits_len as u64;
    while left >= 0x80 {
        put(left as u8 | 0x80);
        left >>= 7;
    }
    put(left as u8);
    for _ in 0..3 {
        // The next field: a struct, of which field 1 is a struct without fields.
        put(1 << 4 | kind::STRUCT);
        put(1 << 4 | kind::STRUCT);
        put(kind::STOP);
        put(kind::STOP);
    }
    put(kind::STOP);
    written
}

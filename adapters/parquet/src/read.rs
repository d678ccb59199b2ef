//! Reads the bytes of filters from a file.

use bloomline::engines::parquet::{MAX_HEADER_LEN, read_header};
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;
use std::any::Any;
use std::fs::File;
use std::io::{self, Read};

/// The header and bits of a chunk's filter, if it has one that the file can hold beside the column's others,
/// which leave so many bytes.
pub(crate) fn bytes_of<R: ChunkReader + 'static>(
    reader: &R,
    chunk: &ColumnChunkMetaData,
    room: &mut u64,
) -> Result<Option<Bytes>> {
    // What is at this offset of another file would be another filter.
    let elsewhere = chunk.file_path().is_some_and(|path| !path.is_empty());
    let Some(offset) = chunk.bloom_filter_offset().filter(|_| !elsewhere) else {
        return Ok(None);
    };
    let file_len = reader.len();
    let left = u64::try_from(offset).ok().and_then(|offset| file_len.checked_sub(offset));
    let Some(left) = left else {
        return Ok(None);
    };
    // Filters do not overlap, so together they are no longer than the file.
    let mut read = |len: usize, header_len: usize| {
        let Some(rest) = room.checked_sub(len as u64) else {
            return Ok(None);
        };
        *room = rest;
        aligned(reader, offset as u64, len, header_len).map(Some)
    };
    if let Some(len) = chunk.bloom_filter_length() {
        return match usize::try_from(len) {
            Ok(len) if len as u64 <= left => read(len, header_len(len)),
            _ => Ok(None),
        };
    }
    let mut start = vec![0; left.min(MAX_HEADER_LEN as u64) as usize];
    read_at(reader, offset as u64, &mut start)?;
    match read_header(&start) {
        Ok(header) => {
            let len = header.header_len as u64 + header.bits_len as u64;
            if len <= start.len() as u64 {
                Ok(Some(start.into()))
            } else if len <= left {
                read(len as usize, header.header_len)
            } else {
                Ok(None)
            }
        }
        Err(_) => Ok(None),
    }
}

/// The length of the header of a filter of so many bytes. Bits are blocks of 32 bytes, and the header that all
/// known writers write has 15 to 19. Of any other header the blocks lie elsewhere, which takes time only.
fn header_len(len: usize) -> usize {
    const SHORTEST: usize = 15;
    SHORTEST + len.saturating_sub(SHORTEST) % BLOCK
}

const BLOCK: usize = 32;
const CACHE_LINE: usize = 64;

/// Reads so many bytes to where the blocks behind the header lie in one cache line each: a value then takes one
/// miss, not one and a half.
fn aligned<R: ChunkReader + 'static>(
    reader: &R,
    offset: u64,
    len: usize,
    header_len: usize,
) -> Result<Bytes> {
    // Zeroed memory of this size comes from the system as it is.
    let mut room = vec![0; len + CACHE_LINE];
    let start = (room.as_ptr().addr() + header_len).wrapping_neg() % CACHE_LINE;
    read_at(reader, offset, &mut room[start..start + len])?;
    Ok(Bytes::from(room).slice(start..start + len))
}

/// Reads the bytes from an offset on. The clones of a file share its position, so a file is read without it: else
/// another thread could move it on the way, and the filter that is read would be another one.
fn read_at<R: ChunkReader + 'static>(reader: &R, offset: u64, out: &mut [u8]) -> Result<()> {
    let read = match (reader as &dyn Any).downcast_ref::<File>() {
        Some(file) => file_at(file, offset, out),
        None => reader.get_read(offset)?.read_exact(out),
    };
    read.map_err(|error| ParquetError::External(Box::new(error)))
}

#[cfg(unix)]
fn file_at(file: &File, offset: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

#[cfg(windows)]
fn file_at(file: &File, mut offset: u64, mut out: &mut [u8]) -> io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => (out, offset) = (&mut out[read..], offset + read as u64),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
fn file_at(file: &File, offset: u64, out: &mut [u8]) -> io::Result<()> {
    let mut reader = ChunkReader::get_read(file, offset).map_err(io::Error::other)?;
    reader.read_exact(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloomline::engines::parquet::write_header;

    #[test]
    fn headers_are_as_long_as_their_filters_say() {
        for bits_len in (5..28).map(|log2| 1 << log2).chain([96, 1056, 3 << 20]) {
            let mut header = [0; 32];
            let written = write_header(bits_len, &mut header).unwrap();
            assert_eq!(header_len(written + bits_len), written);
        }
        assert!(header_len(0) < 64);
    }

    #[test]
    fn blocks_lie_in_one_cache_line_each() {
        let file = Bytes::from((0..=255).collect::<Vec<u8>>());
        for header_len in [0, 15, 19, 40] {
            for (offset, len) in [(0, 256), (3, 100), (255, 1), (7, 0)] {
                let bytes = aligned(&file, offset, len, header_len).unwrap();
                assert_eq!(bytes, file.slice(offset as usize..offset as usize + len));
                assert!(
                    (bytes.as_ptr().addr() + header_len).is_multiple_of(CACHE_LINE) || len == 0
                );
            }
        }
        assert!(aligned(&file, 200, 57, 15).is_err());
    }
}

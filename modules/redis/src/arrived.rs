//! Bytes that have arrived, in parts. As filters are read from them their parts are freed, so that
//! the bytes and the filters together take little more memory than either.

use crate::allocator;
use bloomline::Error;
use std::io::{self, Read, Seek, SeekFrom};

/// The most bytes of a part.
const MOST: usize = 16 << 20;
/// The least that is allocated at once, unless there are fewer to come.
const LEAST: usize = 4096;

/// The bytes, as far as nothing has taken them.
#[derive(Default)]
pub(crate) struct Arrived {
    parts: Vec<Vec<u8>>,
    len: u64,
    /// Up to here they are taken.
    taken: u64,
    /// The first part that is not freed, and where it begins.
    first: (usize, u64),
}

impl Arrived {
    /// All bytes that have arrived.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Those that nothing has taken.
    pub(crate) fn left(&self) -> u64 {
        self.len - self.taken
    }

    /// The bytes that it takes.
    pub(crate) fn memory(&self) -> usize {
        self.parts.iter().map(Vec::capacity).sum()
    }

    /// Adds bytes, of `total` that there will be. Allocates no more than what has arrived, or a
    /// little.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: nothing has changed.
    pub(crate) fn push(&mut self, bytes: &[u8], total: u64) -> Result<(), Error> {
        let free = self.parts.last().map_or(0, |part| part.capacity() - part.len());
        let (now, later) = bytes.split_at(free.min(bytes.len()));
        let mut more: Vec<Vec<u8>> = Vec::new();
        let no_memory = |_| Error::OutOfMemory;
        let mut end = self.len + now.len() as u64;
        for piece in later.chunks(MOST) {
            let still = total.saturating_sub(end);
            end += piece.len() as u64;
            let as_many = usize::try_from(self.len.min(still)).unwrap_or(MOST).min(MOST);
            let room = piece.len().max(as_many.max(LEAST.min(still as usize)));
            let mut part = Vec::new();
            part.try_reserve_exact(room).map_err(no_memory)?;
            part.extend_from_slice(piece);
            more.try_reserve(1).map_err(no_memory)?;
            more.push(part);
        }
        self.parts.try_reserve(more.len()).map_err(no_memory)?;
        if let Some(last) = self.parts.last_mut() {
            last.extend_from_slice(now);
        }
        self.parts.append(&mut more);
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// The parts, in order. None is freed yet.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().map(Vec::as_slice)
    }

    pub(crate) fn try_clone(&self) -> Result<Arrived, Error> {
        let mut copy = Arrived::default();
        for part in self.parts() {
            copy.push(part, self.len)?;
        }
        Ok(copy)
    }

    /// Takes the next bytes, so many, to be read. Those before them are freed.
    ///
    /// # Errors
    /// [`Error::NotAFilter`] if there are not so many.
    pub(crate) fn take(&mut self, len: u64) -> Result<Taken<'_>, Error> {
        if len > self.left() {
            return Err(Error::NotAFilter);
        }
        let start = self.taken;
        self.taken += len;
        self.free(start);
        Ok(Taken { from: self, start, len, at: 0, read: 0 })
    }

    /// Frees the parts that end there or before.
    fn free(&mut self, end: u64) {
        let (mut i, mut start) = self.first;
        while let Some(part) = self.parts.get_mut(i) {
            let next = start + part.len() as u64;
            if next > end || part.is_empty() {
                break;
            }
            // Its length is gone with it: where the next begins is kept.
            allocator::give_up(std::mem::take(part));
            (i, start) = (i + 1, next);
        }
        self.first = (i, start);
    }

    /// Copies bytes from there on, as many as there are and fit, of one part.
    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let (first, mut start) = self.first;
        for part in &self.parts[first..] {
            let Some(from) = at.checked_sub(start) else {
                return Err(io::Error::other("these bytes are freed"));
            };
            if from < part.len() as u64 {
                let part = &part[from as usize..];
                let len = part.len().min(out.len());
                out[..len].copy_from_slice(&part[..len]);
                return Ok(len);
            }
            start += part.len() as u64;
        }
        Ok(0)
    }
}

/// Bytes that are read. What has been read in order, from the first on, is freed; reading others
/// before their turn frees nothing.
pub(crate) struct Taken<'a> {
    from: &'a mut Arrived,
    start: u64,
    len: u64,
    at: u64,
    /// Up to here they have been read in order.
    read: u64,
}

impl Read for Taken<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.len.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let most = out.len().min(left);
        let len = self.from.read_at(self.start + self.at, &mut out[..most])?;
        if self.at == self.read {
            self.read += len as u64;
            self.from.free(self.start + self.read);
        }
        self.at += len as u64;
        Ok(len)
    }
}

impl Seek for Taken<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
impl Arrived {
    /// These bytes, in parts of different sizes.
    pub(crate) fn of(bytes: &[u8]) -> Arrived {
        let mut arrived = Arrived::default();
        for (i, piece) in bytes.chunks(1000).enumerate() {
            let (one, two) = piece.split_at(piece.len() * (i % 4) / 4);
            arrived.push(one, bytes.len() as u64).unwrap();
            arrived.push(two, bytes.len() as u64).unwrap();
        }
        arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_in_any_order_and_freed_in_their_own() {
        let bytes: Vec<u8> = (0..100_000u32).map(|i| ((i * i) >> 7) as u8).collect();
        let mut arrived = Arrived::of(&bytes);
        assert_eq!((arrived.len(), arrived.left()), (100_000, 100_000));
        assert!(arrived.memory() < 110_000, "{}", arrived.memory());
        let copy = arrived.try_clone().unwrap();
        assert!(copy.parts().flatten().eq(&bytes) && arrived.parts().flatten().eq(&bytes));
        for (start, len) in [(0, 10), (10, 40_000), (40_010, 59_000)] {
            let mut taken = arrived.take(len).unwrap();
            let (mut end, mut all) = ([0; 10], Vec::new());
            assert_eq!(taken.seek(SeekFrom::End(-10)).unwrap(), len - 10);
            taken.read_exact(&mut end).unwrap();
            taken.rewind().unwrap();
            taken.read_to_end(&mut all).unwrap();
            let expected = &bytes[start..start + len as usize];
            assert!(all == expected && end == expected[expected.len() - 10..]);
        }
        assert_eq!(arrived.left(), 990);
        assert!(arrived.memory() < 50_000, "{}", arrived.memory());
        let mut rest = Vec::new();
        arrived.take(990).unwrap().read_to_end(&mut rest).unwrap();
        assert_eq!(rest, bytes[99_010..]);
        assert!(arrived.take(1).is_err() && arrived.memory() == 0);
    }

    #[test]
    fn little_is_allocated_before_it_arrives() {
        let mut arrived = Arrived::default();
        arrived.push(b"x", u64::MAX).unwrap();
        assert!(arrived.memory() <= LEAST);
        let mut len = 1;
        while len < 100 << 20 {
            arrived.push(&[7; 10_000], u64::MAX).unwrap();
            len += 10_000;
            assert!(arrived.memory() <= 2 * len + LEAST && arrived.memory() <= len + MOST);
        }
        // The last part has no more room than it takes.
        let mut small = Arrived::default();
        small.push(&[1; 100], 250).unwrap();
        small.push(&[1; 150], 250).unwrap();
        assert_eq!(small.memory(), 250);
    }
}

//! Room for output: caller-owned memory, possibly uninitialised, written once from front to back.
#![allow(unsafe_code)]

use crate::error::Error;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

/// Bytes to be written, and how many are.
pub(crate) struct Room<'a> {
    bytes: &'a mut [MaybeUninit<u8>],
    written: usize,
}

impl<'a> From<&'a mut [MaybeUninit<u8>]> for Room<'a> {
    fn from(bytes: &'a mut [MaybeUninit<u8>]) -> Room<'a> {
        Room { bytes, written: 0 }
    }
}

impl<'a> From<&'a mut [u8]> for Room<'a> {
    fn from(bytes: &'a mut [u8]) -> Room<'a> {
        // SAFETY: the same bytes; nothing here takes back that they are initialised.
        Room::from(unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) })
    }
}

impl<'a> Room<'a> {
    /// Restricts it to its first `len` bytes.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], with nothing written.
    pub(crate) fn first(self, len: usize) -> Result<Room<'a>, Error> {
        let given = self.bytes.len();
        let too_small = Error::BufferTooSmall { needed: len, given };
        let bytes = self.bytes.get_mut(..len).ok_or(too_small)?;
        Ok(Room { bytes, written: self.written })
    }

    /// Appends these bytes.
    ///
    /// # Panics
    /// If there is no room for them.
    pub(crate) fn put(&mut self, part: &[u8]) {
        let to = &mut self.bytes[self.written..][..part.len()];
        // SAFETY: as many bytes at both; the room is borrowed for writing, so they are apart.
        unsafe { copy_nonoverlapping(part.as_ptr(), to.as_mut_ptr().cast(), part.len()) };
        self.written += part.len();
    }

    /// Appends so many zeros, and returns them to be changed.
    ///
    /// # Panics
    /// If there is no room for them.
    pub(crate) fn put_zeros(&mut self, len: usize) -> &mut [u8] {
        let to = &mut self.bytes[self.written..][..len];
        self.written += len;
        // SAFETY: so many bytes are there, and initialised before they are lent.
        unsafe {
            to.as_mut_ptr().write_bytes(0, len);
            std::slice::from_raw_parts_mut(to.as_mut_ptr().cast(), len)
        }
    }

    /// Returns the bytes written.
    pub(crate) fn written(&self) -> &[u8] {
        // SAFETY: the first bytes were written by the functions above.
        unsafe { std::slice::from_raw_parts(self.bytes.as_ptr().cast(), self.written) }
    }
}

impl Write for Room<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        let len = part.len().min(self.bytes.len() - self.written);
        self.put(&part[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_written_and_nothing_else() {
        let mut bytes = [7; 10];
        let mut room = Room::from(&mut bytes[..]).first(8).unwrap();
        room.put(b"ab");
        room.put_zeros(3)[1] = 5;
        room.put(b"");
        assert_eq!(room.written(), b"ab\0\x05\0");
        assert_eq!(bytes, *b"ab\0\x05\0\x07\x07\x07\x07\x07");
        assert!(matches!(Room::from(&mut bytes[..]).first(11), Err(Error::BufferTooSmall { .. })));
        let mut bytes = [7; 5];
        let mut room = Room::from(&mut bytes[..]);
        room.write_all(b"four").unwrap();
        assert_eq!((room.write(b"56").unwrap(), room.write(b"7").unwrap()), (1, 0));
        assert_eq!(room.written(), b"four5");
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn more_than_there_is_room_for_is_refused() {
        Room::from(&mut [0u8; 3][..]).put(b"four");
    }
}

//! Windows as bytes and as files.

use super::{Generation, Window, chunks, pieces};
use crate::error::Error;
use crate::format::window::{Parts, check, finish, parse};
use crate::kernel::{Kernel, Layout};
use crate::line::LINE_BYTES;
use crate::os::file;
use crate::os::room::Room;
use std::path::Path;

impl Window {
    /// The length of the encoded window: all lines, 8 bytes for each generation, and 80.
    pub fn encoded_len(&self) -> usize {
        self.shape.encoded_len()
    }

    /// Writes the encoded window to the start of `out` and returns its length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], with nothing written.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, Error> {
        self.encode_in(out.into())
    }

    /// The same in memory that may hold anything.
    pub(crate) fn encode_in(&self, out: Room<'_>) -> Result<usize, Error> {
        let mut out = out.first(self.encoded_len())?;
        self.write(&mut out);
        Ok(out.written().len())
    }

    fn write(&self, out: &mut Room<'_>) {
        for place in 0..self.generations.len() {
            for (line, piece) in pieces(self.shape, place, 0) {
                if self.is_current(place, line) {
                    out.put(&self.lines[piece]);
                } else {
                    out.put_zeros(piece.len());
                }
            }
        }
        let key_counts = self.generations.iter().map(|generation| generation.key_count);
        finish(out, self.shape, self.slice, self.limit, key_counts);
    }

    /// The encoded window.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Room::vec(self.encoded_len(), |room| self.write(room))
    }

    /// A window from its encoded form, all of it checked: in the same slice, with the same keys,
    /// and as [`Window::rotate_after`] was told.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::NotAFilter`], [`Error::Version`], [`Error::Checksum`],
    /// [`Error::Layout`] (also for a filter that is no window), [`Error::Generations`],
    /// [`Error::K`], [`Error::LineCount`] for bytes that are not an intact window;
    /// [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn decode(bytes: &[u8]) -> Result<Window, Error> {
        let Parts { shape, lines, slice, limit, key_counts } = parse(bytes)?;
        let mut window = Window::with_kernel(shape, Kernel::active(Layout::Native)?)?;
        for (place, lines) in lines.chunks(shape.params().bytes()).enumerate() {
            for (line, piece) in pieces(shape, place, 0) {
                let from = &lines[LINE_BYTES * line..][..piece.len()];
                window.lines[piece].copy_from_slice(from);
            }
        }
        (window.slice, window.limit) = (slice, limit);
        let (stamps, _) = window.cleared.as_chunks_mut();
        let places = stamps.chunks_mut(chunks(shape.params())).zip(&mut window.generations);
        let count = u64::from(shape.generations());
        for (place, ((stamps, generation), key_count)) in places.zip(key_counts).enumerate() {
            // The last slice that has this place; 0 if it has had none yet.
            let age = (slice % count + count - place as u64) % count;
            let slice = slice.saturating_sub(age);
            let key_count = u64::from_le_bytes(*key_count);
            *generation = Generation { slice, key_count, stale_chunks: 0 };
            stamps.fill(slice.to_ne_bytes());
        }
        Ok(window)
    }

    /// Saves the encoded window as a file, whole or not at all, as
    /// [`Filter::save`](crate::Filter::save) does. Meanwhile it takes its memory twice.
    ///
    /// # Errors
    /// As [`Filter::save`](crate::Filter::save).
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        file::replace(path, &[&self.to_bytes()?])
    }

    /// Reads a file that [`Window::save`] wrote, all of it checked. Meanwhile it takes its
    /// memory twice.
    ///
    /// # Errors
    /// As [`Window::decode`]; [`Error::NotAFile`]; [`Error::Io`].
    pub fn load(path: &Path) -> Result<Window, Error> {
        Window::decode(&file::read(path, check)?)
    }
}

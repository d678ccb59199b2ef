//! Windows as bytes: place by place, though in memory the places are mixed piece by piece.

use super::{Generation, Window, chunks, pieces};
use crate::error::Error;
use crate::format::encoded::{Body, Encoded, whole_values, write_parts};
use crate::format::native::{Footer, FooterBytes};
use crate::format::window::{check, footer};
use crate::kernel::{Kernel, Layout};
use crate::line::LINE_BYTES;
use std::fmt;
use std::io::{self, Write};

/// Pieces are read and written so many bytes at a time: a multiple of a piece's.
const COPIED_BYTES: usize = 32 * super::PIECE * LINE_BYTES;

whole_values!(Window);

impl Encoded for Window {
    fn footer(&self) -> Footer {
        let counts = self.generations.iter().map(|generation| generation.key_count);
        footer(self.shape, counts.fold(0, u64::saturating_add))
    }

    fn body_len(&self) -> usize {
        self.shape.body_len()
    }

    fn write_body(&self, from: usize, out: &mut dyn Write) -> io::Result<()> {
        let (mut part, mut len) = ([0; COPIED_BYTES], 0);
        let (pieces, mut skip) = self.encoded_pieces(from);
        for piece in pieces {
            let piece = &piece[std::mem::take(&mut skip)..];
            part[len..len + piece.len()].copy_from_slice(piece);
            len += piece.len();
            if len + super::PIECE * LINE_BYTES > COPIED_BYTES {
                out.write_all(&part[..len])?;
                len = 0;
            }
        }
        out.write_all(&part[..len])?;
        let counts = self.generations.iter().map(|generation| generation.key_count);
        for number in [self.slice, self.limit].into_iter().chain(counts) {
            skip = write_parts([number.to_le_bytes().as_slice()], skip, out)?;
        }
        Ok(())
    }

    fn read(footer: &FooterBytes, body: &mut Body<'_>) -> Result<Window, Error> {
        let shape = check(footer, body.len())?;
        let mut window = Window::with_kernel(shape, Kernel::active(Layout::Native)?)?;
        let mut part = [0; COPIED_BYTES];
        for place in 0..window.generations.len() {
            let (mut left, mut ready) = (shape.params().bytes(), 0..0);
            for (_, piece) in pieces(shape, place, 0) {
                if ready.is_empty() {
                    ready = 0..left.min(COPIED_BYTES);
                    body.fill(&mut part[ready.clone()])?;
                }
                let from = &part[ready.start..ready.start + piece.len()];
                window.lines[piece].copy_from_slice(from);
                (ready.start, left) = (ready.start + from.len(), left - from.len());
            }
        }
        let mut number = || {
            let mut bytes = [0; 8];
            body.fill(&mut bytes).map(|()| u64::from_le_bytes(bytes))
        };
        (window.slice, window.limit) = (number()?, number()?);
        let (stamps, _) = window.cleared.as_chunks_mut();
        let places = stamps.chunks_mut(chunks(shape.params())).zip(&mut window.generations);
        let (slice, count) = (window.slice, u64::from(shape.generations()));
        for (place, (stamps, generation)) in places.enumerate() {
            // The last slice of this place; 0 if it has had none yet.
            let age = (slice % count + count - place as u64) % count;
            let slice = slice.saturating_sub(age);
            *generation = Generation { slice, key_count: number()?, stale_chunks: 0 };
            stamps.fill(slice.to_ne_bytes());
        }
        Ok(window)
    }

    fn memory(&self) -> usize {
        self.lines.taken() + self.cleared.taken()
    }

    fn copy(&self) -> Result<Window, Error> {
        let mut copy = Window::with_kernel(self.shape, self.kernel)?;
        copy.lines.copy_from_slice(&self.lines);
        copy.cleared.copy_from_slice(&self.cleared);
        copy.generations.copy_from_slice(&self.generations);
        copy.stale.copy_from_slice(&self.stale);
        (copy.slice, copy.limit) = (self.slice, self.limit);
        Ok(copy)
    }
}

impl Window {
    /// The lines of one place after the other, as they are encoded: those of an older generation
    /// are empty. The first has byte `from`, if that is not behind all lines. Returns also how many
    /// bytes are before it: in the first piece, or behind the lines.
    fn encoded_pieces(&self, from: usize) -> (impl Iterator<Item = &[u8]>, usize) {
        const EMPTY: [u8; super::PIECE * LINE_BYTES] = [0; super::PIECE * LINE_BYTES];
        let (places, place_bytes) = (self.generations.len(), self.shape.params().bytes());
        let first = (from / place_bytes).min(places);
        let rest = from - first * place_bytes;
        let piece = super::piece(self.shape);
        let line = if first < places { rest / (LINE_BYTES * piece) * piece } else { 0 };
        let all = (first..places).flat_map(move |place| {
            let from = if place == first { line } else { 0 };
            pieces(self.shape, place, from).map(move |(line, piece)| {
                if self.is_current(place, line) {
                    &self.lines[piece]
                } else {
                    &EMPTY[..piece.len()]
                }
            })
        });
        (all, rest - line * LINE_BYTES)
    }
}

/// Equal windows have the same encoded bytes.
impl PartialEq for Window {
    fn eq(&self, other: &Window) -> bool {
        let counts = |window: &Window, i: usize| window.generations[i].key_count;
        (self.shape, self.slice, self.limit) == (other.shape, other.slice, other.limit)
            && (0..self.generations.len()).all(|i| counts(self, i) == counts(other, i))
            && self.encoded_pieces(0).0.eq(other.encoded_pieces(0).0)
    }
}

impl Eq for Window {}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Footer { key_count, line_count, k, .. } = self.footer();
        f.debug_struct("Window")
            .field("keys", &key_count)
            .field("generations", &self.generations.len())
            .field("lines_of_each", &line_count)
            .field("k", &k)
            .finish_non_exhaustive()
    }
}

//! Layout 4: the lines of a window's generations and their state, before the footer of `native`.
//! `docs/FORMAT.md` is the standard.
//!
//! ```text
//! lines of place 0 | lines of place 1 | ... | slice | limit | key count of place 0 | ...
//! ```

use super::native::{self, FOOTER_BYTES, Footer, FooterBytes};
use crate::error::Error;
use crate::os::room::Room;
use crate::params::Params;

pub(super) const LAYOUT: u16 = 4;

/// How many generations a window has, at least one, and of what shape: such that all of it,
/// encoded, can be addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    params: Params,
    generations: u32,
}

impl Shape {
    /// # Errors
    /// [`Error::Generations`], [`Error::LineCount`].
    pub(crate) fn new(params: Params, generations: u32) -> Result<Shape, Error> {
        if generations == 0 {
            return Err(Error::Generations);
        }
        let each = params.bytes() as u128 + 8;
        let len = each * u128::from(generations) + 16 + FOOTER_BYTES as u128;
        if len > isize::MAX as u128 {
            return Err(Error::LineCount);
        }
        Ok(Shape { params, generations })
    }

    pub(crate) fn params(&self) -> Params {
        self.params
    }

    pub(crate) fn generations(&self) -> u32 {
        self.generations
    }

    /// The bytes of the lines of all generations.
    pub(crate) fn line_bytes(&self) -> usize {
        self.params.bytes() * self.generations as usize
    }

    /// The bytes of all numbers of the state.
    fn state_bytes(&self) -> usize {
        16 + 8 * self.generations as usize
    }

    pub(crate) fn encoded_len(&self) -> usize {
        self.line_bytes() + self.state_bytes() + FOOTER_BYTES
    }
}

/// An encoded window, taken apart.
pub(crate) struct Parts<'a> {
    pub(crate) shape: Shape,
    pub(crate) lines: &'a [u8],
    pub(crate) slice: u64,
    pub(crate) limit: u64,
    /// One for each generation.
    pub(crate) key_counts: &'a [[u8; 8]],
}

/// As `native::check`, for this layout: the shape.
pub(crate) fn check(footer: &FooterBytes, body_len: u64) -> Result<Shape, Error> {
    let footer = Footer::read(footer)?;
    if footer.layout != LAYOUT {
        return Err(Error::Layout);
    }
    let generations = u32::try_from(footer.shape).map_err(|_| Error::Generations)?;
    if generations == 0 {
        return Err(Error::Generations);
    }
    let shape = Shape::new(Params::new(footer.line_count, footer.k, footer.seed)?, generations)?;
    if body_len != (shape.encoded_len() - FOOTER_BYTES) as u64 {
        return Err(Error::Truncated);
    }
    Ok(shape)
}

/// An encoded window, all of it checked, in the order of `docs/FORMAT.md`.
pub(crate) fn parse(bytes: &[u8]) -> Result<Parts<'_>, Error> {
    let (body, footer) = native::split(bytes)?;
    let shape = check(footer, body.len() as u64)?;
    native::verify(bytes)?;
    let (lines, state) = body.split_at(shape.line_bytes());
    let (words, _) = state.as_chunks();
    let [slice, limit, key_counts @ ..] = words else { return Err(Error::Truncated) };
    let [slice, limit] = [*slice, *limit].map(u64::from_le_bytes);
    Ok(Parts { shape, lines, slice, limit, key_counts })
}

/// Writes what goes behind the lines, which are all that is in `out`.
pub(crate) fn finish(
    out: &mut Room<'_>,
    shape: Shape,
    slice: u64,
    limit: u64,
    key_counts: impl Iterator<Item = u64>,
) {
    let mut key_count = 0u64;
    out.put(&slice.to_le_bytes());
    out.put(&limit.to_le_bytes());
    for count in key_counts {
        out.put(&count.to_le_bytes());
        key_count = key_count.saturating_add(count);
    }
    let (line_count, k, seed) = (shape.params.line_count(), shape.params.k(), shape.params.seed());
    let shape = shape.generations.into();
    let fields = Footer { key_count, line_count, seed, k, layout: LAYOUT, shape };
    let footer = fields.write(&[out.written()]);
    out.put(&footer);
}

//! Layout 4: the lines of a window's generations and their state, before the footer of `native`.
//! `docs/format/counting-scalable-window.md` is the standard.
//!
//! ```text
//! lines of place 0 | lines of place 1 | ... | slice | limit | key count of place 0 | ...
//! ```

use super::native::{self, FOOTER_BYTES, Footer, FooterBytes};
use crate::error::Error;
use crate::shape::Params;

pub(super) const LAYOUT: u16 = 4;

/// The generations of a window, at least one, and their parameters, such that memory can address
/// its encoded form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    params: Params,
    generations: u32,
}

impl Shape {
    /// # Errors
    /// [`Error::Generations`], [`Error::LineCount`]; [`Error::Classic`] for classic parameters.
    pub(crate) fn new(params: Params, generations: u32) -> Result<Shape, Error> {
        if generations == 0 {
            return Err(Error::Generations(0));
        }
        native::in_one_line(params)?;
        let each = params.bytes() as u128 + 8;
        let len = each * u128::from(generations) + 16 + FOOTER_BYTES as u128;
        if len > isize::MAX as u128 {
            return Err(Error::LineCount(params.line_count()));
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
    fn line_bytes(&self) -> usize {
        self.params.bytes() * self.generations as usize
    }

    /// The bytes of all numbers of the state.
    fn state_bytes(&self) -> usize {
        16 + 8 * self.generations as usize
    }

    /// The bytes before the footer.
    pub(crate) fn body_len(&self) -> usize {
        self.line_bytes() + self.state_bytes()
    }
}

/// As `native::check`, for this layout: the shape.
pub(crate) fn check(footer: &FooterBytes, body_len: u64) -> Result<Shape, Error> {
    let footer = Footer::read_of(footer, LAYOUT)?;
    let generations = match u32::try_from(footer.shape) {
        Ok(generations @ 1..) => generations,
        _ => return Err(Error::Generations(footer.shape)),
    };
    let shape = Shape::new(
        Params::new(footer.line_count, footer.k, footer.seed).map_err(Error::of_bytes)?,
        generations,
    )?;
    native::check_len(body_len, shape.body_len())?;
    Ok(shape)
}

/// What the footer says.
pub(crate) fn footer(shape: Shape, key_count: u64) -> Footer {
    let (line_count, k, seed) = (shape.params.line_count(), shape.params.k(), shape.params.seed());
    let shape = shape.generations.into();
    Footer { key_count, line_count, seed, k, layout: LAYOUT, shape }
}

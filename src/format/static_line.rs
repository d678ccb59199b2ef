//! Layout 8: the lines of all levels of a static filter, before the footer of `native`.
//! `docs/format/static-cascade.md` is the standard.

use super::native::{FOOTER_BYTES, Footer, FooterBytes, check_len, split};
use crate::error::Error;
use crate::layouts::static_line::{Levels, MAX_TAIL};
use crate::shape::StaticParams;

pub(crate) const LAYOUT: u16 = 8;

/// What a footer says of a static filter: all that a probe needs besides the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) params: StaticParams,
    pub(crate) levels: Levels,
    /// Of the lines of all levels.
    bytes: usize,
}

impl Shape {
    /// The shape of a filter whose first level has as many lines in both.
    pub(crate) fn new(params: StaticParams, levels: Levels) -> Shape {
        debug_assert_eq!(params.line_count(), levels.line_count);
        // Fits: the parameters leave room for all levels.
        Shape { params, levels, bytes: levels.all_lines() as usize * params.line_bytes() }
    }

    /// The bytes of the lines of all levels.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The sizes of the levels as the footer has them: the shares, then the tail, a byte each.
pub(super) fn sizes(levels: Levels) -> u64 {
    let [second, third] = levels.shares.map(u64::from);
    second | third << 8 | u64::from(levels.tail) << 16
}

/// The same read; None if it is not what a writer writes.
pub(super) fn levels(line_count: u64, sizes: u64) -> Option<Levels> {
    let [second, third, tail, rest @ ..] = sizes.to_le_bytes();
    let ends = (second > 0 || third == 0) && (third > 0 || tail == 0);
    let sound = ends && tail <= MAX_TAIL && rest == [0; 5];
    sound.then_some(Levels { line_count, shares: [second, third], tail })
}

/// As `native::check`, for this layout: the shape, and the writer's key count.
pub(crate) fn check(footer: &FooterBytes, body_len: u64) -> Result<(Shape, u64), Error> {
    let footer = Footer::read_of(footer, LAYOUT)?;
    let levels = levels(footer.line_count, footer.shape).ok_or(Error::Reserved)?;
    let params =
        StaticParams::new(footer.line_count, footer.k, footer.seed).map_err(Error::of_bytes)?;
    let shape = Shape::new(params, levels);
    check_len(body_len, shape.bytes())?;
    Ok((shape, footer.key_count))
}

/// As `native::parse`, for this layout: the lines, their shape, and the writer's key count; the
/// footer is checked, the lines are not.
pub(crate) fn parse(bytes: &[u8]) -> Result<(&[u8], Shape, u64), Error> {
    let (lines, footer) = split(bytes)?;
    let (shape, key_count) = check(footer, lines.len() as u64)?;
    Ok((lines, shape, key_count))
}

/// What the footer says.
pub(crate) fn footer(shape: Shape, key_count: u64) -> Footer {
    let Shape { params, levels, .. } = shape;
    let (line_count, k, seed) = (params.line_count(), params.rows(), params.seed());
    Footer { key_count, line_count, seed, k, layout: LAYOUT, shape: sizes(levels) }
}

/// The length of an encoded filter of lines of so many bytes.
pub(crate) fn encoded_len(bytes: usize) -> usize {
    bytes + FOOTER_BYTES
}

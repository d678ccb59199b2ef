//! Layout 7: the lines of a cuckoo filter, before the footer of `native`. `docs/FORMAT.md` is the
//! standard.

use super::native::{FOOTER_BYTES, Footer, FooterBytes, split};
use crate::error::Error;
use crate::params::CuckooParams;

pub(super) const LAYOUT: u16 = 7;

/// As `native::check`, for this layout: the shape of the lines, and the writer's key count.
pub(crate) fn check(footer: &FooterBytes, body_len: u64) -> Result<(CuckooParams, u64), Error> {
    let footer = Footer::read(footer)?;
    if footer.layout != LAYOUT {
        return Err(Error::Layout);
    }
    if footer.shape != 0 {
        return Err(Error::Reserved);
    }
    let params = CuckooParams::new(footer.line_count, footer.k, footer.seed)?;
    if body_len != params.bytes() as u64 {
        return Err(Error::Truncated);
    }
    Ok((params, footer.key_count))
}

/// As `native::parse`, for this layout: the lines, their shape, and the writer's key count; the
/// footer is checked, the lines are not.
pub(crate) fn parse(bytes: &[u8]) -> Result<(&[u8], CuckooParams, u64), Error> {
    let (lines, footer) = split(bytes)?;
    let (params, key_count) = check(footer, lines.len() as u64)?;
    Ok((lines, params, key_count))
}

/// The footer that goes behind these lines.
pub(crate) fn footer(lines: &[u8], params: CuckooParams, key_count: u64) -> [u8; FOOTER_BYTES] {
    debug_assert_eq!(lines.len(), params.bytes());
    let (line_count, k, seed) = (params.line_count(), params.fingerprint_bits(), params.seed());
    Footer { key_count, line_count, seed, k, layout: LAYOUT, shape: 0 }.write(&[lines])
}

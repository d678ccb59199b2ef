//! Layout 7: the lines of a cuckoo filter, before the footer of `native`. `docs/format/cuckoo-classic.md` is the
//! standard.

use super::native::{Footer, FooterBytes, check_len, split};
use crate::error::Error;
use crate::shape::CuckooParams;

pub(crate) const LAYOUT: u16 = 7;

/// As `native::check`, for this layout: the parameters, and the writer's key count.
pub(crate) fn check(footer: &FooterBytes, body_len: u64) -> Result<(CuckooParams, u64), Error> {
    let footer = Footer::read_of(footer, LAYOUT)?;
    if footer.shape != 0 {
        return Err(Error::Reserved);
    }
    let params =
        CuckooParams::new(footer.line_count, footer.k, footer.seed).map_err(Error::of_bytes)?;
    check_len(body_len, params.bytes())?;
    Ok((params, footer.key_count))
}

/// As `native::parse`, for this layout: the lines, their shape, and the writer's key count; the
/// footer is checked, the lines are not.
pub(crate) fn parse(bytes: &[u8]) -> Result<(&[u8], CuckooParams, u64), Error> {
    let (lines, footer) = split(bytes)?;
    let (params, key_count) = check(footer, lines.len() as u64)?;
    Ok((lines, params, key_count))
}

/// What the footer says.
pub(crate) fn footer(params: CuckooParams, key_count: u64) -> Footer {
    let (line_count, k, seed) = (params.line_count(), params.fingerprint_bits(), params.seed());
    Footer { key_count, line_count, seed, k, layout: LAYOUT, shape: 0 }
}

//! The native format, version 1: the lines, in layout 2 their counters, then a footer of 64 bytes.
//! `docs/FORMAT.md` is the standard; this file follows it.

use crate::error::Error;
use crate::hash::{hash, of_48};
use crate::line::LINE_BYTES;
use crate::shape::Params;

/// Bytes of the footer: one line.
pub(crate) const FOOTER_BYTES: usize = 64;
/// The last 8 bytes of every filter.
const MAGIC: [u8; 8] = *b"BLMLINE\n";
const VERSION: u16 = 1;
/// The lines of `line.rs`.
pub(crate) const LINES: u16 = 1;
/// The same lines, then a counter of 4 bits for each of their bits.
pub(crate) const COUNTING: u16 = 2;
/// The bits of `layouts/classic.rs`.
pub(crate) const CLASSIC: u16 = 6;
/// Layouts whose lines a view can probe.
pub(crate) const PROBED: &[u16] = &[LINES, COUNTING, CLASSIC];
/// Bytes of the counters of one line.
pub(crate) const COUNTER_BYTES: usize = 4 * LINE_BYTES;

/// Where the fields of the footer begin, counted from its start.
pub(super) mod at {
    pub(in crate::format) const KEY_COUNT: usize = 0;
    pub(in crate::format) const LINE_COUNT: usize = 8;
    pub(super) const SEED: usize = 16;
    pub(in crate::format) const K: usize = 24;
    pub(super) const LAYOUT: usize = 28;
    pub(super) const VERSION: usize = 30;
    pub(in crate::format) const SHAPE: usize = 32;
    pub(super) const LINES_CHECKSUM: usize = 40;
    pub(super) const FOOTER_CHECKSUM: usize = 48;
    pub(super) const MAGIC: usize = 56;
}

/// What a footer says, of any layout.
pub(crate) struct Footer {
    pub(crate) key_count: u64,
    pub(crate) line_count: u64,
    pub(crate) seed: u64,
    pub(crate) k: u32,
    pub(crate) layout: u16,
    /// Reserved in layout 1, where it is 0; other layouts use it.
    pub(crate) shape: u64,
}

pub(crate) type FooterBytes = [u8; FOOTER_BYTES];

/// Splits an encoded filter before the footer. Rule 1 of `docs/FORMAT.md`.
#[inline]
pub(crate) fn split(bytes: &[u8]) -> Result<(&[u8], &FooterBytes), Error> {
    let (needed, given) = (FOOTER_BYTES as u64, bytes.len() as u64);
    bytes.split_last_chunk::<FOOTER_BYTES>().ok_or(Error::Truncated { needed, given })
}

/// Whether so many bytes are before a footer as it states.
pub(super) fn check_len(body_len: u64, stated: usize) -> Result<(), Error> {
    if body_len == stated as u64 {
        return Ok(());
    }
    let footer = FOOTER_BYTES as u64;
    Err(Error::Truncated { needed: stated as u64 + footer, given: body_len.saturating_add(footer) })
}

impl Footer {
    /// Reads a footer by rules 2 to 4 of `docs/FORMAT.md`, which do not depend on the layout.
    #[inline]
    pub(super) fn read(footer: &FooterBytes) -> Result<Footer, Error> {
        if footer[at::MAGIC..] != MAGIC {
            return Err(Error::NotAFilter);
        }
        let version = u16_at(footer, at::VERSION);
        if version != VERSION {
            return Err(Error::Version(version));
        }
        if u64_at(footer, at::FOOTER_CHECKSUM) != footer_checksum(footer) {
            return Err(Error::Checksum);
        }
        Ok(Footer {
            key_count: u64_at(footer, at::KEY_COUNT),
            line_count: u64_at(footer, at::LINE_COUNT),
            seed: u64_at(footer, at::SEED),
            k: u32_at(footer, at::K),
            layout: u16_at(footer, at::LAYOUT),
            shape: u64_at(footer, at::SHAPE),
        })
    }

    /// The same for a reader of one layout: rules 2 to 5.
    pub(super) fn read_of(footer: &FooterBytes, layout: u16) -> Result<Footer, Error> {
        let footer = Footer::read(footer)?;
        if footer.layout == layout { Ok(footer) } else { Err(Error::Layout(footer.layout)) }
    }

    /// Checks the number of parts, the line count and the length, as [`check`] does, of a layout that has
    /// so many records between lines and footer; `None` if there cannot be as many parts as `k` says.
    /// Returns the bytes of the lines.
    pub(super) fn check_parts(
        &self,
        body_len: u64,
        records: Option<usize>,
    ) -> Result<usize, Error> {
        let records = records.ok_or(Error::K(self.k))?;
        let most = isize::MAX as usize / LINE_BYTES - records - 1;
        if !(1..=most as u64).contains(&self.line_count) {
            return Err(Error::LineCount(self.line_count));
        }
        let line_bytes = self.line_count as usize * LINE_BYTES;
        check_len(body_len, line_bytes + records * FOOTER_BYTES)?;
        Ok(line_bytes)
    }

    /// The footer that goes behind bytes of that checksum.
    pub(crate) fn seal(&self, body_checksum: u64) -> FooterBytes {
        let mut footer = [0; FOOTER_BYTES];
        put(&mut footer, at::KEY_COUNT, self.key_count.to_le_bytes());
        put(&mut footer, at::LINE_COUNT, self.line_count.to_le_bytes());
        put(&mut footer, at::SEED, self.seed.to_le_bytes());
        put(&mut footer, at::K, self.k.to_le_bytes());
        put(&mut footer, at::LAYOUT, self.layout.to_le_bytes());
        put(&mut footer, at::VERSION, VERSION.to_le_bytes());
        put(&mut footer, at::SHAPE, self.shape.to_le_bytes());
        put(&mut footer, at::LINES_CHECKSUM, body_checksum.to_le_bytes());
        let sum = footer_checksum(&footer);
        put(&mut footer, at::FOOTER_CHECKSUM, sum.to_le_bytes());
        put(&mut footer, at::MAGIC, MAGIC);
        footer
    }
}

/// The layout that a footer states, unchecked.
#[inline]
pub(crate) fn stated_layout(footer: &FooterBytes) -> u16 {
    u16_at(footer, at::LAYOUT)
}

/// An encoded filter, taken apart.
pub(crate) struct Parts<'a> {
    pub(crate) lines: &'a [u8],
    /// Only in layout 2.
    pub(crate) counters: &'a [u8],
    pub(crate) params: Params,
    pub(crate) key_count: u64,
}

/// Checks a footer of one of these layouts against the length of what is before it, which need
/// not be read yet: rules 2 to 9 of `docs/FORMAT.md`, in its order.
pub(crate) fn check(
    footer: &FooterBytes,
    body_len: u64,
    layouts: &[u16],
) -> Result<(Footer, Params), Error> {
    let footer = Footer::read(footer)?;
    if !layouts.contains(&footer.layout) {
        return Err(Error::Layout(footer.layout));
    }
    if footer.shape != 0 {
        return Err(Error::Reserved);
    }
    let params = Params::new(footer.line_count, footer.k, footer.seed).map_err(Error::of_bytes)?;
    let params = if footer.layout == CLASSIC { params.into_classic() } else { params };
    let counters = if footer.layout == COUNTING { counter_bytes(params)? } else { 0 };
    check_len(body_len, params.bytes() + counters)?;
    Ok((footer, params))
}

/// An encoded filter of one of these layouts, taken apart; the footer is checked, what is
/// before it is not.
#[inline]
pub(crate) fn parse<'a>(bytes: &'a [u8], layouts: &[u16]) -> Result<Parts<'a>, Error> {
    let (body, footer) = split(bytes)?;
    let (Footer { key_count, .. }, params) = check(footer, body.len() as u64, layouts)?;
    let (lines, counters) = body.split_at(params.bytes());
    Ok(Parts { lines, counters, params, key_count })
}

/// Verifies a parsed filter of any layout: the checksum of what is before the footer, and that
/// counters agree with the lines. Rules 10 and 11.
pub(crate) fn verify(bytes: &[u8]) -> Result<(), Error> {
    let (body, footer) = split(bytes)?;
    if lines_checksum(footer) != checksum(body) {
        return Err(Error::Checksum);
    }
    match parse(bytes, &[COUNTING]) {
        Ok(Parts { lines, counters, .. }) if !agree(lines, counters) => Err(Error::Checksum),
        _ => Ok(()),
    }
}

/// The bytes of the counters for all lines.
///
/// # Errors
/// [`Error::LineCount`] if lines, counters and a footer are more than memory can address;
/// [`Error::Classic`] for classic parameters.
pub(crate) fn counter_bytes(params: Params) -> Result<usize, Error> {
    let most = isize::MAX as usize - FOOTER_BYTES;
    in_one_line(params)?;
    if params.bytes() > most / (LINE_BYTES + COUNTER_BYTES) * LINE_BYTES {
        return Err(Error::LineCount(params.line_count()));
    }
    Ok(params.bytes() / LINE_BYTES * COUNTER_BYTES)
}

/// Whether the counters that are not 0 are those of the bits that are set. The 8 counters of
/// a byte of the lines are 4 bytes.
pub(crate) fn agree(lines: &[u8], counters: &[u8]) -> bool {
    let (counters, _) = counters.as_chunks::<4>();
    lines.iter().zip(counters).all(|(&bits, &counters)| {
        // The byte's bits, each moved to where the lowest bit of its counter is.
        let bits = u32::from(bits);
        let bits = (bits | bits << 12) & 0x000F_000F;
        let bits = (bits | bits << 6) & 0x0303_0303;
        let bits = (bits | bits << 3) & 0x1111_1111;
        let counters = u32::from_le_bytes(counters);
        let counted = counters | counters >> 1 | counters >> 2 | counters >> 3;
        bits == counted & 0x1111_1111
    })
}

/// The layout of plain filters of these parameters.
pub(crate) fn layout_of(params: Params) -> u16 {
    if params.is_classic() { CLASSIC } else { LINES }
}

/// Fails for classic parameters: the filter needs that all bits of a key are in one line.
pub(crate) fn in_one_line(params: Params) -> Result<(), Error> {
    if params.is_classic() { Err(Error::Classic) } else { Ok(()) }
}

/// What the footer says of a filter of one of these layouts.
pub(crate) fn footer(layout: u16, params: Params, key_count: u64) -> Footer {
    let (line_count, k, seed) = (params.line_count(), params.k(), params.seed());
    Footer { key_count, line_count, seed, k, layout, shape: 0 }
}

/// The checksum that a footer states of what is before it.
pub(super) fn lines_checksum(footer: &FooterBytes) -> u64 {
    u64_at(footer, at::LINES_CHECKSUM)
}

pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    hash(bytes, 0)
}

/// That of the fields of a footer before it.
#[inline(always)]
fn footer_checksum(footer: &FooterBytes) -> u64 {
    const { assert!(at::FOOTER_CHECKSUM == 48) };
    of_48(footer.first_chunk().expect("a footer is longer"))
}

/// Whether records have the checksum that a footer states of them.
pub(super) fn check_records(records: &[FooterBytes], stated: u64) -> Result<(), Error> {
    if checksum(records.as_flattened()) == stated { Ok(()) } else { Err(Error::Checksum) }
}

pub(super) fn put<const N: usize>(footer: &mut FooterBytes, at: usize, field: [u8; N]) {
    footer[at..at + N].copy_from_slice(&field);
}

fn field<const N: usize>(footer: &FooterBytes, at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&footer[at..at + N]);
    field
}

fn u16_at(footer: &FooterBytes, at: usize) -> u16 {
    u16::from_le_bytes(field(footer, at))
}

pub(super) fn u32_at(footer: &FooterBytes, at: usize) -> u32 {
    u32::from_le_bytes(field(footer, at))
}

pub(super) fn u64_at(footer: &FooterBytes, at: usize) -> u64 {
    u64::from_le_bytes(field(footer, at))
}

//! Layout 3: the lines of all stages of a scalable filter, one stage behind the other, then a line
//! for each stage that says what it is, before the footer of `native`. `docs/FORMAT.md` is the
//! standard.

use super::native::{self, FOOTER_BYTES, Footer, FooterBytes, at, put, u32_at, u64_at};
use crate::error::Error;
use crate::line::LINE_BYTES;
use crate::params::Params;
use std::slice;

pub(super) const LAYOUT: u16 = 3;
/// The most stages. With each twice as large as the one before, memory ends earlier.
pub(crate) const MAX_STAGES: usize = 64;
/// The least rate that can be asked for, so that a rate is left for the last of all stages.
pub(crate) const LEAST_RATE: f64 = 1e-15;

/// Where the fields of a stage's record begin, beside those that it shares with a footer. All
/// else in it is 0.
const CAPACITY: usize = 16;
const ZERO: usize = 28;

/// A stage: its lines, and what its record says.
pub(crate) struct Stage<'a> {
    pub(crate) lines: &'a [u8],
    pub(crate) params: Params,
    pub(crate) key_count: u64,
    /// How many keys it is for.
    pub(crate) capacity: u64,
}

impl Stage<'_> {
    pub(crate) fn record(&self) -> FooterBytes {
        let mut record = [0; FOOTER_BYTES];
        put(&mut record, at::KEY_COUNT, self.key_count.to_le_bytes());
        put(&mut record, at::LINE_COUNT, self.params.line_count().to_le_bytes());
        put(&mut record, CAPACITY, self.capacity.to_le_bytes());
        put(&mut record, at::K, self.params.k().to_le_bytes());
        record
    }
}

/// What all stages of a filter have in common.
#[derive(Clone, Copy)]
pub(crate) struct Shared {
    /// The false-positive rate that was asked for.
    pub(crate) rate: f64,
    pub(crate) seed: u64,
}

/// Whether a filter of that rate can be asked for.
pub(crate) fn is_rate(rate: f64) -> bool {
    (LEAST_RATE..1.0).contains(&rate)
}

/// As `native::check`, for this layout: what the stages share, and the bytes of all their lines.
pub(crate) fn check(footer: &FooterBytes, body_len: u64) -> Result<(Shared, usize), Error> {
    let footer = Footer::read(footer)?;
    if footer.layout != LAYOUT {
        return Err(Error::Layout);
    }
    let rate = f64::from_bits(footer.shape);
    if !is_rate(rate) {
        return Err(Error::Rate);
    }
    let stages = footer.k as usize;
    if !(1..=MAX_STAGES).contains(&stages) {
        return Err(Error::K);
    }
    let most = isize::MAX as usize / LINE_BYTES - stages - 1;
    if !(1..=most as u64).contains(&footer.line_count) {
        return Err(Error::LineCount);
    }
    let line_bytes = footer.line_count as usize * LINE_BYTES;
    if body_len != (line_bytes + stages * FOOTER_BYTES) as u64 {
        return Err(Error::Truncated);
    }
    Ok((Shared { rate, seed: footer.seed }, line_bytes))
}

/// An encoded filter, checked but for the records of its stages, which are checked as they are
/// handed out. The order of the checks is that of `docs/FORMAT.md`.
pub(crate) fn parse(bytes: &[u8]) -> Result<(Shared, Stages<'_>), Error> {
    let (body, footer) = native::split(bytes)?;
    let (shared, line_bytes) = check(footer, body.len() as u64)?;
    native::verify(bytes)?;
    let (lines, table) = body.split_at(line_bytes);
    let (records, _) = table.as_chunks();
    Ok((shared, Stages { lines, records: records.iter(), seed: shared.seed }))
}

/// The stages of an encoded filter, the oldest first. Nothing comes behind an error.
pub(crate) struct Stages<'a> {
    lines: &'a [u8],
    records: slice::Iter<'a, FooterBytes>,
    seed: u64,
}

impl<'a> Stages<'a> {
    /// The next stage, its record checked; none behind the last.
    pub(crate) fn next(&mut self) -> Result<Option<Stage<'a>>, Error> {
        let Some(record) = self.records.next() else {
            return Ok(None);
        };
        if record[ZERO..].iter().any(|&byte| byte != 0) {
            return Err(Error::Reserved);
        }
        let params = Params::new(u64_at(record, at::LINE_COUNT), u32_at(record, at::K), self.seed)?;
        let capacity = u64_at(record, CAPACITY);
        let lines = self.lines.split_at_checked(params.bytes());
        let (lines, rest) = lines.ok_or(Error::LineCount)?;
        // What is left is for the stages that are left.
        if capacity == 0 || self.records.len() == 0 && !rest.is_empty() {
            return Err(Error::LineCount);
        }
        self.lines = rest;
        Ok(Some(Stage { lines, params, key_count: u64_at(record, at::KEY_COUNT), capacity }))
    }
}

/// The footer that goes behind these parts: the lines of the stages, and as many records.
pub(crate) fn footer(
    shared: Shared,
    stages: usize,
    key_count: u64,
    parts: &[&[u8]],
) -> FooterBytes {
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    let line_count = (bytes / LINE_BYTES - stages) as u64;
    let (seed, k, shape) = (shared.seed, stages as u32, shared.rate.to_bits());
    Footer { key_count, line_count, seed, k, layout: LAYOUT, shape }.write(parts)
}

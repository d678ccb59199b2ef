//! Layout 3: the lines of all stages of a scalable filter, the oldest stage first, then a record of
//! 64 bytes for each stage, before the footer of `native`. `docs/FORMAT.md` is the standard.

use super::native::{self, FOOTER_BYTES, Footer, FooterBytes, at, put, u32_at, u64_at};
use crate::error::Error;
use crate::line::LINE_BYTES;
use crate::params::Params;
use std::slice;

const LAYOUT: u16 = 3;
/// The most stages. As each doubles the last, memory ends earlier.
pub(crate) const MAX_STAGES: usize = 64;
/// The lowest target rate, so that a rate is left for the last stage.
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
    /// The number of keys that it is sized for.
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
    /// The target false-positive rate.
    pub(crate) rate: f64,
    pub(crate) seed: u64,
}

/// Whether it is a valid target rate.
pub(crate) fn is_rate(rate: f64) -> bool {
    (LEAST_RATE..1.0).contains(&rate)
}

/// As `native::check`, for this layout: what the stages share, and the bytes of all their lines.
pub(crate) fn check(footer: &FooterBytes, body_len: u64) -> Result<(Shared, usize), Error> {
    let footer = Footer::read(footer)?;
    if footer.layout != LAYOUT {
        return Err(Error::Layout(footer.layout));
    }
    let rate = f64::from_bits(footer.shape);
    if !is_rate(rate) {
        return Err(Error::Rate(rate));
    }
    let stages = footer.k as usize;
    if !(1..=MAX_STAGES).contains(&stages) {
        return Err(Error::K(footer.k));
    }
    let most = isize::MAX as usize / LINE_BYTES - stages - 1;
    if !(1..=most as u64).contains(&footer.line_count) {
        return Err(Error::LineCount(footer.line_count));
    }
    let line_bytes = footer.line_count as usize * LINE_BYTES;
    native::check_len(body_len, line_bytes + stages * FOOTER_BYTES)?;
    Ok((Shared { rate, seed: footer.seed }, line_bytes))
}

/// Parses an encoded filter, in the order of `docs/FORMAT.md`. [`Stages::next`] checks the records.
pub(crate) fn parse(bytes: &[u8]) -> Result<(Shared, Stages<'_>), Error> {
    let (body, footer) = native::split(bytes)?;
    let (shared, line_bytes) = check(footer, body.len() as u64)?;
    native::verify(bytes)?;
    let (lines, table) = body.split_at(line_bytes);
    let (records, _) = table.as_chunks();
    Ok((shared, Stages { lines, records: records.iter(), seed: shared.seed }))
}

/// The stages of an encoded filter, the oldest first. The first error ends them.
pub(crate) struct Stages<'a> {
    lines: &'a [u8],
    records: slice::Iter<'a, FooterBytes>,
    seed: u64,
}

impl<'a> Stages<'a> {
    /// Checks and returns the next stage; None after the last.
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
        let (lines, rest) = lines.ok_or(Error::LineCount(params.line_count()))?;
        // Remaining lines belong to remaining stages.
        if capacity == 0 || self.records.len() == 0 && !rest.is_empty() {
            return Err(Error::LineCount(params.line_count()));
        }
        self.lines = rest;
        Ok(Some(Stage { lines, params, key_count: u64_at(record, at::KEY_COUNT), capacity }))
    }
}

/// The footer of these parts: the lines of the stages, and as many records.
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

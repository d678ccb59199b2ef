//! Layout 3: the lines of all stages of a scalable filter, the oldest stage first, then a record of
//! 64 bytes for each stage, before the footer of `native`. `docs/format/counting-scalable-window.md` is the standard.

use super::native::{FOOTER_BYTES, Footer, FooterBytes, at, put, u32_at, u64_at};
use crate::error::Error;
use crate::shape::Params;

pub(super) const LAYOUT: u16 = 3;
/// The most stages. As each doubles the last, memory ends earlier.
pub(crate) const MAX_STAGES: usize = 64;
/// The lowest target rate, so that a rate is left for the last stage.
pub(crate) const LEAST_RATE: f64 = 1e-15;

/// Where the fields of a stage's record begin, beside those that it shares with a footer. All
/// else in it is 0.
const CAPACITY: usize = 16;
const ZERO: usize = 28;

/// A stage: what its record says.
pub(crate) struct Stage {
    pub(crate) params: Params,
    pub(crate) key_count: u64,
    /// The number of keys that it is sized for.
    pub(crate) capacity: u64,
}

impl Stage {
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
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Shared {
    /// The target false-positive rate.
    pub(crate) rate: f64,
    pub(crate) seed: u64,
}

/// Whether it is a valid target rate.
pub(crate) fn is_rate(rate: f64) -> bool {
    (LEAST_RATE..1.0).contains(&rate)
}

/// As `native::check`, for this layout: what the stages share, how many they are, and the
/// bytes of all their lines.
pub(crate) fn check(footer: &FooterBytes, body_len: u64) -> Result<(Shared, usize, usize), Error> {
    let footer = Footer::read_of(footer, LAYOUT)?;
    let rate = f64::from_bits(footer.shape);
    if !is_rate(rate) {
        return Err(Error::Rate(rate));
    }
    let stages = footer.k as usize;
    let records = (1..=MAX_STAGES).contains(&stages).then_some(stages);
    let line_bytes = footer.check_parts(body_len, records)?;
    Ok((Shared { rate, seed: footer.seed }, stages, line_bytes))
}

/// Hands out the stages of these records, the oldest first, each record checked when its turn
/// comes. The order of the checks is that of `docs/format/counting-scalable-window.md`.
pub(crate) fn stages(
    records: &[FooterBytes],
    line_bytes: usize,
    seed: u64,
) -> impl Iterator<Item = Result<Stage, Error>> {
    let mut left = line_bytes;
    records.iter().enumerate().map(move |(i, record)| {
        if record[ZERO..].iter().any(|&byte| byte != 0) {
            return Err(Error::Reserved);
        }
        let params = Params::new(u64_at(record, at::LINE_COUNT), u32_at(record, at::K), seed)
            .map_err(Error::of_bytes)?;
        let (capacity, key_count) = (u64_at(record, CAPACITY), u64_at(record, at::KEY_COUNT));
        let rest = left.checked_sub(params.bytes());
        // What is left is for the stages that are left.
        let last = i + 1 == records.len();
        left = rest
            .filter(|&rest| capacity > 0 && !(last && rest > 0))
            .ok_or(Error::LineCount(params.line_count()))?;
        Ok(Stage { params, key_count, capacity })
    })
}

/// What the footer says of so many stages with `line_count` lines together.
pub(crate) fn footer(shared: Shared, stages: usize, line_count: u64, key_count: u64) -> Footer {
    let (seed, k, shape) = (shared.seed, stages as u32, shared.rate.to_bits());
    Footer { key_count, line_count, seed, k, layout: LAYOUT, shape }
}

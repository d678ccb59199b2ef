//! Scalable filters by the definition: their encoded form, and what a reader says of any bytes.

use crate::definition::*;
use bloomline::definition::line;
use std::ops::Range;

/// The capacity in the record of a stage, whose other fields lie as in a footer.
pub(crate) const CAPACITY: Range<usize> = 16..24;

/// A stage of a scalable filter.
#[derive(Clone)]
pub(crate) struct StageOf {
    pub(crate) lines: Vec<u8>,
    pub(crate) k: u32,
    pub(crate) capacity: u64,
    pub(crate) key_count: u64,
}

impl StageOf {
    pub(crate) fn new(line_count: usize, k: u32, capacity: u64, hashes: &[u64]) -> StageOf {
        let lines = lines_of(line_count, k, hashes);
        StageOf { lines, k, capacity, key_count: hashes.len() as u64 }
    }
}

/// Stages, their records and the footer.
pub(crate) fn encode_scalable(stages: &[StageOf], rate: f64, seed: u64) -> Vec<u8> {
    let mut bytes: Vec<u8> = stages.iter().flat_map(|stage| &stage.lines).copied().collect();
    let line_count = bytes.len() / 64;
    for stage in stages {
        let end = bytes.len() + 64;
        bytes.resize(end, 0);
        put(&mut bytes, KEY_COUNT, stage.key_count);
        put(&mut bytes, LINE_COUNT, stage.lines.len() as u64 / 64);
        put(&mut bytes, CAPACITY, stage.capacity);
        put(&mut bytes, K, stage.k.into());
    }
    let key_count = stages.iter().map(|stage| stage.key_count).sum();
    let mut bytes = encode(&bytes, stages.len() as u32, seed, key_count);
    put(&mut bytes, LINE_COUNT, line_count as u64);
    put(&mut bytes, LAYOUT, 3);
    put(&mut bytes, RESERVED, rate.to_bits());
    seal(&mut bytes);
    bytes
}

/// As [`check`], for scalable filters, all of it verified.
pub(crate) fn check_scalable(bytes: &[u8]) -> u32 {
    // The rules that are the same, by a filter of layout 1 that breaks no other.
    let layout = if bytes.len() < FOOTER_BYTES { 0 } else { get(bytes, LAYOUT) };
    match check(bytes, false) {
        status::LAYOUT if layout == 3 => {}
        status @ (status::TRUNCATED | status::NOT_A_FILTER) if layout == 0 => return status,
        status @ (status::NOT_A_FILTER | status::VERSION | status::CHECKSUM) => return status,
        _ => return status::LAYOUT,
    }
    let rate = f64::from_bits(get(bytes, RESERVED));
    if !(1e-15..1.0).contains(&rate) {
        return status::RATE;
    }
    let (stages, line_count) = (get(bytes, K) as usize, get(bytes, LINE_COUNT));
    if !(1..=64).contains(&stages) {
        return status::K;
    }
    // In 128 bits nothing overflows.
    let len = (u128::from(line_count) + stages as u128 + 1) * 64;
    if line_count == 0 || len > isize::MAX as u128 {
        return status::LINE_COUNT;
    }
    if len != bytes.len() as u128 {
        return status::TRUNCATED;
    }
    let (lines, table) = bytes[..bytes.len() - 64].split_at(64 * line_count as usize);
    if get(bytes, LINES_CHECKSUM) != hash(&[lines, table].concat(), 0) {
        return status::CHECKSUM;
    }
    let mut left = line_count;
    for (i, record) in table.chunks(64).enumerate() {
        if record[28..].iter().any(|&byte| byte != 0) {
            return status::RESERVED;
        }
        if !(1..=16).contains(&get(record, K)) {
            return status::K;
        }
        let lines = get(record, LINE_COUNT);
        if lines == 0 || lines > left || get(record, CAPACITY) == 0 {
            return status::LINE_COUNT;
        }
        left -= lines;
        if i + 1 == stages && left != 0 {
            return status::LINE_COUNT;
        }
    }
    status::OK
}

/// Whether a key may be in one of the stages of an encoded filter that is intact.
pub(crate) fn scalable_contains(bytes: &[u8], hash: u64) -> bool {
    let (mut lines, table) =
        bytes[..bytes.len() - 64].split_at(64 * get(bytes, LINE_COUNT) as usize);
    table.chunks(64).any(|record| {
        let (stage, rest) = lines.split_at(64 * get(record, LINE_COUNT) as usize);
        lines = rest;
        line::contains(stage, get(record, K) as u32, hash)
    })
}

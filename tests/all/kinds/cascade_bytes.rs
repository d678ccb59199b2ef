//! Cascades by the definition: their encoded form, and what a reader says of any bytes.

use crate::definition::*;
use bloomline::definition::cascade::{self, Layer};
use bloomline::definition::static_line::{self, Levels};
use std::ops::Range;

/// The number of keys tested, in the record of a layer, whose other fields lie as in a footer.
pub(crate) const TESTED: Range<usize> = 16..24;

/// Levels of the fewest lines for so many keys, sized as the library sizes them or not: some keys of
/// each level are bumped, and the third has room for all that are left.
pub(crate) fn some_levels(keys: usize, rows: u32) -> Levels {
    let width = (static_line::OWN + static_line::extra_columns(rows)) as usize;
    Levels { line_count: keys.div_ceil(width).max(1) as u64, shares: [64, 64], tail: 0 }
}

/// The layers of these sets, with so many rows in the first one, and the key counts of their records.
pub(crate) fn layers_of_sets(
    included: &[u64],
    excluded: &[u64],
    rows: u32,
) -> Option<Vec<(Layer, [u64; 2])>> {
    let mut sizes = Vec::new();
    let layers = cascade::build(included, excluded, |number, keys| {
        sizes.push(keys.len() as u64);
        let rows = if number == 0 { rows } else { cascade::LATER_ROWS };
        (rows, some_levels(keys.len(), rows))
    })?;
    let sets = [included.len() as u64, excluded.len() as u64];
    let tested = [sets[1], sets[0]].into_iter().chain(sizes.clone().into_iter().skip(1));
    Some(layers.into_iter().zip(sizes.into_iter().zip(tested).map(<[u64; 2]>::from)).collect())
}

/// Lines, records and footer of layout 9.
pub(crate) fn encode_cascade(layers: &[(Layer, [u64; 2])], seed: u64) -> Vec<u8> {
    let lines: Vec<u8> = layers.iter().flat_map(|(layer, _)| &layer.lines).copied().collect();
    let mut records = Vec::new();
    for (Layer { rows, levels, .. }, [key_count, tested]) in layers {
        let [second, third] = levels.shares.map(u64::from);
        records.extend([0; 64]);
        put(&mut records, KEY_COUNT, *key_count);
        put(&mut records, LINE_COUNT, levels.line_count);
        put(&mut records, TESTED, *tested);
        put(&mut records, K, (*rows).into());
        put(&mut records, RESERVED, second | third << 8 | u64::from(levels.tail) << 16);
    }
    let mut bytes =
        encode(&[&lines[..], &records].concat(), layers.len() as u32, seed, layers[0].1[0]);
    put(&mut bytes, LINE_COUNT, lines.len() as u64 / 64);
    put(&mut bytes, LAYOUT, 9);
    seal_cascade(&mut bytes);
    bytes
}

/// As [`seal`], the checksum of the records too, as far as they are there.
pub(crate) fn seal_cascade(bytes: &mut [u8]) {
    let footer = bytes.len() - FOOTER_BYTES;
    let start = footer.saturating_sub(get(bytes, K) as usize * 64);
    put(bytes, RESERVED, hash(&bytes[start..footer], 0));
    seal(bytes);
}

/// The layers of an encoded cascade.
pub(crate) fn layers_of(bytes: &[u8]) -> Vec<Layer> {
    let body = &bytes[..bytes.len() - FOOTER_BYTES];
    let (mut lines, records) = body.split_at(64 * get(bytes, LINE_COUNT) as usize);
    let layer = |record: &[u8]| {
        let [second, third, tail, ..] = get(record, RESERVED).to_le_bytes();
        let line_count = get(record, LINE_COUNT);
        let levels = Levels { line_count, shares: [second, third], tail };
        let rows = get(record, K) as u32;
        let own;
        (own, lines) = lines.split_at(levels.all_lines() as usize * 8 * static_line::lanes(rows));
        Layer { rows, levels, lines: own.to_vec() }
    };
    records.chunks(64).map(layer).collect()
}

/// As [`check`], for cascades.
pub(crate) fn check_cascade(bytes: &[u8], verify: bool) -> u32 {
    if let Err(status) = check_layout(bytes, 9) {
        return status;
    }
    let (layers, line_count) = (get(bytes, K) as usize, get(bytes, LINE_COUNT));
    if !(1..=32).contains(&layers) {
        return status::K;
    }
    // In 128 bits nothing overflows.
    let len = (u128::from(line_count) + layers as u128 + 1) * 64;
    if line_count == 0 || len > isize::MAX as u128 {
        return status::LINE_COUNT;
    }
    if len != bytes.len() as u128 {
        return status::TRUNCATED;
    }
    let body = &bytes[..bytes.len() - 64];
    let records = &body[64 * line_count as usize..];
    if verify && get(bytes, LINES_CHECKSUM) != hash(body, 0) {
        return status::CHECKSUM;
    }
    if get(bytes, RESERVED) != hash(records, 0) {
        return status::CHECKSUM;
    }
    let mut left = u128::from(line_count);
    for (i, record) in records.chunks(64).enumerate() {
        let zero = [&record[28..32], &record[40..]].concat();
        let [second, third, tail, above @ ..] = get(record, RESERVED).to_le_bytes();
        let skips = second == 0 && third > 0 || third == 0 && tail > 0;
        if zero.iter().chain(&above).any(|&byte| byte != 0) || skips || tail > 15 {
            return status::RESERVED;
        }
        let rows = get(record, K);
        if !(4..=16).contains(&rows) {
            return status::K;
        }
        let mut count = u128::from(get(record, LINE_COUNT));
        if count == 0 || count > 1 << 48 {
            return status::LINE_COUNT;
        }
        let mut lines = count;
        let tail = std::iter::repeat_n(16, tail.into());
        for share in [second, third].into_iter().take_while(|&share| share > 0).chain(tail) {
            count = (count * u128::from(share)).div_ceil(256);
            lines += count;
        }
        lines *= if rows > 8 { 2 } else { 1 };
        if lines > left || i + 1 == layers && lines < left {
            return status::LINE_COUNT;
        }
        left -= lines;
    }
    status::OK
}

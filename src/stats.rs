//! How full lines are, and what false-positive rate that makes. Uses `line`.

use crate::line::LINE_BYTES;

/// The fraction of all bits that are set, 0 to 1. There is at least one byte.
#[inline(never)] // It takes its time, and is asked for in many places.
pub(crate) fn fill(bytes: &[u8]) -> f64 {
    let (lanes, rest) = bytes.as_chunks::<8>();
    let of_lanes = lanes.iter().map(|&lane| u64::from(u64::from_ne_bytes(lane).count_ones()));
    let of_rest = rest.iter().map(|byte| u64::from(byte.count_ones()));
    of_lanes.chain(of_rest).sum::<u64>() as f64 / (bytes.len() as f64 * 8.0)
}

/// The probability that a key which is not in the line finds its bits set. A round
/// tests `count` lanes in a row, from one of 8 starts, one bit in each.
pub(crate) fn line_rate(line: &[u8; LINE_BYTES], k: u32) -> f64 {
    let (lanes, _) = line.as_chunks::<8>();
    let fills: [f64; 8] =
        std::array::from_fn(|i| f64::from(u64::from_ne_bytes(lanes[i]).count_ones()) / 64.0);
    if k <= 8 { round(&fills, k) } else { round(&fills, 8) * round(&fills, k - 8) }
}

/// Over 8 starts, the mean of the product of `count` fills from there on.
fn round(fills: &[f64; 8], count: u32) -> f64 {
    (0..8)
        .map(|start| (0..count).map(|i| fills[(start + i as usize) % 8]).product::<f64>())
        .sum::<f64>()
        / 8.0
}

/// The same of lines, added up.
pub(crate) fn sum_of_rates(lines: &[[u8; LINE_BYTES]], k: u32) -> f64 {
    lines.iter().map(|line| line_rate(line, k)).sum()
}

/// The same for bits that a key may have anywhere in a block of bytes, averaged over all blocks
/// of so many.
#[inline(never)]
pub(crate) fn block_rate(bytes: &[u8], block: usize, k: u32) -> f64 {
    let blocks = bytes.chunks_exact(block);
    let count = blocks.len() as f64;
    blocks.map(|block| fill(block).powi(k as i32)).sum::<f64>() / count
}

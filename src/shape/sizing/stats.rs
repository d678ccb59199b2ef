//! The fill ratio of lines, and the false-positive rate that follows.

use crate::line::LINE_BYTES;

/// The fill ratio, 0 to 1, of at least one byte.
#[inline(never)] // It takes its time, and is called in many places.
pub(crate) fn fill(bytes: &[u8]) -> f64 {
    let (lanes, rest) = bytes.as_chunks::<8>();
    let of_lanes = lanes.iter().map(|&lane| u64::from(u64::from_ne_bytes(lane).count_ones()));
    let of_rest = rest.iter().map(|byte| u64::from(byte.count_ones()));
    of_lanes.chain(of_rest).sum::<u64>() as f64 / (bytes.len() as f64 * 8.0)
}

/// The probability that an absent key finds its bits set in the line. A round tests `count` lanes
/// in a row, from one of 8 starts, one bit in each.
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

/// Calls `each` with that probability for every block of so many bytes, in which bits lie anywhere.
pub(crate) fn part_rates(bytes: &[u8], block: usize, k: u32, each: &mut dyn FnMut(f64)) {
    bytes.chunks_exact(block).for_each(|block| each(fill(block).powi(k as i32)));
}

/// The mean of the rates that `each_rate` passes on; 0 of none.
pub(crate) fn mean(each_rate: impl FnOnce(&mut dyn FnMut(f64))) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    each_rate(&mut |rate| {
        sum += rate;
        count += 1.0;
    });
    if count == 0.0 { 0.0 } else { sum / count }
}

/// The highest of them; 0 of none.
pub(crate) fn highest(each_rate: impl FnOnce(&mut dyn FnMut(f64))) -> f64 {
    let mut highest = 0.0;
    each_rate(&mut |rate| highest = f64::max(highest, rate));
    highest
}

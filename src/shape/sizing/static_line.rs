//! The model of static filters: how many keys a level bumps, and how many bits a key takes.
//!
//! Keys fall on lines at random, so their number in a line is Poisson distributed around the load.
//! They are taken one after the other until one contradicts those before. With `i` equations there,
//! of random coefficients in `w` columns, the next depends on them with probability `2^(i - w)`,
//! and then contradicts them but for `2^-rows` of cases. The keys that have the position of that one
//! are bumped too: a 256th of the keys, on average half of them before it.

use crate::layouts::static_line::{OWN, extra_columns, lanes};

/// The keys to a line that the first two levels are sized for: some 12.5 % of them are bumped.
/// More keys would take less memory, and more probes a second line.
pub fn keys_per_line(rows: u32) -> f64 {
    const LOAD: f64 = 1.1;
    LOAD * f64::from(columns(rows))
}

/// The columns of a line: its keys at most.
fn columns(rows: u32) -> u32 {
    OWN + extra_columns(rows)
}

/// The part of the keys that a level bumps, with so many to a line on average.
pub fn bumped(rows: u32, keys_per_line: f64) -> f64 {
    let columns = f64::from(columns(rows));
    let most = (keys_per_line + 12.0 * keys_per_line.sqrt()) as usize + 2;
    // From the most probable count on both sides would be more exact; e^-200 is no underflow.
    let (mut weight, mut kept) = ((-keys_per_line).exp(), 0.0);
    // The probability that the first n keys fit, and the keys that fit of those, on average.
    let (mut fit, mut fits) = (1.0, 0.0);
    for n in 0..most {
        let keys = n as f64;
        // Lines that are full lose the keys of the position of the first that does not fit.
        let lost = (1.0 - fit) * keys / 512.0;
        kept += weight * (fits - lost);
        weight *= keys_per_line / (keys + 1.0);
        let rank = (keys - columns).min(0.0);
        let contradicts = rank.exp2() * (1.0 - (-f64::from(rows)).exp2());
        fit *= 1.0 - contradicts;
        fits += fit;
    }
    1.0 - kept / keys_per_line
}

/// The bits per key of a filter of many keys, all levels together.
pub fn bits(rows: u32) -> f64 {
    let keys = keys_per_line(rows);
    let line = 64.0 * lanes(rows) as f64 / keys;
    let bumped = bumped(rows, keys);
    // The second level is as the first, the third has more room, and a sixteenth follows.
    line * (1.0 + bumped + bumped * bumped / 0.86 * (1.0 + 1.0 / 16.0))
}

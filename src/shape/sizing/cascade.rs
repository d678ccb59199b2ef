//! How many rows the first layer of a cascade has, so that all layers together are the smallest.

use crate::layouts::static_line::{MAX_ROWS, MIN_ROWS};

/// Returns the rows of the first layer for so many included and excluded keys.
///
/// A row more takes 1.06 bits for each included key. It halves the excluded keys that layer 0 passes,
/// which take 4.22 bits each in layer 1, and a sixteenth of that in every second layer behind: 4.5
/// bits for each of those that are no longer there, or 2.25 for each that was passed before. So it
/// pays while the keys passed are more than 8/17 of the included ones.
pub fn first_rows(included: u64, excluded: u64) -> u32 {
    if included == 0 {
        return MIN_ROWS;
    }
    let enough = |rows: &u32| u128::from(excluded) * 17 <= (u128::from(included) * 8) << rows;
    (MIN_ROWS..MAX_ROWS).find(enough).unwrap_or(MAX_ROWS)
}

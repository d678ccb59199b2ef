//! The sizes of a growing filter: how many prefixes there are, how many lines a region has, how wide
//! a line is. Where a prefix lies is decided by integers only, the same on every CPU.

use crate::error::Error;
use crate::layouts::growing::{BASES, HEADER_BITS, MOST_BITS, MOST_KEYS, REGIONS};
use crate::line::LINE_BITS;

/// The fewest prefixes of a filter: fewer would not fill a line for each region.
const FEWEST_PREFIXES: f64 = 1024.0;
/// The most, so that a remainder of 54 bits leaves few enough buckets in a single line.
const MOST_PREFIXES: u64 = 1 << 59;
/// The fewest prefixes of a line.
const FEWEST_OF_LINE: u64 = 64;
/// Lines of fewer buckets are not made of whole ones, nor are fewer lines: one more would be too many.
const LEAST_BUCKETS: u64 = 40;
const LEAST_LINES: u64 = 32;
/// Lines of whole buckets have room for so much less at most, as a part of one: else a region would be fuller than
/// [`FULL`] says, inserts would push values through hundreds of lines, and keys would go beside the lines.
const LESS_ROOM: u64 = 512;
/// A filter of up to so many lines is one region.
pub(crate) const SMALL: u64 = 256;
/// The lines of all regions together double in so many steps. Each region takes every sixteenth, so
/// that at any time some regions are full, and some are new.
const STEPS: usize = 192;

/// The prefixes of a filter that is to have `rate` with `keys` keys: a multiple of 16.
pub(crate) fn prefixes(keys: u64, rate: f64) -> Result<u64, Error> {
    if !(rate > 0.0 && rate < 1.0) {
        return Err(Error::rate(rate));
    }
    let wanted = (keys.max(1) as f64 / rate).ceil().max(FEWEST_PREFIXES);
    if wanted > MOST_PREFIXES as f64 {
        return Err(Error::RateTooSmall(rate));
    }
    Ok((wanted as u64).next_multiple_of(REGIONS))
}

/// How a filter that knows no bound spends its rate: prefixes get longer by a bit each time the keys
/// have doubled, and the keys of each length may cost so many parts of [`WHOLE`].
///
/// The first twenty lengths cost the same, which is the least memory for a million times the first
/// keys. Each further one costs four fifths of the one before. So all of them together cost the whole,
/// however many there are. A steeper fall would make all regions lengthen at once.
pub(crate) const WHOLE: f64 = 24.0;
const EQUAL: u32 = 20;

/// How many keys may have the prefixes of a length, the first being 0, of all prefixes together.
pub(crate) fn quota(first_keys: u64, length: u32) -> u64 {
    let part = (EQUAL..=length).fold(1_u128 << 32, |part, _| part * 4 / 5);
    let keys = ((u128::from(first_keys.max(1)) << length) * part) >> 32;
    u64::try_from(keys).unwrap_or(u64::MAX).max(1)
}

/// The length of prefixes for so many keys that come at once, at most `longer`: they may spend what all lengths
/// up to theirs may. As with inserts, some of that is left for keys that come before a region is moved.
pub(crate) fn length_at_once(first_keys: u64, longer: u32, keys: u64) -> u32 {
    let mut most = 0_u128;
    (0..longer)
        .find(|&length| {
            most = 2 * most + u128::from(quota(first_keys, length));
            u128::from(keys) <= most * 27 / 32
        })
        .unwrap_or(longer)
}

/// By how many bits prefixes can get longer.
pub(crate) fn longer(prefixes: u64) -> u32 {
    (MOST_PREFIXES / prefixes).max(1).ilog2()
}

/// The lines of a region, and what one is the home of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Width {
    /// Prefixes of a line.
    pub(crate) u: u64,
    /// Bits of a remainder.
    pub(crate) r: u32,
    /// Lines that are the home of a prefix.
    pub(crate) homes: u64,
    /// The region is full with so many keys.
    pub(crate) most: u64,
}

impl Width {
    /// For `w` prefixes in about so many lines, at least one. With `mixed` lengths a value has a bit
    /// more than its prefix, and lines begin where a bucket does.
    pub(crate) fn new(w: u64, lines: u64, mixed: bool) -> Width {
        let least = if w < FEWEST_OF_LINE { w } else { FEWEST_OF_LINE };
        let mut u = w.div_ceil(lines.max(1)).max(least);
        let (r, _) = remainder(u << u32::from(mixed));
        if mixed {
            u = u.next_multiple_of(1 << (r - 1));
        }
        Width::of(w, u, r, mixed)
    }

    /// About as many lines of `w` prefixes, or some more, each of whole buckets, so that they can be moved without
    /// taking out their values. The same if they are few, have few buckets, or would have no room for so many keys.
    pub(crate) fn of_whole_buckets(self, w: u64, keys: u64, mixed: bool) -> Width {
        if mixed || self.homes < LEAST_LINES || self.u >> self.r < LEAST_BUCKETS {
            return self;
        }
        let buckets = |more: u64| Width::of(w, (self.u + more) >> self.r << self.r, self.r, mixed);
        let has_room = |whole: &Width| whole.most >= keys.max(self.most - self.most / LESS_ROOM);
        let [near, fewer] = [buckets(1 << self.r >> 1), buckets(0)];
        [near, fewer].into_iter().find(has_room).unwrap_or(self)
    }

    /// For `w` prefixes, with so many in a line, and remainders of `r` bits.
    pub(crate) fn of(w: u64, u: u64, r: u32, mixed: bool) -> Width {
        let capacity = capacity(u << u32::from(mixed), r);
        let homes = w.div_ceil(u);
        let most = (u128::from(homes) * u128::from(capacity) * FULL) >> 16;
        Width { u, r, homes, most: u64::try_from(most).unwrap_or(u64::MAX).max(1) }
    }

    /// The fewest lines that have room for so many keys, or the most that there can be.
    pub(crate) fn lines_for(w: u64, keys: u64, mixed: bool) -> u64 {
        let most = (w / FEWEST_OF_LINE).max(1);
        let (mut low, mut high) = (1, most.min(keys.max(1)));
        // Where prefixes have one length, more lines have no less room, so any numbers may be tried. What so many
        // lines have room for says about how many are enough: a few more and a few less are tried.
        let (mut tries, mut near) = (if mixed { 0 } else { 4 }, keys / 32);
        while low < high {
            let half = low + (high - low) / 2;
            let lines = if tries > 0 { near.clamp(low, high - 1) } else { half };
            let width = Width::new(w, lines, mixed);
            let is_enough = width.most >= keys;
            match is_enough {
                true => high = lines,
                false => low = lines + 1,
            }
            if tries > 0 {
                tries -= 1;
                let all = u128::from(keys) * u128::from(width.homes) / u128::from(width.most);
                near = u64::try_from(all).unwrap_or(u64::MAX);
                let few = near / 128 + 1;
                near = if is_enough { near.saturating_sub(few) } else { near.saturating_add(few) };
            }
        }
        low
    }
}

/// A line is full with 241 of 256 parts of the keys that it could have: fuller, and what does not fit
/// goes on through too many lines.
const FULL: u128 = 241;
/// The same where the keys come in order at once.
pub(crate) const FULL_AT_ONCE: u64 = 245;

/// For values of so many bits of a line, the bits of a remainder with which it has most keys, and how
/// many, in 256th.
fn remainder(values: u64) -> (u32, u64) {
    let bits = values.max(1).ilog2();
    let from = bits.saturating_sub(8).max(1);
    let (mut best, mut most) = (from, 0);
    for r in from..=bits.max(from).min(MOST_BITS) {
        let keys = capacity(values, r);
        if keys > most {
            (best, most) = (r, keys);
        }
    }
    (best.min(MOST_BITS), most)
}

/// The keys of a line of so many values with remainders of `r` bits, in 256th.
fn capacity(values: u64, r: u32) -> u64 {
    let buckets = (u128::from(values) << 8 >> r).min(1 << 32) as u64;
    // A chain of lines has to stay within the range of the base.
    if buckets > (-BASES[0] as u64) << 8 >> 1 {
        return 0;
    }
    let by_bits = ((LINE_BITS - 16) << 8).saturating_sub(buckets) / u64::from(r + 1);
    let by_header = (u64::from(HEADER_BITS) << 8).saturating_sub(buckets);
    by_bits.min(by_header).min((MOST_KEYS as u64) << 8)
}

/// The lines of a region after so many steps.
fn lines(step: usize) -> u64 {
    let (octave, part) = (step / STEPS, step % STEPS);
    ((u128::from(POWERS[part % 16][part / 16]) << octave.min(60)) >> 48) as u64
}

/// The fewest lines of region `j` that are at least so many.
pub(crate) fn at_least(region: usize, least: u64) -> u64 {
    let octave = least.max(1).ilog2() as usize;
    let from = (octave.saturating_sub(1)) * STEPS / 16;
    (from..).map(|round| lines(16 * round + region)).find(|&lines| lines >= least).unwrap_or(least)
}

/// The lines of region `j` when it has grown from so many.
pub(crate) fn next(region: usize, lines: u64) -> u64 {
    at_least(region, lines + (lines / 32).max(1))
}

/// `2^48 * 2^(i / 192)`, rounded down but for the errors of as many multiplications: by region, since the sizes of one are
/// looked up together, when none of them is in the cache.
static POWERS: [[u64; STEPS / 16]; 16] = {
    /// `2^62 * 2^(1 / 192)`.
    const ROOT: u128 = 4_628_364_946_339_752_272;
    let mut powers = [[0; STEPS / 16]; 16];
    let mut power: u128 = 1 << 62;
    let mut i = 0;
    while i < STEPS {
        powers[i % 16][i / 16] = (power >> 14) as u64;
        power = (power * ROOT) >> 62;
        i += 1;
    }
    powers
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_double_in_all_steps() {
        for i in 0..STEPS {
            let power = POWERS[i % 16][i / 16];
            let exact = 2f64.powf(48.0 + i as f64 / STEPS as f64);
            assert!((power as f64 / exact - 1.0).abs() < 1e-12, "{i}");
        }
    }

    #[test]
    fn regions_grow_by_a_sixteenth_in_turn() {
        for region in 0..16 {
            let mut size = at_least(region, 8);
            while size < 1 << 40 {
                let grown = next(region, size);
                assert!(
                    grown > size && (size < 64 || grown <= size + size / 12),
                    "{size}, {grown}"
                );
                assert!(at_least(region, grown) == grown);
                size = grown;
            }
        }
        // Right after each other.
        let sizes: Vec<u64> = (0..16).map(|region| at_least(region, 1 << 20)).collect();
        let (low, high) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(high - low < (1 << 20) / 15 && high - low > (1 << 20) / 20);
    }

    #[test]
    fn widths_cover_all_prefixes() {
        for mixed in [false, true] {
            for w in [256, 4096, 4097, 1 << 20, (1 << 40) + 12345, 1 << 55, MOST_PREFIXES] {
                for lines in [1, 2, 3, 16, 100, 1000, 1 << 20] {
                    let width = Width::new(w, lines, mixed);
                    let Width { u, r, homes, most } = width;
                    assert!(homes * u >= w && (homes - 1) * u < w && most >= 1);
                    assert!(r <= MOST_BITS && (u << u32::from(mixed)) >> r <= 128, "{u} {r}");
                    assert!(!mixed || (2 * u).is_multiple_of(1 << r));
                    let whole = width.of_whole_buckets(w, 0, mixed);
                    assert!(whole == width || whole.u.is_multiple_of(1 << whole.r) && !mixed);
                    assert!(whole.homes * whole.u >= w && (whole.homes - 1) * whole.u < w);
                    assert!(whole.homes.abs_diff(homes) <= homes / 40 + 1, "{whole:?} {width:?}");
                    assert!(
                        width.of_whole_buckets(w, u64::MAX, mixed) == width || most == u64::MAX
                    );
                }
            }
        }
    }

    /// As many lines as when all halves are tried.
    #[test]
    fn the_fewest_lines_are_found() {
        let halves = |w: u64, keys: u64, mixed: bool| {
            let (mut low, mut high) = (1, (w / FEWEST_OF_LINE).max(1).min(keys.max(1)));
            while low < high {
                let middle = low + (high - low) / 2;
                match Width::new(w, middle, mixed).most >= keys {
                    true => high = middle,
                    false => low = middle + 1,
                }
            }
            low
        };
        for bits in 6..=59 {
            for w in [1 << bits, (1 << bits) - 1, 3 << (bits - 2), (1 << bits) / 7 * 5] {
                let all = (0..40).flat_map(|power| {
                    [1, 1 << power, 3 << power, (5 << power) + 1, 1 << power << 19]
                });
                for keys in all {
                    for mixed in [false, true] {
                        assert_eq!(
                            Width::lines_for(w, keys, mixed),
                            halves(w, keys, mixed),
                            "{w} {keys}"
                        );
                    }
                }
            }
        }
    }

    /// So many keys of that length cost what all lengths up to it may, and a shorter one would cost more.
    #[test]
    fn keys_that_come_at_once_spend_the_shorter_lengths() {
        for first in [1_u64, 7, 1000, 1_000_000] {
            for keys in (0..40).map(|power| (3 * first) << power) {
                let length = length_at_once(first, 30, keys);
                let cost = |length: u32| keys as f64 / (first as f64 * 2f64.powi(length as i32));
                let share = |length: u32| {
                    let of = |i: u32| quota(first, i) as f64 / (first as f64 * 2f64.powi(i as i32));
                    (0..=length).map(of).sum::<f64>()
                };
                assert!(length == 30 || cost(length) <= share(length) * 27.0 / 32.0);
                assert!(length > 0 && cost(length - 1) > share(length - 1) * 0.75, "{keys}");
            }
            assert_eq!(length_at_once(first, 30, first / 2), 0);
        }
        assert_eq!(length_at_once(0, 0, 1000), 0, "all have one length");
    }

    /// Any number of lengths together cost the whole rate at most.
    #[test]
    fn quotas_sum_up_to_the_rate() {
        for first in [1u64, 7, 1000, 1_000_000] {
            let lengths = (0..38).map(|length| {
                quota(first, length) as f64 / (first as f64 * 2f64.powi(length as i32))
            });
            let sum: f64 = lengths.sum();
            assert!(sum <= WHOLE + 0.01, "{sum}");
        }
    }
}

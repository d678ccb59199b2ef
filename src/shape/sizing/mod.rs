//! The model of the false-positive rate, and the sizes that follow from it. Plain arithmetic.
//!
//! Keys fall on lines at random, so the number of keys in a line is Poisson distributed around
//! `512 / b` for `b` bits per key. That unevenness is the price of one cache line per key. With
//! `n` keys in a line, one of its bits is set with probability `1 - (1 - k/512)^n`, and a false
//! positive needs k set bits:
//!
//! ```text
//! rate(b, k) = sum over n of Poisson(n; 512/b) * (1 - (1 - k/512)^n)^k
//! ```
//!
//! The filter's rate is slightly lower, by 0.1 % of the rate at 8 bits per key and 2.4 % at 20,
//! because lanes keep the bits of a key apart.
//!
//! ```
//! use bloomline::sizing;
//!
//! let (bits, k) = sizing::bits_for_rate(0.01).unwrap();
//! assert!((9.8..10.0).contains(&bits)); // per key
//! assert!(sizing::rate(bits, k) <= 0.01);
//! ```

pub mod cascade;
pub mod static_line;
pub(crate) mod stats;

use crate::line::{LINE_BITS, MAX_K};

/// Fewer bits per key than this are raised to it: a filter that full says "maybe" to all.
const MIN_BITS: f64 = 0.01;
/// A rate that needs more bits per key than this is rejected.
const MAX_BITS: f64 = 1e5;

/// Returns the expected false-positive rate, 0 to 1, at `bits_per_key`, for k from 1 to 16.
pub fn rate(bits_per_key: f64, k: u32) -> f64 {
    let line_bits = LINE_BITS as f64;
    let keys = line_bits / bits_per_key.max(MIN_BITS);
    let unset_by_one = 1.0 - f64::from(k) / line_bits;
    // From the most probable count outwards, so that nothing underflows: the sum of the weights
    // divides out what the first weight is. `unset` is the probability that n keys leave a bit
    // unset.
    let mode = keys.floor();
    let unset_by_mode = power(unset_by_one, mode as u32);
    let term = |unset: f64, weight: f64| weight * power(1.0 - unset, k);
    let (mut sum, mut weights) = (term(unset_by_mode, 1.0), 1.0);
    let (mut n, mut weight, mut unset) = (mode, 1.0, unset_by_mode);
    while weight > 1e-30 {
        n += 1.0;
        weight *= keys / n;
        unset *= unset_by_one;
        sum += term(unset, weight);
        weights += weight;
    }
    (n, weight, unset) = (mode, 1.0, unset_by_mode);
    while n > 0.0 && weight > 1e-30 {
        weight *= n / keys;
        n -= 1.0;
        unset /= unset_by_one;
        sum += term(unset, weight);
        weights += weight;
    }
    sum / weights
}

/// x to the power n by multiplications alone, so that every CPU and language computes the same.
fn power(mut x: f64, mut n: u32) -> f64 {
    let mut result = 1.0;
    while n > 0 {
        if n & 1 != 0 {
            result *= x;
        }
        x *= x;
        n >>= 1;
    }
    result
}

/// Returns the k with the lowest expected rate at `bits_per_key`.
pub fn best_k(bits_per_key: f64) -> u32 {
    // The rate falls with k and then rises; the standard filter's k is near the lowest.
    let mut k = (bits_per_key * std::f64::consts::LN_2 * 0.9).clamp(1.0, MAX_K.into()) as u32;
    let mut least = rate(bits_per_key, k);
    while k < MAX_K && rate(bits_per_key, k + 1) < least {
        k += 1;
        least = rate(bits_per_key, k);
    }
    while k > 1 && rate(bits_per_key, k - 1) < least {
        k -= 1;
        least = rate(bits_per_key, k);
    }
    k
}

/// Returns the fewest bits per key for the target rate, and the k to use with them.
///
/// Returns None if the rate is not between 0 and 1, or below about 3e-24.
pub fn bits_for_rate(target: f64) -> Option<(f64, u32)> {
    if !(target > 0.0 && target < 1.0) {
        return None;
    }
    let least = |bits: f64| {
        let k = best_k(bits);
        (rate(bits, k), k)
    };
    let (mut low, mut high) = (MIN_BITS, 1.0);
    while least(high).0 > target {
        low = high;
        high *= 2.0;
        if high > MAX_BITS {
            return None;
        }
    }
    // 50 halvings: as exact as an f64 gets.
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if least(middle).0 > target { low = middle } else { high = middle }
    }
    Some((high, best_k(high)))
}

/// Returns the rate that each of `filters` filters may have so that all together have `rate`:
/// `1 - (1 - rate)^(1 / filters)`.
pub fn rate_of_each(rate: f64, filters: u32) -> f64 {
    -((-rate).ln_1p() / f64::from(filters)).exp_m1()
}

/// Estimates how many keys set the fraction `fill` of all bits of `lines` lines. For fill 1,
/// returns the number that leaves half a bit unset.
pub fn keys_for_fill(fill: f64, lines: u64, k: u32) -> f64 {
    let lines = lines as f64;
    let bits = lines * LINE_BITS as f64;
    // A bit stays unset with probability exp(-keys / lines * p) for a key that sets it with
    // probability p, the keys of a line being Poisson distributed.
    let unset = (1.0 - fill).max(0.5 / bits);
    // Not -0 of an empty filter.
    lines * (0.0 - unset.ln()) / bit_probability(k)
}

/// The probability that a key sets a given bit of its line.
fn bit_probability(k: u32) -> f64 {
    let first = f64::from(k.min(8)) / LINE_BITS as f64;
    let second = f64::from(k.saturating_sub(8)) / LINE_BITS as f64;
    1.0 - (1.0 - first) * (1.0 - second)
}

/// The same for standard Bloom filters, whose bits lie anywhere: no lines, k of any size. These
/// are the figures that other libraries quote. The other functions are for lines, with k from 1
/// to 16.
pub mod classic {
    use super::{MAX_BITS, MAX_K};
    use std::f64::consts::LN_2;

    /// Bits for `keys` keys at `rate`: `-keys * ln(rate) / ln(2)^2`, rounded up.
    pub fn bits(keys: u64, rate: f64) -> u64 {
        (-(keys as f64) * rate.ln() / (LN_2 * LN_2)).ceil() as u64
    }

    /// The best number of bits per key to set: `bits / keys * ln(2)`, rounded, at least 1.
    pub fn k(bits: u64, keys: u64) -> u32 {
        (bits as f64 / keys as f64 * LN_2).round().max(1.0) as u32
    }

    /// Returns the false-positive rate: `(1 - e^(-k keys / bits))^k`.
    pub fn rate(bits: u64, keys: u64, k: u32) -> f64 {
        rate_at(bits as f64 / keys as f64, k)
    }

    /// Returns the false-positive rate at so many bits per key.
    pub fn rate_at(bits_per_key: f64, k: u32) -> f64 {
        (1.0 - (-f64::from(k) / bits_per_key).exp()).powi(k as i32)
    }

    /// Returns the k with the lowest rate at `bits_per_key`.
    pub fn best_k(bits_per_key: f64) -> u32 {
        // The rate has one minimum, at this k were it a fraction.
        let below = (bits_per_key * LN_2).clamp(1.0, MAX_K.into()) as u32;
        let above = (below + 1).min(MAX_K);
        if rate_at(bits_per_key, above) < rate_at(bits_per_key, below) { above } else { below }
    }

    /// Returns the fewest bits per key for the target rate, and the k to use with them.
    ///
    /// Returns None if the rate is not between 0 and 1, or too small for any sensible size.
    pub fn bits_for_rate(rate: f64) -> Option<(f64, u32)> {
        if !(rate > 0.0 && rate < 1.0) {
            return None;
        }
        let bits = |k: u32| -f64::from(k) / (-(rate.ln() / f64::from(k)).exp()).ln_1p();
        let of_all = (1..=MAX_K).map(|k| (bits(k), k));
        of_all.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|&(bits, _)| bits <= MAX_BITS)
    }

    /// Estimates how many keys set the fraction `fill` of `bits` bits. For fill 1, returns the
    /// number that leaves half a bit unset.
    pub fn keys_for_fill(fill: f64, bits: u64, k: u32) -> f64 {
        let bits = bits as f64;
        bits * (0.0 - (1.0 - fill).max(0.5 / bits).ln()) / f64::from(k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed, -0 would be "-0 keys".
    #[test]
    fn an_empty_filter_has_no_keys() {
        for keys in [keys_for_fill(0.0, 7, 6), classic::keys_for_fill(0.0, 7 * 512, 6)] {
            assert_eq!(keys.to_bits(), 0.0_f64.to_bits());
        }
    }

    /// The figures of the design, by another program from the same formula.
    #[test]
    fn model_gives_the_published_rates() {
        for (bits, k, percent) in [
            (8.0, 5, 2.34439),
            (10.0, 6, 0.97782),
            (12.0, 7, 0.42135),
            (16.0, 9, 0.08678),
            (20.0, 11, 0.02064),
        ] {
            assert_eq!(best_k(bits), k, "{bits} bits per key");
            assert!((rate(bits, k) * 100.0 / percent - 1.0).abs() < 2e-4, "{bits} bits per key");
        }
    }

    #[test]
    fn best_k_is_the_best_of_all() {
        let bits = (1..=400).map(|i| f64::from(i) * 0.1).chain([0.001, 100.0, 1000.0]);
        for bits in bits {
            let best = (1..=MAX_K).min_by(|&a, &b| rate(bits, a).total_cmp(&rate(bits, b)));
            assert_eq!(rate(bits, best_k(bits)), rate(bits, best.unwrap()), "{bits} bits per key");
        }
    }

    #[test]
    fn bits_for_a_rate_give_the_rate() {
        for target in [0.9, 0.5, 0.1, 0.01, 0.001, 1e-4, 1e-6, 1e-9, 1e-12] {
            let (bits, k) = bits_for_rate(target).unwrap();
            assert!(rate(bits, k) <= target);
            assert!(rate(bits * 0.999, best_k(bits * 0.999)) > target, "{target}: {bits}");
        }
        // 1 % takes 9.9 to 10 bits: the 512-bit line's own figure.
        assert!((9.9..10.0).contains(&bits_for_rate(0.01).unwrap().0));
        for none in [0.0, 1.0, -0.1, 2.0, f64::NAN, f64::INFINITY, 1e-300] {
            assert_eq!(bits_for_rate(none), None, "{none}");
        }
    }

    #[test]
    fn textbook_rows() {
        assert_eq!(
            (classic::bits(1_000_000, 0.01), classic::k(9_585_059, 1_000_000)),
            (9_585_059, 7)
        );
        let bits = classic::bits(10_000_000, 0.001);
        assert!((143_775_875..=143_775_891).contains(&bits));
        assert_eq!(classic::k(bits, 10_000_000), 10);
        assert_eq!(classic::bits(100_000_000, 0.01) / 100, 9_585_058);
        assert!((classic::rate(9_585_059, 1_000_000, 7) - 0.01).abs() < 1e-4);
    }

    #[test]
    fn textbook_sizes_with_a_whole_k() {
        for target in [0.999, 0.9, 0.5, 0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6, 1e-9, 1e-15] {
            let (bits, k) = classic::bits_for_rate(target).unwrap();
            assert!((classic::rate_at(bits, k) / target - 1.0).abs() < 1e-9, "{target}: {bits}");
            // Not less than with a k that is no whole number; hardly more up to 16.
            let least = classic::bits(1 << 40, target) as f64 / (1u64 << 40) as f64;
            let more = bits / least - 1.0;
            assert!(more > -1e-9, "{target}: {bits}");
            assert!(more < 0.01 || !(1e-5..0.3).contains(&target), "{target}: {more}");
        }
        assert!((classic::bits_for_rate(1e-6).unwrap().0 / 28.755 - 1.016).abs() < 1e-3);
        for none in [0.0, 1.0, -0.1, 2.0, f64::NAN, f64::INFINITY, 1e-300] {
            assert_eq!(classic::bits_for_rate(none), None, "{none}");
        }
        let bits = (1..=400).map(|i| f64::from(i) * 0.1).chain([0.001, 100.0, 1000.0]);
        for bits in bits {
            let rate = |k: &u32| classic::rate_at(bits, *k);
            let best = (1..=MAX_K).min_by(|a, b| rate(a).total_cmp(&rate(b))).unwrap();
            assert_eq!(rate(&classic::best_k(bits)), rate(&best), "{bits} bits per key");
        }
    }

    #[test]
    fn textbook_keys_from_the_fill() {
        for (keys, k) in [(1.0, 1), (1e3, 7), (1e5, 16)] {
            let bits = 1_000_000;
            let fill = 1.0 - (-keys * f64::from(k) / bits as f64).exp();
            assert!((classic::keys_for_fill(fill, bits, k) / keys - 1.0).abs() < 1e-9);
        }
        assert_eq!(classic::keys_for_fill(0.0, 512, 7), 0.0);
        assert!(classic::keys_for_fill(1.0, 512, 7).is_finite());
    }
}

//! How a series of filters grows: the capacity of each link, and its share of the rate.
//!
//! The first link takes most of the rate, since most keys never hold more. The shares of the
//! next six fall slowly: the last link holds half of the items, so its bits count most. Then they
//! fall faster. All of them, however many, are less than 1. At 1 % and expansion 2 this needs less
//! memory than halving the rate for each link: at once, and from 100 times the first capacity on.

use bloomline::{Error, Params};

/// The part of the rate that the first link has.
const FIRST: f64 = 0.635;
/// That of the second.
const SECOND: f64 = 0.0601;
/// The share of each of the next, compared with the one before.
const NEAR: f64 = 0.9;
/// The links whose share falls by `NEAR`.
const NEAR_LINKS: usize = 6;
/// The same for all later links.
const FAR: f64 = 0.7;

/// Rates above it are taken for it, as RedisBloom does.
pub(crate) const MAX_RATE: f64 = 0.25;
/// The most that a key can be made for, as RedisBloom has it.
pub(crate) const MAX_CAPACITY: u64 = 1 << 30;
/// The same for the commands with the prefix `BL.`.
pub(crate) const MAX_OWN_CAPACITY: u64 = 1 << 48;
/// The largest growth.
pub(crate) const MAX_EXPANSION: u32 = 32_768;

/// The shape of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    /// The rate of all links together.
    pub(crate) rate: f64,
    /// The items of the first link.
    pub(crate) capacity: u64,
    /// How many times as large the next link is; 0: there is no next one.
    pub(crate) expansion: u32,
    pub(crate) seed: u64,
}

impl Plan {
    /// The items of link `i`, saturating.
    pub(crate) fn capacity_of(&self, i: usize) -> u64 {
        let mut capacity = self.capacity;
        for _ in 0..i {
            let next = capacity.saturating_mul(self.expansion.into());
            if next == capacity {
                break;
            }
            capacity = next;
        }
        capacity
    }

    /// The rate of link `i`. Multiplications alone, so that every CPU computes the same.
    pub(crate) fn rate_of(&self, i: usize) -> f64 {
        if self.expansion == 0 {
            return self.rate;
        }
        if i == 0 {
            return self.rate * FIRST;
        }
        let mut share = SECOND;
        for later in 2..=i {
            share *= if later <= NEAR_LINKS { NEAR } else { FAR };
        }
        self.rate * share
    }

    /// The filter of link `i`.
    pub(crate) fn params_of(&self, i: usize) -> Result<Params, Error> {
        Ok(Params::for_rate(self.capacity_of(i), self.rate_of(i))?.with_seed(self.seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(rate: f64, capacity: u64, expansion: u32) -> Plan {
        Plan { rate, capacity, expansion, seed: 7 }
    }

    /// The bytes of so many links.
    fn bytes(plan: &Plan, links: usize) -> f64 {
        (0..links).map(|i| plan.params_of(i).unwrap().bytes() as f64).sum()
    }

    /// Those of RedisBloom: each link has half of the rate of the one before, the first half of all.
    fn bytes_of_redisbloom(plan: &Plan, links: usize) -> f64 {
        let bits = |i: usize| {
            let rate = plan.rate * 0.5f64.powi(i as i32 + 1);
            plan.capacity_of(i) as f64 * (1.0 / rate).ln() / std::f64::consts::LN_2.powi(2)
        };
        (0..links).map(bits).sum::<f64>() / 8.0
    }

    #[test]
    fn all_shares_together_are_less_than_the_rate() {
        let plan = plan(0.01, 100, 2);
        let sum: f64 = (0..1000).map(|i| plan.rate_of(i)).sum();
        assert!(sum < 0.01 && sum > 0.0099, "{sum}");
    }

    #[test]
    fn a_key_takes_no_more_memory_than_redisbloom_at_1_and_100_times_its_capacity() {
        let plan = plan(0.01, 1_000_000, 2);
        for (links, times) in [(1, 1), (7, 100), (8, 200), (10, 1000)] {
            let items: u64 = (0..links).map(|i| plan.capacity_of(i)).sum();
            assert!(items >= times * plan.capacity);
            let (ours, theirs) = (bytes(&plan, links), bytes_of_redisbloom(&plan, links));
            assert!(ours <= theirs, "{links} links: {:.3} of theirs", ours / theirs);
        }
    }

    #[test]
    fn each_link_keeps_its_share() {
        for rate in [0.25, 0.01, 0.0001] {
            let plan = plan(rate, 10_000, 2);
            for i in 0..12 {
                let params = plan.params_of(i).unwrap();
                assert!(params.rate(plan.capacity_of(i)) <= plan.rate_of(i) * 1.000_001);
                assert_eq!(params.seed(), 7);
            }
        }
    }

    #[test]
    fn one_that_does_not_grow_has_the_whole_rate() {
        assert_eq!(plan(0.01, 100, 0).rate_of(0), 0.01);
    }

    #[test]
    fn capacities_grow_by_the_expansion_and_do_not_overflow() {
        assert_eq!(plan(0.01, 100, 2).capacity_of(3), 800);
        assert_eq!(plan(0.01, 100, 1).capacity_of(1 << 40), 100);
        assert_eq!(plan(0.01, 100, 32_768).capacity_of(1000), u64::MAX);
    }
}

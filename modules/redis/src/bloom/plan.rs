//! How a series of filters grows: the capacity of each link, and its share of the rate.
//!
//! The first link takes most of the rate, since most keys never hold more. The shares of the next
//! five fall slowly: at expansion 2 the last link holds half of the items, so its bits count most.
//! The rest is shared by a series that never ends: 1/2, 1/6, 1/12, ... All shares together, however
//! many, are less than 1. At 1 % and expansion 2 this needs no more memory than halving the rate for
//! each link: at once, and from 100 times the first capacity on.
//!
//! A link has at least a third of the items of all before it. At expansion 1 links of one size would
//! be as many as the key has times its capacity, and each one is probed.

use super::layout::Layout;
use bloomline::{Error, Params};

/// The part of the rate that the first link has.
const FIRST: f64 = 0.635;
/// That of the second.
const SECOND: f64 = 0.074;
/// The share of each of the next, compared with the one before.
const NEAR: f64 = 0.82;
/// The links from the second on whose shares fall by `NEAR`.
const NEAR_LINKS: usize = 5;
/// What is left for all later ones.
const REST: f64 = 1.0 - FIRST - SECOND * (1.0 + NEAR * (1.0 + NEAR * (1.0 + NEAR * (1.0 + NEAR))));

/// A link has at least one by this of the items of all before it.
const PART: u64 = 3;
/// The fewest items of a link that is not the first: a link of fewer takes more for itself than for
/// its lines.
const LEAST: u64 = 64;

/// The lowest rate of a link. An item is known by 64 bits of its hash, so no filter keeps a lower
/// one.
const LOWEST: f64 = 1.0 / (1u128 << 64) as f64;

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
    pub(crate) layout: Layout,
}

impl Plan {
    /// With the first of these layouts whose memory is about RedisBloom's, or the last.
    pub(crate) fn with_layout(self, among: &[Layout]) -> Plan {
        // The first of its links has half of the rate.
        let theirs = if self.expansion == 0 { self.rate } else { self.rate / 2.0 };
        let layout = Layout::choose(among, self.rate_of(0), theirs.max(LOWEST));
        Plan { layout, ..self }
    }

    /// The items of link `i`, saturating. `before`: those of all links before it.
    pub(crate) fn capacity_of(&self, i: usize, before: u64) -> u64 {
        let mut capacity = self.capacity;
        for _ in 0..i {
            let next = capacity.saturating_mul(self.expansion.into());
            if next == capacity {
                break;
            }
            capacity = next;
        }
        if i == 0 { capacity } else { capacity.max(before / PART).max(LEAST) }
    }

    /// The rate of link `i`. No logarithms, so that every CPU computes the same.
    pub(crate) fn rate_of(&self, i: usize) -> f64 {
        let share = match i {
            _ if self.expansion == 0 => 1.0,
            0 => FIRST,
            1..=NEAR_LINKS => (1..i).fold(SECOND, |share, _| share * NEAR),
            _ => {
                let later = (i - NEAR_LINKS) as f64;
                REST / (later * (later + 1.0))
            }
        };
        (self.rate * share).max(LOWEST)
    }

    /// The filter of link `i`, for so many items.
    pub(crate) fn params_of(&self, i: usize, items: u64) -> Result<Params, Error> {
        Ok(self.layout.params(items, self.rate_of(i))?.with_seed(self.seed))
    }
}

#[cfg(test)]
mod tests {
    use super::super::chain::Link;
    use super::super::layout::bits_of_redisbloom;
    use super::*;

    fn plan(rate: f64, capacity: u64, expansion: u32) -> Plan {
        Plan { rate, capacity, expansion, seed: 7, layout: Layout::Lines }
    }

    fn capacities(plan: Plan, links: usize) -> Vec<u64> {
        let mut all = Vec::new();
        for _ in 0..links {
            all.push(plan.capacity_of(all.len(), all.iter().sum()));
        }
        all
    }

    /// The bytes of so many links, which hold so many items.
    fn size(plan: Plan, links: usize) -> (f64, u64) {
        let all = capacities(plan, links);
        let bytes = |(i, &items): (usize, &u64)| plan.params_of(i, items).unwrap().bytes() as f64;
        (all.iter().enumerate().map(bytes).sum(), all.iter().sum())
    }

    /// The bytes of the links of RedisBloom that hold so many items, and how many links. Each has
    /// half of the rate of the one before, the first half of all, and multiples of 8 bytes.
    fn size_of_redisbloom(plan: Plan, items: u64) -> (f64, usize) {
        let (mut room, mut next, mut bytes, mut links) = (0, plan.capacity, 0.0, 0);
        while room < items {
            links += 1;
            let bits = bits_of_redisbloom(plan.rate) + f64::from(links) / std::f64::consts::LN_2;
            bytes += (next as f64 * bits / 64.0).ceil() * 8.0;
            room += next;
            next *= u64::from(plan.expansion);
        }
        (bytes, links as usize)
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
        for (links, times) in [(1, 1), (7, 100), (8, 200), (9, 400), (10, 1000)] {
            let (ours, items) = size(plan, links);
            let (theirs, as_many) = size_of_redisbloom(plan, items);
            assert!(items >= times * plan.capacity && as_many == links);
            assert!(ours <= theirs, "{links} links: {:.3} of theirs", ours / theirs);
        }
    }

    /// At any expansion, rate and number of items up to 1000 times the capacity: at most one and a
    /// half of RedisBloom's memory; for capacities below 1000, and 900 bytes. The worst is just
    /// behind a growth.
    #[test]
    fn a_key_takes_at_most_half_as_much_again_as_redisbloom() {
        // RedisBloom's object and its links; ours, and what the server's allocator adds to lines.
        let (their_object, their_link) = (32.0, 64.0);
        let (our_object, our_link) = (112.0, (size_of::<Link>() + 64) as f64);
        for expansion in [1, 2, 3, 4, 8, 100, 32_768] {
            for rate in [0.25, 0.1, 0.01, 0.003, 0.001, 1e-4, 1e-6, 1e-9] {
                for capacity in [1, 10, 32, 100, 300, 1000, 10_000, 1_000_000] {
                    let plan = plan(rate, capacity, expansion).with_layout(&Layout::ALL);
                    let (mut links, mut full) = (1, 0);
                    while full < 1000 * capacity {
                        let (bytes, items) = size(plan, links);
                        let ours = our_object + bytes + links as f64 * our_link;
                        let (theirs, as_many) = size_of_redisbloom(plan, full + 1);
                        let theirs = their_object + theirs + as_many as f64 * their_link;
                        let what = format!("{expansion} {rate} {capacity}: {links} links");
                        let more = if capacity < 1000 { 900.0 } else { 0.0 };
                        assert!(ours <= 1.5 * theirs + more, "{what}: {ours} {theirs}");
                        (full, links) = (items, links + 1);
                    }
                    assert!(links <= 27, "{expansion} {rate} {capacity}");
                }
            }
        }
    }

    #[test]
    fn each_link_keeps_its_share() {
        for rate in [0.25, 0.01, 0.0001] {
            let plan = plan(rate, 10_000, 2);
            for (i, items) in capacities(plan, 12).into_iter().enumerate() {
                let params = plan.params_of(i, items).unwrap();
                assert!(params.rate(items) <= plan.rate_of(i) * 1.000_001);
                assert_eq!(params.seed(), 7);
            }
        }
    }

    #[test]
    fn rates_that_no_hash_keeps_are_the_lowest() {
        for expansion in [0, 2] {
            let lowest = plan(1e-300, 1000, expansion).with_layout(&Layout::ALL);
            assert_eq!((lowest.layout, lowest.rate_of(0)), (Layout::Twice, LOWEST));
            assert!(size(lowest, 1).0 < 1000.0 * 112.0 / 8.0 + 64.0);
        }
    }

    #[test]
    fn one_that_does_not_grow_has_the_whole_rate() {
        assert_eq!(plan(0.01, 100, 0).rate_of(0), 0.01);
        assert_eq!(plan(0.01, 5, 0).capacity_of(0, 0), 5);
    }

    #[test]
    fn capacities_grow_by_the_expansion_and_do_not_overflow() {
        assert_eq!(capacities(plan(0.01, 100, 2), 4), [100, 200, 400, 800]);
        assert_eq!(capacities(plan(0.01, 99, 1), 6), [99, 99, 99, 99, 132, 176]);
        assert_eq!(capacities(plan(0.01, 1, 1), 4), [1, 64, 64, 64]);
        assert_eq!(capacities(plan(0.01, 1, 32_768), 3), [1, 32_768, 1 << 30]);
        assert_eq!(plan(0.01, 1, 2).capacity_of(1000, u64::MAX), u64::MAX);
        assert_eq!(plan(0.01, 1, 1).capacity_of(1 << 40, 3 << 50), 1 << 50);
    }

    /// The page has all these rows of a table.
    fn must_have(rows: &[String]) {
        let page = include_str!("../../../../docs/REDIS.md");
        let absent = rows.iter().filter(|row| page.lines().all(|line| line != *row));
        let absent: Vec<&str> = absent.map(String::as_str).collect();
        assert!(absent.is_empty(), "docs/REDIS.md lacks these rows:\n{}", absent.join("\n"));
    }

    #[test]
    fn the_page_has_what_a_series_costs() {
        let mut rows = Vec::new();
        for expansion in [1, 2] {
            for times in [1, 10, 100, 1000] {
                let plan = plan(0.01, 100_000, expansion);
                let (items, mut links) = (times * plan.capacity, 1);
                while size(plan, links).1 < items {
                    links += 1;
                }
                let (theirs, as_many) = size_of_redisbloom(plan, items);
                let each = |bytes: f64| 8.0 * bytes / items as f64;
                let (ours, theirs) = (each(size(plan, links).0), each(theirs));
                rows.push(format!(
                    "| {expansion} | {times}x | {links} | {ours:.1} | {as_many} | {theirs:.1} |"
                ));
            }
        }
        must_have(&rows);
    }

    #[test]
    fn the_page_has_the_bits_of_each_rate() {
        let mut rows = Vec::new();
        for rate in [0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9] {
            let plan = plan(rate, 1_000_000, 0);
            let chosen = plan.with_layout(&Layout::ALL);
            let each = |plan: Plan| 8e-6 * size(plan, 1).0;
            let (theirs, lines, name) =
                (bits_of_redisbloom(rate), each(plan), chosen.layout.name());
            let bits = each(chosen);
            rows.push(format!("| {rate:?} | {theirs:.1} | `{name}`: {bits:.1} | {lines:.1} |"));
        }
        must_have(&rows);
    }
}

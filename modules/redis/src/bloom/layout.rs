//! How the links of a series lie in memory. The layout is chosen when a key is made, by its rate,
//! and holds for all links.
//!
//! Lines cost one cache line per probe, but their memory grows faster than RedisBloom's as the rate
//! falls. So the first layout is taken, in order of what a probe costs, that needs about as much
//! memory as RedisBloom.
//!
//! A classic file has at most 16 bits for a key, too few for the lowest rates. So with
//! [`Layout::Twice`] each item goes into one classic filter by two hashes: its own, and the hash of
//! that. This is a standard Bloom filter with twice the bits for a key. A reader that knows the
//! first hash only still finds every item, at the root of the rate.

use bloomline::{Error, Filter, Params, hash::hash_u64, sizing};

/// A layout. The numbers are in dumps: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Layout {
    /// A cache line for a key.
    Lines = 0,
    /// A standard Bloom filter.
    Classic = 1,
    /// The same, in which each item has two hashes.
    Twice = 2,
}

/// The most memory that is taken to spare cache lines, compared with RedisBloom.
const MOST: f64 = 1.04;
/// Bits per item are multiples of one by this: the logarithms of two systems may differ in their
/// last digit, and a replica has to compute the same size.
const STEPS: f64 = 256.0;

impl Layout {
    /// In order of what a probe costs.
    pub(crate) const ALL: [Layout; 3] = [Layout::Lines, Layout::Classic, Layout::Twice];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Layout::Lines => "lines",
            Layout::Classic => "classic",
            Layout::Twice => "classic2",
        }
    }

    pub(crate) fn of_name(name: &[u8]) -> Option<Layout> {
        let named = |layout: &Layout| name.eq_ignore_ascii_case(layout.name().as_bytes());
        Layout::ALL.into_iter().find(named)
    }

    pub(crate) fn of_number(number: u64) -> Option<Layout> {
        Layout::ALL.into_iter().find(|&layout| layout as u64 == number)
    }

    /// The first of these with which a filter of rate `rate` takes about as much memory as
    /// RedisBloom's of rate `theirs`, or the last.
    pub(crate) fn choose(among: &[Layout], rate: f64, theirs: f64) -> Layout {
        let most = MOST * bits_of_redisbloom(theirs);
        let fits = |layout: &&Layout| layout.bits(rate).is_some_and(|(bits, _)| bits <= most);
        let last = among.last().copied().unwrap_or(Layout::Lines);
        among.iter().find(fits).copied().unwrap_or(last)
    }

    /// The hashes of an item.
    pub(crate) fn rounds(self) -> u32 {
        if self == Layout::Twice { 2 } else { 1 }
    }

    /// The second hash of an item, if it has one.
    pub(crate) fn second(self, hash: u64) -> Option<u64> {
        (self == Layout::Twice).then(|| hash_u64(hash, 0))
    }

    /// Bits per item, and the bits that one hash sets.
    fn bits(self, rate: f64) -> Option<(f64, u32)> {
        if self == Layout::Lines {
            return sizing::bits_for_rate(rate);
        }
        // Each round has its own chance: a root of the rate.
        let of_a_round = if self == Layout::Twice { rate.sqrt() } else { rate };
        let (bits, k) = sizing::classic::bits_for_rate(of_a_round)?;
        Some(((f64::from(self.rounds()) * bits * STEPS).ceil() / STEPS, k))
    }

    /// The shape of a filter for so many items at that rate.
    ///
    /// # Errors
    /// [`Error::Rate`]; [`Error::LineCount`] if it cannot be addressed.
    pub(crate) fn params(self, items: u64, rate: f64) -> Result<Params, Error> {
        let (bits, k) = self.bits(rate).ok_or(Error::Rate(rate))?;
        let lines = (items as f64 * bits / 512.0).ceil() as u64;
        let new = if self == Layout::Lines { Params::new } else { Params::classic };
        new(lines.max(1), k, 0)
    }

    /// That of a filter, whose items have one hash each.
    pub(crate) fn of(filter: &Filter) -> Layout {
        if filter.params().is_classic() { Layout::Classic } else { Layout::Lines }
    }

    /// Whether a filter can have it.
    pub(crate) fn suits(self, filter: &Filter) -> bool {
        filter.params().is_classic() == (self != Layout::Lines)
    }

    /// The rate of a filter of that shape with so many items.
    pub(crate) fn rate(self, params: Params, items: u64) -> f64 {
        match self {
            Layout::Lines | Layout::Classic => params.rate(items),
            Layout::Twice => params.rate(items.saturating_mul(2)).powi(2),
        }
    }
}

/// The bits per item of RedisBloom's filter of that rate.
pub(crate) fn bits_of_redisbloom(rate: f64) -> f64 {
    (1.0 / rate).ln() / std::f64::consts::LN_2.powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_read_as_written() {
        for layout in Layout::ALL {
            assert_eq!(Layout::of_name(layout.name().to_uppercase().as_bytes()), Some(layout));
            assert_eq!(Layout::of_number(layout as u64), Some(layout));
        }
        assert_eq!((Layout::of_name(b"line"), Layout::of_number(3)), (None, None));
    }

    #[test]
    fn each_shape_keeps_its_rate() {
        for layout in Layout::ALL {
            for rate in [0.25, 0.01, 1e-4, 1e-6, 1e-9, 1e-15] {
                let params = layout.params(10_000, rate).unwrap();
                let got = layout.rate(params, 10_000);
                assert!(got <= rate * 1.000_001, "{layout:?} {rate}: {got}");
                assert!(got > rate * 0.9, "{layout:?} {rate}: {got}");
            }
        }
    }

    /// A tenth of a decade at a time: at most 1.05 of RedisBloom's memory, from 10,000 items on.
    #[test]
    fn the_chosen_one_takes_little_more_than_redisbloom() {
        let mut chosen = Vec::new();
        for step in 20..=90 {
            let rate = 10f64.powf(-f64::from(step) / 10.0);
            // One that does not scale; the first link of one that does, half of the rate there.
            for (ours, theirs) in [(rate, rate), (0.635 * rate, rate / 2.0)] {
                let layout = Layout::choose(&Layout::ALL, ours, theirs);
                for items in [10_000u64, 1_000_000] {
                    let bytes = layout.params(items, ours).unwrap().bytes() as f64;
                    let theirs = items as f64 * bits_of_redisbloom(theirs) / 8.0;
                    let times = bytes / theirs;
                    assert!(times <= 1.05, "{rate} {layout:?}: {times}");
                }
                chosen.push(layout);
            }
        }
        assert_eq!(chosen[..2], [Layout::Lines; 2], "at 1 %");
        assert_eq!(chosen[chosen.len() - 2..], [Layout::Twice; 2], "at 1e-9");
    }

    /// Where one layout ends and the next begins, as docs/REDIS.md has it.
    #[test]
    fn layouts_change_at_these_rates() {
        let fixed = |rate| Layout::choose(&Layout::ALL, rate, rate);
        let grows = |rate| Layout::choose(&Layout::ALL, 0.635 * rate, rate / 2.0);
        assert_eq!([fixed(0.0092), fixed(0.0091)], [Layout::Lines, Layout::Classic]);
        assert_eq!([grows(0.0023), grows(0.0022)], [Layout::Lines, Layout::Classic]);
        assert_eq!([fixed(1.8e-7), fixed(1.7e-7)], [Layout::Classic, Layout::Twice]);
        assert_eq!([grows(1.2e-7), grows(1.1e-7)], [Layout::Classic, Layout::Twice]);
    }
}

//! A series of plain filters, its links, that answers as one and grows.

use super::layout::Layout;
use super::plan::{MAX_OWN_CAPACITY, Plan};
use crate::added::Stop;
use crate::items::{BLOCK, WORDS, answers};
use crate::limit::Limit;
use bloomline::definition::classic::positions;
use bloomline::{Error, Filter};
use std::hint::black_box;

/// The items whose bits are read before they are set: some hundred cache lines, which fit in any
/// cache.
const TOUCHED: usize = 16;

/// A link.
pub(crate) struct Link {
    pub(crate) filter: Filter,
    /// The items it is made for.
    pub(crate) capacity: u64,
}

/// The bits may say less than there is by this factor: the estimate is not exact.
const ESTIMATED: f64 = 1.05;

/// The keys that a filter has by its bits, about.
pub(crate) fn count_by_bits(filter: &Filter) -> u64 {
    if filter.lines().iter().all(|&byte| byte == 0) {
        return 0;
    }
    filter.estimated_keys().ceil().min(MAX_OWN_CAPACITY as f64) as u64
}

/// The series: at least one link, the newest last.
pub(crate) struct Chain {
    pub(crate) plan: Plan,
    pub(crate) links: Vec<Link>,
}

impl Link {
    /// Adds an item that is not there.
    fn insert(&mut self, hash: u64, layout: Layout) {
        self.filter.insert_hash(hash);
        if let Some(second) = layout.second(hash) {
            self.filter.insert_hash(second);
        }
    }

    /// Reads the bits that items will set, in layouts whose bits lie anywhere. These loads overlap;
    /// the stores of inserts would wait for each cache line in turn.
    fn touch(&self, hashes: impl Iterator<Item = u64>, layout: Layout) {
        let (lines, k) = (self.filter.lines(), self.filter.params().k());
        let mut all = 0;
        for hash in hashes {
            for hash in [Some(hash), layout.second(hash)].into_iter().flatten() {
                for bit in positions(hash, k, 8 * lines.len() as u64) {
                    all |= lines[(bit / 8) as usize];
                }
            }
        }
        black_box(all);
    }

    fn contains(&self, hash: u64, layout: Layout) -> bool {
        let has = |hash| self.filter.contains_hash(hash);
        has(hash) && layout.second(hash).is_none_or(has)
    }

    /// Answers up to [`BLOCK`] hashes, a bit for each. Returns how many are set.
    fn probe(&self, hashes: &[u64], words: &mut [u64], layout: Layout) -> usize {
        let found = self.filter.contains_hashes(hashes, words);
        if layout.rounds() == 1 || found == 0 {
            return found;
        }
        // The second hashes of those alone that the first ones found.
        let (mut second, mut again) = ([0; BLOCK], [0; WORDS]);
        let there = answers(words, hashes.len()).zip(hashes).filter(|&(there, _)| there);
        for (place, (_, &hash)) in second.iter_mut().zip(there) {
            *place = layout.second(hash).unwrap_or(hash);
        }
        let count = self.filter.contains_hashes(&second[..found], &mut again[..]);
        let mut again = answers(&again, found);
        for word in words {
            let mut left = *word;
            while left != 0 {
                let lowest = left & left.wrapping_neg();
                if again.next() == Some(false) {
                    *word ^= lowest;
                }
                left ^= lowest;
            }
        }
        count
    }

    /// Adds all items of links of the same shape. A union counts items twice that two of them have. Where
    /// its count is clearly above what the bits say, it becomes that, but not less than of any of them.
    pub(crate) fn unite<'a>(
        &mut self,
        others: impl Iterator<Item = &'a Link>,
    ) -> Result<(), Error> {
        let mut largest = self.filter.key_count();
        for other in others {
            largest = largest.max(other.filter.key_count());
            self.filter.union(&other.filter)?;
        }
        if self.filter.key_count() > largest {
            let by_bits = count_by_bits(&self.filter).max(largest);
            if self.filter.key_count() as f64 > ESTIMATED * by_bits as f64 {
                self.filter.set_key_count(by_bits);
            }
        }
        Ok(())
    }

    /// The items added.
    pub(crate) fn items(&self, layout: Layout) -> u64 {
        self.filter.key_count() / u64::from(layout.rounds())
    }
}

impl Chain {
    /// An empty series.
    pub(crate) fn new(plan: Plan, limit: Limit) -> Result<Chain, Error> {
        let mut chain = Chain { plan, links: Vec::new() };
        chain.grow(limit)?;
        Ok(chain)
    }

    fn grow(&mut self, limit: Limit) -> Result<(), Error> {
        let capacity = self.plan.capacity_of(self.links.len(), self.capacity());
        let params = self.plan.params_of(self.links.len(), capacity)?;
        let bytes = self.bytes().saturating_add(params.bytes());
        limit.allows(bytes, params.bytes())?;
        self.links.try_reserve_exact(1).map_err(|_| Error::OutOfMemory)?;
        self.links.push(Link { filter: Filter::new(params)?, capacity });
        // The server gives more than was asked for.
        let allowed = limit.allows(self.memory(), 0);
        if allowed.is_err() {
            self.links.pop();
        }
        allowed
    }

    /// The link that items are added to.
    fn newest(&mut self) -> &mut Link {
        self.links.last_mut().expect("at least one link")
    }

    /// Adds the items of these hashes in order, as one by one. `answer` gets, for each, whether it
    /// was new. At an error it has had the answers of all items before.
    pub(crate) fn insert(
        &mut self,
        hashes: &[u64],
        limit: Limit,
        mut answer: impl FnMut(bool),
    ) -> Result<(), Stop> {
        let (mut present, layout) = ([0; WORDS], self.plan.layout);
        for hashes in hashes.chunks(BLOCK) {
            self.probe(hashes, &mut present);
            // What this block adds goes into links from here on.
            let first = self.links.len() - 1;
            for (i, &hash) in hashes.iter().enumerate() {
                if layout != Layout::Lines && i % TOUCHED == 0 {
                    let next = i..hashes.len().min(i + TOUCHED);
                    let absent = next.filter(|&i| present[i / 64] >> (i % 64) & 1 == 0);
                    self.newest().touch(absent.map(|i| hashes[i]), layout);
                }
                let known = present[i / 64] >> (i % 64) & 1 != 0
                    || self.links[first..].iter().any(|link| link.contains(hash, layout));
                if !known {
                    self.make_room(limit)?;
                    self.newest().insert(hash, layout);
                }
                answer(!known);
            }
        }
        Ok(())
    }

    /// Adds the item of this hash. Returns whether it was new.
    pub(crate) fn insert_one(&mut self, hash: u64, limit: Limit) -> Result<bool, Stop> {
        if self.contains(hash) {
            return Ok(false);
        }
        self.make_room(limit)?;
        let layout = self.plan.layout;
        self.newest().insert(hash, layout);
        Ok(true)
    }

    /// A newest link that is not full.
    fn make_room(&mut self, limit: Limit) -> Result<(), Stop> {
        let layout = self.plan.layout;
        let newest = self.newest();
        if newest.items(layout) < newest.capacity {
            return Ok(());
        }
        if self.plan.expansion == 0 {
            return Err(Stop::Full);
        }
        self.grow(limit).map_err(|_| Stop::Memory)
    }

    /// Answers up to [`BLOCK`] hashes, a bit for each.
    pub(crate) fn probe(&self, hashes: &[u64], words: &mut [u64; WORDS]) {
        let (words, layout) = (&mut words[..hashes.len().div_ceil(64)], self.plan.layout);
        let (newest, older) = self.links.split_last().expect("at least one link");
        let mut found = newest.probe(hashes, words, layout);
        let mut more = [0; WORDS];
        for link in older.iter().rev() {
            if found == hashes.len() {
                return;
            }
            let more = &mut more[..words.len()];
            link.probe(hashes, more, layout);
            found = 0;
            for (word, more) in words.iter_mut().zip(more) {
                *word |= *more;
                found += word.count_ones() as usize;
            }
        }
    }

    /// Answers one hash.
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.links.iter().rev().any(|link| link.contains(hash, self.plan.layout))
    }

    /// The items added, those of merged filters included.
    pub(crate) fn items(&self) -> u64 {
        let layout = self.plan.layout;
        self.links.iter().map(|link| link.items(layout)).fold(0, u64::saturating_add)
    }

    /// The items that all links are made for.
    pub(crate) fn capacity(&self) -> u64 {
        self.links.iter().map(|link| link.capacity).fold(0, u64::saturating_add)
    }

    /// The bytes of all lines.
    pub(crate) fn bytes(&self) -> usize {
        self.links.iter().map(|link| link.filter.lines().len()).sum()
    }

    pub(crate) fn try_clone(&self) -> Result<Chain, Error> {
        let mut links = Vec::new();
        links.try_reserve_exact(self.links.len()).map_err(|_| Error::OutOfMemory)?;
        for link in &self.links {
            links.push(Link { filter: link.filter.try_clone()?, capacity: link.capacity });
        }
        Ok(Chain { plan: self.plan, links })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloomline::hash::hash_u64;
    use std::collections::HashSet;

    const NO_LIMIT: Limit = Limit::none();

    fn chain(rate: f64, capacity: u64, expansion: u32) -> Chain {
        chain_of(Layout::Lines, rate, capacity, expansion)
    }

    fn chain_of(layout: Layout, rate: f64, capacity: u64, expansion: u32) -> Chain {
        Chain::new(Plan { rate, capacity, expansion, seed: 1, layout }, NO_LIMIT).unwrap()
    }

    fn add(chain: &mut Chain, hashes: &[u64]) -> (Vec<bool>, Result<(), Stop>) {
        let mut answers = Vec::new();
        let result = chain.insert(hashes, NO_LIMIT, |new| answers.push(new));
        (answers, result)
    }

    #[test]
    fn a_batch_is_as_one_by_one_growth_and_repetitions_included() {
        Layout::ALL.into_iter().for_each(a_batch_is_as_one_by_one);
    }

    fn a_batch_is_as_one_by_one(layout: Layout) {
        // Repeats of items at all distances, over several growths.
        let hashes: Vec<u64> =
            (0..20_000u64).map(|i| hash_u64(i % 7000 + i / 9000 * 3000, 0)).collect();
        let (mut batch, mut single) =
            (chain_of(layout, 0.01, 100, 2), chain_of(layout, 0.01, 100, 2));
        let (answers, result) = add(&mut batch, &hashes);
        assert_eq!(result, Ok(()));
        for (i, hash) in hashes.iter().enumerate() {
            let (one, _) = add(&mut single, &[*hash]);
            assert_eq!(one, [answers[i]], "item {i}");
        }
        assert!(batch.links.len() > 4);
        assert_eq!(batch.links.len(), single.links.len());
        for (a, b) in batch.links.iter().zip(&single.links) {
            assert!(a.filter == b.filter && a.filter.key_count() == b.filter.key_count());
        }
        assert_eq!(batch.items(), answers.iter().filter(|&&new| new).count() as u64);
        assert!(hashes.iter().all(|&hash| batch.contains(hash)));
    }

    #[test]
    fn one_that_does_not_grow_is_full_at_its_capacity_and_still_knows_its_items() {
        let mut chain = chain(0.001, 100, 0);
        let hashes: Vec<u64> = (0..200).map(|i| hash_u64(i, 0)).collect();
        let (answers, result) = add(&mut chain, &hashes);
        assert_eq!(result, Err(Stop::Full));
        assert_eq!(answers.iter().filter(|&&new| new).count(), 100);
        assert_eq!(chain.items(), 100);
        assert_eq!(add(&mut chain, &hashes[..answers.len()]).1, Ok(()));
    }

    #[test]
    fn growth_stops_at_the_limit_and_loses_nothing() {
        let layout = Layout::Lines;
        let plan = Plan { rate: 0.01, capacity: 100, expansion: 2, seed: 1, layout };
        let limit = Limit::bytes(2000);
        let mut chain = Chain::new(plan, limit).unwrap();
        let hashes: Vec<u64> = (0..5000).map(|i| hash_u64(i, 0)).collect();
        let mut done = 0;
        assert_eq!(chain.insert(&hashes, limit, |_| done += 1), Err(Stop::Memory));
        assert!(chain.bytes() <= 2000 && done >= 300);
        assert!(hashes[..done].iter().all(|&hash| chain.contains(hash)));
    }

    /// At 127 times the capacity, in each layout; at expansion 1, whose links are many, too.
    #[test]
    fn all_links_together_keep_the_rate() {
        for (layout, expansion) in
            Layout::ALL.map(|layout| (layout, 2)).into_iter().chain([(Layout::Lines, 1)])
        {
            let mut chain = chain_of(layout, 0.01, 1000, expansion);
            let inserted: HashSet<u64> = (0..127_000).map(|i| hash_u64(i, 0)).collect();
            let hashes: Vec<u64> = inserted.iter().copied().collect();
            assert_eq!(add(&mut chain, &hashes).1, Ok(()));
            assert!(hashes.iter().all(|&hash| chain.contains(hash)));
            let absent = 200_000;
            let mut wrong = 0;
            for i in 0..absent {
                wrong += usize::from(chain.contains(hash_u64(1_000_000 + i, 0)));
            }
            assert!((wrong as f64) < 0.01 * absent as f64 * 1.05, "{wrong} of {absent}");
        }
    }

    /// Neither by the rates of its links nor by their number: each is probed.
    #[test]
    fn expansion_1_does_not_end() {
        for layout in Layout::ALL {
            let mut chain = chain_of(layout, 1e-6, 1, 1);
            for i in 0..100_000 {
                assert!(chain.insert_one(hash_u64(i, 0), NO_LIMIT).is_ok(), "{layout:?} item {i}");
            }
            assert!(chain.links.len() <= 35, "{} links", chain.links.len());
            assert!((0..100_000).all(|i| chain.contains(hash_u64(i, 0))));
        }
        // Two to the power 62 items: it ends where they could not be counted.
        let plan = Plan { rate: 1e-300, capacity: 1, expansion: 1, seed: 1, layout: Layout::Lines };
        let (mut links, mut all) = (0, 0u64);
        while all < 1 << 62 {
            all += plan.capacity_of(links, all);
            assert!(plan.params_of(links, 1000).is_ok());
            links += 1;
        }
        assert!(links < 200);
    }
}

//! A series of cuckoo filters, its links. Items can be removed; the same item can be added several
//! times and counts as often.
//!
//! A larger link is more filters of the same shape, not a larger filter: each item goes into the
//! one that `shard_of` says. So two items that the filters of one link cannot tell apart, those of
//! all smaller links cannot either. Removing takes an item from the largest link that seems to have
//! it: if the fingerprint there is another item's, that one's is found, by the same probes, where
//! the first was. Links of different shapes would lose items there.

use super::link::{Link, full_rate};
use crate::allocator::memory_of;
use crate::items::WORDS;
use crate::limit::Limit;
use bloomline::definition::cuckoo::MAX_KICKS;
use bloomline::{CuckooFilter, CuckooParams, Error};

/// The shape of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// The items of the first link.
    pub(crate) capacity: u64,
    /// Kept for INFO: the rate follows from it unless one is chosen.
    pub(crate) bucket_size: u64,
    /// How many fingerprints an insert may relocate in a link that has its capacity.
    pub(crate) max_iterations: u64,
    /// How many times as large the next link is; 0: there is no next one.
    pub(crate) expansion: u64,
    /// The most links.
    pub(crate) max_links: u64,
    pub(crate) rate: f64,
    pub(crate) seed: u64,
}

/// The series: at least one link, the newest last.
pub(crate) struct Series {
    pub(crate) shape: Shape,
    pub(crate) links: Vec<Link>,
    /// Items removed, for INFO.
    pub(crate) deleted: u64,
}

/// Why an item was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// There is no room, and the filter does not grow, or not for copies of one item.
    Full,
    /// It has grown as often as it may.
    Links,
    /// It cannot grow: no memory, or beyond the limit.
    Growth,
}

/// The links that together keep the rate that was asked for.
const LINKS_OF_RATE: f64 = 4.0;

/// A link is nearly empty if it has fewer items than one for so many slots.
const NEARLY_EMPTY: u64 = 16;

/// So many times its first link is the most that a series grows to for an item that a nearly empty
/// link refuses: there are 8 copies of it in each link, and the next would take no more.
const MOST_FOR_COPIES: u64 = 16;

/// The most filters of a link.
const MOST_SHARDS: u64 = 1 << 20;

impl Shape {
    /// The parameters of every filter: the shortest fingerprints that keep the rate.
    pub(crate) fn params(&self) -> Result<CuckooParams, Error> {
        let links = if self.expansion == 0 { 1.0 } else { LINKS_OF_RATE };
        for bits in [8, 12] {
            let params = CuckooParams::for_bits(self.capacity, bits)?;
            if links * full_rate(params) <= self.rate {
                return Ok(params.with_seed(self.seed));
            }
        }
        Ok(CuckooParams::for_bits(self.capacity, 16)?.with_seed(self.seed))
    }
}

impl Series {
    pub(crate) fn new(shape: Shape, limit: Limit) -> Result<Series, Error> {
        let mut series = Series { shape, links: Vec::new(), deleted: 0 };
        series.grow(shape.params()?, limit)?;
        Ok(series)
    }

    /// The filters of the next link.
    fn next_shards(&self) -> u64 {
        match self.links.last() {
            None => 1,
            Some(last) => (last.shards.len() as u64).saturating_mul(self.shape.expansion),
        }
    }

    /// Whether the next link would be for copies of one item alone: see [`MOST_FOR_COPIES`].
    fn is_full_of_copies(&self) -> bool {
        let nearly_empty = self.links.last().is_some_and(|link| {
            let slots = link.shards.len() as u64 * link.shards[0].params().slots();
            link.items() < slots / NEARLY_EMPTY
        });
        let shards: u64 = self.links.iter().map(|link| link.shards.len() as u64).sum();
        nearly_empty && shards.saturating_add(self.next_shards()) > MOST_FOR_COPIES
    }

    fn grow(&mut self, params: CuckooParams, limit: Limit) -> Result<(), Error> {
        let shards = self.next_shards();
        if shards > MOST_SHARDS {
            return Err(Error::OutOfMemory);
        }
        let more = params.bytes().saturating_mul(shards as usize);
        limit.allows(self.bytes().saturating_add(more), more)?;
        self.links.try_reserve_exact(1).map_err(|_| Error::OutOfMemory)?;
        self.links.push(Link::new(params, shards as usize)?);
        // The server gives more than was asked for.
        let allowed = limit.allows(self.memory(), 0);
        if allowed.is_err() {
            self.links.pop();
        }
        allowed
    }

    /// The parameters of all filters.
    pub(crate) fn params(&self) -> CuckooParams {
        self.links[0].shards[0].params()
    }

    /// Adds an item, once more if it is there. At an error nothing has changed.
    ///
    /// Where an item goes follows from the lines and the shape alone. So a replica, which gets the
    /// items that were added and not the refused ones, has the same lines.
    pub(crate) fn insert(&mut self, hash: u64, limit: Limit) -> Result<(), Stop> {
        // Older links have room where items were removed, and where few have come.
        let capacity = self.shape.capacity;
        if self.links.iter_mut().any(|link| link.place(hash, capacity)) {
            return Ok(());
        }
        let end = self.end();
        // What is refused here goes nowhere else, so this may depend on what was refused before.
        let hurries = end.is_some() && !limit.is_none();
        if self.relocate(hash, hurries) {
            return Ok(());
        }
        if let Some(stop) = end {
            return Err(stop);
        }
        self.grow(self.params(), limit).map_err(|_| Stop::Growth)?;
        let newest = self.links.last_mut().expect("at least one link");
        if newest.place(hash, u64::MAX) { Ok(()) } else { Err(Stop::Full) }
    }

    /// Why it may not grow.
    fn end(&self) -> Option<Stop> {
        if self.shape.expansion == 0 {
            Some(Stop::Full)
        } else if self.links.len() as u64 >= self.shape.max_links {
            Some(Stop::Links)
        } else {
            self.is_full_of_copies().then_some(Stop::Full)
        }
    }

    /// Makes room by relocating others in one link: the emptiest of those that can take the item.
    fn relocate(&mut self, hash: u64, hurries: bool) -> bool {
        let mut emptiest: Option<&mut Link> = None;
        for link in self.links.iter_mut().rev() {
            let fewer = |best: &&mut Link| link.keys_near(hash) < best.keys_near(hash);
            if emptiest.as_ref().is_none_or(fewer) && !link.is_full_of(hash) {
                emptiest = Some(link);
            }
        }
        let Some(link) = emptiest else { return false };
        // A large filter that relocates few is full long before it has its capacity.
        let capacity = self.shape.capacity.saturating_mul(link.shards.len() as u64);
        let iterations = self.shape.max_iterations.min(MAX_KICKS.into()) as u32;
        let kicks = if link.items() < capacity { MAX_KICKS } else { iterations };
        link.insert(hash, if hurries { kicks.min(link.most_kicks(hash)) } else { kicks })
    }

    /// Removes an item once. Returns false if it is absent.
    pub(crate) fn remove(&mut self, hash: u64) -> bool {
        // The largest link first: see above.
        let removed = self.links.iter_mut().rev().any(|link| link.remove(hash));
        self.deleted = self.deleted.saturating_add(removed.into());
        removed
    }

    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.links.iter().any(|link| link.shard(hash).contains_hash(hash))
    }

    /// Answers up to [`BLOCK`](crate::items::BLOCK) hashes, a bit for each.
    pub(crate) fn probe(&self, hashes: &[u64], words: &mut [u64; WORDS]) {
        let words = &mut words[..hashes.len().div_ceil(64)];
        words.fill(0);
        for link in &self.links {
            link.probe(hashes, words);
        }
    }

    /// How often an item is there; other items can make it too high.
    pub(crate) fn count(&self, hash: u64) -> u64 {
        self.links.iter().map(|link| link.count(hash)).sum()
    }

    /// Drops the newest links as long as they are empty, except the first. Returns whether that
    /// changed anything.
    pub(crate) fn compact(&mut self) -> bool {
        let before = (self.links.len(), self.deleted);
        while self.links.len() > 1 && self.links.last().is_some_and(|link| link.items() == 0) {
            self.links.pop();
        }
        self.deleted = 0;
        before != (self.links.len(), 0)
    }

    pub(crate) fn items(&self) -> u64 {
        self.links.iter().map(Link::items).sum()
    }

    fn filters(&self) -> usize {
        self.links.iter().map(|link| link.shards.len()).sum()
    }

    /// The bytes of all lines, of which a filter has so many; all have the same.
    fn lines(&self, of_one: impl Fn(&[u8]) -> usize) -> usize {
        self.filters() * self.links.first().map_or(0, |link| of_one(link.shards[0].lines()))
    }

    /// The bytes of all lines.
    pub(crate) fn bytes(&self) -> usize {
        self.lines(<[u8]>::len)
    }

    /// What is beside the lines.
    fn beside(&self) -> usize {
        self.filters() * size_of::<CuckooFilter>() + self.links.len() * size_of::<Link>()
    }

    /// The bytes it asks for: the same on every server.
    pub(crate) fn size(&self) -> usize {
        self.bytes() + self.beside()
    }

    /// The bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        self.lines(memory_of) + self.beside()
    }

    pub(crate) fn try_clone(&self) -> Result<Series, Error> {
        let mut links = Vec::new();
        links.try_reserve_exact(self.links.len()).map_err(|_| Error::OutOfMemory)?;
        for link in &self.links {
            links.push(link.try_clone()?);
        }
        Ok(Series { shape: self.shape, links, deleted: self.deleted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloomline::hash::hash_u64;

    fn shape(capacity: u64, expansion: u64, rate: f64) -> Shape {
        let (bucket_size, max_iterations, max_links, seed) = (2, 20, 32, 3);
        Shape { capacity, bucket_size, max_iterations, expansion, max_links, rate, seed }
    }

    fn series(capacity: u64, expansion: u64, rate: f64) -> Series {
        Series::new(shape(capacity, expansion, rate), Limit::none()).unwrap()
    }

    #[test]
    fn items_are_found_counted_and_removed_over_all_links() {
        let mut series = series(500, 1, 4.0 / 255.0);
        let hashes: Vec<u64> = (0..3000).map(|i| hash_u64(i, 0)).collect();
        for &hash in &hashes {
            series.insert(hash, Limit::none()).unwrap();
        }
        assert!(series.links.len() > 3 && series.items() == 3000);
        assert!(hashes.iter().all(|&hash| series.contains(hash) && series.count(hash) >= 1));
        for &hash in &hashes[..2900] {
            assert!(series.remove(hash));
        }
        assert!(hashes[2900..].iter().all(|&hash| series.contains(hash)));
        assert_eq!((series.items(), series.deleted), (100, 2900));
        // Freed room is used again.
        let before = series.links.len();
        assert_eq!(series.links[1].shards.len(), 1);
        for &hash in &hashes[..1000] {
            series.insert(hash, Limit::none()).unwrap();
        }
        assert_eq!(series.links.len(), before);
    }

    #[test]
    fn an_item_counts_as_often_as_it_was_added() {
        let mut series = series(1000, 1, 0.01);
        for times in 1..=50 {
            series.insert(77, Limit::none()).unwrap();
            assert_eq!(series.count(77), times);
        }
        for times in (0..50).rev() {
            assert!(series.remove(77));
            assert_eq!(series.count(77), times);
        }
        assert!(!series.remove(77));
        assert!(series.compact());
        assert_eq!((series.links.len(), series.deleted), (1, 0));
        assert!(!series.compact());
    }

    #[test]
    fn growth_ends_where_it_must() {
        let mut fixed = series(100, 0, 0.01);
        let stop = (0..1000).find_map(|i| fixed.insert(hash_u64(i, 0), Limit::none()).err());
        assert_eq!(stop, Some(Stop::Full));
        let mut few = Series::new(Shape { max_links: 2, ..shape(100, 1, 0.01) }, Limit::none());
        let few = few.as_mut().unwrap();
        let stop = (0..1000).find_map(|i| few.insert(hash_u64(i, 0), Limit::none()).err());
        assert_eq!((stop, few.links.len()), (Some(Stop::Links), 2));
    }

    #[test]
    fn copies_of_one_item_do_not_fill_the_memory() {
        for (expansion, most) in [(1, 16), (2, 15), (4, 5), (32_768, 1)] {
            let mut series = series(1000, expansion, 0.01);
            let first = series.bytes();
            let added = (0..5000).take_while(|_| series.insert(77, Limit::none()).is_ok()).count();
            assert_eq!(added, 8 * series.links.len());
            assert_eq!(series.bytes(), most * first, "expansion {expansion}");
            assert_eq!(series.insert(77, Limit::none()), Err(Stop::Full));
            // All others are still added, except a few that have the same two buckets.
            let insert = |&i: &u64| series.insert(hash_u64(i, 0), Limit::none()).is_ok();
            let added = (0..20_000).filter(insert).count();
            assert!(added > 19_995, "expansion {expansion}: {added}");
        }
    }

    /// What inserts have relocated, in all links.
    fn kicks(series: &Series) -> u64 {
        let filters = series.links.iter().flat_map(|link| &link.shards);
        filters.map(CuckooFilter::kicks).sum()
    }

    /// As from a client: refused items are remembered.
    const CLIENT: Limit = Limit::bytes(1 << 30);

    #[test]
    fn a_refused_copy_relocates_nothing() {
        for expansion in [0, 1, 2] {
            let mut series = series(1000, expansion, 0.01);
            let added = (0..10_000).filter(|_| series.insert(77, CLIENT).is_ok()).count();
            assert_eq!((added, kicks(&series)), (8 * series.links.len(), 0));
        }
    }

    #[test]
    fn an_insert_relocates_no_more_than_the_iterations() {
        for max_iterations in [1, 20, 500, 65_535] {
            let most = max_iterations.min(MAX_KICKS.into());
            let shape = Shape { max_links: 3, max_iterations, ..shape(1000, 1, 0.01) };
            let mut series = Series::new(shape, Limit::none()).unwrap();
            let mut refused = 0;
            for i in 0..20_000 {
                let (before, has_it) = (kicks(&series), series.links[0].items() >= 1000);
                let reserved = series.links.iter().any(|link| link.items() < 1000);
                let stop = series.insert(hash_u64(i, 0), Limit::none()).err();
                let kicks = kicks(&series) - before;
                // Up to its capacity a link relocates as many as it takes.
                assert!(kicks <= if reserved { MAX_KICKS.into() } else { most }, "{i}: {kicks}");
                assert!(has_it || (stop.is_none() && series.links.len() == 1), "{i}: {stop:?}");
                refused += u64::from(stop == Some(Stop::Links));
            }
            assert!(refused > 16_000 && series.items() >= 3000, "{refused}");
        }
    }

    #[test]
    fn refused_items_cost_little() {
        // Many links, and the most iterations that there are.
        let shape = Shape { max_iterations: 65_535, ..shape(1000, 1, 0.01) };
        let mut series = Series::new(shape, CLIENT).unwrap();
        let insert = |series: &mut Series, i| series.insert(hash_u64(i, 0), CLIENT).is_ok();
        (0..).take_while(|i| insert(&mut series, 1 << 40 | i)).count();
        assert_eq!(series.links.len(), 32);
        let before = kicks(&series);
        let refused = (0..100_000).filter(|&i| !insert(&mut series, i)).count();
        // Each link has a budget, which counts those that were added.
        let allowed = 2 * 32 * u64::from(bloomline::definition::cuckoo::MAX_WASTE) + 100_000 * 8;
        let relocated = kicks(&series) - before;
        assert!(refused > 98_000 && relocated < allowed, "{refused} refused, {relocated}");
        let before = kicks(&series);
        assert!((0..100_000).filter(|&i| !insert(&mut series, i << 20)).count() > 99_900);
        assert!(kicks(&series) - before < 100_000 * 9);
    }

    #[test]
    fn a_link_takes_its_capacity_before_the_next() {
        for (capacity, iterations) in [(10, 1), (1000, 1), (30_000, 1), (30_000, 20)] {
            for seed in 0..5 {
                let shape = Shape { max_iterations: iterations, ..shape(capacity, 1, 0.01) };
                let mut series = Series::new(shape, CLIENT).unwrap();
                for i in 0..5 * capacity {
                    series.insert(hash_u64(i, seed), CLIENT).unwrap();
                    assert!(series.links.len() as u64 <= i / capacity + 1, "{i} of {capacity}");
                }
            }
        }
    }

    /// A replica gets what was added, and may have been loaded since: it takes all, to the same slots.
    #[test]
    fn a_replica_has_the_same_lines() {
        for (expansion, max_links) in [(0, 1), (1, 3), (2, 3), (1, 32)] {
            for max_iterations in [1, 20, 2000] {
                let shape = Shape { max_links, max_iterations, ..shape(100, expansion, 0.2) };
                let mut primary = Series::new(shape, CLIENT).unwrap();
                let mut replica = Series::new(shape, Limit::none()).unwrap();
                let mut present = Vec::new();
                for i in 0..20_000u64 {
                    let hash = hash_u64(i * i % 9_973, 0);
                    if primary.insert(hash, CLIENT).is_ok() {
                        replica.insert(hash, Limit::none()).unwrap();
                        present.push(hash);
                    } else if i % 5 == 0 {
                        let gone = present.swap_remove(i as usize * 31 % present.len());
                        assert!(primary.remove(gone) && replica.remove(gone));
                    }
                    if i % 1000 == 0 {
                        // Decoded filters remember nothing.
                        replica = decoded(&replica);
                    }
                }
                assert_eq!(primary.links.len(), replica.links.len());
                for (link, other) in primary.links.iter().zip(&replica.links) {
                    assert!(link.shards == other.shards, "{expansion} {max_iterations}");
                }
                assert!(present.iter().all(|&hash| replica.contains(hash)));
            }
        }
    }

    fn decoded(series: &Series) -> Series {
        let mut body = Vec::new();
        series.files().iter().for_each(|file| file.write_to(&mut body).unwrap());
        Series::from_image(&series.header(), &mut crate::arrived::Arrived::of(&body)).unwrap()
    }

    #[test]
    fn removing_loses_no_other_item_whatever_links_have_them() {
        // Fingerprints of 8 bits, so that items are mistaken for others all the time.
        for expansion in [1, 2, 3] {
            let mut series = series(200, expansion, 0.2);
            assert_eq!(series.params().fingerprint_bits(), 8);
            let mut present = std::collections::VecDeque::new();
            for i in 0..40_000u64 {
                let hash = hash_u64(i * i % 30_011, 0);
                series.insert(hash, Limit::none()).unwrap();
                present.push_back(hash);
                if present.len() > 3000 + (i as usize % 7) * 100 {
                    let gone = present.remove(i as usize * 31 % present.len()).unwrap();
                    assert!(series.remove(gone), "expansion {expansion}, step {i}");
                }
            }
            assert!(series.links.len() > 2);
            assert!(present.iter().all(|&hash| series.contains(hash)), "expansion {expansion}");
            assert!(present.iter().all(|&hash| series.remove(hash)), "expansion {expansion}");
            assert_eq!(series.items(), 0);
        }
    }

    #[test]
    fn a_few_links_keep_the_rate() {
        for rate in [0.0157, 0.12, 0.002] {
            let mut series = series(1000, 2, rate);
            for i in 0..14_000 {
                series.insert(hash_u64(i, 0), Limit::none()).unwrap();
            }
            let absent = 400_000;
            let wrong = (0..absent).filter(|i| series.contains(hash_u64(1 << 40 | i, 0))).count();
            assert!((wrong as f64) < rate * absent as f64, "{rate}: {wrong} of {absent}");
        }
    }
}

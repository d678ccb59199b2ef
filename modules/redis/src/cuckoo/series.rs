//! A series of cuckoo filters, its links. Items can be removed; the same item can be added several
//! times and counts as often.

use crate::image::{File, Header, Kind};
use crate::items::WORDS;
use crate::limit::Limit;
use bloomline::cuckoo::{Bucket, SLOTS, buckets, fingerprint, first, offset, other};
use bloomline::{CuckooFilter, CuckooParams, Error};

/// The shape of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// The items of the first link.
    pub(crate) capacity: u64,
    /// Kept for INFO: the rate follows from it unless one is chosen.
    pub(crate) bucket_size: u64,
    /// Kept for INFO.
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
    pub(crate) links: Vec<CuckooFilter>,
    /// Items removed, for INFO.
    pub(crate) deleted: u64,
}

/// Why an item was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// There is no room, and the filter does not grow.
    Full,
    /// It has grown as often as it may.
    Links,
    /// It cannot grow: no memory, or beyond the limit.
    Growth,
}

/// A link that has fewer items than this part of its slots may have room for one more.
const MAY_HAVE_ROOM: f64 = 0.94;

impl Series {
    pub(crate) fn new(shape: Shape, limit: Limit) -> Result<Series, Error> {
        let mut series = Series { shape, links: Vec::new(), deleted: 0 };
        series.grow(limit)?;
        Ok(series)
    }

    /// The parameters of the next link: the shortest fingerprints that leave at least half of the
    /// rate that is left to later ones, as long as there are such.
    fn next(&self) -> Result<CuckooParams, Error> {
        let mut capacity = self.shape.capacity;
        for _ in 0..self.links.len() {
            capacity = capacity.saturating_mul(self.shape.expansion);
        }
        let used: f64 = self.links.iter().map(|link| full_rate(link.params())).sum();
        let left = self.shape.rate - used;
        let share = if self.shape.expansion == 0 { left } else { left / 2.0 };
        for bits in [8, 12] {
            let params = CuckooParams::for_bits(capacity, bits)?;
            if full_rate(params) <= share {
                return Ok(params.with_seed(self.shape.seed));
            }
        }
        Ok(CuckooParams::for_bits(capacity, 16)?.with_seed(self.shape.seed))
    }

    fn grow(&mut self, limit: Limit) -> Result<(), Error> {
        let params = self.next()?;
        limit.allows(self.bytes().saturating_add(params.bytes()))?;
        self.links.try_reserve_exact(1).map_err(|_| Error::OutOfMemory)?;
        self.links.push(CuckooFilter::new(params)?);
        Ok(())
    }

    /// Adds an item, once more if it is there. At an error nothing has changed.
    pub(crate) fn insert(&mut self, hash: u64, limit: Limit) -> Result<(), Stop> {
        // The newest has room mostly; older ones where items were removed.
        for link in self.links.iter_mut().rev() {
            let full = MAY_HAVE_ROOM * link.params().slots() as f64;
            if (link.key_count() as f64) < full.max(1.0) && link.insert_hash(hash).is_ok() {
                return Ok(());
            }
        }
        let newest = self.links.last_mut().expect("at least one link");
        if newest.insert_hash(hash).is_ok() {
            return Ok(());
        }
        if self.shape.expansion == 0 {
            return Err(Stop::Full);
        }
        if self.links.len() as u64 >= self.shape.max_links {
            return Err(Stop::Links);
        }
        self.grow(limit).map_err(|_| Stop::Growth)?;
        let newest = self.links.last_mut().expect("at least one link");
        newest.insert_hash(hash).map(drop).map_err(|_| Stop::Full)
    }

    /// Removes an item once. Returns false if it is absent.
    pub(crate) fn remove(&mut self, hash: u64) -> bool {
        let removed = self.links.iter_mut().rev().any(|link| link.remove_hash(hash).is_ok());
        self.deleted = self.deleted.saturating_add(removed.into());
        removed
    }

    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.links.iter().rev().any(|link| link.contains_hash(hash))
    }

    /// Answers up to [`BLOCK`](crate::items::BLOCK) hashes, a bit for each.
    pub(crate) fn probe(&self, hashes: &[u64], words: &mut [u64; WORDS]) {
        let words = &mut words[..hashes.len().div_ceil(64)];
        words.fill(0);
        let mut more = [0; WORDS];
        for link in self.links.iter().rev() {
            let more = &mut more[..words.len()];
            link.contains_hashes(hashes, more);
            words.iter_mut().zip(more).for_each(|(word, more)| *word |= *more);
        }
    }

    /// How often an item is there; other items can make it too high.
    pub(crate) fn count(&self, hash: u64) -> u64 {
        self.links.iter().map(|link| count(link, hash)).sum()
    }

    /// Drops links that have become empty, except the first.
    pub(crate) fn compact(&mut self) {
        let mut i = 0;
        self.links.retain(|link| {
            i += 1;
            i == 1 || link.key_count() > 0
        });
        self.deleted = 0;
    }

    pub(crate) fn items(&self) -> u64 {
        self.links.iter().map(CuckooFilter::key_count).sum()
    }

    /// The bytes of all lines.
    pub(crate) fn bytes(&self) -> usize {
        self.links.iter().map(|link| link.lines().len()).sum()
    }

    pub(crate) fn memory(&self) -> usize {
        self.bytes() + self.links.capacity() * size_of::<CuckooFilter>()
    }

    pub(crate) fn try_clone(&self) -> Result<Series, Error> {
        let mut links = Vec::new();
        links.try_reserve_exact(self.links.len()).map_err(|_| Error::OutOfMemory)?;
        for link in &self.links {
            links.push(link.try_clone()?);
        }
        Ok(Series { shape: self.shape, links, deleted: self.deleted })
    }

    // ---- images ----

    /// One filter, which does not grow.
    pub(crate) fn of_file(filter: CuckooFilter) -> Series {
        let params = filter.params();
        let shape = Shape {
            capacity: params.slots(),
            bucket_size: SLOTS,
            max_iterations: u64::from(bloomline::cuckoo::MAX_KICKS),
            expansion: 0,
            max_links: 1,
            rate: full_rate(params),
            seed: params.seed(),
        };
        Series { shape, links: vec![filter], deleted: 0 }
    }

    /// Its numbers: the shape, items removed, and for each link its bytes.
    pub(crate) fn header(&self) -> Header {
        let Shape { capacity, bucket_size, max_iterations, expansion, max_links, rate, seed } =
            self.shape;
        let mut numbers = vec![capacity, bucket_size, max_iterations, expansion, max_links];
        numbers.extend([rate.to_bits(), seed, self.deleted]);
        numbers.extend(self.links.iter().map(|link| link.encoded_len() as u64));
        Header::new(Kind::Cuckoo, numbers, &self.files())
    }

    pub(crate) fn files(&self) -> Vec<File<'_>> {
        self.links.iter().map(File::Cuckoo).collect()
    }

    pub(crate) fn from_image(header: &Header, body: &[u8]) -> Result<Series, Error> {
        let Some((&numbers, sizes)) = header.numbers.split_first_chunk() else {
            return Err(Error::NotAFilter);
        };
        let [capacity, bucket_size, max_iterations, expansion, max_links, rate, seed, deleted] =
            numbers;
        let rate = f64::from_bits(rate);
        if !(rate > 0.0 && rate < 1.0) || capacity == 0 || sizes.is_empty() {
            return Err(Error::NotAFilter);
        }
        let shape =
            Shape { capacity, bucket_size, max_iterations, expansion, max_links, rate, seed };
        let (mut links, mut left) = (Vec::new(), body);
        for &len in sizes {
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            let (file, rest) = left.split_at_checked(len).ok_or(Error::NotAFilter)?;
            let link = CuckooFilter::decode(file)?;
            if link.params().seed() != seed {
                return Err(Error::Mismatch);
            }
            links.push(link);
            left = rest;
        }
        if left.is_empty() { Ok(Series { shape, links, deleted }) } else { Err(Error::NotAFilter) }
    }
}

/// The rate of a link when it is full.
fn full_rate(params: CuckooParams) -> f64 {
    params.rate((0.95 * params.slots() as f64) as u64)
}

/// How many slots of an item's two buckets have its fingerprint.
fn count(link: &CuckooFilter, hash: u64) -> u64 {
    let (bits, lines) = (link.params().fingerprint_bits(), link.params().line_count());
    let wanted = fingerprint(hash, bits);
    let one = first(hash, bits, lines);
    let two = other(one, wanted, bits, lines);
    let of = |at: Bucket| {
        debug_assert!(at.bucket < buckets(bits));
        let mut word = [0; 8];
        let len = bits as usize / 2;
        word[..len].copy_from_slice(&link.lines()[offset(at, bits)..][..len]);
        let word = u64::from_le_bytes(word);
        let slot = |i: u64| word >> (i * u64::from(bits)) & ((1 << bits) - 1);
        (0..SLOTS).filter(|&i| slot(i) == wanted).count() as u64
    };
    if one == two { of(one) } else { of(one) + of(two) }
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
        series.compact();
        assert_eq!((series.links.len(), series.deleted), (1, 0));
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
    fn all_links_keep_the_rate() {
        for rate in [0.0157, 0.03, 0.002] {
            let mut series = series(1000, 2, rate);
            for i in 0..50_000 {
                series.insert(hash_u64(i, 0), Limit::none()).unwrap();
            }
            let absent = 400_000;
            let wrong = (0..absent).filter(|i| series.contains(hash_u64(1 << 40 | i, 0))).count();
            assert!((wrong as f64) < rate * absent as f64, "{rate}: {wrong} of {absent}");
        }
    }

    #[test]
    fn an_image_is_the_same_series() {
        let mut series = series(100, 2, 0.01);
        for i in 0..500 {
            series.insert(hash_u64(i, 0), Limit::none()).unwrap();
        }
        series.remove(hash_u64(1, 0));
        let mut body = Vec::new();
        for file in series.files() {
            file.write_to(&mut body).unwrap();
        }
        let header = series.header();
        let again = Series::from_image(&header, &body).unwrap();
        assert_eq!(again.header(), header);
        assert!(series.links == again.links);
        body[5] ^= 1;
        assert!(Series::from_image(&header, &body).is_err());
    }
}

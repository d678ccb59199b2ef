//! A link of a series: cuckoo filters of one shape, each with the items of a shard.

use bloomline::definition::cuckoo::{Bucket, SLOTS, fingerprint, first, offset, other};
use bloomline::{CuckooFilter, CuckooParams, Error, shard_of};

/// The filters; at least one.
pub(crate) struct Link {
    pub(crate) shards: Vec<CuckooFilter>,
    /// Of all filters.
    items: u64,
}

impl Link {
    pub(super) fn new(params: CuckooParams, shards: usize) -> Result<Link, Error> {
        let mut filters = Vec::new();
        filters.try_reserve_exact(shards).map_err(|_| Error::OutOfMemory)?;
        for _ in 0..shards {
            filters.push(CuckooFilter::new(params)?);
        }
        Ok(Link::of(filters))
    }

    pub(super) fn of(shards: Vec<CuckooFilter>) -> Link {
        let items = shards.iter().map(CuckooFilter::key_count).sum();
        Link { shards, items }
    }

    pub(super) fn try_clone(&self) -> Result<Link, Error> {
        let mut shards = Vec::new();
        shards.try_reserve_exact(self.shards.len()).map_err(|_| Error::OutOfMemory)?;
        for shard in &self.shards {
            shards.push(shard.try_clone()?);
        }
        Ok(Link { shards, items: self.items })
    }

    fn shard_of(&self, hash: u64) -> usize {
        shard_of(hash, self.shards.len() as u64) as usize
    }

    /// The filter of a hash.
    pub(super) fn shard(&self, hash: u64) -> &CuckooFilter {
        &self.shards[self.shard_of(hash)]
    }

    fn shard_mut(&mut self, hash: u64) -> &mut CuckooFilter {
        let shard = self.shard_of(hash);
        &mut self.shards[shard]
    }

    /// The items in the filter of a hash.
    pub(super) fn keys_near(&self, hash: u64) -> u64 {
        self.shard(hash).key_count()
    }

    /// How many fingerprints an insert into that filter may relocate: fewer after failed searches.
    pub(super) fn most_kicks(&self, hash: u64) -> u32 {
        self.shard(hash).most_kicks()
    }

    /// How often an item is there.
    pub(super) fn count(&self, hash: u64) -> u64 {
        slots(self.shard(hash), hash).0
    }

    /// Whether all slots that an item can have are copies of it: nothing makes room for one more.
    pub(super) fn is_full_of(&self, hash: u64) -> bool {
        let (copies, slots) = slots(self.shard(hash), hash);
        copies == slots
    }

    /// Takes a free slot of the item's two buckets. Returns false if there is none, or the filter
    /// has `full` items.
    pub(super) fn place(&mut self, hash: u64, full: u64) -> bool {
        self.shard(hash).key_count() < full && self.insert(hash, 0)
    }

    /// Relocates up to `kicks` fingerprints to make room. Returns false if there is none.
    pub(super) fn insert(&mut self, hash: u64, kicks: u32) -> bool {
        let inserted = self.shard_mut(hash).insert_hash_within(hash, kicks).is_ok();
        self.items += u64::from(inserted);
        inserted
    }

    /// Returns false if the item is absent.
    pub(super) fn remove(&mut self, hash: u64) -> bool {
        let removed = self.shard_mut(hash).remove_hash(hash).is_ok();
        self.items -= u64::from(removed);
        removed
    }

    /// Adds the answers to so many hashes.
    pub(super) fn probe(&self, hashes: &[u64], words: &mut [u64]) {
        if let [only] = self.shards.as_slice() {
            let mut more = [0; crate::items::WORDS];
            let more = &mut more[..words.len()];
            only.contains_hashes(hashes, more);
            words.iter_mut().zip(more).for_each(|(word, more)| *word |= *more);
            return;
        }
        for &hash in hashes {
            self.shard(hash).prefetch_hash(hash);
        }
        for (i, &hash) in hashes.iter().enumerate() {
            words[i / 64] |= u64::from(self.shard(hash).contains_hash(hash)) << (i % 64);
        }
    }

    pub(crate) fn items(&self) -> u64 {
        self.items
    }
}

/// The rate of a filter when it is full.
pub(super) fn full_rate(params: CuckooParams) -> f64 {
    params.rate((0.95 * params.slots() as f64) as u64)
}

/// The slots of an item's two buckets that have its fingerprint, and all of them: the two can be
/// the same one.
fn slots(filter: &CuckooFilter, hash: u64) -> (u64, u64) {
    let (bits, lines) = (filter.params().fingerprint_bits(), filter.params().line_count());
    let wanted = fingerprint(hash, bits);
    let one = first(hash, bits, lines);
    let two = other(one, wanted, bits, lines);
    let of = |at: Bucket| {
        let (mut word, len) = ([0; 8], bits as usize / 2);
        word[..len].copy_from_slice(&filter.lines()[offset(at, bits)..][..len]);
        let word = u64::from_le_bytes(word);
        let slot = |i: u64| word >> (i * u64::from(bits)) & ((1 << bits) - 1);
        (0..SLOTS).filter(|&i| slot(i) == wanted).count() as u64
    };
    if one == two { (of(one), SLOTS) } else { (of(one) + of(two), 2 * SLOTS) }
}

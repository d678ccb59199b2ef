//! A link of a series: cuckoo filters of one shape, each with the items of a shard.

use bloomline::cuckoo::{Bucket, SLOTS, fingerprint, first, offset, other};
use bloomline::{CuckooFilter, CuckooParams, Error, shard_of};

/// The filters; at least one.
pub(crate) struct Link {
    pub(crate) shards: Vec<CuckooFilter>,
}

/// A filter that has fewer items than this part of its slots has room for one more at little cost.
const MAY_HAVE_ROOM: f64 = 0.94;

impl Link {
    pub(super) fn new(params: CuckooParams, shards: usize) -> Result<Link, Error> {
        let mut filters = Vec::new();
        filters.try_reserve_exact(shards).map_err(|_| Error::OutOfMemory)?;
        for _ in 0..shards {
            filters.push(CuckooFilter::new(params)?);
        }
        Ok(Link { shards: filters })
    }

    pub(super) fn try_clone(&self) -> Result<Link, Error> {
        let mut shards = Vec::new();
        shards.try_reserve_exact(self.shards.len()).map_err(|_| Error::OutOfMemory)?;
        for shard in &self.shards {
            shards.push(shard.try_clone()?);
        }
        Ok(Link { shards })
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

    /// Whether there is likely to be room. No item is moved to find out.
    pub(super) fn has_room(&self, hash: u64) -> bool {
        let shard = self.shard(hash);
        (shard.key_count() as f64) < MAY_HAVE_ROOM * shard.params().slots() as f64
    }

    /// Returns false if there is no room.
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        self.shard_mut(hash).insert_hash(hash).is_ok()
    }

    /// Returns false if the item is absent.
    pub(super) fn remove(&mut self, hash: u64) -> bool {
        self.shard_mut(hash).remove_hash(hash).is_ok()
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
        self.shards.iter().map(CuckooFilter::key_count).sum()
    }
}

/// The rate of a filter when it is full.
pub(super) fn full_rate(params: CuckooParams) -> f64 {
    params.rate((0.95 * params.slots() as f64) as u64)
}

/// How many slots of an item's two buckets have its fingerprint.
pub(super) fn count(filter: &CuckooFilter, hash: u64) -> u64 {
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
    if one == two { of(one) } else { of(one) + of(two) }
}

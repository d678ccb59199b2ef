//! Builds cascades: layer after layer, until one passes no key of the other set.

use super::{Cascade, Layer};
use crate::error::Error;
use crate::filter::static_filter::StaticFilter;
use crate::hash;
use crate::kernel::{Backend, Kernels};
use crate::key::Key;
use crate::layouts::cascade::{LATER_ROWS, MAX_LAYERS, layer_hash};
use crate::os::numbers::HashList;
use crate::shape::StaticParams;
use crate::shape::sizing::cascade::first_rows;
use std::cmp::Ordering;
use std::fmt;

/// Hashes that are probed at a time.
const LAYER_BATCH: usize = 4096;

impl Cascade {
    /// Builds the smallest cascade of these sets of hashes, in any order, on up to `threads` threads;
    /// 0: as many as there are CPUs. The hashes must be uniform over all 64 bits; `seed` is that of
    /// the hash of byte keys.
    ///
    /// Meanwhile it takes 8 bytes for each included hash, 8 for each excluded one that the first layer
    /// passes, twice the cascade, and some 2 MB for each thread.
    ///
    /// # Errors
    /// [`Error::Overlap`] if a hash is in both sets; [`Error::LineCount`] if memory cannot address the size;
    /// [`Error::OutOfMemory`]; [`Error::Backend`]; [`Error::Layers`] if 32 layers do not tell the sets apart,
    /// which happens only with hashes chosen for it.
    pub fn build(
        included: &[u64],
        excluded: &[u64],
        seed: u64,
        threads: usize,
    ) -> Result<Cascade, Error> {
        let rows = first_rows(included.len() as u64, excluded.len() as u64);
        Cascade::with_rows(included, excluded, (rows, seed), threads, Kernels::active()?)
    }

    /// As [`Cascade::build`], with a rate at which keys of neither set may be taken for included ones,
    /// from 2^-16 on. Any rate but that of [`Cascade::build`] takes more memory.
    ///
    /// # Errors
    /// [`Error::Rate`] if the rate is not between 0 and 1; [`Error::RateTooSmall`] below 2^-16; as
    /// [`Cascade::build`].
    pub fn build_for_rate(
        included: &[u64],
        excluded: &[u64],
        rate: f64,
        seed: u64,
        threads: usize,
    ) -> Result<Cascade, Error> {
        let rows = StaticParams::for_rate(1, rate)?.rows();
        Cascade::with_rows(included, excluded, (rows, seed), threads, Kernels::active()?)
    }

    /// As [`Cascade::build`] on one thread, by a given backend, which then probes.
    ///
    /// # Errors
    /// As [`Cascade::build`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn build_with_backend(
        included: &[u64],
        excluded: &[u64],
        seed: u64,
        backend: Backend,
    ) -> Result<Cascade, Error> {
        let kernels = backend.kernels().ok_or(Error::Backend)?;
        let rows = first_rows(included.len() as u64, excluded.len() as u64);
        Cascade::with_rows(included, excluded, (rows, seed), 1, kernels)
    }

    /// Builds the smallest cascade of these keys, with seed 0. For another seed, a rate, or threads,
    /// see [`CascadeBuilder::with_keys`].
    ///
    /// # Errors
    /// As [`Cascade::build`].
    pub fn from_keys<I: Key, E: Key>(
        included: impl IntoIterator<Item = I>,
        excluded: impl IntoIterator<Item = E>,
    ) -> Result<Cascade, Error> {
        CascadeBuilder::new(0).with_keys(included, excluded)?.build(1)
    }

    fn with_rows(
        included: &[u64],
        excluded: &[u64],
        shape: (u32, u64),
        threads: usize,
        kernels: Kernels,
    ) -> Result<Cascade, Error> {
        Cascade::with_layers(MAX_LAYERS, included, excluded, shape, threads, kernels)
    }

    /// Of so many layers at most.
    fn with_layers(
        max_layers: usize,
        included: &[u64],
        excluded: &[u64],
        (rows, seed): (u32, u64),
        threads: usize,
        kernels: Kernels,
    ) -> Result<Cascade, Error> {
        let mut cascade = Cascade::with_room()?;
        let params = StaticParams::for_rows(included.len() as u64, rows)?.with_seed(seed);
        let first = StaticFilter::with_kernels(params, included, threads, kernels)?;
        // The keys of the next layer, and those of the other set, which all layers so far pass. The
        // included ones are not copied until they are fewer.
        let mut own = passing(&first, 0, excluded)?;
        let mut others = HashList::new();
        cascade.layers.push(Layer::new(first, excluded.len() as u64));
        while !own.is_empty() {
            let number = cascade.layers.len();
            if number == max_layers {
                return Err(Error::Layers);
            }
            let tested = if number == 1 { included } else { &others };
            let params = StaticParams::for_rows(own.len() as u64, LATER_ROWS)?.with_seed(seed);
            let layer = {
                let hashes = in_layer(&own, number)?;
                StaticFilter::with_kernels(params, &hashes, threads, kernels)?
            };
            let passed = passing(&layer, number, tested)?;
            cascade.layers.push(Layer::new(layer, tested.len() as u64));
            // A hash in both sets passes all layers, so it is found where both are few first.
            if number == 1
                && let Some(hash) = common(&own, &passed)
            {
                return Err(Error::Overlap(hash));
            }
            (own, others) = (passed, own);
        }
        Ok(cascade)
    }
}

/// The hashes of keys in a layer.
fn in_layer(hashes: &[u64], number: usize) -> Result<HashList, Error> {
    let mut mapped = HashList::with_capacity(hashes.len())?;
    mapped.append(hashes)?;
    mapped.iter_mut().for_each(|hash| *hash = layer_hash(*hash, number));
    Ok(mapped)
}

/// The hashes that a layer passes, sorted, each once.
fn passing(layer: &StaticFilter, number: usize, hashes: &[u64]) -> Result<HashList, Error> {
    let mut passing = HashList::new();
    let (mut mapped, mut answers) = ([0; LAYER_BATCH], [0; LAYER_BATCH / 64]);
    for hashes in hashes.chunks(LAYER_BATCH) {
        let mapped = &mut mapped[..hashes.len()];
        for (mapped, &hash) in mapped.iter_mut().zip(hashes) {
            *mapped = layer_hash(hash, number);
        }
        let count = layer.contains_hashes(mapped, &mut answers);
        passing.reserve(count)?;
        for (i, &hash) in hashes.iter().enumerate() {
            if answers[i / 64] >> (i % 64) & 1 == 1 {
                passing.push(hash)?;
            }
        }
    }
    passing.sort_and_dedup();
    Ok(passing)
}

/// The first hash that is in both of these, which are sorted.
fn common(mut a: &[u64], mut b: &[u64]) -> Option<u64> {
    while let ([first, a_rest @ ..], [second, b_rest @ ..]) = (a, b) {
        match first.cmp(second) {
            Ordering::Less => a = a_rest,
            Ordering::Greater => b = b_rest,
            Ordering::Equal => return Some(*first),
        }
    }
    None
}

/// Collects the keys of both sets, and builds a [`Cascade`] of them. It keeps 8 bytes per key.
///
/// ```
/// use bloomline::{CascadeBuilder, Error};
///
/// let mut builder = CascadeBuilder::new(0);
/// builder.include("blocked")?;
/// builder.exclude("allowed")?;
/// let cascade = builder.build(1)?;
/// assert!(cascade.contains("blocked") && !cascade.contains("allowed"));
/// builder.include("allowed")?;
/// assert!(matches!(builder.build(1), Err(Error::Overlap(_))));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct CascadeBuilder {
    rate: Option<f64>,
    seed: u64,
    included: HashList,
    excluded: HashList,
}

impl CascadeBuilder {
    /// Creates a builder of the smallest cascades, whose byte keys are hashed with `seed`.
    pub fn new(seed: u64) -> CascadeBuilder {
        CascadeBuilder { rate: None, seed, included: HashList::new(), excluded: HashList::new() }
    }

    /// Creates a builder of cascades with a rate at which keys of neither set may be taken for
    /// included ones: see [`Cascade::build_for_rate`].
    ///
    /// # Errors
    /// [`Error::Rate`] if the rate is not between 0 and 1; [`Error::RateTooSmall`] below 2^-16.
    pub fn for_rate(rate: f64, seed: u64) -> Result<CascadeBuilder, Error> {
        StaticParams::for_rate(1, rate)?;
        Ok(CascadeBuilder { rate: Some(rate), ..CascadeBuilder::new(seed) })
    }

    /// Adds a key to the included ones.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and the key is not added.
    pub fn include<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.include_hash(hash::hash(key, self.seed))
    }

    /// Adds a key to the excluded ones.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and the key is not added.
    pub fn exclude<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.exclude_hash(hash::hash(key, self.seed))
    }

    /// As [`CascadeBuilder::include`], for the hash of a key.
    ///
    /// # Errors
    /// As [`CascadeBuilder::include`].
    pub fn include_hash(&mut self, hash: u64) -> Result<(), Error> {
        self.include_hashes(&[hash])
    }

    /// As [`CascadeBuilder::exclude`], for the hash of a key.
    ///
    /// # Errors
    /// As [`CascadeBuilder::exclude`].
    pub fn exclude_hash(&mut self, hash: u64) -> Result<(), Error> {
        self.exclude_hashes(&[hash])
    }

    /// As [`CascadeBuilder::include`], for the hashes of many keys.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and none is added.
    pub fn include_hashes(&mut self, hashes: &[u64]) -> Result<(), Error> {
        self.included.append(hashes)
    }

    /// As [`CascadeBuilder::exclude`], for the hashes of many keys.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and none is added.
    pub fn exclude_hashes(&mut self, hashes: &[u64]) -> Result<(), Error> {
        self.excluded.append(hashes)
    }

    /// Returns the builder with these keys added.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn with_keys<I: Key, E: Key>(
        mut self,
        included: impl IntoIterator<Item = I>,
        excluded: impl IntoIterator<Item = E>,
    ) -> Result<CascadeBuilder, Error> {
        included.into_iter().try_for_each(|key| self.include(&key))?;
        excluded.into_iter().try_for_each(|key| self.exclude(&key))?;
        Ok(self)
    }

    /// Returns the numbers of included and of excluded keys added, repeated ones counted.
    pub fn key_counts(&self) -> (u64, u64) {
        (self.included.len() as u64, self.excluded.len() as u64)
    }

    /// Drops all keys, and keeps their memory.
    pub fn clear(&mut self) {
        self.included.clear();
        self.excluded.clear();
    }

    /// Builds the cascade of all keys added, as [`Cascade::build`] does. The builder keeps them.
    ///
    /// # Errors
    /// As [`Cascade::build`].
    pub fn build(&self, threads: usize) -> Result<Cascade, Error> {
        let CascadeBuilder { rate, seed, included, excluded } = self;
        match rate {
            Some(rate) => Cascade::build_for_rate(included, excluded, *rate, *seed, threads),
            None => Cascade::build(included, excluded, *seed, threads),
        }
    }
}

impl fmt::Debug for CascadeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CascadeBuilder")
            .field("included", &self.included.len())
            .field("excluded", &self.excluded.len())
            .field("rate", &self.rate)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::C1;

    /// Chance never needs 32 layers. These sets need several, so a smaller limit is passed.
    #[test]
    fn sets_that_the_layers_do_not_tell_apart_are_an_error() {
        let hashes: Vec<u64> = (1..=60_000_u64).map(|i| i.wrapping_mul(C1)).collect();
        let (included, excluded) = hashes.split_at(10_000);
        let build = |max_layers| {
            let kernels = Kernels::active().unwrap();
            Cascade::with_layers(max_layers, included, excluded, (4, 0), 1, kernels)
        };
        let layers = build(MAX_LAYERS).unwrap().layers().len();
        assert!(layers > 2);
        for max_layers in 1..layers {
            assert_eq!(build(max_layers).unwrap_err(), Error::Layers);
        }
        assert!(build(layers).is_ok());
    }
}

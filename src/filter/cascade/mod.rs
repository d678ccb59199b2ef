//! The cascade: exact answers for two sets of keys, by static filters of each other's false positives.

mod build;
mod probe;
mod view;

pub use build::CascadeBuilder;
pub use view::CascadeView;

use super::keys::one_by_one;
use super::probe::{Probe, hashing, probing};
use super::static_filter::StaticFilter;
use crate::bitmap::Answers;
use crate::error::Error;
use crate::format::cascade as format;
use crate::format::encoded::{Body, Encoded, whole_values, write_parts};
use crate::format::native::{FOOTER_BYTES, Footer, FooterBytes};
use crate::hash::KeyHash;
use crate::kernel::singly;
use crate::key::Key;
use crate::layouts::cascade::MAX_LAYERS;
use crate::line::LINE_BYTES;
use std::fmt;
use std::io::{self, Write};

/// A cascade: tells for every key of two sets, the included and the excluded one, which of the two it is in.
/// It is never wrong for these keys, and takes a fraction of the memory of either set. Both sets are given at
/// once and no longer change.
///
/// ```
/// use bloomline::Cascade;
///
/// let revoked = ["serial 7", "serial 9"];
/// let valid = ["serial 1", "serial 2", "serial 3"];
/// let cascade = Cascade::from_keys(revoked, valid)?;
/// assert!(revoked.iter().all(|key| cascade.contains(key)));
/// assert!(!valid.iter().any(|key| cascade.contains(key)));
/// # Ok::<(), bloomline::Error>(())
/// ```
///
/// [`contains`](Cascade::contains) returns true for each included key and false for each excluded
/// one. For a key of neither set it returns true at [`Cascade::unknown_rate`].
///
/// It is a series of [`StaticFilter`]s, its **layers**. The first holds the included keys, the
/// second the excluded keys that the first passes. The third holds the included keys that the
/// second passes, and so on. A probe of an excluded key reads the first layer and seldom more; of
/// an included key, the first two and seldom more. `src/layouts/cascade.rs` is its definition.
///
/// The sets of hashes determine the bytes, whatever their order. Repeated hashes change no answer;
/// they can make the first layer larger.
#[derive(PartialEq)]
pub struct Cascade {
    /// 1 to [`MAX_LAYERS`], all of one seed.
    layers: Vec<Layer>,
}

#[derive(PartialEq)]
struct Layer {
    filter: StaticFilter,
    /// The same as the filter's, which does not compare it.
    key_count: u64,
    /// How many keys of the other set were tested against it.
    tested: u64,
}

impl Layer {
    fn new(filter: StaticFilter, tested: u64) -> Layer {
        Layer { key_count: filter.key_count(), filter, tested }
    }
}

impl Cascade {
    fn with_room() -> Result<Cascade, Error> {
        let mut layers = Vec::new();
        layers.try_reserve_exact(MAX_LAYERS).map_err(|_| Error::OutOfMemory)?;
        Ok(Cascade { layers })
    }

    fn first(&self) -> &Layer {
        &self.layers[0]
    }

    /// Returns the layers, the first first: static filters, each with its own size and key count. A
    /// layer has hashes of its own: see `layer_hash` in `src/layouts/cascade.rs`.
    pub fn layers(&self) -> impl DoubleEndedIterator<Item = &StaticFilter> + ExactSizeIterator {
        self.layers.iter().map(|layer| &layer.filter)
    }

    /// Returns the number of included hashes it was built from, repeated ones counted.
    pub fn included_count(&self) -> u64 {
        self.first().key_count
    }

    /// Returns the number of excluded hashes it was built from, repeated ones counted.
    pub fn excluded_count(&self) -> u64 {
        self.first().tested
    }

    /// Returns the seed of the hash of byte keys.
    pub fn seed(&self) -> u64 {
        self.first().filter.params().seed()
    }

    /// Returns how often a key of neither set is taken for an included one, to expect: somewhat less
    /// than the rate of the first layer.
    pub fn unknown_rate(&self) -> f64 {
        probe::unknown_rate(self.layers().map(|layer| layer.params().rate()))
    }

    /// Returns the number of lines of all layers, of 64 bytes each.
    pub fn line_count(&self) -> u64 {
        self.layers().map(|layer| (layer.lines().len() / LINE_BYTES) as u64).sum()
    }

    pub(super) fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.seed())
    }
}

whole_values!(Cascade);

impl Encoded for Cascade {
    fn footer(&self) -> Footer {
        format::footer(self.layers.iter().map(Layer::described), self.seed())
    }

    fn body_len(&self) -> usize {
        self.layers().map(|layer| layer.lines().len() + FOOTER_BYTES).sum()
    }

    fn write_body(&self, from: usize, out: &mut dyn Write) -> io::Result<()> {
        let mut skip = write_parts(self.layers().map(|layer| layer.lines()), from, out)?;
        for layer in &self.layers {
            skip = write_parts([layer.described().record().as_slice()], skip, out)?;
        }
        Ok(())
    }

    fn read(footer: &FooterBytes, body: &mut Body<'_>) -> Result<Cascade, Error> {
        let outline = format::check(footer, body.len())?;
        let mut records = [[0; FOOTER_BYTES]; MAX_LAYERS];
        let records = &mut records[..outline.layers];
        body.peek_last(records.as_flattened_mut())?;
        let mut cascade = Cascade::with_room()?;
        // All records, before a layer takes memory; damaged bytes are an error before they are.
        let layers = match outline.layers(records) {
            Ok(layers) => layers,
            Err(error) => {
                body.verify()?;
                return Err(error);
            }
        };
        for format::Layer { shape, key_count, tested } in layers {
            let filter = StaticFilter::read_lines(shape, key_count, body)?;
            cascade.layers.push(Layer::new(filter, tested));
        }
        Ok(cascade)
    }

    fn memory(&self) -> usize {
        self.layers().map(Encoded::memory).sum()
    }

    fn copy(&self) -> Result<Cascade, Error> {
        let mut copy = Cascade::with_room()?;
        for Layer { filter, tested, .. } in &self.layers {
            copy.layers.push(Layer::new(filter.copy()?, *tested));
        }
        Ok(copy)
    }
}

impl Layer {
    fn described(&self) -> format::Layer {
        let Layer { filter, key_count, tested } = self;
        format::Layer { shape: filter.shape(), key_count: *key_count, tested: *tested }
    }
}

impl fmt::Debug for Cascade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cascade")
            .field("included", &self.included_count())
            .field("excluded", &self.excluded_count())
            .field("layers", &self.layers.len())
            .field("lines", &self.line_count())
            .finish_non_exhaustive()
    }
}

probing!(Cascade);

impl Probe for Cascade {
    #[inline(always)]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.key_hash().of(key)
    }

    hashing!();

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        let passes = |i: usize, hash| self.layers[i].filter.contains_hash(hash);
        probe::contains(0, self.layers.len(), passes, hash)
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.first().filter.prefetch_hash(hash);
    }

    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let words = answers.words(hashes.len());
        if (1..=singly::CASCADE).contains(&hashes.len()) {
            return one_by_one(hashes, words, |hash| self.contains_hash(hash));
        }
        probe::contains_batch(self.layers.len(), |i| self.layers[i].filter.view(), hashes, words)
    }
}

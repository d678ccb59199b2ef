//! What a filter made of filters is asked by `composite`, whatever its kind.

use super::backend::Backend;
use crate::hash::KeyHash;

/// Such a filter by its address.
pub(super) type Whole = fn(*const u8) -> *const dyn Composite;

/// What a filter made of filters answers.
pub(crate) trait Composite: Send + Sync {
    /// Whether a key may be present.
    fn contains(&self, hash: u64) -> bool;
    /// The same for many keys: a bit each, in a word for each 64. Returns how many may be.
    fn contains_all(&self, hashes: &[u64], words: &mut [u64]) -> usize;
    /// Prefetches what a probe for a key reads first.
    fn prefetch(&self, hash: u64);

    /// The backend that probes.
    fn backend(&self) -> Backend;
    /// How keys are hashed.
    fn key_hash(&self) -> KeyHash;
    /// How many filters it is made of.
    fn parts(&self) -> usize;
    /// How many lines these have.
    fn line_count(&self) -> u64;
    /// How many keys were counted.
    fn key_count(&self) -> u64;

    /// How many different keys are present, as the bits tell.
    fn estimated_keys(&self) -> f64;
    /// The part of all bits that is set.
    fn fill(&self) -> f64;
    /// The false-positive rate now.
    fn estimated_rate(&self) -> f64;
    /// That of the fullest line.
    fn worst_line_rate(&self) -> f64;
}

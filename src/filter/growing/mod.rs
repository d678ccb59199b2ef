//! The growing filter: a sorted multiset of hash prefixes, from which keys can be removed, and which
//! grows and shrinks with them.

mod append;
mod at_once;
mod blocks;
mod build;
mod bytes;
mod chain;
mod change;
#[cfg(test)]
mod flooded_tests;
mod freeze;
mod journal;
mod journal_file;
mod meet;
#[cfg(test)]
mod moving_tests;
mod of_blocks;
mod ordered;
mod parallel;
mod patch;
mod probe;
mod regions;
mod runs;
mod sets;
mod shared;
mod state;
mod sweep;
mod unsaved;
mod view;
mod writer;

pub use freeze::Prefixes;
pub use journal::Replayed;
pub use journal_file::Journal;
pub use shared::GrowingReader;
pub use view::GrowingView;
pub use writer::GrowingWriter;

use super::insert::{extending, try_inserting};
use super::view::brief;
use crate::error::Error;
use crate::hash::KeyHash;
use crate::kernel::growing::Calls;
use crate::kernel::growing::place::{Common, Layout, Places};
use crate::kernel::growing::single::Single;
use crate::kernel::{Backend, Kernels};
use crate::key::Key;
use crate::layouts::growing::{Found, REGIONS};
use crate::os::spare::Spare;
use crate::shape::growing::{self as shape, WHOLE};
use ordered::Ordered;
use state::{Alone, Region, Sweep, Terms};
use std::fmt;
use unsaved::Changes;

/// A filter that grows and shrinks with its keys, in the memory of a plain filter. Keys can be removed and
/// counted, and filters can be merged.
///
/// For each key it keeps a prefix of its hash, and nothing else: a key may be present if its prefix is
/// there. Prefixes lie in order in 64-byte lines, with the bits in common left out. A probe reads one
/// line, and for one key in 15 or so a second.
///
/// ```
/// use bloomline::GrowingFilter;
///
/// let mut filter = GrowingFilter::new(1_000_000, 0.01, 0)?; // at most 1,000,000 keys at 1 %
/// filter.insert("apple")?;
/// assert!(filter.contains("apple"));
/// filter.remove("apple")?;
/// assert!(!filter.contains("apple"));
/// # Ok::<(), bloomline::Error>(())
/// ```
///
/// # How many keys
///
/// [`GrowingFilter::new`] is told the most keys that may come. With fewer, its false-positive rate is lower
/// in proportion, and each key takes a bit more for each halving; with more, the rate is higher in
/// proportion. No insert is refused. With all its keys it takes 10 bits per key at 1 %, and with fewer keys
/// fewer bytes.
///
/// [`GrowingFilter::unbounded`] is told the first number of keys only. Its rate stays below the one
/// asked for, up to 10^16 keys times the rate (10^14 at 1 %): each time they have doubled, new keys get a
/// prefix longer by a bit. The first 20 doublings have a 24th of the rate each, and each further one four fifths
/// of the one before, so that all together have the rate asked for at most. Up to a million times the first keys it
/// takes 15 to 16.5 bits per key at 1 % on average, and never more than 18 from 65,536 keys on, or 22.5 from
/// 4,000 keys on. From a million times on it takes a third of a bit more each time that prefixes get longer.
///
/// # What it guarantees
///
/// * A key inserted n times is present until it has been removed n times, as long as you remove only keys
///   you inserted. Removing another key that may be present takes the prefix of an inserted one, which may
///   then be a false negative. Removing a definitely absent key fails and changes nothing.
/// * What a bounded filter answers depends on its keys and its size in prefixes only, not on the order of
///   inserts and removals, nor on what it has been through.
/// * An insert takes a few lines' work. Once, when the filter outgrows 256 lines, it is built anew: at 1 % with
///   6,000 to 13,000 keys. So it is when it has shrunk to a third of that. If there is no memory to grow, inserts
///   succeed as long as the present lines have room. A failed insert leaves the filter unchanged.
///
/// # Its bytes
///
/// Encoded, saved or copied, its lines are those of a filter built of all its prefixes at once, so what it
/// has been through does not show. Equal filters have equal bytes if all their regions have prefixes of one
/// length, as those of a bounded filter do. [`GrowingView`] probes the bytes where they are.
///
/// If the filter has changed since it was built, read or copied, encoding it, saving it and
/// [`encoded_len`](GrowingFilter::encoded_len) first build such a copy: that takes a few nanoseconds per key,
/// and the memory of the copy. To write it in ranges, or to ask for its length and then encode it, take a
/// [copy](GrowingFilter::try_clone) first, whose own bytes need no other copy.
///
/// # Keys chosen by an attacker
///
/// An attacker who knows the seed can choose keys that all belong into one line. They fill a few lines after
/// it, then go into a sorted list, which every probe for an absent key searches: 20 comparisons for a million
/// keys there. Answers stay right, and what a call does is bounded. An insert changes 512 lines at most, 32 KiB,
/// and puts 378 keys into the list at most. The list has a block for each 32 to 64 keys. A new block moves 24
/// bytes for each block behind it: 750 KB if a million keys are there. Copies of one key do no such harm: from
/// the ninth on they are only counted. If keys come from outside, take a [random](crate::hash::random_seed) seed.
pub struct GrowingFilter {
    places: Places,
    regions: Vec<Region>,
    common: Common,
    /// The region that is moved.
    sweep: Option<Sweep>,
    /// Keys of full length in its new lines.
    fresh_newest: u64,
    /// Where chunks of lines come from, and go back to.
    spare: Spare,
    /// Further copies of prefixes that lines have, or the stash.
    copies: Ordered,
    /// Prefixes for which no line has room.
    stash: Ordered,
    key_count: u64,
    /// Whether its lines are as encoded: nothing changed since they were built.
    is_settled: bool,
    /// If it is one region of a filter, which threads insert into.
    alone: Option<Alone>,
    /// What changed since it was last saved, if it is to be known.
    changes: Changes,
    /// What it was made with.
    terms: Terms,
    calls: &'static Calls,
    single: Single,
    backend: Backend,
}

impl GrowingFilter {
    /// Creates an empty filter that is to have the false-positive rate `rate` with `most_keys` keys;
    /// `seed` is that of the hash of byte keys.
    ///
    /// # Errors
    /// [`Error::Rate`]; [`Error::RateTooSmall`] if `most_keys / rate` is above 2^59;
    /// [`Error::OutOfMemory`]; [`Error::Backend`].
    pub fn new(most_keys: u64, rate: f64, seed: u64) -> Result<GrowingFilter, Error> {
        let prefixes = shape::prefixes(most_keys, rate)?;
        let common = Common { prefixes, longer: None, first_keys: most_keys };
        GrowingFilter::with_common(common, Terms { keys: most_keys, rate, seed })
    }

    /// Creates an empty filter for an unknown number of keys. `rate` is its false-positive rate at most,
    /// up to 10^16 keys times the rate; `first_keys` the number of keys from which on it takes the memory that
    /// [`GrowingFilter`] states.
    ///
    /// # Errors
    /// As [`GrowingFilter::new`].
    pub fn unbounded(first_keys: u64, rate: f64, seed: u64) -> Result<GrowingFilter, Error> {
        if !(rate > 0.0 && rate < 1.0) {
            return Err(Error::rate(rate));
        }
        let prefixes = shape::prefixes(first_keys.max(1), rate / WHOLE);
        let prefixes = prefixes.map_err(|_| Error::RateTooSmall(rate))?;
        let longer = Some(shape::longer(prefixes));
        let common = Common { prefixes, longer, first_keys: first_keys.max(1) };
        GrowingFilter::with_common(common, Terms { keys: first_keys, rate, seed })
    }

    /// Creates an empty filter with the parameters of this one (number of keys, rate, seed, bounded or not),
    /// which a given backend probes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn with_backend(&self, backend: Backend) -> Result<GrowingFilter, Error> {
        let calls = backend.kernels().ok_or(Error::Backend)?.of_growing();
        GrowingFilter::with_calls(self.common, self.terms, calls, backend)
    }

    fn with_common(common: Common, terms: Terms) -> Result<GrowingFilter, Error> {
        let calls = Kernels::active()?.of_growing();
        GrowingFilter::with_calls(common, terms, calls, Backend::active()?)
    }

    fn with_calls(
        common: Common,
        terms: Terms,
        calls: &'static Calls,
        backend: Backend,
    ) -> Result<GrowingFilter, Error> {
        let mut filter = GrowingFilter::without_regions(common, terms, calls, backend);
        filter.places.layouts.try_reserve_exact(1).map_err(|_| Error::OutOfMemory)?;
        filter.regions.try_reserve_exact(1).map_err(|_| Error::OutOfMemory)?;
        filter.places.layouts.push(Layout::new(common, calls, (0, 1), 0, 1)?);
        filter.regions.push(Region::default());
        Ok(filter)
    }

    /// Nothing but what it is made with.
    fn without_regions(
        common: Common,
        terms: Terms,
        calls: &'static Calls,
        backend: Backend,
    ) -> GrowingFilter {
        GrowingFilter {
            places: Places::default(),
            regions: Vec::new(),
            common,
            sweep: None,
            fresh_newest: 0,
            spare: Spare::new(),
            copies: Ordered::default(),
            stash: Ordered::default(),
            key_count: 0,
            is_settled: false,
            alone: None,
            changes: Changes::default(),
            terms,
            calls,
            single: Single::of(backend, common.mixed()),
            backend,
        }
    }

    /// Creates a bounded filter of these keys, for as many as the iterator promises, with seed 0. For
    /// another seed see [`with_keys`](GrowingFilter::with_keys).
    ///
    /// # Errors
    /// As [`GrowingFilter::new`] and [`GrowingFilter::insert_iter`].
    pub fn from_keys<K: Key>(
        keys: impl IntoIterator<Item = K>,
        rate: f64,
    ) -> Result<GrowingFilter, Error> {
        let keys = keys.into_iter();
        GrowingFilter::new(keys.size_hint().0 as u64, rate, 0)?.with_keys(keys)
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        // One layout without lines takes no more memory than there is.
        if let Ok(empty) =
            GrowingFilter::with_calls(self.common, self.terms, self.calls, self.backend)
        {
            self.become_other(empty);
            return;
        }
        let first_length = self.places.layouts.iter().all(|layout| layout.length == 0);
        let all = self.regions.len();
        self.places.layouts.truncate(all);
        debug_assert!(first_length || self.common.mixed());
        self.places.layouts.iter_mut().for_each(|layout| layout.lines = Default::default());
        (self.sweep, self.places.moved, self.fresh_newest) = (None, 0, 0);
        self.regions.fill(Region::default());
        (self.copies, self.stash, self.key_count) = (Ordered::default(), Ordered::default(), 0);
        // Its regions may be more than those of an empty filter.
        self.is_settled = false;
        self.changes = self.changes.forgotten();
    }

    /// Becomes another filter, in a way that no record of changes says: the next one is whole.
    fn become_other(&mut self, other: GrowingFilter) {
        let changes = self.changes.forgotten();
        *self = other;
        self.changes = changes;
    }

    pub(super) fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.terms.seed)
    }

    /// How many regions all prefixes are in.
    fn parts(&self) -> u64 {
        if self.alone.is_some() { REGIONS } else { self.places.mask as u64 + 1 }
    }

    // ---- what it is ----

    /// Returns the number of keys: those inserted, repeated ones each time, less those removed.
    pub fn key_count(&self) -> u64 {
        self.key_count
    }

    /// The most keys that a bounded filter was made for; the first keys of an unbounded one.
    pub fn expected_keys(&self) -> u64 {
        self.terms.keys
    }

    /// Whether it was made for an unknown number of keys.
    pub fn is_unbounded(&self) -> bool {
        self.common.mixed()
    }

    /// The false-positive rate that it was made for.
    pub fn target_rate(&self) -> f64 {
        self.terms.rate
    }

    /// The seed of the hash of byte keys.
    pub fn seed(&self) -> u64 {
        self.terms.seed
    }

    /// Returns the backend that it was made with.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// How many different prefixes there can be; in an unbounded filter, of the first length.
    pub fn prefix_count(&self) -> u64 {
        self.common.prefixes
    }

    /// The number of regions that grow by themselves: 1 while it is small, else 16.
    pub fn regions(&self) -> usize {
        self.regions.len()
    }

    /// The fill of its lines, 0 to 1: the number of keys, divided by the most that the present lines can
    /// hold.
    pub fn fill(&self) -> f64 {
        let keys: u64 = self.regions.iter().map(|region| region.keys).sum();
        let most: u64 = self.places.layouts.iter().map(|layout| layout.capacity()).sum();
        if most == 0 { 0.0 } else { (keys as f64 / most as f64).min(1.0) }
    }

    /// The number of lines.
    pub fn line_count(&self) -> u64 {
        self.places.layouts.iter().map(|layout| layout.lines.there() as u64).sum()
    }

    /// How many lines a probe for a hash reads. For tests.
    #[doc(hidden)]
    pub fn lines_read(&self, hash: u64) -> usize {
        let (layout, home, mut value) = self.places.locate(hash);
        let mut read = 1;
        while let Some(line) = layout.lines.get(home + read - 1)
            && layout.look(line, value) == Found::Onward
        {
            (read, value) = (read + 1, value - layout.values());
        }
        read
    }

    /// Copies beside the lines, and prefixes that found no room there. For tests.
    #[doc(hidden)]
    pub fn beside(&self) -> (u64, u64) {
        (self.copies.total(), self.stash.total())
    }
}

/// Equal filters were made alike, and have the same prefixes equally often.
impl PartialEq for GrowingFilter {
    fn eq(&self, other: &GrowingFilter) -> bool {
        self.terms == other.terms && self.common == other.common && self.runs().eq(other.runs())
    }
}

impl fmt::Debug for GrowingFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        brief(f, "GrowingFilter", &self.view())
    }
}

try_inserting!(
    GrowingFilter,
    false,
    [],
    "Inserts a key. Returns true if the key was new: no prefix of it was there. Returns false if it may
have been present; it is then present once more.

# Errors
[`Error::OutOfMemory`]; the filter is unchanged.",
    "[`Error::OutOfMemory`] at the first key for which there is no room. Those before it are inserted:
[`key_count`](GrowingFilter::key_count) has grown by their number."
);
extending!(
    GrowingFilter,
    [mut],
    "
# Panics
If there is no memory."
);

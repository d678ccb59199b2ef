//! A growing filter that one thread changes while others probe it, without locks.

use super::GrowingFilter;
use super::journal_file::Journal;
use super::patch::{self, Patched};
use super::shared::{GrowingReader, Shared, State};
use crate::error::Error;
use crate::filter::ConcurrentFilter;
use crate::filter::in_turn::{inserting_in_turn, removing};
use crate::filter::insert::{extending, try_inserting};
use crate::hash::{KeyHash, hash_u64};
use crate::kernel::growing::SPARE;
use crate::kernel::growing::sequence::Version;
use crate::key::Key;
use crate::shape::Params;
use arc_swap::ArcSwap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The rate of what stands for the prefixes beside the lines.
const BESIDE_RATE: f64 = 0.001;

/// The only handle that changes a growing filter, while [readers](GrowingReader) probe it in other threads.
/// Neither waits for the other.
///
/// A probe that begins after an insert has returned, in the sense of the language, finds the key: after a
/// message, a lock or a join, as with [`ConcurrentFilter`](crate::ConcurrentFilter). A probe under way during
/// a change answers as before it or as after it. If the writer changes the same sixteenth of the filter 256
/// times during one probe, the probe answers "maybe".
///
/// ```
/// use bloomline::{GrowingFilter, GrowingWriter};
///
/// let mut writer = GrowingWriter::new(GrowingFilter::new(1_000_000, 0.01, 0)?)?;
/// let reader = writer.reader();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// std::thread::scope(|scope| {
///     scope.spawn(move || {
///         for key in receiver {
///             assert!(reader.contains(&key)); // inserted before it was sent
///         }
///     });
///     for key in 0..1000_u64 {
///         writer.insert(&key)?;
///         sender.send(key).unwrap();
///     }
///     drop(sender);
///     Ok::<(), bloomline::Error>(())
/// })?;
/// # Ok::<(), bloomline::Error>(())
/// ```
///
/// # What it costs
///
/// While a region moves, its old lines stay: up to a sixteenth more memory than a filter without readers
/// takes, or twice as much in a filter of up to 256 lines, which is one region. They are freed when the
/// region has moved, or, if a reader is in a call just then, when that call ends. A call that takes long
/// keeps at most the lines that there were when it began.
///
/// If an attacker chooses keys, some prefixes have no room in lines. Readers see these through a Bloom filter:
/// then one of 1000 keys that are absent may be present for them.
///
/// If there is no memory to show readers a change, they answer "maybe" for every key until there is. A table
/// of where lines are, a few kilobytes at most, is in an `Arc`: without memory for it the process ends. It is
/// made with the writer, and whenever a region begins or ends to move.
pub struct GrowingWriter {
    filter: GrowingFilter,
    shared: Arc<Shared>,
    /// What readers see.
    state: Arc<State>,
    /// Prefixes that were added to those beside the lines.
    added: usize,
    /// Whether there was no memory to show the last change.
    is_behind: bool,
}

impl GrowingWriter {
    /// Takes a filter, to share it with readers. [`into_filter`](GrowingWriter::into_filter) returns it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; then the filter is lost, so copy it first if nothing else has its keys.
    pub fn new(filter: GrowingFilter) -> Result<GrowingWriter, Error> {
        let (common, calls) = (filter.common, filter.calls);
        let none = State {
            layouts: Vec::new(),
            mask: 0,
            from: 0,
            moved: AtomicU64::new(0),
            beside: None,
            common,
            calls,
        };
        let state = Arc::new(none);
        let shared = Arc::new(Shared {
            state: ArcSwap::new(Arc::clone(&state)),
            version: Version::default(),
            sequences: Arc::default(),
            hash: filter.key_hash(),
        });
        let mut writer = GrowingWriter { filter, shared, state, added: 0, is_behind: true };
        writer.publish()?;
        Ok(writer)
    }

    /// Returns a reader, for another thread. Its clones probe the same filter.
    pub fn reader(&self) -> GrowingReader {
        GrowingReader { shared: Arc::clone(&self.shared) }
    }

    /// Returns the filter, as one without readers. It takes the memory of a copy. Readers that are left see what it
    /// has now. What changed since it was saved is still known, so a journal goes on with it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and the writer as it was.
    #[allow(clippy::result_large_err, reason = "without memory there is none for a box")]
    pub fn into_filter(mut self) -> Result<GrowingFilter, (GrowingWriter, Error)> {
        match self.filter.try_clone() {
            Ok(mut filter) => {
                filter.changes = std::mem::take(&mut self.filter.changes);
                Ok(filter)
            }
            Err(error) => Err((self, error)),
        }
    }

    /// The filter, to count, list, encode, save or copy it.
    pub fn filter(&self) -> &GrowingFilter {
        &self.filter
    }

    /// As [`GrowingWriter::insert`], for the hash of a key.
    ///
    /// # Errors
    /// As [`GrowingFilter::insert`].
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
        let result = self.filter.insert_hash(hash);
        self.show(hash);
        result
    }

    /// As [`GrowingWriter::insert_keys`], for the hashes of keys.
    ///
    /// # Errors
    /// As [`GrowingWriter::insert_keys`].
    pub fn insert_hashes(&mut self, hashes: &[u64]) -> Result<(), Error> {
        for (i, &hash) in hashes.iter().enumerate() {
            self.prefetch_ahead(hashes, i);
            self.insert_hash(hash)?;
        }
        Ok(())
    }

    #[inline]
    fn prefetch_ahead(&self, hashes: &[u64], i: usize) {
        self.filter.prefetch_ahead(hashes, i);
    }

    #[inline]
    fn key_hash(&self) -> KeyHash {
        self.filter.key_hash()
    }

    #[inline]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.filter.hash(key)
    }

    /// As [`GrowingWriter::remove`], for the hash of a key.
    ///
    /// # Errors
    /// As [`GrowingFilter::remove`].
    pub fn remove_hash(&mut self, hash: u64) -> Result<(), Error> {
        let result = self.filter.remove_hash(hash);
        self.show(hash);
        result
    }

    /// Adds the keys of another filter, as [`GrowingFilter::union`]. Readers see the filter before or after.
    ///
    /// # Errors
    /// As [`GrowingFilter::union`].
    pub fn union(&mut self, other: &GrowingFilter) -> Result<(), Error> {
        self.filter.union(other)?;
        self.show_all();
        Ok(())
    }

    /// Keeps the keys that may be in another filter, too, as [`GrowingFilter::intersect`]. Readers see the filter
    /// before or after.
    ///
    /// # Errors
    /// As [`GrowingFilter::intersect`].
    pub fn intersect(&mut self, other: &GrowingFilter) -> Result<(), Error> {
        self.filter.intersect(other)?;
        self.show_all();
        Ok(())
    }

    /// Removes the keys of another filter, as [`GrowingFilter::difference`]. Readers see the filter before or after.
    ///
    /// # Errors
    /// As [`GrowingFilter::difference`].
    pub fn difference(&mut self, other: &GrowingFilter) -> Result<(), Error> {
        self.filter.difference(other)?;
        self.show_all();
        Ok(())
    }

    /// Appends what changed to a journal, as [`Journal::save_changed`]. For the journal itself see
    /// [`Journal::create`], before the filter is shared.
    ///
    /// # Errors
    /// As [`Journal::save_changed`].
    pub fn save_changed(&mut self, journal: &mut Journal, sequence: u64) -> Result<(), Error> {
        journal.save_changed(&mut self.filter, sequence)
    }

    /// Brings the filter and its journal up to date by a patch, as [`Journal::apply_patch`]. Readers see it as by
    /// [`apply_patch`](GrowingWriter::apply_patch).
    ///
    /// # Errors
    /// As [`Journal::apply_patch`].
    pub fn save_patch(&mut self, journal: &mut Journal, patch: &[u8]) -> Result<u64, Error> {
        journal.patch(self, patch)
    }

    /// Makes a journal short again, as [`Journal::restart`].
    ///
    /// # Errors
    /// As [`Journal::restart`].
    pub fn restart(&mut self, journal: &mut Journal, sequence: u64) -> Result<(), Error> {
        journal.restart(&mut self.filter, sequence)
    }

    /// Applies the records of a journal that the filter lacks, as [`GrowingFilter::apply_patch`]. Readers see each
    /// change when it is made, those that insert first; of a record of a whole filter they see that before or after.
    ///
    /// # Errors
    /// As [`GrowingFilter::apply_patch`].
    pub fn apply_patch(&mut self, patch: &[u8]) -> Result<u64, Error> {
        patch::apply(self, patch)
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.filter.clear();
        self.show_all();
    }

    /// Shows readers what a change for a hash has changed: the region of the hash, and the one that moves.
    #[inline]
    fn show(&mut self, hash: u64) {
        let places = &mut self.filter.places;
        let (count, moved) = (places.layouts.len(), places.moved);
        let same = count == self.state.layouts.len()
            && places.layouts[0].lines.is_shared()
            && places.layouts[count - 1].lines.is_shared();
        let beside = !self.filter.stash.is_empty() || self.state.beside.is_some();
        if !same || beside || self.is_behind {
            return self.show_all();
        }
        let sequences = &*self.shared.sequences;
        let region = (hash >> 60) as usize & places.mask;
        let number = |region| if places.mask == 0 { None } else { Some(region) };
        let mut changed = places.layouts[region].lines.flush();
        if let Some(sweep) = &self.filter.sweep {
            changed |= places.layouts[sweep.region].lines.flush();
            changed |= places.layouts[count - 1].lines.flush();
            if moved != self.state.moved.load(Ordering::Relaxed) {
                sequences.begin(number(sweep.region));
                self.state.moved.store(moved, Ordering::Relaxed);
                changed = true;
            }
            if changed {
                sequences.end(number(sweep.region));
            }
        }
        if changed {
            sequences.end(number(region));
        }
    }

    /// Shows readers everything. What there is no memory for waits, and they are not sure of anything.
    #[cold]
    #[inline(never)]
    fn show_all(&mut self) {
        let added = self.filter.stash.take_added();
        let is_new = self.is_new() || self.is_behind;
        let few = |beside: &ConcurrentFilter| {
            self.added + added.as_ref().map_or(0, Vec::len) <= room(beside)
        };
        match (&self.state.beside, &added, self.filter.stash.is_empty()) {
            // All that is beside the lines is seen, with these.
            (Some(beside), Some(added), false) if !is_new && few(beside) => {
                self.shared.sequences.begin(None);
                self.filter.places.layouts.iter_mut().for_each(|layout| _ = layout.lines.flush());
                self.state.moved.store(self.filter.places.moved, Ordering::Relaxed);
                added.iter().for_each(|&normal| _ = beside.insert_hash(hash_u64(normal, 0)));
                self.added += added.len();
                self.shared.sequences.end(None);
            }
            _ => self.is_behind = self.publish().is_err(),
        }
    }

    /// Whether readers do not see the lines that there are.
    fn is_new(&self) -> bool {
        let layouts = &self.filter.places.layouts;
        layouts.len() != self.state.layouts.len()
            || !layouts.iter().all(|layout| layout.lines.is_shared())
    }

    /// Shows readers everything anew.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; readers are not sure of anything.
    fn publish(&mut self) -> Result<(), Error> {
        let shared = &*self.shared;
        let filter = &mut self.filter;
        shared.sequences.begin(None);
        let mut layouts = Vec::new();
        layouts.try_reserve_exact(filter.places.layouts.len()).map_err(|_| Error::OutOfMemory)?;
        let (mask, moving) = (filter.places.mask, filter.sweep.as_ref().map(|sweep| sweep.region));
        for (i, layout) in filter.places.layouts.iter_mut().enumerate() {
            let region = if i > mask { moving } else { Some(i) };
            let region = if mask == 0 { None } else { region };
            layout.lines.share(&shared.sequences, region, layout.homes + SPARE)?;
            layout.lines.flush();
            let bare = layout.bare();
            layouts.extend(layout.lines.chunks().map(|chunks| (bare, Arc::clone(chunks))));
        }
        let mut beside = None;
        self.added = 0;
        if !filter.stash.is_empty() {
            let all = || filter.stash.iter().map(|(normal, _)| normal);
            let count = all().count();
            let some =
                ConcurrentFilter::new(Params::for_rate(2 * count as u64 + 1000, BESIDE_RATE)?)?;
            all().for_each(|normal| _ = some.insert_hash(hash_u64(normal, 0)));
            self.added = count;
            beside = Some(some);
        }
        filter.stash.note_added();
        let (common, calls) = (filter.common, filter.calls);
        let (from, moved) = (filter.places.from, AtomicU64::new(filter.places.moved));
        self.state = Arc::new(State { layouts, mask, from, moved, beside, common, calls });
        shared.state.store(Arc::clone(&self.state));
        // Who sees this number sees the state or a later one.
        shared.version.raise();
        shared.sequences.end(None);
        Ok(())
    }
}

inserting_in_turn!(GrowingWriter);
removing!(GrowingWriter);
try_inserting!(
    GrowingWriter,
    false,
    [],
    "Inserts a key, as [`GrowingFilter::insert`]. Readers see it when the call returns.

# Errors
As [`GrowingFilter::insert`].",
    "[`Error::OutOfMemory`] at the first key for which there is no room. Those before it are inserted. Readers
see each key when it is inserted."
);
extending!(
    GrowingWriter,
    [mut],
    "
# Panics
If there is no memory."
);

impl Patched for GrowingWriter {
    fn filter(&mut self) -> &mut GrowingFilter {
        &mut self.filter
    }

    fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
        self.insert_hash(hash)
    }

    fn remove_hash(&mut self, hash: u64) -> Result<(), Error> {
        self.remove_hash(hash)
    }

    fn replace(&mut self, whole: GrowingFilter) {
        self.filter = whole;
        self.show_all();
    }
}

/// The keys for which such a filter has room.
fn room(beside: &ConcurrentFilter) -> usize {
    // 15.6 bits per key have the rate.
    beside.params().bytes() / 2
}

impl fmt::Debug for GrowingWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GrowingWriter").field(&self.filter).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::growing::patch::apply;
    use crate::hash::hash_u64;

    /// A writer, of which a reader is asked after each change.
    struct Watched {
        writer: GrowingWriter,
        reader: GrowingReader,
        absent: Vec<u64>,
        changes: usize,
    }

    impl Watched {
        fn look(&mut self) {
            self.changes += 1;
            assert!(self.absent.iter().all(|&hash| !self.reader.contains_hash(hash)));
        }
    }

    impl Patched for Watched {
        fn filter(&mut self) -> &mut GrowingFilter {
            Patched::filter(&mut self.writer)
        }

        fn insert_hash(&mut self, hash: u64) -> Result<bool, Error> {
            let result = Patched::insert_hash(&mut self.writer, hash);
            assert!(self.reader.contains_hash(hash));
            self.look();
            result
        }

        fn remove_hash(&mut self, hash: u64) -> Result<(), Error> {
            let result = Patched::remove_hash(&mut self.writer, hash);
            self.look();
            result
        }

        fn replace(&mut self, whole: GrowingFilter) {
            Patched::replace(&mut self.writer, whole);
            self.look();
        }
    }

    /// Not only at the end: in between it would be sure of no key of a region of which many lines have changed.
    #[test]
    fn readers_see_each_change() {
        let mut filter = GrowingFilter::new(30_000, 0.01, 0).unwrap();
        (0..15_000).for_each(|key| _ = filter.insert_hash(hash_u64(key, 1)).unwrap());
        let mut journal = Vec::new();
        filter.save_whole(&mut journal, 1).unwrap();
        let writer =
            GrowingWriter::new(GrowingFilter::replay(&journal[..]).unwrap().filter).unwrap();
        (15_000..19_000).for_each(|key| _ = filter.insert_hash(hash_u64(key, 1)).unwrap());
        (0..1_000).for_each(|key| filter.remove_hash(hash_u64(key, 1)).unwrap());
        filter.save_changed(&mut journal, 2).unwrap();
        let is_absent =
            |hash: &u64| !filter.contains_hash(*hash) && !writer.filter().contains_hash(*hash);
        let absent = (0..100).map(|key| hash_u64(key, 2)).filter(is_absent).collect();
        let mut watched = Watched { reader: writer.reader(), writer, absent, changes: 0 };
        let patch = GrowingFilter::patch_since(&journal, 1).unwrap();
        assert_eq!(apply(&mut watched, patch), Ok(2));
        // Less those of equal prefixes.
        let changes = watched.changes;
        assert!((4_900..=5_000).contains(&changes), "{changes}");
        assert!(*watched.writer.filter() == filter);
        // A whole filter.
        filter.clear();
        filter.save_whole(&mut journal, 3).unwrap();
        let patch = GrowingFilter::patch_since(&journal, 2).unwrap();
        assert_eq!((apply(&mut watched, patch), watched.changes), (Ok(3), changes + 1));
        assert!(!watched.reader.contains_hash(hash_u64(18_000, 1)));
    }
}

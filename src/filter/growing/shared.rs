//! A growing filter as other threads than its writer's see it, and probe it.

use crate::bitmap::Answers;
use crate::filter::ConcurrentFilter;
use crate::filter::keys::one_by_one;
use crate::filter::probe::{Probe, probing};
use crate::hash::{KeyHash, hash_u64};
use crate::kernel::growing::place::{Common, Layout};
use crate::kernel::growing::sequence::Version;
use crate::kernel::growing::shared::{Chunks, Sequences};
use crate::kernel::growing::{Calls, Found, Line};
use crate::kernel::{INTO_L1, INTO_L2, Prefetch};
use crate::key::Key;
use arc_swap::ArcSwap;
use std::fmt;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// So often a reader tries again while the writer changes the region of its key.
const TRIES: usize = 256;
/// Up to so many keys in a call are probed one by one: a tile is cleared first.
const SINGLY: usize = 2;
/// The same of a filter that fits in the cache. In memory a tile overlaps misses for which single probes wait.
const SINGLY_NEAR: usize = 12;
/// Keys whose lines are read together.
const TILE: usize = 64;
/// Tiles from the one at work to the one whose lines are prefetched, with that.
const RING: usize = 3;

/// What readers see besides the words of lines. It is replaced when a region begins to move or ends.
pub(super) struct State {
    /// As in [`Places`](crate::kernel::growing::place::Places), each with its lines.
    pub(super) layouts: Vec<(Layout, Arc<Chunks>)>,
    pub(super) mask: usize,
    pub(super) from: u64,
    pub(super) moved: AtomicU64,
    /// The prefixes beside the lines, if there are any, and a few more.
    pub(super) beside: Option<ConcurrentFilter>,
    pub(super) common: Common,
    pub(super) calls: &'static Calls,
}

impl State {
    /// The number of the layout that has a hash, so many of the region that moves being moved.
    #[inline(always)]
    fn of(&self, hash: u64, moved: u64) -> usize {
        let new = hash.wrapping_sub(self.from) < moved;
        if new { self.mask + 1 } else { (hash >> 60) as usize & self.mask }
    }

    /// Whether these keys are probed one by one.
    #[inline]
    fn is_singly(&self, hashes: &[u64]) -> bool {
        let is_near = |hash| {
            let region = self.layouts.get(self.of(hash, self.moved()));
            region.is_some_and(|(layout, _)| layout.plan(self.mask + 1) == Prefetch::None)
        };
        match hashes.len() {
            0 => false,
            1..=SINGLY => true,
            count => count <= SINGLY_NEAR && is_near(hashes[0]),
        }
    }

    #[inline(always)]
    fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    /// Whether the lines have a key, or what is beside them. Right if nothing changes meanwhile, else any
    /// answer.
    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        let (layout, chunks) = &self.layouts[self.of(hash, self.moved())];
        let (mut at, mut value) = layout.place(hash);
        let mut line = [0; 8];
        while chunks.read(at, &mut line) {
            match layout.look(&line, value) {
                Found::Present => return true,
                Found::Absent => break,
                Found::Onward => (at, value) = (at + 1, value - layout.values()),
            }
        }
        self.beside.as_ref().is_some_and(|beside| self.is_beside(beside, hash, layout.length))
    }

    #[cold]
    #[inline(never)]
    fn is_beside(&self, beside: &ConcurrentFilter, hash: u64, length: u32) -> bool {
        (0..=length)
            .any(|length| beside.contains_hash(hash_u64(self.common.normal(hash, length), 0)))
    }
}

pub(super) struct Shared {
    pub(super) state: ArcSwap<State>,
    /// Raised whenever the state is replaced.
    pub(super) version: Version<AtomicU64>,
    pub(super) sequences: Arc<Sequences>,
    pub(super) hash: KeyHash,
}

/// Probes a growing filter that a [`GrowingWriter`](crate::GrowingWriter) changes meanwhile. A clone probes
/// the same filter. No call waits for a change. (A call that is the last to use lines of 512 KiB or more frees
/// them, under a lock that the writer holds while it frees others.) The filter lives as long as its writer or a
/// reader.
///
/// ```
/// use bloomline::{GrowingFilter, GrowingWriter};
///
/// let mut writer = GrowingWriter::new(GrowingFilter::unbounded(1000, 0.01, 0)?)?;
/// let reader = writer.reader();
/// writer.insert("apple")?;
/// assert!(std::thread::spawn(move || reader.contains("apple")).join().unwrap());
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone)]
pub struct GrowingReader {
    pub(super) shared: Arc<Shared>,
}

impl GrowingReader {
    /// What the filter says of a hash, if the writer does not change the region of it meanwhile.
    #[inline(always)]
    fn ask(&self, hash: u64) -> Option<bool> {
        let sequence = self.shared.sequences.of(hash);
        sequence.read(|| self.shared.state.load().contains(hash))
    }

    #[cold]
    #[inline(never)]
    fn ask_again(&self, hash: u64) -> bool {
        for _ in 0..TRIES {
            if let Some(answer) = self.ask(hash) {
                return answer;
            }
            spin_loop();
        }
        true
    }

    /// The answers for up to 64 hashes, whose places were found when so many were moved. `version` is that of
    /// the state, or of one before.
    fn tile(&self, state: &State, version: u64, hashes: &[u64], places: &Places) -> u64 {
        let mut lines = [[0; 8]; TILE];
        let (mut values, mut widths, mut unsure) = ([0; TILE], [0; TILE], 0_u64);
        for (i, (&hash, place)) in hashes.iter().zip(&places.all).enumerate() {
            let (layout, chunks) = &state.layouts[place.layout];
            let line = &mut lines[i];
            let is_there = self.shared.sequences.of(hash).read(|| {
                chunks.read(place.line, line);
                state.moved() == places.moved
            });
            (values[i], widths[i]) = (place.value, layout.r);
            unsure |= u64::from(is_there != Some(true)) << i;
        }
        let all = u64::MAX >> (64 - hashes.len().min(64));
        let mut present = 0;
        if self.shared.version.is_still(version) {
            let (values, widths) = (&values[..hashes.len()], &widths[..hashes.len()]);
            let mut refs = [&EMPTY; TILE];
            refs.iter_mut().zip(&lines).take(hashes.len()).for_each(|(to, line)| *to = line);
            let found = if state.common.mixed() {
                state.calls.find_mixed_many(&refs[..hashes.len()], values, widths)
            } else {
                state.calls.find_many(&refs[..hashes.len()], values, widths)
            };
            present = found.present & !unsure;
            unsure |= found.onward;
            if state.beside.is_some() {
                unsure = all & !present;
            }
        } else {
            unsure = all;
        }
        while unsure != 0 {
            let i = unsure.trailing_zeros();
            present |= u64::from(self.contains_hash(hashes[i as usize])) << i;
            unsure &= unsure - 1;
        }
        present
    }
}

/// What is read where there is no line.
static EMPTY: Line = [0; 8];

/// Where a key is.
#[derive(Clone, Copy, Default)]
struct Place {
    layout: usize,
    line: usize,
    value: i64,
}

/// Where some keys are, while so many are moved.
#[derive(Clone, Copy)]
struct Places {
    all: [Place; TILE],
    moved: u64,
}

impl Places {
    /// Finds the places of up to 64 keys, and prefetches their lines.
    #[inline(always)]
    fn fill(&mut self, state: &State, hashes: &[u64]) {
        self.moved = state.moved();
        for (place, &hash) in self.all.iter_mut().zip(hashes) {
            let at = state.of(hash, self.moved);
            let (layout, chunks) = &state.layouts[at];
            let (line, value) = layout.place(hash);
            *place = Place { layout: at, line, value };
            chunks.prefetch::<INTO_L2>(line);
        }
    }
}

probing!(GrowingReader);

impl Probe for GrowingReader {
    #[inline(always)]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.shared.hash.of(key)
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        match self.ask(hash) {
            Some(answer) => answer,
            None => self.ask_again(hash),
        }
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        let state = self.shared.state.load();
        if !state.layouts.is_empty() {
            let (layout, chunks) = &state.layouts[state.of(hash, state.moved())];
            chunks.prefetch::<INTO_L1>(layout.place(hash).0);
        }
    }

    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let words = answers.words(hashes.len());
        let (version, state) = (self.shared.version.now(), self.shared.state.load());
        if state.is_singly(hashes) {
            return one_by_one(hashes, words, |hash| self.contains_hash(hash));
        }
        let mut ring = [Places { all: [Place::default(); TILE], moved: 0 }; RING];
        let mut ahead = hashes.chunks(TILE);
        for (places, hashes) in ring.iter_mut().zip(ahead.by_ref().take(RING - 1)) {
            places.fill(&state, hashes);
        }
        let mut count = 0;
        for (i, (hashes, word)) in hashes.chunks(TILE).zip(words).enumerate() {
            if let Some(later) = ahead.next() {
                ring[(i + RING - 1) % RING].fill(&state, later);
            }
            *word = self.tile(&state, version, hashes, &ring[i % RING]);
            count += word.count_ones() as usize;
        }
        count
    }
}

impl fmt::Debug for GrowingReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrowingReader").finish_non_exhaustive()
    }
}

//! The view: probes a filter in borrowed bytes.

use super::about::{About, Lines};
use super::keys::{in_place, of_few, one_or_two, with_hashes};
use super::probe::{Probe, probing};
use crate::bitmap::Answers;
use crate::error::Error;
use crate::format::native::{self, LINES, PROBED, Parts};
use crate::format::{cuckoo, static_line};
use crate::hash::KeyHash;
use crate::kernel::composite::{Composite, Place};
use crate::kernel::rows::{Row, hash_picked};
use crate::kernel::{
    Backend, Column, Found, Hashes, KEY_BY_KEY, Kernel, Kernels, Layout, Member, Movable, Probed,
    Single,
};
#[cfg(feature = "capi")]
use crate::kernel::{OfWords, Words};
use crate::key::{Integers, Key};
use crate::line::{LINE_BYTES, Line};
use crate::shape::sizing::stats;
use crate::shape::{CuckooParams, Params};
use std::fmt;

/// A read-only filter in borrowed bytes: an encoded filter of any kind that views can probe, a filter block
/// of another engine (RocksDB, Pebble, LevelDB, Parquet), or a filter of any kind in memory.
///
/// It is a few words, cheap to copy and to open, and allocates nothing. The bytes
/// may lie at any address; at a multiple of 64 each key costs one cache line.
///
/// ```
/// let bytes = bloomline::Filter::from_keys(["apple"], 0.01)?.to_bytes()?; // or what was read, or mapped
/// let view = bloomline::View::open(&bytes)?;
/// assert!(view.contains("apple"));
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(super) lines: Probed<'a>,
    /// By the layout: k, the bits of a fingerprint, rows and levels as one number, what a column packs, or
    /// how many parts.
    pub(super) detail: u32,
    pub(super) hash: KeyHash,
    pub(super) key_count: u64,
    pub(super) kernel: &'static Kernel,
    /// Of `lines`, `detail` and `kernel`.
    pub(super) single: Single<'a>,
}

impl<'a> View<'a> {
    /// Opens an encoded filter and verifies all of it, both checksums included, in one pass over
    /// the bytes. `docs/FORMAT.md` has the list of checks. The view of a counting filter is one of
    /// its lines.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::NotAFilter`], [`Error::Version`], [`Error::Checksum`],
    /// [`Error::Layout`], [`Error::Reserved`], [`Error::K`], [`Error::LineCount`] for bytes that
    /// are not a valid filter; [`Error::Backend`].
    pub fn open(bytes: &'a [u8]) -> Result<View<'a>, Error> {
        let view = View::open_unverified(bytes)?;
        native::verify(bytes)?;
        Ok(view)
    }

    /// Opens an encoded filter and checks its footer, not its lines: for engines that have their own
    /// checksums. To open and probe takes three to four times as long as to probe: 14 ns in cache, and
    /// 150 out of it, on an AMD EPYC (Zen 5). So keep a view where you can. No probe leaves the bytes,
    /// whatever they are, but damaged lines may cause false negatives.
    ///
    /// # Errors
    /// As [`View::open`], but [`Error::Checksum`] for the footer only.
    #[inline]
    pub fn open_unverified(bytes: &'a [u8]) -> Result<View<'a>, Error> {
        let kernels = Kernels::active()?;
        // Engines open a view for each key. So plain filters are opened inline, where the view is used and need not
        // be copied: a copy in larger pieces than were written waits for the stores.
        match native::split(bytes) {
            Ok((_, footer)) if native::stated_layout(footer) == LINES => {
                let Parts { lines, params, key_count, .. } = native::parse(bytes, &[LINES])?;
                Ok(View::new(lines.into(), params, key_count, kernels.of(Layout::Native)))
            }
            _ => View::parse(bytes, kernels),
        }
    }

    /// As [`View::open`], probing with a given backend.
    ///
    /// # Errors
    /// As [`View::open`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn open_with_backend(bytes: &'a [u8], backend: Backend) -> Result<View<'a>, Error> {
        let view = View::parse(bytes, backend.kernels().ok_or(Error::Backend)?)?;
        native::verify(bytes)?;
        Ok(view)
    }

    /// Whether a view can be opened of `body_len` bytes, which need not be read yet, with this
    /// footer.
    pub(crate) fn check(footer: &[u8; LINE_BYTES], body_len: u64) -> Result<(), Error> {
        match native::stated_layout(footer) {
            cuckoo::LAYOUT if cfg!(feature = "cuckoo") => cuckoo::check(footer, body_len).map(drop),
            static_line::LAYOUT => static_line::check(footer, body_len).map(drop),
            _ => native::check(footer, body_len, PROBED).map(drop),
        }
    }

    /// A filter of any layout of the native format, its footer checked.
    #[inline(never)]
    fn parse(bytes: &'a [u8], kernels: Kernels) -> Result<View<'a>, Error> {
        // Each checks the whole footer: a wrong number is found, and one checksum computed.
        match native::split(bytes).map(|(_, footer)| native::stated_layout(footer)) {
            Ok(cuckoo::LAYOUT) if cfg!(feature = "cuckoo") => {
                let (lines, params, key_count) = cuckoo::parse(bytes)?;
                Ok(View::of_cuckoo(lines.into(), params, key_count, kernels.of(Layout::Cuckoo)))
            }
            Ok(static_line::LAYOUT) => {
                let (lines, shape, key_count) = static_line::parse(bytes)?;
                Ok(View::of_static(lines, shape, key_count, kernels))
            }
            _ => {
                let Parts { lines, params, key_count, .. } = native::parse(bytes, PROBED)?;
                Ok(View::new(lines.into(), params, key_count, kernels.of_params(params)))
            }
        }
    }

    pub(super) fn found<'b>(found: Found<'b>) -> View<'b> {
        let Found { lines, k, kernel, hash } = found;
        View::of(lines.into(), k, hash, 0, kernel)
    }

    /// A filter that answers "maybe" to every key.
    pub(crate) fn anything(hash: KeyHash) -> Result<View<'static>, Error> {
        Ok(View::found(Found::anything(hash, Kernels::active()?)))
    }

    /// The view of these lines.
    #[inline]
    pub(super) fn of(
        lines: Probed<'a>,
        detail: u32,
        hash: KeyHash,
        key_count: u64,
        kernel: &'static Kernel,
    ) -> View<'a> {
        View { lines, detail, hash, key_count, kernel, single: Single::new(lines, detail, kernel) }
    }

    /// Opens bare lines, without a footer.
    ///
    /// # Errors
    /// [`Error::Truncated`] if `lines` is not `params.bytes()` long; [`Error::Backend`].
    pub fn of_lines(lines: &'a [u8], params: Params, key_count: u64) -> Result<View<'a>, Error> {
        if lines.len() != params.bytes() {
            let (needed, given) = (params.bytes() as u64, lines.len() as u64);
            return Err(Error::Truncated { needed, given });
        }
        Ok(View::new(lines.into(), params, key_count, Kernels::active()?.of_params(params)))
    }

    /// A view of the first of these bytes, into which other threads may be inserting.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`] if they are fewer than the lines; [`Error::Backend`].
    #[cfg(feature = "capi")]
    pub(crate) fn of_shared_lines(bytes: Probed<'a>, params: Params) -> Result<View<'a>, Error> {
        let too_small = Error::BufferTooSmall { needed: params.bytes(), given: bytes.len() };
        let lines = bytes.first(params.bytes()).ok_or(too_small)?;
        let kernel = Kernels::active()?.of_params(params);
        // Atomic operations, too, are of aligned lanes.
        let kernel = if lines.is_lanes() { kernel.shared() } else { kernel };
        Ok(View::new(lines, params, 0, kernel))
    }

    /// The view of lines that are owned, with what their owner keeps for single keys.
    #[inline]
    pub(super) fn of_own(
        (lines, single): (Probed<'a>, Single<'a>),
        (k, seed): (u32, u64),
        key_count: u64,
        kernel: &'static Kernel,
    ) -> View<'a> {
        View { lines, detail: k, hash: KeyHash::Xxh3(seed), key_count, kernel, single }
    }

    #[inline]
    pub(crate) fn new(
        lines: Probed<'a>,
        params: Params,
        key_count: u64,
        kernel: &'static Kernel,
    ) -> View<'a> {
        View::of(lines, params.k(), KeyHash::Xxh3(params.seed()), key_count, kernel)
    }

    pub(crate) fn of_cuckoo(
        lines: Probed<'a>,
        params: CuckooParams,
        key_count: u64,
        kernel: &'static Kernel,
    ) -> View<'a> {
        let (bits, hash) = (params.fingerprint_bits(), KeyHash::Xxh3(params.seed()));
        View::of(lines, bits, hash, key_count, kernel)
    }

    /// The view of a filter made of filters.
    #[inline]
    pub(crate) fn of_composite(place: Place<'a>) -> View<'a> {
        let Place { whole, lines, single, kernel } = place;
        let (detail, hash) = (whole.parts() as u32, whole.key_hash());
        View { lines, detail, hash, key_count: 0, kernel, single }
    }

    /// A line of a plain filter, or of a column.
    #[inline(always)]
    pub(super) fn line(&self, number: usize) -> Line {
        match self.kernel.layout() {
            Layout::Column => Column::unpack(self.detail).line(self.lines, number),
            _ => self.lines.line(number),
        }
    }

    /// What an owner of its bytes keeps of it, who may move them.
    pub(super) fn movable(&self) -> Movable {
        Movable::new(&self.single, self.lines)
    }

    /// What a group keeps of it.
    pub(crate) fn member(&self) -> Member<'a> {
        let View { single, lines, detail, hash, kernel, .. } = *self;
        Member { single, lines, detail, hash, kernel }
    }

    /// The view of a column of a matrix, by what its rows return for it.
    pub(super) fn of_column(
        (lines, packed, kernel): (Probed<'a>, u32, &'static Kernel),
        hash: KeyHash,
    ) -> View<'a> {
        View::of(lines, packed, hash, 0, kernel)
    }

    /// Whether its bits are not in lines side by side.
    fn has_no_lines(&self) -> bool {
        self.composite().is_some() || self.kernel.layout() == Layout::Column
    }

    /// The filter itself, if it is made of filters: then there are no lines.
    fn composite(&self) -> Option<&'a dyn Composite> {
        self.kernel.composite(&self.single)
    }

    /// The view of words that another view's `words` returned, and of their lines.
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(crate) fn from_words(words: &Words, lines: OfWords<'a>) -> View<'a> {
        let (detail, hash, key_count) = words.shape();
        let OfWords { lines, single, kernel } = lines;
        View { lines, detail, hash, key_count, kernel, single }
    }

    /// The view as words, for C.
    #[cfg(feature = "capi")]
    pub(crate) fn words(&self) -> Words {
        Words::new(self.single, self.detail, self.kernel.number(), self.hash, self.key_count)
    }

    /// As [`View::contains_hashes`] with a given prefetch: for the benchmarks that
    /// choose it.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn contains_hashes_with(
        &self,
        hashes: &[u64],
        prefetch: crate::kernel::Prefetch,
        bitmap: &mut [u64],
    ) -> usize {
        let hashes = Hashes::Given(hashes);
        self.kernel.probe_batch_with(self.lines, self.detail, hashes, prefetch, bitmap)
    }

    /// [`Kernel::fewest_together`], of this filter.
    #[cfg(feature = "capi")]
    pub(crate) fn fewest_together(&self) -> usize {
        self.kernel.fewest_together(self.lines.len())
    }

    /// The answers of a filter of RocksDB's present kind for 1 to 64 keys, first in the lowest bit.
    /// A missing key may be present; further keys are ignored.
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(crate) fn contains_few_of_rocksdb<'k>(
        &self,
        keys: impl Iterator<Item = Option<&'k [u8]>>,
    ) -> u64 {
        debug_assert_eq!(self.hash, KeyHash::Xxph3);
        self.kernel.probe_few_of_rocksdb(self.lines, self.detail, keys)
    }

    /// How keys are hashed. Filters that agree in it can be probed together by one hash.
    pub(crate) fn key_hash(&self) -> KeyHash {
        self.hash
    }

    /// Returns line count, k, layout and seed of a plain, classic or counting filter, or a column of a
    /// matrix; None for other kinds, and those of other engines.
    pub fn params(&self) -> Option<Params> {
        let new = match self.kernel.layout() {
            Layout::Native => Params::new,
            Layout::Classic => Params::classic,
            Layout::Column => Params::new,
            _ => return None,
        };
        let KeyHash::Xxh3(seed) = self.hash else { return None };
        let k = (self.about().number)(self.detail);
        new((self.lines.len() / LINE_BYTES) as u64, k, seed).ok()
    }

    /// Returns line count, fingerprint bits and seed of a cuckoo filter; None for others.
    pub fn cuckoo_params(&self) -> Option<CuckooParams> {
        match (self.kernel.layout(), self.hash) {
            (Layout::Cuckoo, KeyHash::Xxh3(seed)) => {
                CuckooParams::new((self.lines.len() / LINE_BYTES) as u64, self.detail, seed).ok()
            }
            _ => None,
        }
    }

    /// Returns the writer's key count, repeated keys counted; 0 if there is none.
    pub fn key_count(&self) -> u64 {
        self.composite().map_or(self.key_count, |whole| whole.key_count())
    }

    /// The fraction of all bits that are set, 0 to 1. For a cuckoo filter it is the fraction of slots that
    /// are taken. For a static filter it is the fraction of set bits in the first level, which does not
    /// depend on the keys. Reads the whole filter.
    pub fn fill(&self) -> f64 {
        self.composite().map_or_else(|| (self.about().fill)(self.facts()), |whole| whole.fill())
    }

    /// How many different keys are present, estimated from the fill: within a few per cent until nearly all
    /// bits are set. For a cuckoo filter it is the number of slots that are taken, for a static one the
    /// writer's key count. Reads the whole filter.
    pub fn estimated_keys(&self) -> f64 {
        match self.composite() {
            Some(whole) => whole.estimated_keys(),
            None => self.keys_at(self.fill()),
        }
    }

    /// The same, where the fill is known.
    pub(super) fn keys_at(&self, fill: f64) -> f64 {
        (self.about().keys)(self.facts(), fill)
    }

    /// Returns the false-positive rate at the present fill ratio, 0 to 1: the probability that an
    /// absent key finds its bits set, averaged over the lines; for a cuckoo filter, its fingerprint
    /// in a slot. For LevelDB's filters, whose bits of a key depend on each other, it is a seventh
    /// too low. Reads the whole filter. Use it to see when bare lines or a mapped file have become
    /// too full.
    ///
    /// It hardly shows keys that an attacker chose to fall on one line: [`View::worst_line_rate`]
    /// does.
    pub fn estimated_rate(&self) -> f64 {
        match (self.composite(), self.about().rate) {
            (Some(whole), _) => whole.estimated_rate(),
            (None, Some(rate)) => rate(self.facts()),
            (None, None) => stats::mean(|each| (self.about().line_rates)(self.facts(), each)),
        }
    }

    /// Returns the false-positive rate of the fullest line, 0 to 1. Reads the whole filter.
    ///
    /// A line that an attacker has flooded with chosen keys has a rate near 1. By chance the
    /// fullest of a million lines stays below 0.1 at an average of 1 %. Where the bits of a key lie
    /// anywhere (classic, LevelDB) it is [`View::estimated_rate`].
    pub fn worst_line_rate(&self) -> f64 {
        match self.composite() {
            Some(whole) => whole.worst_line_rate(),
            None => stats::highest(|each| (self.about().line_rates)(self.facts(), each)),
        }
    }

    fn about(&self) -> &'static About {
        About::of(self.kernel.layout())
    }

    fn facts(&self) -> Lines<'a> {
        Lines { bytes: self.lines, detail: self.detail, key_count: self.key_count }
    }

    /// The lines; of a static filter, those of its first level; none of a scalable filter, a window,
    /// a cascade or a column of a matrix.
    pub fn lines(&self) -> &'a [u8] {
        if self.has_no_lines() { &[] } else { self.lines.as_slice() }
    }

    /// How many bytes the lines are.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> usize {
        self.lines.len()
    }

    /// Where the lines are, and how many bytes; nobody looks at them.
    #[cfg(feature = "capi")]
    pub(crate) fn place(&self) -> (*const u8, usize) {
        if self.has_no_lines() {
            return (std::ptr::null(), 0);
        }
        (self.lines.start(), self.lines.len())
    }

    /// Returns the backend that probes.
    pub fn backend(&self) -> Backend {
        self.kernel.backend()
    }

    /// Probes a batch, apart: a short one saves no registers for it.
    #[inline(never)]
    fn contains_many(&self, hashes: &[u64], words: &mut [u64]) -> usize {
        self.kernel.probe_batch(self.lines, self.detail, Hashes::Given(hashes), words)
    }
}

probing!(View<'_>);

impl Probe for View<'_> {
    #[inline(always)]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.hash.of(key)
    }

    fn hash_keys<K: Key>(&self, keys: &[K], out: &mut [u64]) {
        self.hash.hash_each(keys, out);
    }

    fn hash_picked<R: Row>(&self, column: Integers<'_>, rows: &[R], out: &mut [u64]) -> bool {
        hash_picked(self.hash, column, rows, out)
    }

    #[inline(always)]
    fn contains_hash(&self, hash: u64) -> bool {
        self.single.contains(hash)
    }

    #[inline(always)]
    fn prefetch_hash(&self, hash: u64) {
        match self.kernel.layout() {
            Layout::Native => self.single.prefetch(hash),
            _ => self.kernel.prefetch(self.lines, self.detail, hash),
        }
    }

    #[inline(always)]
    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let one = |hash| self.single.contains(hash);
        let two = |first, second| self.kernel.probe_two(&self.single, first, second);
        if let Some(maybe) = in_place(hashes, answers, one, two) {
            return maybe;
        }
        if (1..=KEY_BY_KEY).contains(&hashes.len()) {
            let word = &mut answers.words(hashes.len())[0];
            return self.kernel.probe_few(&self.single, self.detail, hashes, word);
        }
        self.contains_many(hashes, answers.words(hashes.len()))
    }

    fn contains_keys<K: Key>(&self, keys: &[K], answers: &mut (impl Answers + ?Sized)) -> usize {
        if let Some(maybe) = one_or_two(keys, answers, |key| Probe::contains(self, key)) {
            return maybe;
        }
        let few = |hashes: &[u64], word: &mut u64| {
            self.kernel.probe_few(&self.single, self.detail, hashes, word)
        };
        if let Some(maybe) = of_few(keys, answers, |key| self.hash.of(key), few) {
            return maybe;
        }
        let (words, mut present) = (answers.words(keys.len()), 0);
        with_hashes(keys, self.hash, |hashes| {
            present = self.kernel.probe_batch(self.lines, self.detail, hashes, words);
        });
        present
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        brief(f, "View", self)
    }
}

/// Says in short what a filter is. The seed is left out, which may be a secret.
pub(crate) fn brief(f: &mut fmt::Formatter<'_>, kind: &str, view: &View<'_>) -> fmt::Result {
    let about = view.about();
    f.debug_struct(kind)
        .field("layout", &view.kernel.layout())
        .field("keys", &view.key_count())
        .field("lines", &view.reach().div_ceil(LINE_BYTES))
        .field(about.name_of_detail, &(about.number)(view.detail))
        .finish_non_exhaustive()
}

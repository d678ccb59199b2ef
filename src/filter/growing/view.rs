//! Views of growing filters: probes an encoded one where its bytes are.

use super::probe::answer;
use super::runs::{self, Runs, Sum};
use crate::bitmap::Answers;
use crate::error::Error;
use crate::filter::probe::{Probe, hashing, probing};
use crate::format::growing::{self as format, ENTRY_BYTES, Shape};
use crate::format::native;
use crate::hash::KeyHash;
use crate::kernel::growing::place::{Common, Layout};
use crate::kernel::growing::spans::{Span, Spans};
use crate::kernel::growing::{Calls, OPENED, goes_on};
use crate::kernel::{Backend, Kernels};
use crate::key::Key;
use crate::line::LINE_BYTES;
use crate::shape::growing::Width;
use std::fmt;

/// An encoded [`GrowingFilter`](crate::GrowingFilter) that is probed where it is: `B` is a `&[u8]`, or
/// owns the bytes, as a `Vec<u8>` or an `Arc<[u8]>` does.
///
/// ```
/// use bloomline::{GrowingFilter, GrowingView};
///
/// let bytes = GrowingFilter::from_keys(["apple", "pear"], 0.01)?.to_bytes()?;
/// let view = GrowingView::open(&bytes[..])?;
/// assert!(view.contains("apple"));
/// # Ok::<(), bloomline::Error>(())
/// ```
///
/// The bytes may lie at any address, and move with the view; at a multiple of 8, many keys are probed
/// faster. If [`AsRef`] gives fewer bytes than when the view was opened, all keys may be present; if it
/// gives other bytes, answers may be wrong.
#[derive(Clone)]
pub struct GrowingView<B> {
    bytes: B,
    parts: Parts,
    key_count: u64,
    seed: u64,
    backend: Backend,
}

/// What is known of encoded lines, and of what is beside them.
#[derive(Clone)]
pub(super) struct Parts {
    pub(super) common: Common,
    pub(super) calls: &'static Calls,
    spans: Vec<Span>,
    keys: u64,
    rate: f64,
    /// How many lines there are, prefixes in the stash, and prefixes with further copies.
    lines: usize,
    stash: usize,
    copies: usize,
}

impl Parts {
    pub(super) fn new(shape: &Shape, calls: &'static Calls) -> Result<Parts, Error> {
        let &Shape { prefixes, keys, rate, longer, stash, copies, .. } = shape;
        let common = Common { prefixes, longer, first_keys: keys.max(u64::from(longer.is_some())) };
        let (mut spans, parts) = (Vec::new(), shape.parts as u64);
        spans.try_reserve_exact(shape.parts).map_err(|_| Error::OutOfMemory)?;
        for (part, region) in shape.regions().iter().enumerate() {
            let &format::Region { first, lines, u, r, length } = region;
            let width = Width::of((prefixes << length) / parts, u, r, common.mixed());
            let layout = Layout::of(common, calls, (part as u64, parts), length, width)?;
            spans.push(Span { layout, first: first as usize, count: lines as usize });
        }
        // All of them are in bytes that are there.
        let [lines, stash, copies] = [shape.lines(), stash, copies].map(|count| count as usize);
        Ok(Parts { common, calls, spans, keys, rate, lines, stash, copies })
    }

    /// What is before the records.
    fn len(&self) -> usize {
        let beside = (self.stash + self.copies) * ENTRY_BYTES;
        self.lines * LINE_BYTES + beside.next_multiple_of(LINE_BYTES)
    }

    /// The stash, and the further copies.
    fn beside<'a>(&self, blocks: &'a [u8]) -> (Entries<'a>, Entries<'a>) {
        let (entries, _) = blocks[self.lines * LINE_BYTES..].as_chunks();
        let (stash, rest) = entries.split_at(self.stash);
        (Entries(stash), Entries(&rest[..self.copies]))
    }
}

/// Prefixes and counts beside the lines, ascending.
#[derive(Clone, Copy)]
struct Entries<'a>(&'a [[u8; ENTRY_BYTES]]);

impl<'a> Entries<'a> {
    fn all(self) -> impl Iterator<Item = (u64, u64)> + 'a {
        self.0.iter().map(entry)
    }

    fn has(self, prefix: u64) -> bool {
        self.0.binary_search_by_key(&prefix, |bytes| entry(bytes).0).is_ok()
    }
}

fn entry(bytes: &[u8; ENTRY_BYTES]) -> (u64, u64) {
    let both = u128::from_le_bytes(*bytes);
    (both as u64, (both >> 64) as u64)
}

/// The values in the lines, as those of all lengths compare, in order.
fn in_lines<'a>(parts: &'a Parts, blocks: &'a [u8]) -> impl Iterator<Item = u64> + 'a {
    let spans = Spans::new(&parts.spans, blocks);
    parts.spans.iter().flat_map(move |span| {
        (0..span.count).flat_map(move |number| {
            let (mut values, mut count) = ([0; OPENED], 0);
            if let Some(line) = spans.line(span, number) {
                let start = span.layout.start(number);
                count = parts.calls.open(&line, span.layout.r, start, &mut values);
            }
            values.into_iter().take(count).map(move |y| span.layout.normal(y))
        })
    })
}

/// All prefixes in order, each once with its count.
pub(super) fn runs<'a>(
    parts: &'a Parts,
    blocks: &'a [u8],
) -> impl Iterator<Item = (u64, u64)> + 'a {
    let (stash, copies) = parts.beside(blocks);
    let there = there(parts, blocks, stash);
    Sum { a: there.peekable(), b: copies.all().peekable() }
}

/// Those in lines and in the stash.
fn there<'a>(
    parts: &'a Parts,
    blocks: &'a [u8],
    stash: Entries<'a>,
) -> impl Iterator<Item = (u64, u64)> + 'a {
    let lines = Runs::new(in_lines(parts, blocks));
    Sum { a: lines.peekable(), b: stash.all().peekable() }
}

/// Whether lines, and what is beside them, are as a writer leaves them: rule 12 of `docs/format/growing.md`.
///
/// # Errors
/// [`Error::Checksum`].
pub(super) fn verify(parts: &Parts, blocks: &[u8]) -> Result<(), Error> {
    let sound = parts.spans.iter().all(|span| is_chain(parts, span, blocks));
    if sound && is_beside(parts, blocks) { Ok(()) } else { Err(Error::Checksum) }
}

/// Whether the lines of a region hold ascending values, each in its home or in a line to which all from
/// there on go on.
fn is_chain(parts: &Parts, span: &Span, blocks: &[u8]) -> bool {
    let Span { layout, count, .. } = span;
    let spans = Spans::new(&parts.spans, blocks);
    let (mut before, mut unbroken) = (0, 0);
    for number in 0..*count {
        let Some(line) = spans.line(span, number) else { return false };
        let (mut values, start) = ([0; OPENED], layout.start(number));
        let opened = parts.calls.open(&line, layout.r, start, &mut values);
        let values = &values[..opened];
        let closed = parts.calls.close(values, start, i64::MAX, goes_on(&line), layout.r);
        if closed != (line, opened) {
            return false;
        }
        for &y in values {
            if y < before || y >= layout.end() || !(unbroken..=number).contains(&layout.home(y)) {
                return false;
            }
            let short = y.trailing_zeros();
            if layout.is_mixed() && (short >= layout.r || short > layout.length) {
                return false;
            }
            before = y;
        }
        if !goes_on(&line) {
            unbroken = number + 1;
        }
    }
    unbroken == *count
}

/// Whether prefixes beside the lines are in order, as probes look for them, and the further copies are
/// of prefixes that are there.
fn is_beside(parts: &Parts, blocks: &[u8]) -> bool {
    let (stash, copies) = parts.beside(blocks);
    let end = parts.lines * LINE_BYTES + (parts.stash + parts.copies) * ENTRY_BYTES;
    if blocks[end..].iter().any(|&byte| byte != 0) {
        return false;
    }
    let normals = parts.common.normals();
    let of_region = normals / parts.spans.len() as u64;
    let is_found = |(prefix, count): (u64, u64)| {
        if prefix >= normals || count == 0 {
            return false;
        }
        let Span { layout, .. } = &parts.spans[(prefix / of_region) as usize];
        let short = prefix.trailing_zeros();
        !layout.is_mixed() || (layout.norm()..=layout.norm() + layout.length).contains(&short)
    };
    let ascend = |entries: Entries<'_>| entries.all().is_sorted_by(|a, b| a.0 < b.0);
    if ![stash, copies].into_iter().all(|entries| ascend(entries) && entries.all().all(is_found)) {
        return false;
    }
    let (mut copies, mut all) = (copies.all().peekable(), 0_u64);
    for (prefix, count) in there(parts, blocks, stash) {
        let more = copies.next_if(|copy| copy.0 == prefix).map_or(0, |copy| copy.1);
        let Some(sum) = all.checked_add(count).and_then(|sum| sum.checked_add(more)) else {
            return false;
        };
        all = sum;
    }
    copies.next().is_none()
}

impl<B: AsRef<[u8]>> GrowingView<B> {
    /// Opens an encoded growing filter and verifies all of it, all checksums included.
    ///
    /// # Errors
    /// As [`GrowingFilter::decode`](crate::GrowingFilter::decode).
    pub fn open(bytes: B) -> Result<GrowingView<B>, Error> {
        GrowingView::opened(bytes, true, Backend::active()?)
    }

    /// Opens an encoded growing filter and verifies its footer and the sizes of its regions, not the lines:
    /// in a time that does not depend on the size. No probe leaves the bytes, whatever they are, but
    /// damaged lines may cause false negatives.
    ///
    /// # Errors
    /// As [`GrowingView::open`], but [`Error::Checksum`] for footer and sizes only.
    pub fn open_unverified(bytes: B) -> Result<GrowingView<B>, Error> {
        GrowingView::opened(bytes, false, Backend::active()?)
    }

    /// As [`GrowingView::open`], probing with a given backend.
    ///
    /// # Errors
    /// As [`GrowingView::open`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn open_with_backend(bytes: B, backend: Backend) -> Result<GrowingView<B>, Error> {
        GrowingView::opened(bytes, true, backend)
    }

    fn opened(bytes: B, verified: bool, backend: Backend) -> Result<GrowingView<B>, Error> {
        let kernels: Kernels = backend.kernels().ok_or(Error::Backend)?;
        let all = bytes.as_ref();
        let (outline, blocks, records) = format::parse(all)?;
        if verified {
            native::verify(all)?;
        }
        let parts = Parts::new(&outline.shape(records)?, kernels.of_growing())?;
        if verified {
            verify(&parts, blocks)?;
        }
        let (key_count, seed) = (outline.key_count, outline.seed);
        Ok(GrowingView { bytes, parts, key_count, seed, backend })
    }

    /// What is before the records; None if the bytes are gone.
    #[inline]
    fn blocks(&self) -> Option<&[u8]> {
        self.bytes.as_ref().get(..self.parts.len())
    }

    #[cold]
    #[inline(never)]
    fn stash_has(&self, blocks: &[u8], hash: u64, length: u32) -> bool {
        let (stash, _) = self.parts.beside(blocks);
        (0..=length).any(|length| stash.has(self.parts.common.normal(hash, length)))
    }

    #[inline]
    fn has(&self, blocks: &[u8], spans: &Spans<'_>, hash: u64) -> bool {
        spans.contains(hash)
            || self.parts.stash > 0 && self.stash_has(blocks, hash, spans.of(hash).layout.length)
    }

    /// Returns the false-positive rate, 0 to 1: the part of all hashes whose prefix is there. It is exact,
    /// and reads the whole filter.
    pub fn estimated_rate(&self) -> f64 {
        let Some(blocks) = self.blocks() else { return 1.0 };
        let common = self.parts.common;
        // Those of damaged lines may be none.
        let valid = |&(prefix, _): &(u64, u64)| {
            prefix < common.normals() && (prefix > 0 || !common.mixed())
        };
        runs::rate(common, runs(&self.parts, blocks).filter(valid)).clamp(0.0, 1.0)
    }

    /// Returns an iterator over the prefixes that are there, ascending, each with its count: see
    /// [`GrowingFilter::prefixes`](crate::GrowingFilter::prefixes). Of a view whose lines are not verified
    /// they may be anything. There are none if the bytes are gone.
    pub fn prefixes(&self) -> impl Iterator<Item = (u64, u64)> {
        self.blocks().into_iter().flat_map(|blocks| runs(&self.parts, blocks))
    }

    /// The part of what its lines can hold that is there, 0 to 1.
    pub(in crate::filter) fn fill(&self) -> f64 {
        let Some(blocks) = self.blocks() else { return 1.0 };
        let full: f64 = self.parts.spans.iter().map(|span| span.layout.full() as f64).sum();
        (in_lines(&self.parts, blocks).count() as f64 / full).min(1.0)
    }
}

impl<B> GrowingView<B> {
    /// Returns the writer's number of keys.
    pub fn key_count(&self) -> u64 {
        self.key_count
    }

    /// The most keys that a bounded filter was made for; the first keys of an unbounded one.
    pub fn expected_keys(&self) -> u64 {
        self.parts.keys
    }

    /// Whether it was made for an unknown number of keys.
    pub fn is_unbounded(&self) -> bool {
        self.parts.common.mixed()
    }

    /// The false-positive rate that it was made for.
    pub fn target_rate(&self) -> f64 {
        self.parts.rate
    }

    /// Returns the number of lines of all regions, of 64 bytes each.
    pub fn line_count(&self) -> u64 {
        self.parts.lines as u64
    }

    /// The number of regions: 1 if it is small, else 16.
    pub fn regions(&self) -> usize {
        self.parts.spans.len()
    }

    /// Returns the seed of the hash of byte keys.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the backend that probes.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    pub(in crate::filter) fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.seed)
    }

    /// The bytes.
    pub fn get_ref(&self) -> &B {
        &self.bytes
    }

    /// Returns the bytes.
    pub fn into_inner(self) -> B {
        self.bytes
    }
}

impl<B> fmt::Debug for GrowingView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrowingView")
            .field("keys", &self.key_count())
            .field("lines", &self.line_count())
            .field("regions", &self.regions())
            .finish_non_exhaustive()
    }
}

probing!(GrowingView<B> where B: AsRef<[u8]>);

impl<B: AsRef<[u8]>> Probe for GrowingView<B> {
    #[inline(always)]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.key_hash().of(key)
    }

    hashing!();

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.blocks()
            .is_none_or(|blocks| self.has(blocks, &Spans::new(&self.parts.spans, blocks), hash))
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        if let Some(blocks) = self.blocks() {
            Spans::new(&self.parts.spans, blocks).prefetch(hash);
        }
    }

    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let words = answers.words(hashes.len());
        let Some(blocks) = self.blocks() else {
            for (word, hashes) in words.iter_mut().zip(hashes.chunks(64)) {
                *word = u64::MAX >> (64 - hashes.len());
            }
            return hashes.len();
        };
        let spans = Spans::new(&self.parts.spans, blocks);
        let together = |hashes: &[u64], words: &mut [u64]| {
            let mut present = spans.contains_all(self.parts.calls, hashes, words);
            if self.parts.stash == 0 {
                return present;
            }
            for (i, &hash) in hashes.iter().enumerate() {
                let length = spans.of(hash).layout.length;
                if words[i / 64] >> (i % 64) & 1 == 0 && self.stash_has(blocks, hash, length) {
                    words[i / 64] |= 1 << (i % 64);
                    present += 1;
                }
            }
            present
        };
        answer(hashes, words, || spans.plan(), together, |hash| self.has(blocks, &spans, hash))
    }
}

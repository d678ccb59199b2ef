//! Views of cascades: probes an encoded cascade where its bytes are.

use super::probe;
use crate::bitmap::Answers;
use crate::error::Error;
use crate::filter::keys::one_by_one;
use crate::filter::probe::{Probe, hashing, probing};
use crate::filter::view::View;
use crate::format::cascade as format;
use crate::format::native;
use crate::format::static_line::Shape;
use crate::hash::KeyHash;
use crate::kernel::{Backend, Kernels, singly};
use crate::key::Key;
use crate::line::LINE_BYTES;
use std::fmt;

/// An encoded [`Cascade`](crate::Cascade) that is probed where it is: `B` is a `&[u8]`, or owns the
/// bytes, as a `Vec<u8>` or an `Arc<[u8]>` does.
///
/// ```
/// use bloomline::{Cascade, CascadeView};
///
/// let bytes = Cascade::from_keys(["blocked"], ["allowed"])?.to_bytes()?;
/// let view = CascadeView::open(&bytes[..])?;
/// assert!(view.contains("blocked") && !view.contains("allowed"));
/// # Ok::<(), bloomline::Error>(())
/// ```
///
/// The bytes may lie at any address, and move with the view. If [`AsRef`] gives fewer bytes than
/// when the view was opened, all keys may be included; if it gives other bytes, answers may be wrong.
#[derive(Clone)]
pub struct CascadeView<B> {
    bytes: B,
    layers: Vec<Layer>,
    /// Of all layers.
    line_bytes: usize,
    seed: u64,
    kernels: Kernels,
}

#[derive(Clone, Copy)]
struct Layer {
    /// Where its lines begin.
    start: usize,
    shape: Shape,
    key_count: u64,
    tested: u64,
}

impl<B: AsRef<[u8]>> CascadeView<B> {
    /// Opens an encoded cascade and verifies all of it, all checksums included.
    ///
    /// # Errors
    /// As [`Cascade::decode`](crate::Cascade::decode).
    pub fn open(bytes: B) -> Result<CascadeView<B>, Error> {
        CascadeView::opened(bytes, true, Kernels::active()?)
    }

    /// Opens an encoded cascade and verifies its footer and the sizes of its layers, not the lines: in
    /// a time that does not depend on the size. No probe leaves the bytes, whatever they are, but
    /// damaged lines may cause wrong answers for keys of both sets.
    ///
    /// # Errors
    /// As [`CascadeView::open`], but [`Error::Checksum`] for footer and sizes only.
    pub fn open_unverified(bytes: B) -> Result<CascadeView<B>, Error> {
        CascadeView::opened(bytes, false, Kernels::active()?)
    }

    /// As [`CascadeView::open`], probing with a given backend.
    ///
    /// # Errors
    /// As [`CascadeView::open`]; [`Error::Backend`] if this CPU lacks the backend.
    pub fn open_with_backend(bytes: B, backend: Backend) -> Result<CascadeView<B>, Error> {
        CascadeView::opened(bytes, true, backend.kernels().ok_or(Error::Backend)?)
    }

    fn opened(bytes: B, verified: bool, kernels: Kernels) -> Result<CascadeView<B>, Error> {
        let all = bytes.as_ref();
        let (outline, records) = format::parse(all)?;
        if verified {
            native::verify(all)?;
        }
        let (mut layers, mut start) = (Vec::new(), 0);
        layers.try_reserve_exact(outline.layers).map_err(|_| Error::OutOfMemory)?;
        for format::Layer { shape, key_count, tested } in outline.layers(records)? {
            layers.push(Layer { start, shape, key_count, tested });
            start += shape.bytes();
        }
        Ok(CascadeView { bytes, layers, line_bytes: start, seed: outline.seed, kernels })
    }

    /// The lines of all layers; None if the bytes are gone.
    #[inline]
    fn lines(&self) -> Option<&[u8]> {
        self.bytes.as_ref().get(..self.line_bytes)
    }

    /// The views of all layers; none if the bytes are gone.
    pub(in crate::filter) fn layers(&self) -> impl Iterator<Item = View<'_>> {
        let lines = self.lines();
        (0..self.layers.len()).filter_map(move |i| Some(self.layer(lines?, i)))
    }

    #[inline]
    fn layer<'v>(&self, lines: &'v [u8], number: usize) -> View<'v> {
        let Layer { start, shape, key_count, .. } = self.layers[number];
        View::of_static(&lines[start..start + shape.bytes()], shape, key_count, self.kernels)
    }
}

impl<B> CascadeView<B> {
    /// Returns the number of layers.
    pub fn layer_count(&self) -> usize {
        self.layers.len()
    }

    /// Returns the writer's number of included keys, repeated ones counted.
    pub fn included_count(&self) -> u64 {
        self.layers[0].key_count
    }

    /// Returns the writer's number of excluded keys, repeated ones counted.
    pub fn excluded_count(&self) -> u64 {
        self.layers[0].tested
    }

    /// Returns how often a key of neither set is taken for an included one, to expect: see
    /// [`Cascade::unknown_rate`](crate::Cascade::unknown_rate).
    pub fn unknown_rate(&self) -> f64 {
        probe::unknown_rate(self.layers.iter().map(|layer| layer.shape.params.rate()))
    }

    /// Returns the number of lines of all layers, of 64 bytes each.
    pub fn line_count(&self) -> u64 {
        (self.line_bytes / LINE_BYTES) as u64
    }

    pub(in crate::filter) fn key_hash(&self) -> KeyHash {
        KeyHash::Xxh3(self.seed)
    }

    /// Returns the seed of the hash of byte keys.
    pub fn seed(&self) -> u64 {
        self.seed
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

impl<B> fmt::Debug for CascadeView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CascadeView")
            .field("included", &self.included_count())
            .field("excluded", &self.excluded_count())
            .field("layers", &self.layer_count())
            .finish_non_exhaustive()
    }
}

probing!(CascadeView<B> where B: AsRef<[u8]>);

impl<B: AsRef<[u8]>> Probe for CascadeView<B> {
    #[inline(always)]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.key_hash().of(key)
    }

    hashing!();

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        let Some(lines) = self.lines() else { return true };
        let passes = |i, hash| self.layer(lines, i).contains_hash(hash);
        probe::contains(0, self.layers.len(), passes, hash)
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        if let Some(lines) = self.lines() {
            self.layer(lines, 0).prefetch_hash(hash);
        }
    }

    fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let words = answers.words(hashes.len());
        if (1..=singly::CASCADE).contains(&hashes.len()) {
            return one_by_one(hashes, words, |hash| self.contains_hash(hash));
        }
        let Some(lines) = self.lines() else {
            for (word, hashes) in words.iter_mut().zip(hashes.chunks(64)) {
                *word = u64::MAX >> (64 - hashes.len());
            }
            return hashes.len();
        };
        probe::contains_batch(self.layers.len(), |i| self.layer(lines, i), hashes, words)
    }
}

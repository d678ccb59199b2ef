//! A view that owns its bytes, in a `Vec<u8>`, an `Arc<[u8]>`, a `Bytes`.

use super::probe::probing;
use super::view::{View, brief};
use crate::error::Error;
use crate::hash::KeyHash;
use crate::kernel::{Found, Kernel, Kernels, Movable, Probed, Single};
use crate::shape::Params;
use std::fmt;
use std::slice::from_mut;

/// A read-only filter that owns its bytes: a [`View`] without a lifetime. Use it to keep filter
/// blocks in a table cache.
///
/// ```
/// use bloomline::{Filter, OwnedView, Params};
/// use std::sync::Arc;
///
/// let mut filter = Filter::new(Params::for_rate(1000, 0.01)?)?;
/// filter.insert_hash(7);
/// let block: Arc<[u8]> = filter.to_bytes()?.into();
/// let cached = OwnedView::open(Arc::clone(&block))?;
/// assert!(cached.contains_hash(7));
/// # Ok::<(), bloomline::Error>(())
/// ```
///
/// The lines stay where the bytes are: at a multiple of 64 each key costs one cache line, elsewhere most cost
/// two. The data of an `Arc<[u8]>` or a `Vec<u8>` is elsewhere, as a rule; [`Filter::decode`](crate::Filter::decode)
/// copies into aligned memory.
///
/// The bytes may move with it. If [`AsRef`] gives fewer bytes than when the filter was opened, all
/// keys may be present; if it gives other bytes, answers may be wrong.
#[derive(Clone)]
pub struct OwnedView<B> {
    bytes: B,
    lines: Lines,
    /// How many bytes a probe may read, from the first line on.
    reach: usize,
    detail: u32,
    hash: KeyHash,
    key_count: u64,
    kernel: &'static Kernel,
}

/// Where the lines are.
#[derive(Clone, Copy)]
enum Lines {
    /// Behind so many of the bytes.
    Bytes { lines: Movable, behind: usize },
    /// Elsewhere, because the answer is the same for all keys.
    Constant(&'static [u8]),
}

impl<B: AsRef<[u8]>> OwnedView<B> {
    /// Opens an encoded filter: as [`View::open`].
    ///
    /// # Errors
    /// As [`View::open`].
    pub fn open(bytes: B) -> Result<OwnedView<B>, Error> {
        OwnedView::opened(bytes, |bytes| View::open(bytes))
    }

    /// Opens an encoded filter without verifying its lines: as [`View::open_unverified`].
    ///
    /// # Errors
    /// As [`View::open_unverified`].
    pub fn open_unverified(bytes: B) -> Result<OwnedView<B>, Error> {
        OwnedView::opened(bytes, |bytes| View::open_unverified(bytes))
    }

    pub(super) fn opened(
        bytes: B,
        open: impl FnOnce(&[u8]) -> Result<View<'_>, Error>,
    ) -> Result<OwnedView<B>, Error> {
        let all = bytes.as_ref();
        let (view, first) = (open(all)?, all.as_ptr().addr());
        let (reach, View { lines, detail, hash, key_count, kernel, .. }) = (view.reach(), view);
        let lines = match Found::constant(lines.as_slice()) {
            Some(constant) => Lines::Constant(constant),
            None => Lines::Bytes { lines: view.movable(), behind: lines.start().addr() - first },
        };
        Ok(OwnedView { bytes, lines, reach, detail, hash, key_count, kernel })
    }

    /// Returns a view of the filter, cheap to copy and to pass on.
    #[inline]
    pub fn view(&self) -> View<'_> {
        let OwnedView { detail, hash, key_count, kernel, .. } = *self;
        match (self.found(), self.lines) {
            (Some((lines, single)), _) => View { lines, detail, hash, key_count, kernel, single },
            (None, Lines::Constant(lines)) => {
                View::of(lines.into(), detail, hash, key_count, kernel)
            }
            (None, Lines::Bytes { .. }) => self.anything(),
        }
    }

    /// The lines, where they are. None if the bytes are gone, or the answer is the same for all keys.
    #[inline(always)]
    fn found(&self) -> Option<(Probed<'_>, Single<'_>)> {
        let Lines::Bytes { lines, behind } = &self.lines else { return None };
        lines.at(self.bytes.as_ref().get(*behind..)?.get(..self.reach)?.into())
    }

    /// Makes no view: of what it writes, half would be for other calls.
    #[inline(always)]
    fn contains_one(&self, hash: u64) -> bool {
        match self.found() {
            Some((_, single)) => single.contains(hash),
            None => self.view().contains_hash(hash),
        }
    }

    /// The same for two hashes, in the caller's code, if that takes less time than a call.
    #[inline(always)]
    fn contains_two(&self, first: u64, second: u64) -> Option<u64> {
        self.kernel.probe_two(&self.found()?.1, first, second)
    }

    /// The same for a few hashes.
    #[inline(always)]
    fn contains_few(&self, hashes: &[u64], word: &mut u64) -> usize {
        match self.found() {
            Some((_, single)) => self.kernel.probe_few(&single, self.detail, hashes, word),
            None => self.view().contains_hashes(hashes, from_mut(word)),
        }
    }

    pub(super) fn key_hash(&self) -> KeyHash {
        self.hash
    }

    /// If the bytes are gone, every key may be present.
    #[cold]
    fn anything(&self) -> View<'_> {
        // Not `expect`, for which a C program would have all that prints floating-point numbers.
        let Ok(kernels) = Kernels::active() else { panic!("they were chosen when it was opened") };
        View::found(Found::anything(self.hash, kernels))
    }

    /// Returns line count, k and seed: see [`View::params`].
    pub fn params(&self) -> Option<Params> {
        self.view().params()
    }

    /// Returns the writer's key count, repeated keys counted; 0 if there is none.
    pub fn key_count(&self) -> u64 {
        self.key_count
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

probing!(OwnedView<B>, view where B: AsRef<[u8]>);

impl<B: AsRef<[u8]>> fmt::Debug for OwnedView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        brief(f, "OwnedView", &self.view())
    }
}

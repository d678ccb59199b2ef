//! What the reader of a filter block found: lines, with the kernel and the hash of their layout.

use super::choice::Kernels;
use super::functions::Kernel;
use super::layout::Layout;
use crate::hash::KeyHash;
use crate::line::LINE_BYTES;

/// What a reader found: all that a probe needs.
pub(crate) struct Found<'a> {
    pub(crate) lines: &'a [u8],
    pub(crate) k: u32,
    pub(crate) kernel: &'static Kernel,
    pub(crate) hash: KeyHash,
}

static FULL: [u8; LINE_BYTES] = [0xFF; LINE_BYTES];
static EMPTY: [u8; LINE_BYTES] = [0; LINE_BYTES];

impl Found<'_> {
    /// A filter that answers "maybe" to every key, for bytes that cannot be read.
    pub(crate) fn anything(hash: KeyHash, kernels: Kernels) -> Found<'static> {
        Found { lines: &FULL, k: 1, kernel: kernels.of(Layout::Native), hash }
    }

    /// The lines of a filter that says the same to every key, if these are they.
    pub(crate) fn constant(lines: &[u8]) -> Option<&'static [u8]> {
        [&FULL[..], &EMPTY[..]].into_iter().find(|constant| std::ptr::eq(*constant, lines))
    }

    /// A filter that says "no" to every key: that of no keys.
    pub(crate) fn nothing(hash: KeyHash, kernels: Kernels) -> Found<'static> {
        Found { lines: &EMPTY, k: 1, kernel: kernels.of(Layout::Native), hash }
    }
}

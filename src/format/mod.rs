//! Bytes and filters: what is written to disk and to the wire, and read back by bounded readers
//! only.

pub(crate) mod cuckoo;
pub(crate) mod encoded;
pub(crate) mod native;
pub(crate) mod scalable;
pub(crate) mod window;

use crate::hash::KeyHash;
use crate::kernel::{Kernel, Kernels, Layout};
use crate::line::LINE_BYTES;

/// What a reader found: everything a probe needs.
pub(crate) struct Found<'a> {
    pub(crate) lines: &'a [u8],
    pub(crate) k: u32,
    pub(crate) kernel: &'static Kernel,
    pub(crate) hash: KeyHash,
}

impl Found<'_> {
    /// A filter that says "maybe" to every key: what cannot be read must not hide one.
    pub(crate) fn anything(hash: KeyHash, kernels: &Kernels) -> Found<'static> {
        static FULL: [u8; LINE_BYTES] = [0xFF; LINE_BYTES];
        Found { lines: &FULL, k: 1, kernel: kernels.of(Layout::Native), hash }
    }

    /// A filter that says "no" to every key: that of no keys.
    pub(crate) fn nothing(hash: KeyHash, kernels: &Kernels) -> Found<'static> {
        static EMPTY: [u8; LINE_BYTES] = [0; LINE_BYTES];
        Found { lines: &EMPTY, k: 1, kernel: kernels.of(Layout::Native), hash }
    }
}

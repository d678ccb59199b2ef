//! Bytes and filters: what is written to disk and to the wire, and read back by
//! bounded readers only. Uses `kernel`, `params`, `cuckoo_params`, `hash` and `line`.

pub(crate) mod cuckoo;
pub(crate) mod leveldb;
pub(crate) mod native;
pub(crate) mod rocksdb;
pub(crate) mod scalable;
pub(crate) mod window;

use crate::error::Error;
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

/// Fills `out` with the parts of an encoded filter, one behind the other; it is as long as they
/// are together.
pub(crate) fn copy_parts(parts: &[&[u8]], mut out: &mut [u8]) {
    for part in parts {
        let (here, behind) = out.split_at_mut(part.len());
        here.copy_from_slice(part);
        out = behind;
    }
}

/// The parts of an encoded filter, one behind the other.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn concat(parts: &[&[u8]]) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let len = parts.iter().map(|part| part.len()).sum();
    bytes.try_reserve_exact(len).map_err(|_| Error::OutOfMemory)?;
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    Ok(bytes)
}

//! Bytes and filters: what is written to disk and to the wire, and read back by bounded readers
//! only.

pub(crate) mod cuckoo;
mod kind;
pub(crate) mod native;
pub(crate) mod scalable;
pub(crate) mod window;

pub use kind::Kind;

use crate::error::Error;
use crate::hash::KeyHash;
use crate::kernel::{Kernel, Kernels, Layout};
use crate::line::LINE_BYTES;
use crate::os::room::Room;

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

/// Writes the parts of an encoded filter to the start of `out`, one behind the other, and returns
/// their length.
///
/// # Errors
/// [`Error::BufferTooSmall`], with nothing written.
pub(crate) fn write_parts(parts: &[&[u8]], out: Room<'_>) -> Result<usize, Error> {
    let len = parts.iter().map(|part| part.len()).sum();
    let mut out = out.first(len)?;
    parts.iter().for_each(|part| out.put(part));
    Ok(len)
}

/// The parts of an encoded filter, one behind the other.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn concat(parts: &[&[u8]]) -> Result<Vec<u8>, Error> {
    let len = parts.iter().map(|part| part.len()).sum();
    Room::vec(len, |room| parts.iter().for_each(|part| room.put(part)))
}

//! The encoded forms of filters, and readers that access nothing outside of the bytes given.

pub(crate) mod cuckoo;
pub(crate) mod native;
pub(crate) mod scalable;
pub(crate) mod window;

use crate::error::Error;
use crate::hash::KeyHash;
use crate::kernel::{Kernel, Kernels, Layout};
use crate::line::LINE_BYTES;
use crate::os::room::Room;

/// What a reader found: all that a probe needs.
pub(crate) struct Found<'a> {
    pub(crate) lines: &'a [u8],
    pub(crate) k: u32,
    pub(crate) kernel: &'static Kernel,
    pub(crate) hash: KeyHash,
}

impl Found<'_> {
    /// A filter that answers "maybe" to every key, for bytes that cannot be read.
    pub(crate) fn anything(hash: KeyHash, kernels: &Kernels) -> Found<'static> {
        static FULL: [u8; LINE_BYTES] = [0xFF; LINE_BYTES];
        Found { lines: &FULL, k: 1, kernel: kernels.of(Layout::Native), hash }
    }

    /// A filter without keys, which answers "no" to every key.
    pub(crate) fn nothing(hash: KeyHash, kernels: &Kernels) -> Found<'static> {
        static EMPTY: [u8; LINE_BYTES] = [0; LINE_BYTES];
        Found { lines: &EMPTY, k: 1, kernel: kernels.of(Layout::Native), hash }
    }
}

/// Writes the concatenated parts of an encoded filter to the start of `out`, and returns their
/// length.
///
/// # Errors
/// [`Error::BufferTooSmall`], with nothing written.
pub(crate) fn write_parts(parts: &[&[u8]], out: Room<'_>) -> Result<usize, Error> {
    let len = parts.iter().map(|part| part.len()).sum();
    let mut out = out.first(len)?;
    parts.iter().for_each(|part| out.put(part));
    Ok(len)
}

/// Concatenates the parts of an encoded filter.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn concat(parts: &[&[u8]]) -> Result<Vec<u8>, Error> {
    let len = parts.iter().map(|part| part.len()).sum();
    Room::vec(len, |room| parts.iter().for_each(|part| room.put(part)))
}

//! What can go wrong, one variant per status of the C ABI.

use std::fmt;

/// Why a filter could not be made, read or written.
///
/// Probes cannot fail, nor inserts into a Bloom filter; only making, combining, reading and
/// writing filters can, and changing those that keep count of their keys.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The false-positive rate asked for is not between 0 and 1, or too small to size for.
    Rate,
    /// The bits per key asked for are not a positive finite number.
    BitsPerKey,
    /// k is outside 1 to 16, or the fingerprint bits of a cuckoo filter are not 8, 12 or 16.
    K,
    /// The line count is zero, as in parameters that nobody filled in, or more than memory can
    /// address.
    LineCount,
    /// The system has not got the memory.
    OutOfMemory,
    /// The buffer given is too small for what is to be written.
    BufferTooSmall,
    /// The two filters differ in line count, k, seed or type: plain and classic filters do not
    /// match.
    Mismatch,
    /// Only a filter with an even number of lines can be folded.
    OddLineCount,
    /// `BLOOMLINE_BACKEND` names a backend that does not exist or that this CPU lacks.
    Backend,
    /// Fewer bytes than a footer, such as none, or not the length that the footer states.
    Truncated,
    /// The bytes do not end with the magic of the format.
    NotAFilter,
    /// Written in a version of the format that this library does not know.
    Version,
    /// A layout of lines that this version does not know, or that does not allow what is asked
    /// for.
    Layout,
    /// The bytes were altered: a checksum does not match.
    Checksum,
    /// A field that must be zero is not.
    Reserved,
    /// The key is surely not in the filter, so it cannot be removed; nothing was changed.
    Absent,
    /// There is no room in the filter for the key; nothing was changed.
    Full,
    /// A window needs at least one generation, and can have 2^32 - 1.
    Generations,
    /// Fewer hashes were given than the filter has keys; the new filter would deny some of them.
    KeyCount,
    /// The path leads to something that is not a regular file: a directory, a pipe, a device. It
    /// was neither read nor replaced.
    NotAFile,
    /// The operating system refused to read or write a file.
    Io(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Rate => "the false-positive rate is too small, or not between 0 and 1",
            Error::BitsPerKey => "the bits per key are not a positive finite number",
            Error::K => "k is outside 1 to 16, or fingerprint bits are not 8, 12 or 16",
            Error::LineCount => "the line count is zero (parameters not filled in?) or too large",
            Error::OutOfMemory => "out of memory",
            Error::BufferTooSmall => "the buffer is too small",
            Error::Mismatch => "filters do not match: line count, k, seed and type must be equal",
            Error::OddLineCount => "a filter with an odd number of lines cannot be folded",
            Error::Backend => {
                "backend unknown or not supported by this CPU; check BLOOMLINE_BACKEND"
            }
            Error::Truncated => "wrong data length: empty, truncated, or extra bytes",
            Error::NotAFilter => "the data is not a Bloomline filter, or its end is missing",
            Error::Version => "the filter has an unknown format version",
            Error::Layout => "unsupported layout, or operation not supported for it",
            Error::Checksum => "the filter is damaged: a checksum does not match",
            Error::Reserved => "a reserved field is not zero",
            Error::Absent => "the key is definitely absent",
            Error::Full => "the filter is full",
            Error::Generations => "a window needs 1 to 2^32 - 1 generations",
            Error::KeyCount => "fewer keys than the filter has: give each key again",
            Error::NotAFile => "the path leads to something other than a regular file",
            Error::Io(error) => return write!(f, "input or output failed: {error}"),
        })
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::Io(error)
    }
}

//! `bloomline_status`: its numbers and their messages.
//!
//! Numbers are only ever added, at the end; one that is no longer returned keeps its
//! place.

use crate::Error;
use std::ffi::{CStr, c_char};
use std::io::ErrorKind;

/// What a function that can fail returns: BLOOMLINE_OK (0), or a positive BLOOMLINE_ERR_ number.
/// The numbers never change their meaning; later versions may return others, which are errors too.
pub type bloomline_status = i32;

/// Success.
pub const BLOOMLINE_OK: bloomline_status = 0;
/// A pointer was NULL (or an array misaligned) where that is not allowed.
pub const BLOOMLINE_ERR_NULL: bloomline_status = 1;
/// The target false-positive rate is not between 0 and 1, both excluded.
pub const BLOOMLINE_ERR_RATE: bloomline_status = 2;
/// The bits per key are not a positive finite number.
pub const BLOOMLINE_ERR_BITS_PER_KEY: bloomline_status = 3;
/// k, the number of bits that a key sets, is outside 1 to 16. Of data also: the number in the place
/// of k is none that this type of filter has.
pub const BLOOMLINE_ERR_K: bloomline_status = 4;
/// The line count is more than the type of filter, or memory, can have. Of data also: it is 0.
pub const BLOOMLINE_ERR_LINE_COUNT: bloomline_status = 5;
/// Out of memory.
pub const BLOOMLINE_ERR_OUT_OF_MEMORY: bloomline_status = 6;
/// The buffer is too small for the result.
pub const BLOOMLINE_ERR_BUFFER_TOO_SMALL: bloomline_status = 7;
/// The two filters differ in line count, k, seed or type (plain or classic).
pub const BLOOMLINE_ERR_MISMATCH: bloomline_status = 8;
/// A filter with an odd number of lines cannot be folded.
pub const BLOOMLINE_ERR_ODD_LINE_COUNT: bloomline_status = 9;
/// BLOOMLINE_BACKEND names a backend that this CPU does not have, or that does not exist.
pub const BLOOMLINE_ERR_BACKEND: bloomline_status = 10;
/// The data is shorter than any filter, or has not the length that it states.
pub const BLOOMLINE_ERR_TRUNCATED: bloomline_status = 11;
/// The data does not end as a filter does: it is something else, or was cut off.
pub const BLOOMLINE_ERR_NOT_A_FILTER: bloomline_status = 12;
/// The data has an unknown format version.
pub const BLOOMLINE_ERR_VERSION: bloomline_status = 13;
/// The layout of the data is unknown, or does not support the operation.
pub const BLOOMLINE_ERR_LAYOUT: bloomline_status = 14;
/// The data is damaged: a checksum does not match.
pub const BLOOMLINE_ERR_CHECKSUM: bloomline_status = 15;
/// A field that must be zero is not, in the data or in a bloomline_params.
pub const BLOOMLINE_ERR_RESERVED: bloomline_status = 16;
/// Reading or writing failed.
pub const BLOOMLINE_ERR_IO: bloomline_status = 17;
/// There is no such file or directory.
pub const BLOOMLINE_ERR_NOT_FOUND: bloomline_status = 18;
/// The file may not be read or written by this process.
pub const BLOOMLINE_ERR_PERMISSION: bloomline_status = 19;
/// A bug in the library, caught before it could do harm. Free the handle that the call was to
/// change, and please report the bug.
pub const BLOOMLINE_ERR_INTERNAL: bloomline_status = 20;
/// The key is definitely absent, and so cannot be removed; nothing changed.
pub const BLOOMLINE_ERR_ABSENT: bloomline_status = 21;
/// The filter is full; nothing changed.
pub const BLOOMLINE_ERR_FULL: bloomline_status = 22;
/// A window needs 1 to 2^32 - 1 generations.
pub const BLOOMLINE_ERR_GENERATIONS: bloomline_status = 23;
/// Fewer keys were given than the filter has: some would be false negatives.
pub const BLOOMLINE_ERR_KEY_COUNT: bloomline_status = 24;
/// The path leads to something other than a regular file, which was neither read nor replaced.
pub const BLOOMLINE_ERR_NOT_A_FILE: bloomline_status = 25;
/// Both sets of a cascade have a key of one hash: the same key, or two keys that another seed tells
/// apart.
pub const BLOOMLINE_ERR_OVERLAP: bloomline_status = 26;
/// The parameters are not filled in: their line count is 0.
pub const BLOOMLINE_ERR_NO_LINES: bloomline_status = 27;
/// The target false-positive rate is between 0 and 1, but less than this type of filter reaches.
pub const BLOOMLINE_ERR_RATE_TOO_SMALL: bloomline_status = 28;
/// The bits per key are fewer than this type of filter takes.
pub const BLOOMLINE_ERR_TOO_FEW_BITS: bloomline_status = 29;
/// The bits of a cuckoo filter's fingerprints are not 8, 12 or 16.
pub const BLOOMLINE_ERR_FINGERPRINT_BITS: bloomline_status = 30;
/// The rows of a static filter are outside 4 to 16.
pub const BLOOMLINE_ERR_ROWS: bloomline_status = 31;
/// The value of BLOOMLINE_PREFETCH is unknown.
pub const BLOOMLINE_ERR_PREFETCH: bloomline_status = 32;
/// A matrix needs 1 to 2^32 - 1 columns.
pub const BLOOMLINE_ERR_COLUMNS: bloomline_status = 33;
/// The matrix has no column of this number.
pub const BLOOMLINE_ERR_COLUMN: bloomline_status = 34;
/// The filter cannot be a column of the matrix: it is not plain, or its line count, k or seed do not
/// fit. bloomline_params_foldable_to() makes parameters that do.
pub const BLOOMLINE_ERR_COLUMN_SHAPE: bloomline_status = 35;

/// The last number.
#[cfg(test)]
const LAST: bloomline_status = BLOOMLINE_ERR_COLUMN_SHAPE;

/// The number for an error.
pub(super) fn status_of(error: &Error) -> bloomline_status {
    match error {
        Error::Rate(_) => BLOOMLINE_ERR_RATE,
        Error::RateTooSmall(_) => BLOOMLINE_ERR_RATE_TOO_SMALL,
        Error::BitsPerKey(_) => BLOOMLINE_ERR_BITS_PER_KEY,
        Error::TooFewBits(_) => BLOOMLINE_ERR_TOO_FEW_BITS,
        Error::K(_) => BLOOMLINE_ERR_K,
        Error::FingerprintBits(_) => BLOOMLINE_ERR_FINGERPRINT_BITS,
        Error::Rows(_) => BLOOMLINE_ERR_ROWS,
        Error::NoLines => BLOOMLINE_ERR_NO_LINES,
        Error::LineCount(_) => BLOOMLINE_ERR_LINE_COUNT,
        Error::OutOfMemory => BLOOMLINE_ERR_OUT_OF_MEMORY,
        Error::BufferTooSmall { .. } => BLOOMLINE_ERR_BUFFER_TOO_SMALL,
        Error::Mismatch => BLOOMLINE_ERR_MISMATCH,
        Error::OddLineCount(_) => BLOOMLINE_ERR_ODD_LINE_COUNT,
        Error::Backend => BLOOMLINE_ERR_BACKEND,
        Error::Prefetch => BLOOMLINE_ERR_PREFETCH,
        Error::Truncated { .. } => BLOOMLINE_ERR_TRUNCATED,
        Error::NotAFilter => BLOOMLINE_ERR_NOT_A_FILTER,
        Error::Version(_) => BLOOMLINE_ERR_VERSION,
        Error::Layout(_) => BLOOMLINE_ERR_LAYOUT,
        Error::Checksum => BLOOMLINE_ERR_CHECKSUM,
        Error::Reserved => BLOOMLINE_ERR_RESERVED,
        Error::Absent => BLOOMLINE_ERR_ABSENT,
        Error::Full => BLOOMLINE_ERR_FULL,
        Error::Generations(_) => BLOOMLINE_ERR_GENERATIONS,
        Error::KeyCount { .. } => BLOOMLINE_ERR_KEY_COUNT,
        Error::Overlap(_) => BLOOMLINE_ERR_OVERLAP,
        Error::Columns(_) => BLOOMLINE_ERR_COLUMNS,
        Error::Column(_) => BLOOMLINE_ERR_COLUMN,
        Error::ColumnShape { .. } => BLOOMLINE_ERR_COLUMN_SHAPE,
        Error::NotAFile => BLOOMLINE_ERR_NOT_A_FILE,
        Error::Io(error) => match error.kind() {
            ErrorKind::NotFound => BLOOMLINE_ERR_NOT_FOUND,
            ErrorKind::PermissionDenied => BLOOMLINE_ERR_PERMISSION,
            ErrorKind::OutOfMemory => BLOOMLINE_ERR_OUT_OF_MEMORY,
            _ => BLOOMLINE_ERR_IO,
        },
    }
}

/// The text for a number, known or not.
fn message(status: bloomline_status) -> &'static CStr {
    match status {
        BLOOMLINE_OK => c"success",
        BLOOMLINE_ERR_NULL => c"a pointer is NULL or misaligned",
        BLOOMLINE_ERR_RATE => c"the false-positive rate is not between 0 and 1",
        BLOOMLINE_ERR_BITS_PER_KEY => c"the bits per key are not a positive finite number",
        BLOOMLINE_ERR_K => c"k is outside its range, which is 1 to 16 in a Bloom filter",
        BLOOMLINE_ERR_LINE_COUNT => {
            c"the line count is outside 1 to 2^57 - 2 (fewer in some types of filter, and on 32 bits)"
        }
        BLOOMLINE_ERR_OUT_OF_MEMORY => c"out of memory",
        BLOOMLINE_ERR_BUFFER_TOO_SMALL => c"the buffer is too small",
        BLOOMLINE_ERR_MISMATCH => {
            c"filters do not match: line count, k, seed and type must be equal"
        }
        BLOOMLINE_ERR_ODD_LINE_COUNT => c"a filter with an odd number of lines cannot be folded",
        BLOOMLINE_ERR_BACKEND => {
            c"the backend is not one that this CPU has; check BLOOMLINE_BACKEND"
        }
        BLOOMLINE_ERR_TRUNCATED => c"wrong data length: empty, truncated, or extra bytes",
        BLOOMLINE_ERR_NOT_A_FILTER => c"the data is not a Bloomline filter, or its end is missing",
        BLOOMLINE_ERR_VERSION => c"the filter has an unknown format version",
        BLOOMLINE_ERR_LAYOUT => c"the layout is not one that this operation supports",
        BLOOMLINE_ERR_CHECKSUM => c"the filter is damaged: a checksum does not match",
        BLOOMLINE_ERR_RESERVED => c"a reserved field is not zero",
        BLOOMLINE_ERR_IO => c"reading or writing a file failed",
        BLOOMLINE_ERR_NOT_FOUND => c"no such file or directory",
        BLOOMLINE_ERR_PERMISSION => c"permission denied",
        BLOOMLINE_ERR_INTERNAL => c"internal error: a bug in the library",
        BLOOMLINE_ERR_ABSENT => c"the key is definitely absent",
        BLOOMLINE_ERR_FULL => c"the filter is full",
        BLOOMLINE_ERR_GENERATIONS => c"a window needs 1 to 2^32 - 1 generations",
        BLOOMLINE_ERR_KEY_COUNT => c"fewer keys than the filter has: give each key again",
        BLOOMLINE_ERR_NOT_A_FILE => c"the path leads to something other than a regular file",
        BLOOMLINE_ERR_OVERLAP => {
            c"both sets have a key of one hash: remove it from one, or change the seed"
        }
        BLOOMLINE_ERR_NO_LINES => c"the parameters are not filled in: the line count is 0",
        BLOOMLINE_ERR_RATE_TOO_SMALL => {
            c"the false-positive rate is too small: plain filters reach 3e-24, scalable 1e-15, cuckoo 0.000116, static 2^-16"
        }
        BLOOMLINE_ERR_TOO_FEW_BITS => {
            c"the bits per key are too few: a static filter takes 4.22, a RocksDB block 0.5"
        }
        BLOOMLINE_ERR_FINGERPRINT_BITS => c"the fingerprint bits are not 8, 12 or 16",
        BLOOMLINE_ERR_ROWS => c"the rows are outside 4 to 16",
        BLOOMLINE_ERR_PREFETCH => c"BLOOMLINE_PREFETCH is not none, far or near",
        BLOOMLINE_ERR_COLUMNS => c"a matrix needs 1 to 2^32 - 1 columns",
        BLOOMLINE_ERR_COLUMN => c"the matrix has no such column",
        BLOOMLINE_ERR_COLUMN_SHAPE => {
            c"the filter is no column of the matrix: it needs its k and seed, and its line count, or that times 2, 4, 8 and so on"
        }
        _ => c"unknown status",
    }
}

exports! {
/// bloomline_status_message() returns what 'status' means: one line of English without a full stop.
/// The text is static. Accepts any number, and never returns NULL.
fn bloomline_status_message(status: bloomline_status) -> *const c_char {
    message(status).as_ptr()
}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_status_has_a_message_of_its_own() {
        let texts: HashSet<_> = (0..=LAST).map(message).collect();
        assert_eq!(texts.len(), LAST as usize + 1);
        for unknown in [-1, LAST + 1, i32::MIN, i32::MAX] {
            assert_eq!(message(unknown), c"unknown status");
        }
        assert!(!texts.contains(c"unknown status"));
    }

    /// A message says one thing that is wrong. Here is why some leave more than one open.
    #[test]
    fn messages_have_one_cause() {
        let open = [
            (BLOOMLINE_ERR_NULL, "one check refuses both, as neither can be read"),
            (BLOOMLINE_ERR_NOT_A_FILTER, "bytes do not tell which"),
            (BLOOMLINE_ERR_TRUNCATED, "the two lengths behind it tell which"),
            (BLOOMLINE_ERR_IO, "the caller knows which it was"),
            (BLOOMLINE_ERR_NOT_FOUND, "what the system says of it"),
            (BLOOMLINE_ERR_FINGERPRINT_BITS, "it lists what is valid"),
            (BLOOMLINE_ERR_PREFETCH, "it lists what is valid"),
            (BLOOMLINE_ERR_OVERLAP, "it lists what helps"),
            (BLOOMLINE_ERR_COLUMN_SHAPE, "it lists what fits"),
        ];
        for status in 0..=LAST {
            let text = message(status).to_str().unwrap();
            let several = text.contains(" or ");
            assert_eq!(several, open.iter().any(|&(other, _)| other == status), "{text}");
        }
    }

    /// What Rust says of an error is what C says of its number, and behind it the value.
    #[test]
    fn messages_are_those_of_the_errors() {
        for error in [
            Error::Rate(0.5),
            Error::Overlap(5),
            Error::Columns(0),
            Error::Column(5),
            Error::ColumnShape { line_count: 5, k: 6 },
            Error::BitsPerKey(0.5),
            Error::RateTooSmall(0.5),
            Error::TooFewBits(0.5),
            Error::K(7),
            Error::FingerprintBits(7),
            Error::Rows(7),
            Error::NoLines,
            Error::LineCount(7),
            Error::OutOfMemory,
            Error::BufferTooSmall { needed: 2, given: 1 },
            Error::Mismatch,
            Error::OddLineCount(7),
            Error::Backend,
            Error::Prefetch,
            Error::Truncated { needed: 2, given: 1 },
            Error::NotAFilter,
            Error::Version(7),
            Error::Layout(7),
            Error::Checksum,
            Error::Reserved,
            Error::Absent,
            Error::Full,
            Error::Generations(7),
            Error::KeyCount { needed: 2, given: 1 },
            Error::NotAFile,
        ] {
            let text = message(status_of(&error)).to_str().unwrap();
            let (said, value) = (error.to_string(), format!("{error:?}").contains(['(', '{']));
            assert_eq!(said.strip_prefix(text).map(|rest| rest.starts_with(": ")), Some(value));
        }
    }

    #[test]
    fn system_errors_are_told_apart() {
        for (kind, status) in [
            (ErrorKind::NotFound, BLOOMLINE_ERR_NOT_FOUND),
            (ErrorKind::PermissionDenied, BLOOMLINE_ERR_PERMISSION),
            (ErrorKind::OutOfMemory, BLOOMLINE_ERR_OUT_OF_MEMORY),
            (ErrorKind::StorageFull, BLOOMLINE_ERR_IO),
        ] {
            assert_eq!(status_of(&std::io::Error::from(kind).into()), status, "{kind:?}");
        }
    }
}

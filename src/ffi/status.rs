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
/// k, the number of bits that a key sets, is outside 1 to 16. Functions that read data also return
/// it for other types of filters, if their fingerprint bits, their rows or the number of their
/// parts is out of range.
pub const BLOOMLINE_ERR_K: bloomline_status = 4;
/// The line count is more than the type of filter, or memory, can have. Functions that read data
/// also return it for a line count of 0.
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
/// The data is shorter than any filter, or its length is not the one that it states.
pub const BLOOMLINE_ERR_TRUNCATED: bloomline_status = 11;
/// The data does not end as a filter does: it is something else, or was cut off.
pub const BLOOMLINE_ERR_NOT_A_FILTER: bloomline_status = 12;
/// The data has an unknown format version.
pub const BLOOMLINE_ERR_VERSION: bloomline_status = 13;
/// The layout of the data, or of parameters, is unknown, or another than the operation takes.
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
/// A growing filter made for an unknown number of keys cannot be frozen or subtracted from.
pub const BLOOMLINE_ERR_UNBOUNDED: bloomline_status = 36;
/// A record of a journal does not follow on the last one, or is of another filter.
pub const BLOOMLINE_ERR_SEQUENCE: bloomline_status = 37;
/// 32 layers of a cascade do not tell its two sets apart: somebody chose the hashes for that.
pub const BLOOMLINE_ERR_LAYERS: bloomline_status = 38;
/// The filter, or its parameters, are those of a standard Bloom filter, and the operation needs all
/// bits of a key in one line.
pub const BLOOMLINE_ERR_CLASSIC: bloomline_status = 39;
/// The journal is open elsewhere, and has one writer.
pub const BLOOMLINE_ERR_LOCKED: bloomline_status = 40;

/// Which number is which error: from it C has its text. Where the system failed, that says more.
macro_rules! numbers {
    ($($number:ident = $error:ident $(($value:ident))? $({ $($field:ident),* })?;)*) => {
        /// The number for an error.
        pub(super) fn status_of(error: &Error) -> bloomline_status {
            match error {
                $(Error::$error { .. } => $number,)*
                Error::Io(error) => match error.kind() {
                    ErrorKind::NotFound => BLOOMLINE_ERR_NOT_FOUND,
                    ErrorKind::PermissionDenied => BLOOMLINE_ERR_PERMISSION,
                    ErrorKind::OutOfMemory => BLOOMLINE_ERR_OUT_OF_MEMORY,
                    // Of the library's own, not the system's EAGAIN.
                    ErrorKind::WouldBlock if error.raw_os_error().is_none() => BLOOMLINE_ERR_LOCKED,
                    _ => BLOOMLINE_ERR_IO,
                },
            }
        }

        /// The text for a number, known or not.
        fn message(status: bloomline_status) -> &'static CStr {
            match status {
                BLOOMLINE_OK => c"success",
                BLOOMLINE_ERR_NULL => c"a pointer is NULL or misaligned",
                BLOOMLINE_ERR_IO => c"input or output failed",
                BLOOMLINE_ERR_NOT_FOUND => c"no such file or directory",
                BLOOMLINE_ERR_PERMISSION => c"permission denied",
                BLOOMLINE_ERR_LOCKED => c"the file is open elsewhere, and has one writer",
                BLOOMLINE_ERR_INTERNAL => c"internal error: a bug in the library",
                $($number => {
                    Error::$error $(($value::default()))? $({ $($field: Default::default()),* })?.text()
                })*
                _ => c"unknown status",
            }
        }
    };
}

numbers! {
    BLOOMLINE_ERR_RATE = Rate(f64);
    BLOOMLINE_ERR_RATE_TOO_SMALL = RateTooSmall(f64);
    BLOOMLINE_ERR_BITS_PER_KEY = BitsPerKey(f64);
    BLOOMLINE_ERR_TOO_FEW_BITS = TooFewBits(f64);
    BLOOMLINE_ERR_K = K(u32);
    BLOOMLINE_ERR_FINGERPRINT_BITS = FingerprintBits(u32);
    BLOOMLINE_ERR_ROWS = Rows(u32);
    BLOOMLINE_ERR_NO_LINES = NoLines;
    BLOOMLINE_ERR_LINE_COUNT = LineCount(u64);
    BLOOMLINE_ERR_OUT_OF_MEMORY = OutOfMemory;
    BLOOMLINE_ERR_BUFFER_TOO_SMALL = BufferTooSmall { needed, given };
    BLOOMLINE_ERR_MISMATCH = Mismatch;
    BLOOMLINE_ERR_ODD_LINE_COUNT = OddLineCount(u64);
    BLOOMLINE_ERR_BACKEND = Backend;
    BLOOMLINE_ERR_PREFETCH = Prefetch;
    BLOOMLINE_ERR_TRUNCATED = Truncated { needed, given };
    BLOOMLINE_ERR_NOT_A_FILTER = NotAFilter;
    BLOOMLINE_ERR_VERSION = Version(u16);
    BLOOMLINE_ERR_LAYOUT = Layout(u16);
    BLOOMLINE_ERR_CLASSIC = Classic;
    BLOOMLINE_ERR_CHECKSUM = Checksum;
    BLOOMLINE_ERR_RESERVED = Reserved;
    BLOOMLINE_ERR_ABSENT = Absent;
    BLOOMLINE_ERR_FULL = Full;
    BLOOMLINE_ERR_GENERATIONS = Generations(u64);
    BLOOMLINE_ERR_KEY_COUNT = KeyCount { needed, given };
    BLOOMLINE_ERR_OVERLAP = Overlap(u64);
    BLOOMLINE_ERR_LAYERS = Layers;
    BLOOMLINE_ERR_COLUMNS = Columns(u64);
    BLOOMLINE_ERR_COLUMN = Column(u64);
    BLOOMLINE_ERR_COLUMN_SHAPE = ColumnShape { line_count, k, seed_differs };
    BLOOMLINE_ERR_UNBOUNDED = Unbounded;
    BLOOMLINE_ERR_SEQUENCE = Sequence { last, given };
    BLOOMLINE_ERR_NOT_A_FILE = NotAFile;
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

    const LAST: bloomline_status = BLOOMLINE_ERR_LOCKED;

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
            (BLOOMLINE_ERR_UNBOUNDED, "the caller knows which it was"),
        ];
        for status in 0..=LAST {
            let text = message(status).to_str().unwrap();
            let several = text.contains(" or ");
            assert_eq!(several, open.iter().any(|&(other, _)| other == status), "{text}");
        }
    }

    #[test]
    fn system_errors_are_told_apart() {
        for (kind, status) in [
            (ErrorKind::NotFound, BLOOMLINE_ERR_NOT_FOUND),
            (ErrorKind::PermissionDenied, BLOOMLINE_ERR_PERMISSION),
            (ErrorKind::OutOfMemory, BLOOMLINE_ERR_OUT_OF_MEMORY),
            (ErrorKind::WouldBlock, BLOOMLINE_ERR_LOCKED),
            (ErrorKind::StorageFull, BLOOMLINE_ERR_IO),
        ] {
            assert_eq!(status_of(&std::io::Error::from(kind).into()), status, "{kind:?}");
        }
        #[cfg(unix)]
        {
            let of_the_system = std::io::Error::from_raw_os_error(libc::EAGAIN);
            assert_eq!(status_of(&of_the_system.into()), BLOOMLINE_ERR_IO);
        }
    }
}

//! What can go wrong: one variant per status of the C ABI, with the value that was wrong.

use std::ffi::CStr;
use std::fmt;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a filter could not be made, read or written.
///
/// Probes cannot fail, and neither can inserts into a Bloom filter. Making, combining, reading and writing
/// filters can fail, and so can inserts into and removals from filters that count, grow or become full.
///
/// ```
/// use bloomline::{Error, Params};
///
/// let error = Params::for_rate(1000, 1.5).unwrap_err();
/// assert_eq!(error, Error::Rate(1.5));
/// assert_eq!(
///     error.to_string(),
///     "the false-positive rate is not between 0 and 1: 1.5"
/// );
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// This target false-positive rate is not between 0 and 1.
    Rate(f64),
    /// This target false-positive rate is between 0 and 1, but less than this type of filter
    /// reaches.
    RateTooSmall(f64),
    /// These bits per key are not a positive finite number.
    BitsPerKey(f64),
    /// These bits per key are a positive number, but fewer than this type of filter takes.
    TooFewBits(f64),
    /// This k is outside 1 to 16. When bytes are read also: the number that other types of filters have in
    /// place of k, such as the number of stages, is out of its range.
    K(u32),
    /// These fingerprint bits of a cuckoo filter are not 8, 12 or 16.
    FingerprintBits(u32),
    /// These rows of a static filter are outside 4 to 16.
    Rows(u32),
    /// The line count of these parameters is 0, as nobody filled them in.
    NoLines,
    /// This line count is more than the type of filter allows, or than memory can address. When bytes are
    /// read it can also be 0. A number that 64 bits cannot hold is given as `u64::MAX`.
    LineCount(u64),
    /// The system refuses the memory.
    OutOfMemory,
    /// The buffer is too small for what is to be written.
    BufferTooSmall {
        /// The bytes to be written.
        needed: usize,
        /// The bytes of the buffer.
        given: usize,
    },
    /// The two filters differ in line count, k, seed or type: plain and classic filters do not
    /// match.
    Mismatch,
    /// Only a filter with an even number of lines can be folded. This one has so many.
    OddLineCount(u64),
    /// This CPU has no such backend, or `BLOOMLINE_BACKEND` names one that does not exist.
    Backend,
    /// `BLOOMLINE_PREFETCH` is none of `none`, `far` and `near`.
    Prefetch,
    /// The data is shorter than a footer, such as no bytes, or its length is not the one that the footer
    /// states.
    Truncated {
        /// The bytes that the footer states; those of a footer if there is none.
        needed: u64,
        /// The bytes of the data.
        given: u64,
    },
    /// The bytes do not end with the magic of the format. For a Parquet filter: they do not begin with a
    /// valid header.
    NotAFilter,
    /// Written in this version of the format, which this library does not know.
    Version(u16),
    /// This layout, a number of `docs/FORMAT.md`, is not one that the operation reads: it is that of another
    /// [`Kind`](crate::Kind), or unknown, or its Cargo feature is off. For a RocksDB block it is the byte that
    /// marks its type, for a Parquet filter the number of the algorithm, hash or compression, and 0 for a filter
    /// that has no such number.
    Layout(u16),
    /// The operation needs all bits of a key in one line, but the filter, or the parameters of the one to be
    /// made, are [classic](crate::Params::classic).
    Classic,
    /// The bytes were altered: a checksum does not match.
    Checksum,
    /// A field that must be zero is not.
    Reserved,
    /// The key is definitely absent, so it cannot be removed; the filter is unchanged.
    Absent,
    /// There is no room in the filter for the key; the filter is unchanged.
    Full,
    /// A window cannot have so many generations: at least one, and at most 2^32 - 1.
    Generations(u64),
    /// Fewer hashes were given than the filter has keys: the new filter would lack some of them.
    KeyCount {
        /// The keys of the filter.
        needed: u64,
        /// The hashes given.
        given: u64,
    },
    /// Both sets of a cascade have a key of this hash: the same key, or two keys that another seed
    /// tells apart.
    Overlap(u64),
    /// 32 layers of a cascade do not tell its two sets apart. This happens only with hashes chosen for it, so
    /// keys hashed with a secret seed are told apart.
    Layers,
    /// A matrix cannot have so many columns: at least one, and at most 2^32 - 1.
    Columns(u64),
    /// The matrix has no column of this number.
    Column(u64),
    /// The filter cannot be a column of the matrix: it is not plain, or its parameters do not fit. They must
    /// have this k, the matrix's seed, and this number of lines or 2, 4, 8 and so on times as many: see
    /// [`Params::foldable_to`](crate::Params::foldable_to).
    ColumnShape {
        /// The lines of a column.
        line_count: u64,
        /// The k of all columns.
        k: u32,
        /// Whether the filter is a plain one with another seed. The seeds are left out, which may be
        /// secrets.
        seed_differs: bool,
    },
    /// The growing filter is unbounded: its prefixes have several lengths, so it cannot be frozen or
    /// subtracted from.
    Unbounded,
    /// The record of a journal does not follow on what is there: its sequence number is not above the last
    /// one, records between them are missing, or it is of another filter. Or a patch is applied to a filter
    /// that was also changed in another way, so no patch fits.
    Sequence {
        /// The number of the last record; 0 if there is none.
        last: u64,
        /// The number of this one.
        given: u64,
    },
    /// The path leads to something that is not a regular file: a directory, a pipe, a device. It
    /// was neither read nor replaced.
    NotAFile,
    /// The operating system failed to read or write.
    Io(IoError),
}

/// An [`io::Error`] that can be cloned and compared, and the path of the file that it is about. Two are equal
/// if they have the same kind and the same code of the operating system.
///
/// ```
/// let error = bloomline::Filter::load("no/such/file").unwrap_err();
/// let bloomline::Error::Io(error) = error else { panic!("{error}") };
/// assert_eq!(error.path(), Some(std::path::Path::new("no/such/file")));
/// ```
#[derive(Clone, Debug)]
pub struct IoError(Arc<Failure>);

#[derive(Debug)]
struct Failure {
    error: io::Error,
    path: Option<PathBuf>,
}

impl IoError {
    /// Returns the path as the caller gave it to `save`, `load` or `open`, absolute for a
    /// [`Journal`](crate::Journal) that is open; None for a stream.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }
}

impl Deref for IoError {
    type Target = io::Error;

    fn deref(&self) -> &io::Error {
        &self.0.error
    }
}

impl PartialEq for IoError {
    fn eq(&self, other: &IoError) -> bool {
        (self.kind(), self.raw_os_error()) == (other.kind(), other.raw_os_error())
    }
}

impl fmt::Display for IoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            Some(path) if path.as_os_str().is_empty() => f.write_str("the path is empty"),
            Some(path) => write!(f, "{}: {}", path.display(), self.0.error),
            None => self.0.error.fmt(f),
        }
    }
}

impl Error {
    /// The same error, about the file of this path if the system failed to read or write.
    pub(crate) fn at(mut self, path: &Path) -> Error {
        if let Error::Io(IoError(failure)) = &mut self
            && let Some(failure) = Arc::get_mut(failure)
        {
            let mut own = PathBuf::new();
            // Without memory the error has no path.
            if own.try_reserve_exact(path.as_os_str().len()).is_ok() {
                own.push(path);
                failure.path = Some(own);
            }
        }
        self
    }

    /// What is wrong with the rate asked for, if that has no filter.
    pub(crate) fn rate(rate: f64) -> Error {
        if rate > 0.0 && rate < 1.0 { Error::RateTooSmall(rate) } else { Error::Rate(rate) }
    }

    /// What is wrong with the bits per key asked for, if they have no filter.
    pub(crate) fn bits_per_key(bits: f64) -> Error {
        let positive = bits > 0.0 && bits.is_finite();
        if positive { Error::TooFewBits(bits) } else { Error::BitsPerKey(bits) }
    }

    /// What bytes say that have what these parameters cannot: nobody forgot to fill them in, and
    /// their footer calls fingerprint bits and rows k.
    pub(crate) fn of_bytes(self) -> Error {
        match self {
            Error::NoLines => Error::LineCount(0),
            Error::FingerprintBits(k) | Error::Rows(k) => Error::K(k),
            other => other,
        }
    }

    /// What is wrong, without the value: what C says of the status.
    pub(crate) fn text(&self) -> &'static CStr {
        match self {
            Error::Rate(_) => c"the false-positive rate is not between 0 and 1",
            Error::RateTooSmall(_) => {
                c"the false-positive rate is too small: plain filters reach 3e-24, scalable 1e-15, cuckoo 0.000116, static 2^-16"
            }
            Error::BitsPerKey(_) => c"the bits per key are not a positive finite number",
            Error::TooFewBits(_) => {
                c"the bits per key are too few: a static filter takes 4.22, a RocksDB block 0.5"
            }
            Error::K(_) => c"k is outside its range, which is 1 to 16 in a Bloom filter",
            Error::FingerprintBits(_) => c"the fingerprint bits are not 8, 12 or 16",
            Error::Rows(_) => c"the rows are outside 4 to 16",
            Error::NoLines => c"the parameters are not filled in: the line count is 0",
            Error::LineCount(_) => {
                c"the line count is outside 1 to 2^57 - 2 (fewer in some types of filter, and on 32 bits)"
            }
            Error::OutOfMemory => c"out of memory",
            Error::BufferTooSmall { .. } => c"the buffer is too small",
            Error::Mismatch => c"filters do not match: line count, k, seed and type must be equal",
            Error::OddLineCount(_) => c"a filter with an odd number of lines cannot be folded",
            Error::Backend => c"the backend is not one that this CPU has; check BLOOMLINE_BACKEND",
            Error::Prefetch => c"BLOOMLINE_PREFETCH is not none, far or near",
            Error::Truncated { .. } => c"wrong data length: empty, truncated, or extra bytes",
            Error::NotAFilter => c"the data is not a Bloomline filter, or its end is missing",
            Error::Version(_) => c"the filter has an unknown format version",
            Error::Layout(_) if cfg!(feature = "cuckoo") => {
                c"the layout is not one that this operation supports"
            }
            Error::Layout(_) => {
                c"the layout is not one that this operation supports; the feature cuckoo is off"
            }
            Error::Classic => {
                c"the operation needs all bits of a key in one line, and classic filters have them anywhere"
            }
            Error::Checksum => c"the filter is damaged: a checksum does not match",
            Error::Reserved => c"a reserved field is not zero",
            Error::Absent => c"the key is definitely absent",
            Error::Full => c"the filter is full",
            Error::Generations(_) => c"a window needs 1 to 2^32 - 1 generations",
            Error::KeyCount { .. } => c"fewer keys than the filter has: give each key again",
            Error::Overlap(_) => {
                c"both sets have a key of one hash: remove it from one, or change the seed"
            }
            Error::Layers => c"32 layers do not tell the two sets apart: change the seed",
            Error::Columns(_) => c"a matrix needs 1 to 2^32 - 1 columns",
            Error::Column(_) => c"the matrix has no such column",
            Error::ColumnShape { .. } => {
                c"the filter is no column of the matrix: it needs its k and seed, and its line count, or that times 2, 4, 8 and so on"
            }
            Error::Unbounded => {
                c"an unbounded growing filter cannot be frozen or subtracted from"
            }
            Error::Sequence { .. } => {
                c"the record does not follow on the last one of this filter"
            }
            Error::NotAFile => c"the path leads to something other than a regular file",
            Error::Io(_) => c"input or output failed",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().to_str().unwrap_or_default())?;
        match self {
            Error::Rate(value) | Error::RateTooSmall(value) => write!(f, ": {value}"),
            Error::BitsPerKey(value) | Error::TooFewBits(value) => write!(f, ": {value}"),
            Error::K(value) | Error::FingerprintBits(value) | Error::Rows(value) => {
                write!(f, ": {value}")
            }
            Error::LineCount(value) | Error::OddLineCount(value) | Error::Generations(value) => {
                write!(f, ": {value}")
            }
            Error::Columns(value) | Error::Column(value) => write!(f, ": {value}"),
            Error::ColumnShape { line_count, k, seed_differs } => {
                let seeds = if *seed_differs { ", and the seeds differ" } else { "" };
                write!(f, ": {line_count} lines, k = {k}{seeds}")
            }
            Error::Version(value) | Error::Layout(value) => write!(f, ": {value}"),
            Error::BufferTooSmall { needed, given } => write!(f, ": {given} bytes, not {needed}"),
            Error::Truncated { needed, given } => write!(f, ": {given} bytes, not {needed}"),
            Error::KeyCount { needed, given } => write!(f, ": {given}, not {needed}"),
            Error::Sequence { last, given } => write!(f, ": {given} after {last}"),
            Error::Overlap(hash) => write!(f, ": {hash:#018x}"),
            Error::Io(error) => write!(f, ": {error}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(error) => Some(&error.0.error),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        // Without memory there may be none for an `Arc` either.
        if error.kind() == io::ErrorKind::OutOfMemory {
            return Error::OutOfMemory;
        }
        Error::Io(IoError(Arc::new(Failure { error, path: None })))
    }
}

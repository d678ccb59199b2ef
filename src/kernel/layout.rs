//! How a filter's bits lie in its bytes, as numbers.

/// How a filter's bits lie in its bytes. The numbers go into a `bloomline_view` of C, which
/// lives no longer than the process: they may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The lines of `line.rs`.
    Native = 1,
    /// RocksDB's since format version 5: `layouts/fast_local.rs`.
    FastLocal = 2,
    /// RocksDB's before, with lines of 64 bytes; Pebble's.
    Legacy64 = 3,
    /// The same with lines of 128 bytes.
    Legacy128 = 4,
    /// The same with lines of 256 bytes.
    Legacy256 = 5,
    /// LevelDB's: bits anywhere.
    LevelDb = 6,
    /// The lines of `layouts/cuckoo.rs`; the bits of a fingerprint stand for k.
    Cuckoo = 7,
    /// The bits of `layouts/classic.rs`, anywhere.
    Classic = 8,
    /// The first level of `layouts/static_line.rs`; the others lie behind it. Rows and sizes of the
    /// levels stand for k, as `static_line::pack` has them.
    Static = 9,
    // 10 and 11 are `SHARED_NATIVE` and `SHARED_CLASSIC`.
    /// A column of `layouts/matrix.rs`. Its place in a row stands for k, as `column` packs it.
    Column = 12,
    /// Parquet's blocks: `layouts/sbbf.rs`. k is 8.
    Sbbf = 13,
    /// Several filters: see `composite`.
    ScalableFilter = 14,
    Window = 15,
    Cascade = 16,
    /// Lines that grow in number: the view leads to the filter.
    GrowingFilter = 17,
}

/// What a view of C keeps of shared native lines, and of shared classic filters, in the place of the
/// layout's number.
pub(super) const SHARED_NATIVE: u16 = 10;
pub(super) const SHARED_CLASSIC: u16 = 11;

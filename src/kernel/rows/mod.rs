//! Answers as rows: bits to the numbers of rows whose bit is set, or to a byte for each row.
//!
//! `plain` is row by row. `avx2` and `neon` look up in a table where the rows of 8 bits go, `avx512` compresses 16
//! or 32 in a register. All write whole registers: rows behind those that are left are of no use, but within the
//! room for all rows.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod number;
mod picked;
mod plain;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod table;
#[cfg(test)]
mod tests;

use super::backend::Backend;
use super::choice::Kernels;
use crate::hash::KeyHash;
use crate::key::Integers;
use number::Number;
use picked::{Picked, rows_of};
use std::mem::MaybeUninit;
use std::ops::Range;

/// What a backend does for selections of `R`. All take the answers of `len` rows, a bit each, and return
/// how many are set.
///
/// # Safety of the functions
/// This CPU runs the backend. There is a word for each 64 rows.
#[derive(Clone, Copy)]
pub struct Calls<R: 'static> {
    /// Writes the rows from `first` on whose bit is set to `to`, with room for `len`.
    select: unsafe fn(words: &[u64], len: usize, first: usize, to: *mut R) -> usize,
    /// Moves the rows at `from` whose bit is set to `to`, which is `from` or before it in one array.
    refine: unsafe fn(words: &[u64], len: usize, from: *const R, to: *mut R) -> usize,
    /// The largest of these rows, 0 of none.
    last: unsafe fn(rows: &[R]) -> R,
}

/// The bytes of `len` answers, 1 or 0.
///
/// # Safety of the function
/// As for [`Calls`]; `to` has room for `len`.
type Bytes = unsafe fn(words: &[u64], len: usize, to: *mut u8);

/// The number of a row in a selection: `u16` or `u32`.
///
/// The trait is sealed.
///
/// ```
/// use bloomline::{Filter, Select};
///
/// let filter = Filter::from_keys([7u64, 9], 0.0001)?;
/// let mut rows = [0u16; 3]; // or u32
/// assert_eq!(filter.select_column(&[7u64, 8, 9], &mut rows), 2);
/// assert_eq!(rows[..2], [0, 2]);
/// # Ok::<(), bloomline::Error>(())
/// ```
pub trait Row: RowNumber {}

impl<R: RowNumber> Row for R {}

/// What seals [`Row`]: nobody outside can name it.
pub trait RowNumber: Number {
    fn calls(backend: usize) -> &'static Calls<Self>;

    /// What hashes a column's values by their rows, if a backend has that.
    fn picked(backend: usize) -> Option<Picked<Self>>;
}

macro_rules! rows {
    ($row:ident, $calls:ident, $picked:ident: $select:ident, $refine:ident, $last:ident) => {
        static $calls: [Calls<$row>; Backend::ALL.len()] = {
            const PLAIN: Calls<$row> =
                Calls { select: plain::select, refine: plain::refine, last: plain::last };
            Backend::table([
                (Backend::Scalar, PLAIN),
                #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
                (
                    Backend::Portable,
                    Calls { select: neon::$select, refine: neon::$refine, ..PLAIN },
                ),
                #[cfg(target_arch = "x86_64")]
                (
                    Backend::Avx2,
                    Calls { select: avx2::$select, refine: avx2::$refine, last: avx2::$last },
                ),
                #[cfg(target_arch = "x86_64")]
                (
                    Backend::Avx512,
                    Calls { select: avx512::$select, refine: avx512::$refine, last: avx2::$last },
                ),
            ])
        };

        static $picked: [Option<Picked<$row>>; Backend::ALL.len()] = Backend::table([
            (Backend::Scalar, None),
            #[cfg(target_arch = "x86_64")]
            (Backend::Avx512, Some(Picked::AVX512)),
        ]);

        impl RowNumber for $row {
            #[inline(always)]
            fn calls(backend: usize) -> &'static Calls<$row> {
                &$calls[backend]
            }

            #[inline(always)]
            fn picked(backend: usize) -> Option<Picked<$row>> {
                $picked[backend]
            }
        }
    };
}

rows!(u16, CALLS_16, PICKED_16: select_16, refine_16, last_16);
rows!(u32, CALLS_32, PICKED_32: select_32, refine_32, last_32);

static BYTES: [Bytes; Backend::ALL.len()] = Backend::table([
    (Backend::Scalar, plain::bytes as Bytes),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx512, avx512::bytes),
]);

/// The backend in use: where none can be, the one that every CPU has.
pub(crate) fn kernels() -> Kernels {
    let scalar = || Backend::Scalar.kernels().expect("every CPU has it");
    Kernels::active().unwrap_or_else(|_| scalar())
}

/// Room for numbers of rows, initialised or not.
pub(crate) struct Room<'a, R>(&'a mut [MaybeUninit<R>]);

impl<'a, R> From<&'a mut [R]> for Room<'a, R> {
    fn from(rows: &'a mut [R]) -> Room<'a, R> {
        // SAFETY: the same rows; nothing here takes back that they are initialised.
        Room(unsafe { &mut *(std::ptr::from_mut(rows) as *mut [MaybeUninit<R>]) })
    }
}

#[cfg(feature = "capi")]
impl<'a, R> From<&'a mut [MaybeUninit<R>]> for Room<'a, R> {
    fn from(rows: &'a mut [MaybeUninit<R>]) -> Room<'a, R> {
        Room(rows)
    }
}

impl<R> Room<'_, R> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// A part of it.
    ///
    /// # Panics
    /// If it is longer.
    #[inline(always)]
    pub(crate) fn part(&mut self, range: Range<usize>) -> Room<'_, R> {
        Room(&mut self.0[range])
    }
}

fn of_all(words: &[u64], len: usize) -> &[u64] {
    &words[..len.div_ceil(64)]
}

/// Writes the rows from `first` on whose bit is set to `out`. Returns how many.
///
/// # Panics
/// If there are not bits and room for `len` rows.
pub(crate) fn select<R: RowNumber>(
    kernels: Kernels,
    words: &[u64],
    len: usize,
    first: usize,
    out: Room<'_, R>,
) -> usize {
    let (words, out) = (of_all(words, len), &mut out.0[..len]);
    // SAFETY: this CPU runs the backend, since its kernels exist; there are the words, and the room,
    // which is only written.
    unsafe { (R::calls(kernels.number()).select)(words, len, first, out.as_mut_ptr().cast()) }
}

/// Moves those of the `len` rows from `from` on whose bit is set to where `to` is. Returns how many.
///
/// # Panics
/// If there are not bits and rows of that number, or `to` is behind them.
pub(crate) fn refine<R: RowNumber>(
    kernels: Kernels,
    words: &[u64],
    rows: &mut [R],
    (from, len): (usize, usize),
    to: usize,
) -> usize {
    let (words, rows) = (of_all(words, len), &mut rows[..from + len]);
    assert!(to <= from, "rows move to the front");
    let first = rows.as_mut_ptr();
    let refine = R::calls(kernels.number()).refine;
    // SAFETY: this CPU runs the backend, since its kernels exist; there are the words, and the rows; both
    // places are of one array, the second not behind the first.
    unsafe { refine(words, len, first.add(from), first.add(to)) }
}

/// The largest of these rows; None of none.
pub(crate) fn last<R: RowNumber>(kernels: Kernels, rows: &[R]) -> Option<R> {
    // SAFETY: this CPU runs the backend, since its kernels exist.
    (!rows.is_empty()).then(|| unsafe { (R::calls(kernels.number()).last)(rows) })
}

/// Hashes the values of these rows. False, and nothing is written, where that is not faster than by
/// putting them side by side first.
///
/// # Panics
/// If the column lacks a row; if `out` is not as long as `rows`.
pub(crate) fn hash_picked<R: RowNumber>(
    hash: KeyHash,
    column: Integers<'_>,
    rows: &[R],
    out: &mut [u64],
) -> bool {
    let (KeyHash::Xxh3(seed), Ok(kernels)) = (hash, Kernels::active()) else { return false };
    hash_by(kernels, seed, column, rows, out)
}

/// The same by a backend, of XXH3-64.
fn hash_by<R: RowNumber>(
    kernels: Kernels,
    seed: u64,
    column: Integers<'_>,
    rows: &[R],
    out: &mut [u64],
) -> bool {
    let Some(picked) = R::picked(kernels.number()) else { return false };
    assert_eq!(rows.len(), out.len(), "one output per row");
    let has_all = last(kernels, rows).is_none_or(|last| last.number() < rows_of(column));
    assert!(has_all, "a value for each row");
    // SAFETY: this CPU runs the backend, since its kernels exist; the rest was checked above.
    unsafe { picked.hash(column, rows, seed, out) };
    true
}

/// Writes 1 for each bit that is set, 0 for others: as many as there is room for.
///
/// # Panics
/// If there are fewer bits.
pub(crate) fn bytes(kernels: Kernels, words: &[u64], out: &mut [u8]) {
    let words = of_all(words, out.len());
    // SAFETY: this CPU runs the backend, since its kernels exist; there are the words, and the room.
    unsafe { kernels.row_of(&BYTES)(words, out.len(), out.as_mut_ptr()) }
}

/// The same by any backend that this CPU has, for fuzzers.
///
/// # Panics
/// If it has not the backend, and as above.
#[cfg(feature = "internals")]
pub mod by {
    use super::Row;
    use crate::kernel::Backend;

    /// Writes the rows from `first` on, of `len`, whose bit is set.
    pub fn select<R: Row>(
        backend: Backend,
        words: &[u64],
        len: usize,
        first: usize,
        out: &mut [R],
    ) -> usize {
        super::select(backend.kernels().expect("this CPU's"), words, len, first, out.into())
    }

    /// Moves the rows whose bit is set to the front.
    pub fn refine<R: Row>(backend: Backend, words: &[u64], rows: &mut [R]) -> usize {
        let len = rows.len();
        super::refine(backend.kernels().expect("this CPU's"), words, rows, (0, len), 0)
    }

    /// Writes 1 for each bit that is set, 0 for others.
    pub fn bytes(backend: Backend, words: &[u64], out: &mut [u8]) {
        super::bytes(backend.kernels().expect("this CPU's"), words, out);
    }
}

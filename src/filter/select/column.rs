//! What can be a column: keys in an array, strings by their offsets, and either with nulls.

use super::super::probe::Probe;
use crate::kernel::rows::RowNumber;
use crate::key::{Integers, Key};

/// A column of keys: an array of any [`Key`], such as `[u64]` or `[&str]`, [`Strings`], [`Hashes`], or any of
/// these with [nulls](Nullable). Columns of `u32`, `i32`, `u64` and `i64` are hashed several values at once.
///
/// The trait is sealed.
///
/// ```
/// use bloomline::{Filter, Select, Strings};
///
/// let filter = Filter::from_keys(["apple", "pear"], 0.0001)?;
/// let (offsets, data) = ([0i32, 5, 9, 13], b"appleplumpear");
/// let column = Strings::new(&offsets, data).expect("offsets within the data");
/// let mut rows = [0u32; 3];
/// let count = filter.select_column(&column, &mut rows);
/// assert_eq!(rows[..count], [0, 2]);
/// # Ok::<(), bloomline::Error>(())
/// ```
pub trait Column: ColumnRows {}

impl<C: ColumnRows + ?Sized> Column for C {}

/// What seals [`Column`]: nobody outside can name it.
pub trait ColumnRows {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// Writes the hashes of the rows from `first` on.
    fn hash_run<P: Probe + ?Sized>(&self, filter: &P, first: usize, out: &mut [u64]);

    /// Writes the hashes of these rows, of which each is there.
    fn hash_picked<P: Probe + ?Sized, R: RowNumber>(&self, filter: &P, rows: &[R], out: &mut [u64]);

    /// Which of up to 64 rows from one on have a value.
    #[inline(always)]
    fn valid_run(&self, _first: usize) -> u64 {
        u64::MAX
    }

    /// The answers about up to 64 rows from `first` on, if nulls are settled.
    #[inline(always)]
    fn settle_run(&self, _first: usize, _len: usize, hits: u64) -> u64 {
        hits
    }

    /// The answers about up to 64 of these rows.
    #[inline(always)]
    fn settle_picked<R: RowNumber>(&self, _rows: &[R], hits: u64) -> u64 {
        hits
    }
}

/// Hashes the values of these rows, put side by side first.
#[inline(always)]
fn hash_gathered<P: Probe + ?Sized, K: Key + Copy + Default, R: RowNumber>(
    filter: &P,
    values: &[K],
    rows: &[R],
    out: &mut [u64],
) {
    const TOGETHER: usize = 128;
    let mut gathered = [K::default(); TOGETHER];
    for (rows, out) in rows.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)) {
        for (value, row) in gathered.iter_mut().zip(rows) {
            *value = values[row.number()];
        }
        filter.hash_keys(&gathered[..rows.len()], out);
    }
}

/// Hashes as many strings as there are outputs, many in a call: it finds out once how the filter hashes.
#[inline(always)]
pub(crate) fn hash_strings<'s, P: Probe + ?Sized>(
    filter: &P,
    mut strings: impl Iterator<Item = &'s [u8]>,
    out: &mut [u64],
) {
    const TOGETHER: usize = 64;
    let mut together = [&[][..]; TOGETHER];
    for out in out.chunks_mut(TOGETHER) {
        let together = &mut together[..out.len()];
        together.fill_with(|| strings.next().expect("a string for each output"));
        filter.hash_keys(together, out);
    }
}

impl<K: Key> ColumnRows for [K] {
    fn rows(&self) -> usize {
        self.len()
    }

    #[inline]
    fn hash_run<P: Probe + ?Sized>(&self, filter: &P, first: usize, out: &mut [u64]) {
        filter.hash_keys(&self[first..first + out.len()], out);
    }

    #[inline]
    fn hash_picked<P: Probe + ?Sized, R: RowNumber>(
        &self,
        filter: &P,
        rows: &[R],
        out: &mut [u64],
    ) {
        let integers = K::integers(self);
        if integers.is_some_and(|integers| filter.hash_picked(integers, rows, out)) {
            return;
        }
        match integers {
            Some(Integers::U32(values)) => hash_gathered(filter, values, rows, out),
            Some(Integers::I32(values)) => hash_gathered(filter, values, rows, out),
            Some(Integers::U64(values)) => hash_gathered(filter, values, rows, out),
            Some(Integers::I64(values)) => hash_gathered(filter, values, rows, out),
            None => {
                for (row, out) in rows.iter().zip(out) {
                    *out = filter.hash(&self[row.number()]);
                }
            }
        }
    }
}

/// Columns that are others.
macro_rules! as_others {
    ($([$($generics:tt)*] $column:ty as $other:ty),+) => {$(
        impl<$($generics)*> ColumnRows for $column {
            fn rows(&self) -> usize {
                <$other>::rows(self)
            }

            #[inline]
            fn hash_run<P: Probe + ?Sized>(&self, filter: &P, first: usize, out: &mut [u64]) {
                <$other>::hash_run(self, filter, first, out);
            }

            #[inline]
            fn hash_picked<P: Probe + ?Sized, R: RowNumber>(
                &self,
                filter: &P,
                rows: &[R],
                out: &mut [u64],
            ) {
                <$other>::hash_picked(self, filter, rows, out);
            }
        }
    )+};
}

as_others!([K: Key, const N: usize] [K; N] as [K], [K: Key] Vec<K> as [K]);

/// A column of hashes, such as those of [`hash_column`](crate::hash::hash_column). Take it if some rows are
/// [null](Nullable). Without nulls, [`Select::select_hashes`](crate::Select::select_hashes) and its like take
/// the hashes themselves.
///
/// ```
/// use bloomline::hash::hash_batch;
/// use bloomline::{Filter, Hashes, Nullable, Nulls, Select};
///
/// let filter = Filter::from_keys([7u64, 9], 0.0001)?;
/// let mut hashes = [0; 3];
/// hash_batch(&[7u64, 8, 9], 0, &mut hashes);
/// let (column, mut rows) = (Hashes(&hashes), [0u32; 3]);
/// let count = filter.select_column(&Nullable::new(&column, &[0b110], Nulls::Absent), &mut rows);
/// assert_eq!(rows[..count], [2]);
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Hashes<'a>(pub &'a [u64]);

impl ColumnRows for Hashes<'_> {
    fn rows(&self) -> usize {
        self.0.len()
    }

    fn hash_run<P: Probe + ?Sized>(&self, _: &P, first: usize, out: &mut [u64]) {
        out.copy_from_slice(&self.0[first..first + out.len()]);
    }

    #[inline]
    fn hash_picked<P: Probe + ?Sized, R: RowNumber>(&self, _: &P, rows: &[R], out: &mut [u64]) {
        for (row, out) in rows.iter().zip(out) {
            *out = self.0[row.number()];
        }
    }
}

/// A column of strings or other bytes as Arrow has it: string `i` is the bytes from `offsets[i]` to
/// `offsets[i + 1]` of one array. Offsets are `i32` or `i64`. No array of pointers is made.
///
/// ```
/// use bloomline::Strings;
///
/// let strings = Strings::new(&[0i64, 5, 5, 9], b"appleplum").expect("offsets within the data");
/// assert_eq!(strings.len(), 3);
/// assert_eq!((strings.get(0), strings.get(1), strings.get(3)), (Some(&b"apple"[..]), Some(&b""[..]), None));
/// assert!(Strings::new(&[0i64, 10], b"appleplum").is_none());
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a, O> {
    /// One more than there are strings; ascending, within the data.
    offsets: &'a [O],
    data: &'a [u8],
}

/// The type of offsets: `i32` or `i64`.
///
/// ```
/// use bloomline::{Offset, Strings};
///
/// fn longest<O: Offset>(column: &Strings<'_, O>) -> usize {
///     (0..column.len()).filter_map(|row| column.get(row)).map(<[u8]>::len).max().unwrap_or(0)
/// }
/// let column = Strings::new(&[0_i64, 4, 9], b"pearapple").expect("offsets within the data");
/// assert_eq!(longest(&column), 5);
/// ```
pub trait Offset: Copy + Ord + 'static {
    /// As a place in memory, if it is one.
    fn place(self) -> Option<usize>;
}

impl Offset for i32 {
    #[inline(always)]
    fn place(self) -> Option<usize> {
        usize::try_from(self).ok()
    }
}

impl Offset for i64 {
    #[inline(always)]
    fn place(self) -> Option<usize> {
        usize::try_from(self).ok()
    }
}

impl<'a, O: Offset> Strings<'a, O> {
    /// Creates a column of `offsets.len() - 1` strings; of none, if there are no offsets. None if an
    /// offset is negative, below the one before it, or behind the data.
    pub fn new(offsets: &'a [O], data: &'a [u8]) -> Option<Strings<'a, O>> {
        // Without a branch for each, which the compiler would make no vectors of.
        let ascend = offsets.windows(2).fold(true, |all, pair| all & (pair[0] <= pair[1]));
        let bound = |offset: &O| offset.place().is_some_and(|place| place <= data.len());
        (ascend && offsets.first().is_none_or(bound) && offsets.last().is_none_or(bound))
            .then_some(Strings { offsets, data })
    }

    /// Returns how many strings there are.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns string `i`, or `None` past the last.
    #[inline]
    pub fn get(&self, i: usize) -> Option<&'a [u8]> {
        let (&start, &end) = (self.offsets.get(i)?, self.offsets.get(i + 1)?);
        self.data.get(start.place()?..end.place()?)
    }

    /// The bytes between two offsets that follow each other.
    #[inline(always)]
    fn between(&self, start: O, end: O) -> &'a [u8] {
        let places = start.place().zip(end.place());
        places.and_then(|(start, end)| self.data.get(start..end)).expect("checked by `new`")
    }

    /// A string that is there.
    #[inline(always)]
    fn string(&self, i: usize) -> &'a [u8] {
        self.get(i).unwrap_or_else(|| panic!("string {i} of {}", self.len()))
    }
}

impl<O: Offset> ColumnRows for Strings<'_, O> {
    fn rows(&self) -> usize {
        self.len()
    }

    #[inline]
    fn hash_run<P: Probe + ?Sized>(&self, filter: &P, first: usize, out: &mut [u64]) {
        // A column of no rows may have no offset.
        let offsets = &self.offsets[first..first + out.len() + usize::from(!out.is_empty())];
        hash_strings(filter, offsets.windows(2).map(|pair| self.between(pair[0], pair[1])), out);
    }

    #[inline]
    fn hash_picked<P: Probe + ?Sized, R: RowNumber>(
        &self,
        filter: &P,
        rows: &[R],
        out: &mut [u64],
    ) {
        for (row, out) in rows.iter().zip(out) {
            *out = filter.hash(self.string(row.number()));
        }
    }
}

/// What is said of a row without a value.
///
/// ```
/// use bloomline::{Filter, Nullable, Nulls, Select};
///
/// let filter = Filter::from_keys([7u64], 0.0001)?;
/// let (column, validity) = ([7u64, 0, 7], [0b001]); // rows 1 and 2 are null
/// let rows = |nulls| {
///     let mut rows = [0u32; 3];
///     let count = filter.select_column(&Nullable::new(&column, &validity, nulls), &mut rows);
///     rows[..count].to_vec()
/// };
/// assert_eq!(rows(Nulls::Absent), [0]);
/// assert_eq!(rows(Nulls::Present), [0, 1, 2]);
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// It is absent: as where `NULL` equals nothing, in a join.
    Absent,
    /// It may be present.
    Present,
}

/// A column with nulls, with a bitmap as in Arrow: the bit of a row without a value is 0. The values of these
/// rows are ignored. For another example see [`Nulls`].
///
/// ```
/// use bloomline::{Filter, Nullable, Nulls, Select};
///
/// let filter = Filter::from_keys([7u64, 9], 0.0001)?;
/// // The bits of these rows begin at bit 3 of the bitmap, as in a slice of an array.
/// let column = Nullable::new(&[7u64, 9], &[0b10_000], Nulls::Absent).from_bit(3);
/// let mut rows = [0u32; 2];
/// assert_eq!(filter.select_column(&column, &mut rows), 1);
/// assert_eq!(rows[0], 1);
/// # Ok::<(), bloomline::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Nullable<'a, C: ?Sized> {
    column: &'a C,
    validity: &'a [u8],
    first: usize,
    nulls: Nulls,
}

impl<'a, C: Column + ?Sized> Nullable<'a, C> {
    /// Creates a column with nulls: row `i` has a value if bit `i % 8`, from the lowest, of byte `i / 8`
    /// of `validity` is set. Rows behind the bitmap have none.
    pub fn new(column: &'a C, validity: &'a [u8], nulls: Nulls) -> Nullable<'a, C> {
        Nullable { column, validity, first: 0, nulls }
    }

    /// The same where the bit of the first row is not the first of the bitmap.
    #[must_use]
    pub fn from_bit(self, first: usize) -> Nullable<'a, C> {
        Nullable { first, ..self }
    }

    /// Which of up to 64 rows from one on have a value.
    #[inline]
    fn valid(&self, row: usize) -> u64 {
        let at = self.first.saturating_add(row);
        let bytes = self.validity.get(at / 8..).unwrap_or_default();
        let nine = bytes.iter().take(9).rev();
        let bits = nine.fold(0_u128, |bits, &byte| bits << 8 | u128::from(byte));
        (bits >> (at % 8)) as u64
    }

    #[inline(always)]
    fn settle(&self, hits: u64, valid: u64) -> u64 {
        match self.nulls {
            Nulls::Absent => hits & valid,
            Nulls::Present => hits | !valid,
        }
    }
}

impl<C: Column + ?Sized> ColumnRows for Nullable<'_, C> {
    fn rows(&self) -> usize {
        self.column.rows()
    }

    #[inline]
    fn hash_run<P: Probe + ?Sized>(&self, filter: &P, first: usize, out: &mut [u64]) {
        self.column.hash_run(filter, first, out);
    }

    #[inline]
    fn hash_picked<P: Probe + ?Sized, R: RowNumber>(
        &self,
        filter: &P,
        rows: &[R],
        out: &mut [u64],
    ) {
        self.column.hash_picked(filter, rows, out);
    }

    #[inline]
    fn valid_run(&self, first: usize) -> u64 {
        self.valid(first) & self.column.valid_run(first)
    }

    #[inline]
    fn settle_run(&self, first: usize, len: usize, hits: u64) -> u64 {
        let hits = self.column.settle_run(first, len, hits);
        self.settle(hits, self.valid(first)) & (u64::MAX >> (64 - len))
    }

    #[inline]
    fn settle_picked<R: RowNumber>(&self, rows: &[R], hits: u64) -> u64 {
        let hits = self.column.settle_picked(rows, hits);
        let valid =
            rows.iter().rev().fold(0, |bits, row| bits << 1 | (self.valid(row.number()) & 1));
        self.settle(hits, valid) & (u64::MAX >> (64 - rows.len()))
    }
}

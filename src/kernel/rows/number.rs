//! Numbers of rows.

/// A number of a row.
pub trait Number: Copy + Ord + 'static {
    /// Rows that a column can have.
    const MOST: u64;

    fn of(number: usize) -> Self;

    fn number(self) -> usize;
}

macro_rules! numbers {
    ($($row:ident),+) => {$(
        impl Number for $row {
            const MOST: u64 = $row::MAX as u64 + 1;

            #[inline(always)]
            fn of(number: usize) -> $row {
                number as $row
            }

            #[inline(always)]
            fn number(self) -> usize {
                self as usize
            }
        }
    )+};
}

numbers!(u16, u32);

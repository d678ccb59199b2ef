//! Rows of answers, 8 at a time: a table says for each byte of answers which of its rows are left.

/// For each byte the numbers of its bits that are set, then zeros.
pub(super) static LEFT: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut at) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][at] = bit;
                at += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// The functions of `Calls` for a type of rows: how the numbers of 8 rows are made, picked, loaded and stored.
/// `$left` makes a register of what the table has for a byte.
macro_rules! rows_by_table {
    ($features:literal, $left:ident: $select:ident, $refine:ident, $row:ident, $numbers:ident, $picked:ident,
     $load:ident, $store:ident) => {
        /// # Safety
        /// As for `Calls::select`.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $select(
            words: &[u64],
            len: usize,
            first: usize,
            to: *mut $row,
        ) -> usize {
            let (mut at, whole) = (0, len / 8);
            for i in 0..whole {
                let byte = (words[i / 8] >> (8 * (i % 8))) as u8;
                let left = $numbers($left(LEFT[usize::from(byte)]), first + 8 * i);
                // SAFETY: at most as many rows are left as are done, so 8 more have room.
                unsafe { $store(to.add(at).cast(), left) };
                at += byte.count_ones() as usize;
            }
            // SAFETY: the rows behind the whole bytes, with what room is left.
            unsafe {
                at + plain::select(&[last(words, len)], len % 8, first + 8 * whole, to.add(at))
            }
        }

        /// # Safety
        /// As for `Calls::refine`.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $refine(
            words: &[u64],
            len: usize,
            from: *const $row,
            to: *mut $row,
        ) -> usize {
            let (mut at, whole) = (0, len / 8);
            for i in 0..whole {
                let byte = (words[i / 8] >> (8 * (i % 8))) as u8;
                // SAFETY: 8 rows that are there. What is stored ends before the next: no more rows are
                // left than are done.
                unsafe {
                    let rows = $load(from.add(8 * i).cast());
                    $store(to.add(at).cast(), $picked(rows, $left(LEFT[usize::from(byte)])));
                }
                at += byte.count_ones() as usize;
            }
            // SAFETY: the rows behind the whole bytes.
            unsafe {
                at + plain::refine(&[last(words, len)], len % 8, from.add(8 * whole), to.add(at))
            }
        }
    };
}

/// The answers of the rows behind the last whole byte, if there are any.
#[inline(always)]
pub(super) fn last(words: &[u64], len: usize) -> u64 {
    words.get(len / 64).map_or(0, |word| word >> (len % 64 / 8 * 8))
}

pub(super) use rows_by_table;

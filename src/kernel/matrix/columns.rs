//! Some columns of one matrix, asked for one key by one probe of its rows. Their answers go where those
//! who ask want them.

use super::super::backend::Backend;
use super::super::column::{Column, has};
use super::super::single::Single;
use super::calls::{And, CALLS};
use super::words::Asked;
use crate::error::Error;
use crate::layouts::matrix::ROWS;
use crate::line::line_index;
use std::mem::MaybeUninit;
use std::ptr;
use std::slice::from_raw_parts;

/// What the columns of a matrix have in common. Columns of several matrices may have it, too: these lie
/// [apart](Columns::are_near).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::kernel) struct Shape {
    backend: usize,
    k: u32,
    words: usize,
    line_count: usize,
}

impl Shape {
    /// Of a column that a backend probes.
    pub(in crate::kernel) fn of(single: &Single<'_>, backend: Backend) -> Shape {
        let Column { k, words, .. } = Column::unpack(single.lines().column());
        Shape { backend: backend as usize, k, words, line_count: single.count }
    }

    fn row_bytes(self) -> usize {
        8 * self.words
    }
}

/// Where a column is: the address of its first word, and its bit in the words.
pub(in crate::kernel) fn place(single: &Single<'_>) -> (usize, u32) {
    (single.start().addr(), Column::unpack(single.lines().column()).bit)
}

/// Columns of one matrix that are asked together.
pub(in crate::kernel) struct Columns {
    /// The first word of those that have a column.
    start: *const u8,
    line_count: usize,
    asked: Asked,
    /// For all words, and for some.
    and: And,
    some: And,
    /// A bit for each of the columns, in as many words.
    live: Vec<u64>,
    to: To,
    /// Columns that were there before: the answer of that one, and where it goes, too.
    again: Vec<[u32; 2]>,
}

/// Where the answers go.
enum To {
    /// To the words of the answer from this one on, which nobody else writes. True: all bits of the words
    /// are columns.
    Words(usize, bool),
    /// So many bits further.
    Shifted(isize),
    /// To these places, by the number of the bit.
    Places(Vec<u32>),
}

/// Words of rows that are asked for at once, where answers are moved.
const PART: usize = 64;

/// Words between two columns that are asked together; a cache line has eight.
const GAP: usize = 16;

impl Columns {
    /// From so many on it pays to ask together.
    pub(in crate::kernel) const FEWEST: usize = 3;

    /// Whether two columns of this shape, of which the second has no lower address, are of one matrix, and
    /// so near that it pays to ask them together. Matrices do not overlap, and each has 512 rows at least.
    pub(in crate::kernel) fn are_near(
        shape: Shape,
        first: &Single<'_>,
        second: &Single<'_>,
    ) -> bool {
        let apart = place(second).0.wrapping_sub(place(first).0);
        apart.is_multiple_of(8) && apart < shape.row_bytes().min(8 * GAP)
    }

    /// Of these columns, each with its place among so many answers, ordered by where they
    /// [are](place).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Panics
    /// If there is none.
    ///
    /// # Safety
    /// They are of this shape, and each of one matrix with the one before. Their matrix can be read for as
    /// long as the result is used.
    pub(in crate::kernel) unsafe fn new<'s>(
        shape: Shape,
        columns: impl ExactSizeIterator<Item = (&'s Single<'s>, u32)> + Clone,
        answers: usize,
    ) -> Result<Columns, Error> {
        let mut all = columns.clone();
        let (first, first_place) = all.next().expect("a column");
        let start = place(first).0;
        let last = all.last().map_or(start, |(last, _)| place(last).0);
        let words = (last - start) / 8 + 1;
        let bit_of = |single: &Single<'_>| {
            let (at, bit) = place(single);
            (at - start) * 8 + bit as usize
        };
        let (mut live, mut again) = (list(words)?, list(columns.len())?);
        let mut places = list(64 * words)?;
        live.resize(words, 0);
        places.resize(64 * words, 0);
        let shift = first_place as isize - bit_of(first) as isize;
        let (mut shifted, mut end, mut before) = (true, 0, None);
        for (single, place) in columns {
            let bit = bit_of(single);
            match before.replace(bit) {
                Some(same) if same == bit => again.push([places[bit], place]),
                _ => {
                    live[bit / 64] |= 1 << (bit % 64);
                    places[bit] = place;
                    shifted &= place as isize - bit as isize == shift;
                    end = place as usize + 1;
                }
            }
        }
        let full = live.iter().all(|&word| word == u64::MAX);
        // From the start of a word on, up to the end of one or the last answer, without a gap.
        let own = shifted && bit_of(first) == 0 && first_place.is_multiple_of(64);
        let whole = own && (full || end == answers && end - first_place as usize == ones(&live));
        let to = match shifted {
            true if whole && again.is_empty() => To::Words(first_place as usize / 64, full),
            true => To::Shifted(shift),
            false => To::Places(places),
        };
        let asked = Asked { words, row_bytes: shape.row_bytes(), k: shape.k, last: u64::MAX };
        let (start, line_count, calls) = (first.start(), shape.line_count, &CALLS[shape.backend]);
        let (and, some) = (calls.and(words), calls.and(words.min(2)));
        Ok(Columns { start, line_count, asked, and, some, live, to, again })
    }

    /// Whether they write whole words of the answer: if no others are asked, all of them.
    #[inline(always)]
    pub(in crate::kernel) fn write_words(&self) -> bool {
        matches!(self.to, To::Words(..))
    }

    /// Where the words of the group of a hash begin.
    #[inline(always)]
    fn group(&self, hash: u64) -> *const u8 {
        let line = line_index(hash, self.line_count as u64) as usize;
        self.start.wrapping_add(line * ROWS * self.asked.row_bytes)
    }

    /// Adds the answers for the key of a hash. Returns how many columns may have it.
    #[inline]
    pub(in crate::kernel) fn answer(&self, hash: u64, answers: &mut [u64]) -> usize {
        if let To::Words(first, _) = self.to {
            let out = &mut answers[first..][..self.asked.words];
            // SAFETY: so many are there.
            return unsafe { self.answer_to(hash, out.as_mut_ptr()) };
        }
        self.answer_moved(hash, answers)
    }

    /// Writes the words of the answer that are theirs.
    ///
    /// # Safety
    /// They [write words](Columns::write_words), and there is room for all.
    #[inline(always)]
    pub(in crate::kernel) unsafe fn answer_to(&self, hash: u64, out: *mut u64) -> usize {
        let live = if let To::Words(_, true) = self.to { ptr::null() } else { self.live.as_ptr() };
        // SAFETY: a kernel of the backend exists, so this CPU runs it; `new` had a promise for the rows, of
        // which a group is 512; there are as many words in both.
        unsafe { (self.and)(&self.asked, self.group(hash), hash, live, out) }
    }

    #[inline(never)]
    fn answer_moved(&self, hash: u64, answers: &mut [u64]) -> usize {
        let group = self.group(hash);
        let (mut room, mut present) = ([MaybeUninit::<u64>::uninit(); PART], 0);
        for (part, live) in self.live.chunks(PART).enumerate() {
            let asked = Asked { words: live.len(), ..self.asked };
            let at = group.wrapping_add(8 * PART * part);
            let out = room.as_mut_ptr().cast::<u64>();
            // SAFETY: as in `answer`: they are some of the words of the rows.
            present += unsafe { (self.some)(&asked, at, hash, live.as_ptr(), out) };
            // SAFETY: they were just written.
            self.put(unsafe { from_raw_parts(out, live.len()) }, PART * part, answers);
        }
        for &[from, to] in &self.again {
            let answer = answers[from as usize / 64] >> (from % 64) & 1;
            answers[to as usize / 64] |= answer << (to % 64);
            present += answer as usize;
        }
        present
    }

    /// Whether the key of a hash may be in one of them, which they have.
    #[inline(always)]
    pub(in crate::kernel) fn one(&self, single: &Single<'_>, hash: u64) -> bool {
        let (line, bit) = (
            line_index(hash, self.line_count as u64) as usize,
            Column::unpack(single.lines().column()).bit,
        );
        let Asked { row_bytes, k, .. } = self.asked;
        let first = single.start().wrapping_add(line * ROWS * row_bytes + bit as usize / 8);
        // SAFETY: `new` had a promise for the rows, of which a group is 512.
        unsafe { has(first, row_bytes, k, hash, bit) }
    }

    /// Adds the answers in these words, of which the first has this number.
    #[inline(always)]
    fn put(&self, words: &[u64], number: usize, answers: &mut [u64]) {
        match &self.to {
            To::Places(places) => {
                for (&word, places) in words.iter().zip(places[64 * number..].chunks(64)) {
                    // Few filters have a key.
                    let mut left = word;
                    while left != 0 {
                        let place = places[left.trailing_zeros() as usize];
                        answers[place as usize / 64] |= 1 << (place % 64);
                        left &= left - 1;
                    }
                }
            }
            To::Shifted(shift) => {
                let to = 64 * number as isize + shift;
                let (at, bit) = (to.div_euclid(64), to.rem_euclid(64));
                let mut moved_on = 0;
                for (i, &word) in words.iter().chain([&0]).enumerate() {
                    // Bits that would go before the first word or behind the last stand for no column.
                    if let Some(answer) = answers.get_mut((at + i as isize) as usize) {
                        *answer |= word << bit | moved_on;
                    }
                    moved_on = word >> 1 >> (63 - bit);
                }
            }
            To::Words(first, _) => {
                for (answer, word) in answers[first + number..].iter_mut().zip(words) {
                    *answer |= word;
                }
            }
        }
    }
}

fn ones(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// An empty list with room for so many.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(in crate::kernel) fn list<T>(count: usize) -> Result<Vec<T>, Error> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| Error::OutOfMemory)?;
    Ok(list)
}

//! Filters in which a key has the same bits: these are made once for all of them.
//!
//! Where the lines of each begin and how many there are lies side by side. A filter so costs a few
//! instructions: to find its line, and to compare. There is no branch on the answer.

use super::alike::{Alike, Column};
use super::backend::Backend;
use super::fast_local::{self, RocksDb};
use super::functions::Kernel;
use super::layout::Layout;
use super::native;
use super::tuning;

/// Lines of one layout and one k, and what asks them.
#[derive(Clone, Copy)]
pub(super) struct Run {
    calls: Calls,
    columns: *const Column,
    count: usize,
    k: u32,
}

/// A layout that runs can have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lined {
    Native = 0,
    RocksDb = 1,
}

/// How many of them there are.
const LINED: usize = 1 + cfg!(feature = "engines") as usize;

/// What the filters of a run have in common: layout, backend and k.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    layout: Lined,
    backend: usize,
    k: u32,
}

impl Shape {
    /// Of filters with this kernel and k, if runs can have them: not where lanes are loaded
    /// atomically.
    pub(super) fn of(kernel: &Kernel, k: u32) -> Option<Shape> {
        const NATIVE: u16 = Layout::Native as u16;
        const FAST_LOCAL: u16 = Layout::FastLocal as u16;
        let layout = match kernel.number {
            NATIVE => Lined::Native,
            FAST_LOCAL => Lined::RocksDb,
            _ => return None,
        };
        Some(Shape { layout, backend: kernel.backend as usize, k })
    }
}

impl Shape {
    /// Whether registers of 512 bits are faster than those that [`CALLS`] uses.
    fn is_wide(self) -> bool {
        let is_native = self.layout == Lined::Native && self.backend == Backend::Avx512 as usize;
        is_native && tuning::wide_vectors_are_fast()
    }
}

/// What a backend does for a run.
#[derive(Clone, Copy)]
struct Calls {
    answer: Answer,
    pairs: Pairs,
}

/// One key, by its hash, in all filters: writes a word of answers for each 64 filters or part of
/// them, first in the lowest bit. Returns how many answers are true.
///
/// # Safety of the function
/// This CPU runs the backend, k is one of the layout, and what [`Run::new`] was promised holds; there
/// is room for the words.
type Answer = unsafe extern "C" fn(&Run, u64, *mut u64) -> usize;

/// One filter for each key: the numbers of filters, the hashes, how many there are. Numbers past the
/// end stand for what is behind the last filter. Writes as [`Answer`]. Nothing is prefetched: a CPU
/// overlaps the misses by itself, and in the cache, too, it would take longer.
///
/// # Safety of the function
/// As for [`Answer`]; so many numbers and hashes are there.
type Pairs = unsafe extern "C" fn(&Run, *const u32, *const u64, usize, *mut u64) -> usize;

impl Run {
    /// The filters of these columns, but the last: that is behind them. They are `far` if what they are asked
    /// with does not fit in the cache.
    ///
    /// # Safety
    /// They are of this shape. Their lines can be read, and the columns stay where they are, for as
    /// long as the result is used.
    pub(super) unsafe fn new(columns: &[Column], shape: Shape, far: bool) -> Run {
        let count = columns.len() - 1;
        let calls = match shape.is_wide() {
            true => wide_calls(shape.k, count, far),
            false => CALLS[shape.backend][shape.layout as usize],
        };
        Run { calls, columns: columns.as_ptr(), count, k: shape.k }
    }

    /// So many of its filters, from that number on: none behind them is asked in pairs.
    pub(super) fn part(&self, first: usize, count: usize) -> Run {
        assert!(first + count <= self.count, "filters of the run");
        Run { columns: self.columns.wrapping_add(first), count, ..*self }
    }

    /// One key in all filters: see [`Answer`].
    ///
    /// # Safety
    /// There is room for the words.
    #[inline(always)]
    pub(super) unsafe fn answer(&self, hash: u64, words: *mut u64) -> usize {
        // SAFETY: a kernel of the backend exists, so this CPU runs it; `new` had a promise for the rest.
        unsafe { (self.calls.answer)(self, hash, words) }
    }

    /// A filter for each key: see [`Pairs`].
    ///
    /// # Safety
    /// So many numbers and hashes are there, and room for the words. It is no part.
    #[inline(always)]
    pub(super) unsafe fn pairs(
        &self,
        members: *const u32,
        hashes: *const u64,
        count: usize,
        words: *mut u64,
    ) -> usize {
        // SAFETY: a kernel of the backend exists, so this CPU runs it; `new` had a promise for the rest.
        unsafe { (self.calls.pairs)(self, members, hashes, count, words) }
    }
}

/// The work of an [`Answer`].
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn answer<A: Alike>(run: &Run, hash: u64, words: *mut u64) -> usize {
    let (mut columns, mut rest, mut words, mut present) = (run.columns, run.count, words, 0);
    // SAFETY: the caller's promise; all columns are before the end.
    unsafe {
        if run.count < A::FEWEST {
            let mut hits = 0_u64;
            for i in (0..run.count).rev() {
                hits = hits << 1 | u64::from((*columns.add(i)).contains::<A>(hash, run.k));
            }
            words.write(hits);
            return hits.count_ones() as usize;
        }
        let mask = A::mask(hash, run.k);
        while rest > 0 {
            let count = rest.min(64);
            // From the last on: so no register counts.
            let (mut hits, mut left) = (0, count);
            while !left.is_multiple_of(4) {
                left -= 1;
                hits = push::<A>(hits, columns.add(left), hash, mask);
            }
            while left > 0 {
                left -= 4;
                let four = columns.add(left);
                hits = push::<A>(hits, four.add(3), hash, mask);
                hits = push::<A>(hits, four.add(2), hash, mask);
                hits = push::<A>(hits, four.add(1), hash, mask);
                hits = push::<A>(hits, four, hash, mask);
            }
            words.write(hits);
            present += hits.count_ones() as usize;
            (columns, words, rest) = (columns.add(count), words.add(1), rest - count);
        }
    }
    present
}

/// [`Alike::push`] of a filter.
///
/// # Safety
/// As for [`Alike`]; the column is there.
#[inline(always)]
unsafe fn push<A: Alike>(hits: u64, column: *const Column, hash: u64, mask: A::Mask) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { A::push(hits, (*column).line::<A>(hash), mask) }
}

/// The work of [`Pairs`].
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn pairs<A: Alike>(
    run: &Run,
    mut members: *const u32,
    mut hashes: *const u64,
    mut rest: usize,
    mut words: *mut u64,
) -> usize {
    let mut present = 0;
    // SAFETY: the caller's promise; a column is behind the last.
    unsafe {
        while rest > 0 {
            let count = rest.min(64);
            let (mut hits, mut left) = (0, count);
            while left > 0 {
                left -= 1;
                let (member, hash) = (*members.add(left) as usize, *hashes.add(left));
                let column = *run.columns.add(member.min(run.count));
                hits = A::push_one(hits, column, hash, run.k);
            }
            words.write(hits);
            present += hits.count_ones() as usize;
            (members, hashes) = (members.add(count), hashes.add(count));
            (words, rest) = (words.add(1), rest - count);
        }
    }
    present
}

/// The functions of a backend, by the types that do the work.
macro_rules! calls {
    ($alike:ty, $rocksdb:ty $(, $attribute:meta)*) => {{
        $(#[$attribute])*
        unsafe extern "C" fn answer_by<A: Alike>(run: &Run, hash: u64, words: *mut u64) -> usize {
            // SAFETY: the caller's promise, handed on.
            unsafe { answer::<A>(run, hash, words) }
        }
        $(#[$attribute])*
        unsafe extern "C" fn pairs_by<A: Alike>(
            run: &Run,
            members: *const u32,
            hashes: *const u64,
            count: usize,
            words: *mut u64,
        ) -> usize {
            // SAFETY: the caller's promise, handed on.
            unsafe { pairs::<A>(run, members, hashes, count, words) }
        }
        const fn of<A: Alike>() -> Calls {
            Calls { answer: answer_by::<A>, pairs: pairs_by::<A> }
        }
        [
            of::<$alike>(),
            #[cfg(feature = "engines")]
            of::<RocksDb<$alike, $rocksdb>>(),
        ]
    }};
}

/// Those of each backend: for native lines, and for RocksDB's.
static CALLS: [[Calls; LINED]; Backend::ALL.len()] = {
    const SCALAR: [Calls; LINED] = calls!(native::ScalarAlike, fast_local::Scalar);
    Backend::table([
        (Backend::Scalar, SCALAR),
        #[cfg(not(target_arch = "x86_64"))]
        (
            Backend::Portable,
            if native::SHIFTS_BY_LANE {
                calls!(native::PortableAlike, fast_local::Portable)
            } else {
                SCALAR
            },
        ),
        #[cfg(target_arch = "x86_64")]
        (
            Backend::Avx2,
            calls!(
                native::Avx2Alike,
                fast_local::Avx2,
                target_feature(enable = "avx2,bmi2,popcnt")
            ),
        ),
        #[cfg(target_arch = "x86_64")]
        (
            Backend::Avx512,
            calls!(
                native::Avx2Alike,
                fast_local::Avx512,
                target_feature(
                    enable =
                        "avx512f,avx512bw,avx512cd,avx512dq,avx512vbmi,avx512vl,bmi2,gfni,popcnt"
                )
            ),
        ),
    ])
};

/// From so many filters on, four lines together are faster than one after the other. (Measured on a Zen 5: they
/// are from 12 on, but if keys wait for the answer before, 12 take 1.19 times as long, and 16 take 1.09.)
#[cfg(target_arch = "x86_64")]
const MANY: usize = 24;

/// From so many pairs on it pays to prepare eight together: measured there, too.
#[cfg(target_arch = "x86_64")]
const MANY_PAIRS: usize = 12;

/// For native lines, by registers of 512 bits; but those of one key that come from memory by shorter ones. With 30
/// filters of 10 MiB and keys that wait for the answer before, the others took 1.08 times as long.
#[cfg(target_arch = "x86_64")]
fn wide_calls(k: u32, count: usize, far: bool) -> Calls {
    const FOURS: [Answer; 2] = [answer_fours::<false>, answer_fours::<true>];
    let two = usize::from(k > 8);
    let Calls { answer, pairs } = WIDE[two];
    let answer = match count {
        _ if far => CALLS[Backend::Avx512 as usize][Lined::Native as usize].answer,
        MANY.. => FOURS[two],
        _ => answer,
    };
    Calls { answer, pairs }
}

/// Those for k up to 8, and above.
#[cfg(target_arch = "x86_64")]
const WIDE: [Calls; 2] = [
    Calls { answer: answer_wide::<false>, pairs: pairs_wide::<false> },
    Calls { answer: answer_wide::<true>, pairs: pairs_wide::<true> },
];

#[cfg(not(target_arch = "x86_64"))]
fn wide_calls(_: u32, _: usize, _: bool) -> Calls {
    unreachable!("the backend is not built")
}

/// [`Answer`], one filter after the other.
///
/// # Safety
/// As there.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi2,popcnt")]
unsafe extern "C" fn answer_wide<const TWO: bool>(run: &Run, hash: u64, words: *mut u64) -> usize {
    // SAFETY: the caller's promise, handed on.
    unsafe { answer::<native::Wide<TWO>>(run, hash, words) }
}

/// [`Pairs`].
///
/// # Safety
/// As there.
#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi2,gfni,popcnt"
)]
unsafe extern "C" fn pairs_wide<const TWO: bool>(
    run: &Run,
    members: *const u32,
    hashes: *const u64,
    count: usize,
    words: *mut u64,
) -> usize {
    if TWO || count < MANY_PAIRS {
        // SAFETY: the caller's promise, handed on.
        return unsafe { pairs::<native::Wide<TWO>>(run, members, hashes, count, words) };
    }
    let (mut done, mut present, mut words) = (0, 0, words);
    while done < count {
        let some = (count - done).min(64);
        // SAFETY: the caller's promise; a column is behind the last.
        unsafe {
            let (members, hashes) = (members.add(done), hashes.add(done));
            let columns = (run.columns, run.count);
            let hits = native::pair_answers(columns, members, hashes, some, run.k);
            words.write(hits);
            words = words.add(1);
            present += hits.count_ones() as usize;
        }
        done += some;
    }
    present
}

/// [`Answer`], four filters together.
///
/// # Safety
/// As there.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi2,popcnt")]
unsafe extern "C" fn answer_fours<const TWO: bool>(
    run: &Run,
    hash: u64,
    mut words: *mut u64,
) -> usize {
    let (mut columns, mut rest, mut present) = (run.columns, run.count, 0);
    while rest > 0 {
        let count = rest.min(64);
        // SAFETY: the caller's promise; all columns are before the end.
        unsafe {
            let hits = native::answers::<TWO>(columns, count, hash, run.k);
            words.write(hits);
            present += hits.count_ones() as usize;
            (columns, words) = (columns.add(count), words.add(1));
        }
        rest -= count;
    }
    present
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::line::{self, C2, LINE_BYTES};

    /// What few CPUs choose, on all that have the instructions; and what these choose, on those few.
    #[test]
    fn wide_or_not_runs_answer_as_the_definition() {
        if !Backend::Avx512.is_available() {
            println!("skipped: this CPU lacks AVX-512");
            return;
        }
        let hash = |i: usize| (i as u64).wrapping_mul(C2).rotate_left(29);
        for k in 1..=line::MAX_K {
            // As many keys as make about half of the answers yes, of which each filter has others.
            let filters: Vec<Vec<u8>> = (0..130)
                .map(|i| {
                    // Some lie across cache lines.
                    let mut bytes = vec![0; i % 3 + LINE_BYTES * (1 + i % 7)];
                    let keys = 8 * bytes.len() / k as usize * 2 / 3;
                    let mut insert = |key| line::insert(&mut bytes[i % 3..], k, hash(key));
                    (0..keys).for_each(|key| insert(key * 131 + i));
                    bytes
                })
                .collect();
            let filters: Vec<&[u8]> =
                filters.iter().enumerate().map(|(i, bytes)| &bytes[i % 3..]).collect();
            let column = |lines: &&[u8]| Column::at(lines.as_ptr(), lines.len() / LINE_BYTES);
            let columns: Vec<Column> =
                filters.iter().map(column).chain([Column::ANYTHING]).collect();
            let usual = CALLS[Backend::Avx512 as usize][Lined::Native as usize];
            let few = wide_calls(k, 1, false);
            let all = [usual, few, wide_calls(k, MANY, false), wide_calls(k, MANY, true)];
            for (number, calls) in all.into_iter().enumerate() {
                for count in [1, 2, 3, 4, 5, 7, 8, 15, 16, 23, 24, 61, 63, 64, 65, 100, 130] {
                    let run = Run { calls, columns: columns[130 - count..].as_ptr(), count, k };
                    let what = format!("k = {k}, calls {number}, {count} filters");
                    check(&run, &filters[130 - count..], &what);
                }
            }
        }
    }

    fn check(run: &Run, filters: &[&[u8]], what: &str) {
        let hash = |i: usize| (i as u64).wrapping_mul(C2).rotate_left(29);
        let bit = |words: &[u64], i: usize| words[i / 64] >> (i % 64) & 1 == 1;
        let ones = |words: &[u64]| words.iter().map(|word| word.count_ones() as usize).sum();
        let mut found = 0;
        for key in [0, 1, 77, 500, 131 * 9 + 129, 131 * 20 + 120, 1 << 40] {
            let mut words = [u64::MAX; 3];
            // SAFETY: the CPU has the backend; the lines and the words are there.
            let present = unsafe { run.answer(hash(key), words.as_mut_ptr()) };
            let words = &words[..run.count.div_ceil(64)];
            let expected = |i: usize| i < run.count && line::contains(filters[i], run.k, hash(key));
            (0..64 * words.len())
                .for_each(|i| assert_eq!(bit(words, i), expected(i), "{what}, {i}"));
            assert_eq!(present, ones(words), "{what}");
            found += present;
        }
        assert!(found > 0 && (run.count < 5 || found < 7 * run.count), "{what}: {found} found");
        for count in [0, 1, 3, 7, 11, 12, 13, 16, 17, 23, 63, 64, 65, 77, 130] {
            let hashes: Vec<u64> = (0..count).map(|i| hash(i * 97 % 1000)).collect();
            let mut members: Vec<u32> =
                (0..count).map(|i| (i * 31 % (run.count + 1)) as u32).collect();
            members.iter_mut().skip(5).step_by(29).for_each(|member| *member = u32::MAX);
            let mut words = [u64::MAX; 3];
            let (members_at, hashes_at) = (members.as_ptr(), hashes.as_ptr());
            // SAFETY: as above; so many members and hashes are there.
            let present = unsafe { run.pairs(members_at, hashes_at, count, words.as_mut_ptr()) };
            let words = &words[..count.div_ceil(64)];
            let pairs: Vec<(u32, u64)> = members.into_iter().zip(hashes).collect();
            for i in 0..64 * words.len() {
                let expected = pairs.get(i).is_some_and(|&(member, hash)| {
                    let filter = filters.get(member as usize);
                    filter.is_none_or(|filter| line::contains(filter, run.k, hash))
                });
                assert_eq!(bit(words, i), expected, "{what}, pair {i} of {count}");
            }
            assert_eq!(present, ones(words), "{what}");
        }
    }
}

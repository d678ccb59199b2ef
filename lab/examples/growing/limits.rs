//! The limits: loops that find the line of each key and only touch it, over as many lines as a growing filter has,
//! in the same pages. One of them lets no key begin before the line of the key before it is there: what one key
//! takes if the next one depends on its answer, or if a CPU looks ahead over one key only.

use super::common::memory::{Memory, allow_huge_pages};
use super::common::touch::{self, prefetch_to_write};
use super::{BATCH, Contender, median, time};
use bloomline::definition::line::{LINE_BYTES, Line, line_index};
use std::hint::black_box;

/// Parts of a growth, in each of which there are as many lines.
const PARTS: usize = 64;
/// Keys from the one that is inserted to the one whose lines are prefetched.
const AHEAD: usize = 16;

/// Memory of so many bytes, in pages of 4 KiB or in huge pages.
pub(super) fn memory(bytes: usize, huge: bool) -> Memory {
    allow_huge_pages(huge);
    let memory = Memory::new(bytes.next_multiple_of(LINE_BYTES));
    allow_huge_pages(true);
    memory
}

/// The number of lines while a filter grows by inserts, part by part.
fn line_counts(all: &[u64]) -> Vec<usize> {
    let mut filter = super::growing(all.len() as u64);
    let mut counts = Vec::new();
    for part in all.chunks(all.len().div_ceil(PARTS)) {
        for &hash in part {
            filter.insert_hash(hash).unwrap();
        }
        counts.push(filter.line_count() as usize + 1);
    }
    counts
}

/// The number of the home of a hash, behind which there is another line.
#[inline(always)]
fn home(lines: &[Line], hash: u64) -> usize {
    line_index(hash, lines.len() as u64 - 1) as usize
}

/// An insert that does nothing: it writes to the home line and to the next.
#[inline(always)]
fn write(lines: &mut [Line], home: usize, hash: u64) {
    for line in &mut lines[home..home + 2] {
        line[0] ^= hash;
    }
}

fn one_by_one(lines: &mut [Line], hashes: &[u64]) {
    for &hash in hashes {
        write(lines, home(lines, hash), hash);
    }
}

fn waiting(lines: &mut [Line], hashes: &[u64]) {
    let (none, mut last) = (black_box(0), 0);
    for &hash in hashes {
        let home = home(lines, hash ^ last);
        write(lines, home, hash);
        last = lines[home + 1][0] & none;
    }
}

fn in_batches(lines: &mut [Line], hashes: &[u64]) {
    for hashes in hashes.chunks(BATCH) {
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(i + AHEAD) {
                let home = home(lines, later);
                lines[home..home + 2].iter().for_each(|line| prefetch_to_write(line));
            }
            write(lines, home(lines, hash), hash);
        }
    }
}

/// Inserts that do nothing into lines that become more.
pub(super) fn inserts(all: &[u64]) -> Vec<Contender<'_>> {
    let counts = line_counts(all);
    let most = counts.iter().max().copied().unwrap_or(0);
    type Writes = fn(&mut [Line], &[u64]);
    let loops: [(&str, Writes); 3] = [
        ("limit, one by one", one_by_one),
        ("limit, each waits for the last", waiting),
        ("limit, batches", in_batches),
    ];
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    for (name, write_to) in loops {
        let counts = counts.clone();
        let work = move || {
            let mut memory = memory(most * LINE_BYTES, false);
            let lines = touch::lines_mut(&mut memory);
            time(all.len(), || {
                for (part, &count) in all.chunks(all.len().div_ceil(PARTS)).zip(&counts) {
                    write_to(&mut lines[..count], part);
                }
            })
        };
        contenders.push((name, Box::new(work)));
    }
    contenders
}

/// Lines in some pages, and the times of keys that only touch them.
pub(super) struct Touched {
    name: &'static str,
    memory: Memory,
    /// Of one key, of one that waits for the last, of batches to read and to write.
    one: Vec<f64>,
    waiting: Vec<f64>,
    reads: Vec<Vec<f64>>,
    writes: Vec<Vec<f64>>,
}

impl Touched {
    /// In both kinds of pages.
    pub(super) fn of(bytes: usize) -> [Touched; 2] {
        [("limit, pages of 4 KiB", false), ("limit, huge pages", true)].map(|(name, huge)| {
            Touched {
                name,
                memory: memory(bytes, huge),
                one: Vec::new(),
                waiting: Vec::new(),
                reads: vec![Vec::new(); touch::reads().len()],
                writes: vec![Vec::new(); touch::writes().len()],
            }
        })
    }

    /// A round.
    pub(super) fn touch(&mut self, hashes: &[u64]) {
        let lines = touch::lines_mut(&mut self.memory);
        let keys = hashes.len();
        self.one.push(time(keys, || {
            hashes.iter().map(|&hash| touch::touch_one(lines, hash)).sum::<usize>()
        }));
        let none = black_box(0);
        self.waiting.push(time(keys, || {
            hashes.iter().fold(0, |last, &hash| touch::touch_one(lines, hash ^ last) as u64 & none)
        }));
        let mut words = [0; BATCH / 64];
        for (times, (_, read)) in self.reads.iter_mut().zip(touch::reads()) {
            let all =
                || hashes.chunks(BATCH).map(|some| read(lines, some, &mut words)).sum::<usize>();
            times.push(time(keys, all));
        }
        for (times, (_, write)) in self.writes.iter_mut().zip(touch::writes()) {
            times.push(time(keys, || hashes.chunks(BATCH).for_each(|some| write(lines, some))));
        }
    }

    /// The medians; of batches that of the fastest loop.
    pub(super) fn print(&self) {
        let best =
            |all: &[Vec<f64>]| all.iter().map(|times| median(times)).fold(f64::MAX, f64::min);
        super::line(
            self.name,
            [median(&self.one), median(&self.waiting), best(&self.reads), best(&self.writes)]
                .map(|figure| format!("{figure:.1}")),
        );
    }
}

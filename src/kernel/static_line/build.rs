//! Builds filters of static lines, level after level, on any number of threads.
//!
//! Sorted hashes are sorted by line, so each thread makes some of the lines of a level. The bumped
//! keys' next hashes take the place of hashes that are done. So a build has 8 bytes per key, besides
//! the given hashes and the lines, and some 2 MB for each thread to sort in.

use super::super::{Backend, Kernel};
use super::solve::System;
use super::sort::sort;
use crate::error::Error;
use crate::layouts::static_line::{Levels, lanes, next_count, next_hash};
use crate::line::line_index;
use crate::os::numbers::Zeros;
use crate::os::threads;
use std::mem;

/// The largest share of a next level. Only hashes that are not uniform need more: all but a few of
/// their keys may then be present.
const MOST_SHARE: u8 = 64;
/// Levels after the third, at most.
const MOST_TAIL: u8 = 5;
/// The third level has so many keys to a line as a part of those of the others: so it bumps few.
const THIRD: f64 = 0.86;

/// The lines that a build with so many in its first level makes, at most.
pub(crate) fn most_lines(line_count: u64) -> u64 {
    Levels { line_count, shares: [MOST_SHARE; 2], tail: MOST_TAIL }.all_lines()
}

/// Writes the lines of all levels to the start of `out`, which has room for [`most_lines`] of so
/// many. Returns the levels. The same hashes make the same bytes, in any order, with any backend and
/// any number of threads.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn build(
    kernel: &Kernel,
    (rows, line_count): (u32, u64),
    keys_per_line: f64,
    hashes: &[u64],
    threads: usize,
    out: &mut [u8],
) -> Result<Levels, Error> {
    let threads = super::super::threads_for(threads, hashes.len());
    let mut levels = Levels { line_count, shares: [0; 2], tail: 0 };
    let mut memory = Zeros::new(hashes.len())?;
    sort(hashes, &mut memory, threads)?;
    let (mut hashes, mut spare, mut rest) = (&mut memory[..], &mut [][..], out);
    let mut count = line_count;
    loop {
        let len = count as usize * 8 * lanes(rows);
        let (lines, others) = mem::take(&mut rest).split_at_mut(len);
        rest = others;
        let bumped = level(kernel, rows, count, hashes, threads, lines);
        let Some(share) = next_level(&mut levels, bumped, count, keys_per_line) else {
            return Ok(levels);
        };
        count = next_count(count, share);
        // Sorted where there is room for it.
        let (done, free) = mem::take(&mut hashes).split_at_mut(bumped);
        let room = if free.len() > spare.len() { free } else { mem::take(&mut spare) };
        if room.len() < bumped {
            done.sort_unstable();
            (hashes, spare) = (done, room);
            continue;
        }
        let (room, _) = room.split_at_mut(bumped);
        sort(done, room, super::super::threads_for(threads, bumped))?;
        (hashes, spare) = (room, done);
    }
}

/// Adds a level for so many keys to those there are, the last of which has `count` lines. Returns
/// its share; None if there are no keys, or no level can be added.
fn next_level(levels: &mut Levels, keys: usize, count: u64, keys_per_line: f64) -> Option<u8> {
    if keys == 0 {
        return None;
    }
    // The smallest share for so many lines.
    let share = |keys_per_line: f64| {
        let lines = (keys as f64 / keys_per_line).ceil() as u64;
        (256 * (lines - 1) / count + 1).min(MOST_SHARE.into()) as u8
    };
    match &mut levels.shares {
        [second @ 0, _] => *second = share(keys_per_line),
        [_, third @ 0] => *third = share(keys_per_line * THIRD),
        _ if levels.tail == MOST_TAIL => return None,
        _ => levels.tail += 1,
    }
    Some(match levels {
        Levels { tail: 0, shares: [second, 0], .. } => *second,
        Levels { tail: 0, shares: [_, third], .. } => *third,
        _ => 16,
    })
}

/// Some lines of a level, and the hashes that belong to them.
struct Part<'a> {
    rows: u32,
    /// How many lines the level has, and the number of the first here.
    count: u64,
    first: u64,
    hashes: &'a mut [u64],
    lines: &'a mut [u8],
    /// How many keys are bumped.
    bumped: &'a mut usize,
}

/// Makes the lines of a level of sorted hashes. Returns how many keys are bumped: their next hashes
/// are then the first, in an order that does not depend on the threads.
fn level(
    kernel: &Kernel,
    rows: u32,
    count: u64,
    hashes: &mut [u64],
    threads: usize,
    lines: &mut [u8],
) -> usize {
    const MOST: usize = 256;
    let line_bytes = 8 * lanes(rows);
    let parts = threads.min(MOST).min(count as usize);
    let (mut bumped, mut starts) = ([0; MOST], [0; MOST]);
    let (mut rest, mut lines, mut first) = (&mut hashes[..], lines, 0);
    let mut start = 0;
    let all = bumped[..parts].iter_mut().enumerate().map(|(i, bumped)| {
        let end = (u128::from(count) * (i as u128 + 1) / parts as u128) as u64;
        let own = rest.partition_point(|&hash| line_index(hash, count) < end);
        let (hashes, others) = mem::take(&mut rest).split_at_mut(own);
        let len = (end - first) as usize * line_bytes;
        let (here, behind) = mem::take(&mut lines).split_at_mut(len);
        let part = Part { rows, count, first, hashes, lines: here, bumped };
        (rest, lines, first) = (others, behind, end);
        starts[i] = start;
        start += own;
        part
    });
    let backend = kernel.backend();
    threads::share(threads, all, |part| part.make_with(backend));
    let mut len = 0;
    for (start, bumped) in starts.into_iter().zip(bumped) {
        hashes.copy_within(start..start + bumped, len);
        len += bumped;
    }
    len
}

impl Part<'_> {
    /// The same work, compiled with the instructions of a backend.
    fn make_with(self, backend: Backend) {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi2,popcnt")]
            fn avx2(part: Part<'_>) {
                part.make();
            }
            // AVX-512, as compilers use it, is a third slower.
            if matches!(backend, Backend::Avx2 | Backend::Avx512) {
                // SAFETY: the backend is that of a kernel, which exists only if this CPU runs it;
                // where AVX-512 runs, AVX2 does.
                return unsafe { avx2(self) };
            }
        }
        let _ = backend;
        self.make();
    }

    #[inline(always)]
    fn make(self) {
        let Part { rows, count, first, hashes, lines, bumped } = self;
        let (mut system, mut from, mut len) = (System::new(), 0, 0);
        for (i, line) in lines.chunks_exact_mut(8 * lanes(rows)).enumerate() {
            let index = first + i as u64;
            let own = hashes[from..].iter().take_while(|&&hash| line_index(hash, count) == index);
            let end = from + own.count();
            let over = system.solve(&hashes[from..end], count, rows, line);
            let mut last = None;
            for at in end - over..end {
                let hash = hashes[at];
                // Behind what is done already, so nothing is lost. Equal hashes are one key.
                hashes[len] = next_hash(hash);
                len += usize::from(last != Some(hash));
                last = Some(hash);
            }
            from = end;
        }
        *bumped = len;
    }
}

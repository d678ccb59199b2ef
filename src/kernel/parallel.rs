//! A batch of inserts by several threads, without atomics: the number of a key's line grows with
//! its hash, so each thread has a range of lines of its own, and the hashes between two bounds.
//!
//! Each thread reads all hashes and inserts its own, a block at a time.

use super::batch::Hashes;
use super::lines::Lines;
use super::prefetch::Prefetch;
use super::{Kernel, Layout};
use crate::line::{LINE_BYTES, line_index};
use crate::os::threads;
use std::mem;

/// Hashes for each thread, at least: fewer are inserted before another thread has started.
pub(crate) const LEAST_EACH: usize = 1 << 15;

/// Hashes that are inserted at a time.
const BLOCK: usize = 4096;
/// Hashes that are read at a time.
const READ: usize = 1024;

/// The threads that pay for so many keys, up to `threads`; 0: as many as there are CPUs.
pub(crate) fn threads_for(threads: usize, keys: usize) -> usize {
    threads::or_all(threads).min(keys / LEAST_EACH).max(1)
}

/// Some lines of a filter.
struct Part<'a> {
    lines: &'a mut [u8],
    /// The number of the first of them.
    first: u64,
    /// The number of all lines of the filter, at least 1.
    all: u64,
}

impl<'a> Part<'a> {
    /// A filter's lines in so many parts, none empty: each line is in one part.
    fn split(lines: &'a mut [u8], parts: usize) -> impl Iterator<Item = Part<'a>> {
        let all = (lines.len() / LINE_BYTES) as u64;
        let bound = move |part: usize| (u128::from(all) * part as u128 / parts as u128) as u64;
        let mut rest = lines;
        (0..parts).filter_map(move |part| {
            let (first, end) = (bound(part), bound(part + 1));
            let here = mem::take(&mut rest);
            let (lines, others) = here.split_at_mut((end - first) as usize * LINE_BYTES);
            rest = others;
            (end > first).then_some(Part { lines, first, all })
        })
    }

    /// The lowest and the highest hash whose lines are here.
    fn bounds(&self) -> (u64, u64) {
        let end = self.first + (self.lines.len() / LINE_BYTES) as u64;
        // line_index(hash) >= line exactly if hash * all >= line * 2^64.
        let lowest = |line: u64| (u128::from(line) << 64).div_ceil(self.all.into());
        let (low, high) = (lowest(self.first) as u64, (lowest(end) - 1) as u64);
        assert!(line_index(low, self.all) >= self.first && line_index(high, self.all) < end);
        (low, high)
    }
}

impl Kernel {
    /// Sets the bits of many keys, as [`Kernel::insert_batch`] does and with the same bytes, on up
    /// to so many threads; 0: as many as there are CPUs. Bits that lie anywhere take one.
    pub(crate) fn insert_parallel(&self, lines: &mut [u8], k: u32, hashes: &[u64], threads: usize) {
        let threads = threads_for(threads, hashes.len());
        if threads == 1 || self.layout != Layout::Native {
            self.insert_batch(lines, k, Hashes::Given(hashes));
            return;
        }
        let plan = Prefetch::to_insert(lines.len());
        threads::share(threads, Part::split(lines, threads), |part| {
            self.insert_part(part, k, hashes, plan);
        });
    }

    /// Sets the bits of those of the hashes whose lines are in `part`.
    fn insert_part(&self, part: Part<'_>, k: u32, hashes: &[u64], plan: Prefetch) {
        let (low, high) = part.bounds();
        let lines = Lines::part_of(part.lines, part.first, part.all, k);
        let mut own = [0; BLOCK + READ];
        let mut len = 0;
        let insert = |own: &[u64]| {
            // SAFETY: this CPU runs the kernel, since it exists. An insert reads and writes the
            // line of its hash, no other. All hashes here lie between the bounds, and lines grow
            // with hashes: so their lines are in the part, a mutable slice.
            unsafe { (self.insert_batch)(lines, Hashes::Given(own), plan) }
        };
        for hashes in hashes.chunks(READ) {
            // No branch for each: it would be a coin toss.
            for &hash in hashes {
                own[len] = hash;
                len += usize::from(hash.wrapping_sub(low) <= high - low);
            }
            if len >= BLOCK {
                insert(&own[..len]);
                len = 0;
            }
        }
        insert(&own[..len]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hash_is_in_one_part_and_its_line_too() {
        for count in [1usize, 2, 5, 64, 1001] {
            for parts in [1, 2, 3, 7, 64] {
                let mut lines = vec![0u8; count * LINE_BYTES];
                let (mut next_line, mut next_hash) = (0, Some(0));
                for part in Part::split(&mut lines, parts) {
                    assert_eq!((part.first, part.all), (next_line, count as u64));
                    next_line += (part.lines.len() / LINE_BYTES) as u64;
                    let (low, high) = part.bounds();
                    assert_eq!(Some(low), next_hash);
                    assert_eq!(line_index(low, part.all), part.first);
                    assert_eq!(line_index(high, part.all), next_line - 1);
                    next_hash = high.checked_add(1);
                }
                assert_eq!((next_line, next_hash), (count as u64, None));
            }
        }
    }

    #[test]
    fn few_keys_take_fewer_threads() {
        let counts = [0, 1, LEAST_EACH - 1, LEAST_EACH, 3 * LEAST_EACH, 100 * LEAST_EACH];
        assert_eq!(counts.map(|keys| threads_for(7, keys)), [1, 1, 1, 1, 3, 7]);
        assert!(threads_for(0, usize::MAX) >= 1);
    }
}

//! Sorts hashes in two passes, for uniform ones: into buckets by their highest bits, then each
//! bucket within the cache.

use crate::error::Error;
use crate::line::line_index;
use crate::os::numbers::Zeros;
use crate::os::threads;
use std::mem;

/// Hashes of a bucket on average, if there are not too many buckets.
const EACH: usize = 1024;
/// Buckets at most: more cost as many misses as hashes.
const BUCKETS: usize = 1 << 12;
/// Hashes that are sorted by counting at most; more are compared.
const COUNTED: usize = 1 << 17;

/// Hashes to a part from which on they are not uniform.
const MANY: u32 = 16;

/// Room for a thread to sort buckets in.
struct Room {
    /// Where the next hash of each bucket goes.
    next: Zeros<usize>,
    /// A bucket, and where its parts begin.
    hashes: Zeros<u64>,
    starts: Zeros<u32>,
}

/// Writes the hashes to `out`, in ascending order, on up to so many threads.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn sort(hashes: &[u64], out: &mut [u64], threads: usize) -> Result<(), Error> {
    let buckets = (hashes.len() / EACH).clamp(1, BUCKETS);
    let mut ends = Zeros::<usize>::new(buckets)?;
    for &hash in hashes {
        ends[line_index(hash, buckets as u64) as usize] += 1;
    }
    let mut sum = 0;
    for end in &mut *ends {
        sum += *end;
        *end = sum;
    }
    // Each thread has some buckets, and takes their hashes from all.
    let mut parts = parts(&ends, out, threads.clamp(1, buckets))?;
    // Borrowed, so that this thread frees what it has allocated.
    threads::share(threads, parts.iter_mut(), |(part, room)| part.fill(hashes, buckets, room));
    Ok(())
}

/// Some of the buckets, and where their hashes go.
struct Part<'a> {
    first: usize,
    /// Where each ends in all hashes, and where the first begins.
    ends: &'a [usize],
    start: usize,
    out: &'a mut [u64],
}

/// The buckets in so many parts, with room for each.
fn parts<'a>(
    ends: &'a [usize],
    out: &'a mut [u64],
    count: usize,
) -> Result<Vec<(Part<'a>, Room)>, Error> {
    let (mut parts, mut rest, mut start, mut first) = (Vec::new(), out, 0, 0);
    parts.try_reserve_exact(count).map_err(|_| Error::OutOfMemory)?;
    for i in 1..=count {
        let last = ends.len() * i / count;
        let end = ends[last - 1];
        let (out, others) = mem::take(&mut rest).split_at_mut(end - start);
        let part = Part { first, ends: &ends[first..last], start, out };
        let room = part.room()?;
        parts.push((part, room));
        (rest, start, first) = (others, end, last);
    }
    Ok(parts)
}

impl Part<'_> {
    /// Room for the largest bucket that is sorted by counting.
    fn room(&self) -> Result<Room, Error> {
        let (mut start, mut largest) = (self.start, 0);
        for &end in self.ends {
            if end - start <= COUNTED {
                largest = largest.max(end - start);
            }
            start = end;
        }
        let starts = Zeros::new(2 * largest.next_power_of_two() + 1)?;
        Ok(Room { next: Zeros::new(self.ends.len())?, hashes: Zeros::new(largest)?, starts })
    }

    /// Takes the hashes of its buckets from all, and sorts each.
    fn fill(&mut self, hashes: &[u64], buckets: usize, room: &mut Room) {
        let Part { first, ends, start, ref mut out } = *self;
        let next = &mut room.next;
        for (next, end) in next[1..].iter_mut().zip(ends) {
            *next = end - start;
        }
        for &hash in hashes {
            let bucket = line_index(hash, buckets as u64) as usize;
            if let Some(next) = next.get_mut(bucket.wrapping_sub(first)) {
                out[*next] = hash;
                *next += 1;
            }
        }
        let mut from = 0;
        for (i, end) in ends.iter().map(|end| end - start).enumerate() {
            sort_bucket(&mut out[from..end], (first + i) as u64, buckets as u64, room);
            from = end;
        }
    }
}

/// Sorts one of the buckets.
fn sort_bucket(hashes: &mut [u64], bucket: u64, buckets: u64, room: &mut Room) {
    let len = hashes.len();
    if len > COUNTED {
        hashes.sort_unstable();
        return;
    }
    // By counting into parts of the bucket, half a hash to each or less.
    let parts = 2 * len.next_power_of_two();
    let part = |hash: u64| {
        let part = line_index(hash, buckets * parts as u64) - bucket * parts as u64;
        part as usize
    };
    let starts = &mut room.starts[..parts + 1];
    starts.fill(0);
    for &hash in &*hashes {
        starts[part(hash) + 1] += 1;
    }
    let (mut sum, mut most) = (0, 0);
    for start in &mut starts[..] {
        most = most.max(*start);
        sum += *start;
        *start = sum;
    }
    if most > MANY {
        hashes.sort_unstable();
        return;
    }
    let sorted = &mut room.hashes[..len];
    for &hash in &*hashes {
        let start = &mut starts[part(hash)];
        sorted[*start as usize] = hash;
        *start += 1;
    }
    // Nearly sorted: only those of a part are not.
    for i in 1..len {
        let (mut at, hash) = (i, sorted[i]);
        while at > 0 && sorted[at - 1] > hash {
            sorted[at] = sorted[at - 1];
            at -= 1;
        }
        sorted[at] = hash;
    }
    hashes.copy_from_slice(sorted);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_sorted_whatever_they_are() {
        let random = |n: u64| (0..n).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17));
        let mut sets: Vec<Vec<u64>> = vec![vec![], vec![7], vec![u64::MAX, 0, u64::MAX]];
        sets.push(random(50_000).collect());
        sets.push(vec![42; 200_000]);
        sets.push((0..10_000).rev().collect());
        sets.push(random(1000).chain(std::iter::repeat_n(5, 3000)).collect());
        for hashes in sets {
            let mut expected = hashes.clone();
            expected.sort_unstable();
            for threads in [1, 2, 7] {
                let mut out = vec![0; hashes.len()];
                sort(&hashes, &mut out, threads).unwrap();
                assert!(out == expected, "{} hashes", hashes.len());
            }
        }
    }
}

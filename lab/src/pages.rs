//! What pages filters lie in. Large filters of this library, and the loops that only touch lines, ask the
//! system for huge pages; those of others are where malloc() puts them. It asks, too, with
//! `GLIBC_TUNABLES=glibc.malloc.hugetlb=1`, which `make lab` sets. In pages of 4 KiB a probe in memory takes
//! longer, so a comparison of both is one of pages.

use crate::common::memory::{Memory, huge_part};
use std::fs;

/// As large as the filters in memory.
const BYTES: usize = 64 << 20;
/// From so much on the C library gives memory back as soon as it is freed.
pub(crate) const GIVEN_BACK: usize = 32 << 20;
/// A part of the bytes, 0 to 1: the ends of what malloc() gives may lie in small pages.
pub(crate) const ENOUGH: f64 = 0.9;

/// What to say if malloc() leaves filters in small pages, and this library has huge ones.
pub(crate) fn differ() -> Option<String> {
    let (ours, theirs) = (huge_part(&Memory::new(BYTES))?, huge_part(&vec![1; BYTES])?);
    (ours >= ENOUGH && theirs < ENOUGH).then(|| {
        format!(
            "filters of others lie in pages of 4 KiB ({:.0} % of malloc's 64 MiB are in huge ones), those of \
             this library in huge ones: set GLIBC_TUNABLES=glibc.malloc.hugetlb=1, as `make lab` does",
            100.0 * theirs
        )
    })
}

/// Bytes of this process in memory, and how many of them are in huge pages. None if the system does not
/// report it.
pub(crate) fn resident() -> Option<[usize; 2]> {
    let text = fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let bytes = |field: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(field))?;
        Some(value.trim().strip_suffix(" kB")?.parse::<usize>().ok()? << 10)
    };
    Some([bytes("Rss:")?, bytes("AnonHugePages:")?])
}

/// Which part, 0 to 1, of the memory that this frees lies in huge pages. None if less than `least` bytes are
/// given back to the system.
pub(crate) fn of<T>(owner: T, least: usize) -> Option<f64> {
    let before = resident()?;
    drop(owner);
    let after = resident()?;
    let [freed, huge] = [0, 1].map(|i| before[i].saturating_sub(after[i]));
    (freed >= least).then(|| huge as f64 / freed as f64)
}

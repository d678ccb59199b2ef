//! Static lines without the feature `static`: short code, one key and one level after the other. Views open
//! encoded static filters all the same.

use super::super::batch::Ops;
use super::super::lines::Lines;
use super::super::prefetch::Reads;
use super::Plain;
use super::levels::ANY;

/// The operations on every CPU.
pub(in crate::kernel) struct OneByOne;

impl Ops for OneByOne {
    const READS: Reads = Reads::Several;
    const INSERTS: bool = false;
    const SHORT: bool = false;

    #[inline(always)]
    fn line_log2(packed: u32) -> u32 {
        Plain::<ANY>::line_log2(packed)
    }

    #[inline(always)]
    fn line(lines: Lines, hash: u64) -> *const u8 {
        Plain::<ANY>::line(lines, hash)
    }

    #[inline(always)]
    fn prefetch<const HINT: u8>(lines: Lines, hash: u64) {
        Plain::<ANY>::prefetch::<HINT>(lines, hash);
    }

    /// A function, as all others call it.
    #[inline(never)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { Plain::<ANY>::contains(lines, hash) }
    }
}

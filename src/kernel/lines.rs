//! The lines of a filter, as kernels find them.

use crate::line::{LINE_BYTES, line_index};

/// The lines of a filter: where they are, how many, and what else a probe needs of the shape.
#[derive(Clone, Copy)]
pub(crate) struct Lines {
    base: *mut u8,
    count: u64,
    /// By the layout: k, the bits of a fingerprint, or rows and levels as one number.
    detail: u32,
    /// Whether a line may lie across two cache lines.
    straddle: bool,
    /// Whether a batch that prefetches far ahead also prefetches near. Not a type, as plans are:
    /// that would be one more copy of each loop, to save one instruction per key of a filter that
    /// does not fit in the cache.
    near: bool,
}

impl Lines {
    /// Lines to insert into.
    ///
    /// # Panics
    /// If there is no line.
    #[inline(always)]
    pub(crate) fn writable(lines: &mut [u8], detail: u32, log2: u32) -> Lines {
        Lines::new(lines.as_mut_ptr(), lines.len(), detail, log2)
    }

    /// Lines of `1 << log2` bytes in `bytes` bytes from `base` on. If those are for probes, do not
    /// write through this.
    ///
    /// # Panics
    /// If there is no line.
    #[inline(always)]
    pub(super) fn new(base: *mut u8, bytes: usize, detail: u32, log2: u32) -> Lines {
        let count = (bytes >> log2) as u64;
        assert!(count > 0, "a filter has at least one line");
        Lines {
            base,
            count,
            detail,
            straddle: !base.addr().is_multiple_of(LINE_BYTES),
            near: false,
        }
    }

    /// Of a filter with so many lines of 64 bytes those in `part`, the first of which has the number
    /// `first`. Only hashes whose line is there may be inserted.
    pub(super) fn part_of(part: &mut [u8], first: u64, count: u64, detail: u32) -> Lines {
        let straddle = !part.as_ptr().addr().is_multiple_of(LINE_BYTES);
        // Where line 0 is, or would be: `line` comes back into the part.
        let base = part.as_mut_ptr().wrapping_sub(first as usize * LINE_BYTES);
        Lines { base, count, detail, straddle, near: false }
    }

    /// The `count` lines behind these, of which each has `1 << log2` bytes, with another detail.
    #[inline(always)]
    pub(super) fn behind(self, log2: u32, count: u64, detail: u32) -> Lines {
        Lines { base: self.base.wrapping_add((self.count as usize) << log2), count, detail, ..self }
    }

    /// So many lines to probe, at least one, as the caller ensures.
    #[inline(always)]
    pub(super) fn some(base: *mut u8, count: usize, detail: u32) -> Lines {
        debug_assert!(count > 0, "a filter has at least one line");
        let straddle = !base.addr().is_multiple_of(LINE_BYTES);
        Lines { base, count: count as u64, detail, straddle, near: false }
    }

    /// Lines without memory, to compute where they would be.
    #[cfg(all(test, target_arch = "x86_64"))]
    pub(super) fn imaginary(count: u64) -> Lines {
        Lines {
            base: std::ptr::without_provenance_mut(64),
            count,
            detail: 1,
            straddle: false,
            near: false,
        }
    }

    /// The line that the hash belongs to: an address within the lines.
    #[inline(always)]
    pub(crate) fn line(self, hash: u64) -> *mut u8 {
        self.base.wrapping_add(line_index(hash, self.count) as usize * LINE_BYTES)
    }

    /// The address of the first line.
    #[inline(always)]
    pub(crate) fn first(self) -> *mut u8 {
        self.base
    }

    /// The number of lines.
    #[inline(always)]
    pub(crate) fn count(self) -> u64 {
        self.count
    }

    /// The bits that a key sets in a Bloom filter.
    #[inline(always)]
    pub(crate) fn k(self) -> u32 {
        self.detail
    }

    /// The bits of a fingerprint of a cuckoo filter.
    #[inline(always)]
    pub(super) fn fingerprint_bits(self) -> u32 {
        self.detail
    }

    /// Rows and levels of a static filter, as `static_line` packs them.
    #[inline(always)]
    pub(super) fn rows_and_levels(self) -> u32 {
        self.detail
    }

    /// What a column of a matrix is, as `column` packs it.
    #[inline(always)]
    pub(super) fn column(self) -> u32 {
        self.detail
    }

    /// Whether a line may lie across two cache lines.
    #[inline(always)]
    pub(super) fn straddle(self) -> bool {
        self.straddle
    }

    /// Whether keys near ahead are prefetched too, if those far ahead are.
    #[inline(always)]
    pub(super) fn near(self) -> bool {
        self.near
    }

    /// The same lines, with that or without.
    #[inline(always)]
    pub(super) fn with_near(self, near: bool) -> Lines {
        Lines { near, ..self }
    }
}

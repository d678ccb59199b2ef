//! The regions of a filter side by side, so that the homes of many keys are found at once.

use super::Line;
use crate::layouts::growing::REGIONS;
use std::marker::PhantomData;

/// How many regions there are at most, less the one that is moved.
const ALL: usize = REGIONS as usize;

/// Where the lines of a region are.
#[derive(Clone, Copy)]
pub(super) struct Where<'a> {
    /// The start of each chunk of lines, or of all lines if they are in one piece.
    pub(super) starts: *const u8,
    /// The first line that is there, and how many are from there on.
    pub(super) first: usize,
    pub(super) count: usize,
    /// The logarithm of the lines of a chunk.
    pub(super) log2: u32,
    pub(super) lines: PhantomData<&'a Line>,
}

/// What is known of one region.
#[derive(Clone, Copy)]
pub(super) struct Region<'a> {
    /// Its prefixes.
    pub(super) w: u64,
    /// Those of a line.
    pub(super) u: u64,
    /// With its shift, what a division by `u` is.
    pub(super) reciprocal: u64,
    pub(super) shift: u32,
    /// The bits of a remainder.
    pub(super) r: u32,
    pub(super) lines: Where<'a>,
}

/// A number of each region, in the order of regions.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(super) struct Each(pub(super) [u64; ALL]);

/// A number of each region, and of the new lines of the one that is moved.
#[derive(Clone, Copy)]
pub(super) struct Number {
    pub(super) each: Each,
    pub(super) fresh: u64,
}

impl Number {
    const NONE: Number = Number { each: Each([0; ALL]), fresh: 0 };

    fn set(&mut self, region: Option<usize>, number: u64) {
        match region {
            Some(region) => self.each.0[region] = number,
            None => self.fresh = number,
        }
    }
}

/// Regions of so many prefixes at most are narrow: all numbers of prefixes, and of lines, have 32 bits.
const NARROW: u64 = 1 << 31;

/// All regions: what [`Region`] has of each. If all are narrow, some numbers share a word with another, which has
/// the high half of it.
pub(crate) struct Regions<'a> {
    pub(super) is_narrow: bool,
    /// The prefixes; in narrow ones with those of a line.
    pub(super) w: Number,
    pub(super) u: Number,
    /// In narrow ones of 32 bits, with `small`.
    pub(super) reciprocal: Number,
    /// Where the starts of the chunks of lines are, or of all lines.
    pub(super) starts: Number,
    /// The first line, and how many there are from there on; in narrow ones together.
    pub(super) first: Number,
    pub(super) count: Number,
    /// The shift, 8 bits; the bits of a remainder, 8 bits; the logarithm of the lines of a chunk.
    pub(super) small: Number,
    /// The number of regions less one.
    pub(super) mask: u64,
    /// The high bits of a hash that say in which region it is, if there is more than one.
    pub(super) bits: u32,
    /// The hashes of the region that is moved: from here on, so many.
    pub(super) from: u64,
    pub(super) moved: u64,
    /// 1 if prefixes have different lengths.
    pub(super) mixed: u32,
    /// Whether lines are in chunks.
    pub(super) in_chunks: bool,
    lines: PhantomData<&'a Line>,
}

impl<'a> Regions<'a> {
    /// None yet, of a filter with so many regions less one, 0 or 15, and so many prefixes in each of them and in each
    /// line at most.
    pub(super) fn new(
        mask: usize,
        most: u64,
        (from, moved): (u64, u64),
        mixed: bool,
        in_chunks: bool,
    ) -> Regions<'a> {
        const NONE: Number = Number::NONE;
        Regions {
            is_narrow: most <= NARROW,
            w: NONE,
            u: NONE,
            reciprocal: NONE,
            starts: NONE,
            first: NONE,
            count: NONE,
            small: NONE,
            mask: mask as u64,
            bits: (mask as u64 + 1).ilog2(),
            from,
            moved,
            mixed: u32::from(mixed),
            in_chunks,
            lines: PhantomData,
        }
    }

    /// Says what is known of a region, or of the new lines of the one that is moved.
    pub(super) fn set(&mut self, region: Option<usize>, known: Region<'a>) {
        let Where { starts, first, count, log2, .. } = known.lines;
        let (first, count) = (first as u64, count as u64);
        let small = |shift: u32| u64::from(shift | known.r << 8 | log2 << 16);
        self.starts.set(region, starts as u64);
        if self.is_narrow {
            debug_assert!((first | count | known.w | known.u) >> 32 == 0, "two to a word");
            let (reciprocal, shift) = narrow_reciprocal(known.u);
            self.w.set(region, known.w | known.u << 32);
            self.reciprocal.set(region, reciprocal | small(shift) << 32);
            self.first.set(region, first | count << 32);
            return;
        }
        self.w.set(region, known.w);
        self.u.set(region, known.u);
        self.reciprocal.set(region, known.reciprocal);
        self.first.set(region, first);
        self.count.set(region, count);
        self.small.set(region, small(known.shift));
    }
}

/// For numbers up to [`NARROW`]: a product with the first number, shifted by the second, is a division by `u`, which is
/// 2 to [`NARROW`].
fn narrow_reciprocal(u: u64) -> (u64, u32) {
    // With `2^bits < u <= 2^(bits + 1)` the first has 32 bits. It is too high by `u / 2^shift` at most, which makes
    // less than one of a product: `2^31 * u <= 2^shift`.
    let shift = 32 + (u - 1).ilog2();
    ((1 << shift) / u + 1, shift)
}

//! From a hash to its home line, and along the chain of lines behind it.

use super::super::prefetch::{Prefetch, Reads};
#[cfg(target_arch = "x86_64")]
use super::avx512_one::{Asked, apart, asked};
pub(crate) use super::common::Common;
use super::common::high;
use super::regions::{Region, Regions, Where};
use super::store::Lines;
use super::tiles::{Homes, contains_all};
use super::{Calls, Entered, Line, OPENED};
use crate::error::Error;
use crate::layouts::growing::Found;
use crate::line::LINE_BYTES;
use crate::shape::growing::{Width, quota};
use std::hint::select_unpredictable;

/// The lines of a region, of one width.
pub(crate) struct Layout {
    pub(crate) calls: &'static Calls,
    /// The prefixes of all regions together.
    total: u64,
    /// Those of this region.
    w: u64,
    /// The first of them.
    first: u64,
    /// The prefixes of a line.
    u: u64,
    /// `floor(2^(64 + shift) / u) + 1`: a product with it, shifted, is a division by `u`.
    reciprocal: u64,
    shift: u32,
    /// The bits of a remainder.
    pub(crate) r: u32,
    /// 1 if prefixes have different lengths: a value has a 1 behind its prefix.
    mixed: u32,
    /// By how many bits prefixes are longer than the first ones were.
    pub(crate) length: u32,
    /// How far to shift a value so that those of all lengths compare.
    norm: u32,
    /// The lines that are the home of a prefix. A few more may follow.
    pub(crate) homes: usize,
    /// The region is full with so many keys.
    full: u64,
    /// With so many it grows, unless it cannot.
    pub(crate) most: u64,
    /// And too empty with fewer than so many.
    pub(crate) least: u64,
    /// So many keys may have prefixes of full length; with them the region gets longer ones, if there are any.
    pub(crate) quota: u64,
    pub(crate) lines: Lines,
    #[cfg(target_arch = "x86_64")]
    asked: &'static Asked,
}

impl Layout {
    /// Of lines elsewhere, of this width.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if they are too many for memory.
    pub(crate) fn of(
        common: Common,
        calls: &'static Calls,
        (part, parts): (u64, u64),
        length: u32,
        width: Width,
    ) -> Result<Layout, Error> {
        let total = common.prefixes << length;
        let w = total / parts;
        let Width { u, r, homes, most } = width;
        let bits = |x: u64| 64 - (x - 1).leading_zeros();
        let shift = (bits(w) + bits(u)).saturating_sub(64);
        let homes = usize::try_from(homes).map_err(|_| Error::OutOfMemory)?;
        Ok(Layout {
            calls,
            total,
            w,
            first: part * w,
            u,
            reciprocal: ((1_u128 << (64 + shift)) / u128::from(u)) as u64 + 1,
            shift,
            r,
            mixed: u32::from(common.mixed()),
            length,
            norm: common.bits_of_norm() - length,
            homes,
            full: most,
            most,
            least: if homes > 1 { (most / 32 * 27).saturating_sub(most / homes as u64) } else { 0 },
            quota: match common.longer {
                Some(longer) if length < longer => {
                    (quota(common.first_keys, length) / parts).max(1)
                }
                _ => u64::MAX,
            },
            lines: Lines::default(),
            #[cfg(target_arch = "x86_64")]
            asked: asked(r),
        })
    }

    /// The same without lines.
    pub(crate) fn bare(&self) -> Layout {
        Layout { lines: Lines::default(), ..*self }
    }

    /// The prefixes of a line, and the bits of a remainder.
    pub(crate) fn width(&self) -> (u64, u32) {
        (self.u, self.r)
    }

    /// What is above all values.
    pub(crate) fn end(&self) -> u64 {
        self.w << self.mixed
    }

    /// How far its values are shifted, so that those of all lengths compare.
    pub(crate) fn norm(&self) -> u32 {
        self.norm
    }

    /// The keys that the region has when it is full.
    pub(crate) fn full(&self) -> u64 {
        self.full
    }

    /// What a line says of a value.
    #[inline(always)]
    pub(crate) fn look(&self, line: &Line, value: i64) -> Found {
        if self.is_mixed() {
            self.calls.find_mixed(line, value, self.r)
        } else {
            self.calls.find(line, value, self.r)
        }
    }

    /// The home line of a hash, and its value there.
    #[inline(always)]
    pub(crate) fn place(&self, hash: u64) -> (usize, i64) {
        let x = high(hash, self.total) - self.first;
        let line = high(x, self.reciprocal) >> self.shift;
        let value = (x - line * self.u) << self.mixed | u64::from(self.mixed);
        (line as usize, value as i64)
    }

    /// What finds the homes of many keys at once, with its lines there.
    pub(super) fn region<'a>(&self, lines: Where<'a>) -> Region<'a> {
        let Layout { w, u, reciprocal, shift, r, .. } = *self;
        Region { w, u, reciprocal, shift, r, lines }
    }

    /// Its prefixes, or those of a line: in bytes of nobody's filter that may be more.
    pub(super) fn most_prefixes(&self) -> u64 {
        self.w.max(self.u)
    }

    /// The home line of a value that is counted from the start of the region.
    #[inline(always)]
    pub(crate) fn home(&self, y: u64) -> usize {
        (high(y >> self.mixed, self.reciprocal) >> self.shift) as usize
    }

    /// The keys that its lines have when they are full.
    pub(crate) fn capacity(&self) -> u64 {
        (u128::from(self.full) * self.lines.there() as u128 / self.homes as u128) as u64
    }

    /// The values of a line.
    #[inline(always)]
    pub(crate) fn values(&self) -> i64 {
        (self.u << self.mixed) as i64
    }

    /// The value that comes first in a line, counted from the start of the region.
    #[inline(always)]
    pub(crate) fn start(&self, line: usize) -> u64 {
        line as u64 * (self.u << self.mixed)
    }

    /// Whether prefixes have different lengths.
    #[inline(always)]
    pub(crate) fn is_mixed(&self) -> bool {
        self.mixed == 1
    }

    /// The longest that a prefix may be shorter than the longest ones.
    pub(crate) fn most_short(&self) -> u32 {
        self.r - self.mixed
    }

    /// The same as [`normal`](Layout::normal) counts.
    pub(crate) fn norm_of_most_short(&self) -> u32 {
        self.norm + self.most_short()
    }

    /// What is at home in a line, as [`normal`](Layout::normal) counts.
    pub(crate) fn normals(&self, line: usize) -> std::ops::Range<u64> {
        let end = self.start(line + 1).min(self.w << self.mixed);
        self.normal(self.start(line))..self.normal(end)
    }

    /// What a value is in all lengths and regions. Those of lines that are not verified may be any.
    #[inline(always)]
    pub(crate) fn normal(&self, y: u64) -> u64 {
        (self.first << self.mixed).wrapping_add(y) << self.norm
    }

    /// The value of that, counted from the start of the region.
    #[inline(always)]
    pub(crate) fn of_normal(&self, normal: u64) -> u64 {
        (normal >> self.norm) - (self.first << self.mixed)
    }

    /// The lowest hash whose home is line `i`, or none if there is none.
    pub(crate) fn first_hash(&self, line: usize) -> Option<u64> {
        let x = u128::from(self.first) + line as u128 * u128::from(self.u);
        let hash = (x << 64).div_ceil(u128::from(self.total));
        u64::try_from(hash).ok()
    }

    /// The line of a chain that has a value, or of mixed lengths one that a probe for it finds, and
    /// the value as it is counted there.
    #[inline(always)]
    pub(crate) fn search(&self, line: usize, value: i64) -> Option<(usize, i64)> {
        self.follow(line, value, |line, value| self.look(line, value))
    }

    /// The same of a value of full length, and no other.
    #[inline(always)]
    pub(crate) fn search_exactly(&self, line: usize, value: i64) -> Option<(usize, i64)> {
        self.follow(line, value, |line, value| self.calls.find(line, value, self.r))
    }

    /// From line to line, until one says whether it has the value.
    #[inline(always)]
    fn follow(
        &self,
        line: usize,
        value: i64,
        look: impl Fn(&Line, i64) -> Found,
    ) -> Option<(usize, i64)> {
        let (mut line, mut value) = (line, value);
        loop {
            match look(self.lines.get(line)?, value) {
                Found::Present => return Some((line, value)),
                Found::Absent => return None,
                Found::Onward => (line, value) = (line + 1, value - self.values()),
            }
        }
    }

    /// Inserts a value into the chain that begins with its home line, if that takes little.
    #[inline(always)]
    pub(crate) fn enter(&mut self, home: usize, value: i64) -> Entered {
        let (calls, r, step) = (self.calls, self.r, self.values());
        match self.is_mixed() {
            true => calls.enter_mixed(&mut self.lines, home, value, r, step),
            false => calls.enter(&mut self.lines, home, value, r, step),
        }
    }

    /// The same of a value of any length, whose shorter prefixes do not count.
    pub(crate) fn enter_exactly(&mut self, home: usize, value: i64) -> Entered {
        let (calls, r, step) = (self.calls, self.r, self.values());
        calls.enter(&mut self.lines, home, value, r, step)
    }

    /// Writes the values of a line to `out`, in order, counted from the start of the region. Returns how
    /// many there are.
    #[inline(always)]
    pub(crate) fn open(&self, line: usize, out: &mut [u64; OPENED]) -> usize {
        let Some(at) = self.lines.get(line) else { return 0 };
        self.calls.open(at, self.r, self.start(line), out)
    }

    /// The same, as [`normal`](Layout::normal) counts.
    #[inline(always)]
    pub(crate) fn open_normal(&self, line: usize, out: &mut [u64; OPENED]) -> usize {
        let Some(at) = self.lines.get(line) else { return 0 };
        let start = self.start(line) + (self.first << self.mixed);
        let count = self.calls.open(at, self.r, start, out);
        if self.norm > 0 {
            out.iter_mut().for_each(|value| *value <<= self.norm);
        }
        count
    }

    /// A line that is there.
    ///
    /// # Panics
    /// If it is not.
    #[inline(always)]
    pub(crate) fn line(&mut self, i: usize) -> &mut Line {
        self.lines.get_mut(i).expect("a line of the chain")
    }
}

impl Layout {
    /// How a batch prefetches the lines of so many regions like this one.
    #[inline]
    pub(crate) fn plan(&self, regions: usize) -> Prefetch {
        Prefetch::to_probe(Reads::Several, self.homes.saturating_mul(regions * LINE_BYTES))
    }
}

/// A line, and what it is asked.
pub(super) struct First<'a> {
    pub(super) line: &'a Line,
    pub(super) value: i64,
    pub(super) r: u32,
    pub(super) is_mixed: bool,
}

/// Where all keys are: the layouts of the regions, and of the one that is moved the new one.
pub(crate) struct Places {
    /// One for each region; behind them the new one of the region that is moved.
    pub(crate) layouts: Vec<Layout>,
    /// The number of regions less one.
    pub(crate) mask: usize,
    /// The number of regions, which is that of the new layout.
    fresh: usize,
    /// The hashes that the new one has: from here on, so many.
    pub(crate) from: u64,
    pub(crate) moved: u64,
}

impl Default for Places {
    /// One region, which has no layout yet.
    fn default() -> Places {
        Places { layouts: Vec::new(), mask: 0, fresh: 1, from: 0, moved: 0 }
    }
}

impl Places {
    /// From now on there are so many regions, a power of two up to 16.
    pub(crate) fn set_regions(&mut self, count: usize) {
        (self.mask, self.fresh) = (count - 1, count);
    }

    /// The number of the layout that has a hash.
    #[inline(always)]
    pub(crate) fn of(&self, hash: u64) -> usize {
        let is_fresh = hash.wrapping_sub(self.from) < self.moved;
        // The highest bits become the lowest ones: one instruction with BMI2.
        select_unpredictable(is_fresh, self.fresh, hash.rotate_left(4) as usize & self.mask)
    }

    /// What is asked for a hash first, unless its lines are not at hand. Few instructions, and no calls: so the CPU
    /// looks ahead over more keys.
    #[inline(always)]
    pub(super) fn first(&self, hash: u64) -> Option<First<'_>> {
        let layout = &self.layouts[self.of(hash)];
        let (line, value) = layout.place(hash);
        let line = layout.lines.at_hand(line)?;
        Some(First { line, value, r: layout.r, is_mixed: layout.is_mixed() })
    }

    /// The same in few registers: a line, the value there, and what is asked; also how wide remainders are.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "bmi2")]
    pub(super) fn one<const MIXED: bool>(
        &self,
        hash: u64,
    ) -> Option<(&Line, i64, &'static Asked, u32)> {
        // SAFETY: the address of the same layout.
        let layout = unsafe { &*apart(self.layouts.get(self.of(hash))?) };
        debug_assert_eq!(layout.is_mixed(), MIXED);
        let x = high(hash, layout.total) - layout.first;
        let line = high(x, layout.reciprocal) >> (layout.shift & 63);
        let offset = x - line * layout.u;
        let value = if MIXED { offset << 1 | 1 } else { offset };
        let line = layout.lines.probed(line as usize)?;
        Some((line, value as i64, layout.asked, layout.r))
    }

    /// Whether the lines behind the home of a hash have it; also the home, if it is not at hand.
    #[cold]
    #[inline(never)]
    pub(crate) fn others_have(&self, hash: u64) -> bool {
        let (layout, line, value) = self.locate(hash);
        match layout.lines.at_hand(line) {
            Some(_) => layout.search(line + 1, value - layout.values()).is_some(),
            None => layout.search(line, value).is_some(),
        }
    }

    /// The layout that has a hash, its home line there, and its value.
    #[inline(always)]
    pub(crate) fn locate(&self, hash: u64) -> (&Layout, usize, i64) {
        let layout = &self.layouts[self.of(hash)];
        let (line, value) = layout.place(hash);
        (layout, line, value)
    }
}

/// What is read where there is no line.
static EMPTY: Line = [0; 8];

impl Homes for Places {
    /// The number of the layout, the line, and the value there.
    type Place = (usize, usize, i64);

    #[inline(always)]
    fn home(&self, hash: u64) -> Self::Place {
        let of = self.of(hash);
        let (line, value) = self.layouts[of].place(hash);
        (of, line, value)
    }

    #[inline(always)]
    fn line(&self, &(of, line, _): &Self::Place) -> &Line {
        self.layouts[of].lines.get(line).unwrap_or(&EMPTY)
    }

    #[inline(always)]
    fn value(&self, place: &Self::Place) -> i64 {
        place.2
    }

    #[inline(always)]
    fn width(&self, place: &Self::Place) -> u32 {
        self.layouts[place.0].r
    }

    #[inline(always)]
    fn next(&self, &(of, line, value): &Self::Place) -> Self::Place {
        (of, line + 1, value - self.layouts[of].values())
    }

    fn regions(&self) -> Option<Regions<'_>> {
        let fresh = (self.from, self.moved);
        let (first, count) = (&self.layouts[0], self.mask as u64 + 1);
        // A region that is a filter of its own has its part of all prefixes.
        if first.total != first.w * count {
            return None;
        }
        let most = self.layouts.iter().map(Layout::most_prefixes).max()?;
        let mut regions = Regions::new(self.mask, most, fresh, first.is_mixed(), true);
        for (i, layout) in self.layouts.iter().enumerate() {
            let region = (i <= self.mask).then_some(i);
            regions.set(region, layout.region(layout.lines.place()?));
        }
        Some(regions)
    }

    #[inline(always)]
    fn is_mixed(&self) -> bool {
        self.layouts[0].is_mixed()
    }
}

impl Places {
    /// Probes the lines for many keys, as [`contains_all`].
    pub(crate) fn contains_all(&self, calls: &Calls, hashes: &[u64], words: &mut [u64]) -> usize {
        let plan = hashes.first().map_or(Prefetch::None, |&hash| self.plan(hash));
        contains_all(self, calls, hashes, plan, words)
    }

    /// How a batch prefetches its lines, by the region of its first hash. To add up the lines of all regions takes as
    /// long as to probe for three keys.
    #[inline]
    pub(crate) fn plan(&self, hash: u64) -> Prefetch {
        self.layouts[self.of(hash)].plan(self.mask + 1)
    }
}

//! The batch loops, written once for all backends. Uses `line` and `prefetch`.
//!
//! A batch goes in blocks of 64 keys: one word of the answer bitmap. A backend
//! says how to answer a block; here is what goes around it: where the hashes come
//! from, and the rolling prefetch that asks for the lines of a later block before
//! this one is answered.

use super::prefetch::{FAR, NEAR, Prefetch, prefetch};
use crate::line::{LINE_BYTES, line_index};
use std::marker::PhantomData;
use std::ops::Range;

/// Keys in a block: the bits of a word of the answer.
pub(crate) const BLOCK: usize = 64;

/// Keys from one that is probed to the one whose line is brought near.
const NEAR_KEYS: usize = 8;

/// The lines of a filter: where they are, how many, and k.
#[derive(Clone, Copy)]
pub(crate) struct Lines {
    base: *mut u8,
    count: u64,
    k: u32,
    /// Whether a line may lie across two cache lines.
    straddle: bool,
}

impl Lines {
    /// Lines of `1 << log2` bytes to probe. They may not be written through this.
    ///
    /// # Panics
    /// If there is not a single line.
    #[inline(always)]
    pub(crate) fn readable(lines: &[u8], k: u32, log2: u32) -> Lines {
        let count = (lines.len() >> log2) as u64;
        assert!(count > 0, "a filter has at least one line");
        let base = lines.as_ptr().cast_mut();
        Lines { base, count, k, straddle: !base.addr().is_multiple_of(LINE_BYTES) }
    }

    /// Lines to insert into.
    ///
    /// # Panics
    /// If there is not a single line.
    #[inline(always)]
    pub(crate) fn writable(lines: &mut [u8], k: u32, log2: u32) -> Lines {
        Lines { base: lines.as_mut_ptr(), ..Lines::readable(lines, k, log2) }
    }

    /// Lines that are not there, to ask where they would be.
    #[cfg(all(test, target_arch = "x86_64"))]
    pub(super) fn imaginary(count: u64) -> Lines {
        Lines { base: std::ptr::without_provenance_mut(64), count, k: 1, straddle: false }
    }

    /// The line that the hash belongs to: an address within the lines.
    #[inline(always)]
    pub(crate) fn line(self, hash: u64) -> *mut u8 {
        self.base.wrapping_add(line_index(hash, self.count) as usize * LINE_BYTES)
    }

    /// Where the first line is.
    #[inline(always)]
    pub(crate) fn first(self) -> *mut u8 {
        self.base
    }

    /// How many lines there are.
    #[inline(always)]
    pub(crate) fn count(self) -> u64 {
        self.count
    }

    /// Bits per key.
    #[inline(always)]
    pub(crate) fn k(self) -> u32 {
        self.k
    }
}

/// What a backend writes for a layout of lines: all of it about one key, or one block of keys.
///
/// # Safety of the methods
/// The caller runs them only on a CPU that has the backend's instructions, with
/// lines that can be read, or written by `insert`.
pub(super) trait Ops {
    /// Sets the bits of a key.
    unsafe fn insert(lines: Lines, hash: u64);

    /// Whether all bits of a key are set.
    unsafe fn contains(lines: Lines, hash: u64) -> bool;

    /// A line is `1 << LINE_LOG2` bytes.
    const LINE_LOG2: u32 = LINE_BYTES.ilog2();

    /// Whether batches ask for lines ahead at all.
    const PREFETCH: bool = true;

    /// Where the bits of a key are, to be asked for: the start of 64 bytes.
    #[inline(always)]
    fn line(lines: Lines, hash: u64) -> *const u8 {
        lines.line(hash)
    }

    /// The answers for 1 to 64 hashes, first in the lowest bit; meanwhile the lines
    /// of `ahead` are asked for, as the plan says.
    #[inline(always)]
    unsafe fn probe_block<P: Plan>(lines: Lines, hashes: &[u64], ahead: &[u64; BLOCK]) -> u64
    where
        Self: Sized,
    {
        let mut hits = 0;
        for (i, &hash) in hashes.iter().enumerate() {
            P::ask::<Self>(lines, hashes, ahead, i..i + 1);
            // SAFETY: the caller's promise.
            let hit = unsafe { Self::contains(lines, hash) };
            hits |= u64::from(hit) << i;
        }
        hits
    }
}

/// A prefetch plan as a type, so that each has a loop of its own.
pub(super) trait Plan {
    /// Asks for what should be under way while keys `now` of a block are probed: the
    /// lines of the same keys of the block ahead, and of a few keys on in this one.
    fn ask<O: Ops>(lines: Lines, hashes: &[u64], ahead: &[u64; BLOCK], now: Range<usize>);
}

/// No prefetch.
struct Nothing;

impl Plan for Nothing {
    #[inline(always)]
    fn ask<O: Ops>(_: Lines, _: &[u64], _: &[u64; BLOCK], _: Range<usize>) {}
}

/// Far ahead into L2 and, if `NEAR_TOO`, near into L1.
struct Ahead<const NEAR_TOO: bool>;

impl<const NEAR_TOO: bool> Plan for Ahead<NEAR_TOO> {
    #[inline(always)]
    fn ask<O: Ops>(lines: Lines, hashes: &[u64], ahead: &[u64; BLOCK], now: Range<usize>) {
        for i in now {
            ask_for::<O, FAR>(lines, ahead[i % BLOCK]);
            if NEAR_TOO {
                ask_for::<O, NEAR>(lines, hashes[(i + NEAR_KEYS).min(hashes.len() - 1)]);
            }
        }
    }
}

/// Asks for the line of a hash: for two cache lines if it may lie across them.
#[inline(always)]
pub(super) fn ask_for<O: Ops, const HINT: u8>(lines: Lines, hash: u64) {
    let line = O::line(lines, hash);
    prefetch::<HINT>(line);
    if lines.straddle {
        prefetch::<HINT>(line.wrapping_add(LINE_BYTES - 1));
    }
}

/// Where the hashes of a batch come from.
pub(crate) enum Hashes<'a> {
    /// The caller has them.
    Given(&'a [u64]),
    /// They are made from keys, a block at a time, some blocks ahead of their use.
    Made(&'a mut Ring<'a>),
}

/// Blocks of hashes on their way from being made to being used.
pub(crate) struct Ring<'a> {
    keys: usize,
    /// Writes the hashes of the keys from the given index on.
    hash: &'a dyn Fn(usize, &mut [u64]),
    blocks: [[u64; BLOCK]; RING],
}

/// Blocks in the ring: one is probed, the lines of the next are on their way, and the one
/// after that is hashed.
const RING: usize = 3;

/// Keys that are hashed at a time, lines being asked for in between.
const CHUNK: usize = 8;

impl<'a> Ring<'a> {
    /// For the hashes of `keys` keys; `hash(i, out)` writes those of the keys from `i` on.
    pub(crate) fn new(keys: usize, hash: &'a dyn Fn(usize, &mut [u64])) -> Self {
        Ring { keys, hash, blocks: [[0; BLOCK]; RING] }
    }

    /// The hashes of a block made before.
    #[inline(always)]
    fn get(&self, block: usize) -> &[u64] {
        &self.blocks[block % RING][..BLOCK.min(self.keys - block * BLOCK)]
    }

    /// Makes the hashes of a block, if there is one, and meanwhile asks for the lines of
    /// the first half of the block before it: else the memory would idle.
    #[inline(always)]
    fn make<O: Ops>(&mut self, lines: Lines, block: usize) {
        let first = block * BLOCK;
        for at in (0..BLOCK.min(self.keys.saturating_sub(first))).step_by(CHUNK) {
            let end = (at + CHUNK).min(self.keys - first).min(BLOCK);
            (self.hash)(first + at, &mut self.blocks[block % RING][at..end]);
            if block > 0 {
                for &hash in &self.blocks[(block - 1) % RING][at / 2..][..CHUNK / 2] {
                    ask_for::<O, FAR>(lines, hash);
                }
            }
        }
    }
}

impl Hashes<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Hashes::Given(hashes) => hashes.len(),
            Hashes::Made(ring) => ring.keys,
        }
    }

    /// The hashes of a block that is there.
    #[inline(always)]
    fn get(&self, block: usize) -> &[u64] {
        match self {
            Hashes::Given(hashes) => &hashes[block * BLOCK..hashes.len().min((block + 1) * BLOCK)],
            Hashes::Made(ring) => ring.get(block),
        }
    }
}

/// What is done with each block of a batch. (A closure would not be sure to be
/// compiled with the backend's instructions; a method that is always inlined is.)
trait Work {
    type Ops: Ops;

    /// Whether a second prefetch, near, can pay.
    const NEAR: bool;

    /// # Safety
    /// As for [`Ops`].
    unsafe fn block<P: Plan>(
        &mut self,
        lines: Lines,
        block: usize,
        hashes: &[u64],
        ahead: &[u64; BLOCK],
    );
}

/// Does the work block by block, in order, the lines prefetched as the plan says.
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
unsafe fn for_each_block<W: Work>(
    lines: Lines,
    hashes: &mut Hashes<'_>,
    plan: Prefetch,
    work: &mut W,
) {
    // SAFETY: the caller's promise.
    unsafe {
        // The constants leave out the loops that nobody needs.
        match plan.far {
            1.. if W::Ops::PREFETCH && W::NEAR && plan.near => {
                with_prefetch::<W, Ahead<true>>(lines, hashes, plan.far, work);
            }
            1.. if W::Ops::PREFETCH => {
                with_prefetch::<W, Ahead<false>>(lines, hashes, plan.far, work);
            }
            _ => without_prefetch(lines, hashes, work),
        }
    }
}

#[inline(always)]
unsafe fn without_prefetch<W: Work>(lines: Lines, hashes: &mut Hashes<'_>, work: &mut W) {
    for block in 0..hashes.len().div_ceil(BLOCK) {
        if let Hashes::Made(ring) = hashes {
            let first = block * BLOCK;
            let count = BLOCK.min(ring.keys - first);
            (ring.hash)(first, &mut ring.blocks[block % RING][..count]);
        }
        // SAFETY: the caller's promise.
        unsafe { work.block::<Nothing>(lines, block, hashes.get(block), &[0; BLOCK]) };
    }
}

/// Asks for the lines of the first blocks, then does each block while asking for
/// those of the one that is `far` blocks ahead.
#[inline(always)]
unsafe fn with_prefetch<W: Work, P: Plan>(
    lines: Lines,
    hashes: &mut Hashes<'_>,
    far: usize,
    work: &mut W,
) {
    let blocks = hashes.len().div_ceil(BLOCK);
    let far = if let Hashes::Made(ring) = hashes {
        for block in 0..2 {
            ring.make::<W::Ops>(lines, block);
        }
        1
    } else {
        far
    };
    for block in 0..far.min(blocks) {
        for &hash in hashes.get(block) {
            ask_for::<W::Ops, FAR>(lines, hash);
        }
    }
    for block in 0..blocks {
        if let Hashes::Made(ring) = hashes {
            ring.make::<W::Ops>(lines, block + 2);
        }
        // Past the end there is nothing to ask for; a line asked for again is there.
        let mut ahead = [hashes.get(block)[0]; BLOCK];
        if block + far < blocks {
            let last = hashes.get(block + far);
            ahead[..last.len()].copy_from_slice(last);
        }
        // SAFETY: the caller's promise.
        unsafe { work.block::<P>(lines, block, hashes.get(block), &ahead) };
    }
}

/// Sets the bits of all keys, one key after the other: two keys may share a line.
///
/// # Safety
/// As for [`Ops`], with lines that can be written.
#[inline(always)]
pub(super) unsafe fn insert<O: Ops>(lines: Lines, hashes: &mut Hashes<'_>, plan: Prefetch) {
    // SAFETY: the caller's promise.
    unsafe { for_each_block(lines, hashes, plan, &mut Insert::<O>(PhantomData)) }
}

struct Insert<O>(PhantomData<O>);

impl<O: Ops> Work for Insert<O> {
    type Ops = O;
    const NEAR: bool = false;

    #[inline(always)]
    unsafe fn block<P: Plan>(
        &mut self,
        lines: Lines,
        _: usize,
        hashes: &[u64],
        ahead: &[u64; BLOCK],
    ) {
        for (i, &hash) in hashes.iter().enumerate() {
            P::ask::<O>(lines, hashes, ahead, i..i + 1);
            // SAFETY: the caller's promise.
            unsafe { O::insert(lines, hash) };
        }
    }
}

/// Answers all keys into `bitmap`, which has a word for each block, and counts the hits.
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
pub(super) unsafe fn probe<O: Ops>(
    lines: Lines,
    hashes: &mut Hashes<'_>,
    plan: Prefetch,
    bitmap: &mut [u64],
) -> usize {
    let mut probe = Probe::<O> { bitmap, hits: 0, ops: PhantomData };
    // SAFETY: the caller's promise.
    unsafe { for_each_block(lines, hashes, plan, &mut probe) };
    probe.hits
}

struct Probe<'a, O> {
    bitmap: &'a mut [u64],
    hits: usize,
    ops: PhantomData<O>,
}

impl<O: Ops> Work for Probe<'_, O> {
    type Ops = O;
    const NEAR: bool = true;

    #[inline(always)]
    unsafe fn block<P: Plan>(
        &mut self,
        lines: Lines,
        block: usize,
        hashes: &[u64],
        ahead: &[u64; BLOCK],
    ) {
        // SAFETY: the caller's promise.
        let hits = unsafe { O::probe_block::<P>(lines, hashes, ahead) };
        self.bitmap[block] = hits;
        self.hits += hits.count_ones() as usize;
    }
}

//! The batch loops, written once for all backends. Uses `line` and `prefetch`.
//!
//! A batch goes in blocks of 64 keys: one word of the answer bitmap. A backend
//! says how to answer a block; here is what goes around it: where the hashes come
//! from, and the rolling prefetch that asks for the lines of a later block before
//! this one is answered.

use super::prefetch::{FAR, NEAR, Prefetch, prefetch};
use crate::line::{LINE_BYTES, line_index};
use std::marker::PhantomData;

/// Keys in a block: the bits of a word of the answer.
pub(crate) const BLOCK: usize = 64;

/// Keys from one that is probed to the one whose line is asked for into L2.
const FAR_KEYS: usize = 2 * BLOCK;

/// Keys from one that is probed to the one whose line is asked for into L1.
const NEAR_KEYS: usize = 8;

/// The hashes of a block, and of the keys after it that are asked for meanwhile.
pub(super) type Window = [u64; WINDOW];
const WINDOW: usize = BLOCK + FAR_KEYS;

/// Keys that are hashed in one go; of a batch of one block, a few, so that the first lines
/// are asked for soon.
const RUN: usize = 256;
const FEW: usize = 8;

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
        Lines::new(lines.as_ptr().cast_mut(), lines.len(), k, log2)
    }

    /// Lines to insert into.
    ///
    /// # Panics
    /// If there is not a single line.
    #[inline(always)]
    pub(crate) fn writable(lines: &mut [u8], k: u32, log2: u32) -> Lines {
        Lines::new(lines.as_mut_ptr(), lines.len(), k, log2)
    }

    /// Lines in `bytes` bytes from `base` on.
    #[inline(always)]
    pub(super) fn new(base: *mut u8, bytes: usize, k: u32, log2: u32) -> Lines {
        let count = (bytes >> log2) as u64;
        assert!(count > 0, "a filter has at least one line");
        Lines { base, count, k, straddle: !base.addr().is_multiple_of(LINE_BYTES) }
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

    /// Sets the bits of 1 to 64 keys, one key after the other: two may share a line.
    /// Meanwhile lines are asked for as [`Ops::probe_block`] says.
    #[inline(always)]
    unsafe fn insert_block<P: Plan>(lines: Lines, hashes: &[u64], window: &Window)
    where
        Self: Sized,
    {
        for (i, &hash) in hashes.iter().enumerate() {
            P::ask::<Self>(lines, window, i);
            // SAFETY: the caller's promise.
            unsafe { Self::insert(lines, hash) };
        }
    }

    /// A line is `1 << LINE_LOG2` bytes.
    const LINE_LOG2: u32 = LINE_BYTES.ilog2();

    /// Whether batches ask for lines ahead at all.
    const PREFETCH: bool = true;

    /// Where the bits of a key are, to be asked for: the start of 64 bytes.
    #[inline(always)]
    fn line(lines: Lines, hash: u64) -> *const u8 {
        lines.line(hash)
    }

    /// The answers for 1 to 64 hashes, first in the lowest bit; meanwhile the lines of
    /// later keys are asked for, as the plan says. Where the plan asks for any, there are
    /// 64 hashes, and they are the first of `window`.
    #[inline(always)]
    unsafe fn probe_block<P: Plan>(lines: Lines, hashes: &[u64], window: &Window) -> u64
    where
        Self: Sized,
    {
        let mut hits = 0;
        for (i, &hash) in hashes.iter().enumerate() {
            P::ask::<Self>(lines, window, i);
            // SAFETY: the caller's promise.
            let hit = unsafe { Self::contains(lines, hash) };
            hits |= u64::from(hit) << i;
        }
        hits
    }
}

/// A prefetch plan as a type, so that each has a loop of its own.
pub(super) trait Plan {
    /// Whether there is anything it asks for.
    const ASKS: bool;

    /// Asks for what should be under way while key `i` of a window is probed.
    fn ask<O: Ops>(lines: Lines, window: &Window, i: usize);
}

/// No prefetch.
struct Nothing;

impl Plan for Nothing {
    const ASKS: bool = false;

    #[inline(always)]
    fn ask<O: Ops>(_: Lines, _: &Window, _: usize) {}
}

/// Far ahead into L2 and, if `NEAR_TOO`, near into L1.
struct Ahead<const NEAR_TOO: bool>;

impl<const NEAR_TOO: bool> Plan for Ahead<NEAR_TOO> {
    const ASKS: bool = true;

    #[inline(always)]
    fn ask<O: Ops>(lines: Lines, window: &Window, i: usize) {
        ask_for::<O, FAR>(lines, window[i + FAR_KEYS]);
        if NEAR_TOO {
            ask_for::<O, NEAR>(lines, window[i + NEAR_KEYS]);
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
#[derive(Clone, Copy)]
pub(crate) enum Hashes<'a> {
    /// The caller has them.
    Given(&'a [u64]),
    /// They are made from keys, somewhat ahead of their use.
    Made(Keys<'a>),
}

/// Keys to be hashed.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    /// How many.
    pub(crate) len: usize,
    /// Writes the hashes of the keys from the given index on.
    pub(crate) hash: &'a dyn Fn(usize, &mut [u64]),
}

impl Hashes<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Hashes::Given(hashes) => hashes.len(),
            Hashes::Made(keys) => keys.len,
        }
    }
}

/// What is done with each block of a batch. (A closure would not be sure to be
/// compiled with the backend's instructions; a method that is always inlined is.)
trait Work {
    type Ops: Ops;

    /// Does 1 to 64 keys, the first being key `64 * block`, with what [`Ops::probe_block`]
    /// says of plan and window.
    ///
    /// # Safety
    /// As for [`Ops`].
    unsafe fn block<P: Plan>(
        &mut self,
        lines: Lines,
        block: usize,
        hashes: &[u64],
        window: &Window,
    );
}

/// Does the work block by block, in order, the lines prefetched as the plan says.
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
unsafe fn for_each_block<W: Work>(lines: Lines, hashes: Hashes<'_>, plan: Prefetch, work: &mut W) {
    // SAFETY: the caller's promise.
    unsafe {
        // The constants leave out the loops that nobody needs.
        match plan {
            Prefetch::Far | Prefetch::FarAndNear if W::Ops::PREFETCH && hashes.len() <= BLOCK => {
                one_block(lines, hashes, work);
            }
            Prefetch::FarAndNear if W::Ops::PREFETCH => {
                with_prefetch::<W, Ahead<true>>(lines, hashes, work);
            }
            Prefetch::Far if W::Ops::PREFETCH => {
                with_prefetch::<W, Ahead<false>>(lines, hashes, work);
            }
            _ => without_prefetch(lines, hashes, work),
        }
    }
}

#[inline(always)]
unsafe fn without_prefetch<W: Work>(lines: Lines, hashes: Hashes<'_>, work: &mut W) {
    // SAFETY: the caller's promise.
    unsafe {
        match hashes {
            Hashes::Given(hashes) => blocks(lines, hashes, 0, work),
            Hashes::Made(keys) => {
                let mut made = [0; BLOCK];
                for block in 0..keys.len.div_ceil(BLOCK) {
                    let made = &mut made[..BLOCK.min(keys.len - block * BLOCK)];
                    (keys.hash)(block * BLOCK, made);
                    blocks(lines, made, block, work);
                }
            }
        }
    }
}

/// Does blocks, the first of them being number `first`.
#[inline(always)]
unsafe fn blocks<W: Work>(lines: Lines, hashes: &[u64], first: usize, work: &mut W) {
    for (i, hashes) in hashes.chunks(BLOCK).enumerate() {
        // SAFETY: the caller's promise.
        unsafe { work.block::<Nothing>(lines, first + i, hashes, &[0; WINDOW]) };
    }
}

/// Does a batch of one block: all lines are needed soon, so they are asked for into L1.
#[inline(always)]
unsafe fn one_block<W: Work>(lines: Lines, hashes: Hashes<'_>, work: &mut W) {
    let mut made = [0; BLOCK];
    let hashes = match hashes {
        Hashes::Given(hashes) => {
            ask_for_all::<W::Ops, FAR>(lines, hashes);
            hashes
        }
        Hashes::Made(keys) => {
            let made = &mut made[..keys.len];
            for (i, some) in made.chunks_mut(FEW).enumerate() {
                (keys.hash)(FEW * i, some);
                ask_for_all::<W::Ops, FAR>(lines, some);
            }
            made
        }
    };
    // SAFETY: the caller's promise.
    unsafe { blocks(lines, hashes, 0, work) };
}

/// Does each block while asking for the lines of later keys. When fewer are left than
/// a window has, those not asked for yet are asked for at once.
#[inline(always)]
unsafe fn with_prefetch<W: Work, P: Plan>(lines: Lines, hashes: Hashes<'_>, work: &mut W) {
    let mut block = 0;
    // SAFETY: the caller's promise.
    unsafe {
        match hashes {
            Hashes::Given(mut rest) => {
                ask_for_all::<W::Ops, FAR>(lines, &rest[..rest.len().min(FAR_KEYS)]);
                while let Some(window) = rest.first_chunk() {
                    work.block::<P>(lines, block, &window[..BLOCK], window);
                    rest = &rest[BLOCK..];
                    block += 1;
                }
                ask_for_all::<W::Ops, FAR>(lines, rest.get(FAR_KEYS..).unwrap_or_default());
                blocks(lines, rest, block, work);
            }
            Hashes::Made(keys) => {
                let mut ring = [0; FAR_KEYS + RUN];
                let mut made = 0;
                loop {
                    // The hashes from the block on, of which the first are made already.
                    let left = keys.len - BLOCK * block;
                    let there = made - BLOCK * block;
                    let ring = &mut ring[..left.min(RUN + FAR_KEYS)];
                    (keys.hash)(made, &mut ring[there..]);
                    if made == 0 {
                        ask_for_all::<W::Ops, FAR>(lines, &ring[..ring.len().min(FAR_KEYS)]);
                    }
                    made += ring.len() - there;
                    let mut rest = &ring[..];
                    while let Some(window) = rest.first_chunk() {
                        work.block::<P>(lines, block, &window[..BLOCK], window);
                        rest = &rest[BLOCK..];
                        block += 1;
                    }
                    if made == keys.len {
                        ask_for_all::<W::Ops, FAR>(lines, rest.get(FAR_KEYS..).unwrap_or_default());
                        blocks(lines, rest, block, work);
                        return;
                    }
                    let from = ring.len() - rest.len();
                    ring.copy_within(from.., 0);
                }
            }
        }
    }
}

#[inline(always)]
fn ask_for_all<O: Ops, const HINT: u8>(lines: Lines, hashes: &[u64]) {
    for &hash in hashes {
        ask_for::<O, HINT>(lines, hash);
    }
}

/// Sets the bits of all keys, in order.
///
/// # Safety
/// As for [`Ops`], with lines that can be written.
#[inline(always)]
pub(super) unsafe fn insert<O: Ops>(lines: Lines, hashes: Hashes<'_>, plan: Prefetch) {
    // SAFETY: the caller's promise.
    unsafe { for_each_block(lines, hashes, plan, &mut Insert::<O>(PhantomData)) }
}

struct Insert<O>(PhantomData<O>);

impl<O: Ops> Work for Insert<O> {
    type Ops = O;

    #[inline(always)]
    unsafe fn block<P: Plan>(&mut self, lines: Lines, _: usize, hashes: &[u64], window: &Window) {
        // SAFETY: the caller's promise.
        unsafe { O::insert_block::<P>(lines, hashes, window) };
    }
}

/// Answers all keys into `bitmap`, which has a word for each block, and counts the hits.
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
pub(super) unsafe fn probe<O: Ops>(
    lines: Lines,
    hashes: Hashes<'_>,
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

    #[inline(always)]
    unsafe fn block<P: Plan>(
        &mut self,
        lines: Lines,
        block: usize,
        hashes: &[u64],
        window: &Window,
    ) {
        // SAFETY: the caller's promise.
        let hits = unsafe { O::probe_block::<P>(lines, hashes, window) };
        self.bitmap[block] = hits;
        self.hits += hits.count_ones() as usize;
    }
}

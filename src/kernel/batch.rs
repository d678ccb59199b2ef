//! The batch loops, written once for all backends.
//!
//! A batch is done in tiles of 64 keys: one word of the answer bitmap. A backend answers a tile.
//! The loop here provides the hashes and prefetches the lines of later keys meanwhile.

use super::lines::Lines;
use super::prefetch::{INTO_L1, INTO_L2, Prefetch, Reads, ahead, prefetch};
use super::single::Single;
use crate::line::LINE_BYTES;
use std::hint::assert_unchecked;
use std::marker::PhantomData;

/// Keys in a tile: the bits of a word of the answer.
pub(crate) const TILE: usize = 64;

/// The hashes of a tile, and of the keys after it that are prefetched meanwhile.
pub(super) type Lookahead = [u64; LOOKAHEAD];
const LOOKAHEAD: usize = TILE + ahead::FAR;

/// What a backend implements for a layout: operations on one key, or on one tile of keys.
///
/// # Safety of the methods
/// The caller runs them only on a CPU that has the backend's instructions, with
/// lines that can be read, or written by `insert`.
pub(super) trait Ops {
    /// Sets the bits of a key. Returns whether any of them was not set.
    #[inline(always)]
    unsafe fn insert(_lines: Lines, _hash: u64) -> bool {
        panic!("filters of this layout are not made by a kernel");
    }

    /// Whether all bits of a key are set.
    unsafe fn contains(lines: Lines, hash: u64) -> bool;

    /// What single keys are given for k: a [`Calls::rows`](super::functions::Calls::rows).
    const ROWS: Option<usize> = None;

    /// [`Ops::contains`] with all decided that can be.
    #[inline(always)]
    unsafe fn contains_one(single: &Single<'_>, hash: u64) -> bool
    where
        Self: Sized,
    {
        // SAFETY: the caller's promise.
        unsafe { Self::contains(single.lines(), hash) }
    }

    /// [`Ops::insert`] likewise.
    #[inline(always)]
    unsafe fn insert_one(single: &Single<'_>, hash: u64) -> bool
    where
        Self: Sized,
    {
        // SAFETY: the caller's promise.
        unsafe { Self::insert(single.lines(), hash) }
    }

    /// Sets the bits of 1 to 64 keys, one key after the other: two may share a line. Meanwhile
    /// lines are prefetched as for [`Ops::probe_tile`].
    #[inline(always)]
    unsafe fn insert_tile<P: Plan>(lines: Lines, hashes: &[u64], lookahead: &Lookahead)
    where
        Self: Sized,
    {
        for (i, &hash) in hashes.iter().enumerate() {
            P::prefetch::<Self>(lines, lookahead, i);
            // SAFETY: the caller's promise.
            unsafe { Self::insert(lines, hash) };
        }
    }

    /// A line is `1 << LINE_LOG2` bytes.
    const LINE_LOG2: u32 = LINE_BYTES.ilog2();

    /// The same of lines with this k.
    #[inline(always)]
    fn line_log2(_k: u32) -> u32 {
        Self::LINE_LOG2
    }

    /// Whether batches prefetch at all.
    const PREFETCH: bool = true;

    /// What a probe reads.
    const READS: Reads = Reads::One;

    /// Whether batches of inserts use this. If not, none ever gets here.
    const INSERTS: bool = true;

    /// Where the bits of a key are, for the prefetch: the start of 64 bytes.
    #[inline(always)]
    fn line(lines: Lines, hash: u64) -> *const u8 {
        lines.line(hash)
    }

    /// Prefetches the line of a key: two cache lines if it may lie across them.
    #[inline(always)]
    fn prefetch<const HINT: u8>(lines: Lines, hash: u64)
    where
        Self: Sized,
    {
        let line = Self::line(lines, hash);
        prefetch::<HINT>(line);
        if lines.straddle() {
            prefetch::<HINT>(line.wrapping_add(LINE_BYTES - 1));
        }
    }

    /// The answers for 1 to 64 hashes, first in the lowest bit. Meanwhile the plan prefetches the
    /// lines of later keys. If it prefetches any, there are 64 hashes, the first of `lookahead`.
    #[inline(always)]
    unsafe fn probe_tile<P: Plan>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) -> u64
    where
        Self: Sized,
    {
        let mut hits = 0;
        for (i, &hash) in hashes.iter().enumerate() {
            P::prefetch::<Self>(lines, lookahead, i);
            // SAFETY: the caller's promise.
            let hit = unsafe { Self::contains(lines, hash) };
            hits |= u64::from(hit) << i;
        }
        hits
    }

    /// Answers all keys into `bitmap`, which has a word for each tile, and counts the hits.
    #[inline(always)]
    unsafe fn probe_batch(
        lines: Lines,
        hashes: Hashes<'_>,
        plan: Prefetch,
        bitmap: &mut [u64],
    ) -> usize
    where
        Self: Sized,
    {
        // SAFETY: the caller's promise.
        unsafe { probe::<Self>(lines, hashes, plan, bitmap) }
    }

    /// Whether a probe is so short that two and four have straight code. Their misses then overlap by
    /// themselves.
    const SHORT: bool = true;

    /// Whether three have it, too: where few programs have the code.
    const THREE: bool = false;

    /// Whether so few keys in a filter of so many bytes are prefetched before they are probed. The
    /// misses of fewer overlap by themselves.
    #[inline(always)]
    fn prefetches_few(keys: usize, bytes: usize) -> bool {
        keys >= ahead::FEWEST && Prefetch::to_probe_few(Self::READS, bytes) != Prefetch::None
    }

    /// The answers for a few hashes, 1 to 64, first in the lowest bit: without what a tile has
    /// around it.
    #[inline(always)]
    unsafe fn probe_few(single: &Single<'_>, hashes: &[u64], word: &mut u64) -> usize
    where
        Self: Sized,
    {
        // SAFETY: the caller's promise.
        *word = unsafe { key_by_key::<Self>(single, hashes) };
        word.count_ones() as usize
    }
}

/// The answers of single probes for a few hashes, first in the lowest bit.
///
/// # Safety
/// As for [`Ops`]; there are at most 64.
#[inline(always)]
pub(super) unsafe fn key_by_key<O: Ops>(single: &Single<'_>, hashes: &[u64]) -> u64 {
    // From the last on, so that an answer moves those behind it up and takes their place.
    let mut hits = 0_u64;
    for &hash in hashes.iter().rev() {
        // SAFETY: the caller's promise.
        let hit = unsafe { O::contains_one(single, hash) };
        hits = hits.wrapping_add(hits).wrapping_add(u64::from(hit));
    }
    hits
}

/// A prefetch plan as a type, so that each has a loop of its own.
pub(super) trait Plan {
    /// Whether it prefetches anything. Only `avx512` uses it.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    const PREFETCHES: bool;

    /// Prefetches what should be under way while key `i` of a tile is probed.
    fn prefetch<O: Ops>(lines: Lines, lookahead: &Lookahead, i: usize);
}

/// No prefetch.
pub(super) struct Nothing;

/// For callers without prefetch.
pub(super) const NO_LOOKAHEAD: &Lookahead = &[0; LOOKAHEAD];

impl Plan for Nothing {
    const PREFETCHES: bool = false;

    #[inline(always)]
    fn prefetch<O: Ops>(_: Lines, _: &Lookahead, _: usize) {}
}

/// Far ahead into L2 and, if the lines say so, near into L1.
struct Ahead;

impl Plan for Ahead {
    const PREFETCHES: bool = true;

    #[inline(always)]
    fn prefetch<O: Ops>(lines: Lines, lookahead: &Lookahead, i: usize) {
        O::prefetch::<INTO_L2>(lines, lookahead[i + ahead::FAR]);
        if lines.near() {
            O::prefetch::<INTO_L1>(lines, lookahead[i + ahead::NEAR]);
        }
    }
}

/// Where the hashes of a batch come from.
pub(crate) enum Hashes<'a> {
    /// The caller has them.
    Given(&'a [u64]),
    /// They are computed from keys, somewhat ahead of their use.
    Made(Keys<'a>),
}

/// Keys to be hashed.
pub(crate) struct Keys<'a> {
    /// How many.
    pub(crate) len: usize,
    /// Writes the hashes of the keys from the given index on.
    pub(crate) hash: &'a dyn Fn(usize, &mut [u64]),
    /// Room for hashes between being computed and being used: [`RING`] of them, or as many as there
    /// are keys.
    pub(crate) ring: &'a mut [u64],
}

/// Hashes computed and not used yet: those whose lines are being prefetched, and a run of new ones.
pub(crate) const RING: usize = ahead::FAR + 256;

impl Hashes<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Hashes::Given(hashes) => hashes.len(),
            Hashes::Made(keys) => keys.len,
        }
    }
}

impl Keys<'_> {
    /// The hashes from key `done` on, as many as there is room for. The first `there` are computed
    /// already. `prefetch` is called with the first `to_prefetch` of all. One function for all layouts,
    /// as many keys are hashed in a call.
    #[inline(never)]
    fn make(
        &mut self,
        done: usize,
        there: usize,
        to_prefetch: usize,
        (lines, prefetch): (Lines, fn(Lines, &[u64])),
    ) -> &[u64] {
        let run = &mut self.ring[..(self.len - done).min(RING)];
        let mut at = there;
        while at < run.len() {
            let soon = done + at < to_prefetch;
            let end = run.len().min(at + if soon { ahead::FIRST_HASHES } else { RING });
            (self.hash)(done + at, &mut run[at..end]);
            if soon {
                prefetch(lines, &run[at..end]);
            }
            at = end;
        }
        run
    }
}

/// What is done with each tile of a batch. (Not a closure, which may be compiled without the
/// backend's instructions; a method that is always inlined is not.)
pub(super) trait Work {
    type Ops: Ops;

    /// Does 1 to 64 keys, the first being key `64 * tile`. Plan and lookahead are as for
    /// [`Ops::probe_tile`].
    ///
    /// # Safety
    /// As for [`Ops`].
    unsafe fn tile<P: Plan>(
        &mut self,
        lines: Lines,
        tile: usize,
        hashes: &[u64],
        lookahead: &Lookahead,
    );
}

/// Prefetches the lines of all these keys. A function, because a batch does it in several places.
#[inline(never)]
pub(super) fn prefetch_far<O: Ops>(lines: Lines, hashes: &[u64]) {
    for &hash in hashes {
        O::prefetch::<INTO_L2>(lines, hash);
    }
}

/// Does the work tile by tile, in order, prefetching by the plan. Written so that the long code
/// for a tile exists once for each plan.
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
pub(super) unsafe fn for_each_tile<W: Work>(
    lines: Lines,
    mut hashes: Hashes<'_>,
    plan: Prefetch,
    work: &mut W,
) {
    let prefetches = W::Ops::PREFETCH && plan != Prefetch::None;
    let lines = lines.with_near(plan == Prefetch::FarAndNear);
    let at_once = if prefetches { ahead::FAR } else { 0 };
    let prefetch = |hashes: &[u64]| prefetch_far::<W::Ops>(lines, hashes);
    let len = hashes.len();
    // The number of keys done, and of keys whose hashes are computed.
    let (mut done, mut made) = (0, 0);
    while done < len {
        let run = match &mut hashes {
            Hashes::Given(all) => {
                prefetch(&all[..all.len().min(at_once)]);
                *all
            }
            Hashes::Made(keys) => {
                keys.make(done, made - done, at_once, (lines, prefetch_far::<W::Ops>))
            }
        };
        made = done + run.len();
        let mut rest = run;
        // SAFETY: the caller's promise.
        unsafe {
            while let (true, Some(lookahead)) = (prefetches, rest.first_chunk()) {
                let (tile, hashes) = (done / TILE, &lookahead[..TILE]);
                work.tile::<Ahead>(lines, tile, hashes, lookahead);
                rest = &rest[TILE..];
                done += TILE;
            }
            // At the end too few hashes are left for a lookahead, and fewer lines to prefetch.
            if prefetches && made == len {
                prefetch(rest.get(ahead::FAR..).unwrap_or_default());
            }
            if made == len || !prefetches {
                for hashes in rest.chunks(TILE) {
                    work.tile::<Nothing>(lines, done / TILE, hashes, NO_LOOKAHEAD);
                    done += hashes.len();
                }
                rest = &[];
            }
        }
        let used = run.len() - rest.len();
        if let Hashes::Made(keys) = &mut hashes
            && done < len
        {
            keys.ring.copy_within(used.., 0);
        }
    }
}

/// Prefetches the lines of a few keys.
#[inline(always)]
fn prefetch_few<O: Ops>(lines: Lines, hashes: &[u64], plan: Prefetch) {
    if O::PREFETCH && plan != Prefetch::None {
        for &hash in hashes {
            O::prefetch::<INTO_L1>(lines, hash);
        }
    }
}

/// What no lines answer a few keys, 1 to 64: each may be present.
#[cold]
#[inline(never)]
pub(super) extern "C" fn anything(count: usize, word: &mut u64) -> usize {
    *word = u64::MAX >> (64 - count);
    count
}

/// Answers a few keys into a word, and counts the hits.
///
/// # Safety
/// As for [`Ops`]; there are 1 to 64 hashes.
#[inline(always)]
pub(super) unsafe fn probe_few<O: Ops>(
    single: &Single<'_>,
    hashes: &[u64],
    word: &mut u64,
) -> usize {
    if single.is_nothing() {
        return anything(hashes.len(), word);
    }
    // SAFETY: the caller's promise.
    unsafe { assert_unchecked(!hashes.is_empty()) };
    let lines = single.lines();
    if O::PREFETCH
        && O::prefetches_few(hashes.len(), (lines.count() as usize) << O::line_log2(lines.k()))
    {
        for &hash in hashes {
            O::prefetch::<INTO_L1>(lines, hash);
        }
    }
    // SAFETY: the caller's promise.
    unsafe { O::probe_few(single, hashes, word) }
}

/// Sets the bits of a few keys, in order.
///
/// # Safety
/// As for [`Ops`], with lines that can be written.
#[inline(always)]
pub(super) unsafe fn insert_few<O: Ops>(lines: Lines, hashes: &[u64], plan: Prefetch) {
    assert!(O::INSERTS, "filters of this layout are not made by a kernel");
    prefetch_few::<O>(lines, hashes, plan);
    for &hash in hashes {
        // SAFETY: the caller's promise.
        unsafe { O::insert(lines, hash) };
    }
}

/// Sets the bits of all keys, in order.
///
/// # Safety
/// As for [`Ops`], with lines that can be written.
#[inline(always)]
pub(super) unsafe fn insert<O: Ops>(lines: Lines, hashes: Hashes<'_>, plan: Prefetch) {
    assert!(O::INSERTS, "filters of this layout are not made by a kernel");
    // SAFETY: the caller's promise.
    unsafe { for_each_tile(lines, hashes, plan, &mut Insert::<O>(PhantomData)) }
}

struct Insert<O>(PhantomData<O>);

impl<O: Ops> Work for Insert<O> {
    type Ops = O;

    #[inline(always)]
    unsafe fn tile<P: Plan>(
        &mut self,
        lines: Lines,
        _: usize,
        hashes: &[u64],
        lookahead: &Lookahead,
    ) {
        // SAFETY: the caller's promise.
        unsafe { O::insert_tile::<P>(lines, hashes, lookahead) };
    }
}

/// [`Ops::probe_batch`], if an operation does nothing else.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn probe<O: Ops>(
    lines: Lines,
    hashes: Hashes<'_>,
    plan: Prefetch,
    bitmap: &mut [u64],
) -> usize {
    let mut probe = Probe::<O> { bitmap, hits: 0, ops: PhantomData };
    // SAFETY: the caller's promise.
    unsafe { for_each_tile(lines, hashes, plan, &mut probe) };
    probe.hits
}

/// The work of [`probe`].
struct Probe<'a, O> {
    bitmap: &'a mut [u64],
    hits: usize,
    ops: PhantomData<O>,
}

impl<O: Ops> Work for Probe<'_, O> {
    type Ops = O;

    #[inline(always)]
    unsafe fn tile<P: Plan>(
        &mut self,
        lines: Lines,
        tile: usize,
        hashes: &[u64],
        lookahead: &Lookahead,
    ) {
        // SAFETY: the caller's promise.
        let hits = unsafe { O::probe_tile::<P>(lines, hashes, lookahead) };
        self.bitmap[tile] = hits;
        self.hits += hits.count_ones() as usize;
    }
}

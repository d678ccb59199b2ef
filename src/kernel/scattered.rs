//! Layouts whose bits lie anywhere: the standard filter of `layouts/classic.rs`, LevelDB's, and
//! RocksDB's legacy ones.
//!
//! A layout gives the positions of a key's bits in the whole filter; all else is shared. Vectors
//! gain nothing here: each bit is a load of its own.
//!
//! A batch tests the first [`FIRST_BITS`] bits of 64 keys, then the rest of the keys that have them: one
//! in four of absent keys. So no branch is a coin toss, and few cache lines come from memory in
//! vain. A single key does the same, with a branch for each further bit; in a filter that fits in the cache
//! it tests more bits at once, because a misprediction takes longer than they do.

use super::batch::{Lookahead, NO_LOOKAHEAD, Nothing, Ops, Plan, key_by_key};
use super::lines::Lines;
use super::prefetch::{INTO_L2, Prefetch, Reads, prefetch};
use super::shared;
use super::single::Single;
use crate::layouts::classic;
use crate::line::LINE_BYTES;
use std::marker::PhantomData;
use std::num::NonZero;

/// Where the bits of a key are in a layout.
pub(super) trait Bits {
    /// A filter is a multiple of `1 << LINE_LOG2` bytes.
    const LINE_LOG2: u32;

    /// Whether batches prefetch at all.
    const PREFETCH: bool;

    /// Whether the bytes are aligned lanes in which other threads may be setting bits.
    const SHARED: bool = false;

    /// Whether single keys are probed otherwise in a filter that fits in the cache.
    const CACHED: bool = false;

    /// The numbers of the bits, k of them, each below the number of all bits.
    fn of(lines: Lines, hash: u64) -> impl Iterator<Item = u64>;
}

/// The standard filter.
pub(super) struct Classic<const SHARED: bool>;

impl<const SHARED_LINES: bool> Bits for Classic<SHARED_LINES> {
    const LINE_LOG2: u32 = 6;
    const PREFETCH: bool = true;
    const SHARED: bool = SHARED_LINES;
    const CACHED: bool = true;

    #[inline(always)]
    fn of(lines: Lines, hash: u64) -> impl Iterator<Item = u64> {
        classic::positions(hash, lines.k(), lines.count() << (Self::LINE_LOG2 + 3))
    }
}

/// LevelDB's and RocksDB's older layouts take a 32-bit hash, the low half of what a probe is
/// given, and add a rotated copy of it again and again:
///
/// ```text
/// delta    = hash rotated right by 17 bits
/// LevelDB  : bit hash % bits of the whole filter, then hash + delta, ...
/// RocksDB  : line hash % line_count; in it bit hash % line_bits, then hash + delta, ...
/// ```
#[inline(always)]
fn values(hash: u64, k: u32) -> impl Iterator<Item = u32> {
    let hash = hash as u32;
    let delta = hash.rotate_right(17);
    (0..k).map(move |i| hash.wrapping_add(delta.wrapping_mul(i)))
}

/// LevelDB's: the whole filter is one array of bits.
pub(super) struct LevelDb;

impl Bits for LevelDb {
    /// A line is a byte.
    const LINE_LOG2: u32 = 0;
    /// A filter has some tens of keys.
    const PREFETCH: bool = false;

    #[inline(always)]
    fn of(lines: Lines, hash: u64) -> impl Iterator<Item = u64> {
        // If there are more than 2^32 bits, a value is its own remainder. Dividing 32 bits is
        // faster than dividing 64.
        let bits = u32::try_from(8 * lines.count()).ok().and_then(NonZero::new);
        values(hash, lines.k()).map(move |value| bits.map_or(value, |bits| value % bits).into())
    }
}

/// RocksDB's before format version 5: lines of `1 << LOG2` bytes.
pub(super) struct Legacy<const LOG2: u32>;

impl<const LOG2: u32> Bits for Legacy<LOG2> {
    const LINE_LOG2: u32 = LOG2;
    /// For old files only: not worth loops of their own.
    const PREFETCH: bool = false;

    #[inline(always)]
    fn of(lines: Lines, hash: u64) -> impl Iterator<Item = u64> {
        let line_bits = 8u64 << LOG2;
        let start = u64::from(hash as u32) % lines.count() * line_bits;
        values(hash, lines.k()).map(move |value| start + u64::from(value) % line_bits)
    }
}

/// Whether a LevelDB filter of at least one byte has all bits of a key. No table of functions, for
/// callers that open a filter for each key.
#[cfg(feature = "capi")]
#[inline(always)]
pub(crate) fn leveldb_contains(bits: &[u8], k: u32, hash: u64) -> bool {
    let lines = Lines::new(bits.as_ptr().cast_mut(), bits.len(), k, LevelDb::LINE_LOG2);
    // SAFETY: no instruction but those of every CPU; the lines are a slice's.
    unsafe { Scattered::<LevelDb>::contains(lines, hash) }
}

/// The kernel of a layout.
pub(super) struct Scattered<B>(PhantomData<B>);

/// The same, prefetching all bits of a key: an insert needs all. Single keys are probed as in memory.
struct All<B>(PhantomData<B>);

/// The bits of a key that are tested first.
const FIRST_BITS: usize = 2;

/// In the cache a key of up to so many bits has all of them tested at once.
const MOST_AT_ONCE: u32 = 8;
/// Of a key with more bits so many are tested before the others: seven of eight absent keys need no more.
const BITS_AT_ONCE: usize = 3;
/// So many keys in a call take less time one by one than as a tile, which tests two bits of each first.
const MOST_ONE_BY_ONE: usize = 2;

impl<B: Bits> Scattered<B> {
    /// The byte that has a bit: an address within the lines.
    #[inline(always)]
    fn byte(lines: Lines, bit: u64) -> *mut u8 {
        lines.first().wrapping_add((bit / 8) as usize)
    }

    /// Whether a bit is set, in the lowest bit of the result; anything above.
    ///
    /// # Safety
    /// The bit is one that [`Bits::of`] gave, of lines that can be read.
    #[inline(always)]
    unsafe fn bit(lines: Lines, bit: u64) -> u64 {
        if size_of::<u64>() <= 1 << B::LINE_LOG2 {
            // Whole lanes: a shift by six bits of the number takes one instruction less than one by three.
            let lane = lines.first().cast::<u64>().wrapping_add((bit / 64) as usize);
            // SAFETY: as below; a filter is whole lanes, aligned if they are shared.
            let lane =
                unsafe { if B::SHARED { shared::lane(lane) } else { lane.read_unaligned() } };
            return u64::from_le(lane) >> (bit % 64);
        }
        // SAFETY: the number is below that of all bits; the caller vouches for the bytes.
        let byte = unsafe { *Self::byte(lines, bit) };
        u64::from(byte) >> (bit % 8)
    }

    /// Whether these bits are all set, as 1 or 0, without a branch.
    ///
    /// # Safety
    /// As for [`Scattered::bit`].
    #[inline(always)]
    unsafe fn all_set(lines: Lines, bits: impl Iterator<Item = u64>) -> u64 {
        // SAFETY: the same contract.
        bits.fold(1, |set, bit| set & unsafe { Self::bit(lines, bit) }) & 1
    }

    /// A key of many bits in a filter that fits in the cache. Apart and jumped to, so that the code before
    /// saves no register for it.
    ///
    /// # Safety
    /// As for [`Ops`].
    #[inline(never)]
    unsafe extern "C" fn contains_many(single: &Single<'_>, hash: u64) -> bool {
        let lines = single.lines();
        let bits = || B::of(lines, hash);
        // SAFETY: the caller's promise.
        unsafe {
            Self::all_set(lines, bits().take(BITS_AT_ONCE)) == 1
                && Self::all_set(lines, bits().skip(BITS_AT_ONCE)) == 1
        }
    }

    /// Prefetches the cache lines of some of a key's bits.
    #[inline(always)]
    fn prefetch_bits<const HINT: u8>(lines: Lines, bits: impl Iterator<Item = u64>) {
        bits.for_each(|bit| prefetch::<HINT>(Self::byte(lines, bit)));
    }
}

impl<B: Bits> Ops for All<B> {
    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise, handed on.
        unsafe { Scattered::<B>::insert(lines, hash) }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise, handed on.
        unsafe { Scattered::<B>::contains(lines, hash) }
    }

    #[inline(always)]
    fn prefetch<const HINT: u8>(lines: Lines, hash: u64) {
        Scattered::<B>::prefetch_bits::<HINT>(lines, B::of(lines, hash));
    }
}

impl<B: Bits> Ops for Scattered<B> {
    const LINE_LOG2: u32 = B::LINE_LOG2;
    const PREFETCH: bool = B::PREFETCH;
    /// Filters with lines of more than 64 bytes are read, never written.
    const INSERTS: bool = B::LINE_LOG2 <= LINE_BYTES.ilog2();

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        let mut unset = 0;
        for bit in B::of(lines, hash) {
            let (byte, bit) = (Self::byte(lines, bit), 1 << (bit % 8));
            // SAFETY: as in `bit`; the caller says that the bytes can be written.
            unsafe {
                unset |= bit & !*byte;
                *byte |= bit;
            }
        }
        unset != 0
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            // No branch between the first few: it would be mispredicted for half of the keys.
            Self::all_set(lines, B::of(lines, hash).take(FIRST_BITS)) == 1
                && B::of(lines, hash).skip(FIRST_BITS).all(|bit| Self::bit(lines, bit) & 1 == 1)
        }
    }

    #[inline(always)]
    unsafe fn contains_one(single: &Single<'_>, hash: u64) -> bool {
        let lines = single.lines();
        // SAFETY: the caller's promise.
        unsafe {
            if !B::CACHED {
                return Self::contains(lines, hash);
            }
            let bytes = (lines.count() as usize) << B::LINE_LOG2;
            match Prefetch::to_probe_few(Reads::One, bytes) {
                Prefetch::None if lines.k() <= MOST_AT_ONCE => {
                    Self::all_set(lines, B::of(lines, hash)) == 1
                }
                Prefetch::None => Self::contains_many(single, hash),
                _ => Self::contains(lines, hash),
            }
        }
    }

    /// A key's first few bits. The others are prefetched once these are known to be set.
    #[inline(always)]
    fn prefetch<const HINT: u8>(lines: Lines, hash: u64) {
        Self::prefetch_bits::<HINT>(lines, B::of(lines, hash).take(FIRST_BITS));
    }

    #[inline(always)]
    unsafe fn insert_tile<P: Plan>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) {
        for (i, &hash) in hashes.iter().enumerate() {
            P::prefetch::<All<B>>(lines, lookahead, i);
            // SAFETY: the caller's promise.
            unsafe { Self::insert(lines, hash) };
        }
    }

    #[inline(always)]
    unsafe fn probe_tile<P: Plan>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) -> u64 {
        let mut maybe = 0;
        for (i, &hash) in hashes.iter().enumerate() {
            P::prefetch::<Self>(lines, lookahead, i);
            // SAFETY: the caller's promise.
            let set = unsafe { Self::all_set(lines, B::of(lines, hash).take(FIRST_BITS)) };
            maybe |= set << i;
            if P::PREFETCHES && set == 1 {
                Self::prefetch_bits::<INTO_L2>(lines, B::of(lines, hash).skip(FIRST_BITS));
            }
        }
        let mut hits = maybe;
        while maybe != 0 {
            let i = maybe.trailing_zeros();
            let rest = B::of(lines, hashes[i as usize]).skip(FIRST_BITS);
            // SAFETY: the caller's promise.
            let set = unsafe { Self::all_set(lines, rest) };
            hits &= !((set ^ 1) << i);
            maybe &= maybe - 1;
        }
        hits
    }

    /// Key by key, they are as single ones.
    #[inline(always)]
    fn prefetches_few(_: usize, _: usize) -> bool {
        false
    }

    /// In the cache one by one, or, if single keys have branches there, as a tile. Beyond, the branches of
    /// single probes cost less than misses that wait for those of all keys before.
    #[inline(always)]
    unsafe fn probe_few(single: &Single<'_>, hashes: &[u64], word: &mut u64) -> usize {
        let lines = single.lines();
        let one_by_one = B::CACHED && lines.k() <= MOST_AT_ONCE && hashes.len() <= MOST_ONE_BY_ONE;
        // SAFETY: the caller's promise.
        *word = unsafe {
            match Prefetch::to_probe_few(Reads::One, (lines.count() as usize) << B::LINE_LOG2) {
                Prefetch::None if one_by_one => {
                    let set = |hash: &u64| Self::all_set(lines, B::of(lines, *hash));
                    hashes.iter().rev().fold(0, |hits, hash| hits << 1 | set(hash))
                }
                Prefetch::None if hashes.len() > 1 => {
                    Self::probe_tile::<Nothing>(lines, hashes, NO_LOOKAHEAD)
                }
                _ => key_by_key::<All<B>>(single, hashes),
            }
        };
        word.count_ones() as usize
    }
}

//! What `avx2` and `avx512` share for cuckoo filters.
//!
//! A group of 8 keys goes through three stages. Vectors find the buckets of these keys and of keys
//! ahead. Key by key, buckets are read, and those of keys ahead prefetched. Once a tile of 64 has
//! been read, vectors compare. Between the stages all values are in memory.

use super::super::batch::{Lookahead, NO_LOOKAHEAD, Nothing, Ops, Plan, TILE};
use super::super::lines::Lines;
use super::super::prefetch::{INTO_L1, INTO_L2, ahead, prefetch};
use super::super::single::Single;
use super::bucket::{ANY, bits, is_near_end, read};
use super::integers::Integers;
use crate::line::LINE_BYTES;
use std::hint::black_box;
use std::marker::PhantomData;

/// Keys in a group: one vector of AVX-512, two of AVX2.
pub(super) const GROUP: usize = 8;
// The near prefetch is for the next group.
const _: () = assert!(ahead::NEAR == GROUP);

/// A value for each of a group of keys.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Group(pub(super) [u64; GROUP]);

/// Where the buckets of a group of keys are in the lines: the first ones, the others.
pub(super) type Places = [Group; 2];

/// What vectors do. Both are run only on a CPU that has their instructions.
pub(super) trait Vectors {
    /// From so many keys on a tile takes less time than one key after the other.
    const FEWEST: usize;

    /// From so many lines on, `one` probes a single key; none: nowhere.
    const LINES_OF_ONE: Option<u64> = None;

    /// Whether a key may be present whose line is before the last page, in few integer registers.
    ///
    /// # Safety
    /// As for [`Ops`].
    #[inline(always)]
    unsafe fn one<const BITS: u32>(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { Integers::<BITS>::contains(lines, hash) }
    }

    /// The places of the buckets of a group of hashes.
    unsafe fn places(count: u64, bits: u32, hashes: &[u64; GROUP]) -> Places;

    /// Which keys of a group have their fingerprint in one of two buckets, each read by
    /// `read`: bit `i` for key `i`.
    unsafe fn compare(bits: u32, hashes: &[u64; GROUP], words: &[Group; 2]) -> u8;

    /// From so many keys on, and fewer than `FEWEST`, `groups_alone` takes less time than one key after the other.
    const FEWEST_OF_GROUPS: usize = Self::FEWEST;

    /// The answers for 1 to 64 hashes, a group after the other, as a function of its own.
    ///
    /// # Safety
    /// As for [`Ops`].
    unsafe fn groups_alone(lines: Lines, hashes: &[u64]) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { Self::tile_alone(lines, hashes) }
    }

    /// The answers for 1 to 64 hashes, as a function of its own: compiled with the backend's instructions
    /// wherever it is called.
    unsafe fn tile_alone(lines: Lines, hashes: &[u64]) -> u64;
}

/// Batches by vectors; single keys as `integers` does them, or by `one`.
pub(in crate::kernel) struct Staged<V, const BITS: u32>(PhantomData<V>);

/// What [`Vectors::tile_alone`] does.
///
/// # Safety
/// As for [`Ops`].
#[inline(always)]
pub(super) unsafe fn tile<V: Vectors>(lines: Lines, hashes: &[u64]) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { Staged::<V, ANY>::probe_tile::<Nothing>(lines, hashes, NO_LOOKAHEAD) }
}

/// Whether [`Vectors::one`] probes single keys of so many lines.
#[inline(always)]
fn is_for_one<V: Vectors>(lines: u64) -> bool {
    V::LINES_OF_ONE.is_some_and(|least| lines >= least)
}

impl<V: Vectors, const BITS: u32> Ops for Staged<V, BITS> {
    const INSERTS: bool = false;
    const THREE: bool = true;

    #[inline(always)]
    fn prefetch<const HINT: u8>(lines: Lines, hash: u64) {
        super::bucket::prefetch_buckets::<HINT>(lines, hash);
    }

    #[inline(always)]
    fn prefetches_few(keys: usize, bytes: usize) -> bool {
        // Groups, and `one`, leave the CPU to look ahead.
        let by_one = is_for_one::<V>((bytes / LINE_BYTES) as u64);
        let looks_ahead = keys < V::FEWEST && (by_one || keys >= V::FEWEST_OF_GROUPS);
        !looks_ahead && super::bucket::prefetches_few(keys, bytes)
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { Integers::<BITS>::contains(lines, hash) }
    }

    #[inline(always)]
    unsafe fn contains_one(single: &Single<'_>, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let lines = single.lines();
            if BITS != ANY && is_for_one::<V>(lines.count()) && !is_near_end(lines, hash) {
                return V::one::<BITS>(lines, hash);
            }
            Integers::<BITS>::contains_one(single, hash)
        }
    }

    #[inline(always)]
    unsafe fn probe_few(single: &Single<'_>, hashes: &[u64], word: &mut u64) -> usize {
        // SAFETY: the caller's promise.
        unsafe {
            let lines = single.lines();
            if hashes.len() < V::FEWEST {
                if hashes.len() >= V::FEWEST_OF_GROUPS {
                    *word = V::groups_alone(lines, hashes);
                    return word.count_ones() as usize;
                }
                if BITS != ANY && is_for_one::<V>(lines.count()) {
                    let alone =
                        |hash| (!is_near_end(lines, hash)).then(|| V::one::<BITS>(lines, hash));
                    return Integers::<BITS>::one_by_one(single, hashes, word, alone);
                }
                let alone = |hash| Integers::<BITS>::before_last_page(lines, hash);
                return Integers::<BITS>::one_by_one(single, hashes, word, alone);
            }
            *word = V::tile_alone(lines, hashes);
        }
        word.count_ones() as usize
    }

    #[inline(always)]
    unsafe fn probe_tile<P: Plan>(lines: Lines, hashes: &[u64], lookahead: &Lookahead) -> u64 {
        // The places past the end are those of hash 0, which every filter has; their
        // answers are dropped.
        let (count, bits) = (lines.count(), bits::<BITS>(lines));
        let mut keys = [0; TILE + GROUP];
        let there = if P::PREFETCHES { &lookahead[..TILE + GROUP] } else { hashes };
        keys[..there.len()].copy_from_slice(there);
        let keys = keys.as_chunks::<GROUP>().0;
        let ahead = lookahead[ahead::FAR..].as_chunks::<GROUP>().0;
        let mut words = [[Group([0; GROUP]); 2]; TILE / GROUP];
        // SAFETY: the caller vouches for the CPU and for the lines, of which all places are.
        unsafe {
            let at = |places: &Places, which: usize, i: usize| {
                lines.first().wrapping_add(places[which].0[i] as usize).cast_const()
            };
            let mut places = V::places(count, bits, &keys[0]);
            for (group, hashes) in hashes.chunks(GROUP).enumerate() {
                let next = V::places(count, bits, &keys[group + 1]);
                let far = match P::PREFETCHES {
                    true => V::places(count, bits, &ahead[group]),
                    false => next,
                };
                // Through memory: else the compiler takes vectors apart.
                let (here, next, far) = (black_box(&places), black_box(&next), black_box(&far));
                for i in 0..hashes.len() {
                    for (which, words) in words[group].iter_mut().enumerate() {
                        if P::PREFETCHES {
                            prefetch::<INTO_L2>(at(far, which, i));
                        }
                        if P::PREFETCHES && lines.near() {
                            prefetch::<INTO_L1>(at(next, which, i));
                        }
                        words.0[i] = read(bits, at(here, which, i));
                    }
                }
                places = *next;
            }
            let words = black_box(&words);
            let mut hits = 0;
            for i in 0..hashes.len().div_ceil(GROUP) {
                hits |= u64::from(V::compare(bits, &keys[i], &words[i])) << (i * GROUP);
            }
            hits & (u64::MAX >> (TILE - hashes.len()))
        }
    }
}

//! The bumped keys of a batch, collected to be probed at the next level together.

use super::super::batch::TILE;
use std::mem::MaybeUninit;

/// Bumped keys that are collected before they are probed.
pub(super) const MOST: usize = 256;

/// Keys to be probed at the next level, their lines prefetched: by their hashes for that level, and
/// where in the batch they are.
pub(super) struct Bumped {
    hashes: [MaybeUninit<u64>; MOST + TILE],
    places: [MaybeUninit<usize>; MOST + TILE],
    pub(super) len: usize,
}

impl Bumped {
    #[inline(always)]
    pub(super) fn new() -> Bumped {
        let (hashes, places) = ([MaybeUninit::uninit(); _], [MaybeUninit::uninit(); _]);
        Bumped { hashes, places, len: 0 }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, hash: u64, place: usize) {
        self.hashes[self.len].write(hash);
        self.places[self.len].write(place);
        self.len += 1;
    }

    /// Keys from number `at` on, at most a tile: the hashes, the places, how many.
    #[inline(always)]
    pub(super) fn tile(&self, at: usize, len: usize) -> ([u64; TILE], [usize; TILE], usize) {
        let (mut hashes, mut places) = ([0; TILE], [0; TILE]);
        let count = (len - at).min(TILE);
        for i in 0..count {
            // SAFETY: `len` keys have been pushed, and `tile` is called before any is overwritten:
            // no tile pushes more than it has.
            unsafe {
                hashes[i] = self.hashes[at + i].assume_init();
                places[i] = self.places[at + i].assume_init();
            }
        }
        (hashes, places, count)
    }
}

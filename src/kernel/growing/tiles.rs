//! Probes of many keys: the lines of keys ahead are prefetched, and a tile of keys is probed at once.

use super::super::batch::TILE;
use super::super::prefetch::{INTO_L1, INTO_L2, Prefetch, prefetch};
use super::{Calls, Found, Line};

/// Where the lines of a filter are.
pub(crate) trait Homes {
    /// A line, and a value there.
    type Place: Copy;

    /// The home of a hash, and its value there.
    fn home(&self, hash: u64) -> Self::Place;

    /// The line. An empty one if there is none.
    fn line(&self, place: &Self::Place) -> &Line;

    /// The value.
    fn value(&self, place: &Self::Place) -> i64;

    /// The width of the remainders there.
    fn width(&self, place: &Self::Place) -> u32;

    /// The next line, and the value as that counts.
    fn next(&self, place: &Self::Place) -> Self::Place;

    /// What is known of a value at a place without its line.
    #[inline(always)]
    fn known(&self, _: &Self::Place) -> Option<bool> {
        None
    }

    /// Whether prefixes have different lengths.
    fn is_mixed(&self) -> bool;
}

/// Up to so many keys are probed one by one, their lines prefetched before.
const FEW: usize = 8;
/// Tiles from the one at work to the one whose lines are prefetched far, with that.
const RING: usize = 3;

/// What the line of a place says.
#[inline(always)]
fn find<H: Homes>(homes: &H, calls: &Calls, place: &H::Place) -> Found {
    let (line, value, r) = (homes.line(place), homes.value(place), homes.width(place));
    if homes.is_mixed() { calls.find_mixed(line, value, r) } else { calls.find(line, value, r) }
}

/// Whether the lines from a place on have its value.
#[inline(always)]
fn is_there<H: Homes>(homes: &H, calls: &Calls, mut place: H::Place) -> bool {
    loop {
        if let Some(known) = homes.known(&place) {
            return known;
        }
        match find(homes, calls, &place) {
            Found::Present => return true,
            Found::Absent => return false,
            Found::Onward => place = homes.next(&place),
        }
    }
}

/// Whether the lines may have a key.
#[cfg(test)]
pub(super) fn contains<H: Homes>(homes: &H, calls: &Calls, hash: u64) -> bool {
    is_there(homes, calls, homes.home(hash))
}

/// The homes of the keys of a tile.
struct Tile<'a> {
    lines: [&'a Line; TILE],
    values: [i64; TILE],
    widths: [u32; TILE],
}

impl<'a> Tile<'a> {
    /// Finds the homes of some keys, and prefetches their lines.
    #[inline(always)]
    fn fill<H: Homes>(&mut self, homes: &'a H, hashes: &[u64], is_far: bool) {
        for (i, &hash) in hashes.iter().enumerate().take(TILE) {
            let place = homes.home(hash);
            self.lines[i] = homes.line(&place);
            self.values[i] = homes.value(&place);
            self.widths[i] = homes.width(&place);
            if is_far {
                prefetch::<INTO_L2>(std::ptr::from_ref(self.lines[i]).cast());
            }
        }
    }

    /// Prefetches the lines once more.
    #[inline(always)]
    fn near(&self) {
        for &line in &self.lines {
            prefetch::<INTO_L1>(std::ptr::from_ref(line).cast());
        }
    }

    /// The answers for these keys.
    #[inline(always)]
    fn answers<H: Homes>(&self, homes: &H, calls: &Calls, hashes: &[u64]) -> u64 {
        let count = hashes.len();
        let (lines, values) = (&self.lines[..count], &self.values[..count]);
        let widths = &self.widths[..count];
        let found = if homes.is_mixed() {
            calls.find_mixed_many(lines, values, widths)
        } else {
            calls.find_many(lines, values, widths)
        };
        let (mut present, mut onward) = (found.present, found.onward);
        while onward != 0 {
            let i = onward.trailing_zeros() as usize;
            let next = homes.next(&homes.home(hashes[i]));
            present |= u64::from(is_there(homes, calls, next)) << i;
            onward &= onward - 1;
        }
        present
    }
}

/// Probes many keys: bit `i` of the words says whether the lines may have key `i`. Returns how many
/// bits are set.
pub(crate) fn contains_all<H: Homes>(
    homes: &H,
    calls: &Calls,
    hashes: &[u64],
    plan: Prefetch,
    words: &mut [u64],
) -> usize {
    let Some(&first) = hashes.first() else { return 0 };
    let first = homes.home(first);
    if let ([word, ..], ..=FEW) = (&mut *words, hashes.len()) {
        let mut places = [first; FEW];
        for (place, &hash) in places.iter_mut().zip(hashes) {
            *place = homes.home(hash);
            prefetch::<INTO_L1>(std::ptr::from_ref(homes.line(place)).cast());
        }
        *word = 0;
        for (i, &place) in places.iter().enumerate().take(hashes.len()) {
            *word |= u64::from(is_there(homes, calls, place)) << i;
        }
        return word.count_ones() as usize;
    }
    let empty = || Tile { lines: [homes.line(&first); TILE], values: [0; TILE], widths: [0; TILE] };
    let is_far = plan != Prefetch::None;
    if let ([word, ..], ..=TILE) = (&mut *words, hashes.len()) {
        let mut tile = empty();
        tile.fill(homes, hashes, is_far);
        *word = tile.answers(homes, calls, hashes);
        return word.count_ones() as usize;
    }
    // The tile at work, and the next ones.
    let mut ring: [Tile<'_>; RING] = std::array::from_fn(|_| empty());
    let ahead = if is_far { RING - 1 } else { 0 };
    let mut later = hashes.chunks(TILE);
    for tile in &mut ring[..ahead] {
        tile.fill(homes, later.next().unwrap_or_default(), is_far);
    }
    let mut present = 0;
    for (number, (hashes, word)) in hashes.chunks(TILE).zip(words).enumerate() {
        let later = later.next().unwrap_or_default();
        ring[(number + ahead) % RING].fill(homes, later, is_far);
        if plan == Prefetch::FarAndNear {
            ring[(number + 1) % RING].near();
        }
        *word = ring[number % RING].answers(homes, calls, hashes);
        present += word.count_ones() as usize;
    }
    present
}

//! Probes of many keys: the lines of keys ahead are prefetched, and a tile of keys is probed at once.

use super::super::batch::TILE;
use super::super::prefetch::{INTO_L1, INTO_L2, Prefetch, prefetch};
use super::regions::Regions;
use super::{Answers, Calls, EIGHT, Eight, Found, Line};
use std::ptr::from_ref;

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

    /// The regions, to find homes of many keys at once, if that can be done.
    #[inline(always)]
    fn regions(&self) -> Option<Regions<'_>> {
        None
    }

    /// Whether prefixes have different lengths.
    fn is_mixed(&self) -> bool;
}

/// Up to so many keys are probed one by one, their lines prefetched before.
const FEW: usize = 4;
/// With fewer keys it does not pay to find homes at once.
const FEWEST_AT_ONCE: usize = 64;
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

/// What finds homes at once, and of which regions.
type AtOnce<'r, 'a> = Option<(Eight, &'r Regions<'a>)>;

/// The homes of the keys of a tile.
struct Tile<'a> {
    lines: [&'a Line; TILE],
    values: [i64; TILE],
    widths: [u32; TILE],
}

impl<'a> Tile<'a> {
    /// Finds the homes of some keys, and prefetches their lines.
    #[inline(always)]
    fn fill<H: Homes>(
        &mut self,
        homes: &'a H,
        at_once: AtOnce<'_, 'a>,
        hashes: &[u64],
        is_far: bool,
    ) {
        let mut i = 0;
        if let Some((eight, regions)) = at_once {
            let own = self.lines.as_chunks_mut().0.iter_mut();
            let own = own.zip(self.values.as_chunks_mut().0).zip(self.widths.as_chunks_mut().0);
            let mut missing = 0;
            for (hashes, ((lines, values), widths)) in hashes.as_chunks().0.iter().zip(own) {
                let there = eight.locate(regions, hashes, lines, values, widths);
                missing |= u64::from(!there) << i;
                i += EIGHT;
            }
            while missing > 0 {
                let one = missing.trailing_zeros() as usize;
                self.fill_one(homes, hashes[one], one);
                missing &= missing - 1;
            }
        }
        for (i, &hash) in hashes.iter().enumerate().take(TILE).skip(i) {
            self.fill_one(homes, hash, i);
        }
        if is_far {
            for &line in &self.lines[..hashes.len().min(TILE)] {
                prefetch::<INTO_L2>(from_ref(line).cast());
            }
        }
    }

    /// Finds the home of a key.
    #[inline(always)]
    fn fill_one<H: Homes>(&mut self, homes: &'a H, hash: u64, i: usize) {
        let place = homes.home(hash);
        self.lines[i] = homes.line(&place);
        self.values[i] = homes.value(&place);
        self.widths[i] = homes.width(&place);
    }
    /// Prefetches the lines once more.
    #[inline(always)]
    fn near(&self) {
        for &line in &self.lines {
            prefetch::<INTO_L1>(std::ptr::from_ref(line).cast());
        }
    }

    /// What the lines say of their keys.
    #[inline(always)]
    fn ask<H: Homes>(&self, homes: &H, calls: &Calls, count: usize) -> Answers {
        let (lines, values) = (&self.lines[..count], &self.values[..count]);
        find_many(homes, calls, lines, values, &self.widths[..count])
    }
}

/// The keys of a tile whose lines go on.
struct Late<'a> {
    hashes: &'a [u64],
    /// A bit for each of them.
    onward: u64,
    /// The number of the tile.
    number: usize,
}

impl Late<'_> {
    /// Prefetches their next lines.
    #[inline(always)]
    fn prefetch<H: Homes>(&self, homes: &H) {
        let mut left = self.onward;
        while left != 0 {
            let place = homes.next(&homes.home(self.hashes[left.trailing_zeros() as usize]));
            prefetch::<INTO_L1>(from_ref(homes.line(&place)).cast());
            left &= left - 1;
        }
    }

    /// A bit for each of them whose value is in a further line.
    #[inline(always)]
    fn settle<H: Homes>(&self, homes: &H, calls: &Calls) -> u64 {
        let (mut left, mut present) = (self.onward, 0);
        while left != 0 {
            let i = left.trailing_zeros();
            let place = homes.next(&homes.home(self.hashes[i as usize]));
            present |= u64::from(is_there(homes, calls, place)) << i;
            left &= left - 1;
        }
        present
    }
}

/// What some lines say.
#[inline(always)]
fn find_many<H: Homes>(
    homes: &H,
    calls: &Calls,
    lines: &[&Line],
    values: &[i64],
    widths: &[u32],
) -> Answers {
    if homes.is_mixed() {
        calls.find_mixed_many(lines, values, widths)
    } else {
        calls.find_many(lines, values, widths)
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
    let eight = if hashes.len() < FEWEST_AT_ONCE { None } else { calls.eight() };
    let regions = eight.and_then(|eight| Some((eight, homes.regions()?)));
    let at_once = regions.as_ref().map(|(eight, regions)| (*eight, regions));
    if let ([word, ..], ..=TILE) = (&mut *words, hashes.len()) {
        let mut tile = empty();
        tile.fill(homes, at_once, hashes, is_far);
        let Answers { present, onward } = tile.ask(homes, calls, hashes.len());
        *word = present | Late { hashes, onward, number: 0 }.settle(homes, calls);
        return word.count_ones() as usize;
    }
    // The tile at work, and the next ones.
    let mut ring: [Tile<'_>; RING] = std::array::from_fn(|_| empty());
    let ahead = if is_far { RING - 1 } else { 0 };
    let mut later = hashes.chunks(TILE);
    for tile in &mut ring[..ahead] {
        tile.fill(homes, at_once, later.next().unwrap_or_default(), is_far);
    }
    let mut count = 0;
    let mut late = Late { hashes: &[], onward: 0, number: 0 };
    for (number, hashes) in hashes.chunks(TILE).enumerate() {
        let later = later.next().unwrap_or_default();
        ring[(number + ahead) % RING].fill(homes, at_once, later, is_far);
        if plan == Prefetch::FarAndNear {
            ring[(number + 1) % RING].near();
        }
        let answers = ring[number % RING].ask(homes, calls, hashes.len());
        words[number] = answers.present;
        count += answers.present.count_ones() as usize;
        // The lines behind those of the tile before have come.
        let more = late.settle(homes, calls);
        words[late.number] |= more;
        count += more.count_ones() as usize;
        late = Late { hashes, onward: answers.onward, number };
        if is_far {
            late.prefetch(homes);
        }
    }
    let more = late.settle(homes, calls);
    words[late.number] |= more;
    count + more.count_ones() as usize
}

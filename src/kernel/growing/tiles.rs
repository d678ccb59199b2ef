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
const ONE_BY_ONE: usize = 4;
/// With fewer keys it does not pay to find homes at once.
const FEWEST_HOMES: usize = 64;
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
    /// Of that line, for now.
    #[inline(always)]
    fn new(line: &'a Line) -> Self {
        Tile { lines: [line; TILE], values: [0; TILE], widths: [0; TILE] }
    }

    /// Finds the homes of some keys, and prefetches their lines.
    #[inline(always)]
    fn fill<H: Homes>(
        &mut self,
        homes: &'a H,
        at_once: AtOnce<'_, 'a>,
        hashes: &[u64],
        is_far: bool,
    ) {
        self.locate(homes, at_once, hashes, false);
        if is_far {
            for &line in &self.lines[..hashes.len().min(TILE)] {
                prefetch::<INTO_L2>(from_ref(line).cast());
            }
        }
    }

    /// Finds the homes of some keys, or if `behind` the lines that follow those. Returns a bit for each for which no
    /// line has to be asked.
    #[inline(always)]
    fn locate<H: Homes>(
        &mut self,
        homes: &'a H,
        at_once: AtOnce<'_, 'a>,
        hashes: &[u64],
        behind: bool,
    ) -> u64 {
        let (mut i, mut known) = (0, 0);
        if let Some((eight, regions)) = at_once {
            let whole = hashes.as_chunks().0;
            let lines = self.lines.as_chunks_mut().0;
            let (values, widths) = (self.values.as_chunks_mut().0, self.widths.as_chunks_mut().0);
            let there = eight.locate(regions, whole, lines, values, widths, behind);
            i = EIGHT * whole.len();
            let mut missing = !there & ((1_u128 << i) - 1) as u64;
            while missing > 0 {
                let one = missing.trailing_zeros() as usize;
                known |= self.locate_one(homes, hashes[one], one, behind);
                missing &= missing - 1;
            }
        }
        for (i, &hash) in hashes.iter().enumerate().take(TILE).skip(i) {
            known |= self.locate_one(homes, hash, i, behind);
        }
        known
    }

    /// The same for one of them.
    #[inline(always)]
    fn locate_one<H: Homes>(&mut self, homes: &'a H, hash: u64, i: usize, behind: bool) -> u64 {
        let mut place = homes.home(hash);
        if behind {
            place = homes.next(&place);
        }
        self.lines[i] = homes.line(&place);
        self.values[i] = homes.value(&place);
        self.widths[i] = homes.width(&place);
        u64::from(homes.known(&place).is_some()) << i
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

/// Keys whose lines go on. Once there are as many as in a tile, their next lines are found and asked together: one
/// by one, each takes as long as several other keys.
struct Late<'a> {
    hashes: [u64; Late::MOST],
    /// The number of each key.
    numbers: [usize; Late::MOST],
    count: usize,
    /// The next lines of the first, once they are prefetched.
    next: Tile<'a>,
    is_next: bool,
    /// Those of them for which no line has to be asked.
    known: u64,
    /// How many keys they have.
    present: usize,
}

impl<'a> Late<'a> {
    /// Those of a tile come to two tiles of others.
    const MOST: usize = 3 * TILE;

    /// None yet. The line is any.
    #[inline(always)]
    fn new(line: &'a Line) -> Self {
        Late {
            hashes: [0; Late::MOST],
            numbers: [0; Late::MOST],
            count: 0,
            next: Tile::new(line),
            is_next: false,
            known: 0,
            present: 0,
        }
    }

    /// Those of a tile for which a bit of `onward` is set. The first has this number.
    #[inline(always)]
    fn add(&mut self, hashes: &[u64], first: usize, mut onward: u64) {
        while onward != 0 {
            let i = onward.trailing_zeros() as usize;
            self.hashes[self.count] = hashes[i];
            self.numbers[self.count] = first + i;
            self.count += 1;
            onward &= onward - 1;
        }
    }

    /// Goes on with them if they are as many as in a tile: first their lines are prefetched, then asked. There is room
    /// for a tile of others then.
    #[inline(always)]
    fn go_on<H: Homes>(
        &mut self,
        (homes, calls): (&'a H, &Calls),
        at_once: AtOnce<'_, 'a>,
        words: &mut [u64],
    ) {
        if self.is_next {
            self.ask(homes, calls, TILE, words);
        } else if self.count >= TILE {
            self.find(homes, at_once, TILE);
            if self.count > Late::MOST - TILE {
                self.ask(homes, calls, TILE, words);
            }
        }
    }

    /// Finds the next lines of the first of them, so many, and prefetches them.
    #[inline(always)]
    fn find<H: Homes>(&mut self, homes: &'a H, at_once: AtOnce<'_, 'a>, count: usize) {
        self.known = self.next.locate(homes, at_once, &self.hashes[..count], true);
        self.next.near();
        self.is_next = true;
    }

    /// Asks these lines, of so many.
    #[inline(always)]
    fn ask<H: Homes>(&mut self, homes: &H, calls: &Calls, count: usize, words: &mut [u64]) {
        let Answers { present, onward } = self.next.ask(homes, calls, count);
        let (present, mut left) = (present & !self.known, onward | self.known);
        for i in 0..count.min(self.count) {
            self.put(i, present >> i & 1 == 1, words);
        }
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            if i < self.count {
                self.settle_one(homes, calls, i, words);
            }
            left &= left - 1;
        }
        let done = count.min(self.count);
        self.hashes.copy_within(done..self.count, 0);
        self.numbers.copy_within(done..self.count, 0);
        (self.count, self.is_next) = (self.count - done, false);
    }

    /// Asks the lines of all.
    #[inline(always)]
    fn settle<H: Homes>(
        mut self,
        (homes, calls): (&'a H, &Calls),
        at_once: AtOnce<'_, 'a>,
        words: &mut [u64],
    ) -> usize {
        while self.count >= TILE {
            self.go_on((homes, calls), at_once, words);
        }
        if self.count >= ONE_BY_ONE {
            // Whole groups: the first key fills the last one.
            let count = self.count.next_multiple_of(EIGHT);
            let first = self.hashes[0];
            self.hashes[self.count..count].fill(first);
            self.find(homes, at_once, count);
            self.ask(homes, calls, count, words);
        }
        for i in 0..self.count {
            self.settle_one(homes, calls, i, words);
        }
        self.present
    }

    /// Asks the lines behind the home of one.
    #[inline(always)]
    fn settle_one<H: Homes>(&mut self, homes: &H, calls: &Calls, i: usize, words: &mut [u64]) {
        let place = homes.next(&homes.home(self.hashes[i]));
        self.put(i, is_there(homes, calls, place), words);
    }

    /// The answer about one.
    #[inline(always)]
    fn put(&mut self, i: usize, is_there: bool, words: &mut [u64]) {
        let number = self.numbers[i];
        words[number / TILE] |= u64::from(is_there) << (number % TILE);
        self.present += usize::from(is_there);
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
    if let ([word, ..], ..=ONE_BY_ONE) = (&mut *words, hashes.len()) {
        let mut places = [first; ONE_BY_ONE];
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
    let any = homes.line(&first);
    let is_far = plan != Prefetch::None;
    let eight = if hashes.len() < FEWEST_HOMES { None } else { calls.eight() };
    let regions = eight.and_then(|eight| Some((eight, homes.regions()?)));
    let at_once = regions.as_ref().map(|(eight, regions)| (*eight, regions));
    if let ([word, ..], ..=TILE) = (&mut *words, hashes.len()) {
        let mut tile = Tile::new(any);
        tile.fill(homes, at_once, hashes, is_far);
        let Answers { mut present, mut onward } = tile.ask(homes, calls, hashes.len());
        while onward != 0 {
            let i = onward.trailing_zeros();
            let place = homes.next(&homes.home(hashes[i as usize]));
            present |= u64::from(is_there(homes, calls, place)) << i;
            onward &= onward - 1;
        }
        *word = present;
        return present.count_ones() as usize;
    }
    let mut late = Late::new(any);
    // The tile at work, and the next ones.
    let mut ring: [Tile<'_>; RING] = std::array::from_fn(|_| Tile::new(any));
    let ahead = if is_far { RING - 1 } else { 0 };
    let mut later = hashes.chunks(TILE);
    for tile in &mut ring[..ahead] {
        tile.fill(homes, at_once, later.next().unwrap_or_default(), is_far);
    }
    let mut count = 0;
    for (number, hashes) in hashes.chunks(TILE).enumerate() {
        let later = later.next().unwrap_or_default();
        ring[(number + ahead) % RING].fill(homes, at_once, later, is_far);
        if plan == Prefetch::FarAndNear {
            ring[(number + 1) % RING].near();
        }
        let answers = ring[number % RING].ask(homes, calls, hashes.len());
        words[number] = answers.present;
        count += answers.present.count_ones() as usize;
        late.go_on((homes, calls), at_once, words);
        late.add(hashes, number * TILE, answers.onward);
    }
    count + late.settle((homes, calls), at_once, words)
}

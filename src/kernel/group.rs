//! Many filters, checked once and asked many times, in the caller's order.
//!
//! Those with native or RocksDB's lines, one k and one way of hashing are a run: `runs` asks them. Columns of
//! one matrix are asked by one probe of its rows: `matrix` does. All others are asked one by one.

use super::alike::Column;
use super::batch::{Hashes, TILE};
use super::functions::Kernel;
use super::layout::Layout;
use super::matrix::{self, Columns, list};
use super::prefetch::{Prefetch, Reads};
use super::runs::{self, Run};
use super::shared::Probed;
use super::single::Single;
use crate::bitmap::all_present;
use crate::error::Error;
use crate::hash::KeyHash;
use std::mem::{take, transmute};
use std::ops::Range;
use std::sync::Arc;

/// A filter that becomes a member.
pub(crate) struct Member<'a> {
    pub(crate) single: Single<'a>,
    pub(crate) lines: Probed<'a>,
    pub(crate) detail: u32,
    pub(crate) hash: KeyHash,
    pub(crate) kernel: &'static Kernel,
}

/// What the filters of a part have in common: how keys are hashed, and how they are asked.
type Alike = (KeyHash, Shape);

/// How filters are asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    OneByOne,
    Run(runs::Shape),
    Columns(matrix::Shape),
}

fn alike(member: &Member<'_>) -> Alike {
    let Member { single, detail, hash, kernel, .. } = member;
    let shape = match runs::Shape::of(kernel, *detail) {
        _ if single.is_nothing() => Shape::OneByOne,
        Some(run) => Shape::Run(run),
        None if kernel.layout() == Layout::Column => {
            Shape::Columns(matrix::Shape::of(single, kernel.backend()))
        }
        None => Shape::OneByOne,
    };
    (*hash, shape)
}

/// What asks the filters of a part.
enum Asks {
    OneByOne,
    Run(Run),
    Columns(Columns),
}

/// Filters that hash alike, and are a run, columns of one matrix, or are asked one by one.
struct Part {
    hash: KeyHash,
    asks: Asks,
    /// Which of the columns and places.
    range: Range<usize>,
    /// Whether the places follow on each other.
    together: bool,
}

/// How a filter is asked for many keys.
struct Batch<'a> {
    kernel: &'static Kernel,
    lines: Probed<'a>,
    detail: u32,
}

/// Filters to be asked together.
pub(crate) struct Members<'a> {
    /// If all are one run.
    whole: Option<Run>,
    /// How all hash keys, if they do it alike.
    hash: Option<KeyHash>,
    /// In the caller's order; behind the last one that answers "maybe" to every key.
    singles: Vec<Single<'a>>,
    /// In the caller's order; None for one that is not there, which answers "maybe".
    batches: Vec<Option<Batch<'a>>>,
    /// The lines of all, in bytes: what is in the way of a filter's staying in the cache.
    bytes: usize,
    /// Part by part; behind the last such a one, too. They do not move: runs have their address.
    _columns: Vec<Column>,
    /// The number of the filter that a column is of.
    places: Vec<u32>,
    parts: Vec<Part>,
}

// SAFETY: runs and columns stand for what `singles` read, which may be read in any thread, and for
// a constant.
unsafe impl Send for Members<'_> {}
// SAFETY: as above.
unsafe impl Sync for Members<'_> {}

impl<'a> Members<'a> {
    /// Of these filters. One that is not there answers "maybe" to every key, and is in the part of
    /// the one before, unless that is a column.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(
        members: impl ExactSizeIterator<Item = Option<Member<'a>>> + Clone,
    ) -> Result<Members<'a>, Error> {
        let count = members.len();
        let end = u32::try_from(count).map_err(|_| Error::OutOfMemory)?;
        let (mut shapes, mut singles) = (list(count)?, list(count + 1)?);
        let (mut batches, mut bytes) = (list(count)?, 0_usize);
        let first = members.clone().flatten().next();
        let mut shape = first.map_or((KeyHash::Xxh3(0), Shape::OneByOne), |member| alike(&member));
        let how = shape.0;
        for member in members {
            shape = match (&member, shape.1) {
                (Some(member), _) => alike(member),
                (None, Shape::Columns(_)) => (shape.0, Shape::OneByOne),
                (None, _) => shape,
            };
            shapes.push(shape);
            bytes = bytes.saturating_add(member.as_ref().map_or(0, |member| member.lines.len()));
            let is_there = |member: &&Member<'_>| !member.single.is_nothing();
            batches.push(member.as_ref().filter(is_there).map(|member| {
                let &Member { kernel, lines, detail, .. } = member;
                Batch { kernel, lines, detail }
            }));
            singles.push(member.map_or(Single::ANYTHING, |member| member.single));
        }
        singles.push(Single::ANYTHING);
        let hash = shapes.iter().all(|&(hash, _)| hash == how).then_some(how);
        let mut places = list(count)?;
        places.extend(0..end);
        // Columns of a matrix follow each other, as there.
        let lies_at = |place: u32| match shapes[place as usize].1 {
            Shape::Columns(_) => matrix::place(&singles[place as usize]),
            _ => (0, 0),
        };
        places.sort_unstable_by_key(|&place| (shapes[place as usize], lies_at(place), place));
        let mut columns = list(count + 1)?;
        columns.extend(places.iter().map(|&place| Column::of(&singles[place as usize])));
        columns.push(Column::ANYTHING);
        let same = |a: &u32, b: &u32| {
            let (a, b) = (*a as usize, *b as usize);
            let are_near = || match shapes[a].1 {
                Shape::Columns(shape) => Columns::are_near(shape, &singles[a], &singles[b]),
                _ => true,
            };
            shapes[a] == shapes[b] && are_near()
        };
        let far = matches!(Prefetch::to_probe(Reads::One, bytes), Prefetch::FarAndNear);
        let mut parts = list(places.chunk_by(same).count())?;
        let mut from = 0;
        for part in places.chunk_by(same) {
            let (hash, shape) = shapes[part[0] as usize];
            let range = from..from + part.len();
            let asks = match shape {
                Shape::Run(shape) => {
                    let own = &columns[from..=range.end];
                    // SAFETY: the lines are those of `singles`, of that shape; the columns are kept as
                    // they are.
                    Asks::Run(unsafe { Run::new(own, shape, far) })
                }
                Shape::Columns(shape) if part.len() >= Columns::FEWEST => {
                    let own = part.iter().map(|&place| (&singles[place as usize], place));
                    // SAFETY: they are columns of that shape and one matrix, in their order.
                    Asks::Columns(unsafe { Columns::new(shape, own, count) }?)
                }
                _ => Asks::OneByOne,
            };
            // Columns are in the order of their matrix, which need not be the caller's.
            let together = part.windows(2).all(|pair| pair[1] == pair[0] + 1);
            from = range.end;
            parts.push(Part { hash, asks, range, together });
        }
        let whole = match &parts[..] {
            [Part { asks: Asks::Run(run), .. }] => Some(*run),
            _ => None,
        };
        Ok(Members { whole, hash, singles, batches, bytes, _columns: columns, places, parts })
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Words for the answers about a key.
    pub(crate) fn words(&self) -> usize {
        self.len().div_ceil(64)
    }

    /// How all of them hash keys, if they do it alike.
    pub(crate) fn hash(&self) -> Option<KeyHash> {
        self.hash
    }

    /// Answers for all filters by the hash of a key, if they are one run: a bit each, first in the
    /// lowest bit of the first word. Returns how many may have the key.
    ///
    /// # Safety
    /// There is room for [`Members::words`].
    #[inline(always)]
    pub(crate) unsafe fn answer_at_once(&self, hash: u64, words: *mut u64) -> Option<usize> {
        // SAFETY: the caller's promise.
        Some(unsafe { self.whole.as_ref()?.answer(hash, words) })
    }

    /// The same if one probe answers for all, of a run or of a matrix.
    ///
    /// # Safety
    /// As for [`Members::answer_at_once`].
    #[inline(always)]
    pub(crate) unsafe fn answer_by_one(&self, hash: u64, words: *mut u64) -> Option<usize> {
        // SAFETY: the caller's promise.
        unsafe { self.answer_at_once(hash, words).or_else(|| self.columns_at_once(hash, words)) }
    }

    /// The same if they are columns of one matrix, whose answers are as they are there.
    ///
    /// # Safety
    /// As for [`Members::answer_at_once`].
    #[inline(always)]
    unsafe fn columns_at_once(&self, hash: u64, words: *mut u64) -> Option<usize> {
        match &self.parts[..] {
            [Part { asks: Asks::Columns(columns), .. }] if columns.write_words() => {
                // SAFETY: no others are there, so all words are theirs; the caller's promise.
                Some(unsafe { columns.answer_to(hash, words) })
            }
            _ => None,
        }
    }

    /// The same for any filters that hash keys alike.
    ///
    /// # Panics
    /// If there are fewer words than [`Members::words`].
    #[inline(always)]
    pub(crate) fn answer_hash(&self, hash: u64, words: &mut [u64]) -> usize {
        let words = &mut words[..self.words()];
        // SAFETY: there are so many.
        let at_once = unsafe { self.answer_by_one(hash, words.as_mut_ptr()) };
        at_once.unwrap_or_else(|| self.answer(words, |_| hash))
    }

    /// The same for any filters, by the hash that `hash` has for each way of hashing.
    ///
    /// # Panics
    /// If there are fewer words than [`Members::words`].
    #[inline]
    pub(crate) fn answer(&self, words: &mut [u64], mut hash: impl FnMut(KeyHash) -> u64) -> usize {
        let words = &mut words[..self.words()];
        if let Some(how) = self.hash {
            // SAFETY: there are so many.
            if let Some(present) = unsafe { self.answer_by_one(hash(how), words.as_mut_ptr()) } {
                return present;
            }
        }
        words.fill(0);
        self.parts.iter().map(|part| self.answer_part(part, words, hash(part.hash))).sum()
    }

    /// Adds the answers of a part.
    #[inline(never)]
    fn answer_part(&self, part: &Part, words: &mut [u64], hash: u64) -> usize {
        if let Asks::Columns(columns) = &part.asks {
            return columns.answer(hash, words);
        }
        let mut present = 0;
        for (i, places) in self.places[part.range.clone()].chunks(64).enumerate() {
            let mut word = 0;
            if let Asks::Run(run) = &part.asks {
                // SAFETY: there is room for the word of up to 64 filters.
                unsafe { run.part(64 * i, places.len()).answer(hash, &raw mut word) };
            } else {
                let single = |i: usize| &self.singles[places[i] as usize];
                word = answers(places.len(), |i| single(i).contains(hash));
            }
            present += word.count_ones() as usize;
            let (first, bit) = (places[0] as usize / 64, places[0] % 64);
            if part.together {
                words[first] |= word << bit;
                if let (true, Some(next)) = (bit > 0, words.get_mut(first + 1)) {
                    *next |= word >> (64 - bit);
                }
            } else {
                for (i, place) in places.iter().enumerate() {
                    words[*place as usize / 64] |= (word >> i & 1) << (place % 64);
                }
            }
        }
        present
    }

    /// Answers many keys for one filter: a bit for each, first in the lowest bit of the first word. Returns
    /// how many may be present.
    ///
    /// Its lines are prefetched as if it were as large as all filters together, since these are asked in
    /// between: none is in the cache again when it is asked, however small it is.
    fn answer_many(&self, number: usize, hashes: &[u64], words: &mut [u64]) -> usize {
        let Some(Batch { kernel, lines, detail }) = &self.batches[number] else {
            return all_present(hashes.len(), words);
        };
        let plan = Prefetch::to_probe(kernel.reads, self.bytes);
        kernel.probe_batch_with(*lines, *detail, Hashes::Given(hashes), plan, words)
    }

    /// The same for each filter, one behind the other: the answers of each begin in a word of their own.
    /// Returns how many answers are true.
    ///
    /// # Panics
    /// If there are fewer words than so many.
    pub(crate) fn answer_by_member(&self, hashes: &[u64], words: &mut [u64]) -> usize {
        let each = hashes.len().div_ceil(TILE);
        let words = &mut words[..each * self.len()];
        let words = words.chunks_exact_mut(each.max(1)).enumerate();
        words.map(|(number, words)| self.answer_many(number, hashes, words)).sum()
    }

    /// Answers for each filter whether it may have any of the keys of these hashes: a bit each, first in the
    /// lowest bit of the first word. Returns how many may.
    ///
    /// # Panics
    /// If there are fewer words than [`Members::words`].
    pub(crate) fn answer_any(&self, hashes: &[u64], words: &mut [u64]) -> usize {
        let words = &mut words[..self.words()];
        words.fill(0);
        for part in &self.parts {
            if let Asks::Columns(_) = part.asks {
                // One probe answers for all of them, and writes whole words.
                let Ok(mut row) = list(words.len()) else { return all_present(self.len(), words) };
                row.resize(words.len(), 0);
                let places = &self.places[part.range.clone()];
                let is_there =
                    |words: &[u64], place: u32| words[place as usize / 64] >> (place % 64) & 1 == 1;
                for hashes in hashes.chunks(MANY_KEYS) {
                    for &hash in hashes {
                        self.answer_part(part, &mut row, hash);
                        words.iter_mut().zip(&mut row).for_each(|(word, more)| *word |= take(more));
                    }
                    if places.iter().all(|&place| is_there(words, place)) {
                        break;
                    }
                }
                continue;
            }
            if hashes.len() <= FEW_KEYS {
                for &hash in hashes {
                    self.answer_part(part, words, hash);
                }
                continue;
            }
            for &place in &self.places[part.range.clone()] {
                let maybe = self.may_have_any(place as usize, hashes);
                words[place as usize / 64] |= u64::from(maybe) << (place % 64);
            }
        }
        words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether a filter may have any of these keys. Little is asked in vain if one of the first is there, and the
    /// batches are long if none is.
    fn may_have_any(&self, number: usize, hashes: &[u64]) -> bool {
        let mut words = [0; MANY_KEYS / TILE];
        let (first, rest) = hashes.split_at(hashes.len().min(TILE));
        self.answer_many(number, first, &mut words) > 0
            || rest.chunks(MANY_KEYS).any(|hashes| self.answer_many(number, hashes, &mut words) > 0)
    }

    /// Answers for each pair whether the filter of that number may have the key of that hash. For a
    /// number that is none of a filter, the answer is "maybe". Returns how many may.
    ///
    /// # Panics
    /// If there are not as many hashes as numbers, or fewer words than they need.
    #[inline]
    pub(crate) fn answer_pairs(&self, members: &[u32], hashes: &[u64], words: &mut [u64]) -> usize {
        assert_eq!(members.len(), hashes.len(), "a member for each hash");
        let (count, words) = (members.len(), &mut words[..members.len().div_ceil(64)]);
        let (numbers, given) = (members.as_ptr(), hashes.as_ptr());
        // SAFETY: so many are there.
        let at_once = unsafe { self.pairs_at_once(numbers, given, count, words.as_mut_ptr()) };
        at_once.unwrap_or_else(|| self.answer_pairs_apart(members, hashes, words))
    }

    /// The same, if all filters are one run.
    ///
    /// # Safety
    /// So many numbers and hashes are there, and room for the words.
    #[inline(always)]
    pub(crate) unsafe fn pairs_at_once(
        &self,
        members: *const u32,
        hashes: *const u64,
        count: usize,
        words: *mut u64,
    ) -> Option<usize> {
        // SAFETY: the caller's promise; it is the whole run.
        Some(unsafe { self.whole.as_ref()?.pairs(members, hashes, count, words) })
    }

    #[inline(never)]
    fn answer_pairs_apart(&self, members: &[u32], hashes: &[u64], words: &mut [u64]) -> usize {
        let single = |i: usize| &self.singles[(members[i] as usize).min(self.len())];
        match &self.parts[..] {
            [Part { asks: Asks::Columns(columns), .. }] => pairs(members.len(), words, |i| {
                members[i] as usize >= self.len() || columns.one(single(i), hashes[i])
            }),
            _ => pairs(members.len(), words, |i| single(i).contains(hashes[i])),
        }
    }
}

/// Up to so many keys are asked of all filters of a part, one key after the other.
const FEW_KEYS: usize = 4;

/// So many are asked of a filter before it is looked whether one was found.
const MANY_KEYS: usize = 1024;

/// So many answers, a word for each 64. Returns how many are true.
#[inline(always)]
fn pairs(count: usize, words: &mut [u64], contains: impl Fn(usize) -> bool) -> usize {
    let mut present = 0;
    for (i, word) in words.iter_mut().enumerate() {
        *word = answers((count - 64 * i).min(64), |at| contains(64 * i + at));
        present += word.count_ones() as usize;
    }
    present
}

/// So many answers, at most 64, first in the lowest bit.
#[inline(always)]
fn answers(count: usize, contains: impl Fn(usize) -> bool) -> u64 {
    (0..count).rev().fold(0, |word, i| word << 1 | u64::from(contains(i)))
}

/// Filters with their owners, which keep them where they are.
pub(crate) struct Owned<O: ?Sized> {
    /// Of `owners`.
    members: Members<'static>,
    owners: Arc<O>,
}

impl<O: ?Sized> Owned<O> {
    /// The filters that `members` returns of these owners.
    ///
    /// # Errors
    /// Those of `members`.
    pub(crate) fn new(
        owners: Arc<O>,
        members: impl for<'o> FnOnce(&'o O) -> Result<Members<'o>, Error>,
    ) -> Result<Owned<O>, Error> {
        let members = members(&owners)?;
        // SAFETY: only a lifetime changes. What an `Arc` holds stays where it is. This one is kept as
        // long as the members, and meanwhile nobody can get an exclusive reference to what it holds,
        // or take it out. The members borrow from that alone, since they do so for any lifetime.
        let members = unsafe { transmute::<Members<'_>, Members<'static>>(members) };
        Ok(Owned { members, owners })
    }

    pub(crate) fn owners(&self) -> &O {
        &self.owners
    }

    /// The filters, borrowed from the owners.
    #[inline(always)]
    pub(crate) fn members(&self) -> &Members<'_> {
        &self.members
    }
}

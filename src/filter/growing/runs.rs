//! All prefixes in order, each with its count.

use super::GrowingFilter;
use crate::kernel::growing::OPENED;
use crate::kernel::growing::place::{Common, Layout};
use std::iter::Peekable;

impl GrowingFilter {
    /// The prefixes in order, each once with its count, as [`Common::normal`] counts them.
    ///
    /// [`Common::normal`]: crate::kernel::growing::place::Common::normal
    pub(super) fn runs(&self) -> impl Iterator<Item = (u64, u64)> + Clone {
        With::new(Runs::new(InLines::new(self)), self.beside_lines())
    }

    /// Those of two filters that were made alike. Counts of the same prefix are summed up.
    pub(super) fn runs_with<'a>(
        &'a self,
        other: &'a GrowingFilter,
    ) -> impl Iterator<Item = (u64, u64)> + 'a {
        let lines = Merged { a: InLines::new(self), b: InLines::new(other) };
        let [a, b] = [self, other].map(|filter| filter.beside_lines().peekable());
        With::new(Runs::new(lines), Sum { a, b })
    }

    pub(super) fn beside_lines(&self) -> impl Iterator<Item = (u64, u64)> + Clone {
        Sum { a: self.copies.iter().peekable(), b: self.stash.iter().peekable() }
    }

    /// Returns the false-positive rate at present, 0 to 1: the part of all hashes whose prefix is there.
    /// It is exact, and reads the whole filter.
    pub fn estimated_rate(&self) -> f64 {
        rate(self.common, self.runs())
    }

    /// Returns an iterator over the prefixes that are there, ascending, each with its count. Of a bounded
    /// filter they are numbers below [`prefix_count`](GrowingFilter::prefix_count). Prefixes of an unbounded
    /// filter have several lengths. Each number is then the bits of the prefix, a 1, and as many zeros as the
    /// prefix is shorter than the longest that there can be. `for_each`, `fold` and `count` take less time than
    /// a `for` loop.
    pub fn prefixes(&self) -> impl Iterator<Item = (u64, u64)> {
        self.runs()
    }
}

/// Equal neighbours, counted.
#[derive(Clone)]
pub(super) struct Runs<I> {
    all: I,
    /// The next one, if it is there. As one `Option` both were stored apart and loaded together, for which
    /// a CPU waits.
    next: u64,
    is_there: bool,
}

impl<I: Iterator<Item = u64>> Runs<I> {
    pub(super) fn new(all: I) -> Runs<I> {
        let mut runs = Runs { all, next: 0, is_there: false };
        runs.step();
        runs
    }

    #[inline(always)]
    fn step(&mut self) {
        match self.all.next() {
            Some(next) => (self.next, self.is_there) = (next, true),
            None => self.is_there = false,
        }
    }
}

impl<I: Iterator<Item = u64>> Iterator for Runs<I> {
    type Item = (u64, u64);

    // A call for each key would cost as much as the rest.
    #[inline(always)]
    fn next(&mut self) -> Option<(u64, u64)> {
        if !self.is_there {
            return None;
        }
        let (prefix, mut count) = (self.next, 1);
        self.step();
        while self.is_there && self.next == prefix {
            count += 1;
            self.step();
        }
        Some((prefix, count))
    }

    /// Where the next one comes from stays in registers.
    #[inline]
    fn fold<B, F: FnMut(B, (u64, u64)) -> B>(self, init: B, mut each: F) -> B {
        if !self.is_there {
            return init;
        }
        let (all, last, count) =
            self.all.fold((init, self.next, 1), |(all, prefix, count), next| {
                match next == prefix {
                    true => (all, prefix, one_more(count)),
                    false => (each(all, (prefix, count)), next, 1),
                }
            });
        each(all, (last, count))
    }
}

/// Apart, so that the comparison of neighbours is a branch. Few are equal, and without it each key waits for the one
/// before.
#[cold]
#[inline(never)]
fn one_more(count: u64) -> u64 {
    count + 1
}

/// The part of all hashes whose prefix is among these, which ascend.
pub(super) fn rate(common: Common, runs: impl Iterator<Item = (u64, u64)>) -> f64 {
    let values = if common.mixed() {
        let mut covered = Covered { from: 0, last: 0, before: [0; u64::BITS as usize], numbers: 0 };
        runs.for_each(|(prefix, _)| covered.add(prefix - common.half(prefix), common.half(prefix)));
        covered.all()
    } else {
        runs.count() as u64
    };
    values as f64 / common.prefixes as f64 / common.values_of_prefix()
}

/// How many values prefixes of several lengths cover. Two of them either have no value in common, or one is a
/// prefix of the other, which adds nothing to it. A long one comes before the short one if it is in the first half
/// of that, else after it.
struct Covered {
    /// The first value of the last prefix that added something, and how many values it has.
    from: u64,
    last: u64,
    /// The values of those before, by the highest bit in which their first value and `from` differ: those of
    /// a number below `n` lie in the same `2^n` values as `from`.
    before: [u64; u64::BITS as usize],
    /// The numbers under which there are any.
    numbers: u64,
}

impl Covered {
    /// Adds a prefix that covers `2 * half` values, which begin at a multiple of that.
    fn add(&mut self, from: u64, half: u64) {
        if from >= self.from + self.last {
            let number = (from ^ self.from).checked_ilog2().unwrap_or(0);
            let before = self.last + self.take_below(number);
            self.before[number as usize] += before;
            self.numbers |= 1 << number;
        } else if from + 2 * half <= self.from + self.last {
            return;
        } else {
            self.take_below((2 * half).ilog2());
        }
        (self.from, self.last) = (from, 2 * half);
    }

    /// Takes the values of numbers below this one.
    fn take_below(&mut self, number: u32) -> u64 {
        let mut sum = 0;
        while self.numbers.trailing_zeros() < number {
            sum += std::mem::take(&mut self.before[self.numbers.trailing_zeros() as usize]);
            self.numbers &= self.numbers - 1;
        }
        sum
    }

    fn all(mut self) -> u64 {
        self.last + self.take_below(u64::BITS)
    }
}

/// Two ascending sequences as one. Counts of the same prefix are summed up.
pub(super) struct Sum<A: Iterator, B: Iterator> {
    pub(super) a: Peekable<A>,
    pub(super) b: Peekable<B>,
}

// Items that can be cloned are no bound that could be derived.
impl<A, B> Clone for Sum<A, B>
where
    A: Iterator<Item = (u64, u64)> + Clone,
    B: Iterator<Item = (u64, u64)> + Clone,
{
    fn clone(&self) -> Sum<A, B> {
        Sum { a: self.a.clone(), b: self.b.clone() }
    }
}

impl<A: Iterator<Item = (u64, u64)>, B: Iterator<Item = (u64, u64)>> Iterator for Sum<A, B> {
    type Item = (u64, u64);

    #[inline]
    fn next(&mut self) -> Option<(u64, u64)> {
        match (self.a.peek(), self.b.peek()) {
            (Some(&(a, in_a)), Some(&(b, in_b))) if a == b => {
                self.a.next();
                self.b.next();
                // What bytes state that are not verified may be any.
                Some((a, in_a.saturating_add(in_b)))
            }
            (Some(&(a, _)), Some(&(b, _))) if a > b => self.b.next(),
            (None, _) => self.b.next(),
            _ => self.a.next(),
        }
    }
}

/// An ascending sequence, with another one that is empty as a rule: then it costs nothing.
pub(super) enum With<A: Iterator, B: Iterator> {
    Alone(A),
    Other(Sum<A, B>),
}

impl<A: Iterator<Item = (u64, u64)>, B: Iterator<Item = (u64, u64)>> With<A, B> {
    pub(super) fn new(all: A, other: B) -> With<A, B> {
        let mut other = other.peekable();
        match other.peek() {
            None => With::Alone(all),
            Some(_) => With::Other(Sum { a: all.peekable(), b: other }),
        }
    }
}

impl<A, B> Clone for With<A, B>
where
    A: Iterator<Item = (u64, u64)> + Clone,
    B: Iterator<Item = (u64, u64)> + Clone,
{
    fn clone(&self) -> With<A, B> {
        match self {
            With::Alone(all) => With::Alone(all.clone()),
            With::Other(sum) => With::Other(sum.clone()),
        }
    }
}

impl<A: Iterator<Item = (u64, u64)>, B: Iterator<Item = (u64, u64)>> Iterator for With<A, B> {
    type Item = (u64, u64);

    #[inline(always)]
    fn next(&mut self) -> Option<(u64, u64)> {
        match self {
            With::Alone(all) => all.next(),
            With::Other(sum) => match next_of(sum) {
                (u64::MAX, _) => None,
                next => Some(next),
            },
        }
    }

    #[inline]
    fn fold<T, F: FnMut(T, (u64, u64)) -> T>(self, init: T, each: F) -> T {
        match self {
            With::Alone(all) => all.fold(init, each),
            With::Other(sum) => sum.fold(init, each),
        }
    }
}

/// The next one, or what no prefix is. It comes in two registers: an `Option` would pass through memory, and
/// with it those of the usual way.
#[inline(never)]
fn next_of(all: &mut impl Iterator<Item = (u64, u64)>) -> (u64, u64) {
    all.next().unwrap_or((u64::MAX, 0))
}

/// Lines from the one at work to the one that is prefetched.
const AHEAD: usize = 8;

/// The prefixes in the lines, in order, repeated ones each time.
#[derive(Clone)]
pub(super) struct InLines<'a> {
    filter: &'a GrowingFilter,
    /// The region at work, whether its new lines are done, and the next line.
    region: usize,
    fresh_done: bool,
    line: usize,
    /// The prefixes of the line before; how many they are, and the next.
    prefixes: [u64; OPENED],
    len: usize,
    at: usize,
}

impl<'a> InLines<'a> {
    pub(super) fn new(filter: &'a GrowingFilter) -> InLines<'a> {
        let prefixes = [0; OPENED];
        let mut all =
            InLines { filter, region: 0, fresh_done: false, line: 0, prefixes, len: 0, at: 0 };
        all.begin_region();
        all
    }

    fn begin_region(&mut self) {
        let moved = self.filter.sweep.as_ref().is_some_and(|sweep| sweep.region == self.region);
        (self.fresh_done, self.line) = (!moved, 0);
    }

    /// The layout at work, and the value from which on it counts.
    fn layout(&self) -> Option<(&'a Layout, u64)> {
        let layouts = &self.filter.places.layouts;
        match &self.filter.sweep {
            Some(sweep) if sweep.region == self.region && !self.fresh_done => {
                Some((layouts.last()?, 0))
            }
            Some(sweep) if sweep.region == self.region => {
                let old = &layouts[self.region];
                Some((old, old.start(sweep.line)))
            }
            _ if self.region < self.filter.regions.len() => Some((&layouts[self.region], 0)),
            _ => None,
        }
    }

    /// Whether there is a next prefix. It is then one of the line at work.
    #[inline(always)]
    pub(super) fn is_there(&mut self) -> bool {
        self.at < self.len || self.open_next()
    }

    /// The next one, if it is there.
    #[inline(always)]
    pub(super) fn first(&self) -> u64 {
        self.prefixes[self.at % OPENED]
    }

    /// The prefixes of the next line that has some; none at the end.
    #[inline]
    pub(super) fn next_line(&mut self) -> &[u64] {
        self.open_next();
        &self.prefixes[std::mem::replace(&mut self.at, self.len)..self.len]
    }

    /// Passes so many of the line at work.
    #[inline(always)]
    pub(super) fn pass(&mut self, count: usize) {
        self.at += count;
    }

    /// Takes the next line apart that has prefixes.
    #[inline(never)]
    fn open_next(&mut self) -> bool {
        while let Some((layout, from)) = self.layout() {
            while self.line < layout.lines.len() {
                layout.lines.prefetch(self.line + AHEAD);
                self.len = layout.open_normal(self.line, &mut self.prefixes);
                self.line += 1;
                // Those before are moved.
                let from = layout.normal(from);
                let there = self.prefixes.iter().take(self.len);
                self.at = there.take_while(|&&prefix| prefix < from).count();
                if self.at < self.len {
                    return true;
                }
            }
            if self.fresh_done {
                self.region += 1;
                self.begin_region();
            } else {
                self.fresh_done = true;
                self.line = self.filter.sweep.as_ref().map_or(0, |sweep| sweep.line);
            }
        }
        (self.at, self.len) = (0, 0);
        false
    }
}

impl Iterator for InLines<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        if !self.is_there() {
            return None;
        }
        let prefix = self.first();
        self.pass(1);
        Some(prefix)
    }

    /// Line by line.
    #[inline]
    fn fold<B, F: FnMut(B, u64) -> B>(mut self, init: B, mut each: F) -> B {
        let mut all = init;
        while self.is_there() {
            let line = &self.prefixes[self.at..self.len];
            all = line.iter().fold(all, |all, &prefix| each(all, prefix));
            self.at = self.len;
        }
        all
    }
}

/// The prefixes in the lines of two filters, in order, repeated ones each time.
struct Merged<'a> {
    a: InLines<'a>,
    b: InLines<'a>,
}

impl Iterator for Merged<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        if !self.a.is_there() {
            return self.b.next();
        }
        if !self.b.is_there() {
            return self.a.next();
        }
        // No branch: which one is next cannot be foreseen.
        let (a, b) = (self.a.first(), self.b.first());
        let is_a = a <= b;
        self.a.pass(is_a.into());
        self.b.pass((!is_a).into());
        Some(a.min(b))
    }
}

#[cfg(test)]
mod tests {
    use super::GrowingFilter;
    use crate::hash::hash_u64;

    /// Of filters that move a region or not, with prefixes of one length or several, copies, and prefixes beside the
    /// lines.
    #[test]
    fn a_fold_is_as_one_by_one() {
        let (mut moving, mut beside) = (0, [0, 0]);
        for unbounded in [false, true] {
            let mut filter = match unbounded {
                false => GrowingFilter::new(20_000, 0.01, 0).unwrap(),
                true => GrowingFilter::unbounded(100, 0.01, 0).unwrap(),
            };
            for key in 0..16_000 {
                // Some come often, and some crowd in a few lines.
                let hash = match key % 8 {
                    0 => hash_u64(key % 3, 1),
                    1 if key > 8_000 => hash_u64(key, 2) >> 14,
                    _ => hash_u64(key, 3),
                };
                filter.insert_hash(hash).unwrap();
                if key % 509 == 0 || key < 10 {
                    let mut folded = Vec::new();
                    filter.prefixes().for_each(|prefix| folded.push(prefix));
                    assert!(filter.prefixes().eq(folded.iter().copied()));
                    let keys: u64 = folded.iter().map(|&(_, count)| count).sum();
                    assert!(keys == filter.key_count() || unbounded);
                    assert!(folded.is_sorted_by(|(a, _), (b, _)| a < b));
                    moving += usize::from(filter.sweep.is_some());
                    let (copies, stash) = filter.beside();
                    beside[0] += usize::from(copies > 0);
                    beside[1] += usize::from(stash > 0);
                }
            }
            assert!(GrowingFilter::new(10, 0.01, 0).unwrap().prefixes().count() == 0);
        }
        println!("{moving} moving, {beside:?} with copies and prefixes beside lines");
        assert!(moving > 5 && beside.into_iter().all(|some| some > 5));
    }
}

//! Prefixes in order, many at a time: what copies, rebuilds and merges filters that have nothing beside their
//! lines. One by one they take longer than the lines themselves.

use super::GrowingFilter;
use super::runs::InLines;
use crate::kernel::growing::OPENED;

/// Ascending prefixes, repeated ones each time.
pub(super) trait Blocks {
    /// The next ones; none at the end.
    fn next_block(&mut self) -> &[u64];
}

impl Blocks for InLines<'_> {
    #[inline]
    fn next_block(&mut self) -> &[u64] {
        self.next_line()
    }
}

/// Room for the prefixes of some lines, for a number below them, and for one above.
const ROOM: usize = 512;

/// The next prefixes of a filter that is merged.
struct Side<'a> {
    lines: InLines<'a>,
    /// Those from `at` on and before `end`. What is before them is lower than any that are left of both sides,
    /// what is behind them is higher.
    prefixes: [i64; ROOM],
    at: usize,
    end: usize,
}

impl<'a> Side<'a> {
    fn new(filter: &'a GrowingFilter) -> Side<'a> {
        // Prefixes have fewer than 63 bits.
        let prefixes = [i64::MIN; ROOM];
        Side { lines: InLines::new(filter), prefixes, at: 1, end: 1 }
    }

    /// Takes lines apart, if no prefix is left.
    fn fill(&mut self) {
        if self.at < self.end {
            return;
        }
        (self.at, self.end) = (1, 1);
        while self.end + OPENED < ROOM {
            let line = self.lines.next_line();
            if line.is_empty() {
                break;
            }
            let room = self.prefixes[self.end..].iter_mut();
            room.zip(line).for_each(|(to, &prefix)| *to = prefix as i64);
            self.end += line.len();
        }
        self.prefixes[self.end] = i64::MAX;
    }

    /// The last one that is there; what is above all of them if there is none.
    fn last(&self) -> i64 {
        if self.at < self.end { self.prefixes[self.end - 1] } else { i64::MAX }
    }

    /// Where those behind `last` begin.
    fn behind(&self, last: i64) -> usize {
        if self.last() <= last {
            return self.end;
        }
        self.at + self.prefixes[self.at..self.end].partition_point(|&prefix| prefix <= last)
    }
}

/// Those of two filters that were made alike.
pub(super) struct Merged<'a> {
    one: Side<'a>,
    two: Side<'a>,
    both: [u64; 2 * ROOM],
}

impl<'a> Merged<'a> {
    pub(super) fn new(one: &'a GrowingFilter, two: &'a GrowingFilter) -> Merged<'a> {
        Merged { one: Side::new(one), two: Side::new(two), both: [0; 2 * ROOM] }
    }
}

impl Blocks for Merged<'_> {
    fn next_block(&mut self) -> &[u64] {
        let Merged { one, two, both } = self;
        one.fill();
        two.fill();
        // What comes next of either is above that.
        let last = one.last().min(two.last());
        let ends = [one.behind(last), two.behind(last)];
        let [from_one, from_two] = [one.at..ends[0], two.at..ends[1]];
        let count = from_one.len() + from_two.len();
        // Which is next cannot be foreseen, and whoever takes one waits for it before the next. So it begins at
        // both ends.
        let (mut low, mut high) = ([one.at, two.at], ends);
        for i in 0..count.div_ceil(2) {
            let next = [one.prefixes[low[0] % ROOM], two.prefixes[low[1] % ROOM]];
            let is_one = next[0] <= next[1];
            both[i % (2 * ROOM)] = next[0].min(next[1]) as u64;
            low = [low[0] + usize::from(is_one), low[1] + usize::from(!is_one)];
            let next = [one.prefixes[(high[0] - 1) % ROOM], two.prefixes[(high[1] - 1) % ROOM]];
            let is_one = next[0] > next[1];
            both[(count - 1 - i) % (2 * ROOM)] = next[0].max(next[1]) as u64;
            high = [high[0] - usize::from(is_one), high[1] - usize::from(!is_one)];
        }
        [one.at, two.at] = ends;
        &both[..count]
    }
}

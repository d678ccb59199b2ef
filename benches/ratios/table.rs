//! A table of ratios in Markdown. Uses `common::rounds`.

use crate::common::data::size_name;
use crate::common::rounds::{Times, median, ratio};
use bloomline::Backend;
use std::cell::Cell;

/// What counts as no slower, of times that are taken in turn.
const NO_SLOWER: f64 = 1.03;

/// Prints tables, and keeps count.
pub(crate) struct Report {
    /// Whether rows without a ratio to reach are printed as well.
    pub(crate) all: bool,
    /// The heading of the table that comes next, until its first row is printed.
    heading: Cell<Option<&'static str>>,
    reached: Cell<usize>,
    missed: Cell<usize>,
}

/// What a row compares: times of the same rounds.
pub(crate) struct Row<'a> {
    pub(crate) what: &'a str,
    pub(crate) size: usize,
    pub(crate) backend: &'a str,
    pub(crate) ours: &'a [f64],
    /// What the time is set against.
    pub(crate) with: &'a str,
    pub(crate) theirs: &'a [f64],
    /// The ratio to reach, if one is set.
    pub(crate) at_most: Option<f64>,
}

impl Report {
    pub(crate) fn new(all: bool) -> Report {
        Report { all, heading: Cell::new(None), reached: Cell::new(0), missed: Cell::new(0) }
    }

    /// Begins a table. One without rows is not printed.
    pub(crate) fn heading(&self, text: &'static str) {
        self.heading.set(Some(text));
    }

    /// A row for each backend.
    pub(crate) fn backends(
        &self,
        what: &str,
        size: usize,
        times: &Times,
        with: &str,
        at_most: impl Fn(Backend) -> Option<f64>,
    ) {
        for backend in Backend::available() {
            let (ours, theirs) = (times.of(backend.name()), times.of(with));
            let (backend, at_most) = (backend.name(), at_most(backend));
            self.row(Row { what, size, backend, ours, with, theirs, at_most });
        }
    }

    /// `portable` against `scalar`: it should be no slower.
    pub(crate) fn portable(&self, what: &str, size: usize, times: &Times, judged: bool) {
        let (ours, theirs) = (times.of("portable"), times.of("scalar"));
        let (backend, with, at_most) = ("portable", "scalar", judged.then_some(NO_SLOWER));
        self.row(Row { what, size, backend, ours, with, theirs, at_most });
    }

    pub(crate) fn row(&self, row: Row<'_>) {
        if row.at_most.is_none() && !self.all {
            return;
        }
        if let Some(heading) = self.heading.take() {
            println!("\n### {heading}\n");
            println!("| what | size | backend | ns | compared with | ns | ratio | at most | |");
            println!("|---|---|---|---|---|---|---|---|---|");
        }
        let Row { what, backend, with, .. } = row;
        let (size, ours, theirs) = (size_name(row.size), median(row.ours), median(row.theirs));
        let ratio = ratio(row.ours, row.theirs);
        let count = |count: &Cell<usize>| count.set(count.get() + 1);
        let (at_most, verdict) = match row.at_most {
            None => (String::new(), ""),
            Some(at_most) if ratio.median <= at_most => {
                count(&self.reached);
                (format!("{at_most:.2}"), "ok")
            }
            Some(at_most) => {
                count(&self.missed);
                (format!("{at_most:.2}"), "MISS")
            }
        };
        println!(
            "| {what} | {size} | {backend} | {ours:.2} | {with} | {theirs:.2} | {:.2} \
             ({:.2}-{:.2}) | {at_most} | {verdict} |",
            ratio.median, ratio.low, ratio.high
        );
    }

    /// Says how many of the ratios were reached.
    pub(crate) fn end(&self) {
        let (reached, missed) = (self.reached.get(), self.missed.get());
        println!("\n{reached} of {} ratios reached.", reached + missed);
    }
}

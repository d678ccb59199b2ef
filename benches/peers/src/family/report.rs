//! The measurements as Markdown: all of them, and the part that `docs/CHOOSING.md` shows.

use crate::chart;
use crate::common::machine;
use crate::common::rounds::{Ratio, median, ratio};
use crate::kinds::{CONCURRENT, COUNTING, CUCKOO, WINDOW};
use crate::measure::{Class, RUN, Threads};
use crate::member::Can;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A run.
pub(crate) struct Report {
    pub(crate) machine: String,
    pub(crate) classes: [Class; 2],
    pub(crate) rows: Vec<Row>,
    pub(crate) takes: Vec<Takes>,
    pub(crate) threads: Vec<(&'static str, [Threads; 2])>,
}

/// A filter at one rate.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) is_crate: bool,
    pub(crate) can: &'static [Can],
    /// Of each size, if it was measured.
    pub(crate) figures: [Option<Figures>; 2],
}

/// What was measured of it.
pub(crate) struct Figures {
    pub(crate) bits: f64,
    pub(crate) plain_bits: f64,
    pub(crate) rate: f64,
    pub(crate) probe: Against,
    pub(crate) one: Against,
    pub(crate) insert: Against,
    pub(crate) remove: Option<Against>,
}

/// A time, and what it is to that of a plain filter.
pub(crate) struct Against {
    pub(crate) ns: f64,
    pub(crate) ratio: Ratio,
}

impl Against {
    /// The medians of rounds.
    pub(crate) fn by_rounds(ours: &[f64], plain: &[f64]) -> Against {
        Against { ns: median(ours), ratio: ratio(ours, plain) }
    }

    /// All parts of a filling together. A part that something else has disturbed should not count,
    /// but the last ones may well take longer than the first: so the mean of the medians of a few
    /// parts in a row. The quartiles are those of all parts.
    pub(crate) fn in_all(ours: &[f64], plain: &[f64]) -> Against {
        let mean = |of: &dyn Fn(usize) -> f64| {
            let runs = ours.len() / RUN;
            (0..runs).map(of).sum::<f64>() / runs as f64
        };
        let run = |i: usize| i * RUN..(i + 1) * RUN;
        let all = ratio(ours, plain);
        let middle = mean(&|i| ratio(&ours[run(i)], &plain[run(i)]).median);
        Against { ns: mean(&|i| median(&ours[run(i)])), ratio: Ratio { median: middle, ..all } }
    }

    /// Of things that were not timed in turn.
    pub(crate) fn medians(ours: &[f64], plain: &[f64]) -> Against {
        let by = median(plain);
        let ours: Vec<f64> = ours.iter().map(|ns| ns / by).collect();
        Against { ns: median(&ours) * by, ratio: ratio(&ours, &vec![1.0; ours.len()]) }
    }
}

/// The memory of a type at each target rate, and the measured rate.
pub(crate) struct Takes {
    pub(crate) name: &'static str,
    pub(crate) can: &'static [Can],
    pub(crate) at: [Option<(f64, f64)>; 2],
}

/// The ratios that the project has set itself: filter, size, what, at most.
const LIMITS: &[(&str, usize, What, f64)] = &[
    (CONCURRENT, 0, PROBE, 1.3),
    (CONCURRENT, 1, PROBE, 1.3),
    (CONCURRENT, 0, INSERT, 3.0),
    (CONCURRENT, 1, INSERT, 3.0),
    (COUNTING, 0, PROBE, 1.1),
    (COUNTING, 1, PROBE, 1.1),
    (CUCKOO, 1, PROBE, 2.2),
    (WINDOW, 1, ONE, 2.0),
    (WINDOW, 1, PROBE, 6.0),
];

/// A column: its name, and its time.
type What = (&'static str, fn(&Figures) -> Option<&Against>);
const PROBE: What = ("probe", |figures| Some(&figures.probe));
const ONE: What = ("single probe", |figures| Some(&figures.one));
const INSERT: What = ("insert", |figures| Some(&figures.insert));
const REMOVE: What = ("remove", |figures| figures.remove.as_ref());

const BEGIN: &str = "<!-- measured: begin. `make choosing` writes this part -->";
const END: &str = "<!-- measured: end -->";

impl Report {
    /// All figures, with their quartiles and their limits.
    pub(crate) fn details(&self) -> String {
        let mut text = format!("{}\n", self.machine);
        text += "Nanoseconds of processor time per key, and in brackets the ratio to a plain \
                 filter for as many keys at the same rate: the median of rounds taken in turn, \
                 and the quartiles. Half of the probed keys are in. Single probes wait for each \
                 other. Inserts are from an empty filter to a full one; in memory, by parts \
                 taken in turn, with the quartiles of the parts. Removals are set against \
                 the plain filter's inserts.\n";
        for (size, class) in self.classes.iter().enumerate() {
            let _ = writeln!(text, "\n### In {}: {} keys\n", class.name, class.keys);
            text += "| | bits per key | plain | false positives | probe | single probe | insert \
                     | remove |\n|---|---|---|---|---|---|---|---|\n";
            for row in &self.rows {
                let Some(figures) = &row.figures[size] else { continue };
                let (bits, plain) = (figures.bits, figures.plain_bits);
                let _ = write!(text, "| {} | {bits:.2} | {plain:.2} ", row.name);
                let _ = write!(text, "| {} |", per_cent(figures.rate));
                for (_, of) in [PROBE, ONE, INSERT, REMOVE] {
                    let cell = of(figures).map_or(String::new(), in_full);
                    let _ = write!(text, " {cell} |");
                }
                text += "\n";
            }
        }
        text += "\n### Limits\n\n| | | ratio | at most | |\n|---|---|---|---|---|\n";
        for (name, size, (what, of), at_most) in LIMITS {
            for row in self.rows.iter().filter(|row| row.name.starts_with(name)) {
                let Some(figures) = &row.figures[*size] else { continue };
                let ratio = of(figures).map_or(f64::NAN, |against| against.ratio.median);
                let verdict = if ratio <= *at_most { "ok" } else { "MISS" };
                let class = self.classes[*size].name;
                let _ = writeln!(
                    text,
                    "| {} | {what} in {class} | {ratio:.2} | {at_most} | {verdict} |",
                    row.name
                );
            }
        }
        text
    }

    /// The part of the page that is measured, from marker to marker.
    pub(crate) fn page(&self) -> String {
        let cpu = self.machine.lines().next().unwrap_or_default().trim_start_matches("* ");
        let [small, large] = &self.classes;
        let mut text = format!(
            "{BEGIN}\n{cpu}; load average at the end {}. In cache: {} keys, the plain filter 256 \
             KiB; in memory: {} keys, 64 MiB.\n",
            machine::load(),
            small.keys,
            large.keys
        );
        text += "\n#### Memory and operations\n\n\
                 | | bits per key at 1 % | at 0.1 % | remove keys | grow | expire keys \
                 | threads insert | replace under readers | combine | map a file |\n\
                 |---|---|---|---|---|---|---|---|---|---|\n";
        let all =
            [Can::Delete, Can::Grow, Can::Expire, Can::Threads, Can::Replace, Can::Union, Can::Map];
        for takes in &self.takes {
            let _ = write!(text, "| {} |", takes.name);
            takes.at.iter().for_each(|at| text += &taken(at));
            for can in all {
                text += if takes.can.contains(&can) { " yes |" } else { " |" };
            }
            text += "\n";
        }
        text += "\nIn brackets: the measured false-positive rate. A blank cell means no.\n\
                 \n#### Times, as multiples of the plain filter's\n\n";
        text += &self.times(false);
        text += "\n#### Published crates for the same jobs\n\n";
        text += &self.times(true);
        text += "\n#### Two threads\n\nHow many times as fast as one thread.\n\n\
                 | | insert, in cache | in memory | probe, in cache | in memory |\n\
                 |---|---|---|---|---|\n";
        for (name, sizes) in &self.threads {
            let _ = write!(text, "| {name} |");
            for of in [|of: &Threads| of.insert.clone(), |of: &Threads| of.probe.clone()] {
                for threads in sizes {
                    let [one, two] = of(threads);
                    let _ = write!(text, " {:.2} |", ratio(&one, &two).median);
                }
            }
            text += "\n";
        }
        text + END
    }

    fn times(&self, crates: bool) -> String {
        let mut text = String::from(
            "| | bits per key | false positives | probe, in cache | in memory | single probe, in \
             cache | in memory | insert, in cache | in memory | remove, in memory |\n\
             |---|---|---|---|---|---|---|---|---|---|\n",
        );
        for row in self.rows.iter().filter(|row| row.is_crate == crates) {
            let Some(any) = row.figures.iter().flatten().last() else { continue };
            let _ = write!(text, "| {} | {:.1} | {} |", row.name, any.bits, per_cent(any.rate));
            for (_, of) in [PROBE, ONE, INSERT] {
                for figures in &row.figures {
                    text += &cell(figures.as_ref().and_then(of));
                }
            }
            text += &cell(row.figures[1].as_ref().and_then(REMOVE.1));
            text += "\n";
        }
        text
    }

    /// Puts the page's part, and the chart, into `docs/`.
    pub(crate) fn write(&self) {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let page = docs.join("CHOOSING.md");
        let text = fs::read_to_string(&page).expect("the page can be read");
        let (before, rest) = text.split_once(BEGIN).expect("the page has its first marker");
        let (_, after) = rest.split_once(END).expect("the page has its last marker");
        fs::write(&page, format!("{before}{}{after}", self.page())).expect("the page is written");
        fs::write(docs.join("choosing.svg"), chart::draw(self)).expect("the chart is written");
    }
}

/// "9.9 (0.98 %)".
fn taken(at: &Option<(f64, f64)>) -> String {
    at.map_or(" |".into(), |(bits, rate)| format!(" {bits:.1} ({}) |", per_cent(rate)))
}

fn cell(against: Option<&Against>) -> String {
    against.map_or(" |".into(), |against| format!(" {} |", short(against.ratio.median)))
}

/// Two digits that count, or the units.
pub(crate) fn short(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

fn in_full(against: &Against) -> String {
    let Ratio { median, low, high } = against.ratio;
    format!("{:.2} [{median:.2}; {low:.2} {high:.2}]", against.ns)
}

/// "0.98 %", with two digits that count.
pub(crate) fn per_cent(rate: f64) -> String {
    let per_cent = 100.0 * rate;
    let digits =
        if per_cent >= 0.995 { 1 } else { (1.0 - per_cent.log10().floor()).min(6.0) as usize };
    format!("{per_cent:.digits$} %")
}

//! All kinds of filter of this library, and crates published for Rust that do the same jobs, at equal
//! rates: `docs/CHOOSING.md`. Each is filled and probed in turn with a plain filter for as many keys at
//! the same rate; the result is the ratio of their times. Two sizes: as many keys as make the plain
//! filter 256 KiB, and 64 MiB, at 1 %.

use crate::common::data::size_name;
use crate::common::machine;
use crate::common::rounds::{Keys, Plan, Ratio, median, ratio};
use crate::contender::{By, Can, Kind, RATE, Shared, Size, Timed};
use crate::measure::{
    ABSENTEES, Class, Entry, Measured, Mix, RUN, Threads, Way, absent_keys, measure, of_a_filling,
    part_of_keys, threads,
};
use crate::ours::{self, CONCURRENT, COUNTING, CUCKOO, WINDOW};
use crate::speed::{Effort, TWO, per_cent};
use crate::watch::Watch;
use crate::{choosing_chart, crates, limits};
use std::fmt::Write;
use std::time::Duration;

/// Rates of the table of what each takes.
const TAKES: [f64; 2] = [RATE, 0.001];

pub(crate) fn run(kinds: &[Kind], effort: Effort, watch: &mut Watch) -> Report {
    let machine = machine::describe();
    let quick = effort != Effort::Full;
    let classes = classes(quick);
    let shown = || kinds.iter().filter(|kind| !kind.timed_at.is_empty());
    let mut rows: Vec<Row> = Vec::new();
    for kind in shown() {
        rows.extend(kind.timed_at.iter().map(|timed| Row {
            name: format!("{}{}", kind.name, timed.called),
            is_crate: kind.by == By::Others,
            can: kind.can,
            figures: [None, None],
        }));
    }
    for (size, class) in classes.iter().enumerate() {
        for (name, figures) in figures(class, kinds, quick, watch) {
            let row = rows.iter_mut().find(|row| row.name == name);
            row.expect("what is measured has a row").figures[size] = Some(figures);
        }
    }
    eprintln!("bits per key");
    let takes = shown().filter(|kind| kind.by == By::Ours).map(|kind| Takes {
        name: kind.name.clone(),
        can: kind.can,
        at: TAKES.map(|rate| takes(kind, classes[0].keys, rate)),
    });
    let takes = takes.collect();
    Report { machine, rows, takes, threads: by_threads(&classes, quick, watch), classes }
}

/// Times all kinds of one size, and the plain filters that they are set against.
fn figures(
    class: &Class,
    kinds: &[Kind],
    quick: bool,
    watch: &mut Watch,
) -> Vec<(String, Figures)> {
    let is_wanted = |kind: &Kind, timed: &Timed| {
        !quick || class.parts == 1 || !(kind.by == By::Others || timed.against > RATE)
    };
    let wanted: Vec<(&Kind, &Timed)> = kinds
        .iter()
        .flat_map(|kind| kind.timed_at.iter().map(move |timed| (kind, timed)))
        .filter(|(kind, timed)| is_wanted(kind, timed))
        .collect();
    // Plain filters of other rates than the first one's: each is measured once.
    let mut plain: Vec<f64> = Vec::new();
    for (_, timed) in &wanted {
        if timed.against != RATE && !plain.contains(&timed.against) {
            plain.push(timed.against);
        }
    }
    let plain_kind = &kinds[0];
    assert_eq!(plain_kind.name, ours::PLAIN, "the plain filter comes first");
    let of = |&(kind, timed): &(_, &Timed)| Entry { kind, size: Size::Rate(timed.rate) };
    let mut entries: Vec<Entry<'_>> = wanted.iter().map(of).collect();
    entries.extend(plain.iter().map(|&rate| Entry { kind: plain_kind, size: Size::Rate(rate) }));
    // By which one sees whether something else disturbed the others.
    let touches =
        kinds.iter().filter(|kind| [limits::INLINED, limits::IN_BATCHES].contains(&&*kind.name));
    entries.extend(touches.map(|kind| Entry { kind, size: Size::Rate(RATE) }));
    let all = measure(class, &entries, watch);
    let plain_of = |rate: f64| {
        let is_it = |entry: &Entry<'_>| {
            entry.kind.name == plain_kind.name && entry.size == Size::Rate(rate)
        };
        let found = entries.iter().position(is_it).and_then(|i| all[i].as_ref());
        found.expect("all plain filters are there")
    };
    let figures = wanted.iter().zip(&all).map(|((kind, timed), measured)| {
        let measured = measured.as_ref().expect("it has a rate near the one asked for");
        let plain = plain_of(timed.against);
        (format!("{}{}", kind.name, timed.called), figures_of(class, measured, plain))
    });
    figures.collect()
}

fn figures_of(class: &Class, ours: &Measured, plain: &Measured) -> Figures {
    let probes = |way| Against::by_rounds(ours.probe(way, Mix::Half), plain.probe(way, Mix::Half));
    Figures {
        bits: ours.bits,
        plain_bits: plain.bits,
        rate: ours.rate,
        probe: probes(Way::Best),
        one: probes(Way::Single),
        dependent: probes(Way::Waiting),
        insert: if class.parts == 1 {
            Against::by_rounds(ours.best_insert(), plain.best_insert())
        } else {
            Against::in_all(ours.best_insert(), plain.best_insert())
        },
        remove: (!ours.remove.is_empty())
            .then(|| Against::medians(&ours.remove, plain.best_insert())),
    }
}

/// What a kind takes for so many keys at a rate, and the rate that it has then; not timed.
fn takes(kind: &Kind, keys: u64, rate: f64) -> Option<(f64, f64)> {
    let mut filter = (kind.build)(keys, Size::Rate(rate))?;
    filter.insert(&part_of_keys(keys, 0, 1));
    filter.filled();
    let absentees = 4 * ABSENTEES;
    let positives = filter.probe(&absent_keys(absentees));
    Some((filter.bytes() as f64 * 8.0 / keys as f64, positives as f64 / absentees as f64))
}

/// Filters that threads fill at once, of each size.
fn by_threads(
    classes: &[Class; 2],
    quick: bool,
    watch: &mut Watch,
) -> Vec<(&'static str, [Threads; 2])> {
    type Build = dyn Fn(u64) -> Box<dyn Shared>;
    let ours: &Build = &|keys| Box::new(ours::shared(keys, Size::Rate(RATE)));
    let theirs: &Build = &|keys| Box::new(crates::atomic(keys, Size::Rate(RATE)));
    let mut all = vec![(CONCURRENT, ours)];
    if !quick {
        all.push((crates::ATOMIC, theirs));
    }
    let measured = all.into_iter().map(|(name, build)| {
        eprintln!("threads: {name}");
        let block = |class: &Class| format!("choosing, {}, threads, {name}", class.name);
        let mut timed = |class| watch.around(&block(class), || threads(class, build));
        (name, classes.each_ref().map(&mut timed))
    });
    measured.collect()
}

/// The two sizes: one that is in the CPU's caches, one that is not.
fn classes(quick: bool) -> [Class; 2] {
    let (bits, _) = bloomline::sizing::bits_for_rate(RATE).expect("it is a rate");
    let plan = |rounds, turn| Plan { rounds, turn: Duration::from_millis(turn), keys: Keys::Hot };
    let (fills, [many, some]) = if quick { (9, [11, 5]) } else { (25, [25, 9]) };
    let [small, large] = TWO.map(|bytes| Class {
        part: "choosing",
        name: "cache".into(),
        size: size_name(bytes),
        keys: (bytes as f64 * 8.0 / bits) as u64,
        fills,
        parts: 1,
        each: false,
        probes: 1 << 16,
        ways: [Way::Best, Way::Single, Way::Waiting].map(|way| (way, Mix::Half)).into(),
        remove: true,
        plan: plan(many, 1),
    });
    let (name, parts) = ("memory".into(), 16 * RUN as u64);
    let large = Class { name, fills: 1, parts, probes: 1 << 20, plan: plan(some, 4), ..large };
    [small, large]
}

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
    pub(crate) dependent: Against,
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

    /// All parts of a filling together. The quartiles are those of all parts.
    pub(crate) fn in_all(ours: &[f64], plain: &[f64]) -> Against {
        let ratios: Vec<f64> = ours.iter().zip(plain).map(|(ours, plain)| ours / plain).collect();
        let ratio = Ratio { median: of_a_filling(&ratios), ..ratio(ours, plain) };
        Against { ns: of_a_filling(ours), ratio }
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
    pub(crate) name: String,
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
    (WINDOW, 1, DEPENDENT, 2.0),
    (WINDOW, 1, PROBE, 6.0),
];

/// A column: its name, and its time.
type What = (&'static str, fn(&Figures) -> Option<&Against>);
const PROBE: What = ("probe batch", |figures| Some(&figures.probe));
const ONE: What = ("probe one", |figures| Some(&figures.one));
const DEPENDENT: What = ("dependent", |figures| Some(&figures.dependent));
const INSERT: What = ("insert", |figures| Some(&figures.insert));
const REMOVE: What = ("remove", |figures| figures.remove.as_ref());

impl Report {
    /// All figures, with their quartiles and their limits.
    pub(crate) fn details(&self) -> String {
        let mut text = format!("{}\n", self.machine);
        text += "Nanoseconds of processor time per key, and in brackets the ratio to a plain \
                 filter for as many keys at the same rate: the median of rounds taken in turn, \
                 and the quartiles. Half of the probed keys are in. Dependent probes wait for each \
                 other. Inserts are from an empty filter to a full one; in memory, by parts \
                 taken in turn, with the quartiles of the parts. Removals are set against \
                 the plain filter's inserts.\n";
        for (size, class) in self.classes.iter().enumerate() {
            let _ = writeln!(text, "\n### In {}: {} keys\n", class.name, class.keys);
            text += "| | bits per key | plain | false positives | probe batch | probe one \
                     | dependent | insert | remove |\n|---|---|---|---|---|---|---|---|---|\n";
            for row in &self.rows {
                let Some(figures) = &row.figures[size] else { continue };
                let (bits, plain) = (figures.bits, figures.plain_bits);
                let _ = write!(text, "| {} | {bits:.2} | {plain:.2} ", row.name);
                let _ = write!(text, "| {} |", per_cent(figures.rate));
                for (_, of) in [PROBE, ONE, DEPENDENT, INSERT, REMOVE] {
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
                let class = &self.classes[*size].name;
                let _ = writeln!(
                    text,
                    "| {} | {what} in {class} | {ratio:.2} | {at_most} | {verdict} |",
                    row.name
                );
            }
        }
        text
    }

    /// The part of the page that is measured.
    pub(crate) fn page(&self) -> String {
        let cpu = self.machine.lines().next().unwrap_or_default().trim_start_matches("* ");
        let [small, large] = &self.classes;
        let mut text = format!(
            "{cpu}; load average at the end {}. In cache: {} keys, the plain filter 256 \
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
        text
    }

    fn times(&self, crates: bool) -> String {
        let mut text = String::from(
            "| | bits per key | false positives | probe batch, in cache | in memory | probe one, in \
             cache | in memory | dependent, in cache | in memory | insert, in cache | in memory \
             | remove, in memory |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for row in self.rows.iter().filter(|row| row.is_crate == crates) {
            let Some(any) = row.figures.iter().flatten().last() else { continue };
            let _ = write!(text, "| {} | {:.1} | {} |", row.name, any.bits, per_cent(any.rate));
            for (_, of) in [PROBE, ONE, DEPENDENT, INSERT] {
                for figures in &row.figures {
                    text += &cell(figures.as_ref().and_then(of));
                }
            }
            text += &cell(row.figures[1].as_ref().and_then(REMOVE.1));
            text += "\n";
        }
        text
    }

    pub(crate) fn chart(&self) -> String {
        choosing_chart::draw(self)
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

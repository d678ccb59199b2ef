//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin family [-- --quick]
//! [--write]`: all kinds of filter of this library, and crates published for Rust that do the same
//! jobs, in one run, as Markdown. Each is filled and probed in turn with a plain filter for as many
//! keys at the same rate; the result is the ratio of their times.
//!
//! Two sizes: as many keys as make the plain filter 256 KiB, and 64 MiB, at 1 %. What stands
//! between the two marker comments is the part of `docs/CHOOSING.md` that is measured; `--write`
//! puts it there, and the chart beside it. `--quick` takes fewer rounds, and leaves out of the
//! large size what is slowest.

#[path = "../../../common/mod.rs"]
mod common;

mod chart;
mod crates;
mod kinds;
mod measure;
mod member;
mod report;

use crates::CRATES;
use kinds::{CONCURRENT, KINDS};
use measure::{Class, Entry, Measured, Threads, classes, measure, takes, threads};
use member::{Kind, RATE, Shared, Timed};
use report::{Against, Figures, Report, Row, Takes};
use std::time::Instant;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let [quick, write] = ["--quick", "--write"].map(|name| common::option(&mut arguments, name));
    if !arguments.is_empty() || (quick && write) {
        eprintln!("usage: family [--quick | --write]");
        std::process::exit(2);
    }
    let start = Instant::now();
    let report = run(quick);
    println!("{}", report.details());
    println!("{}", report.page());
    if write {
        report.write();
    }
    eprintln!("{:.0} s", start.elapsed().as_secs_f64());
}

/// Rates of the table of what each takes.
const TAKES: [f64; 2] = [RATE, 0.001];

fn run(quick: bool) -> Report {
    let machine = common::machine::describe();
    let classes = classes(quick);
    let mut rows: Vec<Row> = Vec::new();
    for kind in KINDS.iter().chain(CRATES) {
        rows.extend(kind.timed_at.iter().map(|timed| Row {
            name: format!("{}{}", kind.name, timed.called),
            is_crate: is_crate(kind),
            can: kind.can,
            figures: [None, None],
        }));
    }
    for (size, class) in classes.iter().enumerate() {
        for (name, figures) in figures(class, quick) {
            let row = rows.iter_mut().find(|row| row.name == name);
            row.expect("what is measured has a row").figures[size] = Some(figures);
        }
    }
    eprintln!("bits per key");
    let takes = KINDS.iter().map(|kind| Takes {
        name: kind.name,
        can: kind.can,
        at: TAKES.map(|rate| takes(kind, classes[0].keys, rate)),
    });
    let takes = takes.collect();
    Report { machine, rows, takes, threads: by_threads(&classes, quick), classes }
}

fn is_crate(kind: &Kind) -> bool {
    CRATES.iter().any(|one| one.name == kind.name)
}

/// Times all kinds of one size, and the plain filters that they are set against.
fn figures(class: &Class, quick: bool) -> Vec<(String, Figures)> {
    let is_wanted = |kind: &Kind, timed: &Timed| {
        !quick || class.parts == 1 || !(is_crate(kind) || timed.against > RATE)
    };
    let of_kind = |kind: &'static Kind| kind.timed_at.iter().map(move |timed| (kind, timed));
    let wanted: Vec<(&Kind, &Timed)> = KINDS
        .iter()
        .chain(CRATES)
        .flat_map(of_kind)
        .filter(|(kind, timed)| is_wanted(kind, timed))
        .collect();
    // Filters of other rates than the first one's: each is measured once.
    let mut plain: Vec<Timed> = Vec::new();
    for (_, timed) in &wanted {
        let against = timed.against;
        if against != RATE && plain.iter().all(|plain| plain.rate != against) {
            plain.push(Timed { called: "", rate: against, against });
        }
    }
    let mut entries: Vec<Entry<'_>> =
        wanted.iter().map(|&(kind, timed)| Entry { kind, timed }).collect();
    entries.extend(plain.iter().map(|timed| Entry { kind: &KINDS[0], timed }));
    let all = measure(class, &entries);
    let plain_of = |rate: f64| {
        let is_it =
            |entry: &Entry<'_>| entry.kind.name == KINDS[0].name && entry.timed.rate == rate;
        &all[entries.iter().position(is_it).expect("all plain filters are there")]
    };
    let figures = wanted.iter().zip(&all).map(|((kind, timed), measured)| {
        let plain = plain_of(timed.against);
        (format!("{}{}", kind.name, timed.called), figures_of(class, measured, plain))
    });
    figures.collect()
}

fn figures_of(class: &Class, ours: &Measured, plain: &Measured) -> Figures {
    Figures {
        bits: ours.bits,
        plain_bits: plain.bits,
        rate: ours.rate,
        probe: Against::by_rounds(&ours.probe, &plain.probe),
        one: Against::by_rounds(&ours.one, &plain.one),
        insert: if class.parts == 1 {
            Against::by_rounds(&ours.insert, &plain.insert)
        } else {
            Against::in_all(&ours.insert, &plain.insert)
        },
        remove: (!ours.remove.is_empty()).then(|| Against::medians(&ours.remove, &plain.insert)),
    }
}

/// Filters that threads fill at once, of each size.
fn by_threads(classes: &[Class; 2], quick: bool) -> Vec<(&'static str, [Threads; 2])> {
    type Build = dyn Fn(u64) -> Box<dyn Shared>;
    let ours: &Build = &|keys| Box::new(kinds::shared(keys, RATE));
    let theirs: &Build = &|keys| Box::new(crates::fastbloom(keys, RATE));
    let mut all = vec![(CONCURRENT, ours)];
    if !quick {
        all.push((crates::FASTBLOOM, theirs));
    }
    let measured = all.into_iter().map(|(name, build)| {
        eprintln!("threads: {name}");
        (name, classes.each_ref().map(|class| threads(class, build)))
    });
    measured.collect()
}

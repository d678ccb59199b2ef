//! `cargo bench --bench ratios [-- --quick] [--all]`: how near the library is to what the
//! machine allows, as Markdown. Each time is set against another one of the same
//! run, taken in turn with it, and against the ratio that the project has set
//! itself: `ok` or `MISS`. Nanoseconds are there for orientation: they are of this
//! run on this machine. `--quick` leaves out the largest size and takes fewer rounds;
//! `--all` shows comparisons for which no ratio is set as well. Words select parts:
//! `-- probe insert keys lookup few group threads`. Types of filter against each other: `make lab`.

#[path = "../common/mod.rs"]
mod common;
mod few;
mod group;
mod insert;
mod keys;
mod lookup;
mod probe;
mod table;
mod threads;

use bloomline::Backend;
use common::data::SIZES;
use common::rounds::{BATCH, Keys, Plan};
use std::time::{Duration, Instant};
use table::Report;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Whether a backend has vectors for the line: the x86-64 baseline has no useful ones for
/// `portable`.
fn is_simd(backend: Backend) -> bool {
    let portable = cfg!(any(target_feature = "neon", target_feature = "avx2"));
    backend != Backend::Scalar && (backend != Backend::Portable || portable)
}

/// What is measured, and by which word it is selected.
type Part = (&'static str, fn(&Report, Plan, &[usize]));
const PARTS: [Part; 7] = [
    ("probe", probe::tables),
    ("insert", insert::tables),
    ("keys", keys::tables),
    ("lookup", lookup::tables),
    ("few", few::tables),
    ("group", group::tables),
    ("threads", threads::tables),
];

fn main() {
    let Some(mut arguments) = common::arguments() else { return };
    let [quick, all] = ["--quick", "--all"].map(|name| common::option(&mut arguments, name));
    let rounds = if quick { 5 } else { 15 };
    let plan = Plan { rounds, turn: Duration::from_millis(2), keys: Keys::Hot };
    let sizes = if quick { &SIZES[..4] } else { &SIZES[..] };
    let parts = PARTS.map(|(part, _)| part);
    if arguments.iter().any(|argument| !parts.contains(&argument.as_str())) {
        eprintln!("usage: cargo bench --bench ratios [-- --quick] [--all] [{}]", parts.join("] ["));
        std::process::exit(2);
    }
    let wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|a| a == part);

    let start = Instant::now();
    println!("{}", common::machine::describe());
    println!(
        "Ratios of times that were taken in turn in one run, {} rounds or more: the median, in \
         brackets the quartiles. 10 bits per key, half of the probed keys present, one thread, \
         batches of {BATCH} that are in the caches where nothing else is said. \
         The loops that only touch the line are compiled for the baseline of {}. ns: processor \
         time per key, of this run.",
        plan.rounds,
        std::env::consts::ARCH
    );
    if !common::touch::HAS_HINTS {
        println!("\nNo prefetch hints on this CPU: rows that compare with them are absent.");
    }
    let report = &Report::new(all);
    for (_, tables) in PARTS.iter().filter(|(part, _)| wanted(part)) {
        tables(report, plan, sizes);
    }
    report.end();
    println!("\nLoad average at the end: {}.", common::machine::load());
    eprintln!("{:.0} s", start.elapsed().as_secs_f64());
}

//! Inserting hashes, against loops that touch the line to write, and `portable`
//! against `scalar`.

use crate::common::data::{Probes, full_filter, size_name};
use crate::common::memory::{Memory, warn_of_small_pages};
use crate::common::rounds::{Plan, Rounds, Times};
use crate::common::touch::{self, WRITE, WRITE_L1_16};
use crate::table::{Report, Row};
use crate::{KIB, MIB, NO_SLOWER, is_simd};
use bloomline::Backend;

pub(crate) fn tables(report: &Report, plan: Plan, sizes: &[usize]) {
    let races: Vec<(usize, Times)> = sizes.iter().map(|&size| (size, race(plan, size))).collect();

    report.heading("Inserting, against the loop that touches the line to write");
    for (size, times) in &races {
        rows(report, *size, times, WRITE, (*size == 256 * KIB).then_some(2.5));
    }
    if touch::HAS_HINTS {
        report.heading("Inserting beyond L2, against the same loop with prefetch");
        for (size, times) in races.iter().filter(|(size, _)| *size > 256 * KIB) {
            rows(report, *size, times, WRITE_L1_16, (*size == 512 * MIB).then_some(0.7));
        }
        for (size, times) in races.iter().filter(|(size, _)| *size > 256 * KIB) {
            rows(report, *size, times, times.best(|name| name.starts_with(WRITE)), None);
        }
    }
    report.heading("Inserting with `portable`, against `scalar`");
    for (size, times) in &races {
        let (ours, theirs) = (times.of("portable"), times.of("scalar"));
        let (what, size) = ("insert hashes, k = 6", *size);
        report.row(Row {
            what,
            size,
            backend: "portable",
            ours,
            with: "scalar",
            theirs,
            at_most: Some(NO_SLOWER),
        });
    }
}

/// A row for each backend.
fn rows(report: &Report, size: usize, times: &Times, with: &str, at_most: Option<f64>) {
    for backend in Backend::available() {
        let (ours, theirs) = (times.of(backend.name()), times.of(with));
        report.row(Row {
            what: "insert hashes, k = 6",
            size,
            backend: backend.name(),
            ours,
            with,
            theirs,
            at_most: at_most.filter(|_| is_simd(backend)),
        });
    }
}

fn race(plan: Plan, size: usize) -> Times {
    eprintln!("inserting hashes, {}", size_name(size));
    let probes = Probes::hashes(size);
    let hashes = &probes.hashes;
    let mut rounds = Rounds::new(plan);
    // Each has memory of its own, so that none finds in the caches what the one
    // before has left there.
    for (name, touch) in touch::writes() {
        let mut memory = Memory::new(size);
        rounds.add(name, hashes, move |hashes| {
            touch(touch::lines_mut(&mut memory), hashes);
            0
        });
    }
    for backend in Backend::available() {
        let mut filter = full_filter(size, 6, &probes, backend);
        warn_of_small_pages(filter.as_bytes());
        rounds.add(backend.name(), hashes, move |hashes| {
            filter.insert_hashes(hashes);
            0
        });
    }
    rounds.run()
}

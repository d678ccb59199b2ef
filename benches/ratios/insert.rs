//! Inserting hashes, against loops that touch the line to write, and `portable`
//! against `scalar`.

use crate::common::data::{Probes, full_filter, size_name};
use crate::common::memory::{Memory, warn_of_small_pages};
use crate::common::rounds::{Plan, Rounds, Times};
use crate::common::touch::{self, WRITE, WRITE_L1_16};
use crate::table::Report;
use crate::{KIB, MIB, is_simd};
use bloomline::Backend;

const WHAT: &str = "insert hashes, k = 6";

pub(crate) fn tables(report: &Report, plan: Plan, sizes: &[usize]) {
    let races: Vec<(usize, Times)> = sizes.iter().map(|&size| (size, race(plan, size))).collect();
    let rows = |size, times: &Times, with: &str, at_most: Option<f64>| {
        report.backends(WHAT, size, times, with, |backend| at_most.filter(|_| is_simd(backend)));
    };

    report.heading("Inserting, against the loop that touches the line to write");
    for (size, times) in &races {
        rows(*size, times, WRITE, (*size == 256 * KIB).then_some(2.5));
    }
    if touch::HAS_HINTS {
        report.heading("Inserting beyond L2, against the same loop with prefetch");
        for (size, times) in races.iter().filter(|(size, _)| *size > 256 * KIB) {
            rows(*size, times, WRITE_L1_16, (*size == 512 * MIB).then_some(0.7));
        }
        for (size, times) in races.iter().filter(|(size, _)| *size > 256 * KIB) {
            rows(*size, times, times.best(|name| name.starts_with(WRITE)), None);
        }
    }
    report.heading("Inserting with `portable`, against `scalar`");
    for (size, times) in &races {
        report.portable(WHAT, *size, times, true);
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
        rounds.insert(name, hashes, move |hashes| touch(touch::lines_mut(&mut memory), hashes));
    }
    for backend in Backend::available() {
        let mut filter = full_filter(size, 6, &probes, backend);
        warn_of_small_pages(filter.lines());
        rounds.insert(backend.name(), hashes, move |hashes| filter.insert_hashes(hashes));
    }
    rounds.run()
}

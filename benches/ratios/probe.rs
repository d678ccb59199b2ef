//! Probing hashes: in cache against the loop that touches the line, beyond L2
//! against such loops with prefetch, and `portable` against `scalar`.

use crate::common::data::{Probes, full_bytes, size_name, views};
use crate::common::memory::warn_of_small_pages;
use crate::common::rounds::{Keys, Plan, Rounds, Times};
use crate::common::touch::{self, READ, READ_L1_32, READ_UNROLLED};
use crate::table::Report;
use crate::{KIB, MIB, is_simd};
use bloomline::Backend;

/// Times of all backends and touch loops on one filter.
struct Race {
    what: String,
    size: usize,
    k: u32,
    keys: Keys,
    times: Times,
}

pub(crate) fn tables(report: &Report, plan: Plan, sizes: &[usize]) {
    let mut races = Vec::new();
    for k in [6, 8] {
        for &size in sizes {
            races.push(race(plan, size, k));
        }
    }
    for &size in sizes.iter().filter(|&&size| size >= 64 * MIB) {
        races.push(race(Plan { keys: Keys::Cold, ..plan }, size, 6));
    }
    let in_cache = |race: &&Race| race.size <= 256 * KIB;
    let beyond = |race: &&Race| race.size > 256 * KIB;

    report.heading("Probing in cache, against the loop that touches the line");
    for race in races.iter().filter(in_cache) {
        rows(report, race, READ, |backend| match (backend, race.k) {
            (Backend::Avx512, 6) => Some(1.3),
            (Backend::Avx2, 6) => Some(1.8),
            (Backend::Avx512, 8) => Some(1.1),
            (Backend::Avx2, 8) => Some(1.5),
            _ => None,
        });
    }
    report.heading("The same, against the same loop packing its bits as cheaply as can be");
    for race in races.iter().filter(in_cache) {
        rows(report, race, READ_UNROLLED, |_| None);
    }
    let simd = |race: &Race, backend, at_most| {
        let set = race.size >= 64 * MIB && race.k == 6 && race.keys == Keys::Hot;
        (set && is_simd(backend)).then_some(at_most)
    };
    if touch::HAS_HINTS {
        report.heading(
            "Probing beyond L2, against the loop that asks for lines in L1, 32 keys ahead",
        );
        for race in races.iter().filter(beyond) {
            rows(report, race, READ_L1_32, |backend| simd(race, backend, 0.55));
        }
        report
            .heading("Probing beyond L2, against the best touch loop over all hints and distances");
        for race in races.iter().filter(beyond) {
            let best = race.times.best(|name| name.starts_with(READ));
            rows(report, race, best, |backend| simd(race, backend, 1.1));
        }
    }
    report.heading("Probing with `portable`, against `scalar`");
    for Race { what, size, times, keys, .. } in &races {
        report.portable(what, *size, times, *keys == Keys::Hot);
    }
}

/// A row for each backend.
fn rows(report: &Report, race: &Race, with: &str, at_most: impl Fn(Backend) -> Option<f64>) {
    report.backends(&race.what, race.size, &race.times, with, at_most);
}

fn race(plan: Plan, size: usize, k: u32) -> Race {
    let cold = if plan.keys == Keys::Cold { " that stream in" } else { "" };
    let what = format!("probe hashes{cold}, k = {k}");
    eprintln!("{what}, {}", size_name(size));
    let probes = Probes::hashes(size);
    let (hashes, encoded) = (&probes.hashes, full_bytes(size, k, &probes));
    warn_of_small_pages(&encoded);
    let lines = touch::lines(&encoded[..size]);
    let mut rounds = Rounds::new(plan);
    for view in views(&encoded) {
        rounds.probe(view.backend().name(), hashes, move |hashes, answers| {
            view.contains_hashes(hashes, answers)
        });
    }
    for (name, touch) in touch::reads() {
        rounds.probe(name, hashes, move |hashes, answers| touch(lines, hashes, answers));
    }
    Race { what, size, k, keys: plan.keys, times: rounds.run() }
}

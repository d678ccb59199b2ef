//! The concurrent filter on one thread against the plain one, and two threads against one. Filters
//! are built anew each time: inserting a present key costs less.

use crate::common::data::{Probes, full_filter, size_name};
use crate::common::rounds::{Plan, Rounds};
use crate::table::{Report, Row};
use crate::{KIB, MIB};
use bloomline::{Backend, ConcurrentFilter, Filter, Params};
use std::thread;
use std::time::Instant;

const INSERT: &str = "insert hashes, k = 6";

/// Hashes that are inserted in one call.
const AT_ONCE: usize = 1024;

pub(crate) fn tables(report: &Report, plan: Plan, sizes: &[usize]) {
    let Ok(backend) = Backend::active() else { return };
    let sizes: Vec<usize> =
        sizes.iter().copied().filter(|&size| size == 256 * KIB || size >= 64 * MIB).collect();
    report.heading("The concurrent filter on one thread, against the plain one");
    for &size in &sizes {
        probe(report, plan, size, backend);
    }
    let backend = backend.name();
    let builds: Vec<_> = sizes.iter().map(|&size| (size, build(plan, size))).collect();
    for (size, [plain, one, _]) in &builds {
        let (size, ours, with, theirs) = (*size, one, "the plain filter", plain);
        report.row(Row { what: INSERT, size, backend, ours, with, theirs, at_most: Some(3.0) });
    }
    report.heading("The concurrent filter on two threads, against one");
    for (size, [_, one, two]) in &builds {
        let (size, ours, with, theirs) = (*size, two, "one thread", one);
        report.row(Row { what: INSERT, size, backend, ours, with, theirs, at_most: None });
    }
}

fn probe(report: &Report, plan: Plan, size: usize, backend: Backend) {
    eprintln!("probing a concurrent filter, {}", size_name(size));
    let probes = Probes::hashes(size);
    let filter = full_filter(size, 6, &probes, backend);
    let shared = ConcurrentFilter::with_backend(filter.params(), backend).unwrap();
    shared.union(&filter).unwrap();
    let mut rounds = Rounds::new(plan);
    rounds.probe("plain", &probes.hashes, move |hashes, to| filter.contains_hashes(hashes, to));
    rounds.probe("shared", &probes.hashes, |hashes, to| shared.contains_hashes(hashes, to));
    let times = rounds.run();
    let (ours, theirs) = (times.of("shared"), times.of("plain"));
    let (what, backend, with) = ("probe hashes, k = 6", backend.name(), "the plain filter");
    report.row(Row { what, size, backend, ours, with, theirs, at_most: Some(1.3) });
}

/// ns per key to build a plain filter, a concurrent one, and that by two threads; each round's.
fn build(plan: Plan, size: usize) -> [Vec<f64>; 3] {
    eprintln!("building a concurrent filter, {}", size_name(size));
    let params = Params::new((size / 64) as u64, 6, 0).unwrap();
    let keys = size * 8 / 10;
    let hashes: Vec<u64> = (0..keys as u64).map(|key| bloomline::hash::hash_u64(key, 1)).collect();
    // A small filter is built several times, so that there is something to time.
    let times = (32 * MIB / size).clamp(1, 64);
    let mut all = [const { Vec::new() }; 3];
    for _ in 0..plan.rounds.min(7) {
        for (way, all) in all.iter_mut().enumerate() {
            let mut spent = 0.0;
            for _ in 0..times {
                // Memory that has been written once: the system's work is not the filter's.
                let mut plain = Filter::new(params).unwrap();
                plain.insert_hashes(&hashes);
                plain.clear();
                if way == 0 {
                    let start = Instant::now();
                    hashes.chunks(AT_ONCE).for_each(|hashes| plain.insert_hashes(hashes));
                    spent += start.elapsed().as_secs_f64();
                    continue;
                }
                let shared = ConcurrentFilter::from(plain);
                let start = Instant::now();
                thread::scope(|scope| {
                    for part in hashes.chunks(keys.div_ceil(way)) {
                        let shared = &shared;
                        scope.spawn(move || {
                            let mut new = [0; AT_ONCE / 64];
                            for hashes in part.chunks(AT_ONCE) {
                                shared.insert_new_hashes(hashes, &mut new);
                            }
                        });
                    }
                });
                spent += start.elapsed().as_secs_f64();
            }
            all.push(spent / (times * keys) as f64 * 1e9);
        }
    }
    all
}

//! Probing keys of 16 bytes: in cache against hashing them and probing their hashes,
//! beyond it against probing alone, since the hash should hide under the miss.

use crate::common::data::{Probes, full_bytes, size_name, views};
use crate::common::memory::warn_of_small_pages;
use crate::common::rounds::{BATCH, Plan, Rounds, Times, sum};
use crate::common::touch::{hash_and_touch, lines};
use crate::table::{Report, Row};
use crate::{KIB, MIB};
use bloomline::{Backend, hash};
use std::hint::black_box;

pub(crate) fn tables(report: &Report, plan: Plan, sizes: &[usize]) {
    let sizes = sizes.iter().filter(|&&size| size >= 256 * KIB && size != 4 * MIB);
    let races: Vec<(usize, Times)> = sizes.map(|&size| (size, race(plan, size))).collect();

    let row = |size, times: &Times, backend: &str, with: &str, theirs: &[f64], judged: bool| {
        let what = "probe 16-byte keys, k = 6";
        let (ours, at_most) = (times.of(&of_keys(backend)), judged.then_some(1.15));
        report.row(Row { what, size, backend, ours, with, theirs, at_most });
    };
    let backends = || Backend::available().map(Backend::name);

    report.heading("Probing 16-byte keys, against hashing them and then probing the hashes");
    for (size, times) in &races {
        for backend in backends() {
            let theirs = sum(times.of("hash"), times.of(backend));
            let judged = *size == 256 * KIB;
            row(*size, times, backend, "hash alone + probe alone", &theirs, judged);
        }
    }
    let beyond = || races.iter().filter(|(size, _)| *size > 256 * KIB);
    report.heading("Probing 16-byte keys beyond L2, against probing their hashes");
    for (size, times) in beyond() {
        for backend in backends() {
            row(*size, times, backend, "probe alone", times.of(backend), true);
        }
    }
    report.heading("The same against the loop that hashes keys and only touches their lines");
    for (size, times) in beyond() {
        for backend in backends() {
            row(*size, times, backend, LIMIT, times.of(LIMIT), false);
        }
    }
}

/// The loop that nothing which hashes and probes can be faster than.
const LIMIT: &str = "hash and touch, L2 128";

fn of_keys(backend: &str) -> String {
    format!("{backend}, keys")
}

fn race(plan: Plan, size: usize) -> Times {
    eprintln!("probing 16-byte keys, {}", size_name(size));
    let probes = Probes::keys(size);
    let (keys, hashes) = (&probes.keys, &probes.key_hashes);
    let encoded = full_bytes(size, 6, &probes);
    warn_of_small_pages(&encoded);
    let mut rounds = Rounds::new(plan);
    let mut out = [0; BATCH];
    rounds.add("hash", keys, move |keys| {
        hash::hash_batch(keys, 0, &mut out[..keys.len()]);
        black_box(&out)[0] as usize
    });
    let lines = lines(&encoded[..size]);
    rounds.probe(LIMIT, keys, move |keys, answers| hash_and_touch(lines, keys, answers));
    for view in views(&encoded) {
        let name = view.backend().name();
        rounds.probe(name, hashes, move |hashes, answers| view.contains_hashes(hashes, answers));
        rounds.probe(of_keys(name), keys, move |keys, answers| view.contains_keys(keys, answers));
    }
    rounds.run()
}

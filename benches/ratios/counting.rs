//! The counting filter against the plain one: probing, inserting, and removing what was
//! inserted. By the backend in use.

use crate::MIB;
use crate::common::data::{half_of, hashes, keys_for, pool_len, size_name};
use crate::common::rounds::{Plan, Rounds, Times};
use crate::table::{Report, Row};
use bloomline::{Backend, CountingFilter, Filter, Params};

const PLAIN_PROBE: &str = "plain filter, probe";
const PLAIN_INSERT: &str = "plain filter, insert";
const PROBE: &str = "probe hashes";
const INSERT: &str = "insert hashes";
const INSERT_REMOVE: &str = "insert hashes and remove them";
const COUNT: &str = "count hashes";

pub(crate) fn tables(report: &Report, plan: Plan, sizes: &[usize]) {
    let sizes = sizes.iter().filter(|&&size| size <= 64 * MIB);
    let races: Vec<(usize, Times)> = sizes.map(|&size| (size, race(plan, size))).collect();
    report.heading("The counting filter, against the plain one (size: without counters)");
    for (what, with, at_most) in [
        (PROBE, PLAIN_PROBE, Some(1.1)),
        (COUNT, PLAIN_PROBE, None),
        (INSERT, PLAIN_INSERT, None),
        (INSERT_REMOVE, PLAIN_INSERT, None),
    ] {
        for (size, times) in &races {
            let (size, backend) = (*size, Backend::active().unwrap().name());
            let (ours, theirs) = (times.of(what), times.of(with));
            report.row(Row { what, size, backend, ours, with, theirs, at_most });
        }
    }
}

/// Both filters are full, of the same keys, of which half of the probes are.
fn race(plan: Plan, size: usize) -> Times {
    eprintln!("counting filters, {}", size_name(size));
    let params = Params::new((size / 64) as u64, 6, 0).unwrap();
    let (inserted, others) = (hashes(1, keys_for(size)), hashes(2, pool_len(size)));
    let probes = half_of(&inserted, &others);
    let plain = || {
        let mut filter = Filter::new(params).unwrap();
        filter.insert_hashes(&inserted);
        filter
    };
    let counting = || {
        let mut filter = CountingFilter::new(params).unwrap();
        filter.insert_hashes(&inserted);
        filter
    };
    let mut rounds = Rounds::new(plan);
    // Each has memory of its own, so that none finds in the caches what the one before has
    // left there.
    let filter = plain();
    rounds.probe(PLAIN_PROBE, &probes, move |hashes, to| filter.contains_hashes(hashes, to));
    let filter = counting();
    rounds.probe(PROBE, &probes, move |hashes, to| filter.contains_hashes(hashes, to));
    let filter = counting();
    rounds.add(COUNT, &probes, move |hashes| {
        hashes.iter().map(|&hash| filter.count_hash(hash) as usize).sum()
    });
    let mut filter = plain();
    rounds.insert(PLAIN_INSERT, &others, move |hashes| filter.insert_hashes(hashes));
    let mut filter = counting();
    rounds.insert(INSERT, &others, move |hashes| filter.insert_hashes(hashes));
    let mut filter = counting();
    rounds.probe(INSERT_REMOVE, &others, move |hashes, answers| {
        filter.insert_hashes(hashes);
        filter.remove_hashes(hashes, answers)
    });
    rounds.run()
}

//! The growing filter against a plain one that was made for as many keys at the same rate, 1 %:
//! probed in batches and one by one, and built from nothing. By the backend in use.

use crate::MIB;
use crate::common::data::{bitmap, chain, half_of, hashes, pool_len, size_name};
use crate::common::rounds::{BATCH, Plan, Rounds, Times};
use crate::table::{Report, Row};
use bloomline::{Backend, Filter, Params, ScalableFilter};

const RATE: f64 = 0.01;
const PLAIN: &str = "plain filter";

/// How many times the first number of keys: what 4 and 10 stages hold.
const STAGES: [(&str, usize); 2] = [("4 stages", 15), ("10 stages", 1023)];

pub(crate) fn tables(report: &Report, plan: Plan, sizes: &[usize]) {
    let sizes = sizes.iter().filter(|&&size| size <= 64 * MIB);
    let races: Vec<(usize, Times)> = sizes.map(|&size| (size, race(plan, size))).collect();
    report.heading("The growing filter, against a plain one for as many keys (size: of that one)");
    let backend = Backend::active().unwrap().name();
    for what in ["probe hashes", "one hash after the other", "build from hashes"] {
        for (stages, _) in STAGES {
            for (size, times) in &races {
                let of = |filter| times.of(&format!("{filter}, {what}")).to_vec();
                let (ours, theirs) = (of(stages), of(PLAIN));
                let what = &format!("{what}, {stages}");
                let (size, ours, theirs) = (*size, &ours[..], &theirs[..]);
                report.row(Row { what, size, backend, ours, with: PLAIN, theirs, at_most: None });
            }
        }
    }
}

fn race(plan: Plan, size: usize) -> Times {
    eprintln!("growing filters, {}", size_name(size));
    let keys = size * 8 / 10;
    let (inserted, others) = (hashes(1, keys), hashes(2, pool_len(size)));
    let probes = half_of(&inserted, &others);
    let (pairs, _) = probes.as_chunks::<2>();
    let params = Params::for_rate(keys as u64, RATE).unwrap();
    let mut plain = Filter::new(params).unwrap();
    plain.insert_hashes(&inserted);
    let growing: Vec<_> = STAGES.map(|(name, times)| (name, (keys / times) as u64)).into();
    let filters: Vec<_> = growing.iter().map(|&(_, first)| full(first, &inserted)).collect();
    let mut rounds = Rounds::new(plan);
    let filter = &plain;
    rounds.probe(format!("{PLAIN}, probe hashes"), &probes, |hashes, answers| {
        filter.contains_hashes(hashes, answers)
    });
    rounds.add(format!("{PLAIN}, one hash after the other"), pairs, move |pairs| {
        chain(pairs, |hash| usize::from(filter.contains_hash(hash)))
    });
    let mut built = Filter::new(params).unwrap();
    rounds.insert(format!("{PLAIN}, build from hashes"), &inserted, move |hashes| {
        if built.key_count() as usize + hashes.len() > keys {
            built = Filter::new(params).unwrap();
        }
        built.insert_hashes(hashes);
    });
    for ((name, first), filter) in growing.into_iter().zip(&filters) {
        rounds.probe(format!("{name}, probe hashes"), &probes, move |hashes, answers| {
            filter.contains_hashes(hashes, answers)
        });
        rounds.add(format!("{name}, one hash after the other"), pairs, move |pairs| {
            chain(pairs, |hash| usize::from(filter.contains_hash(hash)))
        });
        let (mut built, mut new, mut given) = (full(first, &[]), bitmap(), 0);
        rounds.add(format!("{name}, build from hashes"), &inserted, move |hashes| {
            given += hashes.len();
            if given > keys {
                (built, given) = (full(first, &[]), hashes.len());
            }
            built.insert_new_hashes(hashes, &mut new[..BATCH / 64]).unwrap()
        });
    }
    rounds.run()
}

fn full(first_keys: u64, hashes: &[u64]) -> ScalableFilter {
    let mut filter = ScalableFilter::new(first_keys, RATE, 0).unwrap();
    for hashes in hashes.chunks(BATCH) {
        filter.insert_new_hashes(hashes, &mut [0; BATCH / 64]).unwrap();
    }
    filter
}

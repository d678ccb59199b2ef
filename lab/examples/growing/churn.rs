//! What is left after many rounds in which keys come and go, at constant size.

use super::counted::{bits, lines};
use super::{PROBES, growing, hashes, line, mix, time, unbounded};
use bloomline::GrowingFilter;
use std::hint::black_box;

const ROUNDS: u64 = 100;
/// Rounds of which the median is printed, at the start and in the end.
const FIRST: usize = 10;

/// In each round a twentieth of the keys is removed, and as many others are inserted.
pub(super) fn churn(keys: u64) {
    println!(
        "{keys} keys, a twentieth of them replaced in each of {ROUNDS} rounds; lines of absent and present keys"
    );
    line(
        "",
        [
            "one absent",
            "present",
            "remove",
            "insert",
            "bits",
            "lines",
            "lines",
            "regions",
            "beside",
        ],
    );
    rounds("growing", growing(keys), keys);
    rounds("unbounded from 1/1000", unbounded(keys), keys);
}

fn rounds(name: &str, mut filter: GrowingFilter, keys: u64) {
    let (mut all, absent) = (hashes(1, keys), hashes(200, PROBES as u64));
    filter.insert_hashes(&all).unwrap();
    let mut times = [const { Vec::new() }; 4];
    for round in 0..ROUNDS {
        // Neighbours in an order by chance.
        let start = mix(round) as usize % all.len();
        all.rotate_left(start);
        let part = all.len() / 20;
        let fresh = hashes(2 + round, part as u64);
        let probe = |hashes: &[u64]| {
            time(hashes.len(), || hashes.iter().filter(|&&hash| filter.contains_hash(hash)).count())
        };
        times[0].push(probe(&absent));
        times[1].push(probe(&all[..all.len().min(PROBES)]));
        times[2].push(time(part, || {
            all[..part].iter().for_each(|&hash| filter.remove_hash(hash).unwrap());
        }));
        times[3].push(time(part, || {
            for &hash in &fresh {
                black_box(filter.insert_hash(hash)).unwrap();
            }
        }));
        all[..part].copy_from_slice(&fresh);
        for (when, last) in [("first", FIRST), ("last", ROUNDS as usize)] {
            if times[0].len() == last {
                let [absent_time, present, remove, insert] = times
                    .each_ref()
                    .map(|times| format!("{:.1}", super::median(&times[last - FIRST..])));
                let counted = [bits(&filter), lines(&filter, &absent), lines(&filter, &all)];
                let [bits, of_absent, of_present] = counted.map(|figure| format!("{figure:.3}"));
                let (regions, beside) =
                    (filter.regions().to_string(), filter.beside().1.to_string());
                line(
                    &format!("{name}, {when} {FIRST}"),
                    [
                        absent_time,
                        present,
                        remove,
                        insert,
                        bits,
                        of_absent,
                        of_present,
                        regions,
                        beside,
                    ],
                );
            }
        }
    }
}

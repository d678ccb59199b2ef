//! Calls with a few keys, of every kind of this library, in two rows: beside a loop of single probes that
//! leaves the same bitmap, and beside one that leaves none. Hashes are given, half of the keys are present.
//! Ratios are taken round by round, in CPU time, and the median is shown. Behind them is the largest of 2 to
//! 16 keys; then, in nanoseconds, a single probe that leaves no bitmap.

use crate::common::data::mix;
use crate::common::rounds::{median, processor_time, ratio};
use crate::contender::{Contender, Size};
use crate::ours;
use bloomline::Backend;
use std::hint::black_box;
use std::ops::RangeInclusive;

const COUNTS: [usize; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
/// Of which the largest ratio is shown: a few keys, more than one.
const FEW: RangeInclusive<usize> = 2..=16;
const ROUNDS: usize = 15;
/// More than a branch predictor learns.
const PROBES: usize = 1 << 18;

/// Arguments: numbers of keys, false-positive rates, parts of names of kinds.
pub(crate) fn run(arguments: &[String]) {
    let numbers = || arguments.iter().filter_map(|argument| argument.parse::<f64>().ok());
    let or = |given: Vec<f64>, others: &[f64]| if given.is_empty() { others.into() } else { given };
    let keys: Vec<f64> = or(numbers().filter(|&n| n >= 1.0).collect(), &[170_000.0, 44_000_000.0]);
    // Of a cuckoo filter 8, 12 and 16 bits, of a static one 6, 8 and 13 rows.
    let rates: Vec<f64> = or(numbers().filter(|&n| n < 1.0).collect(), &[0.03, 0.0039, 0.0002]);
    let mut names = arguments.iter().filter(|argument| argument.parse::<f64>().is_err()).peekable();
    let all = names.peek().is_none();
    let names: Vec<&String> = names.collect();
    println!("backend: {}", Backend::active().unwrap().name());
    for keys in keys {
        let inserted: Vec<u64> = (0..keys as u64).map(mix).collect();
        let probe = |i: u64| match mix(!i) {
            odd if odd % 2 == 1 => mix(odd),
            even => inserted[(even >> 1) as usize % inserted.len()],
        };
        let probes: Vec<u64> = (0..PROBES as u64).map(probe).collect();
        print!("\n{keys} keys\n{:34}", "keys in a call");
        COUNTS.iter().for_each(|count| print!("{count:6}"));
        println!("{:>9}{:>9}", "2 to 16", "ns");
        for kind in ours::kinds() {
            if !all && !names.iter().any(|name| kind.name.contains(&***name)) {
                continue;
            }
            for &rate in &rates {
                let Some(mut filter) = (kind.build)(keys as u64, Size::Rate(rate)) else {
                    continue;
                };
                filter.insert(&inserted);
                filter.filled();
                if filter.batches(&probes[..1], 1).is_some() {
                    print!("{:34}", format!("{}, {rate}", kind.name));
                    row(&*filter, &probes);
                }
            }
        }
    }
}

/// Times a filter and prints its row.
fn row(filter: &dyn Contender, probes: &[u64]) {
    let time = |work: &dyn Fn(&[u64]) -> usize| {
        // What the cache has room for is in it.
        black_box(work(black_box(&probes[..PROBES / 4])));
        let start = processor_time();
        black_box(work(black_box(probes)));
        (processor_time() - start).as_nanos() as f64 / PROBES as f64
    };
    let (mut single, mut loops, mut calls) =
        (Vec::new(), COUNTS.map(|_| Vec::new()), COUNTS.map(|_| Vec::new()));
    for _ in 0..ROUNDS {
        single.push(time(&|hashes| filter.singles(hashes)));
        for (i, count) in COUNTS.into_iter().enumerate() {
            loops[i].push(time(&|hashes| filter.looped(hashes, count)));
            calls[i].push(time(&|hashes| filter.batches(hashes, count).expect("it has batches")));
        }
    }
    let against = |others: [&Vec<f64>; COUNTS.len()]| {
        let (all, mut most) = (COUNTS.into_iter().zip(&calls).zip(others), 0.0_f64);
        for ((count, calls), others) in all {
            let ratio = ratio(calls, others).median;
            print!("{ratio:6.2}");
            if FEW.contains(&count) {
                most = most.max(ratio);
            }
        }
        print!("{most:9.2}");
    };
    against(loops.each_ref());
    print!("{:9.2}\n{:34}", median(&single), "    against a single probe");
    against([&single; COUNTS.len()]);
    println!();
}

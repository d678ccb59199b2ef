//! Calls with a few keys, of every kind, beside a loop of single probes that leaves the same bitmap. Hashes are
//! given, half of the keys are present. Ratios are taken round by round, in CPU time, and the median is shown;
//! the last column is a single probe that leaves no bitmap, in nanoseconds.
//!
//! ```text
//! cargo run --release --manifest-path lab/Cargo.toml --example few [KEYS...] [KIND...]
//! ```

#[path = "../../benches/common/mod.rs"]
#[allow(unused_imports)]
mod common;

use bloomline::{
    Backend, Cascade, ConcurrentFilter, CountingFilter, CuckooFilter, CuckooParams, Filter, Params,
    Probe, ScalableFilter, StaticFilter, StaticParams, Window,
};
use common::data::mix;
use common::rounds::{median, processor_time, ratio};
use std::hint::black_box;

const COUNTS: [usize; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
const ROUNDS: usize = 15;
/// More than a branch predictor learns.
const PROBES: usize = 1 << 18;
const GENERATIONS: u64 = 4;

fn main() {
    let (keys, kinds): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.parse::<u64>().is_ok());
    let keys = if keys.is_empty() { vec!["170000".into(), "44000000".into()] } else { keys };
    println!("backend: {}", Backend::active().unwrap().name());
    for keys in keys {
        of_keys(keys.parse().unwrap(), &kinds);
    }
}

fn of_keys(keys: u64, kinds: &[String]) {
    let inserted: Vec<u64> = (0..keys).map(mix).collect();
    let probe = |i: u64| match mix(!i) {
        odd if odd % 2 == 1 => mix(odd),
        even => inserted[(even >> 1) as usize % inserted.len()],
    };
    let probes: Vec<u64> = (0..PROBES as u64).map(probe).collect();
    print!("\n{keys} keys\n{:22}", "keys in a call");
    COUNTS.iter().for_each(|count| print!("{count:6}"));
    println!("{:>9}", "ns");
    let wanted = |kind: &str| {
        let any = kinds.is_empty() || kinds.iter().any(|wanted| kind.contains(wanted));
        if any {
            print!("{kind:22}");
        }
        any
    };
    let params = Params::for_rate(keys, 0.0039).unwrap();
    if wanted("Filter") {
        let mut filter = Filter::new(params).unwrap();
        filter.insert_hashes(&inserted);
        row(&filter, &probes);
    }
    if wanted("Filter, classic") {
        let mut filter = Filter::new(Params::classic_for_rate(keys, 0.0039).unwrap()).unwrap();
        filter.insert_hashes(&inserted);
        row(&filter, &probes);
    }
    if wanted("CountingFilter") {
        let mut filter = CountingFilter::new(params).unwrap();
        filter.insert_hashes(&inserted);
        row(&filter, &probes);
    }
    if wanted("ConcurrentFilter") {
        let filter = ConcurrentFilter::new(params).unwrap();
        filter.insert_hashes(&inserted);
        row(&filter, &probes);
    }
    for (bits, rate) in [(8, 0.03), (12, 0.002), (16, 0.0002)] {
        if wanted(&format!("CuckooFilter, {bits} bits")) {
            let mut filter =
                CuckooFilter::new(CuckooParams::for_rate(keys, rate).unwrap()).unwrap();
            filter.insert_hashes(&inserted).unwrap();
            row(&filter, &probes);
        }
    }
    for rows in [4, 7, 8, 9, 10, 16] {
        if wanted(&format!("StaticFilter, {rows} rows")) {
            let params = StaticParams::for_rows(keys, rows).unwrap();
            row(&StaticFilter::build(params, &inserted, 0).unwrap(), &probes);
        }
    }
    if wanted("ScalableFilter") {
        let mut filter = ScalableFilter::new(keys / 8, 0.0039, 0).unwrap();
        filter.insert_hashes(&inserted).unwrap();
        row(&filter, &probes);
    }
    if wanted("Window") {
        let each = keys / GENERATIONS;
        let mut window = Window::new(GENERATIONS as u32, each, 0.0039, 0).unwrap();
        for (slice, hashes) in inserted.chunks(each as usize).enumerate() {
            window.advance_to(slice as u64);
            window.insert_hashes(hashes);
        }
        row(&window, &probes);
    }
    if wanted("Cascade") {
        let (included, excluded) = inserted.split_at(inserted.len() / 2);
        row(&Cascade::build(included, excluded, 0, 0).unwrap(), &probes);
    }
}

/// Times a kind and prints its row.
fn row(filter: &impl Probe, probes: &[u64]) {
    let contains = |hash: u64| u64::from(filter.contains_hash(hash));
    let alone = |hashes: &[u64]| hashes.iter().map(|&hash| contains(hash)).sum::<u64>() as usize;
    let singly = |some: &[u64]| -> usize {
        let mut word = 0;
        for (i, &hash) in some.iter().enumerate() {
            word |= contains(hash) << i;
        }
        black_box(word).count_ones() as usize
    };
    let together = |some: &[u64]| -> usize {
        let mut word = [0];
        filter.contains_hashes(some, &mut word) + black_box(word)[0] as usize % 2
    };
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
        single.push(time(&alone));
        for (i, count) in COUNTS.into_iter().enumerate() {
            loops[i].push(time(&|hashes| in_chunks(count, hashes, singly)));
            calls[i].push(time(&|hashes| in_chunks(count, hashes, together)));
        }
    }
    for (calls, loops) in calls.iter().zip(&loops) {
        print!("{:6.2}", ratio(calls, loops).median);
    }
    println!("{:9.2}", median(&single));
}

fn in_chunks(count: usize, hashes: &[u64], each: impl Fn(&[u64]) -> usize) -> usize {
    hashes.chunks(count).map(|some| each(black_box(some))).sum()
}

//! `cargo bench --bench billion [-- KEYS [ABSENT]]`: a filter of a thousand million
//! keys at 1 %. Inserts the integers from 0 on, hashed, and probes them all; then as
//! many that are not in. Panics at a false negative; prints bytes, times, and the
//! false-positive rate beside the one that the model predicts. Takes 1.25 GB.

mod common;

use bloomline::{Filter, Params, hash};
use common::memory::huge_part;
use common::rounds::{BATCH, processor_time};
use std::ops::Range;
use std::time::{Duration, Instant};

const RATE: f64 = 0.01;

fn main() {
    let Some(arguments) = common::arguments() else { return };
    let numbers: Vec<u64> = arguments.iter().map_while(|text| text.parse().ok()).collect();
    let (keys, absent) = match numbers[..] {
        [] if arguments.is_empty() => (1_000_000_000, 1_000_000_000),
        [keys] if arguments.len() == 1 && keys > 0 => (keys, keys),
        [keys, absent] if arguments.len() == 2 && keys > 0 && absent > 0 => (keys, absent),
        _ => {
            eprintln!("usage: cargo bench --bench billion [-- KEYS [ABSENT]]");
            std::process::exit(2);
        }
    };
    println!("{}", common::machine::describe());
    let start = Instant::now();
    let params = Params::for_rate(keys, RATE).expect("the rate is one");
    let mut filter = Filter::new(params).expect("there is memory for the filter");
    println!(
        "{keys} keys at {} %: {} bytes, {:.3} bits per key, k = {}, backend {}",
        100.0 * RATE,
        params.bytes(),
        params.bytes() as f64 * 8.0 / keys as f64,
        params.k(),
        filter.backend().name()
    );

    let mut build = Times::default();
    each_batch("inserting", 0..keys, &mut build, |hashes| filter.insert_hashes(hashes));
    println!("build: {}", build.per_key(keys));
    if let Some(part) = huge_part(filter.lines()) {
        println!("in huge pages: {:.0} %", 100.0 * part);
    }

    let mut probe = Times::default();
    let mut present = 0;
    let mut bitmap = [0; BATCH / 64];
    each_batch("probing those that are in", 0..keys, &mut probe, |hashes| {
        present += filter.contains_hashes(hashes, &mut bitmap) as u64;
    });
    println!("probe, present: {}", probe.per_key(keys));
    assert_eq!(present, keys, "there are {} false negatives", keys - present);
    println!("false negatives: 0 of {keys}");

    let mut probe = Times::default();
    let mut positives = 0;
    each_batch("probing those that are not", keys..keys + absent, &mut probe, |hashes| {
        positives += filter.contains_hashes(hashes, &mut bitmap) as u64;
    });
    println!("probe, absent: {}", probe.per_key(absent));
    let (measured, model) = (positives as f64 / absent as f64, params.rate(keys));
    // One standard deviation of what chance does to the count.
    let chance = (model * (1.0 - model) / absent as f64).sqrt() / model;
    println!(
        "false positives: {positives} of {absent} = {:.5} %; the model says {:.5} %: {:+.3} % of it \
         (chance alone: {:.3} %)",
        100.0 * measured,
        100.0 * model,
        100.0 * (measured / model - 1.0),
        100.0 * chance
    );
    println!(
        "in all: {:.1} s; load average at the end: {}",
        start.elapsed().as_secs_f64(),
        common::machine::load()
    );
}

/// What hashing and the filter's own work took.
#[derive(Default)]
struct Times {
    hashing: Duration,
    filter: Duration,
}

impl Times {
    fn per_key(&self, keys: u64) -> String {
        let ns = |time: Duration| time.as_nanos() as f64 / keys as f64;
        format!(
            "{:.2} ns per key, and {:.2} ns to hash it: {:.1} s",
            ns(self.filter),
            ns(self.hashing),
            (self.filter + self.hashing).as_secs_f64()
        )
    }
}

/// Hashes the integers of the range, and hands on the hashes batch by batch.
fn each_batch(what: &str, range: Range<u64>, times: &mut Times, mut work: impl FnMut(&[u64])) {
    let (mut keys, mut hashes) = (vec![0; BATCH], vec![0; BATCH]);
    let (mut from, mut shown) = (range.start, 0);
    while from < range.end {
        let some = BATCH.min((range.end - from) as usize);
        for (key, number) in keys[..some].iter_mut().zip(from..) {
            *key = number;
        }
        let start = processor_time();
        hash::hash_u64_batch(&keys[..some], 0, &mut hashes[..some]);
        let hashed = processor_time();
        work(&hashes[..some]);
        times.hashing += hashed - start;
        times.filter += processor_time() - hashed;
        from += some as u64;
        let done = (from - range.start) * 10 / (range.end - range.start);
        if done > shown {
            shown = done;
            eprint!("\r{what}: {done}0 %");
        }
    }
    eprintln!();
}

//! `cargo bench --bench cuckoo [-- MIB...]`: cuckoo filters against the plain filter of as many
//! bytes, as Markdown. Probes are timed in turn, half of the keys present, filters at a load of
//! 95 %; inserts from the first key to that load, once, with as many into the plain filter.

mod common;

use bloomline::{Backend, CuckooFilter, CuckooParams, Filter, Params, View};
use common::data::{mix, pool_len, size_name};
use common::memory::{Array, Memory};
use common::rounds::{Keys, Plan, Rounds, median, processor_time, ratio};
use std::time::Duration;

/// Keys that are inserted in one call.
const SOME: usize = 1 << 16;

/// Present key `i`; from `1 << 40` on, absent keys.
fn key(i: u64) -> u64 {
    mix(mix(i) ^ i)
}

fn main() {
    let Some(arguments) = common::arguments() else { return };
    let sizes: Vec<usize> = match arguments.iter().map(|text| text.parse::<f64>()).collect() {
        Ok(sizes) if !arguments.is_empty() => sizes,
        _ => vec![0.25, 64.0, 512.0],
    }
    .into_iter()
    .map(|mib| (mib * f64::from(1 << 20)) as usize)
    .collect();
    println!("{}\n", common::machine::describe());
    println!("| size | filter | false positives | insert ns | to plain | probe ns | to plain |");
    println!("|---|---|---|---|---|---|---|");
    for size in sizes {
        table(size);
    }
    println!("\nLoad average at the end: {}.", common::machine::load());
}

/// Nanoseconds per key of inserting so many.
fn timed(keys: u64, mut insert: impl FnMut(&[u64])) -> f64 {
    let mut total = Duration::ZERO;
    let mut some = Vec::with_capacity(SOME);
    for from in (0..keys).step_by(SOME) {
        some.clear();
        some.extend((from..keys.min(from + SOME as u64)).map(key));
        let start = processor_time();
        insert(&some);
        total += processor_time() - start;
    }
    total.as_nanos() as f64 / keys as f64
}

fn table(size: usize) {
    let lines = (size / 64) as u64;
    let absent = Array::from_fn(1 << 22, |i| key(1 << 41 | i as u64));
    for bits in [8, 12, 16] {
        let params = CuckooParams::new(lines, bits, 0).unwrap();
        let keys = (params.slots() as f64 * 0.95) as u64;
        eprintln!("{} with {bits} bits", size_name(size));
        let mut cuckoo = CuckooFilter::new(params).unwrap();
        // The memory is touched before the time begins.
        cuckoo.insert_hashes(&absent[..SOME.min(keys as usize)]).expect("there is room");
        cuckoo.clear();
        let insert = timed(keys, |some| cuckoo.insert_hashes(some).expect("there is room"));
        let mut plain = Filter::new(Params::new(lines, 6, 0).unwrap()).unwrap();
        plain.insert_hashes(&absent);
        plain.clear();
        let plain_insert = timed(keys, |some| plain.insert_hashes(some));
        let bytes = [cuckoo.to_bytes().unwrap(), plain.to_bytes().unwrap()].map(|bytes| {
            let mut memory = Memory::new(bytes.len());
            memory.copy_from_slice(&bytes);
            memory
        });
        drop((cuckoo, plain));

        let probes = Array::from_fn(pool_len(size), |i| match mix(i as u64 ^ 0x5555) {
            random if random & 1 == 1 => key(mix(random) % keys),
            _ => key(1 << 40 | i as u64),
        });
        let plan = Plan { rounds: 9, turn: Duration::from_millis(4), keys: Keys::Hot };
        let mut rounds = Rounds::new(plan);
        for backend in Backend::available() {
            for (what, bytes) in ["cuckoo", "plain"].iter().zip(&bytes) {
                let view = View::open_with_backend(bytes, backend).unwrap();
                rounds.probe(format!("{what} {}", backend.name()), &probes, move |hashes, to| {
                    view.contains_hashes(hashes, to)
                });
            }
        }
        let times = rounds.run();
        let view = View::open(&bytes[0]).unwrap();
        let mut bitmap = vec![0; absent.len() / 64];
        let rate = view.contains_hashes(&absent, &mut bitmap) as f64 / absent.len() as f64;
        for backend in Backend::available() {
            let name = backend.name();
            let ours = times.of(&format!("cuckoo {name}"));
            let ratio = ratio(ours, times.of(&format!("plain {name}")));
            println!(
                "| {} | {bits} bits, {name} | {:.4} % | {insert:.1} | {:.2} | {:.2} | {:.2} [{:.2}, {:.2}] |",
                size_name(size),
                100.0 * rate,
                insert / plain_insert,
                median(ours),
                ratio.median,
                ratio.low,
                ratio.high
            );
        }
    }
}

//! `cargo run --release --manifest-path benches/peers/Cargo.toml [KEYS...]`: other
//! filters published for Rust beside this one, as Markdown. All get the same hashes,
//! or keys that are as good as hashes where they insist on hashing themselves, and
//! 10 bits per key where the size can be chosen. Half of the probes are present.
//!
//! Only what is measured counts: the bits that a filter really takes, the rate of
//! false positives that it really has. With `GLIBC_TUNABLES=glibc.malloc.hugetlb=1`
//! all of them get huge pages, as this one does by itself.

#[path = "../../common/mod.rs"]
mod common;
mod filters;

use common::data::{hashes, mix};
use common::memory::Array;
use common::rounds::{Keys, Plan, Rounds, median, processor_time};
use filters::{Built, ROWS};
use std::hint::black_box;
use std::time::Duration;

const BUILDS: usize = 3;
/// Probes for the rate of false positives.
const ABSENT: usize = 10_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let keys: Result<Vec<usize>, _> = arguments.iter().map(|text| text.parse()).collect();
    let keys = match keys {
        Ok(keys) if keys.is_empty() => vec![1_000_000, 50_000_000],
        Ok(keys) if keys.iter().all(|&keys| keys >= 1000) => keys,
        _ => {
            eprintln!("usage: bloomline-peers [KEYS...], of 1000 and more each");
            std::process::exit(2);
        }
    };
    println!("{}", common::machine::describe());
    if std::env::var("GLIBC_TUNABLES").is_ok_and(|set| set.contains("malloc.hugetlb=1")) {
        println!("All memory in huge pages where the system grants them.");
    } else {
        println!(
            "Only bloomline asks for huge pages; GLIBC_TUNABLES=glibc.malloc.hugetlb=1 would for all."
        );
    }
    for keys in keys {
        table(keys);
    }
    println!("\nLoad average at the end: {}.", common::machine::load());
}

fn table(count: usize) {
    eprintln!("{count} keys");
    let keys = hashes(0, count);
    let absent = hashes(1, ABSENT);
    let mut build_ns = vec![Vec::new(); ROWS.len()];
    let mut built: Vec<Box<dyn Built>> = Vec::new();
    for round in 0..BUILDS {
        built.clear();
        for (row, ns) in ROWS.iter().zip(&mut build_ns) {
            eprintln!("build {} of {BUILDS}, {}", round + 1, row.name);
            let start = processor_time();
            let filter = (row.build)(black_box(&keys));
            ns.push((processor_time() - start).as_nanos() as f64 / count as f64);
            built.push(filter);
        }
    }

    // Half of them present, in no order.
    let probes = Array::from_fn((4 * count).min(1 << 22), |i| match mix(i as u64) {
        random if random & 1 == 0 => keys[(mix(random) % count as u64) as usize],
        random => absent[(mix(random) % ABSENT as u64) as usize],
    });
    let plan = Plan { rounds: 9, turn: Duration::from_millis(5), keys: Keys::Hot };
    let mut rounds = Rounds::new(plan);
    for (row, filter) in ROWS.iter().zip(&built) {
        rounds.add(row.name, &probes, |hashes| filter.probe(hashes));
    }
    eprintln!("probing");
    let times = rounds.run();

    println!("\n### {count} keys\n");
    println!(
        "| | bits per key | false positives | build ns | probe ns | to one at a time | to batches |"
    );
    println!("|---|---|---|---|---|---|---|");
    let of = |name| median(times.of(name));
    let (one, batch) = (of(filters::ONE_BY_ONE), of(filters::BATCHES));
    for ((row, filter), build) in ROWS.iter().zip(&built).zip(&build_ns) {
        let some = &keys[..count.min(1_000_000)];
        assert_eq!(filter.probe(some), some.len(), "{} has false negatives", row.name);
        let positives = filter.probe(&absent) as f64 / ABSENT as f64;
        let (bits, probe) = (filter.bytes() as f64 * 8.0 / count as f64, of(row.name));
        println!(
            "| {} | {bits:.2} | {:.3} % | {:.1} | {probe:.2} | {:.2} | {:.2} |",
            row.name,
            100.0 * positives,
            median(build),
            probe / one,
            probe / batch
        );
    }
}

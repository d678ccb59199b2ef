//! Static filters beside the plain filter of the same rate and beside xorf's `BinaryFuse8`: bits per
//! key, bumped keys, time to build and to probe. Medians of interleaved rounds, with ratios.
//!
//! ```text
//! cargo run --release --manifest-path lab/Cargo.toml --example static_line [KEYS...]
//! ```

use bloomline::{Backend, Bitmap, Filter, Params, StaticFilter, StaticParams, sizing};
use std::hint::black_box;
use std::time::Instant;
use xorf::Filter as _;

const ROUNDS: usize = 7;
/// Probes of a round, in batches of this size.
const PROBES: usize = 1 << 20;
const BATCH: usize = 1 << 13;

fn main() {
    let keys: Vec<usize> = std::env::args().skip(1).filter_map(|keys| keys.parse().ok()).collect();
    let keys = if keys.is_empty() { vec![500_000, 1_000_000, 50_000_000] } else { keys };
    println!("backend: {}", Backend::active().unwrap().name());
    sizes();
    for keys in keys {
        compare(keys, 8);
        compare(keys, 7);
    }
}

/// Bits per key of a million keys for each number of rows.
fn sizes() {
    const KEYS: usize = 1_000_000;
    let hashes = hashes(KEYS, 1);
    println!("rows  bits per key  over the bound  bumped (model)");
    for rows in 4..=16 {
        let params = StaticParams::for_rows(KEYS as u64, rows).unwrap();
        let filter = StaticFilter::build(params, &hashes, 0).unwrap();
        let bits = 8.0 * filter.lines().len() as f64 / KEYS as f64;
        let bumped = sizing::static_line::bumped(rows, sizing::static_line::keys_per_line(rows));
        let over = (bits / f64::from(rows) - 1.0) * 100.0;
        println!("{rows:4}  {bits:12.3}  {over:12.2} %  {:6.2} %", bumped * 100.0);
    }
}

fn compare(keys: usize, rows: u32) {
    let inserted = hashes(keys, 2);
    let absent = hashes(PROBES, 3);
    let params = StaticParams::for_rows(keys as u64, rows).unwrap();
    let plain = Params::for_rate(keys as u64, params.rate()).unwrap();
    let mut bloom = Filter::new(plain).unwrap();
    bloom.insert_hashes(&inserted);
    let filter = StaticFilter::build(params, &inserted, 1).unwrap();
    let fuse = xorf::BinaryFuse8::try_from(&inserted).unwrap();
    let mut answers = Bitmap::new();
    let mut times: [Vec<f64>; 8] = Default::default();
    for _ in 0..ROUNDS {
        times[0].push(of_probes(&absent, |batch| {
            bloom.contains_hashes(batch, &mut answers);
        }));
        times[1].push(of_probes(&absent, |batch| {
            filter.contains_hashes(batch, &mut answers);
        }));
        times[2].push(of_probes(&absent, |batch| {
            black_box(batch.iter().filter(|&hash| fuse.contains(hash)).count());
        }));
        // Each probe waits for the answer of the one before.
        let alone = &absent[..PROBES / 8];
        times[3].push(of_chain(alone, |hash| bloom.contains_hash(hash)));
        times[4].push(of_chain(alone, |hash| filter.contains_hash(hash)));
        times[5].push(of_build(keys, || {
            let mut bloom = Filter::new(plain).unwrap();
            bloom.insert_hashes(&inserted);
            black_box(&bloom);
        }));
        times[6].push(of_build(keys, || {
            black_box(StaticFilter::build(params, &inserted, 1).unwrap());
        }));
        times[7].push(of_build(keys, || {
            black_box(xorf::BinaryFuse8::try_from(&inserted).unwrap());
        }));
    }
    let [bloom_ns, ours, fuse_ns, bloom_alone, alone, bloom_build, build, fuse_build] =
        times.map(median);
    let mib = |bytes: usize| bytes as f64 / (1 << 20) as f64;
    println!("\n{keys} keys, {rows} rows, ns per key");
    println!(
        "  MiB:    static {:.1}, bloom {:.1}, fuse8 {:.1}",
        mib(filter.lines().len()),
        mib(bloom.lines().len()),
        mib(fuse.fingerprints.len())
    );
    println!("  batch:  static {ours:.2}, bloom {bloom_ns:.2}, fuse8 {fuse_ns:.2}");
    println!("          {:.2} x bloom, fuse8 / static {:.2}", ours / bloom_ns, fuse_ns / ours);
    println!(
        "  alone:  static {alone:.2}, bloom {bloom_alone:.2}: {:.2} x bloom",
        alone / bloom_alone
    );
    println!("  build:  static {build:.1}, bloom {bloom_build:.1}, fuse8 {fuse_build:.1}");
    println!("          static / fuse8 {:.2}", build / fuse_build);
}

fn of_probes(hashes: &[u64], mut probe: impl FnMut(&[u64])) -> f64 {
    let start = Instant::now();
    hashes.chunks(BATCH).for_each(&mut probe);
    start.elapsed().as_nanos() as f64 / hashes.len() as f64
}

fn of_chain(hashes: &[u64], contains: impl Fn(u64) -> bool) -> f64 {
    let start = Instant::now();
    let mut last = 0;
    for &hash in hashes {
        last = u64::from(contains(hash.wrapping_add(last)));
    }
    black_box(last);
    start.elapsed().as_nanos() as f64 / hashes.len() as f64
}

fn of_build(keys: usize, build: impl FnOnce()) -> f64 {
    let start = Instant::now();
    build();
    start.elapsed().as_nanos() as f64 / keys as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Uniform hashes, different for each seed.
fn hashes(count: usize, seed: u64) -> Vec<u64> {
    (0..count as u64).map(|i| bloomline::hash::hash_u64(i, seed)).collect()
}

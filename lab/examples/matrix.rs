//! One key in many filters: a matrix beside a group of the same filters and a loop over them, in
//! nanoseconds per key; batches; the time to make a matrix of filters. Hashes are given; most keys are
//! absent. Medians of rounds in turn, in CPU time.
//!
//! ```text
//! cargo run --release --manifest-path lab/Cargo.toml --example matrix
//! ```

#[path = "../../benches/common/mod.rs"]
#[allow(unused_imports)]
mod common;

use bloomline::{Backend, Filter, Group, Matrix, Params, View};
use common::data::mix;
use common::rounds::{median, processor_time};
use std::hint::black_box;

const ROUNDS: usize = 11;
/// Their rows are more than the caches hold.
const PROBES: usize = 1 << 16;
/// How many of them ask one filter after the other.
const FEWER: usize = PROBES / 256;
/// Distinct filters: those of the columns are these in turn.
const DISTINCT: usize = 16;

/// What is measured: a name, and what asks all hashes.
type Work<'a> = (&'a str, Box<dyn FnMut() -> usize + 'a>);

fn main() {
    println!("backend: {}", Backend::active().unwrap().name());
    for (columns, kib) in [
        (64, 12),
        (64, 1024),
        (512, 12),
        (512, 187),
        (512, 1024),
        (1000, 64),
        (4096, 12),
        (4096, 128),
    ] {
        compare(columns, kib);
    }
}

fn compare(columns: usize, kib: usize) {
    let params = Params::new(kib as u64 * 16, 6, 0).unwrap();
    let keys = params.bytes() as u64 * 8 / 10;
    let filters: Vec<Filter> = (0..DISTINCT as u64)
        .map(|number| {
            let mut filter = Filter::new(params).unwrap();
            let hashes: Vec<u64> = (0..keys).map(|key| mix(key << 8 | number)).collect();
            filter.insert_hashes(&hashes);
            filter
        })
        .collect();
    let mut all = Vec::new();
    for column in 0..columns {
        all.push(filters[column % DISTINCT].try_clone().unwrap());
    }
    let mut matrix = Matrix::new(params, columns).unwrap();
    // Once before, for the pages.
    let mut set = || {
        let start = processor_time();
        matrix.set_columns(0, all.iter().map(Filter::view), 1).unwrap();
        (processor_time() - start).as_secs_f64()
    };
    let times: Vec<f64> = (0..5).map(|_| set()).collect();
    let bytes = (columns * params.bytes()) as f64;
    println!(
        "{columns} filters of {kib} KiB: made of filters at {:.2} GB/s",
        bytes / median(&times) / 1e9
    );
    let views: Vec<View<'_>> = all.iter().map(Filter::view).collect();
    let group = Group::new(views.iter().copied()).unwrap();
    let hashes: Vec<u64> = (0..PROBES as u64).map(|key| mix(!key)).collect();
    let words = matrix.words();
    let among = vec![0x5555_5555_5555_5555_u64; words];
    let mut rows = vec![0_u64; 1000 * words];
    let mut pairs = Vec::new();
    let groups = matrix.groups();
    let row_bytes = 8 * words;
    let mut answers = vec![0_u64; words];
    let works: Vec<Work<'_>> = vec![
        ("matrix", {
            let mut answers = answers.clone();
            let (matrix, hashes) = (&matrix, &hashes);
            Box::new(move || {
                hashes.iter().map(|&hash| matrix.contains_hash(hash, &mut answers)).sum()
            })
        }),
        ("waiting", {
            let mut answers = answers.clone();
            let (matrix, hashes) = (&matrix, &hashes);
            Box::new(move || {
                hashes.iter().fold(0, |last, &hash| {
                    // An address that waits for the answer.
                    matrix.contains_hash(hash ^ (last as u64 >> 40), &mut answers)
                })
            })
        }),
        ("among half", {
            let mut answers = answers.clone();
            let (matrix, hashes, among) = (&matrix, &hashes, &among);
            Box::new(move || {
                let live = matrix.among(among);
                hashes.iter().map(|&hash| live.contains_hash(hash, &mut answers)).sum()
            })
        }),
        ("count", Box::new(|| hashes.iter().map(|&hash| matrix.count_hash(hash)).sum())),
        ("any", Box::new(|| hashes.iter().map(|&hash| usize::from(matrix.any_hash(hash))).sum())),
        (
            "batches of 1,000",
            Box::new(|| {
                let one = |hashes: &[u64]| {
                    let len = words * hashes.len();
                    matrix.contains_hashes(hashes, &mut rows[..len])
                };
                hashes.chunks(1000).map(one).sum()
            }),
        ),
        (
            "the same as pairs",
            Box::new(|| {
                hashes.chunks(1000).map(|hashes| matrix.select_hashes(hashes, &mut pairs)).sum()
            }),
        ),
        (
            "rows loaded only",
            Box::new(|| {
                let load = |&hash: &u64| {
                    let line =
                        ((u128::from(hash) * u128::from(params.line_count())) >> 64) as usize;
                    let g = hash.wrapping_mul(bloomline::definition::line::C1);
                    let mut sum = 0;
                    for lane in 0..6 {
                        let row = 64 * lane + ((g >> (13 + 6 * lane)) & 63) as usize;
                        let at = (line * 512 + row) * row_bytes;
                        for line in groups[at..at + row_bytes].chunks(64) {
                            sum += black_box(line[0]) as usize;
                        }
                    }
                    sum
                };
                hashes.iter().map(load).sum()
            }),
        ),
        (
            "group",
            Box::new(|| {
                hashes[..FEWER].iter().map(|&hash| group.contains_hash(hash, &mut answers)).sum()
            }),
        ),
        (
            "loop over filters",
            Box::new(|| {
                let one = |&hash: &u64| {
                    views.iter().filter(|view| black_box(view.contains_hash(hash))).count()
                };
                hashes[FEWER..2 * FEWER].iter().map(one).sum()
            }),
        ),
    ];
    let mut works: Vec<_> =
        works.into_iter().map(|(name, work)| (name, work, Vec::new())).collect();
    for _ in 0..ROUNDS {
        for (_, work, times) in &mut works {
            let start = processor_time();
            black_box(work());
            times.push((processor_time() - start).as_secs_f64());
        }
    }
    for (name, _, times) in &mut works {
        let probes = if matches!(*name, "group" | "loop over filters") { FEWER } else { PROBES };
        let time = median(times) * 1e9 / probes as f64;
        println!("  {name:20} {time:9.1} ns per key {:8.3} per filter", time / columns as f64);
    }
}

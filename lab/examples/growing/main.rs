//! Growing filters, all figures in one run: memory, rate and lines per probe; beside a plain, a scalable and a cuckoo
//! filter, at 1 %, inserts while they grow, probes and removals; the limits of these; what single inserts take at
//! worst, merging and listing, and what churn leaves. Hashes are given. Nanoseconds per key of processor time, medians
//! of rounds in turn.
//!
//! ```text
//! cargo run --release --manifest-path lab/Cargo.toml --example growing -- \
//!     [KEYS] [bits] [insert] [work] [probe] [sets] [churn]
//! ```

mod churn;
#[path = "../../../benches/common/mod.rs"]
#[allow(unused_imports)]
mod common;
mod counted;
mod limits;

use bloomline::{
    Backend, CuckooFilter, CuckooParams, Filter, GrowingFilter, Params, Probe, ScalableFilter,
};
use common::data::mix;
use common::rounds::{median, processor_time};
use std::hint::black_box;
use std::time::Instant;

const RATE: f64 = 0.01;
/// Keys in a call.
const BATCH: usize = 1 << 12;
/// More than a branch predictor learns.
const PROBES: usize = 1 << 19;

fn main() {
    let (numbers, parts): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.parse::<u64>().is_ok());
    let keys = |usual: u64| numbers.first().map_or(usual, |keys| keys.parse().unwrap());
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    println!("backend: {}", Backend::active().unwrap().name());
    if wanted("bits") {
        counted::bounded(keys(4_000_000));
        counted::unbounded(keys(4_000_000));
    }
    if wanted("insert") {
        inserts(keys(10_000_000));
    }
    if wanted("work") {
        work(keys(10_000_000));
    }
    if wanted("probe") {
        for keys in
            numbers.first().map_or(vec![206_000, 54_000_000], |keys| vec![keys.parse().unwrap()])
        {
            probes(keys);
        }
    }
    if wanted("sets") {
        sets(keys(10_000_000));
    }
    if wanted("churn") {
        churn::churn(keys(1_000_000));
    }
}

fn hashes(stream: u64, count: u64) -> Vec<u64> {
    (0..count).map(|key| mix(key << 8 | stream)).collect()
}

fn growing(keys: u64) -> GrowingFilter {
    GrowingFilter::new(keys, RATE, 0).unwrap()
}

fn unbounded(keys: u64) -> GrowingFilter {
    GrowingFilter::unbounded(keys / 1000, RATE, 0).unwrap()
}

fn scalable(keys: u64) -> ScalableFilter {
    ScalableFilter::new(keys / 1000, RATE, 0).unwrap()
}

fn plain(keys: u64) -> Filter {
    Filter::new(Params::for_rate(keys, RATE).unwrap()).unwrap()
}

fn cuckoo(keys: u64) -> CuckooFilter {
    CuckooFilter::new(CuckooParams::for_rate(keys, 0.002).unwrap()).unwrap()
}

/// The time of some work, in nanoseconds of so many keys each.
fn time<T>(keys: usize, work: impl FnOnce() -> T) -> f64 {
    let start = processor_time();
    black_box(work());
    (processor_time() - start).as_nanos() as f64 / keys as f64
}

/// What is done in turn: its name, and the time of one round.
type Contender<'a> = (&'a str, Box<dyn FnMut() -> f64 + 'a>);

fn in_turn(rounds: usize, mut contenders: Vec<Contender<'_>>) {
    let mut times = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for (times, (_, round)) in times.iter_mut().zip(&mut contenders) {
            times.push(round());
        }
    }
    for ((name, _), times) in contenders.iter().zip(&times) {
        println!("  {name:34} {:8.1}", median(times));
    }
}

/// A name, and what belongs to it.
fn line<T: std::fmt::Display>(name: &str, figures: impl IntoIterator<Item = T>) {
    print!("  {name:34}");
    figures.into_iter().for_each(|figure| print!(" {figure:>11}"));
    println!();
}

macro_rules! filling {
    ($make:expr, $all:expr, one) => {{
        let all = $all;
        Box::new(move || {
            let mut filter = $make(all.len() as u64);
            time(all.len(), || {
                for &hash in all {
                    black_box(filter.insert_hash(hash)).unwrap();
                }
            })
        })
    }};
    ($make:expr, $all:expr, batch) => {{
        let all = $all;
        Box::new(move || {
            let mut filter = $make(all.len() as u64);
            time(all.len(), || {
                all.chunks(BATCH).for_each(|some| filter.insert_hashes(some).unwrap())
            })
        })
    }};
}

fn inserts(keys: u64) {
    println!("{keys} inserts from none on");
    let all = &hashes(1, keys);
    let mut contenders: Vec<Contender<'_>> = vec![
        ("growing, one by one", filling!(growing, all, one)),
        ("growing, batches", filling!(growing, all, batch)),
        ("unbounded from 1/1000, one by one", filling!(unbounded, all, one)),
        ("unbounded from 1/1000, batches", filling!(unbounded, all, batch)),
        ("scalable from 1/1000, one by one", filling!(scalable, all, one)),
        ("scalable from 1/1000, batches", filling!(scalable, all, batch)),
        ("cuckoo, 12 bits, one by one", filling!(cuckoo, all, one)),
        (
            "plain, batches",
            Box::new(move || {
                let mut filter = plain(keys);
                time(all.len(), || all.chunks(BATCH).for_each(|some| filter.insert_hashes(some)))
            }),
        ),
    ];
    contenders.extend(limits::inserts(all));
    in_turn(5, contenders);
}

/// The time of each insert: the least of runs that do the same, and the worst of any run.
fn work(keys: u64) {
    println!("the own work of single inserts, up to {keys} keys, in ns");
    let all = hashes(1, keys);
    let mut least = vec![u32::MAX; all.len()];
    let mut worst = Vec::new();
    for _ in 0..5 {
        let (mut filter, mut most) = (growing(keys), 0);
        for (least, &hash) in least.iter_mut().zip(&all) {
            let start = Instant::now();
            black_box(filter.insert_hash(hash)).unwrap();
            let took = start.elapsed().as_nanos().min(u32::MAX.into()) as u32;
            *least = took.min(*least);
            most = took.max(most);
        }
        worst.push(f64::from(most));
    }
    let late = least.iter().enumerate().max_by_key(|&(_, took)| took).unwrap().0;
    least.sort_unstable();
    for (name, above) in [
        ("50 %", 2),
        ("99 %", 100),
        ("99.9 %", 1000),
        ("99.99 %", 10_000),
        ("99.9999 %", 1_000_000),
    ] {
        println!("  {name:34} {:8}", least[least.len() - 1 - least.len() / above]);
    }
    println!("  {:34} {:8}", format!("worst, insert {late}"), least[least.len() - 1]);
    println!("  {:34} {:8}", "worst of one run", median(&worst));
}

/// Removes keys and inserts them again, in rounds.
macro_rules! removals {
    ($name:expr, $filter:ident, $removed:ident) => {{
        let mut words = vec![0_u64; BATCH / 64];
        let times: Vec<f64> = (0..5)
            .map(|_| {
                let mut batches = $removed.chunks(BATCH);
                let spent = time($removed.len(), || {
                    batches
                        .by_ref()
                        .map(|some| $filter.remove_hashes(some, &mut words))
                        .sum::<usize>()
                });
                $filter.insert_hashes($removed).unwrap();
                spent
            })
            .collect();
        println!("  {:34} {:8.1}", $name, median(&times));
    }};
}

fn probes(keys: u64) {
    let all = hashes(1, keys);
    let present: Vec<u64> = (0..PROBES as u64).map(|i| all[mix(!i) as usize % all.len()]).collect();
    let absent = hashes(2, PROBES as u64);
    let half = present.iter().zip(&absent).enumerate();
    let half: Vec<u64> =
        half.map(|(i, (&a, &b))| if mix(i as u64).is_multiple_of(2) { a } else { b }).collect();
    println!(
        "{keys} keys: one absent / present / half, batches of {BATCH} absent / present / half, remove in batches"
    );
    let mut filter = growing(keys);
    filter.insert_hashes(&all).unwrap();
    println!("  growing: {:.2} bits per key", filter.memory_usage() as f64 * 8.0 / keys as f64);
    let mut limits = limits::Touched::of(filter.memory_usage());
    row("growing", &filter, [&absent, &present, &half], &mut limits);
    let removed = &all[..all.len() / 16];
    removals!("growing, remove", filter, removed);
    println!("  limits: one key / one that waits for the last, batches to read / to write");
    limits.iter().for_each(limits::Touched::print);
    drop((filter, limits));
    let mut filter = plain(keys);
    filter.insert_hashes(&all);
    row("plain", &filter, [&absent, &present, &half], &mut []);
    drop(filter);
    let mut filter = cuckoo(keys);
    filter.insert_hashes(&all).unwrap();
    row("cuckoo, 12 bits", &filter, [&absent, &present, &half], &mut []);
    removals!("cuckoo, remove", filter, removed);
    drop(filter);
    let mut filter = scalable(keys);
    filter.insert_hashes(&all).unwrap();
    row("scalable from 1/1000", &filter, [&absent, &present, &half], &mut []);
    drop(filter);
    let mut filter = unbounded(keys);
    filter.insert_hashes(&all).unwrap();
    row("unbounded from 1/1000", &filter, [&absent, &present, &half], &mut []);
}

fn row(name: &str, filter: &impl Probe, kinds: [&[u64]; 3], limits: &mut [limits::Touched]) {
    let mut words = vec![0_u64; BATCH / 64];
    let mut times = [const { Vec::new() }; 6];
    for _ in 0..9 {
        for (i, hashes) in kinds.into_iter().enumerate() {
            times[i].push(time(PROBES, || {
                hashes.iter().filter(|&&hash| filter.contains_hash(hash)).count()
            }));
        }
        for (i, hashes) in kinds.into_iter().enumerate() {
            let mut batches = hashes.chunks(BATCH);
            times[3 + i].push(time(PROBES, || {
                batches.by_ref().map(|some| filter.contains_hashes(some, &mut words)).sum::<usize>()
            }));
        }
        limits.iter_mut().for_each(|limit| limit.touch(kinds[0]));
    }
    print!("  {name:34}");
    times.iter().for_each(|times| print!(" {:8.1}", median(times)));
    println!();
}

fn sets(keys: u64) {
    println!("{keys} keys each");
    let make = |stream| {
        let mut filter = GrowingFilter::new(2 * keys, RATE, 0).unwrap();
        filter.insert_hashes(&hashes(stream, keys)).unwrap();
        filter
    };
    let (mut one, two) = (make(1), make(2));
    let first = one.try_clone().unwrap();
    let (mut merges, mut lists, mut copies, mut builds) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let sorted = {
        let mut sorted = hashes(1, keys);
        sorted.sort_unstable();
        sorted
    };
    for _ in 0..5 {
        merges.push(time(2 * keys as usize, || one.union(&two).unwrap()));
        one = first.try_clone().unwrap();
        lists.push(time(keys as usize, || {
            two.prefixes().map(|(prefix, count)| prefix ^ count).fold(0, |a, b| a ^ b)
        }));
        copies.push(time(keys as usize, || two.try_clone().unwrap()));
        builds.push(time(keys as usize, || GrowingFilter::build(keys, RATE, 0, &sorted).unwrap()));
    }
    for (name, times) in [
        ("merge, per key", merges),
        ("list", lists),
        ("copy", copies),
        ("build of sorted hashes", builds),
    ] {
        println!("  {name:34} {:8.2}", median(&times));
    }
}

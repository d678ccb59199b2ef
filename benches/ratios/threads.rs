//! Removing duplicates on two threads against one, and inserts into a filter that threads share
//! against the plainest loop and against a plain filter's. Uses the public interface.
#![allow(unsafe_code)]

use crate::common::data::{hashes, keys_for, size_name};
use crate::common::memory::Memory;
use crate::common::rounds::{BATCH, Plan, processor_time};
use crate::common::touch;
use crate::table::{Report, Row};
use crate::{KIB, MIB};
use bloomline::definition::line::{C1, LANES, SHIFTS, line_index};
use bloomline::hash::hash;
use bloomline::{Bitmap, ConcurrentFilter, Filter, Params};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bits of a key in the filter that threads share.
const K: u64 = 7;

/// What is timed, and its nanoseconds per key in each round.
type Timed<'a> = (&'a str, Box<dyn FnMut() -> Duration + 'a>, Vec<f64>);

pub(crate) fn tables(report: &Report, plan: Plan, sizes: &[usize]) {
    report.heading("Removing duplicates, two threads against one, by the time of day");
    dedup(report, if sizes.contains(&(512 * MIB)) { 20_000_000 } else { 4_000_000 });
    report.heading("Inserts into a `ConcurrentFilter`, against a loop of ORs, prefetched 16 ahead, or a `Filter`");
    for size in [256 * KIB, 12 * MIB, 64 * MIB] {
        concurrent(report, plan, size);
    }
}

/// Runs all in turn, round after round, after one to warm up.
fn in_turn(timed: &mut [Timed<'_>], rounds: usize, keys: usize) {
    for round in 0..=rounds {
        for (_, work, times) in &mut *timed {
            let ns = work().as_nanos() as f64 / keys as f64;
            if round > 0 {
                times.push(ns);
            }
        }
    }
}

/// Lines of a text with addresses of pages, each twice, without a pattern.
fn urls(count: usize) -> String {
    let order = hashes(1, count);
    let different = (count / 2).max(1) as u64;
    let line = |i: usize| {
        let page = order[i] % different;
        format!("https://www.example.org/articles/{:x}/page?id={page}\n", page % 4096)
    };
    (0..count).map(line).collect()
}

fn dedup(report: &Report, count: usize) {
    eprintln!("removing duplicates from {count} lines");
    let text = urls(count);
    let lines: Vec<&str> = text.lines().collect();
    let params = Params::for_rate(count as u64 / 2, 0.001).unwrap();
    let alone = |work: &dyn Fn(Filter) -> usize| {
        let filter = Filter::new(params).unwrap();
        let start = Instant::now();
        black_box(work(filter));
        start.elapsed()
    };
    let shared = || {
        let filter = ConcurrentFilter::new(params).unwrap();
        let start = Instant::now();
        std::thread::scope(|scope| {
            for lines in lines.chunks(lines.len().div_ceil(2)) {
                let filter = &filter;
                scope.spawn(move || black_box(filter.dedup(lines).count()));
            }
        });
        start.elapsed()
    };
    let new = |mut filter: Filter, threads| {
        filter.insert_new_keys_parallel(&lines, &mut Bitmap::new(), threads)
    };
    // The limit: all lines are read and hashed, each thread its half.
    let hashed = |threads| {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for lines in lines.chunks(lines.len().div_ceil(threads)) {
                scope.spawn(|| {
                    let sum = lines.iter().fold(0, |sum, line| sum ^ hash(line, 0));
                    black_box(sum)
                });
            }
        });
        start.elapsed()
    };
    let mut all: [Timed<'_>; 7] = [
        ("dedup", Box::new(|| alone(&|mut filter| filter.dedup(&lines).count())), vec![]),
        (
            "dedup_parallel",
            Box::new(|| alone(&|mut filter| filter.dedup_parallel(&lines, 2).count())),
            vec![],
        ),
        ("insert_new_keys", Box::new(|| alone(&|filter| new(filter, 1))), vec![]),
        ("insert_new_keys_parallel", Box::new(|| alone(&|filter| new(filter, 2))), vec![]),
        ("ConcurrentFilter, half each", Box::new(shared), vec![]),
        ("hashing alone", Box::new(|| hashed(1)), vec![]),
        ("hashing alone, half each", Box::new(|| hashed(2)), vec![]),
    ];
    in_turn(&mut all, 5, count);
    for (ours, theirs, at_most) in
        [(1, 0, Some(0.6)), (3, 2, Some(0.6)), (4, 0, None), (6, 5, None)]
    {
        let ((what, _, ours), (with, _, theirs)) = (&all[ours], &all[theirs]);
        report.row(Row {
            what,
            size: params.bytes(),
            backend: "2 threads",
            ours,
            with,
            theirs,
            at_most,
        });
    }
}

/// Inserts as they are written first: an OR for each lane that the key has a bit in.
fn or_all(lanes: &[[AtomicU64; LANES]], hashes: &[u64]) {
    let line = |hash| &lanes[line_index(hash, lanes.len() as u64) as usize];
    for (i, &hash) in hashes.iter().enumerate() {
        if let Some(&later) = hashes.get(i + 16) {
            touch::prefetch_to_write(line(later).as_ptr().cast());
        }
        let (line, g) = (line(hash), hash.wrapping_mul(C1));
        for i in 0..K {
            let lane = (i.wrapping_sub(g >> 61) % 8) as usize;
            line[lane].fetch_or(1 << (g >> SHIFTS[lane] & 63), Ordering::Relaxed);
        }
    }
}

fn concurrent(report: &Report, plan: Plan, size: usize) {
    eprintln!("concurrent inserts, {}", size_name(size));
    let hashes = &*hashes(2, keys_for(size));
    // Each has a filter of its own, into which it inserts keys anew or, at first cleared, new ones.
    let ors = |new: bool| -> Box<dyn FnMut() -> Duration> {
        let mut memory = Memory::new(size);
        Box::new(move || {
            if new {
                memory.fill(0);
            }
            // SAFETY: lanes take any bytes, and nothing else uses these meanwhile.
            let (_, lanes, _) = unsafe { memory.align_to_mut() };
            timed(|| or_all(lanes, hashes))
        })
    };
    let ours = |new: bool, work: fn(&ConcurrentFilter, &[u64])| -> Box<dyn FnMut() -> Duration> {
        let params = Params::new((size / 64) as u64, K as u32, 0).unwrap();
        let mut filter = ConcurrentFilter::new(params).unwrap();
        Box::new(move || {
            if new {
                filter.clear();
            }
            timed(|| work(&filter, hashes))
        })
    };
    let batches = |filter: &ConcurrentFilter, hashes: &[u64]| filter.insert_hashes(hashes);
    let reported = |filter: &ConcurrentFilter, hashes: &[u64]| {
        let mut new = [0; BATCH / 64];
        for hashes in hashes.chunks(BATCH) {
            filter.insert_new_hashes(hashes, &mut new);
        }
    };
    let singly = |filter: &ConcurrentFilter, hashes: &[u64]| {
        black_box(hashes.iter().filter(|&&hash| filter.insert_hash(hash)).count());
    };
    let plain = || -> Box<dyn FnMut() -> Duration> {
        let params = Params::new((size / 64) as u64, K as u32, 0).unwrap();
        let mut filter = Filter::new(params).unwrap();
        Box::new(move || {
            filter.clear();
            timed(|| {
                for &hash in hashes {
                    black_box(filter.insert_hash(hash));
                }
            })
        })
    };
    let mut all: [Timed<'_>; 9] = [
        ("ORs, new", ors(true), vec![]),
        ("ORs, present", ors(false), vec![]),
        ("insert_hashes, new", ours(true, batches), vec![]),
        ("insert_hashes, present", ours(false, batches), vec![]),
        ("insert_new_hashes, new", ours(true, reported), vec![]),
        ("insert_new_hashes, present", ours(false, reported), vec![]),
        ("insert_hash, new", ours(true, singly), vec![]),
        ("insert_hash, present", ours(false, singly), vec![]),
        ("Filter, insert_hash", plain(), vec![]),
    ];
    // The larger it is, the longer a round.
    let rounds = if size > 12 * MIB { 3 } else { plan.rounds };
    in_turn(&mut all, rounds, hashes.len());
    for (i, with, at_most) in [
        (2, 0, Some(1.0)),
        (3, 1, Some(1.0)),
        (4, 0, Some(1.0)),
        (5, 1, Some(1.0)),
        (6, 0, None),
        (7, 1, None),
        (6, 8, None),
    ] {
        let ((what, _, ours), (with, _, theirs)) = (&all[i], &all[with]);
        report.row(Row { what, size, backend: "1 thread", ours, with, theirs, at_most });
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = processor_time();
    work();
    processor_time() - start
}

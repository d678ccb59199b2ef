//! What can be counted: memory, false-positive rates and lines per probe, bounded and unbounded, by inserts and
//! built at once.

use super::{PROBES, RATE, hashes, line};
use bloomline::GrowingFilter;

/// Samples of what changes while a filter grows.
const SAMPLES: u64 = 100;

/// Bits per key.
pub(super) fn bits(filter: &GrowingFilter) -> f64 {
    filter.memory_usage() as f64 * 8.0 / filter.key_count() as f64
}

/// The lines that a probe reads on average.
pub(super) fn lines(filter: &GrowingFilter, hashes: &[u64]) -> f64 {
    let read: usize = hashes.iter().map(|&hash| filter.lines_read(hash)).sum();
    read as f64 / hashes.len() as f64
}

fn measured(filter: &GrowingFilter, absent: &[u64]) -> f64 {
    let wrong = absent.iter().filter(|&&hash| filter.contains_hash(hash)).count();
    wrong as f64 / absent.len() as f64
}

pub(super) fn bounded(keys: u64) {
    println!("bounded, {keys} keys");
    println!(
        "  mean: over growth by a quarter, less what fewer keys than expected take more; lines of"
    );
    println!("  absent and present keys");
    line("asked for, %", ["mean", "in the end", "at once", "measured, %", "lines", "lines"]);
    let (all, absent) = (hashes(1, keys), hashes(2, PROBES as u64));
    for rate in [0.01, 0.004, 0.001] {
        let mut filter = GrowingFilter::new(keys, rate, 0).unwrap();
        let (mut sum, mut samples) = (0.0, 0);
        for (i, &hash) in (1..).zip(&all) {
            filter.insert_hash(hash).unwrap();
            if i > keys / 4 * 3 && i % (keys / 4 / SAMPLES) == 0 {
                // As if there were as many prefixes as for so many keys.
                sum += bits(&filter) - (keys as f64 / i as f64).log2();
                samples += 1;
            }
        }
        let built = GrowingFilter::build(keys, rate, 0, &all).unwrap();
        line(
            &format!("{:.1}", rate * 100.0),
            [
                sum / f64::from(samples),
                bits(&filter),
                bits(&built),
                measured(&filter, &absent) * 100.0,
                lines(&filter, &absent),
                lines(&filter, &all),
            ]
            .map(|figure| format!("{figure:.3}")),
        );
    }
}

pub(super) fn unbounded(keys: u64) {
    println!("unbounded, {keys} keys, {} % asked for", RATE * 100.0);
    println!("  mean and most: while the keys double at last; lines of absent and present keys");
    line(
        "times the first keys",
        [
            "mean",
            "most",
            "at once",
            "rate, %",
            "at most, %",
            "measured, %",
            "at once, %",
            "lines",
            "lines",
        ],
    );
    let (all, absent) = (hashes(1, keys), hashes(2, PROBES as u64));
    for growth in [1, 30, 1000, 30_000, 1_000_000] {
        let first = (keys / growth).max(1);
        let mut filter = GrowingFilter::unbounded(first, RATE, 0).unwrap();
        let (mut sum, mut samples, mut most, mut worst) = (0.0, 0, 0_f64, 0_f64);
        for (i, &hash) in (1..).zip(&all) {
            filter.insert_hash(hash).unwrap();
            if i > keys / 2 && i % (keys / 2 / SAMPLES) == 0 {
                (sum, most) = (sum + bits(&filter), most.max(bits(&filter)));
                samples += 1;
                if samples % 10 == 0 {
                    worst = worst.max(filter.estimated_rate());
                }
            }
        }
        let built = GrowingFilter::build_unbounded(first, RATE, 0, &all).unwrap();
        line(
            &growth.to_string(),
            [
                sum / f64::from(samples),
                most,
                bits(&built),
                filter.estimated_rate() * 100.0,
                worst * 100.0,
                measured(&filter, &absent) * 100.0,
                built.estimated_rate() * 100.0,
                lines(&filter, &absent),
                lines(&filter, &all),
            ]
            .map(|figure| format!("{figure:.3}")),
        );
    }
}

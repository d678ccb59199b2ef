//! The model of static filters, held to what is measured: bits per key, false positives, and the
//! part of the keys that the first level bumps.

use crate::definition::*;
use bloomline::definition::static_line::{self, NONE_BUMPED};
use bloomline::sizing::static_line as model;
use bloomline::{StaticFilter, StaticParams};

/// The part of the keys whose position is at or above the threshold of their line.
fn bumped(filter: &StaticFilter, hashes: &[u64]) -> f64 {
    let params = filter.params();
    let thresholds: Vec<u8> = filter.lines()[..params.line_count() as usize * params.line_bytes()]
        .chunks(params.line_bytes())
        .map(|line| static_line::Line::from_bytes(line, params.rows()).threshold)
        .collect();
    assert!(thresholds.contains(&NONE_BUMPED));
    let over = hashes.iter().filter(|&&hash| {
        let (line, position) = static_line::place(hash, params.line_count());
        position >= thresholds[line as usize]
    });
    over.count() as f64 / hashes.len() as f64
}

#[test]
fn filters_are_as_the_model_says() {
    let (keys, most_probes, step) =
        if fewer() { (200_000, 400_000, 4) } else { (1_000_000, 4_000_000, 1) };
    println!("rows  bits per key  over the bound  model  bumped  model  rate * 2^rows");
    for rows in (4..=16).step_by(step) {
        let hashes = random_hashes(keys, u64::from(rows) + 100);
        let params = StaticParams::for_rows(keys as u64, rows).unwrap();
        let filter = StaticFilter::build(params, &hashes, 0).unwrap();
        let bits = filter.lines().len() as f64 * 8.0 / keys as f64;
        let over = bits / f64::from(rows) - 1.0;
        let (bumped, of_model) =
            (bumped(&filter, &hashes), model::bumped(rows, model::keys_per_line(rows)));
        let mut rate = f64::NAN;
        if rows <= 10 {
            let probes = random_hashes(most_probes, 7);
            let mut answers = vec![0; probes.len().div_ceil(64)];
            let hits = filter.contains_hashes(&probes, &mut answers);
            rate = hits as f64 / probes.len() as f64 / params.rate();
            // Four standard deviations, at least 2 %.
            let allowed = (4.0 / (probes.len() as f64 * params.rate()).sqrt()).max(0.02);
            assert!((rate - 1.0).abs() < allowed, "{rows} rows: {rate} of the rate");
        }
        println!(
            "{rows:4}  {bits:12.3}  {:12.2} %  {:5.3}  {:5.2} %  {:.2} %  {rate:.3}",
            over * 100.0,
            model::bits(rows),
            bumped * 100.0,
            of_model * 100.0
        );
        assert!((bits / model::bits(rows) - 1.0).abs() < 0.01, "{rows} rows: {bits} bits");
        assert!((bumped - of_model).abs() < 0.006, "{rows} rows: {bumped} bumped");
        assert!(bumped < 0.13, "{rows} rows: {bumped} bumped");
        let most = match rows {
            5..=8 => 0.065,
            10 | 12 => 0.06,
            _ => 0.08,
        };
        assert!(over < most, "{rows} rows: {over}");
    }
}

#[test]
fn lighter_loads_bump_as_the_model_says() {
    for (rows, load) in [(8, 0.8), (8, 0.95), (5, 1.0), (8, 1.2), (12, 1.05)] {
        let per_line = model::keys_per_line(rows) / 1.1 * load;
        let hashes = random_hashes(if fewer() { 100_000 } else { 300_000 }, 11);
        let lines = (hashes.len() as f64 / per_line) as u64;
        let filter =
            StaticFilter::build(StaticParams::new(lines, rows, 0).unwrap(), &hashes, 1).unwrap();
        let (bumped, of_model) = (bumped(&filter, &hashes), model::bumped(rows, per_line));
        assert!((bumped - of_model).abs() < 0.006, "{rows} rows at {load}: {bumped} {of_model}");
    }
}

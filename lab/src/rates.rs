//! False-positive rates by bits per key: measured, and in theory.

use crate::chart::{Mark, Panel, Picture, Series};
use crate::common::data::mix;
use crate::contender::{By, Kind, Size, Sizes};
use crate::measure::{absent_keys, part_of_keys};
use crate::speed::{Effort, per_cent};
use crate::{cpp, crates, model, ours};
use std::fmt::Write;

/// One filter of one size.
pub(crate) struct Rate {
    pub(crate) name: String,
    pub(crate) asked: f64,
    pub(crate) bits: f64,
    pub(crate) rate: f64,
    /// How many absent keys were probed.
    pub(crate) probes: usize,
}

const BITS: [f64; 9] = [6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 24.0];
const KEYS: u64 = 1 << 20;
/// False positives that are enough, and probes that must be.
const ENOUGH: usize = 10_000;
const PROBES: usize = 1 << 26;

/// The least rate that the picture shows, in per cent.
const LEAST: f64 = 0.0008;

/// Theory: what it is called, and its colour.
type Theory = (&'static str, fn(f64) -> f64, usize);

const THEORY: [Theory; 4] = [
    ("information bound", model::bound, 8),
    ("standard Bloom filter", model::classic, 9),
    ("line of 512 bits", model::line, 0),
    ("blocks of 256 bits", model::sbbf, 2),
];

/// What is shown, and its colour.
const SHOWN: [(&str, usize); 8] = [
    (ours::PLAIN, 0),
    ("`Params::classic`", 9),
    (ours::CUCKOO, 1),
    (crates::SBBF_RS, 2),
    (cpp::BEST64, 3),
    (cpp::BEST32, 4),
    (cpp::ROCKSDB, 5),
    ("xorf, `BinaryFuse8`", 6),
];

pub(crate) fn run(kinds: &[Kind], effort: Effort) -> Vec<Rate> {
    let (keys, bits, most) = match effort {
        Effort::Smoke => (1 << 16, &BITS[2..3], 1 << 20),
        Effort::Quick => (KEYS, &BITS[1..6], 1 << 23),
        Effort::Full => (KEYS, &BITS[..], PROBES),
    };
    let present = part_of_keys(keys, 0, 1);
    let absent = absent_keys(1 << 20);
    let mut rates = Vec::new();
    for kind in kinds.iter().filter(|kind| kind.by != By::Limit && kind.sizes != Sizes::None) {
        if effort != Effort::Smoke && !SHOWN.iter().any(|(name, _)| *name == kind.name) {
            continue;
        }
        eprintln!("rates: {}", kind.name);
        for &asked in bits {
            let Some(mut filter) = (kind.build)(keys, Size::Bits(asked)) else { continue };
            filter.insert(&present);
            filter.filled();
            assert_eq!(filter.probe(&present), present.len(), "{} denies keys", kind.name);
            let (mut positives, mut probes) = (0, 0);
            while positives < ENOUGH && probes < most {
                // Other absent keys each time.
                let salt = mix(probes as u64);
                let some: Vec<u64> = absent.iter().map(|&hash| mix(hash ^ salt)).collect();
                positives += filter.probe(&some);
                probes += some.len();
            }
            rates.push(Rate {
                name: kind.name.replace('`', ""),
                asked,
                bits: filter.bytes() as f64 * 8.0 / keys as f64,
                rate: positives as f64 / probes as f64,
                probes,
            });
        }
    }
    rates
}

pub(crate) fn csv(rates: &[Rate]) -> String {
    let mut text = String::from("contender,bits_asked,bits_per_key,false_positives,probes\n");
    for rate in rates {
        let Rate { name, asked, bits, rate, probes } = rate;
        let _ = writeln!(text, "\"{name}\",{asked},{bits:.3},{rate:.8},{probes}");
    }
    for (name, model, _) in THEORY {
        for bits in BITS {
            let _ = writeln!(text, "\"theory: {name}\",{bits},{bits},{:.8},", model(bits));
        }
    }
    text
}

pub(crate) fn table(rates: &[Rate]) -> String {
    let mut bits: Vec<f64> = rates.iter().map(|rate| rate.asked).collect();
    bits.sort_by(f64::total_cmp);
    bits.dedup();
    let head: String = bits.iter().map(|bits| format!(" {bits} |")).collect();
    let mut text = format!("| bits per key |{head}\n|---|{}\n", "---:|".repeat(bits.len()));
    for (name, model, _) in THEORY {
        let cells: String =
            bits.iter().map(|&bits| format!(" {} |", per_cent(model(bits)))).collect();
        let _ = writeln!(text, "| {name}, in theory |{cells}");
    }
    for (name, _) in SHOWN {
        let name = name.replace('`', "");
        let of = |&bits: &f64| {
            let found = rates.iter().find(|rate| rate.name == name && rate.asked == bits);
            found.map_or(" |".into(), |rate| match (rate.bits - bits).abs() < 0.1 {
                true => format!(" {} |", per_cent(rate.rate)),
                false => format!(" {} ({:.1} bits) |", per_cent(rate.rate), rate.bits),
            })
        };
        let cells: Vec<String> = bits.iter().map(of).collect();
        if cells.iter().any(|cell| cell != " |") {
            let _ = writeln!(text, "| {name} |{}", cells.concat());
        }
    }
    text
}

/// Rate against bits per key.
pub(crate) fn picture(rates: &[Rate], note: &[String]) -> String {
    let fine = || (0..=90).map(|i| 6.0 + f64::from(i) / 5.0);
    let theory = THEORY.into_iter().map(|(name, model, colour)| Series {
        name: format!("theory: {name}"),
        colour,
        points: fine()
            .map(|bits| (bits, 100.0 * model(bits)))
            .filter(|point| point.1 >= LEAST)
            .collect(),
        mark: Mark::Thin,
    });
    let measured = SHOWN.into_iter().filter_map(|(name, colour)| {
        let name = name.replace('`', "");
        let points: Vec<(f64, f64)> = rates
            .iter()
            .filter(|rate| rate.name == name && rate.rate > 0.0 && rate.bits <= 24.5)
            .map(|rate| (rate.bits, 100.0 * rate.rate))
            .collect();
        let name = name.trim_end_matches(", best k").into();
        (!points.is_empty()).then_some(Series { name, colour, points, mark: Mark::Full })
    });
    let percents = [0.001, 0.01, 0.1, 1.0, 10.0].map(|rate: f64| (rate, format!("{rate} %")));
    Picture {
        title: "False-positive rate, by bits per key: theory (lines) and measured (dots)".into(),
        x: ("bits per key", BITS.map(|bits| (bits, bits.to_string())).into()),
        y: ("false-positive rate", percents.into()),
        linear: true,
        panels: vec![Panel { title: String::new(), series: theory.chain(measured).collect() }],
        note: note.to_vec(),
    }
    .draw()
}

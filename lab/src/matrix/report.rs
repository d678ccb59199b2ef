//! The tables, the CSV file and the picture of what was measured of matrices.

use super::{
    AVX2, BATCHES, DEPENDENT, GROUP, LOOP, MATRIX, MIB, Measured, SEQAN, Set, TOUCH, TOUCH_HINTED,
};
use crate::chart::{Mark, Panel, Picture, Series};
use crate::common::data::size_name;
use crate::common::rounds::{median, quartile};
use crate::speed::{per_cent, short};
use std::fmt::Write;

impl Measured {
    /// Nanoseconds per key; None if it was not measured. Of the limits, the lower.
    fn ns(&self, name: &str) -> Option<f64> {
        let there = |name: &str| self.times.names().any(|of| of == name);
        let ns = |name: &str| there(name).then(|| median(self.times.of(name)));
        match name.strip_prefix(TOUCH) {
            Some(rest) => Some(ns(name)?.min(ns(&format!("{TOUCH_HINTED}{rest}"))?)),
            None => ns(name),
        }
    }

    /// How many times as long one takes as another.
    fn ratio(&self, a: &str, b: &str) -> Option<f64> {
        Some(self.ns(a)? / self.ns(b)?)
    }
}

impl Set {
    fn name(self) -> String {
        format!("{} of {}", thousands(self.count), size_name(self.bytes))
    }
}

/// "4,096", "10,000,000".
pub(crate) fn thousands(number: usize) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", thousands(number / 1000), number % 1000),
    }
}

fn cells(values: &[Option<f64>], each: impl Fn(f64) -> String) -> String {
    let cell =
        |value: &Option<f64>| value.map_or(" |".into(), |value| format!(" {} |", each(value)));
    values.iter().map(cell).collect()
}

/// Times, ratios, and SeqAn's filter beside the matrix.
pub(crate) fn tables(all: &[Measured]) -> String {
    let dependent = |name: &str| format!("{name}{DEPENDENT}");
    let mut text = String::from(
        "| ns per key | loop | `Group` | `Matrix` | with AVX2 | in batches | touch | dependent: loop | \
         `Group` | `Matrix` | with AVX2 | touch |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for one in all {
        let ns = [LOOP, GROUP, MATRIX, AVX2, BATCHES, TOUCH].map(|name| one.ns(name));
        let waiting = [LOOP, GROUP, MATRIX, AVX2, TOUCH].map(|name| one.ns(&dependent(name)));
        let _ =
            writeln!(text, "| {} |{}{}", one.set.name(), cells(&ns, short), cells(&waiting, short));
    }
    text += "\n| ratio | loop to matrix | group to matrix | matrix to touch | AVX2 to AVX-512 | batches to \
             single keys | made of filters, GB/s | filters copied, GB/s |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|\n";
    for one in all {
        let ratios =
            [(LOOP, MATRIX), (GROUP, MATRIX), (MATRIX, TOUCH), (AVX2, MATRIX), (BATCHES, MATRIX)];
        let ratios = ratios.map(|(a, b)| one.ratio(a, b));
        let speeds = [one.built, one.copied].map(Some);
        let _ = writeln!(
            text,
            "| {} |{}{}",
            one.set.name(),
            cells(&ratios, short),
            cells(&speeds, short)
        );
    }
    let seqan: Vec<_> = all.iter().filter_map(|one| Some((one, one.seqan_rate?))).collect();
    if !seqan.is_empty() {
        text += "\n| ns per key | `Matrix` | SeqAn | times as long | dependent: `Matrix` | SeqAn | times as \
                 long | false positives: `Matrix` | SeqAn |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    }
    for (one, rate) in seqan {
        let [matrix, seqan] = [MATRIX, SEQAN].map(dependent);
        let times = [
            one.ns(MATRIX),
            one.ns(SEQAN),
            one.ratio(SEQAN, MATRIX),
            one.ns(&matrix),
            one.ns(&seqan),
            one.ratio(&seqan, &matrix),
        ];
        let rates = [one.rate, rate].map(Some);
        let _ = writeln!(
            text,
            "| {} |{}{}",
            one.set.name(),
            cells(&times, short),
            cells(&rates, per_cent)
        );
    }
    text
}

pub(crate) fn csv(all: &[Measured]) -> String {
    let mut text =
        String::from("filters,filter_bytes,what,ns_median,ns_first_quartile,ns_third_quartile\n");
    for Measured { set: Set { count, bytes }, times, .. } in all {
        for name in times.names() {
            let ns = times.of(name);
            let [middle, low, high] = [2, 1, 3].map(|quarters| quartile(ns, quarters));
            let _ = writeln!(text, "{count},{bytes},\"{name}\",{middle:.3},{low:.3},{high:.3}");
        }
    }
    text
}

/// What is shown: what it is called, its colour, and how.
const SHOWN: [(&str, &str, usize, Mark); 5] = [
    (TOUCH, "limit: touch the rows", 8, Mark::Limit),
    (LOOP, "loop of single probes", 5, Mark::Line),
    (GROUP, "Group", 1, Mark::Line),
    (MATRIX, "Matrix", 0, Mark::Line),
    (SEQAN, "SeqAn's interleaved", 3, Mark::Line),
];

/// Nanoseconds per filter against the number of filters: in the caches, and in memory.
pub(crate) fn picture(all: &[Measured], note: &[String]) -> String {
    let panel = |title: &str, of: &dyn Fn(Set) -> bool| {
        let series = SHOWN.iter().map(|&(name, called, colour, mark)| {
            let some = all.iter().filter(|one| of(one.set));
            let points = some.filter_map(|one| {
                let count = one.set.count as f64;
                Some((count, one.ns(name)? / count))
            });
            Series { name: called.into(), colour, points: points.collect(), mark }
        });
        Panel { title: title.into(), series: series.collect() }
    };
    let mut counts: Vec<usize> = all.iter().map(|one| one.set.count).collect();
    counts.sort_unstable();
    counts.dedup();
    // 512 and 1,024 are too near to each other for both to be named.
    let ticks = counts.iter().filter(|&&count| count != 1024);
    let small = all.first().map_or(0, |one| one.set.bytes);
    Picture {
        title: "Nanoseconds per filter, one key asked of many filters (10 bits per key)".into(),
        x: ("number of filters", ticks.map(|&count| (count as f64, thousands(count))).collect()),
        y: (
            "ns per filter",
            [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]
                .map(|ns| (ns, ns.to_string()))
                .into(),
        ),
        linear: false,
        panels: vec![
            panel(&format!("{} each", size_name(small)), &|set| set.bytes == small),
            panel("1 MiB each, from 1,024 on 128 KiB", &|set| {
                set.bytes == MIB || set.count >= 1024 && set.bytes != small
            }),
        ],
        note: note.to_vec(),
    }
    .draw()
}

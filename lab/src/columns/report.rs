//! The tables of what was measured of columns.

use super::build::Built;
use super::{
    ACERO, BITMAP, BLOCKS, CALL, FIND, GIVEN, Measured, OTHERS, PARQUET_CC, REFINE, SELECT,
    SELECTED,
};
use crate::common::data::size_name;
use crate::common::rounds::{Times, median, ratio};
use crate::matrix::thousands;
use crate::speed::{per_cent, short};
use std::fmt::Write;

impl Measured {
    /// Nanoseconds per value, or per selected row, one for each round; None if it was not timed.
    fn ns(&self, name: &str) -> Option<Vec<f64>> {
        let of = if name == REFINE { CALL as f64 / SELECTED as f64 } else { 1.0 };
        self.times.names().find(|&timed| timed == name)?;
        Some(self.times.of(name).iter().map(|ns| ns * of).collect())
    }

    fn ratio(&self, ours: &str, theirs: &str) -> Option<f64> {
        Some(ratio(&self.ns(ours)?, &self.ns(theirs)?).median)
    }

    fn filter(&self, name: &str) -> Option<&(&'static str, f64, f64)> {
        self.filters.iter().find(|filter| filter.0 == name)
    }
}

/// All tables of the part.
pub(crate) fn tables(hashing: &Times, all: &[Measured], built: &Built) -> String {
    let selecting = [SELECT, ACERO].into_iter().chain(OTHERS.map(|(name, _)| name));
    let selecting: Vec<&str> = selecting.chain([BLOCKS, PARQUET_CC]).collect();
    let backends: Vec<&str> = hashing.names().collect();
    let mut text = format!("| ns per value | {} |\n", backends.join(" | "));
    text += &format!("|---|{}\n| hash of a `u64` column |", "---:|".repeat(backends.len()));
    for name in backends {
        let _ = write!(text, " {} |", short(median(hashing.of(name))));
    }
    text += "\n\n";

    head(&mut text, "ns per value, a column to a selection", all);
    let ns = |name: &'static str| move |one: &Measured| one.ns(name).map(|ns| short(median(&ns)));
    for &name in &selecting {
        row(&mut text, name, all, |one| one.ns(name).map(|ns| short(median(&ns))));
    }
    text += "\n";
    head(&mut text, "ns per value, other calls", all);
    for name in [GIVEN, BITMAP, REFINE, FIND] {
        row(&mut text, name, all, ns(name));
    }
    text += "\n";
    head(&mut text, "false positives (bits per key)", all);
    for &name in &selecting {
        // The call does not matter.
        let filter = name.split(", `select").next().unwrap_or(name);
        let filter = filter.split(", our").next().unwrap_or(filter);
        row(&mut text, filter, all, |one| {
            one.filter(name).map(|(_, bits, rate)| format!("{} ({bits:.1})", per_cent(*rate)))
        });
    }
    text += "\n";
    head(&mut text, "against each other", all);
    row(&mut text, "a selection more than a bitmap, ns per value", all, |one| {
        let pairs = one.ns(SELECT)?.into_iter().zip(one.ns(BITMAP)?);
        Some(format!("{:.2}", median(&pairs.map(|(a, b)| a - b).collect::<Vec<_>>())))
    });
    for name in selecting.iter().copied().filter(|&name| name != SELECT && name != BLOCKS) {
        let ours =
            if [PARQUET_CC, crate::crates::PARQUET].contains(&name) { BLOCKS } else { SELECT };
        let what = format!("{ours} to {name}");
        row(&mut text, &what, all, |one| one.ratio(ours, name).map(short));
    }
    row(&mut text, "false positives, `Filter` to Acero", all, |one| {
        Some(short(one.filter(SELECT)?.2 / one.filter(ACERO)?.2))
    });

    let [ours, theirs] = [&built.ours, &built.theirs].map(|ns| short(median(ns)));
    let _ = writeln!(
        text,
        "\n| ns per value, hashes and inserts of {} values | `engines::parquet` | parquet, `Sbbf` | times as fast \
         |\n|---|---:|---:|---:|\n| Parquet's blocks, 12 bits per value | {ours} | {theirs} | {} |",
        thousands(built.values),
        short(ratio(&built.theirs, &built.ours).median)
    );
    text
}

fn head(text: &mut String, what: &str, all: &[Measured]) {
    let sizes: Vec<String> = all.iter().map(|one| size_name(one.bytes)).collect();
    let _ =
        writeln!(text, "| {what} | {} |\n|---|{}", sizes.join(" | "), "---:|".repeat(sizes.len()));
}

/// A row, unless all of it is missing.
fn row(
    text: &mut String,
    name: &str,
    all: &[Measured],
    cell: impl Fn(&Measured) -> Option<String>,
) {
    let cells: Vec<Option<String>> = all.iter().map(cell).collect();
    if cells.iter().all(Option::is_none) {
        return;
    }
    let shown =
        |cell: Option<String>| cell.map_or_else(|| " |".into(), |cell| format!(" {cell} |"));
    let cells: String = cells.into_iter().map(shown).collect();
    let _ = writeln!(text, "| {} |{cells}", name.replace('`', ""));
}

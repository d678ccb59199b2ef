//! The chart of `docs/CHOOSING.md`, as SVG: a line for each filter, what it takes and how long it
//! takes beside each other.

use crate::chart::{begin, placed, text};
use crate::choosing::{Against, Figures, Report, Row, short};
use crate::contender::Can;
use crate::font::width;
use crate::speed::per_cent;
use std::fmt::Write;

const WIDTH: f64 = 1168.0;
const TOP: f64 = 64.0;
const LINE: f64 = 26.0;
/// Room between the library's filters and the crates.
const GAP: f64 = 30.0;

/// Where the columns begin, behind names of up to BITS. Longer ones push them to the right.
const BITS: f64 = 236.0;
const MARGIN: f64 = 12.0;
const RATE: f64 = 356.0;
const TIMES: [f64; 4] = [412.0, 556.0, 700.0, 844.0];
const CAN: [f64; 4] = [996.0, 1040.0, 1084.0, 1134.0];
/// How long a bar or an axis is.
const LENGTH: f64 = 92.0;

/// A column of times: its heading, and its figure.
type Column = (&'static str, fn(&Row) -> Option<&Against>);

const COLUMNS: [Column; 4] = [
    ("probe batch, cache", |row| row.figures[0].as_ref().map(|figures| &figures.probe)),
    ("probe batch, memory", |row| row.figures[1].as_ref().map(|figures| &figures.probe)),
    ("probe one, memory", |row| row.figures[1].as_ref().map(|figures| &figures.one)),
    ("insert, memory", |row| row.figures[1].as_ref().map(|figures| &figures.insert)),
];

const MARKS: [(&str, Can); 4] = [
    ("remove", Can::Delete),
    ("grow", Can::Grow),
    ("expire", Can::Expire),
    ("threads", Can::Threads),
];

pub(crate) fn draw(report: &Report) -> String {
    let rows = &report.rows;
    let height = TOP + rows.len() as f64 * LINE + GAP + 44.0;
    let title = "Bits per key, false-positive rate and times of each filter type";
    let names = rows.iter().map(|row| width(&plain(row), "")).fold(0.0, f64::max);
    let shift = (2.0 * MARGIN + names - BITS).max(0.0).ceil();
    let mut svg = begin(WIDTH + shift, height, title);
    let bits = |row: &Row| last(row).map_or(0.0, |figures| figures.bits);
    let most_bits = rows.iter().map(bits).fold(1.0, f64::max);
    let times = rows.iter().flat_map(|row| COLUMNS.map(|(_, of)| of(row)));
    let most = times.flatten().map(|against| against.ratio.median).fold(10.0, f64::max);

    text(&mut svg, BITS + shift, 24.0, "head", "bits per key");
    text(&mut svg, RATE + shift, 24.0, "head", "FPR");
    text(
        &mut svg,
        TIMES[0] + shift,
        24.0,
        "head",
        "time, as a multiple of the plain filter's for as many keys at that rate",
    );
    for (x, (name, _)) in TIMES.into_iter().zip(COLUMNS) {
        text(&mut svg, x + shift, 46.0, "soft", name);
    }
    for (x, (name, _)) in CAN.into_iter().zip(MARKS) {
        placed(&mut svg, x + shift, 46.0, "middle", "soft", name);
    }
    // One, ten, a hundred times as long.
    let bottom = height - 40.0;
    for x in TIMES {
        for tick in [1.0, 10.0, 100.0].into_iter().filter(|&tick| tick <= most) {
            let x = x + shift + along(tick, most);
            let top = TOP - 10.0;
            let _ = writeln!(svg, "<path class=\"axis\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>");
            placed(&mut svg, x, bottom + 16.0, "middle", "soft", &tick.to_string());
        }
    }
    let mut y = TOP;
    for (i, row) in rows.iter().enumerate() {
        if i > 0 && row.is_crate && !rows[i - 1].is_crate {
            y += GAP;
            text(&mut svg, MARGIN, y - 12.0, "soft", "published crates for the same jobs");
        }
        y += LINE;
        one(&mut svg, row, [shift, y - LINE / 2.0], bits(row) / most_bits, most);
    }
    svg + "</svg>\n"
}

/// The larger size's figures, or the other's.
fn last(row: &Row) -> Option<&Figures> {
    row.figures.iter().flatten().last()
}

/// How far along a logarithmic axis.
fn along(times: f64, most: f64) -> f64 {
    LENGTH * times.max(1.0).ln() / most.ln()
}

/// The name of a row.
fn plain(row: &Row) -> String {
    row.name.replace('`', "")
}

fn one(svg: &mut String, row: &Row, [shift, y]: [f64; 2], bits: f64, most: f64) {
    let Some(figures) = last(row) else { return };
    let class = if row.is_crate { "other" } else { "ours" };
    text(svg, MARGIN, y + 4.0, "", &plain(row));
    let length = bits * LENGTH * 0.75;
    let _ = writeln!(
        svg,
        "<rect class=\"{class}\" x=\"{}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"10\"/>",
        BITS + shift,
        y - 5.0
    );
    text(svg, BITS + shift + length + 6.0, y + 4.0, "soft", &format!("{:.1}", figures.bits));
    text(svg, RATE + shift, y + 4.0, "soft", &per_cent(figures.rate));
    for (x, (_, of)) in TIMES.into_iter().zip(COLUMNS) {
        let Some(against) = of(row) else { continue };
        let times = against.ratio.median;
        let x = x + shift;
        let to = x + along(times, most);
        let _ = writeln!(
            svg,
            "<path class=\"{class}\" d=\"M{x:.1} {y:.1}H{to:.1}\"/>\
             <circle class=\"{class}\" cx=\"{to:.1}\" cy=\"{y:.1}\" r=\"4\"/>"
        );
        text(svg, to + 8.0, y + 4.0, "soft", &short(times));
    }
    for (x, (_, can)) in CAN.into_iter().zip(MARKS) {
        if row.can.contains(&can) {
            let x = x + shift;
            let _ = writeln!(svg, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y:.1}\" r=\"5\"/>");
        }
    }
}

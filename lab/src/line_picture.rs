//! The picture of the line: where one key's bits lie in a filter of 32 lines, and in a classic one.

use crate::chart::{begin, placed, text};
use bloomline::definition::{classic, line};
use bloomline::hash::hash;
use std::fmt::Write;

const KEY: &str = "apple";
/// Bits that the key sets: those of 1 %.
const K: u32 = 6;
/// Cache lines that are shown of each filter.
const LINES: usize = 32;

const WIDTH: f64 = 1024.0;
const MARGIN: f64 = 12.0;
const STEP: f64 = (WIDTH - 2.0 * MARGIN) / LINES as f64;
const LANE: f64 = (WIDTH - 2.0 * MARGIN) / line::LANES as f64;
/// The height of a line, and of the same line drawn large.
const LOW: f64 = 24.0;
const HIGH: f64 = 40.0;

pub(crate) fn draw() -> String {
    let hash = hash(KEY, 0);
    let chosen = line::line_index(hash, LINES as u64) as usize;
    let mask = line::mask(hash, K);
    let bits = (LINES * 8 * line::LINE_BYTES) as u64;
    let anywhere: Vec<u64> = classic::positions(hash, K, bits).collect();
    let mut touched: Vec<usize> =
        anywhere.iter().map(|bit| (bit / line::LINE_BITS) as usize).collect();
    touched.sort_unstable();
    touched.dedup();

    let mut svg = begin(WIDTH, 316.0, "The bits of one key: in one cache line, and anywhere");
    let all = format!(
        "Both filters have {LINES} cache lines of 64 bytes. The key “{KEY}” has the hash {hash:#018x} and sets {K} bits."
    );
    text(&mut svg, MARGIN, 24.0, "soft", &all);

    text(
        &mut svg,
        MARGIN,
        54.0,
        "head",
        "Bloomline: the hash chooses one line, and in it bits of different lanes. One cache miss.",
    );
    lines(&mut svg, 64.0, "c0", &[chosen]);
    let (below, large) = (64.0 + LOW, 118.0);
    let from = MARGIN + STEP * chosen as f64;
    for (at, to) in [(from, MARGIN), (from + STEP - 4.0, WIDTH - MARGIN - 4.0)] {
        let _ =
            writeln!(svg, "<path class=\"c0 thin\" d=\"M{at:.1} {below:.1}L{to:.1} {large:.1}\"/>");
    }
    for (lane, bits) in mask.iter().enumerate() {
        let left = MARGIN + LANE * lane as f64;
        cell(&mut svg, "axis", left, large, LANE - 4.0, HIGH);
        let mut name = format!("lane {lane}");
        if *bits != 0 {
            let bit = bits.trailing_zeros();
            let _ = write!(name, ", bit {bit}");
            let width = (LANE - 4.0) / 64.0;
            cell(&mut svg, "c0", left + width * f64::from(bit), large, width, HIGH);
        }
        placed(&mut svg, left + LANE / 2.0 - 2.0, large + HIGH + 18.0, "middle", "soft", &name);
    }
    text(
        &mut svg,
        MARGIN,
        204.0,
        "soft",
        "A line is 8 lanes of 64 bits. AVX-512 compares them in one instruction, AVX2 and NEON in a few.",
    );

    let title =
        format!("A classic filter: each bit lies anywhere. {} cache misses.", touched.len());
    text(&mut svg, MARGIN, 244.0, "head", &title);
    lines(&mut svg, 254.0, "c4", &touched);
    let rate = "At 10 bits per key its false-positive rate is lower by a sixth: that is the price of the line.";
    text(&mut svg, MARGIN, 302.0, "soft", rate);
    svg + "</svg>\n"
}

/// All lines of a filter, some of them in a colour.
fn lines(svg: &mut String, top: f64, colour: &str, chosen: &[usize]) {
    for i in 0..LINES {
        let class = if chosen.contains(&i) { colour } else { "axis" };
        cell(svg, class, MARGIN + STEP * i as f64, top, STEP - 4.0, LOW);
    }
}

fn cell(svg: &mut String, class: &str, left: f64, top: f64, width: f64, height: f64) {
    let _ = writeln!(
        svg,
        "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
    );
}

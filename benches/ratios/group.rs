//! Groups against the faster of `views_contain_hash` and a loop; and the loop that only touches the lines, which
//! no group can beat by much.

use crate::common::data::size_name;
use crate::common::groups::{DEPENDENT, GROUP, LOOP, TOUCH, VIEWS, one_key, pairs};
use crate::common::rounds::{Plan, Times};
use crate::table::{Report, Row};
use crate::{KIB, MIB};
use bloomline::Backend;

/// Members, their size, and the ratio to reach where keys do not wait for each other.
const GROUPS: [(usize, usize, f64); 6] = [
    (8, 12 * KIB, 0.45),
    (60, 12 * KIB, 0.45),
    (4, 1250 * KIB, 0.7),
    (8, 1250 * KIB, 0.7),
    (30, 10 * MIB, 0.7),
    (8, 62 * MIB, 0.7),
];

/// The same of pairs.
const PAIRS: [(usize, usize, f64); 2] = [(30, 122 * KIB, 0.6), (30, 12 * MIB, 0.75)];

pub(crate) fn tables(report: &Report, plan: Plan, _: &[usize]) {
    report.heading("One key of a group, against the faster of `views_contain_hash` and a loop");
    for (count, size, at_most) in GROUPS {
        eprintln!("one key of {count}, {}", size_name(size));
        let times = one_key(plan, count, size);
        for (kind, at_most) in [("", at_most), (DEPENDENT, 1.0)] {
            let others = [LOOP, VIEWS].map(|name| format!("{name}{kind}"));
            let with = times.best(|name| others.iter().any(|other| other == name));
            let names = [&*format!("{GROUP}{kind}"), with];
            row(report, &format!("one key of {count}{kind}"), size, &times, names, Some(at_most));
            let names = [&*format!("{TOUCH}{kind}"), with];
            row(report, &format!("{TOUCH}, one key of {count}{kind}"), size, &times, names, None);
        }
    }
    report.heading("Pairs of a group, 16 in a call, against a loop");
    for (count, size, at_most) in PAIRS {
        eprintln!("pairs of {count}, {}", size_name(size));
        let times = pairs(plan, count, size);
        row(report, &format!("pairs of {count}"), size, &times, [GROUP, LOOP], Some(at_most));
        row(report, &format!("{TOUCH}, pairs of {count}"), size, &times, [TOUCH, LOOP], None);
    }
}

fn row(
    report: &Report,
    what: &str,
    size: usize,
    times: &Times,
    names: [&str; 2],
    at_most: Option<f64>,
) {
    let [ours, theirs] = names.map(|name| times.of(name));
    let backend = Backend::active().unwrap().name();
    report.row(Row { what, size, backend, ours, with: names[1], theirs, at_most });
}

//! One key of many filters, and keys with a filter each: a group, `views_contain_hash` and a loop.

use crate::common::data::size_name;
use crate::common::groups::{DEPENDENT, GROUP, IN_A_CALL, LOOP, VIEWS, one_key, pairs};
use crate::common::rounds::{Keys, Plan, Times, median};
use crate::speed::{Effort, short};
use crate::watch::Watch;
use std::fmt::Write;
use std::time::Duration;

/// How many filters, and the bytes of each.
const ONE: [(usize, usize); 3] = [(8, 12 << 10), (60, 12 << 10), (30, 10 << 20)];
const PAIRS: [(usize, usize); 2] = [(30, 122 << 10), (30, 10 << 20)];

/// The two tables.
pub(crate) fn tables(effort: Effort, watch: &mut Watch) -> String {
    let (rounds, turn) = if effort == Effort::Full { (15, 4) } else { (1, 0) };
    let plan = Plan { rounds, turn: Duration::from_millis(turn), keys: Keys::Hot };
    let mut text = String::from(
        "| ns per key | `Group` | `views_contain_hash` | loop | dependent: `Group` | \
         `views_contain_hash` | loop |\n|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for (count, size) in ONE {
        let both =
            ["", DEPENDENT].map(|how| [GROUP, VIEWS, LOOP].map(|name| format!("{name}{how}")));
        let name = format!("groups, {count} of {}", size_name(size));
        let times = watch.around(&name, || one_key(plan, count, size));
        row(&mut text, (count, size), &times, &both.concat());
    }
    let _ = writeln!(
        text,
        "\n| keys with a filter each, {IN_A_CALL} in a call: ns per key | `Group` | loop |\n\
         |---|---:|---:|"
    );
    for (count, size) in PAIRS {
        let name = format!("groups, pairs, {count} of {}", size_name(size));
        let times = watch.around(&name, || pairs(plan, count, size));
        row(&mut text, (count, size), &times, &[GROUP.into(), LOOP.into()]);
    }
    text
}

fn row(text: &mut String, (count, size): (usize, usize), times: &Times, names: &[String]) {
    eprintln!("groups: {count} of {}", size_name(size));
    let cells: String =
        names.iter().map(|name| format!(" {} |", short(median(times.of(name))))).collect();
    let _ = writeln!(text, "| {count} of {} |{cells}", size_name(size));
}

//! Point lookups: one key against 8 filters of 64 MiB, each key picked by the answer
//! to the one before, so that no two lookups overlap. Against one filter's probe in
//! the same chain, which is one miss.

use crate::MIB;
use crate::common::data::{Lookups, TABLES, chain};
use crate::common::rounds::{Plan, Rounds};
use crate::common::touch::{lines, touch_one};
use crate::table::{Report, Row};
use bloomline::{Backend, views_contain_hash};

const SIZE: usize = 64 * MIB;

pub(crate) fn tables(report: &Report, plan: Plan, _: &[usize]) {
    eprintln!("point lookups, {TABLES} filters");
    let lookups = Lookups::new(SIZE);
    let (pairs, _) = lookups.hashes.as_chunks::<2>();
    let mut rounds = Rounds::new(plan);
    let tables: Vec<_> = lookups.tables.iter().map(|table| lines(&table[..SIZE])).collect();
    let first = tables[0];
    rounds.add("touch", pairs, move |pairs| chain(pairs, |hash| touch_one(first, hash)));
    rounds.add("touch, in turn", pairs, move |pairs| {
        let mut turn = 0;
        chain(pairs, |hash| {
            turn = (turn + 1) % TABLES;
            touch_one(tables[turn], hash)
        })
    });
    for backend in Backend::available() {
        let (name, views) = (backend.name(), lookups.views(backend));
        rounds.add(format!("{name}, one"), pairs, move |pairs| {
            chain(pairs, |hash| usize::from(views[0].contains_hash(hash)))
        });
        rounds.add(format!("{name}, in turn"), pairs, move |pairs| {
            let mut turn = 0;
            chain(pairs, |hash| {
                turn = (turn + 1) % TABLES;
                usize::from(views[turn].contains_hash(hash))
            })
        });
        rounds.add(format!("{name}, all"), pairs, move |pairs| {
            let mut answers = [0];
            chain(pairs, |hash| views_contain_hash(&views, hash, &mut answers))
        });
    }
    let times = rounds.run();

    report.heading("Point lookups: one key against 8 filters, each key picked by the last answer");
    let row = |what, backend, ours: &str, with, theirs: &str, at_most| {
        let (ours, theirs) = (times.of(ours), times.of(theirs));
        report.row(Row { what, size: SIZE, backend, ours, with, theirs, at_most });
    };
    for backend in Backend::available().map(Backend::name) {
        let of = |what| format!("{backend}, {what}");
        let all = of("all");
        row("one key, 8 filters", backend, &all, "one filter", &of("one"), Some(2.5));
        let with = "the 8 filters, one in turn";
        row("one key, 8 filters", backend, &all, with, &of("in turn"), None);
        row("one key, one filter", backend, &of("one"), "touch", "touch", None);
        row("one key, one in turn", backend, &of("in turn"), "touch", "touch, in turn", None);
    }
}

//! Groups: one key of many filters against `views_contain_hash` and against a loop, and many keys,
//! each in a filter of its own, against a loop.

use crate::common::data::{chain, hashes, mix, size_name};
use crate::common::rounds::{Plan, Rounds};
use crate::table::{Report, Row};
use crate::{KIB, MIB};
use bloomline::{Backend, Filter, Group, Params, View, views_contain_hash};
use std::hint::black_box;

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

/// Keys in a call for pairs.
const IN_A_CALL: usize = 16;

pub(crate) fn tables(report: &Report, plan: Plan, _: &[usize]) {
    report.heading("One key of a group, against the faster of `views_contain_hash` and a loop");
    for (count, size, at_most) in GROUPS {
        one_key(report, plan, (count, size), at_most);
    }
    report.heading("Pairs of a group, 16 in a call, against a loop");
    for (count, size, at_most) in PAIRS {
        pairs(report, plan, (count, size), at_most);
    }
}

/// Filters that are about half full, and hashes of which half are in one of them.
fn filters(count: usize, size: usize) -> (Vec<Filter>, Vec<u64>) {
    let keys = size * 8 / 10;
    let stream = |stream| hashes(stream, keys);
    let filters = (0..count).map(|i| {
        let mut filter = Filter::new(Params::new((size / 64) as u64, 6, 0).unwrap()).unwrap();
        filter.insert_hashes(&stream(i as u64));
        filter
    });
    let filters = filters.collect();
    let (own, other) = (stream(0), hashes(1000, 1 << 16));
    let pool = |i: usize| if mix(i as u64) & 1 == 0 { own[i % keys] } else { other[i] };
    (filters, (0..1 << 16).map(pool).collect())
}

fn one_key(report: &Report, plan: Plan, (count, size): (usize, usize), at_most: f64) {
    eprintln!("one key of {count}, {}", size_name(size));
    let (filters, pool) = filters(count, size);
    let views: Vec<View<'_>> = filters.iter().map(Filter::view).collect();
    let group = Group::new(views.iter().copied()).unwrap();
    let looped = |hash: u64| {
        let mut answers = 0_u64;
        for (i, view) in views.iter().enumerate() {
            answers |= u64::from(view.contains_hash(hash)) << i;
        }
        black_box(answers).count_ones() as usize
    };
    let together = |hash: u64| {
        let mut answers = [0];
        let present = views_contain_hash(&views, hash, &mut answers);
        present + (black_box(answers)[0] & 1) as usize
    };
    let grouped = |hash: u64| {
        let mut answers = [0];
        let present = group.contains_hash(hash, &mut answers);
        present + (black_box(answers)[0] & 1) as usize
    };
    let (pairs, _) = pool.as_chunks::<2>();
    let mut rounds = Rounds::new(plan);
    rounds.add("a loop", pairs, |pairs| pairs.iter().map(|pair| looped(pair[0])).sum());
    rounds.add("views", pairs, |pairs| pairs.iter().map(|pair| together(pair[0])).sum());
    rounds.add("group", pairs, |pairs| pairs.iter().map(|pair| grouped(pair[0])).sum());
    rounds.add("a loop, chained", pairs, |pairs| chain(pairs, looped));
    rounds.add("views, chained", pairs, |pairs| chain(pairs, together));
    rounds.add("group, chained", pairs, |pairs| chain(pairs, grouped));
    let times = rounds.run();
    for (kind, at_most) in [("", at_most), (", chained", 1.0)] {
        let what = &*format!("one key of {count}{kind}");
        let others = ["a loop", "views"].map(|name| format!("{name}{kind}"));
        let with = times.best(|name| others.iter().any(|other| other == name));
        let (ours, theirs) = (times.of(&format!("group{kind}")), times.of(with));
        let (backend, at_most) = (Backend::active().unwrap().name(), Some(at_most));
        report.row(Row { what, size, backend, ours, with, theirs, at_most });
    }
}

fn pairs(report: &Report, plan: Plan, (count, size): (usize, usize), at_most: f64) {
    eprintln!("pairs of {count}, {}", size_name(size));
    let (filters, pool) = filters(count, size);
    let views: Vec<View<'_>> = filters.iter().map(Filter::view).collect();
    let group = Group::new(views.iter().copied()).unwrap();
    let members: Vec<u32> = (0..pool.len()).map(|i| mix(!i as u64) as u32 % count as u32).collect();
    let members = &members[..];
    let mut rounds = Rounds::new(plan);
    let call = |hashes: &[u64], answer: &dyn Fn(&[u32], &[u64]) -> usize| {
        let calls = members.chunks(IN_A_CALL).zip(hashes.chunks(IN_A_CALL));
        calls.map(|(members, hashes)| answer(members, hashes)).sum()
    };
    rounds.add("a loop", &pool, |hashes| {
        call(hashes, &|members, hashes| {
            let mut answers = 0_u64;
            for (i, (&member, &hash)) in members.iter().zip(hashes).enumerate() {
                answers |= u64::from(views[member as usize].contains_hash(hash)) << i;
            }
            black_box(answers).count_ones() as usize
        })
    });
    rounds.add("group", &pool, |hashes| {
        call(hashes, &|members, hashes| {
            let mut answers = [0];
            group.contains_pairs(members, hashes, &mut answers) + black_box(answers)[0] as usize % 2
        })
    });
    let times = rounds.run();
    let (what, with) = (&*format!("pairs of {count}"), "a loop");
    let (ours, theirs) = (times.of("group"), times.of(with));
    let (backend, at_most) = (Backend::active().unwrap().name(), Some(at_most));
    report.row(Row { what, size, backend, ours, with, theirs, at_most });
}

//! Batches of a few keys against single probes, and one key of several views against a loop over
//! them: neither should be slower.

use crate::common::data::{chain, hashes, size_name};
use crate::common::rounds::{Plan, Rounds};
use crate::table::{Report, Row};
use crate::{KIB, MIB};
use bloomline::{Backend, Filter, Params, View, views_contain_hash};

const COUNTS: [usize; 5] = [1, 2, 4, 8, 16];
const VIEWS: [usize; 5] = [2, 4, 8, 16, 100];

pub(crate) fn tables(report: &Report, plan: Plan, _: &[usize]) {
    report.heading("A few hashes in a call, against as many calls for one");
    few(report, plan, 250 * KIB, [1.3, 1.0, 1.0, 1.0, 0.75]);
    few(report, plan, 64 * MIB, [1.2, 0.8, 0.8, 0.8, 0.5]);
    report.heading("One key of several views, against a loop over them");
    for size in [KIB, 12 * KIB, 1200 * KIB, 60 * MIB] {
        for count in VIEWS.into_iter().filter(|count| count * size <= 1024 * MIB) {
            views(report, plan, size, count);
        }
    }
}

/// A filter that is about half full.
fn filter(size: usize, stream: u64) -> Filter {
    let mut filter = Filter::new(Params::new((size / 64) as u64, 6, 0).unwrap()).unwrap();
    filter.insert_hashes(&hashes(stream, size * 8 / 10));
    filter
}

fn few(report: &Report, plan: Plan, size: usize, at_most: [f64; 5]) {
    eprintln!("a few keys, {}", size_name(size));
    let filter = filter(size, 0);
    let pool = hashes(0, (size * 8 / 5).min(1 << 20));
    let mut rounds = Rounds::new(plan);
    rounds.add("one", &pool, |hashes| {
        hashes.iter().map(|&hash| usize::from(filter.contains_hash(hash))).sum()
    });
    for count in COUNTS {
        let filter = &filter;
        rounds.add(name(count), &pool, move |hashes| {
            let mut answers = [0];
            hashes.chunks(count).map(|hashes| filter.contains_hashes(hashes, &mut answers)).sum()
        });
    }
    let times = rounds.run();
    for (count, at_most) in COUNTS.into_iter().zip(at_most) {
        let (what, backend) = (&*name(count), filter.backend().name());
        let (ours, theirs) = (times.of(what), times.of("one"));
        let row = Row { what, size, backend, ours, with: "one", theirs, at_most: Some(at_most) };
        report.row(row);
    }
}

fn name(count: usize) -> String {
    format!("{count} in a call")
}

/// With keys that do not wait for each other, and with keys each picked by the last answer.
fn views(report: &Report, plan: Plan, size: usize, count: usize) {
    eprintln!("one key of {count} views, {}", size_name(size));
    let filters: Vec<Filter> = (0..count as u64).map(|stream| filter(size, stream)).collect();
    let views: Vec<View<'_>> = filters.iter().map(Filter::view).collect();
    let pool = hashes(count as u64, 1 << 14);
    let (pairs, _) = pool.as_chunks::<2>();
    let looped = |hash: u64| {
        let (mut answers, mut present) = ([0_u64; 2], 0);
        for (i, view) in views.iter().enumerate() {
            let hit = view.contains_hash(hash);
            answers[i / 64] |= u64::from(hit) << (i % 64);
            present += usize::from(hit);
        }
        present + (std::hint::black_box(answers)[0] & 1) as usize
    };
    let together = |hash: u64| {
        let mut answers = [0_u64; 2];
        let present = views_contain_hash(&views, hash, &mut answers);
        present + (std::hint::black_box(answers)[0] & 1) as usize
    };
    let mut rounds = Rounds::new(plan);
    rounds.add("loop", pairs, |pairs| pairs.iter().map(|pair| looped(pair[0])).sum());
    rounds.add("ours", pairs, |pairs| pairs.iter().map(|pair| together(pair[0])).sum());
    rounds.add("loop, chained", pairs, |pairs| chain(pairs, looped));
    rounds.add("ours, chained", pairs, |pairs| chain(pairs, together));
    let times = rounds.run();
    for (kind, large) in [("", 1.0 / 1.2), (", chained", 1.0 / 1.4)] {
        let what = &*format!("one key of {count} views{kind}");
        let (ours, theirs) = (format!("ours{kind}"), format!("loop{kind}"));
        let at_most = Some(if size >= 60 * MIB && count == 8 { large } else { 1.0 });
        let (ours, theirs) = (times.of(&ours), times.of(&theirs));
        let backend = Backend::active().unwrap().name();
        report.row(Row { what, size, backend, ours, with: "a loop", theirs, at_most });
    }
}

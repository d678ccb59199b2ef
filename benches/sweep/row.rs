//! The row of this machine for `src/kernel/cores.rs`, in Rust: the multiples of its L2 whose regret is
//! least. The regret is how much longer a plan takes than the best plan of each size: the mean over
//! all sizes, and the worst.
//!
//! A row serves all backends of a CPU: it is the one with the least regret of all that were swept.

use crate::common::data::{chain, size_name};
use crate::common::groups::filters;
use crate::common::machine;
use crate::common::rounds::{Plan, Rounds, Times, median};
use crate::{PLANS, plan_name};
use bloomline::internals::{Prefetch, Tried, views_contain_hash_with};
use bloomline::{Backend, Filter, View};
use std::hint::black_box;

/// What was timed: by backend, the times of each size.
pub(crate) struct Swept<'a> {
    pub(crate) sizes: &'a [usize],
    pub(crate) probes: Vec<(Backend, &'a [Times])>,
    pub(crate) inserts: Vec<(Backend, &'a [Times])>,
    pub(crate) views: Vec<Views>,
}

/// One key of many filters: the bytes of all, and nanoseconds per key without a prefetch and with it,
/// where keys do not wait for each other and where they do.
pub(crate) struct Views {
    count: usize,
    size: usize,
    ns: [[f64; 2]; 2],
}

/// Mean and worst.
type Regret = (f64, f64);

/// Numbers of filters, and their sizes.
const COUNTS: [usize; 2] = [16, 60];
const SIZES: [usize; 5] = [12 << 10, 128 << 10, 512 << 10, 2 << 20, 8 << 20];

/// Times one key of many filters.
pub(crate) fn views(plan: Plan) -> Vec<Views> {
    let each = SIZES.into_iter().flat_map(|size| COUNTS.map(|count| (count, size)));
    each.map(|(count, size)| {
        eprintln!("one key of {count} filters of {}", size_name(size));
        let (filters, pool) = filters(count, size);
        let views: Vec<View<'_>> = filters.iter().map(Filter::view).collect();
        let (views, (pairs, _)) = (&views, pool.as_chunks::<2>());
        let answer = |hash, prefetches| {
            let mut answers = [0];
            let present = views_contain_hash_with(views, hash, prefetches, &mut answers);
            present + (black_box(answers)[0] & 1) as usize
        };
        let mut rounds = Rounds::new(plan);
        for (name, prefetches) in [("without", false), ("with", true)] {
            rounds.add(name, pairs, move |pairs| {
                pairs.iter().map(|pair| answer(pair[0], prefetches)).sum()
            });
            rounds.add(format!("{name}, chained"), pairs, move |pairs| {
                chain(pairs, |hash| answer(hash, prefetches))
            });
        }
        let times = rounds.run();
        let ns = |name: &str| median(times.of(name));
        let ns = [["without", "with"], ["without, chained", "with, chained"]].map(|of| of.map(ns));
        Views { count, size, ns }
    })
    .collect()
}

/// Prints the regret of each backend, and the row.
pub(crate) fn print(swept: &Swept<'_>) {
    let found = swept.find();
    let (row, chosen) = (Tried::new(found), Tried::chosen());
    println!("\n### One key of many filters: with a prefetch to without\n");
    println!("| filters | all together | ns without | ratio | dependent: ns without | ratio |");
    println!("|---|---|---|---|---|---|");
    for Views { count, size, ns: [[without, with], [without_2, with_2]] } in &swept.views {
        println!(
            "| {count} of {} | {} | {without:.1} | {:.2} | {without_2:.1} | {:.2} |",
            size_name(*size),
            size_name(count * size),
            with / without,
            with_2 / without_2
        );
    }
    println!("\n### The row of this machine\n");
    println!("| regret: mean, worst | by this row | by the library's choice |");
    println!("|---|---|---|");
    let line = |what: String, [this, chosen]: [Regret; 2]| {
        let text = |(mean, worst)| format!("{:.0} %, {:.0} %", 100.0 * mean, 100.0 * worst);
        println!("| {what} | {} | {} |", text(this), text(chosen));
    };
    for each in &swept.probes {
        let by = |row: Tried| swept.regret(each, |bytes| row.to_probe(bytes));
        line(format!("{}, probes", each.0.name()), [row, chosen].map(by));
    }
    for each in &swept.inserts {
        let by = |row: Tried| swept.regret(each, |bytes| row.to_insert(bytes));
        line(format!("{}, inserts", each.0.name()), [row, chosen].map(by));
    }
    line("one key of many filters".into(), [row, chosen].map(|row| swept.regret_of_views(row)));
    let [far, near, insert_far, insert_near, views] = found;
    println!("\n```rust");
    machine::describe().lines().take(2).for_each(|line| println!("    // {}", &line[2..]));
    println!("    Row {{");
    println!("        is_of: {},", Tried::is_of());
    println!("        far: {far},\n        several: {far}, // not measured\n        near: {near},");
    println!("        insert_far: {insert_far},\n        insert_near: {insert_near},");
    println!("        views: {views},\n    }},\n```");
}

impl Swept<'_> {
    /// The multiples with the least mean regret, in a row's order.
    fn find(&self) -> [usize; 5] {
        let unit = Tried::unit();
        let times = |&bytes: &usize| bytes.div_ceil(unit);
        let mut multiples: Vec<usize> = self.sizes.iter().map(times).collect();
        multiples.sort_unstable();
        multiples.dedup();
        // As good as nowhere.
        multiples.push(2 * multiples.last().expect("sizes were swept"));
        let of_probes = |&(far, near): &(usize, usize)| {
            let row = Tried::new([far, near, far, near, 0]);
            self.probes.iter().map(|each| self.regret(each, |bytes| row.to_probe(bytes)).0).sum()
        };
        let pairs = multiples.iter().enumerate();
        let pairs = pairs.flat_map(|(i, &far)| multiples[i..].iter().map(move |&near| (far, near)));
        let (far, near) = least(pairs, of_probes);

        // The library scales the second as it does `near`, which half of L3 may bound.
        let of_inserts = |&(insert_far, insert_near): &(usize, usize)| {
            let row = Tried::new([far, near, insert_far, insert_near, 0]);
            self.inserts.iter().map(|each| self.regret(each, |bytes| row.to_insert(bytes)).0).sum()
        };
        let nears = [1, 2, 4, 8, 16].map(|times| times * near);
        let pairs = multiples.iter().flat_map(|&far| nears.map(|near| (far, near)));
        let (insert_far, insert_near) = least(pairs, of_inserts);

        // 0 is nowhere, and the last of those that are as good.
        let mut from: Vec<usize> =
            self.views.iter().map(|views| times(&(views.count * views.size))).collect();
        from.push(0);
        let of_views = |&views: &usize| {
            self.regret_of_views(Tried::new([far, near, insert_far, insert_near, views])).0
        };
        [far, near, insert_far, insert_near, least(from.into_iter(), of_views)]
    }

    /// How much longer a backend takes by a plan for each size than by the best one.
    fn regret(
        &self,
        (backend, times): &(Backend, &[Times]),
        plan: impl Fn(usize) -> Prefetch,
    ) -> Regret {
        let each = self.sizes.iter().zip(*times).map(|(&size, times)| {
            let ns = |plan| median(times.of(&format!("{}, {}", backend.name(), plan_name(plan))));
            ns(plan(size)) / PLANS.map(ns).into_iter().fold(f64::MAX, f64::min) - 1.0
        });
        mean_and_worst(each)
    }

    /// The same of one key of many filters.
    fn regret_of_views(&self, row: Tried) -> Regret {
        let each = self.views.iter().flat_map(|&Views { count, size, ns }| {
            let prefetches = row.to_probe_views(count * size);
            ns.map(|[without, with]| {
                let ns = if prefetches { with } else { without };
                ns / without.min(with) - 1.0
            })
        });
        mean_and_worst(each)
    }
}

/// The first of those with the least regret.
fn least<T>(of: impl Iterator<Item = T>, regret: impl Fn(&T) -> f64) -> T {
    of.min_by(|a, b| regret(a).total_cmp(&regret(b))).expect("there are some")
}

fn mean_and_worst(each: impl Iterator<Item = f64>) -> Regret {
    let each: Vec<f64> = each.collect();
    (each.iter().sum::<f64>() / each.len() as f64, each.into_iter().fold(0.0, f64::max))
}

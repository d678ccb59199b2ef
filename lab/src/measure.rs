//! Filling, probing and emptying filters in turn: each gets some keys, then the next gets the same,
//! round after round, so that other work on the machine hits all alike.

use crate::common::data::{hashes, mix};
use crate::common::memory::Array;
use crate::common::rounds::{BATCH, Plan, Rounds, median, processor_time};
use crate::contender::{By, Contender, Kind, Shared, Size, Sizes};
use crate::limits::IN_BATCHES;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How large the filters are, and how long to measure them.
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) keys: u64,
    /// Fillings from empty to full that are timed, after one that is not.
    pub(crate) fills: usize,
    /// Parts of a filling that are timed by themselves.
    pub(crate) parts: u64,
    /// Whether all are filled once more, by a call for each key.
    pub(crate) each: bool,
    /// Probes that are timed in a round; of those that wait, at most an eighth of a million.
    pub(crate) probes: usize,
    /// How they are probed.
    pub(crate) ways: Vec<(Way, Mix)>,
    /// Whether keys are removed, where they can be.
    pub(crate) remove: bool,
    pub(crate) plan: Plan,
}

/// How a filter is probed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// A loop of single probes.
    Single,
    /// Single probes that wait for each other.
    Waiting,
    /// In the way that suits it best: a batch call, if it has one.
    Best,
    /// Calls for so many keys; not of filters without such a call.
    Calls(usize),
}

impl Way {
    pub(crate) fn name(self) -> String {
        match self {
            Way::Single => "probe one".into(),
            Way::Waiting => "dependent".into(),
            Way::Best => "best".into(),
            Way::Calls(BATCH) => "probe batch".into(),
            Way::Calls(each) => format!("batch of {each}"),
        }
    }
}

/// Which keys are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mix {
    /// Half of them present, in no order.
    Half,
    Present,
    Absent,
}

impl Mix {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mix::Half => "half present",
            Mix::Present => "present",
            Mix::Absent => "absent",
        }
    }
}

/// A filter to be measured.
pub(crate) struct Entry<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) size: Size,
}

/// What was measured of one. Times are nanoseconds of processor time per key, a value for each
/// round or part.
#[derive(Default)]
pub(crate) struct Measured {
    /// In memory.
    pub(crate) bytes: usize,
    pub(crate) bits: f64,
    /// False positives, of keys that are not in.
    pub(crate) rate: f64,
    /// In batches; empty if it has no such call.
    pub(crate) insert: Vec<f64>,
    /// By a call for each key, where that is measured or the only way.
    pub(crate) insert_each: Vec<f64>,
    pub(crate) probes: Vec<(Way, Mix, Vec<f64>)>,
    /// Empty where keys cannot be removed.
    pub(crate) remove: Vec<f64>,
}

impl Measured {
    /// In the fastest way that its documentation names.
    pub(crate) fn best_insert(&self) -> &[f64] {
        if self.insert.is_empty() { &self.insert_each } else { &self.insert }
    }

    /// Empty if it is not probed so.
    pub(crate) fn probe(&self, way: Way, mix: Mix) -> &[f64] {
        let found = self.probes.iter().find(|probe| (probe.0, probe.1) == (way, mix));
        found.map_or(&[], |probe| &probe.2)
    }
}

/// Parts of a filling in a row that are much alike.
pub(crate) const RUN: usize = 3;

/// The time of a filling from empty to full. A part that something else has disturbed should not count,
/// but the last ones may well take longer than the first: so the mean of the medians of a few parts in a
/// row.
pub(crate) fn of_a_filling(parts: &[f64]) -> f64 {
    let runs = parts.as_chunks::<RUN>().0;
    runs.iter().map(|run| median(run)).sum::<f64>() / runs.len() as f64
}

/// The streams of present and of absent keys.
const PRESENT: u64 = 0;
const ABSENT: u64 = 1;
/// Probes for the rate of false positives.
pub(crate) const ABSENTEES: usize = 1 << 20;
/// Parts of the keys that are removed, and how many of them are.
const REMOVED: u64 = 8;
const REMOVE_PARTS: u64 = 64;

/// Part `part` of `parts` of the keys.
pub(crate) fn part_of_keys(keys: u64, part: u64, parts: u64) -> Array<u64> {
    let (from, to) = (keys * part / parts, keys * (part + 1) / parts);
    let all = mix(PRESENT + 1);
    Array::from_fn((to - from) as usize, |i| mix(all.wrapping_add(from + i as u64)))
}

/// So many absent keys.
pub(crate) fn absent_keys(count: usize) -> Array<u64> {
    hashes(ABSENT, count)
}

/// The time that work on hashes takes, done by batches that have just been copied.
fn timed(hashes: &[u64], mut work: impl FnMut(&[u64])) -> f64 {
    let mut hot = Vec::with_capacity(BATCH);
    let mut total = Duration::ZERO;
    for batch in hashes.chunks(BATCH) {
        hot.clear();
        hot.extend_from_slice(batch);
        let start = processor_time();
        work(black_box(&hot));
        total += processor_time() - start;
    }
    total.as_nanos() as f64 / hashes.len() as f64
}

/// Measures all of them, of one class. None of a kind that cannot be of the size.
pub(crate) fn measure(class: &Class, entries: &[Entry<'_>]) -> Vec<Option<Measured>> {
    let running = |entry| Running { entry, contender: None, measured: Measured::default() };
    let mut members: Vec<Running<'_>> = entries.iter().map(running).collect();
    fill(class, &mut members);
    ask(class, &mut members);
    if class.remove {
        remove(class, &mut members);
    }
    members.into_iter().map(|running| running.contender.map(|_| running.measured)).collect()
}

/// One that is being measured.
struct Running<'a> {
    entry: &'a Entry<'a>,
    /// None before it is made, and if it cannot be of the size.
    contender: Option<Box<dyn Contender>>,
    measured: Measured,
}

/// Fills them from empty to full, the last time for good.
fn fill(class: &Class, members: &mut [Running<'_>]) {
    if class.each {
        fill_by(class, members, Insert::Each);
    }
    fill_by(class, members, Insert::Best);
}

/// How keys are inserted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Insert {
    /// By a call for each; not into filters that have another way, too, and not that.
    Each,
    /// In batches, where there is such a call.
    Best,
}

fn fill_by(class: &Class, members: &mut [Running<'_>], how: Insert) {
    // The first of several only warms up.
    let warm_up = usize::from(class.fills > 1);
    let has_both = |contender: &mut Box<dyn Contender>| {
        contender.insert_batch(&[]) && contender.insert_each(&[])
    };
    for round in 0..class.fills + warm_up {
        for part in 0..class.parts {
            let hashes = part_of_keys(class.keys, part, class.parts);
            for turn in 0..members.len() {
                let i = (turn + round + part as usize) % members.len();
                let Running { entry, contender, measured } = &mut members[i];
                if part == 0 {
                    // First the memory of the one before is given back.
                    *contender = None;
                    *contender = (entry.kind.build)(class.keys, entry.size);
                    // What has one way to insert is filled once.
                    contender.take_if(|contender| how == Insert::Each && !has_both(contender));
                }
                let Some(contender) = contender else { continue };
                let mut by_batch = how == Insert::Best;
                let ns = timed(&hashes, |hashes| {
                    by_batch = by_batch && contender.insert_batch(hashes);
                    assert!(by_batch || contender.insert_each(hashes), "it has a way to insert");
                });
                if round >= warm_up {
                    let to =
                        if by_batch { &mut measured.insert } else { &mut measured.insert_each };
                    to.push(ns);
                }
            }
            if class.keys > 1 << 22 {
                eprint!("\r{}: {} of {} parts inserted", class.name, part + 1, class.parts);
            }
        }
    }
    if class.keys > 1 << 22 {
        eprintln!();
    }
    for Running { contender, measured, .. } in members {
        // What is built at the end is shared among the keys.
        let Some(contender) = contender else { continue };
        let start = processor_time();
        contender.filled();
        let ns = (processor_time() - start).as_nanos() as f64 / class.keys as f64;
        let of_it = if measured.insert.is_empty() || how == Insert::Each {
            &mut measured.insert_each
        } else {
            &mut measured.insert
        };
        of_it.iter_mut().for_each(|some| *some += ns);
    }
}

/// Probes them in all ways.
fn ask(class: &Class, members: &mut [Running<'_>]) {
    eprintln!("{}: probing", class.name);
    let absent = absent_keys(ABSENTEES.max(class.probes));
    let some = part_of_keys(class.keys, 0, class.keys.div_ceil(1 << 17));
    for running in members.iter_mut() {
        let Some(contender) = &running.contender else { continue };
        let name = &running.entry.kind.name;
        let limit = running.entry.kind.by == By::Limit;
        assert!(limit || contender.probe(&some) == some.len(), "{name} denies keys");
        let bytes = contender.bytes();
        let positives = contender.probe(&absent[..ABSENTEES]) as f64 / ABSENTEES as f64;
        running.measured.bytes = bytes;
        running.measured.bits = bytes as f64 * 8.0 / class.keys as f64;
        running.measured.rate = if limit { f64::NAN } else { positives };
    }
    let mixes = [Mix::Half, Mix::Present, Mix::Absent];
    for mix in mixes {
        for &(way, of) in &class.ways {
            if of == mix {
                ask_so(class, way, mix, members, &absent);
            }
        }
    }
}

/// Probes them in one way.
fn ask_so(class: &Class, way: Way, mix: Mix, members: &mut [Running<'_>], absent: &[u64]) {
    let probes = probes(class.keys, class.probes, mix, absent);
    let pairs = probes.as_chunks::<2>().0;
    let pairs = &pairs[..pairs.len().min(1 << 17)];
    let mut rounds = Rounds::new(class.plan);
    for (i, running) in members.iter().enumerate() {
        let (name, Some(contender)) = (i.to_string(), &running.contender) else { continue };
        match way {
            // Its loop over single keys is another contender.
            Way::Single | Way::Waiting if running.entry.kind.name.starts_with(IN_BATCHES) => (),
            _ if mix != Mix::Half && running.entry.kind.sizes == Sizes::Two => (),
            Way::Single => rounds.add(name, &probes, |hashes| contender.singles(hashes)),
            Way::Waiting => rounds.add(name, pairs, |pairs| contender.one_by_one(pairs)),
            Way::Best => rounds.add(name, &probes, |hashes| contender.probe(hashes)),
            Way::Calls(each) => {
                if contender.batches(&[], each).is_some() {
                    rounds.add(name, &probes, move |hashes| {
                        contender.batches(hashes, each).unwrap_or(0)
                    });
                }
            }
        }
    }
    let times = rounds.run();
    let names: Vec<usize> = times.names().map(|name| name.parse().expect("a number")).collect();
    for i in names {
        let ns = times.of(&i.to_string()).to_vec();
        members[i].measured.probes.push((way, mix, ns));
    }
}

/// The keys to ask for: so many, of a filter of so many keys.
pub(crate) fn probes(keys: u64, count: usize, which: Mix, absent: &[u64]) -> Array<u64> {
    let present = mix(PRESENT + 1);
    Array::from_fn(count, |i| {
        let random = mix(i as u64 ^ 0x5555);
        let is_in = match which {
            Mix::Half => random & 1 == 1,
            Mix::Present => true,
            Mix::Absent => false,
        };
        if is_in { mix(present.wrapping_add(mix(random) % keys)) } else { absent[i] }
    })
}

/// Removes some of the keys.
fn remove(class: &Class, members: &mut [Running<'_>]) {
    for part in 0..REMOVED {
        let hashes = part_of_keys(class.keys, part, REMOVE_PARTS);
        for Running { contender, measured, .. } in members.iter_mut() {
            let Some(contender) = contender else { continue };
            let mut removed = Some(0);
            let ns = timed(&hashes, |hashes| {
                removed = removed.zip(contender.remove(hashes)).map(|(sum, some)| sum + some);
            });
            if let Some(removed) = removed {
                assert_eq!(removed, hashes.len(), "keys that are in are removed");
                measured.remove.push(ns);
            }
        }
    }
}

/// What threads do: nanoseconds per key, a value for each part or round.
pub(crate) struct Threads {
    /// By one thread, and by two: the processor time of the slower one, over the keys of both.
    pub(crate) insert: [Vec<f64>; 2],
    pub(crate) probe: [Vec<f64>; 2],
}

/// Fills a filter, one thread and two taking turns by parts, and asks it in the same way.
pub(crate) fn threads(class: &Class, build: &dyn Fn(u64) -> Box<dyn Shared>) -> Threads {
    let mut times = Threads { insert: Default::default(), probe: Default::default() };
    // Small filters are built several times, each time by turns.
    let parts = if class.parts == 1 { 4 } else { class.parts };
    for _ in 0..class.fills {
        let filter = build(class.keys);
        for part in 0..parts {
            let hashes = part_of_keys(class.keys, part, parts);
            let way = (part % 2) as usize;
            times.insert[way].push(by_threads(1 + way, &hashes, |some| filter.insert(some)));
        }
        let probes = part_of_keys(class.keys, 0, class.keys.div_ceil(class.probes as u64));
        for _ in 0..class.plan.rounds {
            for (threads, times) in (1..).zip(&mut times.probe) {
                let probe = |some: &[u64]| {
                    black_box(filter.probe(some));
                };
                times.push(by_threads(threads, &probes, probe));
            }
        }
    }
    times
}

/// Each thread does its share, all beginning at once.
fn by_threads(threads: usize, hashes: &[u64], work: impl Fn(&[u64]) + Sync) -> f64 {
    let waiting = AtomicUsize::new(threads);
    let share = |part: &[u64]| {
        waiting.fetch_sub(1, Ordering::Relaxed);
        while waiting.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
        let start = processor_time();
        part.chunks(BATCH).for_each(|batch| work(black_box(batch)));
        processor_time() - start
    };
    let slower = thread::scope(|scope| {
        let parts = hashes.chunks(hashes.len().div_ceil(threads));
        let running: Vec<_> = parts.map(|part| scope.spawn(|| share(part))).collect();
        running.into_iter().map(|thread| thread.join().expect("no thread panics")).max()
    });
    slower.expect("there is a thread").as_nanos() as f64 / hashes.len() as f64
}

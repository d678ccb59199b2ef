//! Filling, probing and emptying filters in turn: each gets some keys, then the next gets the same,
//! round after round, so that other work on the machine hits all alike.

use crate::common::data::{hashes, mix};
use crate::common::memory::Array;
use crate::common::rounds::{BATCH, Keys, Plan, Rounds, processor_time};
use crate::member::{Kind, Member, Shared, Timed};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Parts in a row that are much alike: see `report`.
pub(crate) const RUN: usize = 3;

/// How large the filters are, and how long to measure them.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) keys: u64,
    /// Fillings from empty to full that are timed, after one that is not.
    pub(crate) fills: usize,
    /// Parts of a filling that are timed by themselves.
    pub(crate) parts: u64,
    /// Probes that are timed in a round; of single ones, at most an eighth of a million.
    pub(crate) probes: usize,
    pub(crate) plan: Plan,
}

/// A filter to be measured.
pub(crate) struct Entry<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) timed: &'a Timed,
}

/// What was measured of one. Times are nanoseconds of processor time per key, a value for each
/// round or part.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) bits: f64,
    /// False positives, of keys that are not in.
    pub(crate) rate: f64,
    pub(crate) insert: Vec<f64>,
    pub(crate) probe: Vec<f64>,
    pub(crate) one: Vec<f64>,
    /// Empty where keys cannot be removed.
    pub(crate) remove: Vec<f64>,
}

/// The streams of present and of absent keys.
const PRESENT: u64 = 0;
const ABSENT: u64 = 1;
/// Probes for the rate of false positives.
const ABSENTEES: usize = 1 << 20;
/// Parts of the keys that are removed, and how many of them are.
const REMOVED: u64 = 8;
const REMOVE_PARTS: u64 = 64;

/// Part `part` of `parts` of the keys.
fn part_of_keys(keys: u64, part: u64, parts: u64) -> Array<u64> {
    let (from, to) = (keys * part / parts, keys * (part + 1) / parts);
    let all = mix(PRESENT + 1);
    Array::from_fn((to - from) as usize, |i| mix(all.wrapping_add(from + i as u64)))
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

/// Measures all of them, of one class.
pub(crate) fn measure(class: &Class, entries: &[Entry<'_>]) -> Vec<Measured> {
    let mut all: Vec<Measured> = entries.iter().map(|_| Measured::default()).collect();
    let mut members = fill(class, entries, &mut all);
    members.iter_mut().for_each(|member| member.filled());
    ask(class, entries, &members, &mut all);
    for part in 0..REMOVED {
        let hashes = part_of_keys(class.keys, part, REMOVE_PARTS);
        for (member, measured) in members.iter_mut().zip(&mut all) {
            let mut removed = Some(0);
            let ns = timed(&hashes, |hashes| {
                removed = removed.zip(member.remove(hashes)).map(|(sum, some)| sum + some);
            });
            if let Some(removed) = removed {
                assert_eq!(removed, hashes.len(), "keys that are in are removed");
                measured.remove.push(ns);
            }
        }
    }
    all
}

/// Fills them, the last time for good.
fn fill(class: &Class, entries: &[Entry<'_>], all: &mut [Measured]) -> Vec<Box<dyn Member>> {
    let mut members: Vec<Option<Box<dyn Member>>> = entries.iter().map(|_| None).collect();
    // The first of several only warms up.
    let warm_up = usize::from(class.parts == 1);
    for round in 0..class.fills + warm_up {
        for part in 0..class.parts {
            let hashes = part_of_keys(class.keys, part, class.parts);
            for turn in 0..entries.len() {
                let i = (turn + round + part as usize) % entries.len();
                if part == 0 {
                    let Entry { kind, timed } = &entries[i];
                    members[i] = (kind.build)(class.keys, timed.rate);
                }
                let member = members[i].as_mut().expect("it has a rate near the one asked for");
                let ns = timed(&hashes, |hashes| member.insert(hashes));
                if round >= warm_up {
                    all[i].insert.push(ns);
                }
            }
            if class.parts > 1 {
                eprint!("\r{}: {} of {} parts inserted", class.name, part + 1, class.parts);
            }
        }
    }
    if class.parts > 1 {
        eprintln!();
    }
    members.into_iter().flatten().collect()
}

/// Probes batches and single keys, half of which are present.
fn ask(class: &Class, entries: &[Entry<'_>], members: &[Box<dyn Member>], all: &mut [Measured]) {
    eprintln!("{}: probing", class.name);
    let absent = hashes(ABSENT, ABSENTEES);
    let some = part_of_keys(class.keys, 0, class.keys.div_ceil(1 << 17));
    for ((entry, member), measured) in entries.iter().zip(members).zip(all.iter_mut()) {
        assert_eq!(member.probe(&some), some.len(), "{} denies keys", entry.kind.name);
        measured.bits = member.bytes() as f64 * 8.0 / class.keys as f64;
        measured.rate = member.probe(&absent) as f64 / ABSENTEES as f64;
    }
    let present = mix(PRESENT + 1);
    let probes = Array::from_fn(class.probes, |i| match mix(i as u64 ^ 0x5555) {
        random if random & 1 == 1 => mix(present.wrapping_add(mix(random) % class.keys)),
        _ => absent[i],
    });
    let pairs = probes.as_chunks::<2>().0;
    let pairs = &pairs[..pairs.len().min(1 << 17)];
    let mut rounds = Rounds::new(class.plan);
    for (i, member) in members.iter().enumerate() {
        rounds.add(format!("{i} batch"), &probes, |hashes| member.probe(hashes));
    }
    let batches = rounds.run();
    let mut rounds = Rounds::new(class.plan);
    for (i, member) in members.iter().enumerate() {
        rounds.add(format!("{i} one"), pairs, |pairs| member.one_by_one(pairs));
    }
    let single = rounds.run();
    for (i, measured) in all.iter_mut().enumerate() {
        measured.probe = batches.of(&format!("{i} batch")).to_vec();
        measured.one = single.of(&format!("{i} one")).to_vec();
    }
}

/// What a kind takes for so many keys at a rate, and the rate that it has then; not timed.
pub(crate) fn takes(kind: &Kind, keys: u64, rate: f64) -> Option<(f64, f64)> {
    let mut member = (kind.build)(keys, rate)?;
    member.insert(&part_of_keys(keys, 0, 1));
    member.filled();
    let absentees = 4 * ABSENTEES;
    let positives = member.probe(&hashes(ABSENT, absentees));
    Some((member.bytes() as f64 * 8.0 / keys as f64, positives as f64 / absentees as f64))
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

/// The two sizes: one that is in the CPU's caches, one that is not.
pub(crate) fn classes(quick: bool) -> [Class; 2] {
    let (bits, _) = bloomline::sizing::bits_for_rate(crate::member::RATE).expect("it is a rate");
    let keys = |bytes: f64| (bytes * 8.0 / bits) as u64;
    let plan = |rounds, turn| Plan { rounds, turn: Duration::from_millis(turn), keys: Keys::Hot };
    let (fills, [many, some]) = if quick { (9, [11, 5]) } else { (25, [25, 9]) };
    [
        Class {
            name: "cache",
            keys: keys(262_144.0),
            fills,
            parts: 1,
            probes: 1 << 16,
            plan: plan(many, 1),
        },
        Class {
            name: "memory",
            keys: keys(67_108_864.0),
            fills: 1,
            parts: 16 * RUN as u64,
            probes: 1 << 20,
            plan: plan(some, 4),
        },
    ]
}

//! Filling, probing and emptying filters in turn: each gets some keys, then the next gets the same,
//! round after round, so that other work on the machine hits all alike.

use crate::common::data::{hashes, mix};
use crate::common::memory::Array;
use crate::common::rounds::{BATCH, Plan, Rounds, median, processor_time};
use crate::contender::{By, Contender, Kind, Shared, Size, Sizes};
use crate::limits::{IN_BATCHES, INLINED};
use crate::pages;
use crate::watch::{AGAIN, Watch, disturbed};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How large the filters are, and how long to measure them.
pub(crate) struct Class {
    /// The part of the lab, and what all its filters have in common.
    pub(crate) part: &'static str,
    pub(crate) name: String,
    /// The size of a plain filter, as classes of several parts have it.
    pub(crate) size: String,
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
pub(crate) fn measure(
    class: &Class,
    entries: &[Entry<'_>],
    watch: &mut Watch,
) -> Vec<Option<Measured>> {
    let running = |entry| Running { entry, contender: None, measured: Measured::default() };
    let mut members: Vec<Running<'_>> = entries.iter().map(running).collect();
    fill(class, &mut members, watch);
    ask(class, &mut members, watch);
    if class.remove {
        remove(class, &mut members);
    }
    let measured = members.into_iter().map(|Running { entry, contender, measured }| {
        let contender = contender?;
        let name = format!("{}, {}: {}", class.part, class.name, entry.kind.name);
        if measured.bytes >= pages::GIVEN_BACK {
            watch.lies(name, pages::of(contender, measured.bytes / 2));
        }
        Some(measured)
    });
    measured.collect()
}

/// One that is being measured.
struct Running<'a> {
    entry: &'a Entry<'a>,
    /// None before it is made, and if it cannot be of the size.
    contender: Option<Box<dyn Contender>>,
    measured: Measured,
}

/// Fills them from empty to full, the last time for good.
fn fill(class: &Class, members: &mut [Running<'_>], watch: &mut Watch) {
    let like = format!("{}, inserts", class.size);
    let ways = [(Insert::Each, "inserts one by one"), (Insert::Best, "inserts")];
    for (how, name) in ways.into_iter().skip(usize::from(!class.each)) {
        let name = format!("{}, {}, {name}", class.part, class.name);
        let mut touch = None;
        for again in 0..=AGAIN {
            if again > 0 {
                eprintln!("{name}: disturbed, once more");
            }
            touch = fill_by(class, members, how);
            let Some([least, all]) = touch else { break };
            if disturbed(&[least, all]).is_empty() && !watch.is_disturbed(&like, all) {
                break;
            }
        }
        for (what, touch) in [", its fastest part", ""].into_iter().zip(touch.into_iter().flatten())
        {
            watch.keep(format!("{name}{what}"), like.clone(), touch);
        }
    }
}

/// How keys are inserted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Insert {
    /// By a call for each: into filters that have another way, too, and the loop that only touches lines.
    Each,
    /// In batches, where there is such a call.
    Best,
}

/// Returns what the loop that only touches lines takes, if it is among them: in the fastest part of the
/// filling, and in all.
fn fill_by(class: &Class, members: &mut [Running<'_>], how: Insert) -> Option<[f64; 2]> {
    // The first of several only warms up.
    let warm_up = usize::from(class.fills > 1);
    let has_both = |contender: &mut Box<dyn Contender>| {
        contender.insert_batch(&[]) && contender.insert_each(&[])
    };
    // By batches, and by a call for each.
    let mut times = vec![[Vec::new(), Vec::new()]; members.len()];
    for round in 0..class.fills + warm_up {
        for part in 0..class.parts {
            let hashes = part_of_keys(class.keys, part, class.parts);
            for turn in 0..members.len() {
                let i = (turn + round + part as usize) % members.len();
                let Running { entry, contender, .. } = &mut members[i];
                if part == 0 {
                    // First the memory of the one before is given back.
                    *contender = None;
                    *contender = (entry.kind.build)(class.keys, entry.size);
                    // What has one way to insert is filled once.
                    let is_touch = entry.kind.name == INLINED;
                    contender.take_if(|contender| {
                        how == Insert::Each && !is_touch && !has_both(contender)
                    });
                }
                let Some(contender) = contender else { continue };
                let mut by_batch = how == Insert::Best;
                let ns = timed(&hashes, |hashes| {
                    by_batch = by_batch && contender.insert_batch(hashes);
                    assert!(by_batch || contender.insert_each(hashes), "it has a way to insert");
                });
                if round >= warm_up {
                    times[i][usize::from(!by_batch)].push(ns);
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
    let mut touch = None;
    for (Running { entry, contender, measured }, mut times) in members.iter_mut().zip(times) {
        // What is built at the end is shared among the keys.
        let Some(contender) = contender else { continue };
        let start = processor_time();
        contender.filled();
        let ns = (processor_time() - start).as_nanos() as f64 / class.keys as f64;
        times.iter_mut().flatten().for_each(|some| *some += ns);
        if entry.kind.name == INLINED {
            touch = Some(fastest_and_all(class, &times[1]));
        }
        for (to, times) in [&mut measured.insert, &mut measured.insert_each].into_iter().zip(times)
        {
            if !times.is_empty() {
                *to = times;
            }
        }
    }
    touch
}

fn fastest_and_all(class: &Class, times: &[f64]) -> [f64; 2] {
    if class.parts == 1 {
        return [median(times); 2];
    }
    let runs = times.as_chunks::<RUN>().0;
    [runs.iter().map(|run| median(run)).fold(f64::INFINITY, f64::min), of_a_filling(times)]
}

/// Probes them in all ways.
fn ask(class: &Class, members: &mut [Running<'_>], watch: &mut Watch) {
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
    let mut blocks = Vec::new();
    for mix in [Mix::Half, Mix::Present, Mix::Absent] {
        for &(way, _) in class.ways.iter().filter(|(_, of)| *of == mix) {
            blocks.push(ask_so(class, way, mix, members, &absent));
        }
    }
    let again = |block: &mut Block| {
        let new = ask_so(class, block.way, block.mix, members, &absent);
        if new.touch < block.touch {
            *block = new;
        }
    };
    let like = |block: &Block| format!("{}, {}", class.size, block.way.name());
    // A block with no other like it is measured twice, as no comparison would tell that it is disturbed.
    for i in 0..blocks.len() {
        let alike = blocks.iter().filter(|block| block.way == blocks[i].way).count();
        if blocks[i].touch.is_some() && alike + watch.touches(&like(&blocks[i])).len() == 1 {
            again(&mut blocks[i]);
        }
    }
    let name = |block: &Block| {
        let (way, mix) = (block.way.name(), block.mix.name());
        format!("{}, {}, {way}, {mix}", class.part, class.name)
    };
    for _ in 0..AGAIN {
        for i in 0..blocks.len() {
            let Some(touch) = blocks[i].touch else { continue };
            let alike = blocks.iter().filter(|block| block.way == blocks[i].way);
            let mut touches = watch.touches(&like(&blocks[i]));
            touches.extend(alike.filter_map(|block| block.touch));
            touches.push(touch);
            if disturbed(&touches).contains(&(touches.len() - 1)) {
                eprintln!("{}: disturbed, once more", name(&blocks[i]));
                again(&mut blocks[i]);
            }
        }
    }
    for block in blocks {
        if let Some(touch) = block.touch {
            watch.keep(name(&block), like(&block), touch);
        }
        for (i, ns) in block.times {
            members[i].measured.probes.push((block.way, block.mix, ns));
        }
    }
}

/// All contenders probed in one way.
struct Block {
    way: Way,
    mix: Mix,
    /// The number of a contender, and what it takes.
    times: Vec<(usize, Vec<f64>)>,
    /// What the loop takes that only touches lines, if it is among them.
    touch: Option<f64>,
}

/// Probes them in one way.
fn ask_so(class: &Class, way: Way, mix: Mix, members: &[Running<'_>], absent: &[u64]) -> Block {
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
    let found = rounds.run();
    let number = |name: &str| name.parse().expect("a number");
    let times: Vec<(usize, Vec<f64>)> =
        found.names().map(|name| (number(name), found.of(name).to_vec())).collect();
    let touch = match way {
        Way::Single | Way::Waiting => INLINED,
        Way::Best | Way::Calls(_) => IN_BATCHES,
    };
    let touch = times.iter().find(|(i, _)| members[*i].entry.kind.name == touch);
    let touch = touch.map(|(_, ns)| median(ns));
    Block { way, mix, times, touch }
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

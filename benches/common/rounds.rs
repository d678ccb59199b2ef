//! Fair timing: what is to be compared runs in turn, round after round, so that
//! whatever else the machine does hits all alike. Uses `libc` on Unix, for its clock.
#![allow(unsafe_code)]

use std::hint::black_box;
use std::time::Duration;

/// Keys in a batch: as many as an engine that works by batches hands over at once,
/// or somewhat more.
pub(crate) const BATCH: usize = 1 << 14;

/// How much to measure: so many rounds, and how long a turn at least is.
///
/// Rounds of short turns cost little, and are taken four times as often.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) turn: Duration,
    /// Where the keys of a batch are.
    pub(crate) keys: Keys,
}

/// Where the keys of a batch are when its time begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// In the caches, as where an engine has just made them.
    Hot,
    /// Where the memory streams them from: a part of an array that is too long for the
    /// caches.
    Cold,
}

/// Things that are timed against each other.
pub(crate) struct Rounds<'a> {
    plan: Plan,
    runners: Vec<Runner<'a>>,
}

/// One thing to time.
struct Runner<'a> {
    name: String,
    keys: usize,
    /// Does all keys so many times; the time it took.
    run: Box<dyn FnMut(usize) -> Duration + 'a>,
}

/// Nanoseconds per key of each, one value per round.
pub(crate) struct Times {
    of: Vec<(String, Vec<f64>)>,
}

impl<'a> Rounds<'a> {
    pub(crate) fn new(plan: Plan) -> Rounds<'a> {
        Rounds { plan, runners: Vec::new() }
    }

    /// Adds work on the keys, or hashes, of a pool, to be done in batches. Hot ones
    /// are copied to always the same place before their time begins. What the work
    /// returns is kept from the optimiser, so that it is done.
    pub(crate) fn add<T: Copy>(
        &mut self,
        name: impl Into<String>,
        pool: &'a [T],
        mut work: impl FnMut(&[T]) -> usize + 'a,
    ) {
        let mut hot = Vec::with_capacity(BATCH);
        let plan = self.plan;
        let run = move |times: usize| {
            let mut total = Duration::ZERO;
            // All of a small pool stays where it is, and is timed in one go: the clock
            // costs a few hundred nanoseconds.
            let (passes, repeats) = if pool.len() <= BATCH { (1, times) } else { (times, 1) };
            for _ in 0..passes {
                for mut batch in pool.chunks(BATCH) {
                    if plan.keys == Keys::Hot {
                        hot.clear();
                        hot.extend_from_slice(batch);
                        batch = &hot;
                    }
                    let start = processor_time();
                    for _ in 0..repeats {
                        black_box(work(black_box(batch)));
                    }
                    total += processor_time() - start;
                }
            }
            total
        };
        self.runners.push(Runner { name: name.into(), keys: pool.len(), run: Box::new(run) });
    }

    /// Adds work that answers nothing.
    pub(crate) fn insert<T: Copy>(
        &mut self,
        name: impl Into<String>,
        pool: &'a [T],
        mut work: impl FnMut(&[T]) + 'a,
    ) {
        self.add(name, pool, move |batch| {
            work(batch);
            0
        });
    }

    /// Adds work that writes its answers to a bitmap.
    pub(crate) fn probe<T: Copy>(
        &mut self,
        name: impl Into<String>,
        pool: &'a [T],
        mut work: impl FnMut(&[T], &mut [u64; BATCH / 64]) -> usize + 'a,
    ) {
        let mut answers = [0; BATCH / 64];
        self.add(name, pool, move |batch| work(batch, &mut answers));
    }

    /// Runs all in turn, round after round, after one to warm up. Work that is
    /// shorter than a turn is repeated, to be long enough for the clock.
    pub(crate) fn run(mut self) -> Times {
        let plan = self.plan;
        let mut repeats = Vec::new();
        for runner in &mut self.runners {
            (runner.run)(1);
            let once = (runner.run)(1).max(Duration::from_nanos(100));
            repeats.push((plan.turn.as_nanos() / once.as_nanos()).clamp(1, 1 << 20) as usize);
        }
        let short = repeats.iter().all(|&repeats| repeats > 1);
        let rounds = if short { 4 * plan.rounds } else { plan.rounds };
        let mut times = vec![Vec::new(); self.runners.len()];
        for round in 0..rounds {
            for turn in 0..self.runners.len() {
                // Not always the same one first.
                let i = (turn + round) % self.runners.len();
                let runner = &mut self.runners[i];
                let ns = (runner.run)(repeats[i]).as_nanos() as f64;
                times[i].push(ns / (repeats[i] * runner.keys) as f64);
            }
        }
        Times { of: self.runners.into_iter().map(|runner| runner.name).zip(times).collect() }
    }
}

impl Times {
    /// Nanoseconds per key, one value per round.
    ///
    /// # Panics
    /// If nothing of that name ran.
    pub(crate) fn of(&self, name: &str) -> &[f64] {
        let found = self.of.iter().find(|(of, _)| of == name);
        &found.unwrap_or_else(|| panic!("nothing called {name} was timed")).1
    }

    /// All that were timed, in the order in which they were added.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.of.iter().map(|(name, _)| name.as_str())
    }

    /// The fastest of those whose name passes.
    pub(crate) fn best(&self, of: impl Fn(&str) -> bool) -> &str {
        let passing = self.of.iter().filter(|(name, _)| of(name));
        let best = passing.min_by(|a, b| median(&a.1).total_cmp(&median(&b.1)));
        &best.expect("something of the kind was timed").0
    }
}

/// The middle value.
pub(crate) fn median(values: &[f64]) -> f64 {
    quartile(values, 2)
}

/// The value that so many quarters of all lie below.
pub(crate) fn quartile(values: &[f64], quarters: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() - 1) * quarters / 4]
}

/// Round by round, the time of one thing and then another.
pub(crate) fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// A ratio, taken round by round.
pub(crate) struct Ratio {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The ratio of two timings of the same run: its median and quartiles.
pub(crate) fn ratio(ours: &[f64], theirs: &[f64]) -> Ratio {
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    Ratio { median: median(&ratios), low: quartile(&ratios, 1), high: quartile(&ratios, 3) }
}

/// The processor time of this thread, which other programs do not change. Without it, the time of
/// day.
pub(crate) fn processor_time() -> Duration {
    #[cfg(unix)]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the clock writes the time given.
        let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        assert_eq!(status, 0, "there is a clock for threads");
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    {
        use std::sync::OnceLock;
        static START: OnceLock<std::time::Instant> = OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed()
    }
}

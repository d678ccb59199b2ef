//! `cargo bench --features internals --bench sweep [-- ARGUMENT...]`: hints and distances by size, to
//! choose the rows in `src/kernel/cores.rs` from. Times all prefetch plans that
//! the library has, and its choice, and the loops that only touch the line. Ends with the row of
//! this machine, in Rust, and its regret: see `row`.
//!
//! Arguments: names of backends (all), sizes as `4M` or `2G` (1 MiB to 2 GiB), `k=8`
//! (6), `rounds=9` (5), `--small-pages` for pages of 4 KiB, `--cold` for hashes that
//! stream in from memory.

#[path = "../common/mod.rs"]
mod common;
mod row;

use bloomline::Backend;
use bloomline::internals::Prefetch;
use common::data::{Probes, bitmap, full_bytes, full_filter, size_name, views};
use common::memory::{Memory, allow_huge_pages, huge_part};
use common::rounds::{Keys, Plan, Rounds, Times, median};
use common::touch::{self, lines, lines_mut};
use row::Swept;
use std::time::Duration;

const MIB: usize = 1 << 20;

/// What to sweep over.
struct Sweep {
    plan: Plan,
    backends: Vec<Backend>,
    sizes: Vec<usize>,
    k: u32,
    small_pages: bool,
}

fn main() {
    let Some(arguments) = common::arguments() else { return };
    let sweep = match arguments.iter().try_fold(Sweep::new(), Sweep::with) {
        Ok(sweep) => sweep.or_all(),
        Err(argument) => {
            eprintln!("not a backend of this CPU, a size or an option: {argument}");
            std::process::exit(2);
        }
    };
    if sweep.small_pages && !allow_huge_pages(false) {
        eprintln!("the system does not let a process do without huge pages");
        std::process::exit(1);
    }
    println!("{}", common::machine::describe());
    println!(
        "k = {}, {} pages, hashes {}. ns of processor time per key, medians of {} rounds or more; \
         the best of a column in bold.",
        sweep.k,
        if sweep.small_pages { "small" } else { "huge" },
        if sweep.plan.keys == Keys::Cold { "streaming in" } else { "in the caches" },
        sweep.plan.rounds
    );
    let probes: Vec<Times> = sweep.sizes.iter().map(|&size| sweep.probe(size)).collect();
    sweep.print("Touching to read", &probes, "touch");
    for backend in &sweep.backends {
        sweep.print(
            &format!("Probing, {}", backend.name()),
            &probes,
            &format!("{},", backend.name()),
        );
    }
    let inserts: Vec<Times> = sweep.sizes.iter().map(|&size| sweep.touch_to_write(size)).collect();
    sweep.print("Touching to write", &inserts, "touch");
    let mut all_inserts = Vec::new();
    for &backend in &sweep.backends {
        let inserts: Vec<Times> =
            sweep.sizes.iter().map(|&size| sweep.insert(size, backend)).collect();
        sweep.print(&format!("Inserting, {}", backend.name()), &inserts, backend.name());
        all_inserts.push(inserts);
    }
    let inserts = sweep.backends.iter().zip(&all_inserts);
    row::print(&Swept {
        sizes: &sweep.sizes,
        probes: sweep.backends.iter().map(|&backend| (backend, &*probes)).collect(),
        inserts: inserts.map(|(&backend, times)| (backend, &**times)).collect(),
        views: row::views(sweep.plan),
    });
    println!("\nLoad average at the end: {}.", common::machine::load());
}

impl Sweep {
    fn new() -> Sweep {
        let plan = Plan { rounds: 5, turn: Duration::from_millis(2), keys: Keys::Hot };
        Sweep { plan, backends: Vec::new(), sizes: Vec::new(), k: 6, small_pages: false }
    }

    /// Takes an argument; returns it if it means nothing.
    fn with(mut self, argument: &String) -> Result<Sweep, String> {
        let number = |text: &str| text.parse::<usize>().ok().filter(|&number| number > 0);
        if let Some(backend) = Backend::from_name(argument).filter(|b| b.is_available()) {
            self.backends.push(backend);
        } else if let Some(size) = argument.strip_suffix('M').and_then(number) {
            self.sizes.push(size * MIB);
        } else if let Some(size) = argument.strip_suffix('G').and_then(number) {
            self.sizes.push(size * 1024 * MIB);
        } else if let Some(k) = argument.strip_prefix("k=").and_then(number).filter(|&k| k <= 16) {
            self.k = k as u32;
        } else if let Some(rounds) = argument.strip_prefix("rounds=").and_then(number) {
            self.plan.rounds = rounds;
        } else if argument == "--small-pages" {
            self.small_pages = true;
        } else if argument == "--cold" {
            self.plan.keys = Keys::Cold;
        } else {
            return Err(argument.clone());
        }
        Ok(self)
    }

    /// All that there is, where nothing was named.
    fn or_all(mut self) -> Sweep {
        if self.backends.is_empty() {
            self.backends = Backend::available().collect();
        }
        if self.sizes.is_empty() {
            self.sizes = [1, 2, 3, 4, 8, 16, 32, 64, 128, 512, 2048].map(|size| size * MIB).into();
        }
        self
    }

    /// All ways to probe and to touch the same filter.
    fn probe(&self, size: usize) -> Times {
        let probes = Probes::hashes(size);
        let encoded = full_bytes(size, self.k, &probes);
        self.note("probing", size, &encoded);
        let (hashes, lines) = (&probes.hashes, lines(&encoded[..size]));
        let mut rounds = Rounds::new(self.plan);
        for view in views(&encoded) {
            let name = view.backend().name();
            if !self.backends.contains(&view.backend()) {
                continue;
            }
            rounds.probe(
                format!("{name}, the library's choice"),
                hashes,
                move |hashes, answers| view.contains_hashes(hashes, answers),
            );
            for plan in PLANS {
                let mut answers = bitmap();
                rounds.add(format!("{name}, {}", plan_name(plan)), hashes, move |hashes| {
                    view.contains_hashes_with(hashes, plan, &mut answers)
                });
            }
        }
        for (name, touch) in touch::reads() {
            rounds.probe(name, hashes, move |hashes, answers| touch(lines, hashes, answers));
        }
        rounds.run()
    }

    /// All ways to touch the same lines to write.
    fn touch_to_write(&self, size: usize) -> Times {
        let probes = Probes::hashes(size);
        let memory = std::cell::RefCell::new(Memory::new(size));
        self.note("touching to write", size, &memory.borrow());
        let mut rounds = Rounds::new(self.plan);
        for (name, touch) in touch::writes() {
            let memory = &memory;
            rounds.insert(name, &probes.hashes, move |hashes| {
                touch(lines_mut(&mut memory.borrow_mut()), hashes);
            });
        }
        rounds.run()
    }

    /// All ways to insert into the same filter.
    fn insert(&self, size: usize, backend: Backend) -> Times {
        let probes = Probes::hashes(size);
        let filter = std::cell::RefCell::new(full_filter(size, self.k, &probes, backend));
        self.note(&format!("inserting, {}", backend.name()), size, filter.borrow().lines());
        let mut rounds = Rounds::new(self.plan);
        let (filter, name) = (&filter, backend.name());
        rounds.insert(format!("{name}, the library's choice"), &probes.hashes, |hashes| {
            filter.borrow_mut().insert_hashes(hashes);
        });
        for plan in PLANS {
            rounds.add(format!("{name}, {}", plan_name(plan)), &probes.hashes, move |hashes| {
                filter.borrow_mut().insert_hashes_with(hashes, plan);
                0
            });
        }
        rounds.run()
    }

    /// Says what goes on, and whether the pages are what they were to be.
    fn note(&self, what: &str, size: usize, bytes: &[u8]) {
        let huge = huge_part(bytes).map_or("?".into(), |part| format!("{:.0}", 100.0 * part));
        eprintln!("{what}, {}, {huge} % of it in huge pages", size_name(size));
    }

    /// A table of those whose name begins so: a row for each, a column for each size.
    fn print(&self, heading: &str, times: &[Times], prefix: &str) {
        println!("\n### {heading}\n");
        let sizes: Vec<String> = self.sizes.iter().map(|&size| size_name(size)).collect();
        println!("| | {} |\n|---|{}", sizes.join(" | "), "---|".repeat(sizes.len()));
        for name in times[0].names().filter(|name| name.starts_with(prefix)) {
            let cells = times.iter().map(|times| {
                let ns = median(times.of(name));
                let best = times.best(|name| name.starts_with(prefix)) == name;
                if best { format!("**{ns:.2}**") } else { format!("{ns:.2}") }
            });
            println!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
    }
}

/// The prefetch plans of the library.
const PLANS: [Prefetch; 3] = [Prefetch::None, Prefetch::Far, Prefetch::FarAndNear];

fn plan_name(plan: Prefetch) -> &'static str {
    match plan {
        Prefetch::None => "no prefetch",
        Prefetch::Far => "L2 128 ahead",
        Prefetch::FarAndNear => "L2 128 ahead + L1 8",
    }
}

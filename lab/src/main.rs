//! `make lab`: this library, the filters published for Rust and C++ and the limits of the machine, in
//! one process, on the same hashes.
//!
//! | part | what it measures |
//! |---|---|
//! | `speed` | inserts and probes by the size of the filter, at 10 bits per key; for three sizes also at 1 % |
//! | `groups` | one key of many filters |
//! | `matrix` | one key of many filters of one shape, up to thousands |
//! | `columns` | columns of integers to the rows that may be present; building a Parquet filter |
//! | `rates` | false-positive rates by bits per key, beside theory |
//! | `choosing` | all types of filter against the plain one, at equal rates |
//! | `line` | nothing: it draws where the bits of a key lie |
//! | `few` | calls with a few keys, by numbers of keys, rates and names that follow; only if it is asked for |
//!
//! Arguments: the parts (all), `--quick`, `--write`, `--up-to=MIB` for less memory and time. The figures
//! go to `lab/results/`, with `--write` into `docs/`, too: the tables between two marker comments of a
//! page, the pictures and their CSV files. It writes only if all peers in C++ are here, those of `columns` if
//! this part is wanted, and nothing of a part that something else disturbed ([`watch`]). All of it is compiled
//! for the CPU that it runs on, so single probes of this library are inlined; those called "in C" go through
//! its static library, which is compiled for any CPU.
//!
//! Only what is measured counts: the bits that a filter takes and the rate that it has. All filters are to lie
//! in huge pages ([`pages`]): it writes nothing if malloc leaves them in small ones, and names each that does not lie in
//! huge ones.

#[path = "../../benches/common/mod.rs"]
mod common;

mod built;
#[cfg(c_face)]
mod c_face;
mod chart;
mod choosing;
mod choosing_chart;
mod columns;
mod contender;
mod cpp;
mod crates;
mod few;
mod font;
mod groups;
mod limits;
mod line_picture;
mod matrix;
mod measure;
mod model;
mod ours;
mod pages;
mod rates;
mod speed;
mod views;
mod watch;

use contender::Kind;
use speed::Effort;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use watch::Watch;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let [quick, write] = ["--quick", "--write"].map(|name| common::option(&mut arguments, name));
    let mut up_to = usize::MAX;
    arguments.retain(|argument| {
        let mib = argument.strip_prefix("--up-to=").and_then(|mib| mib.parse::<usize>().ok());
        up_to = mib.map_or(up_to, |mib| mib << 20);
        mib.is_none()
    });
    if arguments.first().is_some_and(|part| part == "few") {
        return few::run(&arguments[1..]);
    }
    let parts = ["speed", "groups", "matrix", "columns", "rates", "choosing", "line"];
    if arguments.iter().any(|part| !parts.contains(&part.as_str())) || (quick && write) {
        eprintln!("usage: lab [--quick | --write] [--up-to=MIB] [{}]", parts.join("] ["));
        std::process::exit(2);
    }
    let effort = if quick { Effort::Quick } else { Effort::Full };
    let is_wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|one| one == part);
    let missing = missing(is_wanted("columns"));
    if write && !missing.is_empty() {
        eprintln!("lab: with --write their rows in docs/ would be lost: {}", missing.join(", "));
        std::process::exit(2);
    }
    if let Some(differ) = pages::differ() {
        eprintln!("lab: {differ}");
        if write {
            std::process::exit(2);
        }
    }
    let start = Instant::now();
    let mut lab = Lab {
        kinds: kinds(),
        effort,
        up_to,
        wanted: write,
        write,
        watch: Watch::default(),
        doubts: Vec::new(),
    };
    println!("{}", common::machine::describe());
    for line in note() {
        println!("{line}");
    }
    if is_wanted("speed") {
        lab.speed();
    }
    if is_wanted("groups") {
        lab.groups();
    }
    if is_wanted("matrix") {
        lab.matrix();
    }
    if is_wanted("columns") {
        lab.columns();
    }
    if is_wanted("rates") {
        lab.rates();
    }
    if is_wanted("choosing") {
        lab.choosing();
    }
    if is_wanted("line") {
        lab.judge("line");
        lab.picture("line.svg", &line_picture::draw());
    }
    println!("\nLoad average at the end: {}.", common::machine::load());
    eprintln!("{:.0} s", start.elapsed().as_secs_f64());
    for line in lab.doubts.iter().chain(lab.watch.small()) {
        eprintln!("lab: {line}");
    }
    if write && !lab.doubts.is_empty() {
        eprintln!("lab: nothing of these parts is written to docs/");
        std::process::exit(1);
    }
}

/// All contenders. The plain filter, that others are set against, comes first.
fn kinds() -> Vec<Kind> {
    #[cfg(c_face)]
    let in_c = c_face::kinds();
    #[cfg(not(c_face))]
    let in_c = Vec::new();
    let all = [ours::kinds(), views::kinds(), in_c, crates::kinds(), cpp::kinds(), limits::kinds()];
    all.into_iter().flatten().collect()
}

/// The contenders that this program was compiled without, and where they come from: those of the part
/// `columns` only if it is wanted.
fn missing(columns: bool) -> Vec<&'static str> {
    let peers = [
        (cfg!(c_face), "the C interface (BLOOMLINE_LIB)"),
        (!cpp::version(0).is_empty(), "Boost.Bloom (BOOST)"),
        (!cpp::version(1).is_empty(), "RocksDB (librocksdb-dev)"),
        (!cpp::version(2).is_empty(), "RocksDB's source (ROCKSDB)"),
        (cfg!(seqan), "SeqAn (libseqan3-dev)"),
        (cfg!(arrow) || !columns, "Acero and Parquet C++ (PYARROW)"),
    ];
    peers.into_iter().filter(|(is_here, _)| !is_here).map(|(_, name)| name).collect()
}

struct Lab {
    kinds: Vec<Kind>,
    effort: Effort,
    /// The largest filters whose speed is measured, in bytes.
    up_to: usize,
    /// Whether parts are to be published, and whether this one is.
    wanted: bool,
    write: bool,
    watch: Watch,
    /// What disturbed parts so far.
    doubts: Vec<String>,
}

impl Lab {
    /// A part has been measured: it is published if nothing disturbed it.
    fn judge(&mut self, part: &str) {
        let doubts = self.watch.doubts(part);
        self.write = self.wanted && doubts.is_empty();
        self.doubts.extend(doubts);
    }

    fn speed(&mut self) {
        let rows = speed::run(&self.kinds, self.effort, self.up_to, &mut self.watch);
        self.judge("speed");
        let tables = speed::tables(&rows);
        println!("\n## Speed\n{tables}");
        self.put("benchmarks/speed.csv", &speed::csv(&rows));
        self.picture("benchmarks/speed.svg", &speed::by_size(&rows, &note()));
        self.picture("benchmarks/tradeoff.svg", &speed::by_rate(&rows, &note()));
        let pictures = [
            shown("Nanoseconds per probe by the size of the filter", "speed"),
            shown("Nanoseconds per probe by false-positive rate", "tradeoff"),
        ];
        let pictures = pictures.join("\n");
        self.page("benchmarks/peers.md", "speed", &format!("{}\n\n{pictures}\n{tables}", about()));
    }

    fn groups(&mut self) {
        let tables = groups::tables(self.effort, &mut self.watch);
        self.judge("groups");
        println!("\n## One key of many filters\n\n{tables}");
        self.page("PERFORMANCE.md", "groups", &format!("{}\n\n{tables}", about()));
    }

    fn matrix(&mut self) {
        let all = matrix::run(self.effort, self.up_to, &mut self.watch);
        self.judge("matrix");
        let tables = matrix::tables(&all);
        println!("\n## One key of many filters, transposed\n\n{tables}");
        self.put("benchmarks/matrix.csv", &matrix::csv(&all));
        self.picture("benchmarks/matrix.svg", &matrix::picture(&all, &note()));
        let picture = shown("Nanoseconds per filter by the number of filters", "benchmarks/matrix");
        self.page("PERFORMANCE.md", "matrix", &format!("{}\n\n{picture}\n\n{tables}", about()));
    }

    fn columns(&mut self) {
        let (effort, watch) = (self.effort, &mut self.watch);
        let (hashing, all) = columns::run(&self.kinds, effort, self.up_to, watch);
        let built = watch.around("columns, building", || columns::build(effort));
        let tables = columns::tables(&hashing, &all, &built);
        self.judge("columns");
        println!("\n## Columns\n\n{tables}");
        self.page("PERFORMANCE.md", "columns", &format!("{}\n\n{tables}", about()));
    }

    fn rates(&mut self) {
        let rates = rates::run(&self.kinds, self.effort);
        self.judge("rates");
        let table = rates::table(&rates);
        println!("\n## False-positive rates\n\n{table}");
        self.put("benchmarks/rates.csv", &rates::csv(&rates));
        self.picture("benchmarks/rates.svg", &rates::picture(&rates, &note()));
        self.page("PERFORMANCE.md", "rates", &table);
    }

    fn choosing(&mut self) {
        let report = choosing::run(&self.kinds, self.effort, &mut self.watch);
        self.judge("choosing");
        println!("\n## Filter types\n\n{}\n{}", report.details(), report.page());
        self.picture("choosing.svg", &report.chart());
        self.page("CHOOSING.md", "choosing", &report.page());
    }

    /// Writes a picture, for light pages and for dark ones.
    fn picture(&self, name: &str, svg: &str) {
        self.put(name, svg);
        self.put(&name.replace(".svg", "-dark.svg"), &chart::dark(svg));
    }

    /// Writes a result, and if it is to be published, into `docs/`, too.
    fn put(&self, name: &str, text: &str) {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let mut files = vec![results.join(Path::new(name).file_name().expect("it is a file"))];
        if self.write {
            files.push(docs().join(name));
        }
        for file in files {
            fs::create_dir_all(file.parent().expect("it is in a directory")).expect("it is made");
            fs::write(file, text).expect("the result is written");
        }
    }

    /// Puts what was measured into a page, between its two markers.
    fn page(&self, page: &str, part: &str, text: &str) {
        if !self.write {
            return;
        }
        let begin = format!("<!-- lab: {part}: begin. `make lab WRITE=1` writes this part -->\n");
        let end = format!("<!-- lab: {part}: end -->");
        let page = docs().join(page);
        let old = fs::read_to_string(&page).expect("the page can be read");
        let (before, rest) = old.split_once(&begin).expect("the page has its first marker");
        let (_, after) = rest.split_once(&end).expect("the page has its last marker");
        let text = format!("{before}{begin}{}\n{end}{after}", text.trim_end());
        fs::write(&page, text).expect("the page is written");
    }
}

/// What shows a picture in a page, as its reader's theme is.
fn shown(alt: &str, name: &str) -> String {
    format!(
        "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{name}-dark.svg\">\
         <img alt=\"{alt}\" src=\"{name}.svg\"></picture>"
    )
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// The machine, and how busy it has been, in one line.
fn about() -> String {
    let machine = common::machine::describe();
    let items: Vec<&str> = machine.lines().map(|line| line.trim_start_matches("* ")).collect();
    let load = common::machine::load();
    format!("{}; {}; {}; load average at the end: {load}.", items[0], items[1], items[4])
}

/// What stands below the pictures: the machine, the versions and the command.
fn note() -> Vec<String> {
    let lock = include_str!("../Cargo.lock");
    let crates = [
        "bloomline",
        "sbbf-rs",
        "fastbloom",
        "parquet",
        "bloomfilter",
        "xorf",
        "qfilter",
        "cuckoofilter",
    ];
    let version = |name: &str| {
        let after = lock.split(&format!("name = \"{name}\"\nversion = \"")).nth(1)?;
        Some(format!("{name} {}", after.split('"').next()?))
    };
    let mut versions: Vec<String> = crates.into_iter().filter_map(version).collect();
    for (which, name) in ["Boost", "RocksDB (installed)", "RocksDB (source)"].iter().enumerate() {
        let version = cpp::version(which);
        if !version.is_empty() {
            versions.push(format!("{name} {version}"));
        }
    }
    #[cfg(seqan)]
    versions.push(format!("SeqAn {}", matrix::bins::version()));
    #[cfg(arrow)]
    versions.push(format!("Arrow {}", columns::arrow::version()));
    let backend = bloomline::Backend::available().last().expect("there is always a backend").name();
    vec![
        about(),
        format!("{}. Backend: {backend}.", versions.join(", ")),
        "Medians of interleaved rounds, CPU time of one thread, hashes given, compiled for this CPU. \
         Command: make lab WRITE=1 BOOST=directory ROCKSDB=directory PYARROW=directory."
            .into(),
    ]
}

#[cfg(test)]
mod tests;
